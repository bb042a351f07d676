# SPDX-License-Identifier: GPL-2.0-only
"""How often the edge that nobody declared is found, of many made-up machines.

README of devices has these lines. The machines are the same each time, and so is what
comes of them, until a module changes that makes them or looks at them.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count, islice
from statistics import median

import pytest

from lull.graph.reduced import Symptom
from lull.graph.suspect import Suspect, suspects
from lull.host.files import repo_root
from lull.proof.key import lab_parts
from lull.proof.stamps import Stamps
from tests.graph.missing import Missing, machine, run

ME = "tests/graph/test_suspect_often.py"


def rank(found: tuple[Suspect, ...], missing: Missing) -> int:
    pairs = [(each.supplier, each.consumer) for each in found]
    wanted = (missing.supplier, missing.consumer)
    return pairs.index(wanted) + 1 if wanted in pairs else len(pairs) + 1


def ranked(
    symptom: Symptom, trees: int, times: int
) -> Iterator[tuple[tuple[Suspect, ...], Missing]]:
    """What is found of so many trees, of each ``times`` with pm_async on."""
    machines = (machine(seed, symptom, times) for seed in count(1))
    for missing in islice((m for m in machines if m is not None), trees):
        yield suspects(run(missing.off), map(run, missing.on)), missing


def ranks(symptom: Symptom, trees: int, times: int) -> list[int]:
    """Where the missing edge is, from 1, for so many trees."""
    return [rank(found, missing) for found, missing in ranked(symptom, trees, times)]


def alike(symptom: Symptom, trees: int, times: int) -> list[int]:
    """How many explain what happened as well as the missing edge, or better."""
    numbers = []
    for found, missing in ranked(symptom, trees, times):
        its = round(found[rank(found, missing) - 1].score, 6)
        numbers.append(sum(round(each.score, 6) >= its for each in found))
    return numbers


@pytest.mark.parametrize("symptom", [Symptom.FAILED, Symptom.HUNG])
def test_where_it_fails_or_hangs_most_explain_as_much_as_the_missing_edge(
    symptom: Symptom, stamp: Stamps
) -> None:
    """So that its place among them is chance: README of devices argues with it."""
    with stamp(lab_parts(repo_root(), ME)) as new:
        if new:
            assert median(alike(symptom, trees=20, times=3)) > 3
            assert median(alike(Symptom.SLOW, trees=20, times=3)) == 1


@pytest.mark.seconds(60)
@pytest.mark.parametrize("times", [3, 6])
def test_of_200_trees_the_missing_edge_is_among_the_first_three_in_95_percent(
    times: int, stamp: Stamps
) -> None:
    with stamp(lab_parts(repo_root(), ME)) as new:
        if new:
            found = ranks(Symptom.SLOW, trees=200, times=times)
            assert sum(each <= 3 for each in found) >= 0.95 * len(found)
