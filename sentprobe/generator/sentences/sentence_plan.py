"""Sentence plans: annotated sentences with slots in place of words, joined from the shapes of clauses and nouns.

The structure of an event determines its plan, so events with the same structure share a cached plan. Each slot is
filled with an inflected form of a word of the event. Slots are named by their path in the event: ``verb``, ``adverb0``,
``agent.noun``, ``agent.det``, ``agent.adjective0``, ``agent.conjunct.noun``, ``agent.clause.verb``, ``modal``, ...
"""

from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple, TypeAlias

from sentprobe.generator.events import event as ev
from sentprobe.generator.events.event import ROLES, Event, Number, Participant, RelativeClause, Role
from sentprobe.generator.sentences.agreement import choose_clause_shape
from sentprobe.grammars import shapes
from sentprobe.grammars.derivation import PARENT, FlatItem, Hole, Leaf
from sentprobe.lexicon.languages.language import Language


class ParticipantStructure(NamedTuple):
    """A participant without its words: its features, and the number of its adjectives."""

    number: ev.Number | None
    clause: "ClauseStructure | None"
    adjectives: int
    conjunct: "ParticipantStructure | None"


class ClauseStructure(NamedTuple):
    """A clause without its words: the features that determine word order and inflected forms."""

    frame: ev.Frame | None
    voice: ev.Voice | None
    tense: ev.Tense | None
    aspect: ev.Aspect | None
    polarity: ev.Polarity | None
    negator: ev.Negator | None
    adverbs: int
    agent: "ArgumentStructure"
    patient: "ArgumentStructure"
    recipient: "ArgumentStructure"
    dative: ev.Dative | None
    is_modal: bool
    mood: ev.Mood
    fronting: ev.Fronting | None


ArgumentStructure: TypeAlias = ParticipantStructure | ev.Gap | ev.Asked | ev.Reflexive | None


def extract_structure(event: ev.Event) -> ClauseStructure:
    """Return the structure of a fully specified event."""
    return ClauseStructure(
        event.frame,
        event.voice,
        event.tense,
        event.aspect,
        event.polarity,
        event.negator,
        len(event.adverbs or ()),
        _extract_argument_structure(event.agent),
        _extract_argument_structure(event.patient),
        _extract_argument_structure(event.recipient),
        event.dative,
        event.modal is not None,
        event.mood,
        event.fronting,
    )


def _extract_argument_structure(argument: ev.Argument | None) -> ArgumentStructure:
    return _extract_participant_structure(argument) if isinstance(argument, ev.Participant) else argument


def _extract_participant_structure(person: ev.Participant) -> ParticipantStructure:
    clause, conjunct = person.clause, person.conjunct
    inner = extract_structure(clause.event) if isinstance(clause, ev.RelativeClause) else None
    second = None if conjunct is None else _extract_participant_structure(conjunct)
    return ParticipantStructure(person.number, inner, len(person.adjectives), second)


_SLOT_NAMES = {
    shapes.VERB: "verb",
    shapes.MODAL: "modal",
    shapes.NOUN: "noun",
    shapes.DETERMINER: "det",
    shapes.RELATIVIZER: "rel",
}


@dataclass(slots=True)
class PlanToken:
    """A token of a plan: a slot for a word of the event, or a function word, whose ``slot`` is "".

    ``leaf.form`` is the function word, or the name of the inflected form that fills the slot. ``path`` is the path of
    the token's clause or noun phrase. ``origin`` is the shape of that constituent, and the position of the token's item
    in the shape. ``head`` is the position, from 0, of the token's head, or :data:`PARENT` for the head of the plan.
    """

    slot: str
    leaf: Leaf
    path: str
    origin: tuple[shapes.Shape, int]
    head: int = PARENT
    rel: str = "head"
    before: str = ""
    after: str = ""


@dataclass(slots=True)
class PlanClause:
    """The positions, from 0, of the verb, the participants' nouns and the negation cue of a clause in a plan."""

    verb: int
    positions: dict[Role, int]
    cue: int | None

    def shift(self, by: int) -> "PlanClause":
        """Return the clause with all positions moved *by* tokens to the right."""
        positions = {role: at + by for role, at in self.positions.items()}
        return PlanClause(self.verb + by, positions, None if self.cue is None else self.cue + by)


@dataclass(slots=True)
class SentencePlan:
    """The plan of a constituent: its tokens, its clauses (main clause first), and the position of its head token."""

    tokens: list[PlanToken]
    clauses: list[PlanClause]
    head: int


@dataclass(frozen=True, slots=True)
class _StructureKey:
    """The cache key of a plan: all that determines the plan of a clause.

    ``event`` is not compared, so that events with the same structure share a plan. ``head_number`` is the grammatical
    number of the noun that the clause modifies, or "".
    """

    structure: ClauseStructure
    language: Language
    path: str
    head_number: str
    event: Event = field(compare=False)


def plan_sentence(event: Event, language: Language) -> SentencePlan:
    """Return the plan of the sentence of a fully specified event.

    The plan is cached and shared by all events with the same structure: do not change it.
    """
    return _plan_structure(event, language, "", Number.SINGULAR)  # the number of "who" and "what"


def _plan_structure(event: Event, language: Language, path: str, head_number: str) -> SentencePlan:
    return _plan_key(_StructureKey(extract_structure(event), language, path, head_number, event))


@lru_cache(maxsize=8192)  # events of two clauses have about 4,000 structures
def _plan_key(key: _StructureKey) -> SentencePlan:
    return _Planner(key.language).plan_clause(key.event, key.path, key.head_number)


def plan_new_sentence(event: Event, language: Language) -> SentencePlan:
    """Return the same as :func:`plan_sentence`, without its cache, for plans that are used only once."""
    return _Planner(language).plan_clause(event, "", Number.SINGULAR)


class _Planner:
    """Builder of the plans of clauses and noun phrases in one language."""

    def __init__(self, language: Language) -> None:
        self._language = language
        self._shapes = shapes.load_language_shapes(language)

    def plan_clause(self, event: Event, path: str, head_number: str) -> SentencePlan:
        """Return the plan of a clause; *head_number* is the number of the noun that the clause modifies, or ""."""
        shape = choose_clause_shape(event, head_number, self._language)
        items = self._shapes.find_items(shape)
        parts = [self._plan_clause_part((shape, i), item.content, event, path) for i, item in enumerate(items)]
        plan, starts = _join_parts(items, parts)
        for i, item in enumerate(items):
            if isinstance(item.content, Leaf):
                if item.content.lemma == shapes.VERB:
                    plan.clauses[0].verb = starts[i]
                elif item.content.lemma == shapes.ASKED and event.asked is not None:
                    plan.clauses[0].positions[event.asked] = starts[i]
                elif item.content.pos == "PART":
                    plan.clauses[0].cue = starts[i]
            elif item.content.category == "NP":
                plan.clauses[0].positions[Role(item.content.name)] = starts[i] + parts[i].head
        return plan

    def _plan_clause_part(
        self, origin: tuple[shapes.Shape, int], content: Leaf | Hole, event: Event, path: str
    ) -> SentencePlan:
        if isinstance(content, Leaf):
            # A clause's relativizer belongs to the participant that the clause modifies.
            owner = path.removesuffix("clause.") if content.lemma == shapes.RELATIVIZER else path
            if content.lemma == shapes.ASKED and event.asked is not None:
                word = str(event.argument(event.asked))
                content = replace(content, form=word, lemma=word)
            return _plan_leaf(content, owner, origin)
        if content.category == "ADVP":
            return self._plan_adverbs(len(event.adverbs or ()), path)
        person = event.argument(Role(content.name))
        if isinstance(person, ev.Reflexive):
            return self._plan_reflexive(person, path)
        assert isinstance(person, Participant)
        return self._plan_participant(person, f"{path}{content.name}.", content)

    def _plan_reflexive(self, word: ev.Reflexive, path: str) -> SentencePlan:
        shape = shapes.ReflexiveShape(word.value)
        items = self._shapes.find_items(shape)
        (leaf,) = (item.content for item in items if isinstance(item.content, Leaf))
        plan, _ = _join_parts(items, [_plan_leaf(leaf, path, (shape, 0))])
        plan.clauses.clear()
        return plan

    def _plan_adverbs(self, count: int, path: str) -> SentencePlan:
        shape = shapes.AdverbShape(count)
        items = self._shapes.find_items(shape)
        leaves = [item.content for item in items if isinstance(item.content, Leaf)]
        plan, _ = _join_parts(items, [_plan_leaf(leaf, path, (shape, i)) for i, leaf in enumerate(leaves)])
        plan.clauses.clear()
        _number_slots(plan, shapes.ADVERB, path)
        return plan

    def _plan_participant(self, person: Participant, path: str, hole: Hole) -> SentencePlan:
        if person.conjunct is None:
            return self._plan_noun_phrase(person, path, hole)
        holes = {shapes.FIRST: (person, path), shapes.SECOND: (person.conjunct, f"{path}conjunct.")}
        shape = shapes.PairShape()
        items = self._shapes.find_items(shape)
        parts = [
            _plan_leaf(item.content, path, (shape, i))
            if isinstance(item.content, Leaf)
            else self._plan_noun_phrase(*holes[item.content.name], hole)
            for i, item in enumerate(items)
        ]
        plan, _ = _join_parts(items, parts)
        plan.clauses.clear()
        return plan

    def _plan_noun_phrase(self, person: Participant, path: str, hole: Hole) -> SentencePlan:
        clause = person.clause if isinstance(person.clause, RelativeClause) else None
        word_class, number = self._language.classes[0], str(person.number)
        counts = clause is not None, len(person.adjectives)
        shape = shapes.NounShape(number, word_class, *counts, hole.case, hole.last)
        return (
            _plan_bare_phrase(shape, path, self._language) if clause is None else self.plan_phrase(shape, path, clause)
        )

    def plan_phrase(self, shape: shapes.NounShape, path: str, clause: RelativeClause | None) -> SentencePlan:
        """Return the plan of a noun phrase, with its relative clause if there is one."""
        items = self._shapes.find_items(shape)
        parts = [
            _plan_leaf(item.content, path, (shape, i))
            if isinstance(item.content, Leaf)
            else self._plan_relative_clause(clause, path, shape.number)
            for i, item in enumerate(items)
        ]
        plan, _ = _join_parts(items, parts)
        plan.clauses.pop(0)
        _number_slots(plan, shapes.ADJECTIVE, path)
        if clause is not None and clause.event.gap is not None:
            plan.clauses[0].positions[clause.event.gap] = plan.head
        return plan

    def _plan_relative_clause(self, clause: RelativeClause | None, path: str, number: str) -> SentencePlan:
        assert clause is not None
        return _plan_structure(clause.event, self._language, f"{path}clause.", number)


@lru_cache(maxsize=1024)
def _plan_bare_phrase(shape: shapes.NounShape, path: str, language: Language) -> SentencePlan:
    return _Planner(language).plan_phrase(shape, path, None)


def _plan_leaf(leaf: Leaf, path: str, origin: tuple[shapes.Shape, int]) -> SentencePlan:
    slot = _SLOT_NAMES.get(leaf.lemma, "")
    return SentencePlan([PlanToken(path + slot if slot else "", leaf, path, origin)], [], 0)


def _number_slots(plan: SentencePlan, lemma: str, path: str) -> None:
    """Name the slots of adverbs or adjectives (the placeholder *lemma*) at *path*: ``adverb0``, ``adverb1``, ..."""
    tokens = (token for token in plan.tokens if token.leaf.lemma == lemma and token.path == path)
    for number, token in enumerate(tokens):
        token.slot = f"{path}{lemma.removeprefix('@')}{number}"


def _join_parts(items: tuple[FlatItem, ...], parts: list[SentencePlan]) -> tuple[SentencePlan, list[int]]:
    """Return the plan that joins *parts*, and each part's start; the caller fills in or removes its first clause."""
    starts = list(accumulate((len(part.tokens) for part in parts[:-1]), initial=0))
    heads = [start + part.head for start, part in zip(starts, parts, strict=True)]
    tokens: list[PlanToken] = []
    clauses = [PlanClause(0, {}, None)]
    head = 0
    for item, part, start in zip(items, parts, starts, strict=True):
        target = PARENT if item.head == PARENT else heads[item.head]
        if target == PARENT and item.rel == "head":
            head = start + part.head
        for token in part.tokens:  # copied: plans of relative clauses are shared
            is_top = token.head == PARENT
            head_position = target if is_top else start + token.head
            rel = item.rel if is_top and token.rel == "head" else token.rel
            slot, leaf, origin = token.slot, token.leaf, token.origin
            tokens.append(PlanToken(slot, leaf, token.path, origin, head_position, rel, token.before, token.after))
        tokens[start].before = item.before + tokens[start].before
        tokens[-1].after += item.after
        clauses += [clause.shift(start) for clause in part.clauses]
    return SentencePlan(tokens, clauses, head), starts


def find_slots(event: Event, path: str = "", slots: dict[str, str] | None = None) -> dict[str, str]:
    """Return the lemmas of *event* by slot; they are added to *slots*, if *slots* is passed."""
    slots = {} if slots is None else slots
    slots[path + "verb"] = event.predicate or ""
    if event.modal is not None:
        slots[path + "modal"] = event.modal
    for i, lemma in enumerate(event.adverbs or ()):
        slots[f"{path}adverb{i}"] = lemma
    for role in ROLES:
        person = event.argument(role)
        if isinstance(person, Participant):
            _add_participant_slots(person, f"{path}{role.value}.", slots)
    return slots


def _add_participant_slots(person: Participant, path: str, slots: dict[str, str]) -> None:
    slots[path + "noun"] = person.noun or ""
    slots[path + "det"] = person.determiner or ""
    slots |= {f"{path}adjective{i}": lemma for i, lemma in enumerate(person.adjectives)}
    if person.conjunct is not None:
        _add_participant_slots(person.conjunct, path + "conjunct.", slots)
    if isinstance(person.clause, RelativeClause):
        slots[path + "rel"] = person.clause.relativizer or ""
        find_slots(person.clause.event, path + "clause.", slots)
