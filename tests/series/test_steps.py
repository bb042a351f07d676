# SPDX-License-Identifier: GPL-2.0-only
"""What a letter and its patches say of the steps of a mode."""

from __future__ import annotations

import json
from pathlib import Path

from lull.series.pristine import Pristine
from tests.repository import git
from tests.series.made import put
from tests.series.made_up import (
    NOTE,
    NOTE_TEXT,
    STEPS,
    change,
    committed,
    keep_steps,
    letter_of,
    messages,
    origin_of,
    row,
    share,
)


def test_a_step_is_quoted_only_where_its_interval_excludes_1(
    root: Path, pristine: Pristine
) -> None:
    keep_steps(root, share("dead", 0.3, 0.1, 1.4))
    assert "step dead (not shown)\n" in letter_of(root, pristine)
    keep_steps(root, share("dead", 0.3, 0.1, 1.4), share("dead", 0.8, 0.7, 0.9))
    letter = letter_of(root, pristine)
    assert "step dead (0.800)\n\nIn brackets: all of it" in letter


TWICE = """
[[upstream.patch]]
words = { title = "freezer: more", text = "More." }
steps = ["dead"]
declare = [{ file = "include/linux/more.h", text = "int more;" }]
[[upstream.edit]]"""


def test_a_step_of_two_patches_has_its_figure_where_it_is_whole(
    root: Path, pristine: Pristine
) -> None:
    keep_steps(root, share("dead", 0.8, 0.7, 0.9))
    change(root, "\n[[upstream.edit]]", TWICE)
    letter = letter_of(root, pristine)
    assert "+7 -0      step dead\n" in letter
    assert "+1 -0      step dead (0.800)\n" in letter


def test_a_patch_says_what_was_measured_of_its_steps(
    root: Path, pristine: Pristine
) -> None:
    head = "What the step brings where it brings most: the whole to the whole without"
    head += " it, below 1 is less with it (in executed instructions, medians of 6 boots"
    keep_steps(root, share("other", 0.8, 0.7, 0.9))
    assert messages(root, pristine)[0].endswith(" freezer: wait for it Why.")
    keep_steps(root, share("dead", 0.3, 0.1, 1.4))
    state = ", of a state of this code that is not known"
    where = "the cover letter has all cases and the command)"
    (said,) = messages(root, pristine)
    wanted = f"{head}{state}; {where}: dead: no difference was shown"
    assert said.endswith(f"Why. {wanted}")
    more = share("dead", 0.6, 0.5, 0.7) | {"needed_by": ["odd", "even"]}
    keep_steps(root, share("dead", 0.8, 0.7, 0.9), more)
    (said,) = messages(root, pristine)
    step = "dead, with odd and even on top of it: 0.600 +-17% (time, load)"
    assert said.endswith(f"{where}: {step}")


def test_what_a_patch_says_of_its_steps_has_the_state_of_the_code(
    root: Path, pristine: Pristine
) -> None:
    keep_steps(root, share("dead", 0.8, 0.7, 0.9))
    git(root, "init", "-q")
    origin_of(root, STEPS, committed(root, "features"))
    assert "6 boots; the cover letter" in messages(root, pristine)[0]
    put(root / "features/freeze/kernel/kernel/lull/freeze/more.c", "int more;\n")
    committed(root, "features")
    said = "6 boots, of an earlier state of this code; the cover letter"
    assert said in messages(root, pristine)[0]


def test_the_patch_that_completes_a_step_has_its_figure_and_its_note(
    root: Path, pristine: Pristine
) -> None:
    put(root / "features/freeze/notes.toml", NOTE)
    keep_steps(root, share("dead", 0.8, 0.7, 0.9), share("more", 0.9, 0.8, 0.95))
    change(root, "\n[[upstream.edit]]", TWICE.replace('["dead"]', '["dead", "more"]'))
    first, second = messages(root, pristine)
    assert "brings" not in first
    assert "More. What each step brings where it brings most: the whole" in second
    steps = "dead, with earlier patches: 0.800 +-13% (time, load) (1)"
    steps += " more: 0.900 +-12% (time, load) (1)"
    assert second.endswith(f"{steps} (1) {NOTE_TEXT}")


def test_the_table_of_steps_is_of_the_series(root: Path, pristine: Pristine) -> None:
    rows = [row("stock", 2000), row("lull", 1000, ratio=0.5, ratio_ci95=[0.4, 0.6])]
    keep_steps(
        root,
        share("dead", 0.8, 0.7, 0.9),
        share("other", 0.9, 0.8, 0.95),
        more={"rows": rows},
    )
    origin = {"command": "lull run all --ablate", "created": "2026-11-24"}
    put((root / STEPS).with_suffix(".origin.json"), json.dumps(origin))
    part = letter_of(root, pristine).partition("What each step brings\n")[2]
    assert part.startswith(
        "2026-11-24, of which commit, nobody wrote down:\n  lull run all --ablate\n"
    )
    assert "\ntime, load: stock 2.00us\n" in part
    assert "\ndead         -                    -                    0.800 +-" in part
    assert "\nother " not in part and "none of them" not in part
    assert "have other besides, which this series has not." in " ".join(part.split())


def test_a_step_that_the_run_lacks_is_named(root: Path, pristine: Pristine) -> None:
    keep_steps(root, share("dead", 0.8, 0.7, 0.9))
    change(root, 'steps = ["dead"]', 'steps = ["dead", "batch"]')
    letter = letter_of(root, pristine)
    assert "step batch (not measured alone)" in letter
    assert "That run knows no step batch, and all figures of this table" in letter


def test_without_a_run_of_steps_it_says_so(root: Path, pristine: Pristine) -> None:
    letter = letter_of(root, pristine)
    again = "lull run freeze --base 6.12 --clock insn --ablate"
    assert f"by itself on this base and clock. This does it:\n  {again}\n" in letter
    assert "In brackets" not in letter


def test_a_case_that_another_step_has_a_part_in_is_not_quoted(
    root: Path, pristine: Pristine
) -> None:
    """That step is not in the series."""
    keep_steps(root, share("other", 0.9, 0.8, 1.1))
    assert "0.500 +-20%" in letter_of(root, pristine)
    keep_steps(root, share("other", 0.9, 0.8, 0.95))
    assert "0.500 +-20%" not in letter_of(root, pristine)
