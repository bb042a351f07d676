# SPDX-License-Identifier: GPL-2.0-only
"""What a guest has said of a scenario: samples, or what went wrong in it. Pure."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass

from lull.errors import GuestFailed, LabError, LullError
from lull.model import Job, Sample
from lull.runs.samples import Stream, parse_stream
from lull.vm.outcome import message

_LEFT = "left"  #: the kind of line that names a case that was left out


class ScenarioFailed(LabError):
    """Scenarios that did not come to their end; the others did. The status is theirs,
    where they agree on one."""

    def __init__(self, what: str, *, where: str, hint: str, exit_code: int) -> None:
        super().__init__(what, where=where, hint=hint)
        self.exit_code = exit_code


@dataclass(frozen=True)
class Failure:
    """Why a scenario has ended early."""

    scenario: str
    error: LullError


def stream_of(data: bytes, *, boot: int, seed: int) -> Stream:
    """What came by the port, up to the line with which the guest's script ends."""
    lines = [line for line in _lines(data) if message(line)[0] != _LEFT]
    return parse_stream(b"\n".join(lines), boot=boot, seed=seed)


def left_out(data: bytes) -> dict[int, str]:
    """The cases whose needs the guest's kernel does not meet, by number, and why."""
    found = (message(line) for line in _lines(data))
    return {
        number: str(members.get("why", ""))
        for kind, members in found
        if kind == _LEFT and isinstance(number := members.get("case"), int)
    }


def _lines(data: bytes) -> Iterator[bytes]:
    for line in data.split(b"\n"):
        if message(line)[0] == "done":
            return
        yield line


def samples_of(
    stream: Stream, job: Job, where: str, *, left: Container[int] = ()
) -> tuple[Sample, ...]:
    """All that the job asks for but for the cases ``left`` out. Raises LabError where
    one is not there."""
    want = {
        (n, i)
        for n, case in enumerate(job.cases)
        for i in range(len(case.order))
        if n not in left
    }
    have = {(sample.case, sample.i) for sample in stream.samples}
    if want - have or stream.hello is None:
        raise LabError(
            f"{len(want - have)} of {len(want)} samples did not arrive; {stream.bad}",
            where=where,
        )
    return stream.samples


def named(error: LullError, stream: Stream, scenario: str) -> LullError:
    """The error of a boot: in the guest's own words, where it had any."""
    if not isinstance(error, GuestFailed) or not stream.errors:
        return error
    first = stream.errors[0]
    place = f"{scenario}, {first.where}" if first.where else scenario
    what, _, rest = first.what.partition("\n")
    below = "".join(f"\n    {line}" for line in rest.splitlines())
    return GuestFailed(
        f"{what}{below}", where=place, hint=f"all that it said is in {error.where}"
    )


def failed(failures: Sequence[Failure], others: Iterable[str]) -> ScenarioFailed:
    """What a run ends with of which a part has failed; ``others`` have not."""
    codes = {failure.error.exit_code for failure in failures}
    went = ", ".join(others)
    return ScenarioFailed(
        "\n".join(str(failure.error) for failure in failures),
        where="",
        hint=f"what was measured is kept; measured to the end: {went or 'none'}",
        exit_code=codes.pop() if len(codes) == 1 else LabError.exit_code,
    )


def differences(one: Sequence[Sample], two: Sequence[Sample]) -> tuple[str, ...]:
    """Metrics in which two boots of the same seed differ, empty for none."""
    found: dict[str, None] = {}
    again = {(sample.case, sample.i): sample for sample in two}
    for sample in one:
        other = again.get((sample.case, sample.i))
        for name, value in sample.metrics.items():
            if other is None or other.metrics.get(name) != value:
                found[name] = None
    return tuple(found)
