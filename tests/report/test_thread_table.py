# SPDX-License-Identifier: GPL-2.0-only
from __future__ import annotations

from lull.model import Sample
from lull.report import thread_table
from tests import synthetic


def sample(mode: str, zombies: int, ms: float, boot: int = 0, **more: object) -> Sample:
    metrics = {"freezer_user": ms * 1e6, "freezer_kernel": ms * 0.5e6}
    made = synthetic.sample(mode, metrics, boot=boot, params={"zombies": zombies})
    return made.model_copy(update=more)


def test_rounds_stand_below_each_other_and_modes_side_by_side() -> None:
    samples = [
        sample(mode, size, size / 300 * share)
        for size in (6000, 3000)
        for mode, share in (("lull", 0.05), ("quick", 0.5), ("stock", 1.0))
    ]
    text = thread_table.render(thread_table.rounds(samples), synthetic.feature())
    assert text == (
        "Freezing user space processes, freezing remaining freezable tasks:\n"
        "elapsed seconds, median of the boots\n"
        "\n"
        "round    zombies     stock         quick!         lull\n"
        "                   user kernel   user kernel   user kernel\n"
        "1           3000 0.0100 0.0050 0.0050 0.0025 0.0005 0.0003\n"
        "2           6000 0.0200 0.0100 0.0100 0.0050 0.0010 0.0005\n"
        "average          0.0150 0.0075 0.0075 0.0037 0.0008 0.0004\n"
        "of stock          1.000  1.000  0.500  0.500  0.050  0.050\n"
        "! quick is unsafe: skips too much\n"
    )


def test_a_cell_is_the_median_of_its_boots() -> None:
    samples = [sample("stock", 3000, ms, boot) for boot, ms in enumerate((1, 2, 9))]
    (line,) = thread_table.rounds(samples)
    assert line.cells == {"stock": (0.002, 0.001)}


def test_its_own_workload_goes_before_and_says_its_size_in_a_metric() -> None:
    grown = sample("stock", 30000, 4, workload="thread-table")
    metrics = {**grown.metrics, "zombies": 9000.0, "round": 3.0}
    grown = grown.model_copy(update={"metrics": metrics})
    (line,) = thread_table.rounds([sample("stock", 3000, 1), grown])
    assert (line.zombies, line.cells["stock"][0]) == (9000, 0.004)


def test_a_mode_that_misses_a_round_has_a_dash_there() -> None:
    samples = [sample("stock", 3000, 1), sample("stock", 6000, 2)]
    samples.append(sample("lull", 6000, 1))
    table = thread_table.rounds(samples)
    assert thread_table.averages(table)["lull"] == (0.001, 0.0005)
    lines = thread_table.render(table, synthetic.feature()).splitlines()
    assert lines[5].endswith("     -      -")


def test_samples_of_something_else_make_no_table() -> None:
    other = synthetic.sample("stock", {"total": 1.0}, params={"zombies": 3000})
    assert thread_table.rounds([other]) == ()
    assert thread_table.render((), synthetic.feature()) == ""
