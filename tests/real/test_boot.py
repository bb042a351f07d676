# SPDX-License-Identifier: GPL-2.0-only
"""Real programs in a real Debian, on its own kernel and with Lull, in a short form."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from lull.host.progress import open_progress
from lull.real import run as real
from lull.real.catalog import Scenario, scenarios, select
from lull.real.programs import files_of
from lull.real.run import measure
from tests.real.rooms import short

#: Before it is killed as it should be, somebody else has done so.
EARLIER = 'switch() { features stock; [ "$i" != 2 ] || alive() { dies; }; }\n'
DIES = """
dies() {
	systemctl kill --signal=SIGSEGV "$unit"
	n=0
	while systemctl is-active -q "$unit" && [ $((n += 1)) -lt 60 ]; do
		sleep 1
	done
	[ "$(systemctl is-active "$unit")" = active ] ||
		fail "redis-server has died" "$unit"
}
"""


@pytest.mark.default_base
@pytest.mark.packages
@pytest.mark.seconds(900)
def test_one_dies_and_is_named_and_the_other_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def files(one: Scenario) -> Mapping[str, Path]:
        found = files_of(one)
        if one.name == "kill":
            script = found["scenario.sh"].read_text("utf-8")
            found["scenario.sh"] = tmp_path / "scenario.sh"
            found["scenario.sh"].write_text(script + DIES + EARLIER)
        return found

    monkeypatch.setattr(real, "files_of", files)
    request = short(select(["kill", "containers"]), tmp_path / "run", bare=True)
    with open_progress() as progress:
        result = measure(request, progress)
    (failure,) = result.failures
    text = str(failure.error)
    assert text.startswith("kill, case 0, round 2, mode stock: redis-server has died")
    assert "lull-redis-" in text and "SEGV" in text
    rows = {row.metric: row for row in result.summary.rows if row.mode == "stock"}
    assert {row.feature for row in result.summary.rows} == {"containers"}
    assert rows["start_p50"].median > 0 and rows["writes"].median >= 1
    modes = {row.mode for row in result.summary.rows}
    assert modes == {"stock", "favordynmods", "expedited"}
    assert "crun\t" in (result.folder / "packages.txt").read_text()


@pytest.mark.default_base
@pytest.mark.packages
@pytest.mark.seconds(4800)
def test_each_is_measured_in_all_its_modes(tmp_path: Path) -> None:
    request = short(scenarios(), tmp_path / "run")
    with open_progress() as progress:
        result = measure(request, progress)
    assert result.failures == ()
    assert "lull" in result.summary.kernel
    for one in request.scenarios:
        rows = [row for row in result.summary.rows if row.feature == one.name]
        assert {row.mode for row in rows} == set(one.feature.mode_names)
        for headline in one.feature.headlines:
            found = [row for row in rows if row.metric == headline.metric]
            assert found and all(row.median > 0 for row in found)
