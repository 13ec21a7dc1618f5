"""Multinomial logistic regression, fitted by SciPy's L-BFGS (Liu & Nocedal 1989).

A one-hot probe word times the weight matrix is one row of the matrix, which is looked up.
"""

from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from sentprobe.probes.classifier.presets import BankShape, GridPoint
from sentprobe.probes.classifier.probe import Penalty, Preset
from sentprobe.probes.classifier.probe_bank import Bank, BankDesign, Doubles
from sentprobe.probes.classifier.training import PreparedItems, ProbeWords


@dataclass(frozen=True, slots=True)
class Solution:
    """A fitted classifier, stored as a :class:`Bank` with one probe, and the loss and gradient at its weights."""

    bank: Bank
    iterations: int
    loss: float
    """Mean cross-entropy over the items, without the penalty."""
    gradient: float
    """Largest absolute component of the gradient (of mean loss plus penalty)."""


class LogregObjective:
    """Mean loss of all items plus penalty, as a function of one flat vector of all weights.

    Each distinct sentence vector is multiplied by the weights once, in float32; the weights of one-hot probe words are
    looked up. As in scikit-learn, there is one column of weights for two labels, and otherwise one for each label.
    """

    def __init__(self, items: PreparedItems, shape: BankShape, *, l2: float, penalty: Penalty) -> None:
        self.columns = 1 if shape.labels == 2 else shape.labels
        self.size = self.columns * (shape.inputs + 1)
        self.device = items.table.device
        self._dim = shape.dim
        self._items = items
        self._l2 = l2 / len(items) if penalty is Penalty.PER_BATCH else l2
        self._penalizes_biases = penalty is Penalty.DECAY
        distinct, indices = torch.unique(items.rows, return_inverse=True)
        first, last = int(distinct[0]), int(distinct[-1])
        is_range = last - first < len(distinct)  # a range of rows needs no copy
        self._table = items.table[first : last + 1] if is_range else items.table[distinct]
        in_order = torch.equal(indices, torch.arange(len(indices), device=indices.device))
        self._indices = None if in_order else indices

    def split_weights(self, flat: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return weights of sentence vectors (dim, columns), of probe words (rest, columns), and biases (columns,)."""
        rows = flat.view(-1, self.columns)
        return rows[: self._dim], rows[self._dim : -1], rows[-1]

    def __call__(self, flat: Doubles) -> tuple[float, Doubles]:
        """Return mean loss plus penalty, and the gradient of this sum, (size,)."""
        weights = torch.from_numpy(flat).to(self.device, torch.float32)
        sentence, words, bias = self.split_weights(weights)
        sums = self._table @ sentence
        sums = (sums if self._indices is None else sums[self._indices]) + bias  # (n, columns)
        add_word_contributions(self._items.words, words, into=sums)
        sums = sums.double()  # the line search needs a precise loss
        compute_loss = _compute_binary_loss if self.columns == 1 else _compute_multinomial_loss
        loss, error = compute_loss(sums, self._items.targets)
        error = error.float()
        gradient = torch.zeros_like(weights)
        sentence_gradient, word_gradient, bias_gradient = self.split_weights(gradient)  # views of *gradient*
        bias_gradient += error.sum(dim=0)
        compute_word_gradients(self._items.words, error, into=word_gradient)
        if self._indices is not None:
            # A sentence's vector is in the table once, so the errors of its items are added first.
            distinct = error.new_zeros(len(self._table), error.shape[1])
            error = distinct.index_add_(0, self._indices, error)
        sentence_gradient += (error.T @ self._table).T
        penalty, slope = self.compute_penalty(flat)
        return float(loss) + penalty, gradient.cpu().numpy().astype(np.float64) + slope

    def compute_penalty(self, flat: Doubles) -> tuple[float, Doubles]:
        """Return the penalty and its gradient, (size,)."""
        weights = flat.copy()
        if not self._penalizes_biases:
            weights[-self.columns :] = 0
        return self._l2 / 2 * float(weights @ weights), self._l2 * weights


def add_word_contributions(words: ProbeWords, weights: Tensor, *, into: Tensor) -> None:
    """Add item i's probe-word vector times *weights*, (word rows, neurons), to row i of *into*, (b, neurons)."""
    if words.lexicon is None:
        for slot in words.numbers.unbind(dim=1):
            into += functional.embedding(slot, weights)
        return
    weights_by_slot = torch.split(weights, words.lexicon.shape[1])  # one empty part without slots
    for (vectors, indices), slot_weights in zip(words.distinct_words, weights_by_slot, strict=False):
        into += functional.embedding(indices, vectors @ slot_weights)


def compute_word_gradients(words: ProbeWords, delta: Tensor, *, into: Tensor) -> None:
    """Write d loss / d word weights to *into*, (word rows, units). *delta*: d loss / d pre-activations, (b, units)."""
    if words.lexicon is None:
        into.zero_()
        for slot in words.numbers.unbind(dim=1):
            into.index_add_(0, slot, delta)
        return
    gradients_by_slot = torch.split(into, words.lexicon.shape[1])
    for (vectors, indices), slot_gradients in zip(words.distinct_words, gradients_by_slot, strict=False):
        sums = delta.new_zeros(len(vectors), delta.shape[1]).index_add_(0, indices, delta)
        torch.mm(vectors.T, sums, out=slot_gradients)


def _compute_binary_loss(sums: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
    """Return the mean loss of n items, a scalar, and its gradient with respect to their logits *sums*, (n, 1)."""
    float_targets = targets[:, None].to(sums.dtype)
    loss = functional.binary_cross_entropy_with_logits(sums, float_targets)
    return loss, (sums.sigmoid() - float_targets) / len(targets)


def _compute_multinomial_loss(sums: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
    """Return the mean loss of n items (a scalar) and its gradient, (n, labels); *sums* are the logits, (n, labels)."""
    scores = functional.log_softmax(sums, dim=1)
    loss = functional.nll_loss(scores, targets)
    error = scores.exp_()
    error[torch.arange(len(targets), device=error.device), targets] -= 1
    return loss, error / len(targets)


def solve_logreg(point: GridPoint, design: BankDesign, preset: Preset, *, items: PreparedItems) -> Solution:
    """Fit a classifier from weights of 0, until all gradient components are small or for ``max_epochs`` iterations."""
    from scipy.optimize import minimize

    columns = _find_columns(point, design.shape.dim)
    shape = replace(design.shape, dim=columns.stop - columns.start)
    items = replace(items, table=items.table[:, columns])
    objective = LogregObjective(items, shape, l2=point.l2, penalty=preset.penalty)
    limits = {"maxiter": preset.max_epochs, "maxfun": 4 * preset.max_epochs}
    options = {**limits, "gtol": preset.tolerance, "ftol": 0.0, "maxcor": 10}
    result = minimize(objective, np.zeros(objective.size), jac=True, method="L-BFGS-B", options=options)
    return Solution(
        bank=_to_bank(objective, torch.from_numpy(result.x), point, design),
        iterations=int(result.nit),
        loss=float(result.fun) - objective.compute_penalty(result.x)[0],
        gradient=float(np.abs(result.jac).max()),
    )


def _find_columns(point: GridPoint, dim: int) -> slice:
    # Tables with two scalings have unit length in their first half, whitened vectors in their second.
    if point.is_whitened is None:
        return slice(0, dim)
    return slice(dim // 2, dim) if point.is_whitened else slice(0, dim // 2)


def _to_bank(objective: LogregObjective, flat: Tensor, point: GridPoint, design: BankDesign) -> Bank:
    device, shape = objective.device, design.shape
    sentence, words, bias = objective.split_weights(flat.to(device, torch.float32))
    hidden = sentence.new_zeros(objective.columns, shape.columns)
    hidden[:, _find_columns(point, shape.dim)] = sentence.T
    hidden[:, shape.dim : shape.inputs] = words.T
    hidden[:, shape.inputs] = bias
    # A softmax over the logits 0 and s gives the second label the probability sigmoid(s).
    if objective.columns == 1:
        hidden = torch.cat([torch.zeros_like(hidden), hidden])
    empty = hidden.new_empty(0, len(hidden)), hidden.new_empty(1, 0)
    return Bank((point,), design, hidden, *empty)
