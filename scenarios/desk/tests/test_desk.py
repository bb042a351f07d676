# SPDX-License-Identifier: GPL-2.0-only
"""What `desk` runs in its Debian, tried here as far as that goes, and there."""

from __future__ import annotations

import re
import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from lull.host.progress import open_progress
from lull.model import Case, Job
from lull.real.catalog import select
from lull.real.run import measure
from lull.runs.samples import Stream
from tests.real.pretend import drive, said
from tests.real.rooms import short

ROOM = Path(__file__).parents[1]

TRACE = """\
# tracer: nop
#
#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION
#              | |         |   |||||     |         |
 systemd-sleep-811   [000] ..... 10.000000: suspend_resume: suspend_enter[1] begin
 systemd-sleep-811   [000] ..... 10.000100: suspend_resume: sync_filesystems[0] begin
 systemd-sleep-811   [000] ..... 10.500000: suspend_resume: sync_filesystems[0] end
 systemd-sleep-811   [000] ..... 10.500100: suspend_resume: freeze_processes[0] begin
         nginx-455   [001] ..... 10.501000: sys_exit: NR 232 = -4
   dbus-daemon-301   [001] ..... 10.502000: sys_exit: NR 232 = -4
 systemd-sleep-811   [000] ..... 10.520100: suspend_resume: freeze_processes[0] end
 systemd-sleep-811   [000] ..... 10.520200: suspend_resume: suspend_enter[1] end
 systemd-sleep-811   [000] ..... 10.530000: suspend_resume: dpm_suspend[2] begin
 systemd-sleep-811   [000] ..... 10.531000: suspend_resume: dpm_suspend[2] end
 systemd-sleep-811   [000] ..... 10.532000: suspend_resume: dpm_suspend_late[2] begin
 systemd-sleep-811   [000] ..... 10.532200: suspend_resume: dpm_suspend_late[2] end
 systemd-sleep-811   [000] ..... 10.533000: suspend_resume: dpm_suspend_noirq[2] begin
 systemd-sleep-811   [000] ..... 10.533300: suspend_resume: dpm_suspend_noirq[2] end
 systemd-sleep-811   [000] ..... 10.534000: suspend_resume: CPU_OFF[1] begin
 systemd-sleep-811   [000] ..... 10.536000: suspend_resume: CPU_OFF[1] end
 systemd-sleep-811   [000] d.... 10.540000: suspend_resume: syscore_suspend[0] begin
 systemd-sleep-811   [000] d.... 10.540500: suspend_resume: syscore_suspend[0] end
 systemd-sleep-811   [000] d.... 10.540600: suspend_resume: machine_suspend[3] begin
 systemd-sleep-811   [000] d.... 11.540000: suspend_resume: machine_suspend[3] end
 systemd-sleep-811   [000] d.... 11.540100: suspend_resume: syscore_resume[0] begin
 systemd-sleep-811   [000] d.... 12.540000: suspend_resume: syscore_resume[0] end
 systemd-sleep-811   [000] ..... 12.540100: suspend_resume: CPU_ON[1] begin
 systemd-sleep-811   [000] ..... 12.540600: suspend_resume: CPU_ON[1] end
 systemd-sleep-811   [000] ..... 12.541000: suspend_resume: dpm_resume_noirq[16] begin
 systemd-sleep-811   [000] ..... 12.541100: suspend_resume: dpm_resume_noirq[16] end
 systemd-sleep-811   [000] ..... 12.542000: suspend_resume: dpm_resume_early[16] begin
 systemd-sleep-811   [000] ..... 12.542020: suspend_resume: dpm_resume_early[16] end
 systemd-sleep-811   [000] ..... 12.543000: suspend_resume: dpm_resume[16] begin
 systemd-sleep-811   [000] ..... 12.545000: suspend_resume: dpm_resume[16] end
 systemd-sleep-811   [000] ..... 12.550000: suspend_resume: thaw_processes[0] begin
 systemd-sleep-811   [000] ..... 12.552500: suspend_resume: thaw_processes[0] end
"""


def in_the_script(words: str, given: str = "") -> subprocess.CompletedProcess[str]:
    """Words of sh with the functions of scenario.sh."""
    text = f'fail() {{ echo "$1" >&2; exit 1; }}\n. {ROOM}/scenario.sh\n{words}\n'
    return subprocess.run(
        ["sh", "-c", text], input=given, capture_output=True, text=True, timeout=300
    )


def test_phases_are_read_from_the_trace() -> None:
    done = in_the_script("phases", TRACE)
    assert (done.returncode, done.stderr) == (0, "")
    assert dict(line.split() for line in done.stdout.splitlines()) == {
        "whole": "52400000",  # 2.0524 s, of which it has slept 2
        "freeze_processes": "20000000",
        "suspend": "1500000",
        "resume": "2120000",
        "cpus": "2500000",
        "thaw_processes": "2500000",
        "eintr_all": "2",
    }


#: pm_test has turned back before a CPU was taken off.
TO_IDLE = "".join(
    line
    for line in TRACE.splitlines(True)
    if not re.search(r": (CPU_|syscore_|machine_)", line)
)


def test_a_suspend_that_turns_back_has_not_slept() -> None:
    done = in_the_script("phases", TO_IDLE)
    assert (done.returncode, done.stderr) == (0, "")
    figures = dict(line.split() for line in done.stdout.splitlines())
    assert figures["whole"] == "2052400000" and "cpus" not in figures


@pytest.mark.parametrize("phase", ["thaw_processes", "syscore_resume", "dpm_suspend"])
def test_a_trace_without_a_phase_is_none(phase: str) -> None:
    lines = [line for line in TRACE.splitlines(True) if f": {phase}[" not in line]
    assert in_the_script("phases", "".join(lines)).returncode == 1


def snapshot(**tasks: tuple[int, int]) -> str:
    """What is noted of tasks; kthreads, which have no memory, are named ``k...``."""
    lines = []
    for name, counts in tasks.items():
        place = f"/proc/{name[1:]}/task/{name[1:]}/status:"
        lines += [f"{place}VmSize:\t  100 kB\n"] if name[0] != "k" else []
        for word, count in zip(("voluntary", "nonvoluntary"), counts, strict=True):
            lines.append(f"{place}{word}_ctxt_switches:\t{count}\n")
    return "".join(lines)


def test_who_ran_is_who_was_switched(tmp_path: Path) -> None:
    (tmp_path / "1").write_text(
        snapshot(u1=(5, 1), u2=(7, 0), u3=(9, 9), k4=(1, 1), u5=(1, 0))
    )
    (tmp_path / "2").write_text(
        snapshot(u1=(7, 2), u2=(7, 0), u3=(9, 10), k4=(9, 9), u6=(3, 0))
    )
    done = in_the_script(f"ran {tmp_path}/1 {tmp_path}/2")
    assert done.stdout == "tasks 3\nran 2\nswitches 4\n"


@pytest.fixture
def door() -> Iterator[int]:
    """A port on which somebody says hello, and no more."""
    server = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                line, _ = server.accept()
            except OSError:
                return
            with line:
                line.sendall(b"220 here I am\r\n")

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield server.getsockname()[1]
    server.shutdown(socket.SHUT_RDWR)
    server.close()
    thread.join(10)


def test_who_is_asked_has_to_give_the_answer(door: int) -> None:
    assert in_the_script(f"ask {door} '' ^220").returncode == 0
    few = "sleep() { again=1; }"
    assert in_the_script(f"{few}; ask {door} '' ^250").returncode == 1
    assert in_the_script(f"{few}; ask 1 '' ^220").returncode == 1


#: systemd suspends: the hooks run, and the kernel has something to say.
SYSTEMCTL = """\
echo "systemctl $*" >>asked
case "$*" in
suspend)
	sh hooks/lull pre
	cp cycle tracing/trace
	echo $(($(cat power/suspend_stats/success) + 1)) >power/suspend_stats/success
	sh hooks/lull post
	;;
"show -p ActiveState"*) echo inactive ;;
"show -p MainPID"*) echo 301 ;;
is-active*) echo active ;;
esac"""

#: What runs as a service does at once what it is there for.
SYSTEMD_RUN = """\
echo "$*" >>asked
case $* in
*strace*) : >"$(cd tmp.* && pwd)/strace" ;;
*bindfs*) ln -sfn ../kept mounts/fuse/../bound ;;
*tail*) echo "so it is" >"$(echo "$*" | sed 's/.*>//')" ;;
esac"""


def played(
    folder: Path, pm_test: bool = False, **stubs: str
) -> tuple[int, Stream, str]:
    """The scenario by its driver, and what was asked of systemd; files of the kernel's
    and of systemd's are files of the folder."""
    places = {
        "power": "power",
        "alarm": "alarm",
        "delay": "delay",
        "tracing": "tracing",
        "hooks": "hooks",
        "etc": "etc",
        "kept": "kept",
        "mounts": "mounts",
        "tasks": "tasks/*/status",
    }
    for name in (
        *("power/suspend_stats", "kept", "mounts", "etc/nginx", "tasks/1"),
        *("tracing/events/power/suspend_resume", "hooks"),
        "tracing/events/raw_syscalls/sys_exit",
    ):
        (folder / name).mkdir(parents=True)
    for name in ("fuse", "nfs"):
        (folder / "mounts" / name).symlink_to(folder / "kept")
    for name, text in {
        "power/state": "freeze mem disk\n",
        "power/mem_sleep": "s2idle [deep]\n",
        "power/suspend_stats/success": "0\n",
        "power/suspend_stats/fail": "0\n",
        "power/suspend_stats/last_failed_step": "freeze\n",
        "alarm": "\n",
        "etc/nginx/nginx.conf": "user www-data;\nworker_processes auto;\n",
        "tasks/1/status": "VmSize:\t100 kB\nvoluntary_ctxt_switches:\t9\n",
        "cycle": TO_IDLE if pm_test else TRACE,
        "delay": "5\n",
        **({"power/pm_test": "[none]\n"} if pm_test else {}),
    }.items():
        (folder / name).write_text(text)
    script = (ROOM / "scenario.sh").read_text("utf-8")
    for name, here in places.items():
        script = re.sub(f"^{name}=.*", f"{name}='{folder / here}'", script, flags=re.M)
    # Who can be asked for real is, above and in the guest.
    script += "ask() { :; }\nsleep() { :; }\n"
    script += 'features() { echo "$1" >>"$here/asked"; }\n'
    case = Case(
        feature="desk",
        workload="session",
        params={"sleepers": 10, "browser": 1},
        warmup=1,
        order=("stock", "lull"),
    )
    there = f"cd {folder}; "
    all_stubs = {
        **{name: "exit 0" for name in ("busctl", "loginctl", "mount", "mountpoint")},
        "ssh-add": "exit 1",
        "systemctl": f"{there}{SYSTEMCTL}",
        "systemd-run": f"{there}{SYSTEMD_RUN}",
        **{name: f"{there}{text}" for name, text in stubs.items()},
    }
    status, stream = drive(folder, Job(seed=1, cases=(case,)), script, stubs=all_stubs)
    return status, stream, (folder / "asked").read_text()


def test_a_round_is_a_suspend_by_systemd(tmp_path: Path) -> None:
    status, stream, asked = played(tmp_path)
    assert (status, stream.errors) == (0, ())
    assert [s.mode for s in stream.samples] == ["stock", "lull"]
    for sample in stream.samples:
        assert sample.metrics["whole"] == 52400000
        assert (sample.metrics["eintr"], sample.metrics["eintr_all"]) == (0, 2)
        assert (sample.metrics["tasks"], sample.metrics["ran"]) == (1, 0)
    assert asked.count("systemctl suspend\n") == 3
    assert [x for x in asked.splitlines() if x in ("stock", "lull")] == [
        *("stock", "stock", "lull", "stock")
    ]
    assert (tmp_path / "power/mem_sleep").read_text() == "deep\n"
    assert (tmp_path / "alarm").read_text() == "+6\n"
    assert (tmp_path / "tracing/tracing_on").read_text() == "0\n"
    assert "worker_processes 16;" in (tmp_path / "etc/nginx/nginx.conf").read_text()
    assert "--unit=lull-agent-2 ssh-agent" in asked and "lull-agent-3" not in asked
    assert "chromium-headless-shell" in asked
    # The next case starts units of the same names, however these have ended.
    _, _, after = asked.partition("systemctl stop lull-tail-*")
    assert "\nsystemctl reset-failed\n" in after


def test_by_pm_test_it_is_to_idle_without_an_alarm(tmp_path: Path) -> None:
    status, stream, asked = played(tmp_path, pm_test=True)
    assert (status, stream.errors) == (0, ())
    assert [s.metrics["whole"] for s in stream.samples] == [2052400000] * 2
    assert asked.count("systemctl suspend\n") == 3
    assert (tmp_path / "power/pm_test").read_text() == "platform\n"
    assert (tmp_path / "power/mem_sleep").read_text() == "s2idle\n"
    assert (tmp_path / "delay").read_text() == "0\n"
    assert (tmp_path / "alarm").read_text() == "\n"


def test_calls_of_the_daemon_that_return_eintr_are_counted(tmp_path: Path) -> None:
    line = "epoll_wait(4, 0x7ffc, 64, -1) = -1 EINTR (Interrupted system call)"
    more = f'[ "$*" != suspend ] || echo "{line}" >>"$(echo tmp.*)/strace"'
    status, stream, _ = played(tmp_path, systemctl=f"{SYSTEMCTL}\n{more}")
    assert status == 0
    assert [s.metrics["eintr"] for s in stream.samples] == [1, 1]


def test_a_suspend_that_fails_is_named(tmp_path: Path) -> None:
    fails = SYSTEMCTL.replace("success", "fail")
    status, stream, _ = played(tmp_path, systemctl=fails)
    assert status == 1 and not stream.samples
    assert "before the first round: the suspend failed: freeze" in said(stream)
    assert "the journal's last lines of systemd-suspend:" in said(stream)


def test_who_does_not_answer_any_more_is_named(tmp_path: Path) -> None:
    dies = "grep -q 'systemctl suspend' asked && exit 1; exit 0"
    status, stream, _ = played(tmp_path, busctl=dies)
    assert status == 1 and "dbus does not answer" in said(stream)
    assert "the journal's last lines of dbus:" in said(stream)


def test_a_sleeper_that_has_died_is_named(tmp_path: Path) -> None:
    status, stream, _ = played(tmp_path, **{"ssh-add": "exit 2"})
    assert status == 1 and len(stream.samples) == 2
    assert "case 0, after its rounds: ssh-agent does not answer" in said(stream)


def test_a_program_that_does_not_start_is_named(tmp_path: Path) -> None:
    fails = '[ "$1 $2" != "start nginx" ] || exit 1'
    status, stream, _ = played(tmp_path, systemctl=f"{fails}\n{SYSTEMCTL}")
    assert status == 1 and "start: nginx does not start" in said(stream)


def test_a_kernel_without_suspend_is_named(tmp_path: Path) -> None:
    status, stream, _ = played(tmp_path, modprobe="exit 1")
    assert status == 0
    (tmp_path / "again").mkdir()
    script = (ROOM / "scenario.sh").read_text("utf-8")
    script = script.replace("power=/sys/power\n", f"power={tmp_path}/nothing\n")
    status, stream = drive(tmp_path / "again", Job(seed=1, cases=()), script)
    assert status == 1 and "does not suspend to RAM" in said(stream)


def test_the_script_is_posix() -> None:
    subprocess.run(["sh", "-n", ROOM / "scenario.sh"], check=True)


@pytest.mark.default_base
@pytest.mark.packages
@pytest.mark.seconds(900)
def test_a_real_session_is_suspended_and_answers(tmp_path: Path) -> None:
    request = short(select(["desk"]), tmp_path / "run", bare=True)
    with open_progress() as progress:
        result = measure(request, progress)
    assert result.failures == ()
    rows = {row.metric: row for row in result.summary.rows}
    assert rows["whole"].median > rows["freeze_processes"].median > 0
    assert rows["ran"].median > 0 and rows["tasks"].median > 40
