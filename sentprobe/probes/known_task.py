"""Properties of a known task: how it is probed, and which surface cues are allowed to answer it.

A surface cue is information about an item other than its meaning. A cue is allowed to answer a task if the question is
about the cue, or if cue and label are correlated in natural text (baselines of Conneau et al. 2018, table 2). If the
definition of the task balances a cue, an accuracy above chance is a leak.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from sentprobe.probes.dataset import ONE_HOT


class Cue(StrEnum):
    """A surface cue: the part of an item that a classifier of an audit sees, such as the length of the sentence."""

    PROBE = "probe"
    LENGTH = "length"
    BAG = "bag-of-words"
    NGRAMS = "n-grams"
    POSITION = "position"
    TEMPLATE = "template"
    SENTENCE = "sentence"


Reasons = Mapping[Cue, str]
"""The cues that may answer a task, with the reason for each cue."""

ABOUT_WORDS = "the task is about which words there are"
ABOUT_ORDER = "the task is about the order of words"


def give_reason(reason: str, *cues: Cue) -> dict[Cue, str]:
    """Return a mapping that gives each cue the same reason.

    >>> give_reason(ABOUT_ORDER, Cue.NGRAMS)[Cue.NGRAMS]
    'the task is about the order of words'
    """
    return dict.fromkeys(cues, reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class Redundancy:
    """Redundancy of a question about one word: most similar words in the sentence have the same property."""

    feature: str
    """The property that several words of a sentence have, such as ``tense of its verbs``."""
    tags: Mapping[str, tuple[str, ...]] = field(hash=False)
    """For each label, the tags of the words that have it."""
    published: float
    """Percentage of redundant items in the published test data."""


AGREEING = "test agreeing"
"""Key of a card's counts: number of test items in which most similar words agree with the answer."""

TIED = "test tied"
"""Key of a card's counts: number of test items in which as many similar words agree with the answer as disagree."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownTask:
    """Description of a task. It also applies to datasets of the task that others built."""

    name: str
    published: str = ""
    """Name of the published file, if it differs from sentprobe's name (SentEval's ten tasks)."""
    published_labels: Mapping[str, str] = field(default_factory=dict, hash=False)
    """The published file's name of each label, if it differs from sentprobe's."""
    question_text: str
    """The question, where s is the sentence, n a noun, v a verb and w a word."""
    classes: str
    preset: str
    words: str = ONE_HOT
    may_answer: Reasons = field(default_factory=dict, hash=False)
    """Cues that may answer the task; any other cue above chance is a leak."""
    reversed_cues: Reasons = field(default_factory=dict, hash=False)
    """Cues that point to the wrong answer in test, because of how the task holds out words."""
    redundancy: Redundancy | None = None
    """Set for tasks about one word with which other words often agree."""


_LANGUAGES = re.compile(r"\.[A-Za-z]\w*-[A-Za-z]\w*")


def name_in_languages(task: str, train: str, test: str) -> str:
    """Return the name of a dataset whose training items are in the language *train* and test items in *test*.

    >>> name_in_languages("Tense", "de", "fr"), remove_languages("Tense.de-fr")
    ('Tense.de-fr', 'Tense')
    """
    return f"{task}.{train}-{test}"


def remove_languages(name: str) -> str:
    """Return the name of a dataset without the languages of its training and test items."""
    stem, dot, languages = name.rpartition(".")
    return stem if _LANGUAGES.fullmatch(dot + languages) else name


def find_task_name(name: str, tasks: Iterable[KnownTask]) -> str:
    """Return sentprobe's name of the task with this published name; any other name is returned unchanged."""
    published = {_normalize_name(task.published): task.name for task in tasks if task.published}
    return published.get(_normalize_name(name), name)


def _normalize_name(name: str) -> str:
    return name.lower().replace("_", "")
