"""AdiOrder of Adi et al. 2017, section 3: which of two probe words comes first.

The pair of words alone predicts part of the answers, as in the paper; the control without the sentence measures how
much.
"""

from collections.abc import Sequence
from random import Random

from sentprobe.probes.known_task import ABOUT_ORDER, Cue, give_reason
from sentprobe.probes.natural.adi import shared_rules
from sentprobe.probes.natural.selection import Selection, SelectionRequest


def select_adi_order(request: SelectionRequest, change: shared_rules.Change) -> Selection:
    """Return the items of AdiOrder (is the first probe word before the second?).

    Both words occur once in the sentence.
    """
    return shared_rules.select_word_items(request, shared_rules.AdiQuestion(2, _make_one_item, _make_two_items), change)


def _make_one_item(texts: Sequence[str], trained_words: shared_rules.SlotWords, rng: Random) -> shared_rules.WordItems:
    """Return items, half of which name the words in the order of the sentence."""
    items: shared_rules.WordItems = []
    for text in texts:
        label = len(items) % 2 == 0
        pair = _sample_word_pair(text, trained_words, rng, forward=label)
        if pair is not None:
            items.append((label, text, pair))
    del items[len(items) // 2 * 2 :]
    rng.shuffle(items)
    return items


def _make_two_items(texts: Sequence[str], trained_words: shared_rules.SlotWords, rng: Random) -> shared_rules.WordItems:
    """Return two items for each sentence: two of its words in their order, and in reverse."""
    items: shared_rules.WordItems = []
    for text in texts:
        pair = _sample_word_pair(text, trained_words, rng, forward=True)
        if pair is not None:
            items += [(True, text, pair), (False, text, (pair[1], pair[0]))]
    rng.shuffle(items)
    return items


def _sample_word_pair(
    text: str, trained_words: shared_rules.SlotWords, rng: Random, *, forward: bool
) -> tuple[str, str] | None:
    words = shared_rules.list_words(text)
    unique_words = [word for word in words if words.count(word) == 1]
    pairs = [
        pair
        for place, word in enumerate(unique_words)
        for later in unique_words[place + 1 :]
        if _is_trained(pair := (word, later) if forward else (later, word), trained_words)
    ]
    return rng.choice(pairs) if pairs else None


def _is_trained(pair: tuple[str, str], trained_words: shared_rules.SlotWords) -> bool:
    return all(not words or word in words for word, words in zip(pair, trained_words, strict=True))


_ORDER_REASONS = give_reason(ABOUT_ORDER, Cue.NGRAMS, Cue.POSITION)

TASK, *CONTROLS = shared_rules.make_adi_tasks(
    "AdiOrder",
    select_adi_order,
    asks="the words w and w' are in s; does w come first?",
    slots=2,
    may_answer=_ORDER_REASONS
    | give_reason(
        "of many two words, one is usually first in text; beat this figure", *(Cue.PROBE, Cue.LENGTH, Cue.BAG)
    ),
    # Where tokens are in random order, no two words have a usual one.
    control_reasons=_ORDER_REASONS,
)
