# SPDX-License-Identifier: GPL-2.0-only
"""safety.toml: what is in the project, and what is refused."""

from __future__ import annotations

import re
import subprocess

import pytest

from lull.ask import catalog
from lull.errors import LabError, UsageError
from lull.host.files import repo_root
from lull.model import Arm
from lull.proof.trial import Size, Trial, of_features, of_size, parse, trials
from lull.vm.probe_build import build_probe

GOOD = """
[[trial]]
name = "A"
text = "it holds"
cases = [{ run = "w", modes = "stock lull", times = 2, n = 3, proof = { n = 30 } }]
checks = { A1 = 4 }
"""

ALL = trials()


def one(text: str) -> Trial:
    (found,) = parse(text, "f", where="safety.toml")
    return found


def test_a_case_has_its_words_and_the_rest_are_parameters() -> None:
    trial = one(GOOD)
    (small,) = trial.job(Size.TEST, 7).cases
    assert small.feature == "f"
    assert small.order == ("stock", "lull") * 2
    assert small.params == {"n": 3}
    (large,) = trial.job(Size.PROOF, 7).cases
    assert large.params == {"n": 30}
    assert trial.job(Size.TEST, 7).seed == 7


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("checks = { A1 = 4 }", "", "either checks or a fault"),
        ("checks = { A1 = 4 }", "fault = { }", "shows nowhere"),
        ("checks = { A1 = 4 }", 'fault = { kernel = ["("] }', "regular expression"),
        ('text = "it', 'texts = "it', "texts"),
        ("checks", 'arm = "kcsan"\nchecks', "about goes with"),
        ("cases = [", "cases = [ ]\nno = [", "cases"),
        ("[[trial]]", "[[trial", "not TOML"),
        ("times = 2", "times = 0", "times"),
        ("proof = { n = 30 }", "proof = { times = 9 }", "proof cannot change times"),
    ],
)
def test_what_is_no_trial_is_refused_by_name(old: str, new: str, said: str) -> None:
    with pytest.raises(LabError, match=said):
        one(GOOD.replace(old, new, 1))


def test_a_name_is_there_once() -> None:
    with pytest.raises(LabError, match="there twice: A"):
        parse(GOOD + GOOD, "f", where="x")


def test_features_are_chosen_by_name() -> None:
    assert {t.feature for t in of_features(ALL, ["thaw"])} == {"thaw"}
    assert of_features(ALL, []) == ALL
    with pytest.raises(UsageError, match="no trials of 'lid'"):
        of_features(ALL, ["lid"])


def test_kcsan_is_for_the_full_size() -> None:
    assert Arm.KCSAN not in {t.arm for t in of_size(ALL, Size.TEST)}
    assert Arm.KCSAN in {t.arm for t in of_size(ALL, Size.PROOF)}


@pytest.fixture(scope="module")
def listed() -> dict[tuple[str, str], set[str]]:
    """The parameters of each workload that the probe has, by feature and name."""
    text = subprocess.run(
        [build_probe(repo_root()), "--list"], capture_output=True, text=True, check=True
    ).stdout
    lines = [line.split() for line in text.splitlines() if not line.startswith(" ")]
    return {
        (words[0], words[1]): {word.partition("=")[0] for word in words[2:]}
        for words in lines
        if len(words) >= 2
    }


@pytest.mark.parametrize("size", Size)
def test_all_name_workloads_and_modes_that_there_are(
    size: Size, listed: dict[tuple[str, str], set[str]]
) -> None:
    for trial in ALL:
        modes = set(catalog.feature(trial.feature).mode_names)
        for case in trial.job(size, 1).cases:
            known = listed[trial.feature, case.workload]
            assert set(case.params) <= known, trial.id
            assert set(case.order) <= modes | set(case.steps), trial.id


def numbered(feature: str) -> set[str]:
    """The statements that a feature's README makes, by their numbers."""
    text = (repo_root() / "features" / feature / "README.md").read_text()
    return set(re.findall(r"\b(?:FZ|ZS|CG|PM)\d+\b", text))


#: What is no boot: a compile test, litmus tests and a figure; some of which only the
#: code speaks; and those that the other feature of a pair tries.
ELSEWHERE = {
    "freeze": {"FZ2", "FZ4", "FZ14"},
    "thaw": {"FZ7"},
    "zfree": {"ZS10"},
    "devices": {"PM11", "PM2", "PM3", "PM6"},
    "attach": set(),
}


@pytest.mark.parametrize("feature", sorted({t.feature for t in ALL}))
def test_each_numbered_statement_is_tried_and_seen_to_fail(feature: str) -> None:
    mine = [t for t in ALL if t.feature == feature]
    words = " ".join(f"{t.name} {t.text} {' '.join(t.checks)}" for t in mine)
    broken = " ".join(
        f"{t.name} {' '.join(t.checks)} {' '.join(t.fault.checks) if t.fault else ''}"
        for t in mine
        if t.fault
        or any("disable" in c.params or "expect" in c.params for c in t.cases)
    )
    for name in numbered(feature) - ELSEWHERE[feature]:
        assert re.search(rf"\b{name}\b", words), f"{name} is not tried"
        assert re.search(rf"\b{name}\b", broken), f"{name} has no broken variant"


@pytest.mark.parametrize("feature", sorted({t.feature for t in ALL}))
def test_each_safeguard_is_done_without(feature: str) -> None:
    """By name, in some trial; the names are the kernel's own list."""
    room = repo_root() / "features" / feature / "kernel"
    text = "".join(path.read_text() for path in room.rglob("*.h"))
    (found,) = re.findall(r"LULL_SAFEGUARDS\(\w+, \w+, \{(.*?)\}", text, re.S)
    words = re.findall(rf"LULL_{feature.upper()}_(\w+)", found)
    names = {word.lower().replace("_", "-") for word in words}
    mine = [t for t in ALL if t.feature == feature]
    tried = {
        name
        for t in mine
        for c in t.cases
        if c.run != "names"
        for name in str(c.params.get("disable", "")).split(",")
    } - {""}
    assert tried == names


def test_a_set_of_steps_that_is_drawn_is_another_with_another_seed() -> None:
    (trial,) = (t for t in ALL if t.id == "freeze: steps")
    orders = [
        case.order
        for seed in (1, 2)
        for case in trial.job(Size.TEST, seed).cases
        if case.workload == "storm" and case.order[0].startswith("lull=")
    ]
    assert len(orders) == 2
    assert orders[0] != orders[1]
    for case in trial.job(Size.TEST, 1).cases:
        assert set(case.order) == set(case.steps)
