# SPDX-License-Identifier: GPL-2.0-only
"""C as it is when some of its switches are settled for good.

What is known to be true or false is taken out of the text, and with it what can
then no longer be reached: branches of the preprocessor, ``if``, ``while``, ``&&``,
``||``, ``!`` and ``?:``. All else stays as somebody wrote it, to the blank. What cannot
be settled so is refused, never guessed.

Pure: text goes in, text comes out. Inside, a control character stands for each
of true, false and a place where something was.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from lull.errors import LabError
from lull.series.c_text import (
    FALSE,
    GONE,
    TRUE,
    WS,
    code_only,
    extent,
    extent_back,
    fail,
    matching,
    opening,
)
from lull.series.jumps import cut, unlabelled

_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(if|ifdef|ifndef|elif|else|endif)\b(.*)$")
_DEFINED = re.compile(r"(?:defined|IS_ENABLED)\s*\(\s*(\w+)\s*\)")
_WEAKER_THAN_OR = re.compile(r"[?:,;]|(?<![=!<>])=(?!=)|\breturn\b")
_WEAKER_THAN_AND = re.compile(rf"\|\||{_WEAKER_THAN_OR.pattern}")
#: A call or a change: what is not evaluated any more would be missed.
_DOES = re.compile(r"\w\s*\(|(?<![=!<>])=(?!=)|\+\+|--")


@dataclass(frozen=True)
class Known:
    """What is settled."""

    symbols: Mapping[str, bool] = field(default_factory=dict)  #: of Kconfig
    #: Functions, by name; or one call of a function, as it is written.
    calls: Mapping[str, bool] = field(default_factory=dict)
    #: Functions whose calls do nothing, where they are statements.
    dropped: frozenset[str] = frozenset()


def evaluate(text: str, known: Known, where: str) -> str:
    """The text with all that is settled taken out.

    Raises LabError, with ``where`` and the line, where that cannot be done.
    """
    before = _conditionals(text, known, where)
    text = _settle(_calls(before, known, where), where)
    return unlabelled(before, _tidy(text))


# The preprocessor.


def preprocess(text: str, known: Known, where: str) -> str:
    """The text without those branches alone."""
    return _tidy(_conditionals(text, known, where))


def _conditionals(text: str, known: Known, where: str) -> str:
    """Without the branches that are settled; others stay, with their lines."""
    done: list[str] = []
    # Of each #if that is open: whether it is settled, and whether its lines stay.
    open_: list[tuple[bool, bool]] = []
    for line in text.split("\n"):
        match = _DIRECTIVE.match(line)
        stays = all(keep for _, keep in open_)
        if not match:
            if stays:
                done.append(line)
            continue
        word, rest = match[1], match[2]
        if word in ("if", "ifdef", "ifndef"):
            value = _condition(word, rest, known, where) if stays else None
            open_.append((value is not None, value is not False))
            line = GONE if value is not None else line
        elif not open_:
            raise LabError(f"#{word} without #if", where=where)
        elif open_[-1][0]:
            if word == "elif":
                raise LabError(f"cannot be settled: {line.strip()!r}", where=where)
            _, keep = open_.pop()
            stays = all(kept for _, kept in open_)
            if word == "else":
                open_.append((True, not keep))
            line = GONE
        elif word == "endif":
            open_.pop()
        elif word == "elif" and any(s in known.symbols for s in _names(rest)):
            raise LabError(f"cannot be settled: {line.strip()!r}", where=where)
        if stays:
            done.append(line)
    if open_:
        raise LabError("#if without #endif", where=where)
    return "\n".join(done)


def _names(text: str) -> list[str]:
    return re.findall(r"\w+", text)


def _condition(word: str, rest: str, known: Known, where: str) -> bool | None:
    """What a condition is; None where it speaks of nothing that is settled."""
    if not any(name in known.symbols for name in _names(rest)):
        return None
    if word == "if":
        text = _settle(_defined(rest, known).strip(), where)
    else:
        text = TRUE if known.symbols[_names(rest)[0]] else FALSE
    if text not in (TRUE, FALSE):
        raise LabError(f"cannot be settled: {f'#{word}{rest}'!r}", where=where)
    return (text == TRUE) is (word != "ifndef")


def _defined(text: str, known: Known) -> str:
    def value(match: re.Match[str]) -> str:
        if match[1] not in known.symbols:
            return match[0]
        return TRUE if known.symbols[match[1]] else FALSE

    return _DEFINED.sub(value, text)


# Calls.


def _calls(text: str, known: Known, where: str) -> str:
    text = _defined(text, known)
    for call, value in known.calls.items():
        if call.endswith(")"):
            text = _exact(text, call, TRUE if value else FALSE)
    names = [name for name in (*known.calls, *known.dropped) if name[-1] != ")"]
    if not names:
        return text
    pattern = re.compile(rf"\b({'|'.join(map(re.escape, names))})\s*\(")
    at = 0
    while match := pattern.search(code_only(text), at):
        end = matching(text, match.end() - 1, where) + 1
        at = match.start() + 1
        if match[1] in known.dropped and _is_statement(text, match.start(), end):
            text = text[: match.start()] + GONE + text[end + 1 :]
        elif match[1] in known.calls:
            new = TRUE if known.calls[match[1]] else FALSE
            text = text[: match.start()] + new + text[end:]
        else:
            raise fail(text, match.start(), where, "not a statement by itself")
    return text


def _exact(text: str, call: str, new: str) -> str:
    """Another text for each of these calls that is code."""
    pattern = re.compile(rf"(?<!\w){re.escape(call)}")
    at = 0
    while match := pattern.search(code_only(text), at):
        text = text[: match.start()] + new + text[match.end() :]
        at = match.start() + 1
    return text


def _is_statement(text: str, at: int, end: int) -> bool:
    before = code_only(text[:at]).replace(GONE, "").rstrip()
    return text[end] == ";" and before.endswith((";", "{", "}", ":"))


# Expressions and statements.


def _settle(text: str, where: str) -> str:
    """No true and no false is left."""
    while True:
        masked = code_only(text)
        at = next((n for n, c in enumerate(masked) if c in (TRUE, FALSE)), None)
        if at is None or len(text) == 1:
            return text
        text = next(
            (new for rule in _RULES if (new := rule(text, at, where)) is not None),
            text,
        )
        if masked == code_only(text):
            raise fail(text, at, where, "what this makes true or false")


def _negation(text: str, at: int, where: str) -> str | None:
    if text[at - 1 : at] != "!":
        return None
    return text[: at - 1] + (FALSE if text[at] == TRUE else TRUE) + text[at + 1 :]


def _parentheses(text: str, at: int, where: str) -> str | None:
    if text[at - 1 : at] != "(" or text[at + 1 : at + 2] != ")":
        return None
    if re.search(r"\w[ \t]*$", text[: at - 1]):
        return None  # of a call, or of a statement
    return text[: at - 1] + text[at] + text[at + 2 :]


def _neutral(text: str, at: int, where: str) -> str | None:
    """``true && x`` and ``false || x`` are x, on either side."""
    word = "&&" if text[at] == TRUE else r"\|\|"
    if text[at] == FALSE and _and_beside(text, at):
        return None  # which binds more
    if match := re.compile(rf"{WS}{word}{WS}").match(text, at + 1):
        return _bare(text[:at], text[match.end() :], where)
    if match := re.search(rf"{WS}{word}{WS}$", text[:at]):
        return _bare(text[: match.start()], text[at + 1 :], where)
    return None


def _and_beside(text: str, at: int) -> bool:
    after = re.compile(rf"{WS}&&").match(text, at + 1)
    return bool(after or re.search(rf"&&{WS}$", text[:at]))


def _bare(head: str, tail: str, where: str) -> str:
    """Without brackets in which one operand is left."""
    start = opening(head)
    if start is None or re.search(r"\w[ \t]*$", head[:start]):
        return head + tail
    text = head + tail
    end = matching(text, start, where)
    inside = text[start + 1 : end].strip()
    operators = r"&&|\|\||[?:,=<>|^]|(?<!&)&(?!&)|[-+*/%]"
    if re.search(operators, code_only(inside)) and not _is_call(inside, where):
        return text
    return text[:start] + inside + text[end + 1 :]


def _is_call(text: str, where: str) -> bool:
    """Whether that is all there is; its arguments have brackets of their own."""
    head = re.match(r"!?\w+(?=\()", text)
    return head is not None and matching(text, head.end(), where) == len(text) - 1


def _absorbing(text: str, at: int, where: str) -> str | None:
    """``false && x`` is false, ``true || x`` is true; and on the other side,
    where x does nothing."""
    word = "&&" if text[at] == FALSE else r"\|\|"
    # What binds less than the operator: where its operand ends.
    weaker = _WEAKER_THAN_AND if text[at] == FALSE else _WEAKER_THAN_OR
    if text[at] == TRUE and _and_beside(text, at):
        return None
    if match := re.compile(rf"{WS}{word}").match(text, at + 1):
        return text[: at + 1] + text[extent(text, match.end(), weaker) :]
    if match := re.search(rf"{WS}{word}{WS}$", text[:at]):
        start = extent_back(text, match.start(), weaker)
        if _DOES.search(code_only(text)[start : match.start()]):
            raise fail(text, at, where, "what stands before it may do something")
        return text[:start] + text[at:]
    return None


def _choice(text: str, at: int, where: str) -> str | None:
    """``true ? a : b``"""
    match = re.compile(rf"{WS}\?{WS}").match(text, at + 1)
    if not match:
        return None
    colon = extent(text, match.end(), re.compile("[:,;?]"))
    if text[colon] != ":":
        raise fail(text, at, where, "a choice without a second half")
    end = extent(text, colon + 1, re.compile("[,;?]"))
    if text[end] == "?":
        raise fail(text, at, where, "a choice in a choice")
    chosen = text[match.end() : colon] if text[at] == TRUE else text[colon + 1 : end]
    return text[:at] + chosen.strip() + text[end:]


def _if(text: str, at: int, where: str) -> str | None:
    """``if (true) a else b``, and what follows an else."""
    head = re.search(r"(\belse[ \t]+)?\bif[ \t]*\($", text[:at])
    if not head or text[at + 1] != ")":
        return None
    first = _statement(text, at + 2, where)
    second = None
    if match := re.compile(r"\s*else\b").match(text, first[1]):
        second = _statement(text, match.end(), where)
    end = second[1] if second else first[1]
    kept = first if text[at] == TRUE else second
    if head[1]:
        return _after_else(text, head.start(), kept, end)
    if kept is None:
        return text[: head.start()] + GONE + text[end:]
    return cut(text[: head.start()] + _dedented(text, head.start(), kept), text[end:])


def _while(text: str, at: int, where: str) -> str | None:
    """``while (false) a``"""
    head = re.search(r"\bwhile[ \t]*\($", text[:at])
    if not head or text[at] == TRUE or text[at + 1] != ")":
        return None
    return text[: head.start()] + GONE + text[_statement(text, at + 2, where)[1] :]


def _after_else(text: str, at: int, kept: tuple[int, int] | None, end: int) -> str:
    if kept is None:
        return text[:at].rstrip() + text[end:]
    return f"{text[:at]}else{text[kept[0] : kept[1]]}{text[end:]}"


def _statement(text: str, at: int, where: str) -> tuple[int, int]:
    """Where the next statement is, with the blanks before it."""
    start = re.compile(r"\s*").match(text, at)
    begin = start.end() if start else at
    if text[begin] == "{":
        return at, matching(text, begin, where) + 1
    if re.compile(r"(if|for|while|do|switch)\b").match(text, begin):
        raise fail(text, begin, where, "a statement in a statement")
    return at, extent(text, begin, re.compile(";")) + 1


def _dedented(text: str, at: int, kept: tuple[int, int]) -> str:
    """A statement where its ``if`` began, without braces, a tab further left."""
    body = text[kept[0] : kept[1]].strip()
    if body.startswith("{"):
        body = body[1:-1].strip("\n").rstrip()
        if not body.strip():
            return GONE
    else:
        margin = text[text.rfind("\n", 0, at) + 1 : at]
        body = f"{margin}\t{body}"
    lines = [line.removeprefix("\t") for line in body.split("\n")]
    return "\n".join(lines).lstrip("\t")


_RULES: tuple[Callable[[str, int, str], str | None], ...] = (
    _negation,
    _if,
    _while,
    _parentheses,
    _neutral,
    _absorbing,
    _choice,
)


# What is left where something was.


def _tidy(text: str) -> str:
    """No empty line more than somebody wrote, none where a block begins or ends."""
    done: list[str] = []
    lines = text.split("\n")
    gone = False
    for line in lines:
        if GONE in line and not line.replace(GONE, "").strip():
            gone = True
            continue
        if GONE in line:
            line = line.replace(GONE, "").rstrip()
        if gone:
            before = done[-1] if done else ""
            if not line.strip() and (not before.strip() or before.endswith("{")):
                continue
            if line.strip().startswith("}") and done and not before.strip():
                done.pop()
        gone = False
        done.append(line)
    return "\n".join(done)
