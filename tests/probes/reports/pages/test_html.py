"""The report page: its table, tooltips, audits and test items."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
from helpers.runs.made_audits import make_audit
from helpers.runs.shown_runs import LAYERS
from helpers.strategies.probe_strategies import make_sample_result, results
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st

import sentprobe
from sentprobe.probes.reports.pages.html import (
    ITEMS_WITHOUT_STRUCTURES,
    MAX_ENCODERS,
    PageMistakes,
    PageTable,
    build_page_mistakes,
    build_page_table,
    build_report_page,
)
from sentprobe.probes.reports.pages.page_parts import BEST_NAME, PageAudits, build_gate_page, build_page_audits
from sentprobe.probes.reports.pages.panels import DotPanel
from sentprobe.probes.reports.table_findings import compute_standings
from sentprobe.probes.reports.tables.main_table import CellStyle, build_grid
from sentprobe.probes.reports.tables.part_tables import index_by_fingerprint
from sentprobe.probes.results.data_facts import DataFacts
from sentprobe.probes.results.item_table import ItemTable
from sentprobe.probes.results.result import Condition, Result, Results


def make_page_table(*records: object, intervals: bool = False, all_rows: bool = False) -> PageTable:
    results = Results(records)  # type: ignore[arg-type]
    shown = build_grid(results, style=CellStyle(intervals=intervals, all_rows=all_rows))
    return build_page_table(shown, compute_standings(results), intervals=intervals)


ORDER = [make_sample_result(name, "Order", n, 500, 500, 500) for name, n in (("a", 500), ("b", 690))]


def test_cell_has_interval_control_and_group() -> None:
    ((_, row),) = make_page_table(*ORDER).parts
    (cell,) = row.cells
    assert (cell.text, cell.value, cell.shade, cell.group) == ("69.0", 69.0, 0.38, 1)
    assert cell.tooltip_lines == (
        "b on Order",
        f"95% interval {cell.interval}",
        "19.0 points above its control (chance 50.0)",
        "group 1 of 2: not significantly worse than the best",
    )
    ((row, _),) = make_page_table(*ORDER, intervals=True).parts
    assert "[" in row.cells[0].text
    assert row.cells[0].interval == ""  # it is not said twice


def test_last_row_names_controls() -> None:
    words = replace(make_sample_result("a", "Content1Probe", 900, 500, 500, 880), mirrored=False)
    assert make_page_table(*ORDER, words).controls == ("chance 50.0", "words 88.0")


def test_controls_are_separate_part() -> None:
    parts = make_page_table(*ORDER, all_rows=True).parts
    assert len(parts) > 1
    assert all(cell.shade is None for row in parts[1] for cell in row.cells)


def test_layer_keeps_name_of_model() -> None:
    (rows,) = make_page_table(*LAYERS).parts
    assert [(row.label, row.of, row.heading) for row in rows] == [
        ("hf:m", "", True),
        ("layer 10", "hf:m", False),
        ("layer 2", "hf:m", False),
        ("layer 0", "hf:m", False),
    ]
    assert [row.cells[0].value for row in rows[1:]] == [59.0, 51.8, 50.0]


CONTROL_CHARACTERS = "\u202e\a\x1b"


def test_pages_escape_control_characters(tmp_path: Path) -> None:
    first, second = (replace(r, encoder=f"{r.encoder}{CONTROL_CHARACTERS}", command=CONTROL_CHARACTERS) for r in ORDER)
    rows = [f"the man{CONTROL_CHARACTERS} slept {n},the man {n} slept,{n % 2}" for n in range(40)]
    (tmp_path / "pairs.csv").write_text("\n".join(["a,b,same", *rows]), "utf-8")
    gate = sentprobe.gate("bow?dim=8", contrasts=["role"], n=40, pairs=tmp_path / "pairs.csv")
    gate_page = build_gate_page(gate, command=f"probe gate bow --pairs {CONTROL_CHARACTERS}", intervals=False)
    for page, texts in (
        (build_report_page(Results((first, second))), [r"a\u202e\x07\x1b"]),
        (gate_page, [r"the man\u202e\x07\x1b slept", r"probe gate bow --pairs \u202e\x07\x1b"]),
    ):
        assert {*CONTROL_CHARACTERS}.isdisjoint(page)
        assert all(text in page for text in texts)


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


def test_leak_stands_at_the_top() -> None:
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


def test_audit_of_other_data_is_omitted() -> None:
    page_part = build_page_audits(TWO, [make_audit("Order", "cccc"), make_audit("Tense", "dddd")])
    assert (page_part.audits, page_part.picture.panels, page_part.legend) == ((), (), ())
    assert page_part.lead == "There is no audit of the data of these results."
    assert page_part.missing == (
        "The audit of Order is left out: it is of the data cccc, but the results are of aaaa.",
        "The audit of Tense is left out: there are no results on this task.",
        "Not audited: Order; SemRole.",
    )


def test_audits_are_named_by_seed() -> None:
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


def test_page_without_audits_omits_section() -> None:
    assert "surface cues" not in build_report_page(TWO)


HOSTILE = "<script>alert(1)</script>"


def make_table(result: Result, **columns: tuple[str, ...]) -> ItemTable:
    total = result.scores[Condition.PROBE].total
    return ItemTable(
        task=result.task,
        fingerprint=result.dataset_fingerprint,
        labels=("FALSE", "TRUE"),
        targets=np.zeros(total, np.int64),
        sentences=(f"the {HOSTILE} slept",) * total,
        probes=((HOSTILE,),) * total,
        marks=((1,),) * total,
        events=("sleep(agent: man)",) * total,
        columns=columns,
    )


def list_mistakes(*records: Result, **columns: tuple[str, ...]) -> list[PageMistakes]:
    items = index_by_fingerprint([make_table(record, **columns) for record in records])
    return [*build_page_mistakes(Results(records), items)]


@examples(40)
@given(results(), st.data())
def test_wrong_items_are_counted_by_structure(result: Result, data: st.DataObject) -> None:
    result = replace(result, layer=None)
    total = result.scores[Condition.PROBE].total
    names = data.draw(st.tuples(*[st.sampled_from(["transitive", "transitive-rc"])] * total))
    (page_part,) = list_mistakes(result, template=names)
    rights = np.array([probe.items() for probe in result.scores[Condition.PROBE].seeds])
    assert sum(part.wrong for part in page_part.parts) == (~rights).any(axis=0).sum()
    assert sum(part.items for part in page_part.parts) == total
    assert all(len(part.shown) == min(1, part.wrong) for part in page_part.parts)


def test_mistakes_without_structures_are_few() -> None:
    (page_part,) = list_mistakes(make_sample_result("bow", "Order", 600))
    assert [len(part.shown) for part in page_part.parts] == [ITEMS_WITHOUT_STRUCTURES]
    assert page_part.title == "bow on Order: 400 of 1000 test items"


def test_mistakes_are_of_first_encoders() -> None:
    records = [make_sample_result(f"bow?dim={n}", "Order", 600) for n in range(MAX_ENCODERS + 2)]
    again = replace(records[0], seed=10)
    layer = replace(make_sample_result("hf:m?layer=1", "Order", 600), layer=1)
    page_parts = list_mistakes(layer, *records, again)
    assert [page_part.of for page_part in page_parts] == records[:MAX_ENCODERS]


def test_page_marks_probe_words_in_sentences() -> None:
    record = make_sample_result("bow", "Order", 600)
    page = build_report_page(Results((record,)), items=[make_table(record)])
    assert "<h2>Incorrect answers</h2>" in page
    assert HOSTILE not in page
    marked = re.findall(r"<td>the <mark>(.*?)</mark> slept<br>", page)
    assert marked == ["&lt;script&gt;alert(1)&lt;/script&gt;"] * ITEMS_WITHOUT_STRUCTURES
    assert "Incorrect answers" not in build_report_page(Results((record,)))
