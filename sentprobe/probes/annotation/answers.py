"""The answers of annotators: read their sheets, and measure accuracy, agreement and the answers of the majority."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from sentprobe.common.errors import (
    FormatError,
    SentprobeError,
    UsageError,
    find_versions,
    format_count,
    path_error,
    suggest,
)
from sentprobe.common.tables import Grid, GridCell, GridRow
from sentprobe.probes.annotation.sheets import ANSWER, ITEM, SHEETS
from sentprobe.probes.annotation.study import Study
from sentprobe.probes.datasets.records import read_named_rows
from sentprobe.probes.results.human_results import HumanResult, format_accuracy
from sentprobe.probes.statistics import accuracy_interval

SheetLabels = Mapping[str, str]
"""An annotator's label for each item, by the item's name."""


def read_sheets(folder: Path, study: Study) -> dict[str, SheetLabels]:
    """Return the answers in the sheets of a study, by the annotator's name. Raises UsageError or FormatError."""
    sheets = folder / SHEETS
    try:
        paths = sorted(path for path in sheets.iterdir() if path.suffix == ".csv" and not path.name.startswith("."))
    except OSError as error:
        raise path_error(sheets, "the sheets of a study are there", error) from error
    if not paths:
        raise UsageError(f"{sheets}: there is no sheet, such as annotator-1.csv")
    # What file managers and browsers name a copy: "annotator-1 (1).csv", "annotator-1 copy.csv".
    if copy := next((path for path in paths if re.search(r"\(\d+\)$|\bcopy\b", path.stem, re.IGNORECASE)), None):
        raise UsageError(
            f"{copy}: a second copy of a sheet would count as another annotator; keep one, without {copy.stem!r}"
        )
    return {path.stem: read_sheet(path, study) for path in paths}


def read_sheet(path: Path, study: Study) -> SheetLabels:
    """Return an annotator's label for each item. Raises FormatError, with file and line, for a sheet not as expected.

    An answer is a label in any case, since spreadsheets change it, or what the label means.
    """
    expected = {item.name for item in study.items}
    places: dict[str, str] = {}
    answers: dict[str, str] = {}
    # The alias finds the column also under "Answer", as spreadsheets may write it.
    for where, row in read_named_rows(path, [ITEM], aliases={ANSWER: ANSWER}):
        if (answer := row.get(ANSWER)) is None:
            raise FormatError(f"{path}: a sheet has a column {ANSWER}; write sheets with probe annotate, and fill them")
        name = row[ITEM]
        if name not in expected:
            is_other = name.rpartition(".")[0] != study.prefix
            hint = f"; this study is {study.prefix} (another task, seed or sample?)" if is_other else ""
            raise FormatError(f"{where}: there is no item {name!r}{hint}")
        if name in places:
            raise FormatError(f"{where}: the item {name} stands in two rows; the first is {places[name]}")
        if not answer:
            raise FormatError(f"{where}: the item {name} has no answer")
        if (label := _find_label(answer, study)) is None:
            shown = ", ".join(study.labels[:10]) + (", ..." if len(study.labels) > 10 else "")
            raise FormatError(f"{where}: unknown answer {answer!r}{suggest(answer, study.labels)}; expected: {shown}")
        places[name], answers[name] = where.rpartition(": ")[2], label
    if missing := [item.name for item in study.items if item.name not in answers]:
        raise FormatError(f"{path}: {format_count(len(missing), 'item')} of {len(expected)} missing: {missing[0]}, ...")
    return answers


def _find_label(answer: str, study: Study) -> str | None:
    """Return the label that an answer names, or None if it names none, or several."""
    if answer in study.labels:
        return answer
    ways = {label: (label, study.meanings.get(label, label), study.describe_label(label)) for label in study.labels}
    labels = [label for label, texts in ways.items() if answer.casefold() in map(str.casefold, texts)]
    return labels[0] if len(labels) == 1 else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotator:
    """An annotator's scores: for each test item 1 or 0, and the number of control items answered wrongly."""

    name: str
    scores: tuple[float, ...]
    failed: int
    is_kept: bool
    """Whether enough control items are right, so that the answers count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotatedStudy:
    """A study with the answers of all annotators."""

    study: Study
    answers: Mapping[str, SheetLabels]
    annotators: tuple[Annotator, ...]
    result: HumanResult

    def build_grid(self) -> Grid:
        """Return a table with the accuracy of each annotator and of the majority, and failed control items."""
        rows = [
            GridRow(a.name, "", (GridCell(format_accuracy(a.scores, self.result.units)), self._build_control_cell(a)))
            for a in self.annotators
        ]
        rows.append(GridRow("majority", "majority", (GridCell(self.result.figure), GridCell(""))))
        return Grid(("annotator", "accuracy", "control items wrong"), tuple(rows))

    def _build_control_cell(self, annotator: Annotator) -> GridCell:
        left_out = "" if annotator.is_kept else ", left out"
        return GridCell(f"{annotator.failed} of {len(self.study.controls)}{left_out}")

    def format_notes(self) -> str:
        """Return the notes below the table."""
        ties = sum(len(self._find_majority(item.name)) > 1 for item in self.study.test_items)
        alpha = self.result.alpha
        agreement = "not defined (one annotator, or one label)" if alpha is None else f"{alpha:.3f}"
        notes = [
            f"Accuracy in % with its 95% interval; chance is {100 * self.study.majority:.1f}.",
            f"Krippendorff's alpha (nominal) of {format_count(self.result.annotators, 'annotator')}: {agreement}.",
        ]
        if ties:
            notes.append(
                f"{format_count(ties, 'item')} without a majority: the right label counts its share of the tie."
            )
        return "".join(f"{note}\n" for note in notes)

    def _find_majority(self, item: str) -> tuple[str, ...]:
        return find_majority(self.answers[a.name][item] for a in self.annotators if a.is_kept)

    def to_records(self) -> list[dict[str, Any]]:
        """Return a record for each annotator, and one for the majority."""
        records = [
            self._build_record(a.name, a.scores, control_items_wrong=a.failed, kept=a.is_kept) for a in self.annotators
        ]
        return [*records, self._build_record("majority", self.result.scores, alpha=self.result.alpha)]

    def _build_record(self, name: str, scores: Sequence[float], **details: Any) -> dict[str, Any]:
        interval = accuracy_interval(scores, self.result.units)
        return {
            "task": self.study.task,
            "annotator": name,
            "accuracy": fmean(scores),
            "low": interval.low,
            "high": interval.high,
            "chance": self.study.majority,
            "items": len(scores),
            "control_items": len(self.study.controls),
            **{key: details.get(key) for key in ("control_items_wrong", "kept", "alpha")},
        }

    def to_label_records(self) -> list[dict[str, Any]]:
        """Return a record for each test item: its right answer, that of the majority ("" for a tie), all answers."""
        records = []
        for item in self.study.test_items:
            labels = self._find_majority(item.name)
            records.append(
                {
                    "item": item.name,
                    "sentence": item.sentence,
                    "question": item.question,
                    "right": item.label,
                    "majority": labels[0] if len(labels) == 1 else "",
                    **{f"{ANSWER}: {name}": answers[item.name] for name, answers in self.answers.items()},
                }
            )
        return records


def score_study(study: Study, answers: Mapping[str, SheetLabels], *, at_least: float, command: str) -> AnnotatedStudy:
    """Return a study with its scores. Raises SentprobeError if no annotator has enough control items right.

    - at_least: the lowest share of control items that an annotator must have right to count
    """
    annotators = []
    for name, given in answers.items():
        failed = sum(given[item.name] != item.label for item in study.controls)
        right = len(study.controls) - failed
        scores = tuple(float(given[item.name] == item.label) for item in study.test_items)
        is_kept = not study.controls or right / len(study.controls) >= at_least
        annotators.append(Annotator(name=name, scores=scores, failed=failed, is_kept=is_kept))
    trusted = [answers[annotator.name] for annotator in annotators if annotator.is_kept]
    if not trusted:
        best = min(annotators, key=lambda annotator: annotator.failed)
        raise SentprobeError(
            f"no annotator has {100 * at_least:g}% of the control items right; the best, {best.name}, has "
            f"{len(study.controls) - best.failed} of {len(study.controls)}: lower --at-least, or ask others"
        )
    # Units are numbered anew, since the sheets have only some items of the test set.
    units: dict[int, int] = {}
    result = HumanResult(
        task=study.task,
        dataset_fingerprint=study.dataset_fingerprint,
        majority=study.majority,
        items=tuple(item.index for item in study.test_items),
        units=tuple(units.setdefault(item.unit, len(units)) for item in study.test_items),
        scores=tuple(score_majority((given[item.name] for given in trusted), item.label) for item in study.test_items),
        annotators=len(trusted),
        left_out=len(annotators) - len(trusted),
        alpha=compute_alpha([[given[item.name] for item in study.test_items] for given in trusted]),
        command=command,
        versions=find_versions("sentprobe", "nltk"),
    )
    return AnnotatedStudy(study=study, answers=answers, annotators=tuple(annotators), result=result)


def find_majority(votes: Iterable[str]) -> tuple[str, ...]:
    """Return the label with most votes, or several with equally many.

    >>> find_majority(["TRUE", "FALSE", "TRUE"]), find_majority(["5-8", "9-12"])
    (('TRUE',), ('5-8', '9-12'))
    """
    counts = Counter(votes)
    most = max(counts.values())
    return tuple(label for label, count in counts.items() if count == most)


def score_majority(votes: Iterable[str], label: str) -> float:
    """Return 1 if the label with most votes is right, 0 if it is wrong, and 1/k if it is right and one of k in a tie.

    >>> score_majority(["TRUE", "FALSE", "TRUE"], "TRUE"), score_majority(["TRUE", "FALSE"], "TRUE")
    (1.0, 0.5)
    """
    labels = find_majority(votes)
    return (label in labels) / len(labels)


def compute_alpha(answers: Sequence[Sequence[str]]) -> float | None:
    """Return Krippendorff's alpha for nominal labels; None for one annotator, or if all answers are the same label.

    - answers: for each annotator, the label of each item

    >>> round(compute_alpha([["a", "a", "b", "b"], ["a", "b", "b", "b"]]), 3)
    0.533
    """
    if len(answers) < 2 or len({label for labels in answers for label in labels}) < 2:
        return None
    # Imported late: nltk takes long to load, and only this figure needs it.
    from nltk.metrics.agreement import AnnotationTask

    triples = [(coder, item, label) for coder, labels in enumerate(answers) for item, label in enumerate(labels)]
    return float(AnnotationTask(data=triples).alpha())
