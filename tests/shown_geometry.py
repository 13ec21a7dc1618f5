"""Results of geometry by hand, for tests of ``probe show`` and ``probe compare``."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from sentprobe.probes.geometry import measures as ms
from sentprobe.probes.geometry import results as rs
from sentprobe.probes.geometry.material import Drawing
from sentprobe.probes.runs.store import prepare_directory

UNITS = (0, 0, 1, 2)


def measured(
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
    """A result of so many triplets; of each kind a digit for a triplet, then for its mirror.

    0 is wrong, 1 a tie, 2 right; without *anchor* its kind is all wrong. Fingerprints follow from
    names, materials from contrast and seed.
    """
    wrong = "0" * 2 * len(units)
    kinds = {ms.NegativeKind.FORM: form, ms.NegativeKind.ANCHOR: anchor or wrong}
    values: dict[str, Any] = {
        "encoder": encoder,
        "encoder_fingerprint": f"print of {encoder}",
        "dim": 4,
        "contrast": contrast,
        "material": f"{contrast} by {seed}",
        "drawing": Drawing(n=n or len(units), seed=seed),
        "units": units,
        "ranking": None,
        "command": "probe geometry -e " + encoder,
        "versions": {"numpy": "9.9"},
    }
    return rs.GeometryResult(scores=_scores(kinds, units), **{**values, **changed})


def also_by(result: rs.GeometryResult, nearness: str, form: str) -> rs.GeometryResult:
    """The same result with what was measured by another nearness; of the other kind all wrong."""
    kinds = {ms.NegativeKind.FORM: form, ms.NegativeKind.ANCHOR: "0" * len(form)}
    further = _scores(kinds, result.units, ms.Nearness(nearness))
    return replace(result, scores=result.scores + further)


def _scores(
    kinds: Mapping[ms.NegativeKind, str],
    units: tuple[int, ...],
    nearness: ms.Nearness = ms.Nearness.COSINE,
) -> tuple[rs.GeometryScore, ...]:
    found = []
    for kind, digits in kinds.items():
        scores = np.array([*map(float, digits)]).reshape(2, -1) / 2
        answers = ms.TripletAnswers(scores, scores - 0.5, scores == 0.5)
        every = np.ones(len(units), dtype=np.bool_)
        found.append(
            rs.GeometryScore(
                kind=kind,
                nearness=nearness,
                by="",
                group="",
                measured=answers.over(every, units),
                right=digits,
            )
        )
    return tuple(found)


def a_folder(path: Path, *results: rs.GeometryResult) -> Path:
    """A folder of results that has these."""
    prepare_directory(path)
    for each in results:
        rs.write_geometry(each, path)
    return path
