# SPDX-License-Identifier: GPL-2.0-only
"""What the words of ``lull run`` ask for, of the features that there are."""

from __future__ import annotations

import pytest

from lull.ask.catalog import select
from lull.ask.listing import details
from lull.ask.plan import Request
from lull.ask.requests import Asked, requests_of
from lull.errors import UsageError
from lull.kernels.bases import load_base
from lull.model import Clock

BASE = load_base("6.12")


def requests(said: list[str] | None = None, **words: object) -> list[Request]:
    asked = Asked(bases=[BASE], clocks=[Clock.INSN], **words)  # type: ignore[arg-type]
    return requests_of(asked, (said if said is not None else []).append)


def test_a_mode_is_measured_of_the_features_that_have_it() -> None:
    said: list[str] = []
    (found,) = requests(said, modes=["threadgroup"])
    assert [feature.name for feature in found.features] == ["attach"]
    assert "without zfree: it has no mode threadgroup" in said
    with pytest.raises(UsageError, match="unknown mode of attach: 'no-such'"):
        requests(modes=["no-such"])


def test_what_no_feature_has_all_of_is_refused() -> None:
    with pytest.raises(UsageError, match="unknown mode of"):
        requests(features=["attach", "devices"], modes=["threadgroup", "parents"])


def test_a_workload_without_a_case_is_refused_with_those_that_have_one() -> None:
    """Which the list tells beside it."""
    with pytest.raises(UsageError, match="nothing is measured of batch on insn") as bad:
        requests(features=["attach"], workloads=["batch"])
    assert "--workload spawn" in bad.value.hint
    assert "--workload batch" not in bad.value.hint
    (attach,) = select(["attach"])
    lines = details(attach, [BASE]).splitlines()
    assert any(
        line.startswith("  workload batch (tried, not measured)") for line in lines
    )
    assert any(line.startswith("  workload spawn:") for line in lines)


def test_a_workload_that_a_quick_run_leaves_out_is_refused() -> None:
    (attach,) = select(["attach"])
    quick = {case.workload for case in attach.cases if case.in_quick(Clock.INSN)}
    (one, *_) = sorted({case.workload for case in attach.cases} - quick)
    assert requests(features=["attach"], workloads=[one])
    with pytest.raises(UsageError, match="in a quick run") as bad:
        requests(features=["attach"], workloads=[one], quick=True)
    assert "leave --quick out" in bad.value.hint
