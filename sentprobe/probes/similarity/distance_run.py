"""Measure encoders on the triplets of contrasts, and reuse existing results."""

from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path

import numpy as np

from sentprobe.common.errors import UsageError, find_versions
from sentprobe.common.screen import Reporter, SilentReporter
from sentprobe.common.specs import Spec
from sentprobe.generator.pairs.triplets import SIDES
from sentprobe.probes.encoders.cache import Cache
from sentprobe.probes.encoders.embedding import embed
from sentprobe.probes.encoders.encoder import Encoder, Vectors, get_capabilities
from sentprobe.probes.encoders.kinds import check_installed, make_encoders
from sentprobe.probes.similarity import distance_results as rs
from sentprobe.probes.similarity import measures as ms
from sentprobe.probes.similarity.triplet_sentences import TripletSentences
from sentprobe.probes.statistics import accuracy_interval


def build_vector_encoders(specs: Sequence[Spec], seed: int) -> list[Encoder]:
    """Return the encoders that the specs name; raise UsageError for a baseline, which has no vectors."""
    check_installed(specs)
    encoders: list[Encoder] = []
    for spec in specs:
        for encoder in make_encoders(spec, seed=seed):
            if not isinstance(encoder, Encoder):
                raise UsageError(f"{str(spec)!r} is a baseline without vectors, so it has no distances")
            encoders.append(encoder)
    return encoders


def measure_encoders(
    encoders: Sequence[Encoder],
    materials: Sequence[TripletSentences],
    *,
    background: Sequence[str],
    out: Path | None = None,
    force: bool = False,
    cache: Cache | None = None,
    command: str = "",
    reporter: Reporter | None = None,
) -> tuple[list[rs.GeometryResult], int]:
    """Return the result of each encoder on each contrast, and how many of them the results folder *out* had.

    Missing results are measured and stored. With *force*, all results are measured again.

    - background: the sentences from which whitening is estimated
    """
    folder = None if force else out
    # All are looked up before any is measured, so that no result of this call counts as reused.
    reused = [[_find_result(encoder, material, folder) for material in materials] for encoder in encoders]
    results: list[rs.GeometryResult] = []
    for encoder, found_results in zip(encoders, reused, strict=True):
        missing = [material for material, result in zip(materials, found_results, strict=True) if result is None]
        sentence_lists = [background, *(material.sentences for material in missing)] if missing else []
        texts = list(dict.fromkeys(text for sentences in sentence_lists for text in sentences))
        rows = {text: row for row, text in enumerate(texts)}
        if missing:
            vectors = embed(encoder, texts, cache=cache, reporter=reporter or SilentReporter())
            whitening = ms.fit_whitening(vectors[[rows[text] for text in background]])
        for material, found_result in zip(materials, found_results, strict=True):
            if found_result is not None:
                results.append(found_result)
                continue
            material_vectors = vectors[[rows[text] for text in material.sentences]]
            result = measure_encoder(encoder, material, material_vectors, whitening, command=command)
            if out is not None:
                rs.write_geometry(result, out)
            results.append(result)
    return results, sum(result is not None for row in reused for result in row)


def _find_result(encoder: Encoder, material: TripletSentences, folder: Path | None) -> rs.GeometryResult | None:
    """Read the result of an encoder from a results folder; None if it is missing or lacks a group of triplets."""
    if folder is None or not encoder.fingerprint:
        return None
    identity = (encoder.name, encoder.fingerprint, material.contrast, material.fingerprint)
    result = rs.find_geometry(folder, identity)
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
    ranking = None
    if distractors := len(raw) - len(SIDES):
        ranks, first = ms.rank_positives(raw)
        ranking = rs.Ranking(
            distractors=distractors,
            mean=float(ranks.mean()),
            first=float(first.mean()),
            first_interval=accuracy_interval(first, material.units.tolist()),
        )
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
        ranking=ranking,
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
            # The answers to a group are among those to all triplets, which are stored once.
            right = "" if by else rs.format_answers(answers.scores)
            yield rs.GeometryScore(kind=kind, nearness=nearness, by=by, group=group, measured=measured, right=right)
