# SPDX-License-Identifier: GPL-2.0-only
"""Arbitrary trees, for the tests that draw them."""

from __future__ import annotations

from hypothesis import strategies as st

from lull.trees.model import DOWN, Device, Phase, Tree, Work

_LETTERS = "ABCXYZabcxyz0189._:-"


@st.composite
def trees(
    draw: st.DrawFn, *, most: int = 12, us: int = 60_000_000, busy: bool = True
) -> Tree:
    """Trees of up to ``most`` devices that use all there is in a description."""
    names = draw(
        st.lists(
            st.text(_LETTERS, min_size=1, max_size=63),
            min_size=1,
            max_size=most,
            unique=True,
        )
    )
    devices = []
    for i, name in enumerate(names):
        before = st.sampled_from(names[:i] or [""])
        work = st.builds(
            Work, st.integers(0, us), st.booleans() if busy else st.just(False)
        )
        devices.append(
            Device(
                name=name,
                parent=draw(st.none() | before) if i else None,
                suppliers=tuple(
                    draw(st.lists(before, max_size=3 if i else 0, unique=True))
                ),
                is_async=draw(st.booleans()),
                direct=draw(st.booleans()),
                work=draw(st.dictionaries(st.sampled_from(Phase), work)),
                fail=draw(st.dictionaries(st.sampled_from(DOWN), st.integers(1, 4095))),
                wakeup=draw(st.frozensets(st.sampled_from(DOWN))),
            )
        )
    return Tree(tuple(devices))
