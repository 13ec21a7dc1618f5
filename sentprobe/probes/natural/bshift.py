"""BShift of Conneau et al. 2018, section 2: two neighbouring tokens swapped or not."""

from collections.abc import Sequence
from random import Random

from sentprobe.probes.known_task import Cue, why
from sentprobe.probes.natural import pairs
from sentprobe.probes.natural.select import LENGTHS, Draw, Selection
from sentprobe.probes.natural.task import NaturalTask


def bigram_shift(draw: Draw) -> Selection:
    """Return BShift: whether two neighbouring tokens were swapped (I) or not (O).

    The first token is never swapped, nor is punctuation, nor tokens that differ in case only.
    Sentences with double quotes are left out, and those that swapping makes a sentence of the
    corpus.
    """
    return pairs.changed_selection(
        draw,
        "SELECT digest, 0 AS label, 0 AS form FROM sentences "
        f"WHERE {LENGTHS} AND {pairs.NO_QUOTES}",
        labels=(pairs.ORIGINAL, pairs.INVERTED),
        change=_swapped,
    )


def _swapped(text: str, rng: Random) -> str | None:
    tokens = text.split(" ")
    places = [place for place in range(1, len(tokens) - 1) if _may_swap(tokens, place)]
    if not places:
        return None
    place = rng.choice(places)
    tokens[place : place + 2] = tokens[place + 1], tokens[place]
    return " ".join(tokens)


def _may_swap(tokens: Sequence[str], place: int) -> bool:
    left, right = tokens[place : place + 2]
    return pairs.is_word(left) and pairs.is_word(right) and left.casefold() != right.casefold()


TASK = NaturalTask(
    name="BShift",
    published="bigram_shift",
    asks="were two neighbouring tokens of s swapped?",
    classes="O (no), I (yes)",
    draw=bigram_shift,
    may_answer=why("the task is about words that stand together", Cue.NGRAMS, Cue.TEMPLATE),
)
