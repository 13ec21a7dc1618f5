"""AdiOrder of Adi et al. 2017, section 3: which of two probe words is first.

The pair of words does tell something, as in the paper, and the run without the sentence says how
much.
"""

from collections.abc import Sequence
from random import Random

from sentprobe.probes.known_task import ABOUT_ORDER, Cue, why
from sentprobe.probes.natural import adi
from sentprobe.probes.natural.select import Draw, Selection


def adi_order(draw: Draw, change: adi.Change) -> Selection:
    """Return word order (is the first probe word before the second?); both are there once."""
    return adi.asked_selection(draw, adi.AdiQuestion(2, _ask, _ask_twice), change)


def _ask(texts: Sequence[str], known: adi.Slots, rng: Random) -> adi.AskedWords:
    """Return items of which half have the words in their order."""
    items: adi.AskedWords = []
    for text in texts:
        label = len(items) % 2 == 0
        pair = _two(text, known, rng, forward=label)
        if pair is not None:
            items.append((label, text, pair))
    del items[len(items) // 2 * 2 :]
    rng.shuffle(items)
    return items


def _ask_twice(texts: Sequence[str], known: adi.Slots, rng: Random) -> adi.AskedWords:
    """Return of each sentence two of its words in their order, and the same two in the other."""
    items: adi.AskedWords = []
    for text in texts:
        pair = _two(text, known, rng, forward=True)
        if pair is not None:
            items += [(True, text, pair), (False, text, (pair[1], pair[0]))]
    rng.shuffle(items)
    return items


def _two(text: str, known: adi.Slots, rng: Random, *, forward: bool) -> tuple[str, str] | None:
    """Return two words that training asks about, in their order in the sentence or the other."""
    words = adi.words_of(text)
    once = [word for word in words if words.count(word) == 1]
    pairs = [
        pair
        for place, word in enumerate(once)
        for later in once[place + 1 :]
        if _trained(pair := (word, later) if forward else (later, word), known)
    ]
    return rng.choice(pairs) if pairs else None


def _trained(pair: tuple[str, str], known: adi.Slots) -> bool:
    return all(not words or word in words for word, words in zip(pair, known, strict=True))


_ORDER = why(ABOUT_ORDER, Cue.NGRAMS, Cue.POSITION)

TASK, *CONTROLS = adi.adi_tasks(
    "AdiOrder",
    adi_order,
    asks="the words w and w' are in s; does w come first?",
    slots=2,
    may_answer=_ORDER
    | why(
        "of many two words, one is usually first in text; beat this figure",
        *(Cue.PROBE, Cue.LENGTH, Cue.BAG),
    ),
    # Where tokens are in random order, no two words have a usual one.
    of_controls=_ORDER,
)
