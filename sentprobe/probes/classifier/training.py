"""Train many probes together as a bank, until each meets its stopping criterion, and predict labels with them.

Items as tensors, random batches of items, and dropout masks.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.optim.adagrad import adagrad  # a function: the classes of optimizers load PyTorch's compiler
from torch.optim.adam import adam

from sentprobe.common.errors import SentprobeError
from sentprobe.probes.classifier.devices import make_device_generator
from sentprobe.probes.classifier.presets import BankShape, GridPoint
from sentprobe.probes.classifier.probe import Optimizer, Penalty, Preset, StopCriterion
from sentprobe.probes.classifier.probe_bank import Bank, BankDesign, Masks, compute_gradients, compute_logits, make_bank
from sentprobe.probes.datasets.dataset import Indices, Items

GATHERED_ITEMS = 2_000
"""Number of items whose inputs are gathered at once."""
DROPOUT_STEPS = 2**16
"""Dropout rates are rounded to multiples of 1 / DROPOUT_STEPS."""


class Dropout:
    """Sampler of dropout masks for a bank of probes. Probes with equal seed and hidden width share random numbers.

    For a CPU, NumPy draws the numbers. Any other device draws its own, since copies of masks would take longer than the
    training step: another stream of random numbers, so probes with equal seeds differ between a CPU and a GPU.
    """

    def __init__(self, points: Sequence[GridPoint], device: torch.device, *, on_device: bool | None = None) -> None:
        """Seed a generator for each seed and width. *on_device* (None: unless it is a CPU): *device* draws."""
        self._device = device
        keys = {(point.seed, point.hidden) for point in points if point.dropout}
        # A generator for each seed and width: a probe's masks do not depend on the other probes of its group.
        self._generators = {key: np.random.Generator(np.random.SFC64(np.random.SeedSequence(key))) for key in keys}
        self._device_generators: dict[tuple[int, int], torch.Generator] = {}
        if device.type != "cpu" if on_device is None else on_device:
            items = self._generators.items()
            self._device_generators = {key: make_device_generator(seeds, device) for key, seeds in items}

    def sample_masks(self, points: Sequence[GridPoint], size: int) -> Masks:
        """Return the masks of all probes with dropout, keyed by index in *points*. Each mask is for *size* items."""
        mask_keys = {(point.seed, point.hidden, point.dropout): None for point in points if point.dropout}
        random_numbers = {
            key: self._draw_numbers(key, size)
            for key in self._generators
            if any(key == (seed, width) for seed, width, _ in mask_keys)
        }
        masks = {}
        for seed, width, rate in mask_keys:
            is_kept = random_numbers[seed, width] >= round(rate * DROPOUT_STEPS)
            masks[seed, width, rate] = torch.as_tensor(is_kept) / (1 - rate)
        return {
            index: masks[point.seed, point.hidden, point.dropout] for index, point in enumerate(points) if point.dropout
        }

    def _draw_numbers(self, key: tuple[int, int], size: int) -> Tensor | NDArray[np.uint16]:
        """Return random numbers below DROPOUT_STEPS, (width, *size*)."""
        shape = key[1], size
        if key not in self._device_generators:
            return self._generators[key].integers(DROPOUT_STEPS, size=shape, dtype=np.uint16)
        generator = self._device_generators[key]
        return torch.randint(DROPOUT_STEPS, shape, generator=generator, device=self._device, dtype=torch.int32)


@dataclass(frozen=True)
class ProbeWords:
    """The probe words of b items; each item has one word in each slot.

    - numbers: a row number for each word, (b, slots) int64. It is a row of *lexicon* or, if *lexicon* is None, of the
      weights. In the weights, word i of slot j has row j * (number of words) + i
    - lexicon: a matrix of word vectors, (number of words, word_dim) float32. None means that words are one-hot
    """

    numbers: Tensor
    lexicon: Tensor | None = None

    @cached_property
    def distinct_words(self) -> tuple[tuple[Tensor, Tensor], ...]:
        """For each slot, the vectors of its distinct words, and the index of each item's word among these vectors."""
        if self.lexicon is None:
            return ()
        words_by_slot = (torch.unique(slot, return_inverse=True) for slot in self.numbers.unbind(dim=1))
        return tuple((self.lexicon[words], indices) for words, indices in words_by_slot)


@dataclass(frozen=True, slots=True)
class PreparedItems:
    """Items as tensors on the device that trains the probes.

    - shape: the sizes of the probes that read the items
    - table: the vector of each distinct sentence, (sentences, dim)
    - rows: the row in *table* of each item's sentence, (n,) int64
    - words: the probe words of each item
    - targets: the label of each item, (n,) int64
    """

    shape: BankShape
    table: Tensor
    rows: Tensor
    words: ProbeWords
    targets: Tensor

    def __len__(self) -> int:
        return len(self.rows)

    def select_range(self, first: int, last: int) -> "PreparedItems":
        item_range = slice(first, last)
        words = ProbeWords(self.words.numbers[item_range], self.words.lexicon)
        return PreparedItems(self.shape, self.table, self.rows[item_range], words, self.targets[item_range])

    def make_batch(self, item_numbers: Tensor) -> tuple[Tensor, Tensor]:
        """Return the inputs of the b items with these numbers, (b, columns), and one-hot labels, (labels, b) float32.

        An item's inputs are the sentence vector, the probe words, 1 and zeros.
        """
        # Indexing in brackets is five times slower than index_select, and scatter_ in bfloat16 than index_fill_.
        shape, size = self.shape, len(item_numbers)
        words = self.words.numbers.index_select(0, item_numbers)
        positions = torch.arange(size, device=item_numbers.device)
        inputs = self.table.new_zeros(size, shape.columns)
        inputs[:, : shape.dim] = self.table.index_select(0, self.rows.index_select(0, item_numbers))
        inputs[:, shape.inputs] = 1
        if self.words.lexicon is None:
            first_cells = shape.columns * positions + shape.dim
            inputs.view(-1).index_fill_(0, (words + first_cells[:, None]).view(-1), 1)
        else:
            inputs[:, shape.dim : shape.inputs] = self.words.lexicon[words].flatten(1)
        targets = torch.zeros(shape.labels, size, device=inputs.device)
        targets.view(-1).index_fill_(0, size * self.targets.index_select(0, item_numbers) + positions, 1)
        return inputs, targets

    def split_batches(self, size: int, *, order: Tensor | None = None) -> Iterator[tuple[Tensor, Tensor]]:
        """Yield batches of *size* items: those with the numbers in *order*, (n,); None: all, as they stand."""
        order = torch.arange(len(self), device=self.rows.device) if order is None else order
        # Several batches are gathered at once: each gathering has a cost of its own.
        for numbers in torch.split(order, max(1, GATHERED_ITEMS // size) * size):
            inputs, targets = self.make_batch(numbers)
            yield from zip(torch.split(inputs, size), torch.split(targets, size, dim=1), strict=True)


def prepare_items(table: Tensor, items: Items, shape: BankShape, *, lexicon: Tensor | None = None) -> PreparedItems:
    """Copy items to the device of *table*, the sentence vectors. *lexicon*: vectors of probe words."""
    # One-hot words have other weights in each slot, hence other numbers; word vectors are looked up in one lexicon.
    slot_offset = 0 if shape.word_dim else shape.words
    words = items.probes + slot_offset * np.arange(items.slots, dtype=np.int64)
    arrays = (items.rows.copy(), words, items.targets.copy())
    rows, numbers, targets = (torch.from_numpy(array).to(table.device) for array in arrays)
    return PreparedItems(shape, table, rows, ProbeWords(numbers, lexicon), targets)


def generate_orders(
    count: int, *, generator: np.random.Generator, device: torch.device, on_device: bool | None = None
) -> Iterator[Tensor]:
    """Yield, endlessly, all indices below *count*, newly shuffled, (count,) int64.

    *generator* shuffles for a CPU. Any other device shuffles itself, in another order, as in :class:`Dropout`.
    """
    if device.type != "cpu" if on_device is None else on_device:
        device_generator = make_device_generator(generator, device)
        while True:
            yield torch.randperm(count, generator=device_generator, device=device)
    while True:
        yield torch.from_numpy(generator.permutation(count))


@dataclass(frozen=True, slots=True)
class ValidationCheck:
    """The accuracy and mean loss of a probe on the validation items; both are None without validation items."""

    accuracy: float | None = None
    loss: float | None = None


class TrainingProgress:
    """Number of passes, training loss and stopping decision of one probe during training."""

    def __init__(self, preset: Preset, max_epochs: int | None = None) -> None:
        self.epochs = 0
        self.loss = math.inf
        """Mean training loss of the last pass."""
        self.converged = False
        """Whether the stopping criterion, rather than the maximum number of passes, ended training."""
        self._preset = preset
        self._max_epochs = min(preset.max_epochs, max_epochs or preset.max_epochs)
        self._record = -math.inf
        """The value that the next check must exceed by the tolerance.

        With a validation criterion, it is the value of the last improvement, so that several small gains add up. With
        training loss, it is the best value so far, as in scikit-learn.
        """
        self._checks_without_gain = 0

    @property
    def is_over(self) -> bool:
        """Whether training has ended."""
        return self.converged or self.epochs >= self._max_epochs

    @property
    def pass_limit(self) -> int | None:
        """The probe's own maximum of passes, if it ended training and is lower than the preset's maximum; else None."""
        is_limited = not self.converged and self.epochs >= self._max_epochs < self._preset.max_epochs
        return self._max_epochs if is_limited else None

    def add_pass(self, loss: float) -> None:
        """Record the mean training loss of a pass. Raises SentprobeError if the loss is not finite."""
        if not math.isfinite(loss):
            raise SentprobeError(f"training diverged (loss {loss}): try a lower learning_rate")
        self.loss = loss
        self.epochs += 1
        self.converged = loss < self._preset.enough

    def add_check(self, check: ValidationCheck) -> bool:
        """Record a check; return whether it exceeds the best earlier check by more than the tolerance."""
        stop = self._preset.stop
        value = -self.loss
        if stop is StopCriterion.VALIDATION_ACCURACY and check.accuracy is not None:
            value = check.accuracy
        elif stop is StopCriterion.VALIDATION_LOSS and check.loss is not None:
            value = -check.loss
        is_better = value > self._record + self._preset.tolerance
        if is_better or stop is StopCriterion.TRAINING_LOSS:
            self._record = max(self._record, value)
        if not is_better:
            self._checks_without_gain += 1
        elif self._preset.patience_resets:
            self._checks_without_gain = 0
        self.converged = self.converged or self._checks_without_gain > self._preset.patience
        return is_better


MOMENTS = {Optimizer.ADAM: 2, Optimizer.ADAGRAD: 1}
"""The number of moments (running means or sums over gradients) that an optimizer stores for each weight."""


class BankUpdater:
    """Optimizer that changes the weights in ``bank`` in place; it reads their gradients from ``gradient``."""

    def __init__(self, bank: Bank, preset: Preset, *, items: int) -> None:
        self.preset = preset
        self._items = items
        self._set_bank(bank, [bank.make_zeros() for _ in range(MOMENTS[preset.optimizer])], steps=0)

    def _set_bank(self, bank: Bank, moments: Sequence[Bank], *, steps: float) -> None:
        self.bank = bank
        self.gradient = bank.make_zeros()
        self._moments = moments
        divisor = min(self.preset.batch, self._items) if self.preset.penalty is Penalty.PER_BATCH else 1
        l2 = torch.tensor([point.l2 / divisor for point in bank.points])
        widths = torch.tensor([segment.stop - segment.start for segment in bank.segments])
        self._has_penalty = any(point.l2 for point in bank.points)
        self._probe_l2 = l2.to(bank.hidden.device)
        self._unit_l2 = torch.repeat_interleave(l2, widths).to(bank.hidden.device)
        # Adjacent probes of equal penalty are one block of rows of ``hidden``, which PyTorch updates in one call.
        pairs = zip(l2.tolist(), bank.segments, strict=True)
        equal = [(value, [units for _, units in block]) for value, block in groupby(pairs, key=lambda pair: pair[0])]
        groups = [(value, slice(units[0].start, units[-1].stop)) for value, units in equal]
        splits = (
            [*(part.hidden[units] for _, units in groups), part.output, part.output_biases]
            for part in (bank, self.gradient, *moments)
        )
        # A block's tensors are views, so an update of the block changes the bank, gradient and moments themselves.
        decays = [*(decay for decay, _ in groups), 0.0, 0.0]  # PyTorch's penalty of each part
        self._blocks = [
            _Block(*tensors, step=torch.tensor(float(steps), device=tensors[0].device), decay=decay)
            for decay, *tensors in zip(decays, *splits, strict=True)
            if tensors[0].numel()
        ]

    def step(self) -> None:
        """Add the penalty to the gradients and update the weights."""
        if self._has_penalty:
            # The penalty of ``hidden`` is PyTorch's ``weight_decay``; that of the other weights is added here.
            bank, gradient = self.bank, self.gradient
            # The units of all penalties are columns of ``output``, so no single ``weight_decay`` fits its block.
            gradient.output.addcmul_(bank.output, self._unit_l2.expand_as(bank.output))
            if self.preset.penalty is Penalty.DECAY:
                expanded_l2 = self._probe_l2[:, None].expand_as(bank.output_biases)
                gradient.output_biases.addcmul_(bank.output_biases, expanded_l2)
            else:
                # As in scikit-learn, biases have no penalty: what PyTorch will add to theirs is taken away here.
                gradient.hidden_biases.addcmul_(bank.hidden_biases, self._unit_l2, value=-1)
        for block in self._blocks:
            block.update(self.preset)

    def keep_probes(self, indices: Sequence[int]) -> None:
        """Drop all probes, and their optimizer state, except those with these indices."""
        # All blocks have had equally many updates, so the number of any one goes for all.
        moments = [moment.select_probes(indices) for moment in self._moments]
        self._set_bank(self.bank.select_probes(indices), moments, steps=float(self._blocks[0].step))


class _Block:
    """Adjacent weights with the same penalty, and views of their gradients and moments."""

    def __init__(self, weights: Tensor, gradient: Tensor, *moments: Tensor, step: Tensor, decay: float) -> None:
        self.step = step
        """The number of updates so far, as a tensor, which PyTorch requires."""
        self._weights, self._gradient, self._moments = [weights], [gradient], [[moment] for moment in moments]
        self._decay = decay

    def update(self, preset: Preset) -> None:
        settings: dict[str, Any] = {"lr": preset.learning_rate, "eps": preset.epsilon, "maximize": False}
        settings["weight_decay"] = self._decay
        if preset.optimizer is Optimizer.ADAM:
            first, second = self._moments
            settings |= {"beta1": preset.beta1, "beta2": preset.beta2, "amsgrad": False, "fused": True}
            adam(self._weights, self._gradient, first, second, [], [self.step], **settings)
            return
        # PyTorch has a fused Adagrad for the CPU only.
        is_cpu = self.step.device.type == "cpu"
        settings |= {"lr_decay": 0.0, "fused": is_cpu, "foreach": not is_cpu}
        adagrad(self._weights, self._gradient, self._moments[0], [self.step], **settings)


ITEM_ORDER_SEED = 20180820
"""Seed of the order of items. All probes share the order, so that one product computes all first layers."""
PREDICTION_BATCH = 2048


class TrainedBank(NamedTuple):
    """A trained probe. ``bank`` has only its weights; ``progress`` tells how many passes it had and why it stopped."""

    bank: Bank
    progress: TrainingProgress


class _ActiveProbes:
    """The probes still in training, and for every probe the weights to return: its best so far, or its last."""

    def __init__(self, updater: BankUpdater, preset: Preset) -> None:
        self.updater = updater
        self.progress = [TrainingProgress(preset, point.max_epochs) for point in updater.bank.points]
        self.kept_banks: list[Bank | None] = [None for _ in self.progress]
        self.active_numbers = list(range(len(self.progress)))
        """The numbers of the probes that are still being trained."""
        # Without validation items there is no best pass: as in scikit-learn, the last weights count.
        self._keep_last = preset.stop is StopCriterion.TRAINING_LOSS

    def record_checks(self, checks: Sequence[ValidationCheck]) -> None:
        for index, (number, check) in enumerate(zip(self.active_numbers, checks, strict=True)):
            is_better = self.progress[number].add_check(check)
            if is_better and not self._keep_last:
                self.kept_banks[number] = self.updater.bank.select_probes([index])

    def drop_finished(self) -> None:
        # Rows of the bank are positions in active_numbers; without those of finished probes, each later batch costs
        # less.
        remaining: list[int] = []
        for index, number in enumerate(self.active_numbers):
            if not self.progress[number].is_over:
                remaining.append(index)
            elif self._keep_last or self.kept_banks[number] is None:
                self.kept_banks[number] = self.updater.bank.select_probes([index])
        if len(remaining) == len(self.active_numbers):
            return
        self.active_numbers = [self.active_numbers[index] for index in remaining]
        if remaining:
            self.updater.keep_probes(remaining)


def train_points(
    points: Sequence[GridPoint],
    design: BankDesign,
    preset: Preset,
    *,
    items: PreparedItems,
    validation: PreparedItems | None,
) -> list[TrainedBank]:
    """Train the probes of all grid points together; each stops when it meets the stopping criterion."""
    device = items.table.device
    bank = make_bank(points, design, start=preset.start, device=device)
    active_probes = _ActiveProbes(BankUpdater(bank, preset, items=len(items)), preset)
    # They are left for the choice among grid points: a criterion that ignores them need not evaluate them in training.
    validation = None if preset.stop is StopCriterion.TRAINING_LOSS else validation
    dropout = Dropout(points, device)
    generator = np.random.default_rng(ITEM_ORDER_SEED)
    for number, order in enumerate(generate_orders(len(items), generator=generator, device=device), 1):
        losses = run_pass(active_probes.updater, items, order, dropout=dropout)
        for probe, loss in zip(active_probes.active_numbers, losses, strict=True):
            active_probes.progress[probe].add_pass(loss)
        # A check after the last pass, too, so that each probe with a validation criterion has weights to return.
        if number % preset.check_every == 0 or number >= preset.max_epochs:
            active_probes.record_checks(evaluate_probes(active_probes.updater.bank, validation))
        active_probes.drop_finished()
        if not active_probes.active_numbers:
            break
    pairs = zip(active_probes.kept_banks, active_probes.progress, strict=True)
    return [TrainedBank(bank, progress) for bank, progress in pairs if bank is not None]


def run_pass(updater: BankUpdater, items: PreparedItems, order: Tensor, *, dropout: Dropout) -> list[float]:
    """Update the weights once for each batch of the items in *order*; return each probe's mean loss of the pass."""
    bank = updater.bank
    total = torch.zeros(len(bank.points), device=items.table.device)
    for inputs, targets in items.split_batches(updater.preset.batch, order=order):
        masks = dropout.sample_masks(bank.points, len(inputs))
        losses = compute_gradients(bank, inputs, targets, masks=masks, into=updater.gradient)
        updater.step()
        total += losses * len(inputs)
    # Losses are read once per pass, since reading a value makes a GPU wait.
    return [float(loss) for loss in (total / len(items)).tolist()]


def evaluate_probes(bank: Bank, validation: PreparedItems | None) -> list[ValidationCheck]:
    if validation is None:
        return [ValidationCheck() for _ in bank.points]
    correct_counts = torch.zeros(len(bank.points), dtype=torch.int64, device=bank.hidden.device)
    loss = torch.zeros(len(bank.points), device=bank.hidden.device)
    for inputs, targets in validation.split_batches(PREDICTION_BATCH):
        scores = torch.log_softmax(compute_logits(bank, inputs), dim=1)
        correct_counts += (scores.argmax(dim=1) == targets.argmax(dim=0)).sum(dim=1)
        loss -= (scores * targets).sum(dim=(1, 2))
    pairs = zip(correct_counts.tolist(), loss.tolist(), strict=True)
    return [ValidationCheck(correct / len(validation), summed / len(validation)) for correct, summed in pairs]


def predict(banks: Sequence[Bank], items: PreparedItems) -> Indices:
    """Return each item's most probable label, (n,) int64. Probabilities are averaged over probes; each bank has one."""
    logits_by_bank = [_compute_first_logits(bank, items) for bank in banks]
    if len(logits_by_bank) > 1:  # not for one probe: a softmax may round different scores to equal probabilities
        logits_by_bank = [torch.softmax(scores.double(), dim=1) for scores in logits_by_bank]
    predicted_labels = torch.stack(logits_by_bank).sum(dim=0).argmax(dim=1)
    return predicted_labels.cpu().numpy().astype(np.int64)


def compute_label_costs(banks: Sequence[Bank], items: PreparedItems) -> list[float]:
    """Return each item's cost in bits: -log2 of its label's mean probability over probes. Each bank has one probe."""
    log_probabilities = [torch.log_softmax(_compute_first_logits(bank, items).double(), dim=1) for bank in banks]
    mean = torch.logsumexp(torch.stack(log_probabilities), dim=0) - math.log(len(banks))  # (n, labels)
    bits: list[float] = (-mean.gather(1, items.targets[:, None])[:, 0] / math.log(2)).tolist()
    return bits


def _compute_first_logits(bank: Bank, items: PreparedItems) -> Tensor:
    """Return the logits of the bank's first probe, (n, labels)."""
    return torch.cat([compute_logits(bank, inputs)[0].T for inputs, _ in items.split_batches(PREDICTION_BATCH)])
