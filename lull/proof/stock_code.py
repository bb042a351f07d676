# SPDX-License-Identifier: GPL-2.0-only
"""What of a feature's own C runs while the feature is in its mode stock.

The inline functions of include/ look at a switch before they call: what only they
call is not reached then. All else that other code names is, as far as can be seen
here: functions that hooks, headers beside the kernel's own files, and what watches
call, what initcalls run, and variables that any header names.

Pure. Too much costs some boots, too little a verdict that is wrong.
"""

from __future__ import annotations

import re
from functools import cache

from lull.kernels.patches import parse_patch
from lull.series.c_text import code_only
from lull.series.definitions import texts

_WORD = re.compile(r"\w+")
#: What is outside of functions begins at the line's first column.
_FUNCTION = re.compile(r"^(?!#)[A-Za-z_][^(){};=\n]*?\b(\w+)\([^;{]*\{", re.MULTILINE)
_OTHER = re.compile(
    r"^(?:(?:static )?(?:DEFINE|DECLARE)_\w+\((?P<made>\w+)"
    r"|#[ \t]*define[ \t]+(?P<macro>\w+)"
    r"|[A-Za-z_][^(){};=\n]*[ \t*](?P<plain>\w+)(?:\[[^\n]*?\])*[ \t]*[=;])",
    re.MULTILINE,
)
_INITCALL = re.compile(r"^\w*_initcall\w*\((\w+)\)", re.MULTILINE)
#: A call that is a statement of its own, in no branch.
_CALLED = re.compile(r"^\t(\w+)\(", re.MULTILINE)


@cache
def added(hooks: tuple[str, ...]) -> str:
    """The lines that hooks bring."""
    parts = (part for text in hooks for part in parse_patch("hook", text))
    lines = (line for part in parts for hunk in part.hunks for line in hunk.lines)
    return "\n".join(line[1:] for line in lines if line[0] == "+")


@cache
def stock_code(
    files: tuple[str, ...], callers: tuple[str, ...], looking: tuple[str, ...]
) -> tuple[str, ...]:
    """The definitions that are reached in the mode stock, with their comments.

    ``files`` is C that is the feature's own. What ``callers`` name of it is reached,
    and of what ``looking`` name, which look at the switch first, the variables. A
    definition brings what it names in its own file, and of other files what it calls
    whatever comes.
    """
    code = [code_only(text) for text in files]
    functions = [_functions(text) for text in code]
    others = [_others(text) for text in code]
    named = {word for text in callers for word in _words(text)}
    seen = named.union(*map(_words, looking))
    todo = [
        (at, name)
        for at, text in enumerate(code)
        for name in (
            *_shared(functions[at]) & named,
            *_shared(others[at]) & seen,
            *functions[at].keys() & set(_INITCALL.findall(text)),
        )
    ]
    found: dict[tuple[int, str], list[str]] = {}
    while todo:
        at, name = todo.pop()
        if (at, name) in found:
            continue
        # Where its end cannot be told it is the whole file.
        found[at, name] = texts(files[at], name, name) or [files[at]]
        own = code_only("".join(found[at, name]))
        here = functions[at].keys() | others[at].keys()
        todo += [(at, word) for word in here & set(_WORD.findall(own))]
        called = set(_CALLED.findall(own))
        todo += [(n, w) for n, f in enumerate(functions) for w in _shared(f) & called]
    return tuple(text for place in sorted(found) for text in found[place])


def _functions(code: str) -> dict[str, bool]:
    """By name, and whether other files can call them."""
    return {m[1]: not m[0].startswith("static") for m in _FUNCTION.finditer(code)}


def _others(code: str) -> dict[str, bool]:
    """The same of variables and macros."""
    return {
        m[m.lastgroup or 0]: not m[0].startswith(("static", "#"))
        for m in _OTHER.finditer(code)
    }


def _shared(names: dict[str, bool]) -> set[str]:
    return {name for name, shared in names.items() if shared}


def _words(text: str) -> set[str]:
    return set(_WORD.findall(code_only(text)))
