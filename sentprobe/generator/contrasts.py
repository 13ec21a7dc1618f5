"""The contrasts: in which one property a negative differs from its anchor, and where.

A row says at which places of a structure the contrast can be had, under which conditions on the
event, and what it changes there. What two events differ in, whatever they were made from, is said
by :func:`sentprobe.generator.meaning.differences`.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from sentprobe.errors import UsageError, suggest
from sentprobe.generator import drafts
from sentprobe.generator import event as ev
from sentprobe.generator.drafts import MAIN, Edit, clause_path, other_role, owner_of
from sentprobe.generator.templates import Pattern


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast:
    """A row of the table of contrasts.

    *places* yields where in a pattern it can be had, *conditions* the partial events that an anchor
    must be one of there. The meanings then differ in the property of its name.
    """

    name: str
    summary: str
    needs: str
    """What a structure must have, for a message."""
    places: Callable[[Pattern], Iterator[str]]
    edit: Edit
    conditions: Callable[[Pattern, str], Iterator[ev.Event]]
    same_words: bool = False
    """Whether positive and negative are of the same words, if the form is the same."""
    replaces: bool = False
    """Whether it puts another word in, which the vocabulary may not have."""
    adverb: bool = False
    """Whether the clause that is changed has an adverb."""


def clause_paths(pattern: Pattern) -> tuple[str, ...]:
    """Return the paths of the clauses of a pattern, the main one first."""
    return (MAIN, *(clause_path(role) for role, _ in pattern.clauses))


def transitive_paths(pattern: Pattern) -> tuple[str, ...]:
    """Return the paths of its transitive clauses: those that can be active or passive."""
    return tuple(
        path for path in clause_paths(pattern) if _frame_at(pattern, path) is ev.Frame.TRANSITIVE
    )


def _frame_at(pattern: Pattern, path: str) -> ev.Frame:
    return pattern.frame if path == MAIN else dict(pattern.clauses)[owner_of(path)].frame


def structure_event(pattern: Pattern) -> ev.Event:
    """Return the partial event that holds of all events of a pattern, and of no others."""
    people: dict[ev.Role, ev.Participant] = {}
    for role, clause in pattern.clauses:
        inner = ev.Event(frame=clause.frame, voice=clause.voice).with_argument(clause.gap, ev.GAP)
        people[role] = ev.Participant(clause=ev.RelativeClause(event=inner))
    event = ev.Event(frame=pattern.frame)
    for role, person in people.items():
        event = event.with_argument(role, person)
    return event


def _at(pattern: Pattern, path: str, wanted: ev.Event) -> ev.Event:
    """Return the structure, with *wanted* of the clause at *path*."""
    whole = structure_event(pattern)
    if path == MAIN:
        return ev.unify(whole, wanted)
    inside = ev.Participant(clause=ev.RelativeClause(event=wanted))
    return ev.unify(whole, ev.Event().with_argument(owner_of(path), inside))


def _any(pattern: Pattern, path: str) -> Iterator[ev.Event]:  # noqa: ARG001 - one of several
    yield structure_event(pattern)


def _nouns(pattern: Pattern) -> Iterator[str]:
    for path in clause_paths(pattern):
        gap = None if path == MAIN else dict(pattern.clauses)[owner_of(path)].gap
        intransitive = _frame_at(pattern, path) is ev.Frame.INTRANSITIVE
        for role in ev.ROLES[:1] if intransitive else ev.ROLES:
            if role is not gap:
                yield f"{path}{role.value}."


def _one_number(pattern: Pattern, path: str) -> Iterator[ev.Event]:
    """Both nouns of the clause are singular, or both plural."""
    for number in ev.Number:
        person = ev.Participant(number=number)
        if path == MAIN:
            yield _at(pattern, path, ev.Event(agent=person, patient=person))
            continue
        gap = dict(pattern.clauses)[owner_of(path)].gap
        inner = ev.Event().with_argument(other_role(gap), person)
        outer = ev.Event().with_argument(owner_of(path), person)
        yield ev.unify(_at(pattern, path, inner), outer)


def _modified(pattern: Pattern) -> Iterator[str]:
    if pattern.frame is ev.Frame.TRANSITIVE and pattern.clauses:
        yield MAIN


def _relatives(pattern: Pattern) -> Iterator[str]:
    yield from clause_paths(pattern)[1:]


def _one_negated(pattern: Pattern, path: str) -> Iterator[ev.Event]:
    """Of the main clause and the one at *path*, one is negated; both are in the progressive."""
    for main, inner in (ev.Polarity, [*ev.Polarity][::-1]):
        outer = ev.Event(polarity=main, aspect=ev.Aspect.PROGRESSIVE)
        wanted = ev.Event(polarity=inner, aspect=ev.Aspect.PROGRESSIVE)
        yield ev.unify(_at(pattern, path, wanted), outer)


def _progressive(pattern: Pattern, path: str) -> Iterator[ev.Event]:
    """In the progressive, which states have not: so the anchor has a verb that has both."""
    yield _at(pattern, path, ev.Event(aspect=ev.Aspect.PROGRESSIVE))


def _paths(pattern: Pattern) -> Iterator[str]:
    yield from clause_paths(pattern)


def _transitives(pattern: Pattern) -> Iterator[str]:
    yield from transitive_paths(pattern)


_ROWS = (
    Contrast(
        name="role",
        summary="agent and patient of one clause are exchanged",
        needs="a transitive clause",
        places=_transitives,
        edit=drafts.exchange_roles,
        conditions=_one_number,
        same_words=True,
    ),
    Contrast(
        name="modifier",
        summary="the relative clauses belong to the other noun",
        needs="a relative clause on the agent or the patient of a transitive main clause",
        places=_modified,
        edit=drafts.exchange_modifiers,
        conditions=_one_number,
        same_words=True,
    ),
    Contrast(
        name="negation",
        summary="the other of two verbs is negated",
        needs="a relative clause",
        places=_relatives,
        edit=drafts.exchange_negations,
        conditions=_one_negated,
        same_words=True,
    ),
    Contrast(
        name="polarity",
        summary="one clause is negated, or no longer",
        needs="a clause",
        places=_paths,
        edit=drafts.toggle_negation,
        conditions=_any,
    ),
    Contrast(
        name="tense",
        summary="one clause is in the other tense",
        needs="a clause",
        places=_paths,
        edit=drafts.toggle_tense,
        conditions=_any,
    ),
    Contrast(
        name="aspect",
        summary="one clause is in the other aspect",
        needs="a clause",
        places=_paths,
        edit=drafts.toggle_aspect,
        conditions=_progressive,
    ),
    Contrast(
        name="number",
        summary="one noun is in the other number",
        needs="a noun",
        places=_nouns,
        edit=drafts.toggle_number,
        conditions=_any,
    ),
    Contrast(
        name="noun",
        summary="another noun stands for one",
        needs="a noun",
        places=_nouns,
        edit=drafts.replace_noun,
        conditions=_any,
        replaces=True,
    ),
    Contrast(
        name="verb",
        summary="another verb stands for one",
        needs="a verb",
        places=_paths,
        edit=drafts.replace_verb,
        conditions=_any,
        replaces=True,
    ),
    Contrast(
        name="adverb",
        summary="another adverb stands for one",
        needs="an adverb",
        places=_paths,
        edit=drafts.replace_adverb,
        conditions=_any,
        replaces=True,
        adverb=True,
    ),
)

CONTRASTS: Mapping[str, Contrast] = {row.name: row for row in _ROWS}
"""The contrasts by name."""


def find_contrast(name: str) -> Contrast:
    """Return the contrast of that name.

    >>> find_contrast("role").summary
    'agent and patient of one clause are exchanged'

    Raises:
        UsageError: there is none; names the nearest.
    """
    if name not in CONTRASTS:
        near = suggest(name, CONTRASTS)
        raise UsageError(f"there is no contrast {name!r}{near}; known: {', '.join(CONTRASTS)}")
    return CONTRASTS[name]
