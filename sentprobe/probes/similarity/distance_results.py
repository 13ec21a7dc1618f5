"""Results of ``probe geometry``, one for each encoder and contrast, and their JSON files in a results folder."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from sentprobe.common.errors import ResultsError, SentprobeError, UsageError, describe_damage, path_error
from sentprobe.common.files import write_atomically
from sentprobe.common.values import EDITED, check_record, digest_value, format_json, parse_json_object, pop_digest
from sentprobe.probes.encoders.encoder import digest
from sentprobe.probes.similarity.measures import Nearness, NegativeKind, TripletMeasures
from sentprobe.probes.similarity.triplet_sentences import TripletSampling
from sentprobe.probes.statistics import Floats, Interval

GEOMETRY_FORMAT = "sentprobe-geometry 3"
FOLDER = "geometry"
ALL_TRIPLETS = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """Mean rank of positives among distractors, by cosine with the anchor, and the share with rank 1."""

    distractors: int
    mean: float
    first: float
    first_interval: Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class GeometryScore:
    """Accuracy and other measures of a group of triplets, for one form of the negative and one measure of nearness."""

    kind: NegativeKind
    nearness: Nearness
    by: str
    """The property by which triplets are grouped, such as ``voice``; empty for the group of all triplets."""
    group: str
    measured: TripletMeasures
    right: str = ""
    """A digit for each triplet, then for each mirror: 0 incorrect, 1 tie, 2 correct. Empty if ``by`` is a property."""

    def answers(self) -> Floats:
        """Return the scores of triplets (row 0) and their mirrors (row 1), (2, n): 1 correct, 0.5 tie, 0 incorrect."""
        digits = np.frombuffer(self.right.encode("ascii"), dtype=np.uint8)
        return (digits - float(ord("0"))).reshape(2, -1) / 2


def format_answers(scores: Floats) -> str:
    """Return scores of 0, 0.5 and 1 as the digits 0, 1 and 2; the inverse of :meth:`GeometryScore.answers`."""
    return "".join(map(str, (2 * scores).astype(int).reshape(-1).tolist()))


@dataclass(frozen=True, slots=True, kw_only=True)
class GeometryResult:
    """The result of an encoder on the triplets of a contrast."""

    encoder: str
    encoder_fingerprint: str
    encoder_seed: int | None = None
    """The seed of the encoder's random weights; None if it has no random weights."""
    dim: int
    contrast: str
    material: str
    """The fingerprint of the sentences of all triplets."""
    dataset: str = ""
    """The fingerprint of the dataset whose test sentences are the anchors; empty without a dataset."""
    items: tuple[int, ...] = ()
    """Indices of the test items that are anchors: of the triplets, then of the mirrors. Empty without a dataset."""
    drawing: TripletSampling
    units: tuple[int, ...]
    scores: tuple[GeometryScore, ...]
    ranking: Ranking | None
    command: str
    versions: Mapping[str, str] = field(default_factory=dict)
    family: str = ""
    """A name that all checkpoints of the same training share."""
    step: int | None = None
    """The training step of a checkpoint; None if it is unknown, or if the encoder is not a checkpoint."""
    epoch: float | None = None
    source: str = field(default="", compare=False)
    """The folder from which the result was read; it is not written to the file."""

    def find_overall(self, kind: NegativeKind, nearness: Nearness) -> GeometryScore | None:
        """Return the score of the group of all triplets; None if it was not measured."""
        key = (kind, nearness, ALL_TRIPLETS)
        return next((s for s in self.scores if (s.kind, s.nearness, s.by) == key), None)

    def find_by_group(
        self, kind: NegativeKind, nearness: Nearness = Nearness.COSINE, by: str = ALL_TRIPLETS
    ) -> dict[str, TripletMeasures]:
        """Return the measures of each group by its name. *by*: the grouping property, such as ``"voice"``."""
        key = (kind, nearness, by)
        return {s.group: s.measured for s in self.scores if (s.kind, s.nearness, s.by) == key}

    @property
    def identity(self) -> tuple[str, str, str, str]:
        """The parts of the result's identity: encoder, encoder fingerprint, contrast and sentence fingerprint."""
        return self.encoder, self.encoder_fingerprint, self.contrast, self.material


def build_file_name(encoder: str, fingerprint: str, contrast: str, material: str) -> str:
    """Return the file name of a geometry result; the arguments are the parts of its ``GeometryResult.identity``."""
    safe_encoder, safe_contrast = (
        re.sub(r"[^A-Za-z0-9_.=-]+", "_", name).lstrip(".")
        for name in (encoder[-60:], contrast[:60])  # a dataset may have any name
    )
    # The digest tells apart encoders whose names are equal once they are cut and cleaned.
    return f"{safe_encoder}.{safe_contrast}.{digest(encoder, fingerprint, material)[:8]}.json"


def format_geometry(result: GeometryResult) -> str:
    """Return a result as JSON text; the inverse of :func:`parse_geometry`."""
    value = {"format": GEOMETRY_FORMAT, **asdict(result)}
    for name in ("units", "items"):
        value[name] = " ".join(map(str, value[name]))  # indented JSON would put every number on its own line
    del value["source"]
    value["digest"] = digest_value(value)
    return format_json(value, indent=1) + "\n"


def parse_geometry(text: str | bytes, *, source: str) -> GeometryResult:
    """Parse the JSON text of a result. Raises ResultsError, which begins with *source*, if the text is malformed."""
    try:
        value = parse_json_object(text)
        edited = pop_digest(value)
        if value.pop("format") != GEOMETRY_FORMAT:
            raise ResultsError(
                f"{source}: not in the format {GEOMETRY_FORMAT!r} but in that of another version of "
                "sentprobe; run the same probe geometry again, or remove the file"
            )
        drawing = value["drawing"]
        lists = {name: tuple(drawing.get(name, ())) for name in ("templates", "held_out")}
        value["drawing"] = TripletSampling(**{**drawing, **lists})
        value["scores"] = tuple(map(_parse_score, value["scores"]))
        if ranking := value["ranking"]:
            value["ranking"] = Ranking(**{**ranking, "first_interval": Interval(**ranking["first_interval"])})
        for name in ("units", "items"):
            value[name] = tuple(map(int, value[name].split()))
        result = GeometryResult(**value)
        check_record(result)
        _check_result(result)
        if edited:
            raise ValueError(EDITED)
        return result
    except ResultsError:
        raise
    except (SentprobeError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise ResultsError(f"{source}: not a result of sentprobe ({describe_damage(error)})") from None


def _check_result(result: GeometryResult) -> None:
    """Raise ValueError if the fields of a result contradict each other or a number is out of range."""
    overall_scores = [score for score in result.scores if score.by == ALL_TRIPLETS]
    if not result.units or not all(result.find_overall(kind, Nearness.COSINE) for kind in NegativeKind):
        raise ValueError("the triplets or their cosine scores are missing")
    if len({(score.kind, score.nearness, score.by, score.group) for score in result.scores}) < len(result.scores):
        raise ValueError("two scores of the same triplets")
    if len(result.items) not in (0, 2 * len(result.units)) or min(result.items, default=0) < 0:
        raise ValueError("test items and units differ in their number of triplets")
    if any(len(score.right) != 2 * len(result.units) or not {*score.right} <= {*"012"} for score in overall_scores):
        raise ValueError("answers and units differ in their number of triplets")
    for score in result.scores:
        _check_measures(score, result.units)
    if result.ranking:
        _check_share("the share of first ranks", result.ranking.first, result.ranking.first_interval)
        if not 1 <= result.ranking.mean <= result.ranking.distractors + 1:
            raise ValueError(f"a mean rank of {result.ranking.mean} among {result.ranking.distractors} distractors")


_ROUNDING = 1e-6
_MAX_COSINE_MARGIN = 2


def _check_measures(score: GeometryScore, units: Sequence[int]) -> None:
    """Raise ValueError if the measures of a group of triplets are impossible, or are not those of its answers."""
    measures = score.measured
    _check_share("an accuracy", measures.accuracy, measures.accuracy_interval)
    _check_share("an accuracy", measures.paired, measures.paired_interval)
    is_cosine = score.nearness in (Nearness.COSINE, Nearness.WHITENED)
    if is_cosine and abs(measures.margin) > _MAX_COSINE_MARGIN + _ROUNDING:
        raise ValueError(f"a margin of {measures.margin} between two cosines")
    ties, triplets = measures.ties, measures.triplets
    if not (0 <= ties <= triplets <= 2 * len(units) and 1 <= measures.units <= len({*units})):
        raise ValueError(f"{ties} ties of {triplets} triplets of {measures.units} units, of {2 * len(units)} triplets")
    if score.by != ALL_TRIPLETS:
        return
    answers = score.answers()
    for stated, found in ((measures.accuracy, answers.mean()), (measures.paired, (answers[0] * answers[1]).mean())):
        if abs(stated - found) > _ROUNDING:
            raise ValueError(f"an accuracy of {stated}, and its answers have {found}")
    if triplets != answers.size or ties > (answers == 0.5).sum():
        raise ValueError(f"{ties} ties of {triplets} triplets, and its answers have others")


def _check_share(name: str, share: float, interval: Interval) -> None:
    if not 0 <= share <= 1:
        raise ValueError(f"{name} is not between 0 and 1")
    if not -_ROUNDING <= interval.low <= share + _ROUNDING <= interval.high + 2 * _ROUNDING <= 1 + 3 * _ROUNDING:
        raise ValueError(f"{name} of {share} is not in its interval, {interval.low} to {interval.high}")


def _parse_score(value: Mapping[str, Any]) -> GeometryScore:
    measured: dict[str, Any] = {
        name: Interval(**value_) if name.endswith("interval") else value_ for name, value_ in value["measured"].items()
    }
    return GeometryScore(
        kind=NegativeKind(value["kind"]),
        nearness=Nearness(value["nearness"]),
        **{name: value[name] for name in ("by", "group", "right")},
        measured=TripletMeasures(**measured),
    )


def write_geometry(result: GeometryResult, out: Path) -> None:
    """Write a result to its file in a results folder. Raises UsageError if the folder is not writable."""
    folder = out / FOLDER
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{folder}: cannot write results here: {error.strerror}") from error
    write_atomically(folder / build_file_name(*result.identity), format_geometry(result))


def find_geometry(out: Path, identity: tuple[str, str, str, str]) -> GeometryResult | None:
    """Read the result with this identity from a results folder; None if the file is missing or damaged."""
    path = out / FOLDER / build_file_name(*identity)
    try:
        result = parse_geometry(path.read_bytes(), source=str(path))
    except (OSError, ResultsError):
        return None
    return result if result.identity == identity else None


def read_geometry(directory: Path) -> tuple[GeometryResult, ...]:
    """Read all geometry results in a results folder, sorted by file name. Raises ResultsError for a damaged file."""
    try:
        paths = sorted((directory / FOLDER).glob("[!.]*.json"))
        results = [parse_geometry(path.read_bytes(), source=str(path)) for path in paths]
    except OSError as error:
        raise path_error(directory, "cannot read results", error) from error
    return tuple(replace(result, source=str(directory)) for result in results)


def to_geometry_records(results: Sequence[GeometryResult]) -> list[dict[str, Any]]:
    """Return a table row for each score of each result, as a dictionary by column."""
    return [
        {
            "run": result.source,
            "encoder": result.encoder,
            "contrast": result.contrast,
            "kind": score.kind.value,
            "nearness": score.nearness.value,
            "by": score.by,
            "group": score.group,
            "accuracy": score.measured.accuracy,
            "low": score.measured.accuracy_interval.low,
            "high": score.measured.accuracy_interval.high,
            "paired": score.measured.paired,
            "paired_low": score.measured.paired_interval.low,
            "paired_high": score.measured.paired_interval.high,
            **{name: getattr(score.measured, name) for name in ("margin", "ties", "triplets", "units")},
            "mean_rank": result.ranking.mean if result.ranking else None,
            "first": result.ranking.first if result.ranking else None,
            "vocabulary": result.drawing.vocabulary,
            "templates": " ".join(result.drawing.templates),
            "held_out": " ".join(result.drawing.held_out),
            "seed": result.drawing.seed,
            "material": result.material,
            "dataset_fingerprint": result.dataset,
            **{name: getattr(result, name) for name in ("encoder_fingerprint", "encoder_seed", "step", "epoch")},
        }
        for result in results
        for score in result.scores
    ]
