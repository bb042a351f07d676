# SPDX-License-Identifier: GPL-2.0-only
from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lull.cli import app
from lull.errors import LullError
from lull.trees.reader import read as read_tree
from tests.graph import traces

LOG = b"[    1.030701] PM: suspend of devices complete after 30.600 msecs\n"


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    path = tmp_path / "box_mem_ftrace.txt.gz"
    path.write_bytes(gzip.compress(traces.recorded()))
    return path


def lull(*words: str | Path) -> str:
    result = CliRunner().invoke(app, [str(word) for word in words])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.output


def test_caveats_come_before_any_figure(recording: Path) -> None:
    output = lull("graph", recording)
    assert output.index("suppliers are not recorded") < output.index("phase  ")


def test_the_longest_phase_is_shown_and_another_on_request(recording: Path) -> None:
    assert "critical path of suspend as" in lull("graph", recording)
    output = lull("graph", recording, "--phase", "resume")
    assert "critical path of resume as" in output
    assert "critical path of suspend as" not in output


def test_the_whole_cycle_is_accounted_for_before_the_phases(recording: Path) -> None:
    output = lull("graph", recording)
    assert output.index("the whole cycle, from") < output.index("phase  ")
    assert "complete                               0.100" in output


def test_all_shows_every_phase_and_the_replay(recording: Path) -> None:
    output = lull("graph", recording, "--all")
    assert output.count("critical path of") == 6
    assert "replay under the rules of stock" in output


def test_the_log_beside_it_is_checked_without_asking(recording: Path) -> None:
    assert "kernel's log" not in lull("graph", recording)
    recording.with_name("box_mem_dmesg.txt").write_bytes(LOG)
    assert "30.600 +0.00%" in lull("graph", recording)


def test_a_log_that_is_named_is_checked(recording: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(LOG)
    assert "30.600 +0.00%" in lull("graph", recording, "--dmesg", log)


def test_a_log_of_something_else_is_a_caveat(recording: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"nothing of it\n")
    output = lull("graph", recording, "--dmesg", log)
    assert "the kernel's log has no times of this cycle" in output


def test_a_device_is_shown_in_each_phase(recording: Path) -> None:
    output = lull("graph", recording, "--device", "screen")
    assert output.count("screen in ") == 6
    assert (
        lull("graph", recording, "--device", "screen", "--phase", "resume").count(
            "screen in "
        )
        == 1
    )


def test_what_if_prints_replay_and_prediction(recording: Path) -> None:
    output = lull("graph", recording, "--what-if", "mode=lull,screen=0ms")
    assert "replay under the rules of stock" in output
    assert "what if mode=lull,screen=0ms" in output


def test_needs_says_when_a_device_is_back_and_under_a_what_if(recording: Path) -> None:
    output = lull("graph", recording, "--needs", "screen,disk")
    assert "nobody named waits for" in output
    assert "critical path" not in output
    output = lull("graph", recording, "--needs", "disk", "--what-if", "bus0=0ms")
    disk = next(line for line in output.splitlines() if line.startswith("  disk"))
    assert disk.split()[1:] == ["5.520", "5.500", "5.000", "5.500"]


def test_perfetto_writes_a_file_that_reads_back(
    recording: Path, tmp_path: Path
) -> None:
    out = tmp_path / "trace.json"
    lull("graph", recording, "--perfetto", out)
    assert json.loads(out.read_text())["traceEvents"]


def test_names_from_the_file_do_not_steer_the_terminal(tmp_path: Path) -> None:
    path = tmp_path / "x"
    data = traces.recorded().replace(b"dpm_complete", b"dpm_\x1b[2J")
    data = data.replace(b" mem 5.3", b" \x1b[31m 5.3")
    path.write_bytes(data)
    output = lull("graph", path)
    assert "\x1b" not in output
    assert "\\x1b[31m" in output


@pytest.mark.parametrize(
    "words",
    [
        ("--cycle", "2"),
        ("--cycle", "0"),
        ("--device", "scren"),
        ("--what-if", "mode=fast"),
        ("--what-if", "scren=0ms"),
        ("--needs", "scren"),
        ("--dmesg", "/nonexistent"),
        ("--perfetto", "/proc/nonexistent/x"),
    ],
)
def test_an_option_that_is_wrong_is_an_error_with_a_hint(
    recording: Path, words: tuple[str, ...]
) -> None:
    with pytest.raises(LullError) as caught:
        lull("graph", recording, *words)
    assert caught.value.hint
    assert caught.value.exit_code == 2


@pytest.mark.parametrize("words", [("graph",), ("tree", "fit")])
def test_a_file_that_is_not_there_is_an_error_with_a_hint(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    with pytest.raises(LullError, match="cannot be read: No such file") as caught:
        lull(*words, tmp_path / "none")
    assert caught.value.where == str(tmp_path / "none")
    assert "trace-cmd" in caught.value.hint


def test_a_log_that_is_not_there_is_told_from_a_recording(
    recording: Path, tmp_path: Path
) -> None:
    with pytest.raises(LullError, match="cannot be read: No such file") as caught:
        lull("graph", recording, "--dmesg", tmp_path / "none")
    assert caught.value.where == str(tmp_path / "none")
    assert "--dmesg" in caught.value.hint


@pytest.mark.parametrize(
    ("words", "option"), [(("graph",), "--perfetto"), (("tree", "fit"), "--output")]
)
def test_a_file_that_cannot_be_written_is_an_error_with_a_hint(
    recording: Path, words: tuple[str, ...], option: str
) -> None:
    out = recording / "x"
    with pytest.raises(LullError, match="cannot be written: Not a dir") as caught:
        lull(*words, recording, option, out)
    assert caught.value.where == str(out)
    assert option in caught.value.hint
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("words", "option"), [(("graph",), "--perfetto"), (("tree", "fit"), "--output")]
)
def test_a_link_that_is_written_to_stays_one(
    recording: Path, tmp_path: Path, words: tuple[str, ...], option: str
) -> None:
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "target")
    lull(*words, recording, option, link)
    assert link.is_symlink()
    assert (tmp_path / "target").stat().st_size


@pytest.mark.parametrize("words", [("graph",), ("tree", "fit")])
def test_help_fits_a_screen(
    words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert lull(*words, "--help").count("\n") <= 24


def test_fit_writes_a_description_that_says_what_was_changed(
    recording: Path, tmp_path: Path
) -> None:
    out = tmp_path / "box.tree"
    changes = "screen:suspend=1ms,vcc=after:bus0"
    lull("tree", "fit", recording, recording, "-o", out, "--set", changes)
    text = out.read_text()
    assert "#   screen:suspend=1ms\n#   vcc=after:bus0\n" in text
    tree = read_tree(text.encode(), "x")
    assert [device.name for device in tree.devices] == [
        "platform",
        "kbd",
        "bus0",
        "vcc",
        "disk",
        "screen",
    ]
