# SPDX-License-Identifier: GPL-2.0-only
"""What the page says, as records; how it looks is test_browser's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from lull.model import Arm, Clock, Feature, Metric
from lull.page.build import Extras, page
from lull.page.html import render as render_page
from lull.page.model import Page, System
from lull.report.answer import answer
from lull.report.answer_text import render
from tests import synthetic
from tests.page import runs

COST = synthetic.COST
#: Of a summary that breaks no promise.
KEPT: Mapping[str, object] = {"expectations": ()}


def made(*found: runs.Run, feature: Feature | None = None) -> Page:
    return page(found, [feature or synthetic.feature()], Extras())


def only(found: Page) -> System:
    (system,) = found.systems
    return system


def with_cost(**cost: float) -> runs.Run:
    return runs.run(found=synthetic.samples(cost={**COST, **cost}))


def test_the_verdict_has_size_and_significance() -> None:
    found = made(runs.run())
    assert found.heading == "Faster in 1 of 1 system."
    (verdict,) = only(found).verdicts
    assert (verdict.factor, verdict.word, verdict.tone) == ("9.98x", "faster", "better")
    assert verdict.sentence.startswith("30,000 dead children: time to walk past them:")
    for part in ("12.0ms → 1.20ms", "ratio 0.100", "95% interval", "p = 0.031"):
        assert part in verdict.sentence
    assert "its A/A noise" in verdict.noise
    assert found.broken == ""
    assert found.lead.startswith("All 2 promises hold.")


def test_what_is_slower_is_said_as_loud() -> None:
    found = made(with_cost(lull=900.0))
    assert found.heading == "Nothing is shown to be faster, slower in 1."
    assert only(found).verdicts[0].tone == "worse"
    assert found.broken == "1 of 1 promises broken"
    ((text, measured),) = only(found).promises[0].broken
    assert text.startswith("total lull <= 0.125") and float(measured) > 2


def test_what_is_known_not_to_be_kept_is_said_as_loud_and_is_not_broken() -> None:
    run = with_cost(lull=900.0)
    (promise,) = run.summary.expectations
    known = promise.model_copy(update={"unkept": "it is slow there"})
    summary = run.summary.model_copy(update={"expectations": (known,)})
    found = made(replace(run, summary=summary))
    assert found.broken == ""
    assert found.lead.startswith("1 of 1 promises not kept, as known.")
    promises = only(found).promises[0]
    ((text, measured, why),) = promises.unkept
    assert (promises.kept, promises.broken) == ((), ())
    assert text == promise.text and float(measured) > 2 and why == "it is slow there"


def test_what_the_kernel_has_itself_and_what_its_base_lacks_is_said() -> None:
    run = runs.run()
    assert only(made(run)).native == "" and made(run).absent == ()
    plain = render_page(made(run))
    assert "In this kernel itself" not in plain and "not on this base" not in plain
    update = {"native": {"walk": "it <skips>"}, "absent": {"swim": "no & water"}}
    there = made(replace(run, summary=run.summary.model_copy(update=update)))
    assert only(there).native == "it <skips>"
    assert there.absent == (("swim", "no & water"),)
    told = render_page(there)
    assert "<bdi>it &lt;skips&gt;</bdi>" in told
    assert (
        "<b><bdi>swim</bdi></b> is not on this base: <bdi>no &amp; water</bdi>" in told
    )


def test_where_nothing_is_left_to_win_it_says_so() -> None:
    """And not that it was faster, however sure that is."""
    native = {"native": {"walk": "it skips them by itself"}}
    for lull, clear in ((399.0, True), (400.0, False)):
        cost = {**COST, "lull": lull}
        run = runs.run(found=synthetic.samples(cost=cost, noise=0))
        plain = made(replace(run, summary=run.summary.model_copy(update=KEPT)))
        assert (only(plain).verdicts[0].word == "less time") is clear
        assert "no more to win" not in render_page(plain)
        summary = run.summary.model_copy(update={**KEPT, **native})
        found = made(replace(run, summary=summary))
        assert found.heading == "Nothing is left to win."
        (verdict,) = only(found).shown
        assert (verdict.factor, verdict.word) == ("", "no more to win")
        assert "ratio " in verdict.sentence
        assert "<small>no more to win</small>" in render_page(found)
        assert found.overview is not None and ">no more to win<" in found.overview.svg
        assert found.overview.table.rows[0][-1] == "no more to win"
        assert "  no more to win\n" in found.mail


def test_noise_is_folded_away() -> None:
    found = made(with_cost(lull=400.0, quick=400.0))
    system = only(found)
    assert system.shown == ()
    assert system.verdicts[0].word == "no difference shown"
    assert found.heading == "Nothing is shown to be faster."
    assert [len(case.shown) for case in system.cases] == [0, 0]
    assert [case.quiet[0].title for case in system.cases] == ["total", "total"]


def test_all_samples_are_in_the_picture_and_the_rows_behind_it() -> None:
    case = only(made(runs.run())).cases[0]
    (figure,) = case.shown
    samples = [s for s in runs.samples() if s.arm is Arm.LULL and s.case == 0]
    assert figure.svg.count("h0") == len(samples) == 36
    assert [row[0] for row in figure.table.rows] == ["stock", "quick", "lull"]
    (lull,) = [row for row in figure.table.rows if row[0] == "lull"]
    assert lull[1] == "6" and lull[2] == "1.20ms" and lull[4] == "0.100"
    assert lull[6] == "0.031" and lull[7].endswith("x")
    assert figure.clock is Clock.INSN
    assert "of stock" in figure.verdict and "A/A noise" in figure.verdict


def test_a_summary_without_samples_has_medians() -> None:
    run = runs.run()
    bare = runs.Run("summary.json", run.summary)
    (figure,) = only(made(bare)).cases[0].shown
    assert "h0" not in figure.svg and "<line" in figure.svg
    assert only(made(bare)).cases[0].title == "zombies zombies=30000"


def test_counts_are_beside_the_case() -> None:
    case = only(made(runs.run())).cases[0]
    assert case.supporting is not None
    assert case.supporting.rows == (
        (
            "visited",
            "30.0k tasks",
        )
        + ("30.0k tasks",) * 2,
    )


def test_what_becomes_worse_is_listed_beside_the_gain() -> None:
    feature = synthetic.feature()
    more = {**feature.metrics, "worker": Metric(unit="ns", text="what the worker does")}
    feature = feature.model_copy(update={"metrics": more})
    found = []
    for sample in synthetic.samples():
        cost = 200.0 if sample.mode == "lull" else 100.0
        metrics = {**sample.metrics, "worker": cost + sample.seed}
        found.append(sample.model_copy(update={"metrics": metrics}))
    dear = made(runs.run(found=found, feature=feature), feature=feature)
    costs = only(dear).costs
    assert costs is not None
    assert "What it costs: 2 figures are worse" in render_page(dear)
    assert "What it costs" not in render_page(made(runs.run()))
    assert {row[1] for row in costs.rows} == {"worker"}
    assert costs.rows[0][3:5] == ("102ns", "202ns")
    assert only(made(runs.run())).costs is None


def test_two_clocks_are_two_verdicts_with_their_badges() -> None:
    found = made(runs.run(), runs.run(Clock.WALL))
    clocks = [verdict.clock for verdict in only(found).verdicts]
    assert clocks == [Clock.INSN, Clock.WALL]
    assert {case.clock for case in only(found).cases} == set(Clock)
    assert [source.clock for source in found.sources] == [Clock.INSN, Clock.WALL]


def test_the_text_for_a_mail_is_the_answer() -> None:
    run = runs.run()
    want = render(answer([run.summary], [synthetic.feature()]), [run.name])
    assert made(run).mail == want


def test_who_wants_to_repeat_it_finds_all_that_is_known() -> None:
    (source,) = made(runs.run()).sources
    facts = dict(source.facts)
    assert "ab" * 32 in facts["lull kernel"]
    assert facts["QEMU"] == "QEMU 7.2.19"
    assert facts["seeds"] == "1, 2, 3"
    assert facts["part"] == "2 of 2 cases, 6 of 12 seeds"
    assert source.command == "lull run walk --clock insn"


def test_nothing_is_said_of_what_was_not_measured() -> None:
    system = only(made(runs.run(Clock.WALL)))
    assert system.sections == ()
    assert not [p for p in system.promises if p.kept or p.broken]
    empty = page([], [synthetic.feature()], Extras())
    assert empty.systems == () and empty.overview is None


def test_runs_of_two_kernels_on_one_page_are_doubted() -> None:
    one, other = runs.run(), runs.run(Clock.WALL)
    assert made(one, other).doubts == ()
    kernels = {
        "lull": runs.env().kernels["lull"].model_copy(update={"digest": "cd" * 32})
    }
    other = runs.Run(
        other.name, other.summary, other.samples, runs.env(kernels=kernels)
    )
    (doubt,) = made(one, other).doubts
    assert "lull kernel image" in doubt


def test_a_feature_that_nobody_knows_has_its_rows() -> None:
    found = page([runs.run()], [], Extras())
    system = only(found)
    assert system.name == "walk" and system.verdicts == ()
    assert len(system.cases) == 2


def test_a_headlines_case_is_first_and_the_others_are_a_line_each() -> None:
    feature = synthetic.feature()
    turned = feature.model_copy(update={"cases": feature.cases[::-1]})
    first, other = only(made(runs.run(feature=turned, found=runs.samples()))).cases
    assert (first.title, first.first) == ("zombies zombies=30000", True)
    assert (other.title, other.first) == ("sleepers sleepers=50", False)
    assert other.brief.startswith("total: lull is 0.1") and other.tone == "better"


def test_two_headlines_are_two_lines_of_the_picture() -> None:
    feature = synthetic.feature()
    twice = feature.model_copy(update={"headlines": feature.headlines * 2})
    found = made(runs.run(), feature=twice).overview
    assert found is not None
    assert ">walk insn<" in found.svg and ">walk insn 2<" in found.svg
    assert len(found.table.rows) == 2
