"""The controls: for each, what its probes see, whether it may know the answer, and the texts that name it.

A control is trained like the main probe, on data that lack some information. A new one is a member of
:class:`~sentprobe.probes.results.result.Condition`, a row here, and the function that makes its data in
``runs/controls.py`` (changed items or vectors) or ``runs/job_vectors.py`` (sentence vectors of its own). If it shall
have a row of its own in the table, ``reports/tables/main_table.py`` adds it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sentprobe.probes.results.result import Condition, Result


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """What is known of a control before it is trained."""

    name: str
    short: str = ""
    """A word for the last row of the table on the report page, where the control takes the place of chance."""
    meaning: str
    """A sentence for the notes below a table."""
    in_paper: str
    """What the classifier was trained on, for the methods paragraph."""
    must_be_at_chance: Callable[[Result], bool]
    """Whether the control of a result cannot know the answer, so that its accuracy must be at chance."""
    not_above: str = ""
    """Subject and verb of a note that the accuracy is not above chance; empty if it never knows the answer."""
    above: str = ""
    """Subject of a note that the accuracy is above chance."""
    is_shared: bool = True
    """Whether sentence vectors depend on the encoder by their width only, or not at all: encoders share the probes."""
    is_width_free: bool = False
    """Whether the sentence vectors do not depend on the width of the encoder's vectors either."""
    is_of_words: bool = False
    """Whether the sentence vectors are made of the words alone. Where they are above chance, they take its place."""
    needs_probe_words: bool = False


def _knows_no_word(result: Result) -> bool:
    """Return whether the test language differs from that of training, and no test sentence has a training word."""
    return result.data is not None and bool(result.data.test_language) and not result.data.known_words


def _answer_always(_: Result) -> bool:
    return True


def _answer_never(_: Result) -> bool:
    return False


CONTROLS: Mapping[Condition, Control] = {
    Condition.RANDOM_SENTENCES: Control(
        name="random sentences",
        meaning="Random sentences: random vectors replace the sentence vectors, so that the probe cannot know the "
        "answer and should be at chance.",
        in_paper="random vectors in place of the sentence vectors",
        must_be_at_chance=_answer_always,
    ),
    Condition.RANDOM_PROBES: Control(
        name="random probe words",
        meaning="Random probe words: random words replace the probe words, with the same effect.",
        in_paper="random words in place of the probe words",
        must_be_at_chance=_answer_always,
        is_shared=False,
        needs_probe_words=True,
    ),
    Condition.BAG_OF_WORDS: Control(
        name="bag of words",
        short="words",
        meaning="Bag of words: averages of random word vectors; an average encodes the words, but not their order.",
        in_paper="averages of random word vectors of the same width (a bag of words)",
        # Both sentences of a mirror pair have the same words.
        must_be_at_chance=lambda result: result.mirrored or _knows_no_word(result),
        not_above="bags of random word vectors are",
        above="the words alone (bags of random word vectors, as wide as each encoder's vectors)",
        is_of_words=True,
    ),
    Condition.NO_SENTENCE: Control(
        name="no sentence",
        meaning="No sentence: the probe sees only the probe words. It should be at chance if each probe word occurs "
        "equally often with every label.",
        in_paper="the probe words alone",
        must_be_at_chance=lambda result: result.balanced_probes,
        not_above="the probe words without the sentence are",
        above="the probe words alone (without the sentence)",
        is_width_free=True,
        needs_probe_words=True,
    ),
    Condition.FIXED_POSITIONS: Control(
        name="fixed positions",
        short="positions",
        meaning="Fixed positions: random vectors of the words at fixed places replace the sentence vectors. Without "
        "structure, an encoder can do as well; the last token of a causal model is the last word at layer 0.",
        in_paper="random vectors of the words at fixed places, which were chosen on training items",
        must_be_at_chance=_answer_never,
        not_above="words at fixed places are",
        above="words at fixed places (without the other words)",
        is_width_free=True,
        is_of_words=True,
    ),
    Condition.WORDS_AND_POSITIONS: Control(
        name="words and positions",
        short="order",
        meaning="Words and positions: averages of random vectors, of each word and of its first letters at its "
        "position; an encoder that only adds up its words with their positions can do as well.",
        in_paper="averages of random vectors of each word and its first letters at its position (as wide)",
        must_be_at_chance=_answer_never,
        not_above="averages of random vectors of each word at its position are",
        above="the words and their positions (averages of random vectors, as wide as each encoder's vectors)",
        is_of_words=True,
    ),
}

WIDTH_FREE_CONDITIONS = tuple(condition for condition, control in CONTROLS.items() if control.is_width_free)
WORD_CONTROLS = tuple(condition for condition, control in CONTROLS.items() if control.is_of_words)
PROBE_WORD_CONTROLS = tuple(condition for condition, control in CONTROLS.items() if control.needs_probe_words)
SHARED_CONTROLS = tuple(condition for condition, control in CONTROLS.items() if control.is_shared)
SOLVERS = tuple(condition for condition, control in CONTROLS.items() if control.above)
"""The controls that know the answer on some data."""
