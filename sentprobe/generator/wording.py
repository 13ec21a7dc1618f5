"""The texts of drawn events, each by a few look-ups: the fast path for one event at a time.

Events of a layout that agree in voice, aspect and negation have the same tokens but for their words
and the forms that tense and number ask for. For each such shape it is worked out once how every
token is looked up; :mod:`sentprobe.generator.bulk` is the fast path for many events at once.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

from sentprobe.generator import columns, drawn
from sentprobe.generator.constraints import Allowed
from sentprobe.generator.event import Number, Tense, Voice
from sentprobe.generator.plan import PlanToken, plan_sentence
from sentprobe.generator.realize import determiner_form
from sentprobe.grammars.derivation import Leaf
from sentprobe.lexicon import Form, Kind, Lexicon

WordLookup: TypeAlias = Callable[[Sequence[int]], str]
"""Finds a token, or several, by the values of an event."""


class Phrase(NamedTuple):
    """The tokens of events of one shape, and where the words of variables stand among them."""

    lookups: tuple[WordLookup, ...]
    places: Mapping[int, int]


class Wording:
    """Words events of any layouts with the words of one lexicon.

    >>> from sentprobe.generator.space import Space
    >>> from sentprobe.lexicon import english
    >>> (event,) = Space(english(), vocabulary="compeval").drawn([0])
    >>> Wording(english()).text(event)
    'the professor slept'
    """

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon = lexicon
        self._phrases: dict[object, Phrase] = {}  # of each shape: hundreds, few templates have more

    def text(self, event: drawn.DrawnEvent) -> str:
        """Return the text of an event; it is that of its :func:`.realize`."""
        values = event.values
        return " ".join([find(values) for find in self._phrase(event).lookups])

    def places(self, event: drawn.DrawnEvent) -> Mapping[int, int]:
        """Return where the words of the variables stand in the text."""
        return self._phrase(event).places

    def _phrase(self, event: drawn.DrawnEvent) -> Phrase:
        key = event.layout, drawn.parts_of(event.layout).shape(event.values)
        phrase = self._phrases.get(key)
        if phrase is None:
            phrase = self._phrases[key] = _PhraseMaker(self.lexicon, event).phrase()
        return phrase


@lru_cache(maxsize=4)
def wording_of(lexicon: Lexicon) -> Wording:
    """Return the wording of a lexicon; what it has worked out serves again."""
    return Wording(lexicon)


class _PhraseMaker:
    """Works out how the tokens of the events of one shape are looked up."""

    def __init__(self, lexicon: Lexicon, event: drawn.DrawnEvent) -> None:
        self._lexicon = lexicon
        self._event = event
        self._numbers = drawn.numbers_of(event.layout)
        self._clauses = {part.site.path: part for part in drawn.parts_of(event.layout).clauses}

    def phrase(self) -> Phrase:
        """Return the phrase of the event's shape."""
        tokens = plan_sentence(self._plainest().event).tokens
        places = {self._numbers[token.slot]: at for at, token in enumerate(tokens) if token.slot}
        return Phrase(tuple(map(self._lookup, tokens)), places)

    def _plainest(self) -> drawn.DrawnEvent:
        """Return an event of the shape that other words have too, so that its plan is kept."""
        layout, values = self._event
        structural = drawn.parts_of(layout).structural
        plain = [value if at in structural else 0 for at, value in enumerate(values)]
        return drawn.DrawnEvent(layout, plain)

    def _lookup(self, token: PlanToken) -> WordLookup:
        path, _, name = token.slot.rpartition(".")
        if name == "verb":
            return self._verb(token)
        if name in ("noun", "det"):
            return self._in_noun_phrase(f"{path}.", name)
        if name:
            kind, form = (Kind.RELATIVIZER, None) if name == "rel" else (Kind.ADVERB, Form.RB)
            return _by_one(self._forms(token.slot, kind, form), self._numbers[token.slot])
        if columns.is_finite(*token.origin):
            tense, subject = self._agreement(token)
            leaves = self._leaves(token, subject)
            return _by_two([[leaf.form for leaf in row] for row in leaves], tense, subject)
        return _always(token.leaf.form)

    def _verb(self, token: PlanToken) -> WordLookup:
        kind = Kind(self._clauses[token.path].site.frame.value)
        verb = self._numbers[token.slot]
        if not columns.is_finite(*token.origin):
            return _by_one(self._forms(token.slot, kind, Form(token.leaf.form)), verb)
        tense, subject = self._agreement(token)
        leaves = self._leaves(token, subject)
        forms = [[self._forms(token.slot, kind, Form(leaf.form)) for leaf in row] for row in leaves]
        return _by_three(forms, tense, subject, verb)

    def _in_noun_phrase(self, path: str, name: str) -> WordLookup:
        determiner, noun = self._numbers[f"{path}det"], self._numbers[f"{path}noun"]
        make = _noun_table if name == "noun" else _determiner_table
        pairs, nouns = self._values(determiner), self._values(noun)
        return _by_two(make(self._lexicon, pairs, nouns), determiner, noun)

    def _agreement(self, token: PlanToken) -> tuple[int, int]:
        """Return the tense of a finite verb's clause, and the determiner of its subject."""
        clause = self._clauses[token.path]
        subject = columns.subject_path(clause.site, Voice(clause.voice_of(self._event)))
        return clause.tense, self._numbers[f"{subject}det"]

    def _leaves(self, token: PlanToken, subject: int) -> list[list[Leaf]]:
        """Return the leaf for each tense, and in it for each determiner of the subject."""
        leaves = dict(zip(columns.VARIANTS, columns.variants(*token.origin), strict=True))
        numbers = [Number(number) for number, _ in self._values(subject)]
        return [[leaves[tense, number] for number in numbers] for tense in Tense]

    def _forms(self, slot: str, kind: Kind, form: Form | None) -> Sequence[str]:
        variable = self._event.layout.variables[self._numbers[slot]]
        return _form_table(self._lexicon, kind, variable.values, variable.domain, form)

    def _values(self, variable: int) -> tuple[Any, ...]:
        return tuple(self._event.layout.variables[variable].values)


def _always(word: str) -> WordLookup:
    return lambda _: word


def _by_one(table: Sequence[str], at: int) -> WordLookup:
    return lambda values: table[values[at]]


def _by_two(table: Sequence[Sequence[str]], one: int, two: int) -> WordLookup:
    return lambda values: table[values[one]][values[two]]


def _by_three(
    table: Sequence[Sequence[Sequence[str]]], one: int, two: int, three: int
) -> WordLookup:
    return lambda values: table[values[one]][values[two]][values[three]]


@lru_cache(maxsize=256)
def _form_table(
    lexicon: Lexicon, kind: Kind, lemmas: tuple[str, ...], used: Allowed, form: Form | None
) -> Sequence[str]:
    """Return a form of each lemma that is used; without a form, the only one that it has."""
    words = [lexicon.get(lemma, kind) if i in used else None for i, lemma in enumerate(lemmas)]
    return [word.forms[form or next(iter(word.forms))] if word else "" for word in words]


@lru_cache(maxsize=16)
def _noun_table(
    lexicon: Lexicon, pairs: tuple[tuple[str, str], ...], nouns: tuple[str, ...]
) -> Sequence[Sequence[str]]:
    """Return the form of each noun after each determiner, which has a number."""
    words = [lexicon.get(noun, Kind.NOUN) for noun in nouns]
    forms = {Number.SINGULAR.value: Form.NN, Number.PLURAL.value: Form.NNS}
    return [[word.forms[forms[number]] for word in words] for number, _ in pairs]


@lru_cache(maxsize=16)
def _determiner_table(
    lexicon: Lexicon, pairs: tuple[tuple[str, str], ...], nouns: tuple[str, ...]
) -> Sequence[Sequence[str]]:
    """Return the form of each determiner before each noun."""
    vowels = [lexicon.get(noun, Kind.NOUN).vowel for noun in nouns]
    words = [(number, lexicon.get(lemma, Kind.DETERMINER)) for number, lemma in pairs]
    return [[word.forms[determiner_form(n, vowel=v)] for v in vowels] for n, word in words]
