"""Names, notes and messages from outside are shown whole, and no control code is obeyed."""

import csv
import io
import json
import logging
import sys
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from sentprobe.common.errors import (
    LARGEST_SEED,
    NotationError,
    SentprobeError,
    check_seed,
    escape_control_characters,
    format_message,
    split_lines,
)
from sentprobe.common.screen import LineReporter, make_columns, print_lines, print_table, print_text
from sentprobe.common.tables import (
    Grid,
    GridCell,
    GridRow,
    TableFormat,
    build_empty_table,
    build_rich_table,
    escape_markdown,
    format_grid,
    format_notes,
    format_records,
    format_title,
)
from sentprobe.common.values import format_json
from sentprobe.probes.reports.references import write_with_citations
from sentprobe.probes.reports.tables.view import load_template
from sentprobe.probes.review.checks import ClaimReview, render_review
from sentprobe.probes.review.claim_finding import ClaimFinding, Severity

EVIL = "bow\x1b[2J\x1b]0;title\x07\x9b31m\u202e\x85\u2028\u2029\ufffe\uffff"
SHOWN = r"bow\x1b[2J\x1b]0;title\x07\x9b31m\u202e\x85\u2028\u2029\ufffe\uffff"

ESCAPES = st.text(st.sampled_from("ab \x1b[]\x07\x9b\u202e\x00\x7f\r'\"/\x85\u2028\u2029\ufffe\uffff"), max_size=600)


def is_harmless(text: str) -> bool:
    return all(sign.isprintable() or sign in "\n\t" for sign in text)


@given(ESCAPES)
def test_escaped_text_is_harmless(text: str) -> None:
    assert is_harmless(escape_control_characters(text))
    assert escape_control_characters(escape_control_characters(text)) == escape_control_characters(text)


DIRECTIONS = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
DIRECTION_MARKS = {"LEFT-TO-RIGHT MARK", "RIGHT-TO-LEFT MARK", "ARABIC LETTER MARK"}


@pytest.mark.slow
def test_dangerous_characters_are_escaped() -> None:
    for code in range(sys.maxunicode + 1):
        sign = chr(code)
        is_dangerous = (
            (unicodedata.category(sign) in {"Cc", "Cs", "Zl", "Zp"} and sign not in "\n\t")
            or unicodedata.bidirectional(sign) in DIRECTIONS
            or unicodedata.name(sign, "") in DIRECTION_MARKS
            or code in {0xFFFE, 0xFFFF}
        )
        assert escape_control_characters(sign) == (ascii(sign)[1:-1] if is_dangerous else sign), ascii(sign)
        written = json.dumps(sign, ensure_ascii=is_dangerous)
        assert format_json(sign) == written or 0xD800 <= code < 0xE000, ascii(sign)


@given(ESCAPES)
def test_format_message_is_idempotent(text: str) -> None:
    once = format_message(text)
    assert format_message(once) == once
    assert is_harmless(once)


def test_error_quotes_at_most_200_characters() -> None:
    for text in ("x" * 680_015, "x y " * 170_000, "'" * 3000, "\x1b" * 3000, "a, " * 100_000):
        message = str(SentprobeError(f"there is no task {text!r}; the tasks are SemRole, Order"))
        assert len(message) < 2000
        assert message.startswith("there is no task ")
    quoted = str(SentprobeError(f"there is no task {'x y ' * 99!r}; the tasks are SemRole"))
    assert quoted == f"there is no task {'x y ' * 50!r}; the tasks are SemRole".replace("y ';", "y …';")
    path = "/".join(["folder"] * 100)
    assert str(SentprobeError(f"{path}: damaged")) == f"{path}: damaged"


def test_event_is_quoted_around_mistake() -> None:
    error = NotationError("what is this", "a" * 5000 + "\x1b" + "b" * 5000, 5000)
    head, shown, caret = str(error).split("\n")
    assert head == "event:1:5001: what is this"
    assert is_harmless(shown)
    assert len(shown) < 500
    assert shown[caret.index("^")] == "?"
    assert shown[caret.index("^") - 1] == "a"


def test_seeds() -> None:
    assert check_seed(LARGEST_SEED) == LARGEST_SEED
    with pytest.raises(SentprobeError, match="at most"):
        check_seed(LARGEST_SEED + 1)


GRID = Grid(("encoder", EVIL), (GridRow(EVIL, "", (GridCell(EVIL, best=True),)),))


@pytest.mark.parametrize("style", [TableFormat.TEXT, TableFormat.MARKDOWN, TableFormat.LATEX])
def test_tables_as_text(style: TableFormat) -> None:
    writers = (format_grid(GRID, style), format_notes(EVIL, style), format_title(EVIL, style))
    for written in (*writers, write_with_citations([EVIL], style)):
        assert is_harmless(written)
        assert "title" in written


@pytest.mark.parametrize("style", [TableFormat.TEXT, TableFormat.MARKDOWN, TableFormat.JSON])
def test_findings_about_a_claim(style: TableFormat) -> None:
    finding = ClaimFinding(
        severity=Severity.NOTE, problem=EVIL, advice=EVIL, figures=(EVIL,), task=EVIL, encoder=EVIL, table=EVIL
    )
    assert is_harmless(render_review(ClaimReview((finding,)), style))


def test_records_and_pages() -> None:
    assert is_harmless(format_records([{EVIL: EVIL}], TableFormat.CSV).replace("\r\n", "\n"))
    page = load_template("notebook.html.j2").render(sections=[(EVIL, GRID, [EVIL])], nothing="")
    assert page.count(SHOWN) == 5
    assert is_harmless(page)


def test_note_is_split_at_line_ends() -> None:
    assert split_lines(f"{EVIL}\nNext\n") == [SHOWN, "Next"]


def test_tables_and_lines_on_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    out = io.StringIO()
    screen = Console(file=out, width=200, color_system=None)
    named = build_empty_table(["name", EVIL])
    named.add_row(EVIL, EVIL)
    for table in (build_rich_table(GRID), named):
        print_table(table, screen)
    for width in (10, 200):
        print_table(named, Console(file=out, width=width, color_system=None))
    print_lines(EVIL, screen)
    print_text(EVIL)
    LineReporter(out).begin(EVIL, 1)
    lines = LineReporter(out)
    lines.begin(EVIL, 1)
    lines.note(EVIL)
    lines.end_step()
    shown = out.getvalue() + capsys.readouterr().out
    assert is_harmless(shown)
    assert SHOWN in shown


def test_bar_columns_have_no_markup() -> None:
    for column in (*make_columns(), make_columns(notes=True)[3]):
        assert not getattr(column, "markup", False)


@pytest.mark.parametrize("sign", ["=", "+", "-", "@", "\t"])
def test_csv_text_is_no_formula(sign: str) -> None:
    text = format_records([{"encoder": f"{sign}1+1", "low": -0.5, "n": None}], TableFormat.CSV)
    (row,) = csv.DictReader(io.StringIO(text, newline=""))
    assert row == {"encoder": f"'{sign}1+1", "low": "-0.5", "n": ""}


def test_csv_name_with_return_is_one_row() -> None:
    text = format_records([{"encoder": "a\r=1+1"}], TableFormat.CSV)
    assert [*csv.reader(io.StringIO(text, newline=""))] == [["encoder"], ["a\\r=1+1"]]


@pytest.mark.parametrize("text", ["a\nb", "a\r\\input{x}", "a\u2028b", "a\x0bb"])
def test_latex_title_stays_comment(text: str) -> None:
    written = format_title(text, TableFormat.LATEX) + format_notes(text, TableFormat.LATEX)
    assert all(line.startswith("% ") for line in written.splitlines())


def test_markdown_of_anybody_is_text() -> None:
    assert escape_markdown("<img src=x>") == r"\<img src=x>"
    assert escape_markdown("[a](b) &lt; ~~x~~ `y`") == r"\[a](b) \&lt; \~\~x\~\~ \`y\`"
    assert format_notes("see <b>*this*", TableFormat.MARKDOWN) == "\n- see \\<b>\\*this\\*\n"


def test_warning_escapes_server_text(caplog: pytest.LogCaptureFixture) -> None:
    logging.getLogger("sentprobe").warning("%s", SentprobeError(f"the server says {EVIL}"))
    assert caplog.messages == [f"the server says {SHOWN}"]


def test_message_escapes_path(tmp_path: Path) -> None:
    from sentprobe.probes.datasets.formats import read_dataset

    with pytest.raises(SentprobeError, match="there is no such file") as caught:
        read_dataset(tmp_path / EVIL)
    assert str(caught.value) == f"{tmp_path}/{SHOWN}: there is no such file or directory"
