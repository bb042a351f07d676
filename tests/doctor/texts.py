# SPDX-License-Identifier: GPL-2.0-only
"""Folders of the collector, made up for tests: as a laptop's and a host's are."""

from __future__ import annotations

from collections.abc import Iterable

from lull.doctor.bundle import Bundle, read_bundle

MANIFEST = """\
lull-collect\t1
kernel\t6.12.41-amd64\tx86_64
uid\t0
time\t1767225600
self\t9000
step\tsystem\tok\t1 ms\t2780 bytes
step\tpower\tok\t0 ms\t169 bytes
step\ttasks\tok\t19 ms\t17911 bytes
left\t0
"""

POWER = """\
== /sys/power/state
freeze mem disk
== /sys/power/mem_sleep
[s2idle] deep
== /sys/power/pm_async
1
== /sys/power/sync_on_suspend
1
== /sys/power/pm_freeze_timeout
20000
== /sys/power/pm_test
[none] core processors platform devices freezer
== /sys/power/pm_print_times
0
== /sys/kernel/rcu_expedited
0
"""

STATS = """\
== /sys/power/suspend_stats/success
41
== /sys/power/suspend_stats/fail
3
== /sys/power/suspend_stats/failed_freeze
1
== /sys/power/suspend_stats/failed_suspend
2
== /sys/power/suspend_stats/failed_resume
0
== /sys/power/suspend_stats/last_failed_dev
0000:00:14.0
== /sys/power/suspend_stats/last_failed_errno
-16
== /sys/power/suspend_stats/last_failed_step
suspend
"""

DEBUGFS_STATS = """\
== /sys/kernel/debug/suspend_stats
success: 7
fail: 1
failed_freeze: 0
failed_prepare: 0
failed_suspend: 1
failures:
  last_failed_dev:\tserial8250
\t\t\t
  last_failed_errno:\t-110
\t\t\t0
  last_failed_step:\tsuspend
\t\t\t
"""

#: Two suspends of a laptop on 6.12: one comes back, in one a reader of a FUSE mount
#: refuses to freeze.
LOG = """\
<6>[    0.000000] Linux version 6.12.41-amd64
<6>[  812.100000] PM: suspend entry (s2idle)
<6>[  812.413000] Filesystems sync: 0.312 seconds
<6>[  812.414000] Freezing user space processes
<6>[  812.418000] Freezing user space processes completed (elapsed 0.004 seconds)
<6>[  812.418100] OOM killer disabled.
<6>[  812.418200] Freezing remaining freezable tasks
<6>[  812.420000] Freezing remaining freezable tasks completed (elapsed 0.001 seconds)
<6>[  812.420100] printk: Suspending console(s) (use no_console_suspend to debug)
<6>[  813.000000] ACPI: EC: interrupt blocked
<6>[  813.100000] ACPI: EC: interrupt unblocked
<6>[  813.900000] usb 1-3: reset high-speed USB device number 3 using xhci_hcd
<6>[  813.938000] OOM killer enabled.
<6>[  813.938100] Restarting tasks ... done.
<6>[  813.942000] PM: suspend exit
<6>[ 1500.000000] PM: suspend entry (s2idle)
<6>[ 1500.200000] Filesystems sync: 0.190 seconds
<6>[ 1500.201000] Freezing user space processes
<3>[ 1520.203000] Freezing user space processes failed after 20.002 seconds (1 tasks \
refusing to freeze, wq_busy=0):
<6>[ 1520.203100] task:tracker-extract state:D stack:0     pid:3511  tgid:3502  \
ppid:1420   flags:0x00004006
<6>[ 1520.203200] Call Trace:
<6>[ 1520.203300]  <TASK>
<6>[ 1520.203400]  __schedule+0x3a1/0xb90
<6>[ 1520.203500]  schedule+0x27/0xd0
<6>[ 1520.203600]  request_wait_answer+0xd0/0x2b0
<6>[ 1520.203700]  __fuse_simple_request+0xd9/0x2d0
<6>[ 1520.203800]  fuse_do_getattr+0xd5/0x1f0
<6>[ 1520.203900]  </TASK>
<6>[ 1520.204000] OOM killer enabled.
<6>[ 1520.204100] Restarting tasks ... done.
<6>[ 1520.214000] PM: suspend exit
"""

#: As 5.10 says the same; a device that aborts; and one of 6.12 with its driver.
OLD_REFUSED = (
    "[  99.0] Freezing of tasks failed after 20.008 seconds (2 tasks refusing to "
    "freeze, wq_busy=1):\n"
)
DEVICE = """\
[  500.000000] PM: suspend entry (deep)
[  500.010000] Filesystems sync: 0.009 seconds
[  500.020000] Freezing user space processes completed (elapsed 0.002 seconds)
[  500.030000] Freezing remaining freezable tasks completed (elapsed 0.001 seconds)
[  500.900000] xhci_hcd 0000:00:14.0: PM: pci_pm_suspend(): hcd_pci_suspend+0x0/0x30 \
returns -16
[  500.900100] xhci_hcd 0000:00:14.0: PM: dpm_run_callback(): \
pci_pm_suspend+0x0/0x150 returns -16
[  500.900200] xhci_hcd 0000:00:14.0: PM: failed to suspend async: error -16
[  500.900300] PM: Some devices failed to suspend, or early wake event detected
[  501.000000] Restarting tasks ... done.
[  501.010000] PM: suspend exit
"""


def task(
    tid: int,
    comm: str,
    *,
    state: str = "S",
    ppid: int = 1,
    tgid: int = 0,
    wchan: str = "-",
    call: str = "-",
    swap: int = 0,
    flags: str = "400100",
    tracer: int = 0,
    cgroup: str = "",
    stack: Iterable[str] = (),
    fds: Iterable[tuple[int, str]] = (),
    cwd: str = "",
    threads: int = 1,
) -> str:
    """Lines of the step tasks."""
    fields = [tgid or tid, tid, ppid, state, threads, flags, 1000, tracer]
    fields += [swap, 4096, wchan, call, comm]
    lines = ["task\t" + "\t".join(map(str, fields))]
    lines += [f"\tcgroup\t{cgroup}"] if cgroup else []
    lines += [f"\tstack\t{name}" for name in stack]
    lines += [f"\tfd\t{number}\t{target}" for number, target in fds]
    lines += [f"\tcwd\t{cwd}"] if cwd else []
    return "\n".join(lines) + "\n"


def zombies(n: int, parent: int, first: int = 20000) -> str:
    """So many dead children of that parent."""
    return "".join(
        task(first + i, "sh", state="Z", ppid=parent, flags="40440c") for i in range(n)
    )


FUSE = (
    "== /proc/self/mountinfo\n"
    "22 1 259:2 / / rw,relatime shared:1 - ext4 /dev/nvme0n1p2 rw\n"
    "35 24 0:29 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 "
    "rw,nsdelegate,memory_recursiveprot\n"
    "91 22 0:52 / /home/u/My\\040Music rw,nosuid - fuse.sshfs nas:/music "
    "rw,user_id=1000,group_id=1000\n"
    "93 22 0:61 / /mnt/store rw - nfs4 10.0.0.7:/store rw,vers=4.2,hard\n"
    "== /sys/fs/fuse/connections/52/waiting\n"
    "2\n"
)


def bundle(manifest: str = MANIFEST, **files: str) -> Bundle:
    """A laptop's folder, with some of its files replaced."""
    texts = {"power": POWER, **files, "manifest": manifest}
    return read_bundle({name: text.encode() for name, text in texts.items()})
