"""The table of a run, in every format."""

import csv
import io
import json
from dataclasses import replace

import pytest
from helpers.strategies.probe_strategies import make_sample_result as sample
from helpers.strategies.probe_strategies import make_seed_score
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from sentprobe.common.errors import UsageError
from sentprobe.common.tables import (
    Grid,
    GridCell,
    GridRow,
    TableFormat,
    build_rich_table,
    format_grid,
    format_notes,
    format_records,
    format_title,
)
from sentprobe.probes.reports.tables.main_table import CellStyle, build_grid, sort_results, split_settings
from sentprobe.probes.reports.tables.table_notes import describe_all
from sentprobe.probes.results.result import Condition, Results, make_score

SAMPLE = Results(
    (
        sample("bow", "content1", 900, 500, 510, 880),
        sample("bow", "order", 551, 490, 505, 500),
        sample("st:a|b", "content1", 887, 500, 501, 880),
    )
)

ALL_ROWS = CellStyle(all_rows=True)

PLAIN = """\
encoder                     content1   order
bow                           * 90.0  * 55.1
st:a|b                          88.7
random sentences, dim 3         50.0    49.0
bow, random probe words         51.0    50.5
st:a|b, random probe words      50.1
bag of words, dim 3             88.0    50.0
"""

LATEX = r"""\begin{tabular}{lrr}
  \toprule
  encoder & a\_b & 100\% \\
  \midrule
  x\&y & \textbf{1.0 $\pm$ 0.1} &  \\
  \midrule
  \{\textbackslash{}\} & {[}2{]} & \textless{}0.1 \\
  \bottomrule
\end{tabular}
"""


def test_plain_table() -> None:
    assert format_grid(build_grid(SAMPLE, style=ALL_ROWS), TableFormat.TEXT) == PLAIN


def test_markdown_table() -> None:
    lines = format_grid(build_grid(SAMPLE), TableFormat.MARKDOWN).splitlines()
    assert lines[:4] == [
        "| encoder | content1 | order |",
        "| --- | ---: | ---: |",
        "| bow | **90.0** | **55.1** |",
        "| st:a\\|b | 88.7 |  |",
    ]


def test_latex_table() -> None:
    rows = (
        GridRow("x&y", "one", (GridCell("1.0 ± 0.1", best=True), GridCell(""))),
        GridRow("{\\}", "two", (GridCell("[2]"), GridCell("<0.1"))),
    )
    assert format_grid(Grid(("encoder", "a_b", "100%"), rows), TableFormat.LATEX) == LATEX


@given(st.text(max_size=20))
def test_no_text_breaks_a_latex_row(text: str) -> None:
    written = format_grid(Grid(("a", "b"), (GridRow(text, "", (GridCell(text),)),)), TableFormat.LATEX)
    bare = written.replace("\\&", "").replace("\\$", "")
    assert bare.count("&") == 2
    assert bare.count("$") == 4 * text.count("±")


def test_terminal_table() -> None:
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(build_rich_table(build_grid(SAMPLE, style=ALL_ROWS)))
    shown = console.export_text()
    assert "st:a|b, random probe words" in shown
    rows = build_grid(SAMPLE, style=ALL_ROWS).rows
    assert len(rows) == 6
    assert [cell.best for row in rows for cell in row.cells].count(True) == 2


def test_seeds_and_intervals() -> None:
    results = Results((sample("bow", "content1", 900, seeds=3),))
    ((cell,),) = (row.cells for row in build_grid(results).rows)
    assert cell.text == "90.1 ± 1.9"
    ((cell,),) = (row.cells for row in build_grid(results, style=CellStyle(intervals=True)).rows)
    assert cell.text == "90.1 ± 1.9 [88.1, 91.8]"


def test_other_widths_have_rows_of_their_own() -> None:
    wide = replace(sample("wide", "order", 551, 510), dim=9)
    labels = [row.label for row in build_grid(Results((*SAMPLE.records, wide)), style=ALL_ROWS).rows]
    assert labels[3:5] == ["random sentences, dim 3", "random sentences, dim 9"]


def test_controls_are_folded_into_a_line() -> None:
    folded = CellStyle()
    assert [row.label for row in build_grid(SAMPLE).rows] == ["bow", "st:a|b"]
    text = describe_all(SAMPLE, style=folded)
    assert text.startswith("controls: 5 of 5 that must be at chance are at chance (--all-rows shows their rows)\n")
    assert text.endswith(describe_all(SAMPLE, style=ALL_ROWS))


def test_a_control_that_is_not_at_chance_is_named_without_its_row() -> None:
    leaking = sample("bow", "order", 900, 800, 505, 500)
    first, *_ = describe_all(Results((leaking,)), style=CellStyle()).splitlines()
    start = "controls: 1 of 2 that must be at chance is at chance, not random sentences (dim 3) on order (--all-rows"
    assert first.startswith(start)


def test_without_controls_there_is_no_line_for_them() -> None:
    none = Results((sample("bow", "order", 900),))
    assert "controls:" not in describe_all(none, style=CellStyle())


def test_one_table_for_each_setting() -> None:
    bow, order, st = SAMPLE.records
    changed = replace(bow, dataset_fingerprint="1")
    tables = split_settings(Results((bow, changed, order, st, replace(bow, seed=1))))
    assert tables == (Results((bow, order, st)), Results((changed,)), Results((replace(bow, seed=1),)))


def test_an_encoder_that_was_changed_has_a_table_of_its_own() -> None:
    bow, order, _ = SAMPLE.records
    changed = replace(order, encoder_fingerprint="1")
    assert split_settings(Results((bow, changed))) == (Results((bow,)), Results((changed,)))


@given(st.permutations([sample("bow", "order", 500, seeds=n) for n in (1, 3, 2)]))
def test_of_what_is_there_twice_the_fuller_is_kept(records: list) -> None:  # type: ignore[type-arg]
    (table,) = split_settings(Results(tuple(records)))
    (record,) = table.records
    assert len(record.scores[Condition.PROBE].seeds) == 3


def test_layers_and_tasks_in_order() -> None:
    layers = [
        replace(sample(f"hf?layer={layer}", task, 1), layer=layer, family="hf")
        for layer in (10, 2)
        for task in ("length", "SemRole", "Order")
    ]
    layers_and_tasks = [(r.layer, r.task) for r in sort_results(Results(tuple(layers))).records]
    assert layers_and_tasks == [(layer, task) for layer in (2, 10) for task in ("Order", "SemRole", "length")]


def test_layers_stand_below_the_name_of_their_model_among_controls() -> None:
    layers = [replace(sample(f"hf:m?layer={n}", "Order", 500, 490, 505), layer=n, family="hf:m") for n in (0, 1)]
    labels = [row.label for row in build_grid(Results(tuple(layers)), style=ALL_ROWS).rows]
    tail = ["random sentences, dim 3", "hf:m, random probe words", "  layer 0", "  layer 1"]
    assert labels == ["hf:m", "  layer 0", "  layer 1", *tail]


def test_layers_stand_below_the_name_of_their_model() -> None:
    layers = [replace(sample(f"hf:m?layer={n}", "Order", 500 + 20 * n), layer=n, family="hf:m") for n in (0, 1, 12)]
    results = sort_results(Results((sample("bow", "Order", 500), *layers, sample("st:x", "Order", 600))))
    rows = build_grid(results).rows
    labels = ["bow", "hf:m", "  layer 0", "  layer 1", "  layer 12", "st:x"]
    assert [row.label for row in rows] == labels
    assert [row.cells[0].text for row in rows] == ["50.0", "", "50.0", "52.0", "74.0", "60.0"]
    assert [row.label for row in build_grid(Results((layers[0],))).rows] == ["hf:m?layer=0"]


def test_records() -> None:
    records = SAMPLE.to_records()
    assert len(records) == 12
    assert len({tuple(record) for record in records}) == 1
    first = records[0]
    assert (first["encoder"], first["task"], first["condition"]) == ("bow", "content1", "probe")
    assert (first["accuracy"], first["seeds"], first["spread"]) == (0.9, 1, None)
    read = list(csv.DictReader(io.StringIO(format_records(records, TableFormat.CSV))))
    assert [float(row["accuracy"]) for row in read] == [row["accuracy"] for row in records]
    assert json.loads(format_records(records, TableFormat.JSON)) == records


def test_no_records() -> None:
    assert format_records([], TableFormat.CSV) == "\n"
    assert format_records([], TableFormat.JSON) == "[]\n"


def test_data_frame() -> None:
    frame = SAMPLE.to_frame()
    assert frame["accuracy"].tolist() == [record["accuracy"] for record in SAMPLE.to_records()]


def test_no_pandas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(UsageError, match=r"needs the extra .*: pip install .*\[pandas\]"):
        SAMPLE.to_frame()


def test_notes_and_titles_in_markdown_show_what_is_meant() -> None:
    name, shown = "bow?name=a*b*c_<b>", r"bow?name=a\*b\*c\_\<b>"
    assert format_notes(f"classifier of {name}\n", TableFormat.MARKDOWN).strip() == (f"- classifier of {shown}")
    assert format_title(name, TableFormat.MARKDOWN) == f"**{shown}**\n\n"
    run = replace(sample("bow", "Order", 690, 500, 499, 590), encoder=name)
    text = Results((run,)).to_markdown()
    assert shown in text
    assert name not in text


@pytest.mark.parametrize(("items", "text"), [(49, "51.0 [37.5, 64.4] (49 items)"), (50, "50.0")])
def test_a_figure_of_few_items_has_its_interval(items: int, text: str) -> None:
    score = make_score([make_seed_score([item % 2 == 0 for item in range(items)])], ())
    result = replace(sample("bow", "ObjNum", 1), scores={Condition.PROBE: score})
    ((cell,),) = (row.cells for row in build_grid(Results((result,))).rows)
    assert cell.text == text
