# SPDX-License-Identifier: GPL-2.0-only
from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from lull.errors import LullError
from lull.graph import text
from lull.graph.reduced import Symptom
from lull.graph.suspect import (
    Search,
    async_path,
    not_in_order,
    recorded_names,
    suspects,
)
from tests.graph import captures, traces
from tests.graph.missing import machine, run
from tests.graph.test_cli import lull
from tests.graph.traces import DISK, MAIN, SCREEN, Line, call, phase

HEAD = b"# lull-kernel: 6.12.1\n"


def trace(*calls: list[Line], end: int = 100_000) -> bytes:
    return HEAD + traces.text(phase(0, end, "dpm_resume", *calls))


UP = "bus [resume]"
#: One by one: the bus's clock, the panel that needs it, and a disk.
OFF = trace(
    call(10, 30_010, MAIN, "d clock<platform", UP),
    call(30_020, 32_020, MAIN, "d panel<video", UP),
    call(32_030, 72_030, MAIN, "d disk<host", UP),
)


def on(*panel: Line) -> bytes:
    return trace(
        call(10, 30_010, SCREEN, "d clock<platform", UP),
        list(panel),
        call(30, 40_030, DISK, "d disk<host", UP),
    )


SLOW = on(*call(20, 31_020, ("kworker/u8:9", 9), "d panel<video", UP))
FAILED = on(*call(20, 1_020, ("kworker/u8:9", 9), "d panel<video", UP, err=-110))
FINE = on(*call(20, 2_020, ("kworker/u8:9", 9), "d panel<video", UP))


def hung() -> bytes:
    lines = phase(
        0,
        99_000,
        "dpm_resume",
        call(10, 30_010, SCREEN, "d clock<platform", UP),
        call(20, 98_000, ("kworker/u8:9", 9), "d panel<video", UP),
    )
    return HEAD + traces.text([line for line in lines if line.us < 1_000])


@pytest.mark.parametrize(
    ("data", "symptom"),
    [(SLOW, Symptom.SLOW), (FAILED, Symptom.FAILED), (hung(), Symptom.HUNG)],
)
def test_whoever_ran_before_what_it_had_run_after_is_found(
    data: bytes, symptom: Symptom
) -> None:
    first = suspects(run(OFF), [run(data)])[0]
    assert (first.supplier, first.consumer) == ("clock", "panel")
    assert first.evidence[0].symptom is symptom
    assert first.evidence[0].victim == "panel"
    assert set(first.disable) == {"clock", "panel"}


def test_nobody_is_suspected_where_nobody_is_the_worse_for_it() -> None:
    assert suspects(run(OFF), [run(FINE)]) == ()
    assert "nobody is suspected" in "\n".join(text.suspects((), {}, 5, 0))


def test_a_pair_whose_order_is_declared_is_none() -> None:
    told = [
        data.replace(b"d panel, parent: video", b"d panel, parent: clock")
        for data in (OFF, SLOW)
    ]
    assert suspects(run(told[0]), [run(told[1])]) == ()


def test_a_pair_that_ran_out_of_order_without_harm_counts_for_less() -> None:
    (before,) = suspects(run(OFF), [run(SLOW)])
    (after,) = suspects(run(OFF), [run(SLOW), run(FINE)])
    assert after.score < before.score


def test_a_first_recording_whose_callbacks_overlap_is_a_caveat() -> None:
    assert not_in_order(run(OFF)) == ()
    (caveat,) = not_in_order(run(SLOW))
    assert "pm_async was not off" in str(caveat)


def test_the_pattern_finds_the_one_device_that_is_meant(tmp_path: Path) -> None:
    for each in ("pci0/0:1/ieee80211/phy0/rfkill1", "pci0/rfkill1", "p/phy0/odd[1]*"):
        (tmp_path / each / "power").mkdir(parents=True)
        (tmp_path / each / "power" / "async").write_text("enabled\n")
    names = {"r": ("rfkill1", "phy0"), "odd_1": ("odd[1]*", "phy0")}

    def find(name: str) -> list[str]:
        words = ["find", tmp_path, "-path", async_path(names, name)]
        done = subprocess.run(words, capture_output=True, text=True, check=True)
        return [
            str(Path(line).relative_to(tmp_path).parent.parent)
            for line in done.stdout.splitlines()
        ]

    assert find("r") == ["pci0/0:1/ieee80211/phy0/rfkill1"]
    assert find("odd_1") == ["p/phy0/odd[1]*"]


def test_the_text_says_what_happened_and_the_line_that_keeps_the_order(
    tmp_path: Path,
) -> None:
    paths = [tmp_path / name for name in ("off", "on")]
    for path, data in zip(paths, (OFF, SLOW), strict=True):
        path.write_bytes(data)
    output = lull("graph", "--suspect", *paths)
    assert "1. clock has to come before panel (score 1.00)" in output
    assert "in resume panel took 31.000 ms, alone 2.000, and ended 1.010 ms" in output
    assert (
        "echo disabled | find /sys/devices -path '*/video*/panel/power/async'" in output
    )
    assert "pm_async was not off" not in output


def test_of_what_is_found_the_likeliest_is_held(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    missing = next(m for seed in range(1, 99) if (m := machine(seed, Symptom.HUNG, 3)))
    search = Search(run(missing.off))
    for data in missing.on:
        search.add(run(data))
    whole, total = search.result()
    assert len(whole) == total > 9
    monkeypatch.setattr("lull.graph.suspect.MOST_PAIRS", 2)
    assert search.result() == (whole[:2], total)
    paths = [tmp_path / name for name in ("off", "on")]
    for path, data in zip(paths, (missing.off, missing.on[0]), strict=True):
        path.write_bytes(data)
    output = lull("graph", "--suspect", *paths, "--all")
    assert re.search(r"  2\. .* \(score", output) and "  3. " not in output
    assert re.search(r"  and \d+ that are less likely\n", output)


@pytest.mark.parametrize("words", [("--suspect", "{0}"), ("{0}", "{0}")])
def test_the_wrong_number_of_recordings_is_an_error_with_a_hint(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    path = tmp_path / "x"
    path.write_bytes(OFF)
    with pytest.raises(LullError) as caught:
        lull("graph", *(word.format(path) for word in words))
    assert "--suspect SYNC ASYNC" in caught.value.hint
    assert caught.value.exit_code == 2


def test_a_console_of_a_machine_that_hung_will_do(tmp_path: Path) -> None:
    off, log = tmp_path / "off", tmp_path / "pstore"
    off.write_bytes(OFF)
    log.write_text(
        "[ 1.0] PM: early resume of devices complete after 1.000 msecs\n"
        "[ 1.000010] x clock: PM: calling clk_resume @ 7, parent: platform\n"
        "[ 1.000020] x panel: PM: calling panel_resume @ 8, parent: video\n"
    )
    output = lull("graph", "--suspect", off, log)
    assert "1. clock has to come before panel" in output
    assert "in resume panel never ended; alone it took 2.000 ms" in output


@captures.need
def test_real_recordings_name_the_devices_as_the_kernel_does() -> None:
    one, other = (run(path.read_bytes()) for path in captures.ALL[1:3])
    names = recorded_names([one, other])
    for each in suspects(one, [other]):
        for name in each.disable:
            assert names[name][0] in async_path(names, name)
    # No recording there was made with pm_async off, and that is said.
    assert not_in_order(one)
