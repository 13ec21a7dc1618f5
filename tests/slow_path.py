"""The slow path of realizing and parsing: unification with the grammar, word by word.

:func:`derive` and :func:`chart_parse` give what :func:`sentprobe.generator.realize.realize` and
:func:`sentprobe.generator.parse.parse` must give, without kept shapes. They share the grammar, and
no more of what they are there to check than the checks of what goes in.
"""

from functools import cache
from typing import Any

from nltk.featstruct import FeatStruct
from nltk.grammar import FeatStructNonterminal, FeatureGrammar, Production
from nltk.parse.featurechart import FeatureBottomUpLeftCornerChartParser

from sentprobe.generator.event import (
    BARE,
    GAP,
    Argument,
    Aspect,
    Event,
    Frame,
    Negator,
    Number,
    Participant,
    Polarity,
    RelativeClause,
    Tense,
    Voice,
)
from sentprobe.generator.lemmas import infer_frames
from sentprobe.generator.realize import bracket, check, words_of
from sentprobe.generator.sentence import Negation, Predicate, Sentence, Token
from sentprobe.grammars import english_source
from sentprobe.grammars.derivation import PARENT, FlatItem, Leaf, flatten
from sentprobe.grammars.grammar import FORM_NAMES, english_grammar
from sentprobe.lexicon import Lexicon

MATRIX_CLAUSE = "S[GAP=none]"

_GAP = "gap"
_NONE = "none"


def goal_of(event: Event) -> FeatStructNonterminal:
    """Return the category to derive for a fully specified *event*."""
    goal = FeatStructNonterminal(MATRIX_CLAUSE)
    goal["SEM"] = to_features(event)
    return goal


def to_features(event: Event) -> FeatStruct:
    """Return the meaning (SEM) of a fully specified *event*."""
    core: dict[str, Any] = {"PRED": event.predicate, "FRAME": _value(event.frame)}
    core["AGENT"] = _argument(event.agent)
    if event.frame is Frame.TRANSITIVE:
        core["PATIENT"] = _argument(event.patient)
    negation = event.negator if event.polarity is Polarity.NEGATIVE else event.polarity
    return FeatStruct(
        {
            "TENSE": _value(event.tense),
            "ASPECT": _value(event.aspect),
            "VOICE": _value(event.voice),
            "NEG": _value(negation),
            "ADV": _list(event.adverbs or ()),
            "CORE": FeatStruct(core),
        }
    )


def from_features(meaning: FeatStruct) -> Event:
    """Return the event of a meaning (SEM); the inverse of :func:`to_features`."""
    core = meaning["CORE"]
    negation = meaning["NEG"]
    positive = negation == Polarity.POSITIVE.value
    return Event(
        predicate=core["PRED"],
        frame=Frame(core["FRAME"]),
        voice=Voice(meaning["VOICE"]),
        tense=Tense(meaning["TENSE"]),
        aspect=Aspect(meaning["ASPECT"]),
        polarity=Polarity.POSITIVE if positive else Polarity.NEGATIVE,
        negator=None if positive else Negator(negation),
        adverbs=tuple(_unlist(meaning["ADV"])),
        agent=_unargument(core["AGENT"]),
        patient=_unargument(core["PATIENT"]) if "PATIENT" in core else None,
    )


def _value(value: Any) -> str:
    return str(value.value)


def _argument(argument: Argument | None) -> FeatStruct | str:
    if not isinstance(argument, Participant):
        return _GAP
    features: dict[str, Any] = {
        "LEM": argument.noun,
        "NUM": _value(argument.number),
        "DET": argument.determiner,
        "RC": BARE.value,
    }
    if isinstance(argument.clause, RelativeClause):
        clause = {"LINK": argument.clause.relativizer, "EVENT": to_features(argument.clause.event)}
        features["RC"] = FeatStruct(clause)
    return FeatStruct(features)


def _unargument(features: FeatStruct | str) -> Argument:
    if isinstance(features, str):
        return GAP
    clause = features["RC"]
    return Participant(
        noun=features["LEM"],
        number=Number(features["NUM"]),
        determiner=features["DET"],
        clause=BARE
        if isinstance(clause, str)
        else RelativeClause(relativizer=clause["LINK"], event=from_features(clause["EVENT"])),
    )


def _list(items: tuple[str, ...]) -> FeatStruct | str:
    return FeatStruct({"FIRST": items[0], "REST": _list(items[1:])}) if items else _NONE


def _unlist(features: FeatStruct | str) -> list[str]:
    return [] if isinstance(features, str) else [features["FIRST"], *_unlist(features["REST"])]


def derive(event: Event, lexicon: Lexicon, *, id: str = "") -> Sentence:
    """Return the sentence of *event* by unification with the grammar: the slow path.

    Raises:
        UsageError: see :func:`check`.
        ValueError: the grammar does not derive exactly one sentence.
    """
    event = infer_frames(event, lexicon)
    check(event, lexicon)
    words = dict.fromkeys(words_of(event, lexicon).values())
    (node,) = english_grammar().derive(goal_of(event), words)
    items = flatten(node)
    tokens = tuple(_token(item) for item in items)
    return Sentence(
        id=id,
        tokens=tokens,
        tree=bracket([(item.before, item.after) for item in items], tokens),
        event=event,
        predicates=_predicates(tokens),
        negations=_negations(tokens),
    )


def _token(item: FlatItem) -> Token:
    leaf = item.content
    assert isinstance(leaf, Leaf)
    return Token(
        form=leaf.form,
        lemma=leaf.lemma,
        upos=leaf.pos,
        xpos=leaf.tag,
        feats=leaf.feats,
        head=item.head + 1,
        deprel="root" if item.head == PARENT else item.rel,
    )


_ROLE_OF_RELATION = {
    "nsubj": "agent",
    "nsubj:pass": "patient",
    "obj": "patient",
    "obl:agent": "agent",
}


def _predicates(tokens: tuple[Token, ...]) -> tuple[Predicate, ...]:
    """Read the predicates off the dependencies: a second route to those of the plan."""
    found = []
    for verb, token in enumerate(tokens, 1):
        if token.upos == "VERB":
            roles = {
                _ROLE_OF_RELATION[other.deprel]: token.head if other.upos == "PRON" else at
                for at, other in enumerate(tokens, 1)
                if other.head == verb and other.deprel in _ROLE_OF_RELATION
            }
            found.append(Predicate(verb=verb, agent=roles["agent"], patient=roles.get("patient")))
    return tuple(sorted(found, key=lambda p: tokens[p.verb - 1].deprel != "root"))


def _negations(tokens: tuple[Token, ...]) -> tuple[Negation, ...]:
    cues = [
        Negation(cue=at, verb=token.head)
        for at, token in enumerate(tokens, 1)
        if token.form in {negator.value for negator in Negator}
    ]
    return tuple(sorted(cues, key=lambda n: tokens[n.verb - 1].deprel != "root"))


@cache
def syntax() -> tuple[Production, ...]:
    """Return the productions of the grammar that no word of a lexicon stands behind."""
    productions = FeatureGrammar.fromstring(english_source()).productions()
    return tuple(each for each in productions if each.rhs()[0] not in FORM_NAMES)


def function_words() -> frozenset[str]:
    """Return the words that the grammar itself brings."""
    return frozenset(p.rhs()[0] for p in syntax() if isinstance(p.rhs()[0], str))


def chart_parse(tokens: list[str], lexicon: Lexicon) -> list[Event]:
    """Return the events of a sentence by NLTK's feature chart parser: the slow path of parsing.

    Tokens that the lexicon does not know give no event.
    """
    words = {word for token in tokens for word, _ in lexicon.find(token)}
    known = {form for word in words for form in word.forms.values()} | function_words()
    if not known.issuperset(tokens):
        return []
    ordered = sorted(words, key=lambda word: (word.kind, word.lemma))
    start = FeatStructNonterminal(MATRIX_CLAUSE)
    grammar = FeatureGrammar(start, [*syntax(), *english_grammar().lexicalize(ordered)])
    chart = FeatureBottomUpLeftCornerChartParser(grammar).chart_parse(tokens)
    meanings: list[FeatStruct] = []
    for tree in chart.parses(start):
        if (meaning := tree.label()["SEM"]) not in meanings:
            meanings.append(meaning)
    return [from_features(meaning) for meaning in meanings]
