# SPDX-License-Identifier: GPL-2.0-only
from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lull.errors import BadTree
from lull.trees.model import Device, Phase, Tree, Work
from lull.trees.reader import read
from lull.trees.writer import write
from lull.vm.timeouts import host_factor
from tests.trees.made import trees

HEAD = b"lull-tree 1\n"
WORDS = [
    b"device",
    b"a",
    b"b",
    b"async",
    b"direct",
    b"parent=a",
    b"supplier=b",
    b"suspend=4",
    b"resume=busy:60000000",
    b"fail=suspend:16",
    b"wakeup=suspend_noirq",
    b"=",
    b"#",
    b"\r",
    b"\n",
    b"\ndevice",
    b"\xff",
    b"\0",
    b"-1",
]


def refused(lines: bytes) -> str:
    with pytest.raises(BadTree) as caught:
        read(HEAD + lines, "f.tree")
    assert caught.value.hint
    return f"{caught.value.where}: {caught.value.what} / {caught.value.hint}"


def test_everything_that_a_line_can_say_is_read() -> None:
    text = HEAD + (
        b"# caf\xe9: a comment may hold any byte\n"
        b"\n"
        b"  \t# and be indented\n"
        b"device pci0\n"
        b"device\tclk:0  resume_noirq=0\n"
        b"device nvme0 async direct supplier=clk:0 parent=pci0 supplier=pci0"
        b" suspend=123000 resume=busy:60000000 wakeup=suspend_late"
        b" fail=suspend:16 fail=suspend_noirq:4095 wakeup=suspend"
    )
    assert read(text, "f") == Tree(
        (
            Device("pci0"),
            Device("clk:0", work={Phase.RESUME_NOIRQ: Work(0)}),
            Device(
                "nvme0",
                parent="pci0",
                suppliers=("clk:0", "pci0"),
                is_async=True,
                direct=True,
                work={
                    Phase.SUSPEND: Work(123000),
                    Phase.RESUME: Work(60_000_000, busy=True),
                },
                fail={Phase.SUSPEND: 16, Phase.SUSPEND_NOIRQ: 4095},
                wakeup=frozenset({Phase.SUSPEND, Phase.SUSPEND_LATE}),
            ),
        )
    )


@given(trees())
def test_what_is_written_reads_as_the_same_tree(tree: Tree) -> None:
    assert read(write(tree).encode("ascii"), "f") == tree


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (b"device a parent=b\ndevice b parent=a\n", ["f.tree:2", "a -> b -> a"]),
        (
            b"device a supplier=b\ndevice b supplier=c\ndevice c parent=a\n",
            ["f.tree:2", "device a", "a -> b -> c -> a", "drop one"],
        ),
        (b"device a parent=b\n", ["f.tree:2", "device a", "parent b is unknown"]),
        (b"device abcd\ndevice a supplier=abce\n", ["f.tree:3", "mean abcd"]),
        (
            b"device a parent=b\n#\ndevice b\n",
            ["f.tree:2", "device a", "parent b", "later, at f.tree:4", "move b before"],
        ),
        (b"device a parent=a\n", ["f.tree:2", "device a", "its own parent"]),
        (b"device a supplier=a\n", ["f.tree:2", "device a", "its own supplier"]),
        (b"device a parent=b\x01\n", ["device a", "'b\\x01' is not a name"]),
        (b"device a parent=\n", ["device a", "'' is not a name"]),
        (b"device a suspend=-4\n", ["f.tree:2", "device a", "suspend", "negative"]),
        (b"device a suspend=60000001\n", ["60000001 is too large", "at most 60000000"]),
        (b"device a suspend=" + b"9" * 9999, ["is too large", "at most 60000000"]),
        (b"device a suspend=1e3\n", ["'1e3' is not a time in microseconds"]),
        (b"device a suspend=+3\n", ["'+3' is not a time"]),
        (b"device a suspend=\n", ["'' is not a time"]),
        (b"device a suspend=busy:\n", ["'' is not a time"]),
        (b"device a suspend=\xb2\n", ["\\xb2' is not a time"]),
        (b"device a fail=suspend:0\n", ["device a", "errno 0"]),
        (b"device a fail=suspend:4096\n", ["fail=suspend: 4096 is too large"]),
        (b"device a fail=suspend\n", ["'' is not an errno"]),
        (b"device a fail=resume:5\n", ["device a", "fail in phase 'resume'"]),
        (b"device a wakeup=resume_noirq\n", ["wakeup in phase", "suspend_late"]),
        (b"", ["f.tree: no devices", "device disk"]),
        (b"# nothing\n\n", ["no devices"]),
        (b"device\n", ["f.tree:2", "without a name"]),
        (b"device caf\xe9\n", ["f.tree:2", "'caf\\xe9' is not one", "A-Z"]),
        (b"device \x1b[31m\n", ["'\\x1b[31m' is not one"]),
        (b"device a/b\n", ["'a/b' is not one"]),
        (b"device " + b"a" * 64 + b"\n", ["is not one", "1 to 63"]),
        (b"device a\n\ndevice a\n", ["f.tree:4", "device a", "on line 2 already"]),
        (b"device a async async\n", ["device a", "async is given twice"]),
        (b"device a direct direct\n", ["direct is given twice"]),
        (b"device p\ndevice a parent=p parent=p\n", ["parent is given twice"]),
        (b"device p\ndevice a supplier=p supplier=p\n", ["supplier=p is given twice"]),
        (b"device a suspend=1 suspend=busy:1\n", ["suspend is given twice"]),
        (b"device a fail=suspend:1 fail=suspend:2\n", ["fail=suspend is given twice"]),
        (b"device a wakeup=suspend wakeup=suspend\n", ["is given twice"]),
        (
            b"device a aysnc\n",
            ["f.tree:2", "device a", "'aysnc'", "did you mean async"],
        ),
        (b"device a supsend=4\n", ["did you mean suspend=4"]),
        (b"device a supsend=\x1b\n", ["did you mean suspend=\\x1b"]),
        (b"device a qqqqqqq=4\n", ["unknown word", "known are: parent"]),
        (b"device a async=1\n", ["has a value", "write: async"]),
        (b"device a suspend\n", ["has no value", "write: suspend="]),
        (b"device a # async\n", ["unknown word '#'", "its own line"]),
        (b"devcie a\n", ["f.tree:2", "'devcie'", "did you mean device"]),
        (b"disk\n", ["unknown word 'disk'", "a # comment"]),
        (b"device a\r\n", ["f.tree:2", "carriage return", "dos2unix"]),
        (b"device a\n# \0\n", ["f.tree:3", "NUL"]),
    ],
)
def test_a_fault_is_named_with_line_device_and_remedy(
    lines: bytes, says: list[str]
) -> None:
    message = refused(lines)
    assert [text for text in says if text not in message] == [], message
    assert message.isprintable()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (b"", "empty"),
        (b"device a\n", "'device a'"),
        (b"lull-tree 2\ndevice a\n", "exactly"),
        (b"lull-tree 1 \ndevice a\n", "exactly"),
        (b"lull-tree 1\r\ndevice a\n", "exactly"),
        (b"\nlull-tree 1\ndevice a\n", "empty"),
        (b"\x7fELF\x02", "\\x7fELF\\x02"),
    ],
)
def test_the_first_line_is_the_header_and_nothing_else(text: bytes, says: str) -> None:
    with pytest.raises(BadTree, match="the first line") as caught:
        read(text, "f.tree")
    assert caught.value.where == "f.tree:1"
    assert says in str(caught.value)
    assert "lull-tree 1" in caught.value.hint


def test_ten_thousand_devices_are_read_and_one_more_is_refused() -> None:
    line = b"device d%d async suspend=1\n"
    most = HEAD + b"".join(line % i for i in range(10_000))
    assert len(read(most, "f").devices) == 10_000
    with pytest.raises(BadTree, match="more than 10000 devices") as caught:
        read(most + line % 10_000, "f")
    assert caught.value.where == "f:10002"


@pytest.mark.parametrize(
    "text",
    [
        HEAD + b"".join(b"device d%d\n" % i for i in range(100_000)),
        HEAD + b"#\n" * 100_000,
        HEAD + b"".join(b"device d%d parent=x%d\n" % (i, i) for i in range(10_000)),
        HEAD
        + b"".join(b"device d%d parent=d%d\n" % (i, i + 1) for i in range(9_999))
        + b"device d9999 parent=d0\n",
        HEAD + b"device d" + b" async" * 100_000,
        HEAD + b"device d " + b"suspendresume" * 100_000,
        HEAD + b"device d suspend=" + b"1" * 1_000_000,
        b"lull-tree " * 100_000,
    ],
    ids=[
        "devices",
        "comments",
        "unknown",
        "cycle",
        "words",
        "long word",
        "digits",
        "header",
    ],
)
def test_a_huge_fault_is_found_soon_and_told_briefly(text: bytes) -> None:
    start = time.process_time()
    with pytest.raises(BadTree) as caught:
        read(text, "f.tree")
    assert time.process_time() - start < 5 * host_factor()
    assert len(str(caught.value)) < 500


def read_or_refuse(text: bytes) -> None:
    try:
        tree = read(text, "f.tree")
    except BadTree as error:
        assert error.hint and error.where.startswith("f.tree")
        assert str(error).replace("\n", "").isprintable()
    else:
        assert read(write(tree).encode("ascii"), "again") == tree


@given(st.binary())
def test_any_bytes_are_read_or_refused(text: bytes) -> None:
    read_or_refuse(text)
    read_or_refuse(HEAD + text)


@given(st.lists(st.sampled_from(WORDS)))
def test_any_words_are_read_or_refused(words: list[bytes]) -> None:
    read_or_refuse(HEAD + b"device " + b" ".join(words))


@given(trees(most=4), st.data())
def test_a_broken_description_is_read_or_refused(
    tree: Tree, data: st.DataObject
) -> None:
    text = write(tree).encode("ascii")
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 20)))
    put = data.draw(st.binary(max_size=4) | st.sampled_from(WORDS))
    read_or_refuse(text[:start] + put + text[end:])


@pytest.mark.parametrize(
    "device",
    [
        Device("a b"),
        Device("a async"),
        Device(""),
        Device("a\ndevice b"),
        Device("\ud800"),
        Device("a", parent="b"),
        Device("a", work={Phase.SUSPEND: Work(-1)}),
        Device("a", fail={Phase.RESUME: 5}),
        Device("a", wakeup=frozenset({Phase.RESUME})),
    ],
)
def test_a_tree_that_would_not_read_back_is_not_written(device: Device) -> None:
    with pytest.raises(BadTree):
        write(Tree((device,)))


def test_a_comment_cannot_become_a_line_of_its_own() -> None:
    tree = Tree((Device("a"),))
    text = write(tree, ["caf\u00e9 \0 \ud800", "two\ndevice b"])
    assert read(text.encode("ascii"), "f") == tree
    assert text.splitlines()[3] == "# device b"
