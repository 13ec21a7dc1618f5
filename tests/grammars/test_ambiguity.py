"""No word of the built-in vocabularies makes a generated sentence ambiguous: checked by parsing."""

import io
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import cycle, islice, product

import pytest

from sentprobe.generator.bulk.generate import write_sentences
from sentprobe.generator.events.event import (
    BARE,
    Aspect,
    Event,
    Frame,
    Mood,
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
from sentprobe.lexicon import Kind, english
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


@pytest.mark.parametrize("mood", [Mood.STATEMENT, Mood.QUESTION])
@pytest.mark.parametrize("aspect", [Aspect.PERFECT, Aspect.PERFECT_PROGRESSIVE])
@pytest.mark.parametrize("vocabulary", ["english", "everyday"])
def test_every_perfect_sentence_has_one_reading(vocabulary: str, aspect: Aspect, mood: Mood) -> None:
    perfect = Event(aspect=aspect)
    for main, clause in ((perfect, Event()), (perfect, perfect), (Event(), perfect)):
        choices = replace(EVERYTHING, main=main, clause=clause, moods=(mood,), modals=(None, "may", "must"))
        templates = ("transitive-rc", "intransitive-rc") if clause != Event() else ("all",)
        space = Space(english(), vocabulary=vocabulary, templates=templates, choices=choices)
        drawn = [*space.events(space.sample(40, seed=3))]
        texts = [realize(event, english()).text for event in drawn]
        assert [parse(text, english()) for text in texts] == [(event,) for event in drawn]


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
                if (voice, aspect) == (Voice.PASSIVE, Aspect.PERFECT_PROGRESSIVE):
                    continue
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
            forms = lexicon.get(lemma, kind).forms
            assert set(forms.values()) <= set(tried), lemma
