# SPDX-License-Identifier: GPL-2.0-only
"""A folder comes from anywhere: whatever is in it, the answer is a report."""

from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from lull.doctor.bundle import read_bundle
from lull.doctor.findings import BUDGETS, judge
from lull.doctor.model import to_json
from lull.doctor.render import render
from lull.doctor.textfile import textfile
from lull.errors import UsageError
from tests.doctor import texts
from tests.doctor.test_command import laptop
from tests.doctor.test_readers import SLEEPERS

WHOLE = {
    **laptop(),
    "manifest": texts.MANIFEST + "more\ttasks\t3\tEACCES\nhung\ta\tb\t3 ms\t0\n",
    "tasks": texts.task(50, "p", fds=[(3, "/dev/fuse")]) + texts.zombies(60, 50),
    "log": texts.LOG + texts.DEVICE + texts.OLD_REFUSED,
    "again": "12\tD\tx\t0\n",
    "config": "CONFIG_FREEZER=y\n",
    "devices": "enabled\t-\t/sys/devices/x\n",
    "swap": "== /sys/block/zram0/mm_stat\n1 2 3\n",
    "system": "== /proc/swaps\nFilename\n/dev/zram0 partition 9 8 1\n",
    "journal": SLEEPERS,
}


@st.composite
def edited(draw: st.DrawFn) -> dict[str, bytes]:
    """A folder with pieces of some files cut, repeated or replaced."""
    files = {name: text.encode() for name, text in WHOLE.items()}
    for name in draw(st.lists(st.sampled_from(sorted(files)), max_size=4)):
        data = files[name]
        at = draw(st.integers(0, len(data)))
        end = min(len(data), at + draw(st.integers(0, 40)))
        new = draw(
            st.one_of(
                st.binary(max_size=20),
                st.sampled_from(
                    [b"", b"\t", b"\n", b"9" * 30, b"-1", b"[", b"0x", b"("]
                ),
            )
        )
        files[name] = data[:at] + new + data[end:]
    return files


@settings(max_examples=300, deadline=None)
@given(edited())
def test_no_folder_breaks_it(files: dict[str, bytes]) -> None:
    try:
        bundle = read_bundle(files)
    except UsageError:
        return
    report = judge(bundle, [(name, 1.0) for name in BUDGETS])
    json.loads(to_json(report))
    assert render(report) and textfile(report).endswith("\n")
    for finding in report.findings:
        for estimate in finding.estimates:
            if estimate.saved_ms is not None:
                assert 0 <= estimate.saved_ms[0] <= estimate.saved_ms[1]
