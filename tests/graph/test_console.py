# SPDX-License-Identifier: GPL-2.0-only
from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from lull.errors import NoRecording
from lull.graph import console
from lull.graph.load import load, load_any
from lull.trees.model import Phase
from tests.graph import captures, traces

OLD = b"""\
[    1.000000] Suspending console(s) (use no_console_suspend to debug)
[    1.000100] calling  kbd+ @ 100, parent: platform
[    1.000200] calling  1-2+ @ 201, parent: usb1
[    1.000300] call kbd+ returned 0 after 200 usecs
[    1.020200] call 1-2+ returned -16 after 20000 usecs
[    1.020300] PM: suspend of devices complete after 20.200 msecs
[    1.020400] calling  0000:00:14.0+ @ 202, parent: pci0000:00
[    1.020500] call 0000:00:14.0+ returned 0 after 100 usecs
[    1.020600] PM: late suspend of devices complete after 0.200 msecs
[    1.020700] PM: noirq suspend of devices complete after 0.100 msecs
[    2.000000] PM: noirq resume of devices complete after 0.100 msecs
[    2.000100] PM: early resume of devices complete after 0.100 msecs
[    2.000200] calling  usb1+ @ 201, parent: 0000:00:14.0
[    2.000300] call usb1+ returned 0 after 100 usecs
[    2.000400] calling  1-2+ @ 201, parent: usb1
"""
NEW = b"""\
<6>[    1.000100] serio kbd: PM: calling serio_suspend @ 100, parent: platform
<6>[    1.000200] usb 1-2: PM: calling usb_dev_suspend @ 201, parent: usb1
<6>[    1.000300] serio kbd: PM: serio_suspend returned 0 after 200 usecs
<6>[    1.020200] usb 1-2: PM: usb_dev_suspend returned -16 after 20000 usecs
<6>[    1.020300] PM: suspend of devices complete after 20.200 msecs
<6>[    1.020400] xhci_hcd 0000:00:14.0: PM: calling pci_pm_suspend_late @ 202, parent: pci0000:00
<6>[    1.020500] xhci_hcd 0000:00:14.0: PM: pci_pm_suspend_late returned 0 after 100 usecs
<6>[    1.020600] PM: late suspend of devices complete after 0.200 msecs
<6>[    1.020700] PM: noirq suspend of devices complete after 0.100 msecs
<6>[    2.000000] PM: noirq resume of devices complete after 0.100 msecs
<6>[    2.000100] PM: early resume of devices complete after 0.100 msecs
<6>[    2.000200] usb usb1: PM: calling usb_dev_resume @ 201, parent: 0000:00:14.0
<6>[    2.000300] usb usb1: PM: usb_dev_resume returned 0 after 100 usecs
<6>[    2.000400] usb 1-2: PM: calling usb_dev_resume @ 201, parent: usb1
<0>[   14.000400] usb 1-2: **** DPM device timeout ****
"""  # noqa: E501


@pytest.mark.parametrize("log", [OLD, NEW, gzip.compress(NEW)], ids=len)
def test_the_last_lines_say_what_ran_and_what_never_ended(log: bytes) -> None:
    (cycle,) = console.read(log, "x").cycles
    assert [
        (c.phase, c.device, c.parent, round(c.us), c.err, c.ended)
        for c in cycle.callbacks
    ] == [
        (Phase.SUSPEND, "kbd", "platform", 200, 0, True),
        (Phase.SUSPEND, "1-2", "usb1", 20_000, -16, True),
        (Phase.SUSPEND_LATE, "0000:00:14.0", "pci0000:00", 100, 0, True),
        (Phase.RESUME, "usb1", "0000:00:14.0", 100, 0, True),
        (Phase.RESUME, "1-2", "usb1", 0, 0, False),
    ]
    assert cycle.spans[Phase.SUSPEND].ended
    assert not cycle.spans[Phase.RESUME].ended


def test_what_the_watchdog_says_is_a_caveat() -> None:
    (caveat,) = console.read(NEW, "x").caveats
    assert "watchdog says that usb 1-2 is stuck" in str(caveat)


def test_a_return_without_a_call_is_counted() -> None:
    lines = OLD.replace(b"calling  kbd+", b"called kbd")
    (caveat,) = console.read(lines, "x").caveats
    assert "returns without having been called (line 4)" in str(caveat)


@pytest.mark.parametrize("log", [b"", b"[    1.0] Freezing user space\n", b"\xff\0"])
def test_a_log_without_callbacks_is_an_error_that_says_how(log: bytes) -> None:
    with pytest.raises(NoRecording) as caught:
        console.read(log, "x")
    assert "pm_print_times" in caught.value.hint


def test_a_file_may_be_either(tmp_path: Path) -> None:
    for data in (OLD, traces.recorded()):
        path = tmp_path / "x"
        path.write_bytes(data)
        assert load_any(path).cycles[0].callbacks
    path.write_bytes(b"neither\n")
    with pytest.raises(NoRecording) as caught:
        load_any(path)
    assert "trace-cmd" in caught.value.hint
    assert "pm_print_times" in caught.value.hint


@captures.need
def test_a_real_log_says_what_the_trace_beside_it_says() -> None:
    (trace,) = (path for path in captures.ALL if path.parent.name == "skynet")
    log = trace.with_name(trace.name.replace("ftrace", "dmesg"))
    (want,) = load(trace).cycles
    (got,) = console.read(log.read_bytes(), "x").cycles
    for phase in Phase:
        one = {call.device: call.us for call in want.calls(phase)}
        other = {call.device: call.us for call in got.calls(phase)}
        assert len(one) - 1 <= len(other) <= len(one)
        assert other.keys() <= one.keys()
        # A line takes a while to be printed.
        assert all(abs(one[name] - us) <= 50 for name, us in other.items())
