"""Datasets and triplets as MTEB tasks, models from MTEB as encoders, and result files in MTEB's layout.

The layout is ``results/MODEL/REVISION/TASK.json``. These files are written without importing MTEB.
"""

import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache, cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from sentprobe.common.errors import UsageError, import_module_of_extra, path_error
from sentprobe.common.files import write_atomically
from sentprobe.common.inputs import describe_folder
from sentprobe.common.screen import SilentReporter
from sentprobe.common.values import format_json, group_by
from sentprobe.generator.pairs.contrasts import find_contrast
from sentprobe.generator.pairs.triplets import SIDES
from sentprobe.probes.classifier.probe import Preset
from sentprobe.probes.datasets.dataset import ProbeDataset, Split
from sentprobe.probes.datasets.known_task import KnownTask
from sentprobe.probes.encoders.embedding import embed
from sentprobe.probes.encoders.encoder import Capabilities, Vectors, check_vectors
from sentprobe.probes.generated.tasks import CompevalTask
from sentprobe.probes.reports.comparisons import EncoderResults
from sentprobe.probes.reports.correlations import MODEL_META, to_mteb_name
from sentprobe.probes.results.result import USUAL_CONDITIONS, Condition, Result
from sentprobe.probes.runs.runner import run_tasks
from sentprobe.probes.runs.settings import Run
from sentprobe.probes.runs.suites import find_known_task
from sentprobe.probes.runs.task import Task, make_tasks
from sentprobe.probes.similarity.distance_results import ALL_TRIPLETS, GeometryResult
from sentprobe.probes.similarity.distance_run import measure_encoder
from sentprobe.probes.similarity.measures import Nearness, NegativeKind
from sentprobe.probes.similarity.triplet_sentences import TripletSentences

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
    """Replace characters that a file name should not have by underscores."""
    return re.sub(r"[^\w.+=-]+", "_", text).strip("._") or "task"


def make_geometry_name(contrast: str) -> str:
    """Return the name of a contrast's task in MTEB's layout, such as GeometryTense; no probing task has it."""
    return f"Geometry{to_file_name(contrast[:1].upper() + contrast[1:])}"


SUBSET = "default"
_UNKNOWN_FIELDS = (
    *("loader", "release_date", "languages", "n_parameters", "memory_usage_mb", "max_tokens", "license"),
    *("open_weights", "public_training_code", "public_training_data", "similarity_fn_name", "use_instructions"),
    "training_datasets",
)
"""Fields that MTEB's ``ModelMeta`` requires, and that results of sentprobe do not contain."""


MtebFiles = dict[Path, dict[str, dict[str, Any]]]
"""Content of MTEB's files, by folder and name: for each encoder, ``model_meta.json`` and a file for each task.

A folder is ``results/MODEL/REVISION``, where REVISION is the beginning of the encoder's fingerprint.
"""


def make_mteb_results(sides: Sequence[EncoderResults], distances: Sequence[GeometryResult]) -> MtebFiles:
    """Return the content of each encoder's MTEB files, from probing (*sides*) and geometry (*distances*).

    Raises UsageError if two encoders have the same name in MTEB, if *distances* has two results for the same encoder
    and contrast, or if a task has its training and test items in different languages.
    """
    probing_results = {side.encoder: [*make_probing_results(side)] for side in sides}
    first_results: dict[str, Result | GeometryResult] = {result.encoder: result for result in distances}
    for side in sides:
        first_results[side.encoder] = next(iter(side.by_task.values()))[0]
    contents: MtebFiles = {}
    for name, first in first_results.items():
        mteb_name, fingerprint = to_mteb_name(name), first.encoder_fingerprint
        revision = to_file_name(fingerprint[:40]) if fingerprint else "no_revision_available"  # MTEB's own word
        tasks = [*probing_results.get(name, ()), *make_geometry_results(name, distances)]
        meta = {
            "name": mteb_name,
            "revision": revision,
            "embed_dim": first.dim or None,
            "framework": [],
            "modalities": ["text"],
            **dict.fromkeys(_UNKNOWN_FIELDS),
        }
        folder = Path("results", mteb_name.replace("/", "__"), revision)
        contents[folder] = {**{f"{task['task_name']}.json": task for task in tasks}, MODEL_META: meta}
    for name, alike in group_by(first_results, to_mteb_name).items():
        if len(alike) > 1:
            raise UsageError(
                f"the encoders {alike[0]} and {alike[1]} would both be {name} in MTEB's layout; probe one with another "
                "name=, or show runs with one of them"
            )
    return contents


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


def write_mteb_results(contents: MtebFiles, directory: Path) -> None:
    """Write result files into *directory*, which may contain other files.

    Raises UsageError if the directory is a results folder or corpus table of sentprobe, or cannot be written.
    """
    if kind := describe_folder(directory):
        raise UsageError(f"{directory}: is {kind}; write results for MTEB to another folder")
    for folder, files_by_name in contents.items():
        try:
            (directory / folder).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise path_error(directory, "cannot write results there", error) from error
        for name, content in files_by_name.items():
            write_atomically(directory / folder / name, format_json(content, indent=2) + "\n")


GENERATED = {"domains": ["Constructed", "Written"], "sample_creation": "created"}
NATURAL_TEXT = {"domains": ["Written"], "sample_creation": "found"}


@cache
def read_papers() -> Mapping[str, Mapping[str, str]]:
    """Return ``reference`` and ``bibtex_citation``, as in MTEB, of the paper behind each classifier preset."""
    return tomllib.loads(files(__package__).joinpath("papers.toml").read_text("utf-8"))


def _describe_question(data: ProbeDataset, task: KnownTask | None) -> str:
    inputs = ("", " and a word", " and two words")[data.slots]
    question = f"A probe learns to tell the label from the vector of the sentence{inputs}"
    if task is None:
        return f"{question}: {data.name}, with {len(data.labels)} labels."
    letters = "s is the sentence, n a noun, v a verb, w a word"
    return f"{question}: {task.question_text} ({letters}; labels: {task.classes})"


def _make_metadata(*, path: Path, revision: str, **fields: Any) -> Any:
    """Return a task's metadata: *path*, the file's date, *revision*, *fields*, and values that all tasks share."""
    from mteb.abstasks.task_metadata import TaskMetadata

    date = datetime.fromtimestamp(path.stat().st_mtime, tz=UTC).date().isoformat()
    return TaskMetadata(
        dataset={"path": str(path), "revision": revision},
        eval_splits=["test"],
        eval_langs=["eng-Latn"],
        main_score=MAIN_SCORE,
        date=(date, date),
        task_subtypes=[],
        license="not specified",
        annotations_creators="derived",
        dialect=[],
        **fields,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class MtebModel:
    """A model from MTEB as an encoder of sentprobe."""

    model: Any = field(repr=False)
    task: Any = field(repr=False)
    """The metadata of the task, by which models choose prompts."""
    subset: str
    options: Mapping[str, Any]
    fingerprint: str = ""
    """Empty, since it is unknown on which files and settings the vectors depend."""
    capabilities: Capabilities = Capabilities(cacheable=False)  # noqa: RUF009 - frozen
    """Capabilities of the encoder: its vectors are not cached, as in MTEB itself."""

    @property
    def name(self) -> str:
        """The name of the model in MTEB."""
        return str(self.model.mteb_model_meta.name)

    def encode(self, sentences: Sequence[str]) -> Vectors:
        """Return the model's vectors, (n, dim) float32. Raises EncoderError if a value is not finite."""
        from datasets import Dataset

        load_batches = import_module_of_extra("torch.utils.data").DataLoader
        rows = Dataset.from_dict({"text": list(sentences)})
        vectors = self.model.encode(
            load_batches(rows, batch_size=self.options.get("batch_size", 32)),
            task_metadata=self.task,
            hf_split=Split.TEST.value,
            hf_subset=self.subset,
            **self.options,
        )
        return check_vectors(np.asarray(vectors), sentences=sentences, encoder=self.name)


class ProbingTask:
    """A mixin for the MTEB task of a dataset; the task trains the probes of ``probe run``, not MTEB's classifiers."""

    metadata: Any
    data: ProbeDataset
    settings: Run
    preset: Preset | None
    dataset: Any
    data_loaded: bool

    @cached_property
    def probed(self) -> Task:
        """The dataset, its classifier and the vectors of its probe words."""
        (task,) = make_tasks([self.data], run=self.settings, preset=self.preset)
        return task

    def load_data(self, num_proc: int | None = None, **options: Any) -> None:
        """Set ``dataset``, as MTEB expects, to the items of each split; nothing is downloaded."""
        from datasets import Dataset, DatasetDict

        del num_proc, options
        data = self.data
        columns = {
            split: {
                "text": [data.sentences[row] for row in items.rows],
                "label": items.targets.tolist(),
                "probes": [[data.probe_words[w] for w in words] for words in items.probes],
            }
            for split, items in data.splits.items()
        }
        self.dataset = DatasetDict({split.value: Dataset.from_dict(columns[split]) for split in columns})
        self.data_loaded = True

    def _evaluate_subset(
        self,
        model: Any,
        data_split: Any,
        *,
        encode_kwargs: Mapping[str, Any],
        hf_split: str,
        hf_subset: str,
        **options: Any,
    ) -> MtebScores:
        del data_split, options
        if hf_split != Split.TEST:
            raise UsageError(f"{self.metadata.name}: probes answer the test items, not {hf_split}")
        encoder = MtebModel(model=model, task=self.metadata, subset=hf_subset, options=encode_kwargs)
        completed = run_tasks([self.probed], [encoder], run=self.settings, reporter=SilentReporter(), recipes={})
        return make_probing_scores(completed.results.records[0])


def make_probing_task(data: ProbeDataset, path: Path, *, run: Run, preset: Preset | None) -> Any:
    """Return the MTEB task of the dataset in *path*. Each task has its own Python class, as is usual in MTEB.

    ``samples_per_label`` is the number of training items of the most frequent label, so that no item is left out.
    """
    from mteb.abstasks import AbsTaskClassification

    task = find_known_task(data.card.task, data.name)
    no_paper = {"reference": None, "bibtex_citation": ""}
    metadata = _make_metadata(
        name=to_file_name(data.name),
        description=_describe_question(data, task),
        path=path,
        revision=data.fingerprint(),
        type="Classification",
        category="t2c",
        **(read_papers().get(task.preset, no_paper) if task else no_paper),
        **(GENERATED if isinstance(task, CompevalTask) else NATURAL_TEXT),
    )
    attributes = {
        "metadata": metadata,
        "data": data,
        "settings": run,
        "preset": preset,
        "samples_per_label": max(Counter(data.splits[Split.TRAIN].targets.tolist()).values()),
        "n_experiments": run.seeds,
        "__doc__": metadata.description,
    }
    return type(metadata.name, (ProbingTask, AbsTaskClassification), attributes)(seed=run.seed)


class GeometryTask:
    """A mixin for the MTEB task of a contrast; the task measures an encoder by distances in the contrast's triplets."""

    metadata: Any
    material: TripletSentences
    dataset: Any
    data_loaded: bool
    abstask_prompt = "Retrieve semantically similar text."

    def load_data(self, num_proc: int | None = None, **options: Any) -> None:
        """Set ``dataset``, as MTEB expects, to the triplets; nothing is downloaded."""
        from datasets import Dataset, DatasetDict

        del num_proc, options
        columns = {side.value: list(self.material.columns[n]) for n, side in enumerate(SIDES)}
        self.dataset = DatasetDict({"test": Dataset.from_dict(columns)})
        self.data_loaded = True

    def _evaluate_subset(
        self, model: Any, data_split: Any, *, encode_kwargs: Mapping[str, Any], hf_subset: str, **options: Any
    ) -> MtebScores:
        del data_split, options
        encoder = MtebModel(model=model, task=self.metadata, subset=hf_subset, options=encode_kwargs)
        vectors = embed(encoder, self.material.sentences)
        return make_geometry_scores(measure_encoder(encoder, self.material, vectors, None))

    def _calculate_descriptive_statistics_from_split(self, split: str, **options: Any) -> dict[str, int]:
        del split, options
        return {"num_samples": len(self.material.units)}


def make_geometry_task(material: TripletSentences, path: Path) -> Any:
    """Return the MTEB task of the triplets in *path*. Each task has its own class, as is usual in MTEB."""
    from mteb.abstasks.abstask import AbsTask

    metadata = _make_metadata(
        name=make_geometry_name(material.contrast),
        description="Is a sentence nearer, by cosine, to another that means the same in another form than to one in "
        f"that form that differs in one property: {find_contrast(material.contrast).summary}?",
        path=path,
        revision=material.fingerprint,
        type="STS",
        category="t2t",
        **read_papers()["ettinger"],  # contrasts are made of events of this paper
        **GENERATED,
    )
    attributes = {"metadata": metadata, "material": material, "__doc__": metadata.description}
    return type(metadata.name, (GeometryTask, AbsTask), attributes)()
