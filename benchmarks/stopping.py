"""What an early stop costs, and what makes the figures of probes that learn by heart steadier.

    python benchmarks/stopping.py train FOLDER --task Order --encoder bow --seeds 10
    python benchmarks/stopping.py train FOLDER --task SemRole --encoder bow --l2 1e-4,0.1,1
    python benchmarks/stopping.py tables FOLDER > benchmarks/stopping.md

The first two train probes and keep what each says of the test items, at every moment at which one
of the rules would have ended its training: a rule that ends later sees the same training. Several
penalties are trained on what is left of the training items after a tenth is taken for validation.
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
from measure import machine, sections, table
from numpy.typing import NDArray
from scipy import stats

from sentprobe.probes.compeval.assemble import build_task
from sentprobe.probes.dataset import Items, ProbeDataset, Split
from sentprobe.probes.encoders import Vectors, make_encoder
from sentprobe.probes.encoders.cache import Cache
from sentprobe.probes.encoders.embed import embed
from sentprobe.probes.runs.controls import carve
from sentprobe.probes.trainer.bank import Bank, Design, gradients, logits, make_bank, settle
from sentprobe.probes.trainer.batches import Dropout, PreparedItems, passes, prepare
from sentprobe.probes.trainer.classifier import Preset
from sentprobe.probes.trainer.fit import MOST_WEIGHTS
from sentprobe.probes.trainer.presets import BankShape, GridPoint, find_preset, override, points_of
from sentprobe.probes.trainer.scaling import scaled
from sentprobe.probes.trainer.training import ORDER, Course, Updates, ValidationCheck, checks
from sentprobe.processes import limit_threads

RULES = (0.01, 0.003, 0.001, 0.0)
"""Values of ``enough``, the last of which is scikit-learn's rule alone."""

USUAL_TRAIN = 4000
"""Training items, where a table says nothing else."""

Doubles = NDArray[np.float64]


@dataclass(slots=True)
class Watched:
    """One probe: at the end by each rule, its passes, CPU seconds and what it says."""

    point: GridPoint
    courses: Mapping[float, Course]
    seconds: float = 0.0
    found: dict[float, dict[str, object]] = field(default_factory=dict)

    @property
    def over(self) -> bool:
        """Whether every rule has ended it."""
        return len(self.found) == len(self.courses)


@dataclass(frozen=True, slots=True)
class Material:
    """Items for the trainer, on its device."""

    train: PreparedItems
    validation: PreparedItems | None
    test: PreparedItems


def watch(
    points: Sequence[GridPoint], design: Design, preset: Preset, material: Material
) -> list[Watched]:
    """Train probes side by side, as the trainer does, and see what each rule would give."""
    device = torch.device("cpu")
    updates = Updates(
        make_bank(points, design, start=preset.start, device=device),
        preset,
        items=len(material.train),
    )
    probes = [
        Watched(point, {rule: Course(replace(preset, enough=rule)) for rule in RULES})
        for point in points
    ]
    active, dropout = list(probes), Dropout(points, device)
    generator = np.random.default_rng(ORDER)
    for batches in passes(
        len(material.train), size=preset.batch, generator=generator, device=device
    ):
        start = time.process_time()
        losses = _pass(updates, material.train, batches, dropout)
        seconds = (time.process_time() - start) / len(active)
        for place, (probe, loss) in enumerate(zip(active, losses, strict=True)):
            probe.seconds += seconds
            _see(probe, loss, updates.bank, place, material)
        stay = [place for place, probe in enumerate(active) if not probe.over]
        if not stay:
            return probes
        if len(stay) < len(active):
            updates.keep(stay)
            active = [active[place] for place in stay]
    return probes


def _pass(
    updates: Updates, items: PreparedItems, batches: Sequence[torch.Tensor], dropout: Dropout
) -> list[float]:
    bank = updates.bank
    total = torch.zeros(len(bank.points))
    for places in batches:
        inputs, targets = items.batch(places, labels=bank.design.shape.labels)
        masks = dropout.draw(bank.points, len(places))
        losses = gradients(bank, inputs, targets, masks=masks, into=updates.gradient)
        updates.step()
        total += losses * len(places)
    found: list[float] = (total / len(items)).tolist()
    return found


def _see(probe: Watched, loss: float, bank: Bank, place: int, material: Material) -> None:
    done: dict[str, object] = {}
    for rule, course in probe.courses.items():
        if rule in probe.found:
            continue
        course.add_pass(loss)
        course.add_check(ValidationCheck())
        if course.over:
            done = done or _says(bank.keep([place]), probe, course, material)
            probe.found[rule] = done


def _says(bank: Bank, probe: Watched, course: Course, material: Material) -> dict[str, object]:
    items = material.test
    parts = [logits(bank, items.batch(part, labels=2)[0])[0] for part in items.parts(2048)]
    shares = torch.log_softmax(torch.cat(parts), dim=1)[:, 1].exp()
    return {
        "passes": course.epochs,
        "loss": course.loss,
        "seconds": probe.seconds,
        "validation": checks(bank, material.validation)[0].accuracy,
        "shares": [round(share, 5) for share in shares.tolist()],
    }


def train(asked: argparse.Namespace) -> None:
    """Train, and write what came of it."""
    preset = override(find_preset("ettinger"), [("l2", asked.l2)])
    data = build_task(asked.task, train=asked.train, test=asked.test, seed=asked.data)
    vectors = embed(
        make_encoder(asked.encoder, seed=0),
        data.sentences,
        cache=Cache(asked.cache) if asked.cache else None,
    )
    with limit_threads(1), torch.inference_mode():
        probes = _trained(data, vectors, preset, range(asked.seeds))
    value = {
        "task": asked.task,
        "encoder": _short(asked.encoder),
        "dim": vectors.shape[1],
        "train": asked.train,
        "data": asked.data,
        "grid": len(preset.l2) > 1,
        "targets": data.splits[Split.TEST].targets.tolist(),
        "probes": [
            {"seed": each.point.seed, "l2": each.point.l2, "rules": each.found} for each in probes
        ],
    }
    asked.folder.mkdir(parents=True, exist_ok=True)
    parts = [str(value[key]) for key in ("task", "encoder", "train", "data")]
    name = "-".join([*parts, *(["grid"] if value["grid"] else [])]) + ".json"
    (asked.folder / name).write_text(json.dumps(value), encoding="utf-8")


def _short(spec: str) -> str:
    """Return a name without the path of a model."""
    return re.sub(r"^st:.*", "MiniLM", spec)


def _trained(
    data: ProbeDataset, vectors: Vectors, preset: Preset, seeds: Sequence[int]
) -> list[Watched]:
    learn, validation = data.splits[Split.TRAIN], None
    if preset.needs_validation:
        learn, validation = carve(learn, data.units(Split.TRAIN))
    shape = BankShape(
        dim=vectors.shape[1], slots=learn.slots, words=len(data.probe_words), labels=2
    )
    design = Design(
        shape=shape,
        activation=preset.activation,
        masking=preset.masking,
        precision=settle(preset.precision, device=torch.device("cpu")),
    )
    held = torch.from_numpy(scaled(vectors, learn.rows, scaling=preset.scaling))

    def put(items: Items) -> PreparedItems:
        return prepare(held, items, shape)

    material = Material(
        put(learn), None if validation is None else put(validation), put(data.splits[Split.TEST])
    )
    points = [point for seed in seeds for point in points_of(preset, shape, seed=seed)]
    points.sort(key=lambda point: point.l2)
    found: list[Watched] = []
    size = max(1, MOST_WEIGHTS // shape.inputs**2)
    for first in range(0, len(points), size):
        found += watch(points[first : first + size], design, preset, material)
        print(f"{len(found)} of {len(points)} probes", file=sys.stderr, flush=True)
    return found


@dataclass(frozen=True, slots=True)
class Kept:
    """What was kept of the probes of one task and encoder.

    - shares: (probes, n) the probability of label 1
    - targets: (n,)
    """

    name: str
    grid: bool
    targets: Doubles
    probes: list[dict[str, Any]]

    def of(self, rule: float, name: str) -> Doubles:
        """Return something of all probes, in their order."""
        return np.array([probe["rules"][str(rule)][name] for probe in self.probes], np.float64)

    def accuracies(self, rule: float, *, average: int = 1) -> Doubles:
        """Return the accuracy in percent of each group of so many probes, none in two of them."""
        shares = self.of(rule, "shares")
        whole = len(shares) // average * average
        groups = shares[:whole].reshape(-1, average, len(self.targets)).mean(axis=1)
        # Half is label 0: the first of equals, as in the trainer.
        found: Doubles = 100 * ((groups > 0.5) == self.targets).mean(axis=1)
        return found

    def seconds(self, rule: float) -> float:
        """Return the CPU seconds of a probe."""
        return float(self.of(rule, "seconds").mean())

    def penalties(self) -> list["Kept"]:
        """Return the probes of each penalty."""
        values = sorted({probe["l2"] for probe in self.probes})
        return [
            replace(self, probes=[probe for probe in self.probes if probe["l2"] == value])
            for value in values
        ]


def read(folder: Path) -> list[Kept]:
    """Read all that was kept, in the order of the names."""
    found = []
    for path in sorted(folder.glob("*.json")):
        value = json.loads(path.read_text(encoding="utf-8"))
        name = f"{value['task']}, {value['encoder']} ({value['dim']})"
        name += "" if value["train"] == USUAL_TRAIN else f", {value['train']:,} items"
        name += f", data {value['data']}" if value["data"] else ""
        found.append(Kept(name, value["grid"], np.array(value["targets"]), value["probes"]))
    return found


def spread(values: Doubles) -> str:
    """Write a standard deviation and its 95% interval, as of a normal distribution."""
    count, found = len(values) - 1, values.std(ddof=1)
    low, high = (found * sqrt(count / stats.chi2.ppf(p, count)) for p in (0.975, 0.025))
    return f"{found:.2f} ({low:.2f} to {high:.2f})"


def interval(values: Doubles) -> str:
    """Write a mean and its 95% interval, as Student's t has it."""
    half = stats.t.ppf(0.975, len(values) - 1) * values.std(ddof=1) / sqrt(len(values))
    return f"{values.mean():+.2f} ± {half:.2f}"


def rules_table(found: Sequence[Kept]) -> str:
    """Return what each rule gives up, seed by seed, against the last one."""
    ways = (f"{what}, {rule:g}" for rule in RULES[:-1] for what in ("more %", "CPU s"))
    header = ("task, encoder (dimensions)", "seeds", "%, to the end", "passes", "CPU s", *ways)
    rows, differences = [], {rule: list[float]() for rule in RULES}
    for kept in found:
        end = kept.accuracies(RULES[-1])
        row = [kept.name, str(len(end)), f"{end.mean():.2f} ± {end.std(ddof=1):.2f}"]
        row += [f"{kept.of(RULES[-1], 'passes').mean():.0f}", f"{kept.seconds(RULES[-1]):.1f}"]
        for rule in RULES[:-1]:
            gained = kept.accuracies(rule) - end
            differences[rule].append(gained.mean())
            row += [interval(gained), f"{kept.seconds(rule):.1f}"]
        rows.append(row)
    last = ["all", "", "", "", f"{mean(kept.seconds(RULES[-1]) for kept in found):.1f}"]
    for rule in RULES[:-1]:
        seconds = mean(kept.seconds(rule) for kept in found)
        last += [interval(np.array(differences[rule])), f"{seconds:.1f}"]
    return table(header, [*rows, last])


def steadier_table(found: Sequence[Kept], rule: float) -> str:
    """Return what averages and penalties chosen on validation give."""
    of_figures = ("figures", "mean %", "standard deviation (95%)", "CPU s a figure")
    header = ("task, encoder (dimensions)", "figure is of", *of_figures)
    rows = []
    for kept in found:
        if kept.grid:
            rows += [_row(kept.name, *way) for way in _chosen(kept, rule)]
            continue
        for size in (1, 3, 5, 10):
            if len(values := kept.accuracies(rule, average=size)) > 2:
                name = f"{size} probes, averaged" if size > 1 else "one probe"
                rows.append(_row(kept.name, name, values, size * kept.seconds(rule)))
    return table(header, rows)


def _row(name: str, way: str, values: Doubles, seconds: float) -> tuple[str, ...]:
    figures = (str(len(values)), f"{values.mean():.2f}", spread(values), f"{seconds:.1f}")
    return (name, way, *figures)


def _chosen(kept: Kept, rule: float) -> Iterator[tuple[str, Doubles, float]]:
    """Yield what each penalty gives, and the one that is best on validation, seed by seed."""
    parts = kept.penalties()
    accuracies = np.array([part.accuracies(rule) for part in parts])
    best = np.array([part.of(rule, "validation") for part in parts]).argmax(axis=0)
    for part, values in zip(parts, accuracies, strict=True):
        yield f"one probe, l2={part.probes[0]['l2']:g}, of 3,600 items", values, part.seconds(rule)
    seconds = sum(part.seconds(rule) for part in parts)
    yield (
        f"one probe, l2 chosen of {len(parts)} on 400 items",
        accuracies[best, np.arange(len(best))],
        seconds,
    )


TRAINED = (
    "Preset `ettinger`, 4,000 training items, where nothing else is said, and 1,000 test items. A "
    "row has one set of data and vectors; the seeds of its probes were trained side by side."
)


def tables(asked: argparse.Namespace) -> None:
    """Print the tables of what was kept."""
    found = read(asked.folder)
    plain = [kept for kept in found if not kept.grid]
    print("# When a probe's training ends, and how steady its figure is\n")
    print(machine(["torch", "numpy"]), TRAINED + "\n")
    parts = {
        "What ending at a small loss costs": RULES_TOLD + rules_table(plain),
        "What makes a figure steadier": STEADY_TOLD + steadier_table(found, asked.rule),
    }
    print(sections(parts))


RULES_TOLD = (
    "Training ends when a pass's loss is below 0.01, 0.003 or 0.001, or by scikit-learn's rule "
    "alone (*to the end*: no pass in eleven better by 1e-4), whichever is first. *More*: accuracy "
    "against that at the end, of the same probes, with Student's 95% interval over the seeds; in "
    "the last row over the tasks and encoders. CPU seconds are a probe's share.\n\n"
)

STEADY_TOLD = (
    "The figures of a row are of different seeds: no probe is in two of them. CPU seconds are "
    "those of all probes that one figure needs. Where a penalty is chosen, 400 of the training "
    "items are for validation.\n\n"
)


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
    printing.set_defaults(work=tables)
    asked = parser.parse_args()
    asked.work(asked)


if __name__ == "__main__":
    main()
