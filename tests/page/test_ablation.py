# SPDX-License-Identifier: GPL-2.0-only
"""Steps of the mode ``lull`` on the page: a table of their own, and no verdict."""

from __future__ import annotations

from dataclasses import replace

from lull.model import LULL, Clock, Step
from lull.page.build import Extras, page
from lull.page.html import render
from lull.page.model import Page
from lull.report.ablation import with_shares
from tests import synthetic
from tests.page import runs

#: To the samples of mode lull: its steps' cost. ``dead`` brings three quarters,
#: ``idle`` nothing.
TIMES = {
    "lull+dead": 1.0,
    "lull-dead": 4.0,
    "lull+idle": 8.0,
    "lull-idle": 1.0,
    "lull=none": 10.0,
}


def made(*modes: str) -> Page:
    """The page of a run with these modes beside its own."""
    found = synthetic.samples()
    for sample in [each for each in found if each.mode == LULL]:
        for mode in modes:
            metrics = {n: v * TIMES[mode] for n, v in sample.metrics.items()}
            found.append(sample.model_copy(update={"mode": mode, "metrics": metrics}))
    own = synthetic.feature()
    more = [own.modes[0].model_copy(update={"name": mode}) for mode in modes]
    steps = tuple(Step(name=name, text=f"what {name} is") for name in ("dead", "idle"))
    wide = own.model_copy(update={"modes": (*own.modes, *more), "steps": steps})
    run = runs.run(Clock.INSN, found, wide)
    taken = replace(run, summary=with_shares(run.summary, [wide], found))
    return page([taken], [own], Extras())


def test_a_line_a_step_says_what_it_brings() -> None:
    (system,) = made(*TIMES).systems
    assert system.steps is not None
    lines = [r[3:] for r in system.steps.rows if r[0] == "zombies zombies=30000"]
    assert [line[0] for line in lines] == [
        *("dead", "idle", "none of them", "all of them")
    ]
    dead, idle, none, whole = lines
    assert dead[1] == "what dead is"
    assert dead[4] == "0.250" and dead[5] == "0.250 to 0.250"
    assert idle[4] == "1.00 ~"
    assert dead[2] == idle[3] == whole[2]
    assert none[2].startswith(("0.99", "1.0"))


def test_a_side_that_was_not_measured_is_not_made_up() -> None:
    (system,) = made("lull-dead").systems
    assert system.steps is not None
    first = system.steps.rows[0]
    assert first[3] == "dead" and first[5] == "-" and first[6] != "-"
    assert made("lull+dead").systems[0].steps is None


def test_steps_are_in_no_verdict_and_no_answer() -> None:
    without, taken = made(), made(*TIMES)
    assert without.systems[0].steps is None
    assert taken.heading == without.heading and taken.mail == without.mail
    assert [v.sentence for v in taken.systems[0].verdicts] == [
        v.sentence for v in without.systems[0].verdicts
    ]
    assert "What each step brings" not in render(without)
    assert 'id="s0-steps"' in render(taken)
