"""Audits on the page: those of its own data, and notes on those of other data."""

from dataclasses import replace

from helpers.runs.made_audits import make_audit
from helpers.strategies.probe_strategies import make_sample_result

from sentprobe.probes.reports.pages.html import build_report_page
from sentprobe.probes.reports.pages.page_parts import BEST_NAME, PageAudits, build_page_audits
from sentprobe.probes.reports.pages.panels import DotPanel
from sentprobe.probes.results.data_facts import DataFacts
from sentprobe.probes.results.result import Result, Results


def make_result(encoder: str, task: str, right: int, fingerprint: str, seed: int = 0) -> Result:
    facts = DataFacts(train=9, test=1000, validation=0, word_types=9, vocabulary="v", sampling="s", seed=seed)
    sample = make_sample_result(encoder, task, right)
    return replace(sample, dataset_fingerprint=fingerprint, data=facts)


TWO = Results(
    (
        make_result("bow", "Order", 600, "aaaa"),
        make_result("bilstm", "Order", 800, "aaaa"),
        replace(make_result("tfidf", "Order", 990, "aaaa"), dim=0),
        make_result("bow", "SemRole", 650, "bbbb"),
    )
)


def list_dots(page_part: PageAudits) -> list[tuple[str, float, str, int]]:
    (panel,) = (panel for panel in page_part.picture.panels if isinstance(panel, DotPanel))
    rows = ((row, dot) for row in panel.rows for dot in row.dots)
    return [(row.encoder, round(dot.value, 6), dot.name, dot.mark) for row, dot in rows]


def test_cues_stand_beside_the_best_encoder() -> None:
    page_part = build_page_audits(TWO, [make_audit("Order", "aaaa")])
    assert list_dots(page_part) == [
        ("probe", 50, "not above chance", 0),
        ("length", 47, "below chance", 2),
        ("n-grams", 90, "expected", 3),
        (BEST_NAME, 80, "bilstm", 6),  # a baseline is no encoder
    ]
    assert not any(row.is_encoder for p in page_part.picture.panels for row in p.rows)  # type: ignore[union-attr]
    seen = ["not above chance", "below chance", "expected", BEST_NAME]
    assert [name for name, _ in page_part.picture.legend] == seen
    assert page_part.lead == ("No leak found in 1 dataset: no cue that should be uninformative is above chance.")
    assert (page_part.missing, page_part.warnings) == (("Not audited: SemRole.",), ())
    (audit,) = page_part.audits
    assert audit.title == ("Order (4000 train, 1000 test items in 500 units; chance 50.0%)")
    rows = [[row.label, row.cells[0].text, row.cells[-1].text] for row in audit.grid.rows]
    assert rows[2] == ["length and probe", "47.0", "below chance"]
    assert audit.lines[-1] == "The seed of the classifiers is 3."


def test_a_leak_stands_at_the_top() -> None:
    audits = [make_audit("Order", "aaaa", leaks=True), make_audit("SemRole", "bbbb")]
    page_part = build_page_audits(TWO, audits)
    leak = "Order: LEAK: length and probe gives 62.0%, where chance is 50.0%."
    assert page_part.lead.startswith(
        "1 of 2 datasets have leaks: a cue that should be uninformative is above chance, or "
    )
    assert (page_part.warnings, page_part.missing) == ((leak,), ())
    page = build_report_page(TWO, audits=audits)
    assert page.index("Before you believe the data") < page.index(leak)
    assert page.index(leak) < page.index("<table") < page.index("<h2>What surface cues achieve")
    assert page.index("<h2>What surface cues") < page.index("<h2>How to reproduce the results</h2>")


def test_an_audit_of_other_data_is_left_out_in_words() -> None:
    page_part = build_page_audits(TWO, [make_audit("Order", "cccc"), make_audit("Tense", "dddd")])
    assert (page_part.audits, page_part.picture.panels, page_part.legend) == ((), (), ())
    assert page_part.lead == "There is no audit of the data of these results."
    assert page_part.missing == (
        "The audit of Order is left out: it is of the data cccc, but the results are of aaaa.",
        "The audit of Tense is left out: there are no results on this task.",
        "Not audited: Order; SemRole.",
    )


def test_of_draws_each_dataset_is_named_with_its_seed() -> None:
    draws = Results((make_result("bow", "Order", 600, "a"), make_result("bow", "Order", 600, "b", 10)))
    audits = [make_audit("Order", "b"), make_audit("Order", "a"), make_audit("Order", "b")]
    page_part = build_page_audits(draws, audits)
    titles = ["Order, seed 10", "Order, seed 0"]
    assert [panel.title for panel in page_part.picture.panels] == titles
    assert [audit.verdict.partition(":")[0] for audit in page_part.audits] == titles
    unknown = Results(tuple(replace(record, data=None) for record in draws.records))
    assert build_page_audits(unknown, audits[:1]).missing == ("Not audited: Order, a.",)


def test_hostile_names_are_text() -> None:
    name = "</script><img src=x>\x1b[31m"
    results = Results((make_result("bow", name, 600, "<b>"),))
    page = build_report_page(results, audits=[make_audit(name, "<b>", leaks=True), make_audit(name, "<i>")])
    assert "<img" not in page
    assert "<i>" not in page
    assert "\x1b" not in page.partition("<h2>What surface cues achieve</h2>")[2]
    assert "The audit of &lt;/script&gt;" in page


def test_without_audits_the_page_says_nothing_of_them() -> None:
    assert "surface cues" not in build_report_page(TWO)
