# SPDX-License-Identifier: GPL-2.0-only
"""The cover letter of a series, and the figures that it quotes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lull.ask.catalog import feature as find_feature
from lull.errors import LabError, LullError, UsageError
from lull.kernels.bases import base_names
from lull.model import Expectation, Known
from lull.page.notes import Marks
from lull.series import assemble
from lull.series.assemble import Reader, measured_in, order
from lull.series.figures import Quoted, command, evidence
from lull.series.history import changed_since
from lull.series.pristine import Pristine
from tests.repository import git
from tests.series.made import put
from tests.series.made_up import (
    BASE,
    RESULTS,
    STEPS,
    change,
    made,
    row,
    share,
    summary,
)

LETTER = "0000-cover-letter.patch"


def letter_of(root: Path, pristine: Pristine, measured: Quoted | None = None) -> str:
    return made(root, pristine, measured)[LETTER]


def keep_steps(root: Path, *shares: dict[str, Any], more: Any = ()) -> None:
    put(root / STEPS, json.dumps(summary() | {"steps": shares} | dict(more)))


def test_a_letter_has_all_that_it_must_not_be_silent_about(
    root: Path, pristine: Pristine
) -> None:
    letter = letter_of(root, pristine)
    assert "Subject: [PATCH 0/1] freezer: wait\n" in letter
    parts = (
        "Why all of it.\n\nWhat it may break\nAll of it.\n\nbase: Linux 6.12.117\n",
        f"What Linux {base_names()[-1]} has of it already:\nNone of it.\n\n",
        "\nTests\nSome.\n",
        "compiled after each patch, and not run.",
    )
    for part in parts:
        assert part in letter
    assert "1 file" in letter or "2 files" in letter
    assert "***" not in letter and "[empty" not in letter


def test_for_the_newest_base_nothing_is_said_of_a_newer_one(
    root: Path, pristine: Pristine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(assemble, "base_names", lambda: ["6.1", BASE])
    letter = letter_of(root, pristine)
    assert "base: Linux 6.12.117\n\n" in letter and "None of it." not in letter


@pytest.mark.parametrize("field", ["newer", "breaks"])
def test_a_cover_without_one_of_these_is_refused(
    root: Path, pristine: Pristine, field: str
) -> None:
    said = {"newer": "None of it.", "breaks": "All of it."}[field]
    change(root, f'{field} = "{said}"', "")
    with pytest.raises(LullError, match=f"{field}: Field required"):
        letter_of(root, pristine)


def test_a_letter_says_how_long_each_patch_is(root: Path, pristine: Pristine) -> None:
    letter = letter_of(root, pristine)
    assert "\n    1  +7 -0      step dead\n\n" in letter
    note = "a note of many words, which goes on and on, and on and on"
    change(root, '["dead"]', f'["dead"]\nnote = "{note}"')
    letter = letter_of(root, pristine)
    assert f"on and on,\n{' ' * 18}and on and on\n" in letter
    change(root, f'steps = ["dead"]\nnote = "{note}"', "fix = true")
    (root / RESULTS).unlink()
    letter = letter_of(root, pristine)
    assert "\n    1  +7 -0      a fix of what is there\n\n" in letter
    # Nothing of it was measured.
    assert "How it was measured" not in letter and "Evidence:" not in letter


def test_it_says_what_was_measured_and_how_to_repeat_it(
    root: Path, pristine: Pristine
) -> None:
    words = " ".join(letter_of(root, pristine).split())
    for said in (
        "Linux 6.12.117 with 2 CPUs, in a virtual machine: QEMU's emulator TCG",
        "executed instructions, 1 ns each",
        "no caches in it and no contention",
        "stock is that kernel with this code in it (in the state that each table"
        " names, where it is known), switched off; lull",
        "+- is the wider side of the 95% interval, and ~ says that no difference",
        "where: fill in",
    ):
        assert said in words
    put(root / "pyproject.toml", '[project.urls]\nSource = "https://here.example"\n')
    letter = letter_of(root, pristine)
    assert "\nwhere: https://here.example\n" in letter and "fill in" not in letter


def test_stocks_own_value_stands_beside_the_ratio(
    root: Path, pristine: Pristine
) -> None:
    origin = {"command": "lull run all", "created": "2026-11-25T1", "commit": "a" * 40}
    put((root / RESULTS).with_suffix(".origin.json"), json.dumps(origin))
    letter = letter_of(root, pristine)
    # Nobody has kept the history.
    known = "and whether this code was the same is not known: lull run all case, metric"
    said = f"What it brings 2026-11-25, {'a' * 10} of the project, {known}"
    assert said in " ".join(letter.split())
    assert "\nload\n  time                             2.00us  0.500 +-20%\n" in letter
    assert "\n  time: t\n" in letter


def test_of_figures_without_an_origin_the_command_repeats_them(
    root: Path, pristine: Pristine
) -> None:
    letter = letter_of(root, pristine)
    said = "Of which run, day and state of this code these are, nobody wrote down."
    assert f"\n{said} To\nrepeat them:\n  lull run freeze --base 6.12" in letter
    assert letter.count("nobody wrote down") == 1


def origin_of(root: Path, file: str, commit: str) -> None:
    origin = {"command": "lull run all", "created": "2026-11-25", "commit": commit}
    put((root / file).with_suffix(".origin.json"), json.dumps(origin))


def committed(root: Path, *files: str) -> str:
    git(root, "add", *files)
    git(root, "commit", "-q", "-m", "a change")
    return head(root)


def head(root: Path) -> str:
    return git(root, "rev-parse", "HEAD").strip()


@pytest.mark.parametrize("file", ["kernel/kernel/lull_near.h", f"hooks/{BASE}/x"])
def test_figures_that_are_older_than_the_code_say_so(
    root: Path, pristine: Pristine, file: str
) -> None:
    keep_steps(root, share("dead", 0.8, 0.7, 0.9))
    git(root, "init", "-q")
    before = committed(root, "features")
    origin_of(root, RESULTS, before)
    origin_of(root, STEPS, before)
    # Neither a word beside the code nor another feature's code is this code.
    put(root / "features/freeze/README.md", "More.\n")
    put(root / "features/thaw/kernel/kernel/lull/thaw/more.c", "int more;\n")
    same = committed(root, "features")
    letter = letter_of(root, pristine)
    assert f"\n2026-11-25, {before[:10]} of the project:\n  lull run all" in letter
    assert "earlier" not in letter and "in the state" not in letter
    changed = root / "features/freeze" / file
    put(changed, (changed.read_text() if changed.is_file() else "") + "\n")
    last = committed(root, "features")
    origin_of(root, STEPS, last)
    words = " ".join(letter_of(root, pristine).split())
    assert (
        f"2026-11-25, of an earlier state of this code: {before[:10]} of the project,"
        f" and {last[:10]} has changed it since: lull run all"
    ) in words
    assert f"2026-11-25, {last[:10]} of the project: lull run all" in words
    assert same not in words and "with this code in it (in the state that" in words


@pytest.mark.parametrize("commit", ["", "{}-dirty", "0" * 40])
def test_of_a_commit_that_is_not_there_nothing_is_known(
    root: Path, commit: str
) -> None:
    git(root, "init", "-q")
    commit = commit.format(committed(root, "features"))
    assert changed_since(commit, ["features"], root) is None


def test_without_figures_it_is_refused(root: Path, pristine: Pristine) -> None:
    """No letter has a place that is left empty for them."""
    put(root / RESULTS, json.dumps(summary(base="6.1")))
    with pytest.raises(UsageError, match=r"no figures of freeze on 6\.12") as caught:
        letter_of(root, pristine)
    assert "lull run freeze --base 6.12 --clock insn" in caught.value.hint
    put(root / RESULTS, "{}")
    with pytest.raises(LullError, match="not a summary"):
        letter_of(root, pristine)


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


def messages(root: Path, pristine: Pristine) -> list[str]:
    """What each patch says of itself, its lines joined."""
    mails = list(made(root, pristine).values())[1:]
    return [" ".join(mail.split("\n---\n")[0].split()) for mail in mails]


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
    text = says.read_text()
    text = text.replace('text = "w"', 'text = "w"\nparams = { mix = "few", n = 4 }')
    put(says, text + MIXES.format("many") + MIXES.format("some"))
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
    text = says.read_text()
    text = text.replace('text = "w"', 'text = "w"\nparams = { mix = "few" }')
    text = text.replace('text = "s" },', 'text = "s" }, { name = "all", text = "a" },')
    put(says, text.replace("max = 0.5", 'max = 0.5\nto = "all"'))
    letter = letter_of(root, pristine)
    assert "Evidence: lull run freeze --check measures it.\n" in letter
    assert "of all at load" not in letter
    put(says, says.read_text() + MIXES.format("many"))
    letter = letter_of(root, pristine)
    assert "time lull <= 0.7 of stock at load mix=many (each clock)" in letter
    assert "of all at load" not in letter and "It fails by others, too" in letter


NOTE_TEXT = "It is made up, and so is all that is said of it in this test."
NOTE = f"""
[[notes]]
workload = "load"
metric = "time"
text = "{NOTE_TEXT}"
"""


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
