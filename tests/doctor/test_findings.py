# SPDX-License-Identifier: GPL-2.0-only
from __future__ import annotations

import pytest

from lull.doctor import estimates
from lull.doctor.costs import around, costs, hull
from lull.doctor.findings import judge, read_budget
from lull.doctor.model import Finding, Grade, Times
from lull.doctor.remedies import remedy, vain
from lull.errors import UsageError
from tests.doctor import texts


def found(**files: str) -> tuple[Finding, ...]:
    return judge(texts.bundle(**files)).findings


def by_id(name: str, **files: str) -> Finding:
    (one,) = [f for f in found(**files) if f.id == name]
    return one


def test_an_empty_folder_has_nothing_to_say() -> None:
    report = judge(texts.bundle())
    assert report.findings == () and report.root and report.unseen == ()


def test_zombies_are_first_and_by_name() -> None:
    tasks = texts.task(50, "badparent", cgroup="/lxc/web") + texts.zombies(60, 50)
    tasks += "".join(texts.task(100 + i, "s", wchan="ep_poll") for i in range(500))
    first, second = found(tasks=tasks)[:2]
    assert first.title == "60 zombies of badparent (50) in lxc web"
    assert first.grade is Grade.WRONG and first.remedies[0].id == "zombie_parent"
    assert "badparent (50)" in first.remedies[0].text
    assert [v.id for v in first.vain] == ["reap_others"]
    # The sleepers cost more, but nothing is wrong with them.
    assert second.id == "thaw" and (second.cost_ms or 0) > (first.cost_ms or 0)


def test_a_few_zombies_are_no_finding() -> None:
    assert not found(tasks=texts.task(50, "p") + texts.zombies(49, 50))


def test_the_most_zombies_come_first() -> None:
    tasks = texts.task(50, "few") + texts.zombies(60, 50)
    tasks += texts.task(51, "many") + texts.zombies(5000, 51, first=30000)
    titles = [f.title for f in found(tasks=tasks)]
    assert titles[0].startswith("5,000 zombies of many") and "few" in titles[1]


def test_who_a_tracer_has_stopped_is_named() -> None:
    tasks = texts.task(70, "gdb") + texts.task(71, "victim", state="t", tracer=70)
    (finding,) = found(tasks=tasks)
    assert finding.title == "victim (71) is stopped by gdb (70), which traces it"


FUSE_WAITER = texts.task(
    81,
    "ls",
    wchan="request_wait_answer",
    stack=["request_wait_answer", "fuse_do_getattr"],
    fds=[(0, "/dev/pts/1")],
    cwd="/home/u/My Music/a",
)


STAYS = "81\tS\trequest_wait_answer\t0\n"


def test_who_is_answered_soon_is_no_finding() -> None:
    tasks = texts.task(80, "sshfs", fds=[(3, "/dev/fuse")]) + FUSE_WAITER
    grades = [f.grade for f in found(tasks=tasks, mounts=texts.FUSE, again="")]
    assert grades == [Grade.NOTE]
    first = found(tasks=tasks, mounts=texts.FUSE, again=STAYS)[0]
    assert "its daemon sshfs (80) does not answer ls (81)" in first.title


def test_a_stopped_daemon_is_first_and_by_name() -> None:
    daemon = texts.task(80, "sshfs", state="T", fds=[(3, "/dev/fuse")])
    tasks = daemon + FUSE_WAITER + texts.task(50, "p") + texts.zombies(5000, 50)
    first = found(tasks=tasks, mounts=texts.FUSE, again=STAYS)[0]
    assert first.grade is Grade.FAILS and first.cost_ms == 20000
    assert "/home/u/My Music (fuse.sshfs): its daemon sshfs (80) is stopped" in (
        first.title
    )
    assert "ls (81) waits in it" in first.title
    assert any("request_wait_answer < fuse_do_getattr" in e for e in first.evidence)
    assert "unanswered requests of that mount: 2" in first.evidence
    assert [v.id for v in first.vain] == ["freeze_cgroups"]


def test_of_two_daemons_the_one_of_the_mount_is_named() -> None:
    tasks = texts.task(80, "rclone", state="T", fds=[(3, "/dev/fuse")])
    tasks += texts.task(82, "sshfs", fds=[(3, "/dev/fuse")]) + FUSE_WAITER
    two = texts.FUSE.replace(
        "93 22", "92 22 0:53 / /cloud rw - fuse.rclone c: rw\n93 22"
    )
    titles = [f.title for f in found(tasks=tasks, mounts=two, again=STAYS)]
    assert any(
        "/cloud (fuse.rclone): its daemon rclone (80) is st" in t for t in titles
    )
    assert any("My Music (fuse.sshfs): its daemon sshfs (82) does" in t for t in titles)


def test_a_daemon_that_serves_is_only_a_note() -> None:
    stack = ["fuse_dev_do_read", "fuse_dev_read", "vfs_read"]
    tasks = texts.task(80, "sshfs", stack=stack, fds=[(3, "/dev/fuse")])
    note = found(tasks=tasks, mounts=texts.FUSE)[-1]
    assert not [f for f in found(tasks=tasks, mounts=texts.FUSE) if f.cost_ms == 20000]
    assert note.grade is Grade.NOTE
    assert "/home/u/My Music (fuse.sshfs), served by sshfs (80)" in note.evidence
    assert "/mnt/store (nfs4), served by 10.0.0.7:/store" in note.evidence


def test_a_server_that_is_gone_is_named() -> None:
    tasks = texts.task(
        90, "cp", state="D", wchan="rpc_wait_bit_killable", cwd="/mnt/store/x"
    )
    again = "90\tD\trpc_wait_bit_killable\t0\n"
    first = found(tasks=tasks, mounts=texts.FUSE, again=again)[0]
    assert first.title.startswith("/mnt/store (nfs4, server 10.0.0.7:/store)")
    assert "cp (90) would refuse to freeze" in first.title


def _stats(replies: int) -> str:
    return (
        "== /proc/self/mountstats\n"
        "device tmpfs mounted on /run with fstype tmpfs\n"
        "device 10.0.0.7:/store mounted on /mnt/store with fstype nfs4 statvers=1.1\n"
        f"\txprt:\ttcp 797 0 9 0 0 410 {replies} 0 400 0 2 0 0\n"
        "\t        NULL: 1 1 0 44 24 0 0 0 0\n"
    )


@pytest.mark.parametrize(("later", "gone"), [(400, True), (401, False)])
def test_who_tries_again_has_no_answer(later: int, gone: bool) -> None:
    tasks = texts.task(
        90, "cp", state="D", wchan="rpc_wait_bit_killable", cwd="/mnt/store/x"
    )
    again = "90\tD\trpc_wait_bit_killable\t2\n" + _stats(later)
    first = found(tasks=tasks, mounts=texts.FUSE + _stats(400), again=again)[0]
    assert ("does not answer: cp (90)" in first.title) is gone


def test_who_stays_in_d_is_named_and_who_waits_for_a_disk_is_not() -> None:
    tasks = texts.task(90, "stuck", state="D", wchan="drm_wait", threads=2)
    tasks += texts.task(91, "busy", state="D", wchan="io_schedule")
    tasks += texts.task(92, "moved", state="D", wchan="io_schedule")
    again = "90\tD\tdrm_wait\t0\n91\tR\t-\t3\n92\tD\tdown_read\t0\n93\tD\tdrm_wait\t2\n"
    again += "94\tD\tio_schedule\t0\n"
    tasks += texts.task(93, "wakes", state="D", wchan="drm_wait")
    tasks += texts.task(94, "writes", state="D", wchan="io_schedule")
    first, note = found(tasks=tasks, again=again)
    assert first.title.startswith("stuck (90): waits where no signal")
    assert note.grade is Grade.NOTE and note.title.startswith("writes (94): waits for")


def test_a_freeze_that_failed_is_decoded() -> None:
    first = found(log=texts.LOG)[0]
    assert first.title == "tracker-extract (3511) refused to freeze"
    assert first.cost_ms == pytest.approx(20002)
    assert "request_wait_answer < __fuse_simple" in first.evidence[1]


def test_the_same_failure_twice_is_one_finding() -> None:
    first = found(log=texts.LOG + texts.LOG)[0]
    assert first.title == "tracker-extract (3511) refused to freeze, 2 times"
    assert first.cost_ms == pytest.approx(40004)


def test_a_device_that_aborts_is_named_with_its_switch() -> None:
    devices = "enabled\txhci_hcd\t/sys/devices/pci0000:00/0000:00:14.0\n"
    first = found(log=texts.DEVICE, devices=devices, power=texts.POWER + texts.STATS)[0]
    assert first.title.startswith("0000:00:14.0 made a suspend fail: EBUSY")
    assert "(xhci_hcd) failed to suspend async, pci_pm_suspend()" in first.evidence[0]
    assert first.remedies[0].command == (
        "echo disabled > /sys/devices/pci0000:00/0000:00:14.0/power/async"
    )
    # suspend_stats says the same: once is enough.
    assert [f.id for f in found(log=texts.DEVICE, power=texts.STATS)] == [first.id]


def test_without_a_log_the_statistics_say_it() -> None:
    (first,) = found(power=texts.POWER + texts.STATS)
    assert "3 of 44 suspends failed; the last: 0000:00:14.0, EBUSY" in first.title
    assert "at suspend (->suspend() of a device)" in first.title


def test_a_test_level_turns_suspends_back() -> None:
    power = texts.POWER.replace("[none] core", "none [core]")
    assert found(power=power)[0].title.startswith("pm_test is core")


def test_times_of_the_log_are_in_the_order_of_their_cost() -> None:
    names = [f.id for f in found(log=texts.LOG) if f.grade is Grade.COSTS]
    assert names == ["resume", "sync", "freeze"]
    slow = texts.LOG.replace("sync: 0.312", "sync: 69.5")
    names = [f.id for f in found(log=slow) if f.grade is Grade.COSTS]
    assert names == ["sync", "resume", "freeze"]
    sync = by_id("sync", log=texts.LOG)
    assert sync.remedies[0].back == "echo 1 > /sys/power/sync_on_suspend"


def host(options: str = "rw,nsdelegate", **more: str) -> dict[str, str]:
    mounts = (
        "== /proc/self/mountinfo\n"
        f"35 24 0:29 / /sys/fs/cgroup rw - cgroup2 cgroup2 {options}\n"
    )
    tasks = texts.task(60, "nginx", cgroup="/lxc/web")
    return {"mounts": mounts, "tasks": tasks, **more}


def test_a_container_host_is_told_of_favordynmods() -> None:
    finding = by_id("moves", **host())
    assert finding.remedies[0].command == (
        "mount -o remount,rw,nsdelegate,favordynmods /sys/fs/cgroup"
    )
    assert finding.remedies[0].back == "mount -o remount,rw,nsdelegate /sys/fs/cgroup"
    (estimate,) = finding.estimates
    assert estimate.saved_ms is None and "not counted" in estimate.why_not


def test_who_has_it_or_needs_it_not_is_not_told() -> None:
    assert not found(**host("rw,favordynmods"))
    power = texts.POWER.replace("rcu_expedited\n0", "rcu_expedited\n1")
    assert not found(**host(power=power))
    old = texts.MANIFEST.replace("6.12.41-amd64", "5.15.0")
    assert not judge(texts.bundle(old, **host())).findings


def swapped(kb: int, area: str = "/dev/zram0") -> dict[str, str]:
    system = (
        "== /proc/swaps\nFilename Type Size Used Priority\n"
        f"{area} partition 4194300 {kb} 100\n"
    )
    return {"system": system, "tasks": texts.task(33, "firefox", swap=kb)}


def test_an_exit_with_swap_has_a_cost() -> None:
    (finding,) = found(**swapped(256 << 10))
    assert finding.title.startswith("firefox (33) has 256 MiB in compressed swap")
    # Between the Raspberry Pi's 57 ms and what emulation took.
    assert 57 < (finding.cost_ms or 0) < 110
    (estimate,) = finding.estimates
    assert estimate.saved_ms is not None
    assert 0 == estimate.saved_ms[0] < estimate.saved_ms[1] < (finding.cost_ms or 0)
    assert not found(**swapped(256 << 10, "/dev/sda2"))
    assert not found(**swapped(8 << 10))


def test_sleepers_that_would_be_woken() -> None:
    tasks = "".join(texts.task(100 + i, "s", wchan="ep_poll") for i in range(1000))
    finding = by_id("thaw", tasks=tasks)
    (estimate,) = finding.estimates
    assert estimate.saved_ms is not None and estimate.clock == "insn"
    phone = costs("thaw woken")[0]
    assert phone.stock_ms is not None
    one = phone.stock_ms / phone.n
    assert 0.5 * one < estimate.saved_ms[0] / 1000 < one < estimate.saved_ms[1] / 1000
    assert not found(tasks=tasks, power="== /sys/power/state\n\n")[0].estimates


def times(ms: float) -> Times:
    return Times(n=3, median=ms, longest=ms)


@pytest.mark.parametrize("ms", [0.5, 3.0, 80.0])
def test_no_estimate_is_more_than_its_phase(ms: float) -> None:
    for estimate in (
        estimates.freeze(30000, 200, times(ms)),
        estimates.freeze(0, 1000, times(ms)),
        estimates.thaw(100000, times(ms)),
        estimates.devices(times(ms)),
    ):
        assert estimate.saved_ms is not None
        low, high = estimate.saved_ms
        assert 0 <= low <= high <= ms == estimate.of_ms


def test_a_freeze_is_estimated_between_what_was_measured_and_not_beyond() -> None:
    few, many = costs("freeze zombies")
    seen = estimates.freeze(30000, 200, times(43))
    low, high = many.ratios
    assert seen.saved_ms == pytest.approx((43 * (1 - high), 43 * (1 - low)))
    assert seen.clock == "log"
    between = estimates.freeze(10000, 200, times(20))
    low, high = hull([few.ratios, many.ratios])
    assert between.saved_ms == pytest.approx((20 * (1 - high), 20 * (1 - low)))
    for dead in (60, 90000):
        assert estimates.freeze(dead, 1, times(20)).saved_ms is None
    lab = estimates.freeze(30000, 200, None)
    low, high = many.ratios
    measured = (many.stock[0] * (1 - high), many.stock[1] * (1 - low))
    assert lab.clock == "insn" and lab.saved_ms == pytest.approx(measured)
    half = estimates.freeze(16500, 200, None).saved_ms
    assert few.stock_ms is not None and half is not None
    assert few.stock_ms < half[1] < measured[1]
    assert estimates.freeze(0, 4000, None).saved_ms is not None


def test_devices_are_estimated_from_their_phases_alone() -> None:
    assert estimates.devices(None).saved_ms is None
    assert estimates.devices(times(1000)).saved_ms == pytest.approx((0, 55))


def test_each_figure_says_where_it_is_from() -> None:
    kinds = ("freeze zombies", "freeze sleepers", "thaw woken", "zfree munmap")
    for kind in (*kinds, "attach start", "devices phases"):
        rows = costs(kind)
        assert rows and all(row.source and row.clock for row in rows)
        assert all(row.stock_ms is not None for row in rows if kind != "devices phases")
        assert all(0 < row.ratios[0] <= row.ratios[1] <= 1 for row in rows)
    assert [r.n for r in around(costs("freeze zombies", "insn"), 5000)] == [3000, 30000]
    assert around(costs("freeze zombies", "insn"), 10) == ()
    assert hull([(1, 2), (0.5, 1)]) == (0.5, 2)


def test_a_remedy_has_a_price_and_a_way_back() -> None:
    words = {"options": "rw", "mount": "/c", "device": "d", "parent": "p", "pid": 1}
    names = ("favordynmods", "rcu_expedited", "clone_into_cgroup", "power_async")
    for name in (*names, "sync_on_suspend", "zombie_parent"):
        one = remedy(name, **words)
        assert one.price and one.back and one.helped
        assert "{" not in one.command + one.back + one.text
    assert vain("reap_others").why
    with pytest.raises(KeyError):
        remedy("sacrifice")


def test_each_feature_has_its_line() -> None:
    gains = judge(texts.bundle(**swapped(256 << 10))).gains
    assert [g.feature for g in gains] == [
        *("freeze", "thaw", "devices", "attach", "zfree")
    ]
    assert all((g.saved_ms is None) == bool(g.why_not) for g in gains)
    assert gains[-1].saved_ms is not None
    power = "== /sys/power/state\n\n"
    for gain in judge(texts.bundle(power=power)).gains[:3]:
        assert gain.why_not == "this kernel cannot suspend"


def test_what_is_on_is_not_promised_again() -> None:
    lull = "== /sys/module/lull/parameters/zfree\nlull\n"
    report = judge(texts.bundle(lull=lull, **swapped(256 << 10)))
    assert report.gains[-1].why_not == "it is on here"
    (estimate,) = report.findings[0].estimates
    assert estimate.saved_ms is None and estimate.why_not == "it is on here"


@pytest.mark.parametrize(
    ("kernel", "why"),
    [
        ("6.12.41-amd64", ""),
        ("6.121.0", ""),
        ("5.10.0-32-amd64", ""),
        ("7.3.4+deb13-amd64", "7.3 has of it itself: an object's class"),
    ],
)
def test_what_a_kernel_has_itself_is_not_promised(kernel: str, why: str) -> None:
    manifest = texts.MANIFEST.replace("6.12.41-amd64", kernel)
    report = judge(texts.bundle(manifest=manifest, **swapped(256 << 10)))
    (estimate,) = report.findings[0].estimates
    for each in (report.gains[-1], estimate):
        assert each.feature == "zfree"
        assert (each.saved_ms is None) == bool(why) and why in each.why_not
    assert (report.findings[0].cost == "") == bool(why)


@pytest.mark.parametrize("kernel", ["6.12.41-amd64", "6.18.3", "7.3.4"])
def test_devices_that_start_early_are_not_promised_again(kernel: str) -> None:
    manifest = texts.MANIFEST.replace("6.12.41-amd64", kernel)
    ways = ["suspend", "late suspend", "noirq suspend"]
    ways += ["noirq resume", "early resume", "resume"]
    phases = "".join(
        f"<6>[  813.000000] PM: {way} of devices complete after 400.000 msecs\n"
        for way in ways
    )
    at = texts.LOG.index("<6>[  813.938000]")
    log = texts.LOG[:at] + phases + texts.LOG[at:]
    report = judge(texts.bundle(manifest=manifest, log=log))
    (gain,) = (each for each in report.gains if each.feature == "devices")
    early = kernel != "6.12.41-amd64"
    assert (gain.saved_ms is None) is early and ("itself" in gain.why_not) is early


def test_what_a_kernel_cannot_have_is_not_promised() -> None:
    manifest = texts.MANIFEST.replace("6.12.41-amd64", "6.1.0-42-amd64")
    found = judge(texts.bundle(manifest=manifest, log=texts.LOG)).gains
    (absent,) = (each for each in found if each.why_not.startswith("not on 6.1: "))
    assert absent.feature == "thaw"


def test_lull_in_stock_is_told_how() -> None:
    lull = "== /sys/module/lull/parameters/freeze\nstock\n"
    (finding,) = found(lull=lull)
    how = "echo lull | sudo tee /sys/module/lull/parameters/freeze   # back: echo stock"
    assert finding.evidence == (how,)
    assert not found(lull=lull.replace("stock", "lull"))


def test_a_budget_is_of_the_median() -> None:
    report = judge(texts.bundle(log=texts.LOG), [("resume", 800.0), ("sync", 400.0)])
    resume, sync = report.budgets
    assert resume.ok is False and resume.seen_ms == pytest.approx(842)
    assert sync.ok is True
    (unknown,) = judge(texts.bundle(), [("resume", 800.0)]).budgets
    assert unknown.ok is None
    assert read_budget("resume=1.5s") == ("resume", 1500.0)
    for bad in ("resume", "resume=8", "lid=8ms", "resume=-1ms", "resume=8 ms"):
        with pytest.raises(UsageError):
            read_budget(bad)


def test_what_was_not_seen_is_said() -> None:
    manifest = (
        texts.MANIFEST.replace("uid\t0", "uid\t1000")
        + "no\ttasks\t/proc/1/task/1/stack\tEACCES\tPermission denied\n"
        + "more\ttasks\t311\tEACCES\n"
        + "no\tpower\t/sys/power/pm_async\tENOENT\tNo such file or directory\n"
        + "hung\tmounts\t/sys/fs/fuse/connections/52/waiting\t3000 ms\t4711\n"
        + "step\tdevices\tlate\t20000 ms\t12 bytes\n"
    ).replace("left\t0", "left\t1")
    said = "\n".join(judge(texts.bundle(manifest)).unseen)
    assert "tasks: /proc/1/task/1/stack and 311 more could not be read (EACCES)" in said
    assert "52/waiting did not answer in 3000 ms" in said
    assert "devices: not all of it" in said and "not root" in said
    assert "1 readers sleep" in said and "pm_async" not in said


def test_guests_are_named() -> None:
    tasks = texts.task(44, "qemu-system-x86", fds=[(9, "anon_inode:kvm-vm")])
    assert found(tasks=tasks)[0].title == "1 KVM guest: qemu-system-x86 (44)"


def test_pm_async_off_and_print_times_on() -> None:
    power = texts.POWER.replace("pm_async\n1", "pm_async\n0")
    assert by_id("pm-async", power=power).grade is Grade.SETTING
    power = texts.POWER.replace("pm_print_times\n0", "pm_print_times\n1")
    assert by_id("print-times", power=power).vain[0].id == "print_times"
