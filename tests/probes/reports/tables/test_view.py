"""Results as text, in a terminal, in a notebook and in a document, with the tables of methods."""

import io
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from helpers.in_process import Command
from helpers.runs.shown_runs import TagChecker, write_run
from helpers.strategies.probe_strategies import make_sample_result
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from sentprobe import read_results
from sentprobe.common.errors import UsageError
from sentprobe.common.tables import TableFormat, build_rich_table, format_grid
from sentprobe.probes.classifier.probe import CurvePoint
from sentprobe.probes.reports.pages.html import build_report_page
from sentprobe.probes.reports.tables.distance_report import join_records
from sentprobe.probes.reports.tables.main_table import build_grid
from sentprobe.probes.reports.tables.view import build_method_tables
from sentprobe.probes.results.records import METHOD_FIGURES
from sentprobe.probes.results.result import Condition, Result, Results, make_score

BOTH = Results(
    (
        make_sample_result("bow", "Order", 500, 490, 505, 500, mirrored=True),
        make_sample_result("st<b>[red]", "Order", 690, 490, 505, 500, mirrored=True),
    )
)


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever terminal the tests are run in."""
    monkeypatch.setenv("COLUMNS", "200")


def render_on_screen(shown: object, *, width: int = 200) -> str:
    page = io.StringIO()
    Console(file=page, width=width).print(shown)
    return page.getvalue()


def test_text_is_table_with_notes(monkeypatch: pytest.MonkeyPatch) -> None:
    text = str(BOTH)
    assert text.startswith(render_on_screen(build_rich_table(build_grid(BOTH))).rstrip("\n"))
    assert text.endswith("\nAll notes: results.to_markdown(notes=True)")
    assert repr(BOTH) == text
    assert "\n".join(line.rstrip() for line in render_on_screen(BOTH).splitlines()) == text
    monkeypatch.setenv("COLUMNS", "60")
    assert max(map(len, str(BOTH).splitlines())) <= 60


def test_words_are_whole_at_80_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    tasks = [f"ATaskOfLongName{n}" for n in range(9)]
    name = "hf:bert-base-uncased?layer=10&pool=mean"
    text = str(Results(tuple(make_sample_result(name, task, 600, 500, 499) for task in tasks)))
    assert max(map(len, text.splitlines())) <= 80
    assert all(word in text for word in [*tasks, name, "--draws"])
    assert "…" not in text


def test_command_prints_the_documents(tmp_path: Path, command: Command) -> None:
    path = write_run(tmp_path / "run", *BOTH.records)
    assert command("show", path, "--format", "markdown") == (0, read_results(path).to_markdown(), "")
    code, out, err = command("show", path, "--format", "latex", "--caption", "50% of a_b", "--label", "tab:all")
    assert (code, err) == (0, "")
    assert BOTH.to_latex(caption="50% of a_b", label="tab:all") in out
    assert r"\caption{50\% of a\_b}" in out


@pytest.mark.parametrize("style", [TableFormat.MARKDOWN, TableFormat.LATEX])
def test_documents_begin_with_the_table(style: TableFormat) -> None:
    write = BOTH.to_markdown if style is TableFormat.MARKDOWN else BOTH.to_latex
    assert write().startswith(format_grid(build_grid(BOTH), style))
    interval = {TableFormat.MARKDOWN: r"\[45.6, 54.4]", TableFormat.LATEX: "{[}45.6, 54.4{]}"}[style]
    assert interval in write(intervals=True)
    assert "[45.6, 54.4]" not in write()


def test_best_figure_has_star_or_bold() -> None:
    assert "* 69.0" in str(BOTH)
    assert "| **69.0** |" in BOTH.to_markdown()
    assert "*" not in BOTH.to_latex().split("% ")[0]
    for text in (str(BOTH), BOTH.to_markdown(), BOTH.to_latex(), BOTH._repr_html_()):
        star = r"\*" if text == BOTH.to_markdown() else "*"
        assert re.search(rf"Bold,? or (with a )?{re.escape(star)}: significantly better than chance", text)


@pytest.mark.parametrize(
    ("caption", "label", "message"),
    [
        (None, "tab:all", "label needs a caption: LaTeX numbers the tables that have one"),
        (" ", None, "caption is empty"),
        ("All", "a{b", "label 'a{b': use letters, digits and the signs : . + / - _"),
    ],
)
def test_caption_that_cannot_be(caption: str | None, label: str | None, message: str) -> None:
    with pytest.raises(UsageError, match=f"^{re.escape(message)}$"):
        BOTH.to_latex(caption=caption, label=label)


@pytest.mark.parametrize("form", [(), ("--format", "text")])
def test_file_has_stars(tmp_path: Path, command: Command, form: tuple[str, ...]) -> None:
    path = write_run(tmp_path / "run", *BOTH.records)
    _, printed, _ = command("show", path, *form)
    assert command("show", path, *form, "--out", tmp_path / "table.txt")[0] == 0
    for text in (printed, (tmp_path / "table.txt").read_text("utf-8")):
        assert "* 69.0" in text
        (bow,) = (line for line in text.splitlines() if "bow  " in line)
        (best,) = (line for line in text.splitlines() if "* 69.0" in line)
        assert bow.index("50.0") == best.index("69.0")


def test_notebook_marks_best_in_bold() -> None:
    page = BOTH._repr_html_()
    tags = TagChecker()
    tags.feed(page)
    assert tags.open == []
    assert "<b>69.0</b>" in page
    assert [text for text in tags.texts if text][:4] == ["encoder", "Order", "bow", "50.0"]
    assert {f"Controls: {n} of {n} that must be at chance are at chance." for n in (4, 5)} & {*tags.texts}


@given(name=st.text(st.characters(blacklist_categories=("C", "Z")), min_size=1))
def test_notebook_shows_any_name(name: str) -> None:
    results = Results((make_sample_result(name, "Order", 500, mirrored=True),))
    tags = TagChecker()
    tags.feed(results._repr_html_())
    assert tags.open == []
    assert name in tags.texts


def test_settings_have_separate_tables() -> None:
    other_record = replace(make_sample_result("bow", "Order", 500, mirrored=True), seed=7)
    both = Results((*BOTH.records, other_record))
    for text in (str(both), both.to_markdown(), both.to_latex(), both._repr_html_()):
        assert "table 1 of 2, seed 0" in text
        assert "table 2 of 2, seed 7" in text


def test_no_results() -> None:
    none = Results(())
    assert (str(none), repr(none)) == ("no results", "no results")
    assert "<p>no results</p>" in none._repr_html_()
    assert (none.to_markdown(), none.to_latex()) == ("", "")


def add_portions(encoder: str, *ats: int) -> Result:
    """A result with a probe a portion, each right on half of the test items."""
    result = make_sample_result(encoder, "Order", 600)
    readings = tuple(CurvePoint(at=at, correct=500, bits=1.0) for at in ats)
    (seed,) = result.scores[Condition.PROBE].seeds
    portions_score = make_score([replace(seed, readings=readings, information=(0.5,) * 1000)], ())
    return replace(result, scores={**result.scores, Condition.PORTIONS: portions_score})


def add_all_methods(*, correct: tuple[int, ...] = (500, 500), bits: float = 1.0, control: float = 0.45) -> Results:
    """A result with the control task, two portions and a linear probe."""
    result = add_portions("bow?dim=1", 4, 8)
    plain, seed = result.scores[Condition.PROBE], result.scores[Condition.PORTIONS].seeds[0]
    readings = tuple(CurvePoint(at=at, correct=n, bits=bits) for at, n in zip((4, 8), correct, strict=True))
    seeds = {
        Condition.PORTIONS: replace(seed, readings=readings),
        Condition.CONTROL_TASK: replace(plain.seeds[0], accuracy=control),
        Condition.WIDTHS: replace(seed, readings=(CurvePoint(at=0, correct=550),)),
    }
    more = {condition: make_score([score], ()) for condition, score in seeds.items()}
    return Results((replace(result, scores={**result.scores, **more}),))


def find_figures(records: list[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """Return the figures of methods in records, by condition."""
    keys = [figure.key for figure in METHOD_FIGURES]
    return {record["condition"]: {key: record[key] for key in keys if not pd.isna(record[key])} for record in records}


def test_records_have_figures_of_methods() -> None:
    results = add_all_methods()
    frame = results.to_frame().to_dict("records")
    for records in (results.to_records(), frame, join_records(results, ())):
        figures = find_figures(records)
        assert figures.pop("control-task") == pytest.approx({"selectivity": 0.15})
        assert figures.pop("widths") == pytest.approx({"gap": 0.05})
        assert figures.pop("portions") == pytest.approx(
            {"description_length": 6.0, "compression": 8 / 6, "information": 0.5, "area": 0.5}
        )
        assert not any(figures.values())


@examples(40)
@given(st.tuples(*[st.integers(0, 1000)] * 2), st.floats(0, 1e5), st.floats(0, 1))
def test_method_tables_show_figures_of_records(correct: tuple[int, ...], bits: float, control: float) -> None:
    results = add_all_methods(correct=correct, bits=bits, control=control)
    shown: dict[str, str] = {}
    for _, grid, _ in build_method_tables(results):
        (row,) = grid.rows
        shown.update(zip(grid.header[1:], (cell.text for cell in row.cells), strict=True))
    values = {key: value for figures in find_figures(results.to_records()).values() for key, value in figures.items()}
    for figure in METHOD_FIGURES:
        assert shown[figure.heading] == f"{figure.scale * values[figure.key]:.{figure.decimals}f}"


def test_every_view_has_method_tables() -> None:
    results = add_all_methods()
    for text in (results.to_markdown(), results.to_latex(), str(results), results._repr_html_()):
        for title in ("control task, Order", "description length, Order", "complexity, Order"):
            assert title in text.lower().replace("order", "Order")
    assert "description length" not in Results((make_sample_result("bow", "Order", 600),)).to_markdown()


def test_row_without_portions_is_empty() -> None:
    records = (add_portions("bow?dim=1", 4, 8), add_portions("bow?dim=2", 2, 4, 8))
    shown = {title: grid for title, grid, _ in build_method_tables(Results(records))}
    rows = shown["accuracy by training items, Order"].rows
    assert {row.label: [cell.text for cell in row.cells] for row in rows} == {
        "bow?dim=1": ["50.0", "50.0"],
        "bow?dim=2": ["-", "-"],
    }


def test_page_states_note_once_below_tables() -> None:
    one = add_portions("bow", 4, 8)
    page = build_report_page(Results((one, replace(one, task="SemRole"))))
    tables = [page.index(f"<h3>Description length, {task}</h3>") for task in ("Order", "SemRole")]
    assert page.count("<h2>Methods</h2>") == page.count("<p>kbit: online codelength of the training labels") == 1
    assert page.index("<h2>Methods</h2>") < min(tables)
    assert max(tables) < page.index("<p>kbit: online") < page.index("<h3>Accuracy by training items")
