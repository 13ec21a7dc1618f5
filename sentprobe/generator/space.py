"""The space of events: all that templates, vocabulary, choices and constraints admit.

The space is finite and is never listed: it is counted exactly, indexed, and sampled uniformly
without repetition, in time and memory proportional to the events drawn.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain, combinations, pairwise, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sentprobe.errors import UsageError
from sentprobe.generator.boxes import Cell, IndexArray, cells_of, forbid, require, whole
from sentprobe.generator.constraints import Choices, Constraints
from sentprobe.generator.event import Contradiction, Event, Negator, Number
from sentprobe.generator.layout import Layout, Words, event_of, make_layout
from sentprobe.generator.rules import Rule, make_rules
from sentprobe.generator.sampling import draw_distinct
from sentprobe.generator.templates import Pattern, find_patterns
from sentprobe.generator.values import read_values
from sentprobe.generator.vocabulary import choose_words
from sentprobe.lexicon import Kind, Lexicon


@dataclass(frozen=True, slots=True)
class Batch:
    """Events of one layout: their places in the request, and the value indices by variable."""

    layout: Layout
    places: NDArray[np.int64]
    values: Mapping[str, NDArray[np.int64]]


class Space:
    """The events of the named templates over a vocabulary, under constraints.

    Raises:
        UsageError: an unknown template, vocabulary or word.
        Contradiction: no event satisfies the constraints; the message says which contradict.

    >>> from sentprobe.lexicon import english
    >>> space = Space(english(), vocabulary="compeval", templates=["intransitive"])
    >>> space.count()
    224
    """

    def __init__(
        self,
        lexicon: Lexicon,
        *,
        vocabulary: str = "english",
        templates: Sequence[str] = ("all",),
        choices: Choices | None = None,
        constraints: Constraints | None = None,
    ) -> None:
        self.lexicon = lexicon
        self.vocabulary = vocabulary
        self.templates = (templates,) if isinstance(templates, str) else tuple(templates)
        self.choices = choices or Choices()
        self.constraints = constraints or Constraints()
        self.words = choose_words(lexicon, vocabulary, self.choices, self.constraints)
        self._layouts = list(_layouts(find_patterns(self.templates), self.words, self.choices))
        if self.choices.clause != Event() and all(len(x.clauses) == 1 for x in self._layouts):
            names = ", ".join(self.templates)
            raise Contradiction(f"the templates {names} have no relative clause to fix features of")
        rules = make_rules(self.words, lexicon, self.choices, self.constraints)
        self._cells = list(_cells(self._layouts, rules))
        self._ends = list(accumulate(cell.size for _, cell in self._cells))
        if not self._ends:
            raise Contradiction(self._explain(rules))

    def count(self) -> int:
        """Return how many events there are, exactly."""
        return self._ends[-1]

    def __len__(self) -> int:
        """Return :meth:`count`, where Python can: below 2**63."""
        return self.count()

    def __bool__(self) -> bool:
        return True

    def __getitem__(self, index: int) -> Event:
        """Return the event at *index*, counted from 0, or from the end if negative."""
        if not -self.count() <= index < self.count():
            raise IndexError(f"index {index} is outside a space of {self.count()} events")
        return next(self.events(np.array([index % self.count()], dtype=object)))

    def events(self, indices: IndexArray) -> Iterator[Event]:
        """Yield the events at *indices*, in their order."""
        found: dict[int, Event] = {}
        for batch in self.batches(indices):
            for row, place in enumerate(batch.places.tolist()):
                values = {
                    v.name: v.values[int(batch.values[v.name][row])] for v in batch.layout.variables
                }
                found[place] = event_of(values, batch.layout)
        yield from (found[place] for place in range(len(indices)))

    def index(self, event: Event) -> int:
        """Return where *event* is in the space; undoes indexing.

        Raises:
            ValueError: it is not in the space.
        """
        start = 0
        for (layout, cell), end in zip(self._cells, self._ends, strict=True):
            values = read_values(event, layout)
            at = None if values is None else cell.encode(values)
            if at is not None:
                return start + at
            start = end
        raise ValueError("the event is not in the space")

    def sample(self, count: int, *, seed: int) -> IndexArray:
        """Return the indices of *count* different events, drawn uniformly, in random order.

        Raises:
            UsageError: *count* is not positive, or larger than the space.
        """
        if count <= 0:
            raise UsageError(f"the number of sentences must be positive, not {count}")
        if count > self.count():
            raise UsageError(
                f"{count} sentences were asked for, but there are only {self.count()} different "
                f"ones (templates {', '.join(self.templates)}; vocabulary {self.vocabulary})"
            )
        return draw_distinct(count, self.count(), np.random.default_rng(seed))

    def batches(self, indices: IndexArray) -> Iterator[Batch]:
        """Yield the values of the events at *indices*, those of one layout together."""
        small = self.count() < 2**63
        numbers = np.asarray(indices, dtype=np.int64 if small else object)
        if len(numbers) and not (numbers.min() >= 0 and numbers.max() < self.count()):
            raise IndexError(f"an index is outside a space of {self.count()} events")
        ends = np.array(self._ends, dtype=numbers.dtype)
        owners = (
            np.searchsorted(ends, numbers, side="right")
            if small
            else np.array([bisect_right(self._ends, i) for i in numbers.tolist()])
        )
        order = np.argsort(owners, kind="stable")
        bounds = np.flatnonzero(np.diff(owners[order], prepend=-1, append=-1))
        parts: dict[int, list[Batch]] = {}
        for first, last in pairwise(bounds.tolist()):
            places = order[first:last]
            which = int(owners[places[0]])
            layout, cell = self._cells[which]
            values = cell.decode(numbers[places] - (self._ends[which] - cell.size))
            parts.setdefault(id(layout), []).append(Batch(layout, places, values))
        yield from map(_join, parts.values())

    def _explain(self, rules: Sequence[Rule]) -> str:
        """Say which constraint, or which two, leave nothing."""
        where = f"in the templates {', '.join(self.templates)}"
        if not self.words.determiners:
            return "none of the determiners goes with nouns of that number"
        for culprits in chain([()], combinations(rules, 1), combinations(rules, 2)):
            if next(_cells(self._layouts, culprits), None) is None:
                return self._blame(culprits, where)
        texts = "; ".join(rule.text for rule in rules)
        return f"no sentence satisfies all of these together {where}: {texts}"

    def _blame(self, culprits: Sequence[Rule], where: str) -> str:
        """Say what is wrong with these rules, or with them and a choice of the values to use."""
        for name, layouts in self._widened():
            if next(_cells(layouts, culprits), None) is not None:
                texts = [rule.text for rule in culprits] or ["the size of the vocabulary"]
                return f"{' and '.join([*texts, f'the choice of {name}'])} contradict each other"
        if not culprits:
            return f"the vocabulary has too few words for any sentence {where}"
        if len(culprits) == 1:
            return f"{culprits[0].text} is impossible {where}"
        return f"{culprits[0].text} and {culprits[1].text} contradict each other {where}"

    def _widened(self) -> Iterator[tuple[str, list[Layout]]]:
        """Yield the layouts with all values of one choice allowed, and the name of the choice."""
        every: dict[str, Any] = {
            "numbers": tuple(Number),
            "determiners": tuple(w.lemma for w in self.lexicon.words(Kind.DETERMINER)),
            "relativizers": tuple(w.lemma for w in self.lexicon.words(Kind.RELATIVIZER)),
            "negators": tuple(Negator),
            "adverbs": tuple(range(3)),
        }
        for name, values in every.items():
            choices = replace(self.choices, **{name: values})
            words = choose_words(self.lexicon, self.vocabulary, choices, Constraints())
            yield name, list(_layouts(find_patterns(self.templates), words, choices))


def _join(batches: Sequence[Batch]) -> Batch:
    """Return batches of one layout as one."""
    layout = batches[0].layout
    places = np.concatenate([batch.places for batch in batches])
    names = [variable.name for variable in layout.variables]
    values = {name: np.concatenate([batch.values[name] for batch in batches]) for name in names}
    return Batch(layout, places, values)


def _layouts(patterns: Iterable[Pattern], words: Words, choices: Choices) -> Iterator[Layout]:
    for pattern in patterns:
        inner = [choices.adverbs_in_clauses] * len(pattern.clauses)
        for adverbs in product(choices.adverbs, *inner):
            yield make_layout(pattern, adverbs, words, choices)


def _cells(layouts: Iterable[Layout], rules: Iterable[Rule]) -> Iterator[tuple[Layout, Cell]]:
    """Yield the cells of the space, layout by layout, in an order that depends on nothing else."""
    rules = tuple(rules)
    for layout in layouts:
        boxes = [whole(layout)]
        for rule in rules:
            boxes = (forbid if rule.is_ban else require)(boxes, rule.boxes(layout))
        for box in boxes:
            for cell in cells_of(layout, box):
                if cell.size > 0:
                    yield layout, cell
