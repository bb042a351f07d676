# SPDX-License-Identifier: GPL-2.0-only
"""However long a recording is, and whatever is in it: at most 256 MB."""

from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path

import pytest

from lull.errors import UsageError
from lull.graph import console, cycles, ftrace, one_cycle, tally
from lull.graph.ftrace import read
from lull.host.files import repo_root
from lull.proof.key import lab_parts
from lull.proof.stamps import Stamps
from lull.trees.model import Phase
from tests.graph import traces

ROOT = repo_root()
#: Of those that start the command.
START = ("tests/graph/test_memory.py", "lull/cli.py")
MOST_KB = 256 * 1000
#: What the command held at most, which it says after all that it says itself.
RUN = """
import sys
from lull.cli import main
try:
    main()
except SystemExit as exit:
    code = exit.code
with open("/proc/self/status") as file:
    held = next(line.split()[1] for line in file if line.startswith("VmHWM"))
print(code, held, file=sys.stderr)
"""


def held_kb(code: int, path: Path, *options: str | Path) -> int:
    """Run ``lull graph``, which has to end with ``code``."""
    words = [sys.executable, "-c", RUN, "graph", path, *options]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
    status, held = done.stderr.splitlines()[-1].split()
    assert int(status) == code, done.stderr
    return int(held)


def packed(text: bytes, size: int) -> bytes:
    """A file of little size that unpacks to ``text`` again and again."""
    return gzip.compress(text) * (size // len(text) + 1)


@pytest.mark.seconds(20)
def test_a_bomb_is_refused_in_little_memory(tmp_path: Path, stamp: Stamps) -> None:
    with stamp(lab_parts(ROOT, *START)) as new:
        if not new:
            return
        bomb = tmp_path / "bomb"
        bomb.write_bytes(packed(bytes(1 << 24), 13 << 30))
        assert bomb.stat().st_size < 14 << 20
        assert held_kb(2, bomb) <= MOST_KB


@pytest.mark.seconds(30)
def test_cycles_without_end_are_read_in_little_memory(
    tmp_path: Path, stamp: Stamps
) -> None:
    with stamp(lab_parts(ROOT, *START)) as new:
        if not new:
            return
        path = tmp_path / "long"
        path.write_bytes(packed(traces.text(traces.cycle(), head="") * 100, 1 << 26))
        assert held_kb(0, path) <= MOST_KB


@pytest.mark.seconds(30)
def test_a_cycle_with_too_much_in_it_is_read_in_little_memory(
    tmp_path: Path, stamp: Stamps
) -> None:
    with stamp(lab_parts(ROOT, *START)) as new:
        if new:
            path = tmp_path / "large"
            path.write_text(too_much())
            assert held_kb(0, path, "--perfetto", tmp_path / "out") <= MOST_KB


def too_much() -> str:
    """A cycle of 9,000 devices with 41,000 callbacks."""
    begin = "  sh-100 [001] .... 1.000000: suspend_resume: dpm_suspend[2] begin\n"
    lines = []
    for i in range(41_000):
        who, name = f" k-{i} [001] .... {2 + i / 1e6:.6f}: device_pm_callback", i % 9000
        said = f"d{name}, parent: p{name}, bus [suspend]"
        lines.append(f"{who}_start: {said}\n{who}_end: d{name}, err=0\n")
    return begin + "".join(lines)


def large(devices: int, worse: int, together: bool) -> bytes:
    """A cycle with a callback of each device in each phase: one by one, or all at
    once, of which the first ``worse`` take 20 ms."""
    us, lines = 1_000_000, []
    for phase in Phase:
        calls = []
        for i in range(devices):
            at = 1 + (i % 7 if together else 10 * i)
            end = at + (20_000 if together and i < worse else 8)
            who = (f"kworker/u8:{i}", 1000 + i) if together else traces.MAIN
            name = f"d d{i}<p{i % 50}"
            calls.append(traces.call(at, end, who, name, traces.INFO[phase]))
        last = us + 10 * devices + 20_000
        lines += traces.phase(us, last, f"dpm_{phase}", *calls)
        us = last + 10
    return traces.text(lines)


@pytest.mark.seconds(60)
def test_many_recordings_are_compared_in_the_memory_of_two(
    tmp_path: Path, stamp: Stamps
) -> None:
    with stamp(lab_parts(ROOT, *START)) as new:
        if not new:
            return
        off, on = tmp_path / "off", tmp_path / "on"
        off.write_bytes(large(2000, 0, False))
        on.write_bytes(large(2000, 3, True))
        few = held_kb(0, off, on, "--suspect")
        many = held_kb(0, off, *[on] * 7, "--suspect")
        assert many <= MOST_KB
        # What is kept of 12,000 callbacks is half a megabyte.
        assert many - few <= 12_000


def test_of_many_cycles_the_one_that_is_wanted_is_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cycles, "MOST_RECORDS", 100)
    data = traces.text([x for i in range(1, 9) for x in traces.cycle(i * 1_000_000)])
    whole = read(data, "x").cycles
    assert [cycle.kept for cycle in whole] == [False] * 5 + [True] * 3
    assert all(cycle.complete for cycle in whole)
    third = read(data, "x", 3)
    assert third.cycle(3)[1].callbacks
    with pytest.raises(UsageError, match="was read and not kept"):
        third.cycle(2)


def test_the_last_complete_cycle_is_kept_when_others_follow(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cycles, "MOST_RECORDS", 60)
    torn = [x for i in range(2, 6) for x in traces.cycle(i * 1_000_000)[:30]]
    recording = read(traces.text(traces.cycle() + torn), "x")
    number, cycle = recording.cycle()
    assert (number, len(cycle.callbacks)) == (1, 12)
    assert not all(each.kept for each in recording.cycles)


def test_what_is_too_much_of_a_cycle_is_left_out_and_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(one_cycle, "MOST_CALLS", 8)
    (cycle,) = read(traces.recorded(), "x").cycles
    assert len(cycle.callbacks) == 3
    assert any(str(caveat).startswith(one_cycle.TOO_MANY) for caveat in cycle.caveats)


def test_a_log_of_too_many_devices_is_read_as_far_as_there_is_room(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(console, "MOST_DEVICES", 3)
    monkeypatch.setattr(tally, "MOST_TEXTS", 5)
    lines = [f"[ 1.0{i}] x d{i}: PM: calling f @ {i}, parent: none" for i in range(9)]
    lines += [f"[ 2.0] x d{i}: **** DPM device timeout ****" for i in range(9)]
    recording = console.read("\n".join(lines).encode(), "x")
    (cycle,) = recording.cycles
    assert [call.device for call in cycle.callbacks] == ["d0", "d1", "d2"]
    said = {caveat.text: caveat.count for caveat in recording.caveats}
    assert said[one_cycle.TOO_MANY] == 6
    assert (len(said), said[tally.OTHERS]) == (6, 5)


def test_a_list_of_too_many_devices_is_cut_off_and_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ftrace, "MOST_DEVICES", 2)
    recording = read(traces.recorded(), "x")
    assert len(recording.asynchronous) == 2
    assert any("too long" in str(caveat) for caveat in recording.caveats)


def test_after_too_many_cycles_the_rest_is_left_out_and_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cycles, "MOST_CYCLES", 3)
    data = traces.text([x for i in range(1, 9) for x in traces.cycle(i * 1_000_000)])
    recording = read(data, "x")
    assert len(recording.cycles) <= 4
    assert any("too many cycles" in str(caveat) for caveat in recording.caveats)
