# SPDX-License-Identifier: GPL-2.0-only
"""The promises of a run as points of KTAP."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from lull.model import Clock, Promise, Summary
from lull.report.ktap import Point
from lull.report.summary import KEPT, NOT_MEASURED, NOT_SHOWN


def points_of(summary: Summary) -> tuple[Point, ...]:
    """A test for each feature, a subtest for each of its expectations.

    A feature that was measured and has none on this clock is skipped, and so is one
    that was asked for and is not on this base. Names do not depend on what was
    measured.
    """
    by_feature: dict[str, list[Point]] = {row.feature: [] for row in summary.rows}
    for promise in summary.expectations:
        by_feature.setdefault(promise.feature, []).append(_point(promise))
    machine = f"{summary.kernel}, {summary.accel}, {summary.cpus} CPUs"
    measured = (
        Point(
            _name(feature, summary.clock),
            ok=all(point.ok for point in points),
            skipped=None if points else "nothing is promised on this clock",
            diagnostics=(machine, *_native(summary, feature)),
            subtests=tuple(points),
        )
        for feature, points in by_feature.items()
    )
    return (*measured, *_absent(summary.absent, summary.clock))


def unjudged(
    features: Iterable[str],
    clock: Clock,
    absent: Mapping[str, str],
    why: Sequence[str],
) -> tuple[Point, ...]:
    """The same tests of a run that did not come back: those that it would have
    measured have failed, and ``why`` is what is said of each."""
    failed = (
        Point(_name(feature, clock), ok=False, diagnostics=tuple(why))
        for feature in features
    )
    return (*failed, *_absent(absent, clock))


def _name(feature: str, clock: Clock) -> str:
    return f"{feature} ({clock})"


def _absent(absent: Mapping[str, str], clock: Clock) -> Iterator[Point]:
    for feature, why in absent.items():
        yield Point(_name(feature, clock), skipped=f"not on this base: {why}")


def _native(summary: Summary, feature: str) -> Iterator[str]:
    """What of it the kernel has itself, in its mode stock."""
    if there := summary.native.get(feature):
        yield f"in this kernel: {there}"


def _point(promise: Promise) -> Point:
    if promise.measured is None:
        said = "not measured"
    else:
        said = f"measured {promise.measured:.4g}"
        if promise.text.endswith(NOT_SHOWN):
            said += NOT_SHOWN
        if promise.text.endswith(KEPT):
            said += KEPT
    return Point(
        promise.text.removesuffix(NOT_MEASURED)
        .removesuffix(NOT_SHOWN)
        .removesuffix(KEPT),
        ok=not promise.broken,
        expected=promise.unkept or None,
        diagnostics=(said if promise.aim is None else f"{said}, aim {promise.aim:g}",),
    )
