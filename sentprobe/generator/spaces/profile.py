"""Profiles: weights that decide how often a structure or the value of a feature occurs in sampled sentences.

A *stratum* is the part of a space whose sentences have the same value of each weighted feature. Strata are counted
exactly.
"""

import math
import tomllib
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache, lru_cache
from importlib.resources import files
from typing import TypeAlias

import numpy as np
from numpy.random import Generator

from sentprobe.common.errors import FormatError, UsageError, suggest
from sentprobe.common.reading import read_text
from sentprobe.common.values import parse_toml
from sentprobe.generator.events.event import Aspect, Frame, Number, Polarity, Role, Tense, Voice
from sentprobe.generator.spaces import counting
from sentprobe.generator.spaces.constraints import Allowed
from sentprobe.generator.spaces.counting import Box, CountedBox, IndexArray
from sentprobe.generator.spaces.drawn_event import DrawnEvent, number_variables
from sentprobe.generator.spaces.layout import Layout, LayoutValue
from sentprobe.generator.spaces.templates import ClausePattern, Pattern, find_patterns

FeatureWeights: TypeAlias = Mapping[str, Mapping[str, float]]
"""Weights such as ``{"tense": {"past": 3, "pres": 1}}``; values that are not named have weight 0."""
UNIFORM = "uniform"
PUBLISHED = "published"
"""The built-in profiles: equal weights for all sentences; weights as in Ettinger et al.'s datasets (2018)."""
_UNWEIGHTED = "unweighted"
"""The file's key for features without weights: their values are about equally frequent in the published datasets."""
FeaturePath: TypeAlias = tuple[tuple[str, str], ...]
"""The pairs of a feature and its value that define a stratum, in the order in which the values are chosen.

The value of the feature "" lists the weighted features of a layout; a list's weight is its number of sentences.
"""
STRUCTURE = "structure"
"""The feature that has names of templates and sub-templates as its values."""
MAX_WEIGHT = 1_000_000
MAIN, RELATIVE, NOUN = "main", "relative", "noun"
"""Where a feature occurs. RELATIVE is also a feature: the kind of a transitive relative clause, by gap and voice."""

RELATIVES: Mapping[tuple[Role, Voice], str] = {
    (Role.AGENT, Voice.ACTIVE): "subject-active",
    (Role.PATIENT, Voice.PASSIVE): "subject-passive",
    (Role.PATIENT, Voice.ACTIVE): "object-active",
    (Role.AGENT, Voice.PASSIVE): "object-stranded",
}


@dataclass(frozen=True, slots=True)
class Feature:
    """A feature of clauses or nouns. If ``variable`` is "det", variables such as "agent.det" express the feature."""

    name: str
    place: str
    variable: str
    values: type[StrEnum]
    read: Callable[[LayoutValue], str] = str
    """Function that computes the value of the feature ("pl") from a value of the variable (``("pl", "the")``)."""


def _read_polarity(value: LayoutValue) -> str:
    return Polarity.POSITIVE if value == Polarity.POSITIVE else Polarity.NEGATIVE


FEATURES = (
    Feature("voice", MAIN, "voice", Voice),
    Feature("tense", MAIN, "tense", Tense),
    Feature("aspect", MAIN, "aspect", Aspect),
    Feature("polarity", MAIN, "negation", Polarity, _read_polarity),
    Feature("rc-tense", RELATIVE, "tense", Tense),
    Feature("rc-aspect", RELATIVE, "aspect", Aspect),
    Feature("rc-polarity", RELATIVE, "negation", Polarity, _read_polarity),
    Feature("number", NOUN, "det", Number, lambda pair: pair[0]),
)
"""The features that are variables of a layout. The feature RELATIVE includes the voice of relative clauses."""

UNMARKED = frozenset(next(iter(feature.values)).value for feature in FEATURES)
"""The first value of each feature; reports show only the share of the second value."""

_VALUES: Mapping[str, Sequence[str]] = {
    STRUCTURE: (),
    RELATIVE: tuple(RELATIVES.values()),
    **{feature.name: tuple(feature.values) for feature in FEATURES},
}


@dataclass(frozen=True, slots=True)
class Trait:
    """A feature of one clause or noun in a layout, and the number of the variable that expresses the feature.

    If the layout fixes the feature, ``variable`` is None. ``allowed`` maps each value of the feature to the indices of
    the variable's values that express it, as in ``{"sg": {0, 1}, "pl": {2}}``.
    """

    feature: str
    variable: int | None
    allowed: Mapping[str, Allowed]

    def find_value(self, values: Sequence[int]) -> str:
        """Return the value of the feature in an event. ``values[i]`` is the index of the value of variable i."""
        if self.variable is None:
            (value,) = self.allowed
            return value
        position = values[self.variable]
        return next(value for value, allowed in self.allowed.items() if position in allowed)


@lru_cache(maxsize=1024)  # number of layouts
def find_traits(layout: Layout) -> tuple[Trait, ...]:
    """Return the features of all clauses and nouns in a layout."""
    traits = []
    for site in layout.clauses:
        if site.clause_pattern and (value := _name_relative(site.clause_pattern)):
            traits.append(Trait(RELATIVE, None, {value: frozenset()}))
    for name, position in number_variables(layout).items():
        path, _, slot = name.rpartition(".")
        places = (NOUN, RELATIVE if path.endswith("clause") else MAIN)
        variable = layout.variables[position]
        for feature in FEATURES:
            if feature.variable == slot and feature.place in places:
                by_value = {
                    value.value: frozenset(i for i in variable.domain if feature.read(variable.values[i]) == value)
                    for value in feature.values
                }
                traits.append(Trait(feature.name, position, by_value))
    return tuple(traits)


def _name_relative(clause: ClausePattern) -> str | None:
    return RELATIVES[clause.gap, clause.voice] if clause.frame is Frame.TRANSITIVE else None


@dataclass(frozen=True, slots=True, eq=False)
class Profile:
    """Weights of some features; all other features are sampled uniformly. Raises UsageError for invalid weights."""

    name: str
    weights: FeatureWeights
    _structures: dict[Pattern, str] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        for feature, weights in self.weights.items():
            if feature not in _VALUES:
                raise self._error(f"there is no feature {feature!r}{suggest(feature, _VALUES)}")
            if not isinstance(weights, Mapping):
                raise self._error(f"{feature} must be a table of weights, not {weights!r}")
            self._check_weights(feature, weights)
        for name in self.weights.get(STRUCTURE, {}):
            try:
                patterns = find_patterns((name,))
            except UsageError as error:
                raise self._error(str(error)) from None
            if not self._structures.keys().isdisjoint(patterns):
                raise self._error(f"its structure {name} overlaps with another")
            self._structures.update(dict.fromkeys(patterns, name))

    def _check_weights(self, feature: str, weights: Mapping[str, float]) -> None:
        values = _VALUES[feature]
        for value, weight in weights.items():
            if feature != STRUCTURE and value not in values:
                raise self._error(f"{feature} has no value {value!r}; its values are {', '.join(values)}")
            if type(weight) not in (int, float) or not (weight == 0 or 1 / MAX_WEIGHT <= weight <= MAX_WEIGHT):
                limits = f"must be 0, or between 1/{MAX_WEIGHT:,} and {MAX_WEIGHT:,}"
                raise self._error(f"the weight of {feature} {value} {limits}, not {weight!r}")
        if not sum(weights.values()):
            raise self._error(f"no value of {feature} has a positive weight")

    def _error(self, text: str) -> UsageError:
        return UsageError(f"profile {self.name}: {text}")

    def get_weight(self, feature: str, value: str) -> float:
        """Return the weight of *value*, or 0 if it is not listed. The profile must have weights of *feature*."""
        return self.weights[feature].get(value, 0)

    def find_structure(self, pattern: Pattern) -> str | None:
        """Return the name of the weighted structure to which *pattern* belongs, or None."""
        return self._structures.get(pattern)

    def weigh_templates(self, names: Iterable[str]) -> dict[str, float]:
        """Return each named sub-template's weight, from the profile's weights of structures and relative clauses."""
        groups: dict[tuple[str | None, str, object], dict[str, float]] = {}
        for name in names:
            patterns = find_patterns((name,))
            structure = self.find_structure(patterns[0]) if STRUCTURE in self.weights else ""
            clauses = tuple((role, clause.frame) for role, clause in patterns[0].clauses)
            weight = sum(map(self._weigh_relatives, patterns))
            groups.setdefault((structure, patterns[0].frame, clauses), {})[name] = weight
        # A group has the sub-templates that differ only in the kinds of their relative clauses. Its share of the
        # structure's weight is that of its size, and is divided by the weights of these kinds.
        sizes, result = Counter[str | None](), dict[str, float]()
        for (structure, *_), weights in groups.items():
            sizes[structure] += len(weights)
        for (structure, *_), weights in groups.items():
            structure_weight = 0.0
            if structure is not None:  # "": the profile has no weights of structures
                structure_weight = self.get_weight(STRUCTURE, structure) if structure else 1.0
            share = len(weights) * structure_weight / sizes[structure] / (sum(weights.values()) or 1)
            result |= {name: share * weight for name, weight in weights.items()}
        return result

    def _weigh_relatives(self, pattern: Pattern) -> float:
        kinds = [kind for _, clause in pattern.clauses if (kind := _name_relative(clause))]
        return math.prod(self.get_weight(RELATIVE, kind) for kind in kinds) if RELATIVE in self.weights else 1.0


@cache
def read_published() -> tuple[Profile, FeatureWeights]:
    """Return the published profile and, for each feature, the percentages of its values in the published datasets."""
    data = tomllib.loads((files(__package__) / "published_profile.toml").read_text(encoding="utf-8"))
    unweighted = data.pop(_UNWEIGHTED)
    return Profile(PUBLISHED, data), data | unweighted


def load_profile(name: str | None) -> Profile | None:
    """Return the profile *name*, built-in or a TOML file; None for uniform sampling. Raises UsageError."""
    if name is None or name == UNIFORM:
        return None
    if name == PUBLISHED:
        return read_published()[0]
    try:
        weights = parse_toml(read_text(name))
    except FileNotFoundError:
        known = f"{UNIFORM}, {PUBLISHED} or a TOML file"
        raise UsageError(f"there is no profile {name!r}{suggest(name, (UNIFORM, PUBLISHED))}; it is {known}") from None
    except OSError as error:
        raise UsageError(f"{name}: cannot read the profile: {error.strerror}") from None
    except FormatError as error:
        raise UsageError(f"{name}: a profile is a TOML file in UTF-8: {error}") from None
    return Profile(name, weights)


def count_features(events: Iterable[DrawnEvent]) -> dict[str, Counter[str]]:
    """Return, for each feature, how often each value occurs in *events*: ``{"tense": {"past": 3, "pres": 1}}``."""
    published, _ = read_published()
    counts: dict[str, Counter[str]] = {}
    for layout, values in events:
        structure = published.find_structure(layout.pattern) or layout.pattern.name
        counts.setdefault(STRUCTURE, Counter())[structure] += 1
        for trait in find_traits(layout):
            counts.setdefault(trait.feature, Counter())[trait.find_value(values)] += 1
    return counts


@dataclass(frozen=True, slots=True)
class SpaceStratum:
    """A stratum of a space; its sentences have the indices from ``start`` up to, but not including, ``end``."""

    path: FeaturePath
    share: float
    start: int
    end: int
    boxes: tuple[CountedBox, ...]

    def __str__(self) -> str:
        return ", ".join(f"{feature} {value}" for feature, value in self.path if feature)


def find_strata(boxes: Iterable[tuple[Layout, Box]], profile: Profile) -> list[SpaceStratum]:
    """Return the strata of a space that consists of *boxes*; leave out strata without sentences or with weight 0."""
    counted: dict[FeaturePath, list[CountedBox]] = {}
    for layout, box in boxes:
        for path, part in _split_box(layout, box, profile):
            counted.setdefault(path, []).append(counting.count_box(layout, part))
    sizes = {path: size for path, members in counted.items() if (size := sum(box.size for box in members))}
    strata: list[SpaceStratum] = []
    for path, share in _compute_shares(sizes, profile):
        start = strata[-1].end if strata else 0
        strata.append(SpaceStratum(path, share, start, start + sizes[path], tuple(counted[path])))
    return strata


def _split_box(layout: Layout, box: Box, profile: Profile) -> Iterator[tuple[FeaturePath, Box]]:
    """Split a box by feature values whose weight is above 0. Yield (path, part): *path* lists the values of *part*."""
    head: FeaturePath = ()
    if STRUCTURE in profile.weights:
        structure = profile.find_structure(layout.pattern)
        if structure is None or not profile.get_weight(STRUCTURE, structure):
            return
        head = ((STRUCTURE, structure),)
    traits = [trait for trait in find_traits(layout) if trait.feature in profile.weights]
    # Layouts with the same features at as many places share strata.
    head = (*head, ("", " ".join(trait.feature for trait in traits)))
    for path, part in _split_by_traits(layout, box, traits, profile):
        yield (*head, *path), part


def _split_by_traits(
    layout: Layout, box: Box, traits: Sequence[Trait], profile: Profile
) -> Iterator[tuple[FeaturePath, Box]]:
    if not traits:
        yield (), box
        return
    first, *others = traits
    for value, allowed in first.allowed.items():
        name = None if first.variable is None else layout.variables[first.variable].name
        part = box if name is None else counting.intersect(box, {name: allowed})
        if part is not None and profile.get_weight(first.feature, value):
            for path, piece in _split_by_traits(layout, part, others, profile):
                yield ((first.feature, value), *path), piece


def _compute_shares(
    sizes: dict[FeaturePath, int], profile: Profile, depth: int = 0
) -> Iterator[tuple[FeaturePath, float]]:
    """Yield each stratum's path and the stratum's share of a sample.

    A path is a sequence of (feature, value) pairs, such as ("tense", "past"). The paths form a tree. At each branching,
    the sample is divided among the branches in proportion to the weights of their pairs. One branching is by the
    weighted features of layouts. Its pairs are like ("", "tense number"), and their weight is the number of sentences.
    """
    branches: dict[tuple[str, str], dict[FeaturePath, int]] = {}
    for path, size in sizes.items():
        if depth == len(path):
            yield path, 1.0
            return
        branches.setdefault(path[depth], {})[path] = size
    weights = [
        profile.get_weight(feature, value) if feature else sum(branch.values())
        for (feature, value), branch in branches.items()
    ]
    total = sum(weights)
    for weight, branch in zip(weights, branches.values(), strict=True):
        for path, share in _compute_shares(branch, profile, depth + 1):
            yield path, share * (weight / total)


def sample_strata(strata: Sequence[SpaceStratum], count: int, excluded: Sequence[int], rng: Generator) -> IndexArray:
    """Return *count* different indices of sentences, in random order; none is in *excluded*, which is sorted.

    For each sentence, a stratum is drawn in proportion to the strata's shares. Within a stratum, all sentences are
    equally likely. Raises UsageError if a stratum has too few sentences.
    """
    shares = np.array([stratum.share for stratum in strata])
    parts: list[IndexArray] = []
    for stratum, number in zip(strata, rng.multinomial(count, shares / shares.sum()).tolist(), strict=True):
        first, last = (bisect_left(excluded, index) for index in (stratum.start, stratum.end))
        taken = [index - stratum.start for index in excluded[first:last]]
        available = stratum.end - stratum.start - len(taken)
        if not number:
            continue
        if number > available:
            text = f"the profile asks for {number} sentences with {stratum}, but there are only {available}"
            raise UsageError(f"{text}; ask for fewer sentences")
        ranks = counting.skip_excluded(taken, counting.sample_distinct(number, available, rng))
        parts.append(ranks + stratum.start if stratum.end < 2**63 else ranks.astype(object) + stratum.start)
    sample: IndexArray = rng.permutation(np.concatenate(parts))
    return sample
