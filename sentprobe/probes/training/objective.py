"""The interface of objectives for the training loop: batches, learners that compute a loss, and validations."""

from abc import ABC, abstractmethod
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import partial
from typing import ClassVar, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from sentprobe.common.errors import UsageError, format_count
from sentprobe.probes.datasets.dataset import Indices
from sentprobe.probes.encoders.models.trained import SentenceModel
from sentprobe.probes.training.objective_options import ObjectiveOptions


@dataclass(frozen=True, slots=True)
class Batch:
    """The items of one training step, as named tensors."""

    tensors: Mapping[str, torch.Tensor]
    items: int
    """Number of items."""
    targets: int
    """Number of predictions: the tokens that decoders should generate or, for a classifier, one per item."""
    objective: str = ""
    """The objective of the batch, if several are trained."""

    def to(self, device: torch.device) -> "Batch":
        """Move the batch to a device, except tensors named ``...lengths``, which networks need on the CPU."""
        moved = {
            name: tensor.cpu() if name.endswith("lengths") else tensor.to(device, non_blocking=True)
            for name, tensor in self.tensors.items()
        }
        return replace(self, tensors=moved)


class Learner(nn.Module, ABC):
    """The model that a training optimizes: a sentence model, and the objective's decoder or classifier."""

    uses_all_weights: ClassVar[bool] = True
    """Whether the loss of each batch depends on all weights."""

    def __init__(self, encoder: SentenceModel) -> None:
        super().__init__()
        self.encoder = encoder

    @property
    def device(self) -> torch.device:
        """The device of the weights."""
        return next(self.encoder.parameters()).device

    @abstractmethod
    def forward(self, batch: Batch) -> torch.Tensor:
        """Return the mean loss over a batch's targets, a scalar, in nats."""


class TrainingBatches(Protocol):
    """The training items as batches, in an order that depends only on the epoch."""

    @property
    def steps(self) -> int:
        """Number of batches per epoch."""

    def batches(self, epoch: int, *, start: int = 0) -> Iterator[Batch]:
        """Yield the batches of an epoch, beginning with batch number *start*; each call yields the same batches."""


class Metric(Enum):
    """The metrics of a validation on held-out items."""

    BLEU = "BLEU"
    ACCURACY = "accuracy"
    """The share of correct answers, or of generated texts that equal their reference."""
    PERPLEXITY = "perplexity"
    """The perplexity of subword codes given earlier codes or, for ``next-word``, of words given earlier words."""
    LOSS = "loss"
    """The mean loss of several objectives, by their weights, in nats."""


@dataclass(frozen=True, slots=True)
class Validation:
    """The result of a validation on the held-out items."""

    metric: str
    value: float
    higher_is_better: bool
    loss: float
    """Mean loss over the targets, in nats."""
    permuted_bleu: float | None = None
    """BLEU of an auto-encoder on held-out sentences with permuted words (Adi et al. 2017); else None."""
    parts: Mapping[str, "Validation"] = field(default_factory=dict)
    """The validation of each objective, if several are trained."""

    def __str__(self) -> str:
        """Return the metric's name and value, and BLEU on permuted sentences or the validation of each objective.

        >>> print(Validation("accuracy", 0.93, higher_is_better=True, loss=0.2))
        accuracy 93.0%
        >>> print(Validation("BLEU", 32.5, higher_is_better=True, loss=0.2, permuted_bleu=8.2))
        BLEU 32.5 (permuted: 8.2)
        >>> nli = Validation("accuracy", 0.93, higher_is_better=True, loss=0.2)
        >>> print(Validation("loss", 1.7, higher_is_better=False, loss=1.7, parts={"nli": nli}))
        loss 1.7 (nli: accuracy 93.0%)
        """
        number_format = {"BLEU": ".1f", "accuracy": ".1%"}.get(self.metric, ",.4g")
        permuted = "" if self.permuted_bleu is None else f" (permuted: {self.permuted_bleu:.1f})"
        parts = f" ({'; '.join(f'{name}: {part}' for name, part in self.parts.items())})" if self.parts else ""
        return f"{self.metric} {self.value:{number_format}}{permuted}{parts}"

    def is_better_than(self, previous: "Validation | None") -> bool:
        """Return whether ``value`` or, if values are equal, ``loss`` is better than in *previous* (None: True)."""
        if previous is None:
            return True
        if self.value == previous.value:
            return self.loss < previous.loss
        return (self.value > previous.value) is self.higher_is_better


@dataclass(frozen=True, slots=True)
class PreparedObjective:
    """An objective and its texts, as the training loop needs them."""

    learner: Learner
    train: TrainingBatches
    validate: Callable[[Learner], Validation]
    """Function that validates the learner; it changes no weights, gradients or random generators."""


@dataclass(frozen=True, slots=True, eq=False)
class TokenRows:
    """Texts as rows of token numbers; rows may differ in length."""

    tokens: NDArray[np.int32]
    """The tokens of all rows."""
    bounds: Indices
    """The start index of each row in ``tokens``, followed by the end index of the last row."""

    def __len__(self) -> int:
        return len(self.bounds) - 1

    def __getitem__(self, row: int) -> NDArray[np.int32]:
        return self.tokens[self.bounds[row] : self.bounds[row + 1]]

    @property
    def lengths(self) -> Indices:
        """Number of tokens of each row."""
        return np.diff(self.bounds)


def collect_rows(rows: Iterable[Iterable[int]]) -> TokenRows:
    """Join rows of token numbers into one array."""
    tokens, bounds = array("i"), array("q", [0])
    for row in rows:
        tokens.extend(row)
        bounds.append(len(tokens))
    return TokenRows(np.array(tokens, dtype=np.int32), np.array(bounds, dtype=np.int64))


def pad_rows(rows: Iterable[NDArray[np.int32]], *, before: int = 0, after: int = 0) -> torch.Tensor:
    """Return b rows of tokens as a tensor padded with 0, (b, time) int64.

    Each row starts with the token *before* and ends with the token *after*; 0 adds no token.
    """
    edges = [np.array([edge] if edge else [], dtype=np.int32) for edge in (before, after)]
    sequences = [torch.from_numpy(np.concatenate([edges[0], row, edges[1]])) for row in rows]
    return torch.nn.utils.rnn.pad_sequence(sequences, batch_first=True).long()


def make_seed(seed: int, stream: int, *numbers: int, place: int) -> tuple[int, ...]:
    """Return the seed of a random stream of an objective: that of the first, or only, objective has no place.

    - stream: 1 for the items held out, 2 for batches, 3 for noise, 4 for decoders, 5 for permuted words, 6 for the
      objectives of batches; of these, 1, 5 and 6 do not depend on the place
    - place: the objective's place among those of one encoder

    >>> make_seed(7, 2, 30, place=0), make_seed(7, 2, 30, place=1)
    ((7, 2, 30), (7, 2, 30, 1))
    """
    return (seed, stream, *numbers, *([place] if place else []))


def hold_out(*columns: Sequence[str], count: int, seed: int) -> tuple[Indices, Indices]:
    """Return the indices of random training and validation items. Raises UsageError if there are too few items.

    - columns: the texts of the items; item i consists of ``columns[0][i]``, ``columns[1][i]`` and so on
    - count: number of validation items, lowered to a tenth of all items if above that; at least one item is held out

    No two validation items share a text. All other items with a text of a validation item are left out.

    >>> train, validation = hold_out(["a", "b", "c", "a"], count=1, seed=0)
    >>> train.tolist(), validation.tolist()
    ([1, 2], [3])
    """
    items = len(columns[0])
    if items < 2:
        raise UsageError(f"{format_count(items, 'item')} to learn from: at least 2 are needed")
    held_out_texts: set[str] = set()
    validation: list[int] = []
    for item in map(int, np.random.default_rng((seed, 1)).permutation(items)):
        texts = {column[item] for column in columns}
        if held_out_texts.isdisjoint(texts):
            validation.append(item)
            held_out_texts |= texts
        if len(validation) >= min(count, max(items // 10, 1)):
            break
    train = [item for item in range(items) if held_out_texts.isdisjoint({c[item] for c in columns})]
    if not train:
        raise UsageError(f"all {items} items share a text with those held out for validation: none is left to train on")
    return np.array(train, dtype=np.int64), np.array(sorted(validation), dtype=np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class ItemBatches:
    """Batches of items in a random order, decided by seed, place and epoch; they implement :class:`TrainingBatches`."""

    items: Indices
    size: int
    """Number of items per batch; the last batch may have fewer."""
    seed: int
    make_batch: Callable[[Indices], Batch]
    place: int = 0
    """The objective's place among those of one encoder."""

    @property
    def steps(self) -> int:
        return -(-len(self.items) // self.size)

    def batches(self, epoch: int, *, start: int = 0) -> Iterator[Batch]:
        order = np.random.default_rng(make_seed(self.seed, 2, epoch, place=self.place)).permutation(self.items)
        for number in range(start, self.steps):
            yield self.make_batch(order[number * self.size : (number + 1) * self.size])


class ItemLearner(Learner):
    """A sentence model with a classifier of items, such as pairs of sentences."""

    @abstractmethod
    def evaluate_batch(self, batch: Batch) -> tuple[float, float]:
        """Return the number of correctly classified items in a batch, and the sum of all items' losses, in nats."""


def prepare_items(
    learner: ItemLearner,
    sides: Sequence[Sequence[str]],
    options: ObjectiveOptions,
    columns: Mapping[str, torch.Tensor] | None = None,
) -> PreparedObjective:
    """Prepare an objective that classifies items, such as pairs of premise and hypothesis.

    - sides: the sentences of the items; item i consists of ``sides[0][i]``, ``sides[1][i]`` and so on
    - columns: further tensors with a value per item, by name, such as labels
    """
    training, held_out = hold_out(*sides, count=options.validation, seed=options.seed)
    token_rows = [collect_rows(map(learner.encoder.vocabulary.find_ids, side)) for side in sides]
    make_batch = partial(_make_batch, token_rows, columns or {})
    train = ItemBatches(training, options.batch, options.seed, make_batch, options.place)
    return PreparedObjective(learner, train, partial(_validate, replace(train, items=held_out)))


def _make_batch(sides: Sequence[TokenRows], columns: Mapping[str, torch.Tensor], items: Indices) -> Batch:
    """Return a batch of b items, with ``ids``, (sides * b, time): the items' first sentences, then the second, ..."""
    rows = [side[item] for side in sides for item in items]
    tensors = {"ids": pad_rows(rows), "lengths": torch.tensor([len(row) for row in rows])}
    tensors |= {name: column[items] for name, column in columns.items()}
    return Batch(tensors, items=len(items), targets=len(items))


@torch.no_grad()
def _validate(validation: ItemBatches, learner: Learner) -> Validation:
    assert isinstance(learner, ItemLearner)
    correct_count, loss, count = 0.0, 0.0, len(validation.items)
    for start in range(0, count, validation.size):
        batch = validation.make_batch(validation.items[start : start + validation.size])
        batch_correct, batch_loss = learner.evaluate_batch(batch.to(learner.device))
        correct_count += batch_correct
        loss += batch_loss
    return Validation(Metric.ACCURACY.value, correct_count / count, higher_is_better=True, loss=loss / count)
