"""Banks of probes: equal to single probes and to autograd; scaling of vectors in little memory."""

import tracemalloc
from dataclasses import replace
from random import Random
from unittest.mock import patch

import numpy as np
import pytest
import torch
from helpers.thoroughness import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from sentprobe.probes.classifier import training
from sentprobe.probes.classifier.presets import BankShape, GridPoint, find_preset, list_grid_points
from sentprobe.probes.classifier.probe import (
    Activation,
    Masking,
    Optimizer,
    Penalty,
    Precision,
    Preset,
    Scaling,
    StopCriterion,
    WeightInitialization,
)
from sentprobe.probes.classifier.probe_bank import (
    ROWS_PER_PART,
    SCALINGS,
    Bank,
    BankDesign,
    compute_gradients,
    compute_logits,
    make_bank,
    scale_to_tensor,
)
from sentprobe.probes.classifier.training import (
    ITEM_ORDER_SEED,
    Dropout,
    PreparedItems,
    ProbeWords,
    generate_orders,
    prepare_items,
    train_points,
)
from sentprobe.probes.datasets.dataset import Items
from sentprobe.probes.encoders.encoder import Vectors

CPU = torch.device("cpu")

shapes = st.builds(
    BankShape,
    dim=st.integers(1, 6),
    slots=st.integers(0, 2),
    words=st.integers(1, 4),
    labels=st.integers(2, 4),
    word_dim=st.sampled_from([0, 0, 3]),
)
points = st.builds(
    GridPoint,
    seed=st.integers(0, 5),
    hidden=st.integers(1, 5),
    dropout=st.sampled_from([0.0, 0.25, 0.5]),
    l2=st.sampled_from([0.0, 0.01, 0.1]),
)


@st.composite
def banks(draw: st.DrawFn) -> Bank:
    """A bank of one to four probes, with a hidden layer or all without."""
    activation = draw(st.sampled_from(Activation))
    grid_points = draw(st.lists(points, min_size=1, max_size=4, unique=True))
    if activation is Activation.NONE:
        grid_points = [replace(point, hidden=0, dropout=0.0) for point in grid_points]
    design = BankDesign(
        shape=draw(shapes), activation=activation, masking=draw(st.sampled_from(Masking)), precision=Precision.FLOAT32
    )
    bank = make_bank(grid_points, design, start=draw(st.sampled_from(WeightInitialization)), device=CPU)
    return bank.replace_weights(*(weights.double() for weights in bank.list_weights()))


def random_items(shape: BankShape, size: int, *, seed: int) -> PreparedItems:
    generator = torch.Generator().manual_seed(seed)
    vectors = torch.randn(size, shape.dim, generator=generator, dtype=torch.float64)
    words = torch.randint(shape.words, (size, shape.slots), generator=generator)
    lexicon = None
    if shape.word_dim:
        size_of_lexicon = (shape.words, shape.word_dim)
        lexicon = torch.randn(*size_of_lexicon, generator=generator, dtype=torch.float64)
    else:
        words = words + shape.words * torch.arange(shape.slots)
    targets = torch.randint(shape.labels, (size,), generator=generator)
    return PreparedItems(shape, vectors, torch.randperm(size, generator=generator), ProbeWords(words, lexicon), targets)


def plain_logits(bank: Bank, items: PreparedItems, mask: Tensor | None = None) -> Tensor:
    """Logits of the first probe by PyTorch's modules on one-hot inputs, (n, labels)."""
    shape = bank.design.shape
    if items.words.lexicon is None:
        hots = torch.zeros(len(items), shape.slots * shape.words, dtype=torch.float64)
        words = hots.scatter_(1, items.words.numbers, 1.0)
    else:
        words = items.words.lexicon[items.words.numbers].flatten(1)
    inputs = torch.cat([items.table[items.rows].double(), words], dim=1)
    sums = nn.functional.linear(inputs, bank.hidden[:, : shape.inputs], bank.hidden_biases)
    if bank.is_linear:
        return sums
    factors = torch.ones_like(sums) if mask is None else mask.T
    before = bank.design.masking is Masking.BEFORE
    sums = sums * factors if before else sums
    hidden = torch.relu(sums) if bank.design.activation is Activation.RELU else torch.sigmoid(sums)
    hidden = hidden if before else hidden * factors
    return nn.functional.linear(hidden, bank.output, bank.output_biases[0])


@given(banks(), st.integers(1, 9), st.integers(0, 99))
@settings(deadline=None)
def test_gradients_are_those_of_autograd(bank: Bank, size: int, seed: int) -> None:
    items = random_items(bank.design.shape, size, seed=seed)
    ((inputs, targets),) = items.split_batches(size)
    masks = {place: mask.double() for place, mask in Dropout(bank.points, CPU).sample_masks(bank.points, size).items()}
    into = bank.make_zeros()
    losses = compute_gradients(bank, inputs, targets.double(), masks=masks, into=into)
    for place in range(len(bank.points)):
        alone, gradient_bank = bank.select_probes([place]), into.select_probes([place])
        for weights in alone.list_weights():
            weights.requires_grad_()
        loss = nn.functional.cross_entropy(plain_logits(alone, items, masks.get(place)), items.targets)
        loss.backward()  # type: ignore[no-untyped-call]
        torch.testing.assert_close(losses[place], loss.detach())
        for weights, gradient in zip(alone.list_weights(), gradient_bank.list_weights(), strict=True):
            autograd_gradient = torch.zeros_like(weights) if weights.grad is None else weights.grad
            torch.testing.assert_close(gradient, autograd_gradient)


@given(banks(), st.integers(1, 9), st.integers(0, 99))
@settings(deadline=None)
def test_logits_are_those_of_single_probes(bank: Bank, size: int, seed: int) -> None:
    items = random_items(bank.design.shape, size, seed=seed)
    all_logits = compute_logits(bank, items.make_batch(torch.arange(size))[0])
    for place in range(len(bank.points)):
        torch.testing.assert_close(all_logits[place].T, plain_logits(bank.select_probes([place]), items))


@given(banks(), st.integers(1, 9), st.integers(1, 4), st.integers(1, 5), st.randoms(use_true_random=False))
@settings(deadline=None)
def test_batches_are_parts_of_all_items(bank: Bank, size: int, batch: int, gathered: int, random: Random) -> None:
    items = random_items(bank.design.shape, size, seed=0)
    order = torch.tensor(random.sample(range(size), size))
    with patch.object(training, "GATHERED_ITEMS", gathered):
        inputs, targets = zip(*items.split_batches(batch, order=order), strict=True)
    assert [*map(len, inputs)] == [*map(len, torch.split(order, batch))]
    assert torch.equal(torch.cat(inputs), items.make_batch(torch.arange(size))[0][order])
    assert torch.equal(torch.cat(targets, dim=1).argmax(dim=0), items.targets[order])


def sample_items(*, slots: int, labels: int, size: int = 60) -> tuple[Tensor, Items]:
    generator = np.random.default_rng(0)
    table = generator.standard_normal((40, 6), dtype=np.float32)
    rows, probes = generator.integers(40, size=size), generator.integers(3, size=(size, slots))
    targets = (3 * table[rows, 0] + probes.sum(axis=1)).astype(int) % labels
    return torch.from_numpy(table), Items(rows, probes, targets)


BASE = replace(
    find_preset("conneau"),
    hidden=(3, 5),
    dropout=(0.0, 0.5),
    l2=(0.0, 0.01),
    batch=16,
    max_epochs=7,
    learning_rate=0.03,
    patience=1,
    precision=Precision.FLOAT32,
)


presets = st.builds(
    replace,
    st.just(BASE),
    stop=st.sampled_from(StopCriterion),
    optimizer=st.sampled_from([Optimizer.ADAM, Optimizer.ADAGRAD]),
    activation=st.sampled_from(Activation),
    masking=st.sampled_from(Masking),
    penalty=st.sampled_from(Penalty),
    check_every=st.integers(1, 3),
)


@given(presets, st.integers(0, 2))
@examples(12)
def test_joint_training_equals_single(preset: Preset, slots: int) -> None:
    shape = BankShape(dim=6, slots=slots, words=3, labels=3)
    design = BankDesign(shape=shape, activation=preset.activation, masking=preset.masking, precision=Precision.FLOAT32)
    table, items = sample_items(slots=slots, labels=3)
    prepared = prepare_items(table, items, shape)
    grid = [point for seed in (0, 1) for point in list_grid_points(preset, shape, seed=seed)]
    together = train_points(grid, design, preset, items=prepared, validation=prepared)
    for point, trained in zip(grid, together, strict=True):
        (alone,) = train_points([point], design, preset, items=prepared, validation=prepared)
        assert trained.bank.points == (point,)
        assert trained.progress.epochs == alone.progress.epochs
        assert trained.progress.loss == pytest.approx(alone.progress.loss, rel=1e-3)
        for mine, its in zip(trained.bank.list_weights(), alone.bank.list_weights(), strict=True):
            torch.testing.assert_close(mine, its, rtol=1e-2, atol=1e-3)


@pytest.mark.parametrize("penalty", Penalty)
@pytest.mark.parametrize("optimizer", [Optimizer.ADAM, Optimizer.ADAGRAD])
def test_updates_equal_plain_loop(penalty: Penalty, optimizer: Optimizer) -> None:
    """Train with autograd on one-hot inputs and PyTorch's optimizer, in the same batches."""
    preset = replace(BASE, stop=StopCriterion.TRAINING_LOSS, optimizer=optimizer, penalty=penalty, patience=99)
    shape = BankShape(dim=6, slots=2, words=3, labels=2)
    design = BankDesign(shape=shape, activation=preset.activation, masking=preset.masking, precision=Precision.FLOAT32)
    table, items = sample_items(slots=2, labels=2)
    prepared = prepare_items(table, items, shape)
    grid = [point for point in list_grid_points(preset, shape, seed=0) if not point.dropout]
    trained = train_points(grid, design, preset, items=prepared, validation=None)
    for point, trained_bank in zip(grid, trained, strict=True):
        bank = make_bank([point], design, start=preset.start, device=CPU)
        bank = bank.replace_weights(*(weights.double() for weights in bank.list_weights()))
        weights = [value.requires_grad_() for value in bank.list_weights()]
        maker = torch.optim.Adam if optimizer is Optimizer.ADAM else torch.optim.Adagrad
        plain = maker(weights, lr=preset.learning_rate, eps=preset.epsilon)
        generator = np.random.default_rng(ITEM_ORDER_SEED)
        orders = generate_orders(len(items), generator=generator, device=CPU)
        for _ in range(preset.max_epochs):
            for chosen in torch.split(next(orders), preset.batch):
                words = ProbeWords(prepared.words.numbers[chosen])
                batch = replace(prepared, rows=prepared.rows[chosen], words=words, targets=prepared.targets[chosen])
                squares = sum((value**2).sum() for value in weights)
                share = 1
                if penalty is Penalty.PER_BATCH:
                    squares = squares - (bank.hidden_biases**2).sum()
                    squares = squares - (bank.output_biases**2).sum()
                    share = preset.batch
                loss = nn.functional.cross_entropy(plain_logits(bank, batch), batch.targets)
                loss = loss + point.l2 / 2 / share * squares
                plain.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]
                plain.step()
        for mine, its in zip(trained_bank.bank.list_weights(), weights, strict=True):
            torch.testing.assert_close(mine, its.detach().float(), rtol=1e-3, atol=1e-4)


@given(st.integers(1, 50), st.integers(0, 99), st.booleans())
def test_pass_has_every_item_once(count: int, seed: int, on_device: bool) -> None:
    first, second = (
        generate_orders(count, generator=np.random.default_rng(seed), device=CPU, on_device=on_device) for _ in range(2)
    )
    for _ in range(3):
        assert sorted((order := next(first)).tolist()) == list(range(count))
        assert torch.equal(order, next(second))


@pytest.mark.parametrize("on_device", [False, True])
def test_masks_keep_mean_and_share(on_device: bool) -> None:
    grid = [GridPoint(seed=0, hidden=100, dropout=rate, l2=0.0) for rate in (0.0, 0.2, 0.8)]
    masks, again = (Dropout(grid, CPU, on_device=on_device).sample_masks(grid, 500) for _ in range(2))
    assert sorted(masks) == [1, 2]
    for place, mask in masks.items():
        rate = grid[place].dropout
        assert mask.shape == (100, 500)
        assert torch.unique(mask).tolist() == pytest.approx([0.0, 1 / (1 - rate)])
        assert float((mask == 0).double().mean()) == pytest.approx(rate, abs=0.01)
        assert torch.equal(mask, again[place])
    # Equal seeds and widths share random numbers: what a high rate keeps, a low one keeps.
    assert not ((masks[2] > 0) & (masks[1] == 0)).any()


@pytest.mark.parametrize("on_device", [False, True])
def test_masks_do_not_depend_on_other_probes(on_device: bool) -> None:
    grid = [GridPoint(seed=seed, hidden=hidden, dropout=0.5, l2=0.0) for seed, hidden in ((0, 8), (0, 4), (1, 8))]
    together = Dropout(grid, CPU, on_device=on_device).sample_masks(grid, 64)
    for place, point in enumerate(grid):
        (alone,) = Dropout([point], CPU, on_device=on_device).sample_masks([point], 64).values()
        assert torch.equal(alone, together[place])
    assert not torch.equal(together[0], together[2])


@given(banks(), st.integers(1, 6), st.integers(1, 9), st.integers(0, 99))
@settings(deadline=None)
def test_joint_output_layers_have_the_gradients_of_single_ones(bank: Bank, width: int, size: int, seed: int) -> None:
    """A GPU computes the output layers of probes that have one width together; here, the CPU does."""
    grid = [replace(point, hidden=0 if bank.is_linear else width) for point in bank.points]
    bank = make_bank(grid, bank.design, start=WeightInitialization.GLOROT, device=CPU)
    ((inputs, targets),) = random_items(bank.design.shape, size, seed=seed).split_batches(size)
    inputs = inputs.float()
    masks = Dropout(grid, CPU).sample_masks(grid, size)
    single, joint = bank.make_zeros(), bank.make_zeros()
    losses, logits = compute_gradients(bank, inputs, targets, masks=masks, into=single), compute_logits(bank, inputs)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Bank, "has_joint_output", True)
        torch.testing.assert_close(compute_gradients(bank, inputs, targets, masks=masks, into=joint), losses)
        torch.testing.assert_close(compute_logits(bank, inputs), logits)
    for one, other in zip(joint.list_weights(), single.list_weights(), strict=True):
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize(("widths", "is_joint"), [((5, 5), True), ((5, 4), False)])
def test_output_layers_of_one_width_are_joint_on_other_devices(widths: tuple[int, ...], is_joint: bool) -> None:
    design = BankDesign(
        shape=BankShape(dim=3, slots=0, words=0, labels=2),
        activation=Activation.RELU,
        masking=Masking.AFTER,
        precision=Precision.FLOAT32,
    )
    grid = [GridPoint(seed=0, hidden=width, dropout=0.0, l2=0.0) for width in widths]
    bank = make_bank(grid, design, start=WeightInitialization.GLOROT, device=torch.device("meta"))
    assert bank.has_joint_output == is_joint
    inputs, targets = (torch.empty(shape, device="meta") for shape in ((7, design.shape.columns), (2, 7)))
    assert compute_logits(bank, inputs).shape == (2, 2, 7)
    losses = compute_gradients(bank, inputs, targets, masks={}, into=bank.make_zeros())
    assert losses.shape == (2,)


def test_hidden_layer_is_wide_as_input() -> None:
    shape = BankShape(dim=300, slots=2, words=14, labels=2)
    (point,) = list_grid_points(find_preset("ettinger"), shape, seed=0)
    assert point.hidden == 328
    assert len(list_grid_points(find_preset("conneau"), shape, seed=0)) == 45
    many = replace(shape, labels=1000)
    assert {point.hidden for point in list_grid_points(find_preset("conneau"), many, seed=0)} == {0}
    assert len(list_grid_points(find_preset("senteval"), many, seed=0)) == 4


def sample_vectors(count: int, dim: int, seed: int = 0) -> Vectors:
    generator = np.random.default_rng(seed)
    scale, shift = 10 ** generator.uniform(-3, 3, size=(2, dim))
    vectors: Vectors = (generator.standard_normal((count, dim)) * scale + shift).astype(np.float32)
    return vectors


@given(st.integers(1, 3 * ROWS_PER_PART), st.integers(2, 40), st.sampled_from([Scaling.UNIT, Scaling.VARIANCE]))
@examples(40)
def test_scaling_equals_textbook_formula(count: int, dim: int, scaling: Scaling) -> None:
    vectors = sample_vectors(count + 7, dim, seed=count)
    rows = np.arange(3, 3 + count)
    training_vectors = vectors[rows].astype(np.float64)
    centred = training_vectors - training_vectors.mean(axis=0)
    lengths = np.linalg.norm(centred, axis=1)
    scale = lengths.mean() if scaling is Scaling.UNIT else training_vectors.std(axis=0)
    expected = (vectors - training_vectors.mean(axis=0)) / (scale if count > 1 else 1.0)
    repeated_rows = np.concatenate([rows, rows[:5]])
    assert (scale_to_tensor(vectors, repeated_rows, scaling=scaling).numpy() == expected.astype(np.float32)).all()


@pytest.mark.parametrize("scaling", SCALINGS)
def test_scaling_rounds_from_float32(scaling: Scaling) -> None:
    vectors, rows = sample_vectors(300, 20), np.arange(200)
    rounded = scale_to_tensor(vectors, rows, scaling=scaling, dtype=torch.bfloat16)
    assert torch.equal(rounded, scale_to_tensor(vectors, rows, scaling=scaling).bfloat16())


@pytest.mark.parametrize("scaling", SCALINGS)
def test_scaling_copies_little(scaling: Scaling) -> None:
    """Beside the result, which PyTorch allocates, memory is a quarter of the vectors."""
    vectors, rows = sample_vectors(20_000, 64), np.arange(16_000)
    tracemalloc.start()
    try:
        scale_to_tensor(vectors, rows, scaling=scaling)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < vectors.nbytes / 4


@pytest.mark.parametrize("scaling", SCALINGS)
def test_scaling_leaves_vectors(scaling: Scaling) -> None:
    vectors = sample_vectors(50, 4)
    vectors.flags.writeable = False
    copied = vectors.copy()
    scaled = scale_to_tensor(vectors, np.arange(40), scaling=scaling).numpy()
    scaled += 1
    assert (vectors == copied).all()
