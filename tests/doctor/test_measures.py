# SPDX-License-Identifier: GPL-2.0-only
"""What measurements wrote, read and judged; and one that is made here."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lull.cli import app
from lull.doctor import collect
from lull.doctor.bundle import read_bundle
from lull.doctor.collect import build_collector, load_folder, plan
from lull.doctor.consent import READS, consent, read_measure_names
from lull.doctor.findings import judge
from lull.doctor.model import Finding, Grade
from lull.doctor.read_hooks import UnitRun, read_hooks
from lull.doctor.read_measures import (
    NAMES,
    read_attach,
    read_freezer,
    read_lacks,
    read_zfree,
    spread,
)
from lull.doctor.there import ssh_command
from lull.errors import LabError, UsageError
from lull.host.files import repo_root
from tests.doctor import texts

#: Three cycles of 6.12 in the guest; of the last one the log was not read any more.
FREEZER = """\
cycle\t21500 us\t0
cycle\t20250 us\t0
cycle\t20500 us\t0
log
<6>[   90.000000] PM: suspend entry (s2idle)
<6>[   90.010000] Filesystems sync: 0.010 seconds
<6>[   90.010100] Freezing user space processes
<6>[   90.012300] Freezing user space processes completed (elapsed 0.002 seconds)
<6>[   90.012400] OOM killer disabled.
<6>[   90.012500] Freezing remaining freezable tasks
<6>[   90.013000] Freezing remaining freezable tasks completed (elapsed 0.000 seconds)
<6>[   90.013100] PM: suspend debug: Waiting for 0 second(s).
<6>[   90.013200] OOM killer enabled.
<6>[   90.013300] Restarting tasks ... done.
<6>[   90.014700] PM: suspend exit
<6>[   91.000000] PM: suspend entry (s2idle)
<6>[   91.010100] Freezing user space processes
<6>[   91.014500] Freezing user space processes completed (elapsed 0.004 seconds)
<6>[   91.014600] Freezing remaining freezable tasks
<6>[   91.014900] Freezing remaining freezable tasks completed (elapsed 0.000 seconds)
<6>[   91.015000] Restarting tasks ... done.
<6>[   91.015200] PM: suspend exit
<6>[   92.000000] PM: suspend entry (s2idle)
<6>[   92.010100] Freezing user space processes
"""

OLD = """\
cycle\t21500 us\t0
log
[   90.000000] PM: suspend entry (s2idle)
[   90.010100] Freezing user space processes ... (elapsed 0.003 seconds) done.
[   90.013400] Freezing remaining freezable tasks ... (elapsed 0.001 seconds) done.
[   90.015000] Restarting tasks ... done.
[   90.016000] PM: suspend exit
"""


def found(**files: str) -> tuple[Finding, ...]:
    return judge(texts.bundle(**files)).findings


def by_id(name: str, **files: str) -> Finding:
    (one,) = [f for f in found(**files) if f.id == name]
    return one


def test_a_spread_is_of_samples() -> None:
    hundred = spread([float(n) for n in range(100, 0, -1)])
    assert hundred is not None
    assert (hundred.n, hundred.p50, hundred.p99, hundred.longest) == (
        100,
        50.5,
        99,
        100,
    )
    few = spread([3.0, 1.0, 2.0])
    assert few is not None and (few.p50, few.p99, few.longest) == (2.0, 3.0, 3.0)
    assert spread([]) is None


def test_cycles_have_the_phases_of_the_log_by_its_own_clock() -> None:
    cycles = read_freezer(FREEZER)
    assert cycles is not None and cycles.whole is not None and cycles.error == ""
    assert (cycles.whole.n, cycles.whole.p50) == (3, 20.5)
    user, freeze, thaw = (cycles.phases[name] for name in ("user", "freeze", "thaw"))
    assert (user.n, user.longest) == (2, pytest.approx(4.4))
    assert freeze.p50 == pytest.approx((2.2 + 0.5 + 4.4 + 0.3) / 2)
    assert thaw.longest == pytest.approx(1.4)
    assert cycles.phases["sync"].n == 1


def test_an_old_kernel_says_seconds_alone() -> None:
    cycles = read_freezer(OLD)
    assert cycles is not None
    assert cycles.phases["user"].p50 == 3 and cycles.phases["freeze"].p50 == 4


def test_a_cycle_that_failed_is_no_time_and_is_first() -> None:
    text = "cycle\t20000 us\t0\ncycle\t20001000 us\tEBUSY\n"
    cycles = read_freezer(text)
    assert cycles is not None and cycles.whole is not None
    assert cycles.whole.n == 1 and cycles.error == "EBUSY"
    first = found(freezer=text, tasks=texts.task(50, "p") + texts.zombies(60, 50))[0]
    assert first.grade is Grade.FAILS and first.id == "measured-freezer-failed"


def test_a_measured_freeze_is_said_in_the_place_of_the_logs() -> None:
    names = [f.id for f in found(freezer=FREEZER, log=texts.LOG)]
    assert "measured-freezer" in names and "freeze" not in names
    finding = by_id("measured-freezer", freezer=FREEZER)
    assert finding.title == "freezing takes 3.7 ms, measured"
    assert any(e.startswith("thaw: p50 0.8 ms") for e in finding.evidence)
    estimate = finding.estimates[0]
    assert estimate.feature == "freeze" and estimate.of_ms == pytest.approx(3.7)


MOVES = "".join(f"move\t{ns} ns\n" for ns in [19_000_000] * 99 + [60_000_000] * 101)
MOUNT = (
    "== /proc/self/mountinfo\n"
    "35 24 0:29 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n"
)


def test_moves_are_said_with_what_helps() -> None:
    moves = read_attach(MOVES)
    assert moves is not None and (moves.n, moves.p50, moves.p99) == (200, 60.0, 60.0)
    finding = by_id("measured-attach", attach=MOVES, mounts=MOUNT)
    assert finding.grade is Grade.COSTS and "keeps all others" in finding.title
    assert finding.remedies[0].command == (
        "mount -o remount,rw,nsdelegate,favordynmods /sys/fs/cgroup"
    )
    tasks = texts.task(60, "nginx", cgroup="/lxc/web")
    guess = {"mounts": MOUNT, "tasks": tasks}
    assert "moves" in [f.id for f in found(**guess)]
    assert "moves" not in [f.id for f in found(**guess, attach=MOVES)]


def test_moves_that_do_not_wait_are_only_a_note() -> None:
    finding = by_id("measured-attach", attach="move\t40000 ns\n", mounts=MOUNT)
    assert finding.grade is Grade.NOTE and not finding.remedies
    assert finding.cost == "p50 0.04 ms, longest 0.04 ms, n=1; each"


def test_what_was_not_swapped_out_is_not_counted() -> None:
    text = "munmap\t9000000 ns\t65536 KiB\nmunmap\t1000 ns\t12 KiB\n"
    times = read_zfree(text)
    assert times is not None and times.mib == 64 and times.times.n == 1
    finding = by_id("measured-zfree", zfree=text)
    assert finding.cost_ms == 9.0 and finding.title.startswith("unmapping 64 MiB")
    estimate = finding.estimates[0]
    assert estimate.saved_ms is not None and estimate.saved_ms[1] < 9.0
    assert estimate.clock == "log"
    assert read_zfree("munmap\t9 ns\t0 KiB\n") is None


def test_why_it_was_not_measured_is_said() -> None:
    text = "lacks\tpm_test\tENOENT\nlate\n"
    lacks = read_lacks("freezer", text)
    assert "CONFIG_PM_SLEEP_DEBUG; --measure suspend does" in lacks[0].why
    assert lacks[1].why == "its time was over"
    said = judge(texts.bundle(freezer=text, attach="lacks\troot\tEPERM\n")).unseen
    assert said[0] == "attach was not measured: it needs root"
    assert said[1].startswith("freezer was not measured: there is no /sys/power/pm_")


STARTING = "7d4958e842da4a758f6c1cdc7b36dcc5"
STARTED = "39f53479d3a045ac8e11786248231fbf"
FAILED = "be02cf6855d2428ba40df7e9d022f03d"
STOPPING = "de5b426a63be47a7b6ac3eaac82e2f6f"
STOPPED = "9d1aaa27d60140bd96365438aad20286"
SLEEP = "6bbd95ee977941e497c48be27c254128"
AWAKE = "8811e6df2a8e40f58a94cea26f8ebf14"
SLEEPS = "systemd-suspend.service"


def said(ms: float, what: str, unit: str = "", came: float = 0.0, **more: str) -> str:
    """A line of the journal; it came later than it was sent."""
    fields = {
        "__REALTIME_TIMESTAMP": str(1_767_225_600_000_000 + int((came or ms) * 1000)),
        "_SOURCE_REALTIME_TIMESTAMP": str(1_767_225_600_000_000 + int(ms * 1000)),
        "MESSAGE_ID": what,
        **({"UNIT": unit} if unit else {}),
        **more,
    }
    return json.dumps(fields) + "\n"


LAST = (
    "hook\t/usr/lib/systemd/system-sleep/tlp\n"
    # Long over, and not what the suspend waited for.
    + said(1000, STARTING, "timer.service")
    + said(4000, STARTED, "timer.service")
    # A chain: the second began when the first had ended.
    + said(10000, STARTING, "a.service")
    + said(10200, STARTING, "beside.service")
    + said(10500, FAILED, "beside.service")
    + said(11000, STARTED, "a.service")
    + said(11001, STOPPING, "b.service")
    + said(11301, STOPPED, "b.service", came=99000)
    + said(11310, STARTING, SLEEPS)
    + said(12010, SLEEP, SLEEP="suspend")
    # The clock goes on in the sleep.
    + said(3_612_500, AWAKE, SLEEP="suspend")
    + said(3_612_900, STARTED, SLEEPS)
    + said(3_612_950, STARTING, "after.service")
    + said(3_613_450, STARTED, "after.service")
    + said(3_620_000, STARTING, "later.service")
    + said(3_620_500, STARTED, "later.service")
)


def test_who_a_suspend_waited_for_is_named() -> None:
    hooks = read_hooks(LAST)
    assert hooks is not None and hooks.state == "suspend"
    assert hooks.hooks == ("/usr/lib/systemd/system-sleep/tlp",)
    assert (hooks.before_ms, hooks.pre_ms, hooks.post_ms) == (2010, 700, 400)
    assert hooks.before == (
        UnitRun("a.service", "starts", 1000),
        UnitRun("beside.service", "starts", 300),
        UnitRun("b.service", "stops", 300),
    )
    assert hooks.after == (UnitRun("after.service", "starts", 500),)


def test_of_several_suspends_the_last_one_counts() -> None:
    earlier = LAST.replace("17672256", "17672156")
    assert read_hooks(LAST + earlier.partition("\n")[2]) == read_hooks(LAST)


def test_a_suspend_without_an_end_has_no_time_after_it() -> None:
    cut = LAST[: LAST.index(AWAKE)].rpartition("\n")[0] + "\n"
    hooks = read_hooks(cut)
    assert hooks is not None and hooks.post_ms is None and hooks.after == ()
    assert "it did not come back" in by_id("sleep-hooks", **{"sleep-hooks": cut}).cost


def test_the_hooks_finding_has_who_took_longest_first() -> None:
    finding = by_id("sleep-hooks", **{"sleep-hooks": LAST})
    assert finding.cost_ms == 2410
    assert finding.title == "systemd took 2,410 ms around the last suspend (suspend)"
    assert finding.evidence[0].endswith("hooks: /usr/lib/systemd/system-sleep/tlp")
    assert finding.evidence[1] == "before: a.service starts, 1,000 ms"


def test_a_journal_without_a_suspend_says_nothing() -> None:
    assert read_hooks(said(1, STARTING, "x.service") + "{\nnot json\n[]\n") is None


def test_changes_that_were_left_are_said() -> None:
    undone = "undone\t/sys/power/pm_test\tnone\t0\nleft-behind\t0\n"
    (note,) = judge(texts.bundle(texts.MANIFEST + undone)).findings
    assert note.grade is Grade.NOTE and note.id == "left-behind"
    assert note.evidence == ("/sys/power/pm_test: none",)
    (wrong,) = judge(texts.bundle(texts.MANIFEST + "left-behind\tEACCES\n")).findings
    assert wrong.grade is Grade.WRONG and "as root" in wrong.title


def test_a_name_that_is_none_is_an_error() -> None:
    assert read_measure_names(["freezer", "attach", "freezer"]) == ("attach", "freezer")
    with pytest.raises(UsageError, match="suspender"):
        read_measure_names(["suspender"])


def test_the_collector_measures_the_same_names_and_says_what_it_does() -> None:
    lines = plan(repo_root(), NAMES).splitlines()
    assert [line.partition(":")[0] for line in lines] == list(NAMES)
    quiet = [line.partition(":")[0] for line in lines if "changes nothing" in line]
    assert quiet == list(READS)


def test_who_does_not_say_what_it_would_do_is_not_agreed_to(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An empty plan once was one that changes nothing."""
    for status, said in ((0, b""), (1, b"freezer: stops all\n"), (0, b"attach: x\n")):
        answer = (status, said, "no")
        monkeypatch.setattr(collect, "carry_out", lambda *words, a=answer: a)
        with pytest.raises(LabError, match="does not say"):
            plan(repo_root(), ["freezer"])


def test_without_a_terminal_and_without_yes_nothing_is_done(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with open(os.devnull) as nobody:
        monkeypatch.setattr("sys.stdin", nobody)
        with pytest.raises(UsageError) as refused:
            consent("freezer: stops all\n", "ssh://h", yes=False)
        assert refused.value.hint == "--yes"
        assert "On ssh://h:\n  freezer: stops all\n" in capsys.readouterr().err
        consent("freezer: stops all\n", "ssh://h", yes=True)
        assert "freezer: stops all" in capsys.readouterr().err
        consent("sleep-hooks: reads\n", "here", yes=False)
        assert capsys.readouterr().err == ""


def test_a_folder_cannot_be_measured(tmp_path: Path) -> None:
    words = ["doctor", "--from", str(tmp_path), "--measure", "attach", "--yes"]
    error = CliRunner().invoke(app, words).exception
    assert isinstance(error, UsageError) and "lull-probe collect --measure" in str(
        error
    )


def test_another_machine_is_told_what_to_measure() -> None:
    there = ssh_command("ssh://h", ("attach", "freezer"))[-1]
    words = "collect --measure attach --measure freezer --yes -"
    assert there.count(words) == 2
    assert "measure" not in ssh_command("ssh://h")[-1]


def cgroup2() -> Path | None:
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        if " - cgroup2 " in line and os.access(line.split()[4], os.W_OK):
            return Path(line.split()[4])
    return None


needs_cgroups = pytest.mark.skipif(
    os.geteuid() != 0 or cgroup2() is None, reason="needs root and cgroup v2"
)


@pytest.fixture
def place() -> Iterator[Path]:
    """Where cgroups are; for one test at a time, since the names are the same."""
    mount = cgroup2()
    assert mount is not None
    directory = os.open(mount, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(directory, fcntl.LOCK_EX)
        yield mount
    finally:
        os.close(directory)


@needs_cgroups
@pytest.mark.seconds(3)
def test_moves_are_measured_here_and_leave_nothing(tmp_path: Path, place: Path) -> None:
    words = ["collect", "--measure", "attach", "--times", "5", "--yes"]
    subprocess.run([build_collector(repo_root()), *words, tmp_path / "o"], check=True)
    bundle = read_bundle(load_folder(tmp_path / "o"))
    moves = judge(bundle).facts.measured.attach
    assert moves is not None and moves.n == 5 and 0 < moves.p50 <= moves.longest
    assert not list(place.glob("lull-doctor-*"))


@needs_cgroups
@pytest.mark.seconds(3)
def test_a_cgroup_that_is_there_is_not_taken_for_ours(
    tmp_path: Path, place: Path
) -> None:
    theirs = place / "lull-doctor-b"
    theirs.mkdir()
    try:
        words = ["collect", "--measure", "attach", "--times", "5", "--yes"]
        command = [build_collector(repo_root()), *words, tmp_path / "o"]
        subprocess.run(command, check=True)
        assert theirs.is_dir() and not (place / "lull-doctor-a").exists()
    finally:
        theirs.rmdir()
    text = read_bundle(load_folder(tmp_path / "o")).text("attach")
    assert text == "lacks\tcgroup\tEEXIST\n"
