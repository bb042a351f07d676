# SPDX-License-Identifier: GPL-2.0-only
"""The report of ``lull base check`` as text of at most 80 columns."""

from __future__ import annotations

import textwrap

from lull.bases.check import Fate, File, Hook, Report

WIDTH = 80


def render(report: Report, base: str, version: str, before: str | None) -> str:
    """Of the hooks of ``base``; ``version`` is the tree's, ``before`` that of the
    base's own sources."""
    against = f", beside {before}" if before else ""
    lines = [f"{version}{against}: {_counts(report)}", ""]
    for hook in report.hooks:
        lines += _hook(hook)
    lines += [f"conflicts  {path} is there already" for path in report.taken]
    if report.changed:
        lines += ["", *_wrapped("Hooked files that changed: ", report.changed)]
    lines += ["", _verdict(report, base)]
    return "\n".join(lines)


def _counts(report: Report) -> str:
    counts = [f"{len(report.of(fate))} {_verb(fate)}" for fate in Fate]
    return f"of {len(report.hooks)} hooks " + ", ".join(counts)


def _verb(fate: Fate) -> str:
    return {"applies": "apply", "moved": "moved", "conflicts": "conflict"}[fate]


def _hook(hook: Hook) -> list[str]:
    lines = [f"{hook.fate:<9}  {hook.name}"]
    for file in hook.files:
        if file.fate is not Fate.APPLIES:
            lines += _file(file)
    return lines


def _file(file: File) -> list[str]:
    if file.fate is Fate.MOVED:
        return [f"           {file.path}: {file.lines:+d} lines"]
    after = f" (after {file.after}, which conflicts there)" if file.after else ""
    first, *rest = file.why.splitlines()
    head = textwrap.wrap(
        f"{file.path}: {first}{after}",
        WIDTH,
        initial_indent=" " * 11,
        subsequent_indent=" " * 13,
        break_on_hyphens=False,
    )
    return head + [f"         {line}" for line in rest]


def _wrapped(head: str, names: tuple[str, ...]) -> list[str]:
    return textwrap.wrap(
        head + ", ".join(names),
        WIDTH,
        subsequent_indent="  ",
        break_on_hyphens=False,
        break_long_words=False,
    )


def _verdict(report: Report, base: str) -> str:
    if not report.ok:
        return "Not as it is: mend the hooks that conflict, in their order."
    if report.changed:
        return f"All apply. Read what changed around them, then: make proof BASE={base}"
    if report.changed is None:
        return (
            "All apply. What changed around them was not looked at: the base's own\n"
            f"sources are not here. lull kernel fetch --base {base}, and check again."
        )
    return "All apply, and no hooked file changed."
