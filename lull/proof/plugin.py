# SPDX-License-Identifier: GPL-2.0-only
"""pytest's side of the proof: a [[trial]] of safety.toml is a test.

The longest come first. With pytest-xdist each worker tries, remembers and
tells; the session's own process counts, says and writes.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest

from lull.ask.catalog import ROOMS
from lull.ask.on_base import untried
from lull.ask.presence import why_not_tried
from lull.errors import CannotRun
from lull.host.files import cache_root, repo_root
from lull.host.trust import trust_cache
from lull.kernels.bases import DEFAULT_BASE, Base, load_base
from lull.kernels.cache import Cache
from lull.kernels.source import cached
from lull.proof import durations
from lull.proof.items import DRAWN, SHARED, SafetyFile, Shared, TrialItem, draw
from lull.proof.key import judging
from lull.proof.session import Session
from lull.proof.stamps import Stamps, stamping
from lull.proof.trial import Size

#: Of all features or of those that are named.
FIGURES = "tests/runs/test_figures.py"


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
    group.addoption(
        "--packages",
        action="store_true",
        help="Only what a Debian has of Lull: packages, and what runs with them.",
    )
    group.addoption(
        "--boot-each",
        action="store_true",
        help="Boot each guest. Else one boots, and the others are resumed from it.",
    )
    group.addoption("--base", default=DEFAULT_BASE, help="Which kernel.")
    group.addoption(
        "--feature", action="append", default=[], help="Only this feature's tests."
    )
    group.addoption(
        "--seeds", type=int, help="So many seeds for what is random. [default: 1]"
    )
    group.addoption(
        "--seed",
        type=int,
        metavar="N",
        help="This seed, for one boot of each trial: repeats a failure.",
    )
    group.addoption(
        "--proof",
        metavar="FILE",
        help="Write what was tried to FILE; a part of that beside it.",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Agree with the other processes of this run; narrow it to what was named."""
    config.addinivalue_line("markers", "proof: at full size only (make proof)")
    config.addinivalue_line(
        "markers", "packages: what a Debian has of Lull (make packages)"
    )
    config.addinivalue_line("markers", "seconds(n): about how long it takes")
    config.addinivalue_line(
        "markers", f"default_base: of {DEFAULT_BASE} whatever --base says"
    )
    _check_seeds(config)
    judging(repo_root())
    # In the workers of pytest-xdist, too: it gives them the words of the command.
    if config.getoption("--feature"):
        config.args = _rooms(config.getoption("--feature"))
        if config.getoption("--size") == Size.PROOF:
            config.args.append(str(repo_root() / FIGURES))
    given = getattr(config, "workerinput", None)
    if given is not None:
        config.stash[SHARED] = Shared(given["lull_run"], given["lull_durations"])
        return
    session = Session(config)
    # In this process alone: before any of the others looks into the cache.
    try:
        trust_cache(cache_root(), session.say)
    except CannotRun as error:
        raise pytest.UsageError(str(error)) from error
    config.stash[SHARED] = Shared(f"{time.time_ns()}", durations.recall())
    config.pluginmanager.register(session, "lull-session")
    proof = config.getoption("--size") == Size.PROOF
    if proof and not config.getoption("--packages"):
        session.say(
            "left out: Debian's packages and what runs with them: make packages"
        )
    if config.getoption("--base") != DEFAULT_BASE:
        session.say(
            f"left out: guests of Debian and what runs in them, of {DEFAULT_BASE} alone"
        )


def _check_seeds(config: pytest.Config) -> None:
    """pytest's own error for seeds that cannot be tried."""
    seed, seeds = config.getoption("--seed"), config.getoption("--seeds")
    if seed is None:
        return
    if seeds is not None:
        raise pytest.UsageError(
            f"--seed {seed} is that one seed, --seeds {seeds} is how many: "
            "one of them without the other"
        )
    if seed < 0:
        raise pytest.UsageError(f"--seed {seed}: a seed is 0 or more")


def _rooms(names: list[str]) -> list[str]:
    """The folders of features; pytest's own error for a name that is none."""
    root = repo_root()
    known = {
        path.parent.name: str(path.parent)
        for room in ROOMS
        for path in sorted(root.glob(f"{room}/*/feature.toml"))
    }
    for name in names:
        if name not in known:
            raise pytest.UsageError(f"no feature {name!r}; one of: {', '.join(known)}")
    return [known[name] for name in dict.fromkeys(names)]


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """What a worker of pytest-xdist is told."""
    shared = node.config.stash[SHARED]
    node.workerinput["lull_run"] = shared.run
    node.workerinput["lull_durations"] = dict(shared.durations)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Who asks for another way than pytest-xdist's usual one gets that."""
    if config.getoption("dist") != "load":
        return None
    # Not before: without pytest-xdist nobody comes here.
    from lull.proof.schedule import LongestFirst

    return LongestFirst(config, log)


def pytest_collect_file(
    file_path: Path, parent: pytest.Collector
) -> pytest.Collector | None:
    """A safety.toml is a file of tests."""
    if file_path.name != "safety.toml":
        return None
    return SafetyFile.from_parent(parent, path=file_path)


def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Leave out what is for another size or base; the longest first."""
    base = load_base(config.getoption("--base"))
    packages = config.getoption("--packages")
    _leave_out(config, items, "packages", those_without=packages)
    if config.getoption("--size") != Size.PROOF:
        _leave_out(config, items, "proof")
    if base.name != DEFAULT_BASE:
        _leave_out(config, items, "default_base")
    _skip_absent(items, base)
    known = config.stash[SHARED].durations
    items.sort(key=lambda item: -durations.expected(item, known))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    """Draw whose verdicts are tried anew, of those that run and are remembered.

    First of all who do something then: a worker of pytest-xdist tells that it has
    collected, and none runs a test until all have. So what is remembered is the same
    for each.
    """
    config = session.config
    config.stash[DRAWN] = frozenset()
    if config.getoption("--fresh") or config.getoption("collectonly"):
        return
    trials = [
        item
        for item in session.items
        if isinstance(item, TrialItem) and item.get_closest_marker("skip") is None
    ]
    # A key has the version of the sources, and who asks for that fetches them.
    if trials and cached(load_base(config.getoption("--base")), Cache()):
        known = [item.verdict for item in trials if item.is_remembered()]
        config.stash[DRAWN] = draw(known, config.stash[SHARED].run)


def _leave_out(
    config: pytest.Config,
    items: list[pytest.Item],
    marker: str,
    *,
    those_without: bool = False,
) -> None:
    """Deselect those that have the marker, or all others."""
    stay: list[pytest.Item] = []
    left: list[pytest.Item] = []
    for item in items:
        has = item.get_closest_marker(marker) is not None
        (stay if has is those_without else left).append(item)
    config.hook.pytest_deselected(items=left)
    items[:] = stay


def _skip_absent(items: list[pytest.Item], base: Base) -> None:
    """What is about a feature that is not on the base is skipped, and says why."""
    rooms = [repo_root() / room for room in ROOMS]
    reasons: dict[tuple[str, ...], str] = {}
    why_untried = cache(partial(untried, base=base))
    for item in items:
        if isinstance(item, TrialItem):
            if why := why_untried(item.trial.feature).get(item.trial.name):
                item.add_marker(pytest.mark.skip(reason=f"not on {base.name}: {why}"))
            names: tuple[str, ...] = (item.trial.feature, *item.trial.needs)
        else:
            inside = (item.path.relative_to(r) for r in rooms if r in item.path.parents)
            names = tuple(path.parts[0] for path in inside if len(path.parts) > 1)
        if names not in reasons:
            reasons[names] = why_not_tried(names, base)
        if reasons[names]:
            item.add_marker(pytest.mark.skip(reason=reasons[names]))


@pytest.fixture(scope="session")
def base(pytestconfig: pytest.Config) -> str:
    """Which kernel is asked about."""
    return str(pytestconfig.getoption("--base"))


@pytest.fixture
def stamp(request: pytest.FixtureRequest) -> Iterator[Stamps]:
    """Remembers that a test of the same inputs has passed."""
    with stamping(request) as found:
        yield found
