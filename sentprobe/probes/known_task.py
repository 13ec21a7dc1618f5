"""What a known task says of itself: how it is probed, and which surface cues may answer it.

A cue is what a classifier is shown of an item when it is not shown the meaning. It may answer a
task if the question is about it, or if the text has it and may. Of natural text the second is the
rule: whatever the definition of a task does not even out may go with the answer, as the baselines
of Conneau et al. 2018 (table 2) show. What it does even out has no reason, so that it is a leak if
it is above chance.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from sentprobe.probes.dataset import ONE_HOT


class Cue(StrEnum):
    """What a classifier is shown of an item."""

    PROBE = "probe"
    LENGTH = "length"
    BAG = "bag-of-words"
    NGRAMS = "n-grams"
    POSITION = "position"
    TEMPLATE = "template"
    SENTENCE = "sentence"


Reasons = Mapping[Cue, str]
"""Why a cue may answer, for each that may."""

ABOUT_WORDS = "the task is about which words there are"
ABOUT_ORDER = "the task is about the order of words"


def why(reason: str, *cues: Cue) -> dict[Cue, str]:
    """Return the one reason of several cues.

    >>> why(ABOUT_ORDER, Cue.NGRAMS)[Cue.NGRAMS]
    'the task is about the order of words'
    """
    return dict.fromkeys(cues, reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class Redundancy:
    """How often what is asked of one word is also what most words of its kind say."""

    of: str
    """What the sentence has several of: ``tense of its verbs``."""
    tags: Mapping[str, tuple[str, ...]] = field(hash=False)
    """Label to the tags of the words that say it."""
    published: float
    """In how many of the published test items, in percent."""


AGREEING = "test agreeing"
"""How many test items are so redundant, among the counts of a card."""

TIED = "test tied"
"""In how many as many words say the answer as say another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownTask:
    """What is said of a task, whoever built the dataset at hand."""

    name: str
    """As the paper calls it."""
    published: str = ""
    """What its published file is called, where that is another name: SentEval's of the ten."""
    published_labels: Mapping[str, str] = field(default_factory=dict, hash=False)
    """What answers are called in that file, where that is otherwise."""
    asks: str
    """The question, in a sentence's words: s is the sentence, n a noun, v a verb, w a word."""
    classes: str
    """What the answers are."""
    preset: str
    """The name of its paper's classifier."""
    words: str = ONE_HOT
    """What stands for probe words in its paper."""
    may_answer: Reasons = field(default_factory=dict, hash=False)
    """The cues that may answer it; any other that is above chance is a leak."""
    turned: Reasons = field(default_factory=dict, hash=False)
    """The cues of which training and test disagree because the task says so."""
    redundancy: Redundancy | None = None
    """Of a task about one word that others often agree with."""


def own_name_among(name: str, tasks: Iterable[KnownTask]) -> str:
    """Return our name of the task whose published file is so called; any other name as it is."""
    published = {_bare(task.published): task.name for task in tasks if task.published}
    return published.get(_bare(name), name)


def _bare(name: str) -> str:
    return name.lower().replace("_", "")
