"""The space of events: all that templates, vocabulary, choices and constraints admit.

Each constraint asks for, or bans, the union of its boxes.

The space is finite and is never listed: it is counted exactly, indexed, and sampled uniformly
without repetition, in time and memory proportional to the events drawn.
"""

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate, chain, combinations, pairwise, product
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sentprobe.errors import UsageError
from sentprobe.generator.boxes import (
    Cell,
    IndexArray,
    cells_of,
    draw_distinct,
    forbid,
    pass_over,
    require,
    whole,
)
from sentprobe.generator.constraints import Allowed, Choices, Constraints, Words, choose_words
from sentprobe.generator.drawn import DrawnEvent
from sentprobe.generator.event import Aspect, Contradiction, Event, Negator, Number
from sentprobe.generator.layout import (
    Layout,
    Restriction,
    Variable,
    make_layout,
    read_values,
    restrict,
)
from sentprobe.generator.notation import write_event
from sentprobe.generator.templates import find_patterns
from sentprobe.lexicon import Flag, Kind, Lexicon

MOST_SENTENCES = 1_000_000_000
"""More are not drawn at once: their indices alone would have more than 8 GB."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A constraint: what it says, and the boxes of a layout that it asks for or bans."""

    text: str
    boxes: Callable[[Layout], Sequence[Restriction]]
    is_ban: bool = False


def make_rules(
    words: Words, lexicon: Lexicon, choices: Choices, constraints: Constraints
) -> list[Rule]:
    """Return the rules that choices and constraints come to."""
    return list(_rules(words, lexicon, choices, constraints))


def _rules(
    words: Words, lexicon: Lexicon, choices: Choices, constraints: Constraints
) -> Iterator[Rule]:
    if choices.main != Event():
        text = f"the main clause {write_event(choices.main)}"
        yield Rule(text, lambda layout: _in_main(choices.main, layout))
    if choices.clause != Event():
        text = f"the relative clause {write_event(choices.clause)}"
        yield Rule(text, lambda layout: _in_all_relatives(choices.clause, layout))
    yield from _event_rules(constraints)
    for lemma in constraints.required_words:
        yield Rule(f"the required word {lemma!r}", _with_word(lemma))
    for lemma in constraints.forbidden_words:
        yield Rule(f"the forbidden word {lemma!r}", _with_word(lemma), is_ban=True)
    states = _states(words, lexicon)
    if states and Flag.STATIVE not in choices.allow:
        text = "leaving out states in the progressive"
        yield Rule(text, lambda layout: _progressive(states, layout), is_ban=True)


def _event_rules(constraints: Constraints) -> Iterator[Rule]:
    for event in constraints.required:
        yield Rule(f"the required event {write_event(event)}", _anywhere(event))
    if constraints.required_any:
        names = " or ".join(map(write_event, constraints.required_any))
        yield Rule(f"the required event {names}", _anywhere(*constraints.required_any))
    for event in constraints.forbidden:
        yield Rule(f"the forbidden event {write_event(event)}", _anywhere(event), is_ban=True)


def _in_main(event: Event, layout: Layout) -> list[Restriction]:
    """Return one restriction that asks the main clause to be *event*."""
    restriction = restrict(event, layout.clauses[0], layout)
    return [] if restriction is None else [restriction]


def _in_clauses(event: Event, layout: Layout) -> list[Restriction]:
    """Return where *event* may be contained, and what each of those clauses asks."""
    found = (restrict(event, site, layout) for site in layout.clauses)
    return [restriction for restriction in found if restriction is not None]


def _anywhere(*events: Event) -> Callable[[Layout], Sequence[Restriction]]:
    """Return the boxes in which some clause is one of *events*."""
    return lambda layout: [box for event in events for box in _in_clauses(event, layout)]


def _in_all_relatives(event: Event, layout: Layout) -> list[Restriction]:
    """Return one restriction that asks every relative clause to be *event*."""
    merged: dict[str, Allowed] = {}
    for site in layout.clauses[1:]:
        restriction = restrict(event, site, layout)
        if restriction is None:
            return []
        for name, allowed in restriction.items():
            merged[name] = merged.get(name, allowed) & allowed
    return [merged] if all(merged.values()) else []


def _with_word(lemma: str) -> Callable[[Layout], Sequence[Restriction]]:
    """Return the boxes in which some word of the sentence is *lemma*."""
    return lambda layout: _boxes_with_word(lemma, layout)


@lru_cache(maxsize=4096)  # a task asks for the same words in the same layouts again and again
def _boxes_with_word(lemma: str, layout: Layout) -> tuple[Restriction, ...]:
    return tuple(
        {variable.name: allowed}
        for variable in layout.variables
        if (allowed := _positions(lemma, variable) & variable.domain)
    )


def _positions(lemma: str, variable: Variable) -> Allowed:
    """Return which values of a variable are the word *lemma*; none if it is no choice of words."""
    if variable.name.endswith("det"):  # a pair of number and lemma
        return frozenset(i for i, pair in enumerate(variable.values) if pair[1] == lemma)
    if variable.group is None and not variable.name.endswith("rel"):
        return frozenset()
    return frozenset(i for i, value in enumerate(variable.values) if value == lemma)


@lru_cache(maxsize=64)  # a task makes thousands of spaces of the same words
def _states(words: Words, lexicon: Lexicon) -> dict[Kind, Allowed]:
    """Return the stative verbs of each frame."""
    found: dict[Kind, Allowed] = {}
    for frame, verbs in words.verbs_by_frame.items():
        kind = Kind(frame.value)
        known = {i: lexicon.get(words.verbs[i], kind) for i in verbs}
        found[kind] = frozenset(i for i, word in known.items() if Flag.STATIVE in word.flags)
    return {kind: stative for kind, stative in found.items() if stative}


def _progressive(states: dict[Kind, Allowed], layout: Layout) -> list[Restriction]:
    aspects = list(Aspect)
    progressive = frozenset([aspects.index(Aspect.PROGRESSIVE)])
    return [
        {f"{site.path}verb": states[kind], f"{site.path}aspect": progressive}
        for site in layout.clauses
        if (kind := Kind(site.frame.value)) in states
    ]


@dataclass(frozen=True, slots=True)
class EventBatch:
    """Events of one layout: their places in the request, and the value indices by variable."""

    layout: Layout
    places: NDArray[np.int64]
    values: Mapping[str, NDArray[np.int64]]


class Batched(Protocol):
    """Events that are numbered, and come many at a time: those of a space, or made from them."""

    lexicon: Lexicon
    words: Words

    def count(self) -> int:
        """Return how many there are."""

    def batches(self, indices: IndexArray) -> Iterator[EventBatch]:
        """Yield the values of the events of these numbers, those of one layout together."""


class Space:
    """The events of the named templates over a vocabulary, under constraints.

    Finding which constraints contradict takes longer than making the space: a caller that does not
    read the message of a Contradiction may leave it out with *explained*.

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
        explained: bool = True,
    ) -> None:
        self.lexicon = lexicon
        self.vocabulary = vocabulary
        self.templates = (templates,) if isinstance(templates, str) else tuple(templates)
        self.choices = choices or Choices()
        self.constraints = constraints or Constraints()
        self.words = choose_words(lexicon, vocabulary, self.choices, self.constraints)
        self._layouts = _layouts(self.templates, self.words, self.choices)
        if self.choices.clause != Event() and all(len(x.clauses) == 1 for x in self._layouts):
            names = ", ".join(self.templates)
            raise Contradiction(f"the templates {names} have no relative clause to fix features of")
        rules = make_rules(self.words, lexicon, self.choices, self.constraints)
        self._cells = list(_cells(self._layouts, rules))
        self._ends = list(accumulate(cell.size for _, cell in self._cells))
        if not self._ends:
            raise Contradiction(self._explain(rules) if explained else "the space has no event")

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
        return self._drawn(index % self.count()).event

    def events(self, indices: IndexArray | Sequence[int]) -> Iterator[Event]:
        """Yield the events at *indices*, in their order; each is made when it is asked for."""
        yield from (drawn.event for drawn in self.drawn(indices))

    def drawn(self, indices: IndexArray | Sequence[int]) -> Iterator[DrawnEvent]:
        """Yield the events at *indices* as :meth:`events` does, by their values."""
        numbers = list(map(int, indices))
        self._check_range(min(numbers, default=0), max(numbers, default=0))
        yield from map(self._drawn, numbers)

    def _drawn(self, index: int) -> DrawnEvent:
        which = bisect_right(self._ends, index)
        layout, cell = self._cells[which]
        start = self._ends[which - 1] if which else 0
        return DrawnEvent(layout, cell.element(index - start))

    def _check_range(self, first: int, last: int) -> None:
        if first < 0 or last >= self.count():
            raise IndexError(f"an index is outside a space of {self.count()} events")

    def index(self, event: Event) -> int:
        """Return where *event* is in the space; undoes indexing.

        Raises:
            ValueError: it is not in the space.
        """
        found = self.find(event)
        if found is None:
            raise ValueError("the event is not in the space")
        return found

    def find(self, event: Event) -> int | None:
        """Return where *event* is in the space, or None if it is not."""
        start, read = 0, None
        for (layout, cell), end in zip(self._cells, self._ends, strict=True):
            if layout is not read:  # its cells follow one another
                read, values = layout, read_values(event, layout)
            at = None if values is None else cell.encode(values)
            if at is not None:
                return start + at
            start = end
        return None

    def sample(self, count: int, *, seed: int, without: Collection[int] = ()) -> IndexArray:
        """Return the indices of *count* different events, drawn uniformly, in random order.

        None is among the indices *without*.

        Raises:
            UsageError: *count* is not positive, or larger than the space without these.
        """
        apart = sorted(set(without))
        left = self.count() - len(apart)
        if count <= 0:
            raise UsageError(f"the number of sentences must be positive, not {count}")
        if count > left:
            but = f"; {len(apart)} are excluded" if apart else ""
            raise UsageError(
                f"{count} sentences were asked for, but there are only {left} different "
                f"ones (templates {', '.join(self.templates)}; vocabulary {self.vocabulary}{but})"
            )
        if count > MOST_SENTENCES:
            raise UsageError(
                f"{count} sentences are too many at once, at most {MOST_SENTENCES:,}; several "
                "commands with --exclude make more"
            )
        return pass_over(apart, draw_distinct(count, left, np.random.default_rng(seed)))

    def batches(self, indices: IndexArray) -> Iterator[EventBatch]:
        """Yield the values of the events at *indices*, those of one layout together."""
        small = self.count() < 2**63
        numbers = np.asarray(indices, dtype=np.int64 if small else object)
        self._check_range(numbers.min(initial=0), numbers.max(initial=0))
        ends = np.array(self._ends, dtype=numbers.dtype)
        owners = (
            np.searchsorted(ends, numbers, side="right")
            if small
            else np.array([bisect_right(self._ends, i) for i in numbers.tolist()])
        )
        few = len(ends) <= np.iinfo(np.uint16).max  # small numbers are sorted by their digits
        order = np.argsort(owners.astype(np.uint16) if few else owners, kind="stable")
        bounds = np.flatnonzero(np.diff(owners[order], prepend=-1, append=-1))
        parts: dict[int, list[EventBatch]] = {}
        for first, last in pairwise(bounds.tolist()):
            places = order[first:last]
            which = int(owners[places[0]])
            layout, cell = self._cells[which]
            values = cell.decode(numbers[places] - (self._ends[which] - cell.size))
            parts.setdefault(id(layout), []).append(EventBatch(layout, places, values))
        yield from map(join_batches, parts.values())

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

    def _widened(self) -> Iterator[tuple[str, tuple[Layout, ...]]]:
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
            yield name, _layouts(self.templates, words, choices)


def join_batches(batches: Sequence[EventBatch]) -> EventBatch:
    """Return batches of one layout as one."""
    layout = batches[0].layout
    places = np.concatenate([batch.places for batch in batches])
    names = [variable.name for variable in layout.variables]
    values = {name: np.concatenate([batch.values[name] for batch in batches]) for name in names}
    return EventBatch(layout, places, values)


def _layouts(templates: tuple[str, ...], words: Words, choices: Choices) -> tuple[Layout, ...]:
    counts = choices.adverbs, choices.adverbs_in_clauses
    return _kept_layouts(templates, words, counts, choices.negators)


@lru_cache(maxsize=1024)  # as many as there are layouts
def _kept_layouts(
    templates: tuple[str, ...],
    words: Words,
    adverbs: tuple[tuple[int, ...], tuple[int, ...]],
    negators: tuple[Negator, ...],
) -> tuple[Layout, ...]:
    """Return the layouts of templates, with so many adverbs in main and in relative clauses."""
    main, inner = adverbs
    return tuple(
        make_layout(pattern, counts, words, negators)
        for pattern in find_patterns(templates)
        for counts in product(main, *[inner] * len(pattern.clauses))
    )


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
