# SPDX-License-Identifier: GPL-2.0-only
"""What the guest runs for a scenario, run here: a job in, lines of the contract out."""

from __future__ import annotations

import os
import platform
import signal
from pathlib import Path
from typing import Any

import pytest

from lull.errors import LabError
from lull.model import Case, Job
from lull.real.said import left_out, samples_of, stream_of
from lull.runs.samples import Stream
from tests.real.pretend import TIMEOUT_S, drive, drive_raw, said

CASE = Case(
    feature="walk",
    workload="run",
    params={"what": "dog", "at": 4},
    warmup=1,
    order=("stock", "lull", "lull", "stock"),
)
JOB = Job(seed=1, cases=(CASE, CASE.model_copy(update={"params": {"at": 8}})))

SCENARIO = """
check() { echo checked; }
prepare() { echo "prepared for $p_at"; }
switch() { now=$1; }
round() {
	echo "noise" >&2
	echo "took $((p_at * 100))"
	echo "share 0.5"
}
finish() { :; }
"""


def run(folder: Path, scenario: str = SCENARIO, **more: Any) -> tuple[int, Stream]:
    return drive(folder, JOB, scenario, **more)


def test_a_round_becomes_a_sample(tmp_path: Path) -> None:
    status, stream = run(tmp_path)
    assert (status, stream.bad.count, stream.errors) == (0, 0, ())
    assert stream.hello is not None and stream.hello.kernel == platform.release()
    samples = samples_of(stream, JOB, "there")
    assert [(s.case, s.i, s.mode) for s in samples[:4]] == [
        (0, i, mode) for i, mode in enumerate(CASE.order)
    ]
    assert samples[0].params == {"what": "dog", "at": 4}
    assert samples[0].metrics == {"took": 400, "share": 0.5}
    assert samples[4].params == {"at": 8} and samples[4].metrics["took"] == 800
    assert {s.boot for s in samples} == {3}


def test_a_case_whose_needs_are_not_met_is_left_out(tmp_path: Path) -> None:
    prepare = (
        'prepare() { [ "${p_what:-none}" = none ] || lacks "there is \\"no\\" dog"; }'
    )
    given = ({"what": "dog", "at": 4}, {"at": 8})
    job = Job(seed=1, cases=tuple(CASE.model_copy(update={"params": p}) for p in given))
    status, data = drive_raw(tmp_path, job, f"{SCENARIO}\n{prepare}")
    assert left_out(data) == {0: 'there is "no" dog'}
    stream = stream_of(data, boot=3, seed=1)
    assert (status, stream.bad.count, stream.errors) == (0, 0, ())
    samples = samples_of(stream, job, "there", left=left_out(data))
    # The second case does not have what the first was given.
    assert [s.case for s in samples] == [1] * 4
    with pytest.raises(LabError, match="4 of 8 samples did not arrive"):
        samples_of(stream, job, "there")


def test_what_fails_is_named_with_the_journal_s_last_lines(tmp_path: Path) -> None:
    fails = 'round() { [ "$now" = stock ] && echo took 1 || fail "it has died" dog; }'
    status, stream = run(tmp_path, f"{SCENARIO}\n{fails}")
    assert status == 1 and len(stream.samples) == 1
    text = said(stream)
    assert text.startswith("walk, case 0, round 1, mode lull: it has died\n")
    assert "the journal's last lines of dog:" in text
    assert 'a line of "it", --no-pager -q -n 8 -o short -u dog' in text
    assert "there" in text


def test_what_hangs_is_named_with_the_journal_s_last_lines(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    # The time is over when it hangs, and not before, however slow the host is.
    hangs = f"""round() {{
	[ "$now" = stock ] && echo took 1 && return
	echo >{gate}
	sleep 3000 3>&-
}}"""
    sleep = f'[ "$1" = 1.5 ] && exec cat {gate}; exec /bin/sleep "$@"'
    status, stream = run(
        tmp_path, f"{SCENARIO}\n{hangs}", limit=1.5, stubs={"sleep": sleep}
    )
    assert status == -signal.SIGTERM and len(stream.samples) == 1
    text = said(stream)
    assert text.startswith(
        "walk, case 0, round 1, mode lull: it has not ended after 1.5"
    )
    assert "the journal's last lines:" in text and 'a line of "it"' in text


def test_who_watches_ends_with_the_job(tmp_path: Path) -> None:
    """Else its output would stay open for longer than is waited for."""
    assert run(tmp_path, limit=10 * TIMEOUT_S)[0] == 0


def test_what_a_program_said_last_is_told(tmp_path: Path) -> None:
    fails = 'round() { echo "dog: \\"no\\" \\\\" >&2; fail "it does not start"; }'
    _, stream = run(tmp_path, f"{SCENARIO}\n{fails}")
    assert 'dog: "no" \\' in said(stream)


@pytest.mark.parametrize(
    ("round_", "what"),
    [
        ("echo took", "no figures: took"),
        ("echo took long", "no figures: took long"),
        (":", "no figures"),
    ],
)
def test_a_round_without_figures_is_no_sample(
    tmp_path: Path, round_: str, what: str
) -> None:
    status, stream = run(tmp_path, f"{SCENARIO}\nround() {{ {round_}; }}")
    assert status == 1 and not stream.samples
    assert what in said(stream)


def test_another_kernel_is_named(tmp_path: Path) -> None:
    status, stream = run(tmp_path, release="6.12.117-lull-cloud-amd64")
    assert status == 1 and not stream.samples
    assert f"the guest's kernel is {platform.release()}, not 6.12.117" in said(stream)


def test_another_image_is_named(tmp_path: Path) -> None:
    status, stream = run(tmp_path, versions="cat 1.0\ndog 2.1-3\n")
    assert status == 1 and not stream.samples
    assert "the guest's image is another one: dog is 1.0, not 2.1-3" in said(stream)


def test_without_lull_there_is_no_mode_but_stock(tmp_path: Path) -> None:
    if Path("/sys/module/lull").exists():
        pytest.skip("this machine has Lull")
    switch = 'switch() { features "$1"; }'
    status, stream = run(tmp_path, f"{SCENARIO}\n{switch}")
    assert status == 1 and len(stream.samples) == 1
    assert "this kernel has no attach, which is to be in lull" in said(stream)
