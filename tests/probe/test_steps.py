# SPDX-License-Identifier: GPL-2.0-only
"""What the probe does for a word that stands for steps, on a kernel made up."""

import json
import os
import subprocess
from pathlib import Path

from tests.probe.test_switches import kernel


def run(probe: Path, root: Path, *lines: str) -> list[dict[str, object]]:
    said = "".join(f"{line}\n" for line in lines)
    done = subprocess.run(
        [probe, "--job", "-"],
        env={**os.environ, "TRIAL": str(root)},
        input=f"lull-job 1\ncase 0 inject stepped\n{said}end\n",
        stdout=subprocess.PIPE,
        text=True,
        timeout=300,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def steps_file(root: Path) -> Path:
    kernel(root, {"inject": "stock locks lull"})
    path = root / "sys/kernel/debug/lull/inject/steps"
    path.write_text("one,two\n")
    return path


def test_steps_are_set_before_the_mode_and_put_back(
    trial_probe: Path, tmp_path: Path
) -> None:
    path = steps_file(tmp_path)
    lines = run(
        trial_probe,
        tmp_path,
        "steps lull one,two",
        "steps lull-two one",
        "steps lull=none none",
        "order stock lull-two lull lull=none locks",
    )
    samples = [line for line in lines if line["t"] == "sample"]
    assert [line["mode"] for line in samples] == [
        "stock",
        "lull-two",
        "lull",
        "lull=none",
        "locks",
    ]
    seen = [line["text"] for line in lines if line["t"] == "note"][1:]
    assert seen == [
        "stock one,two",
        "lull one",
        "lull one,two",
        "lull none",
        "locks none",
    ]
    assert path.read_text().strip() == "one,two"


def test_a_kernel_that_has_no_steps_is_noticed_before_anything_runs(
    trial_probe: Path, tmp_path: Path
) -> None:
    steps_file(tmp_path).unlink()
    lines = run(trial_probe, tmp_path, "steps lull-two one", "order stock lull-two")
    assert [line["t"] for line in lines] == ["hello", "error", "done"]
    assert "no mode 'lull-two'" in str(lines[1]["what"])


def test_steps_of_a_word_are_said_once(trial_probe: Path, tmp_path: Path) -> None:
    steps_file(tmp_path)
    (error, _) = run(trial_probe, tmp_path, "steps a one", "steps a two", "order a")
    assert "the steps of 'a' are there twice" in str(error["what"])
