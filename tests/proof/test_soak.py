# SPDX-License-Identifier: GPL-2.0-only
"""Tries that add up: the ledger, and a soak until its time is over."""

from __future__ import annotations

import asyncio
import dataclasses
import signal
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace

import pytest

from lull.errors import LabError
from lull.proof import cli, repeat
from lull.proof import soak as soak_module
from lull.proof.attempt import Attempt
from lull.proof.faults import Result
from lull.proof.ledger import (
    Ledger,
    TryCount,
    by_statement,
    count,
    render,
    statements_of,
    without_trial,
)
from lull.proof.soak import counts, soak, soakable
from lull.proof.statements import numbers_of
from lull.proof.store import Store
from lull.proof.trial import Size, Trial, trials
from lull.vm.standby import Standby


def line(id: str, what: str = "now", result: Result = Result.PASS) -> TryCount:
    return TryCount(
        id=id,
        base="6.12",
        what=what,
        seed=7,
        result=result,
        tries=2,
        seconds=1800,
        when="2026-01-01T00:00:00+00:00",
    )


def test_lines_add_up_by_what_is_tried_now_and_ever(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "below" / "ledger.jsonl")
    assert ledger.lines() == ()
    for entry in (line("a"), line("a", "before"), line("a", result=Result.FAIL)):
        ledger.add(entry)
    ledger.add(line("gone"))
    ledger.add(line("a").model_copy(update={"base": "7.3"}))
    one, other = count(ledger.lines(), {"a": "now", "b": "now"}, "6.12")
    assert (one.now, one.failed_now, one.ever, one.failed_ever) == (2, 1, 3, 1)
    assert one.hours == 1.5
    (one,) = count(ledger.lines(), {"a": "now"}, "7.3")
    assert (one.now, one.ever) == (1, 1)
    assert (other.id, other.now, other.ever) == ("b", 0, 0)


def test_a_line_that_was_cut_off_costs_itself_alone(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.jsonl")
    ledger.add(line("a"))
    data = ledger.path.read_bytes()
    ledger.path.write_bytes(data + data[: len(data) // 2] + b"\xff")
    ledger.add(line("b"))
    assert [entry.id for entry in ledger.lines()] == ["a", "b"]


def test_the_table_fits_a_screen() -> None:
    entries = [line("f" * 60), line("g", result=Result.FAIL)]
    tried = count(entries, {"f" * 60: "now", "g": "now"}, "6.12")
    numbers = [f"FZ{number}" for number in range(1, 31)]
    text = render(tried, [dataclasses.replace(tried[1], id="PM7")], numbers)
    assert max(map(len, text.splitlines())) <= 80
    assert text.partition("no random trial: ")[2].split() == numbers
    (row,) = (row for row in text.splitlines() if row.startswith("PM7"))
    assert row.split() == ["PM7", "1", "1", "1", "1", "0.5"]
    assert "goal: 100,000" in text
    assert "goal: 100,000" in render(tried, [], []).splitlines()[-1]


def test_tries_add_up_by_statement() -> None:
    """Over all trials that check it; what is no number is nobody's."""
    found = (
        made("a", {"FZ10": 2, "FZ8": 1}),
        made("b", {"FZ8": 3, "EINTR": 1}),
        made("c", {"races": 1}),
        made("d", {"CG12": 1}),
    )
    entries = [line("f: a"), line("f: a", "before"), line("f: c"), line("f: d")]
    entries += [line("f: b", result=Result.FAIL)]
    tried = count(entries, {trial.id: "now" for trial in found}, "6.12")
    sums = by_statement(tried, found)
    assert [
        (s.id, s.now, s.failed_now, s.ever, s.failed_ever, s.hours) for s in sums
    ] == [
        ("CG12", 1, 0, 1, 0, 0.5),
        ("FZ8", 2, 1, 3, 1, 1.5),
        ("FZ10", 1, 0, 2, 0, 1.0),
    ]


def test_a_try_counts_for_the_statement_in_the_trials_name() -> None:
    """Its checks may be others': ZS11 breaks as wrong pages, which is ZS1. Once, where
    they are its own; what a name has later, or beside a number, is none."""
    found = (
        made("ZS11 group", {"ZS1": 2, "ZS4": 2}),
        made("ZS4", {"ZS4": 1}),
        made("races of ZS7", {"ZS1": 1}),
        made("ZS7x", {"ZS1": 1}),
    )
    assert [statements_of(trial) for trial in found] == [
        ("ZS11", "ZS1", "ZS4"),
        ("ZS4",),
        ("ZS1",),
        ("ZS1",),
    ]
    entries = [line("f: ZS11 group"), line("f: ZS4"), line("f: ZS4", "before")]
    tried = count(entries, {trial.id: "now" for trial in found}, "6.12")
    sums = by_statement(tried, found)
    assert [(s.id, s.now, s.ever) for s in sums] == [
        ("ZS1", 1, 1),
        ("ZS4", 2, 3),
        ("ZS11", 1, 1),
    ]
    listed = ("ZS12", "ZS11", "ZS7", "ZS4", "PM11", "PM2")
    assert without_trial(listed, found) == ("PM2", "PM11", "ZS7", "ZS12")


def test_of_the_projects_own_those_are_named_that_nothing_random_tries() -> None:
    features = {trial.feature for trial in trials()}
    without = without_trial(numbers_of(features), soakable(trials()))
    assert {"FZ2", "PM11", "ZS10"} <= set(without)
    assert not {"CG8", "ZS2", "ZS3", "ZS11", "FZ1", "PM4"} & set(without)


def test_statements_are_those_of_a_feature(tmp_path: Path) -> None:
    with pytest.raises(LabError, match=r"statements\.md: cannot be read"):
        numbers_of({"a"}, tmp_path)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/statements.md").write_text(
        "| AA1 | of nobody: of [a](../features/a/README.md) |\n"
        "## One: [a](../features/a/README.md), [b-c](../features/b-c/README.md)\n"
        "| AA10 | x |\n| AA2 | AA3 | \n| | AA4 |\n"
        "## Two\n| BB1 | x |\n"
        "## Three: [d](../features/d/README.md)\n| CC1 | x |\n"
    )
    assert numbers_of({"a"}, tmp_path) == numbers_of({"b-c"}, tmp_path)
    assert numbers_of({"a", "e"}, tmp_path) == ("AA10", "AA2")
    assert numbers_of({"d", "a"}, tmp_path) == ("AA10", "AA2", "CC1")
    assert numbers_of((), tmp_path) == ()


def test_proofs_names_the_statements_of_the_features_that_are_asked_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What the other feature of a pair tries is not missing."""
    monkeypatch.setattr(
        cli, "counts", lambda found, base: count((), {t.id: "" for t in found}, base)
    )

    def last(features: list[str] | None, base: str) -> set[str]:
        cli.proofs_command(features, base)
        _, _, names = capsys.readouterr().out.partition("\nno random trial: ")
        return set(names.split())

    of_all = last(None, "6.12")
    assert {"FZ2", "PM11", "ZS10"} <= of_all
    of_thaw = last(["thaw"], "6.12")
    assert of_thaw == last(["freeze"], "6.12")
    assert of_thaw == {name for name in of_all if name.startswith("FZ")}
    assert "FZ8" not in of_thaw
    assert last(["attach"], "6.12") == set()
    # Where thaw is not.
    assert "FZ8" in last(None, "6.1")


def test_proofs_prints_trials_and_statements(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = (made("a", {"PM7": 1}), made("b", {"PM7": 2}))
    entries = [line("f: a"), line("f: b"), line("f: b")]
    tried = count(entries, {trial.id: "now" for trial in found}, "6.12")
    monkeypatch.setattr(cli, "_soakable_on", lambda base, names: found)
    monkeypatch.setattr(cli, "counts", lambda trials, base: tried)
    cli.proofs_command()
    rows = [row.split() for row in capsys.readouterr().out.splitlines()]
    assert ["f:", "b", "2", "0", "2", "0", "1.0"] in rows
    assert ["PM7", "3", "0", "3", "0", "1.5"] in rows


def test_only_what_is_random_and_has_to_hold_is_soaked() -> None:
    found = soakable(trials())
    assert found
    assert all(trial.random and trial.fault is None for trial in found)


TRIAL = {"text": "", "cases": [{"run": "w", "modes": "lull"}], "checks": {"A": 1}}


def made(name: str, checks: Mapping[str, int] = TRIAL["checks"]) -> Trial:
    more = {"name": name, "feature": "f", "checks": checks}
    return Trial.model_validate({**TRIAL, **more})


def test_who_was_tried_least_is_next_and_failures_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(soak_module, "parts_of", lambda trial, *more: {"k": trial.name})
    monkeypatch.delenv("LULL_ACCEL", raising=False)
    machine = Standby(tmp_path)
    seeds: list[int] = []
    # A second a try, so that a slow host makes as many.
    clock = [0.0]
    monkeypatch.setattr(
        soak_module, "time", SimpleNamespace(monotonic=lambda: clock[0])
    )

    async def attempt(
        trial: Trial,
        size: Size,
        seed: int,
        kernel: object,
        folder: Path,
        standby: object,
    ) -> Attempt:
        assert standby is machine
        await asyncio.sleep(0)
        (folder / "console.log").write_text("said")
        seeds.append(seed)
        clock[0] += 1
        result = Result.FAIL if trial.name == "bad" else Result.PASS
        # Two without a verdict, and the one that has it.
        return Attempt(result=result, how="so", tries=3, seed=seed, seconds=0.02)

    monkeypatch.setattr(soak_module, "attempt", attempt)
    found = (made("good"), made("bad"))
    Ledger().add(line("f: good", soak_module.key_of({"k": "good"})))
    said: list[str] = []
    kernels: Mapping[str, object] = {"debug": object()}
    done = asyncio.run(
        soak(found, kernels, {"debug": machine}, "6.12", 0.1, said.append)
    )  # type: ignore[arg-type]
    assert said[0].startswith("f: bad: try 1")
    assert done.tries == 3 * len(seeds) >= 3 * 4
    assert len(set(seeds)) == len(seeds)
    assert done.failed and all(text.startswith("f: bad, seed ") for text in done.failed)
    where, command = done.failed[0].splitlines()
    kept = Path(where.partition(": ")[2].partition(": ")[2])
    assert (kept / "console.log").read_text() == "said"
    failed = int(where.partition(", seed ")[2].partition(":")[0])
    assert failed in {seed + 2 for seed in seeds}
    assert command == (
        "  again: .venv/bin/python -m pytest features/f/safety.toml::bad "
        f"--size proof --seed {failed}"
    )
    assert f"seed {failed}: so\n{command}" in "\n".join(said)
    by_name = {one.id: one for one in counts(found, "6.12")}
    assert by_name["f: good"].now == 1 + sum("good: try" in text for text in said)
    assert by_name["f: bad"].failed_now == len(done.failed)
    # The next `make test` and the next `make proof` begin with it.
    for size in Size:
        id = repeat.doubt_id("6.12 f: bad", size, boot_each=False)
        last = done.failed[-1 if size is Size.PROOF else 0]
        assert f"seed {Store().doubted(id)}:" in last
        good = repeat.doubt_id("6.12 f: good", size, boot_each=False)
        assert Store().doubted(good) is None


def test_one_that_breaks_ends_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(soak_module, "parts_of", lambda trial, *more: {"k": trial.name})

    async def attempt(*words: object, **more: object) -> Attempt:
        raise OSError("no room")

    monkeypatch.setattr(soak_module, "attempt", attempt)
    with pytest.raises(OSError, match="no room"):
        asyncio.run(
            soak(
                (made("a"),),
                {"debug": object()},  # type: ignore[dict-item]
                {"debug": None},
                "6.12",
                1,
                lambda text: None,
            )
        )


def test_after_a_soak_sigterm_does_what_it_did(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(soak_module, "parts_of", lambda trial, *more: {})
    before = signal.getsignal(signal.SIGTERM)
    during: list[object] = []
    clock = iter((0.0, 0.0))

    def monotonic() -> float:
        during.append(signal.getsignal(signal.SIGTERM))
        return next(clock, 60.0)

    async def attempt(*words: object, **more: object) -> Attempt:
        return Attempt(result=Result.PASS, how="so", tries=1, seed=1, seconds=1.0)

    monkeypatch.setattr(soak_module, "time", SimpleNamespace(monotonic=monotonic))
    monkeypatch.setattr(soak_module, "attempt", attempt)
    kernels: Mapping[str, object] = {"debug": object()}
    done = asyncio.run(
        soak((made("a"),), kernels, {"debug": None}, "6.12", 1, lambda text: None)
    )  # type: ignore[arg-type]
    assert done.tries == 1
    assert signal.getsignal(signal.SIGTERM) is before
    assert during[0] is before and during[-1] is not before
