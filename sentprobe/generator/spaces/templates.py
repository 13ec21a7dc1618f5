"""Templates: named structures of sentences, from ``templates.toml``; and their split into training and test data.

A hash decides whether a word is held out.
"""

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from hashlib import sha256
from importlib.resources import files
from itertools import product

from sentprobe.common.errors import UsageError, suggest
from sentprobe.common.reading import parse_number
from sentprobe.generator.events.event import ClauseKind, Event, Frame, RelativeClause, Role, Voice, iterate_participants
from sentprobe.lexicon import Kind, Lexicon
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


DIVIDED_KINDS = (Kind.NOUN, Kind.TRANSITIVE, Kind.INTRANSITIVE, Kind.DITRANSITIVE, Kind.DATIVE)
"""The kinds of words that are split; words of other kinds are on both sides."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitSide:
    """One side of a split. The test side has the held-out words and structures, the training side has the others.

    ``share`` is the share of held-out words; if None, both sides have all words. ``structures`` are held out. Raises
    UsageError if ``share`` is not between 0 and 1. It is also raised if a sentence with a held-out structure can have
    a paraphrase or negative whose structure is not held out.

    >>> training = SplitSide(share=0.3, held_out=False)
    >>> training.has_word("professor"), training.has_word("lawyer"), str(training)
    (False, True, '--hold-out 0.3')
    """

    share: float | None = None
    structures: tuple[str, ...] = ()
    held_out: bool

    def __post_init__(self) -> None:
        if self.share is not None and not 0 < self.share < 1:
            raise UsageError(
                f"{self.option} {self.share:g}: the share of the words that is held out is between 0 and 1"
            )
        families = {_find_family(pattern) for pattern in find_patterns(self.structures)}
        for pattern in list_all_patterns():
            if _find_family(pattern) in families and not self._is_listed(pattern):
                raise UsageError(
                    f"{self}: other forms, or negatives, of the same sentences have the structure "
                    f"{pattern.name}; hold all of {pattern.name.partition('.')[0]} out"
                )

    @property
    def option(self) -> str:
        """The command-line option for this side: ``--held-out`` for test, ``--hold-out`` for training."""
        return "--held-out" if self.held_out else "--hold-out"

    def __str__(self) -> str:
        """Return the options of ``gen pairs`` that select this side."""
        return " ".join(f"{self.option} {value}" for value in self.values)

    @property
    def values(self) -> tuple[str, ...]:
        """The values of this side's command-line option: first ``share`` (left out if None), then ``structures``."""
        share = () if self.share is None else (str(self.share),)
        return share + self.structures

    def has_word(self, lemma: str) -> bool:
        """Say whether a noun or a verb is on this side."""
        if self.share is None:
            return True
        rank = int.from_bytes(sha256(lemma.encode()).digest()[:6], "big") / 2**48  # from 0 to 1
        return (rank < self.share) is self.held_out

    def has_structure(self, pattern: Pattern) -> bool:
        """Say whether the structure *pattern* is on this side of the split between training and test."""
        return not self.structures or self._is_listed(pattern) is self.held_out

    def _is_listed(self, pattern: Pattern) -> bool:
        return pattern in find_patterns(self.structures)

    def select_templates(self, names: Iterable[str]) -> tuple[str, ...]:
        """Expand the templates *names* into structures; return the names of those structures that are on this side."""
        return tuple(dict.fromkeys(pattern.name for pattern in find_patterns(names) if self.has_structure(pattern)))

    def restrict_lexicon(self, lexicon: Lexicon, vocabulary: str) -> Lexicon:
        """Return a lexicon whose vocabulary has only the words of this side. Raises UsageError if none is left."""
        return _restrict_lexicon(self, lexicon, vocabulary) if self.share is not None else lexicon


@lru_cache(maxsize=16)  # renderers are cached by lexicon, which is compared by identity
def _restrict_lexicon(side: SplitSide, lexicon: Lexicon, vocabulary: str) -> Lexicon:
    words = lexicon.vocabulary(vocabulary).words
    words_by_kind = {kind: [*filter(side.has_word, words[kind])] for kind in DIVIDED_KINDS if words.get(kind)}
    for kind, lemmas in words_by_kind.items():
        if not lemmas:
            name = kind.value if kind is Kind.NOUN else f"{kind.value} verb"
            raise UsageError(
                f"{side}: that leaves vocabulary {vocabulary!r} no {name}; choose another share, or a larger vocabulary"
            )
    entries = tuple(w for w in lexicon.entries if not (w.kind is Kind.NOUN and w.phrase) or side.has_word(w.lemma))
    return replace(lexicon.replace_words(vocabulary, words_by_kind), entries=entries)


def _find_family(pattern: Pattern) -> tuple[Frame, tuple[Frame, ...]]:
    """Return the frames of main and relative clauses. They are the same in a sentence's paraphrases and negatives."""
    return pattern.frame, tuple(sorted(clause.frame for _, clause in pattern.clauses))


def parse_side(values: Sequence[str], *, held_out: bool) -> SplitSide | None:
    """Return the split side that *values* select (a share, structures, or both); None if empty. Raises UsageError.

    >>> parse_side(["0.3", "transitive"], held_out=True)
    SplitSide(share=0.3, structures=('transitive',), held_out=True)
    """
    if not values:
        return None
    shares = {value: number for value in values if (number := _parse_number(value)) is not None}
    structures = tuple(dict.fromkeys(value for value in values if value not in shares))
    if len(shares) > 1:
        option = SplitSide(held_out=held_out).option
        raise UsageError(f"{option}: one share of the words, not {' and '.join(shares)}")
    return SplitSide(share=next(iter(shares.values()), None), structures=structures, held_out=held_out)


def _parse_number(value: str) -> float | None:
    try:
        return parse_number(value)
    except ValueError:
        return None
