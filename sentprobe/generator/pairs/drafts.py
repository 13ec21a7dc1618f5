"""Drafts and their edits. A draft is many events with the same structure. An edit changes every event.

A draft has a column of values for each variable. An edit can change the structure, for example move a relative clause
from the agent to the patient. So the layout (the list of variables) is built only after the last edit.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sentprobe.generator.events import event as ev
from sentprobe.generator.pairs.replacements import ReplacementTables, find_replaced_kind
from sentprobe.generator.spaces.constraints import Words
from sentprobe.generator.spaces.layout import NEGATIONS, ClauseForm, Layout, PhraseForm, make_layout
from sentprobe.generator.spaces.templates import ClausePattern, find_pattern

ValueColumn: TypeAlias = NDArray[np.int64]
MAIN = ""
"""The path of the main clause."""
DATIVE = "dative"
FRONTING = "fronting"
"""The argument of :func:`exchange_form` that puts the object of the main clause first."""
ADJECTIVE = "adjective0"


@dataclass(frozen=True, slots=True)
class EventDraft:
    """Events with the same structure and mood.

    ``clauses`` maps a noun's role to the noun's relative clause. ``adverbs`` maps a clause's path to its number of
    adverbs. ``values`` maps a variable to its value index in each event. ``salts`` has a pseudo-random number for each
    event (uint64), which selects replacement words.
    """

    frame: ev.Frame
    clauses: Mapping[ev.Role, ClausePattern]
    adverbs: Mapping[str, int]
    values: Mapping[str, ValueColumn]
    words: Words
    replacements: ReplacementTables
    salts: NDArray[np.uint64]
    mood: ev.Mood = ev.Mood.STATEMENT
    asked: tuple[ev.Role, ev.Asked] | None = None
    fronting: ev.Fronting | None = None

    def select(self, rows: NDArray[np.int64] | NDArray[np.bool_]) -> "EventDraft":
        """Return the events at *rows*: indices, or a mask over all events."""
        values = {name: column[rows] for name, column in self.values.items()}
        return replace(self, values=values, salts=self.salts[rows])

    def build_layout(self) -> Layout:
        """Return the layout (the list of variables) that all events of the draft share."""
        where = tuple((role, self.clauses[role]) for role in ev.ROLES if role in self.clauses)
        paths = (MAIN, *(format_clause_path(role) for role, _ in where))
        counts = tuple(self.adverbs[path] for path in paths)
        is_modal = [f"{path}modal" in self.values for path in paths]
        forms = (ClauseForm(is_modal[0], self.mood, self.asked, self.fronting), *map(ClauseForm, is_modal[1:]))
        adjectives = sorted(name.removesuffix(ADJECTIVE) for name in self.values if name.endswith(ADJECTIVE))
        phrases = tuple(PhraseForm(path, 1) for path in adjectives)
        pattern = find_pattern(self.frame, where)
        return make_layout(pattern, counts, self.words, (ev.Negator.NOT,), forms, phrases=phrases)


Edit: TypeAlias = Callable[[EventDraft, str], EventDraft]
"""Function that changes the clause or noun at a path in all events of a draft."""


def format_clause_path(role: ev.Role) -> str:
    """Return the path of the relative clause that modifies the noun in *role*, such as "agent.clause." for AGENT."""
    return f"{role.value}.clause."


def parse_owner_role(path: str) -> ev.Role:
    """Return the role of the noun that the relative clause at *path* modifies."""
    return ev.Role(path.partition(".")[0])


def find_noun_clause(noun_path: str) -> str:
    """Return the path of the clause that has the noun at *noun_path*.

    >>> find_noun_clause("agent."), find_noun_clause("agent.clause.patient.")
    ('', 'agent.clause.')
    """
    return noun_path.removesuffix(".").rpartition(".")[0] + "." if noun_path.count(".") > 1 else MAIN


def parse_noun_role(path: str) -> ev.Role:
    """Return the role that the noun at *path* has in its clause."""
    return ev.Role(path.removeprefix(find_noun_clause(path)).removesuffix("."))


def swap_role(role: ev.Role) -> ev.Role:
    """Return patient for agent, and agent for patient."""
    return ev.Role.PATIENT if role is ev.Role.AGENT else ev.Role.AGENT


def exchange_form(draft: EventDraft, path: str) -> EventDraft:
    """Return the events of *draft* in another construction that has the same meaning.

    If *path* is the path of a clause, the clause changes between active and passive. If *path* ends in ``dative``, the
    form of a recipient changes. If *path* is FRONTING, the object of the (active) main clause moves to the front.
    """
    if path == FRONTING:
        values = {name: column for name, column in draft.values.items() if name != "voice"}
        return replace(draft, values=values, fronting=ev.Fronting.OBJECT)
    if path == MAIN or path.endswith(DATIVE):
        return toggle_feature(draft, path, name="" if path else "voice")
    clause = draft.clauses[parse_owner_role(path)]
    active = clause.voice is ev.Voice.ACTIVE
    voice = ev.Voice.PASSIVE if active else ev.Voice.ACTIVE
    if clause.frame is ev.Frame.DITRANSITIVE and not active:  # the passive has no variable for it
        to_form = np.full(len(draft.salts), [*ev.Dative].index(ev.Dative.TO))
        draft = _replace_values(draft, **{f"{path}{DATIVE}": to_form})
    return _replace_clause(draft, path, replace(clause, voice=voice, kind=_swap_kind(clause)))


def exchange_roles(draft: EventDraft, path: str) -> EventDraft:
    """Exchange the agent and the patient of a transitive clause; relative clauses move with their noun."""
    if path == MAIN:
        return _rename_prefixes(draft, {"agent.": "patient.", "patient.": "agent."})
    clause = draft.clauses[parse_owner_role(path)]
    gap = swap_role(clause.gap)
    moved = _rename_prefixes(draft, {f"{path}{gap.value}.": f"{path}{clause.gap.value}."})
    return _replace_clause(moved, path, replace(clause, gap=gap, kind=_swap_kind(clause)))


def exchange_recipient(draft: EventDraft, path: str) -> EventDraft:
    """Exchange the noun at *path* with the recipient of its clause; relative clauses move with their noun."""
    recipient = f"{find_noun_clause(path)}{ev.Role.RECIPIENT.value}."
    return _rename_prefixes(draft, {path: recipient, recipient: path})


def exchange_adjectives(draft: EventDraft, path: str) -> EventDraft:
    """Exchange the adjectives of the agent and the patient of a transitive clause."""
    names = [f"{path}{role.value}.{ADJECTIVE}" for role in (ev.Role.AGENT, ev.Role.PATIENT)]
    if path != MAIN:  # the gap stands for the modified noun
        owner = parse_owner_role(path)
        gap = f"{path}{draft.clauses[owner].gap.value}.{ADJECTIVE}"
        names[names.index(gap)] = f"{owner.value}.{ADJECTIVE}"
    first, second = names
    return _replace_values(draft, **{first: draft.values[second], second: draft.values[first]})


def exchange_modifiers(draft: EventDraft, path: str) -> EventDraft:  # noqa: ARG001 - there is one place
    """Exchange the relative clauses of agent and patient; if only one has a relative clause, it moves to the other."""
    parts = ("rel", "clause.")
    agent, patient = (
        {f"{role.value}.{name}": f"{swap_role(role).value}.{name}" for name in parts}
        for role in (ev.Role.AGENT, ev.Role.PATIENT)
    )
    return _rename_prefixes(draft, agent | patient)


def exchange_negations(draft: EventDraft, path: str) -> EventDraft:
    """Exchange the negations of the main clause and the relative clause at *path*."""
    inner = f"{path}negation"
    return _replace_values(draft, **{"negation": draft.values[inner], inner: draft.values["negation"]})


def toggle_negation(draft: EventDraft, path: str) -> EventDraft:
    """Negate a positive clause, or remove the negation of a negated clause."""
    name, added = f"{path}negation", NEGATIONS.index(ev.Negator.NOT.value)
    return _replace_values(draft, **{name: np.where(draft.values[name] > 0, 0, added)})


def toggle_feature(draft: EventDraft, path: str, *, name: str) -> EventDraft:
    """Set the feature *name*, such as the tense, of the clause at *path* to its other value."""
    return _replace_values(draft, **{f"{path}{name}": 1 - draft.values[f"{path}{name}"]})


def toggle_mood(draft: EventDraft, path: str) -> EventDraft:  # noqa: ARG001 - there is one place
    """Turn a statement into a question, or a question into a statement."""
    is_question = draft.mood is ev.Mood.QUESTION
    return replace(draft, mood=ev.Mood.STATEMENT if is_question else ev.Mood.QUESTION)


def toggle_number(draft: EventDraft, path: str) -> EventDraft:
    """Make the noun at *path* plural if it is singular, and singular if it is plural."""
    pairs = draft.words.determiners
    other_number = {number.value: o.value for number, o in zip(ev.Number, [*ev.Number][::-1], strict=True)}
    table = np.array([pairs.index((other_number[number], lemma)) for number, lemma in pairs])
    return _replace_values(draft, **{f"{path}det": table[draft.values[f"{path}det"]]})


def _swap_kind(clause: ClausePattern) -> ev.ClauseKind:
    kinds = ev.ClauseKind
    return kinds.OBJECT if clause.kind is kinds.SUBJECT else kinds.SUBJECT


def _replace_values(draft: EventDraft, **values: ValueColumn) -> EventDraft:
    return replace(draft, values={**draft.values, **values})


def _replace_clause(draft: EventDraft, path: str, clause: ClausePattern) -> EventDraft:
    return replace(draft, clauses={**draft.clauses, parse_owner_role(path): clause})


def _rename_prefixes(draft: EventDraft, prefixes: Mapping[str, str]) -> EventDraft:
    """Replace prefixes of variables and paths: {"agent.": "patient."} turns a main clause's agent into its patient."""

    def rename(text: str) -> str:
        prefix = next((old for old in prefixes if text.startswith(old)), "")
        return prefixes.get(prefix, "") + text[len(prefix) :]

    clauses = {parse_owner_role(rename(format_clause_path(role))): c for role, c in draft.clauses.items()}
    adverbs = {rename(path): count for path, count in draft.adverbs.items()}
    values = {rename(variable): column for variable, column in draft.values.items()}
    return replace(draft, clauses=clauses, adverbs=adverbs, values=values)


def replace_word(draft: EventDraft, path: str, *, slot: str) -> EventDraft:
    """Replace the word of *slot*, such as ``noun``, at *path* by an allowed word that the sentence does not contain."""
    name, rows = f"{path}{slot}", np.arange(len(draft.salts))
    free = draft.replacements[find_replaced_kind(draft.build_layout(), name)][draft.values[name]]
    for variable, column in draft.values.items():
        if variable.rpartition(".")[2] == slot:
            free[rows, column] = False
    # A salt chooses, not a generator: the word does not depend on which other events are in the draft.
    ranks = (draft.salts % free.sum(axis=1).astype(np.uint64)).astype(np.int64)
    chosen = (free.cumsum(axis=1) > ranks[:, None]).argmax(axis=1)
    return _replace_values(draft, **{name: chosen})


def find_content_words(draft: EventDraft) -> Iterator[tuple[str, ...]]:
    """Yield, for each event of *draft*, one sorted tuple of the event's nouns and verbs."""
    columns = [
        np.array(words)[column]
        for name, column in draft.values.items()
        for kind, words in (("noun", draft.words.nouns), ("verb", draft.words.verbs))
        if name.rpartition(".")[2] == kind
    ]
    yield from map(tuple, np.sort(np.stack(columns, axis=1), axis=1).tolist())


def hash_words(words: Iterable[str]) -> int:
    """Return the first seven bytes, as a little-endian integer, of the SHA-256 of the words joined by spaces."""
    return int.from_bytes(sha256(" ".join(words).encode()).digest()[:7], "little")
