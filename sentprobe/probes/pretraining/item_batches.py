"""Items of several sentences each: held-out items, batches in an order that the epoch decides, and the objective."""

from abc import abstractmethod
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray

from sentprobe.errors import UsageError, format_count
from sentprobe.probes.pretraining.objective import Batch, Learner, PreparedObjective, Validation
from sentprobe.probes.pretraining.objective_options import ObjectiveOptions

Places = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class TokenRows:
    """Rows of tokens, of any lengths."""

    tokens: NDArray[np.int32]
    bounds: Places
    """Start of each row, and end of the last one."""

    def __len__(self) -> int:
        return len(self.bounds) - 1

    def __getitem__(self, row: int) -> NDArray[np.int32]:
        """Return the tokens of a row."""
        return self.tokens[self.bounds[row] : self.bounds[row + 1]]

    @property
    def lengths(self) -> Places:
        """Number of tokens of each row."""
        return np.diff(self.bounds)


def collect_rows(rows: Iterable[Iterable[int]]) -> TokenRows:
    """Collect rows of tokens in flat arrays.

    >>> rows = collect_rows([[5, 6], [], [7]])
    >>> len(rows), rows[0].tolist(), rows.lengths.tolist()
    (3, [5, 6], [2, 0, 1])
    """
    tokens, bounds = array("i"), array("q", [0])
    for row in rows:
        tokens.extend(row)
        bounds.append(len(tokens))
    return TokenRows(np.array(tokens, dtype=np.int32), np.array(bounds, dtype=np.int64))


def pad_rows(rows: Iterable[NDArray[np.int32]], *, before: int = 0, after: int = 0) -> torch.Tensor:
    """Return rows of tokens as one tensor (b, time) int64, padded with zeros.

    *before* and *after*, unless 0, are added around each row.

    >>> pad_rows([np.array([5, 6]), np.array([7])], before=1, after=2).tolist()
    [[1, 5, 6, 2], [1, 7, 2, 0]]
    """
    edges = [np.array([edge] if edge else [], dtype=np.int32) for edge in (before, after)]
    sequences = [torch.from_numpy(np.concatenate([edges[0], row, edges[1]])) for row in rows]
    return torch.nn.utils.rnn.pad_sequence(sequences, batch_first=True).long()


@dataclass(frozen=True, slots=True, eq=False)
class TrainValidationSplit:
    """Training and validation items; any other item that shares a text with a validation item is left out."""

    train: Places
    validation: Places


def hold_out(*columns: Sequence[str], count: int, seed: int) -> TrainValidationSplit:
    """Split items at random by *seed*; item i has the texts at place i of all *columns*.

    At most *count* items, and at most a tenth, are held out; no two held-out items share a text.

    >>> split = hold_out(["a", "b", "c", "a"], count=1, seed=0)
    >>> split.validation.tolist(), split.train.tolist()
    ([3], [1, 2])
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
        raise UsageError(f"all {items} items share a text with those held out: none is left")
    return TrainValidationSplit(np.array(train, dtype=np.int64), np.array(sorted(validation), dtype=np.int64))


@dataclass(frozen=True, slots=True, eq=False)
class ItemBatches:
    """Items in an order that seed and epoch decide; see ``objective.TrainingBatches``."""

    items: Places
    size: int
    seed: int
    make_batch: Callable[[Places], Batch]

    @property
    def steps(self) -> int:
        """Number of batches per epoch."""
        return -(-len(self.items) // self.size)

    def batches(self, epoch: int, *, start: int = 0) -> Iterator[Batch]:
        """Yield an epoch's batches, from batch *start*."""
        order = np.random.default_rng((self.seed, 2, epoch)).permutation(self.items)
        for place in range(start, self.steps):
            yield self.make_batch(order[place * self.size : (place + 1) * self.size])

    def iterate_in_order(self) -> Iterator[Batch]:
        """Yield batches of all items in their original order."""
        for start in range(0, len(self.items), self.size):
            yield self.make_batch(self.items[start : start + self.size])


class ItemLearner(Learner):
    """A sentence model with a classifier of items."""

    @abstractmethod
    def evaluate_batch(self, batch: Batch) -> tuple[float, float]:
        """Return the number of correct items, and the summed loss of all items."""


def prepare_items(
    learner: ItemLearner,
    sides: Sequence[Sequence[str]],
    options: ObjectiveOptions,
    columns: Mapping[str, torch.Tensor] | None = None,
) -> PreparedObjective:
    """Return the objective over items with a sentence in each of *sides*, and with further values in *columns*."""
    split = hold_out(*sides, count=options.validation, seed=options.seed)
    token_rows = [collect_rows(map(learner.encoder.vocabulary.find_ids, side)) for side in sides]
    train = ItemBatches(split.train, options.batch, options.seed, partial(_make_batch, token_rows, columns or {}))
    return PreparedObjective(learner, train, partial(_validate, replace(train, items=split.validation)))


def _make_batch(parts: Sequence[TokenRows], columns: Mapping[str, torch.Tensor], places: Places) -> Batch:
    """Return a batch: ``ids`` (parts * b, time) and ``lengths`` of the sentences, those of the first part first."""
    rows = [part[place] for part in parts for place in places]
    tensors = {"ids": pad_rows(rows), "lengths": torch.tensor([len(row) for row in rows])}
    tensors |= {name: column[places] for name, column in columns.items()}
    return Batch(tensors, items=len(places), targets=len(places))


@torch.no_grad()
def _validate(validation: ItemBatches, learner: Learner) -> Validation:
    assert isinstance(learner, ItemLearner)
    device = next(learner.parameters()).device
    correct_count, loss, count = 0.0, 0.0, len(validation.items)
    for batch in validation.iterate_in_order():
        batch_correct, batch_loss = learner.evaluate_batch(batch.to(device))
        correct_count += batch_correct
        loss += batch_loss
    return Validation("accuracy", correct_count / count, higher_is_better=True, loss=loss / count)
