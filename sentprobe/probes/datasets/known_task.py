"""Properties of a known task: its question, its classifier, and the surface cues that may predict its answers.

A surface cue is information about an item other than its meaning, such as the length of the sentence. A cue may predict
the answers if the question is about the cue (word order), or if cue and answer are correlated in natural text
(baselines of Conneau et al. 2018, table 2). For any other cue, an accuracy above chance is a leak.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from sentprobe.probes.datasets.dataset import ONE_HOT


class Cue(StrEnum):
    """A surface cue: the features of an item that a classifier of the audit gets, such as the sentence's length."""

    PROBE = "probe"
    LENGTH = "length"
    BAG = "bag-of-words"
    NGRAMS = "n-grams"
    POSITION = "position"
    PLACES = "fixed-positions"
    TEMPLATE = "template"
    SENTENCE = "sentence"


Reasons = Mapping[Cue, str]
"""A map from a cue to the reason why this cue predicts the answers of a task, or predicts wrong answers."""

ABOUT_WORDS = "the task is about which words there are"
ABOUT_ORDER = "the task is about the order of words"


def give_reason(reason: str, *cues: Cue) -> dict[Cue, str]:
    return dict.fromkeys(cues, reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class Redundancy:
    """A way to guess the answer. For example, the main verb is guessed to have the sentence's commonest tense."""

    feature: str
    """The property whose most frequent value is the guess, such as ``tense of its verbs`` (those of the sentence)."""
    tags: Mapping[str, tuple[str, ...]] = field(hash=False)
    """For each label, the part-of-speech tags of words with this property: ``{"PAST": ("VBD",)}``."""
    published: float
    """Percentage of items in the published test data whose answer is guessed correctly in this way."""


AGREEING = "test agreeing"
"""Key in a card's counts: number of test items in which most similar words agree with the answer."""

TIED = "test tied"
"""Key in a card's counts: number of test items in which as many similar words disagree as agree."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownTask:
    """Description of a task. It also applies to datasets that other software built for the task."""

    name: str
    published: str = ""
    """Name of the task's file in SentEval, such as ``past_present``; empty if equal to ``name``, or without a file."""
    published_labels: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Map from sentprobe's labels to those in the published file, where they differ."""
    question_text: str
    """The question about a sentence s, a noun n, a verb v or a word w, such as ``does v occur in s?``."""
    classes: str
    preset: str
    words: str = ONE_HOT
    may_answer: Reasons = field(default_factory=dict, hash=False)
    """Cues that may predict the answers; above-chance accuracy of any other cue is a leak.

    Words at fixed places are n-grams at the ends of a sentence or near them: a reason for n-grams holds for them, too.
    """
    reversed_cues: Reasons = field(default_factory=dict, hash=False)
    """Cues that predict wrong answers to test items, each with the reason."""
    redundancy: Redundancy | None = None
    """How to guess the answer from similar words, if the task is about a property of one word; else None."""


_LANGUAGES = re.compile(r"\.[A-Za-z]\w*-[A-Za-z]\w*")


def name_in_languages(task: str, train: str, test: str) -> str:
    """Return the name of a dataset with training and test items in these languages: "Tense.de-fr"."""
    return f"{task}.{train}-{test}"


def remove_languages(name: str) -> str:
    """Return the name of a dataset without the languages at its end."""
    stem, dot, languages = name.rpartition(".")
    return stem if _LANGUAGES.fullmatch(dot + languages) else name


def find_task_name(name: str, tasks: Iterable[KnownTask]) -> str:
    """Return sentprobe's name for a task with a published name; any other name is returned unchanged."""
    published = {_normalize_name(task.published): task.name for task in tasks if task.published}
    return published.get(_normalize_name(name), name)


def _normalize_name(name: str) -> str:
    return name.lower().replace("_", "")
