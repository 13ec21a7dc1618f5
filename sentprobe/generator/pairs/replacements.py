"""For each word of an anchor, the words that may replace it in a negative; synonyms may not."""

from collections.abc import Mapping
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sentprobe.generator.events import event as ev
from sentprobe.generator.spaces.constraints import Words
from sentprobe.generator.spaces.counting import IndexArray
from sentprobe.generator.spaces.layout import Layout
from sentprobe.generator.spaces.rules import find_verbs_without_progressive
from sentprobe.generator.spaces.sort_bans import find_sort_bans
from sentprobe.lexicon import Flag, Kind, Lexicon
from sentprobe.lexicon.words import ROLES

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
    each other. A noun replaces only nouns of its sort (such as person) that go with no more adjectives.
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
    sorts = np.array([lexicon.get(noun, Kind.NOUN).sort for noun in words.nouns])
    tables[Kind.NOUN] &= sorts[:, None] == sorts
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
    return Kind(slot.rstrip("0"))


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


def compute_salts(numbers: IndexArray, seed: int) -> NDArray[np.uint64]:
    """Return a pseudo-random number for each of *numbers*, computed from that number and the seed (SplitMix64)."""
    low = np.array([int(number) & (2**64 - 1) for number in numbers.tolist()], dtype=np.uint64)
    with np.errstate(over="ignore"):
        x = low + np.uint64((seed * 0x9E3779B97F4A7C15 + 0x632BE59BD9B4E019) & (2**64 - 1))
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            x = (x ^ (x >> np.uint64(shift))) * np.uint64(factor)
        return np.asarray(x ^ (x >> np.uint64(31)))
