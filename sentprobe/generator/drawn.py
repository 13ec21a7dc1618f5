"""Drawn events: a layout and a value for each of its variables, which is less than an event.

An :class:`Event` takes several times as long to make as its values to draw. Who looks at thousands
of events and keeps few asks the values: which words an event has, and what its clauses are like.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import itemgetter
from typing import NamedTuple

from sentprobe.generator import event as ev
from sentprobe.generator.layout import ClauseSite, Group, Layout, LayoutValue, event_of, roles_of
from sentprobe.generator.plan import slots_of


class DrawnEvent(NamedTuple):
    """An event of a layout: for each variable, in the layout's order, the index of its value."""

    layout: Layout
    values: Sequence[int]

    @property
    def event(self) -> ev.Event:
        """The event itself."""
        pairs = zip(self.layout.variables, self.values, strict=True)
        return event_of({v.name: v.values[value] for v, value in pairs}, self.layout)

    def value(self, variable: int) -> LayoutValue:
        """Return the value of the variable of that number."""
        return self.layout.variables[variable].values[self.values[variable]]

    def exchanged(self, one: int, other: int) -> "DrawnEvent":
        """Return the event with the values of two variables exchanged."""
        values = list(self.values)
        values[one], values[other] = values[other], values[one]
        return DrawnEvent(self.layout, values)


@dataclass(frozen=True, slots=True)
class ClauseParts:
    """Which variables make up a clause; the voice is None where it is that of ``site``.

    What fills a role is a noun; for the gap it is that which the clause modifies.
    """

    site: ClauseSite
    verb: int
    negation: int
    aspect: int
    tense: int
    voice: int | None
    roles: Mapping[ev.Role, int]

    def voice_of(self, drawn: DrawnEvent) -> str:
        """Return the voice of the clause in an event."""
        return str(self.site.voice if self.voice is None else drawn.value(self.voice))


_STRUCTURAL = ("voice", "aspect", "negation")


@dataclass(frozen=True, slots=True)
class LayoutParts:
    """The variables of a layout by what they are for: nouns in the order of the event, clauses.

    ``determiners`` has the determiner, and so the number, of each noun; ``structural`` are those
    from which the order of the words follows: the shape.
    """

    nouns: tuple[int, ...]
    determiners: Mapping[int, int]
    clauses: tuple[ClauseParts, ...]
    structural: tuple[int, ...]
    shape: Callable[[Sequence[int]], object]


@lru_cache(maxsize=1024)  # as many as there are layouts
def parts_of(layout: Layout) -> LayoutParts:
    """Return the variables of a layout by what they are for."""
    numbers = numbers_of(layout)
    first = DrawnEvent(layout, [0] * len(layout.variables))
    nouns = {slot: numbers[slot] for slot in slots_of(first.event) if slot in numbers}
    nouns = {s: at for s, at in nouns.items() if layout.variables[at].group is Group.NOUN}
    structural = tuple(at for name, at in numbers.items() if name.endswith(_STRUCTURAL))
    return LayoutParts(
        nouns=tuple(nouns.values()),
        determiners={at: numbers[f"{s.removesuffix('noun')}det"] for s, at in nouns.items()},
        clauses=tuple(_clause_parts(site, numbers) for site in layout.clauses),
        structural=structural,
        shape=itemgetter(*structural),
    )


def numbers_of(layout: Layout) -> dict[str, int]:
    """Return the number of each variable of a layout by its name."""
    return {variable.name: number for number, variable in enumerate(layout.variables)}


def _clause_parts(site: ClauseSite, numbers: Mapping[str, int]) -> ClauseParts:
    path = site.path
    owners = {
        role: site.owner if role is site.gap else f"{path}{role.value}."
        for role in roles_of(site.frame)
    }
    return ClauseParts(
        site=site,
        verb=numbers[f"{path}verb"],
        negation=numbers[f"{path}negation"],
        aspect=numbers[f"{path}aspect"],
        tense=numbers[f"{path}tense"],
        voice=numbers.get(f"{path}voice"),
        roles={role: numbers[f"{owner}noun"] for role, owner in owners.items()},
    )
