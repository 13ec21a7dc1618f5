"""The training of many probes in one pass over the items: updates, passes, and when it is done.

Adam (Kingma & Ba 2015) and AdaGrad (Duchi et al. 2011), by PyTorch's fused implementations.
On a GPU a step is only launched: what it gives is read once a pass.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
import torch
from torch import Tensor

from sentprobe.errors import SentprobeError
from sentprobe.probes.dataset import Indices
from sentprobe.probes.trainer.bank import Bank, Design, gradients, logits, make_bank
from sentprobe.probes.trainer.batches import Dropout, PreparedItems, passes
from sentprobe.probes.trainer.classifier import Optimizer, Penalty, Preset, Stop
from sentprobe.probes.trainer.presets import GridPoint


@dataclass(frozen=True, slots=True)
class ValidationCheck:
    """How a probe did: accuracy and mean loss on validation, None where there is none."""

    accuracy: float | None = None
    loss: float | None = None


class Course:
    """The course of one probe's training."""

    def __init__(self, preset: Preset) -> None:
        self.epochs = 0
        self.loss = math.inf
        """Mean training loss of the last pass."""
        self.converged = False
        """Whether the rule ended training, and not the limit of passes."""
        self._preset = preset
        self._record = -math.inf
        self._idle = 0

    @property
    def over(self) -> bool:
        """Whether training is done."""
        return self.converged or self.epochs >= self._preset.max_epochs

    def add_pass(self, loss: float) -> None:
        """Take in the mean training loss of a pass.

        Raises:
            SentprobeError: it is not finite.
        """
        if not math.isfinite(loss):
            raise SentprobeError(f"training diverged (loss {loss}): try a lower learning_rate")
        self.loss = loss
        self.epochs += 1
        self.converged = loss < self._preset.enough

    def add_check(self, check: ValidationCheck) -> bool:
        """Take in a check; return whether it is better than all before."""
        value = _goodness(self._preset.stop, check, self.loss)
        better = value > self._record + self._preset.tolerance
        self._record = max(self._record, value)
        if not better:
            self._idle += 1
        elif self._preset.patience_resets:
            self._idle = 0
        self.converged = self.converged or self._idle > self._preset.patience
        return better


def _goodness(stop: Stop, check: ValidationCheck, loss: float) -> float:
    """Return what should rise."""
    if stop is Stop.VALIDATION_ACCURACY and check.accuracy is not None:
        return check.accuracy
    if stop is Stop.VALIDATION_LOSS and check.loss is not None:
        return -check.loss
    return -loss


Groups = list[dict[str, object]]


@dataclass(frozen=True, slots=True)
class PenaltyFactors:
    """The factors of the weights in their gradients.

    - values: of each probe, as numbers
    - probes: the same on the device, (P,)
    - units: of the probe that each unit is of, (units,)
    """

    values: list[float]
    probes: Tensor
    units: Tensor


class Updates:
    """Updates *bank* in place from *gradient*, which is a bank of the same shapes."""

    def __init__(self, bank: Bank, preset: Preset, *, items: int) -> None:
        self.bank = bank
        self.gradient = bank.empty()
        self._preset = preset
        self._items = items
        self._l2 = self._penalties(bank)
        self._optimizer = OPTIMIZERS[preset.optimizer](self._groups(), preset)

    def step(self) -> None:
        """Add the penalty to the gradients and update."""
        if self._l2 is not None:
            self._penalize(self._l2)
        self._optimizer.step()

    def keep(self, places: Sequence[int]) -> None:
        """Go on with the probes at those places only, with their part of the moments."""
        moments = self._moments()
        self.bank, kept = self.bank.keep(places), [each.keep(places) for each in moments.values()]
        self.gradient = self.bank.empty()
        self._l2 = self._penalties(self.bank)
        step = self._optimizer.state[self._optimizer.param_groups[0]["params"][0]]["step"]
        self._optimizer = OPTIMIZERS[self._preset.optimizer](self._groups(), self._preset)
        parts = [self._split(each) for each in kept]
        for place, parameter in enumerate(self._parameters()):
            state = {name: part[place] for name, part in zip(moments, parts, strict=True)}
            self._optimizer.state[parameter] = {"step": step.clone(), **state}

    def _penalties(self, bank: Bank) -> "PenaltyFactors | None":
        """Return the factor of each probe's weights in its gradient, if any is not 0."""
        if not any(point.l2 for point in bank.points):
            return None
        share = min(self._preset.batch, self._items)
        share = share if self._preset.penalty is Penalty.PER_BATCH else 1
        l2 = torch.tensor([point.l2 / share for point in bank.points])
        widths = torch.tensor([each.stop - each.start for each in bank.segments])
        units = torch.repeat_interleave(l2, widths)
        return PenaltyFactors(l2.tolist(), *(each.to(bank.last.device) for each in (l2, units)))

    def _penalize(self, l2: "PenaltyFactors") -> None:
        """Add the penalty where it differs from unit to unit; the rest is the optimizer's work."""
        bank, gradient = self.bank, self.gradient
        rows = l2.units.expand_as(bank.small)
        if self._preset.penalty is Penalty.DECAY:
            gradient.small.addcmul_(bank.small, rows)
            gradient.last.addcmul_(bank.last, l2.probes[:, None].expand_as(bank.last))
            return
        for part in (slice(0, bank.bias_row), slice(bank.bias_row + 1, None)):
            gradient.small[part].addcmul_(bank.small[part], rows[part])

    def _blocks(self) -> list[tuple[float, slice]]:
        """Return the runs of units of equal penalty: PyTorch takes one for a whole tensor."""
        l2 = [0.0] * len(self.bank.points) if self._l2 is None else self._l2.values
        pairs = zip(l2, self.bank.segments, strict=True)
        runs = [(value, list(run)) for value, run in groupby(pairs, key=lambda pair: pair[0])]
        return [(value, slice(run[0][1].start, run[-1][1].stop)) for value, run in runs]

    def _split(self, bank: Bank) -> list[Tensor]:
        return [*(bank.sentence[block] for _, block in self._blocks()), bank.small, bank.last]

    def _groups(self) -> Groups:
        parameters = self._split(self.bank)
        for parameter, gradient in zip(parameters, self._split(self.gradient), strict=True):
            parameter.grad = gradient
        decays = [*(value for value, _ in self._blocks()), 0.0, 0.0]
        return [
            {"params": [parameter], "weight_decay": decay}
            for parameter, decay in zip(parameters, decays, strict=True)
            if parameter.numel()
        ]

    def _parameters(self) -> list[Tensor]:
        groups: Groups = self._optimizer.param_groups
        return [parameter for group in groups for parameter in group["params"]]  # type: ignore[attr-defined]

    def _moments(self) -> Mapping[str, Bank]:
        """Return what the optimizer remembers, by its names, in the shapes of the bank."""
        states = [self._optimizer.state[parameter] for parameter in self._parameters()]
        names = [name for name in states[0] if name != "step"]
        return {name: self._join([state[name] for state in states]) for name in names}

    def _join(self, parts: Sequence[Tensor]) -> Bank:
        blocks = len(self._blocks())
        last = parts[blocks + 1] if len(parts) > blocks + 1 else self.bank.last
        return self.bank.like(torch.cat(list(parts[:blocks])), parts[blocks], last)


def _adam(groups: Groups, preset: Preset) -> torch.optim.Optimizer:
    return torch.optim.Adam(
        groups,
        lr=preset.learning_rate,
        betas=(preset.beta1, preset.beta2),
        eps=preset.epsilon,
        fused=True,
    )


def _adagrad(groups: Groups, preset: Preset) -> torch.optim.Optimizer:
    parameter = groups[0]["params"][0]  # type: ignore[index]
    fused = parameter.device.type == "cpu"
    return torch.optim.Adagrad(
        groups, lr=preset.learning_rate, eps=preset.epsilon, fused=fused
    )  # fmt: skip


OPTIMIZERS: Mapping[Optimizer, Callable[[Groups, Preset], torch.optim.Optimizer]] = {
    Optimizer.ADAM: _adam,
    Optimizer.ADAGRAD: _adagrad,
}
"""PyTorch's optimizer for each of ours; L-BFGS is in logreg.py."""


ORDER = 20180820
"""Seeds the order of items, which all probes share: their batches are multiplied together."""

PART = 2048
"""Items that are predicted at a time."""


@dataclass(frozen=True, slots=True)
class Trained:
    """A probe after training: a bank of one, and how it went."""

    bank: Bank
    course: Course


class _Pass:
    """The probes that are still in training, and what is kept of each."""

    def __init__(self, updates: Updates, preset: Preset) -> None:
        self.updates = updates
        self.courses = [Course(preset) for _ in updates.bank.points]
        self.kept: list[Bank | None] = [None for _ in self.courses]
        self.active = list(range(len(self.courses)))
        """The numbers of the probes in the bank."""
        self._keep_last = preset.stop is Stop.TRAINING_LOSS

    def check(self, checks: Sequence[ValidationCheck]) -> None:
        """Take in a check of each probe, and keep the weights that are better than before."""
        for place, (number, check) in enumerate(zip(self.active, checks, strict=True)):
            better = self.courses[number].add_check(check)
            if better and not self._keep_last:
                self.kept[number] = self.updates.bank.keep([place])

    def drop(self) -> None:
        """Let the probes go that are done."""
        stay = [place for place, number in enumerate(self.active) if not self.courses[number].over]
        if len(stay) == len(self.active):
            return
        for place in sorted(set(range(len(self.active))) - set(stay)):
            number = self.active[place]
            if self._keep_last or self.kept[number] is None:
                self.kept[number] = self.updates.bank.keep([place])
        self.active = [self.active[place] for place in stay]
        if stay:
            self.updates.keep(stay)

    def trained(self) -> list[Trained]:
        """Return the probes, when all are done."""
        pairs = zip(self.kept, self.courses, strict=True)
        return [Trained(bank, course) for bank, course in pairs if bank is not None]


def train_points(
    points: Sequence[GridPoint],
    design: Design,
    preset: Preset,
    *,
    items: PreparedItems,
    validation: PreparedItems | None,
) -> list[Trained]:
    """Train a probe at each point; each stops by itself, and the others go on without it.

    The result for a point does not depend on the other points, but for rounding.
    """
    device = items.table.device
    bank = make_bank(points, design, start=preset.start, device=device)
    state = _Pass(Updates(bank, preset, items=len(items)), preset)
    needs_check = preset.stop is not Stop.TRAINING_LOSS
    dropout = Dropout(points, device)
    generator = np.random.default_rng(ORDER)
    taken = passes(len(items), size=preset.batch, generator=generator, device=device)
    for number, batches in enumerate(taken, 1):
        _take_pass(state, items, batches, dropout=dropout)
        if number % preset.check_every == 0 or number >= preset.max_epochs:
            state.check(checks(state.updates.bank, validation if needs_check else None))
        state.drop()
        if not state.active:
            break
    return state.trained()


def _take_pass(
    state: _Pass, items: PreparedItems, batches: Sequence[Tensor], *, dropout: Dropout
) -> None:
    updates = state.updates
    bank = updates.bank
    total = torch.zeros(len(bank.points), device=items.table.device)
    for places in batches:
        inputs, targets = items.batch(places, labels=bank.design.shape.labels)
        masks = dropout.draw(bank.points, len(places))
        losses = gradients(bank, inputs, targets, masks=masks, into=updates.gradient)
        updates.step()
        total += losses * len(places)
    for number, loss in zip(state.active, (total / len(items)).tolist(), strict=True):
        state.courses[number].add_pass(loss)


def checks(bank: Bank, validation: PreparedItems | None) -> list[ValidationCheck]:
    """Return accuracy and loss of each probe on validation."""
    if validation is None:
        return [ValidationCheck() for _ in bank.points]
    right = torch.zeros(len(bank.points), dtype=torch.int64, device=bank.small.device)
    loss = torch.zeros(len(bank.points), device=bank.small.device)
    for part in validation.parts(PART):
        inputs, targets = validation.batch(part, labels=bank.design.shape.labels)
        scores = torch.log_softmax(logits(bank, inputs), dim=2)
        right += (scores.argmax(dim=2) == targets.argmax(dim=1)).sum(dim=1)
        loss -= (scores * targets).sum(dim=(1, 2))
    pairs = zip(right.tolist(), loss.tolist(), strict=True)
    return [ValidationCheck(good / len(validation), bad / len(validation)) for good, bad in pairs]


def predict(banks: Sequence[Bank], items: PreparedItems) -> Indices:
    """Return the label of each item by the first probes of the banks together, (n,) int64.

    It is that with the largest mean of their probabilities.
    """
    found = [_scores(bank, items) for bank in banks]
    if len(found) > 1:  # one needs no softmax, which rounds what is nearly equal to equal
        found = [torch.softmax(scores.double(), dim=1) for scores in found]
    best = torch.stack(found).sum(dim=0).argmax(dim=1)
    return best.cpu().numpy().astype(np.int64)


def costs(banks: Sequence[Bank], items: PreparedItems) -> list[float]:
    """Return what the label of each item costs by the mean of the banks' probabilities, in bits."""
    found = [torch.log_softmax(_scores(bank, items).double(), dim=1) for bank in banks]
    mean = torch.logsumexp(torch.stack(found), dim=0) - math.log(len(found))  # (n, labels)
    bits: list[float] = (-mean.gather(1, items.targets[:, None])[:, 0] / math.log(2)).tolist()
    return bits


def _scores(bank: Bank, items: PreparedItems) -> Tensor:
    """Return the logits of the first probe, (n, labels) float32."""
    labels = bank.design.shape.labels
    batches = (items.batch(part, labels=labels)[0] for part in items.parts(PART))
    return torch.cat([logits(bank, inputs)[0] for inputs in batches])
