# SPDX-License-Identifier: GPL-2.0-only
"""Remembered verdicts: trusted when whole, ours and of this; else forgotten."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from lull.proof.store import Remembered, Store

PARTS = {"kernel": "a", "job": "b"}


def verdict(**more: object) -> Remembered:
    return Remembered(
        id="f: A",
        parts=PARTS,
        how="held",
        tries=1,
        seed=1,
        seconds=3,
        when="2026-01-01T00:00:00+00:00",
    ).model_copy(update=more)


def test_what_is_kept_is_recalled_under_all_of_its_parts(tmp_path: Path) -> None:
    store = Store(tmp_path)
    assert not store.has("f: A", PARTS)
    store.keep(verdict())
    assert store.has("f: A", PARTS)
    assert store.recall("f: A", PARTS) == verdict()
    assert store.recall("f: B", PARTS) is None
    for kind in PARTS:
        assert store.recall("f: A", {**PARTS, kind: "other"}) is None
        assert not store.has("f: A", {**PARTS, kind: "other"})
    assert store.recall("f: A", {**PARTS, "more": "c"}) is None
    store.forget("f: A", PARTS)
    assert store.recall("f: A", PARTS) is None


def swap(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda p: p.write_bytes(p.read_bytes()[:40]), "cut off"),
        (lambda p: p.write_bytes(b""), "cut off"),
        (lambda p: p.write_bytes(b"\xff\x00"), "cut off"),
        (lambda p: swap(p, '"schema_version":1', '"schema_version":2'), "version"),
        (lambda p: swap(p, '"kernel":"a"', '"kernel":"z"'), "something else"),
        (lambda p: p.chmod(0o666), "others may write"),
        (lambda p: p.parent.chmod(0o777), "others may write"),
    ],
)
def test_what_cannot_be_trusted_is_forgotten_with_one_line(
    tmp_path: Path, spoil: Callable[[Path], object], said: str
) -> None:
    lines: list[str] = []
    store = Store(tmp_path, lines.append)
    store.keep(verdict())
    (path,) = tmp_path.glob("*.json")
    spoil(path)
    assert store.recall("f: A", PARTS) is None
    assert len(lines) == 1 and said in lines[0]
    tmp_path.chmod(0o755)
    assert store.recall("f: A", PARTS) is None
    assert len(lines) == 1


def test_a_umask_that_lets_the_group_write_does_no_harm(tmp_path: Path) -> None:
    lines: list[str] = []
    store = Store(tmp_path / "verdicts", lines.append)
    before = os.umask(0)
    try:
        store.keep(verdict())
    finally:
        os.umask(before)
    assert store.recall("f: A", PARTS) == verdict(), lines


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_another_user_s_is_not_trusted(tmp_path: Path) -> None:
    lines: list[str] = []
    store = Store(tmp_path, lines.append)
    store.keep(verdict())
    (path,) = tmp_path.glob("*.json")
    os.chown(path, 12345, -1)
    assert store.recall("f: A", PARTS) is None
    assert "another user" in lines[0]


def test_a_store_that_cannot_be_written_costs_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    store = Store(tmp_path / "file" / "below")
    store.keep(verdict())
    assert store.recall("f: A", PARTS) is None
