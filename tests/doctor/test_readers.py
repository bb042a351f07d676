# SPDX-License-Identifier: GPL-2.0-only
from __future__ import annotations

import gzip

import pytest

from lull.doctor.bundle import read_bundle, read_manifest, sections
from lull.doctor.read_log import attempts, failed, read_log
from lull.doctor.read_mounts import read_mounts
from lull.doctor.read_power import (
    OPTIONS,
    errno_name,
    read_config,
    read_devices,
    read_lull,
    read_power,
)
from lull.doctor.read_swap import read_swap
from lull.doctor.read_tasks import container, read_again, read_tasks, zombies
from lull.doctor.waits import by_wait, release, waits
from lull.errors import UsageError
from tests.doctor import texts


def test_a_manifest_is_read() -> None:
    text = (
        texts.MANIFEST + "no\tpower\t/sys/power/x\tENOENT\tNo such file\n"
        "hung\tswap\t/sys/block/zram0/mm_stat\t3000 ms\t4711\n"
    )
    found = read_manifest(text)
    assert (found.kernel, found.machine, found.uid) == ("6.12.41-amd64", "x86_64", 0)
    assert found.complete("tasks") and not found.complete("journal")
    assert [g.kind for g in found.gaps] == ["no", "hung"]
    assert found.gaps[1].path == "/sys/block/zram0/mm_stat"


@pytest.mark.parametrize("files", [{}, {"manifest": b"lull-collect\t2\n"}])
def test_what_is_no_folder_of_ours_is_refused(files: dict[str, bytes]) -> None:
    with pytest.raises(UsageError):
        read_bundle(files)


def test_a_packed_configuration_is_unpacked_and_a_bomb_is_not() -> None:
    text = b"CONFIG_FREEZER=y\nCONFIG_ZRAM=m\n# CONFIG_SUSPEND_SKIP_SYNC is not set\n"
    manifest = texts.MANIFEST.encode()
    found = read_bundle({"manifest": manifest, "config": gzip.compress(text)})
    options = read_config(found.text("config"))
    assert options["ZRAM"] == "m" and options["SUSPEND_SKIP_SYNC"] == "n"
    assert set(options) == set(OPTIONS)
    bomb = gzip.compress(b"\0" * (64 << 20))
    found = read_bundle({"manifest": manifest, "config": bomb})
    assert len(found.text("config")) <= 8 << 20
    assert read_config("") == {}


def test_sections_keep_lines_and_empty_files() -> None:
    found = sections("== /a/b\none\ntwo\n== /c\n\n")
    assert found == {"/a/b": "one\ntwo", "/c": ""}


def test_switches_of_power() -> None:
    power = read_power(texts.POWER + texts.STATS)
    assert power.mem_sleep == "s2idle" and power.mem_sleeps == ("s2idle", "deep")
    assert power.pm_async is True and power.rcu_expedited is False
    assert power.freeze_timeout_ms == 20000 and power.pm_test == "none"
    assert power.can_suspend
    assert power.stats is not None
    assert (power.stats.success, power.stats.fail) == (41, 3)
    assert power.stats.device == "0000:00:14.0" and power.stats.step == "suspend"
    assert power.stats.error.startswith("EBUSY")
    assert power.stats.steps == {"freeze": 1, "suspend": 2}


def test_statistics_of_debugfs() -> None:
    stats = read_power(texts.DEBUGFS_STATS).stats
    assert stats is not None
    assert (stats.success, stats.device, stats.step) == (7, "serial8250", "suspend")
    assert stats.error.startswith("ETIMEDOUT")


def test_what_is_not_there_is_not_known() -> None:
    power = read_power("")
    assert power.pm_async is None and power.stats is None and power.can_suspend
    assert not read_power("== /sys/power/state\n\n").can_suspend
    assert not read_power("== /sys/power/state\ndisk\n").can_suspend


def test_an_errno_has_a_name() -> None:
    assert errno_name(-16).startswith("EBUSY (")
    assert errno_name(-9999) == "-9999"


def test_modes_of_lull_and_devices() -> None:
    lull = "== /sys/module/lull/parameters/freeze\nlull\n"
    assert read_lull(lull) == {"freeze": "lull"}
    text = (
        "# power/async, driver, device\n"
        "enabled\txhci_hcd\t/sys/devices/pci0000:00/0000:00:14.0\n"
        "disabled\t-\t/sys/devices/virtual/rfkill1\n"
    )
    first, second = read_devices(text)
    assert first.async_ and first.path == "pci0000:00/0000:00:14.0"
    assert second.driver == "" and not second.async_


def test_tasks_with_strange_names() -> None:
    text = "# task: ...\n" + texts.task(
        7, "a)\\x0ab (x", stack=["ep_poll", "do_epoll_wait"], cgroup="/a.service"
    )
    text += texts.task(9000, "lull-probe") + texts.task(9001, "lull-probe", ppid=9000)
    (found,) = read_tasks(text, without=9000)
    assert found.comm == "a)\nb (x" and found.stack == ("ep_poll", "do_epoll_wait")
    assert found.cgroup == "/a.service" and found.frames[0] == "ep_poll"


def test_zombies_by_parent() -> None:
    where = "/system.slice/docker-0123456789abcdef0123.scope"
    text = texts.task(50, "dumb-init", cgroup=where) + texts.zombies(7, 50)
    text += texts.zombies(2, 60, first=40000)
    # The leader of a process with threads that live is none.
    text += texts.task(70, "java", state="Z", threads=3)
    first, second = zombies(read_tasks(text))
    assert (first.parent, first.pid, first.count) == ("dumb-init", 50, 7)
    assert first.container == "docker 0123456789ab"
    assert (second.parent, second.count) == ("unknown", 2)


@pytest.mark.parametrize(
    ("cgroup", "name"),
    [
        ("/system.slice/docker-0123456789abcdef.scope", "docker 0123456789ab"),
        ("/docker/0123456789abcdef", "docker 0123456789ab"),
        ("/machine.slice/libpod-fedcba9876543210.scope/x", "libpod fedcba987654"),
        ("/lxc.payload.web/init.scope", "lxc web"),
        ("/kubepods/burstable/pod12345678-9abc/0123", "pod 12345678"),
        ("/system.slice/ssh.service", "ssh.service"),
        ("/", ""),
    ],
)
def test_a_cgroup_says_whose_it_is(cgroup: str, name: str) -> None:
    assert container(cgroup) == name


def test_once_more() -> None:
    text = "# tid\n12\tD\trequest_wait_answer\t0\n13\tD\tx\t1\n14\tR\tx\t0\n"
    still, _ = read_again(text + "15\tD\t-\t0\n")
    assert still == {12: "request_wait_answer", 15: ""}


SLEEPERS = (
    texts.task(10, "a", wchan="ep_poll")
    + texts.task(11, "b", wchan="do_sys_poll")
    + texts.task(12, "c", wchan="futex_wait_queue")
    + texts.task(13, "d", call="232:0x4")
    + texts.task(14, "e", wchan="wait_woken", stack=["wait_woken", "n_tty_read"])
    + texts.task(15, "f", wchan="wait_woken", stack=["wait_woken", "sk_wait_data"])
    + texts.task(16, "g", wchan="something_new")
    + texts.task(17, "h", wchan="pipe_read.isra.0")
    + texts.task(18, "kswapd0", flags="200840", wchan="kswapd")
    + texts.task(19, "i", state="R")
)


@pytest.mark.parametrize(
    ("kernel", "futex"),
    [("6.12.1", "rests"), ("6.1.99", "woken"), ("5.10.2", "passed")],
)
def test_who_is_woken_by_a_thaw(kernel: str, futex: str) -> None:
    found, unknown = by_wait(read_tasks(SLEEPERS), "x86_64", kernel)
    fates = {w.name: (w.count, w.stock, w.lull) for w in found}
    assert unknown == 1
    assert fates == {
        "epoll_wait": (2, "woken", "rests"),
        "poll": (1, "woken", "rests"),
        "futex": (1, futex, "rests"),
        "terminal": (1, "woken", "woken"),
        "TCP receive": (1, "woken", "rests"),
        "pipe": (1, "woken", "rests"),
    }


def test_a_page_of_fuse_is_no_disk() -> None:
    stack = ["folio_wait_bit_common", "filemap_update_page", "fuse_cache_read_iter"]
    text = texts.task(10, "a", state="D", stack=stack)
    text += texts.task(11, "b", state="D", stack=stack[:2])
    found, _ = by_wait(read_tasks(text), "x86_64", "6.12")
    assert sorted(w.name for w in found) == ["FUSE", "disk"]


def test_system_calls_are_of_a_machine() -> None:
    text = texts.task(10, "a", call="22:0x4")
    found, unknown = by_wait(read_tasks(text), "aarch64", "6.12")
    assert [w.name for w in found] == ["epoll_wait"] and not unknown
    assert by_wait(read_tasks(text), "x86_64", "6.12") == ((), 1)


def test_waits_have_fates() -> None:
    fates = {"rests", "woken", "refuses"}
    assert all(w.stock in fates and w.lull in fates for w in waits())
    # In no case does Lull wake whom stock lets rest.
    assert all(w.lull == "rests" for w in waits() if w.stock == "rests")


def test_releases() -> None:
    assert release("6.12.117-amd64") == (6, 12) and release("7.3-rc4") == (7, 3)
    assert release("6.1.0") < (6, 7) <= release("6.7") and release("x") == (0, 0)


def test_mounts_and_who_waits_in_them() -> None:
    found = {m.at: m for m in read_mounts(texts.FUSE)}
    music = found["/home/u/My Music"]
    assert music.fuse and music.waiting == 2 and music.minor == 52
    assert found["/mnt/store"].nfs and found["/mnt/store"].source == "10.0.0.7:/store"
    assert "nsdelegate" in found["/sys/fs/cgroup"].options
    assert not read_mounts(
        "== /proc/self/mountinfo\n40 1 0:30 / /x rw - fusectl f rw\n"
    )[0].fuse


def test_swap() -> None:
    swap = (
        "== /sys/block/zram0/disksize\n4294967296\n"
        "== /sys/block/zram0/mm_stat\n 1073741824 300000000 320000000 0 0 0 0 0 0\n"
        "== /sys/block/zram0/comp_algorithm\nlzo [zstd]\n"
        "== /sys/module/zswap/parameters/enabled\nN\n"
    )
    system = (
        "== /proc/swaps\nFilename\tType\t\tSize\t\tUsed\t\tPriority\n"
        "/dev/zram0   partition\t4194300\t\t1048576\t\t100\n"
    )
    found = read_swap(swap, system)
    assert found.all_zram and found.compressed and found.zswap is False
    (zram,) = found.zrams
    assert (zram.stored, zram.takes, zram.algorithm) == (1 << 30, 320000000, "zstd")
    disk = read_swap(swap, system + "/dev/sda2 partition 99 88 -2\n")
    assert not disk.all_zram and disk.compressed
    assert not read_swap("", "").compressed


def test_a_suspend_of_the_log_has_its_times() -> None:
    good, bad = read_log(texts.LOG)
    assert good.complete and good.state == "s2idle" and not good.failures
    assert good.sync_s == 0.312
    assert good.freeze_s == pytest.approx(0.005)
    assert good.resume_s == pytest.approx(0.842)
    # On 6.12 one line has the beginning and the end, and the time of the beginning.
    assert good.thaw_s is None
    newer = texts.LOG.replace(
        "Restarting tasks ... done.",
        "Restarting tasks: Starting\n<6>[  813.941000] Restarting tasks: Done",
    )
    assert read_log(newer)[0].thaw_s == pytest.approx(0.0029)
    assert bad.resume_s is None


def test_who_refused_to_freeze_is_named() -> None:
    ((attempt, failure),) = failed(read_log(texts.LOG))
    assert attempt.began == 1500.0
    assert (failure.kind, failure.seconds, failure.count) == ("freeze", 20.002, 1)
    (who,) = failure.refusers
    assert (who.name, who.pid, who.state) == ("tracker-extract", 3511, "D")
    assert who.frames[:2] == ("request_wait_answer", "__fuse_simple_request")


def test_an_old_kernel_says_it_in_other_words() -> None:
    ((_, failure),) = failed(read_log(texts.OLD_REFUSED))
    assert failure.what == "freezing user space" and failure.count == 3


def test_a_device_that_aborts_is_named() -> None:
    ((_, failure),) = failed(read_log(texts.DEVICE))
    assert (failure.device, failure.driver) == ("0000:00:14.0", "xhci_hcd")
    assert failure.error.startswith("EBUSY") and failure.what == "suspend async"
    assert failure.callback == "pci_pm_suspend"
    old = texts.DEVICE.replace(
        "xhci_hcd 0000:00:14.0: PM: failed to", "PM: Device 0000:00:14.0 failed to"
    )
    ((_, failure),) = failed(read_log(old))
    assert failure.device == "0000:00:14.0" and failure.error.startswith("EBUSY")


def test_a_wakeup_is_no_fault_of_a_task() -> None:
    text = (
        "[ 1.0] PM: suspend entry (deep)\n"
        "[ 1.1] Freezing user space processes aborted after 0.004 seconds (0 tasks "
        "refusing to freeze, wq_busy=0):\n"
        "[ 1.2] PM: last active wakeup source: eventpoll\n"
        "[ 1.3] PM: suspend exit\n"
    )
    ((_, failure),) = failed(read_log(text))
    assert failure.kind == "wakeup"


def test_the_journal_has_no_times_of_its_own() -> None:
    journal = "".join(
        f"[ {float(line[4:16]):.6f}] laptop kernel: {line[18:]}\n"
        for line in texts.LOG.splitlines()
    )
    good, bad = read_log(journal)
    assert good.resume_s is None and good.sync_s == 0.312
    assert bad.failures[0].refusers[0].name == "tracker-extract"
    # Both have the same two: none counts twice.
    kept, timed = attempts(texts.LOG, journal)
    assert len(kept) == 2 and timed[0].resume_s is not None
    kept, _ = attempts(texts.LOG, journal + journal)
    assert len(kept) == 4


def test_phases_of_devices() -> None:
    line = "<6>[  813.0] PM: suspend of devices complete after 427.123 msecs\n"
    before = "<6>[  813.900000] usb"
    text = texts.LOG.replace(before, line + before, 1)
    good, _ = read_log(text)
    assert good.phases_ms == (("suspend", 427.123),)
