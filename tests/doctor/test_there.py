# SPDX-License-Identifier: GPL-2.0-only
"""Machines elsewhere: what is run there, and what they answer.

``adb`` is a stand-in, which does what it is told here: it copies, and runs with sh what
a phone would. Nobody had a phone.
"""

from __future__ import annotations

import os
import platform
from pathlib import Path

import pytest

from lull.doctor.bundle import read_bundle
from lull.doctor.there import adb_commands, collect_there, ssh_command
from lull.errors import CannotRun, LabError, UsageError
from lull.host.files import repo_root

#: It writes down its words; /data/local/tmp is $PHONE. su is not there, or Android's.
ADB = """\
#!/bin/sh
echo "$*" | tr '\\n' ' ' >> "$PHONE/said"; echo >> "$PHONE/said"
[ "$1 $2" = "-s PIXEL" ] || { echo "error: device '$2' not found" >&2; exit 1; }
shift 2
case $1 in
push) cp "$2" "$PHONE/${3#/data/local/tmp/}" ;;
shell) [ "$2 $3" = "-T -n" ] || exit 9
	PATH=$PHONE/bin:$PATH
	exec sh -c "$(echo "$4" | sed "s@/data/local/tmp@$PHONE@g")" < /dev/null ;;
esac
"""


@pytest.fixture
def phone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "host").mkdir()
    (tmp_path / "bin").mkdir()
    adb = tmp_path / "host" / "adb"
    adb.write_text(ADB)
    adb.chmod(0o755)
    monkeypatch.setenv("PHONE", str(tmp_path))
    monkeypatch.setenv("PATH", f"{tmp_path / 'host'}:{os.environ['PATH']}")
    return tmp_path


def program(phone: Path, name: str, text: str) -> None:
    (phone / "bin" / name).write_text(f"#!/bin/sh\n{text}\n")
    (phone / "bin" / name).chmod(0o755)


def test_a_phone_is_asked_and_nothing_is_left_on_it(phone: Path) -> None:
    bundle = read_bundle(collect_there(repo_root(), "adb:PIXEL"))
    assert bundle.manifest.machine == platform.machine()
    said = (phone / "said").read_text().splitlines()
    assert [line.split()[2] for line in said] == ["shell", "push", "shell"]
    assert not list(phone.glob("lull-probe*"))


@pytest.mark.parametrize(
    ("su", "words"),
    [
        ('[ "$1" = 0 ] || exit 1; shift; SU=android exec "$@"', "android"),
        ('[ "$1" = -c ] || exit 1; SU=rooted exec sh -c "$2"', "rooted"),
    ],
)
def test_root_is_taken_where_su_gives_it(phone: Path, su: str, words: str) -> None:
    # A shell that is not root, and a su that makes one so: told by $SU.
    program(phone, "id", '[ -n "$SU" ] && echo 0 || echo 2000')
    program(phone, "su", su)
    program(
        phone,
        "chmod",
        f'/bin/chmod "$@"; mv "$2" "$2-real"; cat > "$2" <<END\n'
        f'#!/bin/sh\necho "\\$SU" > {phone}/su-said\nexec $2-real "\\$@"\nEND\n'
        '/bin/chmod 700 "$2"',
    )
    collect_there(repo_root(), "adb:PIXEL")
    assert (phone / "su-said").read_text() == f"{words}\n"


def test_a_phone_that_is_not_there_says_so(phone: Path) -> None:
    with pytest.raises(CannotRun, match="device 'OTHER' not found") as caught:
        collect_there(repo_root(), "adb:OTHER")
    assert "adb devices" in caught.value.hint


def test_a_machine_that_nobody_compiles_for(phone: Path) -> None:
    program(phone, "uname", "echo riscv64")
    with pytest.raises(CannotRun, match="no collector for riscv64"):
        collect_there(repo_root(), "adb:PIXEL")


def test_a_serial_is_no_option() -> None:
    for bad in ("adb:-x", "adb:", "adb:a b", "adb:a;b"):
        with pytest.raises(UsageError, match="no machine"):
            collect_there(repo_root(), bad)


def test_what_is_measured_is_said_to_a_phone() -> None:
    _, shell = adb_commands("S", Path("p"), "/data/local/tmp/x", ("attach",))
    assert "collect --measure attach --yes -" in shell[-1]


def ssh(tmp_path: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = tmp_path / "ssh"
    fake.write_text(f"#!/bin/sh\n{text}\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")


RUN = 'for last; do :; done; exec sh -c "$last"'


def test_a_host_says_what_it_is_and_is_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "uname").write_text("#!/bin/sh\necho sparc64\n")
    (tmp_path / "uname").chmod(0o755)
    ssh(tmp_path, RUN, monkeypatch)
    with pytest.raises(CannotRun, match="no collector for sparc64"):
        collect_there(repo_root(), "ssh://h")


def test_a_failure_there_is_none_of_a_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ssh(tmp_path, "echo 'sh: cannot' >&2; exit 126", monkeypatch)
    with pytest.raises(LabError, match="sh: cannot"):
        collect_there(repo_root(), "ssh://h")


def test_the_program_is_of_the_machine_that_it_goes_to() -> None:
    assert "aarch64" in ssh_command("ssh://h", (), "aarch64")[-1]
