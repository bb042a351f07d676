# SPDX-License-Identifier: GPL-2.0-only
"""What of a run, of its notes and of its promises a series quotes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lull.ask.catalog import feature as find_feature
from lull.errors import LabError, UsageError
from lull.model import Expectation, Known
from lull.page.notes import Marks
from lull.series import assemble
from lull.series.assemble import Reader, measured_in, order
from lull.series.figures import command, evidence
from lull.series.pristine import Pristine
from tests.series.made import put
from tests.series.made_up import (
    BASE,
    NOTE,
    RESULTS,
    change,
    keep_steps,
    letter_of,
    row,
    share,
    summary,
)

MIXES = """
[[cases]]
workload = "load"
params = {{ mix = "{0}" }}
[[expectations]]
workload = "load"
params = {{ mix = "{0}" }}
metric = "time"
mode = "lull"
max = 0.7
"""


def test_a_case_that_is_not_of_the_series_is_quoted_nowhere(
    root: Path, pristine: Pristine
) -> None:
    says = root / "features/freeze/feature.toml"
    mixed = 'text = "w"\nparams = { mix = "few", n = 4 }'
    change(root, 'text = "w"', mixed, "feature.toml")
    put(says, says.read_text() + MIXES.format("many") + MIXES.format("some"))
    rows = list(summary()["rows"])
    of = [{"params": {"mix": mix, "n": 9}} for mix in ("many", "some")]
    for more in of:
        rows += [row("stock", 3000, **more), row("lull", 1500, **more, ratio=0.5)]
        rows.append(row("stock", 3000, **more, ratio=1, p=0.5, arm="stock"))
    put(root / RESULTS, json.dumps(summary() | {"rows": rows}))
    shares = [share("dead", 0.8, 0.7, 0.9)]
    shares += [share("dead", 0.4, 0.3, 0.5) | more for more in of]
    keep_steps(root, *shares, more={"rows": rows})
    letter = letter_of(root, pristine)
    quoted = "\nload mix=many n=9\n  time "
    assert quoted in letter and "step dead (0.400)" in letter
    assert "<= 0.7 of stock at load mix=many (each clock)" in letter
    assert "  load mix=many n=9 time: 1" in letter
    # Whatever else such a case has: its mix is what it is not of.
    for mix, after in (("many", "0.400"), ("some", "0.800")):
        case = f'[[upstream.not_of]]\nworkload = "load"\nparams = {{ mix = "{mix}" }}\n'
        change(root, "[[upstream.patch]]", f"{case}[[upstream.patch]]")
        letter = letter_of(root, pristine)
        assert f"step dead ({after})" in letter
        assert letter.count(f"mix={mix}") == 1
        assert f"mix={mix}." in letter.partition("Not quoted, since")[2]
    assert "\nload\n  time" in letter and "time, load: stock" in letter
    assert "It fails by others, too" in letter
    change(root, 'mix = "some"', 'mix = "none"')
    with pytest.raises(LabError, match="freeze has no case 'load mix=none'") as caught:
        letter_of(root, pristine)
    assert "not_of" in caught.value.where


def test_what_is_promised_to_another_mode_is_not_of_the_series(
    root: Path, pristine: Pristine
) -> None:
    says = root / "features/freeze/feature.toml"
    for old, new in {
        'text = "w"': 'text = "w"\nparams = { mix = "few" }',
        'text = "s" },': 'text = "s" }, { name = "all", text = "a" },',
        "max = 0.5": 'max = 0.5\nto = "all"',
    }.items():
        change(root, old, new, "feature.toml")
    letter = letter_of(root, pristine)
    assert "Evidence: lull run freeze --check measures it.\n" in letter
    assert "of all at load" not in letter
    put(says, says.read_text() + MIXES.format("many"))
    letter = letter_of(root, pristine)
    assert "time lull <= 0.7 of stock at load mix=many (each clock)" in letter
    assert "of all at load" not in letter and "It fails by others, too" in letter


def test_a_note_stands_wherever_its_case_is_quoted(
    root: Path, pristine: Pristine
) -> None:
    put(root / "features/freeze/notes.toml", NOTE)
    keep_steps(root, share("dead", 0.8, 0.7, 0.9))
    letter = letter_of(root, pristine)
    assert "step dead (0.800) (1)\n" in letter
    assert "\n  time (1)                         2.00us  0.500" in letter
    assert "\ntime, load (1)" in letter
    assert "  time lull <= 0.5 of stock at load (insn) (1)\n" in letter
    assert letter.count("\n\n(1) It is made up, and so is all") == 1


def test_the_patch_of_a_feature_has_the_note_too(
    root: Path, pristine: Pristine
) -> None:
    put(root / "features/freeze/notes.toml", NOTE)
    wanted = order(["freeze"], BASE, None, root)
    steps = assemble.planner(wanted, root)(pristine.read)
    found = assemble.files(wanted, steps, pristine, root)
    text = list(found.values())[-1].decode()
    assert "(insn) (1)\n\n(1) It is made up" in text


def test_nor_is_it_of_the_patch_of_a_feature(root: Path, pristine: Pristine) -> None:
    says = root / "features/freeze/feature.toml"
    text = says.read_text()
    text = text.replace('text = "s" },', 'text = "s" }, { name = "all", text = "a" },')
    put(says, text.replace("max = 0.5", 'max = 0.5\nto = "all"'))
    wanted = order(["freeze"], BASE, Reader.DISTRO, root)
    steps = assemble.planner(wanted, root)(pristine.read)
    found = assemble.files(wanted, steps, pristine, root)
    text = found["0002-lull-freeze.patch"].decode()
    assert "Evidence: lull run freeze --check measures it.\n" in text
    assert "of all at load" not in text


def test_what_is_promised_has_its_workload(root: Path) -> None:
    """Two of them may differ by nothing else, and none is lost."""
    feature = find_feature("freeze", root)
    one = Expectation(
        workload="munmap", params={"mb": 16}, metric="m", mode="lull", max=1
    )
    other = one.model_copy(update={"workload": "munmap-shared"})
    feature = feature.model_copy(update={"expectations": (one, other, other)})
    # Notes are of headlines, and there are none of these cases.
    said = evidence(feature, (), Marks())
    assert said.count("  m lull <= 1 of stock at munmap mb=16 (each clock)\n") == 1
    assert said.count("  m lull <= 1 of stock at munmap-shared mb=16 (each clock)") == 2


def test_what_is_known_not_to_be_kept_is_not_quoted(root: Path) -> None:
    feature = find_feature("freeze", root)
    one = Expectation(workload="zombies", metric="m", mode="lull", max=1)
    slow = Known(why="it is slow there", max=1)
    known = one.model_copy(update={"metric": "slow", "unkept": slow})
    feature = feature.model_copy(update={"expectations": (one, known)})
    said = evidence(feature, (), Marks(), base="7.3")
    assert "  m lull <= 1 of stock" in said and "slow" not in said


def test_what_is_promised_is_what_is_promised_on_the_base(
    root: Path, pristine: Pristine
) -> None:
    assert "lull run freeze --check measures it" in letter_of(root, pristine)
    put(
        root / f"features/freeze/bases/{BASE}.toml",
        '[[expectations]]\nworkload = "zombies"\nmetric = "freezer_total"\n'
        'mode = "lull"\nmax = 0.123\n',
    )
    assert "freezer_total lull <= 0.123 of stock" in letter_of(root, pristine)
    feature = find_feature("freeze", root)
    said = evidence(feature, (), Marks(), base="7.3")
    assert said.startswith("Evidence: lull run freeze --base 7.3 --check measures it")


def test_a_command_is_one_that_a_shell_takes() -> None:
    words = "lull run " + " ".join(["feature"] * 7) + " --clock insn"
    lines = command(words)
    assert lines == [
        f"  {words.removesuffix(' --clock insn')} \\",
        "      --clock insn",
    ]
    assert command("lull list") == ["  lull list"]


def run_folder(place: Path, feature: str, base: str = BASE) -> Path:
    put(place / "summary.json", json.dumps(summary(feature, base)))
    return place


def test_a_run_takes_the_place_of_what_is_kept(
    root: Path, pristine: Pristine, tmp_path: Path
) -> None:
    """Its tables are made as those of kept figures are: table.txt has other modes."""
    place = run_folder(tmp_path / "run", "freeze")
    wanted = order(["freeze"], BASE, Reader.UPSTREAM, root)
    keep_steps(root, share("dead", 0.8, 0.7, 0.9))
    (root / RESULTS).unlink()
    found = measured_in(place, wanted, root)
    # What is kept of the steps is of no use without the figures beside it.
    assert found is not None and found.steps is None
    put(root / RESULTS, json.dumps(summary()))
    found = measured_in(place, wanted, root)
    assert found is not None and found.steps is not None
    assert "step dead (0.800)" in letter_of(root, pristine, found)
    mine = summary() | {"steps": [share("dead", 0.6, 0.5, 0.7)]}
    put(place / "summary.json", json.dumps(mine))
    found = measured_in(place, wanted, root)
    assert "step dead (0.600)" in letter_of(root, pristine, found)


def test_a_run_on_the_wall_is_quoted_by_itself(
    root: Path, pristine: Pristine, tmp_path: Path
) -> None:
    """What is kept of the steps is of the other clock, and has no place there."""
    keep_steps(root, share("dead", 0.8, 0.7, 0.9))
    wall = summary() | {"clock": "wall", "accel": "kvm", "seeds": 0}
    put(tmp_path / "run/summary.json", json.dumps(wall))
    wanted = order(["freeze"], BASE, Reader.UPSTREAM, root)
    found = measured_in(tmp_path / "run", wanted, root)
    letter = letter_of(root, pristine, found)
    assert "lull run freeze --base 6.12 --clock wall\n" in letter
    assert "lull run freeze --base 6.12 --clock wall --ablate\n" in letter
    assert "QEMU under KVM, on the clock wall" in " ".join(letter.split())
    assert "clock insn" not in letter and "step dead\n" in letter
    # Its own steps are of its clock; how many boots it had is not known.
    wall |= {"steps": [share("dead", 0.6, 0.5, 0.7)]}
    put(tmp_path / "run/summary.json", json.dumps(wall))
    found = measured_in(tmp_path / "run", wanted, root)
    letter = letter_of(root, pristine, found)
    assert "step dead (0.600)" in letter and "--seeds" not in letter
    assert "clock insn" not in letter
    assert letter.count("How it was measured") == 1


def test_what_is_not_all_of_a_feature_says_so(
    root: Path, pristine: Pristine, tmp_path: Path
) -> None:
    change(root, 'tests = "Some."', 'tests = "Some."\nleft_out = "The walk."')
    letter = letter_of(root, pristine)
    assert "What is not in it\nThe walk.\n\n" in letter
    said = "All of it was on, what is not in this series included."
    assert said in " ".join(letter.split())
    # So a run's figures may be quoted as well as those that are kept.
    wanted = order(["freeze"], BASE, Reader.UPSTREAM, root)
    assert measured_in(run_folder(tmp_path / "run", "freeze"), wanted, root)


def test_it_has_to_be_a_run_of_that(root: Path, tmp_path: Path) -> None:
    wanted = order(["freeze"], BASE, Reader.UPSTREAM, root)
    for other in (
        run_folder(tmp_path / "other", "zfree"),
        run_folder(tmp_path / "old", "freeze", "6.1"),
    ):
        with pytest.raises(UsageError, match="a run of"):
            measured_in(other, wanted, root)
    with pytest.raises(UsageError, match="no run"):
        measured_in(tmp_path / "nowhere", wanted, root)
    run = run_folder(tmp_path / "run", "freeze")
    with pytest.raises(UsageError, match="for a cover letter"):
        measured_in(run, order(["freeze"], BASE, None, root), root)
