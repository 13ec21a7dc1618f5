"""Parser of sentences into events, which walks along a trie of all clause shapes."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from itertools import product
from operator import itemgetter
from typing import Any, NamedTuple

from sentprobe.common.errors import SentprobeError, suggest
from sentprobe.generator.events import event as ev
from sentprobe.generator.events.checks import check_licenses, select_licensed
from sentprobe.generator.sentences.realize import (
    MAX_READINGS,
    count_readings,
    has_adverb_place_after_subject,
    list_readings,
)
from sentprobe.generator.sentences.token_readings import (
    END,
    QUESTION_WORD,
    RELATIVIZER,
    NounReading,
    PhraseKey,
    Trie,
    find_readings,
    load_tries,
)
from sentprobe.grammars import shapes
from sentprobe.grammars.derivation import Hole
from sentprobe.lexicon import Flag, Lexicon
from sentprobe.lexicon.languages.language import Language
from sentprobe.lexicon.words import NAME, NAMED


class ParseError(SentprobeError):
    """The grammar does not cover a sentence; ``position`` is the number, from 1, of the first unexpected token."""

    def __init__(self, message: str, *, position: int) -> None:
        super().__init__(message)
        self.position = position


class ParsedPhrase(NamedTuple):
    """A parsed noun phrase or reflexive: lemmas, number, case, relative clause and conjunct.

    A reflexive has "" as determiner. ``last`` says whether the phrase must end the sentence (True), must not end it
    (False), or may do so (None).
    """

    noun: str
    number: str
    determiner: str
    clause: "ParsedClause | None" = None
    adjectives: tuple[str, ...] = ()
    conjunct: "ParsedPhrase | None" = None
    case: str = ""
    last: bool | None = None


class ParsedClause(NamedTuple):
    """A parsed clause: shape, lemmas, and pairs of a role and a noun phrase; ``relativizer`` may be a question word."""

    shape: shapes.ClauseShape
    verb: str
    adverbs: tuple[str, ...]
    relativizer: str
    phrases: tuple[tuple[str, ParsedPhrase], ...]
    modal: str
    adjunct: str = ""


def parse(sentence: str, lexicon: Lexicon) -> tuple[ev.Event, ...]:
    """Return the event of each reading of *sentence*, whose tokens are separated by spaces.

    Raises:
        ParseError: the grammar does not cover the sentence; the message names the first unexpected token and the
            expected words.
    """
    events = map(build_event, parse_clauses(sentence, lexicon))
    # With commas, an adverb has one verb to modify.
    if lexicon.language.closes_clauses:
        return tuple(dict.fromkeys(events))
    readings = (reading for event in events for reading in list_readings(event))
    return tuple(select_licensed(readings, lexicon))


def parse_once(sentence: str, lexicon: Lexicon) -> ParsedClause:
    """Return the parse of a sentence that has only one reading. Raises ParseError, or SentprobeError for several.

    If two nouns can be the subject by their case, as in "die Frau sieht das Kind", the first one is the subject.
    """
    clauses = parse_clauses(sentence, lexicon)
    if lexicon.language.has_fronting:
        # The fewest early objects: the usual order of a German sentence without decisive cases.
        counts = [*map(_count_early_objects, clauses)]
        clauses = [clause for clause, count in zip(clauses, counts, strict=True) if count == min(counts)]
    clause = find_only_reading(clauses)
    if clause is None and (count := len(parse(sentence, lexicon))) > 1:
        raise SentprobeError(f"the sentence has {count} readings, not one")
    return clause or clauses[0]


def _count_early_objects(clause: ParsedClause) -> int:
    """Count the clauses with the object before the subject: *clause* and all relative clauses in it are examined."""
    shape = clause.shape
    is_early = bool(shape.front) or (shape.is_relative and shape.gap != shape.subject)
    return is_early + sum(_count_early_objects(phrase.clause) for _, phrase in clause.phrases if phrase.clause)


def find_only_reading(clauses: Sequence[ParsedClause]) -> ParsedClause | None:
    """Return the first of a sentence's parses if they all mean the same; None if the sentence is ambiguous."""
    if any(map(_has_adverb_site, clauses)) or (len(clauses) > 1 and len({*map(build_event, clauses)}) > 1):
        return None
    return clauses[0]


def _has_adverb_site(clause: ParsedClause) -> bool:
    """Return whether a parse has an ambiguous adverb, which can modify any of several verbs (:mod:`.realize`)."""
    has_adverb_first = clause.adverbs and _has_adverb_place_after_subject(clause.shape)
    return any(
        (has_adverb_first and role == clause.shape.subject) or _has_adverb_site(phrase.clause)
        for role, phrase in clause.phrases
        if phrase.clause is not None and phrase.last is None  # a comma closes no clause
    )


@cache
def _has_adverb_place_after_subject(shape: shapes.ClauseShape) -> bool:
    return has_adverb_place_after_subject(ev.Event(**_find_features(shape)))


def parse_clauses(sentence: str, lexicon: Lexicon) -> list[ParsedClause]:
    """Return all parses of a sentence; an adverb that two verbs could take modifies the later. Raises ParseError."""
    tokens = sentence.split()
    derived_clauses = _Parser(tokens, lexicon).parse_main_clauses()
    clauses = _select_licensed(derived_clauses, tokens, lexicon)
    if not clauses:  # parse again: collecting what was expected would slow down the parses of correct sentences
        parser = _Parser(tokens, lexicon, expected=set())
        parser.parse_main_clauses()
        raise _build_error(parser, lexicon)
    if any(_has_adverb_site(clause) and count_readings(build_event(clause)) > MAX_READINGS for clause in clauses):
        raise ParseError(f"the sentence has more than {MAX_READINGS} readings", position=1)
    return clauses


def _select_licensed(clauses: list[ParsedClause], tokens: list[str], lexicon: Lexicon) -> list[ParsedClause]:
    """Return the parses that license all reflexives, polarity items and sentence adverbs. Raises ParseError if none."""
    # Most sentences have no such word; building the events of all parses to check them would be for nothing.
    places = [place for place, token in enumerate(tokens, 1) if _needs_license(token, lexicon)]
    if not (places and clauses):
        return clauses
    licensed_clauses, message = [], ""
    for clause in clauses:
        try:
            check_licenses(build_event(clause), lexicon)
            licensed_clauses.append(clause)
        except ev.Contradiction as error:
            message = message or str(error)
    if not licensed_clauses:
        raise ParseError(message, position=places[0])
    return licensed_clauses


_LICENSED = frozenset({Flag.NPI, Flag.SENTENCE})


@lru_cache(maxsize=16_384)
def _needs_license(token: str, lexicon: Lexicon) -> bool:
    flags = (word.flags for word, _ in lexicon.find(token))
    return token in lexicon.language.reflexives or any(not word_flags.isdisjoint(_LICENSED) for word_flags in flags)


def build_event(clause: ParsedClause) -> ev.Event:
    arguments: dict[str, Any] = {
        role: _build_participant(phrase) if phrase.determiner else ev.Reflexive(phrase.noun)
        for role, phrase in clause.phrases
    }
    if clause.shape.gap:
        arguments[clause.shape.gap] = ev.GAP if clause.shape.is_relative else ev.Asked(clause.relativizer)
    arguments |= _find_features(clause.shape)
    arguments |= {"modal": clause.modal or None, "adjunct": clause.adjunct or None}
    return ev.Event(predicate=clause.verb, adverbs=clause.adverbs, **arguments)


@cache
def _find_features(shape: shapes.ClauseShape) -> Mapping[str, Any]:
    is_positive = shape.negation == shapes.POSITIVE
    return {
        "frame": ev.Frame(shape.frame),
        "voice": ev.Voice(shape.voice),
        "dative": ev.Dative(shape.dative) if shape.dative else None,
        "tense": ev.Tense(shape.tense) if shape.tense in shapes.TENSES else None,
        "mood": ev.Mood(shape.mood),
        "aspect": ev.Aspect(shape.aspect),
        "polarity": ev.Polarity.POSITIVE if is_positive else ev.Polarity.NEGATIVE,
        "negator": None if is_positive else ev.Negator(shape.negation),
        "fronting": ev.Fronting(shape.front) if shape.front not in ("", shapes.ADJUNCT_LAST) else None,
    }


_NUMBERS = {number.value: number for number in ev.Number}


def _build_participant(phrase: ParsedPhrase) -> ev.Participant:
    clause: ev.RelativeClause | ev.Bare = ev.BARE
    if phrase.clause is not None:
        clause = ev.RelativeClause(relativizer=phrase.clause.relativizer, event=build_event(phrase.clause))
    return ev.Participant(
        noun=phrase.noun,
        number=_NUMBERS[phrase.number],
        determiner=phrase.determiner,
        clause=clause,
        adjectives=phrase.adjectives,
        conjunct=None if phrase.conjunct is None else _build_participant(phrase.conjunct),
    )


_STRAIGHT = str.maketrans(dict.fromkeys("\u2018\u2019\u02bc\uff07", "'"))
"""Apostrophes as word processors and phones write them, and the straight one."""
_NEGATION = re.compile(r"(?<=[a-z])n't\b")


def normalize_sentence(sentence: str, lexicon: Lexicon) -> str:
    """Return a sentence as the generator writes it: in lower case except names, without a final ".", "?" or "!".

    Curly apostrophes become straight ones, and "didn't" becomes "did n't". A comma after a first time or place goes.

    In a language that writes nouns with capitals, only the first letter of the sentence becomes lower case. A lemma of
    the lexicon that is spelled like a name, such as "henry", stays in lower case.

    >>> from sentprobe.lexicon import english
    >>> normalize_sentence("The man sleeps.", english()), normalize_sentence("does the man sleep ?", english())
    ('the man sleeps', 'does the man sleep')
    """
    language = lexicon.language
    plain = sentence.removeprefix("\ufeff").strip().translate(_STRAIGHT)
    plain = plain[:1].lower() + plain[1:] if language.capitalized_kinds else plain.lower()
    plain = _NEGATION.sub(" n't", plain)
    plain = (plain[:-1] if plain.endswith((".", "?", "!")) else plain).rstrip()
    plain = _find_first_comma(language).sub(r"\1 ", plain)
    names = language.capitalized_names
    return _find_names(language).sub(lambda m: m[0] if lexicon.kinds_of(m[0]) else names[m[0]], plain)


@cache
def _find_names(language: Language) -> re.Pattern[str]:
    """Return the pattern of names in lower case, which are not part of a word such as "mary-like"."""
    return re.compile(rf"(?<!\S)(?:{'|'.join(language.capitalized_names) or '(?!)'})(?!\S)")


@cache
def _find_first_comma(language: Language) -> re.Pattern[str]:
    """Return the pattern of an adjunct in lower case that begins a sentence, with the comma after it."""
    return re.compile(rf"\A({'|'.join(map(str.lower, language.adjuncts)) or '(?!)'})\s*,\s*")


def _build_error(parser: "_Parser", lexicon: Lexicon) -> ParseError:
    at = parser.furthest
    expected = " or ".join(sorted(parser.expected or ())) or "the end of the sentence"
    if at >= len(parser.tokens):
        return ParseError(f"the sentence ends after token {at}, expected {expected}", position=at + 1)
    token = parser.tokens[at]
    is_known = bool(lexicon.find(token)) or token in lexicon.language.function_words
    note = "" if is_known else f" (not in the lexicon){_suggest_form(token, lexicon)}"
    return ParseError(f"token {at + 1}: expected {expected}, not {token!r}{note}", position=at + 1)


@lru_cache(maxsize=16_384)  # a file may have a word often
def _suggest_form(token: str, lexicon: Lexicon) -> str:
    return suggest(token, lexicon.list_forms())


_Match = tuple[str, tuple[str, ...], str, tuple[tuple[str, ParsedPhrase], ...], str]
"""The verb, adverbs, relativizer, noun phrases and modal that the parser has collected so far."""
_EMPTY_MATCH: _Match = ("", (), "", (), "")
_Step = tuple[int, Trie, int, _Match]
"""A step in the trie: its rank at the node, the next node, the position after the step's tokens, the extended match."""


class _Parser:
    """A recursive-descent parser on prefix trees of shapes. *expected* gets what can replace the first wrong token."""

    def __init__(self, tokens: list[str], lexicon: Lexicon, expected: set[str] | None = None) -> None:
        self.tokens = tokens
        self.expected = expected
        self.furthest = 0
        self._lexicon = lexicon
        self._language = lexicon.language
        has_requested = not lexicon.language.requested_words.isdisjoint(tokens)
        self._main, self._relative = load_tries(lexicon.language, has_requested=has_requested)
        self._readings = [*(find_readings(token, lexicon) for token in tokens), END, END]
        self._phrases: dict[int, list[tuple[int, ParsedPhrase]]] = {}
        self._depth = 0

    def parse_main_clauses(self) -> list[ParsedClause]:
        """Return every parse of the whole sentence as one main clause; an empty list if there is no parse."""
        clauses: list[ParsedClause] = []
        for start, adjunct in ((0, ""), *self._find_first_adjuncts()):
            ends: list[tuple[int, ParsedClause]] = []
            self._walk_trie(self._main, start, _EMPTY_MATCH, ends)
            for end, clause in ends:
                if end == len(self.tokens) and not adjunct:
                    clauses.append(clause)
                else:
                    clauses += self._add_adjunct(end, clause, adjunct)
        return clauses

    def _find_first_adjuncts(self) -> Iterator[tuple[int, str]]:
        """Yield the end position and the lemma of an adjunct at the start of the sentence."""
        if self.tokens and self.tokens[0] in self._language.adjunct_openers:
            for end in range(2, len(self.tokens)):
                if (lemma := " ".join(self.tokens[:end])) in self._language.adjuncts:
                    yield end, lemma
        if self._language.adjuncts:
            self._record_failure(0, "a time or place")

    def _add_adjunct(self, end: int, clause: ParsedClause, first: str) -> Iterator[ParsedClause]:
        """Yield a main clause with the adjunct *first* before it or, if *first* is "", one that begins at token *end*.

        An adjunct does not follow a relative clause, which could have it, too.
        """
        last = " ".join(self.tokens[end:])
        if first and not last and clause.shape.mood == shapes.STATEMENT:
            yield clause._replace(shape=replace(clause.shape, front=shapes.ADJUNCT_FIRST), adjunct=first)
        elif not first and last in self._language.adjuncts and not _ends_in_clause(clause, self._language):
            yield clause._replace(shape=replace(clause.shape, front=shapes.ADJUNCT_LAST), adjunct=last)
        else:
            self._record_failure(end, "the end of the sentence" if last else f"a statement after {first!r}")

    def _record_failure(self, position: int, expected: str) -> None:
        if self.expected is None:
            return
        if position > self.furthest:
            self.furthest = position
            self.expected.clear()
        if position == self.furthest:
            self.expected.add(expected)

    def _walk_trie(self, node: Trie, at: int, match: _Match, ends: list[tuple[int, ParsedClause]]) -> None:
        """Append a pair (end position, clause) to *ends* for each clause that continues *match* from token *at*."""
        while True:
            for shape in node.ends:
                ends.append((at, ParsedClause(shape, *match)))
            steps = self._find_steps(node, at, match)
            # A node with one step is followed in the loop, without a call for each token.
            if not steps:
                return
            if len(steps) > 1:
                break
            _, node, at, match = steps[0]
        # In the order of ranks, and so of the grammar's shapes: ``parse_once`` prefers the first of equal parses.
        for _, below, end, extended in sorted(steps, key=itemgetter(0)):
            self._walk_trie(below, end, extended, ends)

    def _find_steps(self, node: Trie, at: int, match: _Match) -> list[_Step]:
        verb, adverbs, relativizer, phrases, modal = match
        steps: list[_Step] = []
        reading = self._readings[at]
        for name, verb_lemma, link_lemma, modal_lemma in reading.inputs if node.tokens else ():
            step = node.tokens.get(name)
            if step is not None:
                extended = verb_lemma or verb, adverbs, link_lemma or relativizer, phrases, modal_lemma or modal
                steps.append((*step, at + 1, extended))
        # Adverbs and noun phrases are read as wholes: each is one edge of the trie.
        if node.adverbs and (reading.adverbs or self.expected is not None):
            steps += self._find_adverb_steps(node, at, match)
        if node.phrases and (found := self._parse_noun_phrases(at)):
            steps += self._find_phrase_steps(node, found, match)
        if self.expected is not None:
            inputs = {row[0] for row in reading.inputs}
            for name in node.tokens.keys() - inputs:
                self._record_failure(at, _describe_input(name, self._language))
        return steps

    def _find_adverb_steps(self, node: Trie, at: int, match: _Match) -> Iterator[_Step]:
        """Yield the steps from *node* that read a list of adverbs, which begins at token *at*."""
        verb, _, relativizer, phrases, modal = match
        for step in node.adverbs:
            for end, lemmas in self._parse_adverbs(at):
                yield *step, end, (verb, lemmas, relativizer, phrases, modal)

    def _find_phrase_steps(self, node: Trie, ends: list[tuple[int, ParsedPhrase]], match: _Match) -> Iterator[_Step]:
        """Yield the steps from *node* that read one of the noun phrases in *ends*, pairs of end position and phrase."""
        verb, adverbs, relativizer, phrases, modal = match
        for end, phrase in ends:
            names = self._readings[end].names
            for key, step in node.phrases.items():
                # Most steps lead to nodes that cannot read the next token; they matter for error messages only.
                if self._fits(phrase, key, node, end) and (self.expected is not None or step[1].can_read(names)):
                    yield *step, end, (verb, adverbs, relativizer, (*phrases, (key[0], phrase)), modal)

    def _fits(self, phrase: ParsedPhrase, key: PhraseKey, node: Trie, end: int) -> bool:
        """Say whether a noun phrase has the number and case of *key*; record a wrong number as a failure at *end*."""
        _, number, case, last = key
        if case != phrase.case or phrase.last not in (None, last):
            return False
        # Two coordinated nouns have a plural verb, even if each is singular.
        phrase_number = phrase.number if phrase.conjunct is None else ev.Number.PLURAL
        if number in ("", phrase_number):
            return True
        if self.expected is not None and not {"", phrase_number} & {n for _, n, *_ in node.phrases}:
            self._record_failure(end, f"a {_NUMBERS[number].name.lower()} subject before it")
        return False

    def _parse_adverbs(self, at: int) -> Iterator[tuple[int, tuple[str, ...]]]:
        """Yield end position and lemmas of each list of adverbs, separated by commas, that begins at token *at*."""
        lemmas = self._readings[at].adverbs
        if not lemmas:
            self._record_failure(at, "an adverb")
        for lemma in lemmas:
            yield at + 1, (lemma,)
            if self._readings[at + 1].text == ",":
                for end, later_lemmas in self._parse_adverbs(at + 2):
                    yield end, (lemma, *later_lemmas)

    def _parse_noun_phrases(self, at: int) -> list[tuple[int, ParsedPhrase]]:
        """Return end position and phrase of each noun phrase that begins at token *at*; results are cached."""
        if at not in self._phrases:
            self._depth += 1
            if self._depth > ev.MAX_DEPTH + 1:
                raise ParseError(f"token {at + 1}: relative clauses nest deeper than {ev.MAX_DEPTH}", position=at + 1)
            is_possible = self._readings[at].begins_phrase or self.expected is not None
            self._phrases[at] = self._find_noun_phrases(at) if is_possible else []
            self._depth -= 1
        return self._phrases[at]

    def _find_noun_phrases(self, at: int) -> list[tuple[int, ParsedPhrase]]:
        token = self._readings[at].text
        if token in self._language.reflexives:
            return [(at + 1, ParsedPhrase(token, ev.Reflexive(token).number.value, ""))]
        phrases = []
        for end, phrase, word_class in self._find_bare_phrases(at):
            phrases.append((end, phrase))
            following = self._readings[end].text
            # Both are empty at the end of a sentence in a language without coordination.
            if following and following == self._language.conjunction:
                for last, conjunct, _ in self._find_bare_phrases(end + 1):
                    phrases.append((last, phrase._replace(conjunct=conjunct)))
            elif end < len(self.tokens) and self._language.phrases.get(phrase.determiner) not in NAMED:
                phrases += self._find_clauses(end, phrase, word_class)
        return phrases

    def _find_clauses(self, at: int, phrase: ParsedPhrase, word_class: str) -> Iterator[tuple[int, ParsedPhrase]]:
        """Yield, for each relative clause that begins at token *at*, its end position and *phrase* with this clause."""
        ends: list[tuple[int, ParsedClause]] = []
        has_commas = self._language.closes_clauses
        if has_commas and self._readings[at].text != ",":
            self._record_failure(at, "','")
            return
        self._walk_trie(self._relative[phrase.number, word_class], at + has_commas, _EMPTY_MATCH, ends)
        for end, clause in ends:
            if not has_commas:
                yield end, phrase._replace(clause=clause)
            # No comma closes a clause at the end of the sentence.
            elif end == len(self.tokens):
                yield end, phrase._replace(clause=clause, last=True)
            elif self._readings[end].text == ",":
                yield end + 1, phrase._replace(clause=clause, last=False)
            else:
                self._record_failure(end, "','")

    def _find_bare_phrases(self, at: int) -> Iterator[tuple[int, ParsedPhrase, str]]:
        """Yield (end, phrase, noun class) for each noun phrase (determiner, adjectives, noun) that begins at *at*."""
        first, second = self._readings[at : at + 2]
        if self.expected is None and not first.begins_bound and not second.adjectives:  # at most two tokens
            for length, phrase, word_class in _read_short_phrases(first.text, second.text, self._lexicon):
                yield at + length, phrase, word_class
        else:
            yield from self.read_bare_phrases(at)

    def read_bare_phrases(self, at: int) -> Iterator[tuple[int, ParsedPhrase, str]]:
        determiners = [*self._find_determiners(at)]
        if not determiners:
            self._record_failure(at, "a determiner")
        for start, determiner, form in determiners:
            nouns = [*self._find_nouns(start)]
            fitting = [row for row in nouns if row[-1] == form]
            for end, noun, adjectives, _ in fitting:
                phrase = ParsedPhrase(noun.lemma, noun.number, determiner, None, adjectives, case=noun.case)
                yield end, phrase, noun.word_class
            if not fitting:
                place = start  # the noun to blame; if there is none, the token after the adjectives
                while not nouns and self._readings[place].adjectives:
                    place += 1
                words = " ".join(self.tokens[at:start])
                self._record_failure(place, f"a noun that goes with {words!r}")

    def _find_determiners(self, at: int) -> Iterator[tuple[int, str, str]]:
        """Yield (end, lemma, form) for each determiner that begins at token *at*, such as "at least two".

        A name has the determiner NAME, which has no token.
        """
        yield from ((at + 1, lemma, form) for lemma, form, before in self._readings[at].determiners if not before)
        for bound in self._language.bounds:
            words = bound.split()
            if self._readings[at].text == words[0] and self.tokens[at : at + len(words)] == words:
                numeral = at + len(words)
                found = self._readings[min(numeral, len(self.tokens))].determiners
                yield from ((numeral + 1, lemma, form) for lemma, form, before in found if before == bound)
        yield from ((at, NAME, noun.determiner_form) for noun in self._readings[at].nouns if noun.phrase == NAME)

    def _find_nouns(self, at: int) -> Iterator[tuple[int, NounReading, tuple[str, ...], str]]:
        """Yield (end, noun, adjectives, determiner form) for each noun, with any adjectives, that can begin at *at*."""
        for noun in self._readings[at].nouns:
            yield at + 1, noun, (), noun.determiner_form
        starts: list[tuple[tuple[str, ...], tuple[str, ...], str]] = [((), (), "")]
        language = self._language
        while self._readings[at].adjectives:
            rows = self._readings[at].adjectives
            starts = [
                ((*lemmas, lemma), (*forms, form), first if lemmas else word_class)
                for lemmas, forms, first in starts
                for lemma, form, word_class in rows
            ]
            at += 1
            for (adjectives, forms, first), noun in product(starts, self._readings[at].nouns):
                features = noun.number, noun.case
                # The noun comes last and decides: each adjective before it must have the one form that agrees with the
                # noun.
                if not noun.phrase and {*forms} == {language.find_form("adjective", *features, noun.word_class)}:
                    word_class = first if language.class_of_next_word else noun.word_class
                    yield at + 1, noun, adjectives, language.find_form("det", *features, word_class)


@lru_cache(maxsize=16_384)
def _read_short_phrases(first: str, second: str, lexicon: Lexicon) -> tuple[tuple[int, ParsedPhrase, str], ...]:
    """Return (length, phrase, noun class) for each noun phrase that begins at the first of two tokens ("": none)."""
    return tuple(_Parser([token for token in (first, second) if token], lexicon).read_bare_phrases(0))


def _ends_in_clause(clause: ParsedClause, language: Language) -> bool:
    """Say whether the last words of a main clause are a noun phrase with a relative clause."""
    last = shapes.load_language_shapes(language).find_items(clause.shape)[-1].content
    return isinstance(last, Hole) and clause.phrases[-1][1].clause is not None


def _describe_input(name: str, language: Language) -> str:
    if name in (RELATIVIZER, QUESTION_WORD):
        return name
    if name in language.auxiliaries:
        return "an auxiliary"
    form, *_ = name.partition(" ")
    return language.descriptions.get(form, repr(name))
