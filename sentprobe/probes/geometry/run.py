"""Encoders on contrasts: what is there is found, what is missing is encoded and measured."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sentprobe.generator.triplets import SIDES
from sentprobe.probes.encoders import Encoder, Vectors
from sentprobe.probes.encoders.cache import Cache
from sentprobe.probes.encoders.embed import embed
from sentprobe.probes.encoders.protocol import seed_of
from sentprobe.probes.geometry import measures as ms
from sentprobe.probes.geometry import results as rs
from sentprobe.probes.geometry.material import TripletMaterial
from sentprobe.probes.statistics import accuracy_interval
from sentprobe.progress import Reporter, Silent
from sentprobe.versions import versions


@dataclass(frozen=True, slots=True, kw_only=True)
class GeometryRun:
    """What holds for all encoders and contrasts."""

    background: Sequence[str]
    """The sentences that whitening is learned from."""
    out: Path | None = None
    force: bool = False
    cache: Cache | None = None
    command: str = ""


@dataclass(frozen=True, slots=True)
class GeometryOutcome:
    """The results of a run, encoder by encoder, and how many of them were there already."""

    results: tuple[rs.GeometryResult, ...]
    found: int


def measure_all(
    encoders: Sequence[Encoder],
    materials: Sequence[TripletMaterial],
    run: GeometryRun,
    reporter: Reporter | None = None,
) -> GeometryOutcome:
    """Measure each encoder on each contrast.

    With a folder of results, what is in it is not measured again, and what is new is put there.

    Raises:
        EncoderError: an encoder failed.
        UsageError: the folder cannot be written to.
    """
    there = [[_found(encoder, each, run) for each in materials] for encoder in encoders]
    results = [
        result
        for encoder, known in zip(encoders, there, strict=True)
        for result in _completed(encoder, materials, known, run, reporter or Silent())
    ]
    return GeometryOutcome(tuple(results), sum(e is not None for known in there for e in known))


def _completed(
    encoder: Encoder,
    materials: Sequence[TripletMaterial],
    known: Sequence[rs.GeometryResult | None],
    run: GeometryRun,
    reporter: Reporter,
) -> Iterator[rs.GeometryResult]:
    """Yield what is known of an encoder, and measure what is not; sentences are encoded once."""
    missing = [each for each, result in zip(materials, known, strict=True) if result is None]
    lists = [run.background, *(each.sentences for each in missing)] if missing else []
    texts = list(dict.fromkeys(text for each in lists for text in each))
    places = {text: place for place, text in enumerate(texts)}
    vectors = embed(encoder, texts, cache=run.cache, reporter=reporter) if texts else None
    white = None if vectors is None else ms.whitening(vectors[[places[t] for t in run.background]])
    for each, result in zip(materials, known, strict=True):
        if result is None:
            assert vectors is not None
            own = vectors[[places[text] for text in each.sentences]]
            result = measure(encoder, each, own, white, command=run.command)  # noqa: PLW2901
            if run.out is not None:
                rs.write_geometry(result, run.out)
        yield result


def _found(
    encoder: Encoder, material: TripletMaterial, run: GeometryRun
) -> rs.GeometryResult | None:
    """Return the result that is there; an encoder without a fingerprint may be another now."""
    if run.out is None or run.force or not encoder.fingerprint:
        return None
    return rs.find_geometry(
        run.out,
        encoder=encoder.name,
        fingerprint=encoder.fingerprint,
        contrast=material.contrast,
        material=material.fingerprint,
    )


def measure(
    encoder: Encoder,
    material: TripletMaterial,
    vectors: Vectors,
    white: ms.Whitening | None,
    *,
    command: str = "",
) -> rs.GeometryResult:
    """Return what the vectors of the sentences of a contrast, (sentences, dim), come to.

    *white* whitens them; None: nothing is whitened.
    """
    raw = ms.Sides(*(vectors[rows] for rows in material.rows))
    return rs.GeometryResult(
        encoder=encoder.name,
        encoder_fingerprint=encoder.fingerprint,
        encoder_seed=seed_of(encoder),
        dim=int(vectors.shape[1]),
        contrast=material.contrast,
        material=material.fingerprint,
        dataset=material.dataset,
        items=tuple(material.items),
        drawing=material.drawing,
        units=tuple(material.units.tolist()),
        scores=tuple(_scores(material, raw, _whitened(material, vectors, white))),
        ranking=_ranking(material, raw),
        command=command,
        versions=versions("sentprobe", "numpy"),
    )


def _whitened(
    material: TripletMaterial, vectors: Vectors, white: ms.Whitening | None
) -> ms.Sides | None:
    """Return the sides whitened, if they are; their sentences come first."""
    if white is None:
        return None
    rows = material.rows[: len(SIDES)]
    turned = white(vectors[: rows.max() + 1])
    return ms.Sides(*(turned[each] for each in rows))


def _scores(
    material: TripletMaterial, raw: ms.Sides, white: ms.Sides | None
) -> Iterator[rs.GeometryScore]:
    spaces = dict.fromkeys(ms.Nearness, raw)
    del spaces[ms.Nearness.WHITENED]
    if white is not None:
        spaces[ms.Nearness.WHITENED] = white
    for nearness, sides in spaces.items():
        for kind in ms.NegativeKind:
            found = ms.answers(sides, raw, kind, nearness)
            yield from _by_group(material, found, kind, nearness)


def _by_group(
    material: TripletMaterial,
    found: ms.TripletAnswers,
    kind: ms.NegativeKind,
    nearness: ms.Nearness,
) -> Iterator[rs.GeometryScore]:
    every = np.ones(found.scores.shape[1], dtype=np.bool_)
    groups = [(rs.WHOLE, rs.WHOLE, every)]
    if nearness is ms.Nearness.COSINE:
        for by, names in material.groups.items():
            groups += [(by, name, np.array(names) == name) for name in sorted({*names})]
    for by, group, chosen in groups:
        measured = found.over(chosen, material.units.tolist())
        right = "" if by else rs.write_answers(found.scores)
        yield rs.GeometryScore(
            kind=kind, nearness=nearness, by=by, group=group, measured=measured, right=right
        )


def _ranking(material: TripletMaterial, raw: ms.Sides) -> rs.Ranking | None:
    variants = len(raw) - len(SIDES)
    if not variants:
        return None
    found, first = ms.ranks(raw)
    return rs.Ranking(
        variants=variants,
        mean=float(found.mean()),
        first=float(first.mean()),
        first_interval=accuracy_interval(first, material.units.tolist()),
    )
