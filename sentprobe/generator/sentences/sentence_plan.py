"""Sentence plans: annotated sentences with slots in place of words, joined from the shapes of clauses and nouns.

The structure of an event determines its plan, so events with the same structure share a cached plan. Each slot is
filled with an inflected form of a word of the event. Slots are named by their path in the event: ``verb``, ``adverb0``,
``agent.noun``, ``agent.det``, ``agent.adjective0``, ``agent.conjunct.noun``, ``agent.clause.verb``, ``modal``,
``adjunct``, ...

Agreement decides which form: of the finite verb with its subject; of determiners, adjectives and relativizers with a
noun.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import accumulate
from typing import TypeAlias

from sentprobe.generator.events import event as ev
from sentprobe.generator.events.event import ROLES, Event, Mood, Number, Participant, Polarity, RelativeClause, Role
from sentprobe.grammars import shapes
from sentprobe.grammars.derivation import PARENT, FlatItem, Hole, Leaf
from sentprobe.lexicon import Word
from sentprobe.lexicon.languages.language import Language


def choose_clause_shape(event: Event, head_number: str, language: Language) -> shapes.ClauseShape:
    """Return the shape of a clause; *head_number* is the number of the noun that the clause modifies.

    The verb of an order (an imperative), or of a clause with a modal, does not agree with the subject.
    """
    subject = event.argument(event.subject)
    # A gap has the number of the modified noun; for "who" and "what", callers pass the singular.
    number = str(subject.agreement if isinstance(subject, Participant) else head_number)
    tense = str(event.tense)
    if event.modal is not None or event.mood is Mood.ORDER:
        tense, number = shapes.IMPERATIVE if event.modal is None else shapes.UNTENSED, ""
    negation = event.negator if event.polarity is Polarity.NEGATIVE else event.polarity
    return shapes.ClauseShape(
        str(event.frame),
        str(event.voice),
        tense,
        str(event.aspect),
        str(negation),
        bool(event.adverbs),
        str(event.gap or event.asked or ""),
        number,
        str(event.mood),
        str(event.dative or ""),
        head_number if event.gap and "rel" in language.agreeing_slots else "",
        str(event.fronting or (shapes.ADJUNCT_LAST if event.adjunct else "")),
    )


def choose_form(slot: str, form: str, words: dict[str, Word], language: Language) -> tuple[str, str]:
    """Return the name of the form for a slot, such as "DT.sg.vowel", and the form's class, here "vowel".

    The class is "" if the form belongs neither to a noun nor to a word that agrees with a noun. *form* is the name in
    the sentence plan, such as "DT.sg". It lacks the class, which depends on *words*.
    """
    path, dot, last = slot.rpartition(".")
    name = last.rstrip("0123456789")
    if name == "rel" and name not in language.agreeing_slots:
        return next(iter(words[slot].forms)), ""
    if name != "noun" and name not in language.agreeing_slots:
        return form, ""
    controller = words[f"{path}{dot}noun"]
    if language.class_of_next_word:
        controller = words.get(f"{path}{dot}adjective0", controller)
    word_class = language.find_class(controller)
    return form if name == "noun" else language.find_form(name, *split_form(form), word_class), word_class


def split_form(form: str) -> tuple[str, str]:
    """Return the grammatical number and the case in the name of a form; a missing number or case is "".

    >>> split_form("ART.sg.acc.masc"), split_form("DT.pl"), split_form("NN")
    (('sg', 'acc'), ('pl', ''), ('', ''))
    """
    _, number, case, *_ = (*form.split("."), "", "")
    return number, case


EventStructure: TypeAlias = tuple[Hashable, ...]
"""An event without its words: features of clauses and nouns, and how many adverbs and adjectives each of them has."""


def extract_structure(event: Event, language: Language) -> EventStructure:
    """Return the structure of a fully specified event; the structure determines word order and inflected forms."""
    features = event.frame, event.voice, event.tense, event.aspect, event.polarity, event.negator, event.dative
    arguments = (_extract_argument_structure(event.argument(role), language) for role in ROLES)
    adjunct = event.adjunct and event.adjunct.rpartition(" ")[0]
    return *features, event.mood, event.fronting, adjunct, event.modal is not None, len(event.adverbs or ()), *arguments


def _extract_argument_structure(argument: ev.Argument | None, language: Language) -> Hashable:
    if not isinstance(argument, Participant):
        return argument
    clause = argument.clause
    inner = extract_structure(clause.event, language) if isinstance(clause, RelativeClause) else None
    phrase = language.phrases.get(argument.determiner or "", "")
    conjunct = _extract_argument_structure(argument.conjunct, language)
    return argument.number, phrase, inner, len(argument.adjectives), conjunct


_SLOT_NAMES = {
    shapes.VERB: "verb",
    shapes.MODAL: "modal",
    shapes.ADJUNCT: "adjunct",
    shapes.NOUN: "noun",
    shapes.DETERMINER: "det",
    shapes.RELATIVIZER: "rel",
}


@dataclass(slots=True)
class PlanToken:
    """A token of a plan: a slot for a word of the event, or a function word, whose ``slot`` is "".

    ``leaf.form`` is the function word, or the name of the inflected form that fills the slot. ``path`` is the path of
    the token's clause or noun phrase. ``origin`` is the shape that the token comes from, and its position in this
    shape. ``head`` is the position of the token's head in the plan, from 0; :data:`PARENT` if it has no head there.
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
    number of the noun that a relative clause modifies; "sg" for main clauses.
    """

    structure: EventStructure
    language: Language
    path: str
    head_number: str
    event: Event = field(compare=False)


def plan_sentence(event: Event, language: Language) -> SentencePlan:
    """Return the plan of a fully specified event; events with the same structure share it, so do not change it."""
    return _plan_structure(event, language, "", Number.SINGULAR)  # the number of "who" and "what"


def _plan_structure(event: Event, language: Language, path: str, head_number: str) -> SentencePlan:
    return _plan_key(_StructureKey(extract_structure(event, language), language, path, head_number, event))


@lru_cache(maxsize=8192)  # events of two clauses have about 4,000 structures
def _plan_key(key: _StructureKey) -> SentencePlan:
    return _Planner(key.language).plan_clause(key.event, key.path, key.head_number)


def plan_new_sentence(event: Event, language: Language) -> SentencePlan:
    """Return the same plan as :func:`plan_sentence`, but do not cache the plan, which is used only once."""
    return _Planner(language).plan_clause(event, "", Number.SINGULAR)


class _Planner:
    """Builder of the plans of clauses and noun phrases in one language."""

    def __init__(self, language: Language) -> None:
        self._language = language
        self._shapes = shapes.load_language_shapes(language)

    def plan_clause(self, event: Event, path: str, head_number: str) -> SentencePlan:
        """Return the plan of a clause. *head_number* is the modified noun's number, "sg" or "pl"; if none, "sg"."""
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
            plan = self._plan_constituent(shapes.AdverbShape(len(event.adverbs or ())), path)
            _number_slots(plan, shapes.ADVERB, path)
            return plan
        if content.category == shapes.ADJUNCT_HOLE:
            return self._plan_constituent(shapes.AdjunctShape((event.adjunct or "").rpartition(" ")[0]), path)
        person = event.argument(Role(content.name))
        if isinstance(person, ev.Reflexive):
            return self._plan_constituent(shapes.ReflexiveShape(person.value), path)
        assert isinstance(person, Participant)
        person_path = f"{path}{content.name}."
        plan = self._plan_noun_phrase(person, person_path, content)
        if person.conjunct is None:
            return plan
        conjunct_plan = self._plan_noun_phrase(person.conjunct, f"{person_path}conjunct.", content)
        return self._plan_constituent(shapes.PairShape(), person_path, (plan, conjunct_plan))

    def _plan_constituent(self, shape: shapes.Shape, path: str, holes: Sequence[SentencePlan] = ()) -> SentencePlan:
        """Return the plan of a constituent that is not a clause; *holes* are the plans of its inner constituents."""
        items, hole_plans = self._shapes.find_items(shape), iter(holes)
        parts = [
            _plan_leaf(item.content, path, (shape, i)) if isinstance(item.content, Leaf) else next(hole_plans)
            for i, item in enumerate(items)
        ]
        plan, _ = _join_parts(items, parts)
        # _join_parts begins the list with an empty clause for its caller, which a noun phrase has no use for.
        plan.clauses.pop(0)
        return plan

    def _plan_noun_phrase(self, person: Participant, path: str, hole: Hole) -> SentencePlan:
        clause = person.clause if isinstance(person.clause, RelativeClause) else None
        word_class, number = self._language.classes[0], str(person.number)
        counts = clause is not None, len(person.adjectives)
        phrase = self._language.phrases.get(person.determiner or "", "")
        shape = shapes.NounShape(number, word_class, *counts, hole.case, hole.last, phrase)
        return (
            _plan_bare_phrase(shape, path, self._language) if clause is None else self.plan_phrase(shape, path, clause)
        )

    def plan_phrase(self, shape: shapes.NounShape, path: str, clause: RelativeClause | None) -> SentencePlan:
        if clause is None:
            plan = self._plan_constituent(shape, path)
        else:
            clause_plan = _plan_structure(clause.event, self._language, f"{path}clause.", shape.number)
            plan = self._plan_constituent(shape, path, [clause_plan])
            if clause.event.gap is not None:
                plan.clauses[0].positions[clause.event.gap] = plan.head
        _number_slots(plan, shapes.ADJECTIVE, path)
        return plan


@lru_cache(maxsize=1024)
def _plan_bare_phrase(shape: shapes.NounShape, path: str, language: Language) -> SentencePlan:
    return _Planner(language).plan_phrase(shape, path, None)


def _plan_leaf(leaf: Leaf, path: str, origin: tuple[shapes.Shape, int]) -> SentencePlan:
    slot = _SLOT_NAMES.get(leaf.lemma, "")
    return SentencePlan([PlanToken(path + slot if slot else "", leaf, path, origin)], [], 0)


def _number_slots(plan: SentencePlan, lemma: str, path: str) -> None:
    """Give each adverb or adjective slot of a phrase a number, as in "agent.adjective0" and "agent.adjective1"."""
    tokens = (token for token in plan.tokens if token.leaf.lemma == lemma and token.path == path)
    for number, token in enumerate(tokens):
        token.slot = f"{path}{lemma.removeprefix('@')}{number}"


def _join_parts(items: tuple[FlatItem, ...], parts: list[SentencePlan]) -> tuple[SentencePlan, list[int]]:
    """Return a plan of *parts*, and each part's start. The plan's first clause is empty; callers fill or remove it."""
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
            # A part's head takes the relation of the part; a stranded preposition keeps its own, to a head outside.
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
    if event.adjunct is not None:
        slots[path + "adjunct"] = event.adjunct
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
