# SPDX-License-Identifier: GPL-2.0-only
"""The commit in the packages' versions: other code has another, the same the same."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import pytest

from lull.deb.commit import Commit, last_commit, version_of
from lull.deb.flavour import Flavour
from lull.deb.plan import Plan, kernel_paths, package_version, plan
from lull.deb.tools import PATHS, tools_version
from lull.host.files import repo_root
from lull.kernels.bases import load_base
from lull.kernels.source import Source
from lull.vm.probe_build import probe_recipe
from tests.repository import environment, git

BASE = load_base("6.12")
ONE = Commit("a" * 40, datetime(2026, 11, 25, tzinfo=UTC), 476, dirty=False)


def debian(version: str) -> Source:
    return Source(
        base="6.12", package_version=version, version="6.12.9", tree=Path("t")
    )


class Project:
    """A project in git, with what goes into a kernel and what does not."""

    def __init__(self, root: Path) -> None:
        self.root = root
        git(root, "init", "-q")
        self.put("kernel/config/lull.config", "CONFIG_LULL=y\n")
        self.put("kernel/config/deb.config", "CONFIG_ZRAM=m\n")
        self.put("kernel/overlay/kernel/lull/Kconfig", "menu\n")
        self.commit()

    def put(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def commit(self, when: str = "2026-11-25T12:00:00Z") -> str:
        """All that is there; returns the number."""
        git(self.root, "add", "-A")
        git(self.root, "commit", "-q", "-m", "x", when=when)
        return git(self.root, "rev-parse", "HEAD").strip()

    def plan(self) -> Plan:
        config = self.root / "debian"
        config.write_text("CONFIG_D=y\n")
        return plan(BASE, Flavour.CLOUD, debian("6.12.9-1"), config, self.root)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    (tmp_path / "project").mkdir()
    return Project(tmp_path / "project")


def above(one: str, other: str) -> bool:
    words = ["dpkg", "--compare-versions", one, "gt", other]
    return subprocess.run(words).returncode == 0


def test_another_kernel_has_another_version_and_a_later_one_a_higher(
    project: Project,
) -> None:
    first = project.plan()
    project.put("kernel/config/deb.config", "CONFIG_ZRAM=y\n")
    dirty = project.plan()
    number = project.commit()
    second = project.plan()
    assert first.package_version.startswith("6.12.9-1+lull")
    assert second.package_version.endswith(f"+git2.{number[:7]}")
    assert dirty.package_version == f"{first.package_version}+dirty"
    assert above(dirty.package_version, first.package_version)
    assert above(second.package_version, dirty.package_version)
    # A file that is gone is a change, too.
    (project.root / "kernel/overlay/kernel/lull/Kconfig").unlink()
    project.commit()
    assert above(project.plan().package_version, second.package_version)


def test_versions_rise_along_the_history_whatever_the_dates(project: Project) -> None:
    """As after a rebase, whose commits are of one second, and on a wrong clock."""
    made = [project.plan().package_version]
    for n in range(9):
        project.put("kernel/config/deb.config", f"CONFIG_ZRAM_N={n}\n")
        project.commit()
        made.append(project.plan().package_version)
    project.put("kernel/config/deb.config", "CONFIG_ZRAM=n\n")
    project.commit(when="2020-01-01T00:00:00Z")
    made.append(project.plan().package_version)
    assert all(above(new, old) for old, new in pairwise(made))


def test_what_a_merge_brings_is_above_what_was_there(project: Project) -> None:
    """Though it was made on fewer commits, by somebody whose clock is late."""
    git(project.root, "branch", "side")
    project.put("kernel/config/deb.config", "CONFIG_ZRAM=y\n")
    project.commit()
    before = project.plan().package_version
    git(project.root, "checkout", "-q", "side")
    project.put("kernel/config/deb.config", "CONFIG_ZRAM=n\n")
    project.commit()
    # The side's files as they are, on top of ours.
    git(project.root, "checkout", "-q", "-")
    git(project.root, "merge", "-q", "--no-commit", "-s", "ours", "side")
    git(project.root, "checkout", "-q", "side", "--", ".")
    project.commit()
    assert above(project.plan().package_version, before)


def test_a_shallow_clone_counts_nothing_and_is_below_a_whole_one(
    project: Project, tmp_path: Path
) -> None:
    project.put("kernel/config/deb.config", "CONFIG_ZRAM=y\n")
    number = project.commit()
    url = project.root.as_uri()
    git(tmp_path, "clone", "-q", "--depth", "1", url, "shallow")
    found = last_commit(tmp_path / "shallow", kernel_paths(BASE))
    assert version_of(found) == f"+git0.{number[:7]}"
    assert above(f"1{version_of(found)}", "1")
    whole = last_commit(project.root, kernel_paths(BASE))
    assert above(f"1{version_of(whole)}", f"1{version_of(found)}+dirty")


def test_a_commit_that_changes_no_kernel_has_nothing_built_again(
    project: Project,
) -> None:
    before = project.plan()
    project.put("README.md", "words\n")
    project.put("kernel/config/debug.config", "CONFIG_KASAN=y\n")
    project.put("features/nap/README.md", "words\n")
    project.put("lull/deb/plan.py", "code\n")
    assert project.plan().key == before.key
    project.commit()
    after = project.plan()
    assert (after.key, after.package_version) == (before.key, before.package_version)


@pytest.mark.parametrize(
    "name", ["Kconfig~", "Kconfig.orig", "Kconfig.rej", "core.o", ".Kconfig.swp"]
)
def test_what_an_editor_leaves_about_is_no_change(project: Project, name: str) -> None:
    """No kernel takes it, nor does lull-tools."""
    project.put("deb/tools/lull", "#!/bin/sh\n")
    project.commit()
    before = project.plan()
    for folder in ("kernel/overlay/kernel/lull", "deb/tools"):
        project.put(f"{folder}/{name}", "old\n")
    after = project.plan()
    assert after.inputs.files() == before.inputs.files()
    assert (after.key, after.package_version) == (before.key, before.package_version)
    tools = last_commit(project.root, PATHS)
    assert tools is not None and not tools.dirty


def test_without_git_the_version_is_lulls_alone(tmp_path: Path) -> None:
    assert last_commit(tmp_path, ["."]) is None
    plain = package_version(debian("6.12.9-1"), None)
    assert plain == f"6.12.9-1+lull{tools_version(None)}" and "git" not in plain
    assert above(package_version(debian("6.12.9-1"), ONE), plain)


def test_where_there_is_no_program_git_it_is_lulls_too(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert last_commit(project.root, ["."]) is None


def test_versions_are_in_dpkgs_order() -> None:
    assert version_of(ONE) == "+git476.aaaaaaa"
    ours = package_version(debian("6.12.9-1"), ONE)
    for below in ("6.12.9-1", "6.12.9-1+b1", "6.12.9-1+deb13u1"):
        assert above(ours, below)
    for higher in ("6.12.9-2", "6.12.10-1"):
        assert above(higher, ours)
    assert above("6.12.9-1~deb12u2", package_version(debian("6.12.9-1~deb12u1"), ONE))
    # As uname -v has it, before SMP PREEMPT_DYNAMIC and with 64 characters in all.
    late = replace(ONE, count=12345, dirty=True)
    revision = package_version(debian("6.12.9-1~deb12u10"), late).rpartition("-")[2]
    assert len(f"#{revision} SMP PREEMPT_DYNAMIC") <= 64


def listed(root: Path, paths: Sequence[str]) -> set[Path]:
    """The files that git finds, or would once they are added; with a user's settings,
    which may say that a repository of another user is safe."""
    words = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(
        [*words, "--", *paths],
        cwd=root,
        env=environment(),
        capture_output=True,
        text=True,
    )
    found = {root / name for name in done.stdout.split("\0")[:-1]}
    if not found:
        pytest.skip(f"git has no files here: {done.stderr}")
    return {path for path in found if path.is_file()}


def test_the_paths_have_all_that_goes_into_lull_tools() -> None:
    root = repo_root()
    recipe = probe_recipe(root)
    wanted = {root / name for name in (*recipe.sources, *recipe.headers)}
    wanted |= {*root.glob("deb/tools/*"), *root.glob("features/*/feature.toml")}
    assert wanted <= listed(root, PATHS)


def test_the_paths_are_those_of_the_files_that_go_into_a_kernel() -> None:
    root = repo_root()
    config = root / "README.md"
    inputs = plan(BASE, Flavour.CLOUD, debian("6.12.9-1"), config, root).inputs
    assert listed(root, kernel_paths(BASE)) == set(inputs.files().values())
