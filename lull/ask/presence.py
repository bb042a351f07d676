# SPDX-License-Identifier: GPL-2.0-only
"""Which features are on a base: those that are hooked in there.

A scenario is on a base where all features are that it switches. The reason why one
is not is data, ``absent`` of kernel/bases/<base>.toml, and the same wherever it is
asked for.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from lull.ask.catalog import features, select
from lull.ask.on_base import on_base
from lull.errors import UsageError
from lull.host.files import repo_root
from lull.kernels.bases import Base, base_names, load_base
from lull.kernels.inputs import is_on
from lull.model import Feature

#: Where nobody has said more. A test does not let the project's own bases do so.
_NO_HOOKS = "its hooks are not made for it yet"

#: What a base has by itself begins with the name of its switch, if there is one.
_SWITCH = re.compile(r"(\w+): ")


def why_absent(asked: Feature, base: Base, root: Path | None = None) -> str:
    """Why a feature or a scenario is not on a base; empty where it is."""
    rooms = (root or repo_root()) / "features"
    for name in asked.switched:
        if not is_on(rooms / name, base.name):
            why = base.absent.get(name, _NO_HOOKS)
            return why if name == asked.name else f"{name} is not on it: {why}"
    return ""


def of_base(base: Base, root: Path | None = None) -> tuple[Feature, ...]:
    """All features and scenarios that are on a base."""
    return tuple(one for one in features(root) if not why_absent(one, base, root))


def absent_from(base: Base, root: Path | None = None) -> dict[str, str]:
    """Why each of those is not on a base that are not, by name."""
    found = {one.name: why_absent(one, base, root) for one in features(root)}
    return {name: why for name, why in found.items() if why}


def select_on(
    base: Base,
    names: Iterable[str],
    modes: Collection[str] = (),
    root: Path | None = None,
) -> tuple[Feature, ...]:
    """The features named, in that order; all that are on the base for no names.

    Each is as it is there: ``on_base()`` has which modes it goes without unless
    they are among ``modes``. Raises UsageError, with the valid names, for one that
    is unknown or is not on the base.
    """
    named = tuple(names)
    wanted = select(named, root) if named else of_base(base, root)
    for one in wanted:
        need_on(one, base, root)
    return tuple(on_base(one, base, modes, root) for one in wanted)


def as_on(
    feature: Feature, base: str, root: Path | None = None, modes: Collection[str] = ()
) -> Feature:
    """A feature as it is on the base of that name, also where it is absent; of a base
    that is not this checkout's, as it is on all.

    ``modes`` are those that ``on_base()`` is asked for.
    """
    if base not in base_names():
        return feature
    return on_base(feature, load_base(base), modes, root)


def on_some(names: Collection[str], base: Base, bases: Sequence[Base]) -> list[str]:
    """Of the names those that are on a base, where others of ``bases`` have the rest.

    One that is on none of them stays: whoever selects it says why. Raises UsageError
    for a name that is unknown.
    """
    if len(bases) < 2 or not names:
        return list(names)
    return [
        one.name
        for one in select(names)
        if not why_absent(one, base) or all(why_absent(one, b) for b in bases)
    ]


def need_on(
    asked: Feature,
    base: Base,
    root: Path | None = None,
    known: Iterable[Feature] | None = None,
) -> None:
    """Raise UsageError for a feature that is not on the base, with those that are:
    of ``known``, else all that ``of_base()`` has.
    """
    why = why_absent(asked, base, root)
    if why:
        others = features(root) if known is None else known
        on = [one.name for one in others if not why_absent(one, base, root)]
        there = f"there is: {', '.join(on)}; or " if on else ""
        raise UsageError(
            f"{asked.name} is not on the base {base.name}: {why}",
            hint=f"{there}another --base has it",
        )


def why_not_tried(names: Collection[str], base: Base, root: Path | None = None) -> str:
    """Why what needs all of these features cannot be tried on a base; or empty.

    What is no feature's needs nothing of a base.
    """
    for one in features(root):
        if one.name in names and (why := why_absent(one, base, root)):
            return f"{one.name} is not on the base {base.name}: {why}"
    return ""


def switch_of(native: str) -> str:
    """The switch of the kernel's own that gives what it has by itself; "" where it
    just has it."""
    found = _SWITCH.match(native)
    return found[1] if found else ""


def own_switch(asked: Feature, base: Base) -> str:
    """The parameter of a feature's workloads that switches on what a base has of it
    by itself; empty where there is none."""
    found = switch_of(base.native.get(asked.name, ""))
    params = {name for workload in asked.workloads.values() for name in workload.params}
    return found if found in params else ""
