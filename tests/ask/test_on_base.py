# SPDX-License-Identifier: GPL-2.0-only
"""What of a feature is left on a base whose kernel does part of it by itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from lull.ask.catalog import ROOMS, features, full_params
from lull.ask.on_base import native_modes, on_base, partly, untried
from lull.errors import LabError
from lull.kernels.bases import Base, base_names, load_base
from lull.kernels.inputs import is_on
from lull.model import Expectation, Feature
from lull.proof.narrow import narrowed
from lull.proof.trial import Trial, trials
from tests import synthetic

ROOT = Path(__file__).resolve().parents[2]

TEXT = """
native = ["quick"]
[[cases]]
workload = "sleepers"
params = { sleepers = 50 }
rounds = 7
[[cases]]
workload = "sleepers"
params = { sleepers = 9 }
[[expectations]]
workload = "sleepers"
params = { sleepers = 9 }
metric = "total"
mode = "lull"
max = 1.0
"""


def base(name: str) -> Base:
    return Base(name=name, package="linux", tarball="t", top="t")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    place = tmp_path / "features" / "walk" / "bases"
    place.mkdir(parents=True)
    (place / "7.3.toml").write_text(TEXT)
    return tmp_path


def test_what_the_kernel_does_by_itself_is_no_mode_there(root: Path) -> None:
    walk = synthetic.feature()
    there = on_base(walk, base("7.3"), root=root)
    assert walk.mode_names == ("stock", "quick", "lull")
    assert there.mode_names == ("stock", "lull")
    assert native_modes(walk, base("7.3"), root) == ("quick",)
    asked = on_base(walk, base("7.3"), ["quick"], root)
    assert asked.mode_names == walk.mode_names
    assert on_base(walk, base("6.12"), root=root) is walk
    assert native_modes(walk, base("6.12"), root) == ()


def test_cases_stand_in_for_the_same_ones_and_promises_for_all(root: Path) -> None:
    walk = synthetic.feature()
    there = on_base(walk, base("7.3"), root=root)
    assert [case.rounds for case in walk.cases] == [2, 4]
    assert [case.rounds for case in there.cases] == [2, 7, 2]
    assert there.cases[2].params == {"sleepers": 9}
    assert [item.max for item in there.expectations] == [1.0]


def test_a_file_that_speaks_of_trials_alone_cancels_no_promise(root: Path) -> None:
    """Two features promised nothing on 6.1, not even the control, and so held."""
    walk = synthetic.feature()
    place = root / "features" / "walk" / "bases" / "7.3.toml"
    place.write_text('[untried]\n"FZ1 steps" = "nothing there takes steps"\n')
    there = on_base(walk, base("7.3"), root=root)
    assert there.expectations == walk.expectations != ()


def test_what_is_promised_also_comes_beside_the_others(root: Path) -> None:
    walk = synthetic.feature()
    place = root / "features" / "walk" / "bases" / "7.3.toml"
    *_, promised = TEXT.partition("[[expectations]]")
    place.write_text(f"[[also]]{promised}")
    there = on_base(walk, base("7.3"), root=root)
    assert there.expectations[:-1] == walk.expectations != ()
    assert there.expectations[-1].max == 1.0


def test_what_is_known_not_to_be_kept_is_said_of_one_promise(root: Path) -> None:
    walk = synthetic.feature()
    place = root / "features" / "walk" / "bases" / "7.3.toml"
    place.write_text(synthetic.UNKEPT)
    there = on_base(walk, base("7.3"), root=root)
    found = [item.unkept for item in there.expectations if item.unkept]
    assert [(known.why, known.max) for known in found if known] == [
        ("it is slow there", 0.2)
    ]
    assert len(there.expectations) == len(walk.expectations)
    place.write_text(synthetic.UNKEPT.replace("30000", "77"))
    with pytest.raises(LabError, match="unkept") as caught:
        on_base(walk, base("7.3"), root=root)
    assert str(place) in caught.value.where


@pytest.mark.parametrize("text", ["native = 1", "modes = []", 'native = ["nap"]', "["])
def test_a_broken_file_is_named(root: Path, text: str) -> None:
    place = root / "features" / "walk" / "bases" / "7.3.toml"
    place.write_text(text)
    with pytest.raises(LabError) as caught:
        on_base(synthetic.feature(), base("7.3"), root=root)
    assert str(place) in caught.value.where


def is_measured(feature: Feature, item: Expectation) -> bool:
    """A promise without a clock is one on each clock that its case is measured on."""
    wanted = full_params(feature, item.workload, item.params)
    return any(
        case.workload == item.workload
        and full_params(feature, case.workload, case.params) == wanted
        and (item.clock is None or case.clock in (None, item.clock))
        for case in feature.cases
    )


def test_modes_that_are_left_out_take_their_checks_along() -> None:
    """A trial got one more case once, and the count of those left there did not."""
    counted = 0
    for record in map(load_base, base_names()):
        for trial in trials(ROOT):
            part = partly(trial.feature, record).get(trial.name)
            if part is None or part.runs or part.params:
                continue
            left = narrowed(trial, record)
            modes, all_modes = words(left), words(trial)
            for name, count in trial.checks.items():
                where = f"{trial.feature}/bases/{record.name}.toml: {trial.name}"
                assert left.checks[name] * all_modes == count * modes, where
                counted += 1
    assert counted


def words(trial: Trial) -> int:
    return sum(len(case.modes.split()) * case.times for case in trial.cases)


def test_the_project_s_own_promise_what_is_measured_there() -> None:
    files = [path for room in ROOMS for path in ROOT.glob(f"{room}/*/bases/*")]
    known = {feature.name: feature for feature in features()}
    for path in files:
        assert path.stem in base_names()
        assert is_on(path.parents[1], path.stem)
        feature = on_base(known[path.parents[1].name], load_base(path.stem))
        assert "lull" in feature.mode_names
        name = feature.name
        tried = {trial.name for trial in trials(ROOT) if trial.feature == name}
        record = load_base(path.stem)
        assert untried(name, record).keys() <= tried
        assert partly(name, record).keys() <= tried - untried(name, record).keys()
        for trial in trials(ROOT):
            assert bool(narrowed(trial, record).checks) == bool(trial.checks)
        for item in feature.expectations:
            assert {item.mode, item.to} <= set(feature.mode_names)
            assert item.metric in feature.metrics
            assert is_measured(feature, item)
    assert files


def test_where_modes_are_the_kernels_own_so_is_what_stock_does() -> None:
    """It was said of 7.3 what 6.12's stock does."""
    for record in map(load_base, base_names()):
        for feature in features():
            there = on_base(feature, record)
            own = record.native.get(feature.name, "")
            own = own if native_modes(feature, record) else ""
            assert there.modes[0].text == (own or feature.modes[0].text)
