"""Drawn events. Each has a layout and a value for each variable, and is built several times faster than an Event."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import itemgetter
from typing import NamedTuple

from sentprobe.generator.events import event as ev
from sentprobe.generator.sentences.sentence_plan import find_slots
from sentprobe.generator.spaces.layout import ClauseSite, Group, Layout, LayoutValue, build_layout_event


class DrawnEvent(NamedTuple):
    """An event as a layout and, for each variable in the order of the layout, the index of its value."""

    layout: Layout
    values: Sequence[int]

    @property
    def event(self) -> ev.Event:
        """The same event as an :class:`Event`."""
        pairs = zip(self.layout.variables, self.values, strict=True)
        return build_layout_event({v.name: v.values[value] for v, value in pairs}, self.layout)

    def get_value(self, variable: int) -> LayoutValue:
        """Return the value of the variable at position *variable* of the layout."""
        return self.layout.variables[variable].values[self.values[variable]]

    def swap_values(self, first: int, second: int) -> "DrawnEvent":
        """Return the event with the values of the variables at two positions exchanged."""
        values = list(self.values)
        values[first], values[second] = values[second], values[first]
        return DrawnEvent(self.layout, values)


@dataclass(frozen=True, slots=True)
class ClauseParts:
    """The positions of a clause's variables in the layout of an event; None for a feature without a variable.

    ``roles`` maps each role to its noun and conjunct. The role of a gap is mapped to the noun that the clause modifies.
    """

    site: ClauseSite
    verb: int
    negation: int
    aspect: int
    tense: int | None
    voice: int | None
    dative: int | None
    roles: Mapping[ev.Role, tuple[int, ...]]

    def find_voice(self, drawn: DrawnEvent) -> str:
        """Return the voice of this clause in *drawn*."""
        return str(self.site.voice if self.voice is None else drawn.get_value(self.voice))

    def find_dative(self, drawn: DrawnEvent) -> str:
        """Return the form of the recipient ("double" or "to") of this clause in *drawn*; "" without a recipient."""
        return str((self.site.dative if self.dative is None else drawn.get_value(self.dative)) or "")


STRUCTURAL = ("voice", "dative", "aspect", "negation", "self")
"""The suffixes of the names of variables that determine the shape of a clause, and so its word order."""


@lru_cache(maxsize=1024)  # number of layouts
def find_determiner_classes(layout: Layout) -> Mapping[str, tuple[int, ...]]:
    """Return the class of each value of determiners (numerals, names, others) and adjuncts that differ in structure.

    The keys are names of variables. Two values have the same class if phrases with them have the same shape.
    """
    phrases = layout.language.phrases
    kinds = ["", *dict.fromkeys(phrases.values())]
    variables = [variable for variable in layout.variables if phrases and variable.name.endswith("det")]
    classes = {v.name: tuple([kinds.index(phrases.get(pair[1], "")) for pair in v.values]) for v in variables}
    for variable in (variable for variable in layout.variables if variable.name == "adjunct"):
        words_before = [str(lemma).rpartition(" ")[0] for lemma in variable.values]
        classes[variable.name] = tuple(map([*dict.fromkeys(words_before)].index, words_before))
    return {name: values for name, values in classes.items() if len({*values}) > 1}


@dataclass(frozen=True, slots=True)
class LayoutParts:
    """The positions of a layout's variables: nouns, determiners, adjectives, and the variables of each clause.

    ``determiners`` maps each noun to its determiner, whose value also says whether the noun is singular or plural.
    ``adjectives`` maps each adjective to its noun. The ``structural`` variables determine the shape of the sentence,
    and so its word order. ``compute_shape`` takes the values of an event (as indices) and returns the structural ones.
    """

    nouns: tuple[int, ...]
    determiners: Mapping[int, int]
    adjectives: Mapping[int, int]
    clauses: tuple[ClauseParts, ...]
    structural: tuple[int, ...]
    compute_shape: Callable[[Sequence[int]], object]


@lru_cache(maxsize=1024)  # number of layouts
def find_layout_parts(layout: Layout) -> LayoutParts:
    """Return the positions of the nouns, determiners and other variables of a layout."""
    numbers = number_variables(layout)
    first = DrawnEvent(layout, [0] * len(layout.variables))
    nouns = {slot: numbers[slot] for slot in find_slots(first.event) if slot in numbers}
    nouns = {s: at for s, at in nouns.items() if layout.variables[at].group is Group.NOUN}
    classes = {numbers[name]: values for name, values in find_determiner_classes(layout).items()}
    structural = tuple(at for name, at in numbers.items() if name.endswith(STRUCTURAL) or at in classes)
    compute_shape: Callable[[Sequence[int]], object] = itemgetter(*structural)
    if classes:
        # Indexing a range with a value returns the value: variables without classes keep their values.
        identity = range(max(len(variable.values) for variable in layout.variables))
        pairs = [(at, classes.get(at, identity)) for at in structural]

        def compute_shape(values: Sequence[int]) -> object:
            return tuple([kinds[values[at]] for at, kinds in pairs])

    return LayoutParts(
        nouns=tuple(nouns.values()),
        determiners={at: numbers[f"{s.removesuffix('noun')}det"] for s, at in nouns.items()},
        adjectives={
            numbers[variable.name]: numbers[f"{variable.name.rpartition('.')[0]}.noun"]
            for variable in layout.variables
            if variable.group is Group.ADJECTIVE
        },
        clauses=tuple(_find_clause_parts(site, numbers) for site in layout.clauses),
        structural=structural,
        compute_shape=compute_shape,
    )


def number_variables(layout: Layout) -> dict[str, int]:
    """Return the position of each variable in a layout, by the variable's name."""
    return {variable.name: number for number, variable in enumerate(layout.variables)}


def _find_clause_parts(site: ClauseSite, numbers: Mapping[str, int]) -> ClauseParts:
    path = site.path
    owners = {role: f"{path}{role.value}." for role in site.overt_roles}
    if site.gap is not None:
        owners[site.gap] = site.owner
    owners = {role: owners[role] for role in ev.ROLES if role in owners}
    return ClauseParts(
        site=site,
        verb=numbers[f"{path}verb"],
        negation=numbers[f"{path}negation"],
        aspect=numbers[f"{path}aspect"],
        tense=numbers.get(f"{path}tense"),
        voice=numbers.get(f"{path}voice"),
        dative=numbers.get(f"{path}dative"),
        roles={
            role: tuple(numbers[name] for name in (f"{owner}noun", f"{owner}conjunct.noun") if name in numbers)
            for role, owner in owners.items()
        },
    )
