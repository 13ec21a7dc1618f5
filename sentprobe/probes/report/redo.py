"""How to do it again: the commands, versions, seeds and digests of results."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sentprobe.errors import visible
from sentprobe.probes.geometry.results import GeometryResult
from sentprobe.probes.report.curves import Curve
from sentprobe.probes.report.data_lines import DIGITS
from sentprobe.probes.runs.results import Made, Result, Results, makings


@dataclass(frozen=True, slots=True, kw_only=True)
class HowMade:
    """What is needed to make the same figures again, each line once."""

    commands: tuple[str, ...]
    versions: tuple[str, ...]
    data: tuple[str, ...]
    encoders: tuple[str, ...]


def how_to_redo(
    results: Results, distances: Sequence[GeometryResult], curves: Sequence[Curve]
) -> HowMade:
    """Return what results, of probes, geometry and curves, say of how they were made."""
    made: list[Made | GeometryResult] = [
        *(made for record in results.records for made in makings(record)),
        *distances,
    ]
    versions = (*(m.versions for m in made), *(v for curve in curves for v in curve.versions))
    encoded: list[Result | GeometryResult] = [*_in_order(results), *distances]
    return HowMade(
        commands=_once((*(each.command for each in made), *_trainings(curves))),
        versions=_once(map(_told, versions)),
        data=_once(map(_data, _in_order(results))),
        encoders=_once(map(_encoder, encoded)),
    )


def _trainings(curves: Sequence[Curve]) -> Iterator[str]:
    """Yield the commands that trained encoders and probed them on the way."""
    yield from (curve.learned.command for curve in curves if curve.learned)


def _once(lines: Iterable[str]) -> tuple[str, ...]:
    """Return each line once, as one that a shell takes for one."""
    return tuple(dict.fromkeys(" ".join(visible(line).split()) for line in lines if line))


def _told(versions: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {version}" for name, version in versions.items())


def _in_order(results: Results) -> list[Result]:
    """Return the results by task, draws by seed."""
    return sorted(results.records, key=lambda each: (results.tasks.index(each.task), each.seed))


def _data(record: Result) -> str:
    return _named(f"{record.task}, seed {record.seed}", record.dataset_fingerprint)


def _encoder(found: Result | GeometryResult) -> str:
    """Name an encoder and, where its weights were drawn, their seed."""
    seed = None if found.encoder_seed is None else f", seed {found.encoder_seed}"
    return _named(f"{found.encoder}{seed or ''}", found.encoder_fingerprint)


def _named(what: str, digest: str) -> str:
    return f"{what}: {digest[:DIGITS] or 'not known'}"
