# SPDX-License-Identifier: GPL-2.0-only
"""The cover letter of a series for upstream: why, what each patch brings, how to
measure it again, and the tests. No figure comes from here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap

from pydantic import ValidationError

from lull.errors import LabError
from lull.model import Summary
from lull.report import ablation
from lull.report.table import ratio
from lull.series.description import WIDTH, Upstream

#: In a feature's room: what ``lull run --ablate`` has measured.
KEPT = "results/ablate-insn.json"


@dataclass(frozen=True)
class Measured:
    """What a run's folder has for a letter, to be quoted."""

    table: str
    steps: str = ""  #: what each step brings; empty where none was taken out


def kept(room: Path, base: str) -> Summary | None:
    """What is in the feature's room of its steps, if it is of this base."""
    path = room / KEPT
    if not path.is_file():
        return None
    try:
        summary = Summary.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        raise LabError(f"no summary of a run: {error}", where=str(path)) from error
    return summary if summary.base == base else None


@dataclass(frozen=True)
class Letter:
    """What a letter is made from."""

    name: str
    base: str
    says: Upstream
    evidence: str
    measured: Measured | None = None
    kept: Summary | None = None

    def write(self, patches: Sequence[bytes]) -> tuple[str, str]:
        """The subject and the text, for patches as git has written them."""
        parts = [self.says.cover.text.strip()]
        if self.says.left_out:
            parts.append(f"What is not in it\n{self.says.left_out.strip()}")
        parts.append(f"What the patches are\n{self._patches(patches)}")
        if any(patch.steps for patch in self.says.patch):
            parts += [self._brings(), self._steps(), self._how()]
        parts.append(
            f"Tests\n{self.says.tests.strip()}\n{_NOT_AS_IS}\n"
            f"All of them: make proof FEATURE={self.name} BASE={self.base}"
        )
        return self.says.cover.title, "\n\n".join(parts)

    def _patches(self, patches: Sequence[bytes]) -> str:
        """A line each: how long it is, and which steps it is a part of."""
        lines = ["patch  lines      what it is"]
        for count, (mail, patch) in enumerate(
            zip(patches, self.says.patch, strict=True), 1
        ):
            what = ["a fix of what is there"] if patch.fix else []
            what += [f"step {step}{self._most(step)}" for step in patch.steps]
            what += [patch.note] if patch.note else []
            size = "+{} -{}".format(*_lines(mail))
            words = ", ".join(what) or "what the steps stand on"
            line = f"{count:>5}  {size:<9}  {words}"
            lines += wrap(line, WIDTH, subsequent_indent=" " * _BEFORE)
        if self.kept and any(patch.steps for patch in self.says.patch):
            lines += ["", *wrap(_MOST, WIDTH)]
        return "\n".join(lines)

    def _most(self, step: str) -> str:
        """What a step brings where it brings most."""
        steps = self.kept.steps if self.kept else ()
        found = [s.ratio for s in steps if s.step == step and s.ratio is not None]
        return f" ({ratio(min(found))})" if found else ""

    def _brings(self) -> str:
        return f"What it brings\n{self.measured.table if self.measured else _NO_TABLE}"

    def _steps(self) -> str:
        if self.measured and self.measured.steps:
            return f"What each step brings\n{self.measured.steps}"
        if self.kept is None:
            return f"What each step brings\n{_NO_STEPS}\n{self._command()}]"
        whose = f"Linux {self.kept.kernel}, {self.kept.cpus} CPUs, as this repeats it:"
        again = f"{self._command()} --seeds {self.kept.seeds}"
        table = ablation.render(self.kept).strip()
        return f"What each step brings\n{whose}\n{again}\n\n{table}"

    def _command(self) -> str:
        return f"lull run {self.name} --base {self.base} --clock insn --ablate"

    def _how(self) -> str:
        both = "In one kernel that has both ways, this series' (lull) and the kernel's"
        more = _OF_ALL if self.says.left_out else ""
        run = f"lull run {self.name} --base {self.base} --clock insn"
        return (
            f"How it was measured\n{both} own\n(stock), behind a switch: {run}{more}"
            f"\n\n{self.evidence}"
        )


def _lines(mail: bytes) -> tuple[int, int]:
    """How many lines a patch adds, and takes away."""
    diff = mail.partition(b"\ndiff --git ")[2].split(b"\n")
    added = sum(ln[:1] == b"+" and ln[:4] != b"+++ " for ln in diff)
    return added, sum(ln[:1] == b"-" and ln[:4] != b"--- " for ln in diff)


_NO_TABLE = "[empty: no run was named. lull series ... --run RUN puts its table here]"
#: Columns of the table of patches before what one is.
_BEFORE = 18
_MOST = (
    "In brackets: all of it to all but the step, where that brings most; below 1 is"
    " less with it. A step of several patches is whole with the last of them."
)
_NO_STEPS = "[empty: in no run that was named. It is of:"
_NOT_AS_IS = """\
That is this code behind a switch, beside what the kernel does now. As it
stands here, without it, it was compiled after each patch, and not run."""
_OF_ALL = "\nThe figures are of all of it there, what is not in this series included."
