"""Choice of units from several sources: in turn, by weight, or so that their sentences differ in all places alike."""

from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from random import Random

from sentprobe.probes.compeval.items import ALL_UNITS, MAX_MISSES, Unit, rank_uses


def take_units(sources: Mapping[str, Iterator[Unit]], count: int, used: set[str], uses: Counter[object]) -> list[Unit]:
    """Return up to *count* units in total, one from each source in turn. Their new sentences are added to *used*.

    - sources: the units of each sub-template, by its name
    - uses: counts the turns of sub-templates (those without a unit, too, so that sub-templates that have none are not
      always tried first), and the numbers of adverbs of units. Sources can balance both
    """
    units: list[Unit] = []
    queue = deque(sources.items())
    while queue and len(units) < count:
        template, source = queue.popleft()
        uses[template] += 1
        if (unit := take_new_unit(source, used)) is not None:
            units.append(unit)
            queue.append((template, source))
            (_, item), *_ = unit
            uses[tuple(site.adverbs for site in item.event.layout.clauses)] += 1
    return units


def take_weighted_units(
    sources: Sequence[Iterator[Unit]], weights: Sequence[float], count: int, used: set[str], rng: Random
) -> tuple[list[Unit], int | None]:
    """Return up to *count* units from sources sampled by weight, and the index of a source that ran out, or None.

    Units with a sentence in *used* are skipped; the sentences of returned units are added to *used*. If a source runs
    out after it gave a unit, sampling stops and the source's index is returned. A source without any unit is dropped.
    """
    units: list[Unit] = []
    remaining, productive = dict(enumerate(weights)), set[int]()
    while remaining and len(units) < count:
        (at,) = rng.choices([*remaining], [*remaining.values()])
        unit = take_new_unit(sources[at], used)
        if unit is not None:
            units.append(unit)
            productive.add(at)
        elif at in productive:
            return units, at
        else:
            del remaining[at]
    return units, None


_MAX_SHARE = 0.16
"""Share of units with a property, from which on units of further sources are looked at."""
_LOOKS = 16
"""Number of further sources that are looked at, at most, before the best of the waiting units is taken."""


def take_spread_units(
    sources: Mapping[str, Iterator[Unit]], count: int, used: set[str], uses: Counter[object]
) -> list[Unit]:
    """Return up to *count* units whose sentences differ in places in which units taken before rarely differ.

    A word at a place where the sentences of a unit are equal cannot tell them apart. *uses* counts the units that
    differ in each place, and those of each sub-template, and is updated. Units that are not taken wait for their turn.
    """
    units: list[Unit] = []
    waiting: list[tuple[list[object], Unit, Iterator[Unit]]] = []
    queue = deque(sources.values())
    while len(units) < count and (queue or waiting):
        for _ in range(min(len(queue), _LOOKS)):
            if waiting and min(rank_uses(uses, keys)[0] for keys, *_ in waiting) <= _MAX_SHARE * uses[ALL_UNITS]:
                break
            source = queue.popleft()
            if (unit := take_new_unit(source, used)) is not None:
                waiting.append(([*find_places(unit), unit[0][1].template], unit, source))
                queue.append(source)
        if waiting:
            best = min(range(len(waiting)), key=lambda at: rank_uses(uses, waiting[at][0]))
            keys, unit, source = waiting.pop(best)
            units.append(unit)
            uses.update([*keys, ALL_UNITS])
            if source in queue:  # what gave a good unit is looked at first
                queue.remove(source)
                queue.appendleft(source)
    # Units that were looked at but not taken may be drawn for other questions.
    used.difference_update(item.text for _, unit, _ in waiting for _, item in unit)
    return units


def find_places(unit: Unit) -> list[int]:
    """Return the places in which a unit's two sentences differ, from the start (0, 1, ...) and the end (-1, ...)."""
    first, second = dict.fromkeys(item.text for _, item in unit)
    left, right = first.split(), second.split()
    forward = [at for at, words in enumerate(zip(left, right, strict=False)) if words[0] != words[1]]
    backward = [-1 - at for at, words in enumerate(zip(left[::-1], right[::-1], strict=False)) if words[0] != words[1]]
    return [*forward, *backward]


def take_new_unit(units: Iterator[Unit], used: set[str]) -> Unit | None:
    """Return the next unit whose sentences are distinct and unused; add them to *used*. None after MAX_MISSES units."""
    for unit in islice(units, MAX_MISSES):
        texts = {item.text for _, item in unit}
        if len(texts) * len({probe for probe, _ in unit}) == len(unit) and not texts & used:
            used |= texts
            return unit
    return None
