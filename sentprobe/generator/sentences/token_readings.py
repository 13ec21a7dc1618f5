"""What the parser reads: tries of clause shapes, and the readings of a token.

A parser that follows a trie matches a sentence against all shapes at once. The readings of a token are the words of the
lexicon, and their inflected forms, that are spelled like it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import chain, product
from typing import NamedTuple, TypeAlias

from sentprobe.generator.events import event as ev
from sentprobe.grammars import shapes
from sentprobe.grammars.derivation import Leaf
from sentprobe.lexicon import Kind, Lexicon, Word
from sentprobe.lexicon.languages.language import Language
from sentprobe.lexicon.words import NAME, NAMED, VERBS

PhraseKey: TypeAlias = tuple[str, str, str, bool]
"""Role, grammatical number ("" for either) and case of a noun phrase, and whether it ends the sentence."""


@dataclass(slots=True)
class Trie:
    """A node of a trie: a step for each possible next input, and the shapes that end at this node.

    A step is a pair (rank, next node); the ranks of a node's steps are 0, 1, ... ``tokens`` has the steps that read one
    token: a function word, a form and frame of a verb ("VBD transitive"), a form of a modal ("MD modal"), RELATIVIZER
    or QUESTION_WORD. Steps in ``phrases`` read a noun phrase; a step in ``adverbs`` (at most one) reads all adverbs.
    """

    tokens: dict[str, tuple[int, "Trie"]] = field(default_factory=dict)
    phrases: dict[PhraseKey, tuple[int, "Trie"]] = field(default_factory=dict)
    adverbs: list[tuple[int, "Trie"]] = field(default_factory=list)
    ends: list[shapes.ClauseShape] = field(default_factory=list)

    def make_step(self) -> tuple[int, "Trie"]:
        """Return a new step (rank, empty node) with this node's next free rank. The caller stores the step."""
        return len(self.tokens) + len(self.phrases) + len(self.adverbs), Trie()

    def can_read(self, names: frozenset[str]) -> bool:
        """Return whether a clause can end here, or the next token, whose inputs have these *names*, may fit."""
        return bool(self.ends or self.phrases or self.adverbs) or not names.isdisjoint(self.tokens)


RELATIVIZER = "a relativizer"
"""The input for any relativizer; unlike a function word, this text contains a blank."""
QUESTION_WORD = "a question word"
_NAMES = {
    shapes.VERB: "{form} {frame}",
    shapes.MODAL: "{form} modal",
    shapes.RELATIVIZER: RELATIVIZER,
    shapes.ASKED: QUESTION_WORD,
}
"""The input for each placeholder in a shape."""


@cache
def load_tries(language: Language, *, has_requested: bool = False) -> tuple[Trie, dict[tuple[str, str], Trie]]:
    """Return the trie of main clauses, and the tries of relative clauses by number and class of the modified noun.

    With *has_requested*, the tries also have the clauses in requested aspects (:attr:`Language.requested_aspects`).
    If the language's relativizers do not vary with the noun's class, all classes of nouns of one number share a trie.
    """
    main = Trie()
    classes = language.classes if "rel" in language.agreeing_slots else ("",)
    relative = {(number.value, word_class): Trie() for number in ev.Number for word_class in classes}
    requested = shapes.list_clause_shapes(language, is_requested=True) if has_requested else ()
    for shape in chain(shapes.list_clause_shapes(language), requested):
        # A relative clause fits nouns of one number if its relativizer or verb agrees with the noun, else of both.
        number = shape.head or (shape.number if shape.gap == shape.subject else "")
        tries = [item for item in relative.items() if number in ("", item[0][0])]
        for (_, word_class), trie in tries if shape.is_relative else [(("", ""), main)]:
            has_auxiliary = shape.aspect == ev.Aspect.PERFECT and shape.voice == ev.Voice.ACTIVE
            for auxiliary in (has_auxiliary and language.perfect_auxiliaries) or ("",):
                _insert_shape(trie, shape, language, word_class, auxiliary)
    if classes == ("",):
        relative |= {(number, name): trie for (number, _), trie in [*relative.items()] for name in language.classes}
    return main, relative


def _insert_shape(trie: Trie, shape: shapes.ClauseShape, language: Language, word_class: str, auxiliary: str) -> None:
    """Insert a shape into a trie. *auxiliary* is "haben" or "sein" if the shape is an active perfect, otherwise ""."""
    for item in shapes.load_language_shapes(language).find_items(shape):
        content = item.content
        if isinstance(content, Leaf):
            assert content.lemma != shapes.ADVERB
            form = language.replace_auxiliary(content.form, auxiliary)
            name = _NAMES.get(content.lemma, form).format(form=form, frame=shape.frame)
            # The participle's input names the auxiliary, so that "ist geschlafen" has no way through the trie.
            if content.lemma == shapes.VERB and auxiliary:
                name = f"{name} {auxiliary}"
            if word_class and name == RELATIVIZER:
                name = content.form.rpartition(".")[0] + f".{word_class}"
            if name not in trie.tokens:
                trie.tokens[name] = trie.make_step()
            _, trie = trie.tokens[name]
        elif content.category == "ADVP":
            trie.adverbs = trie.adverbs or [trie.make_step()]
            _, trie = trie.adverbs[0]
        else:
            number = shape.number if content.name == shape.subject else ""
            key = content.name, number, content.case, content.last
            if key not in trie.phrases:
                trie.phrases[key] = trie.make_step()
            _, trie = trie.phrases[key]
    trie.ends.append(shape)


class TokenReadings(NamedTuple):
    """The words that a token can be.

    Each tuple of ``inputs`` has a key of ``Trie.tokens``, then the lemmas of a verb, a relativizer and a modal. Lemmas
    that do not apply are "", as in ("VBD transitive", "help", "", ""). ``determiners`` are triples of a lemma, the
    name of its form, and the words that must precede it: ("at least two", "DT.pl", "at least"). ``adjectives`` are
    triples of a lemma, the name of its form, and its class.
    """

    text: str
    inputs: tuple[tuple[str, str, str, str], ...] = ()
    determiners: tuple[tuple[str, str, str], ...] = ()
    nouns: tuple["NounReading", ...] = ()
    adverbs: tuple[str, ...] = ()
    adjectives: tuple[tuple[str, str, str], ...] = ()
    names: frozenset[str] = frozenset()
    """The first values of ``inputs``."""
    begins_phrase: bool = False
    """Whether a noun phrase can begin with the token: a determiner, a name, a reflexive, or "at" of "at least two"."""
    begins_bound: bool = False
    """Whether the token can begin the words that must precede a determiner."""


class NounReading(NamedTuple):
    """A noun that a token can be: lemma, number, case, class, and the form that its determiner must have."""

    lemma: str
    number: str
    case: str
    word_class: str
    determiner_form: str
    phrase: str = ""
    """The :attr:`Word.phrase` of a name."""


END = TokenReadings("")
"""The reading after the last token: no word."""
_QUESTION_WORDS = frozenset(word.value for word in ev.Asked)


@cache
def _index_noun_forms(language: Language) -> Mapping[str, tuple[str, str]]:
    """Return a dictionary from names of noun forms, such as "NN.sg.acc", to pairs of grammatical number and case."""
    pairs = product((number.value for number in ev.Number), language.cases)
    return {language.find_noun_form(*pair): pair for pair in pairs}


@lru_cache(maxsize=16_384)
def find_readings(token: str, lexicon: Lexicon) -> TokenReadings:
    """Return the readings of *token* as words of *lexicon*; results are cached."""
    language = lexicon.language
    readings = lexicon.find(token)
    inputs = [(token, "", "", "")]
    if token in _QUESTION_WORDS and "question" in language.moods:
        inputs.append((QUESTION_WORD, "", token, ""))
    inputs += [item for word, form in readings for item in _list_inputs(word, form, language)]
    possible_nouns = (_read_noun(word, form, language) for word, form in readings if word.kind is Kind.NOUN)
    nouns = tuple(noun for noun in possible_nouns if noun is not None)
    determiners = tuple(
        (w.lemma, _name_determiner_form(form, w), w.lemma.rpartition(" ")[0])
        for w, form in readings
        if w.kind is Kind.DETERMINER
    )
    begins_bound = any(token == bound.split()[0] for bound in language.bounds)
    has_name = any(noun.phrase == NAME for noun in nouns)
    return TokenReadings(
        token,
        tuple(inputs),
        determiners,
        nouns,
        tuple(word.lemma for word, _ in readings if word.kind is Kind.ADVERB),
        tuple((w.lemma, form, language.find_class(w)) for w, form in readings if w.kind is Kind.ADJECTIVE),
        frozenset(name for name, *_ in inputs),
        bool(determiners) or has_name or begins_bound or token in language.reflexives,
        begins_bound,
    )


def _read_noun(word: Word, form: str, language: Language) -> NounReading | None:
    features = _index_noun_forms(language).get(form)  # a genitive has none
    if features is None:
        return None
    word_class = language.find_class(word)
    form = _name_determiner_form(language.find_form("det", *features, word_class), word)
    return NounReading(word.lemma, *features, word_class, form, word.phrase)


def _name_determiner_form(form: str, word: Word) -> str:
    """Return the form of a determiner with the phrase of a name, so that "the" and "Doctor" fit different nouns."""
    return f"{form} {word.phrase}" if word.phrase in NAMED else form


def _list_inputs(word: Word, form: str, language: Language) -> Iterator[tuple[str, str, str, str]]:
    """Yield the tuples of ``TokenReadings.inputs`` for a form of a verb, relativizer or modal; none for other words."""
    if word.kind is Kind.RELATIVIZER:
        yield form if "rel" in language.agreeing_slots else RELATIVIZER, "", word.lemma, ""
    elif word.kind is Kind.MODAL:
        yield f"{form} {word.kind.value}", "", "", word.lemma
    elif word.kind in VERBS:
        yield f"{form} {word.kind.value}", word.lemma, "", ""
        if form == language.participle:
            yield f"{form} {word.kind.value} {language.find_auxiliary(word)}", word.lemma, "", ""
