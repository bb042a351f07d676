# SPDX-License-Identifier: GPL-2.0-only
"""The texts of lull-tools that come from the features' own descriptions.

Pure: features in, the text of a file out.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from lull.errors import LabError
from lull.model import Feature

_COMPARED = re.compile(r'LULL_COMPARED\("(\w+)"\)')


def compared(sources: Iterable[str]) -> frozenset[str]:
    """The modes that C sources have for comparison alone; no package has them."""
    return frozenset(name for text in sources for name in _COMPARED.findall(text))


def switched(features: Sequence[Feature]) -> tuple[Feature, ...]:
    """Those that have a switch of their own: no scenarios."""
    return tuple(feature for feature in features if not feature.switches)


@dataclass(frozen=True)
class OfBase:
    """What a base's kernel has of features by itself, and which it lacks: texts by
    feature. ``modes`` are those, by feature, that are what its stock does."""

    native: Mapping[str, str] = field(default_factory=dict)
    absent: Mapping[str, str] = field(default_factory=dict)
    modes: Mapping[str, Collection[str]] = field(default_factory=dict)


_ALIKE = "as stock: this kernel does that by itself"


def feature_table(
    features: Sequence[Feature], left_out: Collection[str], there: OfBase | None = None
) -> str:
    """What ``lull status`` says of features and modes: ``FEATURE|MODE|TEXT``.

    The line without a mode has the feature's title, ``+`` for one what of it the
    kernel has by itself, ``-`` why it is not there.
    """
    lines = []
    there = there or OfBase()
    for feature in switched(features):
        rows = [("", feature.title)]
        if why := there.absent.get(feature.name):
            rows.append(("-", why))
        else:
            if has := there.native.get(feature.name):
                rows.append(("+", has))
            alike = there.modes.get(feature.name, ())
            rows += [
                (m.name, _ALIKE if m.name in alike else m.text) for m in feature.modes
            ]
        for name, text in rows:
            if "|" in text or "\n" in text:
                raise LabError(f"no text for a table: {text!r}", where=feature.name)
            if name not in left_out:
                lines.append(f"{feature.name}|{name}|{text}")
    return "\n".join(lines) + "\n"


#: Nothing in it comes from a feature's description: who has changed the file is asked
#: by dpkg about each change of ours.
_HEAD = """\
# What the features of Lull are switched to when this machine boots: read by
# lull.service (lull apply), once a boot and when it is restarted.
#
# Modes, and what they do: lull status, or /usr/share/lull/features
# The boot parameter lull.FEATURE=MODE wins over this file. Who writes to
# /sys/module/lull/parameters/FEATURE later (lull set) wins over both.
# Now:      sudo lull set FEATURE MODE, or, with what is below,
#           sudo systemctl restart lull.service
# Way back: stock, here and there. A setting that is empty or missing leaves the
#           feature alone.
"""


def default_file(features: Sequence[Feature]) -> str:
    """/etc/default/lull: a setting for each feature."""
    parts = [_HEAD]
    for feature in switched(features):
        name = feature.name
        parts.append(
            f"# The mode of the feature {name} (lull status {name}). Default: stock.\n"
            f"LULL_{name.upper()}=stock\n"
        )
    return "\n".join(parts)


def changelog(version: str, date: str, commit: str) -> str:
    """Debian's changelog of the package; ``date`` as in RFC 5322, ``commit`` may be
    empty."""
    of = f"  * This is of {commit}.\n" if commit else ""
    return (
        f"lull-tools ({version}) local; urgency=low\n\n"
        f"  * What has changed is in the commits of Lull's sources.\n{of}\n"
        f" -- Whoever built this <root@localhost>  {date}\n"
    )


def fill(template: str, **values: str) -> str:
    """A text with each @NAME@ replaced; LabError where one has no value."""

    def value(match: re.Match[str]) -> str:
        if match[1] not in values:
            raise LabError(f"nothing to put for {match[0]}")
        return values[match[1]]

    return re.sub(r"@([A-Z]+)@", value, template)
