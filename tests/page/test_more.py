# SPDX-License-Identifier: GPL-2.0-only
"""Tails, growth, profiles and suspend cycles on the page."""

from __future__ import annotations

import base64
import gzip
import json
from collections import Counter
from pathlib import Path

import pytest

from lull.errors import LabError, UsageError
from lull.graph.analysis import analyse
from lull.graph.ftrace import read
from lull.host.progress import open_progress
from lull.model import Clock, Feature, Sample
from lull.page.build import Extras, page
from lull.page.charts import decades
from lull.page.command import make_page
from lull.page.curves import quantile
from lull.page.cycle import chosen, recorded
from lull.page.model import Section
from lull.page.profiles import section, table
from lull.report.counted import PROFILES, counted, keep, kept
from lull.report.profile import Count, Profile
from lull.runs import profiler
from lull.runs.profiler import ProfileRequest, profile
from lull.runs.rundir import RECORDINGS
from tests import synthetic
from tests.graph import traces
from tests.page import runs

THEIRS = Profile("stock", "6.12.117", 2, 4, {"walk": Count(420, 12), "<b>": Count(4)})
OURS = Profile("lull", "6.12.117", 2, 4, {"walk": Count(40, 4), "new": Count(8, 0)})
COUNTED = counted(OURS, THEIRS, "walk zombies", "unit of pages")


def with_tail(samples: list[Sample]) -> tuple[Feature, list[Sample]]:
    """Of 1000 in a round all take 1024 ns or a bit more, but one of stock."""
    feature = synthetic.feature().model_copy(update={"histograms": ("total",)})
    found = []
    for sample in samples:
        more = {"total_h10": 999.0, "total_h20": 1.0}
        if sample.mode == "lull":
            more = {"total_h10": 1000.0}
        metrics = {**sample.metrics, **more}
        found.append(sample.model_copy(update={"metrics": metrics}))
    return feature, found


def sections(feature: Feature, found: list[Sample]) -> tuple[Section, ...]:
    run = runs.run(found=found, feature=feature)
    (system,) = page([run], [feature], Extras()).systems
    return system.sections


def test_a_tail_is_a_curve_of_quantiles() -> None:
    (tails,) = sections(*with_tail(synthetic.samples()))
    figure = tails.figures[0]
    rows = {row[0]: row[1:] for row in figure.table.rows}
    # 12 rounds of a mode; 999 of 1000 are below 2.05 us, and no more.
    assert rows["stock"] == ("12000", "2.05us", "2.05us", "2.05us", "2.05us", "2.10ms")
    assert rows["lull"] == ("12000", *["2.05us"] * 5)
    assert [key.name for key in figure.keys] == ["stock", "quick", "lull"]
    assert figure.svg.count("<path") >= 3
    for label in ("50%", "90%", "99%", "99.9%", "99.99%"):
        assert f">{label}<" in figure.svg


def test_a_quantile_beyond_what_was_counted_is_not_told() -> None:
    assert quantile(Counter({10: 50, 12: 50}), 0.5) == 2048
    assert quantile(Counter({10: 49, 12: 51}), 0.5) == 8192
    assert quantile(Counter({10: 50, 12: 50}), 0.99) == 8192
    assert quantile(Counter({10: 50, 12: 50}), 0.999) is None
    assert quantile(Counter(), 0.5) is None


def test_growth_is_a_line_a_mode_through_the_points() -> None:
    found = []
    for sample in synthetic.samples(noise=0):
        for size in (1000, 30000, 60000) if sample.workload == "zombies" else ():
            cost = synthetic.COST[sample.mode] * size + 5000
            update = {"params": {"zombies": size}, "metrics": {"total": cost}}
            found.append(sample.model_copy(update=update))
    (growth,) = sections(synthetic.feature(), found)
    (figure,) = growth.figures
    assert figure.title == "total by zombies, zombies"
    rows = {row[0]: row for row in figure.table.rows}
    assert rows["stock"][1].startswith("400ns")
    assert rows["lull"][2] == "0.100" and rows["lull"][3] == "5.00us"


def test_a_logarithmic_axis_is_labelled_by_decades() -> None:
    assert decades([2e-6, 5e-3]) == pytest.approx([1e-6, 1e-5, 1e-4, 1e-3, 1e-2])
    assert decades([2.0, 30.0]) == pytest.approx([1, 3, 10, 30, 100, 300])
    assert decades([0.0]) == []


def test_a_profile_is_a_bar_a_function_and_a_table_of_differences() -> None:
    made = section(COUNTED, "p0")
    (figure,) = made.figures
    assert figure.title == "106 to 12 instructions per unit of pages"
    assert figure.table.heads == (
        *("function", "stock insns", "stock locked"),
        *("lull insns", "lull locked", "difference"),
    )
    assert figure.table.rows[1] == ("walk", "105.0", "3.00", "10.0", "1.00", "-95.0")
    # Which is less in lull, which is more, and nothing but text in the names.
    for fill in ("var(--less)", "var(--more)"):
        assert fill in figure.svg
    assert "<b>" not in figure.svg and "walk" in figure.svg


def test_a_profile_of_one_mode_has_no_difference() -> None:
    found = table(OURS, None)
    assert found.heads == ("function", "lull insns", "lull locked")
    assert found.rows[0] == ("total", "12.0", "1.00")
    assert (
        "var(--less)"
        not in section(counted(OURS, None, "walk", "round"), "p0").figures[0].svg
    )


def test_a_profile_is_kept_in_a_runs_folder(tmp_path: Path) -> None:
    path = keep(tmp_path, COUNTED)
    assert path.parent == tmp_path / PROFILES
    assert kept(tmp_path) == (COUNTED,)
    assert COUNTED.of.profile() == OURS
    path.write_text("{")
    with pytest.raises(LabError, match="not a profile"):
        kept(tmp_path)


def test_lull_profile_keeps_it_where_it_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(profiler, "profiles", lambda request, progress: (OURS, THEIRS))
    request = ProfileRequest(
        feature=synthetic.feature(),
        workload="zombies",
        mode="lull",
        vs="stock",
        base="6.12",
        params={},
        into=tmp_path,
    )
    (tmp_path / "env.json").write_text("{}")
    with open_progress() as progress:
        profile(request, progress)
        assert kept(tmp_path)[0].of.profile() == OURS
        assert kept(tmp_path)[0].unit == "round"
        missing = tmp_path / "none"
        with pytest.raises(UsageError, match="no folder"):
            profile(ProfileRequest(**{**vars(request), "into": missing}), progress)


def test_a_cycle_has_its_steps_its_critical_path_and_a_file_for_the_viewer() -> None:
    found = recorded(
        analyse(read(traces.recorded(), "made up")), "lull", Clock.WALL, "r0"
    )
    assert found.title == "mode lull"
    assert found.figure.clock is found.path.clock is Clock.WALL
    steps = dict((row[0], row[2]) for row in found.figure.table.rows)
    assert steps["dpm_suspend"] == "30.600"
    # The bus waited for the screen, and the screen for nothing.
    assert found.path.title == "Critical path of suspend, 30.6ms"
    names = [row[0] for row in found.path.table.rows]
    assert names == ["screen", "bus0"]
    assert found.path.table.rows[1][3:5] == ("waited for", "screen")
    prefix = "data:application/gzip;base64,"
    assert found.link.href.startswith(prefix)
    packed = base64.b64decode(found.link.href.removeprefix(prefix))
    events = json.loads(gzip.decompress(packed))["traceEvents"]
    assert {"dpm_suspend", "screen"} <= {event["name"] for event in events}
    assert found.link.name == "lull.perfetto.json.gz"


def test_of_many_boots_the_first_is_shown() -> None:
    names = ["boot-003-lull.ftrace.txt", "boot-001-lull.ftrace.txt", "notes", "boot-1"]
    assert chosen([*names, "boot-002-stock.ftrace.txt"]) == {
        "lull": "boot-001-lull.ftrace.txt",
        "stock": "boot-002-stock.ftrace.txt",
    }


def test_a_folder_has_all_of_it_and_what_is_broken_is_a_doubt(tmp_path: Path) -> None:
    run = runs.folder(tmp_path / "run", runs.run())
    keep(run, COUNTED)
    (run / RECORDINGS).mkdir()
    (run / RECORDINGS / "boot-000-stock.ftrace.txt").write_bytes(traces.recorded())
    (run / RECORDINGS / "boot-000-lull.ftrace.txt").write_text("nothing\n")
    said: list[str] = []
    text = make_page([run], None, said.append).read_text("utf-8")
    assert "Where the instructions go" in text
    assert "mode stock" in text and "mode lull" not in text
    assert len(said) == 1 and "boot-000-lull" in said[0]
    assert "boot-000-lull" in text
    # Who names the summary gets what is in it.
    bare = make_page([run / "summary.json"], tmp_path, said.append).read_text("utf-8")
    assert "Where the instructions go" not in bare and "mode stock" not in bare
