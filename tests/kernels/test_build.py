# SPDX-License-Identifier: GPL-2.0-only
"""Building from end to end, with a kernel that takes a second to make."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from lull.errors import LabError
from lull.kernels import make as make_module
from lull.kernels import toolchain
from lull.kernels.build import build
from lull.kernels.cache import Cache
from lull.kernels.listing import listing, table
from lull.kernels.record import Kernel
from lull.kernels.verify import is_verified, verify
from lull.model import Arm

#: As much of a kernel's Makefile as the lab speaks to. bzImage is made from
#: main.c and the configuration; CALLS counts how often it was.
MAKEFILE = """\
VERSION = 6
PATCHLEVEL = 12
SUBLEVEL = 9
obj := $(O)
$(obj)/main.o: main.c
	@echo '  CC      main.o'
	cp main.c $@
allnoconfig:
	@echo '# CONFIG_A is not set' >$(obj)/.config
olddefconfig:
	@sort -u -o $(obj)/.config $(obj)/.config
part: $(obj)/main.o
bzImage: $(obj)/main.o
	@mkdir -p $(obj)/arch/x86/boot
	@cat $(obj)/main.o $(obj)/.config >$(obj)/vmlinux
	@cp $(obj)/vmlinux $(obj)/arch/x86/boot/bzImage
	@echo map >$(obj)/System.map
	@echo made >>$(CALLS)
"""

MERGE = """\
#!/bin/sh
shift; shift; obj=$1; shift; shift
cat "$@" | grep ^CONFIG >>"$obj/.config" || :
"""

HOOK = "--- a/main.c\n+++ b/main.c\n@@ -1 +1,2 @@\n int main;\n+int lull;\n"


def put(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cache:
    """A cache with the sources in it, and no need for much."""
    cache = Cache(tmp_path / "cache")
    place = cache.sources / "6.12" / "6.12.9-1"
    calls = tmp_path / "calls"
    calls.touch()
    put(place / "tree/Makefile", MAKEFILE.replace("$(CALLS)", str(calls)))
    put(place / "tree/main.c", "int main;\n")
    put(place / "tree/scripts/kconfig/merge_config.sh", MERGE).chmod(0o755)
    names = {"base": "6.12", "package_version": "6.12.9-1", "version": "6.12.9"}
    put(place / "source.json", json.dumps(names))
    monkeypatch.setattr(Cache, "need", lambda *_: None)
    monkeypatch.setattr(toolchain, "need_memory", lambda: None)
    monkeypatch.setattr(toolchain, "need_build_tools", lambda: None)
    return cache


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    base = 'name="6.12"\npackage="linux-source-6.12"\ntarball="t"\ntop="t"\n'
    put(root / "kernel/bases/6.12.toml", base)
    put(root / "kernel/config/base.config", "CONFIG_B=y\n")
    put(root / "kernel/config/lull.config", "CONFIG_LULL=y\n")
    put(root / "kernel/config/compare.config", "CONFIG_LULL=y\n")
    put(root / "kernel/overlay/kernel/lull/Kconfig", "menu\n")
    put(root / "kernel/hooks/6.12/0001-x.patch", HOOK)
    return root


def calls(tmp_path: Path) -> int:
    return len((tmp_path / "calls").read_text().splitlines())


def test_builds_once(cache: Cache, root: Path, tmp_path: Path) -> None:
    seen: list[tuple[str, int, int]] = []
    kernel = build(
        "6.12", Arm.LULL, lambda *args: seen.append(args), cache=cache, root=root
    )
    assert kernel.bzimage.read_text().startswith("int main;\nint lull;\n")
    assert "CONFIG_LULL=y" in kernel.config.read_text()
    assert kernel.version == "6.12.9" and kernel.system_map.is_file()
    assert "bzImage" in kernel.log.read_text()
    assert any("CC      main.o" in text for text, _, _ in seen)
    assert build("6.12", Arm.LULL, cache=cache, root=root) == kernel
    assert calls(tmp_path) == 1


def _note(told: list[tuple[object, ...]], *words: object) -> None:
    told.append(words)


def test_one_that_was_cut_off_is_forgotten_with_a_line(
    cache: Cache, root: Path, tmp_path: Path
) -> None:
    kernel = build("6.12", Arm.LULL, cache=cache, root=root)
    text = kernel.bzimage.read_text()
    for damaged in (kernel.bzimage, kernel.directory / "kernel.json"):
        damaged.write_text(damaged.read_text()[:9])
        told: list[tuple[object, ...]] = []
        note = partial(_note, told)
        again = build("6.12", Arm.LULL, note, cache=cache, root=root)
        assert again.bzimage.read_text() == text
        line = f"a kernel is forgotten: {kernel.directory} is not whole"
        assert [words for words, *_ in told if "forgotten" in str(words)] == [line]
    assert calls(tmp_path) == 3


def test_arms_differ_and_stock_is_untouched(cache: Cache, root: Path) -> None:
    build("6.12", Arm.LULL, cache=cache, root=root)
    stock = build("6.12", Arm.STOCK, cache=cache, root=root)
    assert "lull" not in stock.bzimage.read_text().lower()


def test_a_changed_hook_builds_again(cache: Cache, root: Path, tmp_path: Path) -> None:
    first = build("6.12", Arm.LULL, cache=cache, root=root)
    hook = root / "kernel/hooks/6.12/0001-x.patch"
    hook.write_text(HOOK.replace("int lull", "int more"))
    second = build("6.12", Arm.LULL, cache=cache, root=root)
    assert "int more;" in second.bzimage.read_text()
    assert second.digest != first.digest and calls(tmp_path) == 2
    # And going back costs nothing: the first is still there.
    hook.write_text(HOOK)
    assert build("6.12", Arm.LULL, cache=cache, root=root) == first
    assert calls(tmp_path) == 2


def test_a_hook_that_goes_away_is_undone(cache: Cache, root: Path) -> None:
    build("6.12", Arm.LULL, cache=cache, root=root)
    (root / "kernel/hooks/6.12/0001-x.patch").unlink()
    kernel = build("6.12", Arm.LULL, cache=cache, root=root)
    assert "int lull;" not in kernel.bzimage.read_text()


def test_a_symbol_that_does_not_take(cache: Cache, root: Path, tmp_path: Path) -> None:
    put(root / "kernel/config/lull.config", "CONFIG_LULL=y\n# CONFIG_B is not set\n")
    with pytest.raises(LabError, match=r"CONFIG_B=n \(lull.config\): is y"):
        build("6.12", Arm.LULL, cache=cache, root=root)
    assert calls(tmp_path) == 0


def test_a_failed_build_leaves_no_kernel(
    cache: Cache, root: Path, tmp_path: Path
) -> None:
    tree = cache.sources / "6.12" / "6.12.9-1" / "tree"
    makefile = (tree / "Makefile").read_text()
    put(tree / "Makefile", makefile.replace("\t@echo map", "\t@echo no; false"))
    with pytest.raises(LabError, match="status 2"):
        build("6.12", Arm.LULL, cache=cache, root=root)
    assert not list(cache.kernels.iterdir())


@pytest.mark.parametrize("by_itself", [True, False])
def test_an_interrupted_build_goes_on_only_from_what_make_has_left(
    cache: Cache, root: Path, by_itself: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A make that has ended by itself has removed what was half made; one that had to
    be killed has not, and then the tree is made anew."""

    def interrupt(text: str, *_: int) -> None:
        if "CC" in text:
            raise KeyboardInterrupt

    real = make_module.end_group
    monkeypatch.setattr(make_module, "end_group", lambda p: real(p) and by_itself)
    with pytest.raises(KeyboardInterrupt):
        build("6.12", Arm.LULL, interrupt, cache=cache, root=root)
    assert not list(cache.kernels.iterdir())
    put(cache.work / "6.12-lull/src/lull-obj/main.o", "of before")
    kernel = build("6.12", Arm.LULL, cache=cache, root=root)
    assert ("of before" in kernel.bzimage.read_text()) == by_itself


def test_verify_builds_a_second_time_once(
    cache: Cache, root: Path, tmp_path: Path
) -> None:
    kernel = verify("6.12", Arm.LULL, cache=cache, root=root)
    assert calls(tmp_path) == 2
    assert verify("6.12", Arm.LULL, cache=cache, root=root) == kernel
    assert calls(tmp_path) == 2


def test_verify_can_compile_a_part_anew(
    cache: Cache, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rest is as ccache has it, which is no proof, and not taken for one."""
    monkeypatch.setattr("lull.kernels.verify.ccache", lambda: "ccache")
    for again in (1, 2):
        kernel = verify("6.12", Arm.LULL, cache=cache, root=root, only=("part",))
        assert calls(tmp_path) == 1 + again
    assert not is_verified(cache, kernel)
    steps = (cache.logs / "6.12-lull-verify.log").read_text().split("$ cd ")
    part = next(n for n, step in enumerate(steps) if " part\n" in step)
    whole = next(n for n, step in enumerate(steps) if " bzImage\n" in step)
    assert part < whole
    assert "CCACHE_DISABLE=1" in steps[part] and "CCACHE_DISABLE" not in steps[whole]


def test_two_that_verify_at_once_build_once(
    cache: Cache, root: Path, tmp_path: Path
) -> None:
    kernel = build("6.12", Arm.LULL, cache=cache, root=root)
    with ThreadPoolExecutor() as pool:
        both = [
            pool.submit(verify, "6.12", Arm.LULL, cache=cache, root=root)
            for _ in range(2)
        ]
    assert [one.result() for one in both] == [kernel, kernel]
    assert calls(tmp_path) == 2


def test_verify_finds_what_depends_on_the_place(cache: Cache, root: Path) -> None:
    tree = cache.sources / "6.12" / "6.12.9-1" / "tree"
    makefile = (tree / "Makefile").read_text()
    put(tree / "Makefile", makefile.replace("cp main.c $@", "echo $(CURDIR) >$@"))
    for _ in range(2):  # what differs is not remembered as equal
        with pytest.raises(LabError, match="two builds of the same inputs differ"):
            verify("6.12", Arm.LULL, cache=cache, root=root)


def test_the_list_knows_what_is_current(cache: Cache, root: Path) -> None:
    verify("6.12", Arm.STOCK, cache=cache, root=root)
    old = build("6.12", Arm.LULL, cache=cache, root=root)
    put(root / "kernel/overlay/kernel/lull/Kconfig", "menu 2\n")
    new = build("6.12", Arm.LULL, cache=cache, root=root)
    entries = listing(cache, root)
    state: dict[str, tuple[Kernel, bool, bool]] = {
        entry.kernel.key: (entry.kernel, entry.current, entry.verified)
        for entry in entries
    }
    assert state.pop(old.key) == (old, False, False)
    assert state.pop(new.key) == (new, True, False)
    assert [rest[1:] for rest in state.values()] == [(True, True)]
    lines = table(entries).splitlines()
    assert len(lines) == 4 and max(map(len, lines)) <= 75
    assert lines[1].split()[1] == "stock" and lines[1].endswith("current =")
