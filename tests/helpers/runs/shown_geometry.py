"""Hand-made results of geometry, for tests of ``probe show`` and ``probe compare``."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from sentprobe.probes.results.store import prepare_directory
from sentprobe.probes.similarity import distance_results as rs
from sentprobe.probes.similarity import measures as ms
from sentprobe.probes.similarity.triplet_sentences import TripletSampling

UNITS = (0, 0, 1, 2)


def make_geometry_result(
    encoder: str,
    contrast: str = "role",
    *,
    form: str = "22002200",
    anchor: str = "",
    units: tuple[int, ...] = UNITS,
    seed: int = 0,
    n: int = 0,
    **changed: Any,
) -> rs.GeometryResult:
    """Make a result of triplets; each kind has a digit for each triplet, then for its mirror.

    0 is wrong, 1 a tie, 2 right; without *anchor* its kind is all wrong. Fingerprints follow from names, materials from
    contrast and seed.
    """
    wrong = "0" * 2 * len(units)
    kinds = {ms.NegativeKind.FORM: form, ms.NegativeKind.ANCHOR: anchor or wrong}
    values: dict[str, Any] = {
        "encoder": encoder,
        "encoder_fingerprint": f"print of {encoder}",
        "dim": 4,
        "contrast": contrast,
        "material": f"{contrast} by {seed}",
        "drawing": TripletSampling(n=n or len(units), seed=seed),
        "units": units,
        "ranking": None,
        "command": "probe geometry -e " + encoder,
        "versions": {"numpy": "9.9"},
    }
    return rs.GeometryResult(scores=_make_scores(kinds, units), **{**values, **changed})


def add_nearness(result: rs.GeometryResult, nearness: str, form: str) -> rs.GeometryResult:
    """Add the scores of another distance to a result; the other kind is all wrong."""
    kinds = {ms.NegativeKind.FORM: form, ms.NegativeKind.ANCHOR: "0" * len(form)}
    further = _make_scores(kinds, result.units, ms.Nearness(nearness))
    return replace(result, scores=result.scores + further)


def _make_scores(
    kinds: Mapping[ms.NegativeKind, str], units: tuple[int, ...], nearness: ms.Nearness = ms.Nearness.COSINE
) -> tuple[rs.GeometryScore, ...]:
    geometry_scores = []
    for kind, digits in kinds.items():
        scores = np.array([*map(float, digits)]).reshape(2, -1) / 2
        answers = ms.TripletScores(scores, scores - 0.5, scores == 0.5)
        all_triplets = np.ones(len(units), dtype=np.bool_)
        geometry_scores.append(
            rs.GeometryScore(
                kind=kind,
                nearness=nearness,
                by="",
                group="",
                measured=answers.measure(all_triplets, units),
                right=digits,
            )
        )
    return tuple(geometry_scores)


def write_geometry_folder(path: Path, *results: rs.GeometryResult) -> Path:
    """Write a results folder with these results."""
    prepare_directory(path)
    for result in results:
        rs.write_geometry(result, path)
    return path
