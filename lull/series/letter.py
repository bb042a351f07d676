# SPDX-License-Identifier: GPL-2.0-only
"""The cover letter of a series for upstream: why, for which kernel, what it may break,
what each patch brings, how to measure it again, and the tests. No figure comes from
here."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lull.model import Clock
from lull.report.clocks import ASLEEP, INSN
from lull.report.stats import ALPHA
from lull.report.table import wrap
from lull.series.description import Upstream
from lull.series.figures import Quotes
from lull.series.stages import FullPatch

#: Columns of the table of patches before what one is.
_BEFORE = 18
#: For the sender, in a letter of a project whose pyproject.toml has no address.
FILL_IN = "fill in"


def address(root: Path) -> str:
    """Where the project is to be had; empty where it does not say."""
    file = root / "pyproject.toml"
    project = tomllib.loads(file.read_text("utf-8")) if file.is_file() else {}
    urls = project.get("project", {}).get("urls", {})
    return str(next(iter(urls.values()), ""))


@dataclass(frozen=True)
class Letter:
    """What a letter is made from."""

    name: str
    base: str
    version: str  #: of the sources, as their Makefile has it
    newest: str  #: of the bases: as near to mainline as the project is
    says: Upstream
    quotes: Quotes | None = None  #: nothing of a series of fixes was measured
    where: str = ""  #: the project is to be had

    def write(self, patches: Sequence[bytes]) -> tuple[str, str]:
        """The subject and the text, for patches as git has written them."""
        cover = self.says.cover
        parts = [cover.text.strip()]
        if self.says.left_out:
            parts.append(f"What is not in it\n{self.says.left_out.strip()}")
        parts += [f"What it may break\n{cover.breaks.strip()}", self._base()]
        parts.append(f"What the patches are\n{self._patches(patches)}")
        if self.quotes:
            parts.append(self._how(self.quotes))
            parts.append(f"What it brings\n{self.quotes.results()}")
            parts.append(f"What each step brings\n{self.quotes.brings()}")
            parts.append(self.quotes.evidence())
            parts.append(self.quotes.footnotes())
        parts.append(
            f"Tests\n{self.says.tests.strip()}\n{_NOT_AS_IS}\n"
            f"All of them: make proof FEATURE={self.name} BASE={self.base}"
        )
        return cover.title, "\n\n".join(part for part in parts if part)

    def told(self, steps: Sequence[FullPatch]) -> list[FullPatch]:
        """The patches, each with what was measured of the steps that it completes."""
        done: list[FullPatch] = []
        begun: set[str] = set()
        for count, (step, patch) in enumerate(
            zip(steps, self.says.patch, strict=True), 1
        ):
            whole = [name for name in patch.steps if self._is_whole(name, count)]
            said = self.quotes.told(whole, begun) if self.quotes else ""
            done.append(step.saying(said))
            begun.update(patch.steps)
        return done

    def _base(self) -> str:
        lines = [f"base: Linux {self.version}"]
        if self.base != self.newest:
            lines.append(f"What Linux {self.newest} has of it already:")
            lines.append(self.says.cover.newer.strip())
        return "\n".join(lines)

    def _patches(self, patches: Sequence[bytes]) -> str:
        """A line each: how long it is, and which steps it is a part of."""
        lines = ["patch  lines      what it is"]
        for count, (mail, patch) in enumerate(
            zip(patches, self.says.patch, strict=True), 1
        ):
            what = ["a fix of what is there"] if patch.fix else []
            what += [f"step {step}{self._most(step, count)}" for step in patch.steps]
            what += [patch.note] if patch.note else []
            size = "+{} -{}".format(*_lines(mail))
            words = ", ".join(what) or "what the steps stand on"
            line = f"{count:>5}  {size:<9}  {words}"
            lines += wrap(line, "", " " * _BEFORE)
        if self.quotes and self.quotes.measured.steps:
            lines += ["", *wrap(_MOST)]
        return "\n".join(lines)

    def _most(self, step: str, count: int) -> str:
        """A step's figure, with the patch that completes it."""
        whole = self._is_whole(step, count)
        return self.quotes.most(step) if self.quotes and whole else ""

    def _is_whole(self, step: str, count: int) -> bool:
        """Whether no patch after the first so many is a part of it."""
        return not any(step in patch.steps for patch in self.says.patch[count:])

    def _how(self, quotes: Quotes) -> str:
        """What was measured, in words for who does not know the project."""
        summary = quotes.measured.results.summary
        clock = _CLOCKS[summary.clock].format(accel=summary.accel.upper())
        # On insn, boots at different dates: the same date gives the same figures.
        of = f" of {summary.seeds} boots" if summary.seeds else ""
        state = "" if quotes.are_of_this_code() else _STATE
        said = (
            f"Linux {summary.kernel} with {summary.cpus} CPUs, in a virtual machine:"
            f" {clock} stock is that kernel with this code in it{state}, switched"
            " off; lull is the same kernel with it switched on, in turns with stock."
            " Figures"
            f" are medians{of}; +- is the wider side of the 95% interval, and ~ says"
            f" that no difference is shown (p >= {ALPHA}, or 1 in the interval)."
        )
        if self.says.left_out:
            said += " All of it was on, what is not in this series included."
        lines = ["How it was measured, and how to repeat it", *wrap(said), ""]
        again = "With the project (make setup) the commands below measure it again."
        return "\n".join([*lines, again, f"where: {self.where or FILL_IN}"])


def _lines(mail: bytes) -> tuple[int, int]:
    """How many lines a patch adds, and takes away."""
    diff = mail.partition(b"\ndiff --git ")[2].split(b"\n")
    added = sum(ln[:1] == b"+" and ln[:4] != b"+++ " for ln in diff)
    return added, sum(ln[:1] == b"-" and ln[:4] != b"--- " for ln in diff)


_CLOCKS = {
    Clock.INSN: (
        "QEMU's emulator {accel}, on the clock insn. Its time is"
        f" {INSN}, whatever the host does: {ASLEEP}."
        " There are no caches in it and no contention: what a shared line or a lock"
        " costs CPUs that are at it at once is in none of these figures."
    ),
    Clock.WALL: "QEMU under {accel}, on the clock wall: time, with the host's noise.",
}
_STATE = " (in the state that each table names, where it is known)"
_MOST = (
    "In brackets: all of it to all but the step, where that brings most; below 1 is"
    " less with it. A step of several patches has it where it is whole."
)
_NOT_AS_IS = """\
That is this code behind a switch, beside what the kernel does now. As it
stands here, without it, it was compiled after each patch, and not run."""
