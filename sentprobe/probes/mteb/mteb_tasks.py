"""Datasets and triplets as MTEB tasks, and models from MTEB as encoders."""

import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache, cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from sentprobe.errors import UsageError
from sentprobe.extras import import_module_of_extra
from sentprobe.generator.pairs.contrasts import find_contrast
from sentprobe.generator.pairs.triplets import SIDES
from sentprobe.probes.compeval.tasks import CompevalTask
from sentprobe.probes.dataset import ProbeDataset, Split
from sentprobe.probes.encoders.cache.embedding import embed
from sentprobe.probes.encoders.protocol import Capabilities, Vectors, check_vectors
from sentprobe.probes.geometry.distance_run import measure_encoder
from sentprobe.probes.geometry.triplet_sentences import TripletSentences
from sentprobe.probes.known_task import KnownTask
from sentprobe.probes.mteb import result_files
from sentprobe.probes.runs.execution.runner import run_tasks
from sentprobe.probes.runs.execution.task import Task, make_tasks
from sentprobe.probes.runs.request.settings import Run
from sentprobe.probes.suites import find_known_task
from sentprobe.probes.trainer.classifier import Preset
from sentprobe.progress import SilentReporter

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
        main_score=result_files.MAIN_SCORE,
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
    ) -> result_files.MtebScores:
        del data_split, options
        if hf_split != Split.TEST:
            raise UsageError(f"{self.metadata.name}: probes answer the test items, not {hf_split}")
        encoder = MtebModel(model=model, task=self.metadata, subset=hf_subset, options=encode_kwargs)
        completed = run_tasks([self.probed], [encoder], run=self.settings, reporter=SilentReporter(), recipes={})
        return result_files.make_probing_scores(completed.results.records[0])


def make_probing_task(data: ProbeDataset, path: Path, *, run: Run, preset: Preset | None) -> Any:
    """Return the MTEB task of the dataset in *path*. Each task has its own Python class, as is usual in MTEB.

    ``samples_per_label`` is the number of training items of the most frequent label, so that no item is left out.
    """
    from mteb.abstasks import AbsTaskClassification

    task = find_known_task(data.card.task, data.name)
    no_paper = {"reference": None, "bibtex_citation": ""}
    metadata = _make_metadata(
        name=result_files.to_file_name(data.name),
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
        "n_experiments": len(run.seeds),
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
    ) -> result_files.MtebScores:
        del data_split, options
        encoder = MtebModel(model=model, task=self.metadata, subset=hf_subset, options=encode_kwargs)
        vectors = embed(encoder, self.material.sentences)
        return result_files.make_geometry_scores(measure_encoder(encoder, self.material, vectors, None))

    def _calculate_descriptive_statistics_from_split(self, split: str, **options: Any) -> dict[str, int]:
        del split, options
        return {"num_samples": len(self.material.units)}


def make_geometry_task(material: TripletSentences, path: Path) -> Any:
    """Return the MTEB task of the triplets in *path*. Each task has its own class, as is usual in MTEB."""
    from mteb.abstasks.abstask import AbsTask

    metadata = _make_metadata(
        name=result_files.make_geometry_name(material.contrast),
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
