"""Terminal tables of any width: no text is cut and no word broken."""

import io
import re

from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from sentprobe.common.screen import print_table, wrap
from sentprobe.common.tables import build_empty_table

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
def test_nothing_is_cut(made: tuple[tuple[str, ...], list[list[str]]], width: int) -> None:
    header, rows = made
    lines = printed(header, rows, width)
    actual = [word for line in lines for word in re.split(r"[\s│┃]+", line)]
    all_records = {word.removesuffix(":") for word in actual}
    for text in (header[1:], *rows):
        assert set(" ".join(text).split()) <= all_records
    assert max(map(len, lines)) <= width
    assert not any("…" in line for line in lines)


@given(tables(), widths)
def test_a_figure_is_in_one_line(made: tuple[tuple[str, ...], list[list[str]]], width: int) -> None:
    header, rows = made
    text = "\n".join(printed(header, rows, width))
    for row in rows:
        for figure in row[1:]:
            assert figure in text


def test_a_wide_table_is_printed_in_parts() -> None:
    header = ("encoder", *(f"Task{n}" for n in range(9)))
    lines = printed(header, [["bow", *["50.0 ± 0.0"] * 9]], 80)
    assert [line.count("Task") for line in lines if "encoder" in line] == [5, 4]
    assert sum("bow" in line for line in lines) == 2


def test_what_is_too_wide_for_two_columns_is_a_list() -> None:
    path = "st:" + "/models" * 11
    lines = printed(("encoder", "Order", "Negation"), [[path, "50.0", ""]], 80)
    assert lines == [path, "  Order: 50.0"]


@given(st.lists(phrases, max_size=9).map("\n".join), st.integers(13, 60))
def test_wrapped_lines_are_no_wider(text: str, width: int) -> None:
    shown = wrap(text, width)
    assert shown.split() == text.split()
    assert max(map(len, shown.split("\n"))) <= width
    assert wrap(text, None) == text
