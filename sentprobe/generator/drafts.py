"""Many events of one structure as columns of values, and the edits that change them all alike.

A draft is a batch of a space before it has a layout: an edit may change the structure (a relative
clause moves to the other noun), and the layout follows from that.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sentprobe.errors import UsageError
from sentprobe.generator import event as ev
from sentprobe.generator.constraints import Words
from sentprobe.generator.layout import NEGATIONS, Layout, event_of, make_layout
from sentprobe.generator.space import EventBatch
from sentprobe.generator.templates import ClausePattern, pattern_of

ValueColumn: TypeAlias = NDArray[np.int64]

MAIN = ""
"""The path of the main clause."""


@dataclass(frozen=True, slots=True)
class EventDraft:
    """Events of one structure: relative clauses by role, adverbs by clause, values by variable.

    *salts*, (n,) uint64, decide which words stand in for others, event by event.
    """

    frame: ev.Frame
    clauses: Mapping[ev.Role, ClausePattern]
    adverbs: Mapping[str, int]
    values: Mapping[str, ValueColumn]
    words: Words
    barred: frozenset[int]
    """Verbs that are put in for no other: states, which have no progressive."""
    salts: NDArray[np.uint64]

    def layout(self) -> Layout:
        """Return the layout of the events."""
        where = tuple((role, self.clauses[role]) for role in ev.ROLES if role in self.clauses)
        paths = (MAIN, *(clause_path(role) for role, _ in where))
        counts = tuple(self.adverbs[path] for path in paths)
        return make_layout(pattern_of(self.frame, where), counts, self.words, (ev.Negator.NOT,))

    def event(self, row: int) -> ev.Event:
        """Return one of the events."""
        layout = self.layout()
        values = {v.name: v.values[self.values[v.name][row]] for v in layout.variables}
        return event_of(values, layout)


def draft_of(
    batch: EventBatch, words: Words, *, barred: frozenset[int], salts: NDArray[np.uint64]
) -> EventDraft:
    """Return the events of a batch as a draft."""
    pattern, sites = batch.layout.pattern, batch.layout.clauses
    adverbs = {site.path: site.adverbs for site in sites}
    return EventDraft(
        pattern.frame, dict(pattern.clauses), adverbs, batch.values, words, barred, salts
    )


class NoOtherWordError(UsageError):
    """The vocabulary has no other word to put in."""


Edit: TypeAlias = Callable[[EventDraft, str], EventDraft]
"""Changes the events at a place: a clause by its path, or a noun."""


def clause_path(role: ev.Role) -> str:
    """Return the path of the relative clause on the noun in *role*."""
    return f"{role.value}.clause."


def owner_of(path: str) -> ev.Role:
    """Return the role of the noun that the relative clause at *path* modifies."""
    return ev.Role(path.partition(".")[0])


def other_role(role: ev.Role) -> ev.Role:
    """Return the patient for the agent, and the agent for the patient."""
    return ev.Role.PATIENT if role is ev.Role.AGENT else ev.Role.AGENT


def exchange_voice(draft: EventDraft, path: str) -> EventDraft:
    """Put a transitive clause into the other voice."""
    if path == MAIN:
        return _with(draft, voice=1 - draft.values["voice"])
    clause = draft.clauses[owner_of(path)]
    active = clause.voice is ev.Voice.ACTIVE
    voice = ev.Voice.PASSIVE if active else ev.Voice.ACTIVE
    return _with_clause(draft, path, replace(clause, voice=voice, kind=_other_kind(clause)))


def exchange_roles(draft: EventDraft, path: str) -> EventDraft:
    """Exchange the agent and the patient of a transitive clause; each keeps its relative clause."""
    if path == MAIN:
        return _renamed(draft, {"agent.": "patient.", "patient.": "agent."})
    clause = draft.clauses[owner_of(path)]
    gap = other_role(clause.gap)
    moved = _renamed(draft, {f"{path}{gap.value}.": f"{path}{clause.gap.value}."})
    return _with_clause(moved, path, replace(clause, gap=gap, kind=_other_kind(clause)))


def exchange_modifiers(draft: EventDraft, path: str) -> EventDraft:  # noqa: ARG001 - there is one place
    """Exchange the relative clauses of the agent and the patient, one of which may have none."""
    rest = ("rel", "clause.")
    agent, patient = (
        {f"{role.value}.{name}": f"{other_role(role).value}.{name}" for name in rest}
        for role in ev.ROLES
    )
    return _renamed(draft, agent | patient)


def exchange_negations(draft: EventDraft, path: str) -> EventDraft:
    """Negate the main clause as the relative clause at *path* is, and the other way round."""
    inner = f"{path}negation"
    return _with(draft, **{"negation": draft.values[inner], inner: draft.values["negation"]})


def toggle_negation(draft: EventDraft, path: str) -> EventDraft:
    """Negate what is not negated, and take the negation from what is."""
    name, added = f"{path}negation", NEGATIONS.index(ev.Negator.NOT.value)
    return _with(draft, **{name: np.where(draft.values[name] > 0, 0, added)})


def toggle_tense(draft: EventDraft, path: str) -> EventDraft:
    """Put a clause into the other tense."""
    return _with(draft, **{f"{path}tense": 1 - draft.values[f"{path}tense"]})


def toggle_aspect(draft: EventDraft, path: str) -> EventDraft:
    """Put a clause into the other aspect."""
    return _with(draft, **{f"{path}aspect": 1 - draft.values[f"{path}aspect"]})


def toggle_number(draft: EventDraft, path: str) -> EventDraft:
    """Put the noun at *path* into the other number."""
    pairs = draft.words.determiners
    other = {number.value: o.value for number, o in zip(ev.Number, [*ev.Number][::-1], strict=True)}
    table = np.array([pairs.index((other[number], lemma)) for number, lemma in pairs])
    return _with(draft, **{f"{path}det": table[draft.values[f"{path}det"]]})


def replace_noun(draft: EventDraft, path: str) -> EventDraft:
    """Put another noun, which the sentence does not have, in place of the one at *path*."""
    allowed = np.ones(len(draft.words.nouns), dtype=np.bool_)
    return _replaced(draft, f"{path}noun", "noun", allowed)


def replace_verb(draft: EventDraft, path: str) -> EventDraft:
    """Put another verb of the same frame in place of the one of the clause at *path*."""
    frame = draft.frame if path == MAIN else draft.clauses[owner_of(path)].frame
    allowed = np.zeros(len(draft.words.verbs), dtype=np.bool_)
    allowed[list(draft.words.verbs_by_frame[frame] - draft.barred)] = True
    return _replaced(draft, f"{path}verb", "verb", allowed)


def replace_adverb(draft: EventDraft, path: str) -> EventDraft:
    """Put another adverb in place of the one of the clause at *path*."""
    allowed = np.array([a not in OF_THE_WILL for a in draft.words.adverbs], dtype=np.bool_)
    return _replaced(draft, f"{path}adverb0", "adverb0", allowed)


OF_THE_WILL = frozenset(
    {
        "accidentally",
        "deliberately",
        "inadvertently",
        "intentionally",
        "knowingly",
        "reluctantly",
        "spontaneously",
        "unintentionally",
        "voluntarily",
        "willingly",
    }
)
"""Adverbs that say something of the subject's will, which is another's in the other voice."""


def _other_kind(clause: ClausePattern) -> ev.ClauseKind:
    kinds = ev.ClauseKind
    return kinds.OBJECT if clause.kind is kinds.SUBJECT else kinds.SUBJECT


def _with(draft: EventDraft, **values: ValueColumn) -> EventDraft:
    return replace(draft, values={**draft.values, **values})


def _with_clause(draft: EventDraft, path: str, clause: ClausePattern) -> EventDraft:
    return replace(draft, clauses={**draft.clauses, owner_of(path): clause})


def _renamed(draft: EventDraft, prefixes: Mapping[str, str]) -> EventDraft:
    """Return the draft with what begins with a prefix under another; clauses follow their noun."""

    def name(text: str) -> str:
        found = next((old for old in prefixes if text.startswith(old)), "")
        return prefixes.get(found, "") + text[len(found) :]

    clauses = {owner_of(name(clause_path(role))): c for role, c in draft.clauses.items()}
    adverbs = {name(path): count for path, count in draft.adverbs.items()}
    values = {name(variable): column for variable, column in draft.values.items()}
    return replace(draft, clauses=clauses, adverbs=adverbs, values=values)


def _replaced(draft: EventDraft, name: str, kind: str, allowed: NDArray[np.bool_]) -> EventDraft:
    """Put other words of *allowed* into a column, none of which the sentence has."""
    rows = np.arange(len(draft.salts))
    free = np.tile(allowed, (len(rows), 1))
    for variable, column in draft.values.items():
        if variable.rpartition(".")[2] == kind:
            free[rows, column] = False
    counts = free.sum(axis=1).astype(np.uint64)
    if not counts.all():
        raise NoOtherWordError(f"the vocabulary has no other {kind.rstrip('0')} to put in")
    ranks = (draft.salts % counts).astype(np.int64)
    found = (free.cumsum(axis=1) > ranks[:, None]).argmax(axis=1)
    return _with(draft, **{name: found})
