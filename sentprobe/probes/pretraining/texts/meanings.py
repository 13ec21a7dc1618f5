"""Sentences with the events that they state: drawn by the generator, so there is no file."""

import io
from dataclasses import dataclass

from sentprobe.errors import counted
from sentprobe.generator.notation import write_event
from sentprobe.generator.sentence_files import write_sentences
from sentprobe.generator.space import Space
from sentprobe.lexicon import Lexicon, english
from sentprobe.lexicon.read import default_vocabulary


@dataclass(frozen=True, slots=True)
class Meanings:
    """Sentences, and their events in a notation of words with a space between any two."""

    sentences: tuple[str, ...]
    events: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.sentences)

    def __str__(self) -> str:
        own = "its event" if len(self) == 1 else "their events"
        return f"{counted(len(self), 'sentence')} with {own}"


def draw_meanings(count: int, *, seed: int, lexicon: Lexicon | None = None) -> Meanings:
    """Return so many different events, drawn uniformly from all templates, and their sentences.

    >>> drawn = draw_meanings(1, seed=3)
    >>> print(drawn.sentences[0])
    the musician was not being overtaken by the ambassadors that did not startle the women
    >>> print(drawn.events[0])  # doctest: +ELLIPSIS
    overtake [passive, past, prog, not, adv()] (agent: the ambassador [pl] that startle [active...

    Raises:
        UsageError: *count* is not positive.
    """
    lexicon = lexicon or english()
    space = Space(lexicon, vocabulary=default_vocabulary(lexicon))
    places = space.sample(count, seed=seed)
    written = io.StringIO()
    write_sentences(space, places, written, "text")
    events = (in_words(write_event(event)) for event in space.events(places))
    return Meanings(tuple(written.getvalue().splitlines()), tuple(events))


def in_words(notation: str) -> str:
    """Return an event's notation with a space before what stands in brackets, too.

    So a lemma is a word for itself, as each feature is; it is read as the same event.

    >>> in_words("help[past, neg](agent: the professor[pl])")
    'help [past, neg] (agent: the professor [pl])'
    """
    for bracket in ("[", "(agent:", "(patient:"):
        notation = notation.replace(bracket, f" {bracket}")
    return notation
