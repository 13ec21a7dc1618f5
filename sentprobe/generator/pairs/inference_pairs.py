"""Natural language inference (NLI): pairs of premise and hypothesis, labelled entailment, neutral or contradiction.

A group has eight pairs: four premises with each of two hypotheses or, with numerals, two premises with each of four.
Half of the pairs with a given premise or a given hypothesis are neutral. So a classifier that sees only the premise or
only the hypothesis gets at most half of a group right; so does one that sees only the bags of words, except with
numerals, which are words.

Pairs and triplets are written as training data for sentence encoders, with the columns that a training loss expects.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

import numpy as np

from sentprobe.common.errors import UsageError
from sentprobe.common.values import format_json
from sentprobe.generator.bulk.generation import PART_SIZE
from sentprobe.generator.events import event as ev
from sentprobe.generator.events.checks import unify
from sentprobe.generator.pairs import drafts
from sentprobe.generator.pairs import triplets as tr
from sentprobe.generator.pairs.contrasts import CONTRASTS, Contrast
from sentprobe.generator.pairs.drafts import Edit
from sentprobe.generator.pairs.triplet_files import TripletFormat, write_rows
from sentprobe.generator.pairs.triplets import TripletRows, TripletSet, TripletSide
from sentprobe.generator.spaces.constraints import Choices
from sentprobe.generator.spaces.templates import Pattern, SplitSide
from sentprobe.lexicon import Kind, Lexicon
from sentprobe.lexicon.words import BARE_COUNT


class NliLabel(IntEnum):
    """The relation of a premise to a hypothesis, numbered as in SNLI."""

    ENTAILMENT = 0
    NEUTRAL = 1
    CONTRADICTION = 2


_ENTAILED, _NEUTRAL, _CONTRADICTED = NliLabel
EditedSide: TypeAlias = tuple[tr.TripletSide, Edit]
"""A sentence of a triplet, and an edit of it; the edit gets the place that the contrast changes."""


@dataclass(frozen=True, slots=True)
class GroupDesign:
    """The sentences of a group of pairs, and their labels: a row for each premise, a column for each hypothesis.

    ``is_exchanged`` says whether exchanging anchor and hard negative of a triplet results in the same group.
    """

    hypotheses: tuple[EditedSide, ...]
    premises: tuple[EditedSide, ...]
    labels: tuple[tuple[NliLabel, ...], ...]
    is_exchanged: bool


def _keep(draft: drafts.EventDraft, _: str) -> drafts.EventDraft:
    return draft


def _negate(draft: drafts.EventDraft, _: str) -> drafts.EventDraft:
    return drafts.toggle_negation(draft, drafts.MAIN)


def _negate_without_adjunct(draft: drafts.EventDraft, path: str) -> drafts.EventDraft:
    return _negate(drafts.drop_adjunct(draft, path), path)


_EXCHANGED = GroupDesign(
    hypotheses=((TripletSide.ANCHOR, _keep), (TripletSide.HARD, _keep)),
    premises=tuple((side, edit) for edit in (_keep, _negate) for side in (TripletSide.POSITIVE, TripletSide.NEGATIVE)),
    labels=((_ENTAILED, _NEUTRAL), (_NEUTRAL, _ENTAILED), (_CONTRADICTED, _NEUTRAL), (_NEUTRAL, _CONTRADICTED)),
    is_exchanged=True,
)
_DROPPED = GroupDesign(
    hypotheses=tuple(
        (side, edit)
        for edit in (drafts.drop_adjunct, _negate_without_adjunct)
        for side in (TripletSide.ANCHOR, TripletSide.HARD)
    ),
    premises=((TripletSide.POSITIVE, _keep), (TripletSide.NEGATIVE, _keep)),
    labels=((_ENTAILED, _NEUTRAL, _CONTRADICTED, _NEUTRAL), (_NEUTRAL, _ENTAILED, _NEUTRAL, _CONTRADICTED)),
    is_exchanged=True,
)
"""Who helped on Monday helped. The negatives have exchanged roles, so that the same words can be neutral, too."""
_MOST = "no more than"
_COUNTED = GroupDesign(
    hypotheses=tuple(
        (TripletSide.ANCHOR, partial(drafts.set_numeral, count=count, change=change))
        for count in (BARE_COUNT, _MOST)
        for change in (-1, 1)
    ),
    premises=tuple((TripletSide.POSITIVE, partial(drafts.set_numeral, count=count)) for count in (BARE_COUNT, _MOST)),
    labels=((_ENTAILED, _NEUTRAL, _CONTRADICTED, _NEUTRAL), (_NEUTRAL, _CONTRADICTED, _NEUTRAL, _ENTAILED)),
    is_exchanged=False,
)
"""Five doctors are two doctors, maybe seven, not "no more than two", maybe "no more than seven"; and so on."""

PAIRS_PER_GROUP = 8
"""The number of pairs in a group."""

DESIGNS: Mapping[str, GroupDesign] = {"role": _EXCHANGED, "negation": _EXCHANGED, "numeral": _COUNTED} | {
    "adjunct": _DROPPED
}
NEUTRAL_CONTRASTS = tuple(DESIGNS)
"""The contrasts with exact labels. The negatives of ``role`` and ``negation`` have the anchor's words, and are neutral
to the anchor and to the anchor's negation.

``modifier`` is excluded: "the man that slept helped the lawyer" presupposes one lawyer, so "the man did not help
the lawyer that slept" contradicts it.
"""


class NliSpace(tr.TripletSpace):
    """All groups of NLI pairs of a contrast, with the words of a vocabulary.

    A group is built from a triplet, by the :class:`GroupDesign` of the contrast.

    Raises:
        UsageError: the contrast is not in NEUTRAL_CONTRASTS; see also :class:`~.TripletSpace`.

    >>> from sentprobe.lexicon import english
    >>> (pairs,) = NliSpace(english(), "role", templates=["transitive"]).iterate_pairs(1, seed=1)
    >>> pairs["premise"][4], pairs["hypothesis"][4]
    ('the woman is calling the lawyer', 'the lawyer is not being called by the woman')
    >>> NliLabel(pairs["label"][4]).name
    'CONTRADICTION'
    """

    ITEM_NAME: ClassVar[str] = f"groups of {PAIRS_PER_GROUP} pairs"
    SENTENCES_PER_ITEM: ClassVar[int] = 6

    def __init__(
        self,
        lexicon: Lexicon,
        contrast: str,
        *,
        vocabulary: str = "compeval",
        templates: Sequence[str] = ("all",),
        side: SplitSide | None = None,
    ) -> None:
        if contrast in CONTRASTS and contrast not in NEUTRAL_CONTRASTS:
            raise UsageError(
                f"the contrast {contrast!r} has no pairs for --nli; use "
                f"{', '.join(NEUTRAL_CONTRASTS[:-1])} or {NEUTRAL_CONTRASTS[-1]} (the negatives of other contrasts are "
                "not always neutral, or have other words)"
            )
        self._design = DESIGNS.get(contrast, _EXCHANGED)
        super().__init__(lexicon, contrast, vocabulary=vocabulary, templates=templates, side=side)

    def count(self) -> int:
        """Return the exact number of groups of NLI pairs in the space."""
        return super().count() // (2 if self._design.is_exchanged else 1)

    def find_contrast(self, name: str) -> Contrast:
        """Return the contrast *name*; for adjuncts, that of roles, of positive clauses with an adjunct."""
        contrast, role = super().find_contrast(name), super().find_contrast("role")
        if contrast.needed_kind is not Kind.ADJUNCT:
            return contrast

        def build_conditions(pattern: Pattern, path: str) -> Iterator[ev.Event]:
            conditions = role.build_conditions(pattern, path)
            yield from (unify(condition, ev.Event(polarity=ev.Polarity.POSITIVE)) for condition in conditions)

        return replace(role, name=name, needed_kind=Kind.ADJUNCT, build_conditions=build_conditions)

    def _make_choices(self, place: str, mood: ev.Mood, main: ev.Event) -> Choices:
        choices = super()._make_choices(place, mood, main)
        # A premise has its adjunct first, and a hypothesis has none.
        return replace(choices, frontings=(ev.Fronting.ADJUNCT,)) if self._design is _DROPPED else choices

    def select_determiners(self, determiners: tuple[str, ...]) -> frozenset[str]:
        """Return the numerals that have a lower and a higher plural numeral."""
        _, *plurals = [numeral for numeral in determiners if " " not in numeral]
        return frozenset(plurals[:-1])

    def iterate_pairs(self, count: int, *, seed: int) -> Iterator[dict[str, list[str] | list[int]]]:
        """Yield all pairs of *count* NLI groups, in batches with columns ``premise``, ``hypothesis``, ``label``.

        Raises:
            UsageError: *count* is not positive, exceeds the number of groups, or requires over MAX_SENTENCES sentences.
        """
        self.check_count(count)
        triplet_count = count
        positions: list[int] = []
        # Two triplets can result in the same group, so the sample grows until it has enough groups.
        while len(positions) < count:
            triplets = self.sample_unchecked(min(triplet_count, super().count()), seed=seed)
            positions = _find_distinct_groups(triplets) if self._design.is_exchanged else [*range(count)]
            triplet_count *= 2
        for _, portion in triplets.select(np.array(positions[:count])).iterate_portions(PART_SIZE):
            yield _build_pairs(zip(*_render_sentences(portion, self._design), strict=True), self._design)

    def _find_strata(self, pattern: Pattern) -> Iterator[tr.Stratum]:
        """Yield at most one stratum for each change of form between anchor and positive, or those with numerals.

        Otherwise two strata could have the same anchors and positives, and differ only in the clause that the negatives
        change. Their groups of sentence pairs would then have pairs in common.
        """
        places = [*self.contrast.find_places(pattern)]
        for stratum in super()._find_strata(pattern):
            is_chosen = stratum.place == places[len(stratum.voices) % len(places)]
            # A numeral in a relative clause belongs to a description: neither of two numbers follows from the other.
            if is_chosen if self._design.is_exchanged else stratum.place.count(".") == 1:
                yield stratum


def _render_sentences(triplets: tr.TripletSet, design: GroupDesign) -> list[list[str]]:
    """Return six lists with one sentence for each triplet: the lists of hypotheses, then the lists of premises."""

    def make(part: tr.TripletPart, side: tr.TripletSide, edit: Edit) -> drafts.EventDraft:
        return edit(triplets.build_draft(part, side=side), part.stratum.place)

    makers = [partial(make, side=side, edit=edit) for side, edit in design.hypotheses + design.premises]
    return tr.TripletRows(triplets, makers).render_texts()


def _find_distinct_groups(triplets: tr.TripletSet) -> list[int]:
    """Return, for each distinct group of NLI pairs, the position of the first triplet that results in it."""
    positions: list[int] = []
    digests: set[bytes] = set()
    for start, portion in triplets.iterate_portions(PART_SIZE):
        sides = (TripletSide.ANCHOR, TripletSide.HARD, TripletSide.POSITIVE, TripletSide.NEGATIVE)
        columns = tr.TripletRows(portion, portion.list_makers(sides)).render_texts()
        for position, (anchor, hard, positive, negative) in enumerate(zip(*columns, strict=True), start):
            group = min((anchor, positive), (hard, negative))  # the same if anchor and hard negative are exchanged
            digest = blake2b("\n".join(group).encode(), digest_size=16).digest()
            if digest not in digests:
                digests.add(digest)
                positions.append(position)
    return positions


def _build_pairs(groups: Iterable[tuple[str, ...]], design: GroupDesign) -> dict[str, list[str] | list[int]]:
    premises: list[str] = []
    hypotheses: list[str] = []
    labels: list[int] = []
    width = len(design.hypotheses)
    for sentences in groups:
        for premise, premise_labels in zip(sentences[width:], design.labels, strict=True):
            premises += [premise] * width
            hypotheses += sentences[:width]
            labels += premise_labels
    return {"premise": premises, "hypothesis": hypotheses, "label": labels}


COLUMNS = (TripletSide.ANCHOR, TripletSide.POSITIVE, TripletSide.NEGATIVE)
"""The columns of training data, in the order that a training loss expects."""

PORTION_SIZE = 32_768
"""Number of triplets that are rendered at a time, and of rows in a Parquet row group."""

TrainingColumns: TypeAlias = Mapping[str, Sequence[str | int]]
"""The values of each column, by the name of the column, in the order that a training loss expects."""


def iterate_training_columns(
    triplets: TripletSet,
    render: Callable[[TripletSet], list[list[str]]] = lambda portion: TripletRows(portion).render_texts(),
) -> Iterator[dict[str, list[str]]]:
    """Yield the triplets in batches; a batch has the columns ``anchor``, ``positive`` and ``negative``.

    For a random half of the triplets, ``negative`` has the negative, in the voice and word order of the positive. For
    the other half, it has the hard negative, in the voice and word order of the anchor. *render* returns four lists of
    sentences: anchors, positives, negatives and hard negatives.

    >>> from sentprobe.generator.pairs.triplets import TripletSpace
    >>> from sentprobe.lexicon import english
    >>> space = TripletSpace(english(), "role", templates=["transitive"])
    >>> (columns,) = iterate_training_columns(space.sample(1, seed=1))
    >>> for name, (text,) in columns.items():
    ...     print(f"{name}: {text}")
    anchor: the lawyer is not being called by the woman
    positive: the woman is not calling the lawyer
    negative: the lawyer is not calling the woman
    """
    order = np.random.default_rng((triplets.seed, 2)).permutation(len(triplets))
    for start, portion in triplets.iterate_portions(PORTION_SIZE):
        anchors, positives, *negatives = render(portion)
        kinds = (order[start : start + len(portion)] % 2).tolist()
        chosen = [pair[kind] for pair, kind in zip(zip(*negatives, strict=True), kinds, strict=True)]
        yield dict(zip(map(str, COLUMNS), (anchors, positives, chosen), strict=True))


def format_training_lines(portions: Iterable[TrainingColumns]) -> Iterator[str]:
    for columns in portions:
        for row in zip(*columns.values(), strict=True):
            fields = dict(zip(columns, row, strict=True))
            yield format_json(fields, separators=(",", ":")) + "\n"


def write_training_data(portions: Iterable[TrainingColumns], path: Path, triplet_format: TripletFormat) -> None:
    """Write portions of training data to a file; in Parquet, each portion is a row group. Raises UsageError."""
    write_rows(path, build_rows(portions, triplet_format))


def build_rows(portions: Iterable[TrainingColumns], triplet_format: TripletFormat) -> Iterator[Any]:
    """Return training data as lines of JSON, or as Arrow tables for Parquet."""
    is_parquet = triplet_format is TripletFormat.PARQUET
    return map(_build_table, portions) if is_parquet else format_training_lines(portions)


def _build_table(columns: TrainingColumns) -> Any:
    import pyarrow as pa

    table = pa.table({name: pa.array(column) for name, column in columns.items()})
    text = {"dtype": "string", "_type": "Value"}
    label = {"names": [nli_label.name.lower() for nli_label in NliLabel], "_type": "ClassLabel"}
    features = {name: label if name == "label" else text for name in columns}
    # Hugging Face's datasets would otherwise read labels as integers without names.
    metadata = {"huggingface": json.dumps({"info": {"features": features}})}
    return table.replace_schema_metadata(metadata)
