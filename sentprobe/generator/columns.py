"""The columns of words that fill the records of one layout, and the shapes of those records.

Sentences of a layout that agree in voice, aspect, polarity and numbers of adverbs have the same
tokens but for the words, the forms that agreement and tense ask for, and the cue of negation. What
differs is a column, named by what it holds and where: ``form:agent.noun``, ``feats:agent.fin``. A
column holds numbers of words in a pool. The first columns are the same for every layout.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import product
from typing import TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from sentprobe.generator.event import (
    Event,
    Negator,
    Number,
    RelativeClause,
    Tense,
    Voice,
    participants,
)
from sentprobe.generator.layout import NEGATIONS, ClauseSite, Group, Layout, LayoutValue, event_of
from sentprobe.generator.plan import PlanToken, SentencePlan, plan_sentence, with_words
from sentprobe.generator.realize import bracket, determiner_form, negations_of, predicates_of
from sentprobe.generator.sentence import Sentence, Token
from sentprobe.generator.space import Batched
from sentprobe.grammars.derivation import PARENT, Leaf
from sentprobe.grammars.features import word_features
from sentprobe.grammars.shapes import ClauseShape, NounShape, Shape, english_shapes, subject_role
from sentprobe.lexicon import Form, Kind, Lexicon

Numbers: TypeAlias = NDArray[np.int64]
"""Numbers of strings in a pool, or positions."""

VERB_FORMS = tuple(form for form in Form if form.value.startswith("VB"))
_NUMBERS = list(Number)


class StringPool:
    """Different strings, numbered as they come."""

    def __init__(self) -> None:
        self.strings: list[str] = []
        self._numbers: dict[str, int] = {}

    def number(self, text: str) -> int:
        """Return the number of *text*."""
        number = self._numbers.setdefault(text, len(self.strings))
        if number == len(self.strings):
            self.strings.append(text)
        return number

    def numbers(self, texts: Iterable[str]) -> Numbers:
        """Return the numbers of *texts*."""
        return np.array([self.number(text) for text in texts], dtype=np.int64)


class Tables:
    """The forms, lemmas and features of the words of a space, by their numbers in ``pool``.

    The first axis of ``noun_forms`` is the number, of ``verb_forms`` (one for each kind of verb)
    the form in the order of :data:`VERB_FORMS`, and the last axis is the word. The second axis of
    ``det_forms`` is whether a vowel follows.
    """

    def __init__(self, space: Batched) -> None:
        self.pool = StringPool()
        lexicon, words = space.lexicon, space.words
        nouns = [lexicon.get(lemma, Kind.NOUN) for lemma in words.nouns]
        self.noun_forms = self._table([[w.forms[f] for w in nouns] for f in (Form.NN, Form.NNS)])
        self.noun_lemmas = self.pool.numbers(words.nouns)
        self.vowels = np.array([w.vowel for w in nouns], dtype=np.int64)
        self.verb_forms = {
            frame.value: self._verb_forms(lexicon, words.verbs, Kind(frame.value))
            for frame in words.verbs_by_frame
        }
        self.verb_lemmas = self.pool.numbers(words.verbs)
        self._add_determiners(space)
        self.adverbs = self.pool.numbers(words.adverbs)
        self.adverb_feats = self.pool.numbers(word_features("ADV", a) for a in words.adverbs)
        rels = [lexicon.get(lemma, Kind.RELATIVIZER) for lemma in words.relativizers]
        self.rel_forms = self.pool.numbers(next(iter(w.forms.values())) for w in rels)
        self.rel_tags = self.pool.numbers(next(iter(w.forms)).value for w in rels)
        self.rel_lemmas = self.pool.numbers(w.lemma for w in rels)
        self.tenses = self.pool.numbers(tense.value for tense in Tense)
        cues = {negator.value for negator in Negator}
        self.negators = self.pool.numbers(n if n in cues else "" for n in NEGATIONS)

    def _add_determiners(self, space: Batched) -> None:
        pairs = [(n, space.lexicon.get(d, Kind.DETERMINER)) for n, d in space.words.determiners]
        self.det_forms = self._table(
            [[w.forms[determiner_form(n, vowel=v)] for v in (False, True)] for n, w in pairs]
        )
        self.det_lemmas = self.pool.numbers(w.lemma for _, w in pairs)
        self.det_feats = self.pool.numbers(word_features("DET", w.lemma, n) for n, w in pairs)
        numbers = [_NUMBERS.index(Number(n)) for n, _ in pairs]
        self.det_numbers = np.array(numbers, dtype=np.int64)

    def _verb_forms(self, lexicon: Lexicon, verbs: Sequence[str], kind: Kind) -> Numbers:
        known = {word.lemma: word for word in lexicon.words(kind)}
        forms = [[known[v].forms[form] if v in known else "" for v in verbs] for form in VERB_FORMS]
        return self._table(forms)

    def _table(self, rows: Iterable[Iterable[str]]) -> Numbers:
        return np.array([self.pool.numbers(row) for row in rows])


VARIANTS = list(product(Tense, Number))
"""The pairs of tense and number, in the order of a clause's variants."""

Origin: TypeAlias = tuple[Shape, int]
"""Where a token comes from: a shape, and which of its items."""


@dataclass(frozen=True, slots=True)
class Finite:
    """What tense and number change in a clause, for each of :data:`VARIANTS`.

    ``verb`` has places in :data:`VERB_FORMS`, the others numbers of words.
    """

    verb: Numbers
    auxiliary: Numbers
    tag: Numbers
    feats: Numbers


@cache
def variants(shape: Shape, at: int) -> tuple[Leaf, ...]:
    """Return the leaf at an item under each tense and number of its clause's subject."""
    found = []
    for tense, number in VARIANTS:
        other = shape
        if isinstance(shape, ClauseShape):
            other = replace(shape, tense=tense.value, number=number.value)
        leaf = english_shapes().items(other)[at].content
        assert isinstance(leaf, Leaf)
        found.append(leaf)
    return tuple(found)


@cache
def is_finite(shape: Shape, at: int) -> bool:
    """Say whether tense or number changes the word at an item."""
    return len(set(variants(shape, at))) > 1


class FiniteTable:
    """What is finite in the clauses of plans, each kept; words are numbers in a pool."""

    def __init__(self, pool: StringPool) -> None:
        self._pool = pool
        self._kept: dict[tuple[Origin, Origin], Finite] = {}

    def look_up(self, plan: SentencePlan, path: str) -> Finite:
        """Return what is finite in the clause at *path*."""
        tokens = [t for t in plan.tokens if t.path == path and isinstance(t.origin[0], ClauseShape)]
        (verb,) = (t.origin for t in tokens if t.slot.endswith("verb"))
        (finite,) = (t.origin for t in tokens if is_finite(*t.origin))
        if (verb, finite) not in self._kept:
            self._kept[verb, finite] = self._make(verb, finite)
        return self._kept[verb, finite]

    def _make(self, verb: Origin, finite: Origin) -> Finite:
        leaves = variants(*finite)
        return Finite(
            verb=np.array([VERB_FORMS.index(Form(leaf.form)) for leaf in variants(*verb)]),
            auxiliary=self._pool.numbers("" if finite == verb else leaf.form for leaf in leaves),
            tag=self._pool.numbers(leaf.tag for leaf in leaves),
            feats=self._pool.numbers(leaf.feats for leaf in leaves),
        )


NOTHING, EMPTY, ID, INDEX, FIRST = range(5)
"""The columns that every layout has, and its own first one.

NOTHING is all zeros. The others number strings that come after the words of the pool: the empty
one, then the ids and the indices of a chunk.
"""


OPEN, CLOSE = "\ue000", "\ue001"
"""What encloses the number of a column in a schematic sentence."""


INDEX_MARKER = 7_777_777_777_777_777_777
"""What stands for the index, which is a number."""


_STRUCTURAL = ("voice", "aspect", "negation")


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of a layout: values by variable, each row's shape, and what is finite in each shape."""

    values: Mapping[str, Numbers]
    tables: Tables
    shapes: Numbers
    finite: Mapping[str, list[Finite]]

    def look_up(self, table: str, name: str) -> Numbers:
        """Return entries of a one-dimensional table."""
        found: Numbers = getattr(self.tables, table)[self.values[name]]
        return found

    def number(self, path: str) -> Numbers:
        """Return the number of the noun phrase at *path*."""
        return self.tables.det_numbers[self.values[f"{path}det"]]

    def noun(self, path: str) -> Numbers:
        """Return the forms of the noun at *path*."""
        return self.tables.noun_forms[self.number(path), self.values[f"{path}noun"]]

    def determiner(self, path: str) -> Numbers:
        """Return the forms of the determiner at *path*."""
        vowels = self.tables.vowels[self.values[f"{path}noun"]]
        return self.tables.det_forms[self.values[f"{path}det"], vowels]

    def by_number(self, path: str, choices: Numbers) -> Numbers:
        """Return the word of *choices* for the number of the noun at *path*."""
        return choices[self.number(path)]

    def variant(self, site: ClauseSite) -> Numbers:
        """Return each row's place in VARIANTS: the tense, and the subject's number."""
        tense = self.values[f"{site.path}tense"]
        if site.voice is None:
            by_voice = [self.number(subject_path(site, voice)) for voice in Voice]
            return 2 * tense + np.choose(self.values[f"{site.path}voice"], by_voice)
        return 2 * tense + self.number(subject_path(site, site.voice))

    def verb(self, site: ClauseSite) -> Numbers:
        """Return the forms of the main verb of a clause."""
        table = np.array([finite.verb for finite in self.finite[site.path]])
        forms = table[self.shapes, self.variant(site)]
        verbs = self.values[f"{site.path}verb"]
        found: Numbers = self.tables.verb_forms[site.frame.value][forms, verbs]
        return found

    def finite_part(self, site: ClauseSite, part: str) -> Numbers:
        """Return the auxiliary, or the finite verb's tag or features."""
        table = np.array([getattr(finite, part) for finite in self.finite[site.path]])
        found: Numbers = table[self.shapes, self.variant(site)]
        return found


def subject_path(site: ClauseSite, voice: Voice) -> str:
    """Return the path of the noun phrase that the finite verb agrees with."""
    role = subject_role(voice.value)
    return site.owner if site.gap is not None and site.gap == role else f"{site.path}{role}."


class LayoutColumns:
    """The columns of a layout, by name, and the schematic sentence of each of its shapes."""

    def __init__(self, layout: Layout, tables: Tables, finite: FiniteTable) -> None:
        self._layout = layout
        self._pool = tables.pool
        self._finite = finite
        self._structural = [v for v in layout.variables if v.name.rpartition(".")[2] in _STRUCTURAL]
        self.columns: dict[str, Callable[[Rows], Numbers]] = {}
        for variable in layout.variables:
            if variable.group is Group.NOUN:
                self._add_noun(variable.name.removesuffix("noun"))
        for site in layout.clauses:
            self._add_clause(site)
        self._marks = {name: mark(i) for i, name in enumerate(self.columns, FIRST)}

    def _add_noun(self, path: str) -> None:
        self.columns[f"form:{path}noun"] = partial(Rows.noun, path=path)
        self.columns[f"form:{path}det"] = partial(Rows.determiner, path=path)
        leaves = [_noun_leaf(number) for number in _NUMBERS]
        for what in ("tag", "feats"):
            self._add_by_number(
                f"{what}:{path}noun", path, [getattr(leaf, what) for leaf in leaves]
            )
        self._add_by_number(f"value:{path}number", path, [number.value for number in _NUMBERS])
        self._add("lemma", f"{path}noun", "noun_lemmas")
        self._add("lemma", f"{path}det", "det_lemmas")
        self._add("feats", f"{path}det", "det_feats")

    def _add_by_number(self, name: str, path: str, choices: list[str]) -> None:
        numbers = self._pool.numbers(choices)
        self.columns[name] = partial(Rows.by_number, path=path, choices=numbers)

    def _add_clause(self, site: ClauseSite) -> None:
        path = site.path
        self.columns[f"form:{path}verb"] = partial(Rows.verb, site=site)
        self._add("lemma", f"{path}verb", "verb_lemmas")
        for what, part in (("form", "auxiliary"), ("tag", "tag"), ("feats", "feats")):
            self.columns[f"{what}:{path}fin"] = partial(Rows.finite_part, site=site, part=part)
        self._add("form", f"{path}negation", "negators")
        self._add("value", f"{path}tense", "tenses")
        for i in range(site.adverbs):
            self._add("form", f"{path}adverb{i}", "adverbs")
            self._add("lemma", f"{path}adverb{i}", "adverbs")
            self._add("feats", f"{path}adverb{i}", "adverb_feats")
        if site.owner:
            for what in ("form", "lemma", "tag"):
                self._add(what, f"{site.owner}rel", f"rel_{what}s")

    def _add(self, what: str, slot: str, table: str) -> None:
        self.columns[f"{what}:{slot}"] = partial(Rows.look_up, table=table, name=slot)

    def shape_keys(self, values: Mapping[str, Numbers]) -> Numbers:
        """Return a number for each row that says its shape."""
        key = np.zeros(len(values["verb"]), dtype=np.int64)
        for variable in self._structural:
            value = values[variable.name]
            if variable.name.endswith("negation"):
                value = np.minimum(value, 1)  # the cue is a column
            key = key * 2 + value
        return key

    def _event(self, shape: int) -> Event:
        """Return an event of the shape; undoes :meth:`shape_keys`. Its words do not matter."""
        values: dict[str, LayoutValue] = {v.name: v.values[0] for v in self._layout.variables}
        for variable in reversed(self._structural):
            shape, at = divmod(shape, 2)
            values[variable.name] = variable.values[at]
        return event_of(values, self._layout)

    def schematic(self, shape: int) -> tuple[Sentence, dict[str, Finite]]:
        """Return a sentence of the shape with marks for what is in columns; and what is finite."""
        event = self._event(shape)
        plan = plan_sentence(event)
        finite = {site.path: self._finite.look_up(plan, site.path) for site in self._layout.clauses}
        tokens = tuple(self._token(token) for token in plan.tokens)
        sentence = Sentence(
            id=mark(ID),
            tokens=tokens,
            tree=bracket([(t.before, t.after) for t in plan.tokens], tokens),
            event=self._marked(with_words(event, lambda slot: self._marks[f"lemma:{slot}"])),
            predicates=predicates_of(plan),
            negations=negations_of(plan),
            template=self._layout.pattern.name,
            index=INDEX_MARKER,
        )
        return sentence, finite

    def _marked(self, event: Event, path: str = "") -> Event:
        """Return *event* with marks for tense, negator and number."""
        marked = replace(event, tense=cast(Tense, _Mark(self._marks[f"value:{path}tense"])))
        if event.negator is not None:
            negator = cast(Negator, _Mark(self._marks[f"form:{path}negation"]))
            marked = replace(marked, negator=negator)
        for role, person in participants(event):
            here = f"{path}{role.value}."
            number = cast(Number, _Mark(self._marks[f"value:{here}number"]))
            clause = person.clause
            if isinstance(clause, RelativeClause):
                clause = replace(clause, event=self._marked(clause.event, f"{here}clause."))
            filler = replace(person, number=number, clause=clause)
            marked = marked.with_argument(role, filler)
        return marked

    def _token(self, token: PlanToken) -> Token:
        leaf, marks = token.leaf, self._marks
        slot = token.slot
        finite = f"{token.path}fin" if is_finite(*token.origin) else ""
        form = slot or (finite if finite else f"{token.path}negation" if leaf.pos == "PART" else "")
        return Token(
            form=marks.get(f"form:{form}", leaf.form),
            lemma=marks.get(f"lemma:{slot}", leaf.lemma),
            upos=leaf.pos,
            xpos=marks.get(f"tag:{finite or slot}", leaf.tag),
            feats=marks.get(f"feats:{finite or slot}", leaf.feats),
            head=token.head + 1,
            deprel="root" if token.head == PARENT else token.rel,
        )


class _Mark(str):
    """A mark in the place of a member of an enum."""

    __slots__ = ()

    @property
    def value(self) -> str:
        """The mark."""
        return str(self)


def mark(number: int) -> str:
    """Return the mark that stands for a column in a schematic sentence."""
    return f"{OPEN}{number}{CLOSE}"


def _noun_leaf(number: Number) -> Leaf:
    items = english_shapes().items(NounShape(number.value, "consonant", clause=False))
    leaf = items[1].content
    assert isinstance(leaf, Leaf)
    return leaf
