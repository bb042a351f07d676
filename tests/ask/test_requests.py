# SPDX-License-Identifier: GPL-2.0-only
"""What the words of ``lull run`` ask for, of the features that there are."""

from __future__ import annotations

import pytest

from lull.ask.catalog import select
from lull.ask.listing import details
from lull.ask.plan import Request
from lull.ask.requests import Asked, requests_of, seeds_from
from lull.errors import UsageError
from lull.kernels.bases import load_base
from lull.model import Clock

BASE = load_base("6.12")


def requests(said: list[str] | None = None, **words: object) -> list[Request]:
    asked = Asked(**{"bases": [BASE], "clocks": [Clock.INSN], **words})  # type: ignore[arg-type]
    return requests_of(asked, (said if said is not None else []).append)


def test_a_mode_is_measured_of_the_features_that_have_it() -> None:
    said: list[str] = []
    (found,) = requests(said, modes=["threadgroup"])
    assert [feature.name for feature in found.features] == ["attach"]
    (text,) = [text for text in said if "zfree" in text]
    assert text.startswith("without ") and "attach" not in text
    assert text.endswith(" on 6.12: not with the mode threadgroup")
    with pytest.raises(UsageError, match="unknown mode of attach: 'no-such'"):
        requests(modes=["no-such"])
    with pytest.raises(UsageError, match="no feature has all of the modes") as bad:
        requests(modes=["threadgroup", "parents"])
    assert bad.value.hint == "a run of each mode"


def test_a_feature_that_is_named_is_not_left_out_for_its_modes() -> None:
    said: list[str] = []
    with pytest.raises(UsageError, match="unknown mode of zfree: 'threadgroup'"):
        requests(said, features=["attach", "zfree"], modes=["threadgroup"])
    assert not said


def refused(**words: object) -> str:
    with pytest.raises(UsageError, match="nothing is measured of") as bad:
        requests(**words)  # type: ignore[arg-type]
    return bad.value.hint


def test_a_workload_without_a_case_is_refused_with_those_that_have_one() -> None:
    """Which the list tells beside it."""
    hint = refused(features=["attach"], workloads=["batch"])
    assert "--workload spawn" in hint and "--workload moves" in hint
    assert "batch" not in hint and "--clock" not in hint
    assert "--quick" not in refused(
        features=["attach"], workloads=["batch"], quick=True
    )
    (attach,) = select(["attach"])
    lines = details(attach, [BASE]).splitlines()
    tried = "  workload batch (tried, not measured)"
    assert any(line.startswith(tried) for line in lines)
    assert any(line.startswith("  workload spawn:") for line in lines)


def test_what_is_said_to_do_instead_can_be_done() -> None:
    """Of all that a feature has, whatever is asked for of it."""
    for feature in select(["attach", "freeze", "devices"]):
        for name in {case.workload for case in feature.cases}:
            for clock in Clock:
                words = {"features": [feature.name], "workloads": [name]}
                try:
                    requests(**words, clocks=[clock], quick=True)  # type: ignore[arg-type]
                    continue
                except UsageError as error:
                    first = error.hint.split("; or ")[0]
                if first.startswith("--workload"):
                    words["workloads"] = [first.split()[-1]]
                    assert requests(**words, clocks=[clock], quick=True)  # type: ignore[arg-type]
                    continue
                if "--clock" in first:
                    clock = Clock(first.split()[-1])
                quick = "without --quick" not in first
                assert requests(**words, clocks=[clock], quick=quick)  # type: ignore[arg-type]


def test_seeds_are_dates_that_a_guest_may_have() -> None:
    assert seeds_from(7, 3, "6.12") == (7, 8, 9)
    with pytest.raises(UsageError, match="seeds 1 to 999999999: a seed is 0 to"):
        seeds_from(1, 999_999_999, "6.12")
    with pytest.raises(UsageError, match="a seed is 0 to"):
        seeds_from(10, 1, "6.12", later=10 * 365 * 24 * 3600)
