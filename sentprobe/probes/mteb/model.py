"""A model as MTEB hands it to a task, behind the protocol of encoders."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sentprobe.extras import load
from sentprobe.probes.dataset import Split
from sentprobe.probes.encoders import Vectors
from sentprobe.probes.encoders.protocol import check_vectors

BATCH = 32
"""Sentences that a model encodes at a time, unless MTEB is told otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MtebModel:
    """An encoder that is a model of MTEB's.

    Its sentences are put in the order, and go to it in the portions, of any encoder in a run: the
    vectors are the same to the last digit, as far as the model allows.
    """

    model: Any = field(repr=False)
    task: Any = field(repr=False)
    """The metadata of the task, by which models choose prompts."""
    subset: str
    options: Mapping[str, Any]
    """What ``mteb.evaluate`` was given for the model."""
    fingerprint: str = ""
    """Empty: nothing says what the vectors depend on."""
    cacheable: bool = False

    @property
    def name(self) -> str:
        """What MTEB calls it."""
        return str(self.model.mteb_model_meta.name)

    def encode(self, sentences: Sequence[str]) -> Vectors:
        """Return the model's vectors, (n, dim) float32.

        Raises:
            EncoderError: it did not return a finite vector for each sentence.
        """
        from datasets import Dataset  # noqa: PLC0415 - optional

        rows: Any = Dataset.from_dict({"text": list(sentences)})
        found = self.model.encode(
            load("torch.utils.data").DataLoader(
                rows, batch_size=self.options.get("batch_size", BATCH)
            ),
            task_metadata=self.task,
            hf_split=Split.TEST.value,
            hf_subset=self.subset,
            **self.options,
        )
        return check_vectors(np.asarray(found), sentences=sentences, encoder=self.name)
