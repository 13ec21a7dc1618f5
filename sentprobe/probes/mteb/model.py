"""A model from MTEB as an encoder."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sentprobe.extras import import_module_of_extra
from sentprobe.probes.dataset import Split
from sentprobe.probes.encoders import Vectors
from sentprobe.probes.encoders.capabilities import Capabilities
from sentprobe.probes.encoders.protocol import check_vectors

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
