"""Multinomial logistic regression by L-BFGS (Liu & Nocedal 1989), as SciPy has it."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from sentprobe.extras import load
from sentprobe.probes.trainer.bank import Bank, Design
from sentprobe.probes.trainer.batches import PreparedItems
from sentprobe.probes.trainer.classifier import Penalty, Preset
from sentprobe.probes.trainer.one_hot import add_words, word_gradients
from sentprobe.probes.trainer.presets import BankShape, GridPoint
from sentprobe.probes.trainer.scaling import Doubles


@dataclass(frozen=True, slots=True)
class Solution:
    """The weights as a bank of one, and how well they solve the problem."""

    bank: Bank
    iterations: int
    loss: float
    """Mean cross-entropy, without the penalty."""
    gradient: float
    """The largest component of the gradient of mean loss and penalty."""


class Objective:
    """Mean loss and penalty of all items as a function of the weights, in one flat vector.

    Sentences are multiplied once each; a probe word's weights are looked up. Two labels have one
    column of weights, more have one each, as in scikit-learn. Products are float32.
    """

    def __init__(
        self, items: PreparedItems, shape: BankShape, *, l2: float, penalty: Penalty
    ) -> None:
        self.columns = 1 if shape.labels == 2 else shape.labels
        self.size = self.columns * (shape.inputs + 1)
        self.device = items.table.device
        self._dim = shape.dim
        self._items = items
        self._l2 = l2 / len(items) if penalty is Penalty.PER_BATCH else l2
        self._biases_too = penalty is Penalty.DECAY
        distinct, places = torch.unique(items.rows, return_inverse=True)
        self._table = _rows(items.table, distinct)
        in_order = torch.equal(places, torch.arange(len(places), device=places.device))
        self._places = None if in_order else places

    def split(self, flat: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return weights of sentences (dim, columns), of words (word_rows, columns), biases."""
        rows = flat.view(-1, self.columns)
        return rows[: self._dim], rows[self._dim : -1], rows[-1]

    def __call__(self, flat: Doubles) -> tuple[float, Doubles]:
        """Return value and gradient (size,)."""
        weights = torch.from_numpy(flat).to(self.device, torch.float32)
        sums = self._sums(weights).double()  # a line search needs the loss to many digits
        loss, error = LOSSES[self.columns == 1](sums, self._items.targets)
        gradient = torch.zeros_like(weights)
        self._add_gradients(error.float(), self.split(gradient))
        penalty, slope = self.penalty(flat)
        return float(loss) + penalty, gradient.cpu().numpy().astype(np.float64) + slope

    def _sums(self, weights: Tensor) -> Tensor:
        sentence, words, bias = self.split(weights)
        sums = self._table @ sentence
        sums = (sums if self._places is None else sums[self._places]) + bias
        add_words(self._items.words, words, into=sums)
        return sums

    def _add_gradients(self, error: Tensor, into: tuple[Tensor, Tensor, Tensor]) -> None:
        sentence, words, bias = into
        bias += error.sum(dim=0)
        word_gradients(self._items.words, error, into=words)
        if self._places is not None:
            distinct = error.new_zeros(len(self._table), error.shape[1])
            error = distinct.index_add_(0, self._places, error)
        sentence += (error.T @ self._table).T

    def penalty(self, flat: Doubles) -> tuple[float, Doubles]:
        """Return the penalty and its gradient (size,)."""
        weights = flat.copy()
        if not self._biases_too:
            weights[-self.columns :] = 0
        return self._l2 / 2 * float(weights @ weights), self._l2 * weights


def _rows(table: Tensor, numbers: Tensor) -> Tensor:
    """Return the rows of those ordered *numbers* (n,), without a copy where none is left out."""
    first, last = int(numbers[0]), int(numbers[-1])
    return table[first : last + 1] if last - first < len(numbers) else table[numbers]


def _two_labels(sums: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
    """Return the mean loss (), and its gradient in the sums (n, 1)."""
    wanted = targets[:, None].to(sums.dtype)
    loss = functional.binary_cross_entropy_with_logits(sums, wanted)
    return loss, (sums.sigmoid() - wanted) / len(targets)


def _more_labels(sums: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
    """Return the same for (n, labels)."""
    scores = functional.log_softmax(sums, dim=1)
    loss = functional.nll_loss(scores, targets)
    error = scores.exp_()
    error[torch.arange(len(targets), device=error.device), targets] -= 1
    return loss, error / len(targets)


LOSSES = {True: _two_labels, False: _more_labels}
"""The loss by whether there is one column."""


def solve(point: GridPoint, design: Design, preset: Preset, *, items: PreparedItems) -> Solution:
    """Begin with weights of 0 and go on until the gradient is as small as is asked for."""
    minimize = load("scipy.optimize").minimize
    problem = Objective(items, design.shape, l2=point.l2, penalty=preset.penalty)
    found = minimize(
        problem,
        np.zeros(problem.size),
        jac=True,
        method="L-BFGS-B",
        options={
            "maxiter": preset.max_epochs,
            "maxfun": 4 * preset.max_epochs,
            "gtol": preset.tolerance,
            "ftol": 0.0,
            "maxcor": 10,
        },
    )
    return Solution(
        bank=_to_bank(problem, torch.from_numpy(found.x), point, design),
        iterations=int(found.nit),
        loss=float(found.fun) - problem.penalty(found.x)[0],
        gradient=float(np.abs(found.jac).max()),
    )


def _to_bank(problem: Objective, flat: Tensor, point: GridPoint, design: Design) -> Bank:
    device = problem.device
    sentence, words, bias = problem.split(flat.to(device, torch.float32))
    small = torch.cat([words, bias[None]])
    if problem.columns == 1:
        sentence, small = (torch.cat([torch.zeros_like(x), x], dim=1) for x in (sentence, small))
    return Bank(
        points=(point,),
        design=design,
        sentence=sentence.T.contiguous(),
        small=small,
        last=torch.empty(1, 0, device=device),
    )
