"""Cost of early stopping, and remedies for the variance of probes that memorise their items.

    python benchmarks/stopping.py train FOLDER --task Order --encoder bow --seeds 10
    python benchmarks/stopping.py train FOLDER --task SemRole --encoder bow --l2 1e-4,0.1,1
    python benchmarks/stopping.py tables FOLDER > benchmarks/stopping.md

The first two commands train probes and store their predictions of the test items whenever one of the rules would have
ended training; all rules see the same training. With several penalties, a tenth of the training items is held out for
validation.
"""

import argparse
import json
import re
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import sqrt
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
import torch
from measure import describe_machine, format_sections, format_table
from numpy.typing import NDArray
from scipy import stats

from sentprobe.common.processes import limit_threads
from sentprobe.probes.classifier.devices import choose_precision
from sentprobe.probes.classifier.fit import MAX_WEIGHTS
from sentprobe.probes.classifier.presets import BankShape, GridPoint, find_preset, list_grid_points, override
from sentprobe.probes.classifier.probe import Preset
from sentprobe.probes.classifier.probe_bank import Bank, BankDesign, compute_logits, make_bank, scale_to_tensor
from sentprobe.probes.classifier.training import (
    ITEM_ORDER_SEED,
    BankUpdater,
    Dropout,
    PreparedItems,
    TrainingProgress,
    ValidationCheck,
    evaluate_probes,
    generate_orders,
    prepare_items,
    run_pass,
)
from sentprobe.probes.datasets.dataset import Items, ProbeDataset, Split
from sentprobe.probes.encoders.cache import Cache
from sentprobe.probes.encoders.embedding import embed
from sentprobe.probes.encoders.encoder import Vectors
from sentprobe.probes.encoders.kinds import make_encoder
from sentprobe.probes.generated.assemble import build_task
from sentprobe.probes.runs.controls import split_validation

RULES = (0.01, 0.003, 0.001, 0.0)
"""Values of ``enough``; the last, 0, is scikit-learn's rule alone."""

REPORTED_RULES = RULES[:1]
"""Rules that the page compares with scikit-learn's."""

MEMORISED_TASK = "SemRole"
"""The task of the second table: its training items are memorised, so seeds differ most."""

USUAL_TRAIN = 4000
"""Default number of training items."""

Doubles = NDArray[np.float64]


@dataclass(slots=True)
class WatchedProbe:
    """One probe, with its passes, CPU seconds and predictions at the end of each rule."""

    point: GridPoint
    courses: Mapping[float, TrainingProgress]
    seconds: float = 0.0
    results: dict[float, dict[str, object]] = field(default_factory=dict)

    @property
    def is_over(self) -> bool:
        """Whether every rule has ended training."""
        return len(self.results) == len(self.courses)


@dataclass(frozen=True, slots=True)
class Material:
    """Items for the trainer, on its device."""

    train: PreparedItems
    validation: PreparedItems | None
    test: PreparedItems


def train_watched_probes(
    points: Sequence[GridPoint], design: BankDesign, preset: Preset, material: Material
) -> list[WatchedProbe]:
    """Train probes side by side, as the trainer does, and record the result of each rule."""
    device = torch.device("cpu")
    updates = BankUpdater(
        make_bank(points, design, start=preset.start, device=device), preset, items=len(material.train)
    )
    probes = [
        WatchedProbe(point, {rule: TrainingProgress(replace(preset, enough=rule)) for rule in RULES})
        for point in points
    ]
    active, dropout = list(probes), Dropout(points, device)
    generator = np.random.default_rng(ITEM_ORDER_SEED)
    for order in generate_orders(len(material.train), generator=generator, device=device):
        start = time.process_time()
        losses = run_pass(updates, material.train, order, dropout=dropout)
        seconds = (time.process_time() - start) / len(active)
        for place, (probe, loss) in enumerate(zip(active, losses, strict=True)):
            probe.seconds += seconds
            _record_ended_rules(probe, loss, updates.bank, place, material)
        stay = [place for place, probe in enumerate(active) if not probe.is_over]
        if not stay:
            return probes
        if len(stay) < len(active):
            updates.keep_probes(stay)
            active = [active[place] for place in stay]
    return probes


def _record_ended_rules(probe: WatchedProbe, loss: float, bank: Bank, place: int, material: Material) -> None:
    outcome: dict[str, object] = {}
    for rule, course in probe.courses.items():
        if rule in probe.results:
            continue
        course.add_pass(loss)
        course.add_check(ValidationCheck())
        if course.is_over:
            outcome = outcome or _describe_probe(bank.select_probes([place]), probe, course, material)
            probe.results[rule] = outcome


def _describe_probe(bank: Bank, probe: WatchedProbe, course: TrainingProgress, material: Material) -> dict[str, object]:
    items = material.test
    parts = [compute_logits(bank, inputs)[0] for inputs, _ in items.split_batches(2048)]
    probabilities = torch.log_softmax(torch.cat(parts, dim=1), dim=0)[1].exp()
    return {
        "passes": course.epochs,
        "loss": course.loss,
        "seconds": probe.seconds,
        "validation": evaluate_probes(bank, material.validation)[0].accuracy,
        "shares": [round(share, 5) for share in probabilities.tolist()],
    }


def train(arguments: argparse.Namespace) -> None:
    """Train probes and write their results."""
    preset = override(find_preset("ettinger"), [("l2", arguments.l2)])
    data = build_task(arguments.task, train=arguments.train, test=arguments.test, seed=arguments.data)
    vectors = embed(
        make_encoder(arguments.encoder, seed=0),
        data.sentences,
        cache=Cache(arguments.cache) if arguments.cache else None,
    )
    with limit_threads(1), torch.inference_mode():
        probes = _train_all(data, vectors, preset, range(arguments.seeds))
    value = {
        "task": arguments.task,
        "encoder": _shorten_name(arguments.encoder),
        "dim": vectors.shape[1],
        "train": arguments.train,
        "data": arguments.data,
        "grid": len(preset.l2) > 1,
        "targets": data.splits[Split.TEST].targets.tolist(),
        "probes": [{"seed": probe.point.seed, "l2": probe.point.l2, "rules": probe.results} for probe in probes],
    }
    arguments.folder.mkdir(parents=True, exist_ok=True)
    parts = [str(value[key]) for key in ("task", "encoder", "train", "data")]
    name = "-".join([*parts, *(["grid"] if value["grid"] else [])]) + ".json"
    (arguments.folder / name).write_text(json.dumps(value), encoding="utf-8")


def _shorten_name(spec: str) -> str:
    """Return a name without the path of a model."""
    return re.sub(r"^st:.*", "MiniLM", spec)


def _train_all(data: ProbeDataset, vectors: Vectors, preset: Preset, seeds: Sequence[int]) -> list[WatchedProbe]:
    train_items, validation = data.splits[Split.TRAIN], None
    if preset.needs_validation:
        train_items, validation = split_validation(train_items, data.units(Split.TRAIN))
    shape = BankShape(dim=vectors.shape[1], slots=train_items.slots, words=len(data.probe_words), labels=2)
    design = BankDesign(
        shape=shape,
        activation=preset.activation,
        masking=preset.masking,
        precision=choose_precision(preset.precision, device=torch.device("cpu")),
    )
    scaled_vectors = scale_to_tensor(vectors, train_items.rows, scaling=preset.scaling)

    def prepare_scaled_items(items: Items) -> PreparedItems:
        return prepare_items(scaled_vectors, items, shape)

    material = Material(
        prepare_scaled_items(train_items),
        None if validation is None else prepare_scaled_items(validation),
        prepare_scaled_items(data.splits[Split.TEST]),
    )
    points = [point for seed in seeds for point in list_grid_points(preset, shape, seed=seed)]
    points.sort(key=lambda point: point.l2)
    probes: list[WatchedProbe] = []
    size = max(1, MAX_WEIGHTS // shape.inputs**2)
    for first in range(0, len(points), size):
        probes += train_watched_probes(points[first : first + size], design, preset, material)
        print(f"{len(probes)} of {len(points)} probes", file=sys.stderr, flush=True)
    return probes


@dataclass(frozen=True, slots=True)
class StoredRun:
    """Stored results of the probes of one task and encoder.

    - shares: (probes, n) the probability of label 1
    - targets: (n,)
    """

    name: str
    grid: bool
    targets: Doubles
    probes: list[dict[str, Any]]

    def get_values(self, rule: float, name: str) -> Doubles:
        """Return a value of all probes, in order."""
        return np.array([probe["rules"][str(rule)][name] for probe in self.probes], np.float64)

    def accuracies(self, rule: float, *, average: int = 1) -> Doubles:
        """Return the accuracies in percent of disjoint groups of *average* probes."""
        shares = self.get_values(rule, "shares")
        used_count = len(shares) // average * average
        groups = shares[:used_count].reshape(-1, average, len(self.targets)).mean(axis=1)
        # Half is label 0: the first of equals, as in the trainer.
        accuracies: Doubles = 100 * ((groups > 0.5) == self.targets).mean(axis=1)
        return accuracies

    def seconds(self, rule: float) -> float:
        """Return the CPU seconds of a probe."""
        return float(self.get_values(rule, "seconds").mean())

    def penalties(self) -> list["StoredRun"]:
        """Return the probes of each penalty."""
        values = sorted({probe["l2"] for probe in self.probes})
        return [replace(self, probes=[probe for probe in self.probes if probe["l2"] == value]) for value in values]


def read_runs(folder: Path) -> list[StoredRun]:
    """Read all stored results, sorted by file name."""
    runs = []
    for path in sorted(folder.glob("*.json")):
        value = json.loads(path.read_text(encoding="utf-8"))
        name = f"{value['task']}, {value['encoder']} ({value['dim']})"
        name += "" if value["train"] == USUAL_TRAIN else f", {value['train']:,} items"
        name += f", data {value['data']}" if value["data"] else ""
        runs.append(StoredRun(name, value["grid"], np.array(value["targets"]), value["probes"]))
    return runs


def compute_deviation(values: Doubles) -> str:
    """Format a standard deviation and its 95% interval (normal distribution)."""
    count, deviation = len(values) - 1, values.std(ddof=1)
    low, high = (deviation * sqrt(count / stats.chi2.ppf(p, count)) for p in (0.975, 0.025))
    return f"{deviation:.2f} ({low:.2f} to {high:.2f})"


def format_interval(values: Doubles) -> str:
    """Format a mean and its 95% interval (Student's t)."""
    half = stats.t.ppf(0.975, len(values) - 1) * values.std(ddof=1) / sqrt(len(values))
    return f"{values.mean():+.2f} ± {half:.2f}"


def build_rules_table(runs: Sequence[StoredRun]) -> str:
    """Return the loss of accuracy of each rule, seed by seed, against the last one."""
    ways = (f"{what}, {rule:g}" for rule in REPORTED_RULES for what in ("change", "CPU s"))
    header = ("task, encoder (dimensions)", "seeds", "%", "passes", "CPU s", *ways)
    rows, differences = [], {rule: list[float]() for rule in REPORTED_RULES}
    for run in runs:
        end = run.accuracies(RULES[-1])
        row = [run.name, str(len(end)), f"{end.mean():.2f} ± {end.std(ddof=1):.2f}"]
        row += [f"{run.get_values(RULES[-1], 'passes').mean():.0f}", f"{run.seconds(RULES[-1]):.1f}"]
        for rule in REPORTED_RULES:
            gained = run.accuracies(rule) - end
            differences[rule].append(gained.mean())
            row += [format_interval(gained), f"{run.seconds(rule):.1f}"]
        rows.append(row)
    last = ["all", "", "", "", f"{mean(run.seconds(RULES[-1]) for run in runs):.1f}"]
    for rule in REPORTED_RULES:
        seconds = mean(run.seconds(rule) for run in runs)
        last += [format_interval(np.array(differences[rule])), f"{seconds:.1f}"]
    return format_table(header, [*rows, last])


def build_variance_table(runs: Sequence[StoredRun], rule: float) -> str:
    """Return the results of averaging and of penalties chosen on validation."""
    figure_columns = ("figures", "mean %", "standard deviation (95%)")
    header = ("encoder (dimensions)", "figure is of", *figure_columns)
    rows = []
    for run in runs:
        if not run.name.startswith(MEMORISED_TASK):
            continue
        if run.grid:
            rows += [_format_row(run.name, *chosen) for chosen in _choose_results(run, rule)]
            continue
        for size in (1, 3, 5, 10):
            if len(values := run.accuracies(rule, average=size)) > 2:
                name = f"{size} probes" if size > 1 else "one probe"
                rows.append(_format_row(run.name, name, values))
    return format_table(header, rows)


def _format_row(name: str, way: str, values: Doubles) -> tuple[str, ...]:
    figures = (str(len(values)), f"{values.mean():.2f}", compute_deviation(values))
    return (name.removeprefix(f"{MEMORISED_TASK}, "), way, *figures)


def _choose_results(run: StoredRun, rule: float) -> Iterator[tuple[str, Doubles]]:
    """Yield the accuracies of each penalty, and of the best on validation, seed by seed."""
    parts = run.penalties()
    accuracies = np.array([part.accuracies(rule) for part in parts])
    best = np.array([part.get_values(rule, "validation") for part in parts]).argmax(axis=0)
    for part, values in zip(parts, accuracies, strict=True):
        yield f"l2={part.probes[0]['l2']:g}", values
    yield "l2 chosen on 400 items", accuracies[best, np.arange(len(best))]


METHOD_NOTE = """\
Preset `ettinger`, 4,000 training items unless a row says otherwise, and 1,000 test items.

    python benchmarks/stopping.py train FOLDER --task Order --encoder bow --seeds 10
    python benchmarks/stopping.py tables FOLDER > benchmarks/stopping.md
"""


def print_tables(arguments: argparse.Namespace) -> None:
    """Print the tables of stored results."""
    runs = read_runs(arguments.folder)
    plain = [run for run in runs if not run.grid]
    print("# When training ends, and how steady figures are\n")
    print(describe_machine(["torch", "numpy"]), METHOD_NOTE)
    parts = {
        "Stopping at a small loss": RULES_NOTE + build_rules_table(plain),
        "Averaging probes, choosing a penalty": VARIANCE_NOTE + build_variance_table(runs, arguments.rule),
    }
    print(format_sections(parts))


RULES_NOTE = """\
Accuracy of scikit-learn's rule (no gain of 1e-4 in eleven passes), and the change if training also
stops at a loss below 0.01 (same probes, Student's 95% interval over seeds). CPU seconds are for one
probe.

"""

VARIANCE_NOTE = f"""\
{MEMORISED_TASK}. No probe is in two figures; n probes cost n times as much.

"""


def main() -> None:
    """Train, or print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(required=True)
    training = commands.add_parser("train")
    training.add_argument("folder", type=Path)
    training.add_argument("--task", required=True)
    training.add_argument("--encoder", required=True)
    training.add_argument("--seeds", type=int, default=10)
    training.add_argument("--l2", default="1e-4")
    training.add_argument("--train", type=int, default=USUAL_TRAIN, help="training items")
    training.add_argument("--test", type=int, default=1000, help="test items")
    training.add_argument("--data", type=int, default=0, help="the seed of the data")
    training.add_argument("--cache", type=Path, help="of sentence vectors")
    training.set_defaults(work=train)
    printing = commands.add_parser("tables")
    printing.add_argument("folder", type=Path)
    printing.add_argument("--rule", type=float, default=0.0, help="for the second: " + str(RULES))
    printing.set_defaults(work=print_tables)
    arguments = parser.parse_args()
    arguments.work(arguments)


if __name__ == "__main__":
    main()
