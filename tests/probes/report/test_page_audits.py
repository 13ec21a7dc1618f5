"""What the page says of audits: those of its own data, and which are of other data."""

from dataclasses import replace

from made_audits import made_audit
from probe_strategies import sample_result

from sentprobe.probes.report.html import report
from sentprobe.probes.report.page_audits import BEST, PageAudits, page_audits
from sentprobe.probes.report.panels import DotPanel
from sentprobe.probes.runs.data_facts import DataFacts
from sentprobe.probes.runs.results import Result, Results


def of_data(encoder: str, task: str, right: int, fingerprint: str, seed: int = 0) -> Result:
    facts = DataFacts(
        train=9, test=1000, validation=0, word_types=9, vocabulary="v", sampling="s", seed=seed
    )
    made = sample_result(encoder, task, right)
    return replace(made, dataset_fingerprint=fingerprint, data=facts)


TWO = Results(
    (
        of_data("bow", "Order", 600, "aaaa"),
        of_data("bilstm", "Order", 800, "aaaa"),
        replace(of_data("tfidf", "Order", 990, "aaaa"), dim=0),
        of_data("bow", "SemRole", 650, "bbbb"),
    )
)


def dots(found: PageAudits) -> list[tuple[str, float, str, int]]:
    (panel,) = (each for each in found.picture.panels if isinstance(each, DotPanel))
    rows = ((row, dot) for row in panel.rows for dot in row.dots)
    return [(row.encoder, round(dot.value, 6), dot.name, dot.mark) for row, dot in rows]


def test_cues_stand_beside_the_best_encoder() -> None:
    found = page_audits(TWO, [made_audit("Order", "aaaa")])
    assert dots(found) == [
        ("probe", 50, "not above chance", 0),
        ("length", 47, "below chance", 2),
        ("n-grams", 90, "expected", 3),
        (BEST, 80, "bilstm", 6),  # a baseline is no encoder
    ]
    assert not any(row.is_encoder for p in found.picture.panels for row in p.rows)  # type: ignore[union-attr]
    seen = ["not above chance", "below chance", "expected", BEST]
    assert [name for name, _ in found.picture.legend] == seen
    assert found.lead == (
        "No leak found in 1 dataset: no cue that should tell nothing is above chance."
    )
    assert (found.missing, found.warnings) == (("Not audited: SemRole.",), ())
    (audit,) = found.audits
    assert audit.title == ("Order (4000 train, 1000 test items in 500 units; chance 50.0%)")
    rows = [[row.label, row.cells[0].text, row.cells[-1].text] for row in audit.grid.rows]
    assert rows[2] == ["length and probe", "47.0", "below chance"]
    assert audit.lines[-1] == "The seed of the classifiers is 3."


def test_a_leak_stands_at_the_top() -> None:
    audits = [made_audit("Order", "aaaa", leaks=True), made_audit("SemRole", "bbbb")]
    found = page_audits(TWO, audits)
    leak = "Order: LEAK: length and probe gives 62.0%, where chance is 50.0%."
    assert found.lead == "A cue that should tell nothing is above chance in 1 of 2 datasets."
    assert (found.warnings, found.missing) == ((leak,), ())
    page = report(TWO, audits=audits)
    assert page.index("Before you believe the data") < page.index(leak)
    assert page.index(leak) < page.index("<table") < page.index("<h2>What surface cues achieve")
    assert page.index("<h2>What surface cues") < page.index("<h2>How to do it again</h2>")


def test_an_audit_of_other_data_is_left_out_in_words() -> None:
    found = page_audits(TWO, [made_audit("Order", "cccc"), made_audit("Tense", "dddd")])
    assert (found.audits, found.picture.panels, found.legend) == ((), (), ())
    assert found.lead == "No audit is of the data of these results."
    assert found.missing == (
        "The audit of Order is left out: it is of the data cccc, and the results are of aaaa.",
        "The audit of Tense is left out: there are no results of that dataset here.",
        "Not audited: Order; SemRole.",
    )


def test_of_draws_each_dataset_is_named_with_its_seed() -> None:
    draws = Results((of_data("bow", "Order", 600, "a"), of_data("bow", "Order", 600, "b", 10)))
    audits = [made_audit("Order", "b"), made_audit("Order", "a"), made_audit("Order", "b")]
    found = page_audits(draws, audits)
    titles = ["Order, seed 10", "Order, seed 0"]
    assert [panel.title for panel in found.picture.panels] == titles
    assert [each.verdict.partition(":")[0] for each in found.audits] == titles
    unknown = Results(tuple(replace(each, data=None) for each in draws.records))
    assert page_audits(unknown, audits[:1]).missing == ("Not audited: Order, a.",)


def test_hostile_names_are_text() -> None:
    name = "</script><img src=x>\x1b[31m"
    results = Results((of_data("bow", name, 600, "<b>"),))
    page = report(results, audits=[made_audit(name, "<b>", leaks=True), made_audit(name, "<i>")])
    assert "<img" not in page
    assert "<i>" not in page
    assert "\x1b" not in page.partition("<h2>What surface cues achieve</h2>")[2]
    assert "The audit of &lt;/script&gt;" in page


def test_without_audits_the_page_says_nothing_of_them() -> None:
    assert "surface cues" not in report(TWO)
