"""Datasets and triplets as MTEB tasks, and models from MTEB as encoders."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from sentprobe.errors import UsageError
from sentprobe.extras import import_module_of_extra
from sentprobe.generator.pairs.triplets import SIDES
from sentprobe.probes.dataset import ProbeDataset, Split
from sentprobe.probes.encoders.cache.embedding import embed
from sentprobe.probes.encoders.protocol import Capabilities, Vectors, check_vectors
from sentprobe.probes.geometry.distance_run import measure_encoder
from sentprobe.probes.geometry.triplet_sentences import TripletSentences
from sentprobe.probes.mteb.metadata import make_geometry_metadata, make_probing_metadata
from sentprobe.probes.mteb.scores import MtebScores, make_geometry_scores, make_probing_scores
from sentprobe.probes.runs.execution.runner import run_tasks
from sentprobe.probes.runs.execution.task import Task, make_tasks
from sentprobe.probes.runs.request.settings import Run
from sentprobe.probes.trainer.classifier import Preset
from sentprobe.progress import SilentReporter

BATCH = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class MtebModel:
    """An encoder that wraps a model from MTEB, with sentences ordered and chunked as in any run."""

    model: Any = field(repr=False)
    task: Any = field(repr=False)
    """The metadata of the task, from which models choose prompts."""
    subset: str
    options: Mapping[str, Any]
    fingerprint: str = ""
    """Empty, since it is unknown on which files and settings the vectors depend."""

    @property
    def capabilities(self) -> Capabilities:
        """Not cacheable, since MTEB stores no vectors either."""
        return Capabilities(cacheable=False)

    @property
    def name(self) -> str:
        """The name in MTEB."""
        return str(self.model.mteb_model_meta.name)

    def encode(self, sentences: Sequence[str]) -> Vectors:
        """Return the model's vectors, (n, dim) float32; raise EncoderError unless each is finite."""
        from datasets import Dataset

        rows: Any = Dataset.from_dict({"text": list(sentences)})
        vectors = self.model.encode(
            import_module_of_extra("torch.utils.data").DataLoader(
                rows, batch_size=self.options.get("batch_size", BATCH)
            ),
            task_metadata=self.task,
            hf_split=Split.TEST.value,
            hf_subset=self.subset,
            **self.options,
        )
        return check_vectors(np.asarray(vectors), sentences=sentences, encoder=self.name)


class ProbingTask:
    """A probing task that replaces MTEB's own classification.

    The probe reads the sentence and the probe words of an item as in ``probe run``. Each sentence is encoded once;
    words are one-hot or, in the tasks of Adi et al., encoded by the model.
    """

    metadata: Any
    data: ProbeDataset
    settings: Run
    preset: Preset | None
    dataset: Any
    data_loaded: bool

    @cached_property
    def probed(self) -> Task:
        """The dataset and its classifier."""
        (task,) = make_tasks([self.data], run=self.settings, preset=self.preset)
        return task

    def load_data(self, num_proc: int | None = None, **options: Any) -> None:
        """Give the items to MTEB; nothing is downloaded."""
        from datasets import Dataset, DatasetDict

        del num_proc, options
        data = self.data
        self.dataset = DatasetDict(
            {
                split.value: Dataset.from_dict(
                    {
                        "text": [data.sentences[row] for row in items.rows],
                        "label": items.targets.tolist(),
                        "probes": [[data.probe_words[w] for w in words] for words in items.probes],
                    }
                )
                for split, items in data.splits.items()
            }
        )
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
    """Return the MTEB task, of a new class, of the dataset in *path*; it declares that all items are used."""
    from mteb.abstasks import AbsTaskClassification

    metadata = make_probing_metadata(data, path)
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
    """The MTEB task of one contrast."""

    metadata: Any
    material: TripletSentences
    dataset: Any
    data_loaded: bool
    abstask_prompt = "Retrieve semantically similar text."

    def load_data(self, num_proc: int | None = None, **options: Any) -> None:
        """Give the triplets to MTEB; nothing is downloaded."""
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
    """Return the MTEB task of the triplets in *path*; each task gets a new class, as in MTEB."""
    from mteb.abstasks.abstask import AbsTask

    metadata = make_geometry_metadata(material, path)
    attributes = {"metadata": metadata, "material": material, "__doc__": metadata.description}
    return type(metadata.name, (GeometryTask, AbsTask), attributes)()
