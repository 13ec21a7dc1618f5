"""Triplets: an anchor, a positive that means the same in another form, negatives that do not.

A space of triplets is divided into strata: a structure, the place of the contrast in it, and the
clauses whose voice is another in the positive. What is drawn is spread evenly over them.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property, lru_cache, partial
from itertools import chain, combinations
from random import Random
from threading import Lock
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sentprobe.errors import UsageError
from sentprobe.generator import contrasts, drafts
from sentprobe.generator import event as ev
from sentprobe.generator.boxes import IndexArray, draw_distinct
from sentprobe.generator.bulk import Renderer
from sentprobe.generator.constraints import Choices, Constraints, Words, choose_words
from sentprobe.generator.space import MOST_SENTENCES, EventBatch, Space, join_batches
from sentprobe.generator.split import SplitSide
from sentprobe.generator.templates import Pattern, find_patterns
from sentprobe.lexicon import Flag, Kind, Lexicon


class TripletSide(StrEnum):
    """The sentences of a triplet. A negative is in the positive's form, a hard one in the other."""

    ANCHOR = "anchor"
    POSITIVE = "positive"
    NEGATIVE = "negative"
    HARD = "hard_negative"


SIDES = tuple(TripletSide)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Stratum:
    """Triplets of one structure: where they differ, and which clauses change their voice."""

    pattern: Pattern
    place: str
    voices: tuple[str, ...]
    spaces: tuple[Space, ...]

    @property
    def count(self) -> int:
        """How many triplets there are."""
        return sum(space.count() for space in self.spaces)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TripletPart:
    """The drawn triplets of one space of a stratum: their places in the set, and the anchors."""

    stratum: Stratum
    places: NDArray[np.int64]
    anchors: drafts.EventDraft


SentenceMaker: TypeAlias = Callable[[TripletPart], drafts.EventDraft]
"""Makes one sentence of each triplet of a part."""


class NoContrastError(UsageError):
    """A template cannot have a contrast."""


class TripletSpace:
    r"""The triplets of a contrast over a vocabulary, in the named templates.

    Of a *side* of a split, words and structures are those of that side.

    Raises:
        UsageError: an unknown contrast, template or vocabulary; a template that cannot have the
            contrast; a vocabulary without transitive verbs, or with too few words.

    >>> from sentprobe.lexicon import english
    >>> triplets = TripletSpace(english(), "role", templates=["transitive"]).sample(1, seed=1)
    >>> print(*(triplets.texts(side)[0] for side in SIDES[:3]), sep="\n")
    the lawyer is not being called by the doctor
    the doctor is not calling the lawyer
    the lawyer is not calling the doctor
    """

    WHAT: ClassVar[str] = "triplets"
    """What is counted and drawn, for messages."""
    SENTENCES: ClassVar[int] = len(SIDES)
    """So many each of them has."""

    def __init__(
        self,
        lexicon: Lexicon,
        contrast: str,
        *,
        vocabulary: str = "compeval",
        templates: Sequence[str] = ("all",),
        side: SplitSide | None = None,
    ) -> None:
        self.side = side
        self.lexicon = side.lexicon(lexicon, vocabulary) if side else lexicon
        self.contrast = contrasts.find_contrast(contrast)
        self.vocabulary = vocabulary
        self.templates = tuple(templates)
        self.words = _words(self.lexicon, vocabulary)
        self.strata = tuple(chain.from_iterable(map(self._strata_of, self.templates)))
        self.strata = _distinct(self.strata)

    def count(self) -> int:
        """Return how many triplets there are, exactly."""
        return sum(stratum.count for stratum in self.strata)

    def sample(self, count: int, *, seed: int) -> "TripletSet":
        """Return *count* different triplets, spread evenly over the strata, in random order.

        Raises:
            UsageError: *count* is not positive, larger than the space, or too large.
        """
        self.check(count)
        return self.drawn(count, seed=seed)

    def drawn(self, count: int, *, seed: int) -> "TripletSet":
        """Return *count* different triplets as :meth:`sample` does, of which there are so many."""
        rng = np.random.default_rng(seed)
        order = np.random.default_rng((seed, 1)).permutation(count)
        shares = share_out(count, [each.count for each in self.strata], Random(seed))
        parts: list[TripletPart] = []
        start = 0
        for stratum, share in zip(self.strata, shares, strict=True):
            numbers = draw_distinct(share, stratum.count, rng) if share else np.empty(0, np.int64)
            parts += self._parts(stratum, numbers, order[start : start + share], seed)
            start += share
        return TripletSet(self, tuple(parts), count, seed)

    def check(self, count: int) -> None:
        """Refuse to draw so many.

        Raises:
            UsageError: *count* is not positive, larger than the space, or too large.
        """
        most = MOST_SENTENCES // self.SENTENCES
        if count <= 0:
            raise UsageError(f"the number of {self.WHAT} must be positive, not {count}")
        if count > self.count():
            raise UsageError(
                f"{count} {self.WHAT} were asked for, but there are only {self.count()} different "
                f"ones ({self._described()})"
            )
        if count > most:
            raise UsageError(
                f"{count} {self.WHAT} are too many at once, at most {most:,}: each has "
                f"{self.SENTENCES} sentences"
            )

    def _described(self) -> str:
        """Return what the triplets are of, for a message."""
        side = f"; {self.side}" if self.side else ""
        return (
            f"contrast {self.contrast.name}; templates {', '.join(self.templates)}; "
            f"vocabulary {self.vocabulary}{side}"
        )

    def _parts(
        self, stratum: Stratum, numbers: IndexArray, places: NDArray[np.int64], seed: int
    ) -> Iterator[TripletPart]:
        first = 0
        for space in stratum.spaces:
            here = np.flatnonzero((numbers >= first) & (numbers < first + space.count()))
            if len(here):
                yield TripletPart(
                    stratum=stratum,
                    places=places[here],
                    anchors=self._anchors(space, numbers[here] - first, seed),
                )
            first += space.count()

    def _anchors(self, space: Space, numbers: IndexArray, seed: int) -> drafts.EventDraft:
        (batch,) = space.batches(numbers)
        values = {name: np.empty_like(column) for name, column in batch.values.items()}
        for name, column in batch.values.items():
            values[name][batch.places] = column
        batch = EventBatch(batch.layout, np.arange(len(numbers)), values)
        salts = mixed(numbers, seed)
        return drafts.draft_of(batch, self.words, barred=self.barred, salts=salts)

    @cached_property
    def barred(self) -> frozenset[int]:
        """The verbs that are put in for no other."""
        return frozenset(
            place
            for frame, verbs in self.words.verbs_by_frame.items()
            for place in verbs
            if Flag.STATIVE in self.lexicon.get(self.words.verbs[place], Kind(frame.value)).flags
        )

    def _strata_of(self, template: str) -> list[Stratum]:
        """Return the strata of a template.

        Raises:
            UsageError: there are none; says why.
        """
        patterns = [*filter(self._has, find_patterns([template]))]
        found = list(chain.from_iterable(map(self._strata_in, patterns)))
        if found:
            return found
        name = self.contrast.name
        if not patterns:
            why = "none of its structures is there"
        elif not any(map(contrasts.transitive_paths, patterns)):
            why = "no clause of it is transitive, so nothing can be said in another form"
        elif not any([*self.contrast.places(pattern)] for pattern in patterns):
            why = f"that needs {self.contrast.needs}"
        else:
            why = f"vocabulary {self.vocabulary!r} has too few words"
        of = f" of {self.side}" if self.side else ""
        raise NoContrastError(
            f"the template {template!r}{of} cannot have the contrast {name!r}: {why}"
        )

    def _has(self, pattern: Pattern) -> bool:
        return self.side is None or self.side.has_structure(pattern)

    def _strata_in(self, pattern: Pattern) -> Iterator[Stratum]:
        for place in self.contrast.places(pattern):
            made: dict[ev.Voice | None, tuple[Space, ...]] = {}
            for voices, voice in _forms(pattern):
                if voice not in made:
                    made[voice] = tuple(self._spaces(pattern, place, ev.Event(voice=voice)))
                if spaces := made[voice]:
                    yield Stratum(pattern=pattern, place=place, voices=voices, spaces=spaces)

    def _spaces(self, pattern: Pattern, place: str, form: ev.Event) -> Iterator[Space]:
        """Yield the spaces of the anchors that the contrast can be had of at a place."""
        here = int(self.contrast.adverb)
        main, inner = (here, 0) if place == drafts.MAIN else (0, here)
        for condition in self.contrast.conditions(pattern, place):
            try:
                wanted = ev.unify(condition, form)
                choices = Choices(main=wanted, adverbs=(main,), clause_adverbs=(inner,))
                space = self._space(pattern, choices)
                if self.contrast.replaces:
                    self.contrast.edit(self._anchors(space, np.zeros(1, np.int64), 0), place)
            except (ev.Contradiction, drafts.NoOtherWordError):
                continue
            yield space

    def _space(self, pattern: Pattern, choices: Choices) -> Space:
        willing = drafts.OF_THE_WILL & set(self.words.adverbs) if self.contrast.adverb else ()
        return Space(
            self.lexicon,
            vocabulary=self.vocabulary,
            templates=[pattern.name],
            choices=choices,
            constraints=Constraints(forbidden_words=tuple(sorted(willing))),
            explained=False,
        )


def _forms(pattern: Pattern) -> Iterator[tuple[tuple[str, ...], ev.Voice | None]]:
    """Yield the clauses whose voice may change, and the voice of the main clause before, or None.

    With an active and a passive exchanged, a sentence may be of the same words as before, and no
    negative nearer to it: so the number of passives must change.
    """
    paths = contrasts.transitive_paths(pattern)
    for size in range(1, len(paths) + 1):
        for voices in combinations(paths, size):
            inner = {dict(pattern.clauses)[drafts.owner_of(p)].voice for p in voices if p}
            if size % 2:
                yield voices, None
            elif len(inner) == 1:
                yield voices, inner.pop() if drafts.MAIN in voices else None


def _words(lexicon: Lexicon, vocabulary: str) -> Words:
    """Return the words of a vocabulary, which must have transitive verbs."""
    words = choose_words(lexicon, vocabulary, Choices(), Constraints())
    if not words.verbs_by_frame[ev.Frame.TRANSITIVE]:
        raise UsageError(
            f"vocabulary {vocabulary!r} has no transitive verb, so no sentence of it has a passive "
            "and nothing can be said in another form"
        )
    return words


def _distinct(strata: Collection[Stratum]) -> tuple[Stratum, ...]:
    """Return each stratum once, though several templates may name it."""
    kept = {(each.pattern, each.place, each.voices): each for each in reversed([*strata])}
    return tuple(reversed(kept.values()))


def share_out(count: int, sizes: Sequence[int], rng: Random) -> list[int]:
    """Divide *count* into equal shares, none above its size; which get one more is random.

    >>> share_out(10, [2, 100, 100], Random(0))
    [2, 4, 4]
    """
    shares, left = [0] * len(sizes), count
    order = rng.sample(range(len(sizes)), len(sizes))
    order.sort(key=sizes.__getitem__)  # stable: ties stay in random order
    for done, place in enumerate(order):
        shares[place] = min(sizes[place], left // (len(sizes) - done))
        left -= shares[place]
    return shares


def mixed(numbers: IndexArray, seed: int) -> NDArray[np.uint64]:
    """Return a number for each that looks random and follows from it and the seed (SplitMix64)."""
    low = np.array([int(each) & (2**64 - 1) for each in numbers.tolist()], dtype=np.uint64)
    with np.errstate(over="ignore"):
        x = low + np.uint64((seed * 0x9E3779B97F4A7C15 + 0x632BE59BD9B4E019) & (2**64 - 1))
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            x = (x ^ (x >> np.uint64(shift))) * np.uint64(factor)
        return np.asarray(x ^ (x >> np.uint64(31)))


class TripletSet:
    """Triplets that were drawn; each has a number from 0."""

    def __init__(
        self, space: TripletSpace, parts: tuple[TripletPart, ...], count: int, seed: int
    ) -> None:
        self.space = space
        self.seed = seed
        self.parts = parts
        self._count = count

    def __len__(self) -> int:
        return self._count

    @cached_property
    def _texts(self) -> list[list[str]]:
        return TripletRows(self).texts()

    def texts(self, side: TripletSide) -> list[str]:
        """Return the sentences of one side, in the order of the triplets."""
        return self._texts[SIDES.index(side)]

    def strata(self) -> list[Stratum]:
        """Return the stratum of each triplet."""
        found: dict[int, Stratum] = {}
        for part in self.parts:
            found |= dict.fromkeys(part.places.tolist(), part.stratum)
        return [found[place] for place in range(len(self))]

    def units(self) -> NDArray[np.int64]:
        """Return a number for each triplet: those of the same nouns and verbs have the same."""
        keys: dict[tuple[str, ...], int] = {}
        units = np.empty(len(self), np.int64)
        for part in self.parts:
            for place, words in zip(part.places.tolist(), _content(part.anchors), strict=True):
                units[place] = keys.setdefault(words, len(keys))
        return units

    def events(self, side: TripletSide) -> list[ev.Event]:
        """Return the events of one side, in the order of the triplets."""
        found: dict[int, ev.Event] = {}
        for part in self.parts:
            draft = self.draft(part, side=side)
            found |= {place: draft.event(row) for row, place in enumerate(part.places.tolist())}
        return [found[place] for place in range(len(self))]

    def draft(self, part: TripletPart, *, side: TripletSide) -> drafts.EventDraft:
        """Return the events of one side of a part."""
        draft = part.anchors
        if side in (TripletSide.POSITIVE, TripletSide.NEGATIVE):
            for path in part.stratum.voices:
                draft = drafts.exchange_voice(draft, path)
        if side in (TripletSide.NEGATIVE, TripletSide.HARD):
            draft = self.space.contrast.edit(draft, part.stratum.place)
        return draft


def _content(draft: drafts.EventDraft) -> Iterator[tuple[str, ...]]:
    """Yield the nouns and verbs of each event, sorted."""
    columns = [
        np.array(words)[column]
        for name, column in draft.values.items()
        for kind, words in (("noun", draft.words.nouns), ("verb", draft.words.verbs))
        if name.rpartition(".")[2] == kind
    ]
    yield from map(tuple, np.sort(np.stack(columns, axis=1), axis=1).tolist())


class TripletRows:
    """The sentences of a set of triplets as rows: all of one column, then all of the next.

    A column makes the sentences of a part of the set; without any, they are the sides.
    """

    def __init__(self, triplets: TripletSet, columns: Sequence[SentenceMaker] = ()) -> None:
        self.lexicon = triplets.space.lexicon
        self.words = triplets.space.words
        self._triplets = triplets
        self._columns = columns or tuple(partial(triplets.draft, side=side) for side in SIDES)

    def count(self) -> int:
        """Return how many sentences there are."""
        return len(self._triplets) * len(self._columns)

    def texts(self) -> list[list[str]]:
        """Return the sentences of each column, in the order of the triplets."""
        lines = _text_writer(self.lexicon, self.words).lines(self)
        step = len(self._triplets)
        return [lines[first : first + step] for first in range(0, self.count(), step)]

    def batches(self, indices: IndexArray) -> Iterator[EventBatch]:
        """Yield the values of the sentences of these rows."""
        rows = np.asarray(indices, dtype=np.int64)
        where = np.full(self.count(), -1)
        where[rows] = np.arange(len(rows))
        found: dict[int, list[EventBatch]] = {}
        for number, column in enumerate(self._columns):
            for part in self._triplets.parts:
                wanted = where[part.places + number * len(self._triplets)]
                chosen = wanted >= 0
                if chosen.any():
                    draft = column(part)
                    values = {name: each[chosen] for name, each in draft.values.items()}
                    batch = EventBatch(draft.layout(), wanted[chosen], values)
                    found.setdefault(id(batch.layout), []).append(batch)
        yield from map(join_batches, found.values())


class _TextWriter:
    """Writes the texts of rows; what it works out of a structure serves all rows of its words."""

    def __init__(self, lexicon: Lexicon, words: Words) -> None:
        self.lexicon = lexicon
        self.words = words
        self._rows: TripletRows | None = None
        self._lock = Lock()
        self._renderer = Renderer(self, lambda sentence: f"{sentence.text}\n")

    def lines(self, rows: TripletRows) -> list[str]:
        """Return the text of each row."""
        with self._lock:  # one is kept for all threads
            self._rows = rows
            try:
                chunks = self._renderer.chunks(np.arange(rows.count()))
                return "".join(text for _, text in chunks).split("\n")
            finally:
                self._rows = None

    def count(self) -> int:
        """Return how many rows there are."""
        return self._rows.count() if self._rows else 0

    def batches(self, indices: IndexArray) -> Iterator[EventBatch]:
        """Yield the values of these rows."""
        yield from self._rows.batches(indices) if self._rows else ()


@lru_cache(maxsize=4)
def _text_writer(lexicon: Lexicon, words: Words) -> _TextWriter:
    return _TextWriter(lexicon, words)
