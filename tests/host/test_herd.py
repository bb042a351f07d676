# SPDX-License-Identifier: GPL-2.0-only
"""herd7: how it is fetched and started, and what it says."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from lull.errors import CannotRun, LabError
from lull.host import suite
from lull.host.herd import Litmus, expected, herd, parse, run
from lull.host.suite import AptSource
from lull.kernels.cache import Cache

OUTPUT = """\
Test two Allowed
States 2
1:r0=0; 1:r1=0;
1:r0=1; 1:r1=1;
No
Witnesses
Positive: 0 Negative: 2
Condition exists (1:r0=1 /\\ 1:r1=0)
Observation two Never 0 2
Time two 0.01
Hash=f259d8efc86e0b40c7168bf58524ab49

"""


def test_herds_output() -> None:
    assert parse(OUTPUT) == Litmus(
        name="two",
        holds="Never",
        states=("1:r0=0; 1:r1=0;", "1:r0=1; 1:r1=1;"),
        flags=(),
        text=OUTPUT,
    )


def test_a_data_race_is_told() -> None:
    raced = OUTPUT.replace("Condition", "Flag data-race\nCondition")
    assert parse(raced).flags == ("data-race",)


def test_no_verdict_is_an_error() -> None:
    # The exit status of herd7 is 0 here too.
    with pytest.raises(LabError, match=r"no verdict\n.*unexpected 'x'"):
        parse("Warning: File \"a.litmus\", line 9: unexpected 'x' (User error)\n")


def test_the_stated_result() -> None:
    assert expected("C x\n\n(*\n * Result: Sometimes\n *\n *)\n") == "Sometimes"
    with pytest.raises(LabError, match="Result"):
        expected("C x\n\n(*\n * Result: Perhaps\n *)\n")


#: "The archive": its herd7 and its loader are scripts.
FAKE_APT = """#!/bin/sh
[ -z "$APT_FAILS" ] || { echo "E: Failed to fetch x"; exit 100; }
case "$*" in *"-c $PWD/apt.conf"*) ;; *) exit 1; esac
grep -q '^Suites: sid$' suite.sources && [ ! -s status ] || exit 1
case "$*" in *update) exit 0; esac
mkdir -p p/DEBIAN p/usr/bin p/usr/lib/x && cat >p/DEBIAN/control <<X
Package: herdtools7
Version: 7.58-2
Architecture: all
Maintainer: nobody <nobody@invalid>
Description: x
X
printf '#!/bin/sh\\nshift 2; exec "$@"\\n' >p/usr/lib/x/ld-linux-x.so.2
cat >p/usr/bin/herd7 <<'X'
#!/bin/sh
[ "$1 ${3#-}" = "-set-libdir version" ] && { echo "7.58, Rev: exported"; exit; }
[ -f linux-kernel.cfg ] && [ "$3 $4" = "-conf linux-kernel.cfg" ] && cat "$5"
X
chmod +x p/usr/bin/herd7 p/usr/lib/x/ld-linux-x.so.2
touch p/usr/bin/other7
dpkg-deb -b p cache/archives/herdtools7_7.58-2_all.deb
"""


@pytest.fixture
def fake_apt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """apt-get, on a machine that has no herd7 and one source."""
    apt = tmp_path / "bin" / "apt-get"
    apt.parent.mkdir()
    apt.write_text(FAKE_APT)
    apt.chmod(0o755)
    monkeypatch.setenv("PATH", f"{apt.parent}:{os.environ['PATH']}")
    which = shutil.which
    monkeypatch.setattr(
        shutil, "which", lambda name: None if name == "herd7" else which(name)
    )
    source = AptSource("http://x.invalid/debian", ("stable",), ("main",))
    monkeypatch.setattr(suite, "machine_sources", lambda: [source])
    monkeypatch.setattr(Cache, "need", lambda *_: None)
    return apt


def test_fetch_unpacks_and_remembers(
    tmp_path: Path, fake_apt: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = Cache(tmp_path / "cache")
    monkeypatch.setenv("APT_FAILS", "1")
    with pytest.raises(CannotRun, match=r"(?s)lists of sid .*Failed to fetch.*PATH"):
        herd(cache=cache)
    assert not (cache.root / "herd").exists()
    monkeypatch.delenv("APT_FAILS")
    got = herd(cache=cache)
    assert got.version == "7.58"
    assert not list((cache.root / "tmp").iterdir())
    assert not (cache.root / "herd/usr/bin/other7").exists()
    fake_apt.unlink()  # the second time nothing is downloaded
    assert herd(cache=cache) == got

    litmus = tmp_path / "two.litmus"
    litmus.write_text(OUTPUT)
    with pytest.raises(CannotRun, match="no memory model"):
        run(got, tmp_path, litmus)
    (tmp_path / "linux-kernel.cfg").touch()
    assert run(got, tmp_path, litmus).holds == "Never"
    litmus.write_text("Warning: unexpected\n")
    with pytest.raises(LabError, match=r"two\.litmus: herd7 gives no verdict"):
        run(got, tmp_path, litmus)


def test_one_that_does_not_start_is_not_given_out(
    tmp_path: Path, fake_apt: Path
) -> None:
    fake_apt.write_text(FAKE_APT.replace("echo", "exit 1; echo"))
    with pytest.raises(CannotRun, match="does not start"):
        herd(cache=Cache(tmp_path / "cache"))
    fake_apt.write_text(FAKE_APT)
    assert herd(cache=Cache(tmp_path / "cache")).version == "7.58"


def test_a_machine_without_an_archive_of_debian(
    tmp_path: Path, fake_apt: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(suite, "machine_sources", list)
    with pytest.raises(CannotRun, match="name no archive"):
        herd(cache=Cache(tmp_path / "cache"))


def test_the_machines_own_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "herd7"
    own.write_text('#!/bin/sh\n[ "$1" = -version ] && echo "7.60, Rev: x"\n')
    own.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    got = herd(cache=Cache(tmp_path / "cache"))
    assert (got.command, got.version) == ((str(own),), "7.60")
