# SPDX-License-Identifier: GPL-2.0-only
from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lull.errors import UsageError
from lull.graph import text
from lull.graph.analysis import Analysis, analyse
from lull.graph.edits import parse
from lull.graph.ftrace import read
from lull.graph.load import load
from lull.graph.needs import Back, classes
from lull.trees.schedule import Rules
from lull.trees.shapes import random
from tests.graph import captures, traces
from tests.graph.traces import BUS, DISK, MAIN, SCREEN, Line, call, mark, phase

HEAD = b"# lull-kernel: 6.12.1\n"


def machine() -> list[Line]:
    """A disk that is back at once; a keyboard that the order of the list keeps
    behind the screen, by way of a backlight; and a slow network."""
    up = "bus [resume]"
    return [
        mark(0, "machine_suspend", True),
        mark(100, "machine_suspend", False),
        *phase(
            200,
            900,
            "dpm_resume_noirq",
            call(100, 600, DISK, "nvme nvme0", "noirq bus [resume]"),
        ),
        *phase(
            1_000,
            101_000,
            "dpm_resume",
            call(10, 60_010, SCREEN, "i915 screen", up),
            call(20, 100_000, BUS, "iwlwifi net", up),
            call(60_020, 60_030, MAIN, "backlight light<screen", up),
            call(60_040, 62_040, MAIN, "atkbd kbd", up),
        ),
        mark(101_100, "thaw_processes", True, 0),
        mark(104_100, "thaw_processes", False, 0),
    ]


def found(lines: list[Line] | None = None) -> Analysis:
    data = HEAD + traces.text(machine() if lines is None else lines)
    return analyse(read(data, "x"))


def backs(one: Analysis, words: str) -> dict[str, Back]:
    wanted = one.needs(words).wanted
    return {back.name: back for each in wanted for back in each.devices}


def test_a_device_is_back_when_its_last_callback_has_ended() -> None:
    back = backs(found(), "display,disk,keyboard")
    assert back["screen"].times.recorded == pytest.approx(60_010)
    assert back["kbd"].times.recorded == pytest.approx(62_040)
    assert back["nvme0"].times.recorded == 0


def test_what_holds_a_device_back_on_which_it_does_not_depend_is_named() -> None:
    back = backs(found(), "keyboard,display")
    assert (back["kbd"].holder, back["kbd"].through) == ("screen", "light")
    assert back["kbd"].holder_us == pytest.approx(60_000)
    assert back["kbd"].alone == 2_000
    assert back["screen"].holder == ""


def test_what_nobody_named_waits_for_is_the_rest_of_the_resume() -> None:
    answer = found().needs("display,disk,keyboard")
    assert answer.needed.recorded == pytest.approx(62_040)
    assert answer.left.recorded == pytest.approx(37_960)
    assert [name for name, _ in answer.rest] == ["net"]
    assert answer.kernel == pytest.approx(104_000)
    everybody = found().needs("display,net,kbd")
    assert everybody.left.recorded == pytest.approx(0)
    assert everybody.rest == ()


def test_a_what_if_says_when_they_would_be_back() -> None:
    one = found()
    answer = one.needs("keyboard,display", parse("light=async"))
    back = {b.name: b.times for each in answer.wanted for b in each.devices}
    assert back["kbd"].model == pytest.approx(62_010)
    assert back["kbd"].changed == pytest.approx(2_000)
    assert answer.needed.changed == pytest.approx(60_000)
    assert answer.left.changed == pytest.approx(99_980 - 60_000)
    assert one.needs("keyboard").needed.changed is None


def test_a_callback_without_an_end_is_not_back() -> None:
    lines = [x for x in machine() if x.rest != "atkbd kbd, err=0"]
    answer = found(lines).needs("keyboard,disk")
    assert answer.needed.recorded is None
    assert answer.left.recorded is None
    said = text.needs(answer)
    assert any(line.startswith("  kbd ") and "lost" in line for line in said)


def test_a_class_that_is_not_there_is_said() -> None:
    assert "sound: none is recorded" in text.needs(found().needs("sound,disk"))


@pytest.mark.parametrize("words", ["scren", "displays,disk", ",", ""])
def test_a_word_that_is_nothing_is_an_error_that_names_the_classes(words: str) -> None:
    with pytest.raises(UsageError) as caught:
        found().needs(words)
    assert "keyboard" in caught.value.hint


def test_a_cycle_without_a_resume_is_an_error() -> None:
    with pytest.raises(UsageError, match="no resume"):
        found(machine()[:6]).needs("disk")


def test_the_classes_are_those_of_the_file() -> None:
    assert {"display", "disk", "keyboard"} <= classes().keys()
    assert all(classes().values())


def test_the_text_has_a_line_a_device_and_fits() -> None:
    answer = found().needs("display,disk,keyboard", parse("mode=lull,light=async"))
    lines = text.needs(answer)
    kbd = next(line for line in lines if line.startswith("  kbd"))
    assert kbd.split()[1:] == ["62.040", "62.010", "2.000", "2.000"]
    said = " ".join(" ".join(lines).split())
    assert "held back by screen, on which it does not depend (60.000 ms" in said
    assert "by way of light)" in said
    assert any("net 100.000" in line for line in lines)
    assert max(map(len, "\n".join(lines).split("\n"))) <= 79


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32))
def test_a_device_is_never_back_before_it_could_be_nor_after_the_phase(
    seed: int,
) -> None:
    tree = random(n=20, links=0, sync=40, seed=seed)
    one = analyse(read(HEAD + traces.text(traces.of_tree(tree)), "x"))
    words = ",".join(device.name for device in tree.devices)
    for rules in Rules:
        answer = one.needs(words, parse(f"mode={rules}"))
        for each in answer.wanted:
            (back,) = each.devices
            for time in (back.times.recorded, back.times.model, back.times.changed):
                assert time is not None
                assert back.alone - 0.5 <= time
            assert back.times.model <= answer.resume.model
        assert answer.left.model == 0
        assert answer.needed.model == answer.resume.model


@captures.need
@captures.each
def test_a_real_machine_has_display_disk_and_keyboard_before_all_the_rest(
    path: Path,
) -> None:
    answer = analyse(load(path)).needs("display,disk,keyboard")
    assert answer.needed.recorded is not None
    assert answer.resume.recorded is not None
    assert 0 < answer.needed.recorded <= answer.resume.recorded
    for each in answer.wanted:
        assert each.devices
