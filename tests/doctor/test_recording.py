# SPDX-License-Identifier: GPL-2.0-only
"""A suspend that was recorded: read, judged, and put back by who made it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from lull.doctor.bundle import read_bundle
from lull.doctor.collect import load_folder
from lull.doctor.findings import judge
from lull.doctor.model import Finding, Grade
from lull.doctor.read_measures import FILES
from lull.doctor.read_power import read_devices
from lull.doctor.read_recording import About, Recorded, read_recording
from tests.doctor import texts
from tests.graph import traces
from tests.graph.traces import Line

DEVICES = (
    "# power/async, driver, device\n"
    "enabled\td\t/sys/devices/bus0/disk\n"
    "enabled\tscreen\t/sys/devices/bus0/screen\n"
    "enabled\tbus\t/sys/devices/bus0\n"
    "disabled\tkbd\t/sys/devices/platform/kbd\n"
    "disabled\t-\t/sys/devices/platform\n"
)


def written(lines: list[Line], error: str = "0") -> str:
    """What the collector writes of one cycle."""
    trace = traces.text(lines).decode()
    return f"cycle\t200000 us\t{error}\nlog\n<6>[    9.0] x\ntrace\n{trace}"


def read(lines: list[Line], rules: str = "", kernel: str = "6.12.1") -> Recorded:
    trace = traces.text(lines).decode()
    about = About(kernel, rules, read_devices(DEVICES))
    found = read_recording(trace, about)
    assert found is not None
    return found


def of(lull: str = "", **files: str) -> tuple[Finding, ...]:
    return judge(texts.bundle(devices=DEVICES, lull=lull, **files)).findings


def failing() -> list[Line]:
    """The screen refuses."""
    us = 1_000_000
    call = traces.call(
        20, 30_020, traces.SCREEN, "screen screen<bus0", "bus [suspend]", -16
    )
    return [
        *traces.prepare(us),
        *traces.phase(us + 100, us + 30_700, "dpm_suspend", call),
    ]


def test_the_longest_come_first_with_their_phases() -> None:
    found = read(traces.cycle())
    assert next(iter(found.phases_ms)) == "suspend" and len(found.phases_ms) == 6
    first = found.longest[0]
    assert (first.device, first.driver, first.phase) == ("screen", "screen", "suspend")
    assert first.ms == pytest.approx(30.0)
    assert found.down_ms == pytest.approx(30.6 + 2.2 + 1.1)
    assert found.up_ms == pytest.approx(2.1 + 1.1 + 20.7)
    assert found.saved_ms is not None and found.saved_ms[1] < found.up_ms


def test_the_machine_is_told_to_the_analyser() -> None:
    found = read(traces.cycle())
    assert not any("no header" in c or "power/async" in c for c in found.caveats)
    ours = read(traces.cycle(), rules="lull")
    assert ours.saved_ms is not None
    assert ours.saved_ms[0] == 0.0


def test_what_is_no_recording_is_none() -> None:
    about = About("6.12.1", "", ())
    assert read_recording("", about) is None
    assert read_recording("# tracer: nop\n", about) is None


def test_a_device_that_is_slow_is_named_first() -> None:
    first = of(recording=written(traces.cycle()))[0]
    assert first.id == "measured-devices" and first.grade is Grade.COSTS
    assert "the longest: screen (screen), 30 ms" in first.title
    assert first.cost_ms == pytest.approx(57.8, abs=0.1)
    (estimate,) = first.estimates
    assert estimate.feature == "devices" and estimate.clock == "model"


def test_a_recording_here_is_better_than_those_of_others() -> None:
    report = judge(texts.bundle(devices=DEVICES, suspend=written(traces.cycle())))
    gain = next(g for g in report.gains if g.feature == "devices")
    assert "the recording of this machine" in gain.basis
    on = "== /sys/module/lull/parameters/devices\nlull\n"
    report = judge(
        texts.bundle(devices=DEVICES, lull=on, suspend=written(traces.cycle()))
    )
    gain = next(g for g in report.gains if g.feature == "devices")
    assert gain.why_not == "it is on here"


def test_who_aborts_is_named() -> None:
    first = of(recording=written(failing(), "EBUSY"))[0]
    assert first.grade is Grade.FAILS and first.id == "measured-devices-failed"
    assert first.title == "screen (screen) aborts a suspend: EBUSY, measured"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    files = {
        "sys/power/pm_test": "[none] core processors platform devices freezer",
        "sys/module/suspend/parameters/pm_test_delay": "5",
        "sys/power/state": "freeze mem disk\n",
        "sys/class/rtc/rtc0/wakealarm": "",
        "proc/sys/kernel/random/boot_id": "this-boot\n",
        "dev/kmsg": "<6>[    1.000000] before\n",
    }
    place = tmp_path / "root"
    for name, text in files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text)
    (place / "sys/kernel/tracing/instances").mkdir(parents=True)
    return place


def measured(program: Path, root: Path, name: str) -> str:
    """What the collector wrote of it; all is put back then."""
    out = root.parent / "out"
    words = [str(program), "collect", "--root", str(root), "--measure", name, "--yes"]
    subprocess.run([*words, str(out)], check=True, timeout=300)
    assert not (root / "sys/kernel/tracing/instances/lull-doctor").exists()
    assert not (root / "var/lib/lull/doctor.note").exists()
    assert "none" in (root / "sys/power/pm_test").read_text()
    assert (root / "sys/module/suspend/parameters/pm_test_delay").read_text() == "5"
    return read_bundle(load_folder(out)).text(FILES[name])


@pytest.mark.parametrize("name", ["devices", "suspend"])
def test_without_events_nothing_is_suspended(
    any_collector: Path, root: Path, name: str
) -> None:
    # A buffer of ftrace has its files from the kernel; a folder's has none.
    text = measured(any_collector, root, name)
    assert "lacks\ttracefs\tENOENT\n" in text and "cycle" not in text
    assert (root / "sys/power/state").read_text() == "freeze mem disk\n"
    alarm = (root / "sys/class/rtc/rtc0/wakealarm").read_text()
    assert alarm == ("0" if name == "suspend" else "")


def test_the_alarm_of_another_is_left(any_collector: Path, root: Path) -> None:
    alarm = root / "sys/class/rtc/rtc0/wakealarm"
    alarm.write_text("1893456000\n")
    assert "lacks\talarm\tEBUSY\n" in measured(any_collector, root, "suspend")
    assert alarm.read_text() == "1893456000\n"
