"""A dataset as an MTEB task: the model encodes, and a sentprobe probe is trained on the vectors."""

from collections import Counter
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from sentprobe.errors import UsageError
from sentprobe.probes.dataset import ProbeDataset, Split
from sentprobe.probes.mteb.metadata import make_probing_metadata
from sentprobe.probes.mteb.model import MtebModel
from sentprobe.probes.mteb.scores import MtebScores, make_probing_scores
from sentprobe.probes.runs.execution.runner import run_tasks
from sentprobe.probes.runs.execution.task import Task, make_tasks
from sentprobe.probes.runs.request.settings import Run
from sentprobe.probes.trainer.classifier import Preset
from sentprobe.progress import SilentReporter


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
