# SPDX-License-Identifier: GPL-2.0-only
"""Reading what the probe wrote, and the run's own results.jsonl.

Both may end in the middle of a line or have lines in them that something
else wrote. What is good is kept; what is not is counted, and the first few
are kept with their line numbers, so that a report can say so.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from lull.model import Arm, Check, Hello, Sample, Value

FEW = 5  #: bad lines that are kept for the report
EXCERPT = 120  #: characters kept of each
RECORDING = "# lull-kernel:"  #: what a recording begins with


@dataclass(frozen=True)
class BadLines:
    """Lines that were skipped: how many, and (number from 1, why, excerpt)."""

    count: int = 0
    first: tuple[tuple[int, str, str], ...] = ()

    def __str__(self) -> str:
        if not self.count:
            return "no bad lines"
        line, why, text = self.first[0]
        plural = "s" if self.count > 1 else ""
        return f"{self.count} bad line{plural}, first line {line}: {why}: {text!r}"


@dataclass(frozen=True)
class GuestError:
    """An ``error`` of the probe: it could not go on."""

    what: str
    where: str = ""
    hint: str = ""


@dataclass(frozen=True)
class Stream:
    """What one boot said, in its order.

    ``done``: the last line came, so nothing is missing; ``ok`` is its verdict
    and ``announced`` the number of samples that it claims to have written.
    """

    hello: Hello | None = None
    samples: tuple[Sample, ...] = ()
    checks: tuple[Check, ...] = ()
    notes: tuple[str, ...] = ()
    errors: tuple[GuestError, ...] = ()
    #: Mode to the text of a trace, where a workload recorded one; its last one.
    recordings: Mapping[str, str] = field(default_factory=dict)
    done: bool = False
    ok: bool = False
    announced: int | None = None
    bad: BadLines = BadLines()

    @property
    def missing(self) -> int:
        """Samples that the probe says it wrote and that are not here."""
        return max(0, (self.announced or 0) - len(self.samples))


class _Reject(ValueError):
    """This line is not one of ours; the text says why."""


def parse_stream(
    data: bytes, *, boot: int = 0, seed: int = 0, arm: Arm = Arm.LULL
) -> Stream:
    """The probe's lines; ``boot``, ``seed`` and ``arm`` go into the samples.

    Never raises for anything in ``data``. A sample needs its ``case`` line
    before it; a second sample for the same place and whatever comes after
    ``done`` are bad lines.
    """
    reader = _Reader(boot=boot, seed=seed, arm=arm)
    bad = _Bad()
    for number, line in _lines(data):
        try:
            reader.take(_object(line))
        except (ValueError, RecursionError) as error:
            bad.add(number, error, line)
    return reader.stream(bad.result())


def format_results(samples: Iterable[Sample]) -> str:
    """The samples as lines of results.jsonl."""
    return "".join(sample.model_dump_json() + "\n" for sample in samples)


def parse_results(data: bytes) -> tuple[tuple[Sample, ...], BadLines]:
    """The samples of a results.jsonl. Never raises for anything in ``data``."""
    samples: list[Sample] = []
    bad = _Bad()
    for number, line in _lines(data):
        try:
            item = _object(line)
            _metrics(item.get("metrics"))
            samples.append(Sample.model_validate(item))
        except (ValueError, RecursionError) as error:
            bad.add(number, error, line)
    return tuple(samples), bad.result()


def read_results(path: Path) -> tuple[tuple[Sample, ...], BadLines]:
    """``parse_results`` of a file. Raises OSError if it cannot be read."""
    return parse_results(path.read_bytes())


@dataclass
class _Bad:
    count: int = 0
    first: list[tuple[int, str, str]] = field(default_factory=list)

    def add(self, number: int, error: Exception, line: str) -> None:
        self.count += 1
        if len(self.first) < FEW:
            why = str(error) if isinstance(error, _Reject) else "not an object of ours"
            self.first.append((number, why, line[:EXCERPT]))

    def result(self) -> BadLines:
        return BadLines(self.count, tuple(self.first))


@dataclass
class _Reader:
    boot: int
    seed: int
    arm: Arm
    hello: Hello | None = None
    done: Mapping[str, Any] | None = None
    cases: dict[int, tuple[str, str, dict[str, Value]]] = field(default_factory=dict)
    samples: dict[tuple[int, int], Sample] = field(default_factory=dict)
    checks: list[Check] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    errors: list[GuestError] = field(default_factory=list)
    recorded: dict[str, list[str]] = field(default_factory=dict)

    def take(self, item: Mapping[str, Any]) -> None:
        if self.done is not None:
            raise _Reject("after the end")
        match item.get("t"):
            case "hello":
                known = Hello.model_fields
                fields = {k: v for k, v in item.items() if k in known}
                self.hello = Hello.model_validate(fields)
            case "case":
                self.cases[_int(item, "case")] = (
                    _str(item, "feature"),
                    _str(item, "workload"),
                    _params(item.get("params", {})),
                )
            case "sample":
                self._sample(item)
            case "check":
                if not isinstance(item.get("ok"), bool):
                    raise _Reject("ok is not true or false")
                self.checks.append(
                    Check(
                        case=_int(item, "case"),
                        name=_str(item, "name"),
                        ok=item["ok"],
                        text=_str(item, "text", ""),
                    )
                )
            case "recorded":
                text = _str(item, "text")
                lines = self.recorded.setdefault(_str(item, "mode"), [])
                if text.startswith(RECORDING):
                    lines.clear()
                lines.append(text)
            case "note":
                self.notes.append(_str(item, "text"))
            case "error":
                self.errors.append(
                    GuestError(
                        _str(item, "what"),
                        _str(item, "where", ""),
                        _str(item, "hint", ""),
                    )
                )
            case "done":
                if not isinstance(item.get("ok"), bool):
                    raise _Reject("ok is not true or false")
                self.done = {"ok": item["ok"], "samples": _int(item, "samples")}
            case other:
                raise _Reject(f"unknown kind {str(other)[:20]!r}")

    def _sample(self, item: Mapping[str, Any]) -> None:
        key = (_int(item, "case"), _int(item, "i"))
        if key[0] not in self.cases:
            raise _Reject(f"sample of case {key[0]}, which was not announced")
        if key in self.samples:
            raise _Reject(f"case {key[0]} has a sample {key[1]} already")
        feature, workload, params = self.cases[key[0]]
        self.samples[key] = Sample(
            arm=self.arm,
            boot=self.boot,
            seed=self.seed,
            case=key[0],
            i=key[1],
            feature=feature,
            workload=workload,
            # A workload that grows says where it is.
            params={**params, **_params(item.get("params", {}))},
            mode=_str(item, "mode"),
            metrics=_metrics(item.get("metrics")),
        )

    def stream(self, bad: BadLines) -> Stream:
        return Stream(
            hello=self.hello,
            samples=tuple(self.samples.values()),
            checks=tuple(self.checks),
            notes=tuple(self.notes),
            errors=tuple(self.errors),
            recordings={
                mode: "".join(f"{line}\n" for line in lines)
                for mode, lines in self.recorded.items()
            },
            done=self.done is not None,
            ok=bool(self.done and self.done["ok"]),
            announced=self.done["samples"] if self.done else None,
            bad=bad,
        )


def _lines(data: bytes) -> Iterator[tuple[int, str]]:
    for number, raw in enumerate(data.split(b"\n"), 1):
        line = raw.decode("utf-8", "replace").strip()
        if line:
            yield number, line


def _constant(name: str) -> NoReturn:
    # json takes NaN and Infinity by default; a median would not survive them.
    raise _Reject(f"{name} is not a number")


def _object(line: str) -> dict[str, Any]:
    item = json.loads(line, parse_constant=_constant)
    if not isinstance(item, dict):
        raise _Reject("not an object")
    return item


def _int(item: Mapping[str, Any], name: str) -> int:
    value = item.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise _Reject(f"{name} is not a count")
    return value


def _str(item: Mapping[str, Any], name: str, default: str | None = None) -> str:
    value = item.get(name, default)
    if not isinstance(value, str):
        raise _Reject(f"{name} is not a text")
    # Half a surrogate pair is legal JSON and cannot be written out again.
    return value.encode("utf-8", "replace").decode("utf-8")


def _number(value: object) -> bool:
    return (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        # Neither infinite, nor an int that does not fit a float.
        and abs(value) < 2**1000
    )


def _metrics(value: object) -> dict[str, float]:
    if not isinstance(value, dict) or not all(map(_number, value.values())):
        raise _Reject("metrics are not numbers")
    return {name: float(number) for name, number in value.items()}


def _params(value: object) -> dict[str, Value]:
    if not isinstance(value, dict) or not all(
        isinstance(v, str) or _number(v) for v in value.values()
    ):
        raise _Reject("params are not numbers or texts")
    return value
