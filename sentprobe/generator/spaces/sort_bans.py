"""Forbidden combinations of a noun and a word that does not accept the noun's sort, such as a thing that sleeps."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, product

from sentprobe.generator.events.event import Asked, Frame, Role
from sentprobe.generator.events.lemmas import accepts_asked
from sentprobe.generator.spaces.constraints import Allowed, Words
from sentprobe.generator.spaces.layout import Group, Layout, Restriction
from sentprobe.lexicon import Kind, Lexicon
from sentprobe.lexicon.words import MODIFIED, ROLES


@dataclass(frozen=True, slots=True)
class SortBan:
    """Words of one kind, and the nouns that none of these words accepts. Both are indices into the tuples of ``Words``.

    ``role`` is the role in which verbs do not accept the nouns. For adjectives and relativizers, it is ``MODIFIED``.
    """

    kind: Kind
    role: str
    words: Allowed
    nouns: Allowed


@lru_cache(maxsize=64)  # a task makes thousands of spaces from the same words
def find_sort_bans(words: Words, lexicon: Lexicon) -> tuple[SortBan, ...]:
    """Return the sort bans for *words*. For example, all transitive verbs whose agent must be a person share a ban."""
    nouns_by_sorts: dict[tuple[str, ...], set[int]] = {}
    for i, noun in enumerate(words.nouns):
        nouns_by_sorts.setdefault(lexicon.get(noun, Kind.NOUN).sorts, set()).add(i)
    lemmas = {
        Kind(frame.value): {i: words.verbs[i] for i in sorted(verbs)} for frame, verbs in words.verbs_by_frame.items()
    }
    lemmas[Kind.RELATIVIZER] = dict(enumerate(words.relativizers))
    lemmas[Kind.ADJECTIVE] = dict(enumerate(words.adjectives))
    bans: dict[tuple[Kind, str, Allowed], list[int]] = {}
    for kind, lemmas_by_number in lemmas.items():
        for number, lemma in lemmas_by_number.items():
            word = lexicon.get(lemma, kind)
            for role in ROLES.get(kind, (MODIFIED,)):
                banned = (nouns for sorts, nouns in nouns_by_sorts.items() if not word.accepts(sorts, role))
                bans.setdefault((kind, role, frozenset(chain.from_iterable(banned))), []).append(number)
    return tuple(SortBan(kind, role, frozenset(same), nouns) for (kind, role, nouns), same in bans.items() if nouns)


def find_asked_boxes(words: Words, lexicon: Lexicon, layout: Layout) -> list[Restriction]:
    """Return a list with the box of main verbs that do not accept the question word. If there are none, return []."""
    main = layout.clauses[0]
    banned = main.form.asked and _find_verbs_without_question(words, lexicon, main.frame, main.form.asked)
    return [{"verb": banned}] if banned else []


@lru_cache(maxsize=256)  # a task makes thousands of spaces from the same words
def _find_verbs_without_question(words: Words, lexicon: Lexicon, frame: Frame, form: tuple[Role, Asked]) -> Allowed:
    role, asked = form
    verbs = ((i, lexicon.get(words.verbs[i], Kind(frame.value))) for i in words.verbs_by_frame[frame])
    return frozenset(i for i, verb in verbs if not accepts_asked(asked, verb, role, lexicon))


def find_sort_boxes(bans: Iterable[SortBan], layout: Layout) -> Iterator[Restriction]:
    """Yield the boxes of a layout in which a noun has a sort that its verb, adjective or relativizer excludes."""
    names = {variable.name for variable in layout.variables}
    for (kind, role, word, noun), ban in product(_list_sort_pairs(layout), bans):
        if (ban.kind, ban.role) == (kind, role) and {word, noun} <= names:
            yield {noun: ban.nouns, word: ban.words}  # nouns first: sorts cut few boxes


def find_conjunct_boxes(words: Words, lexicon: Lexicon, layout: Layout) -> Iterator[Restriction]:
    """Yield the boxes of a layout in which coordinated nouns have different sorts: "the man and the key"."""
    nouns_by_sort: dict[str, set[int]] = {}
    for i, noun in enumerate(words.nouns):
        nouns_by_sort.setdefault(lexicon.get(noun, Kind.NOUN).sort, set()).add(i)
    every = frozenset(range(len(words.nouns)))
    for path, nouns in product(layout.coordinations, nouns_by_sort.values()):
        if others := every - nouns:
            yield {f"{path}noun": frozenset(nouns), f"{path}conjunct.noun": others}


def _list_sort_pairs(layout: Layout) -> Iterator[tuple[Kind, str, str, str]]:
    """Yield (word's kind, noun's role, word's variable, noun's variable) for each word that restricts a noun's sort."""
    for site in layout.clauses:
        kind = Kind(site.frame.value)
        yield Kind.RELATIVIZER, MODIFIED, f"{site.owner}rel", f"{site.owner}noun"
        for role in ROLES[kind]:
            is_gap = site.gap is not None and site.gap.value == role
            is_bound = site.form.reflexive is not None and site.form.reflexive.value == role
            owner = site.owner if is_gap else f"{site.path}{ROLES[kind][0] if is_bound else role}."
            yield kind, role, f"{site.path}verb", f"{owner}noun"
            yield kind, role, f"{site.path}verb", f"{owner}conjunct.noun"
    for variable in layout.variables:
        if variable.group is Group.ADJECTIVE:
            yield Kind.ADJECTIVE, MODIFIED, variable.name, f"{variable.name.rpartition('.')[0]}.noun"
