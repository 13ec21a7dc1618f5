"""Generated sentences, and corrupted ones, judged by the oracle: it and the parser must agree."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import cycle
from random import Random

import pytest
from helpers.oracles.oracle import Oracle, collect_words

from sentprobe.generator.events.event import ROLES, Mood, Negator, Role
from sentprobe.generator.sentences.parse import ParseError, parse
from sentprobe.generator.sentences.realize import realize
from sentprobe.generator.sentences.sentence import Sentence
from sentprobe.generator.spaces.constraints import Choices
from sentprobe.generator.spaces.space import Space
from sentprobe.generator.spaces.templates import find_patterns
from sentprobe.lexicon import Flag, Form, Kind, english
from sentprobe.lexicon.words import REFLEXIVES

LEXICON = english()
ORACLE = Oracle(collect_words(LEXICON))
COUNTS = [40, pytest.param(1500, marks=pytest.mark.slow)]
EVERYTHING = Choices(
    determiners=tuple(word.lemma for word in LEXICON.words(Kind.DETERMINER) if Flag.NPI not in word.flags),
    relativizers=tuple(word.lemma for word in LEXICON.words(Kind.RELATIVIZER)),
    negators=tuple(Negator),
    modals=(None, "will", "may"),
    moods=tuple(Mood),
    asked=(None, *ROLES[:2]),
    adverbs=(0, 1, 2),
    allow=frozenset(Flag),
)
every_vocabulary = pytest.mark.parametrize("vocabulary", ["compeval", "english", "everyday"])
every_count = pytest.mark.parametrize("count", COUNTS)
OTHER_AUXILIARY = {"is": "are", "was": "were", "does": "do"}
OTHER_AUXILIARY |= {plural: singular for singular, plural in OTHER_AUXILIARY.items()}


SOME = replace(
    EVERYTHING, adverbs=(0,), modals=(None, "must"), asked=(None,), reflexives=(None,), determiners=("the", "a", "any")
)
GIFTS = {
    "ditransitive": replace(SOME, adjectives=(0, 1), coordinations=(0, 1), reflexives=(None, Role.RECIPIENT)),
    "ditransitive-rc": replace(SOME, adverbs=(0, 1)),
    "intransitive-rc-ditransitive": replace(SOME, adjectives=(0, 1)),
    "transitive-rc-ditransitive": replace(SOME, coordinations=(0, 1)),
}
"""The choices of the templates with a recipient; all of them together would have too many structures."""


@cache
def sentences(vocabulary: str, count: int) -> tuple[Sentence, ...]:
    """Return at least *count* sentences of a vocabulary, as many of each sub-template."""
    names = sorted({pattern.name for pattern in find_patterns(["all", "transitive-rc-both"])})
    choices = GIFTS if vocabulary == "everyday" else dict.fromkeys(names, EVERYTHING)
    if count < 100 and vocabulary != "everyday":
        # One choice of modals and adverbs a template: the time to build a space multiplies with them.
        modals = cycle(EVERYTHING.modals)
        choices = {name: replace(EVERYTHING, modals=(next(modals),), adverbs=(len(name) % 3,)) for name in names}
    generated = []
    for name, chosen in choices.items():
        space = Space(LEXICON, vocabulary=vocabulary, templates=[name], choices=chosen)
        share = -(-count // len(choices))
        generated += [realize(event, LEXICON) for event in space.events(space.sample(share, seed=5))]
    return tuple(generated)


def parses(tokens: list[str]) -> bool:
    try:
        return bool(parse(" ".join(tokens), LEXICON))
    except ParseError:
        return False


@every_vocabulary
@every_count
def test_generated_sentences_are_accepted(vocabulary: str, count: int) -> None:
    texts = [sentence.text for sentence in sentences(vocabulary, count)]
    assert len(texts) >= count
    assert [text for text in texts if not ORACLE.accepts(text.split())] == []


def other_number(sentence: Sentence) -> Iterator[list[str]]:
    """Yield the sentence with the number of one finite verb or auxiliary changed."""
    forms = [token.form for token in sentence.tokens]
    for at, token in enumerate(sentence.tokens):
        changed_form = OTHER_AUXILIARY.get(token.form) if token.upos == "AUX" else None
        if token.upos == "VERB" and token.xpos in (Form.VBZ, Form.VBP):
            (predicate,) = (p for p in sentence.predicates if p.verb == at + 1)
            kind = Kind.TRANSITIVE if predicate.patient else Kind.INTRANSITIVE
            word = LEXICON.get(token.lemma, Kind.DITRANSITIVE if predicate.recipient else kind)
            changed_form = word.forms[Form.VBP if token.xpos == Form.VBZ else Form.VBZ]
        if changed_form is not None:
            yield [*forms[:at], changed_form, *forms[at + 1 :]]


@every_vocabulary
@every_count
def test_wrong_number_is_rejected_by_both(vocabulary: str, count: int) -> None:
    some = sentences(vocabulary, count)[::5]
    corrupted = [tokens for sentence in some for tokens in other_number(sentence)]
    assert 3 * len(corrupted) > len(some)
    assert [tokens for tokens in corrupted if parses(tokens)] == []
    assert [tokens for tokens in corrupted if ORACLE.accepts(tokens)] == []


def delete(tokens: list[str], _: Sentence, rng: Random) -> list[str]:
    at = rng.randrange(len(tokens))
    return tokens[:at] + tokens[at + 1 :]


def duplicate(tokens: list[str], _: Sentence, rng: Random) -> list[str]:
    at = rng.randrange(len(tokens))
    return tokens[: at + 1] + tokens[at:]


def swap(tokens: list[str], sentence: Sentence, rng: Random) -> list[str]:
    """Swap two tokens of different tags."""
    one = rng.randrange(len(tokens))
    tags = [token.xpos for token in sentence.tokens]
    two = rng.choice([at for at, tag in enumerate(tags) if tag != tags[one]])
    tokens[one], tokens[two] = tokens[two], tokens[one]
    return tokens


def move(tokens: list[str], _: Sentence, rng: Random) -> list[str]:
    token = tokens.pop(rng.randrange(len(tokens)))
    tokens.insert(rng.randrange(len(tokens) + 1), token)
    return tokens


def cut(tokens: list[str], _: Sentence, rng: Random) -> list[str]:
    start, end = sorted(rng.sample(range(len(tokens) + 1), 2))
    return tokens[start:end]


def insert(tokens: list[str], _: Sentence, rng: Random) -> list[str]:
    others = "that who not n't by be being can what ca , really the to and old ever any"
    words = (*OTHER_AUXILIARY, *others.split(), *REFLEXIVES)
    tokens.insert(rng.randrange(len(tokens) + 1), rng.choice(words))
    return tokens


CORRUPTIONS = (delete, duplicate, swap, move, cut, insert)


@every_vocabulary
@every_count
def test_parser_agrees_on_corrupted_sentences(vocabulary: str, count: int) -> None:
    rng = Random(11)
    rejected = 0
    disagreed = []
    for sentence, corrupt in zip(sentences(vocabulary, count)[::2], cycle(CORRUPTIONS), strict=False):
        tokens = corrupt([token.form for token in sentence.tokens], sentence, rng)
        accepted = ORACLE.accepts(tokens)
        rejected += not accepted
        if accepted != parses(tokens):
            disagreed.append((" ".join(tokens), accepted))
    assert disagreed == []
    assert rejected > count // 4
