"""Results show as the table: as text, in a terminal, in a notebook, in a document."""

import io
import re
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.in_process import Command
from helpers.runs.shown_runs import TagChecker, write_run
from helpers.strategies.probe_strategies import make_sample_result
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from sentprobe import Results, read_results
from sentprobe.common.errors import UsageError
from sentprobe.common.tables import TableFormat, build_rich_table, format_grid
from sentprobe.probes.reports.tables.main_table import build_grid

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


def test_text_is_the_table_and_the_lines_below_it() -> None:
    text = str(BOTH)
    assert text.startswith(render_on_screen(build_rich_table(build_grid(BOTH))).rstrip("\n"))
    assert text.endswith("\nAll notes: results.to_markdown(notes=True)")
    assert repr(BOTH) == text


def test_text_is_as_wide_as_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    assert max(map(len, str(BOTH).splitlines())) <= 60


def test_no_word_is_broken_at_80_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    tasks = [f"ATaskOfLongName{n}" for n in range(9)]
    name = "hf:bert-base-uncased?layer=10&pool=mean"
    text = str(Results(tuple(make_sample_result(name, task, 600, 500, 499) for task in tasks)))
    assert max(map(len, text.splitlines())) <= 80
    assert all(word in text for word in [*tasks, name, "--draws"])
    assert "…" not in text


def test_a_rich_console_shows_the_same() -> None:
    shown = [line.rstrip() for line in render_on_screen(BOTH).splitlines()]
    assert "\n".join(shown) == str(BOTH)


def test_the_command_prints_the_same(tmp_path: Path, command: Command) -> None:
    path = write_run(tmp_path / "run", *BOTH.records)
    code, out, err = command("show", path, "--format", "markdown")
    assert (code, err) == (0, "")
    assert read_results(path).to_markdown() == out


@pytest.mark.parametrize("style", [TableFormat.MARKDOWN, TableFormat.LATEX])
def test_documents(style: TableFormat) -> None:
    text = BOTH.to_markdown() if style is TableFormat.MARKDOWN else BOTH.to_latex()
    assert text.startswith(format_grid(build_grid(BOTH), style))
    assert "[45.6, 54.4]" not in text


def test_intervals_in_documents() -> None:
    assert r"\[45.6, 54.4]" in BOTH.to_markdown(intervals=True)
    assert "{[}45.6, 54.4{]}" in BOTH.to_latex(intervals=True)


def test_a_caption_in_latex_as_the_command_has_it(tmp_path: Path, command: Command) -> None:
    path = write_run(tmp_path / "run", *BOTH.records)
    named = ("--caption", "50% of a_b", "--label", "tab:all")
    code, out, err = command("show", path, "--format", "latex", *named)
    assert (code, err) == (0, "")
    assert BOTH.to_latex(caption="50% of a_b", label="tab:all") in out
    assert r"\caption{50\% of a\_b}" in out


@pytest.mark.parametrize(
    ("caption", "label", "message"),
    [
        (None, "tab:all", "label needs a caption: LaTeX numbers the tables that have one"),
        (" ", None, "caption is empty"),
        ("All", "a{b", "label 'a{b': use letters, digits and the signs : . + / - _"),
    ],
)
def test_a_caption_that_cannot_be(caption: str | None, label: str | None, message: str) -> None:
    with pytest.raises(UsageError, match=f"^{re.escape(message)}$"):
        BOTH.to_latex(caption=caption, label=label)


def test_a_star_marks_what_is_bold_elsewhere() -> None:
    assert "* 69.0" in str(BOTH)
    assert "| **69.0** |" in BOTH.to_markdown()
    assert "*" not in BOTH.to_latex().split("% ")[0]
    for text in (str(BOTH), BOTH.to_markdown(), BOTH.to_latex(), BOTH._repr_html_()):
        star = r"\*" if text == BOTH.to_markdown() else "*"
        assert re.search(rf"Bold,? or (with a )?{re.escape(star)}: significantly better than chance", text)


@pytest.mark.parametrize("form", [(), ("--format", "text")])
def test_a_file_has_stars(tmp_path: Path, command: Command, form: tuple[str, ...]) -> None:
    path = write_run(tmp_path / "run", *BOTH.records)
    _, printed, _ = command("show", path, *form)
    assert command("show", path, *form, "--out", tmp_path / "table.txt")[0] == 0
    for text in (printed, (tmp_path / "table.txt").read_text("utf-8")):
        assert "* 69.0" in text
        (bow,) = (line for line in text.splitlines() if "bow  " in line)
        (best,) = (line for line in text.splitlines() if "* 69.0" in line)
        assert bow.index("50.0") == best.index("69.0")


def test_a_notebook_shows_the_table_the_best_in_bold() -> None:
    page = BOTH._repr_html_()
    tags = TagChecker()
    tags.feed(page)
    assert tags.open == []
    assert "<b>69.0</b>" in page
    assert [text for text in tags.texts if text][:4] == ["encoder", "Order", "bow", "50.0"]
    assert {f"Controls: {n} of {n} that must be at chance are at chance." for n in (4, 5)} & {*tags.texts}


@given(name=st.text(st.characters(blacklist_categories=("C", "Z")), min_size=1))
def test_a_notebook_shows_every_name_as_it_is(name: str) -> None:
    results = Results((make_sample_result(name, "Order", 500, mirrored=True),))
    tags = TagChecker()
    tags.feed(results._repr_html_())
    assert tags.open == []
    assert name in tags.texts


def test_runs_of_two_settings_are_two_tables() -> None:
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
