"""A dataset as a task of MTEB's: its model encodes, and our probe is trained on the vectors."""

from collections import Counter
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from sentprobe.errors import UsageError
from sentprobe.probes.dataset import ProbeDataset, Split
from sentprobe.probes.mteb.metadata import probing_metadata
from sentprobe.probes.mteb.model import MtebModel
from sentprobe.probes.mteb.scores import MtebScores, probing_scores
from sentprobe.probes.runs.runner import run_tasks
from sentprobe.probes.runs.settings import Run
from sentprobe.probes.runs.task import Task, make_tasks
from sentprobe.probes.trainer.classifier import Preset
from sentprobe.progress import Silent


class ProbingTask:
    """What a probing task does otherwise than MTEB's own classification.

    The sentence and the probe words of an item go to the probe as in ``probe run``: each sentence
    is encoded once, and words are one-hot or, in the tasks of Adi et al., encoded by the model.
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
        """Give MTEB the items; they are at hand, and nothing is fetched."""
        from datasets import Dataset, DatasetDict  # noqa: PLC0415 - optional

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
        """Return the scores of a model; see :func:`probing_scores`."""
        del data_split, options
        if hf_split != Split.TEST:
            raise UsageError(f"{self.metadata.name}: probes answer the test items, not {hf_split}")
        encoder = MtebModel(
            model=model, task=self.metadata, subset=hf_subset, options=encode_kwargs
        )
        found = run_tasks([self.probed], [encoder], run=self.settings, reporter=Silent(), known={})
        return probing_scores(found.results.records[0])


def probing_task(data: ProbeDataset, path: Path, *, run: Run, preset: Preset | None) -> Any:
    """Return the task of a dataset that was read from *path*.

    It is of a class of its own, as MTEB's tasks are. It says that it uses all items of each label:
    so does MTEB's own classifier if it is called for the task.
    """
    from mteb.abstasks import AbsTaskClassification  # noqa: PLC0415 - optional, and slow

    metadata = probing_metadata(data, path)
    facts = {
        "metadata": metadata,
        "data": data,
        "settings": run,
        "preset": preset,
        "samples_per_label": max(Counter(data.splits[Split.TRAIN].targets.tolist()).values()),
        "n_experiments": len(run.seeds),
        "__doc__": metadata.description,
    }
    return type(metadata.name, (ProbingTask, AbsTaskClassification), facts)(seed=run.seed)
