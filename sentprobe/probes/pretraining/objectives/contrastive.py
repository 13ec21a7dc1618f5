"""``contrastive``: a positive is to be nearer to its anchor than any negative."""

from functools import partial

import torch
from torch.nn import functional

from sentprobe.probes.encoders.sentence_model import SentenceModel
from sentprobe.probes.pretraining.held_out import hold_out
from sentprobe.probes.pretraining.item_batches import ItemBatches, side_by_side
from sentprobe.probes.pretraining.objective import Batch, Learner, Prepared, Validation
from sentprobe.probes.pretraining.objectives import ObjectiveOptions
from sentprobe.probes.pretraining.texts.corpora import Triplets
from sentprobe.probes.pretraining.token_rows import Places, TokenRows, collect_rows


class ContrastiveLearner(Learner):
    """Tells an anchor's positive from all other positives and negatives of the batch, by cosine.

    Cosines are divided by a temperature and go through a softmax (van den Oord et al. 2018); all
    sentences of a batch but the positive are negatives, the anchor's own among them.
    """

    def __init__(self, encoder: SentenceModel, options: ObjectiveOptions) -> None:
        super().__init__(encoder)
        self.temperature = options.temperature

    def forward(self, batch: Batch) -> torch.Tensor:
        """Return the mean loss of the triplets."""
        anchors, others = self.vectors(batch)
        cosines = anchors @ others.T  # (b, 2b)
        own = torch.arange(len(anchors), device=cosines.device)
        return functional.cross_entropy(cosines.float() / self.temperature, own)

    def vectors(self, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
        """Return anchors, (b, dim), and positives before negatives, (2b, dim), all of length 1."""
        found = self.encoder(batch.tensors["ids"], batch.tensors["lengths"])  # (3b, dim)
        found = functional.normalize(found.float(), dim=1)
        return found[: batch.items], found[batch.items :]


def prepare(texts: Triplets, model: SentenceModel, options: ObjectiveOptions) -> Prepared:
    """Return the objective over triplets, as ``gen pairs --for training`` writes them.

    Raises:
        UsageError: there are too few.
    """
    sides = (texts.anchors, texts.positives, texts.negatives)
    division = hold_out(*sides, count=options.validation, seed=options.seed)
    parts = [collect_rows(map(model.vocabulary.ids, side)) for side in sides]
    make = partial(_batch, parts)
    validation = ItemBatches(division.validation, options.batch, options.seed, make)
    return Prepared(
        learner=ContrastiveLearner(model, options),
        train=ItemBatches(division.train, options.batch, options.seed, make),
        validate=partial(_validate, validation),
    )


def _batch(parts: list[TokenRows], places: Places) -> Batch:
    return Batch(side_by_side(parts, places), items=len(places), targets=len(places))


@torch.no_grad()
def _validate(validation: ItemBatches, learner: Learner) -> Validation:
    """Return how often the positive is nearer than the anchor's own negative."""
    assert isinstance(learner, ContrastiveLearner)
    device = next(learner.parameters()).device
    right, loss, count = 0.0, 0.0, len(validation.items)
    for each in validation.in_order():
        batch = each.to(device)
        anchors, others = learner.vectors(batch)
        positives, negatives = others.chunk(2)
        gains = (anchors * positives).sum(dim=1) - (anchors * negatives).sum(dim=1)
        right += float((gains > 0).sum())
        loss += batch.items * float(learner(batch))
    return Validation("accuracy", right / count, higher_is_better=True, loss=loss / count)
