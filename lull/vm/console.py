# SPDX-License-Identifier: GPL-2.0-only
"""Finds kernel bugs in a guest's console log. Pure.

Only lines in the kernel's form count, ``[   12.345678] message``, and only
what the message begins with: the echo of a command line, a mitigation's
remark or a program's own text may say WARNING without being one. What a
program prints goes to the console without a time stamp.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

#: Lines kept after the one that was found; a report's stack mostly fits.
AFTER = 12

# The time stamp may follow a program's unfinished line, may carry the log
# level (console_msg_format=syslog) and the caller (CONFIG_PRINTK_CALLER).
_KERNEL_LINE = re.compile(
    rb"(?:<\d+>)?\[ *\d{1,8}\.\d{6}\](?:\[ *[CT]\d+\])? (?P<message>.*)"
)

# In order: the first that matches names the kind. All are tied to the
# beginning of the message.
_KINDS: tuple[tuple[str, re.Pattern[bytes]], ...] = tuple(
    (kind, re.compile(pattern))
    for kind, pattern in (
        ("panic", rb"Kernel panic - not syncing|Fixing recursive fault"),
        ("KASAN", rb"BUG: KASAN: "),
        ("KCSAN", rb"BUG: KCSAN: "),
        ("KFENCE", rb"BUG: KFENCE: "),
        ("UBSAN", rb"UBSAN: "),
        ("kmemleak", rb"kmemleak: \d+ new suspected memory leaks"),
        ("soft lockup", rb"watchdog: BUG: soft lockup|BUG: soft lockup"),
        (
            "hard lockup",
            rb"(?:NMI )?watchdog: .*hard LOCKUP",
        ),
        (
            "RCU stall",
            (
                rb"(?:rcu: )?\s*(?:INFO: )?rcu_\w+"
                rb" (?:(?:self-)?detected (?:expedited )?stall"
                rb"|kthread (?:starved|timer wakeup))"
            ),
        ),
        ("hung task", rb"INFO: task .* blocked .*for more than \d+ sec"),
        ("atomic sleep", rb"BUG: scheduling while atomic"),
        ("atomic sleep", rb"BUG: sleeping function called from invalid context"),
        (
            "lockdep",
            (
                rb"WARNING: (?:possible (?:circular|recursive|irq lock|deadlock)"
                rb"|possible .*lock|inconsistent lock state|suspicious RCU usage"
                rb"|bad (?:unlock|contention) |held lock |lock held when returning"
                rb"|nested lock was not taken|.*still has locks held"
                rb"|[A-Z]+-(?:safe|READ-safe) -> )"
            ),
        ),
        (
            "lockdep",
            (
                rb"INFO: (?:possible (?:circular|recursive) locking"
                rb"|suspicious RCU usage|inconsistent lock state"
                rb"|trying to register non-static key)"
            ),
        ),
        ("lockdep", rb"\[ BUG: |BUG: MAX_(?:LOCK|STACK_TRACE)|DEBUG_LOCKS_WARN_ON"),
        ("list corruption", rb"list_(?:add|del|add_rcu|del_rcu) corruption"),
        (
            "Oops",
            (
                rb"(?:Oops|general protection fault|invalid opcode|divide error"
                rb"|double fault|stack segment|Internal error|kernel stack overflow"
                rb"|unchecked MSR access error|Unable to handle kernel)\b"
            ),
        ),
        ("BUG", rb"kernel BUG at |BUG: |BUG [\w.-]+ \((?:Not t|T)ainted"),
        ("WARNING", rb"WARNING: "),
        # Precedes every WARN and BUG: catches one whose own line was torn.
        ("report", rb"-+\[ cut here \]-+"),
    )
)

# Remarks that begin like a warning and report no bug.
_HARMLESS = re.compile(
    rb"WARNING: (?:Support for|Disabling|Deprecated|.*\bdeprecated\b"
    rb"|Unprivileged eBPF|Spectre)",
)


@dataclass(frozen=True)
class Finding:
    """A line of the log that reports a kernel bug.

    ``line`` counts from 1. ``text`` is the message without its time stamp and
    ``after`` are the whole lines that follow, up to the next finding; bytes
    that are not UTF-8 appear as ``\\xff``.
    """

    kind: str
    line: int
    text: str
    after: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.kind}, line {self.line}: {self.text}"


def scan(
    text: bytes, allow: Sequence[str] = (), *, after: int = AFTER
) -> list[Finding]:
    """The kernel bugs that a console log reports, in its order.

    ``allow`` are regular expressions for the ones that a test provokes on
    purpose: a finding is left out if one of them matches in its text or in
    the ``after`` lines below it.
    """
    lines = [line.removesuffix(b"\r") for line in text.split(b"\n")]
    heads = [(n, *found) for n, found in _heads(lines)]
    # "cut here" only stands for itself when nothing near it was recognised; a
    # WARN's own text may come between it and the WARNING line.
    known = [n for n, kind, _ in heads if kind != "report"]
    heads = [
        head
        for head in heads
        if head[1] != "report" or not any(0 < n - head[0] <= 2 for n in known)
    ]
    findings = []
    for place, (n, kind, message) in enumerate(heads):
        end = heads[place + 1][0] if place + 1 < len(heads) else len(lines)
        rest = lines[n + 1 : min(end, n + 1 + after)]
        while rest and not rest[-1]:
            rest.pop()
        findings.append(
            Finding(kind, n + 1, show(message), tuple(show(line) for line in rest))
        )
    allowed = [re.compile(pattern) for pattern in allow]
    return [finding for finding in findings if not _matches(finding, allowed)]


def tail(text: bytes, lines: int = 15) -> str:
    """The last ``lines`` lines of a log, to show under an error."""
    kept = text.replace(b"\r", b"").rstrip(b"\n").split(b"\n")
    return "\n".join(show(line) for line in kept[-lines:])


def show(line: bytes) -> str:
    """A line of a guest for a terminal: what is not UTF-8, or is a control
    character other than a tab, appears as an escape."""
    text = line.decode("utf-8", "backslashreplace")
    return "".join(
        c if c == "\t" or c.isprintable() else c.encode("unicode_escape").decode()
        for c in text
    )


def _heads(lines: Iterable[bytes]) -> Iterable[tuple[int, tuple[str, bytes]]]:
    """The lines that report something: place, kind, message."""
    for n, line in enumerate(lines):
        match = _KERNEL_LINE.search(line)
        if match is None:
            continue
        message = match["message"]
        kind = _kind(message)
        if kind is not None:
            yield n, (kind, message)


def _kind(message: bytes) -> str | None:
    for kind, pattern in _KINDS:
        if pattern.match(message):
            if kind == "WARNING" and _HARMLESS.match(message):
                return None
            return kind
    return None


def _matches(finding: Finding, allowed: Iterable[re.Pattern[str]]) -> bool:
    block = "\n".join((finding.text, *finding.after))
    return any(pattern.search(block) for pattern in allowed)
