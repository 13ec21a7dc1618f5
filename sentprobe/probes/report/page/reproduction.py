"""The commands, versions, seeds and digests that reproduce results."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sentprobe.errors import escape_control_characters
from sentprobe.probes.geometry.distance_results import GeometryResult
from sentprobe.probes.report.tables.data_notes import DIGEST_LENGTH
from sentprobe.probes.report.tables.training_curves import Curve
from sentprobe.probes.results.result import Provenance, Result, Results, find_provenances


@dataclass(frozen=True, slots=True, kw_only=True)
class Reproduction:
    """The facts that reproduce the same figures, each line once."""

    commands: tuple[str, ...]
    versions: tuple[str, ...]
    data: tuple[str, ...]
    encoders: tuple[str, ...]


def describe_reproduction(
    results: Results, distances: Sequence[GeometryResult], curves: Sequence[Curve]
) -> Reproduction:
    """Return the commands, versions, data and encoders of results, geometry and curves."""
    sources: list[Provenance | GeometryResult] = [
        *(making for record in results.records for making in find_provenances(record)),
        *distances,
    ]
    versions = (
        *(making.versions for making in sources),
        *(packages for curve in curves for packages in curve.versions),
    )
    commands = (*(making.command for making in sources), *(curve.learned.command for curve in curves if curve.learned))
    encoded: list[Result | GeometryResult] = [*_sort_records(results), *distances]
    return Reproduction(
        commands=_list_distinct_lines(commands),
        versions=_list_distinct_lines(
            ", ".join(f"{name} {version}" for name, version in packages.items()) for packages in versions
        ),
        data=_list_distinct_lines(map(_describe_data, _sort_records(results))),
        encoders=_list_distinct_lines(map(_describe_encoder, encoded)),
    )


def _list_distinct_lines(lines: Iterable[str]) -> tuple[str, ...]:
    """Return each line once, without line breaks."""
    return tuple(dict.fromkeys(" ".join(escape_control_characters(line).split()) for line in lines if line))


def _sort_records(results: Results) -> list[Result]:
    return sorted(results.records, key=lambda record: (results.tasks.index(record.task), record.seed))


def _describe_data(record: Result) -> str:
    return _format_digest(f"{record.task}, seed {record.seed}", record.dataset_fingerprint)


def _describe_encoder(result: Result | GeometryResult) -> str:
    """Return the name of an encoder with the seed of its untrained weights."""
    seed = None if result.encoder_seed is None else f", seed {result.encoder_seed}"
    return _format_digest(f"{result.encoder}{seed or ''}", result.encoder_fingerprint)


def _format_digest(name: str, digest: str) -> str:
    return f"{name}: {digest[:DIGEST_LENGTH] or 'not known'}"
