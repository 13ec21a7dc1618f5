"""Exclusion queries for retrieval: "who helped the doctor but did not help the lawyer".

A document is two statements. The relevant one is "the man helped the doctor. the man did not help the lawyer."
An irrelevant one has the same words: "the man did not help the doctor. the man helped the lawyer."
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import ClassVar

import numpy as np

from sentprobe.generator.events import event as ev
from sentprobe.generator.pairs import drafts
from sentprobe.generator.pairs.triplets import SentenceMaker, TripletPart, TripletSpace
from sentprobe.generator.spaces.held_out_words import SplitSide
from sentprobe.lexicon import Kind, Lexicon
from sentprobe.lexicon.sorts import restrict_to_one_sort
from sentprobe.lexicon.words import PERSON

DOCUMENTS = {"positive": (False, True), "both": (False, False), "exchanged": (True, False)}
"""For each document of a query: whether the first statement is negated, and whether the second statement is."""


class ExclusionSpace(TripletSpace):
    """All exclusion queries of a vocabulary, such as "who helped the doctor but did not help the lawyer"."""

    ITEM_NAME: ClassVar[str] = "queries"
    SENTENCES_PER_ITEM: ClassVar[int] = 2 + 2 * len(DOCUMENTS)

    def __init__(self, lexicon: Lexicon, *, vocabulary: str, side: SplitSide | None = None) -> None:
        one_sort = restrict_to_one_sort(lexicon, vocabulary)
        super().__init__(one_sort, "noun", vocabulary=vocabulary, templates=["transitive"], side=side)
        self.contrast = replace(self.contrast, name="exclusion")
        self.strata = tuple(stratum for stratum in self.strata if stratum.place == _PATIENT)

    def list_makers(self) -> Mapping[str, tuple[SentenceMaker, ...]]:
        """Map "query" to two makers of questions, and each name in DOCUMENTS to two makers of statements."""
        makers: dict[str, tuple[SentenceMaker, ...]] = {
            "query": (self.make_question(0), self.make_question(1, negated=True))
        }
        for name, negations in DOCUMENTS.items():
            makers[name] = tuple(partial(_draft_statement, number, n) for number, n in enumerate(negations))
        return makers

    def make_question(self, number: int, *, negated: bool = False) -> SentenceMaker:
        """Return a maker of a query's first question (*number* 0) or its second (1), such as "who helped the man"."""
        sort = self.lexicon.get(self.words.nouns[0], Kind.NOUN).sort
        return partial(_draft_question, ev.Asked.WHO if sort == PERSON else ev.Asked.WHAT, number, negated)


def join_questions(texts: Sequence[str]) -> str:
    """Join two questions with "but", without the second question word; return a single text unchanged.

    >>> join_questions(["who helped the man", "who did not help the lawyer"])
    'who helped the man but did not help the lawyer'
    """
    first, *others = texts
    return " but ".join([first, *(text.partition(" ")[2] for text in others)])


def join_statements(texts: Sequence[str]) -> str:
    """Add a full stop to each of two statements, and join them with a space. Return a single text unchanged."""
    return texts[0] if len(texts) == 1 else " ".join(f"{text}." for text in texts)


_PATIENT = "patient."


def _draft_statement(number: int, negated: bool, part: TripletPart) -> drafts.EventDraft:  # noqa: FBT001 - bound above
    draft = drafts.replace_word(part.anchors, _PATIENT, slot="noun") if number else part.anchors
    return replace(draft, values={**draft.values, "negation": np.full_like(draft.values["negation"], negated)})


def _draft_question(asked: ev.Asked, number: int, negated: bool, part: TripletPart) -> drafts.EventDraft:  # noqa: FBT001
    statement = _draft_statement(number, negated, part)
    values = {**statement.values, "voice": np.zeros_like(statement.values["voice"])}
    return replace(statement, values=values, mood=ev.Mood.QUESTION, asked=(ev.Role.AGENT, asked))
