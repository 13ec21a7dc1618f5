"""The plan of a sentence: everything about it but its words, put together from kept shapes.

This is the fast path. A plan follows from the structure of an event; a slot in it is filled with an
inflected form of the event's word by look-up. Slots are named by their path in the event:
``verb``, ``adverb0``, ``agent.noun``, ``agent.det``, ``agent.rel``, ``agent.clause.verb``, ...
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import lru_cache

from sentprobe.generator.event import ROLES, Event, Participant, Polarity, RelativeClause, Role
from sentprobe.generator.structure import ClauseStructure, structure_of
from sentprobe.grammars import shapes
from sentprobe.grammars.derivation import PARENT, FlatItem, Leaf

_SLOT_NAMES = {
    shapes.VERB: "verb",
    shapes.NOUN: "noun",
    shapes.DETERMINER: "det",
    shapes.RELATIVIZER: "rel",
}
CONSONANT = "consonant"


@dataclass(slots=True)
class PlanToken:
    """A token without its word: ``slot`` is "" for a function word.

    The leaf's form is the word, or the name of the inflected form that fills the slot. ``origin``
    is the shape and item that the token comes from, and ``path`` the clause or noun phrase.
    ``head`` counts from 0; at the top it is :data:`PARENT`.
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
    """Where a clause's verb, participants and negation cue are, as positions from 0."""

    verb: int
    places: dict[Role, int]
    cue: int | None

    def moved(self, by: int) -> "PlanClause":
        """Return the clause *by* positions further right."""
        places = {role: at + by for role, at in self.places.items()}
        cue = None if self.cue is None else self.cue + by
        return PlanClause(self.verb + by, places, cue)


@dataclass(slots=True)
class SentencePlan:
    """The tokens of a constituent, its clauses, the topmost first, and its head token."""

    tokens: list[PlanToken]
    clauses: list[PlanClause]
    head: int


@dataclass(frozen=True, slots=True)
class _Structured:
    """An event that is equal to all others of its structure."""

    structure: ClauseStructure
    event: Event = field(compare=False)


def plan_sentence(event: Event) -> SentencePlan:
    """Return the plan of a sentence whose structure is fully specified; its words do not matter.

    It is kept, and the same for all events of that structure: nobody is to change it.
    """
    return _kept_plan(_Structured(structure_of(event), event))


@lru_cache(maxsize=8192)  # with two clauses there are some 4,000
def _kept_plan(of: _Structured) -> SentencePlan:
    return _clause(of.event, "", "")


def _clause(event: Event, path: str, head_number: str) -> SentencePlan:
    """Plan a clause; *head_number* is the number of the noun that it modifies ("" in the main)."""
    shape = _clause_shape(event, head_number)
    items = shapes.english_shapes().items(shape)
    parts = [_clause_part(shape, i, event, path) for i in range(len(items))]
    plan, starts = _join(items, parts)
    for i, item in enumerate(items):
        if isinstance(item.content, Leaf):
            if item.content.lemma == shapes.VERB:
                plan.clauses[0].verb = starts[i]
            elif item.content.pos == "PART":
                plan.clauses[0].cue = starts[i]
        elif item.content.category == "NP":
            plan.clauses[0].places[Role(item.content.name)] = starts[i] + parts[i].head
    return plan


def _clause_shape(event: Event, head_number: str) -> shapes.ClauseShape:
    subject = event.argument(event.subject)
    number = subject.number if isinstance(subject, Participant) else head_number
    negation = event.negator if event.polarity is Polarity.NEGATIVE else event.polarity
    return shapes.ClauseShape(
        str(event.frame),
        str(event.voice),
        str(event.tense),
        str(event.aspect),
        str(negation),
        bool(event.adverbs),
        str(event.gap or ""),
        str(number),
    )


def _clause_part(shape: shapes.ClauseShape, at: int, event: Event, path: str) -> SentencePlan:
    content = shapes.english_shapes().items(shape)[at].content
    if isinstance(content, Leaf):
        # A clause's relativizer belongs to the participant that the clause modifies.
        owner = path.removesuffix("clause.") if content.lemma == shapes.RELATIVIZER else path
        return _leaf(content, owner, (shape, at))
    if content.category == "ADVP":
        return _adverbs(len(event.adverbs or ()), path)
    person = event.argument(Role(content.name))
    assert isinstance(person, Participant)
    return _noun_phrase(person, f"{path}{content.name}.")


def _leaf(leaf: Leaf, path: str, origin: tuple[shapes.Shape, int]) -> SentencePlan:
    slot = _SLOT_NAMES.get(leaf.lemma, "")
    return SentencePlan([PlanToken(path + slot if slot else "", leaf, path, origin)], [], 0)


def _adverbs(count: int, path: str) -> SentencePlan:
    shape = shapes.AdverbShape(count)
    items = shapes.english_shapes().items(shape)
    leaves = [item.content for item in items if isinstance(item.content, Leaf)]
    plan, _ = _join(items, [_leaf(leaf, path, (shape, i)) for i, leaf in enumerate(leaves)])
    plan.clauses.clear()
    adverbs = (token for token in plan.tokens if token.leaf.lemma == shapes.ADVERB)
    for number, token in enumerate(adverbs):
        token.slot = f"{path}adverb{number}"
    return plan


def _noun_phrase(person: Participant, path: str) -> SentencePlan:
    clause = person.clause if isinstance(person.clause, RelativeClause) else None
    shape = shapes.NounShape(str(person.number), CONSONANT, clause is not None)
    items = shapes.english_shapes().items(shape)
    parts = [
        _leaf(item.content, path, (shape, i))
        if isinstance(item.content, Leaf)
        else _relative(clause, path, shape.number)
        for i, item in enumerate(items)
    ]
    plan, _ = _join(items, parts)
    plan.clauses.pop(0)
    if clause is not None and clause.event.gap is not None:
        plan.clauses[0].places[clause.event.gap] = plan.head
    return plan


def _relative(clause: RelativeClause | None, path: str, number: str) -> SentencePlan:
    assert clause is not None
    return _clause(clause.event, f"{path}clause.", number)


def _join(items: tuple[FlatItem, ...], parts: list[SentencePlan]) -> tuple[SentencePlan, list[int]]:
    """Put the parts one after another as *items* say; also return where each part starts.

    The first clause of the result is the one being built; its caller fills it in.
    """
    starts = []
    position = 0
    for part in parts:
        starts.append(position)
        position += len(part.tokens)
    heads = [start + part.head for start, part in zip(starts, parts, strict=True)]
    tokens: list[PlanToken] = []
    clauses = [PlanClause(0, {}, None)]
    head = 0
    for item, part, start in zip(items, parts, starts, strict=True):
        target = PARENT if item.head == PARENT else heads[item.head]
        if target == PARENT and item.rel == "head":
            head = start + part.head
        for token in part.tokens:
            if token.head != PARENT:
                token.head += start
            else:
                token.head = target
                token.rel = item.rel if token.rel == "head" else token.rel
            tokens.append(token)
        part.tokens[0].before = item.before + part.tokens[0].before
        part.tokens[-1].after += item.after
        clauses += [clause.moved(start) for clause in part.clauses]
    return SentencePlan(tokens, clauses, head), starts


def slots_of(event: Event, path: str = "") -> dict[str, str]:
    """Return the words of *event* by slot, as lemmas."""
    slots: dict[str, str] = {}
    _add_slots(event, path, slots)
    return slots


def _add_slots(event: Event, path: str, slots: dict[str, str]) -> None:
    slots[path + "verb"] = event.predicate or ""
    for i, lemma in enumerate(event.adverbs or ()):
        slots[f"{path}adverb{i}"] = lemma
    for name, person in (("agent.", event.agent), ("patient.", event.patient)):
        if isinstance(person, Participant):
            _add_slots_of_person(person, path + name, slots)


def _add_slots_of_person(person: Participant, path: str, slots: dict[str, str]) -> None:
    slots[path + "noun"] = person.noun or ""
    slots[path + "det"] = person.determiner or ""
    if isinstance(person.clause, RelativeClause):
        slots[path + "rel"] = person.clause.relativizer or ""
        _add_slots(person.clause.event, path + "clause.", slots)


def with_words(event: Event, word: Callable[[str], str], path: str = "") -> Event:
    """Return *event* with ``word(slot)`` in place of the word of every slot."""
    adverbs = tuple(word(f"{path}adverb{i}") for i in range(len(event.adverbs or ())))
    named = replace(event, predicate=word(f"{path}verb"), adverbs=adverbs)
    for role in ROLES:
        person = event.argument(role)
        if isinstance(person, Participant):
            named = named.with_argument(role, _with_words(person, word, f"{path}{role.value}."))
    return named


def _with_words(person: Participant, word: Callable[[str], str], path: str) -> Participant:
    clause = person.clause
    if isinstance(clause, RelativeClause):
        inner = with_words(clause.event, word, f"{path}clause.")
        clause = replace(clause, relativizer=word(f"{path}rel"), event=inner)
    return replace(person, noun=word(f"{path}noun"), determiner=word(f"{path}det"), clause=clause)
