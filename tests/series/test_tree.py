# SPDX-License-Identifier: GPL-2.0-only
"""Series of the project itself, for the base's own sources."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from lull.host.files import digest, repo_root
from lull.kernels.bases import load_base
from lull.kernels.cache import Cache, link_tree, remove_tree
from lull.kernels.config import check_config, merge_command
from lull.kernels.inputs import gather
from lull.kernels.source import fetch
from lull.kernels.workspace import plan_changes, sync
from lull.model import Arm
from lull.proof.key import python
from lull.proof.stamps import Stamps
from lull.series.assemble import Reader, entries, files, order, planner
from lull.series.distro import fragment
from lull.series.pristine import Pristine
from lull.series.stages import FullPatch, final, only
from tests.kernel_trees import (
    BASE,
    OURS,
    checkpatch,
    configure,
    features_of,
    hooked,
    kernel_parts,
    make,
    opened,
    run,
    tried,
)
from tests.repository import environment
from tests.series.made import am, checkout, contents, moved, patch, put

pytestmark = pytest.mark.vm

ME = (
    "tests/series/test_tree.py",
    "tests/series/test_every_base.py",
    "tests/series/made.py",
)
ROOT = repo_root()
ALL = tuple(name for name in entries(ROOT) if name)
#: Those of which somebody has said what they come to without modes.
UPSTREAM = [name for name in ALL if entries(ROOT)[name].upstream]
#: And by base those of which nobody has said it there: the hooks are others.
UNSAID = {
    "6.1": ("attach", "devices", "freeze", "zfree"),
}
READERS = [pytest.param(None, id="steps"), Reader.DISTRO]

#: There is no entry in MAINTAINERS, and three lines of help may say it all.
STYLE = ("--no-signoff", "--showfile", "--ignore=FILE_PATH_CHANGES")
HELP = "--min-conf-desc-length=3"
#: checkpatch's list of them is of one kernel: another may write what that only reads.
CONST = "--ignore=CONST_STRUCT"

#: The kernel's commits that messages name. There is none of its history here, so that
#: checkpatch knows none of them: a new one has to be looked up before it comes here.
COMMITS = ("1ed1328792ff", "c511851de162", "d59cfc09c32a")
NO_HISTORY = re.compile(rf"Unknown commit id '({'|'.join(COMMITS)})'")
#: Without these what devices' series mends in kexec is no code.
MENDED = "CONFIG_KEXEC=y\nCONFIG_KEXEC_JUMP=y"


def said(words: tuple[str, ...]) -> bytes:
    """What a program says of the checkout, which may be none of git's."""
    return subprocess.run(
        words, cwd=ROOT, env=environment(), capture_output=True
    ).stdout


def ours(*patterns: str) -> tuple[str, ...]:
    """The files of ours that there are."""
    paths = {path for pattern in patterns for path in ROOT.glob(pattern)}
    # Editors leave others about.
    return tuple(
        sorted(
            str(path.relative_to(ROOT))
            for path in paths
            if path.is_file() and not path.name.startswith(".")
        )
    )


@dataclass(frozen=True)
class Sources(Pristine):
    """A base's own, with its name."""

    base: str


#: What a series is made from, besides the kernel's files, and what its letters tell.
SAYS = ("features/*/*.toml", "kernel/series.toml")
TELLS = (
    "kernel/bases/*.toml",
    "*/*/bases/*.toml",
    "*/*/results/*",
    "scenarios/*/*.toml",
    "pyproject.toml",
)
MAKERS = ours("lull/series/*.py")
#: What applies it, and when what is measured was changed last, which letters tell.
SAID = (
    ("git", "--version"),
    ("patch", "--version"),
    ("git", "rev-list", "-1", "HEAD", "--", "features", "kernel", ":(exclude)*.md"),
)


def planned_parts(base: str, *more: str) -> dict[str, str]:
    """What the changes of a series depend on, and ``more`` files."""
    files = (*ME, *ours(*SAYS, *more))
    parts = kernel_parts(Arm.LULL, *files, base=base, makers=MAKERS)
    return {**parts, "python": python()}


def written_parts(base: str) -> dict[str, str]:
    """And what is written of it, and is read by others."""
    return {**planned_parts(base, *TELLS), "programs": digest(*map(said, SAID))}


@pytest.fixture(scope="module")
def pristine(base: str) -> Sources:
    source = fetch(load_base(base), Cache())
    return Sources(source.tree, source.version, base)


def there(pristine: Sources, names: tuple[str, ...]) -> tuple[str, ...]:
    """Of all features those that are on the base; skips what is about another."""
    on = features_of(pristine.base)
    found = tuple(name for name in names if name in on)
    if found != names and names != ALL:
        pytest.skip(f"{', '.join(names)}: not on {pristine.base}")
    return found


def require_words(pristine: Sources, *names: str) -> None:
    """Skips what has no series for upstream there."""
    base = pristine.base
    if set(names) & set(UNSAID.get(base, ())):
        pytest.skip(f"no series for upstream of {', '.join(names)} on {base} yet")
    there(pristine, names)


def planned(
    pristine: Sources, names: tuple[str, ...], reader: Reader | None
) -> list[FullPatch]:
    base = pristine.base
    if reader is Reader.UPSTREAM:
        require_words(pristine, *names)
    wanted = order(there(pristine, names), base, reader, ROOT)
    return planner(wanted, ROOT)(pristine.read)


def written(
    pristine: Sources, names: tuple[str, ...], reader: Reader | None, place: Path
) -> list[Path]:
    place.mkdir()
    wanted = order(there(pristine, names), pristine.base, reader, ROOT)
    found = files(wanted, planned(pristine, names, reader), pristine, ROOT)
    for name, data in found.items():
        (place / name).write_bytes(data)
    return sorted(place.glob("*.patch"))


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("names", [ALL, *((n,) for n in ALL)], ids="+".join)
def test_applied_it_is_the_labs_tree_byte_for_byte(
    names: tuple[str, ...],
    reader: Reader | None,
    pristine: Sources,
    tmp_path: Path,
    stamp: Stamps,
) -> None:
    """So that a kernel built from it is the lab's, whose builds compare."""
    there(pristine, names)
    with stamp(written_parts(pristine.base)) as new:
        if new:
            applied(names, reader, pristine, tmp_path)


def applied(
    names: tuple[str, ...], reader: Reader | None, pristine: Sources, tmp_path: Path
) -> None:
    mails = written(pristine, names, reader, tmp_path / "mails")
    base = pristine.base
    wanted = order(there(pristine, names), base, reader, ROOT).names
    inputs = only(gather(ROOT, base, Arm.LULL), ROOT, wanted)
    if names == ALL:
        assert inputs == gather(ROOT, base, Arm.LULL)
    changes = plan_changes(inputs, pristine.read)
    before = {path: pristine.read(path) for path in changes}
    after = {path: change.data for path, change in changes.items()}
    assert None in before.values() and None not in after.values()
    with_git = checkout(tmp_path / "git", before)
    am(with_git, mails)
    assert contents(with_git) == after
    without = checkout(tmp_path / "patch", before)
    said = patch(without, mails)
    assert contents(without) == after
    assert "fuzz" not in said and "offset" not in said


@pytest.mark.parametrize("name", UPSTREAM)
def test_upstream_git_and_patch_take_it_alike(
    name: str, pristine: Sources, tmp_path: Path, stamp: Stamps
) -> None:
    require_words(pristine, name)
    with stamp(written_parts(pristine.base)) as new:
        if new:
            taken(name, pristine, tmp_path)


def taken(name: str, pristine: Sources, tmp_path: Path) -> None:
    letter, *mails = written(pristine, (name,), Reader.UPSTREAM, tmp_path / "mails")
    after = final(planned(pristine, (name,), Reader.UPSTREAM))
    before = {path: pristine.read(path) for path in after}
    with_git = checkout(tmp_path / "git", before)
    am(with_git, mails)
    assert contents(with_git) == {path: c.data for path, c in after.items()}
    without = checkout(tmp_path / "patch", before)
    said = patch(without, mails)
    assert contents(without) == contents(with_git)
    assert "fuzz" not in said and "offset" not in said
    for mail in mails:
        added = [ln for ln in mail.read_text().split("\n") if ln.startswith("+")]
        assert added and not [line for line in added if "lull" in line.lower()]
    says = entries(ROOT)[name].on(pristine.base).upstream
    assert says
    text = letter.read_text()
    steps = any(part.steps for part in says.patch)
    assert "[empty" not in text and f"\nbase: Linux {pristine.version}\n" in text
    for part in ("What it brings", "What each step brings", "Evidence: "):
        assert (f"\n{part}" in text) is steps
    runs = text.replace(" \\\n      ", " ")
    again = (
        rf"^  lull run (\w+ )*{name} (\w+ )*--base {re.escape(pristine.base)} --clock "
    )
    assert bool(re.search(again, runs, re.MULTILINE)) is steps
    ablated = ("--clock insn --ablate", "--ablate --clock insn")
    assert any(words in runs for words in ablated) is steps
    assert max(map(len, text.split("\n\n---\n")[0].split("\n"))) < 90


@pytest.mark.seconds(120)
@pytest.mark.parametrize(
    ("names", "reader"),
    [
        pytest.param(ALL, None, id="steps"),
        pytest.param(ALL, Reader.DISTRO, id="distro"),
        *(pytest.param((n,), Reader.UPSTREAM, id=f"{n}-upstream") for n in UPSTREAM),
    ],
)
def test_checkpatch_is_silent(
    names: tuple[str, ...],
    reader: Reader | None,
    pristine: Sources,
    tmp_path: Path,
    stamp: Stamps,
) -> None:
    if reader is Reader.UPSTREAM:
        require_words(pristine, *names)
    with stamp(written_parts(pristine.base)) as new:
        if new:
            mails = written(pristine, names, reader, tmp_path / "mails")
            style = STYLE if pristine.base == BASE else (*STYLE, CONST)
            found = [line for mail in mails for line in of_ours(mail, *style, HELP)]
            assert not found, "\n".join(found)


def of_ours(mail: Path, *words: str) -> list[str]:
    """What checkpatch says of a patch, but of the kernel's own lines and commits."""
    own = moved(mail.read_text())
    return [
        line
        for line in checkpatch(*words, mail)
        if not NO_HISTORY.search(line) and line.partition(": ")[0] not in own
    ]


def test_a_commit_that_nobody_has_looked_up_is_seen(tmp_path: Path) -> None:
    """Among those that were."""
    said = 'Subject: [PATCH] mm: undo it\n\nIt was so since commit {} ("mm: do it").\n'
    for commit, known in ((COMMITS[0], True), ("0" * 12, False)):
        mail = put(tmp_path / "mail.patch", said.format(commit))
        found = [line for line in checkpatch(*STYLE, mail) if commit in line]
        assert found and all(bool(NO_HISTORY.search(line)) is known for line in found)


@pytest.mark.seconds(15)
def test_the_fragment_beside_them_is_what_they_need(
    pristine: Sources, tmp_path: Path, stamp: Stamps
) -> None:
    """On top of what the untouched kernel has: each option takes, and of what they
    add nothing is left to ask, which would stop a build that nobody watches."""
    with stamp(planned_parts(pristine.base)) as new:
        if not new:
            return
        beside = tmp_path / "lull.config"
        beside.write_text(fragment(there(pristine, ALL), entries(ROOT)))
        stock = gather(ROOT, pristine.base, Arm.STOCK).fragments
        with opened(Arm.LULL, pristine.base) as tree:
            obj = tried(tree)
            make(obj, "allnoconfig")
            run(merge_command(tree, obj, [*stock, beside]), tree)
            assert "LULL" not in make(obj, "listnewconfig")
            make(obj, "olddefconfig")
            config = (obj / ".config").read_text()
        check_config([(beside.name, beside.read_text())], config)


@pytest.mark.proof
@pytest.mark.seconds(900)
@pytest.mark.parametrize("on", [True, False], ids=["on", "off"])
def test_the_tree_compiles_after_each_patch(
    on: bool, pristine: Sources, stamp: Stamps
) -> None:
    """All objects that any of them changes, without a warning: make compiles
    again what sees a difference."""
    with stamp(planned_parts(pristine.base)) as new:
        if new:
            extra = "" if on else "# CONFIG_LULL is not set"
            targets = (OURS,) if on else ()
            series = planned(pristine, ALL, None)
            label = "on" if on else "off"
            compile_each(series, pristine, label, extra, targets)


@pytest.mark.proof
@pytest.mark.seconds(120)
@pytest.mark.parametrize("name", UPSTREAM)
def test_upstream_it_compiles_after_each_patch(
    name: str, pristine: Sources, stamp: Stamps
) -> None:
    with stamp(planned_parts(pristine.base)) as new:
        if new:
            series = planned(pristine, (name,), Reader.UPSTREAM)
            compile_each(series, pristine, name, MENDED)


@contextmanager
def untouched(pristine: Sources, label: str) -> Iterator[Path]:
    """A tree of its own, gone when the block ends. Who has another ``label`` does
    not wait."""
    cache = Cache()
    # Where ccache knows paths from those of other trees.
    tree = cache.work / f"{pristine.base}-series-{label}"
    with cache.lock(tree.name):
        try:
            link_tree(pristine.tree, tree)
            yield tree
        finally:
            remove_tree(tree)


def compile_each(
    series: list[FullPatch],
    pristine: Sources,
    label: str,
    extra: str = "",
    targets: tuple[str, ...] = (),
) -> None:
    """Compile what is hooked after each step."""
    wanted = sorted(
        {*hooked(pristine.base), *(p[:-1] + "o" for p in final(series) if _is_c(p))}
    )
    werror = f"CONFIG_WERROR=y\n{extra}"
    with untouched(pristine, label) as tree:
        obj = configure(tree, Arm.LULL, werror, pristine.base)
        for count, step in enumerate(series, 1):
            sync(pristine.tree, tree, dict(step.changes), set())
            known = [o for o in wanted if (tree / o).with_suffix(".c").is_file()]
            try:
                # What was no option yet was lost from the configuration.
                if any("Kconfig" in path for path in step.changes):
                    configure(tree, Arm.LULL, werror, pristine.base)
                make(obj, "-j2", *targets, *known)
            except AssertionError as error:
                where = f"after patch {count}, {step.words.title}"
                raise AssertionError(f"{where}: {error}") from error


def _is_c(path: str) -> bool:
    """A kernel's own file: ours are compiled as a folder, or not at all."""
    return path.endswith(".c") and not path.startswith(OURS)
