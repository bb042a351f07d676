# SPDX-License-Identifier: GPL-2.0-only
"""pytest's side of the proof: a [[trial]] of safety.toml is a test.

The longest come first. With pytest-xdist each worker tries, remembers and
tells; the session's own process counts, says and writes.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from lull.host.files import cache_root, repo_root, write_file
from lull.kernels.bases import DEFAULT_BASE
from lull.kernels.build import build
from lull.kernels.cache import Cache
from lull.proof import tried
from lull.proof.attempt import attempt, keep_failed
from lull.proof.faults import Result
from lull.proof.key import judging, parts_of
from lull.proof.ledger import Ledger, entry
from lull.proof.store import Remembered, Store
from lull.proof.trial import Size, Trial, of_size, parse
from lull.runs.rundir import commit, host
from lull.vm.process import run_alone

#: Of the verdicts that are remembered, the share that each run tries anew.
ANEW = 0.03
#: Which run this is, for all of its processes.
RUN = "LULL_PROOF_RUN"
#: The seed of a trial that nobody asked for another of.
SEED = 1

VERDICT = "verdict"  #: the user property that tells of one
SAID = "said"


def pytest_addoption(parser: pytest.Parser) -> None:
    """What ``make test`` and ``make proof`` differ in."""
    group = parser.getgroup("lull", "trials in virtual machines")
    group.addoption(
        "--fresh", action="store_true", help="Try all anew, whatever is remembered."
    )
    group.addoption(
        "--size",
        choices=[size.value for size in Size],
        default=Size.TEST.value,
        help="test: enough to show each statement. proof: all, at full size.",
    )
    group.addoption("--base", default=DEFAULT_BASE, help="Which kernel.")
    group.addoption(
        "--seeds", type=int, default=1, help="So many seeds for what is random."
    )
    group.addoption("--proof", metavar="FILE", help="Write what was tried to FILE.")


def pytest_configure(config: pytest.Config) -> None:
    """Name the run; its workers inherit the name."""
    config.addinivalue_line("markers", "proof: at full size only (make proof)")
    config.addinivalue_line("markers", "seconds(n): about how long it takes")
    os.environ.setdefault(RUN, f"{time.time_ns()}")
    judging(repo_root())
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Session(config), "lull-session")


def pytest_collect_file(
    file_path: Path, parent: pytest.Collector
) -> pytest.Collector | None:
    """A safety.toml is a file of tests."""
    if file_path.name != "safety.toml":
        return None
    return _SafetyFile.from_parent(parent, path=file_path)


def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Leave out what is for another size; the longest first."""
    if config.getoption("--size") != Size.PROOF:
        small = [item for item in items if item.get_closest_marker("proof") is None]
        left = [item for item in items if item.get_closest_marker("proof")]
        config.hook.pytest_deselected(items=left)
        items[:] = small
    known = _durations()
    items.sort(key=lambda item: -_expected(item, known))


class _SafetyFile(pytest.File):
    def collect(self) -> Iterator[pytest.Item]:
        size = Size(self.config.getoption("--size"))
        seeds = self.config.getoption("--seeds")
        text = self.path.read_text("utf-8")
        found = parse(text, self.path.parent.name, where=str(self.path))
        for trial in of_size(found, size):
            for seed in range(SEED, SEED + (seeds if trial.random else 1)):
                name = trial.name if seed == SEED else f"{trial.name} [seed {seed}]"
                yield _TrialItem.from_parent(self, name=name, trial=trial, seed=seed)


class _TrialItem(pytest.Item):
    def __init__(self, *, trial: Trial, seed: int, **more: Any) -> None:
        super().__init__(**more)
        self.trial = trial
        self._seed = seed
        self.add_marker("vm")
        self.add_marker(pytest.mark.seconds(trial.seconds))

    def runtest(self) -> None:
        root, config = repo_root(), self.config
        base, size = config.getoption("--base"), Size(config.getoption("--size"))
        parts = parts_of(self.trial, size, base, root)
        name = f"{base} {self.trial.id}"
        if self._seed != SEED:
            name += f" [seed {self._seed}]"
        store = Store(say=self._say)
        # What has failed once is tried with that seed until it passes.
        doubted = store.doubted(name)
        seed = self._seed if doubted is None else doubted
        # Who waits here finds the other's verdict.
        with Cache().lock(f"trial-{self.trial.feature}-{_slug(self.name)}"):
            fresh = config.getoption("--fresh") or doubted is not None
            known = None if fresh else store.recall(name, parts)
            if known is not None:
                draw = random.Random(f"{os.environ[RUN]} {name}")
                if draw.random() >= ANEW or not self.trial.random:
                    self._tell(known, parts, remembered=True)
                    return
                seed = draw.randrange(2, 10**6)
                self._say(f"{name}: tried anew with seed {seed}")
            self._try(name, seed, base, size, parts, store)

    def _try(
        self,
        name: str,
        seed: int,
        base: str,
        size: Size,
        parts: dict[str, str],
        store: Store,
    ) -> None:
        folder = Path(tempfile.mkdtemp(prefix="lull-trial-"))
        try:
            kernel = build(base, self.trial.arm)
            work = attempt(self.trial, size, seed, kernel, folder, self._say)
            done = run_alone(work)
            verdict = Remembered(
                id=name,
                parts=parts,
                how=done.how[:2000],
                tries=done.tries,
                seed=seed,
                seconds=done.seconds,
                when=datetime.now(UTC).isoformat(timespec="seconds"),
            )
            self._tell(verdict, parts, remembered=False)
            # Somebody who edits meanwhile has not had what is there now tried.
            same = parts == parts_of(self.trial, size, base, repo_root())
            if same:
                Ledger().add(entry(self.trial, base, parts, done))
            if done.result is Result.PASS:
                if same:
                    store.keep(verdict)
                    store.settle(name, seed)
                return
            store.forget(name, parts)
            store.doubt(name, seed)
            kept = keep_failed(f"{self.trial.feature} {self.name}", folder)
            raise TrialFailed(
                f"{self.trial.text}\n{done.result} after {done.tries} boots, "
                f"seed {seed}: {done.how}\nconsoles: {kept}"
            )
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _tell(
        self, verdict: Remembered, parts: Mapping[str, str], *, remembered: bool
    ) -> None:
        told = {
            "remembered": remembered,
            "tries": 0 if remembered else verdict.tries,
            "seed": verdict.seed,
            "how": verdict.how[:300],
            "parts": dict(parts),
        }
        self.user_properties.append((VERDICT, told))

    def _say(self, text: str) -> None:
        self.user_properties.append((SAID, text))

    def repr_failure(self, excinfo: Any, style: Any = None) -> Any:
        if isinstance(excinfo.value, TrialFailed):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        return self.path, None, f"{self.trial.feature}: {self.name}"


class TrialFailed(AssertionError):
    """A trial did not come out as it has to."""


class Stamps:
    """Verdicts of what boots nothing, remembered alike: compile, style, order."""

    def __init__(self, request: pytest.FixtureRequest) -> None:
        self._request = request

    @contextmanager
    def __call__(self, parts: Mapping[str, str]) -> Iterator[bool]:
        """True where it has to be done; remembered when that raises nothing."""
        name = self._request.node.nodeid
        said: list[tuple[str, Any]] = self._request.node.user_properties
        store = Store(say=lambda text: said.append((SAID, text)))
        fresh = self._request.config.getoption("--fresh")
        known = None if fresh else store.recall(name, parts)
        told = {"remembered": known is not None, "tries": 0, "parts": dict(parts)}
        said.append((VERDICT, told))
        begun = time.monotonic()
        try:
            yield known is None
        except BaseException:
            store.forget(name, parts)
            raise
        if known is None:
            store.keep(
                Remembered(
                    id=name,
                    parts=parts,
                    how="done",
                    tries=0,
                    seed=0,
                    seconds=round(time.monotonic() - begun, 1),
                    when=datetime.now(UTC).isoformat(timespec="seconds"),
                )
            )


@pytest.fixture
def stamp(request: pytest.FixtureRequest) -> Stamps:
    """Remembers that a test of the same inputs has passed."""
    return Stamps(request)


class _Session:
    """The process that hears of all tests."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._tests: dict[str, tried.Tried] = {}
        self._said: list[str] = []
        self._begun = time.monotonic()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count a test when it has run, or when it could not."""
        if report.when != "call" and report.outcome == "passed":
            return
        before = self._tests.get(report.nodeid)
        if before is not None and before.outcome == "failed":
            return
        told: dict[str, Any] = {}
        for key, value in report.user_properties:
            if key == VERDICT and isinstance(value, dict):
                told = value
            elif key == SAID:
                self._said.append(str(value))
        self._tests[report.nodeid] = tried.Tried(
            outcome=report.outcome, seconds=round(report.duration, 2), **told
        )

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Keep what was seen for the next session."""
        _keep_durations(self._tests)
        Store().prune()
        wanted = self._config.getoption("--proof")
        if not wanted:
            return
        path = Path(wanted)
        self._old = tried.read(path)
        facts = host()
        self._new = tried.Proof(
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            commit=commit(repo_root()),
            base=self._config.getoption("--base"),
            size=self._config.getoption("--size"),
            machine=f"{facts.cpu}, {facts.cpus} CPUs, {facts.system}",
            seconds=round(time.monotonic() - self._begun, 1),
            ok=exitstatus == 0,
            tests=dict(sorted(self._tests.items())),
        )
        write_file(path, tried.to_json(self._new).encode())

    def pytest_terminal_summary(
        self, terminalreporter: pytest.TerminalReporter
    ) -> None:
        """Say what was remembered, tried again, and different from last time."""
        write = terminalreporter.write_line
        for text in self._said:
            first, *_ = text.splitlines() or [""]
            write(first)
        verdicts = [test for test in self._tests.values() if test.parts]
        if verdicts:
            known = sum(test.remembered for test in verdicts)
            boots = sum(test.tries for test in verdicts)
            write(
                f"{known} of {len(verdicts)} verdicts remembered, {boots} boots made; "
                "--fresh forgets"
            )
        new = getattr(self, "_new", None)
        if new is not None:
            write(f"proof: {self._config.getoption('--proof')}")
            old = getattr(self, "_old", None)
            for line in tried.differences(old, new) if old else ():
                write(line)


def _expected(item: pytest.Item, known: Mapping[str, float]) -> float:
    if item.nodeid in known:
        return known[item.nodeid]
    marker = item.get_closest_marker("seconds")
    if marker is not None:
        return float(marker.args[0])
    return 20.0 if item.get_closest_marker("vm") else 0.0


def _durations_file() -> Path:
    return cache_root() / "stamps" / "durations.json"


def _durations() -> dict[str, float]:
    """Seconds by test, of those that took one; whatever is wrong there is nothing."""
    try:
        found = json.loads(_durations_file().read_bytes())
        return {str(name): float(value) for name, value in found.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def _keep_durations(tests: Mapping[str, tried.Tried]) -> None:
    took = {
        name: test.seconds
        for name, test in tests.items()
        if test.seconds >= 1 and not test.remembered
    }
    if took:
        with suppress(OSError):
            text = json.dumps({**_durations(), **took}, sort_keys=True)
            write_file(_durations_file(), text.encode())


def _slug(text: str) -> str:
    return "".join(c if c.isalnum() else "-" for c in text)


Stamp = Callable[[Mapping[str, str]], Any]
