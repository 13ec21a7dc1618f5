"""``nli``: classify the relation of premise and hypothesis from their vectors."""

import torch
from torch import nn
from torch.nn import functional

from sentprobe.generator.pairs.inference_pairs import NliLabel
from sentprobe.probes.encoders.trained.sentence_model import SentenceModel
from sentprobe.probes.pretraining.item_batches import ItemLearner, prepare_items
from sentprobe.probes.pretraining.objective import Batch, PreparedObjective
from sentprobe.probes.pretraining.objective_options import ObjectiveOptions
from sentprobe.probes.pretraining.texts.corpora import NliPairs

CLASSES = tuple(label.name.lower() for label in NliLabel)


class NliLearner(ItemLearner):
    """A classifier with one hidden layer over (u, v, |u - v|, u * v) of two sentences.

    Conneau et al. 2018 take the task from Conneau et al. 2017, section 3.1. The classifier has 100 units
    in the 2018 paper (appendix) and 512 in the 2017 paper.
    """

    def __init__(self, encoder: SentenceModel, options: ObjectiveOptions) -> None:
        super().__init__(encoder)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(options.seed)
            self.classifier = nn.Sequential(
                nn.Dropout(options.dropout),
                nn.Linear(4 * encoder.dim, options.classes_hidden),
                nn.Tanh(),
                nn.Dropout(options.dropout),
                nn.Linear(options.classes_hidden, len(CLASSES)),
            )

    def forward(self, batch: Batch) -> torch.Tensor:
        """Return the mean loss of the pairs."""
        return functional.cross_entropy(self.compute_logits(batch), batch.tensors["labels"])

    def compute_logits(self, batch: Batch) -> torch.Tensor:
        """Return the logits, (b, classes)."""
        vectors = self.encoder(batch.tensors["ids"], batch.tensors["lengths"])  # (2b, dim)
        u, v = vectors.chunk(2)
        logits: torch.Tensor = self.classifier(torch.cat((u, v, (u - v).abs(), u * v), dim=1))
        return logits

    def evaluate_batch(self, batch: Batch) -> tuple[float, float]:
        """Count the pairs that are classified correctly."""
        logits, labels = self.compute_logits(batch), batch.tensors["labels"]
        loss = functional.cross_entropy(logits, labels, reduction="sum")
        return float((logits.argmax(dim=1) == labels).sum()), float(loss)


def prepare(texts: NliPairs, model: SentenceModel, options: ObjectiveOptions) -> PreparedObjective:
    """Return the objective over labelled pairs."""
    sides = (texts.premises, texts.hypotheses)
    return prepare_items(NliLearner(model, options), sides, options, {"labels": torch.from_numpy(texts.labels)})
