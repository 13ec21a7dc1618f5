"""Measure encoders on the triplets of contrasts, and reuse existing results."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np

from sentprobe.common.errors import find_versions
from sentprobe.common.screen import Reporter, SilentReporter
from sentprobe.generator.pairs.triplets import SIDES
from sentprobe.probes.encoders.cache import Cache
from sentprobe.probes.encoders.embedding import embed
from sentprobe.probes.encoders.encoder import Encoder, Vectors, get_capabilities
from sentprobe.probes.similarity import distance_results as rs
from sentprobe.probes.similarity import measures as ms
from sentprobe.probes.similarity.triplet_sentences import TripletSentences
from sentprobe.probes.statistics import accuracy_interval


@dataclass(frozen=True, slots=True, kw_only=True)
class GeometrySettings:
    """The settings that all encoders and contrasts of a run share."""

    background: Sequence[str]
    """The sentences from which whitening is estimated."""
    out: Path | None = None
    force: bool = False
    cache: Cache | None = None
    command: str = ""


@dataclass(frozen=True, slots=True)
class GeometryOutcome:
    """The results of all encoders on all contrasts; ``reused``: how many were read from the results folder."""

    results: tuple[rs.GeometryResult, ...]
    reused: int


def measure_encoders(
    encoders: Sequence[Encoder],
    materials: Sequence[TripletSentences],
    settings: GeometrySettings,
    reporter: Reporter | None = None,
) -> GeometryOutcome:
    """Return the result of each encoder on each contrast. Measure and store those that the results folder lacks."""
    reused = [[_find_result(encoder, material, settings) for material in materials] for encoder in encoders]
    results = [
        result
        for encoder, encoder_results in zip(encoders, reused, strict=True)
        for result in _complete_results(encoder, materials, encoder_results, settings, reporter or SilentReporter())
    ]
    return GeometryOutcome(tuple(results), sum(result is not None for row in reused for result in row))


def _complete_results(
    encoder: Encoder,
    materials: Sequence[TripletSentences],
    results: Sequence[rs.GeometryResult | None],
    settings: GeometrySettings,
    reporter: Reporter,
) -> Iterator[rs.GeometryResult]:
    """Yield *results*, in which each None is replaced by a new result. All sentences needed are encoded at once."""
    missing = [material for material, result in zip(materials, results, strict=True) if result is None]
    sentence_lists = [settings.background, *(material.sentences for material in missing)] if missing else []
    texts = list(dict.fromkeys(text for sentences in sentence_lists for text in sentences))
    rows = {text: row for row, text in enumerate(texts)}
    vectors = embed(encoder, texts, cache=settings.cache, reporter=reporter) if texts else None
    whitening = None if vectors is None else ms.fit_whitening(vectors[[rows[text_] for text_ in settings.background]])
    for material, result in zip(materials, results, strict=True):
        if result is None:
            assert vectors is not None
            material_vectors = vectors[[rows[text] for text in material.sentences]]
            result = measure_encoder(  # noqa: PLW2901
                encoder, material, material_vectors, whitening, command=settings.command
            )
            if settings.out is not None:
                rs.write_geometry(result, settings.out)
        yield result


def _find_result(encoder: Encoder, material: TripletSentences, settings: GeometrySettings) -> rs.GeometryResult | None:
    """Read the result of an encoder from the results folder; None if it is missing or lacks a group of triplets."""
    if settings.out is None or settings.force or not encoder.fingerprint:
        return None
    identity = (encoder.name, encoder.fingerprint, material.contrast, material.fingerprint)
    result = rs.find_geometry(settings.out, identity)
    has_groups = result and all(result.find_by_group(ms.NegativeKind.FORM, by=by) for by in material.groups)
    return result if has_groups else None


def measure_encoder(
    encoder: Encoder, material: TripletSentences, vectors: Vectors, whitening: ms.Whitening | None, *, command: str = ""
) -> rs.GeometryResult:
    """Score the vectors of a contrast's sentences, (sentences, dim). With *whitening*, also score whitened vectors."""
    raw = ms.Sides(*(vectors[rows] for rows in material.rows))
    whitened = None
    if whitening is not None:  # distractors are ranked by cosine alone: the last rows of *vectors* stay as they are
        side_rows = material.rows[: len(SIDES)]
        whitened_vectors = whitening(vectors[: side_rows.max() + 1])
        whitened = ms.Sides(*(whitened_vectors[rows] for rows in side_rows))
    return rs.GeometryResult(
        encoder=encoder.name,
        encoder_fingerprint=encoder.fingerprint,
        encoder_seed=get_capabilities(encoder).seed,
        dim=int(vectors.shape[1]),
        contrast=material.contrast,
        material=material.fingerprint,
        dataset=material.dataset,
        items=tuple(material.items),
        drawing=material.drawing,
        units=tuple(material.units.tolist()),
        scores=tuple(_compute_scores(material, raw, whitened)),
        ranking=_compute_ranking(material, raw),
        command=command,
        versions=find_versions("sentprobe", "numpy"),
    )


def _compute_scores(material: TripletSentences, raw: ms.Sides, whitened: ms.Sides | None) -> Iterator[rs.GeometryScore]:
    units = material.units.tolist()
    everything = [(rs.ALL_TRIPLETS, rs.ALL_TRIPLETS, np.ones(len(units), dtype=np.bool_))]
    parts = [(by, name, np.array(names) == name) for by, names in material.groups.items() for name in sorted({*names})]
    for nearness, kind in product(ms.Nearness, ms.NegativeKind):
        sides = whitened if nearness is ms.Nearness.WHITENED else raw
        if sides is None:
            continue
        answers = ms.score_triplets(sides, raw, kind, nearness)
        for by, group, is_in_group in [*everything, *(parts if nearness is ms.Nearness.COSINE else [])]:
            measured = answers.measure(is_in_group, units)
            right = "" if by else rs.format_answers(answers.scores)
            yield rs.GeometryScore(kind=kind, nearness=nearness, by=by, group=group, measured=measured, right=right)


def _compute_ranking(material: TripletSentences, raw: ms.Sides) -> rs.Ranking | None:
    distractors = len(raw) - len(SIDES)
    if not distractors:
        return None
    ranks, first = ms.rank_positives(raw)
    return rs.Ranking(
        distractors=distractors,
        mean=float(ranks.mean()),
        first=float(first.mean()),
        first_interval=accuracy_interval(first, material.units.tolist()),
    )
