# SPDX-License-Identifier: GPL-2.0-only
from __future__ import annotations

from pathlib import Path

import pytest

from lull.ask import catalog
from lull.errors import LabError, UsageError
from lull.model import Clock
from tests import synthetic

#: Parts of the synthetic feature.toml.
UNSAFE = ', unsafe = "skips too much"'
HEADLINE = """\
text = "30,000 dead children: time to walk past them"
workload = "zombies"
params = { zombies = 30000 }
metric = "total"
"""


def test_the_checked_in_features_load() -> None:
    found = catalog.features()
    assert "freeze" in [feature.name for feature in found]
    assert all(feature.cases and feature.expectations for feature in found)


def test_unknown_names_are_usage_errors_that_list_the_valid_ones() -> None:
    freeze = catalog.feature("freeze")
    for call, valid in (
        (lambda: catalog.feature("freez"), "freeze"),
        (lambda: catalog.select(["freeze", "nope"]), "freeze"),
        (lambda: catalog.check_mode(freeze, "fast"), "stock, exit_state, lull"),
        (lambda: catalog.check_workload(freeze, "zombie"), "zombies"),
        (lambda: catalog.check_clock("sundial"), "insn, wall"),
    ):
        with pytest.raises(UsageError) as error:
            call()
        assert valid in error.value.hint
    assert catalog.check_clock("wall") is Clock.WALL
    assert catalog.check_mode(freeze, "exit_state").unsafe


def test_select_keeps_the_order_and_drops_repetitions() -> None:
    names = [f.name for f in catalog.select(["freeze", "freeze"])]
    assert names == ["freeze"]
    assert catalog.select([]) == catalog.features()


@pytest.mark.parametrize(
    ("word", "said", "hint"),
    [
        ("sheep=1", "unknown parameter of zombies: 'sheep=1'", "one of: zombies=30000"),
        ("zombies", "parameter zombies of zombies needs a value", "zombies=30000"),
        ("zombies=x", "zombies=x: zombies of zombies is a number", "zombies=30000"),
        ("zombies=", "zombies=: zombies of zombies is a number", "zombies=30000"),
        ("zombies=-1", "zombies=-1: zombies of zombies is a number", "zombies=30000"),
    ],
)
def test_a_parameter_that_cannot_be_is_refused(word: str, said: str, hint: str) -> None:
    freeze = catalog.feature("freeze")
    assert catalog.read_params(freeze, "zombies", ["zombies=7"]) == {"zombies": 7}
    with pytest.raises(UsageError, match=said) as error:
        catalog.read_params(freeze, "zombies", [word])
    assert hint in error.value.hint


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [
        ('name = "walk"', 'name = "run"', "name: "),
        ('name = "walk"', 'name = "walk"\nnmae = "x"', "nmae"),
        ('title = "walking tasks"', "", "title"),
        ('name = "stock"', 'name = "stick"', "modes[0].name"),
        ('name = "quick"', 'name = "lull"', "modes[2].name"),
        ('name = "quick"', 'name = "very_quick_one"', "modes[1].name"),
        ('name = "quick"', 'name = "untouched"', "modes[1].name"),
        ("rounds = 4", "rounds = 0", "cases[1].rounds"),
        ("rounds = 4", 'rounds = "x"', "cases[1].rounds"),
        ("params = { sleepers = 50 }\nrounds", "params = { sleper = 1 }\nrounds",
         "cases[1].params.sleper"),
        ("params = { sleepers = 50 }\nrounds", 'params = { sleepers = "x" }\nrounds',
         "cases[1].params.sleepers"),
        ('workload = "sleepers"', 'workload = "sleeper"', "cases[1].workload"),
        ('metric = "total"\nmode = "lull"', 'metric = "totl"\nmode = "lull"',
         "expectations[0].metric"),
        ('mode = "lull"', 'mode = "lul"', "expectations[0].mode"),
        ('mode = "lull"', 'mode = "stock"', "expectations[0].control"),
        ('mode = "lull"', 'mode = "lull"\nto = "quik"', "expectations[0].to: unknown"),
        ('mode = "lull"', 'mode = "lull"\nto = "lull"',
         "expectations[0].to: 'lull' is"),
        ('mode = "lull"', 'mode = "lull"\nto = "quick"\nabsolute = true',
         "expectations[0].to: an absolute"),
        ("control = true", 'control = true\nto = "quick"', "expectations[1].control"),
        ("control = true", "control = true\nabsolute = true",
         "expectations[1].control"),
        ('mode = "lull"', 'mode = "lull"\nevery = true', "expectations[0].every: goes"),
        ('mode = "lull"', 'mode = "lull"\nmin = 0\nabsolute = true\nevery = true',
         "expectations[0].every: goes"),
        ("max = 0.125\naim", "absolute = true\nevery = true\naim",
         "expectations[0].every: goes"),
        ("max = 0.125\naim = 0.08", "", "expectations[0]: has none"),
        ('mode = "lull"', 'mode = "lull"\nunkept = { why = "slow", max = 1 }',
         "expectations[0].unkept"),
        ('params = { zombies = 30000 }\nmetric = "total"\nmode = "lull"',
         'params = { zombies = 7 }\nmetric = "total"\nmode = "lull"',
         "expectations[0]: no case"),
        ('params = { zombies = 30000 }\nquick = true',
         'params = { zombies = 30000 }\nclock = "wall"',
         "expectations[0].clock: the case is not measured on insn"),
        ("quick = true", 'quick = "wall"\nclock = "insn"', "cases[0].quick: the case"),
        ("quick = true", 'quick = "sun"', "cases[0].quick"),
        ('mode = "lull"', 'mode = "quick"', "expectations[0].mode: nothing is"),
        ('mode = "lull"', 'mode = "lull"\nto = "quick"',
         "expectations[0].to: nothing is"),
        ("dead children: time", "dead children:\\ntime", "headlines[0].text: not one"),
        ("dead children: time", "dead children \u00b7", "headlines[0].text: not one"),
        ("time to walk past them", "x" * 90, "headlines[0].text: not one"),
        ('past them"\nworkload = "zombies"', 'past them"\nworkload = "zombie"',
         "headlines[0].workload"),
        (HEADLINE, HEADLINE.replace("total", "totl"), "headlines[0].metric: unknown"),
        (HEADLINE, HEADLINE.replace("total", "visited"),
         "headlines[0].metric: 'visited' is supporting"),
        (HEADLINE, HEADLINE + "[[headlines]]\n" + HEADLINE
         + "[[headlines]]\n" + HEADLINE, "headlines: more than 2"),
        (HEADLINE, HEADLINE + 'clock = "sun"\n', "headlines[0].clock"),
        ('name = "lull"', 'name = "loll"', "headlines[0]: there is no mode 'lull'"),
        ('past them"\nworkload = "zombies"\nparams = { zombies = 30000 }',
         'past them"\nworkload = "zombies"\nparams = { zombies = 7 }',
         "headlines[0]: no case"),
        ("quick = true", "", "headlines[0]: its case is not quick"),
        ('metrics = ["total"]', 'metrics = ["totl"]', "shown[0].metric: unknown"),
        ('params = { sleepers = 50 }\nmetrics',
         'params = { sleepers = 5 }\nmetrics', "shown[0]: no case"),
        ('params = { sleepers = 50 }\nmetrics',
         'params = { sleeper = 50 }\nmetrics', "shown[0].params"),
        ("[metrics.total]", "[metrics.total", "not TOML"),
    ],
)  # fmt: skip
def test_a_broken_file_is_reported_with_file_and_field(
    old: str, new: str, field: str
) -> None:
    assert old in synthetic.TOML
    with pytest.raises(LabError) as error:
        catalog.parse(synthetic.TOML.replace(old, new, 1), "walk", where="a/b.toml")
    assert field in error.value.what
    assert error.value.where == "a/b.toml"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('mode = "lull"', 'mode = "lull"\nto = "quick"'),
        ('mode = "lull"', 'mode = "stock"\nto = "quick"'),
        ('mode = "lull"', 'mode = "lull"\nabsolute = true\nevery = true'),
        ('mode = "lull"', 'mode = "stock"\nabsolute = true'),
    ],
)
def test_what_an_expectation_may_say(old: str, new: str) -> None:
    text = synthetic.TOML.replace(old, new, 1).replace(UNSAFE, "")
    feature = catalog.parse(text, "walk", where="x")
    assert feature.expectations[0] != synthetic.feature().expectations[0]


def test_a_case_that_is_there_twice_is_refused() -> None:
    again = '[[cases]]\nworkload = "zombies"\nparams = { mix = "a:1,b:1" }\n'
    with pytest.raises(LabError, match=r"cases\[2\]: the same"):
        catalog.parse(synthetic.TOML + again, "walk", where="x")


def test_a_file_that_is_not_text_is_a_lab_error(tmp_path: Path) -> None:
    place = tmp_path / "features" / "walk"
    place.mkdir(parents=True)
    (place / "feature.toml").write_bytes(b"name = '\xff'")
    with pytest.raises(LabError, match="cannot be read"):
        catalog.features(tmp_path)
    (place / "feature.toml").write_text(synthetic.TOML)
    assert [f.name for f in catalog.features(tmp_path)] == ["walk"]


def test_scenarios_come_after_the_features(tmp_path: Path) -> None:
    for room, name in (("scenarios", "amble"), ("features", "walk")):
        place = tmp_path / room / name
        place.mkdir(parents=True)
        text = synthetic.TOML.replace('name = "walk"', f'name = "{name}"', 1)
        (place / "feature.toml").write_text(text)
    assert [f.name for f in catalog.features(tmp_path)] == ["walk", "amble"]
    assert catalog.feature("amble", tmp_path).switched == ("amble",)


def test_full_params_fill_in_defaults() -> None:
    full = catalog.full_params(synthetic.feature(), "zombies", {"zombies": 1})
    assert full == {"zombies": 1, "mix": "a:1,b:1"}
    assert catalog.full_params(synthetic.feature(), "gone", {"x": 1}) == {"x": 1}


def test_a_headline_s_clock_is_one_that_quick_measures() -> None:
    text = synthetic.TOML.replace("quick = true", 'quick = "insn"')
    for clock in ("insn", "wall"):
        more = text.replace(HEADLINE, f'{HEADLINE}clock = "{clock}"\n')
        if clock == "insn":
            assert catalog.parse(more, "walk", where="x").headlines[0].clock == "insn"
        else:
            with pytest.raises(LabError, match="its case is not quick"):
                catalog.parse(more, "walk", where="x")
