# SPDX-License-Identifier: GPL-2.0-only
"""Which features are on which base, and what is said of those that are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from lull.ask import presence
from lull.ask.catalog import features
from lull.errors import UsageError
from lull.kernels.bases import Base, base_names, load_base
from lull.kernels.inputs import is_on
from tests import synthetic

ROOT = Path(__file__).resolve().parents[2]


def base(name: str, **absent: str) -> Base:
    return Base(name=name, package="linux", tarball="t", top="t", absent=absent)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """walk is on 6.12, nap on both; amble, a scenario, switches both."""
    rooms = {"walk": ("features", ("6.12",)), "nap": ("features", ("6.12", "7.3"))}
    for name, (room, bases) in {**rooms, "amble": ("scenarios", ())}.items():
        place = tmp_path / room / name
        text = synthetic.TOML.replace('name = "walk"', f'name = "{name}"', 1)
        if room == "scenarios":
            text = f'switches = ["nap", "walk"]\n{text}'
        place.mkdir(parents=True)
        (place / "feature.toml").write_text(text)
        for each in bases:
            (place / "hooks" / each).mkdir(parents=True)
    return tmp_path


def names(found: tuple[presence.Feature, ...]) -> list[str]:
    return [one.name for one in found]


def test_a_feature_is_where_its_hooks_are_and_a_scenario_where_all_its_are(
    root: Path,
) -> None:
    assert names(presence.of_base(base("6.12"), root)) == ["nap", "walk", "amble"]
    assert names(presence.of_base(base("7.3"), root)) == ["nap"]
    assert names(presence.select_on(base("7.3"), [], root=root)) == ["nap"]
    assert names(presence.select_on(base("7.3"), ["nap"], root=root)) == ["nap"]


def test_who_is_selected_is_as_it_is_on_the_base(root: Path) -> None:
    place = root / "features" / "nap" / "bases"
    place.mkdir()
    (place / "7.3.toml").write_text('native = ["quick"]\n')
    (there,) = presence.select_on(base("7.3"), ["nap"], root=root)
    assert there.mode_names == ("stock", "lull")
    assert presence.select_on(base("7.3"), [], root=root) == (there,)
    (asked,) = presence.select_on(base("7.3"), ["nap"], ["quick"], root)
    assert asked.mode_names == ("stock", "quick", "lull")


def test_the_reason_is_the_base_s_own(root: Path) -> None:
    there = base("7.3", walk="it walks by itself")
    with pytest.raises(UsageError) as caught:
        presence.select_on(there, ["nap", "walk"], root=root)
    assert caught.value.what == "walk is not on the base 7.3: it walks by itself"
    assert caught.value.hint.startswith("there is: nap;")
    assert presence.absent_from(there, root) == {
        "walk": "it walks by itself",
        "amble": "walk is not on it: it walks by itself",
    }
    assert presence.absent_from(base("6.12"), root) == {}
    with pytest.raises(UsageError, match=r"amble is .* walk is .* walks by itself"):
        presence.select_on(there, ["amble"], root=root)
    assert presence.why_not_tried(["nap"], there, root) == ""
    why = "walk is not on the base 7.3: it walks by itself"
    assert presence.why_not_tried(["nap", "walk"], there, root) == why
    assert presence.why_not_tried(["elsewhere"], there, root) == ""


def test_an_unknown_name_is_told_from_one_that_is_not_there(root: Path) -> None:
    with pytest.raises(UsageError, match="unknown feature"):
        presence.select_on(base("7.3"), ["run"], root=root)


@pytest.mark.parametrize("name", base_names())
def test_each_base_says_why_it_is_without_what_it_is_without(name: str) -> None:
    record = load_base(name)
    rooms = {one.name for one in features() if not one.switches}
    there = {room for room in rooms if is_on(ROOT / "features" / room, name)}
    assert set(record.absent) == rooms - there
    assert set(record.native) <= there
    assert all((*record.absent.values(), *record.native.values()))


def test_a_switch_of_the_base_s_own_is_one_that_workloads_have(root: Path) -> None:
    walk = next(one for one in features(root) if one.name == "walk")
    known = next(name for w in walk.workloads.values() for name in w.params)

    def switch(text: str) -> str:
        there = base("7.3").model_copy(update={"native": {"walk": text}})
        return presence.own_switch(walk, there)

    assert switch(f"{known}: it walks by itself") == known
    assert switch("mount: it walks by itself") == ""
    assert switch("it walks by itself") == ""
    assert presence.own_switch(walk, base("7.3")) == ""
