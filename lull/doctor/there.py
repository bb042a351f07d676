# SPDX-License-Identifier: GPL-2.0-only
"""The collector on another machine: by ssh, or on a phone by adb.

It is copied there, run, and removed; its folder comes back as a tar.
"""

from __future__ import annotations

import platform
import re
import secrets
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from lull.doctor.collect import build_collector, carry_out, collected, measured
from lull.errors import CannotRun, UsageError

_HOST = re.compile(r"^ssh://(?:([\w.-]+)@)?([\w.-]+|\[[0-9a-fA-F:.]+\])(?::(\d+))?/?$")
_PHONE = re.compile(r"^adb:([\w.:-]+)$")
_OTHER = re.compile(r"^lull-machine: (\S+)$", re.MULTILINE)
_FORMAT = 126

#: What runs there: the program comes by standard input, and goes when it is done.
_SSH = (
    'm=$(uname -m); [ "$m" = {machine} ] || '
    '{{ echo "lull-machine: $m" >&2; exit 126; }}; '
    'd=$(mktemp -d) && trap \'rm -rf "$d"\' EXIT && cat > "$d/lull-probe" && '
    'chmod 700 "$d/lull-probe" && '
    'if [ "$(id -u)" != 0 ] && sudo -n true 2>/dev/null; then '
    'sudo -n "$d/lull-probe" {words}; else "$d/lull-probe" {words}; fi'
)
#: Root by Android's own su (userdebug builds), or by that of who has rooted it.
_ADB = (
    "chmod 700 {program}; "
    'if [ "$(id -u)" = 0 ]; then {program} {words}; '
    'elif [ "$(su 0 id -u 2>/dev/null)" = 0 ]; then su 0 {program} {words}; '
    "elif [ \"$(su -c 'id -u' 2>/dev/null)\" = 0 ]; then su -c '{program} {words}'; "
    "else {program} {words}; fi; s=$?; rm -f {program}; exit $s"
)


def collect_there(
    root: Path, where: str, measures: Sequence[str] = ()
) -> Mapping[str, bytes]:
    """The folder of ``ssh://[USER@]HOST[:PORT]`` or ``adb:SERIAL``, as root where that
    asks for no password.

    Raises UsageError for what is neither, CannotRun where it cannot be reached.
    """
    phone = _PHONE.match(where)
    if phone is not None and not phone[1].startswith("-"):
        return _by_adb(root, phone[1], measures)
    return _by_ssh(root, where, measures)


def ssh_command(
    host: str, measures: Sequence[str] = (), machine: str = ""
) -> list[str]:
    """The system's ssh, with what it runs there, if that is such a ``machine``; one
    like this without it. Raises UsageError."""
    match = _HOST.match(host)
    if match is None or match[2].startswith("-") or (match[1] or "").startswith("-"):
        raise UsageError(
            f"'{host}' is no machine that can be reached",
            hint="--on ssh://[USER@]HOST[:PORT], or --on adb:SERIAL",
        )
    user, name, port = match.groups()
    words = shlex.join(["collect", *measured(measures), "-"])
    machine = shlex.quote(machine or platform.machine())
    remote = _SSH.format(machine=machine, words=words)
    return [
        *("ssh", "-T"),
        *(("-p", port) if port else ()),
        *(("-l", user) if user else ()),
        *("--", name.strip("[]"), f"exec sh -c {shlex.quote(remote)}"),
    ]


def _by_ssh(root: Path, host: str, measures: Sequence[str]) -> Mapping[str, bytes]:
    # Most machines are like this one: the others say so, and are asked once more.
    machine = platform.machine()
    while True:
        command = ssh_command(host, measures, machine)
        program = build_collector(root, machine).read_bytes()
        status, output, words = carry_out(
            command, host, program, measures=bool(measures)
        )
        other = _OTHER.search(words)
        if status != _FORMAT or other is None or other[1] == machine:
            break
        machine = other[1]
    if status == 255:
        raise CannotRun(f"cannot be reached: {words}", where=host)
    return collected(status, output, words, host)


def adb_commands(
    serial: str, program: Path, place: str, measures: Sequence[str] = ()
) -> list[list[str]]:
    """What copies the collector to a phone, and what runs it there. Pure.

    ``shell -T`` keeps output, errors and status apart, and changes no byte, with what
    Android has since 7.
    """
    words = shlex.join(["collect", *measured(measures), "-"])
    remote = _ADB.format(program=place, words=words)
    adb = ["adb", "-s", serial]
    return [[*adb, "push", str(program), place], [*adb, "shell", "-T", "-n", remote]]


def _by_adb(root: Path, serial: str, measures: Sequence[str]) -> Mapping[str, bytes]:
    where = f"adb:{serial}"
    machine = _adb(["adb", "-s", serial, "shell", "-T", "-n", "uname -m"], where)
    program = build_collector(root, machine.decode("utf-8", "replace").strip())
    place = f"/data/local/tmp/lull-probe-{secrets.token_hex(4)}"
    push, shell = adb_commands(serial, program, place, measures)
    _adb(push, where)
    return collected(*carry_out(shell, where, measures=bool(measures)), where)


def _adb(command: Sequence[str], where: str) -> bytes:
    """What it prints. Raises CannotRun with its own words: which phone, and why not."""
    status, output, words = carry_out(command, where)
    if status:
        raise CannotRun(
            f"cannot be reached: {words or output.decode('utf-8', 'replace').strip()}",
            where=where,
            hint="adb devices says which there are",
        )
    return output
