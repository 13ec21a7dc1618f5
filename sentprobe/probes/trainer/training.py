"""Training of many probes side by side: gradients, updates and passes.

The optimizers are PyTorch's fused Adam (Kingma & Ba 2015) and AdaGrad (Duchi et al. 2011). On a GPU, steps are launched
without waiting; losses are read once per pass.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from sentprobe.probes.dataset import Indices
from sentprobe.probes.trainer.bank import Bank, BankDesign, compute_gradients, compute_logits, make_bank
from sentprobe.probes.trainer.batches import Dropout, PreparedItems, generate_passes
from sentprobe.probes.trainer.classifier import Optimizer, Penalty, Preset, StopCriterion
from sentprobe.probes.trainer.early_stopping import TrainingProgress, ValidationCheck
from sentprobe.probes.trainer.presets import GridPoint

Groups = list[dict[str, object]]


@dataclass(frozen=True, slots=True)
class PenaltyFactors:
    """Factors of the L2 penalty in the gradients.

    - values: one per probe, as numbers
    - probes: one per probe, on the device, (P,)
    - units: one per unit, that of its probe, (units,)
    """

    values: list[float]
    probes: Tensor
    units: Tensor


class BankUpdater:
    """Optimizer that updates *bank* in place from *gradient*, a bank of the same shapes."""

    def __init__(self, bank: Bank, preset: Preset, *, items: int) -> None:
        self._preset = preset
        self._items = items
        self._set_bank(bank)

    def _set_bank(self, bank: Bank) -> None:
        self.bank = bank
        self.gradient = bank.make_zeros()
        self._l2 = self._compute_penalty_factors(bank)
        self._optimizer = _make_optimizer(self._build_parameter_groups(), self._preset)

    def step(self) -> None:
        """Add the penalty to the gradients and update the weights."""
        if self._l2 is not None:
            self._add_penalty(self._l2)
        self._optimizer.step()

    def keep_probes(self, places: Sequence[int]) -> None:
        """Continue with the probes at *places* only, and with their optimizer moments."""
        moments = {name: moment.select_probes(places) for name, moment in self._collect_moments().items()}
        step = self._optimizer.state[self._list_parameters()[0]]["step"]
        self._set_bank(self.bank.select_probes(places))
        parts = {name: self._split_bank(moment) for name, moment in moments.items()}
        for place, parameter in enumerate(self._list_parameters()):
            parameter_state = {name: part[place] for name, part in parts.items()}
            self._optimizer.state[parameter] = {"step": step.clone(), **parameter_state}

    def _compute_penalty_factors(self, bank: Bank) -> "PenaltyFactors | None":
        """Return the penalty factor of each probe's weights, or None if all are 0."""
        if not any(point.l2 for point in bank.points):
            return None
        divisor = min(self._preset.batch, self._items) if self._preset.penalty is Penalty.PER_BATCH else 1
        l2 = torch.tensor([point.l2 / divisor for point in bank.points])
        widths = torch.tensor([segment.stop - segment.start for segment in bank.segments])
        units = torch.repeat_interleave(l2, widths)
        return PenaltyFactors(l2.tolist(), *(segment.to(bank.output_biases.device) for segment in (l2, units)))

    def _add_penalty(self, l2: "PenaltyFactors") -> None:
        """Add the penalties that PyTorch's weight_decay does not cover to the gradients."""
        bank, gradient = self.bank, self.gradient
        rows = l2.units.expand_as(bank.small)
        if self._preset.penalty is Penalty.DECAY:
            gradient.small.addcmul_(bank.small, rows)
            gradient.output_biases.addcmul_(bank.output_biases, l2.probes[:, None].expand_as(bank.output_biases))
            return
        for part in (slice(0, bank.bias_row), slice(bank.bias_row + 1, None)):
            gradient.small[part].addcmul_(bank.small[part], rows[part])

    def _group_by_penalty(self) -> list[tuple[float, slice]]:
        """Return blocks of adjacent units with equal penalty; PyTorch takes one per tensor."""
        l2 = [0.0] * len(self.bank.points) if self._l2 is None else self._l2.values
        pairs = zip(l2, self.bank.segments, strict=True)
        blocks = [(value, list(block)) for value, block in groupby(pairs, key=lambda pair: pair[0])]
        return [(value, slice(block[0][1].start, block[-1][1].stop)) for value, block in blocks]

    def _split_bank(self, bank: Bank) -> list[Tensor]:
        return [*(bank.sentence[block] for _, block in self._group_by_penalty()), bank.small, bank.output_biases]

    def _build_parameter_groups(self) -> Groups:
        parameters = self._split_bank(self.bank)
        for parameter, gradient in zip(parameters, self._split_bank(self.gradient), strict=True):
            parameter.grad = gradient
        decays = [*(value for value, _ in self._group_by_penalty()), 0.0, 0.0]
        return [
            {"params": [parameter], "weight_decay": decay}
            for parameter, decay in zip(parameters, decays, strict=True)
            if parameter.numel()
        ]

    def _list_parameters(self) -> list[Tensor]:
        groups: Groups = self._optimizer.param_groups
        return [parameter for group in groups for parameter in group["params"]]  # type: ignore[attr-defined]

    def _collect_moments(self) -> Mapping[str, Bank]:
        """Return the optimizer's moments by PyTorch's names, in the shapes of the bank."""
        states = [self._optimizer.state[parameter] for parameter in self._list_parameters()]
        names = [name for name in states[0] if name != "step"]
        return {name: self._join_parts([state[name] for state in states]) for name in names}

    def _join_parts(self, parts: Sequence[Tensor]) -> Bank:
        blocks = len(self._group_by_penalty())
        last = parts[blocks + 1] if len(parts) > blocks + 1 else self.bank.output_biases
        return self.bank.replace_weights(torch.cat(list(parts[:blocks])), parts[blocks], last)


def _make_optimizer(groups: Groups, preset: Preset) -> torch.optim.Optimizer:
    rate, epsilon = preset.learning_rate, preset.epsilon
    if preset.optimizer is Optimizer.ADAM:
        return torch.optim.Adam(groups, lr=rate, betas=(preset.beta1, preset.beta2), eps=epsilon, fused=True)
    parameter = groups[0]["params"][0]  # type: ignore[index]
    return torch.optim.Adagrad(groups, lr=rate, eps=epsilon, fused=parameter.device.type == "cpu")


ITEM_ORDER_SEED = 20180820
"""Seed of the item order, which all probes share so that their batches are multiplied together."""

PREDICTION_BATCH = 2048
"""Items per batch of predictions."""


class TrainedBank(NamedTuple):
    """A trained probe, as a bank of one, and its progress."""

    bank: Bank
    progress: TrainingProgress


class _ActiveProbes:
    """Probes that are still in training, and the best weights of each probe."""

    def __init__(self, updates: BankUpdater, preset: Preset) -> None:
        self.updates = updates
        self.progress = [TrainingProgress(preset, point.max_epochs) for point in updates.bank.points]
        self.kept_banks: list[Bank | None] = [None for _ in self.progress]
        self.active_numbers = list(range(len(self.progress)))
        """Numbers of the probes that are still in the bank."""
        self._keep_last = preset.stop is StopCriterion.TRAINING_LOSS

    def record_checks(self, checks: Sequence[ValidationCheck]) -> None:
        """Record a check of each probe, and keep weights that improved."""
        for place, (number, check) in enumerate(zip(self.active_numbers, checks, strict=True)):
            is_better = self.progress[number].add_check(check)
            if is_better and not self._keep_last:
                self.kept_banks[number] = self.updates.bank.select_probes([place])

    def drop_finished(self) -> None:
        """Remove probes whose training has ended."""
        remaining: list[int] = []
        for place, number in enumerate(self.active_numbers):
            if not self.progress[number].is_over:
                remaining.append(place)
            elif self._keep_last or self.kept_banks[number] is None:
                self.kept_banks[number] = self.updates.bank.select_probes([place])
        if len(remaining) == len(self.active_numbers):
            return
        self.active_numbers = [self.active_numbers[place] for place in remaining]
        if remaining:
            self.updates.keep_probes(remaining)

    def collect_trained(self) -> list[TrainedBank]:
        """Return all probes, once training has ended."""
        pairs = zip(self.kept_banks, self.progress, strict=True)
        return [TrainedBank(bank, progress) for bank, progress in pairs if bank is not None]


def train_points(
    points: Sequence[GridPoint],
    design: BankDesign,
    preset: Preset,
    *,
    items: PreparedItems,
    validation: PreparedItems | None,
) -> list[TrainedBank]:
    """Train a probe at each grid point; each stops independently.

    The result for a point does not depend on the other points, except for rounding.
    """
    device = items.table.device
    bank = make_bank(points, design, start=preset.start, device=device)
    active_probes = _ActiveProbes(BankUpdater(bank, preset, items=len(items)), preset)
    validation = None if preset.stop is StopCriterion.TRAINING_LOSS else validation
    dropout = Dropout(points, device)
    generator = np.random.default_rng(ITEM_ORDER_SEED)
    batches_by_pass = generate_passes(len(items), size=preset.batch, generator=generator, device=device)
    for number, batches in enumerate(batches_by_pass, 1):
        _run_pass(active_probes, items, batches, dropout=dropout)
        if number % preset.check_every == 0 or number >= preset.max_epochs:
            active_probes.record_checks(evaluate_probes(active_probes.updates.bank, validation))
        active_probes.drop_finished()
        if not active_probes.active_numbers:
            break
    return active_probes.collect_trained()


def _run_pass(
    active_probes: _ActiveProbes, items: PreparedItems, batches: Sequence[Tensor], *, dropout: Dropout
) -> None:
    updates = active_probes.updates
    bank = updates.bank
    total = torch.zeros(len(bank.points), device=items.table.device)
    for places in batches:
        inputs, targets = items.make_batch(places, labels=bank.design.shape.labels)
        masks = dropout.sample_masks(bank.points, len(places))
        losses = compute_gradients(bank, inputs, targets, masks=masks, into=updates.gradient)
        updates.step()
        total += losses * len(places)
    for number, loss in zip(active_probes.active_numbers, (total / len(items)).tolist(), strict=True):
        active_probes.progress[number].add_pass(loss)


def evaluate_probes(bank: Bank, validation: PreparedItems | None) -> list[ValidationCheck]:
    """Return the validation accuracy and loss of each probe."""
    if validation is None:
        return [ValidationCheck() for _ in bank.points]
    correct_counts = torch.zeros(len(bank.points), dtype=torch.int64, device=bank.small.device)
    loss = torch.zeros(len(bank.points), device=bank.small.device)
    for places in validation.split_places(PREDICTION_BATCH):
        inputs, targets = validation.make_batch(places, labels=bank.design.shape.labels)
        scores = torch.log_softmax(compute_logits(bank, inputs), dim=2)
        correct_counts += (scores.argmax(dim=2) == targets.argmax(dim=1)).sum(dim=1)
        loss -= (scores * targets).sum(dim=(1, 2))
    pairs = zip(correct_counts.tolist(), loss.tolist(), strict=True)
    return [ValidationCheck(correct / len(validation), summed / len(validation)) for correct, summed in pairs]


def predict(banks: Sequence[Bank], items: PreparedItems) -> Indices:
    """Return the predicted label of each item, (n,) int64.

    The prediction has the largest mean probability over the first probe of each bank.
    """
    logits_by_bank = [_compute_first_logits(bank, items) for bank in banks]
    if len(logits_by_bank) > 1:  # a softmax may round nearly equal scores to equal ones
        logits_by_bank = [torch.softmax(scores.double(), dim=1) for scores in logits_by_bank]
    predicted_labels = torch.stack(logits_by_bank).sum(dim=0).argmax(dim=1)
    return predicted_labels.cpu().numpy().astype(np.int64)


def compute_label_costs(banks: Sequence[Bank], items: PreparedItems) -> list[float]:
    """Return the bits that each item's label costs by the mean probability over the banks."""
    log_probabilities = [torch.log_softmax(_compute_first_logits(bank, items).double(), dim=1) for bank in banks]
    mean = torch.logsumexp(torch.stack(log_probabilities), dim=0) - math.log(len(banks))  # (n, labels)
    bits: list[float] = (-mean.gather(1, items.targets[:, None])[:, 0] / math.log(2)).tolist()
    return bits


def _compute_first_logits(bank: Bank, items: PreparedItems) -> Tensor:
    """Return the logits of the first probe, (n, labels) float32."""
    labels = bank.design.shape.labels
    batches = (items.make_batch(places, labels=labels)[0] for places in items.split_places(PREDICTION_BATCH))
    return torch.cat([compute_logits(bank, inputs)[0] for inputs in batches])
