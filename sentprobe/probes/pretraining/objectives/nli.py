"""``nli``: what a premise says of a hypothesis, from the vectors of both."""

from functools import partial

import torch
from torch import nn
from torch.nn import functional

from sentprobe.generator.nli import NliLabel
from sentprobe.probes.encoders.sentence_model import SentenceModel
from sentprobe.probes.pretraining.held_out import hold_out
from sentprobe.probes.pretraining.item_batches import ItemBatches, side_by_side
from sentprobe.probes.pretraining.objective import Batch, Learner, Prepared, Validation
from sentprobe.probes.pretraining.objectives import ObjectiveOptions
from sentprobe.probes.pretraining.texts.corpora import NliPairs
from sentprobe.probes.pretraining.token_rows import Places, TokenRows, collect_rows

CLASSES = tuple(label.name.lower() for label in NliLabel)


class NliLearner(Learner):
    """A classifier of one hidden layer over (u, v, |u - v|, u * v) of two sentences.

    Conneau et al. 2018 take over the task of Conneau et al. 2017, section 3.1. Their classifier
    has 100 units (appendix), that of the other paper 512.
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
        return functional.cross_entropy(self.logits(batch), batch.tensors["labels"])

    def logits(self, batch: Batch) -> torch.Tensor:
        """Return a number for each class, (b, classes)."""
        both = self.encoder(batch.tensors["ids"], batch.tensors["lengths"])  # (2b, dim)
        u, v = both.chunk(2)
        found: torch.Tensor = self.classifier(torch.cat((u, v, (u - v).abs(), u * v), dim=1))
        return found


def prepare(texts: NliPairs, model: SentenceModel, options: ObjectiveOptions) -> Prepared:
    """Return the objective over pairs with labels.

    Raises:
        UsageError: there are too few.
    """
    sides = (texts.premises, texts.hypotheses)
    division = hold_out(*sides, count=options.validation, seed=options.seed)
    parts = [collect_rows(map(model.vocabulary.ids, side)) for side in sides]
    make = partial(_batch, parts, torch.from_numpy(texts.labels))
    validation = ItemBatches(division.validation, options.batch, options.seed, make)
    return Prepared(
        learner=NliLearner(model, options),
        train=ItemBatches(division.train, options.batch, options.seed, make),
        validate=partial(_validate, validation),
    )


def _batch(parts: list[TokenRows], labels: torch.Tensor, places: Places) -> Batch:
    tensors = side_by_side(parts, places) | {"labels": labels[places]}
    return Batch(tensors, items=len(places), targets=len(places))


@torch.no_grad()
def _validate(validation: ItemBatches, learner: Learner) -> Validation:
    """Return the share of pairs that are classed right."""
    assert isinstance(learner, NliLearner)
    device = next(learner.parameters()).device
    right, loss, count = 0.0, 0.0, len(validation.items)
    for each in validation.in_order():
        batch = each.to(device)
        logits, labels = learner.logits(batch), batch.tensors["labels"]
        right += float((logits.argmax(dim=1) == labels).sum())
        loss += float(functional.cross_entropy(logits, labels, reduction="sum"))
    return Validation("accuracy", right / count, higher_is_better=True, loss=loss / count)
