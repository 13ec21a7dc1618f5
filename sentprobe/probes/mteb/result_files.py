"""Result files in MTEB's layout, ``results/MODEL/REVISION/TASK.json``, written without importing MTEB."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from sentprobe.disk.files import write_atomically
from sentprobe.disk.markers import describe_folder
from sentprobe.errors import UsageError, path_error
from sentprobe.probes.dataset import Split
from sentprobe.probes.geometry.distance_results import ALL_TRIPLETS, GeometryResult
from sentprobe.probes.geometry.measures import Nearness, NegativeKind
from sentprobe.probes.report.findings.comparisons import EncoderResults
from sentprobe.probes.report.findings.downstream import MODEL_META, to_mteb_name
from sentprobe.probes.results.result import USUAL_CONDITIONS, Condition, Result
from sentprobe.values import format_json, group_by

MAIN_SCORE = "accuracy"
MtebScores: TypeAlias = dict[str, Any]


def make_probing_scores(result: Result) -> MtebScores:
    """Return a result's accuracy, interval and chance (from 0 to 1), and the accuracy of each control and each seed."""
    score = result.scores[Condition.PROBE]
    return {
        "accuracy": score.accuracy,
        "low": score.interval.low,
        "high": score.interval.high,
        "chance": result.majority,
        "classifier": result.preset.name,
        "items": score.total,
        **{
            f"accuracy_{condition.value.replace('-', '_')}": score.accuracy
            for condition, score in result.scores.items()
            if condition in USUAL_CONDITIONS and condition is not Condition.PROBE
        },
        "scores_per_experiment": [
            {"seed": seed_score.seed, "accuracy": seed_score.accuracy, "epochs": seed_score.epochs}
            for seed_score in score.seeds
        ],
    }


def make_geometry_scores(result: GeometryResult) -> MtebScores:
    """Return the scores of an encoder on a contrast.

    A triplet has two negatives: one has the form (such as the voice) of the positive, the other that of the anchor.
    ``accuracy`` and its interval (``low`` to ``high``) are by cosine, with the negative in the positive's form.
    ``anchor_euclid_margin``, for example, is the margin by Euclidean distance, with the other negative.
    """
    main = result.find_by_group(NegativeKind.FORM)[ALL_TRIPLETS]
    scores: MtebScores = {
        "accuracy": main.accuracy,
        "low": main.accuracy_interval.low,
        "high": main.accuracy_interval.high,
        "chance": 0.5,
        "items": main.triplets,
    }
    for kind in NegativeKind:
        for nearness in Nearness:
            if score := result.find_overall(kind, nearness):
                name = f"{kind.value}_{nearness.value}"
                scores |= {
                    f"{name}_accuracy": score.measured.accuracy,
                    f"{name}_paired": score.measured.paired,
                    f"{name}_margin": score.measured.margin,
                }
    return scores


def to_file_name(text: str) -> str:
    """Replace characters that a file name should not have by underscores.

    >>> to_file_name("SemRole"), to_file_name("my/own task")
    ('SemRole', 'my_own_task')
    """
    return re.sub(r"[^\w.+=-]+", "_", text).strip("._") or "task"


def make_geometry_name(contrast: str) -> str:
    """Return the name of a contrast's task in MTEB's layout; no probing task has the same name.

    >>> make_geometry_name("tense")
    'GeometryTense'
    """
    return f"Geometry{to_file_name(contrast[:1].upper() + contrast[1:])}"


SUBSET = "default"
NO_REVISION = "no_revision_available"
_UNKNOWN_FIELDS = (
    *("loader", "release_date", "languages", "n_parameters", "memory_usage_mb", "max_tokens", "license"),
    *("open_weights", "public_training_code", "public_training_data", "similarity_fn_name", "use_instructions"),
    "training_datasets",
)
"""Fields that MTEB's ``ModelMeta`` requires, and that results of sentprobe do not contain."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MtebModelResults:
    """The content of an encoder's result files."""

    folder: Path
    """``results/MODEL/REVISION``, where REVISION is the beginning of the encoder's fingerprint."""
    meta: dict[str, Any]
    """The fields of MTEB's ``ModelMeta``; those that sentprobe does not know are None."""
    tasks: list[dict[str, Any]]
    """The fields of MTEB's ``TaskResult`` for each task."""


def make_mteb_results(sides: Sequence[EncoderResults], distances: Sequence[GeometryResult]) -> list[MtebModelResults]:
    """Return, for each encoder, the content of its MTEB files, from probing (*sides*) and geometry (*distances*).

    Raises UsageError if two encoders have the same name in MTEB, if *distances* has two results for the same encoder
    and contrast, or if a task has its training and test items in different languages.
    """
    probing_results = {side.encoder: [*make_probing_results(side)] for side in sides}
    first_results: dict[str, Result | GeometryResult] = {result.encoder: result for result in distances}
    for side in sides:
        first_results[side.encoder] = next(iter(side.by_task.values()))[0]
    models = []
    for name, first in first_results.items():
        mteb_name, fingerprint = to_mteb_name(name), first.encoder_fingerprint
        revision = to_file_name(fingerprint[:40]) if fingerprint else NO_REVISION
        model = MtebModelResults(
            folder=Path("results", mteb_name.replace("/", "__"), revision),
            meta={
                "name": mteb_name,
                "revision": revision,
                "embed_dim": first.dim or None,
                "framework": [],
                "modalities": ["text"],
                **dict.fromkeys(_UNKNOWN_FIELDS),
            },
            tasks=[*probing_results.get(name, ()), *make_geometry_results(name, distances)],
        )
        models.append(model)
    for name, alike in group_by(first_results, to_mteb_name).items():
        if len(alike) > 1:
            raise UsageError(
                f"the encoders {alike[0]} and {alike[1]} would both be {name} in MTEB's layout; probe one with another "
                "name=, or show runs with one of them"
            )
    return models


def make_probing_results(side: EncoderResults) -> Iterator[dict[str, Any]]:
    """Yield the result of an encoder on each task. Raises UsageError if training and test language differ."""
    for task, records in side.by_task.items():
        if records[0].data is not None and records[0].data.test_language:
            raise UsageError(f"{task}: MTEB's form is for English, and these results are across languages")
        has_draws = len(records) > 1  # several draws, whose mean is the score
        scores = {f"seed-{r.seed}" if has_draws else SUBSET: make_probing_scores(r) for r in records}
        seconds = sum(sum(record.seconds.values()) for record in records)
        yield format_task_result(to_file_name(task), records[0].dataset_fingerprint, scores, seconds)


def make_geometry_results(encoder: str, distances: Sequence[GeometryResult]) -> Iterator[dict[str, Any]]:
    """Yield the result of an encoder on each contrast. Raises UsageError for two results on one contrast."""
    names: set[str] = set()
    for result in distances:
        if result.encoder != encoder:
            continue
        name = make_geometry_name(result.contrast)
        if name in names:
            raise UsageError(
                f"there are two results of {encoder} on the contrast {result.contrast}, of other "
                "sentences or vectors, and MTEB's layout has room for one: name fewer runs"
            )
        names.add(name)
        yield format_task_result(name, result.material, {SUBSET: make_geometry_scores(result)})


def format_task_result(
    task: str, revision: str, scores_by_subset: Mapping[str, MtebScores], seconds: float | None = None
) -> dict[str, Any]:
    """Return the fields of MTEB's ``TaskResult``. The field ``mteb_version`` is None, since MTEB was not used."""
    parts = [
        {**scores, "main_score": scores[MAIN_SCORE], "hf_subset": subset, "languages": ["eng-Latn"]}
        for subset, scores in scores_by_subset.items()
    ]
    return {
        "dataset_revision": revision,
        "task_name": task,
        "mteb_version": None,
        "scores": {Split.TEST.value: parts},
        "evaluation_time": seconds,
        "kg_co2_emissions": None,
    }


def write_mteb_results(models: Sequence[MtebModelResults], directory: Path) -> None:
    """Write result files into *directory*, which may contain other files.

    Raises UsageError if the directory is a results folder or corpus table of sentprobe, or cannot be written.
    """
    if kind := describe_folder(directory):
        raise UsageError(f"{directory}: is {kind}; write results for MTEB to another folder")
    for model in models:
        folder = directory / model.folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise path_error(directory, "cannot write results there", error) from error
        contents = {f"{task['task_name']}.json": task for task in model.tasks}
        for name, content in {**contents, MODEL_META: model.meta}.items():
            write_atomically(folder / name, format_json(content, indent=2) + "\n")
