# SPDX-License-Identifier: GPL-2.0-only
"""A [[trial]] of safety.toml as a test: recalled, or tried and remembered."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from math import ceil
from pathlib import Path
from typing import Any

import pytest

from lull.errors import LullError
from lull.host.files import repo_root, slug
from lull.host.process import run_alone
from lull.kernels.bases import load_base
from lull.kernels.build import build
from lull.kernels.cache import Cache
from lull.proof import repeat
from lull.proof.attempt import TRIES, attempt, keep_failed
from lull.proof.faults import Result
from lull.proof.key import JUDGE, parts_of, rewritten
from lull.proof.ledger import Ledger, entry
from lull.proof.narrow import narrowed
from lull.proof.proof_json import SAID, VERDICT
from lull.proof.store import Remembered, Store
from lull.proof.trial import Size, Trial, of_size, parse
from lull.runs.standby import standing_by

#: Of the verdicts of boots that are remembered, the share that each run tries anew,
#: rounded up: four boots of two hundred, and one of any.
ANEW = 0.02
#: The seed of a trial that nobody asked for another of.
SEED = 1


@dataclass(frozen=True)
class Shared:
    """What all processes of a run have to agree on."""

    run: str  #: its name
    durations: Mapping[str, float]  #: seconds by test, of earlier runs


SHARED = pytest.StashKey[Shared]()
#: The names of the verdicts that this run tries anew.
DRAWN = pytest.StashKey[frozenset[str]]()


class TrialFailed(AssertionError):
    """A trial did not come out as it has to."""


def draw(names: Collection[str], run: str) -> frozenset[str]:
    """Of remembered verdicts those that a run tries anew. Pure.

    It depends on the names and the run alone: each worker of pytest-xdist draws, and
    they agree. One name more or less moves no other by more than one place.
    """
    order = sorted(names, key=lambda name: random.Random(f"{run} draw {name}").random())
    return frozenset(order[: ceil(ANEW * len(order))])


class SafetyFile(pytest.File):
    """A safety.toml."""

    def collect(self) -> Iterator[pytest.Item]:
        """Its trials of this size; of what is random one for each seed."""
        size = Size(self.config.getoption("--size"))
        seeds = self.config.getoption("--seeds")
        if seeds is None:
            seeds = 1
        text = self.path.read_text("utf-8")
        base = load_base(self.config.getoption("--base"))
        found = parse(text, self.path.parent.name, where=str(self.path))
        for trial in (narrowed(trial, base) for trial in of_size(found, size)):
            # Each may take this many, one after another.
            for seed in range(SEED, SEED + TRIES * seeds, TRIES):
                name = trial.name if seed == SEED else f"{trial.name} [seed {seed}]"
                yield TrialItem.from_parent(self, name=name, trial=trial, seed=seed)
                if not trial.random:
                    break


class TrialItem(pytest.Item):
    """A trial with the seed to begin with."""

    def __init__(self, *, trial: Trial, seed: int, **more: Any) -> None:
        super().__init__(**more)
        self.trial = trial
        self._seed = seed
        self.add_marker("vm")
        self.add_marker(pytest.mark.seconds(trial.seconds))

    def runtest(self) -> None:
        """Recall the verdict, or boot for one; TrialFailed where it is not good."""
        root, config = repo_root(), self.config
        base, size = self._base, self._size
        parts = self._parts(root)
        name = self.verdict
        store = Store(say=self._say)
        doubted = self._doubted(store)
        seed = self._seed if doubted is None else doubted
        # Who waits here finds the other's verdict.
        with Cache().lock(f"trial-{self.trial.feature}-{slug(self.name)}"):
            fresh = config.getoption("--fresh") or doubted is not None
            known = None if fresh else store.recall(name, parts)
            if known is not None:
                if name not in config.stash[DRAWN]:
                    self._tell(known, parts, remembered=True)
                    return
                # What has no seed shows a key that lacks something as well.
                if self.trial.random:
                    new = random.Random(f"{config.stash[SHARED].run} {name}")
                    seed = new.randrange(2, 10**6)
                self._say(f"{name}: tried anew with seed {seed}")
            self._try(name, seed, base, size, parts, store)

    @property
    def verdict(self) -> str:
        """The name that its verdict is remembered by."""
        name = repeat.verdict_name(self._base, self.trial)
        return name if self._seed == SEED else f"{name} [seed {self._seed}]"

    def is_remembered(self) -> bool:
        """Whether there is a verdict that would be recalled now."""
        store = Store()
        if self._doubted(store) is not None:
            return False
        try:
            return store.has(self.verdict, self._parts(repo_root()))
        except (LullError, OSError, ValueError):
            # What is wrong there is told when it is tried.
            return False

    @property
    def _base(self) -> str:
        return str(self.config.getoption("--base"))

    @property
    def _size(self) -> Size:
        return Size(self.config.getoption("--size"))

    @property
    def _each(self) -> bool:
        return bool(self.config.getoption("--boot-each"))

    @property
    def _asked(self) -> int | None:
        """The one seed that was asked for, to be tried once."""
        seed = self.config.getoption("--seed")
        return None if seed is None else int(seed)

    def _doubted(self, store: Store) -> int | None:
        """Who names a seed wants that one. What has failed once is tried with that
        seed until it passes."""
        if self._asked is not None:
            return self._asked
        return store.doubted(self._doubt(self.verdict))

    def _doubt(self, name: str) -> str:
        return repeat.doubt_id(name, self._size, boot_each=self._each)

    def _parts(self, root: Path) -> dict[str, str]:
        return parts_of(self.trial, self._size, self._base, root, boot_each=self._each)

    def _try(
        self,
        name: str,
        seed: int,
        base: str,
        size: Size,
        parts: dict[str, str],
        store: Store,
    ) -> None:
        # What a process that was killed has left there is swept away.
        with ExitStack() as held:
            folder = held.enter_context(Cache().temp("trial"))
            kernel = build(base, self.trial.arm)
            standby = None
            if not self._each:
                standby = held.enter_context(standing_by(kernel, self._say))
            done = run_alone(
                attempt(
                    self.trial,
                    size,
                    seed,
                    kernel,
                    folder,
                    self._say,
                    TRIES if self._asked is None else 1,
                    standby=standby,
                )
            )
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
            root = repo_root()
            same = parts == self._parts(root) and not rewritten(root, *JUDGE)
            if same:
                Ledger().add(entry(self.trial, base, parts, done))
            if done.result is Result.PASS:
                if same:
                    store.keep(verdict)
                    store.settle(self._doubt(name), seed)
                return
            failed = repeat.last_seed(done)
            # One boot that leaves it open does not gainsay a verdict that took more.
            if self._asked is None or done.result is Result.FAIL:
                store.forget(name, parts)
                each = self._each
                repeat.doubt(store, self.trial, name, size, failed, boot_each=each)
            kept = keep_failed(f"{self.trial.feature} {self.name}", folder)
            raise TrialFailed(
                f"{self.trial.text}\n{done.result} after {done.tries} boots, "
                f"seed {seed}: {done.how}\nconsoles: {kept}\n"
                f"again: {self._again(failed)}"
            )

    def _again(self, seed: int) -> str:
        file = self.nodeid.partition("::")[0]
        each = self._each
        return repeat.command(
            self.trial, file, self._size, self._base, seed, boot_each=each
        )

    def _tell(
        self, verdict: Remembered, parts: Mapping[str, str], *, remembered: bool
    ) -> None:
        told: dict[str, Any] = {
            "remembered": remembered,
            "tries": verdict.tries,
            "seed": verdict.seed,
            "when": verdict.when,
            "how": verdict.how[:300],
            "parts": dict(parts),
        }
        if remembered:
            # What it took then: to recall it takes none.
            told["seconds"] = verdict.seconds
        self.user_properties.append((VERDICT, told))

    def _say(self, text: str) -> None:
        self.user_properties.append((SAID, text))

    def repr_failure(self, excinfo: Any, style: Any = None) -> Any:
        """A trial's own words; where Python failed, its traceback."""
        if isinstance(excinfo.value, TrialFailed):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """``freeze: FZ1``; the line is for pytest, which wants one of a skip."""
        return self.path, 0, f"{self.trial.feature}: {self.name}"
