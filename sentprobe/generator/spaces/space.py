"""The finite space of events that templates, vocabulary, choices and constraints allow: counted, indexed, sampled."""

from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import accumulate, chain, combinations, groupby, pairwise, product
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sentprobe.common.errors import UsageError
from sentprobe.generator.events.event import Asked, Contradiction, Event, Fronting, Mood, Negator, Number
from sentprobe.generator.events.notation import write_event
from sentprobe.generator.spaces import counting
from sentprobe.generator.spaces.constraints import Choices, Constraints, Words, choose_words, list_other_vocabularies
from sentprobe.generator.spaces.drawn_event import DrawnEvent
from sentprobe.generator.spaces.layout import (
    DRAWN_ASPECTS,
    ClauseForm,
    Layout,
    RequestedAspects,
    can_have_form,
    list_phrase_forms,
    make_layout,
    read_values,
)
from sentprobe.generator.spaces.profile import Profile, SpaceStratum, find_strata, sample_strata
from sentprobe.generator.spaces.restrictions import Rule
from sentprobe.generator.spaces.rules import POLARITY, iterate_rules, list_requested_aspects
from sentprobe.generator.spaces.templates import expand_templates, find_patterns
from sentprobe.lexicon import Kind, Lexicon
from sentprobe.lexicon.words import NAMED

MAX_SENTENCES = 1_000_000_000
"""Maximum sample size; the indices of a larger sample would take more than 8 GB."""


@dataclass(frozen=True, slots=True)
class EventBatch:
    """Events of one layout: their positions among the requested events, and the indices of their words and features."""

    layout: Layout
    positions: NDArray[np.int64]
    values: Mapping[str, NDArray[np.int64]]


class NumberedEvents(Protocol):
    """Numbered events that are read in batches: the events of a space, or parsed events."""

    lexicon: Lexicon
    words: Words

    def count(self) -> int:
        """Return the number of events."""

    def batches(self, indices: counting.IndexArray) -> Iterator[EventBatch]:
        """Yield the events at *indices*, in a batch for each layout."""


class Space:
    """The events of the named templates, with words of a vocabulary, that satisfy constraints.

    If no event satisfies them, the search for the reason takes longer than building a space. ``explained=False`` skips
    this search, for callers that do not show the message of the Contradiction.

    Raises:
        UsageError: an unknown template, vocabulary or word.
        Contradiction: no event satisfies the constraints; the message names those that contradict each other.

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
        profile: Profile | None = None,
        explained: bool = True,
    ) -> None:
        self.lexicon = lexicon
        self.vocabulary = vocabulary
        self.templates = (templates,) if isinstance(templates, str) else tuple(templates)
        self.choices = choices or Choices()
        self.constraints = constraints or Constraints()
        self.words = choose_words(lexicon, vocabulary, self.choices, self.constraints)
        self._aspects = list_requested_aspects(self.choices, self.constraints, lexicon.language)
        self.layouts = _build_layouts(self.templates, self.words, self.choices, self._aspects)
        if not self.layouts:
            raise Contradiction(self._explain_structure())
        # Every sentence would satisfy features of absent clauses, and the option would do nothing.
        if self.choices.clause != Event() and all(len(x.clauses) == 1 for x in self.layouts):
            names = ", ".join(self.templates)
            raise Contradiction(f"the templates {names} have no relative clause to fix features of")
        rules = iterate_rules(self.words, lexicon, self.choices, self.constraints)
        self.profile = profile
        self.strata: Sequence[SpaceStratum] = ()
        if profile is None:
            self._boxes = list(_count_boxes(self.layouts, rules))
        else:
            self.strata = find_strata(_find_boxes(self.layouts, rules), profile)
            # In the order of the strata, whose ranges of indices are those of their boxes.
            self._boxes = [box for stratum in self.strata for box in stratum.boxes if box.size]
        self._ends = list(accumulate(box.size for box in self._boxes))
        if not self._ends:
            raise Contradiction(self._explain() if explained else "the space has no event")

    def count(self) -> int:
        """Return the exact number of events."""
        return self._ends[-1]

    def __len__(self) -> int:
        """Return the number of events, which must be below 2**63; :meth:`count` has no limit."""
        return self.count()

    def __bool__(self) -> bool:
        return True

    def __getitem__(self, index: int) -> Event:
        """Return the event at *index*, counted from 0, or from the end if negative."""
        if not -self.count() <= index < self.count():
            raise IndexError(f"index {index} is outside a space of {self.count()} events")
        return self._decode_one(index % self.count()).event

    def events(self, indices: counting.IndexArray | Sequence[int]) -> Iterator[Event]:
        """Yield the events at *indices*, in the order of *indices*; events are built only when needed."""
        yield from (drawn.event for drawn in self.decode(indices))

    def decode(self, indices: counting.IndexArray | Sequence[int]) -> Iterator[DrawnEvent]:
        """Yield the events at *indices* as drawn events, in the order of *indices*."""
        numbers = list(map(int, indices))
        self._check_range(min(numbers, default=0), max(numbers, default=0))
        yield from map(self._decode_one, numbers)

    def _decode_one(self, index: int) -> DrawnEvent:
        which = bisect_right(self._ends, index)
        box = self._boxes[which]
        rank = index - (self._ends[which] - box.size)
        for cell in box.cells:
            if rank < cell.size:
                break
            rank -= cell.size
        return DrawnEvent(box.layout, cell.decode_one(rank))

    def _check_range(self, first: int, last: int) -> None:
        if first < 0 or last >= self.count():
            raise IndexError(f"an index is outside a space of {self.count()} events")

    def index(self, event: Event) -> int:
        """Return the index of *event* in the space. Raises ValueError if the space lacks the event."""
        position = self.find(event)
        if position is None:
            raise ValueError("the event is not in the space")
        return position

    def find(self, event: Event) -> int | None:
        """Return the index of *event* in the space, or None if the space lacks the event."""
        read = None
        for box, end in zip(self._boxes, self._ends, strict=True):
            if box.layout is not read:  # the boxes of a layout are consecutive
                read, values = box.layout, read_values(event, box.layout)
            if values is None or not box.has_values(values):
                continue
            start = end - box.size
            for cell in box.cells:
                if (at := cell.encode(values)) is not None:
                    return start + at
                start += cell.size
        return None

    def find_frame_ranges(self) -> list[tuple[int, int]]:
        """Return (first index, end) of each run of events whose main clauses have the same frame."""
        ends = [0, *self._ends]
        runs = [(box.layout.pattern.frame, *bounds) for box, bounds in zip(self._boxes, pairwise(ends), strict=True)]
        groups = [list(run) for _, run in groupby(runs, key=lambda run: run[0])]
        return [(group[0][1], group[-1][2]) for group in groups]

    def sample(self, count: int, *, seed: int, without: Collection[int] = ()) -> counting.IndexArray:
        """Return the indices of *count* different events, sampled uniformly or by profile, in random order.

        The indices in *without* are excluded.

        Raises:
            UsageError: *count* is not positive, or larger than the number of available events or than MAX_SENTENCES.
        """
        excluded = sorted(set(without))
        available = self.count() - len(excluded)
        if count <= 0:
            raise UsageError(f"the number of sentences must be positive, not {count}")
        if count > available:
            note = f"; {len(excluded)} are excluded" if excluded else ""
            raise UsageError(
                f"{count} sentences were asked for, but there are only {available} different "
                f"ones (templates {', '.join(self.templates)}; vocabulary {self.vocabulary}{note})"
            )
        if count > MAX_SENTENCES:
            raise UsageError(
                f"{count} sentences are too many at once, at most {MAX_SENTENCES:,}; several "
                "commands with --exclude make more"
            )
        rng = np.random.default_rng(seed)
        if self.strata:
            return sample_strata(self.strata, count, excluded, rng)
        return counting.skip_excluded(excluded, counting.sample_distinct(count, available, rng))

    def batches(self, indices: counting.IndexArray) -> Iterator[EventBatch]:
        """Yield the events at *indices*, grouped by layout: one batch for each layout."""
        small = self.count() < 2**63
        numbers = np.asarray(indices, dtype=np.int64 if small else object)
        self._check_range(numbers.min(initial=0), numbers.max(initial=0))
        if len(numbers) >= len(self._boxes):
            cells = self._all_cells
        else:  # index the cells of the boxes that are needed: a large space has thousands of others
            box_numbers = sorted({bisect_right(self._ends, number) for number in numbers.tolist()})
            cells = _CellIndex([(self._boxes[at], self._ends[at]) for at in box_numbers])
        if small:
            cell_numbers = np.searchsorted(np.array(cells.ends), numbers, side="right")
        else:
            cell_numbers = np.array([bisect_right(cells.ends, number) for number in numbers.tolist()])
        owners = cells.layout_numbers[cell_numbers]
        # In small integers, which NumPy sorts by radix; stable, so that a batch has the order of the request.
        order = np.argsort(owners.astype(np.min_scalar_type(len(cells.tables))), kind="stable")
        bounds = np.flatnonzero(np.diff(owners[order], prepend=-1, append=-1))
        starts = np.array(cells.starts, dtype=numbers.dtype)
        for first, last in pairwise(bounds.tolist()):
            places = order[first:last]
            layout, table = cells.tables[owners[places[0]]]
            batch_cells = cell_numbers[places]
            yield EventBatch(
                layout, places, table.decode(numbers[places] - starts[batch_cells], cells.ranks[batch_cells])
            )

    @cached_property
    def _all_cells(self) -> "_CellIndex":
        return _CellIndex([*zip(self._boxes, self._ends, strict=True)])

    def _explain_structure(self) -> str:
        """Return the reason why no structure of the templates has the chosen moods, questions and coordinations."""
        templates = f"the templates {', '.join(self.templates)}"
        if None not in self.choices.frontings and Mood.STATEMENT not in self.choices.moods:
            orders = " or ".join(str(fronting) for fronting in self.choices.frontings)
            return f"only statements have the order {orders}"
        if _build_layouts(self.templates, self.words, replace(self.choices, coordinations=(0,))):
            count = min(self.choices.coordinations)
            return f"no sentence of {templates} has {count} nouns without relative clauses to coordinate"
        if None not in self.choices.reflexives:
            roles = " or ".join(role.value for role in self.choices.reflexives if role is not None)
            who = "a recipient or the patient of a transitive verb"
            return f"no sentence of {templates} has a reflexive {roles}; only {who} can be reflexive"
        if {*self.choices.moods} == {Mood.ORDER}:
            return f"an order has no agent, and {templates} need an agent with a relative clause"
        roles = " or ".join(role.value for role in self.choices.asked if role is not None)
        return f"the {roles} to ask for must stand in {templates}, without a relative clause"

    def _explain(self) -> str:
        """Return a message that names a constraint, or a pair of constraints, that no event satisfies."""
        for event in self.constraints.required:
            options = (
                ("ask", event.asked, self.choices.asked),
                ("reflexive", event.reflexive, self.choices.reflexives),
            )
            for option in (f"--{name} {role.value}" for name, role, roles in options if role and role not in roles):
                return f"the required event {write_event(event)} needs {option}"
            if event.mood not in (Mood.STATEMENT, *self.choices.moods):
                return f"the required event {write_event(event)} needs --mood {event.mood.value}"
        rules = [*iterate_rules(self.words, self.lexicon, self.choices, self.constraints, is_detailed=True)]
        where = "in all templates" if self.templates == ("all",) else f"in the templates {', '.join(self.templates)}"
        if not self.words.determiners:
            return "none of the determiners goes with nouns of that number"
        if self.profile is not None and next(_count_boxes(self.layouts, rules), None) is not None:
            return f"the profile {self.profile.name} gives every possible sentence {where} a weight of 0"
        # The vocabulary alone may be too small; then single rules come before pairs, for the shortest explanation.
        for culprits in chain([()], combinations(rules, 1), combinations(rules, 2)):
            if next(_count_boxes(self.layouts, culprits), None) is None:
                return self._describe_culprits(culprits, where)
        texts = "; ".join(rule.text for rule in rules)
        return f"no sentence satisfies all of these together {where}: {texts}"

    def _describe_culprits(self, culprits: Sequence[Rule], where: str) -> str:
        """Explain why no sentence satisfies *culprits* or, if this list of rules is empty, why there is no sentence."""
        if reasons := [rule.text for rule in culprits if rule.text.endswith("no form with n't")]:
            return f"{reasons[0]}; use the negator not"
        # If another choice would leave sentences, the choice is to blame, too: it is named first.
        for name, layouts in self._widen_choices():
            if next(_count_boxes(layouts, culprits), None) is not None:
                texts = [rule.text for rule in culprits] or ["the size of the vocabulary"]
                message = f"{' and '.join([*texts, f'the choice of {name}'])} contradict each other"
                if name == "determiners" and POLARITY in texts:
                    reason = "it needs a negation or question before it; add --determiner the"
                    message = f"any cannot be the only determiner here: {reason}"
                return message
        if not culprits:
            frames = {site.frame for layout in self.layouts for site in layout.clauses}
            for frame in sorted(frames):
                if not self.words.verbs_by_frame[frame]:
                    others = list_other_vocabularies(self.lexicon, Kind(frame.value))
                    return f"vocabulary {self.vocabulary!r} has no {frame.value} verb{others}"
            return f"the vocabulary has too few words for any sentence {where}"
        if len(culprits) == 1:
            return f"no sentence {where} satisfies this: {culprits[0].text}"
        return f"{culprits[0].text} and {culprits[1].text} contradict each other {where}"

    def _widen_choices(self) -> Iterator[tuple[str, tuple[Layout, ...]]]:
        """Yield pairs such as ("modals", layouts): the space would have these layouts if it allowed all modals."""
        language = self.lexicon.language
        all_values: dict[str, Any] = {
            "numbers": tuple(Number),
            "determiners": tuple(w.lemma for w in self.lexicon.words(Kind.DETERMINER) if w.phrase not in NAMED),
            "relativizers": tuple(w.lemma for w in self.lexicon.words(Kind.RELATIVIZER)),
            "negators": tuple(map(Negator, language.cues)),
            "modals": (None, *(w.lemma for w in self.lexicon.words(Kind.MODAL))),
            "adverbs": tuple(range(min(3, language.max_adverbs + 1))),
            "adjectives": (0, 1) if self.words.adjectives else (0,),
            "coordinations": (0, 1) if language.has_coordination else (0,),
            "moods": tuple(Mood) if {*self.choices.moods} != {Mood.STATEMENT} else (Mood.STATEMENT,),
        }
        for name, values in all_values.items():
            choices = replace(self.choices, **{name: values})
            words = choose_words(self.lexicon, self.vocabulary, choices, Constraints())
            yield name, _build_layouts(self.templates, words, choices, self._aspects)


def join_batches(batches: Sequence[EventBatch]) -> EventBatch:
    """Return one batch with the events of several batches of the same layout."""
    layout = batches[0].layout
    positions = np.concatenate([batch.positions for batch in batches])
    names = [variable.name for variable in layout.variables]
    values = {name: np.concatenate([batch.values[name] for batch in batches]) for name in names}
    return EventBatch(layout, positions, values)


class _CellIndex:
    """Cells (parts of boxes): each cell's range of event indices, its layout, and its rank among the layout's cells."""

    def __init__(self, boxes: Sequence[tuple[counting.CountedBox, int]]) -> None:
        self.starts: list[int] = []
        self.ends: list[int] = []
        cells_by_layout: dict[Layout, list[counting.Cell]] = {}
        numbers: dict[Layout, int] = {}
        pairs = []
        for box, box_end in boxes:
            end = box_end - box.size
            layout_cells = cells_by_layout.setdefault(box.layout, [])
            number = numbers.setdefault(box.layout, len(numbers))
            for cell in box.cells:
                self.starts.append(end)
                self.ends.append(end := end + cell.size)
                pairs.append((number, len(layout_cells)))
                layout_cells.append(cell)
        self.layout_numbers, self.ranks = np.array(pairs).reshape(-1, 2).T
        self.tables = [(layout, counting.CellTable(cells)) for layout, cells in cells_by_layout.items()]


def _build_layouts(
    templates: tuple[str, ...], words: Words, choices: Choices, aspects: RequestedAspects = DRAWN_ASPECTS
) -> tuple[Layout, ...]:
    counts = choices.adverbs, choices.adverbs_in_clauses, choices.adjectives, choices.coordinations
    modals = choices.modals, choices.modals_in_clauses
    is_modal, is_clause_modal = (tuple(dict.fromkeys(modal is not None for modal in values)) for values in modals)
    forms = tuple(_iterate_main_forms(choices, is_modal)), tuple(map(ClauseForm, is_clause_modal))
    return _build_cached_layouts(templates, words, counts, choices.negators, forms, aspects=aspects)


def _iterate_main_forms(choices: Choices, is_modal: tuple[bool, ...]) -> Iterator[ClauseForm]:
    """Yield the forms of main clauses that the choices allow. Imperatives (orders) never have a modal."""
    has_adjunct = tuple(dict.fromkeys(adjunct is not None for adjunct in choices.adjuncts))
    frontings = sorted(choices.frontings, key=lambda fronting: fronting is None)
    for mood, fronting in product(choices.moods, frontings):
        if fronting is not None and mood is not Mood.STATEMENT:
            continue
        for adjunct in (True,) if fronting is Fronting.ADJUNCT else has_adjunct:
            base = ClauseForm(mood=mood, fronting=fronting, has_adjunct=adjunct)
            if fronting is Fronting.OBJECT or mood is Mood.ORDER:
                # The reflexive of an order would be yourself, which the lexicon lacks.
                yield from [base] if fronting or None in choices.reflexives else []
                continue
            for role, modal in product(choices.asked if mood is Mood.QUESTION else (None,), is_modal):
                for asked in (None,) if role is None else tuple((role, word) for word in Asked):
                    form = base._replace(is_modal=modal, asked=asked)
                    yield from (form._replace(reflexive=reflexive) for reflexive in choices.reflexives)


@lru_cache(maxsize=1024)  # number of layouts
def _build_cached_layouts(
    templates: tuple[str, ...],
    words: Words,
    counts: tuple[tuple[int, ...], ...],
    negators: tuple[Negator, ...],
    forms: tuple[tuple[ClauseForm, ...], tuple[ClauseForm, ...]],
    *,
    aspects: RequestedAspects,
) -> tuple[Layout, ...]:
    """Return the layouts of *templates*, with every possible combination of modifier *counts* and clause *forms*."""
    main, inner, adjectives, coordinations = counts
    main_forms, inner_forms = forms
    return tuple(
        make_layout(pattern, adverbs, words, negators, clause_forms, phrases=phrases, aspects=aspects)
        for pattern in find_patterns(expand_templates(templates, words.language))
        for adverbs in product(main, *[inner] * len(pattern.clauses))
        for clause_forms in product(main_forms, *[inner_forms] * len(pattern.clauses))
        if can_have_form(pattern, clause_forms[0])
        for phrases in list_phrase_forms(pattern, clause_forms[0], adjectives, coordinations)
    )


def _find_boxes(layouts: Iterable[Layout], rules: Iterable[Rule]) -> Iterator[tuple[Layout, counting.Box]]:
    """Yield (layout, box) for each box that remains of a layout after all rules are applied; the order is fixed."""
    rules = tuple(rules)
    for layout in layouts:
        boxes = [counting.build_full_box(layout)]
        for rule in rules:
            boxes = (counting.forbid if rule.is_ban else counting.require)(boxes, rule.find_boxes(layout))
        yield from ((layout, box) for box in boxes)


def _count_boxes(layouts: Iterable[Layout], rules: Iterable[Rule]) -> Iterator[counting.CountedBox]:
    """Apply all rules to the layouts; yield the remaining boxes that contain events, with their sizes."""
    for layout, box in _find_boxes(layouts, rules):
        if (counted := counting.count_box(layout, box)).size:
            yield counted
