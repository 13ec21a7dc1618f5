"""What is known of an encoder on a contrast: one file in a folder of results."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from sentprobe.errors import ResultsError, SentprobeError, UsageError, path_error
from sentprobe.files import write_atomically
from sentprobe.probes.encoders import digest
from sentprobe.probes.geometry.material import Drawing
from sentprobe.probes.geometry.measures import Nearness, NegativeKind, TripletMeasures
from sentprobe.probes.statistics import Floats, Interval
from sentprobe.values import check_record, parse_json

GEOMETRY_FORMAT = "sentprobe-geometry 2"
"""The first value in each file."""

FOLDER = "geometry"
"""The folder in a folder of results."""

WHOLE = ""
"""The group of all triplets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """Where the positive stands among so many variants: its mean rank from 1, how often first."""

    variants: int
    mean: float
    first: float
    first_interval: Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class GeometryScore:
    """What was measured of one kind of negative by one nearness, in one group of triplets."""

    kind: NegativeKind
    nearness: Nearness
    by: str
    group: str
    measured: TripletMeasures
    right: str = ""
    """Of all triplets and then of their mirrors a digit each: 0 wrong, 1 a tie, 2 right.

    Empty for a group.
    """

    def answers(self) -> Floats:
        """Return how right each triplet and its mirror are, (2, n) float64."""
        digits = np.frombuffer(self.right.encode("ascii"), dtype=np.uint8)
        return (digits - float(ord("0"))).reshape(2, -1) / 2


def write_answers(scores: Floats) -> str:
    """Return answers as digits; the inverse of :meth:`GeometryScore.answers`.

    >>> write_answers(np.array([[0.5, 1.0], [0.0, 1.0]]))
    '1202'
    """
    return "".join(map(str, (2 * scores).astype(int).reshape(-1).tolist()))


@dataclass(frozen=True, slots=True, kw_only=True)
class GeometryResult:
    """What is known of an encoder on a contrast, and how it came about."""

    encoder: str
    encoder_fingerprint: str
    encoder_seed: int | None = None
    """That by which its weights were drawn; None where they were not."""
    dim: int
    contrast: str
    """Or the task whose sentences they are."""
    material: str
    """The digest of the sentences."""
    dataset: str = ""
    """The fingerprint of the dataset whose test sentences are the anchors; empty if drawn."""
    items: tuple[int, ...] = ()
    """The test items whose sentences are the anchors, of the triplets and then of the mirrors."""
    drawing: Drawing
    units: tuple[int, ...]
    """Triplets of one number belong together."""
    scores: tuple[GeometryScore, ...]
    ranking: Ranking | None
    command: str
    versions: Mapping[str, str] = field(default_factory=dict)
    family: str = ""
    """What encoders of several steps of one training have in common."""
    step: int | None = None
    """The step of training that the encoder was at; None: it was in none, or that is not known."""
    epoch: float | None = None
    """How many passes over its training data it had made."""
    source: str = field(default="", compare=False)
    """The folder that it was read from; not written."""

    def whole(self, kind: NegativeKind, nearness: Nearness) -> GeometryScore | None:
        """Return what was measured of all triplets."""
        key = (kind, nearness, WHOLE)
        return next((s for s in self.scores if (s.kind, s.nearness, s.by) == key), None)

    def find(
        self, kind: NegativeKind, nearness: Nearness = Nearness.COSINE, by: str = WHOLE
    ) -> dict[str, TripletMeasures]:
        """Return what was measured, by group."""
        key = (kind, nearness, by)
        return {s.group: s.measured for s in self.scores if (s.kind, s.nearness, s.by) == key}

    @property
    def name(self) -> str:
        """The name of its file, by all that decides what is in it."""
        return file_name(self.encoder, self.encoder_fingerprint, self.contrast, self.material)


def file_name(encoder: str, fingerprint: str, contrast: str, material: str) -> str:
    """Return the name of the file of a result."""
    safe, of = (
        re.sub(r"[^A-Za-z0-9_.=-]+", "_", name).lstrip(".")
        for name in (encoder[-60:], contrast[:60])  # a dataset may have any name
    )
    return f"{safe}.{of}.{digest(encoder, fingerprint, material)[:8]}.json"


def format_geometry(result: GeometryResult) -> str:
    """Write a result as JSON; the inverse of :func:`parse_geometry`."""
    value = {"format": GEOMETRY_FORMAT, **asdict(result)}
    for name in ("units", "items"):
        value[name] = " ".join(map(str, value[name]))  # JSON would give each a line
    del value["source"]
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


class OlderGeometryError(ResultsError):
    """A result of geometry is of another version of sentprobe."""


def parse_geometry(text: str | bytes, *, source: str) -> GeometryResult:
    """Read a result back; *source* names it in an error.

    Raises:
        ResultsError: it is none of ours.
    """
    try:
        value = parse_json(text)
        if value.pop("format") != GEOMETRY_FORMAT:
            raise OlderGeometryError(
                f"{source}: not in the format {GEOMETRY_FORMAT!r} but of another version of "
                "sentprobe; the same probe geometry makes it anew, or remove it"
            )
        value["drawing"] = _drawing(value["drawing"])
        value["scores"] = tuple(map(_score, value["scores"]))
        value["ranking"] = value["ranking"] and _ranking(value["ranking"])
        for name in ("units", "items"):
            value[name] = tuple(map(int, value[name].split()))
        result = GeometryResult(**value)
        check_record(result)
        return _checked(result)
    except ResultsError:
        raise
    except (SentprobeError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise ResultsError(f"{source}: not a result of sentprobe ({error})") from None


def _checked(result: GeometryResult) -> GeometryResult:
    """Refuse what no run writes: other answers than one for each triplet and mirror."""
    wholes = [score for score in result.scores if score.by == WHOLE]
    if not result.units or not all(result.whole(kind, Nearness.COSINE) for kind in NegativeKind):
        raise ValueError("there are no triplets, or their cosines are missing")
    measured = [score.measured for score in result.scores]
    if not all(0 <= share <= 1 for each in measured for share in (each.accuracy, each.paired)):
        raise ValueError("an accuracy is no share of the triplets")
    if len(result.items) not in (0, 2 * len(result.units)) or min(result.items, default=0) < 0:
        raise ValueError("test items and units are of different numbers of triplets")
    if any(len(s.right) != 2 * len(result.units) or not {*s.right} <= {*"012"} for s in wholes):
        raise ValueError("answers and units are of different numbers of triplets")
    return result


def _drawing(value: Mapping[str, Any]) -> Drawing:
    lists = {name: tuple(value.get(name, ())) for name in ("templates", "held_out")}
    return Drawing(**{**value, **lists})


def _score(value: Mapping[str, Any]) -> GeometryScore:
    measured: dict[str, Any] = {
        name: Interval(**each) if name.endswith("interval") else each
        for name, each in value["measured"].items()
    }
    return GeometryScore(
        kind=NegativeKind(value["kind"]),
        nearness=Nearness(value["nearness"]),
        by=value["by"],
        group=value["group"],
        measured=TripletMeasures(**measured),
        right=value["right"],
    )


def _ranking(value: Mapping[str, Any]) -> Ranking:
    return Ranking(**{**value, "first_interval": Interval(**value["first_interval"])})


def write_geometry(result: GeometryResult, out: Path) -> None:
    """Write a result into its file in a folder of results.

    Raises:
        UsageError: the folder cannot be written to.
    """
    folder = out / FOLDER
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{folder}: cannot write results here: {error.strerror}") from error
    write_atomically(folder / result.name, format_geometry(result))


def find_geometry(
    out: Path, *, encoder: str, fingerprint: str, contrast: str, material: str
) -> GeometryResult | None:
    """Return the result of these in a folder of results, if it is there and sound.

    A file of that name that was copied there, or whose digest is the same by chance, is not it.
    """
    key = (encoder, fingerprint, contrast, material)
    path = out / FOLDER / file_name(*key)
    try:
        found = parse_geometry(path.read_bytes(), source=str(path))
    except (OSError, ResultsError):
        return None
    own = (found.encoder, found.encoder_fingerprint, found.contrast, found.material)
    return found if own == key else None


def read_geometry(directory: Path) -> tuple[GeometryResult, ...]:
    """Return all results in a folder of results, by file name; none where there are none.

    Raises:
        UsageError: the folder may not be read.
        ResultsError: a file in it is damaged, or of another version.
    """
    try:
        paths = sorted((directory / FOLDER).glob("[!.]*.json"))
        found = [parse_geometry(path.read_bytes(), source=str(path)) for path in paths]
    except OSError as error:
        raise path_error(directory, "cannot read results", error) from error
    return tuple(replace(each, source=str(directory)) for each in found)


def to_records(results: Sequence[GeometryResult]) -> list[dict[str, Any]]:
    """Return a flat record for each score, with all digits."""
    return [record for each in results for record in _records(each)]


def _records(result: GeometryResult) -> Iterator[dict[str, Any]]:
    for score in result.scores:
        found = score.measured
        yield {
            "run": result.source,
            "encoder": result.encoder,
            "contrast": result.contrast,
            "kind": score.kind.value,
            "nearness": score.nearness.value,
            "by": score.by,
            "group": score.group,
            "accuracy": found.accuracy,
            "low": found.accuracy_interval.low,
            "high": found.accuracy_interval.high,
            "paired": found.paired,
            "paired_low": found.paired_interval.low,
            "paired_high": found.paired_interval.high,
            "margin": found.margin,
            "ties": found.ties,
            "triplets": found.triplets,
            "units": found.units,
            "mean_rank": result.ranking.mean if result.ranking else None,
            "first": result.ranking.first if result.ranking else None,
            "vocabulary": result.drawing.vocabulary,
            "templates": " ".join(result.drawing.templates),
            "held_out": " ".join(result.drawing.held_out),
            "seed": result.drawing.seed,
            "material": result.material,
            "dataset_fingerprint": result.dataset,
            "encoder_fingerprint": result.encoder_fingerprint,
            "encoder_seed": result.encoder_seed,
            "step": result.step,
            "epoch": result.epoch,
        }
