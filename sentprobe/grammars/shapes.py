"""Shapes of constituents: flat lists with placeholders for words, and holes for inner constituents.

The grammar derives a shape from its features. ``python -m sentprobe.grammars`` stores all usual shapes in
``english.shapes.json``, so that generation seldom loads NLTK.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from itertools import product
from typing import Any, TypeAlias, get_args

from sentprobe.common.errors import SentprobeError
from sentprobe.grammars import read_grammar_source
from sentprobe.grammars.derivation import PARENT, FlatItem, Hole, Leaf, Node, flatten
from sentprobe.lexicon import Kind, Word
from sentprobe.lexicon.languages.language import Language
from sentprobe.lexicon.words import NAME, NAMED, ROLES

VERB, NOUN, DETERMINER, RELATIVIZER = "@verb", "@noun", "@det", "@rel"
ADVERB, ADJECTIVE, MODAL, ADJUNCT = "@adverb", "@adjective", "@modal", "@adjunct"
"""The lemmas of placeholders, which stand for words of the lexicon."""
FIRST, SECOND = "first", "second"
"""The names of the two holes in the shape of a coordination."""
POSITIVE = "pos"
UNTENSED = "modal"
"""Value of ``tense`` for a clause with a modal, in which no verb agrees in number."""
IMPERATIVE = "imp"
"""Value of ``tense`` for an order."""
TENSES = ("past", "pres")
SIMPLE = "simple"
ACTIVE_ASPECT = "perfprog"
"""The aspect without a passive."""
STATEMENT, QUESTION, ORDER = "statement", "question", "order"
OBJECT, ADJUNCT_FIRST, ADJUNCT_LAST = "object-first", "adjunct-first", "adjunct-last"
"""Values of ``front``."""
ADJUNCT_HOLE = "Adjunct"
"""The category of the hole for an adjunct."""
ASKED = "who"
"""The lemma of the question word in shapes, which stands for all question words."""


@dataclass(frozen=True, slots=True)
class ClauseShape:
    """The features that determine the shape of a clause, with the grammar's values; "" for an absent feature."""

    frame: str
    voice: str
    tense: str
    aspect: str
    negation: str
    adverbs: bool
    gap: str
    number: str
    mood: str = STATEMENT
    dative: str = ""
    head: str = ""
    """The number of the noun that the relative clause modifies, in a language whose relativizers agree with it."""
    front: str = ""
    """OBJECT or ADJUNCT_FIRST if it opens a main clause, ADJUNCT_LAST if an adjunct ends it; or ""."""

    @property
    def subject(self) -> str:
        """The role of the subject."""
        return find_subject_role(self.voice, self.dative)

    @property
    def is_relative(self) -> bool:
        """Whether the clause is a relative clause."""
        return bool(self.gap) and self.mood == STATEMENT

    @property
    def has_adjunct(self) -> bool:
        """Whether the clause has an adjunct."""
        return self.front in (ADJUNCT_FIRST, ADJUNCT_LAST)


@dataclass(frozen=True, slots=True)
class NounShape:
    """The features that determine the shape of a noun phrase."""

    number: str
    word_class: str
    clause: bool
    adjectives: int = 0
    case: str = ""
    last: bool = False
    """Whether the noun phrase ends the sentence, so that no comma closes its relative clause."""
    phrase: str = ""
    """The :attr:`Word.phrase` of the determiner, which is a numeral or stands before a name; "" for most."""


@dataclass(frozen=True, slots=True)
class PairShape:
    """The shape of two coordinated noun phrases, with the holes FIRST and SECOND."""


@dataclass(frozen=True, slots=True)
class AdverbShape:
    """The shape of a list of *count* adverbs."""

    count: int


@dataclass(frozen=True, slots=True)
class AdjunctShape:
    """The shape of an adjunct with the words *phrase*, such as "in the", before its noun."""

    phrase: str


@dataclass(frozen=True, slots=True)
class ReflexiveShape:
    """The shape of a reflexive pronoun."""

    word: str


Shape: TypeAlias = ClauseShape | NounShape | PairShape | AdverbShape | AdjunctShape | ReflexiveShape
FlatItems: TypeAlias = tuple[FlatItem, ...]


def find_subject_role(voice: str, dative: str = "") -> str:
    """Return the role of the subject; *dative* is "double" for two objects ("gave the man a book"), "to" or empty."""
    return "agent" if voice == "active" else "recipient" if dative == "double" else "patient"


def derive_shape(shape: Shape, language: Language) -> FlatItems:
    """Return the items of *shape*, derived with the grammar. Raises SentprobeError unless there is one derivation."""
    from sentprobe.grammars.grammar import load_grammar

    goal, holes = _build_goal(shape, language)
    words = _make_placeholder_words(shape, language)
    derivations: list[Node] = list(load_grammar(language).derive(goal, words, holes=holes))
    if len(derivations) != 1:
        raise SentprobeError(f"the grammar derives {len(derivations)} trees, not one, for {shape}")
    return flatten(derivations[0])


def _build_goal(shape: Shape, language: Language) -> tuple[Any, frozenset[str]]:
    from nltk.featstruct import FeatStruct
    from nltk.grammar import FeatStructNonterminal

    if isinstance(shape, AdverbShape):
        goal = FeatStructNonterminal("ADVP[]")
        goal["SEM"] = _build_lemma_list(ADVERB, shape.count)
        return goal, frozenset()
    if isinstance(shape, NounShape):
        goal = FeatStructNonterminal("NP[]")
        determiner = NAME if shape.phrase == NAME else DETERMINER
        goal["SEM"] = FeatStruct(f"[LEM='{NOUN}', DET='{determiner}', NUM={shape.number}]")
        goal["SEM"]["RC"] = FeatStruct("[LINK='@rel', EVENT=[]]") if shape.clause else "bare"
        goal["SEM"]["ADJ"] = _build_lemma_list(ADJECTIVE, shape.adjectives)
        if shape.case:
            goal["CASE"], goal["LAST"] = shape.case, "+" if shape.last else "-"
        return goal, frozenset({"SBAR"})
    if isinstance(shape, AdjunctShape):
        return FeatStructNonterminal(f"Adjunct[LEM='{ADJUNCT}']"), frozenset()
    if isinstance(shape, ReflexiveShape):
        return FeatStructNonterminal(f"NP[SEM={shape.word}]"), frozenset()
    if isinstance(shape, PairShape):
        return FeatStructNonterminal(f"NP[SEM=[RC=and, FIRST=[LEM={FIRST}], SECOND=[LEM={SECOND}]]]"), frozenset({"NP"})
    return _build_clause_goal(shape, language), frozenset({"NP", "ADVP", ADJUNCT_HOLE})


def _build_lemma_list(lemma: str, count: int) -> Any:
    from nltk.featstruct import FeatStruct

    lemmas: Any = "none"
    for _ in range(count):
        lemmas = FeatStruct({"FIRST": lemma, "REST": lemmas})
    return lemmas


def _build_clause_goal(shape: ClauseShape, language: Language) -> Any:
    from nltk.featstruct import FeatStruct
    from nltk.grammar import FeatStructNonterminal

    core = {"PRED": VERB, "FRAME": shape.frame}
    if shape.dative:
        core["DATIVE"] = shape.dative
    for role in ROLES[Kind(shape.frame)]:
        number = f", NUM={shape.number}" if role == shape.subject and shape.number else ""
        core[role.upper()] = "gap" if role == shape.gap else FeatStruct(f"[LEM={role}{number}]")
    if shape.mood == ORDER:
        core["AGENT"] = "listener"
    goal = FeatStructNonterminal("SBAR[]" if shape.is_relative else "root[]")
    goal["SEM"] = FeatStruct(
        {
            "TENSE": FeatStruct({"MODAL": MODAL}) if shape.tense == UNTENSED else shape.tense,
            "ASPECT": shape.aspect,
            "VOICE": shape.voice,
            "NEG": shape.negation,
            "ADV": _build_lemma_list(ADVERB, int(shape.adverbs)),
            "CORE": FeatStruct(core),
        }
    )
    if not shape.is_relative:
        goal["MOOD"], goal["ASKED"] = shape.mood, ASKED if shape.gap else "none"
        if language.has_fronting:
            goal["FRONT"] = "object" if shape.front else "subject"
        if language.adjuncts:
            goal["FRONT"] = "adjunct" if shape.front == ADJUNCT_FIRST else "subject"
            goal["ADJUNCT"] = FeatStruct({"LEM": ADJUNCT}) if shape.has_adjunct else "none"
    else:
        goal["LINK"] = RELATIVIZER
        if shape.head:
            goal["NUM"], goal["CLASS"] = shape.head, language.classes[0]
        elif shape.gap == shape.subject and shape.number:
            goal["NUM"] = shape.number
    return goal


def _make_placeholder_words(shape: Shape, language: Language) -> tuple[Word, ...]:
    """Return a placeholder noun, verb, determiner and so on. The text of each form is the form's tag, such as "NNS"."""
    is_vowel = isinstance(shape, NounShape) and shape.word_class == "vowel"
    verb = Kind(shape.frame) if isinstance(shape, ClauseShape) else Kind.TRANSITIVE
    kinds = {NOUN: Kind.NOUN, VERB: verb, DETERMINER: Kind.DETERMINER, RELATIVIZER: Kind.RELATIVIZER}
    kinds |= {ADVERB: Kind.ADVERB, ADJECTIVE: Kind.ADJECTIVE, MODAL: Kind.MODAL}
    kinds |= {ADJUNCT: Kind.ADJUNCT} if isinstance(shape, AdjunctShape) else {}
    forms = dict(language.forms) | {Kind.ADJUNCT: (language.find_noun_form("sg", language.cases[0]),)}
    if "rel" not in language.agreeing_slots:
        forms[Kind.RELATIVIZER] = forms[Kind.RELATIVIZER][:1]
    phrase = getattr(shape, "phrase", "")
    return tuple(
        Word(
            lemma,
            kind,
            {form: str(form) for form in forms[kind]},
            vowel=is_vowel,
            gender=language.classes[0],
            phrase=phrase if phrase in NAMED or kind in (Kind.DETERMINER, Kind.ADJUNCT) else "",
        )
        for lemma, kind in kinds.items()
        if forms.get(kind)
    )


def list_clause_shapes(language: Language, *, is_requested: bool = False) -> Iterator[ClauseShape]:
    """Yield the shapes of clauses in a language: if *is_requested*, those in requested aspects, else all others."""
    aspects = [aspect for aspect in language.aspects if (aspect in language.requested_aspects) is is_requested]
    shapes = _list_shapes_in_aspects(language, aspects)
    yield from (shape for shape in shapes if (shape.voice, shape.aspect) != ("passive", ACTIVE_ASPECT))


def _list_shapes_in_aspects(language: Language, aspects: Sequence[str]) -> Iterator[ClauseShape]:
    cues = (POSITIVE, *language.cues)
    features = list(product(aspects, cues, (False, True)))
    untensed = [UNTENSED] if Kind.MODAL in language.forms else []
    heads = ("sg", "pl") if "rel" in language.agreeing_slots else ("",)
    for frame, voice, dative, gaps in language.structures:
        for gap, tense, feature, number in product(gaps, TENSES, features, ("sg", "pl")):
            shape = ClauseShape(frame, voice, tense, *feature, gap, number, dative=dative)
            yield from _list_variants(shape, heads, language)
        for gap, tense, feature in product(gaps, untensed, features):
            yield ClauseShape(frame, voice, tense, *feature, gap, "", dative=dative)
    if QUESTION in language.moods:
        yield from _list_sentence_shapes(language.structures, features)


def _list_variants(shape: ClauseShape, heads: Sequence[str], language: Language) -> Iterator[ClauseShape]:
    """Yield one shape for each word order of a main clause, or for each possible ``head`` of a relative clause."""
    if not shape.gap:
        yield shape
    for head in heads if shape.gap else ():
        # The verb of a subject relative agrees with the modified noun, so that both have one number.
        if head in ("", shape.number) or shape.gap != shape.subject:
            yield replace(shape, head=head)
    has_object = len(ROLES[Kind(shape.frame)]) > 1
    if language.has_fronting and not shape.gap and shape.voice == "active" and has_object:
        yield replace(shape, front=OBJECT)


def _list_sentence_shapes(
    structures: Iterable[tuple[str, str, str, tuple[str, ...]]], features: Sequence[tuple[str, str, bool]]
) -> Iterator[ClauseShape]:
    """Yield the shapes of questions, and of orders ("help the man")."""
    for frame, voice, dative, gaps in structures:
        for gap, feature in product(gaps, features):
            # "who" and "what" as subjects take a singular verb.
            numbers = ("sg",) if gap == find_subject_role(voice, dative) else ("sg", "pl")
            for tense, number in (*product(TENSES, numbers), (UNTENSED, "")):
                yield ClauseShape(frame, voice, tense, *feature, gap, number, QUESTION, dative)
        if voice == "active":
            for feature in (feature for feature in features if feature[0] == SIMPLE):
                yield ClauseShape(frame, voice, IMPERATIVE, *feature, "", "", ORDER, dative)


def list_all_shapes(language: Language) -> Iterator[Shape]:
    """Yield all shapes of a language that the package stores, except clauses in requested aspects."""
    yield from list_clause_shapes(language)
    classes = language.classes if language.class_of_next_word else language.classes[:1]
    for number, word_class, clause, adjectives in product(("sg", "pl"), classes, (False, True), (0, 1)):
        for case, last in product(language.cases, (False, True) if language.closes_clauses else (False,)):
            for numeral in ("", *dict.fromkeys(language.counts.values())):
                yield NounShape(number, word_class, clause, adjectives, case, last, numeral)
    for phrase in sorted(NAMED.intersection(language.phrases.values())):
        yield NounShape("sg", language.classes[0], clause=False, phrase=phrase)
    if language.has_coordination:
        yield PairShape()
    yield from map(ReflexiveShape, sorted(language.reflexives))
    for count in range(1, language.max_adverbs + 1):
        yield AdverbShape(count)
    yield from map(AdjunctShape, dict.fromkeys(lemma.rpartition(" ")[0] for lemma in language.adjuncts))


class ShapeTable:
    """A table of each shape's words and holes (unexpanded constituents), from stored *lines* or else the grammar."""

    def __init__(
        self, language: Language, lines: Mapping[str, str] | None = None, contents: Sequence[Leaf | Hole] = ()
    ) -> None:
        self._language = language
        self._lines = lines or {}
        self._contents = contents
        self._items: dict[Shape, FlatItems] = {}

    def find_items(self, shape: Shape) -> FlatItems:
        """Return the words and holes (unexpanded constituents) of *shape*, from the store or else from the grammar."""
        if shape not in self._items and isinstance(shape, ClauseShape) and shape.has_adjunct:
            items = self.find_items(replace(shape, front=""))
            self._items[shape] = _add_first(items) if shape.front == ADJUNCT_FIRST else _add_last(items)
        if shape not in self._items:
            # Shapes are flat; astuple would copy each value. The key is cut as in load_shapes.
            values = [getattr(shape, name) for name in shape.__dataclass_fields__]
            key = json.dumps([type(shape).__name__, values]).partition("]")[0]
            line = self._lines.get(key)
            self._items[shape] = self._find_missing(shape) if line is None else self._read_line(line)[1]
        return self._items[shape]

    def _find_missing(self, shape: Shape) -> FlatItems:
        """Return the items of a shape that this table lacks, from the table of requested aspects or the grammar."""
        if isinstance(shape, ClauseShape) and shape.aspect in self._language.requested_aspects:
            requested = load_language_shapes(self._language, is_requested=True)
            if requested is not self:
                return requested.find_items(shape)
        return derive_shape(shape, self._language)

    def _read_line(self, line: str) -> tuple[Shape, FlatItems]:
        name, values, rows = json.loads(line.removesuffix(","))
        types = {cls.__name__: cls for cls in get_args(Shape)}
        return types[name](*values), tuple(FlatItem(self._contents[index], *columns) for index, *columns in rows)

    def __iter__(self) -> Iterator[tuple[Shape, FlatItems]]:
        return iter((dict(map(self._read_line, self._lines.values())) | self._items).items())


def _add_first(items: FlatItems) -> FlatItems:
    """Return the items of a clause with a hole for an adjunct at the front, inside the brackets of the clause."""
    (verb,) = (i for i, item in enumerate(items) if item.rel == "head" and item.head == PARENT)
    opening, space, inner = items[0].before.partition(" ")
    hole = FlatItem(Hole(ADJUNCT_HOLE, "", "obl"), verb + 1, "obl", opening + space, "")
    moved = [replace(item, head=item.head if item.head == PARENT else item.head + 1) for item in items]
    return (hole, replace(moved[0], before=inner), *moved[1:])


def _add_last(items: FlatItems) -> FlatItems:
    """Return the items of a clause with a hole for an adjunct at the end, inside the brackets of the verb's phrase."""
    (verb,) = (i for i, item in enumerate(items) if item.rel == "head" and item.head == PARENT)
    text = "".join(item.before + item.after for item in items[:verb]) + items[verb].before
    depth = text.count("(") - text.count(")")  # of the verb's phrase, which the last brackets close
    last = items[-1].after
    hole = FlatItem(Hole(ADJUNCT_HOLE, "", "obl"), verb, "obl", "", ")" * depth)
    return (*items[:-1], replace(items[-1], after=last.removesuffix(")" * depth)), hole)


def dump_shapes(table: Iterable[tuple[Shape, FlatItems]], *, source: str) -> str:
    """Return shapes and their items as JSON for :func:`load_shapes`, with a digest of the grammar's text *source*."""
    contents: dict[tuple[str, ...], int] = {}
    shapes = []
    for shape, items in table:
        rows = []
        for item in items:
            content = item.content
            key = (type(content).__name__, *map(str, astuple(content)))
            index = contents.setdefault(key, len(contents))
            rows.append([index, item.head, item.rel, item.before, item.after])
        shapes.append([type(shape).__name__, list(astuple(shape)), rows])
    lines = ",\n".join(json.dumps(row) for row in shapes)
    head = json.dumps([list(key) for key in contents])
    return f'{{"grammar": "{_compute_digest(source)}",\n"contents": {head},\n"shapes": [\n{lines}\n]}}\n'


def load_shapes(text: str, language: Language) -> ShapeTable:
    """Return the table that :func:`dump_shapes` wrote as *text*; it is empty if the grammar has changed since then."""
    *head, shapes = text.split("\n", 3)
    data = json.loads("".join([*head, "]}"]))
    if data["grammar"] != _compute_digest(read_grammar_source(language)):
        return ShapeTable(language)
    # A line begins with its shape, up to the first "]". Lines are parsed on first use: a command needs few of them.
    lines = {line.partition("]")[0]: line for line in shapes.splitlines()[:-1]}
    types: Mapping[str, Any] = {"Leaf": Leaf, "Hole": Hole}
    contents = [types[name](*values, flag == "True") for name, *values, flag in data["contents"]]
    return ShapeTable(language, lines, contents)


def _compute_digest(source: str) -> str:
    return hashlib.sha256(source.encode()).hexdigest()


def find_packaged_file(language: Language, *, is_requested: bool = False) -> Traversable:
    """Return the path of the stored shapes of a language; if *is_requested*, of its clauses in requested aspects."""
    return files("sentprobe.grammars") / f"{language.stem}{'.requested' if is_requested else ''}.shapes.json"


@cache
def load_language_shapes(language: Language, *, is_requested: bool = False) -> ShapeTable:
    """Return the table of the shapes of a language; if *is_requested*, of its clauses in requested aspects.

    These clauses have a file of their own, which a command that needs no such clause does not read.
    """
    packaged = find_packaged_file(language, is_requested=is_requested)
    if not packaged.is_file():
        return ShapeTable(language)
    return load_shapes(packaged.read_text(encoding="utf-8"), language)
