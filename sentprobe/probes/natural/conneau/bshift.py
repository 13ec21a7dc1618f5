"""BShift of Conneau et al. 2018, section 2: two neighbouring tokens swapped or not."""

from collections.abc import Sequence
from random import Random

from sentprobe.probes.known_task import Cue, give_reason
from sentprobe.probes.natural import changed_sentences
from sentprobe.probes.natural.natural_task import NaturalTask
from sentprobe.probes.natural.selection import LENGTHS_SQL, Selection, SelectionRequest


def select_bigram_shift(request: SelectionRequest) -> Selection:
    """Return the items of BShift: two neighbouring tokens swapped (I) or not (O).

    The first token is never swapped, nor punctuation, nor tokens that differ in case only. Sentences with double quotes
    are excluded, and sentences that a swap turns into another sentence of the corpus.
    """
    return changed_sentences.select_changed_sentences(
        request,
        "SELECT digest, 0 AS label, 0 AS form FROM sentences "
        f"WHERE {LENGTHS_SQL} AND {changed_sentences.NO_QUOTES_SQL}",
        labels=(changed_sentences.ORIGINAL, changed_sentences.INVERTED),
        change=_swap_neighbours,
    )


def _swap_neighbours(text: str, rng: Random) -> str | None:
    tokens = text.split(" ")
    places = [place for place in range(1, len(tokens) - 1) if _can_swap(tokens, place)]
    if not places:
        return None
    place = rng.choice(places)
    tokens[place : place + 2] = tokens[place + 1], tokens[place]
    return " ".join(tokens)


def _can_swap(tokens: Sequence[str], place: int) -> bool:
    left, right = tokens[place : place + 2]
    return changed_sentences.is_word(left) and changed_sentences.is_word(right) and left.casefold() != right.casefold()


TASK = NaturalTask(
    name="BShift",
    published="bigram_shift",
    question_text="were two neighbouring tokens of s swapped?",
    classes="O (no), I (yes)",
    select_items=select_bigram_shift,
    may_answer=give_reason("the task is about words that stand together", Cue.NGRAMS, Cue.TEMPLATE),
)
