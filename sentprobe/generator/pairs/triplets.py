"""Triplets: an anchor, a positive with the same meaning in another form, and two negatives.

All triplets of a stratum have the same structure. Their negatives differ in the same clause or noun, and their
positives have the same changes of form. Samples are spread evenly over the strata.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property, partial
from itertools import chain, product
from random import Random
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sentprobe.common.errors import UsageError
from sentprobe.generator.events import event as ev
from sentprobe.generator.events.checks import unify
from sentprobe.generator.pairs import contrasts, drafts
from sentprobe.generator.pairs.contrasts import (
    PLURALS,
    adapt_aspects,
    find_form_changes,
    has_contrast,
    restrict_to_decided_nouns,
)
from sentprobe.generator.pairs.drafts import (
    ReplacementTables,
    build_replacements,
    compute_salts,
    find_irreplaceable_words,
    find_near_adjectives,
    find_symmetric_verbs,
    find_unexchangeable_verbs,
    find_verbs_of_frames,
    is_exchangeable_adverb,
    make_text_renderer,
)
from sentprobe.generator.spaces.constraints import Choices, Constraints, Words, choose_words, list_other_vocabularies
from sentprobe.generator.spaces.counting import IndexArray, divide_evenly, sample_distinct
from sentprobe.generator.spaces.layout import ClauseForm, make_layout
from sentprobe.generator.spaces.rules import find_verbs_without_progressive
from sentprobe.generator.spaces.space import MAX_SENTENCES, EventBatch, Space, join_batches
from sentprobe.generator.spaces.templates import Pattern, SplitSide, find_patterns
from sentprobe.lexicon import Kind, Lexicon
from sentprobe.lexicon.lexicon import restrict_to_one_sort
from sentprobe.lexicon.words import PLACE, TIME


class TripletSide(StrEnum):
    """A sentence of a triplet.

    ``NEGATIVE`` has the voice and word order of the positive. ``HARD``, also a negative, has those of the anchor.
    """

    ANCHOR = "anchor"
    POSITIVE = "positive"
    NEGATIVE = "negative"
    HARD = "hard_negative"


SIDES = tuple(TripletSide)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Stratum:
    """The triplets with the same structure, the same changed clause or noun, and the same changes of form.

    ``place`` is the path of the clause or noun that the contrast changes. The anchors are the events of ``spaces``. An
    anchor becomes a positive by :func:`~.drafts.exchange_form`, which is called for each path in ``voices``.
    """

    pattern: Pattern
    place: str
    voices: tuple[str, ...]
    spaces: tuple[Space, ...]

    @property
    def count(self) -> int:
        """The number of triplets."""
        return sum(space.count() for space in self.spaces)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TripletPart:
    """Triplets with anchors from one space of a stratum. ``positions``: the triplets' positions in the TripletSet."""

    stratum: Stratum
    positions: NDArray[np.int64]
    anchors: drafts.EventDraft


SentenceMaker: TypeAlias = Callable[[TripletPart], drafts.EventDraft]
"""Function that returns the event of one sentence, such as the positive, for each triplet of a :class:`TripletPart`."""


class ImpossibleContrastError(UsageError):
    """The contrast is impossible with the template, language, mood or vocabulary."""


class TripletSpace:
    r"""All triplets of a contrast, with the words of a vocabulary and the structures of the named templates.

    *side* restricts words and structures to one side of a split between training and test. *mood* is the mood of all
    sentences.

    Raises:
        UsageError: an unknown contrast, template or vocabulary; a template in which the contrast is impossible; a
            vocabulary without transitive verbs, or with too few words.

    >>> from sentprobe.lexicon import english
    >>> triplets = TripletSpace(english(), "role", templates=["transitive"]).sample(1, seed=1)
    >>> print(*(triplets.render_texts(side)[0] for side in SIDES[:3]), sep="\n")
    the lawyer is not being called by the woman
    the woman is not calling the lawyer
    the lawyer is not calling the woman
    """

    ITEM_NAME: ClassVar[str] = "triplets"
    """The plural, in messages, for the members of the space, such as "queries" in a subclass."""
    SENTENCES_PER_ITEM: ClassVar[int] = len(SIDES)
    """The number of sentences in one member of the space."""

    def __init__(
        self,
        lexicon: Lexicon,
        contrast: str,
        *,
        vocabulary: str = "compeval",
        templates: Sequence[str] = ("all",),
        side: SplitSide | None = None,
        mood: ev.Mood | None = None,
    ) -> None:
        self.side = side
        self.lexicon = side.restrict_lexicon(lexicon, vocabulary) if side else lexicon
        self.contrast = self.find_contrast(contrast)
        if not has_contrast(lexicon.language, self.contrast):
            raise ImpossibleContrastError(f"sentprobe's {lexicon.language.name} cannot have the contrast {contrast!r}")
        self._forbidden_events: tuple[ev.Event, ...] = ()
        if lexicon.language.has_fronting:
            self.lexicon = restrict_to_decided_nouns(self.lexicon, vocabulary)
            self._forbidden_events = PLURALS
        if mood and mood not in self.contrast.common_moods:
            raise ImpossibleContrastError(f"the contrast {contrast!r} is impossible where all sentences are {mood}s")
        self.moods = (mood,) if mood else self.contrast.moods
        if self.contrast.moves_nouns:
            self.lexicon = restrict_to_one_sort(self.lexicon, vocabulary)
        self.vocabulary = vocabulary
        self.templates = self.contrast.templates if tuple(templates) == ("all",) else tuple(templates)
        self.words = self._choose_words()
        strata = [*chain.from_iterable(map(self._find_template_strata, self.templates))]
        # A stratum of several templates is kept once, at the place that the last of them gives it.
        strata_by_key = {(stratum.pattern, stratum.place, stratum.voices): stratum for stratum in reversed(strata)}
        self.strata = tuple(reversed(strata_by_key.values()))

    def find_contrast(self, name: str) -> contrasts.Contrast:
        """Return the contrast with this name. Raises UsageError if it is unknown, with the nearest name."""
        return contrasts.find_contrast(name)

    def count(self) -> int:
        """Return the exact number of triplets."""
        return sum(stratum.count for stratum in self.strata)

    def sample(self, count: int, *, seed: int) -> "TripletSet":
        """Return *count* different triplets, spread evenly over the strata, in random order. Raises UsageError."""
        self.check_count(count)
        return self.sample_unchecked(count, seed=seed)

    def sample_unchecked(self, count: int, *, seed: int) -> "TripletSet":
        """Return *count* different triplets as :meth:`sample` does, but do not call :meth:`check_count`."""
        rng = np.random.default_rng(seed)
        order = np.random.default_rng((seed, 1)).permutation(count)
        shares = divide_evenly(count, [stratum.count for stratum in self.strata], Random(seed))
        parts: list[TripletPart] = []
        start = 0
        for stratum, share in zip(self.strata, shares, strict=True):
            numbers = sample_distinct(share, stratum.count, rng) if share else np.empty(0, np.int64)
            parts += self._build_parts(stratum, numbers, order[start : start + share], seed)
            start += share
        return TripletSet(self, tuple(parts), count, seed)

    def check_count(self, count: int) -> None:
        """Raise UsageError if *count* is below 1, above :meth:`count`, or needs more than MAX_SENTENCES sentences."""
        most = MAX_SENTENCES // self.SENTENCES_PER_ITEM
        if count <= 0:
            raise UsageError(f"the number of {self.ITEM_NAME} must be positive, not {count}")
        if count > self.count():
            side = f"; {self.side}" if self.side else ""
            raise UsageError(
                f"{count} {self.ITEM_NAME} were asked for, but there are only {self.count()} different ones (contrast "
                f"{self.contrast.name}; templates {', '.join(self.templates)}; vocabulary {self.vocabulary}{side})"
            )
        if count > most:
            raise UsageError(
                f"{count} {self.ITEM_NAME} are too many at once, at most {most:,}: each has "
                f"{self.SENTENCES_PER_ITEM} sentences"
            )

    def _build_parts(
        self, stratum: Stratum, numbers: IndexArray, positions: NDArray[np.int64], seed: int
    ) -> Iterator[TripletPart]:
        first = 0
        for space in stratum.spaces:
            selected = np.flatnonzero((numbers >= first) & (numbers < first + space.count()))
            if len(selected):
                space_numbers = numbers[selected] - first
                (batch,) = space.batches(space_numbers)  # a stratum's space has one layout
                order = np.argsort(batch.positions)
                sites = batch.layout.clauses
                anchors = drafts.EventDraft(
                    frame=batch.layout.pattern.frame,
                    clauses=dict(batch.layout.pattern.clauses),
                    adverbs={site.path: site.adverbs for site in sites},
                    values={name: column[order] for name, column in batch.values.items()},
                    words=self.words,
                    replacements=self.replacements,
                    salts=compute_salts(space_numbers, seed),
                    mood=sites[0].form.mood,
                )
                yield TripletPart(stratum=stratum, positions=positions[selected], anchors=anchors)
            first += space.count()

    @cached_property
    def replacements(self) -> ReplacementTables:
        """For each kind of word, a table that says which words of this kind may replace which."""
        return build_replacements(self.lexicon, self.words)

    def _choose_words(self) -> Words:
        """Return the vocabulary's words. Raises UsageError if it lacks transitive verbs or words for the contrast."""
        lexicon, name, kind = self.lexicon, self.vocabulary, self.contrast.needed_kind
        if kind not in (None, Kind.MODAL, Kind.ADJUNCT) and not lexicon.vocabulary(name).words[kind]:
            what = "ditransitive verbs" if kind is Kind.DITRANSITIVE else f"{kind.value}s"
            why = f"the contrast {self.contrast.name!r} needs {what}; vocabulary {name!r} has none"
            raise ImpossibleContrastError(why + list_other_vocabularies(lexicon, kind))
        choices = self._make_choices(drafts.MAIN, ev.Mood.STATEMENT, ev.Event())
        words = choose_words(lexicon, name, choices, Constraints())
        if not words.verbs_by_frame[ev.Frame.TRANSITIVE] | words.verbs_by_frame[ev.Frame.DITRANSITIVE]:
            raise UsageError(
                f"vocabulary {name!r} has no transitive verb, so no sentence of it has a passive "
                "and nothing can be said in another form"
            )
        return words

    def _find_template_strata(self, template: str) -> list[Stratum]:
        """Return the strata of a template. Raises ImpossibleContrastError, with the reason, if there are none."""
        patterns = [p for p in find_patterns([template]) if self.side is None or self.side.has_structure(p)]
        strata = list(chain.from_iterable(map(self._find_strata, patterns)))
        if strata:
            return strata
        name = self.contrast.name
        # From the most general reason to the most special: the first that holds is the one to mend.
        if not patterns:
            why = "all of its structures are on the other side of the split"
        elif self.moods == (ev.Mood.ORDER,):
            why = "no order of it has another form and the contrast"
        elif not any(map(contrasts.find_voice_paths, patterns)):
            why = "no clause of it is transitive, so nothing can be said in another form"
            if self.contrast.needed_kind is Kind.ADJUNCT:
                why = "no clause of it is transitive, and a time or place that moves alone leaves all words the same"
        elif not any([*self.contrast.find_places(pattern)] for pattern in patterns):
            why = f"that needs {self.contrast.requirement}"
        else:
            why = f"vocabulary {self.vocabulary!r} has too few words"
        of = f" of {self.side}" if self.side else ""
        raise ImpossibleContrastError(f"the template {template!r}{of} cannot have the contrast {name!r}: {why}")

    def _find_strata(self, pattern: Pattern) -> Iterator[Stratum]:
        if len(contrasts.find_transitive_paths(pattern, ev.Frame.DITRANSITIVE)) > 1:
            return  # some forms have two readings: either verb could take "to"
        is_order = self.moods == (ev.Mood.ORDER,)
        for place in self.contrast.find_places(pattern):
            if is_order and not (self.contrast.in_orders if place == drafts.MAIN else not place.startswith("agent.")):
                continue
            spaces_by_voice: dict[ev.Voice | None, tuple[Space, ...]] = {}
            for voices, voice in find_form_changes(pattern, self.lexicon.language, self.contrast):
                if is_order and drafts.MAIN in voices:
                    continue  # an order has no passive
                if voice not in spaces_by_voice:
                    spaces_by_voice[voice] = tuple(self._find_anchor_spaces(pattern, place, ev.Event(voice=voice)))
                if spaces := spaces_by_voice[voice]:
                    yield Stratum(pattern=pattern, place=place, voices=voices, spaces=spaces)

    def _find_anchor_spaces(self, pattern: Pattern, place: str, form: ev.Event) -> Iterator[Space]:
        language = self.lexicon.language
        if pattern.clauses and language.closes_clauses:  # a participle last, so that all forms have the same commas
            form = replace(form, aspect=ev.Aspect.PERFECT)
        for condition, mood in product(self.contrast.build_conditions(pattern, place), self.moods):
            try:
                anchors = unify(adapt_aspects(condition, language), form)
                choices = self._make_choices(place, mood, anchors)
                unusable = tuple(sorted(self._find_unusable_words(pattern, place, choices)))
                limits = Constraints(forbidden=self._forbidden_events, forbidden_words=unusable)
                space = Space(
                    self.lexicon, vocabulary=self.vocabulary, templates=[pattern.name], choices=choices,
                    constraints=limits, explained=False,
                )  # fmt: skip
            except ev.Contradiction:
                continue
            yield space

    def _make_choices(self, place: str, mood: ev.Mood, main: ev.Event) -> Choices:
        """Return the features that anchors can have; the partial event *main* fixes features of the main clause."""
        kind = self.contrast.needed_kind
        adverbs, adjectives = ((int(kind is needed),) for needed in (Kind.ADVERB, Kind.ADJECTIVE))
        lemmas = (word.lemma for word in self.lexicon.words(Kind.MODAL))
        # Only the contrast that replaces modals, adverbs or adjectives asks for one, and only in the clause that
        # changes.
        modals: tuple[str | None, ...] = tuple(lemmas) if kind is Kind.MODAL else (None,)
        is_main = place == drafts.MAIN
        determiners: tuple[str, ...] = ()
        if self.contrast.list_determiners is not None:
            determiners = (self.lexicon.language.determiner, *self.contrast.list_determiners(self.lexicon.language))
        return Choices(
            main=main,
            determiners=determiners,
            counted=(place, self.select_determiners(determiners[1:])) if determiners else None,
            moods=(mood,),
            adjuncts=(TIME, PLACE) if kind is Kind.ADJUNCT else (None,),
            modals=modals if is_main else (None,),
            clause_modals=(None,) if is_main else modals,
            adverbs=adverbs if is_main else (0,),
            clause_adverbs=(0,) if is_main else adverbs,
            adjectives=adjectives,
        )

    def select_determiners(self, determiners: tuple[str, ...]) -> frozenset[str]:
        """Return those of the contrast's *determiners* that anchors can have."""
        return frozenset(determiners)

    def _find_unusable_words(self, pattern: Pattern, place: str, choices: Choices) -> set[str]:
        """Return the words that anchors must not have, for example because they may lack a replacement.

        If there is a relative clause, verbs with several frames are unusable, as they could make a sentence ambiguous.
        """
        kind, words = self.contrast.needed_kind, self.words
        unusable = find_verbs_of_frames(words, self.lexicon) if pattern.clauses else set[str]()
        if kind is Kind.ADVERB:
            unusable |= {adverb for adverb in words.adverbs if not is_exchangeable_adverb(adverb, self.lexicon)}
        if kind is Kind.ADJECTIVE:
            unusable |= find_near_adjectives(self.replacements, words)
        if kind is Kind.DITRANSITIVE:
            unusable |= find_unexchangeable_verbs(words, self.lexicon, drafts.parse_noun_role(place))
        if self.contrast.exchanges_roles:
            unusable |= find_symmetric_verbs(words, self.lexicon)
        if self.contrast.only_events:
            flagged = find_verbs_without_progressive(words, self.lexicon).values()
            unusable |= {words.verbs[i] for verbs in flagged for i in verbs}
        if slot := self.contrast.replaced_slot:
            inner = len(pattern.clauses)
            adverbs = choices.adverbs + choices.adverbs_in_clauses * inner
            modals = choices.modals, *[choices.modals_in_clauses] * inner
            forms = tuple(ClauseForm(values != (None,)) for values in modals)
            layout = make_layout(pattern, adverbs, words, (ev.Negator.NOT,), forms)
            lemmas = {"noun": words.nouns, "verb": words.verbs, "modal": words.modals}.get(slot, words.adverbs)
            unusable |= {lemmas[i] for i in find_irreplaceable_words(self.replacements, layout, f"{place}{slot}")}
        return unusable


class TripletSet:
    """A sample of triplets, which are numbered from 0."""

    def __init__(self, space: TripletSpace, parts: tuple[TripletPart, ...], count: int, seed: int) -> None:
        self.space = space
        self.seed = seed
        self.parts = parts
        self._count = count

    def __len__(self) -> int:
        return self._count

    @cached_property
    def _texts(self) -> list[list[str]]:
        return TripletRows(self).render_texts()

    def iterate_portions(self, size: int) -> Iterator[tuple[int, "TripletSet"]]:
        """Yield portions of up to *size* triplets, each as a pair: position of the portion's first triplet, portion."""
        orders = [np.argsort(part.positions) for part in self.parts]
        for start in range(0, len(self), size):
            positions = np.arange(start, min(start + size, len(self)))
            rows = [
                order[slice(*np.searchsorted(part.positions, (start, start + size), sorter=order))]
                for part, order in zip(self.parts, orders, strict=True)
            ]
            yield start, self._take_rows(rows, positions)

    def select(self, positions: NDArray[np.int64]) -> "TripletSet":
        """Return the triplets at *positions* (ascending), renumbered from 0."""
        rows = [np.flatnonzero(np.isin(part.positions, positions)) for part in self.parts]
        return self._take_rows(rows, positions)

    def _take_rows(self, rows_by_part: Sequence[NDArray[np.int64]], positions: NDArray[np.int64]) -> "TripletSet":
        parts = tuple(
            replace(part, positions=np.searchsorted(positions, part.positions[rows]), anchors=part.anchors.select(rows))
            for part, rows in zip(self.parts, rows_by_part, strict=True)
            if len(rows)
        )
        return TripletSet(self.space, parts, len(positions), self.seed)

    def render_texts(self, side: TripletSide) -> list[str]:
        """Return one sentence of each triplet, such as the anchor, in the order of the triplets."""
        return self._texts[SIDES.index(side)]

    def list_strata(self) -> list[Stratum]:
        """Return the stratum of each triplet."""
        stratum_by_position: dict[int, Stratum] = {}
        for part in self.parts:
            stratum_by_position |= dict.fromkeys(part.positions.tolist(), part.stratum)
        return [stratum_by_position[place] for place in range(len(self))]

    def hash_units(self) -> NDArray[np.int64]:
        """Return a hash of the nouns and verbs of each anchor (int64); triplets with the same hash are a unit."""
        units = np.empty(len(self), np.int64)
        for part in self.parts:
            units[part.positions] = [*map(drafts.hash_words, drafts.find_content_words(part.anchors))]
        return units

    def list_makers(self, sides: Sequence[TripletSide] = SIDES) -> list[SentenceMaker]:
        """Return one function for each of *sides*. The function for POSITIVE builds all positives of a TripletPart."""
        return [partial(self.build_draft, side=side) for side in sides]

    def build_draft(self, part: TripletPart, *, side: TripletSide) -> drafts.EventDraft:
        """Return the events of one side, such as the positives. The draft has one event for each triplet of *part*."""
        draft = part.anchors
        if side in (TripletSide.POSITIVE, TripletSide.NEGATIVE):
            for path in part.stratum.voices:
                draft = drafts.exchange_form(draft, path)
        if side in (TripletSide.NEGATIVE, TripletSide.HARD):
            draft = self.space.contrast.edit(draft, part.stratum.place)
        return draft


class TripletRows:
    """The sentences of a set of triplets, numbered from 0: by default, all anchors, all positives, then negatives.

    Each function in *columns* makes one sentence for each triplet. The sentences of the first function come first. By
    default, there are four functions: for the anchor, the positive and two negatives.
    """

    def __init__(self, triplets: TripletSet, columns: Sequence[SentenceMaker] = ()) -> None:
        self.lexicon = triplets.space.lexicon
        self.words = triplets.space.words
        self._triplets = triplets
        self._columns = columns or triplets.list_makers()

    def count(self) -> int:
        """Return the number of sentences."""
        return len(self._triplets) * len(self._columns)

    def render_texts(self) -> list[list[str]]:
        """Return one list of sentences for each column (anchors, ...). A list has one sentence for each triplet."""
        return make_text_renderer(self.lexicon, self.words).render_columns(self, len(self._columns))

    def batches(self, indices: IndexArray) -> Iterator[EventBatch]:
        """Yield the events of the sentences at *indices*, in a batch for each layout."""
        rows = np.asarray(indices, dtype=np.int64)
        output_row_of = np.full(self.count(), -1)
        output_row_of[rows] = np.arange(len(rows))
        batches_by_layout: dict[int, list[EventBatch]] = {}
        for number, column in enumerate(self._columns):
            for part in self._triplets.parts:
                output_rows = output_row_of[part.positions + number * len(self._triplets)]
                is_requested = output_rows >= 0
                if is_requested.any():
                    draft = column(part).select(is_requested)
                    for batch in self.make_batches(draft, output_rows[is_requested]):
                        batches_by_layout.setdefault(id(batch.layout), []).append(batch)
        yield from map(join_batches, batches_by_layout.values())

    def make_batches(self, draft: drafts.EventDraft, rows: NDArray[np.int64]) -> Iterator[EventBatch]:
        """Yield one batch with the events of *draft*. For each event, *rows* has its sentence's index in the output."""
        yield EventBatch(draft.build_layout(), rows, draft.values)
