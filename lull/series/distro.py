# SPDX-License-Identifier: GPL-2.0-only
"""What goes beside the patches of ``--for distro``: the options that they add,
as a config fragment and as the list that NixOS takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lull.series.description import SeriesFile

FRAGMENT = "lull.config"
NIX = "lull.nix"


def options(name: str, entries: Mapping[str, SeriesFile]) -> dict[str, str]:
    """What a feature's patch wants to be set, without CONFIG_; ``""`` is the frame."""
    own = f"LULL_{name.upper()}" if name else "LULL"
    return {own: "y", **entries[name].config}


def fragment(names: Sequence[str], entries: Mapping[str, SeriesFile]) -> str:
    """For merge_config.sh, scripts/config or an editor."""
    lines = ["# What the patches beside this add, and what they need."]
    for name in ("", *names):
        for symbol, value in options(name, entries).items():
            line = f"CONFIG_{symbol}={value}"
            lines.append(f"# CONFIG_{symbol} is not set" if value == "n" else line)
    return "\n".join(lines) + "\n"


def nix(
    patches: Sequence[str], names: Sequence[str], entries: Mapping[str, SeriesFile]
) -> str:
    """A list for ``boot.kernelPatches``; ``patches`` are files beside it."""
    lines = ["["]
    for patch, name in zip(patches, ("", *names), strict=True):
        wanted = options(name, entries)
        lines += [
            "  {",
            f'    name = "lull{"-" if name else ""}{name}";',
            f"    patch = ./{patch};",
            # The compiler for it goes by this, and not by the option.
            *(["    features.rust = false;"] if wanted.get("RUST") == "n" else []),
            "    extraConfig = ''",
            *(f"      {_asked(s, v)}" for s, v in wanted.items()),
            "    '';",
            "  }",
        ]
    return "\n".join([*lines, "]"]) + "\n"


def _asked(symbol: str, value: str) -> str:
    """As NixOS answers Kconfig's questions; one that need not be asked has a ?."""
    return f"{symbol}? n" if value == "n" else f"{symbol} {value}"
