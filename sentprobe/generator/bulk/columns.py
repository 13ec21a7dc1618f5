"""Columns of a layout, one for each varying word or feature. A column has one string-pool index for each sentence."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import product
from typing import Any, TypeAlias, cast

import numpy as np

from sentprobe.generator.bulk.word_tables import NUMBERS, NumberArray, StringPool, WordTables, list_verb_forms
from sentprobe.generator.events import event as ev
from sentprobe.generator.sentences.realize import list_negations, list_predicates, render_tree
from sentprobe.generator.sentences.sentence import Sentence, Token
from sentprobe.generator.sentences.sentence_plan import PlanToken, SentencePlan, plan_new_sentence, split_form
from sentprobe.generator.spaces.drawn_event import STRUCTURAL, find_determiner_classes
from sentprobe.generator.spaces.layout import (
    NEGATIONS,
    ClauseSite,
    Group,
    Layout,
    LayoutValue,
    Variable,
    build_layout_event,
)
from sentprobe.grammars.derivation import PARENT, Leaf
from sentprobe.grammars.shapes import TENSES, ClauseShape, NounShape, Shape, find_subject_role, load_language_shapes
from sentprobe.lexicon.languages.language import Language

_PLURAL = NUMBERS.index(ev.Number.PLURAL)
TENSE_NUMBER_PAIRS = list(product(ev.Tense, ev.Number))
"""All pairs of a tense and a grammatical number, in the order in which the variants of a clause are numbered."""
Origin: TypeAlias = tuple[Shape, int]
"""The shape of a token's clause or phrase, and the token's position there, where an inner phrase counts as one."""


@dataclass(frozen=True, slots=True)
class FiniteForms:
    """The verb forms of a clause: in each field, one entry for each pair in :data:`TENSE_NUMBER_PAIRS`.

    ``verb`` names the main verb's form by its position in :func:`list_verb_forms`. The other fields are indices in the
    string pool: ``auxiliary`` is the finite auxiliary ("" if none); ``tag`` and ``feats`` describe the finite verb.
    """

    verb: NumberArray
    auxiliary: NumberArray
    tag: NumberArray
    feats: NumberArray


@cache
def find_variant_leaves(shape: Shape, at: int, language: Language) -> tuple[Leaf, ...]:
    """Return the word at position *at* of a shape for each tense and number, in the order of TENSE_NUMBER_PAIRS."""
    leaves = []
    for tense, number in TENSE_NUMBER_PAIRS:
        variant = shape
        if isinstance(shape, ClauseShape) and shape.tense in TENSES:
            # The verb agrees with "who" or "what" as its subject, whose number does not vary.
            asks_for_subject = not shape.is_relative and shape.gap == shape.subject
            variant = replace(shape, tense=tense.value, number=shape.number if asks_for_subject else number.value)
            if shape.head and shape.gap == shape.subject:
                variant = replace(variant, head=number.value)
        leaf = load_language_shapes(language).find_items(variant)[at].content
        assert isinstance(leaf, Leaf)
        leaves.append(leaf)
    return tuple(leaves)


@cache
def is_finite(shape: Shape, at: int, language: Language) -> bool:
    """Say whether the word at position *at* of a shape is a verb form that varies with tense or number."""
    is_tensed = isinstance(shape, ClauseShape) and shape.tense in TENSES
    return is_tensed and len(set(find_variant_leaves(shape, at, language))) > 1


class FiniteTable:
    """A cache of the finite forms of clauses, as indices into a pool of strings."""

    def __init__(self, pool: StringPool, language: Language) -> None:
        self._pool = pool
        self._language = language
        self._cache: dict[tuple[Origin, Origin], FiniteForms] = {}

    def look_up(self, plan: SentencePlan, path: str) -> FiniteForms:
        """Return the finite forms of the clause at *path* in a sentence plan."""
        tokens = [t for t in plan.tokens if t.path == path and isinstance(t.origin[0], ClauseShape)]
        (verb,) = (t.origin for t in tokens if t.slot.endswith("verb"))
        # Without an auxiliary, nothing varies but the verb itself.
        finite = next((t.origin for t in tokens if is_finite(*t.origin, self._language)), verb)
        if (verb, finite) not in self._cache:
            leaves = find_variant_leaves(*finite, self._language)
            verbs = [leaf.form for leaf in find_variant_leaves(*verb, self._language)]
            self._cache[verb, finite] = FiniteForms(
                verb=np.array([*map(list_verb_forms(self._language).index, verbs)]),
                auxiliary=self._pool.numbers("" if finite == verb else leaf.form for leaf in leaves),
                tag=self._pool.numbers(leaf.tag for leaf in leaves),
                feats=self._pool.numbers(leaf.feats for leaf in leaves),
            )
        return self._cache[verb, finite]


NOTHING, EMPTY, ID, INDEX, FIRST = range(5)
"""The numbers of the four columns that all layouts have; a layout's own columns are numbered from FIRST.

The column NOTHING is all zeros. EMPTY, ID and INDEX refer to strings that follow the words of the pool: the empty
string, the sentence ids and the sentence indices of a chunk.
"""
MARK_START, MARK_END = "\ue000", "\ue001"
"""The characters around the number of a column: a *marked sentence* has such marks in place of words."""
INDEX_MARKER = 7_777_777_777_777_777_777
"""The index of every marked sentence: a placeholder. Marks are text, but an index must be a number."""


@dataclass(frozen=True, slots=True)
class LayoutRows:
    """Events of one layout, one in each row.

    ``values`` maps a variable to its value index in each row. ``shapes`` has the shape index of each row. ``finite``
    maps the path of a clause to a list of its finite forms, one entry for each shape index.
    """

    values: Mapping[str, NumberArray]
    tables: WordTables
    shapes: NumberArray
    finite: Mapping[str, list[FiniteForms]]

    def look_up(self, table: str, name: str) -> NumberArray:
        """Look up each row's value of the variable *name* in the table *table*, which has an entry for each value."""
        return cast(NumberArray, getattr(self.tables, table)[self.values[name]])

    def find_numbers(self, path: str) -> NumberArray:
        """Return each row's number (0 singular, 1 plural) of the noun phrase at *path*; 0 for a question word."""
        determiners = self.values.get(f"{path}det")
        if determiners is None:
            return np.zeros(len(self.shapes), dtype=np.int64)
        return self.tables.det_numbers[determiners]

    def find_agreement(self, path: str) -> NumberArray:
        """Return, for each row, 1 if a verb that agrees with the participant at *path* is plural, else 0."""
        numbers = self.find_numbers(path)
        return np.full_like(numbers, _PLURAL) if f"{path}conjunct.noun" in self.values else numbers

    def look_up_nouns(self, path: str, case: str) -> NumberArray:
        """Return each row's form of the noun at *path* in the case *case*."""
        return self.tables.noun_forms[case][self.find_numbers(path), self.values[f"{path}noun"]]

    def find_classes(self, path: str) -> NumberArray:
        """Return each row's class (such as gender) of the determiner at *path*, as an index in ``language.classes``."""
        if self.tables.language.class_of_next_word and f"{path}adjective0" in self.values:
            return self.look_up("adjective_classes", f"{path}adjective0")
        return self.look_up("noun_classes", f"{path}noun")

    def look_up_determiners(self, path: str, table: NumberArray) -> NumberArray:
        """Look up each row's determiner at *path* in *table*, which has the forms or the features of determiners."""
        entries: NumberArray = table[self.values[f"{path}det"], 0, self.find_classes(path)]
        return entries

    def look_up_agreeing(self, path: str, slot: str, table: NumberArray) -> NumberArray:
        """Return, for each row, the entry of *table* for the word in *slot* of the noun phrase at *path*.

        The axes of *table* are words, grammatical numbers and classes (such as genders). The noun phrase determines
        number and class. If *slot* is "", the entries do not depend on the word, and the first axis has length 1.
        """
        word: Any = self.values[f"{path}{slot}"] if slot else 0
        entries: NumberArray = table[word, self.find_numbers(path), self.find_classes(path)]
        return entries

    def choose_by_number(self, path: str, choices: NumberArray) -> NumberArray:
        """Return the entry of *choices* (singular, plural) for the grammatical number of the noun at *path*."""
        return choices[self.find_numbers(path)]

    def find_variants(self, site: ClauseSite) -> NumberArray:
        """Return, for each row, the index in TENSE_NUMBER_PAIRS of the clause's tense and the subject's number."""
        voices = tuple(ev.Voice) if site.voice is None else (site.voice,)
        datives = tuple(ev.Dative) if site.varies_dative else (site.dative or "",)
        choices = [self.find_agreement(find_subject_path(site, *pair)) for pair in product(voices, datives)]
        # Numbered like ``choices``: by voice, then by dative.
        variants = self.values.get(f"{site.path}voice", np.int64(0)) * len(datives)
        variants = variants + self.values.get(f"{site.path}dative", np.int64(0))
        numbers = choices[0] if len(choices) == 1 else np.choose(variants, choices)
        tenses = self.values.get(f"{site.path}tense")
        return numbers if tenses is None else len(NUMBERS) * tenses + numbers

    def look_up_modals(self, path: str) -> NumberArray:
        """Return, for each row, the form of the modal in the clause at *path*, as an index in the string pool."""
        is_contracted = self.values[f"{path}negation"] == NEGATIONS.index(ev.Negator.CONTRACTED.value)
        return self.tables.modal_forms[np.asarray(is_contracted, dtype=np.int64), self.values[f"{path}modal"]]

    def look_up_verbs(self, site: ClauseSite) -> NumberArray:
        """Return, for each row, the form of the main verb of a clause, as an index in the string pool."""
        forms = self.look_up_finite(site, "verb")
        return self.tables.verb_forms[site.frame.value][forms, self.values[f"{site.path}verb"]]

    def look_up_auxiliaries(self, site: ClauseSite, part: str) -> NumberArray:
        """Return, for each row, the "form" or the "lemma" (*part*) of a clause's perfect auxiliary, as a pool index."""
        auxiliaries = self.tables.verb_auxiliaries[site.frame.value][self.values[f"{site.path}verb"]]
        table: NumberArray = getattr(self.tables, f"auxiliary_{part}")
        return table[self.find_variants(site), auxiliaries]

    def look_up_finite(self, site: ClauseSite, part: str) -> NumberArray:
        """Return each row's value of the :class:`FiniteForms` field *part*, for the tense and number of a clause."""
        table = np.array([getattr(finite, part) for finite in self.finite[site.path]])
        return table[self.shapes, self.find_variants(site)]


def find_subject_path(site: ClauseSite, voice: str, dative: str) -> str:
    """Return the path of the subject, the noun phrase with which the finite verb of a clause agrees."""
    role = find_subject_role(voice, dative)
    return site.owner if site.gap is not None and site.gap == role else f"{site.path}{role}."


class LayoutColumns:
    """Computes a layout's columns. Makes marked sentences, in which column numbers replace the words that vary."""

    def __init__(self, layout: Layout, tables: WordTables, finite: FiniteTable) -> None:
        self._layout = layout
        self._tables = tables
        self._pool = tables.pool
        self._domains = {variable.name: sorted(variable.domain) for variable in layout.variables}
        self._constants: dict[str, str] = {}
        self._finite = finite
        self._marked: dict[tuple[str, object], ev.Participant] = {}  # by path and clause: the words are the same
        self._classes = {name: np.array(classes) for name, classes in find_determiner_classes(layout).items()}
        self._structural = [
            v for v in layout.variables if v.name.rpartition(".")[2] in STRUCTURAL or v.name in self._classes
        ]
        self.columns: dict[str, Callable[[LayoutRows], NumberArray]] = {}
        for variable in layout.variables:
            if variable.group is Group.NOUN:
                self._add_noun(variable.name.removesuffix("noun"))
            elif variable.group is Group.ADJECTIVE:
                self._add_adjective(*variable.name.rpartition("adjective"))
        for site in layout.clauses:
            self._add_clause(site)
        self._marks = {name: format_mark(i) for i, name in enumerate(self.columns, FIRST)} | self._constants

    def _add_noun(self, path: str) -> None:
        tables, rows = self._tables, LayoutRows
        determiners = self._domains[f"{path}det"]
        classes = tables.language.classes
        for case in tables.language.cases:
            self.columns[f"form{case}:{path}noun"] = partial(rows.look_up_nouns, path=path, case=case)
            for field, det_tables in (("form", tables.det_forms), ("feats", tables.det_feats)):
                name, table = f"{field}{case}:{path}det", det_tables[case]
                self.columns[name] = partial(rows.look_up_determiners, path=path, table=table)
                self._store_constant(name, table[determiners])
            shapes = [NounShape(n.value, classes[0], clause=False, case=case) for n in NUMBERS]
            leaves = [find_variant_leaves(shape, 1, tables.language)[0] for shape in shapes]
            self._add_by_number(f"tag:{path}noun", path, [leaf.tag for leaf in leaves])
            feats = tables.noun_feats[case]
            if not leaves[0].feats:  # they depend on the class
                self.columns[f"feats{case}:{path}noun"] = partial(
                    rows.look_up_agreeing, path=path, slot="", table=feats
                )
            else:
                self._add_by_number(f"feats{case}:{path}noun", path, [leaf.feats for leaf in leaves])
        self._add_by_number(f"value:{path}number", path, [number.value for number in NUMBERS])
        self._add_lookup("lemma", f"{path}noun", "noun_lemmas")
        self._add_lookup("lemma", f"{path}det", "det_lemmas")

    def _add_adjective(self, path: str, name: str, number: str) -> None:
        slot, tables = f"{name}{number}", self._tables
        self._add_lookup("lemma", f"{path}{slot}", "adjective_lemmas")
        if "adjective" in tables.language.agreeing_slots:
            self._add_agreeing(path, slot, tables.adjective_forms, tables.adjective_feats)
        else:
            self._add_lookup("form", f"{path}{slot}", "plain_adjectives")

    def _add_agreeing(
        self, path: str, slot: str, forms: Mapping[str, NumberArray], feats: Mapping[str, NumberArray]
    ) -> None:
        for (case, table), features in zip(forms.items(), feats.values(), strict=True):
            for field, entries in (("form", table), ("feats", features)):
                lookup = partial(LayoutRows.look_up_agreeing, path=path, slot=slot, table=entries)
                self.columns[f"{field}{case}:{path}{slot}"] = lookup

    def _add_by_number(self, name: str, path: str, choices: list[str]) -> None:
        numbers = self._pool.numbers(choices)
        self.columns[name] = partial(LayoutRows.choose_by_number, path=path, choices=numbers)

    def _add_clause(self, site: ClauseSite) -> None:
        path = site.path
        self.columns[f"form:{path}verb"] = partial(LayoutRows.look_up_verbs, site=site)
        self._add_lookup("lemma", f"{path}verb", "verb_lemmas")
        for field, part in (("form", "auxiliary"), ("tag", "tag"), ("feats", "feats")):
            self.columns[f"{field}:{path}fin"] = partial(LayoutRows.look_up_finite, site=site, part=part)
        for part in ("form", "lemma") if self._tables.language.perfect_auxiliaries else ():
            self.columns[f"{part}:{path}aux"] = partial(LayoutRows.look_up_auxiliaries, site=site, part=part)
        self._add_lookup("form", f"{path}negation", "negators")
        if f"{path}modal" in self._domains:
            self.columns[f"form:{path}modal"] = partial(LayoutRows.look_up_modals, path=path)
            self._add_lookup("lemma", f"{path}modal", "modal_lemmas")
        if site.form.has_adjunct:
            self._add_lookup("form", f"{path}adjunct", "adjunct_forms")
            self._add_lookup("lemma", f"{path}adjunct", "adjuncts")
        if f"{path}tense" in self._domains:
            self._add_lookup("value", f"{path}tense", "tenses")
        for i in range(site.adverbs):
            for field, table in (("form", "adverbs"), ("lemma", "adverbs"), ("feats", "adverb_feats")):
                self._add_lookup(field, f"{path}adverb{i}", table)
        if site.owner:
            for field in ("form", "lemma", "tag"):
                self._add_lookup(field, f"{site.owner}rel", f"rel_{field}s")
            tables = self._tables
            if "rel" in tables.language.agreeing_slots:
                self._add_agreeing(site.owner, "rel", tables.agreeing_rel_forms, tables.agreeing_rel_feats)

    def _add_lookup(self, field: str, slot: str, table: str) -> None:
        name = f"{field}:{slot}"
        self.columns[name] = partial(LayoutRows.look_up, table=table, name=slot)
        is_cue = table == "negators"  # a positive clause has no cue
        values = [value for value in self._domains[slot] if value or not is_cue]
        self._store_constant(name, getattr(self._tables, table)[values])

    def _store_constant(self, name: str, words: NumberArray) -> None:
        """Store the word of a column as a constant if no other word is possible."""
        numbers = {*words.ravel().tolist()}
        # The column may be left out of the marked sentence: its word stands there instead of a mark.
        if len(numbers) == 1:
            self._constants[name] = self._pool.strings[numbers.pop()]

    def compute_shape_keys(self, values: Mapping[str, NumberArray]) -> NumberArray:
        """Return a number for each row's shape. *values*: for each variable, the index of its value in every row."""
        key = np.zeros(len(values["verb"]), dtype=np.int64)
        for variable in self._structural:
            value, size = values[variable.name], self._count_values(variable)
            if variable.name in self._classes:
                value = self._classes[variable.name][value]
            # Where "n't" has the shape of "not", it counts as "not".
            key = key * size + np.minimum(value, size - 1)
        return key

    def _count_values(self, variable: Variable) -> int:
        """Return how many shapes *variable* distinguishes. *not* and *n't* differ in shape only in questions."""
        if variable.name in self._classes:
            return int(self._classes[variable.name].max()) + 1
        if variable.name.endswith((".self", "aspect")):
            return len(variable.values)
        is_question = self._layout.clauses[0].form.mood is ev.Mood.QUESTION
        return len(NEGATIONS) if is_question and variable.name == "negation" else 2

    def build_marked_sentence(self, shape: int) -> tuple[Sentence, dict[str, FiniteForms]]:
        """Return a shape's marked sentence (see MARK_START), and a mapping from clause paths to finite forms."""
        # Any words will do, since marks replace them. The digits of a key are read in the reverse of their order there.
        values: dict[str, LayoutValue] = {v.name: v.values[0] for v in self._layout.variables}
        for variable in reversed(self._structural):
            shape, at = divmod(shape, self._count_values(variable))
            if variable.name in self._classes:
                at = int((self._classes[variable.name] == at).argmax())
            values[variable.name] = variable.values[at]
        event = build_layout_event(values, self._layout)
        plan = plan_new_sentence(event, self._tables.language)
        finite = {site.path: self._finite.look_up(plan, site.path) for site in self._layout.clauses}
        tokens = tuple(self._mark_token(token) for token in plan.tokens)
        sentence = Sentence(
            id=format_mark(ID),
            tokens=tokens,
            tree=render_tree([(t.before, t.after) for t in plan.tokens], tokens),
            event=self._mark_event(event),
            predicates=list_predicates(plan),
            negations=list_negations(plan),
            template=self._layout.pattern.name,
            index=INDEX_MARKER,
        )
        return sentence, finite

    def _mark_event(self, event: ev.Event, path: str = "") -> ev.Event:
        """Return a copy of *event* with marks (see :func:`format_mark`) in place of words and features that vary."""
        marks = self._marks
        fillers: dict[str, Any] = {
            role.value: self._mark_participant(person, f"{path}{role.value}.")
            for role, person in ev.iterate_participants(event)
        }
        if event.modal is not None:
            fillers["modal"] = marks[f"lemma:{path}modal"]
        if event.adjunct is not None:
            fillers["adjunct"] = marks[f"lemma:{path}adjunct"]
        if event.tense is not None:
            fillers["tense"] = _Mark(marks[f"value:{path}tense"])
        if event.negator is not None:
            fillers["negator"] = _Mark(marks[f"form:{path}negation"])
        adverbs = tuple(marks[f"lemma:{path}adverb{i}"] for i in range(len(event.adverbs or ())))
        return replace(event, predicate=marks[f"lemma:{path}verb"], adverbs=adverbs, **fillers)

    def _mark_participant(self, person: ev.Participant, path: str) -> ev.Participant:
        marks, clause, conjunct = self._marks, person.clause, person.conjunct
        if (path, clause) in self._marked:
            return self._marked[path, clause]
        if isinstance(clause, ev.RelativeClause):
            event = self._mark_event(clause.event, f"{path}clause.")
            clause = ev.RelativeClause(event=event, relativizer=marks[f"lemma:{path}rel"], kind=clause.kind)
        if conjunct is not None:
            conjunct = self._mark_participant(conjunct, f"{path}conjunct.")
        marked = self._marked[path, person.clause] = ev.Participant(
            noun=marks[f"lemma:{path}noun"],
            number=cast(ev.Number, _Mark(marks[f"value:{path}number"])),
            determiner=marks[f"lemma:{path}det"],
            clause=clause,
            adjectives=tuple(marks[f"lemma:{path}adjective{i}"] for i in range(len(person.adjectives))),
            conjunct=conjunct,
        )
        return marked

    def _mark_token(self, token: PlanToken) -> Token:
        leaf, marks, slot = token.leaf, self._marks, token.slot
        is_verb = slot.rpartition(".")[2] in ("", "verb")
        finite = f"{token.path}fin" if is_verb and is_finite(*token.origin, self._tables.language) else ""
        _, case = ("", "") if is_verb else split_form(leaf.form)
        form = slot or finite or (f"{token.path}negation" if leaf.form in NEGATIONS else "")
        if leaf.form in self._tables.language.usual_auxiliary_forms:
            form = slot = f"{token.path}aux"
        # The token of a numeral is only a part of the determiner, such as "two" of "at least two"; so in adjuncts.
        is_fixed = leaf.pos in ("NUM", "PROPN") or slot == "adjunct"
        return Token(
            form=marks.get(f"form{case}:{form}", leaf.form),
            lemma=marks.get(f"form{case}:{form}" if is_fixed else f"lemma:{slot}", leaf.lemma),
            upos=leaf.pos,
            xpos=leaf.tag if is_fixed else marks.get(f"tag:{finite or slot}", leaf.tag),
            feats=leaf.feats if is_fixed else marks.get(f"feats{case}:{finite or slot}", leaf.feats),
            head=token.head + 1,
            deprel="root" if token.head == PARENT else token.rel,
        )


class _Mark(str):
    """A mark (see :func:`format_mark`) in place of an enum member. Like the member, it has the attribute ``value``."""

    __slots__ = ()

    @property
    def value(self) -> str:
        return str(self)


def format_mark(number: int) -> str:
    """Return the mark that stands for the string of column *number* in a marked sentence."""
    return f"{MARK_START}{number}{MARK_END}"
