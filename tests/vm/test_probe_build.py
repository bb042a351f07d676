# SPDX-License-Identifier: GPL-2.0-only
"""The probe is built once, the same everywhere, or the reason is told."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from lull.errors import CannotRun, LabError
from lull.host.files import digest, repo_root
from lull.vm import compile as compile_module
from lull.vm.compile import build_key, lacks_libc
from lull.vm.probe_build import build_probe, probe_recipe

MAIN = '#include "p.h"\nint main(void) { return answer() - 42; }\n'
WORKLOAD = '#include "p.h"\nint answer(void) { return 42; }\n'


def tree(root: Path) -> Path:
    (root / "probe").mkdir(parents=True)
    (root / "features" / "freeze").mkdir(parents=True)
    (root / "probe" / "p.h").write_text("int answer(void);\n")
    (root / "probe" / "main.c").write_text(MAIN)
    (root / "features" / "freeze" / "workload.c").write_text(WORKLOAD)
    return root


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "lull" / "probe"


def test_two_places_give_the_same_static_program(
    tmp_path: Path, own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = build_probe(tree(tmp_path / "here"))
    assert subprocess.run([one], check=False).returncode == 0
    first = one.read_bytes()
    headers = subprocess.run(
        ["readelf", "-hlW", one], capture_output=True, check=True
    ).stdout
    assert b"INTERP" not in headers
    assert b"EXEC (Executable file)" in headers
    assert str(tmp_path).encode() not in first
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other"))
    assert build_probe(tree(tmp_path / "there" / "deeper")).read_bytes() == first


def test_nothing_is_built_twice(tmp_path: Path, own_cache: Path) -> None:
    root = tree(tmp_path / "r")
    one = build_probe(root)
    before = one.stat()
    after = build_probe(root).stat()
    # Of its times that of the last read differs.
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    (root / "probe" / "p.h").write_text("int answer(void); /* changed */\n")
    assert build_probe(root) != one
    left = sorted(path.name for path in own_cache.rglob("*") if path.is_file())
    assert left == 2 * ["lull-probe"] + 2 * ["lull-probe.digest"]


@pytest.mark.parametrize("what", ["lull-probe", "lull-probe.digest"])
def test_one_that_was_cut_off_is_forgotten_with_a_line(
    tmp_path: Path, own_cache: Path, capsys: pytest.CaptureFixture[str], what: str
) -> None:
    root = tree(tmp_path / "r")
    one = build_probe(root)
    whole, file = one.read_bytes(), one.with_name(what)
    file.write_bytes(file.read_bytes()[:10])
    assert build_probe(root) == one and one.read_bytes() == whole
    said = capsys.readouterr().err
    assert said == f"lull: {one} is forgotten: it is not what was compiled\n"
    assert build_probe(root) == one and not capsys.readouterr().err


def test_one_of_an_older_lab_is_compiled_again(tmp_path: Path, own_cache: Path) -> None:
    root = tree(tmp_path / "r")
    one = build_probe(root)
    kept = one.with_name("lull-probe.digest")
    before = kept.read_bytes()
    kept.unlink()
    assert build_probe(root) == one and kept.read_bytes() == before


def test_a_scenario_is_built_in_and_sees_its_features_headers(
    tmp_path: Path, own_cache: Path
) -> None:
    root = tree(tmp_path / "r")
    room = root / "scenarios" / "lid"
    room.mkdir(parents=True)
    (root / "features" / "freeze" / "f.h").write_text("int answer(void);\n")
    calls = '#include "features/freeze/f.h"\nint call(void) { return answer(); }\n'
    (room / "lid.c").write_text(calls)
    (root / "probe" / "main.c").write_text(
        '#include "scenarios/lid/l.h"\nint main(void) { return call() - 42; }\n'
    )
    (room / "l.h").write_text("int call(void);\n")
    one = build_probe(root)
    assert subprocess.run([one], check=False).returncode == 0
    (room / "l.h").write_text("int call(void); /* changed */\n")
    assert build_probe(root) != one


def test_what_does_not_compile_is_quoted(tmp_path: Path, own_cache: Path) -> None:
    root = tree(tmp_path / "r")
    (root / "features" / "freeze" / "workload.c").write_text("int answer(void) {}\n")
    with pytest.raises(LabError) as caught:
        build_probe(root)
    assert caught.value.exit_code == 125
    assert "workload.c" in caught.value.what
    assert not [path for path in own_cache.rglob("*") if path.is_file()]


def test_no_compiler_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CannotRun, match="gcc is not in PATH"):
        build_probe(tree(tmp_path / "r"))


def test_no_static_libc_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    gcc = tools / "gcc"
    gcc.write_text("#!/bin/sh\necho 'ld: cannot find -lc: No such file' >&2; exit 1\n")
    gcc.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    # In no key of this process that comes later is what stands for this one.
    asked = compile_module._tools
    asked.cache_clear()
    monkeypatch.setattr(compile_module, "_tools", asked.__wrapped__)
    with pytest.raises(CannotRun, match="static C library") as caught:
        build_probe(tree(tmp_path / "r"))
    assert "libc6-dev" in caught.value.hint
    monkeypatch.undo()
    assert (
        compile_module._tools("gcc")
        == asked.__wrapped__("gcc")
        != digest("", "", "", b"")
    )


def test_a_tree_without_a_probe_is_the_labs_failure(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="no C files"):
        build_probe(tmp_path)


def test_the_key_follows_everything_that_goes_in() -> None:
    base = build_key({"a": b"1", "b": b"2"}, "gcc 12")
    assert base == build_key({"b": b"2", "a": b"1"}, "gcc 12")
    assert base != build_key({"a": b"12", "b": b""}, "gcc 12")
    assert base != build_key({"a": b"1b:2"}, "gcc 12")
    assert base != build_key({"a": b"1", "b": b"2"}, "gcc 13")
    assert base != build_key({"a": b"1", "b": b"2"}, "gcc 12", ("-O1",))


def test_a_failed_compile_is_no_missing_library() -> None:
    assert not lacks_libc("main.c:1: error: unknown type name")


def test_another_c_library_is_another_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is static: what is linked in is a part of it."""
    libc = tmp_path / "libc.a"
    monkeypatch.setattr(
        compile_module,
        "_named",
        lambda _, name, *option: str(libc) if name == "libc.a" else "true",
    )
    monkeypatch.setattr(compile_module, "_tools", compile_module._tools.__wrapped__)
    keys = set()
    for text in ("one", "another"):
        libc.write_text(text)
        keys.add(compile_module.recipe_key(repo_root(), probe_recipe(repo_root())))
    assert len(keys) == 2
