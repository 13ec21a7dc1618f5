"""The columns of words that fill the records of one layout, and the shapes of those records.

Sentences of a layout that agree in voice, aspect, polarity and numbers of adverbs have the same
tokens but for the words, the forms that agreement and tense ask for, and the cue of negation. What
differs is a column, named by what it holds and where: ``form:agent.noun``, ``feats:agent.fin``. A
column holds numbers of words in a pool. The first columns are the same for every layout.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import cast

import numpy as np

from sentprobe.generator.event import (
    Event,
    Negator,
    Number,
    RelativeClause,
    Tense,
    Voice,
    participants,
)
from sentprobe.generator.finite import Finite, FiniteTable, is_finite
from sentprobe.generator.layout import ClauseSite, Group, Layout, Value, event_of
from sentprobe.generator.plan import PlanToken, plan_sentence, with_words
from sentprobe.generator.realize import bracket, negations_of, predicates_of
from sentprobe.generator.sentence import Sentence, Token
from sentprobe.generator.tables import Numbers, Tables
from sentprobe.grammars.derivation import PARENT, Leaf
from sentprobe.grammars.shapes import NounShape, english_shapes, subject_role

NOTHING, EMPTY, ID, INDEX, FIRST = range(5)
"""The columns that every layout has, and its own first one.

NOTHING is all zeros. The others number strings that come after the words of the pool: the empty
one, then the ids and the indices of a chunk.
"""

OPEN, CLOSE = "\ue000", "\ue001"
"""What encloses the number of a column in a schematic sentence."""

INDEX_MARKER = 7_777_777_777_777_777_777
"""What stands for the index, which is a number."""

_NUMBERS = list(Number)
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
            by_voice = [self.number(_subject(site, voice)) for voice in Voice]
            return 2 * tense + np.choose(self.values[f"{site.path}voice"], by_voice)
        return 2 * tense + self.number(_subject(site, site.voice))

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


def _subject(site: ClauseSite, voice: Voice) -> str:
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
        values: dict[str, Value] = {v.name: v.values[0] for v in self._layout.variables}
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
