"""The table of a run in every format, its tables of one draw each, and the papers' rows."""

import csv
import io
import json
import re
import tomllib
from collections.abc import Sequence
from dataclasses import replace

import pytest
from helpers.shared import ROOT
from helpers.strategies.probe_strategies import make_sample_result, make_seed_score
from helpers.strategies.probe_strategies import make_sample_result as sample
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from syrupy.assertion import SnapshotAssertion

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
from sentprobe.probes.classifier.presets import find_preset
from sentprobe.probes.reports.comparisons import choose_encoder, shorten_folders
from sentprobe.probes.reports.tables import main_table
from sentprobe.probes.reports.tables.main_table import (
    CellStyle,
    PublishedKind,
    build_grid,
    describe_published_tables,
    find_tables,
    read_published_tables,
    sort_results,
    split_settings,
    split_single_draws,
    to_published_records,
)
from sentprobe.probes.reports.tables.table_notes import describe_all
from sentprobe.probes.results.result import Condition, Result, Results, make_score
from sentprobe.probes.runs.suites import list_known_tasks

SAMPLE = Results(
    (
        sample("bow", "content1", 900, 500, 510, 880),
        sample("bow", "order", 551, 490, 505, 500),
        sample("st:a|b", "content1", 887, 500, 501, 880),
    )
)

ALL_ROWS = CellStyle(all_rows=True)


def test_table_in_each_format(stored_text: SnapshotAssertion) -> None:
    rows = (
        GridRow("x&y", "one", (GridCell("1.0 ± 0.1", best=True), GridCell(""))),
        GridRow("{\\}", "two", (GridCell("[2]"), GridCell("<0.1"))),
    )
    odd_signs = Grid(("encoder", "a_b", "100%"), rows)
    tables = [
        format_grid(build_grid(SAMPLE, style=ALL_ROWS), TableFormat.TEXT),
        format_grid(build_grid(SAMPLE), TableFormat.MARKDOWN),
        format_grid(odd_signs, TableFormat.LATEX),
    ]
    assert "\n".join(tables) == stored_text


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


def test_other_widths_have_own_rows() -> None:
    wide = replace(sample("wide", "order", 551, 510), dim=9)
    labels = [row.label for row in build_grid(Results((*SAMPLE.records, wide)), style=ALL_ROWS).rows]
    assert labels[3:5] == ["random sentences, dim 3", "random sentences, dim 9"]


def test_controls_are_folded_into_a_line() -> None:
    assert [row.label for row in build_grid(SAMPLE).rows] == ["bow", "st:a|b"]
    text = describe_all(SAMPLE, style=CellStyle())
    assert text.startswith("controls: 5 of 5 that must be at chance are at chance (--all-rows shows their rows)\n")
    assert text.endswith(describe_all(SAMPLE, style=ALL_ROWS))
    leaking = Results((sample("bow", "order", 900, 800, 505, 500),))
    assert describe_all(leaking, style=CellStyle()).startswith(
        "controls: 1 of 2 that must be at chance is at chance, not random sentences (dim 3) on order (--all-rows"
    )
    without = Results((sample("bow", "order", 900),))
    assert "controls:" not in describe_all(without, style=CellStyle())


def test_each_setting_has_its_table() -> None:
    bow, order, st = SAMPLE.records
    changed = replace(bow, dataset_fingerprint="1")
    tables = split_settings(Results((bow, changed, order, st, replace(bow, seed=1))))
    assert tables == (Results((bow, order, st)), Results((changed,)), Results((replace(bow, seed=1),)))
    other_vectors = replace(order, encoder_fingerprint="1")
    assert split_settings(Results((bow, other_vectors))) == (Results((bow,)), Results((other_vectors,)))


@given(st.permutations([sample("bow", "order", 500, seeds=n) for n in (1, 3, 2)]))
def test_fuller_of_two_results_is_kept(records: list) -> None:  # type: ignore[type-arg]
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


def test_layers_stand_below_their_model() -> None:
    layers = [replace(sample(f"hf:m?layer={n}", "Order", 500 + 20 * n), layer=n, family="hf:m") for n in (0, 1, 12)]
    results = sort_results(Results((sample("bow", "Order", 500), *layers, sample("st:x", "Order", 600))))
    rows = build_grid(results).rows
    assert [row.label for row in rows] == ["bow", "hf:m", "  layer 0", "  layer 1", "  layer 12", "st:x"]
    assert [row.cells[0].text for row in rows] == ["50.0", "", "50.0", "52.0", "74.0", "60.0"]
    assert [row.label for row in build_grid(Results((layers[0],))).rows] == ["hf:m?layer=0"]
    layers = [replace(sample(f"hf:m?layer={n}", "Order", 500, 490, 505), layer=n, family="hf:m") for n in (0, 1)]
    labels = [row.label for row in build_grid(Results(tuple(layers)), style=ALL_ROWS).rows]
    tail = ["random sentences, dim 3", "hf:m, random probe words", "  layer 0", "  layer 1"]
    assert labels == ["hf:m", "  layer 0", "  layer 1", *tail]


def test_records_of_results() -> None:
    records = SAMPLE.to_records()
    assert len(records) == 12
    assert len({tuple(record) for record in records}) == 1
    first = records[0]
    assert (first["encoder"], first["task"], first["condition"]) == ("bow", "content1", "probe")
    assert (first["accuracy"], first["seeds"], first["spread"]) == (0.9, 1, None)
    read = list(csv.DictReader(io.StringIO(format_records(records, TableFormat.CSV))))
    assert [float(row["accuracy"]) for row in read] == [row["accuracy"] for row in records]
    assert json.loads(format_records(records, TableFormat.JSON)) == records
    assert SAMPLE.to_frame()["accuracy"].tolist() == [record["accuracy"] for record in records]
    assert (format_records([], TableFormat.CSV), format_records([], TableFormat.JSON)) == ("\n", "[]\n")


def test_no_pandas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(UsageError, match=r"needs the extra .*: pip install .*\[pandas\]"):
        SAMPLE.to_frame()


def test_markdown_escapes_names() -> None:
    name, shown = "bow?name=a*b*c_<b>", r"bow?name=a\*b\*c\_\<b>"
    assert format_notes(f"classifier of {name}\n", TableFormat.MARKDOWN).strip() == (f"- classifier of {shown}")
    assert format_title(name, TableFormat.MARKDOWN) == f"**{shown}**\n\n"
    run = replace(sample("bow", "Order", 690, 500, 499, 590), encoder=name)
    text = Results((run,)).to_markdown()
    assert shown in text
    assert name not in text


@pytest.mark.parametrize(("items", "text"), [(49, "51.0 [37.5, 64.4] (49 items)"), (50, "50.0")])
def test_figure_of_few_items_has_interval(items: int, text: str) -> None:
    score = make_score([make_seed_score([item % 2 == 0 for item in range(items)])], ())
    result = replace(sample("bow", "ObjNum", 1), scores={Condition.PROBE: score})
    ((cell,),) = (row.cells for row in build_grid(Results((result,))).rows)
    assert cell.text == text


CHECKED = ROOT.parent / "shared" / "papers" / "published.toml"
SHOWN = CellStyle(published=True)


@pytest.mark.skipif(not CHECKED.is_file(), reason=f"the checked figures are not at {CHECKED}")
def test_published_figures_were_checked() -> None:
    expected = {
        (table["label"], row["name"], row["kind"], task, accuracy)
        for table in tomllib.loads(CHECKED.read_text("utf-8"))["table"]
        for row in table["row"]
        for task, accuracy in row.get("accuracies", {}).items()
    }
    packaged = {
        (row.source, row.name, row.kind.value, task, accuracy)
        for table in read_published_tables()
        for row in table.rows
        for task, accuracy in row.accuracies.items()
    }
    assert packaged == expected


def test_published_tasks_are_known() -> None:
    names = {task.name for task in list_known_tasks()}
    for table in read_published_tables():
        assert {task for row in table.rows for task in row.accuracies} == set(table.chance)
        assert set(table.chance) <= names
    kinds = [row.kind for table in read_published_tables() for row in table.rows]
    assert (kinds.count(PublishedKind.BOUND), kinds.count(PublishedKind.BASELINE)) == (1, 5)


def test_conneau_chance_is_their_majority_vote() -> None:
    (table,) = find_tables(["Tense"])
    (row,) = (row for row in table.rows if row.name == "Majority vote")
    assert row.accuracies == table.chance


@pytest.mark.parametrize(
    ("task", "label"),
    [
        ("SemRole", "SDAE (Ettinger et al. 2018)"),
        ("BShift", "BiLSTM-max, NLI (Conneau et al. 2018)"),
        ("BShift", "NB-bi-tfidf (Conneau et al. 2018, baseline)"),
        ("BShift", "Hum. Eval. (Conneau et al. 2018, bound)"),
        ("AdiOrder-permuted", "skip-thought (Adi et al. 2017)"),
    ],
)
def test_published_rows_name_paper_and_kind(task: str, label: str) -> None:
    assert label in [row.label for table in find_tables([task]) for row in table.rows]


def test_published_rows_are_below_and_unmarked() -> None:
    tasks = ["SemRole", "Tense", "AdiOrder"]
    results = Results(tuple(make_sample_result("bow", task, 600) for task in tasks))
    first, *below = build_grid(results, style=SHOWN).rows
    assert first.label == "bow"
    shown = {row.label: [cell.text for cell in row.cells] for row in below}
    assert shown["ST-BI (Ettinger et al. 2018)"] == ["63.2", "", ""]
    assert shown["Hum. Eval. (Conneau et al. 2018, bound)"] == ["", "85.0", ""]
    assert shown["skip-thought (Adi et al. 2017)"] == ["", "", "81.1"]
    assert len(shown) == sum(len(table.rows) for table in read_published_tables())
    assert not any(cell.best for row in below for cell in row.cells)


def test_published_notes_cite_paper_and_chance() -> None:
    (line,) = describe_published_tables(["Tense", "WC"])
    assert re.search(
        r"^Published rows: Conneau, .* table 2, section 4; .* preset conneau, 100,000 training and "
        r"10,000 validation and 10,000 test items, chance 50\.0 on Tense, 0\.5 on WC\. "
        r"Data and encoders are the paper's; Hum\. Eval\. is human accuracy, an ",
        line,
    )
    lines = describe_all(Results((make_sample_result("bow", "Order", 600),)), style=SHOWN)
    assert "Published rows: Ettinger, " in lines
    assert "chance 50.0 on all" in lines


def test_other_tasks_have_no_published_rows() -> None:
    results = Results((make_sample_result("bow", "mine", 600),))
    assert len(build_grid(results, style=SHOWN).rows) == 1
    assert describe_all(results, style=SHOWN).endswith(
        "No published rows: none of the papers' tables has one of these tasks.\n"
    )
    assert to_published_records(results) == []
    assert "papers" not in describe_all(results, style=CellStyle())


def test_records_have_the_keys_of_results() -> None:
    results = Results((make_sample_result("bow", "AdiLength", 600),))
    (record,) = to_published_records(results)
    assert list(record) == list(results.to_records()[0])
    assert (record["accuracy"], record["majority"]) == pytest.approx((0.821, 0.201))
    assert record["condition"] == "published"
    assert record["encoder"] == "skip-thought (Adi et al. 2017)"


SAMPLES = [make_sample_result("a", "Order", 510, 500, seeds=seeds) for seeds in (1, 2)]

RECORDS = st.builds(
    lambda sample, values: replace(sample, **values),
    st.sampled_from(SAMPLES),
    st.fixed_dictionaries(
        {
            "encoder": st.sampled_from("ab"),
            "task": st.sampled_from(["Order", "SemRole"]),
            "seed": st.sampled_from([0, 10]),
            "preset": st.sampled_from([find_preset("ettinger"), find_preset("adi")]),
            "encoder_fingerprint": st.sampled_from("ef"),
            "dataset_fingerprint": st.sampled_from("de"),
            "probe_vectors": st.sampled_from(["", "one-hot", "encoder"]),
            "probe_fingerprint": st.sampled_from(["", "p", "q"]),
        }
    ),
)


def split_by_pairs(records: Sequence[Result]) -> list[tuple[Result, ...]]:
    """Divide results by comparing each with all members of each table."""
    tables: list[list[Result]] = []
    for record in records:
        for table in tables:
            if any(differ(record, member) for member in table):
                continue
            place = next((place for place, member in enumerate(table) if member.cell == record.cell), len(table))
            table[place : place + 1] = [max([*table[place : place + 1], record], key=main_table._count_scores)]
            break
        else:
            tables.append([record])
    return sorted(map(tuple, tables), key=lambda table: table[0].seed)


def differ(first: Result, second: Result) -> bool:
    """Say whether two results cannot be in one table."""
    if (first.preset, first.seed) != (second.preset, second.seed):
        return True
    words = [
        (record.probe_vectors, "" if record.probe_vectors == "encoder" else record.probe_fingerprint)
        for record in (first, second)
    ]
    if "" not in (first.probe_vectors, second.probe_vectors) and words[0] != words[1]:
        return True
    if first.task == second.task and first.dataset_fingerprint != second.dataset_fingerprint:
        return True
    other_words = len({first.probe_fingerprint, second.probe_fingerprint} - {""}) > 1
    other_vectors = first.encoder_fingerprint != second.encoder_fingerprint
    return first.encoder == second.encoder and (other_vectors or other_words)


@given(st.lists(RECORDS, max_size=12))
def test_tables_equal_comparison_of_all_pairs(records: list[Result]) -> None:
    tables = split_single_draws(Results(tuple(records)))
    assert [table.records for table in tables] == split_by_pairs(records)


def test_each_result_is_looked_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    lookups = []
    list_values = main_table._list_shared_values

    def count(record: Result) -> dict[tuple[str, str], object]:
        lookups.append(record)
        return list_values(record)

    monkeypatch.setattr(main_table, "_list_shared_values", count)
    records = [replace(SAMPLES[0], encoder=f"e{n}", seed=10 * seed) for n in range(20) for seed in range(10)]
    assert len(split_single_draws(Results(tuple(records)))) == 10
    assert len(lookups) == len(records)


FOLDERS = st.lists(st.sampled_from(["a", "b", "model"]), min_size=1, max_size=4).map("/".join)
NAMES = st.builds(
    "{}{}{}{}".format,
    st.sampled_from(["st:", "hf:"]),
    st.sampled_from(["./", "/", "~/", ""]),
    FOLDERS,
    st.sampled_from(["", "?batch=8"]),
)


@given(st.lists(NAMES, max_size=5))
def test_shortened_folders_differ_as_names_do(names: list[str]) -> None:
    short_names = shorten_folders(names)
    assert [*short_names] == [*dict.fromkeys(names)]
    assert len(set(short_names.values())) == len(short_names)
    for name, short in short_names.items():
        kind, _, end = short.partition("…")
        assert short == name or (name.startswith(kind) and name.endswith(end) and len(short) < len(name))


def test_hub_names_and_short_paths_are_whole() -> None:
    names = ["bow", "hf:sentence-transformers/all-MiniLM-L6-v2", "st:./model", "file:/x/y/v.npy?sentences=/x/y/s.txt"]
    assert [*shorten_folders(names).values()] == [*names[:3], "file:…/v.npy?sentences=/x/y/s.txt"]
    for name, short in shorten_folders(names).items():
        assert choose_encoder(names, short, source="r") == choose_encoder(names, name, source="r") == name
