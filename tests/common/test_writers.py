"""The writers of JSON, CSV and XML: other readers get the same text, and no character is dangerous."""

import csv
import io
import json
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sentprobe.common.tables import (
    FORMULA_PREFIXES,
    Grid,
    GridCell,
    GridRow,
    TableFormat,
    escape_formula,
    format_csv_row,
    format_grid,
    format_records,
    unpad_formula,
)
from sentprobe.common.values import BadSyntaxError, format_json, parse_json

CONTROLS = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufffe\uffff\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)
MARKS = "".join(map(chr, (0x07, 0x1B, 0x7F, 0x85, 0x9B, 0x061C, 0x200E, 0x200F, 0x2028, 0x202E, 0x2066, 0xFFFE)))
texts = st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from(f"{MARKS}=+-@\uff1d'\t\r\n \"\\,"))


@given(texts, st.sampled_from([None, 2]))
@example(MARKS, None)
def test_json_reads_back_without_control_characters(text: str, indent: int | None) -> None:
    value = {text: [text, 1]}
    written = format_json(value, indent=indent)
    assert json.loads(written) == parse_json(written) == value
    assert not CONTROLS.search(written)


@given(st.dictionaries(texts, st.integers(0, 9), min_size=1), st.data(), st.integers(0, 3))
def test_json_with_doubled_key_is_refused(record: dict[str, int], data: st.DataObject, depth: int) -> None:
    doubled = data.draw(st.sampled_from([*record]))
    members = data.draw(st.permutations([*record.items(), (doubled, 3)]))
    text = ", ".join(f"{json.dumps(key)}: {value}" for key, value in members)
    with pytest.raises(BadSyntaxError) as caught:
        parse_json('[{"": ' * depth + f"{{{text}}}" + "}]" * depth)
    assert caught.value.reason == f"the key {doubled!r} is stated twice in one object"


@given(st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp", "Cf"], exclude_characters="\ufffe\uffff")))
def test_json_of_ordinary_text_is_usual(text: str) -> None:
    assert format_json(text) == json.dumps(text, ensure_ascii=False)


@given(st.lists(texts, min_size=2))
@example(["=1", "-", "@x"])
def test_csv_has_no_dangerous_character(fields: list[str]) -> None:
    line = format_csv_row(fields)
    (row,) = csv.reader(io.StringIO(line, newline=""))
    assert row == [*map(escape_formula, fields)]
    assert not any(cell.startswith(FORMULA_PREFIXES) for cell in row)
    assert not re.search(f"{CONTROLS.pattern}|\r", line)
    ordinary = [text for text in fields if not CONTROLS.search(text)]
    assert [cell for cell, text in zip(row, fields, strict=True) if text in ordinary] == [
        f"'{text}" if text.startswith(FORMULA_PREFIXES) else text for text in ordinary
    ]


@given(st.lists(texts, min_size=2))
@example([" =1", "  -", "=1"])
def test_padded_csv_reads_back(fields: list[str]) -> None:
    (row,) = csv.reader(io.StringIO(format_csv_row(fields, padded=True), newline=""))
    assert [*map(unpad_formula, row)] == fields
    assert not any(cell.startswith(FORMULA_PREFIXES) for cell in row)


@given(texts)
def test_records_have_no_control_characters(text: str) -> None:
    written = format_records([{"name": text, "n": 1}], TableFormat.JSON)
    assert json.loads(written) == [{"name": text, "n": 1}]
    assert not CONTROLS.search(written)
    assert not re.search("\x9b|\u202e", format_records([{"name": text, text + "x": 1}], TableFormat.CSV))


@pytest.mark.parametrize("sign", ["=", "＝", "＋", "－", "＠", "\n="])
def test_csv_guards_formulas_of_spreadsheets(sign: str) -> None:
    assert str(escape_formula(f"{sign}1+1")) == f"'{sign}1+1"
    assert next(csv.reader(io.StringIO(format_csv_row([f"{sign}1+1"], padded=True), newline=""))) == [f" {sign}1+1"]


@given(st.text(st.sampled_from("ab\n\r\x0b\x85\u2028|&%\\"), max_size=20), st.booleans())
@example("\n\n", True)
def test_table_row_is_one_line(text: str, best: bool) -> None:
    grid = Grid(("encoder", text), (GridRow(text, "", (GridCell(text, best=best),)),))
    for style, others in ((TableFormat.TEXT, 0), (TableFormat.MARKDOWN, 1), (TableFormat.LATEX, 5)):
        written = format_grid(grid, style)
        assert len(written.splitlines()) == written.count("\n") == 2 + others


@pytest.mark.parametrize("style", [TableFormat.TEXT, TableFormat.MARKDOWN, TableFormat.LATEX])
def test_line_breaks_in_names_become_blanks(style: TableFormat) -> None:
    grid = Grid(("enc\noder", "Ta\nsk"), (GridRow("b\now", "", (GridCell("5\n0", best=True),)),))
    text = format_grid(grid, style)
    assert all(name in text for name in ("enc oder", "Ta sk", "b ow", "5 0"))
