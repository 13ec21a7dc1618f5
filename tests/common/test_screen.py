"""Progress bars and lines, and terminal tables of any width, in which no text is cut."""

import io
import math
import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from sentprobe.common import screen
from sentprobe.common.screen import BarReporter, LineReporter, estimate_time_left, make_columns, print_table, wrap
from sentprobe.common.tables import build_empty_table


def draw_bar(total: int, done: int) -> Progress:
    shown = Progress(*make_columns(), console=Console(file=io.StringIO(), width=80))
    bars = BarReporter(shown)
    bars.begin("read", total)
    bars.advance(done)
    return shown


def test_unknown_total_is_not_finished() -> None:
    (task,) = draw_bar(0, 3).tasks
    assert (task.total, task.completed, task.finished) == (None, 3, False)


def test_known_total_is_finished() -> None:
    (task,) = draw_bar(3, 3).tasks
    assert (task.total, task.finished) == (3, True)


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def make_reporter(*, shares: bool = False) -> tuple[LineReporter, Clock, io.StringIO]:
    out, clock = io.StringIO(), Clock()
    return LineReporter(out, shares=shares, clock=clock), clock, out


def test_lines_state_count_total_and_time() -> None:
    reporter, clock, out = make_reporter()
    clock.now = 5
    reporter.write_progress()
    reporter.begin("train on bow", 24)
    clock.now = 25
    reporter.write_progress()
    reporter.advance(6)
    reporter.write_progress()
    clock.now = 85
    reporter.advance(18)
    reporter.begin("train on x", 1)
    assert out.getvalue().splitlines() == [
        "at work after 5 s",
        "train on bow: 0 of 24 after 20 s",
        "train on bow: 6 of 24 after 20 s, about 1 min 0 s left",
        "train on bow: 24 of 24 in 1 min 20 s",
    ]


def test_lines_state_shares_and_notes() -> None:
    reporter, clock, out = make_reporter(shares=True)
    reporter.begin("analyse", 1000)
    reporter.note("12 sentences")
    reporter.advance(250)
    clock.now = 10
    reporter.write_progress()
    reporter.begin("read", 0)
    reporter.advance(3)
    reporter.begin("train", 0)
    reporter.note("step 7")
    reporter.end_step()
    assert out.getvalue().splitlines() == [
        "analyse: 25%, 12 sentences after 10 s, about 30 s left",
        "analyse: 25%, 12 sentences in 10 s",
        "read: 3 in 0 s",
        "train: step 7 in 0 s",
    ]


@given(st.integers(1, 10**9), st.integers(0, 10**9), st.floats(0.001, 10**6))
def test_time_left_is_right_at_even_pace(total: int, done: int, pace: float) -> None:
    left = estimate_time_left(done, total, done * pace)
    if 0 < done < total:
        assert left is not None and math.isclose(left, (total - done) * pace, rel_tol=1e-9)
    else:
        assert left is None


def test_long_step_writes_lines(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(screen, "SECONDS_BETWEEN_LINES", 0.01)
    with screen.show_bars() as reporter:
        reporter.begin("train", 2)
        reporter.advance()
        time.sleep(0.5)  # no progress is reported meanwhile
        _, err = capfd.readouterr()
        assert err.count("train: 1 of 2 after 0 s, about ") > 1
    assert capfd.readouterr().err.splitlines()[-1].startswith("train: 1 of 2 in ")


def test_default_progress_is_for_terminals(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    """A script whose stderr is a file asks for progress; a terminal shows it."""
    with screen.show_bars(show=None) as reporter:
        reporter.begin("train", 2)
    assert capfd.readouterr().err == ""
    monkeypatch.setattr(screen, "_can_draw", lambda: True)
    with screen.show_bars(show=None) as reporter:
        assert isinstance(reporter, screen.BarReporter)


def test_failed_step_is_not_finished(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(KeyboardInterrupt), screen.show_bars() as reporter:
        reporter.begin("train", 2)
        raise KeyboardInterrupt
    assert capfd.readouterr().err == ""


def test_closed_stream_is_ignored() -> None:
    reporter, _, out = make_reporter()
    out.close()
    reporter.begin("train", 2)
    reporter.end_step()


words = st.text("abcdefghijkl", min_size=1, max_size=12)
phrases = st.lists(words, min_size=1, max_size=4).map(" ".join)
figures = st.from_regex(r"[1-9][0-9]{0,2}\.[0-9]( ± 0\.[0-9])?", fullmatch=True)
widths = st.integers(24, 120)


@st.composite
def tables(draw: st.DrawFn) -> tuple[tuple[str, ...], list[list[str]]]:
    """A header and rows of a label and figures."""
    count = draw(st.integers(1, 8))
    header = tuple(draw(phrases) for _ in range(count + 1))
    row = st.tuples(phrases, *[figures] * count).map(list)
    return header, draw(st.lists(row, min_size=1, max_size=3))


def printed(header: tuple[str, ...], rows: list[list[str]], width: int) -> list[str]:
    table = build_empty_table(header)
    for row in rows:
        table.add_row(*row)
    screen = Console(file=io.StringIO(), width=width)
    print_table(table, screen)
    assert isinstance(screen.file, io.StringIO)
    return screen.file.getvalue().splitlines()


@given(tables(), widths)
def test_table_cuts_no_text(made: tuple[tuple[str, ...], list[list[str]]], width: int) -> None:
    header, rows = made
    lines = printed(header, rows, width)
    actual = [word for line in lines for word in re.split(r"[\s│┃]+", line)]
    all_records = {word.removesuffix(":") for word in actual}
    for text in (header[1:], *rows):
        assert set(" ".join(text).split()) <= all_records
    assert max(map(len, lines)) <= width
    assert not any("…" in line for line in lines)


@given(tables(), widths)
def test_figure_stays_in_one_line(made: tuple[tuple[str, ...], list[list[str]]], width: int) -> None:
    header, rows = made
    text = "\n".join(printed(header, rows, width))
    for row in rows:
        for figure in row[1:]:
            assert figure in text


def test_wide_table_is_printed_in_parts() -> None:
    header = ("encoder", *(f"Task{n}" for n in range(9)))
    lines = printed(header, [["bow", *["50.0 ± 0.0"] * 9]], 80)
    assert [line.count("Task") for line in lines if "encoder" in line] == [5, 4]
    assert sum("bow" in line for line in lines) == 2


def test_very_wide_table_becomes_list() -> None:
    path = "st:" + "/models" * 11
    lines = printed(("encoder", "Order", "Negation"), [[path, "50.0", ""]], 80)
    assert lines == [path, "  Order: 50.0"]


@given(st.lists(phrases, max_size=9).map("\n".join), st.integers(13, 60))
def test_wrapped_lines_are_no_wider(text: str, width: int) -> None:
    shown = wrap(text, width)
    assert shown.split() == text.split()
    assert max(map(len, shown.split("\n"))) <= width
    assert wrap(text, None) == text


def test_headers_are_wrapped_within_names_before_a_table_is_split() -> None:
    table = Table("encoder")
    for name in ("Content1Probe", "Content2Probe", "Order"):
        table.add_column(name, justify="right")
    table.add_row("bow", "100.0", "97.5", "50.0")
    assert [list_headers(part) for part in screen.split_table(table, 60)] == [
        ["encoder", "Content1Probe", "Content2Probe", "Order"]
    ]
    assert [list_headers(part) for part in screen.split_table(table, 44)] == [
        ["encoder", "Content1\nProbe", "Content2\nProbe", "Order"]
    ]
    assert [list_headers(part) for part in screen.split_table(table, 30)] == [
        ["encoder", "Content1Probe"],
        ["encoder", "Content2Probe"],
        ["encoder", "Order"],
    ]


def list_headers(part: Table | str) -> list[str]:
    assert isinstance(part, Table)
    return [str(column.header) for column in part.columns]
