"""A study: a sample of a task's test items for people to answer, among control items, with the right answers.

Control items are items of the training part. Annotators read their answers in the instructions; who gets them wrong
does not read, or does not understand the task.
"""

import logging
import random
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from sentprobe.common.errors import (
    ResultsError,
    SentprobeError,
    UsageError,
    describe_damage,
    find_versions,
    format_count,
    path_error,
)
from sentprobe.common.values import EDITED, check_record, digest_value, format_json, parse_json_object, pop_digest
from sentprobe.probes.datasets.dataset import ProbeDataset, Split
from sentprobe.probes.datasets.records import PROBES
from sentprobe.probes.encoders.encoder import digest
from sentprobe.probes.runs.suites import find_known_task

log = logging.getLogger(__name__)

STUDY_FORMAT = "sentprobe-annotation 1"
KEY = "key.json"
CONTROL_ITEMS = 10
"""Number of control items; Conneau et al. (2018, appendix) kept annotators with 90% of at least 10 right."""
MAX_BUTTONS = 24
"""The largest number of labels that each get a button, and an example."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyItem:
    """An item to annotate, with its right answer."""

    name: str
    """Name of the item in the sheets, which does not tell whether it is a control item."""
    question: str
    sentence: str
    label: str
    is_control: bool
    index: int
    """The index of the item in the test items of the dataset or, for a control item, in its training items."""
    unit: int
    """The unit of a test item: items with the same unit are not independent; 0 for a control item."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """The items that all annotators answer, and facts about their dataset."""

    task: str
    dataset_fingerprint: str
    labels: tuple[str, ...]
    meanings: Mapping[str, str] = field(hash=False)
    """What labels mean, such as ``{"TRUE": "yes"}``."""
    majority: float
    """Chance: the share of the most frequent label in all test items."""
    seed: int
    items: tuple[StudyItem, ...]
    command: str
    versions: Mapping[str, str] = field(hash=False)

    @property
    def prefix(self) -> str:
        """The beginning of all names of items, which tells this study's sheets from those of others."""
        return self.items[0].name.rpartition(".")[0]

    @property
    def controls(self) -> tuple[StudyItem, ...]:
        """The control items."""
        return tuple(item for item in self.items if item.is_control)

    @property
    def test_items(self) -> tuple[StudyItem, ...]:
        """The items that are not control items."""
        return tuple(item for item in self.items if not item.is_control)

    def describe_label(self, label: str) -> str:
        """Return a label with its meaning, such as ``TRUE (yes)``."""
        meaning = self.meanings.get(label)
        return f"{label} ({meaning})" if meaning else label


def draw_study(data: ProbeDataset, *, n: int, seed: int, question: str | None, command: str) -> Study:
    """Draw *n* test items and the control items at random. Raises UsageError.

    No two test items are of the same unit, if there are enough units. Labels of control items are balanced.

    - question: the question in words, with ``{probe1}`` and ``{probe2}``; None: that of the task
    """
    test, train = data.splits[Split.TEST], data.splits[Split.TRAIN]
    if not 1 <= n <= len(test):
        raise UsageError(
            f"--n {n}: {data.name} has {format_count(len(test), 'test item')}, from which 1 or more are drawn"
        )
    text, meanings = _find_question(data, question)
    rng = random.Random(seed)
    units = data.units(Split.TEST).tolist()
    drawn = _sample_evenly(range(len(test)), units, n, rng)
    # No control item shows a sentence that a test item shows, with its answer known.
    used = {int(test.rows[index]) for index in drawn}
    unused = (i for i, row in enumerate(train.rows.tolist()) if row not in used)
    per_sentence = {int(train.rows[index]): index for index in _shuffle(unused, rng)}
    count = max(CONTROL_ITEMS, len(data.labels)) if len(data.labels) <= MAX_BUTTONS else CONTROL_ITEMS
    controls = _sample_evenly(per_sentence.values(), train.targets.tolist(), count, rng)
    if len(controls) < CONTROL_ITEMS:
        log.warning(
            "only %d control items: the training part has no more sentences that the sheets lack", len(controls)
        )
    fingerprint = data.fingerprint()
    name = re.sub(r"[^A-Za-z0-9_-]+", "_", data.name)
    prefix = f"{name}.{digest(fingerprint, str(seed), str(n), text)[:6]}"
    chosen = [(Split.TEST, index) for index in drawn] + [(Split.TRAIN, index) for index in controls]
    items = []
    for number, (split, index) in enumerate(_shuffle(chosen, rng), 1):
        part = data.splits[split]
        words = [data.probe_words[word] for word in part.probes[index]]
        items.append(
            StudyItem(
                name=f"{prefix}.{number}",
                question=_fill_question(text, words),
                sentence=data.sentences[part.rows[index]],
                label=data.labels[part.targets[index]],
                is_control=split is Split.TRAIN,
                index=index,
                unit=units[index] if split is Split.TEST else 0,
            )
        )
    return Study(
        task=data.name,
        dataset_fingerprint=fingerprint,
        labels=data.labels,
        meanings={label: meanings[label] for label in data.labels if label in meanings},
        majority=Counter(test.targets.tolist()).most_common(1)[0][1] / len(test),
        seed=seed,
        items=tuple(items),
        command=command,
        versions=find_versions("sentprobe"),
    )


def _shuffle(values: Iterable[Any], rng: random.Random) -> list[Any]:
    """Return the values in random order."""
    shuffled = [*values]
    rng.shuffle(shuffled)
    return shuffled


def _sample_evenly(indices: Iterable[int], groups: Sequence[int], n: int, rng: random.Random) -> list[int]:
    """Return up to *n* indices at random; groups take turns, so that their numbers differ only where one is used up.

    - groups: the group of each index, such as the label of an item
    """
    counts: Counter[int] = Counter()
    ranks: list[tuple[int, int]] = []
    for index in _shuffle(indices, rng):
        ranks.append((counts[groups[index]], index))
        counts[groups[index]] += 1
    return [index for _, index in sorted(ranks, key=lambda rank: rank[0])[:n]]


YES_OR_NO = {"TRUE": "yes", "FALSE": "no"}


@cache
def _read_questions() -> Mapping[str, Mapping[str, Any]]:
    return tomllib.loads(files(__package__).joinpath("questions.toml").read_text("utf-8"))


def _find_question(data: ProbeDataset, question: str | None) -> tuple[str, Mapping[str, str]]:
    """Return the question about an item, with ``{probe1}``, and the meanings of labels. Raises UsageError."""
    task = find_known_task(data.card.task, data.name)
    # Variants of a task (its name, "-" and more) ask the same question.
    entry = _read_questions().get(task.name.partition("-")[0], {}) if task else {}
    meanings = YES_OR_NO | entry.get("labels", {})
    if question is None and entry:
        question = entry["question"]
    elif question is None and task is not None:
        sentence = re.sub(r"\bs\b", "the sentence", task.question_text)
        question = sentence[:1].upper() + sentence[1:]
    if question is None:
        raise UsageError(f"{data.name} is a task of your own: state its question with --question")
    places = [f"{{{name}}}" for name in PROBES[: data.slots]]
    if missing := [place for place in places if place not in question]:
        raise UsageError(
            f"--question {question!r}: {' and '.join(missing)} is missing; {data.name} asks about "
            f"{format_count(data.slots, 'probe word')}"
        )
    if extra := [name for name in PROBES[data.slots :] if f"{{{name}}}" in question]:
        raise UsageError(f"--question {question!r}: {data.name} has no {{{extra[0]}}}")
    return question, meanings


def _fill_question(question: str, words: Sequence[str]) -> str:
    for name, word in zip(PROBES, words, strict=False):
        question = question.replace(f"{{{name}}}", word)
    return question


def format_study(study: Study) -> str:
    """Return the key of a study as JSON; the inverse of :func:`parse_study`."""
    value = {"format": STUDY_FORMAT, **asdict(study)}
    value["digest"] = digest_value(value)
    return format_json(value, indent=1, default=dict) + "\n"


def parse_study(text: str | bytes, *, source: str) -> Study:
    """Parse the key of a study. Raises ResultsError, which begins with *source*, if it is malformed."""
    try:
        value = parse_json_object(text)
        edited = pop_digest(value)
        if value.pop("format") != STUDY_FORMAT:
            raise ValueError(f"its format is not {STUDY_FORMAT!r}")
        value["labels"] = tuple(value["labels"])
        value["items"] = tuple(StudyItem(**item) for item in value["items"])
        study = Study(**value)
        check_record(study)
        names = [item.name for item in study.items]
        if len({*names}) < len(names) or not study.test_items or {item.label for item in study.items} - {*study.labels}:
            raise ValueError("an item is stated twice, has an unknown label, or all are control items")
        if edited:
            raise ValueError(EDITED)
        return study
    except (SentprobeError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise ResultsError(f"{source}: not a key of probe annotate ({describe_damage(error)})") from None


def read_study(folder: Path) -> Study:
    """Read the key of the study in a folder. Raises UsageError if it is missing, ResultsError if it is damaged."""
    path = folder / KEY
    try:
        return parse_study(path.read_bytes(), source=str(path))
    except OSError as error:
        raise path_error(path, "a study of probe annotate has this file", error) from error
