# SPDX-License-Identifier: GPL-2.0-only
"""Kernels side by side: what is said of a feature that one lacks, or has itself."""

from __future__ import annotations

from collections.abc import Mapping

from lull.report.beside import BaseRuns, blocks, render
from lull.report.compare import Run
from lull.report.summary import summarise
from tests import synthetic

NONE: Mapping[str, str] = {}


def kernel(
    base: str,
    *,
    native: Mapping[str, str] = NONE,
    absent: Mapping[str, str] = NONE,
    there: bool = True,
    cost: Mapping[str, float] = synthetic.COST,
) -> BaseRuns:
    """A base on which ``walk`` was measured, or nothing was."""
    samples = tuple(synthetic.samples(cost=cost, noise=0)) if there else ()
    meta = synthetic.meta(base=base, kernel=f"{base}.1")
    summary = summarise([synthetic.feature()], samples, meta)
    return BaseRuns(base, (Run(base, summary, samples),), absent, native)


def told(*kernels: BaseRuns, folders: int = 2) -> str:
    named = [f"runs/{number}" for number in range(folders)]
    one = [synthetic.feature()]
    return render(blocks(kernels, one), kernels, one, named, ["lull compare a b"])


def test_what_a_kernel_has_itself_stands_below_its_figures() -> None:
    text = told(kernel("6.12"), kernel("7.3", native={"walk": "it walks by itself"}))
    assert "\n  7.3 stock" in text
    assert "\n  in 7.3 itself: it walks by itself\n" in text


def test_its_figures_are_marked() -> None:
    native = {"walk": "it walks by itself"}
    text = told(kernel("6.12"), kernel("7.3", native=native))
    assert "(lull list --base)" in text
    marked = [line for line in text.splitlines() if line.endswith(" *")]
    assert len(marked) == 1 and marked[0].startswith("  7.3 stock")
    # Not where a switch of the kernel's own gives it, which need not be on.
    native = {"walk": "fast: it walks by itself"}
    text = told(kernel("6.12"), kernel("7.3", native=native))
    assert " *" not in text and "(lull list --base)" not in text


def test_where_nothing_is_left_to_win_it_says_so() -> None:
    native = {"walk": "it walks by itself"}
    alike = {**synthetic.COST, "lull": synthetic.COST["stock"]}
    text = told(kernel("6.12"), kernel("7.3", native=native, cost=alike))
    assert text_of(text, "7.3 lull").endswith("as its stock")
    text = told(kernel("6.12"), kernel("7.3", native=native))
    assert "as its stock" not in text
    assert "as its stock" not in told(kernel("6.12"), kernel("7.3", cost=alike))


def text_of(text: str, name: str) -> str:
    return next(ln for ln in text.splitlines() if ln.startswith(f"  {name}"))


def test_it_goes_after_empty_lines() -> None:
    """Folders stand for what else wants the room."""
    kernels = kernel("6.12"), kernel("7.3", native={"walk": "it walks by itself"})
    lines = len(told(*kernels).splitlines())
    full = told(*kernels, folders=2 + 40 - lines)
    assert len(full.splitlines()) == 40 and "\n\nwalk: 30,000" in full
    for more, there in ((1, True), (2, False)):
        text = told(*kernels, folders=2 + 40 - lines + more)
        assert len(text.splitlines()) <= 40
        assert ("in 7.3 itself" in text) is there and "\n\nwalk: 30,000" not in text


def test_what_is_not_on_a_kernel_is_said_where_nothing_stands_beside_it() -> None:
    absent = {"walk": "it has no legs", "run": "nobody asked for it"}
    text = told(kernel("6.12"), kernel("6.1", absent=absent, there=False))
    assert "\nwalk: not on 6.1: it has no legs\n" in text
    assert "6.12 stock" not in text and "nobody asked" not in text
    assert "Nothing was measured" not in text


def test_a_base_that_lacks_it_may_come_first() -> None:
    """The others stand beside each other all the same, to the first that has it."""
    absent = {"walk": "it has no legs"}
    none = kernel("6.1", absent=absent, there=False)
    text = told(none, kernel("6.12"), kernel("7.3"))
    title = next(ln for ln in text.splitlines() if ln.startswith("walk: 30,000"))
    assert title.endswith("(insn, to stock 6.12)")
    assert "[" not in text_of(text, "6.12 stock") and "0.100" in text_of(text, "6.12 l")
    assert "1.00" in text_of(text, "7.3 stock") and "0.100" in text_of(text, "7.3 lull")
    assert "\n  not on 6.1: it has no legs\n" in text
    assert "to stock 6.12)" not in told(kernel("6.12"), kernel("7.3"))


def test_what_is_left_out_for_room_is_kept_whole() -> None:
    kernels = kernel("6.12"), kernel("7.3", native={"walk": "it walks by itself"})
    one = [synthetic.feature()]
    said = blocks(kernels, one)

    def text(most: int | None) -> str:
        return render(said, kernels, one, ["runs/0"], [], most, "runs/0/beside.txt")

    short = text(11)
    assert len(short.splitlines()) <= 11
    assert "\nand 1 more: runs/0/beside.txt\n" in short and "7.3 stock" not in short
    assert "7.3 stock" in text(None) and "in 7.3 itself" in text(None)
