"""Rendering of drawn events as text, one event at a time. Look-up tables make it faster than :func:`.realize`."""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

from sentprobe.generator.bulk import columns
from sentprobe.generator.events.event import Number, Tense
from sentprobe.generator.sentences.realize import SLOT_KINDS, choose_auxiliary
from sentprobe.generator.sentences.sentence_plan import PlanToken, plan_sentence, split_form
from sentprobe.generator.spaces import drawn_event
from sentprobe.generator.spaces.constraints import Allowed
from sentprobe.grammars.derivation import Leaf
from sentprobe.lexicon import Kind, Lexicon

WordLookup: TypeAlias = Callable[[Sequence[int]], str]
"""Function that returns the text of one token for the value indices of an event's variables."""


class Phrase(NamedTuple):
    """The look-up functions of a shape, one for each token. ``positions`` maps variable numbers to token numbers."""

    lookups: tuple[WordLookup, ...]
    positions: Mapping[int, int]


class DrawnTextRenderer:
    """Renderer of drawn events with the words of one lexicon.

    >>> from sentprobe.generator.spaces.space import Space
    >>> from sentprobe.lexicon import english
    >>> (event,) = Space(english(), vocabulary="compeval").decode([0])
    >>> DrawnTextRenderer(english()).render(event)
    'the professor slept'
    """

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon = lexicon
        self._phrases: dict[object, Phrase] = {}  # by shape: some hundreds

    def render(self, event: drawn_event.DrawnEvent) -> str:
        """Return the text of an event, the same as the text of :func:`.realize`."""
        values = event.values
        return " ".join([find(values) for find in self._get_phrase(event).lookups])

    def find_word_positions(self, event: drawn_event.DrawnEvent) -> Mapping[int, int]:
        """Return the token number of each variable's word in the event's text; keys are numbers of variables."""
        return self._get_phrase(event).positions

    def _get_phrase(self, event: drawn_event.DrawnEvent) -> Phrase:
        key = event.layout, drawn_event.find_layout_parts(event.layout).compute_shape(event.values)
        phrase = self._phrases.get(key)
        if phrase is None:
            phrase = self._phrases[key] = _PhraseBuilder(self.lexicon, event).build_phrase()
        return phrase


@lru_cache(maxsize=4)
def get_text_renderer(lexicon: Lexicon) -> DrawnTextRenderer:
    """Return the cached renderer of a lexicon."""
    return DrawnTextRenderer(lexicon)


class _PhraseBuilder:
    """Builder of a :class:`Phrase`, which serves all events of one shape and has a look-up function for each token."""

    def __init__(self, lexicon: Lexicon, event: drawn_event.DrawnEvent) -> None:
        self._lexicon = lexicon
        self._event = event
        self._numbers = drawn_event.number_variables(event.layout)
        self._clauses = {part.site.path: part for part in drawn_event.find_layout_parts(event.layout).clauses}

    def build_phrase(self) -> Phrase:
        layout, values = self._event
        structural = drawn_event.find_layout_parts(layout).structural
        # The sentence plan of the first event of the shape is likely to be cached.
        neutral = [value if at in structural else 0 for at, value in enumerate(values)]
        event = drawn_event.DrawnEvent(layout, neutral).event
        tokens = plan_sentence(event, self._lexicon.language).tokens
        positions = {self._numbers[token.slot]: at for at, token in enumerate(tokens) if token.slot}
        return Phrase(tuple(map(self._build_lookup, tokens)), positions)

    def _build_lookup(self, token: PlanToken) -> WordLookup:
        path, _, name = token.slot.rpartition(".")
        if name == "verb":
            return self._build_verb_lookup(token)
        language, slot = self._lexicon.language, name.rstrip("0123456789")
        if slot == "noun" or slot in language.agreeing_slots:
            return self._build_noun_phrase_lookup(f"{path}.", token)
        if name:
            kind = SLOT_KINDS[slot]
            # Relativizers differ in their forms' names (WDT, WP), but each has one.
            form = None if name == "rel" else token.leaf.form
            return _make_lookup(self._get_forms(token.slot, kind, form), self._numbers[token.slot])
        if columns.is_finite(*token.origin, language):
            if token.leaf.form in language.usual_auxiliary_forms:
                return self._build_auxiliary_lookup(token)
            tense, subject, leaves = self._find_agreement(token)
            return _make_pair_lookup([[leaf.form for leaf in row] for row in leaves], tense, subject)
        word = token.leaf.form
        return lambda _: word

    def _build_verb_lookup(self, token: PlanToken) -> WordLookup:
        kind = Kind(self._clauses[token.path].site.frame.value)
        verb = self._numbers[token.slot]
        if not columns.is_finite(*token.origin, self._lexicon.language):
            return _make_lookup(self._get_forms(token.slot, kind, token.leaf.form), verb)
        tense, subject, leaves = self._find_agreement(token)
        forms = [[self._get_forms(token.slot, kind, leaf.form) for leaf in row] for row in leaves]
        return lambda values: forms[values[tense]][values[subject]][values[verb]]

    def _build_auxiliary_lookup(self, token: PlanToken) -> WordLookup:
        tense, subject, leaves = self._find_agreement(token)
        slot = f"{token.path}verb"
        kind, variable = Kind(self._clauses[token.path].site.frame.value), self._numbers[slot]
        # The values are all verbs of the vocabulary; those of other frames are no words of this kind.
        used = self._event.layout.variables[variable].domain
        words = [self._lexicon.get(v, kind) if i in used else None for i, v in enumerate(self._get_values(variable))]
        forms = [
            [
                [choose_auxiliary(leaf, word, self._lexicon.language).form if word else "" for word in words]
                for leaf in row
            ]
            for row in leaves
        ]
        return lambda values: forms[values[tense]][values[subject]][values[variable]]

    def _build_noun_phrase_lookup(self, path: str, token: PlanToken) -> WordLookup:
        name = token.slot.rpartition(".")[2]
        _, case = split_form(token.leaf.form)
        determiner, noun = self._numbers[f"{path}det"], self._numbers[f"{path}noun"]
        pairs = self._get_values(determiner)
        if name == "noun":
            table = _build_noun_table(self._lexicon, pairs, self._get_values(noun), case)
            return _make_pair_lookup(table, determiner, noun)
        adjective = self._numbers.get(f"{path}adjective0") if self._lexicon.language.class_of_next_word else None
        # Where the article depends on the sound of the next word (a, an), that is the first adjective, if there is any.
        following, kind = (noun, Kind.NOUN) if adjective is None else (adjective, Kind.ADJECTIVE)
        slot, numbers = name.rstrip("0123456789"), [number for number, _ in pairs]
        lemmas = self._get_values(following)
        if name == "det":
            table = _build_agreement_table(self._lexicon, pairs, lemmas, kind, (slot, case))
            return _make_pair_lookup(table, determiner, following)
        at = self._numbers[token.slot]
        tables = [
            _build_agreement_table(self._lexicon, tuple((n, word) for n in numbers), lemmas, kind, (slot, case))
            for word in self._get_values(at)
        ]
        return lambda values: tables[values[at]][values[determiner]][values[following]]

    def _find_agreement(self, token: PlanToken) -> tuple[int, int, list[list[Leaf]]]:
        """Return the indices of the variables for tense and subject, and *token*'s leaf for each pair of values."""
        clause = self._clauses[token.path]
        path = columns.find_subject_path(clause.site, clause.find_voice(self._event), clause.find_dative(self._event))
        assert clause.tense is not None
        # A question word has no variable. The tense takes its place in the table, whose columns are then equal.
        subject = self._numbers.get(f"{path}det", clause.tense)
        variants = columns.find_variant_leaves(*token.origin, self._lexicon.language)
        leaves = dict(zip(columns.TENSE_NUMBER_PAIRS, variants, strict=True))
        numbers = [Number.SINGULAR] * len(Tense)  # of a question word
        if subject != clause.tense:
            is_pair = f"{path}conjunct.noun" in self._numbers
            numbers = [Number.PLURAL if is_pair else Number(number) for number, _ in self._get_values(subject)]
        return clause.tense, subject, [[leaves[tense, number] for number in numbers] for tense in Tense]

    def _get_forms(self, slot: str, kind: Kind, form: str | None) -> Sequence[str]:
        variable = self._event.layout.variables[self._numbers[slot]]
        return _build_form_table(self._lexicon, kind, variable.values, variable.domain, form)

    def _get_values(self, variable: int) -> tuple[Any, ...]:
        return tuple(self._event.layout.variables[variable].values)


def _make_lookup(table: Sequence[str], at: int) -> WordLookup:
    return lambda values: table[values[at]]


def _make_pair_lookup(table: Sequence[Sequence[str]], first: int, second: int) -> WordLookup:
    return lambda values: table[values[first]][values[second]]


@lru_cache(maxsize=256)
def _build_form_table(
    lexicon: Lexicon, kind: Kind, lemmas: tuple[str, ...], used: Allowed, form: str | None
) -> Sequence[str]:
    """Return *form* (if None, the first form) of each lemma whose index is in *used*; "" for other lemmas."""
    words = [lexicon.get(lemma, kind) if i in used else None for i, lemma in enumerate(lemmas)]
    return [word.forms.get(form or next(iter(word.forms)), "") if word else "" for word in words]


@lru_cache(maxsize=64)
def _build_noun_table(
    lexicon: Lexicon, pairs: tuple[tuple[str, str], ...], nouns: tuple[str, ...], case: str
) -> Sequence[Sequence[str]]:
    """Return the form of each noun in a case, "" if it lacks the form: a row for each pair of number and determiner."""
    words = [lexicon.get(noun, Kind.NOUN) for noun in nouns]
    forms = [lexicon.language.find_noun_form(number, case) for number, _ in pairs]
    return [[word.forms.get(form, "") for word in words] for form in forms]


@lru_cache(maxsize=64)
def _build_agreement_table(
    lexicon: Lexicon, pairs: tuple[tuple[str, str], ...], following: tuple[str, ...], kind: Kind, place: tuple[str, str]
) -> Sequence[Sequence[str]]:
    """Return a table of word forms that agree with a later word: "a" before "pen", "an" before "apple".

    Row i is for the word ``pairs[i]``: (grammatical number, lemma). Column j is for the later word ``following[j]``.
    """
    language, (slot, case) = lexicon.language, place
    classes = [language.find_class(lexicon.get(lemma, kind)) for lemma in following]
    words = [(number, lexicon.get(lemma, SLOT_KINDS[slot])) for number, lemma in pairs]
    forms = [[(word, language.find_form(slot, n, case, c)) for c in classes] for n, word in words]
    return [[word.forms[form] for word, form in row] for row in forms]
