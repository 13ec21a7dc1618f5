"""Simulated tables of encoders, tasks and draws, for benchmarks/power.py.

An answer is right if a standard normal variable is below a threshold. The variable is the sum of the unit's difficulty,
which all encoders share, and of noise of the encoder's own. The threshold gives each encoder, task and draw its
accuracy: the expected accuracy, plus noise of probe training. Noise never changes the expected accuracy.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.random import SFC64, Generator
from numpy.typing import NDArray
from scipy.special import ndtri

from sentprobe.probes.reports.paired_tests import compute_unit_variance
from sentprobe.probes.statistics import sum_by_unit

Floats = NDArray[np.float64]
MOST_DRAWS = 5
TABLES_AT_ONCE = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """The numbers of encoders and tasks, and of the test items of each task."""

    encoders: int = 5
    items: tuple[int, ...] = (1000,) * 5

    @property
    def cells(self) -> tuple[int, int]:
        """The numbers of tasks and of encoders."""
        return len(self.items), self.encoders

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """Every two encoders."""
        return [*combinations(range(self.encoders), 2)]


DeviationSampler = Callable[[Generator, tuple[int, ...]], Floats]
"""Return the standard deviation of the training noise, (tables, tasks, encoders)."""


def use_equal_deviations(deviation: float) -> DeviationSampler:
    return lambda _, size: np.full(size, deviation)


def sample_lognormal_deviations(median: float, spread: float) -> DeviationSampler:
    """*spread* is the standard deviation of the logarithm."""
    return lambda rng, size: median * np.exp(spread * rng.standard_normal(size))


def set_deviations(
    usual: float, *, noisy: float, task: int | None = None, encoder: int | None = None
) -> DeviationSampler:
    """Give one task, one encoder, or one encoder on one task another deviation."""

    def build(_: Generator, size: tuple[int, ...]) -> Floats:
        deviations = np.full(size, usual)
        place = slice(None) if task is None else task, slice(None) if encoder is None else encoder
        deviations[:, *place] = noisy
        return deviations

    return build


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """How the answers of a table vary."""

    name: str
    shape: Shape = Shape()
    deviations: DeviationSampler
    best: tuple[float, ...] = (0.85,)
    """The accuracy of the best encoder on each task; one value: on all."""
    difficulty: float = 0.4
    """The share of the unit's difficulty in the variance of the normal variable."""
    unit_size: int = 1
    unit_noise: float = 0.0
    """The share of the encoder's own noise that all items of a unit have in common."""
    mirrored: bool = False
    """Whether the encoder's own noise has the opposite sign in both items of a unit."""
    across_tasks: float = 0.0
    """The share of the training noise that an encoder has in common on all tasks of a draw."""
    siblings: int = 0
    """The number of encoders that have nine tenths of their training noise on a task in common."""
    noise_freedom: float = np.inf
    """The degrees of freedom of Student's t-distribution of the training noise; infinite: normal noise."""
    failures: float = 0.0
    """The share of trainings that lose 15 points, of every encoder."""

    def sample_expected_accuracies(self, rng: Generator, tables: int, *, differ: bool) -> Floats:
        """Return the expected accuracies, (tables, tasks, encoders).

        All are equal on a task. With *differ*, encoders on three fifths of the tasks lose 0, 0, 2 to 5, 5 to 10 and 30
        points, in random order.
        """
        tasks, encoders = self.shape.cells
        accuracies = np.tile(np.broadcast_to(self.best, tasks)[:, np.newaxis], (tables, 1, encoders))
        if differ:
            few, more = rng.uniform(0.02, 0.05, (tables, tasks)), rng.uniform(0.05, 0.10, (tables, tasks))
            none = np.zeros_like(few)
            losses = np.stack([none, none, few, more, none + 0.30], axis=-1)[..., [0, 2, 3, 1, 4] * (encoders // 5 + 1)]
            losses = rng.permuted(losses[..., :encoders], axis=-1)
            losses *= np.arange(tasks)[:, np.newaxis] < max(1, round(0.6 * tasks))
            accuracies -= losses
        return accuracies

    def sample_accuracies(self, rng: Generator, expected: Floats) -> Floats:
        """Add training noise: (tables, draws, tasks, encoders)."""
        tables, tasks, encoders = expected.shape
        noise = rng.standard_normal((tables, MOST_DRAWS, tasks, encoders))
        common = rng.standard_normal((tables, MOST_DRAWS, 1, encoders))
        noise = np.sqrt(1 - self.across_tasks) * noise + np.sqrt(self.across_tasks) * common
        if self.siblings:
            common = rng.standard_normal((tables, MOST_DRAWS, tasks, 1))
            noise[..., : self.siblings] = np.sqrt(0.1) * noise[..., : self.siblings] + np.sqrt(0.9) * common
        if np.isfinite(self.noise_freedom):  # with a variance of 1
            noise *= np.sqrt((self.noise_freedom - 2) / rng.chisquare(self.noise_freedom, noise.shape))
        largest = np.minimum(expected, 1 - expected)  # at both ends alike, so that the mean stays
        noise *= np.minimum(self.deviations(rng, expected.shape), largest / 2.5)[:, np.newaxis]
        expected, largest = expected[:, np.newaxis], largest[:, np.newaxis]
        failed = rng.random(noise.shape) < self.failures
        accuracies: Floats = np.maximum(0.0, expected + np.clip(noise, -largest, largest) - 0.15 * failed)
        return accuracies


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedTables:
    """The gains of every two encoders on each task: (tables, draws, gains), task by task."""

    shape: Shape
    expected: Floats
    """The expected gains, (tables, gains)."""
    gains: Floats
    item_variances: Floats
    cells: Floats
    """The accuracies, task by task: (tables, draws, tasks * encoders)."""
    cell_item_variances: Floats
    expected_cells: Floats
    """The expected accuracies, (tables, tasks * encoders)."""

    @property
    def least(self) -> Floats:
        """The variance of one item, (gains,)."""
        return np.repeat(np.asarray(self.shape.items, np.float64), len(self.shape.pairs)) ** -2.0


def simulate_tables(scenario: Scenario, seed: tuple[int, ...], *, tables: int, differ: bool) -> SimulatedTables:
    """Simulate tables with :data:`MOST_DRAWS` draws."""
    rng = Generator(SFC64(seed))
    expected = scenario.sample_expected_accuracies(rng, tables, differ=differ)
    return simulate_from_accuracies(scenario, rng, expected)


def simulate_from_accuracies(scenario: Scenario, rng: Generator, expected: Floats) -> SimulatedTables:
    """Simulate the answers of tables with *expected* accuracies, (tables, tasks, encoders)."""
    accuracies = scenario.sample_accuracies(rng, expected)
    moments = [_simulate_task(scenario, rng, accuracies, task) for task in range(expected.shape[1])]
    return collect_moments(scenario, expected, moments)


def collect_moments(scenario: Scenario, expected: Floats, moments: Sequence[tuple[Floats, ...]]) -> SimulatedTables:
    """Join the gains and the accuracies, and their variances by items, of all tasks."""
    gains, item_variances, cells, cell_item_variances = (
        np.concatenate(values, axis=-1) for values in zip(*moments, strict=True)
    )
    first, second = np.array(scenario.shape.pairs).T
    return SimulatedTables(
        shape=scenario.shape,
        expected=(expected[..., first] - expected[..., second]).reshape(len(expected), -1),
        gains=gains,
        item_variances=np.where(item_variances < 1e-12, 0.0, item_variances),
        cells=cells,
        cell_item_variances=cell_item_variances,
        expected_cells=(expected - 0.15 * scenario.failures).reshape(len(expected), -1),
    )


def _simulate_task(scenario: Scenario, rng: Generator, accuracies: Floats, task: int) -> tuple[Floats, ...]:
    """Return the moments of :func:`compute_pair_moments` of one task."""
    units = scenario.shape.items[task] // scenario.unit_size
    parts = [
        compute_pair_moments(sums, scenario) for sums in sample_unit_sums(scenario, rng, accuracies[:, :, task], units)
    ]
    return tuple(np.concatenate(values) for values in zip(*parts, strict=True))


def compute_pair_moments(sums: NDArray[np.float32], scenario: Scenario) -> tuple[Floats, ...]:
    """Return the gain of every two encoders and its variance by items, (..., pairs) each.

    Two further arrays hold each encoder's accuracy and its variance by items, (..., encoders) each.

    - sums: (..., encoders, units), right answers of each unit
    """
    first, second = np.array(scenario.shape.pairs).T
    units = sums.shape[-1]
    items = units * scenario.unit_size
    totals = sums.sum(axis=-1, dtype=np.float64)
    centred = sums - (totals / units)[..., np.newaxis].astype(np.float32)
    products = (centred @ centred.swapaxes(-1, -2)).astype(np.float64) / items**2 * units / (units - 1)
    own_products = np.einsum("...ii->...i", products)
    variances = own_products[..., first] + own_products[..., second] - 2 * products[..., first, second]
    return (totals[..., first] - totals[..., second]) / items, variances, totals / items, own_products


def check_item_variances(scenario: Scenario) -> None:
    """Compare :func:`compute_pair_moments` with the function of the product, on one task of one table."""
    rng, size = Generator(SFC64(0)), scenario.unit_size
    accuracies = scenario.sample_accuracies(rng, scenario.sample_expected_accuracies(rng, 1, differ=True))
    (sums,) = sample_unit_sums(scenario, rng, accuracies[:, :, 0], scenario.shape.items[0] // size)
    _, variances, *_ = compute_pair_moments(sums[0, 0], scenario)
    units = np.repeat(np.arange(sums.shape[-1]), size)
    for (first, second), variance in zip(scenario.shape.pairs, variances, strict=True):
        by_item = np.repeat((sums[0, 0, first] - sums[0, 0, second]) / size, size)
        if not np.isclose(variance, compute_unit_variance(*sum_by_unit(by_item, units.tolist())), rtol=1e-4):
            raise SystemExit(f"{scenario.name}: the variance by items differs from that of the product")


def sample_unit_sums(
    scenario: Scenario, rng: Generator, accuracies: Floats, units: int
) -> Iterator[NDArray[np.float32]]:
    """Yield the number of right answers of each unit, (tables, draws, encoders, units), some tables at a time."""
    thresholds = ndtri(accuracies).astype(np.float32)[..., np.newaxis]
    own_share = 1 - scenario.difficulty
    alone, together, shared = (
        np.float32(share**0.5)
        for share in (own_share * (1 - scenario.unit_noise), own_share * scenario.unit_noise, scenario.difficulty)
    )
    for start in range(0, len(accuracies), TABLES_AT_ONCE):
        part = thresholds[start : start + TABLES_AT_ONCE]
        size = (*part.shape[:-1], units)
        common = part - shared * rng.standard_normal((*size[:2], 1, units), dtype=np.float32)
        if together:
            common = common - together * rng.standard_normal(size, dtype=np.float32)
        common /= alone
        sums = np.zeros(size, dtype=np.float32)
        for number in range(scenario.unit_size):
            if not (scenario.mirrored and number):
                noise = rng.standard_normal(size, dtype=np.float32)
            sums += (-noise if scenario.mirrored and number else noise) < common
        yield sums


def list_scenarios() -> list[Scenario]:
    """Return the scenarios with which earlier methods were tuned."""
    equal, few = use_equal_deviations(0.015), Shape(items=(40,) * 5)
    steady = use_equal_deviations(0.0)
    return [
        Scenario(name="items only", deviations=steady),
        Scenario(name="equal training noise", deviations=equal),
        Scenario(name="noise much larger than items", deviations=use_equal_deviations(0.05), difficulty=0.8),
        Scenario(name="unequal noise (log sd 0.7)", deviations=sample_lognormal_deviations(0.01, 0.7)),
        Scenario(name="very unequal noise (log sd 1.5)", deviations=sample_lognormal_deviations(0.01, 1.5)),
        Scenario(name="one noisy encoder", deviations=set_deviations(0.005, noisy=0.06, encoder=0)),
        Scenario(name="one noisy task", deviations=set_deviations(0.005, noisy=0.06, task=4)),
        Scenario(
            name="one cell with noise of 6 points", deviations=set_deviations(0.005, noisy=0.06, task=4, encoder=0)
        ),
        Scenario(
            name="one cell with noise of 12 points",
            deviations=set_deviations(0.005, noisy=0.12, task=4, encoder=0),
            best=(0.7,),
        ),
        Scenario(name="noise shared by all tasks", deviations=use_equal_deviations(0.03), across_tasks=0.9),
        Scenario(name="40 items", deviations=steady, shape=few),
        Scenario(name="40 items, noise", deviations=use_equal_deviations(0.04), shape=few),
        Scenario(name="30 units of two", deviations=equal, shape=Shape(items=(60,) * 5), unit_size=2, unit_noise=0.7),
        Scenario(name="40 or 1,000 items", deviations=equal, shape=Shape(items=(40, 1000, 1000, 1000, 40))),
        Scenario(name="units of four", deviations=equal, unit_size=4, unit_noise=0.7),
        Scenario(name="mirror pairs", deviations=equal, unit_size=2, mirrored=True, difficulty=0.0, best=(0.8,)),
        Scenario(name="ceiling (99.7%)", deviations=use_equal_deviations(0.002), best=(0.997,)),
        Scenario(name="two tasks always right", deviations=equal, best=(0.85, 0.85, 0.85, 1.0, 1.0)),
        Scenario(name="3% of trainings fail", deviations=use_equal_deviations(0.01), failures=0.03),
        Scenario(name="two encoders", deviations=sample_lognormal_deviations(0.01, 0.7), shape=Shape(encoders=2)),
        Scenario(name="one task", deviations=sample_lognormal_deviations(0.01, 0.7), shape=Shape(items=(1000,))),
    ]


def list_later_scenarios() -> list[Scenario]:
    """Return ten scenarios that were written down before the method that they judge was chosen (28 November 2026).

    The first two are those in which the method before it failed. Variants were compared on all ten.
    """
    noisy_cell = set_deviations(0.005, noisy=0.12, task=0, encoder=0)
    return [
        Scenario(
            name="15 encoders, one cell with noise of 12 points",
            deviations=noisy_cell,
            best=(0.7,),
            shape=Shape(encoders=15),
        ),
        Scenario(
            name="13 tasks, one cell with noise of 12 points",
            deviations=noisy_cell,
            best=(0.7,),
            shape=Shape(items=(1000,) * 13),
        ),
        Scenario(
            name="two encoders, 13 tasks, one cell with noise of 12 points",
            deviations=noisy_cell,
            best=(0.7,),
            shape=Shape(encoders=2, items=(1000,) * 13),
        ),
        Scenario(
            name="15 encoders, one task, one cell with noise of 12 points",
            deviations=noisy_cell,
            best=(0.7,),
            shape=Shape(encoders=15, items=(1000,)),
        ),
        Scenario(
            name="heavy tails (t, 3 degrees)",
            deviations=use_equal_deviations(0.02),
            noise_freedom=3,
            shape=Shape(encoders=8),
        ),
        Scenario(
            name="heavy tails, unequal noise, 15 encoders, 13 tasks of 300",
            deviations=sample_lognormal_deviations(0.01, 0.7),
            noise_freedom=3,
            shape=Shape(encoders=15, items=(300,) * 13),
        ),
        Scenario(
            name="10 correlated encoders",
            deviations=use_equal_deviations(0.04),
            siblings=10,
            difficulty=0.8,
            shape=Shape(encoders=10, items=(1000,) * 4),
        ),
        Scenario(
            name="three of six encoders correlated",
            deviations=use_equal_deviations(0.04),
            siblings=3,
            shape=Shape(encoders=6, items=(1000,) * 6),
        ),
        Scenario(
            name="four of five tasks near the ceiling",
            deviations=use_equal_deviations(0.02),
            best=(0.8, 0.98, 0.99, 0.995, 0.999),
            shape=Shape(encoders=6),
        ),
        Scenario(
            name="30 to 3,000 items, unequal noise",
            deviations=sample_lognormal_deviations(0.015, 0.7),
            shape=Shape(encoders=4, items=(30, 100, 300, 1000, 3000)),
        ),
    ]
