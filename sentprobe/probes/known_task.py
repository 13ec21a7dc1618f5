"""Properties of a known task: how it is probed, and which surface cues are allowed to answer it.

A surface cue is information about an item other than its meaning. A cue is allowed to answer
a task if the question is about the cue, or if cue and label are correlated in natural text (baselines of Conneau et al.
2018, table 2). If the definition of the task balances a cue, accuracy above chance is a leak.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from sentprobe.probes.dataset import ONE_HOT


class Cue(StrEnum):
    """A surface cue: the part of an item that one classifier of an audit sees."""

    PROBE = "probe"
    LENGTH = "length"
    BAG = "bag-of-words"
    NGRAMS = "n-grams"
    POSITION = "position"
    TEMPLATE = "template"
    SENTENCE = "sentence"


Reasons = Mapping[Cue, str]
"""Reason why a cue may answer, for each cue that may."""

ABOUT_WORDS = "the task is about which words there are"
ABOUT_ORDER = "the task is about the order of words"


def give_reason(reason: str, *cues: Cue) -> dict[Cue, str]:
    """Return the same reason for each of the cues.

    >>> give_reason(ABOUT_ORDER, Cue.NGRAMS)[Cue.NGRAMS]
    'the task is about the order of words'
    """
    return dict.fromkeys(cues, reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class Redundancy:
    """How often most words of the same kind in the sentence share the property of the word asked about."""

    feature: str
    """Property that several words have, as in ``tense of its verbs``."""
    tags: Mapping[str, tuple[str, ...]] = field(hash=False)
    """Tags of the words that have each label."""
    published: float
    """Percentage of redundant items in the published test data."""


AGREEING = "test agreeing"
"""Card count: test items for which most other words of the same kind agree with the answer."""

TIED = "test tied"
"""Card count: test items for which as many of these words agree as disagree."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownTask:
    """Description of a task, independent of who built the dataset."""

    name: str
    published: str = ""
    """Name of the published file, where it differs (SentEval's ten tasks)."""
    published_labels: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Names of the labels in that file, where they differ."""
    question_text: str
    """The question, where s is the sentence, n a noun, v a verb and w a word."""
    classes: str
    preset: str
    words: str = ONE_HOT
    may_answer: Reasons = field(default_factory=dict, hash=False)
    """Cues that may answer; any other cue above chance is a leak."""
    reversed_cues: Reasons = field(default_factory=dict, hash=False)
    """Cues whose relation to the answer is reversed in test, because the task demands it."""
    redundancy: Redundancy | None = None
    """Only for a task about one word that other words often agree with."""


_LANGUAGES = re.compile(r"\.[A-Za-z]\w*-[A-Za-z]\w*")


def name_in_languages(task: str, train: str, test: str) -> str:
    """Return the name of a task's dataset with training items in one language and test items in another.

    >>> name_in_languages("Tense", "de", "fr"), remove_languages("Tense.de-fr")
    ('Tense.de-fr', 'Tense')
    """
    return f"{task}.{train}-{test}"


def remove_languages(name: str) -> str:
    """Return the name of a dataset without the languages of its training and test items."""
    stem, dot, languages = name.rpartition(".")
    return stem if _LANGUAGES.fullmatch(dot + languages) else name


def find_task_name(name: str, tasks: Iterable[KnownTask]) -> str:
    """Return the name of the task with this published name; any other name unchanged."""
    published = {_normalize_name(task.published): task.name for task in tasks if task.published}
    return published.get(_normalize_name(name), name)


def _normalize_name(name: str) -> str:
    return name.lower().replace("_", "")
