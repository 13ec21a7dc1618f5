"""The objectives ``nli`` and ``contrastive``, which classify pairs and triplets of sentences."""

import torch
from torch import nn
from torch.nn import functional

from sentprobe.generator.pairs.inference_pairs import NliLabel
from sentprobe.probes.encoders.trained.sentence_model import SentenceModel
from sentprobe.probes.pretraining.objective import Batch, ItemLearner, PreparedObjective, prepare_items
from sentprobe.probes.pretraining.objective_options import ObjectiveOptions
from sentprobe.probes.pretraining.texts.corpora import NliPairs, Triplets

CLASSES = tuple(label.name.lower() for label in NliLabel)


class NliLearner(ItemLearner):
    """Classifies two sentences with vectors u and v by (u, v, |u - v|, u * v) (Conneau et al. 2017, section 3.1)."""

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
        """Return the mean loss of the pairs in a batch, a scalar, in nats."""
        return functional.cross_entropy(self.compute_logits(batch), batch.tensors["labels"])

    def compute_logits(self, batch: Batch) -> torch.Tensor:
        """Return a logit for each pair and class, (b, classes)."""
        vectors = self.encoder(batch.tensors["ids"], batch.tensors["lengths"])  # (2b, dim)
        u, v = vectors.chunk(2)
        logits: torch.Tensor = self.classifier(torch.cat((u, v, (u - v).abs(), u * v), dim=1))
        return logits

    def evaluate_batch(self, batch: Batch) -> tuple[float, float]:
        """Return the number of pairs that are classified correctly, and the sum of all losses, in nats."""
        logits, labels = self.compute_logits(batch), batch.tensors["labels"]
        loss = functional.cross_entropy(logits, labels, reduction="sum")
        return float((logits.argmax(dim=1) == labels).sum()), float(loss)


def prepare_nli(texts: NliPairs, model: SentenceModel, options: ObjectiveOptions) -> PreparedObjective:
    """Prepare ``nli``: classify pairs of premise and hypothesis as entailment, neutral or contradiction."""
    sides = (texts.premises, texts.hypotheses)
    return prepare_items(NliLearner(model, options), sides, options, {"labels": torch.from_numpy(texts.labels)})


class ContrastiveLearner(ItemLearner):
    """Picks each anchor's positive among a batch's positives and negatives, by cosine (van den Oord et al. 2018)."""

    def __init__(self, encoder: SentenceModel, options: ObjectiveOptions) -> None:
        super().__init__(encoder)
        self.temperature = options.temperature

    def forward(self, batch: Batch) -> torch.Tensor:
        """Return the mean loss of the triplets in a batch, a scalar, in nats."""
        anchors, candidates = self.encode_batch(batch)
        cosines = anchors @ candidates.T  # (b, 2b)
        targets = torch.arange(len(anchors), device=cosines.device)
        return functional.cross_entropy(cosines.float() / self.temperature, targets)

    def encode_batch(self, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
        """Return unit vectors of the anchors, (b, dim), and of the positives followed by the negatives, (2b, dim)."""
        vectors = self.encoder(batch.tensors["ids"], batch.tensors["lengths"])  # (3b, dim)
        vectors = functional.normalize(vectors.float(), dim=1)
        return vectors[: batch.items], vectors[batch.items :]

    def evaluate_batch(self, batch: Batch) -> tuple[float, float]:
        """Return the number of anchors nearer to the positive than to the negative, and the sum of losses, in nats."""
        anchors, candidates = self.encode_batch(batch)
        positives, negatives = candidates.chunk(2)
        margins = (anchors * positives).sum(dim=1) - (anchors * negatives).sum(dim=1)
        return float((margins > 0).sum()), batch.items * float(self(batch))


def prepare_contrastive(texts: Triplets, model: SentenceModel, options: ObjectiveOptions) -> PreparedObjective:
    """Prepare ``contrastive``: move each positive nearer to its anchor than all other sentences of the batch."""
    sides = (texts.anchors, texts.positives, texts.negatives)
    return prepare_items(ContrastiveLearner(model, options), sides, options)
