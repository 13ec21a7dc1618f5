"""The accuracy of people on a task, and its JSON file in a results folder: the row Human of tables."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from statistics import fmean

from sentprobe.common.errors import ResultsError, SentprobeError, UsageError, describe_damage, path_error
from sentprobe.common.files import make_parent_folder, write_atomically
from sentprobe.common.values import EDITED, check_record, digest_value, format_json, parse_json_object, pop_digest
from sentprobe.probes.results.result import Result
from sentprobe.probes.statistics import Interval, accuracy_interval

HUMAN_FORMAT = "sentprobe-human 1"
FOLDER = "human"
HUMAN = "Human"
"""The name of people in the column of encoders."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HumanResult:
    """The answers of the majority of annotators to a sample of a task's test items."""

    task: str
    dataset_fingerprint: str
    majority: float
    """Chance: the share of the most frequent label in all test items."""
    items: tuple[int, ...]
    """The indices of the test items in the sample."""
    units: tuple[int, ...]
    """The index of each item's unit."""
    scores: tuple[float, ...]
    """For each item 1 if the majority's label is right, else 0; in a tie of k labels, each counts 1/k."""
    annotators: int
    """The number of annotators whose answers count."""
    left_out: int
    """The number of annotators who got too many control items wrong."""
    alpha: float | None
    """Krippendorff's alpha of the annotators who count; None if there is one, or if all answers are the same label."""
    command: str
    versions: Mapping[str, str] = field(hash=False)
    source: str = field(default="", compare=False)
    """The folder that the result was read from; not stored."""

    @property
    def accuracy(self) -> float:
        """The accuracy of the majority."""
        return fmean(self.scores)

    @property
    def interval(self) -> Interval:
        """The 95% interval of the accuracy."""
        return accuracy_interval(self.scores, self.units)

    @property
    def figure(self) -> str:
        """The accuracy with its interval in percent, such as ``88.5 [83.3, 92.2]``."""
        return format_accuracy(self.scores, self.units)

    def describe(self) -> str:
        """Return a note: who answered how many items, and how far the annotators agree."""
        alpha = "" if self.alpha is None else f", Krippendorff's alpha {self.alpha:.2f}"
        left_out = f", {self.left_out} more left out by control items" if self.left_out else ""
        people = "one annotator" if self.annotators == 1 else f"the majority of {self.annotators} annotators"
        return f"{people} on {len(self.items)} test items of {self.task}{alpha}{left_out}"


def format_accuracy(scores: Sequence[float], units: Sequence[int]) -> str:
    """Return the mean score with its 95% interval in percent.

    >>> format_accuracy([1, 1, 1, 0], [0, 1, 2, 3])
    '75.0 [30.1, 95.4]'
    """
    interval = accuracy_interval(scores, units)
    return f"{100 * fmean(scores):.1f} [{100 * interval.low:.1f}, {100 * interval.high:.1f}]"


def format_human(result: HumanResult) -> str:
    """Return a result as JSON text; the inverse of :func:`parse_human`."""
    value = {"format": HUMAN_FORMAT, **asdict(result)}
    for name in ("items", "units", "scores"):
        value[name] = " ".join(map(repr, value[name]))  # indented JSON would put every number on its own line
    del value["source"]
    value["digest"] = digest_value(value)
    return format_json(value, indent=1, default=dict) + "\n"


def parse_human(text: str | bytes, *, source: str) -> HumanResult:
    """Parse the JSON text of a result. Raises ResultsError, which begins with *source*, if it is malformed."""
    try:
        value = parse_json_object(text)
        edited = pop_digest(value)
        if value.pop("format") != HUMAN_FORMAT:
            raise ValueError(f"its format is not {HUMAN_FORMAT!r}")
        for name, kind in (("items", int), ("units", int), ("scores", float)):
            value[name] = tuple(map(kind, value[name].split()))
        result = HumanResult(**value)
        check_record(result)
        if not result.items or not len(result.items) == len(result.units) == len(result.scores):
            raise ValueError("items, units and scores differ in their number")
        if not all(0 <= score <= 1 for score in result.scores):
            raise ValueError("a score is not between 0 and 1")
        if edited:
            raise ValueError(EDITED)
        return result
    except (SentprobeError, ValueError, TypeError, KeyError, AttributeError) as error:
        what = f"not a result of probe annotate ({describe_damage(error)})"
        raise ResultsError(f"{source}: {what}; remove the file, and read the sheets again") from None


def write_human(result: HumanResult, out: Path) -> None:
    """Write a result into a results folder; an older one of people on the same data is replaced."""
    name = re.sub(r"[^A-Za-z0-9_.=-]+", "_", result.task[:60]).lstrip(".")
    path = out / FOLDER / f"{name}.{result.dataset_fingerprint[:8]}.json"
    make_parent_folder(path)
    write_atomically(path, format_human(result))


def read_human(folders: Iterable[Path]) -> tuple[HumanResult, ...]:
    """Read the accuracies of people in results folders, sorted by file name. Raises ResultsError for a damaged file."""
    results: list[HumanResult] = []
    for folder in folders:
        try:
            for path in sorted((folder / FOLDER).glob("[!.]*.json")):
                result = parse_human(path.read_bytes(), source=str(path))
                results.append(replace(result, source=str(folder)))
        except OSError as error:
            raise path_error(folder, "cannot read results", error) from error
    return tuple(results)


def match_human(human: Sequence[HumanResult], records: Iterable[Result]) -> dict[str, HumanResult]:
    """Return, by task, the accuracy of people on the data of one of *records*. Raises UsageError if a task has two."""
    data = {(record.task, record.dataset_fingerprint) for record in records}
    matched: dict[str, HumanResult] = {}
    for result in human:
        if (result.task, result.dataset_fingerprint) in data:
            if other := matched.get(result.task):
                folders = f"{other.source} and {result.source}"
                raise UsageError(
                    f"people answered {result.task} in two studies, of {folders}; show one of them at a time"
                )
            matched[result.task] = result
    return matched
