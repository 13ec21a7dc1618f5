"""Results in MTEB's layout: ``results/MODEL/REVISION/TASK.json``, with a ``model_meta.json`` each.

MTEB is not needed to write them.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sentprobe.errors import UsageError, path_error
from sentprobe.files import what_is, write_atomically
from sentprobe.probes.dataset import Split
from sentprobe.probes.geometry.results import GeometryResult
from sentprobe.probes.mteb.names import geometry_name, task_name
from sentprobe.probes.mteb.scores import MAIN_SCORE, MtebScores, geometry_scores, probing_scores
from sentprobe.probes.report.comparisons import Side
from sentprobe.probes.report.downstream import MODEL_META, mteb_name
from sentprobe.probes.runs.results import Result

SUBSET = "default"
"""What MTEB calls the one part of a dataset that has no others."""

NO_REVISION = "no_revision_available"
"""What MTEB writes of a model that has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MtebTaskResult:
    """The content of a task's file."""

    task: str
    revision: str
    """Of the dataset."""
    parts: Mapping[str, MtebScores]
    """By subset."""
    seconds: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MtebModelResults:
    """The results of an encoder."""

    encoder: str
    fingerprint: str
    dim: int
    tasks: tuple[MtebTaskResult, ...]

    @property
    def place(self) -> Path:
        """The folder of its files."""
        return Path("results", mteb_name(self.encoder).replace("/", "__"), self.revision)

    @property
    def revision(self) -> str:
        """What tells it from others of its name."""
        return task_name(self.fingerprint[:40]) if self.fingerprint else NO_REVISION


def mteb_results(
    sides: Sequence[Side], distances: Sequence[GeometryResult]
) -> list[MtebModelResults]:
    """Return what is known of each encoder, by probes and by its distances.

    Raises:
        UsageError: two encoders would have one name, or an encoder has two results on a contrast.
    """
    probed = {side.encoder: [*_probed(side)] for side in sides}
    firsts: dict[str, Result | GeometryResult] = {each.encoder: each for each in distances}
    for side in sides:
        firsts[side.encoder] = next(iter(side.by_task.values()))[0]
    found = [
        MtebModelResults(
            encoder=name,
            fingerprint=first.encoder_fingerprint,
            dim=first.dim,
            tasks=(*probed.get(name, ()), *_measured(name, distances)),
        )
        for name, first in firsts.items()
    ]
    _check_names([each.encoder for each in found])
    return found


def _check_names(encoders: Sequence[str]) -> None:
    names: dict[str, str] = {}
    for encoder in encoders:
        other = names.setdefault(mteb_name(encoder), encoder)
        if other != encoder:
            raise UsageError(
                f"the encoders {other} and {encoder} would both be {mteb_name(encoder)} in MTEB's "
                "layout; probe one with another name=, or show runs with one of them"
            )


def _probed(side: Side) -> Iterator[MtebTaskResult]:
    for task, records in side.by_task.items():
        named = len(records) > 1  # draws: their mean is the score
        yield MtebTaskResult(
            task=task_name(task),
            revision=records[0].dataset_fingerprint,
            parts={f"seed-{r.seed}" if named else SUBSET: probing_scores(r) for r in records},
            seconds=sum(sum(record.seconds.values()) for record in records),
        )


def _measured(encoder: str, distances: Sequence[GeometryResult]) -> Iterator[MtebTaskResult]:
    names: set[str] = set()
    for each in distances:
        if each.encoder != encoder:
            continue
        name = geometry_name(each.contrast)
        if name in names:
            raise UsageError(
                f"there are two results of {encoder} on the contrast {each.contrast}, of other "
                "sentences or vectors, and MTEB's layout has room for one: name fewer runs"
            )
        names.add(name)
        yield MtebTaskResult(
            task=name, revision=each.material, parts={SUBSET: geometry_scores(each)}, seconds=None
        )


def write_mteb_results(found: Sequence[MtebModelResults], out: Path) -> None:
    """Write files of results into a folder; what MTEB or another run put there stays.

    Raises:
        UsageError: it is a folder of our results or a table, or cannot be written to.
    """
    if kind := what_is(out):
        raise UsageError(f"{out}: is {kind}; write results for MTEB to another folder")
    for model in found:
        folder = out / model.place
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise path_error(out, "cannot write results there", error) from error
        for task in model.tasks:
            _write(folder / f"{task.task}.json", _task_file(task))
        _write(folder / MODEL_META, _model_file(model))


def _write(path: Path, value: Mapping[str, Any]) -> None:
    write_atomically(path, json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def _task_file(result: MtebTaskResult) -> dict[str, Any]:
    """Return a ``TaskResult``; it has no version of MTEB, which did not make it."""
    parts = [
        {
            **scores,
            "main_score": scores[MAIN_SCORE],
            "hf_subset": subset,
            "languages": ["eng-Latn"],
        }
        for subset, scores in result.parts.items()
    ]
    return {
        "dataset_revision": result.revision,
        "task_name": result.task,
        "mteb_version": None,
        "scores": {Split.TEST.value: parts},
        "evaluation_time": result.seconds,
        "kg_co2_emissions": None,
    }


_NOT_KNOWN = (
    "loader",
    "release_date",
    "languages",
    "n_parameters",
    "memory_usage_mb",
    "max_tokens",
    "license",
    "open_weights",
    "public_training_code",
    "public_training_data",
    "similarity_fn_name",
    "use_instructions",
    "training_datasets",
)
"""The fields of a ``ModelMeta`` that must be there, and of which a run says nothing."""


def _model_file(model: MtebModelResults) -> dict[str, Any]:
    """Return a ``ModelMeta``."""
    return {
        "name": mteb_name(model.encoder),
        "revision": model.revision,
        "embed_dim": model.dim or None,
        "framework": [],
        "modalities": ["text"],
        **dict.fromkeys(_NOT_KNOWN),
    }
