"""Sentences with their events, drawn by the generator instead of read from a file."""

import io
from dataclasses import dataclass

from sentprobe.errors import format_count
from sentprobe.generator.bulk.sentence_files import write_sentences
from sentprobe.generator.events.notation import write_event
from sentprobe.generator.spaces.space import Space
from sentprobe.lexicon import Lexicon, english
from sentprobe.lexicon.read import choose_vocabulary


@dataclass(frozen=True, slots=True)
class Meanings:
    """Sentences and the notations of their events, as words separated by spaces."""

    sentences: tuple[str, ...]
    events: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.sentences)

    def __str__(self) -> str:
        event_phrase = "its event" if len(self) == 1 else "their events"
        return f"{format_count(len(self), 'sentence')} with {event_phrase}"


def sample_meanings(count: int, *, seed: int, lexicon: Lexicon | None = None) -> Meanings:
    """Draw *count* different events, uniformly from all templates, and their sentences.

    >>> drawn = sample_meanings(1, seed=3)
    >>> print(drawn.sentences[0])
    the librarians are not being defeated by the ministers that are not exonerating the cashiers
    >>> print(drawn.events[0])  # doctest: +ELLIPSIS
    defeat [passive, pres, prog, not, adv()] (agent: the minister [pl] that exonerate [activ...
    """
    lexicon = lexicon or english()
    space = Space(lexicon, vocabulary=choose_vocabulary(lexicon))
    places = space.sample(count, seed=seed)
    text_file = io.StringIO()
    write_sentences(space, places, text_file, "text")
    events = (split_notation(write_event(event)) for event in space.events(places))
    return Meanings(tuple(text_file.getvalue().splitlines()), tuple(events))


def split_notation(notation: str) -> str:
    """Return a notation with spaces before its brackets, so that lemmas and features are words.

    It still parses as the same event.

    >>> split_notation("help[past, neg](agent: the professor[pl])")
    'help [past, neg] (agent: the professor [pl])'
    """
    for bracket in ("[", "(agent:", "(patient:"):
        notation = notation.replace(bracket, f" {bracket}")
    return notation
