"""``contrastive``: move a positive nearer to its anchor than any negative."""

import torch
from torch.nn import functional

from sentprobe.probes.encoders.trained.sentence_model import SentenceModel
from sentprobe.probes.pretraining.item_batches import ItemLearner, prepare_items
from sentprobe.probes.pretraining.objective import Batch, PreparedObjective
from sentprobe.probes.pretraining.objective_options import ObjectiveOptions
from sentprobe.probes.pretraining.texts.corpora import Triplets


class ContrastiveLearner(ItemLearner):
    """Classifier of an anchor's positive among all positives and negatives of the batch, by cosine.

    Cosines are divided by a temperature before the softmax (van den Oord et al. 2018).
    """

    def __init__(self, encoder: SentenceModel, options: ObjectiveOptions) -> None:
        super().__init__(encoder)
        self.temperature = options.temperature

    def forward(self, batch: Batch) -> torch.Tensor:
        """Return the mean loss of the triplets."""
        anchors, candidates = self.encode_batch(batch)
        cosines = anchors @ candidates.T  # (b, 2b)
        targets = torch.arange(len(anchors), device=cosines.device)
        return functional.cross_entropy(cosines.float() / self.temperature, targets)

    def encode_batch(self, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
        """Return anchors, (b, dim), and positives before negatives, (2b, dim), of length 1."""
        vectors = self.encoder(batch.tensors["ids"], batch.tensors["lengths"])  # (3b, dim)
        vectors = functional.normalize(vectors.float(), dim=1)
        return vectors[: batch.items], vectors[batch.items :]

    def evaluate_batch(self, batch: Batch) -> tuple[float, float]:
        """Count the triplets whose positive is nearer than their own negative."""
        anchors, candidates = self.encode_batch(batch)
        positives, negatives = candidates.chunk(2)
        margins = (anchors * positives).sum(dim=1) - (anchors * negatives).sum(dim=1)
        return float((margins > 0).sum()), batch.items * float(self(batch))


def prepare(texts: Triplets, model: SentenceModel, options: ObjectiveOptions) -> PreparedObjective:
    """Return the objective over triplets, as ``gen pairs --for training`` writes them."""
    sides = (texts.anchors, texts.positives, texts.negatives)
    return prepare_items(ContrastiveLearner(model, options), sides, options)
