# SPDX-License-Identifier: GPL-2.0-only
"""Sessions of trials whose boots are made up."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import pytest

from lull.proof import durations, items, plugin
from lull.proof.attempt import Attempt
from lull.proof.faults import Result

SAFETY = """
[[trial]]
name = "A"
text = "it holds"
seconds = 5
cases = [{ run = "w", modes = "lull" }]
checks = { A = 1 }

[[trial]]
name = "A without b"
text = "it does not"
seconds = 50
random = false
cases = [{ run = "w", modes = "lull", disable = "b" }]
fault = { checks = { A = "" } }

[[trial]]
name = "large"
text = "for the full size"
proof = true
cases = [{ run = "w", modes = "lull" }]
checks = { A = 1 }
"""


class Guests:
    """Stands for boots: notes what was tried, and says how it came out."""

    def __init__(self) -> None:
        self.tried: list[tuple[str, int]] = []
        self.resumed: list[object] = []
        self.results: dict[str, Result] = {}
        self.parts = {"kernel": "1"}
        self.boots = 2  #: that each trial took
        self.most: list[int] = []  #: and was allowed

    async def attempt(  # type: ignore[no-untyped-def]
        self, trial, size, seed, kernel, folder, say, tries, *, standby
    ) -> Attempt:
        self.tried.append((trial.name, seed))
        self.resumed.append(standby)
        self.most.append(tries)
        (folder / "console.log").write_text("what it said")
        result = self.results.get(trial.name, Result.PASS)
        return Attempt(
            result=result, how="so", tries=self.boots, seed=seed, seconds=1.5
        )

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self.tried]


@pytest.fixture
def guests(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Guests:
    found = Guests()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(items, "attempt", found.attempt)
    monkeypatch.setattr(items, "build", lambda base, arm: None)
    monkeypatch.setattr(
        items, "standing_by", lambda kernel, say: nullcontext("standby")
    )

    def parts_of(*words: object, boot_each: bool) -> dict[str, str]:
        return {**found.parts, "each": str(boot_each)}

    monkeypatch.setattr(items, "parts_of", parts_of)
    monkeypatch.setattr(items, "ANEW", 0)
    # Whoever edits the lab while its tests run.
    monkeypatch.setattr(items, "rewritten", lambda root, *start: [])
    monkeypatch.setattr(plugin, "cached", lambda base, cache: "sources")
    # Nothing takes long here, or only where the host is busy: no order comes of it.
    monkeypatch.setattr(durations, "keep", lambda tests: None)
    items.Cache().prepare()
    return found


Run = Callable[..., pytest.RunResult]


@pytest.fixture
def run(pytester: pytest.Pytester, guests: Guests) -> Run:
    room = pytester.mkdir("f")
    (room / "safety.toml").write_text(SAFETY)

    def run(*words: str) -> pytest.RunResult:
        return pytester.runpytest_inprocess(
            *("-p", "lull.proof.plugin", "-p", "no:cacheprovider", *words)
        )

    return run
