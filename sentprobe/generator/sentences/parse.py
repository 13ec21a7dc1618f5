"""Parser of sentences into events, with cached shapes.

The shapes of clauses, which the grammar derived, are merged into a trie, so that one walk along the tokens matches all
shapes. The parser calls itself for constituents inside a clause. The result equals that of NLTK's chart parser.
"""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache

from sentprobe.errors import SentprobeError
from sentprobe.generator.events import event as ev
from sentprobe.generator.sentences.realize import choose_determiner_form
from sentprobe.grammars import shapes
from sentprobe.grammars.derivation import Leaf
from sentprobe.lexicon import Form, Kind, Lexicon, Word


@dataclass(frozen=True, slots=True)
class TrieNeed:
    """The input that a step of the trie consumes: a function word, an inflected form or a constituent."""

    category: str
    """"word", "form", "NP", "ADVP" or "link"."""
    name: str
    number: str = ""


@dataclass(slots=True)
class Trie:
    """A node of the trie: the next node for each input, and the shapes that end at this node."""

    steps: dict[TrieNeed, "Trie"] = field(default_factory=dict)
    ends: list[shapes.ClauseShape] = field(default_factory=list)


@cache
def load_english_tries() -> tuple[Trie, dict[str, Trie]]:
    """Return the trie of main clauses, and the tries of relative clauses by the modified noun's grammatical number."""
    main = Trie()
    relative = {number.value: Trie() for number in ev.Number}
    for shape in shapes.list_clause_shapes():
        is_subject_relative = shape.gap == shapes.find_subject_role(shape.voice)
        tries = [relative[shape.number]] if is_subject_relative else relative.values() if shape.gap else [main]
        for trie in tries:
            _insert_shape(trie, shape)
    return main, relative


def _insert_shape(trie: Trie, shape: shapes.ClauseShape) -> None:
    for item in shapes.load_english_shapes().find_items(shape):
        content = item.content
        if not isinstance(content, Leaf):
            is_subject = content.name == shapes.find_subject_role(shape.voice)
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


_FORM_DESCRIPTIONS = {
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
class _Match:
    """The words and participants that a walk has collected so far."""

    verb: str = ""
    adverbs: tuple[str, ...] = ()
    link: str | None = None
    people: tuple[tuple[str, ev.Participant], ...] = ()


def parse(sentence: str, lexicon: Lexicon) -> tuple[ev.Event, ...]:
    """Return all readings of a sentence as events; its tokens are separated by spaces.

    Raises:
        ParseError: the grammar does not cover the sentence; the message gives the token at which parsing stopped and
            the expected words.
    """
    tokens = sentence.split()
    main, relative = load_english_tries()
    parser = _Parser([lexicon.find(token) for token in tokens], tokens, relative)
    events = [event for end, event, _ in parser.walk_trie(main, 0, _Match()) if parser.is_at_end(end)]
    if not events:
        raise _build_error(parser, lexicon)
    return tuple(dict.fromkeys(events))


def classify_token(token: str, lexicon: Lexicon) -> Hashable:
    """Return the grammatical key of a token; if the tokens of two sentences have equal keys, only lemmas differ.

    >>> from sentprobe.lexicon import english
    >>> keys = [classify_token(form, english()) for form in ("sleeps", "runs", "the")]
    >>> keys[0] == keys[1], keys[0] == keys[2]
    (True, False)
    """
    readings = tuple((word.kind, form, word.vowel) for word, form in lexicon.find(token))
    return readings if readings and token not in _find_function_words() else (token, readings)


def normalize_sentence(sentence: str) -> str:
    """Return a sentence in generated form: without capitals and a final stop.

    >>> normalize_sentence("The man sleeps."), normalize_sentence("the man sleeps .")
    ('the man sleeps', 'the man sleeps')
    """
    return sentence.strip().lower().removesuffix(".").rstrip()


def _build_error(parser: "_Parser", lexicon: Lexicon) -> ParseError:
    at = parser.furthest
    expected = " or ".join(sorted(parser.expected)) or "the end of the sentence"
    if at >= len(parser.tokens):
        return ParseError(f"the sentence ends after token {at}, expected {expected}", position=at + 1)
    token = parser.tokens[at]
    is_known = bool(lexicon.find(token)) or token in _find_function_words()
    note = "" if is_known else " (not in the lexicon)"
    return ParseError(f"token {at + 1}: expected {expected}, not {token!r}{note}", position=at + 1)


@cache
def _find_function_words() -> frozenset[str]:
    return frozenset(
        item.content.form
        for shape in shapes.list_clause_shapes()
        for item in shapes.load_english_shapes().find_items(shape)
        if isinstance(item.content, Leaf)
    )


@dataclass(slots=True)
class _Parser:
    """A recursive-descent parser along the tries."""

    readings: list[tuple[tuple[Word, Form], ...]]
    tokens: list[str]
    relative: dict[str, Trie]
    phrases: dict[int, list[tuple[int, ev.Participant]]] = field(default_factory=dict)
    furthest: int = 0
    depth: int = 0
    expected: set[str] = field(default_factory=set)

    def record_failure(self, position: int, expected: str) -> None:
        if position > self.furthest:
            self.furthest = position
            self.expected.clear()
        if position == self.furthest:
            self.expected.add(expected)

    def is_at_end(self, position: int) -> bool:
        if position < len(self.tokens):
            self.record_failure(position, "the end of the sentence")
            return False
        return True

    def walk_trie(self, trie: Trie, at: int, match: _Match) -> Iterator[tuple[int, ev.Event, str | None]]:
        """Yield the ends, events and relativizers of the clauses that begin at *at*."""
        for shape in trie.ends:
            yield at, _build_event(shape, match), match.link
        for need, below in trie.steps.items():
            for end, extended in self._match_need(need, at, match):
                yield from self.walk_trie(below, end, extended)

    def _match_need(self, need: TrieNeed, at: int, match: _Match) -> Iterator[tuple[int, _Match]]:
        if need.category == "NP":
            for end, person in self.parse_noun_phrases(at):
                if need.number in ("", person.number):
                    yield end, replace(match, people=(*match.people, (need.name, person)))
        elif need.category == "ADVP":
            for end, adverbs in self._parse_adverbs(at):
                yield end, replace(match, adverbs=adverbs)
        elif at >= len(self.tokens):
            self.record_failure(at, _describe_need(need))
        else:
            yield from self._match_token(need, at, match)

    def _match_token(self, need: TrieNeed, at: int, match: _Match) -> Iterator[tuple[int, _Match]]:
        if need.category == "word":
            if self.tokens[at] == need.name:
                yield at + 1, match
                return
        else:
            words = [w for w, form in self.readings[at] if _matches_form(need, w, form)]
            for word in words:
                is_link = need.category == "link"
                yield at + 1, replace(match, link=word.lemma) if is_link else replace(match, verb=word.lemma)
            if words:
                return
        self.record_failure(at, _describe_need(need))

    def _parse_adverbs(self, at: int) -> Iterator[tuple[int, tuple[str, ...]]]:
        """Yield the ends and lemmas of the adverb lists that begin at *at*, separated by commas."""
        tokens = self.tokens
        readings = self.readings[at] if at < len(tokens) else ()
        lemmas = [word.lemma for word, form in readings if form is Form.RB]
        if not lemmas:
            self.record_failure(at, _FORM_DESCRIPTIONS[Form.RB])
        for lemma in lemmas:
            yield at + 1, (lemma,)
            if at + 1 < len(tokens) and tokens[at + 1] == ",":
                for end, later_lemmas in self._parse_adverbs(at + 2):
                    yield end, (lemma, *later_lemmas)

    def parse_noun_phrases(self, at: int) -> list[tuple[int, ev.Participant]]:
        """Return the ends and participants of the noun phrases that begin at *at*."""
        if at not in self.phrases:
            self.depth += 1
            if self.depth > ev.MAX_DEPTH + 1:
                raise ParseError(f"token {at + 1}: relative clauses nest deeper than {ev.MAX_DEPTH}", position=at + 1)
            self.phrases[at] = list(self._find_noun_phrases(at))
            self.depth -= 1
        return self.phrases[at]

    def _find_noun_phrases(self, at: int) -> Iterator[tuple[int, ev.Participant]]:
        readings = self.readings[at] if at < len(self.tokens) else ()
        determiners = [(word, form) for word, form in readings if word.kind is Kind.DETERMINER]
        if not determiners:
            self.record_failure(at, "a determiner")
        for determiner, form in determiners:
            nouns = list(self._find_nouns(at + 1, form))
            if not nouns:
                self.record_failure(at + 1, f"a noun that goes with {self.tokens[at]!r}")
            for noun, number in nouns:
                person = ev.Participant(noun=noun.lemma, number=number, determiner=determiner.lemma, clause=ev.BARE)
                yield at + 2, person
                for end, clause in self._parse_relative_clauses(at + 2, number):
                    yield end, replace(person, clause=clause)

    def _find_nouns(self, at: int, determiner: Form) -> Iterator[tuple[Word, ev.Number]]:
        for word, form in self.readings[at] if at < len(self.tokens) else ():
            if word.kind is Kind.NOUN:
                number = ev.Number.SINGULAR if form is Form.NN else ev.Number.PLURAL
                if choose_determiner_form(number.value, vowel=word.vowel) is determiner:
                    yield word, number

    def _parse_relative_clauses(self, at: int, number: ev.Number) -> Iterator[tuple[int, ev.RelativeClause]]:
        if at < len(self.tokens):
            for end, event, link in self.walk_trie(self.relative[number.value], at, _Match()):
                yield end, ev.RelativeClause(relativizer=link, event=event)


def _matches_form(need: TrieNeed, word: Word, form: Form) -> bool:
    if need.category == "link":
        return word.kind is Kind.RELATIVIZER
    return form.value == need.name and word.kind.value == need.number


def _describe_need(need: TrieNeed) -> str:
    if need.category == "word":
        return repr(need.name)
    return "a relativizer" if need.category == "link" else _FORM_DESCRIPTIONS[Form(need.name)]


def _build_event(shape: shapes.ClauseShape, match: _Match) -> ev.Event:
    people = dict(match.people)
    positive = shape.negation == shapes.POSITIVE
    event = ev.Event(
        predicate=match.verb,
        frame=ev.Frame(shape.frame),
        voice=ev.Voice(shape.voice),
        tense=ev.Tense(shape.tense),
        aspect=ev.Aspect(shape.aspect),
        polarity=ev.Polarity.POSITIVE if positive else ev.Polarity.NEGATIVE,
        negator=None if positive else ev.Negator(shape.negation),
        adverbs=match.adverbs,
        agent=people.get("agent"),
        patient=people.get("patient"),
    )
    return event.with_argument(ev.Role(shape.gap), ev.GAP) if shape.gap else event
