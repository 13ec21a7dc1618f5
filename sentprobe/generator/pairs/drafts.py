"""Drafts and their edits. A draft is many events with the same structure. An edit changes every event.

A draft has a column of values for each variable. An edit can change the structure, for example move a relative clause
from the agent to the patient. So the layout (the list of variables) is built only after the last edit.

Tables say which words may replace which in a negative; synonyms may not. A renderer writes many drafts as text.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import sha256
from operator import attrgetter
from threading import Lock
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sentprobe.generator.bulk.generation import Renderer
from sentprobe.generator.events import event as ev
from sentprobe.generator.sentences.sentence import Sentence
from sentprobe.generator.spaces.constraints import Words
from sentprobe.generator.spaces.counting import IndexArray
from sentprobe.generator.spaces.layout import NEGATIONS, ClauseForm, Layout, PhraseForm, make_layout
from sentprobe.generator.spaces.rules import find_sort_bans, find_verbs_without_progressive
from sentprobe.generator.spaces.space import EventBatch, NumberedEvents
from sentprobe.generator.spaces.templates import ClausePattern, find_pattern
from sentprobe.lexicon import Flag, Kind, Lexicon
from sentprobe.lexicon.words import BARE_COUNT, ROLES

ReplacementTables: TypeAlias = Mapping[Kind, NDArray[np.bool_]]
"""A square table for each kind of words: cell (i, j) says whether word j may replace word i."""

NEAR_MODALS = (("can", "could", "may", "might"), ("must", "should"), ("will", "would"))
"""Sets of similar modals, which do not replace each other; ignored if the lexicon has synonyms of modals."""

VOLITIONAL_ADVERBS = frozenset(
    (
        *("accidentally", "deliberately", "inadvertently", "intentionally", "knowingly"),
        *("reluctantly", "spontaneously", "unintentionally", "voluntarily", "willingly"),
    )
)
"""Adverbs about the subject's intention: a change of voice would attribute the intention to another person."""


def is_exchangeable_adverb(lemma: str, lexicon: Lexicon) -> bool:
    """Say whether an adverb keeps its meaning in another voice, and is no polarity item such as *ever*."""
    return lemma not in VOLITIONAL_ADVERBS and Flag.NPI not in lexicon.get(lemma, Kind.ADVERB).flags


def build_replacements(lexicon: Lexicon, words: Words) -> ReplacementTables:
    """Return, for each kind of word, a table that says which words of this kind may replace which.

    Polarity items, volitional adverbs, and verbs that have no progressive never replace a word. Synonyms do not replace
    each other. A noun replaces only nouns of its sort (such as person) that go with no more adjectives; names replace
    names. A numeral replaces numerals of its grammatical number with the same bound, such as "at least". An adjunct
    replaces those of its sort with the same words before their noun, such as "in the".
    A verb or adjective replaces another only if it accepts all nouns that the other accepts.
    """
    without_progressive = find_verbs_without_progressive(words, lexicon)
    lemmas_by_kind = {Kind.NOUN: words.nouns, Kind.ADJECTIVE: words.adjectives, Kind.MODAL: words.modals}
    allowed = {kind: {*range(len(lemmas))} for kind, lemmas in lemmas_by_kind.items()}
    lemmas_by_kind[Kind.ADVERB] = words.adverbs
    allowed[Kind.ADVERB] = {i for i, adverb in enumerate(words.adverbs) if is_exchangeable_adverb(adverb, lexicon)}
    for frame, verbs in words.verbs_by_frame.items():
        kind = Kind(frame.value)
        lemmas_by_kind[kind] = words.verbs
        allowed[kind] = {*(verbs - without_progressive.get(kind, frozenset()))}
    synonyms = {Kind.MODAL: NEAR_MODALS, **lexicon.synonyms}
    tables = {
        kind: _build_table(lemmas, allowed[kind], synonyms.get(kind, ())) for kind, lemmas in lemmas_by_kind.items()
    }
    nouns = [lexicon.get(noun, Kind.NOUN) for noun in words.nouns]
    for values in (np.array([noun.sort for noun in nouns]), np.array([noun.phrase for noun in nouns])):
        tables[Kind.NOUN] &= values[:, None] == values
    counts = np.array([words.language.counts.get(lemma, "") for _, lemma in words.determiners])
    numbers = np.array([number for number, _ in words.determiners])
    tables[Kind.DETERMINER] = (counts[:, None] == counts) & (counts != "") & (numbers[:, None] == numbers)
    np.fill_diagonal(tables[Kind.DETERMINER], val=False)
    sites = [lexicon.get(adjunct, Kind.ADJUNCT) for adjunct in words.adjuncts]
    classes = np.array([f"{site.sort} {site.phrase}" for site in sites])
    tables[Kind.ADJUNCT] = classes[:, None] == classes
    np.fill_diagonal(tables[Kind.ADJUNCT], val=False)
    all_bans = find_sort_bans(words, lexicon)
    # A word that may not stand everywhere replaces its like only: a novel no key (it may be rusty), a state no event.
    marks = [(Kind.NOUN, nouns) for nouns in {ban.nouns for ban in all_bans}]
    marks += [(kind, words.event_adverbs if kind is Kind.ADVERB else words.states) for kind in (Kind.ADVERB, *ROLES)]
    for kind, marked in marks:
        if kind in tables:
            is_marked = np.isin(np.arange(len(lemmas_by_kind[kind])), sorted(marked))
            tables[kind] &= is_marked[:, None] | ~is_marked
    bans = [ban for ban in all_bans if ban.kind in tables]
    for kind, role in dict.fromkeys((ban.kind, ban.role) for ban in bans):
        banned = np.zeros((len(lemmas_by_kind[kind]), len(words.nouns)), np.bool_)
        for ban in bans:
            if (ban.kind, ban.role) == (kind, role):
                banned[np.ix_(sorted(ban.words), sorted(ban.nouns))] = True
        tables[kind] &= ~(~banned @ banned.T)  # j may not replace i if i accepts a noun that is banned from j
    return tables


def _build_table(
    lemmas: tuple[str, ...], allowed: set[int], synonym_sets: tuple[tuple[str, ...], ...]
) -> NDArray[np.bool_]:
    table = np.zeros((len(lemmas), len(lemmas)), np.bool_)
    table[:, sorted(allowed)] = True
    np.fill_diagonal(table, val=False)
    number_by_lemma = {lemma: number for number, lemma in enumerate(lemmas)}
    for synonyms in synonym_sets:
        numbers = [number_by_lemma[lemma] for lemma in synonyms if lemma in number_by_lemma]
        table[np.ix_(numbers, numbers)] = False
    return table


def find_replaced_kind(layout: Layout, name: str) -> Kind:
    """Return the kind of the words of the variable *name*, such as ``verb``, ``agent.noun`` or ``adverb0``."""
    path, _, slot = name.rpartition(".")
    if slot == "verb":
        frames = {site.path: site.frame for site in layout.clauses}
        return Kind(frames[f"{path}." if path else ""].value)
    return Kind.DETERMINER if slot == "det" else Kind(slot.rstrip("0"))


def find_irreplaceable_words(replacements: ReplacementTables, layout: Layout, name: str) -> list[int]:
    """Return indices of words of variable *name*. An anchor may already contain all replacements of such a word."""
    table = replacements[find_replaced_kind(layout, name)]
    (variable,) = (variable for variable in layout.variables if variable.name == name)
    rivals = np.zeros(len(table), np.int64)
    for rival in layout.variables:
        if rival.name.rpartition(".")[2] == name.rpartition(".")[2] and rival is not variable:
            rivals += table[:, sorted(rival.domain)].any(axis=1)
    counts = table.sum(axis=1)
    return [word for word in sorted(variable.domain) if counts[word] <= rivals[word]]


def find_near_adjectives(replacements: ReplacementTables, words: Words) -> set[str]:
    """Return the adjectives to remove so that no two of the remaining adjectives are synonyms."""
    left: list[int] = []
    for number in range(len(words.adjectives)):
        if replacements[Kind.ADJECTIVE][number, left].all():
            left.append(number)
    return {*words.adjectives} - {words.adjectives[number] for number in left}


def find_unexchangeable_verbs(words: Words, lexicon: Lexicon, role: ev.Role) -> set[str]:
    """Return the ditransitive verbs that accept a sort of noun in *role* but not as the recipient, or vice versa."""
    sorts = {lexicon.get(noun, Kind.NOUN).sorts for noun in words.nouns}
    verbs = (lexicon.get(words.verbs[i], Kind.DITRANSITIVE) for i in words.verbs_by_frame[ev.Frame.DITRANSITIVE])
    return {v.lemma for v in verbs if any(v.accepts(s, role) != v.accepts(s, ev.Role.RECIPIENT) for s in sorts)}


def find_verbs_of_frames(words: Words, lexicon: Lexicon) -> set[str]:
    """Return the verbs that have several frames in the lexicon."""
    kinds = {Kind(frame.value) for frame in ev.Frame}
    return {lemma for lemma in words.verbs if len(kinds & {*lexicon.kinds_of(lemma)}) > 1}


def find_symmetric_verbs(words: Words, lexicon: Lexicon) -> set[str]:
    """Return the verbs that mean the same with agent and patient exchanged, such as *meet*."""
    verbs = (*lexicon.words(Kind.TRANSITIVE), *lexicon.words(Kind.DATIVE))
    return {*words.verbs} & {verb.lemma for verb in verbs if Flag.SYMMETRIC in verb.flags}


def compute_salts(numbers: IndexArray, seed: int) -> NDArray[np.uint64]:
    """Return a pseudo-random number for each of *numbers*, computed from that number and the seed (SplitMix64)."""
    low = np.array([int(number) & (2**64 - 1) for number in numbers.tolist()], dtype=np.uint64)
    with np.errstate(over="ignore"):
        x = low + np.uint64((seed * 0x9E3779B97F4A7C15 + 0x632BE59BD9B4E019) & (2**64 - 1))
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            x = (x ^ (x >> np.uint64(shift))) * np.uint64(factor)
        return np.asarray(x ^ (x >> np.uint64(31)))


ValueColumn: TypeAlias = NDArray[np.int64]
MAIN = ""
"""The path of the main clause."""
DATIVE = "dative"
ADJUNCT = "adjunct"
"""The argument of :func:`exchange_form` that puts the adjunct of the main clause first."""
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
        main = ClauseForm(is_modal[0], self.mood, self.asked, self.fronting, has_adjunct=ADJUNCT in self.values)
        forms = (main, *map(ClauseForm, is_modal[1:]))
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
    form of a recipient changes. If *path* is FRONTING, the object of the (active) main clause moves to the front; if
    it is ADJUNCT, the adjunct does.
    """
    if path == ADJUNCT:
        return replace(draft, fronting=ev.Fronting.ADJUNCT)
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


def toggle_perfect(draft: EventDraft, path: str) -> EventDraft:
    """Put a simple clause into the perfect, and a perfect one into the simple aspect."""
    name, aspects = f"{path}aspect", draft.words.language.aspects
    simple, perfect = map(aspects.index, (ev.Aspect.SIMPLE, ev.Aspect.PERFECT))
    return _replace_values(draft, **{name: np.where(draft.values[name] == simple, perfect, simple)})


def toggle_mood(draft: EventDraft, path: str) -> EventDraft:  # noqa: ARG001 - there is one place
    """Turn a statement into a question, or a question into a statement."""
    is_question = draft.mood is ev.Mood.QUESTION
    return replace(draft, mood=ev.Mood.STATEMENT if is_question else ev.Mood.QUESTION)


def toggle_number(draft: EventDraft, path: str) -> EventDraft:
    """Make the noun at *path* plural if it is singular, and singular if it is plural."""
    pairs = draft.words.determiners
    other_number = {number.value: o.value for number, o in zip(ev.Number, [*ev.Number][::-1], strict=True)}
    others = [(other_number[number], lemma) for number, lemma in pairs]
    # A numeral, which has one number only, stays.
    table = np.array([pairs.index(pair) if pair in pairs else i for i, pair in enumerate(others)])
    return _replace_values(draft, **{f"{path}det": table[draft.values[f"{path}det"]]})


def drop_adjunct(draft: EventDraft, path: str) -> EventDraft:  # noqa: ARG001 - there is one place
    """Remove the adjunct of the main clause."""
    values = {name: column for name, column in draft.values.items() if name != ADJUNCT}
    return replace(draft, values=values, fronting=None)


def set_numeral(draft: EventDraft, path: str, *, count: str, change: int = 0) -> EventDraft:
    """Give the numeral at *path* the bound *count*, and a number that is lower (*change* -1), higher (1) or the same.

    A salt chooses the number among those of the numerals. The number must not be the lowest or highest plural numeral.
    """
    language, name = draft.words.language, f"{path}det"
    numbers = np.array([language.numerals.get(lemma.rpartition(" ")[2], 0) for _, lemma in draft.words.determiners])
    lemmas = [lemma for _, lemma in draft.words.determiners]
    number = numbers[draft.values[name]]
    if change:
        # Two is the lowest numeral with a plural noun, so that the noun keeps its form.
        below, above = number - 2, max(language.numerals.values()) - number
        steps = np.where(change < 0, below, above).astype(np.uint64)
        number = number + change * (1 + (draft.salts % steps).astype(np.int64))
    texts = {n: numeral if count == BARE_COUNT else f"{count} {numeral}" for numeral, n in language.numerals.items()}
    table = np.array([lemmas.index(texts[n]) if texts.get(n) in lemmas else -1 for n in range(max(texts) + 1)])
    return _replace_values(draft, **{name: table[number]})


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
    """Yield, for each event of *draft*, one sorted tuple of the event's nouns, also that of its adjunct, and verbs."""
    sites = [lemma.rpartition(" ")[2] for lemma in draft.words.adjuncts]
    tables: Mapping[str, Sequence[str]] = {"noun": draft.words.nouns, "verb": draft.words.verbs, ADJUNCT: sites}
    columns = [
        np.array(tables[slot])[column]
        for name, column in draft.values.items()
        if (slot := name.rpartition(".")[2]) in tables
    ]
    yield from map(tuple, np.sort(np.stack(columns, axis=1), axis=1).tolist())


def hash_words(words: Iterable[str]) -> int:
    """Return the first seven bytes, as a little-endian integer, of the SHA-256 of the words joined by spaces."""
    # Seven, so that it fits into a signed integer of 64 bits.
    return int.from_bytes(sha256(" ".join(words).encode()).digest()[:7], "little")


class RowSource:
    """A source of events for a renderer. The caller assigns events to ``rows``; *words* must contain their lemmas."""

    def __init__(self, lexicon: Lexicon, words: Words) -> None:
        self.lexicon = lexicon
        self.words = words
        self.rows: NumberedEvents | None = None

    def count(self) -> int:
        """Return the number of sentences in ``rows``."""
        return self.rows.count() if self.rows else 0

    def batches(self, indices: IndexArray) -> Iterator[EventBatch]:
        """Yield the events at the positions *indices* in ``rows``: for each layout, one batch of its events."""
        yield from self.rows.batches(indices) if self.rows else ()


class RowRenderer:
    """Renderer of sentences as records. *write* turns a sentence into a one-line record; *escape* encodes a word."""

    def __init__(
        self, lexicon: Lexicon, words: Words, write: Callable[[Sentence], str], escape: Callable[[str], str] = str
    ) -> None:
        self._source = RowSource(lexicon, words)
        self._lock = Lock()
        self._renderer = Renderer(self._source, lambda sentence: f"{write(sentence)}\n", escape=escape)

    def render_columns(self, rows: NumberedEvents, count: int) -> list[list[str]]:
        """Return the records of *rows*, cut into *count* lists of equal length, such as anchors and positives."""
        with self._lock:  # threads share a renderer
            self._source.rows = rows
            try:
                chunks = self._renderer.render_chunks(np.arange(rows.count()))
                records = "".join(text for _, text in chunks).split("\n")[:-1]
            finally:
                self._source.rows = None
        step = len(records) // count
        return [records[column * step : (column + 1) * step] for column in range(count)]


@lru_cache(maxsize=4)
def make_text_renderer(lexicon: Lexicon, words: Words) -> RowRenderer:
    """Return the cached renderer of sentences with these words as plain text."""
    return RowRenderer(lexicon, words, attrgetter("text"))
