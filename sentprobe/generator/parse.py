"""From a sentence to its events, by the kept shapes.

The shapes of clauses, which the grammar derived, are merged into one tree of continuations (a
trie), so that all of them are matched in one walk along the tokens. Constituents inside are parsed
where the walk meets a hole. The result is the same as that of NLTK's chart parser.
"""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache

from sentprobe.errors import SentprobeError
from sentprobe.generator import event as ev
from sentprobe.generator.realize import determiner_form
from sentprobe.grammars import shapes
from sentprobe.grammars.derivation import Leaf
from sentprobe.lexicon import Form, Kind, Lexicon, Word


@dataclass(frozen=True, slots=True)
class TrieNeed:
    """What a step of the trie consumes: a word (function word or form) or a constituent."""

    category: str
    """"word", "form", "NP", "ADVP" or "link"."""
    name: str
    number: str = ""


@dataclass(slots=True)
class Trie:
    """A place in the trie: where each need leads, and the shapes that end here."""

    steps: dict[TrieNeed, "Trie"] = field(default_factory=dict)
    ends: list[shapes.ClauseShape] = field(default_factory=list)


@cache
def english_tries() -> tuple[Trie, dict[str, Trie]]:
    """Return the trie of main clauses, and those of relative clauses by number of the noun."""
    return build_tries(shapes.english_shapes())


def build_tries(table: shapes.ShapeTable) -> tuple[Trie, dict[str, Trie]]:
    """Merge the shapes of clauses into tries."""
    main = Trie()
    relative = {number.value: Trie() for number in ev.Number}
    for shape in shapes.clause_shapes():
        for trie in _tries_for(shape, main, relative):
            _insert(trie, shape, table)
    return main, relative


def _tries_for(shape: shapes.ClauseShape, main: Trie, relative: dict[str, Trie]) -> list[Trie]:
    if not shape.gap:
        return [main]
    if shape.gap == shapes.subject_role(shape.voice):
        return [relative[shape.number]]
    return list(relative.values())


def _insert(trie: Trie, shape: shapes.ClauseShape, table: shapes.ShapeTable) -> None:
    for item in table.items(shape):
        content = item.content
        if not isinstance(content, Leaf):
            is_subject = content.name == shapes.subject_role(shape.voice)
            need = TrieNeed(content.category, content.name, shape.number if is_subject else "")
        elif content.lemma == shapes.VERB:
            need = TrieNeed("form", content.form, shape.frame)
        elif content.lemma == shapes.RELATIVIZER:
            need = TrieNeed("link", "")
        else:
            assert content.lemma != shapes.ADVERB
            need = TrieNeed("word", content.form)
        trie = trie.steps.setdefault(need, Trie())
    trie.ends.append(shape)


_FORM_TEXT = {
    Form.NN: "a singular noun",
    Form.NNS: "a plural noun",
    Form.VB: "the plain form of a verb",
    Form.VBP: "a plural present verb",
    Form.VBZ: "a singular present verb",
    Form.VBD: "a past verb",
    Form.VBG: "an -ing form",
    Form.VBN: "a past participle",
    Form.RB: "an adverb",
}


class ParseError(SentprobeError):
    """A sentence that the grammar does not cover; ``position`` counts tokens from 1."""

    def __init__(self, message: str, *, position: int) -> None:
        super().__init__(message)
        self.position = position


@dataclass(frozen=True, slots=True)
class _Found:
    """What a walk has collected so far."""

    verb: str = ""
    adverbs: tuple[str, ...] = ()
    link: str | None = None
    people: tuple[tuple[str, ev.Participant], ...] = ()


@dataclass(slots=True)
class _State:
    """One sentence being parsed: readings of its tokens, memory, and how far it got."""

    readings: list[tuple[tuple[Word, Form], ...]]
    tokens: list[str]
    phrases: dict[int, list[tuple[int, ev.Participant]]] = field(default_factory=dict)
    furthest: int = 0
    depth: int = 0
    expected: set[str] = field(default_factory=set)

    def fail(self, position: int, expected: str) -> None:
        if position > self.furthest:
            self.furthest = position
            self.expected.clear()
        if position == self.furthest:
            self.expected.add(expected)


def parse(sentence: str, lexicon: Lexicon) -> tuple[ev.Event, ...]:
    """Return the events of a sentence whose tokens are separated by spaces; one, if unambiguous.

    Raises:
        ParseError: the grammar does not cover it; says at which token parsing stopped and what
            could have stood there.
    """
    tokens = sentence.split()
    state = _State([lexicon.find(token) for token in tokens], tokens)
    main, relative = english_tries()
    parser = _Parser(state, relative)
    events = [event for end, event in parser.clause(main, 0) if parser.at_end(end)]
    if not events:
        raise _failure(state, lexicon)
    return tuple(dict.fromkeys(events))


def word_class(token: str, lexicon: Lexicon) -> Hashable:
    """Return what a parse goes by of a token; sentences that agree in it differ in lemmas only.

    >>> from sentprobe.lexicon import english
    >>> [word_class(form, english()) == word_class("sleeps", english()) for form in ("runs", "the")]
    [True, False]
    """
    readings = tuple((word.kind, form, word.vowel) for word, form in lexicon.find(token))
    return readings if readings and token not in _function_words() else (token, readings)


def plain(sentence: str) -> str:
    """Return a sentence as it is generated: without capitals and a final stop.

    >>> plain("The man sleeps."), plain("the man sleeps ."), plain("the man sleeps")
    ('the man sleeps', 'the man sleeps', 'the man sleeps')
    """
    return sentence.strip().lower().removesuffix(".").rstrip()


def _failure(state: _State, lexicon: Lexicon) -> ParseError:
    at = state.furthest
    expected = " or ".join(sorted(state.expected)) or "the end of the sentence"
    if at >= len(state.tokens):
        return ParseError(
            f"the sentence ends after token {at}, expected {expected}", position=at + 1
        )
    token = state.tokens[at]
    known = " (not in the lexicon)" if _is_unknown(token, lexicon) else ""
    return ParseError(f"token {at + 1}: expected {expected}, not {token!r}{known}", position=at + 1)


def _is_unknown(token: str, lexicon: Lexicon) -> bool:
    return not lexicon.find(token) and token not in _function_words()


@cache
def _function_words() -> frozenset[str]:
    """Return the words of all shapes: found once, for sentences fail by the thousand."""
    return frozenset(
        item.content.form
        for shape in shapes.clause_shapes()
        for item in shapes.english_shapes().items(shape)
        if isinstance(item.content, Leaf)
    )


class _Parser:
    """The recursive descent along the tries."""

    def __init__(self, state: _State, relative: dict[str, Trie]) -> None:
        self._state = state
        self._relative = relative

    def at_end(self, position: int) -> bool:
        """Say whether *position* is the end of the sentence."""
        if position < len(self._state.tokens):
            self._state.fail(position, "the end of the sentence")
            return False
        return True

    def clause(self, trie: Trie, start: int) -> Iterator[tuple[int, ev.Event]]:
        """Yield the ends and events of the clauses from *start* on."""
        for end, event, _ in self._walk(trie, start, _Found()):
            yield end, event

    def _walk(
        self, trie: Trie, at: int, found: _Found
    ) -> Iterator[tuple[int, ev.Event, str | None]]:
        for shape in trie.ends:
            yield at, _event(shape, found), found.link
        for need, below in trie.steps.items():
            for end, more in self._take(need, at, found):
                yield from self._walk(below, end, more)

    def _take(self, need: TrieNeed, at: int, found: _Found) -> Iterator[tuple[int, _Found]]:
        if need.category == "NP":
            for end, person in self.noun_phrase(at):
                if need.number in ("", person.number):
                    yield end, replace(found, people=(*found.people, (need.name, person)))
        elif need.category == "ADVP":
            for end, adverbs in self._adverbs(at):
                yield end, replace(found, adverbs=adverbs)
        elif at >= len(self._state.tokens):
            self._state.fail(at, _describe(need))
        else:
            yield from self._take_token(need, at, found)

    def _take_token(self, need: TrieNeed, at: int, found: _Found) -> Iterator[tuple[int, _Found]]:
        if need.category == "word":
            if self._state.tokens[at] == need.name:
                yield at + 1, found
                return
        else:
            words = [w for w, form in self._state.readings[at] if _fits(need, w, form)]
            for word in words:
                if need.category == "link":
                    yield at + 1, replace(found, link=word.lemma)
                else:
                    yield at + 1, replace(found, verb=word.lemma)
            if words:
                return
        self._state.fail(at, _describe(need))

    def _adverbs(self, at: int) -> Iterator[tuple[int, tuple[str, ...]]]:
        """Yield the sequences of adverbs from *at* on, separated by commas."""
        tokens = self._state.tokens
        readings = self._state.readings[at] if at < len(tokens) else ()
        lemmas = [word.lemma for word, form in readings if form is Form.RB]
        if not lemmas:
            self._state.fail(at, _FORM_TEXT[Form.RB])
        for lemma in lemmas:
            yield at + 1, (lemma,)
            if at + 1 < len(tokens) and tokens[at + 1] == ",":
                for end, rest in self._adverbs(at + 2):
                    yield end, (lemma, *rest)

    def noun_phrase(self, at: int) -> list[tuple[int, ev.Participant]]:
        """Return the ends and participants of the noun phrases from *at* on."""
        phrases = self._state.phrases
        if at not in phrases:
            self._state.depth += 1
            if self._state.depth > ev.MAX_DEPTH + 1:
                raise ParseError(
                    f"token {at + 1}: relative clauses nest deeper than {ev.MAX_DEPTH}",
                    position=at + 1,
                )
            phrases[at] = list(self._noun_phrases(at))
            self._state.depth -= 1
        return phrases[at]

    def _noun_phrases(self, at: int) -> Iterator[tuple[int, ev.Participant]]:
        readings, size = self._state.readings, len(self._state.tokens)
        determiners = [
            (word, form) for word, form in (readings[at] if at < size else ())
            if word.kind is Kind.DETERMINER
        ]  # fmt: skip
        if not determiners:
            self._state.fail(at, "a determiner")
        for determiner, form in determiners:
            nouns = list(self._nouns(at + 1, form))
            if not nouns:
                self._state.fail(at + 1, f"a noun that goes with {self._state.tokens[at]!r}")
            for noun, number in nouns:
                person = ev.Participant(
                    noun=noun.lemma, number=number, determiner=determiner.lemma, clause=ev.BARE
                )
                yield at + 2, person
                for end, clause in self._relative_clauses(at + 2, number):
                    yield end, replace(person, clause=clause)

    def _nouns(self, at: int, determiner: Form) -> Iterator[tuple[Word, ev.Number]]:
        for word, form in self._state.readings[at] if at < len(self._state.tokens) else ():
            if word.kind is Kind.NOUN:
                number = ev.Number.SINGULAR if form is Form.NN else ev.Number.PLURAL
                if determiner_form(number.value, vowel=word.vowel) is determiner:
                    yield word, number

    def _relative_clauses(
        self, at: int, number: ev.Number
    ) -> Iterator[tuple[int, ev.RelativeClause]]:
        if at < len(self._state.tokens):
            for end, event, link in self._walk(self._relative[number.value], at, _Found()):
                yield end, ev.RelativeClause(relativizer=link, event=event)


def _fits(need: TrieNeed, word: Word, form: Form) -> bool:
    if need.category == "link":
        return word.kind is Kind.RELATIVIZER
    return form.value == need.name and word.kind.value == need.number


def _describe(need: TrieNeed) -> str:
    if need.category == "word":
        return repr(need.name)
    return "a relativizer" if need.category == "link" else _FORM_TEXT[Form(need.name)]


def _event(shape: shapes.ClauseShape, found: _Found) -> ev.Event:
    people = dict(found.people)
    positive = shape.negation == shapes.POSITIVE
    event = ev.Event(
        predicate=found.verb,
        frame=ev.Frame(shape.frame),
        voice=ev.Voice(shape.voice),
        tense=ev.Tense(shape.tense),
        aspect=ev.Aspect(shape.aspect),
        polarity=ev.Polarity.POSITIVE if positive else ev.Polarity.NEGATIVE,
        negator=None if positive else ev.Negator(shape.negation),
        adverbs=found.adverbs,
        agent=people.get("agent"),
        patient=people.get("patient"),
    )
    return event.with_argument(ev.Role(shape.gap), ev.GAP) if shape.gap else event
