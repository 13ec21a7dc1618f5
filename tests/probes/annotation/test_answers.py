"""The answers of annotators: accuracy, majority and agreement against other computations, and bad sheets."""

import csv
import re
from collections import Counter
from itertools import permutations
from pathlib import Path

import pytest
from helpers.strategies.probe_strategies import make_learnable_dataset
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.common.errors import FormatError, SentprobeError, UsageError
from sentprobe.probes.annotation.answers import compute_alpha, read_sheet, read_sheets, score_majority, score_study
from sentprobe.probes.annotation.sheets import SHEETS, write_study
from sentprobe.probes.annotation.study import Study, draw_study

STUDY = draw_study(make_learnable_dataset(), n=20, seed=0, question="Is {probe1} in the sentence?", command="probe")


def fill(study: Study, wrong: frozenset[str] = frozenset()) -> dict[str, str]:
    """Return the right label of each item, and the other one of the items in *wrong*."""
    other = {"TRUE": "FALSE", "FALSE": "TRUE"}
    return {item.name: other[item.label] if item.name in wrong else item.label for item in study.items}


mistakes = st.frozensets(st.sampled_from([item.name for item in STUDY.items]))


@given(st.lists(mistakes, min_size=1, max_size=5), st.floats(0, 1))
def test_accuracy_and_majority_are_those_of_planted_mistakes(wrong: list[frozenset[str]], at_least: float) -> None:
    answers = {f"person {number}": fill(STUDY, names) for number, names in enumerate(wrong)}
    failed = [sum(item.name in names for item in STUDY.controls) for names in wrong]
    trusted = [names for names, count in zip(wrong, failed, strict=True) if (10 - count) / 10 >= at_least]
    if not trusted:
        with pytest.raises(SentprobeError, match="no annotator has"):
            score_study(STUDY, answers, at_least=at_least, command="probe")
        return
    annotated = score_study(STUDY, answers, at_least=at_least, command="probe")
    assert [annotator.failed for annotator in annotated.annotators] == failed
    assert [annotator.is_kept for annotator in annotated.annotators] == [names in trusted for names in wrong]
    for annotator, names in zip(annotated.annotators, wrong, strict=True):
        assert sum(annotator.scores) == sum(item.name not in names for item in STUDY.test_items)
    votes = [sum(item.name not in names for names in trusted) / len(trusted) for item in STUDY.test_items]
    expected = tuple(0.5 if share == 0.5 else float(share > 0.5) for share in votes)
    assert annotated.result.scores == expected
    assert (annotated.result.annotators, annotated.result.left_out) == (len(trusted), len(wrong) - len(trusted))
    records = annotated.to_label_records()
    assert [record["majority"] == record["right"] for record in records] == [score == 1 for score in expected]
    assert annotated.to_records()[-1]["accuracy"] == pytest.approx(annotated.result.accuracy)


@given(st.lists(st.lists(st.sampled_from("abc"), min_size=6, max_size=6), min_size=2, max_size=4))
def test_alpha_is_that_of_coincidences(answers: list[list[str]]) -> None:
    """Krippendorff's own way: all ordered pairs of answers to an item, each with the weight 1/(answers - 1)."""
    pairs: Counter[tuple[str, str]] = Counter()
    for labels in zip(*answers, strict=True):
        pairs.update(permutations(labels, 2))
    totals = Counter(label for labels in answers for label in labels)
    total = totals.total()
    alpha = compute_alpha(answers)
    if len(totals) == 1:
        assert alpha is None
        return
    observed = sum(count for (a, b), count in pairs.items() if a != b) / (len(answers) - 1) / total
    chance = sum(totals[a] * totals[b] for a, b in permutations(totals, 2)) / (total * (total - 1))
    assert alpha == pytest.approx(1 - observed / chance)


def test_alpha_of_textbook_example() -> None:
    """Krippendorff (2011), computing alpha, part A: two observers, ten binary values."""
    first, second = "0100000010", "1110010000"
    assert compute_alpha([[*first], [*second]]) == pytest.approx(0.095, abs=5e-4)
    assert compute_alpha([[*first]]) is None


@pytest.mark.parametrize(
    ("votes", "score"), [("aab", 1.0), ("abb", 0.0), ("abc", 1 / 3), ("bc", 0.0), ("ab", 0.5), ("a", 1.0)]
)
def test_tie_counts_its_share(votes: str, score: float) -> None:
    assert score_majority([*votes], "a") == pytest.approx(score)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A study of three annotators, whose first sheet is filled without a mistake."""
    write_study(STUDY, tmp_path / "study", annotators=3)
    for path in (tmp_path / "study" / SHEETS).glob("annotator-[23].*"):
        path.unlink()
    sheet = tmp_path / "study" / SHEETS / "annotator-1.csv"
    rows = read_rows(sheet)
    write_rows(sheet, [rows[0], *([fill(STUDY)[row[1]], *row[1:]] for row in rows[1:])])
    return tmp_path / "study"


def read_rows(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return [*csv.reader(file)]


def write_rows(path: Path, rows: list[list[str]], separator: str = ",") -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=separator).writerows(rows)


def test_filled_sheet_is_read(folder: Path) -> None:
    assert read_sheets(folder, STUDY) == {"annotator-1": fill(STUDY)}


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_what_spreadsheets_change_is_accepted(folder: Path, separator: str) -> None:
    """Another separator, sorted rows, other case, meanings of labels, lost columns."""
    path = folder / SHEETS / "annotator-1.csv"
    head, *rows = read_rows(path)
    words = {"TRUE": ("true", "yes", "TRUE (yes)"), "FALSE": ("False", "NO", " FALSE")}
    changed = [[words[row[0]][number % 3], row[1]] for number, row in enumerate(sorted(rows))]
    write_rows(path, [head[:2], *changed], separator)
    assert read_sheet(path, STUDY) == fill(STUDY)


PREFIX = STUDY.prefix


@pytest.mark.parametrize(
    ("line", "row", "message"),
    [
        (3, ["", "{name}"], "line 3: the item {name} has no answer"),
        (4, ["TRU", "{name}"], "line 4: unknown answer 'TRU' (did you mean 'TRUE'?); expected: FALSE, TRUE"),
        (5, ["TRUE", ""], "line 5: the field item is empty"),
        (6, ["TRUE", "{first}"], "line 6: the item {first} stands in two rows; the first is line 2"),
        (7, ["TRUE", f"{PREFIX}.99"], f"line 7: there is no item '{PREFIX}.99'"),
        (8, ["TRUE", "Order.abcdef.1"], f"'Order.abcdef.1'; this study is {PREFIX} (another task, seed or sample?)"),
        (9, ["TRUE"], "line 9: 1 field, the first line names 5"),
        (1, ["answer", "name"], "the column item is missing; the first line must name the columns item"),
        (1, ["label", "item"], "a sheet has a column answer"),
        (1, ["item", "item"], "the column item is given twice"),
        (31, [], "1 item of 30 missing: {last}, ..."),
    ],
)
def test_bad_sheet_is_refused_with_its_line(folder: Path, line: int, row: list[str], message: str) -> None:
    path = folder / SHEETS / "annotator-1.csv"
    rows = read_rows(path)
    names = {"name": rows[line - 1][1], "first": rows[1][1], "last": rows[-1][1]}
    filled = [cell.format(**names) for cell in row]
    rows[line - 1] = filled + rows[line - 1][len(filled) :] if len(row) > 1 else filled
    write_rows(path, rows)
    with pytest.raises(FormatError, match=re.escape(message.format(**names))) as caught:
        read_sheet(path, STUDY)
    assert str(caught.value).startswith(f"{path}: ")
    assert str(caught.value).count("\n") == 0


@pytest.mark.parametrize("name", ["annotator-1 (1).csv", "Copy of annotator-1.csv"])
def test_second_copy_of_a_sheet_is_no_annotator(name: str, folder: Path) -> None:
    (folder / SHEETS / name).write_bytes((folder / SHEETS / "annotator-1.csv").read_bytes())
    with pytest.raises(UsageError, match="a second copy of a sheet would count as another annotator"):
        read_sheets(folder, STUDY)


def test_missing_sheets_are_refused(folder: Path) -> None:
    for path in (folder / SHEETS).iterdir():
        path.unlink()
    with pytest.raises(UsageError, match="there is no sheet, such as annotator-1"):
        read_sheets(folder, STUDY)
    (folder / SHEETS).rmdir()
    with pytest.raises(UsageError, match="the sheets of a study are there: No such file"):
        read_sheets(folder, STUDY)


def test_table_names_annotators_who_are_left_out() -> None:
    careless = frozenset(item.name for item in STUDY.controls[:2])
    answers = {
        "ann": fill(STUDY),
        "bob": fill(STUDY, careless),
        "cy": fill(STUDY, frozenset([STUDY.test_items[0].name])),
    }
    annotated = score_study(STUDY, answers, at_least=0.9, command="probe")
    rows = [(row.label, *(cell.text for cell in row.cells)) for row in annotated.build_grid().rows]
    assert rows == [
        ("ann", "100.0 [83.9, 100.0]", "0 of 10"),
        ("bob", "100.0 [83.9, 100.0]", "2 of 10, left out"),
        ("cy", "95.0 [76.4, 99.1]", "0 of 10"),
        ("majority", "97.5 [80.0, 99.7]", ""),
    ]
    assert "of 2 annotators: 0.9" in annotated.format_notes()
    assert "1 item without a majority" in annotated.format_notes()
