# SPDX-License-Identifier: GPL-2.0-only
from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lull.model import Arm
from lull.runs.samples import (
    FEW,
    format_results,
    parse_results,
    parse_stream,
    read_results,
)
from tests import synthetic

HELLO = (
    b'{"t":"hello","probe":1,"kernel":"6.12.117","cpus":2,"clocksource":"tsc",'
    b'"features":{"freeze":["stock","exit_state","lull"]}}'
)
CASE = (
    b'{"t":"case","case":0,"feature":"freeze","workload":"zombies",'
    b'"params":{"zombies":30000}}'
)
DONE = b'{"t":"done","samples":2,"ok":true}'


def line(i: int, mode: str = "lull", value: object = 401234) -> bytes:
    item = {"t": "sample", "case": 0, "i": i, "mode": mode}
    return json.dumps({**item, "metrics": {"freezer_total": value}}).encode()


def join(*lines: bytes) -> bytes:
    return b"\n".join(lines) + b"\n"


def test_a_whole_stream() -> None:
    stream = parse_stream(
        join(
            HELLO,
            CASE,
            line(0, "stock", 5.5),
            line(1),
            b'{"t":"check","case":0,"name":"FZ5","ok":true,"text":"0 escapes"}',
            b'{"t":"note","text":"slow host"}',
            b'{"t":"error","what":"no swap","where":"zram","hint":"mkswap"}',
            DONE,
        ),
        boot=3,
        seed=9,
        arm=Arm.STOCK,
    )
    assert stream.hello is not None
    assert stream.hello.features["freeze"] == ("stock", "exit_state", "lull")
    first, second = stream.samples
    assert (first.boot, first.seed, first.arm, first.i) == (3, 9, Arm.STOCK, 0)
    assert first.metrics == {"freezer_total": 5.5}
    assert second.params == {"zombies": 30000}
    assert (second.feature, second.workload) == ("freeze", "zombies")
    assert [check.name for check in stream.checks] == ["FZ5"]
    assert stream.notes == ("slow host",)
    assert stream.errors[0].hint == "mkswap"
    assert (stream.done, stream.ok, stream.announced) == (True, True, 2)
    assert (stream.missing, stream.bad.count) == (0, 0)


def test_lines_of_a_recording_are_one_text_a_mode() -> None:
    stream = parse_stream(
        join(
            HELLO,
            b'{"t":"recorded","mode":"lull","text":"# lull-kernel: 6"}',
            b'{"t":"recorded","mode":"lull","text":"of the warm-up"}',
            b'{"t":"recorded","mode":"lull","text":"# lull-kernel: 6"}',
            b'{"t":"recorded","mode":"stock","text":"other"}',
            b'{"t":"recorded","mode":"lull","text":"a \\"line\\""}',
            b'{"t":"recorded","mode":"lull"}',
            DONE,
        )
    )
    assert stream.recordings == {
        "lull": '# lull-kernel: 6\na "line"\n',
        "stock": "other\n",
    }
    assert stream.bad.count == 1


def test_a_stream_cut_in_a_line_keeps_what_came_before() -> None:
    data = join(HELLO, CASE, line(0), line(1))
    for end in range(len(data)):
        stream = parse_stream(data[:end])
        whole = data[:end].count(b'"metrics"')
        assert whole - 1 <= len(stream.samples) <= whole
        assert not stream.done
    assert len(parse_stream(data).samples) == 2


@pytest.mark.parametrize(
    "bad",
    [
        b"[  1.5] random: crng init done",
        b"\xff\xfe\x00",
        b"[1, 2]",
        b"{",
        b"12",
        b'{"t":"sample"}',
        b'{"t":"what"}',
        b'{"no":"t"}',
        b'{"t":["sample"]}',
        b'{"t":"sample","case":7,"i":0,"mode":"lull","metrics":{"a":1}}',
        b'{"t":"sample","case":0,"i":-1,"mode":"lull","metrics":{"a":1}}',
        b'{"t":"sample","case":0,"i":true,"mode":"lull","metrics":{"a":1}}',
        b'{"t":"sample","case":0,"i":5,"mode":3,"metrics":{"a":1}}',
        b'{"t":"sample","case":0,"i":5,"mode":"lull","metrics":[1]}',
        b'{"t":"sample","case":0,"i":5,"mode":"lull","metrics":{"a":"1"}}',
        b'{"t":"sample","case":0,"i":5,"mode":"lull","metrics":{"a":true}}',
        b'{"t":"sample","case":0,"i":5,"mode":"lull","metrics":{"a":NaN}}',
        b'{"t":"sample","case":0,"i":5,"mode":"lull","metrics":{"a":-Infinity}}',
        b'{"t":"sample","case":0,"i":5,"mode":"lull","metrics":{"a":1e999}}',
        b'{"t":"sample","case":0,"i":5,"mode":"lull","metrics":{"a":1'
        + b"0" * 400
        + b"}}",
        b"9" * 10_000,
        b"[" * 100_000,
        b'{"t":"check","case":0,"name":"FZ5","ok":1}',
        b'{"t":"done","samples":2}',
        b'{"t":"hello","kernel":5,"cpus":"many"}',
        b'{"t":"case","case":0,"feature":"f","workload":"w","params":{"a":[1]}}',
        line(0),
    ],
)
def test_a_bad_line_is_counted_and_named_and_the_rest_is_kept(bad: bytes) -> None:
    stream = parse_stream(join(HELLO, CASE, line(0), bad, line(1), DONE))
    assert [sample.i for sample in stream.samples] == [0, 1]
    assert stream.done
    assert stream.bad.count == 1
    assert stream.bad.first[0][0] == 4
    assert "first line 4" in str(stream.bad)


def test_only_the_first_few_bad_lines_are_kept() -> None:
    stream = parse_stream(b"x\n" * 1000)
    assert stream.bad.count == 1000
    assert [number for number, _, _ in stream.bad.first] == list(range(1, FEW + 1))


def test_nothing_counts_after_the_end() -> None:
    stream = parse_stream(join(HELLO, CASE, line(0), DONE, line(1)))
    assert len(stream.samples) == 1
    assert stream.bad.count == 1
    assert stream.missing == 1


def test_a_sample_that_grows_overrides_its_case() -> None:
    own = line(0)[:-1] + b',"params":{"zombies":9000,"step":3}}'
    (sample,) = parse_stream(join(CASE, own)).samples
    assert sample.params == {"zombies": 9000, "step": 3}


def test_text_that_is_not_utf8_is_kept_in_a_form_that_can_be_written() -> None:
    stream = parse_stream(
        join(b'{"t":"note","text":"caf\xe9"}', b'{"t":"note","text":"\\ud800"}')
    )
    assert len(stream.notes) == 2
    assert all(note.encode("utf-8") for note in stream.notes)


@given(st.binary(max_size=300))
def test_no_bytes_make_the_reader_raise(data: bytes) -> None:
    parse_stream(data)
    parse_results(data)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["case", "i", "mode", "metrics", "ok", "text", "params"]),
            inner,
            max_size=5,
        )
    ),
)


@given(
    st.sampled_from(["hello", "case", "sample", "check", "note", "error", "done"]),
    st.dictionaries(
        st.sampled_from(["case", "i", "mode", "metrics", "ok", "text", "features"]),
        JSON,
    ),
)
def test_no_members_of_any_type_make_the_reader_raise(
    kind: str, members: dict[str, object]
) -> None:
    parse_stream(join(CASE, json.dumps({"t": kind, **members}).encode()))


GARBAGE = st.binary(max_size=40).filter(
    lambda b: b"\n" not in b and not b.strip().startswith(b"{")
)


@given(st.lists(GARBAGE, max_size=6), st.randoms(use_true_random=False))
def test_good_lines_survive_garbage_between_them(
    garbage: list[bytes], rng: random.Random
) -> None:
    lines = [HELLO, CASE, *(line(i) for i in range(4))]
    for item in garbage:
        lines.insert(rng.randint(0, len(lines)), item)
    stream = parse_stream(join(*lines, DONE))
    assert [sample.i for sample in stream.samples] == [0, 1, 2, 3]
    assert stream.done
    assert stream.bad.count <= len(garbage)


def test_results_survive_writing_and_reading(tmp_path: Path) -> None:
    samples = synthetic.samples(range(2))
    path = tmp_path / "results.jsonl"
    path.write_text(format_results(samples))
    read, bad = read_results(path)
    assert list(read) == samples
    assert bad.count == 0


def test_a_truncated_results_file_loses_its_last_line_only() -> None:
    samples = synthetic.samples(range(1))
    data = format_results(samples).encode()[:-20]
    read, bad = parse_results(b"# a comment\n" + data)
    assert list(read) == samples[:-1]
    assert bad.count == 2
    assert [number for number, _, _ in bad.first] == [1, len(samples) + 1]


def test_a_result_without_finite_metrics_is_bad() -> None:
    text = format_results([synthetic.sample("lull", {"total": 1.0})])
    for value in ("NaN", "1e999", "null", '"1"'):
        read, bad = parse_results(text.replace("1.0", value).encode())
        assert (len(read), bad.count) == (0, 1)
