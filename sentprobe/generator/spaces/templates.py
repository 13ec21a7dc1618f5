"""Templates: named structures of sentences, from ``templates.toml``."""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import product

from sentprobe.errors import UsageError, suggest
from sentprobe.generator.events.event import ClauseKind, Event, Frame, RelativeClause, Role, Voice, iterate_participants
from sentprobe.lexicon.languages.english import ENGLISH
from sentprobe.lexicon.languages.language import Language


@dataclass(frozen=True, slots=True)
class ClausePattern:
    """The structure of a relative clause; ``kind`` follows from the gap and the voice."""

    frame: Frame
    kind: ClauseKind
    gap: Role
    voice: Voice


@dataclass(frozen=True, slots=True)
class Pattern:
    """The structure of a sentence: the main clause's frame, and (role, relative clause) for each modified noun."""

    name: str
    frame: Frame
    clauses: tuple[tuple[Role, ClausePattern], ...]


@cache
def _read_templates() -> tuple[Mapping[str, tuple[Pattern, ...]], Mapping[str, tuple[str, ...]]]:
    """Return the patterns of each template, and the template names in each collection, such as "all"."""
    text = (files(__package__) / "templates.toml").read_text(encoding="utf-8")
    data = tomllib.loads(text)
    clauses = tuple(
        ClausePattern(Frame(row["frame"]), ClauseKind(row["kind"]), Role(row["gap"]), Voice(row["voice"]))
        for row in data["clause"]
    )
    templates: dict[str, tuple[Pattern, ...]] = {}
    for name, template in data["template"].items():
        frames = template.get("clauses", (Frame.TRANSITIVE, Frame.INTRANSITIVE))
        possible = [clause for clause in clauses if clause.frame in frames]
        patterns = []
        for roles in template["on"]:
            for chosen in product(possible, repeat=len(roles)):
                where = tuple(zip(map(Role, roles), chosen, strict=True))
                # The name of a sub-template: the frames of its relative clauses, then their kinds. Its dots are levels.
                parts = [name]
                parts += [f"{role.value}.{clause.frame.value}" for role, clause in where]
                parts += [clause.kind.value for _, clause in where]
                patterns.append(Pattern(".".join(parts), Frame(template["frame"]), where))
        templates[name] = tuple(patterns)
    collections = {name: tuple(members) for name, members in data["collection"].items()}
    return templates, collections


def list_template_names(*, deep: bool = False, language: Language = ENGLISH) -> tuple[str, ...]:
    """Return the names of the templates of a language; with *deep*, also the names of sub-templates.

    >>> list_template_names()[:5]
    ('intransitive', 'intransitive-rc', 'transitive', 'transitive-rc', 'transitive-rc-both')
    """
    templates, _ = _read_templates()
    possible = {
        name: [pattern for pattern in patterns if {*list_frames(pattern)} <= {*language.frames}]
        for name, patterns in templates.items()
    }
    if not deep:
        return tuple(name for name, patterns in possible.items() if patterns)
    names: dict[str, None] = {}
    for patterns in possible.values():
        for pattern in patterns:
            parts = pattern.name.split(".")
            names |= dict.fromkeys(".".join(parts[:i]) for i in range(1, len(parts) + 1))
    return tuple(names)


def expand_templates(names: Iterable[str], language: Language) -> tuple[str, ...]:
    """Return *names*, with ``language.more_templates`` if they include "all". Raises UsageError for a missing frame."""
    names = tuple(names)
    for name in names:
        frames = {frame for pattern in find_patterns([name]) for frame in list_frames(pattern)}
        if missing := sorted(frames.difference(language.frames)):
            raise UsageError(
                f"the template {name!r} needs {' and '.join(missing)} verbs, which sentprobe's {language.name} lacks"
            )
    return names + (language.more_templates if "all" in names else ())


def list_frames(pattern: Pattern) -> tuple[Frame, ...]:
    """Return the frames of the clauses of a pattern, main clause first."""
    return (pattern.frame, *(clause.frame for _, clause in pattern.clauses))


def list_all_patterns() -> tuple[Pattern, ...]:
    """Return the patterns of all templates, in any language."""
    return tuple(pattern for patterns in _read_templates()[0].values() for pattern in patterns)


@cache
def find_pattern(frame: Frame, clauses: tuple[tuple[Role, ClausePattern], ...]) -> Pattern:
    """Return the pattern with this frame and these relative clauses. Raises LookupError if no template has it.

    >>> find_pattern(Frame.TRANSITIVE, ()).name
    'transitive'
    """
    for candidate in list_all_patterns():
        if (candidate.frame, candidate.clauses) == (frame, clauses):
            return candidate
    raise LookupError(f"no template has a {frame} clause with these relative clauses")


def find_event_pattern(event: Event) -> Pattern:
    """Return the pattern (structure) of a fully specified event. Raises LookupError if no template allows it."""
    clauses = []
    for role, person in iterate_participants(event):
        if isinstance(relative := person.clause, RelativeClause):
            clause = relative.event
            assert clause.frame and clause.gap and clause.voice and relative.kind
            clauses.append((role, ClausePattern(clause.frame, relative.kind, clause.gap, clause.voice)))
    assert event.frame
    return find_pattern(event.frame, tuple(clauses))


def find_patterns(names: Iterable[str]) -> tuple[Pattern, ...]:
    """Return the patterns of the named templates, sub-templates and collections, each once. Raises UsageError.

    >>> [p.name for p in find_patterns(["transitive-rc.patient.intransitive"])]
    ['transitive-rc.patient.intransitive.src']
    """
    templates, collections = _read_templates()
    selected: dict[Pattern, None] = {}
    for name in names:
        for member in collections.get(name, (name,)):
            top = member.partition(".")[0]
            patterns = [pattern for pattern in templates.get(top, ()) if f"{pattern.name}.".startswith(f"{member}.")]
            if not patterns:
                candidates = (*list_template_names(deep=True), *collections)
                raise UsageError(
                    f"there is no template {member!r}{suggest(member, candidates)}; gen templates lists them"
                )
            selected |= dict.fromkeys(patterns)
    return tuple(selected)
