"""No word of the built-in vocabularies makes a generated sentence ambiguous: checked by parsing."""

import io
from collections import Counter
from collections.abc import Iterator
from itertools import cycle, islice, product

import pytest

from sentprobe.generator.bulk.generate import write_sentences
from sentprobe.generator.events.event import (
    BARE,
    Aspect,
    Event,
    Frame,
    Negator,
    Number,
    Participant,
    Polarity,
    Tense,
    Voice,
)
from sentprobe.generator.sentences.parse import parse
from sentprobe.generator.sentences.realize import realize
from sentprobe.generator.spaces.constraints import Choices
from sentprobe.generator.spaces.space import Space
from sentprobe.lexicon import Form, Kind, english
from sentprobe.lexicon.languages.english import ENGLISH

SENTENCES = 10_000
EVERYTHING = Choices(
    determiners=("the", "a", "some", "no", "every", "this", "that"),
    relativizers=("that", "who"),
    negators=tuple(Negator),
    adverbs=(0, 1),
)


@pytest.fixture(scope="module")
def sentences() -> list[str]:
    space = Space(english(), templates=("all",), choices=EVERYTHING)
    out = io.StringIO()
    write_sentences(space, space.sample(SENTENCES, seed=3), out, "text")
    return out.getvalue().splitlines()


def test_every_sentence_has_one_reading(sentences: list[str]) -> None:
    ambiguous = [text for text in sentences if len(parse(text, english())) != 1]
    assert not ambiguous


def events() -> Iterator[Event]:
    """Each verb in each tense, aspect, polarity, voice and number, with nouns in turn."""
    words = english().vocabulary("english").words
    # An odd number of them, so that each meets both numbers.
    nouns = cycle(words[Kind.NOUN][: len(words[Kind.NOUN]) // 2 * 2] + words[Kind.NOUN][:1])
    for frame in map(Frame, ENGLISH.frames):
        voices = tuple(Voice) if frame is Frame.TRANSITIVE else (Voice.ACTIVE,)
        for lemma in words[Kind(frame.value)]:
            for tense, aspect, polarity, voice, number in product(
                Tense, map(Aspect, ENGLISH.aspects), Polarity, voices, Number
            ):
                agent, patient = (
                    Participant(noun=noun, number=number, determiner="the", clause=BARE) for noun in islice(nouns, 2)
                )
                yield Event(
                    predicate=lemma,
                    frame=frame,
                    voice=voice,
                    tense=tense,
                    aspect=aspect,
                    polarity=polarity,
                    negator=Negator.NOT if polarity is Polarity.NEGATIVE else None,
                    adverbs=(),
                    agent=agent,
                    patient=patient if frame is Frame.TRANSITIVE else None,
                )


def test_verb_forms_have_one_reading() -> None:
    tried = Counter(
        token.form
        for event in events()
        for sentence in [realize(event, english())]
        if parse(sentence.text, english()) == (event,)
        for token in sentence.tokens
        if token.upos in {"VERB", "NOUN"}
    )
    lexicon = english()
    for kind in (Kind.NOUN, Kind.TRANSITIVE, Kind.INTRANSITIVE):
        for lemma in lexicon.vocabulary("english").words[kind]:
            forms = dict(lexicon.get(lemma, kind).forms)
            if kind is Kind.INTRANSITIVE:  # has no passive
                del forms[Form.VBN]
            assert set(forms.values()) <= set(tried), lemma
