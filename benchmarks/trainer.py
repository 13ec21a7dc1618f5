"""The trainer against the field's usual tools: CPU seconds and accuracy on the same data.

``python benchmarks/trainer.py > benchmarks/trainer.md`` runs all cases, each in both tools, on one
thread. ``--cases a,c`` picks some; ``--seeds`` and ``--points`` say how many fits of the slow tools
are really run: of their 45 fits in (b), the time of those not run is extrapolated, and said so.
"""

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, stdev

import numpy as np
import torch
from measure import machine, sections, table
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from threadpoolctl import threadpool_limits
from torch import Tensor, nn

from sentprobe.probes.dataset import Items
from sentprobe.probes.encoders import Vectors, make_encoder
from sentprobe.probes.trainer.classifier import Preset, Scaling
from sentprobe.probes.trainer.fit import Fit, fit
from sentprobe.probes.trainer.presets import find_preset, override
from sentprobe.probes.trainer.scaling import scaled

PUBLISHED = Path(__file__).resolve().parents[2] / "shared/data/compeval/published/sr"


@dataclass(frozen=True, slots=True)
class Asked:
    """What the command line asks for."""

    device: str
    seeds: int
    points: int
    precisions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Data:
    """Vectors (sentences, dim) float32 and items."""

    vectors: Vectors
    train: Items
    validation: Items | None
    test: Items
    words: int

    def inputs(self, items: Items) -> Vectors:
        """Return the inputs written out for other tools, (n, dim + slots * words) float32."""
        hots = [np.eye(self.words, dtype=np.float32)[column] for column in items.probes.T]
        return np.hstack([self.vectors[items.rows], *hots])


@dataclass(frozen=True, slots=True)
class Timed:
    """CPU seconds, and accuracies in percent."""

    seconds: float
    accuracies: tuple[float, ...]
    note: str = ""

    def row(self, name: str) -> tuple[str, ...]:
        """Return a row of a table."""
        spread = f" ± {stdev(self.accuracies):.2f}" if len(self.accuracies) > 1 else ""
        return (name, f"{self.seconds:.2f}", f"{mean(self.accuracies):.2f}{spread}", self.note)


HEADER = ("", "CPU s", "accuracy %", "")


def ours(data: Data, preset: Preset, *, seeds: int, device: str) -> tuple[float, tuple[Fit, ...]]:
    """Fit, and return the CPU seconds of all seeds together (on a GPU: wall-clock seconds)."""
    clock = time.process_time if device == "cpu" else time.perf_counter
    start = clock()
    fits = fit(
        data.vectors,
        train=data.train,
        validation=data.validation,
        test=data.test,
        words=data.words,
        labels=2,
        preset=preset,
        seeds=range(seeds),
        device=device,
    )
    return clock() - start, fits


def percent(fits: Sequence[Fit]) -> tuple[float, ...]:
    return tuple(100 * each.accuracy for each in fits)


def published() -> Data:
    """Return the published SemRole data under an untrained BiLSTM, 2,400 wide, at length 1."""
    train, test = (_lines(PUBLISHED / f"{split}.txt") for split in ("train", "test"))
    sentences = list(dict.fromkeys(line[2] for line in train + test))
    words = sorted({word for line in train + test for word in line[3:5]})
    encoder = make_encoder("bilstm-max?hidden=1200", seed=0)

    def items(lines: list[list[str]]) -> Items:
        rows = [sentences.index(line[2]) for line in lines]
        probes = [[words.index(word) for word in line[3:5]] for line in lines]
        return Items(
            np.array(rows), np.array(probes), np.array([x[0] == "TRUE" for x in lines]) * 1
        )

    learn = items(train)
    vectors = scaled(encoder.encode(sentences), learn.rows, scaling=Scaling.UNIT)
    return Data(vectors, learn, None, items(test), len(words))


def _lines(path: Path) -> list[list[str]]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines if line.strip()]


def case_a(asked: Asked) -> str:
    """4,000 x 2,428, a hidden layer as wide, against MLPClassifier."""
    data = published()
    preset = override(find_preset("ettinger"), [("scaling", "as-is")])
    ways = [(f"sentprobe, {name}", [("precision", name)]) for name in asked.precisions]
    ways.append(("sentprobe, ended at a loss below 0.01", [("enough", "0.01")]))
    rows: list[tuple[str, ...]] = []
    for name, options in ways:
        try:
            seconds, fits = ours(
                data, override(preset, options), seeds=asked.seeds, device=asked.device
            )
        except ValueError as error:
            rows.append((name, "", "", str(error)))
            continue
        passes = f"passes: {', '.join(str(each.epochs) for each in fits)}; {fits[0].precision}"
        rows.append(Timed(seconds / asked.seeds, percent(fits), passes).row(name))
        print(rows[-1], file=sys.stderr, flush=True)
    rows.append(_sklearn_mlp(data, asked).row("scikit-learn MLPClassifier"))
    return (
        "Published SemRole data (4,002 and 1,000 items, 14 + 14 one-hot probe words) under an "
        "untrained BiLSTM of 2 x 1,200, scaled to mean length 1 for both tools. CPU seconds per "
        f"fit; {asked.seeds} seeds, in sentprobe side by side, in the other one by one. All "
        "end training by scikit-learn's rule; one row also when a pass's loss is below 0.01. What "
        "that gives up elsewhere: [stopping.md](stopping.md).\n\n" + table(HEADER, rows)
    )


def _sklearn_mlp(data: Data, asked: Asked) -> Timed:
    x, y = data.inputs(data.train), data.inputs(data.test)
    found, passes = [], []
    start = time.process_time()
    for seed in range(asked.seeds):
        model = MLPClassifier((x.shape[1],), max_iter=700, random_state=seed)
        model.fit(x, data.train.targets)
        found.append(100 * float(model.score(y, data.test.targets)))
        passes.append(str(model.n_iter_))
        note = f"scikit-learn, seed {seed}: {model.n_iter_} passes, {found[-1]:.2f}%"
        print(note, f"{time.process_time() - start:.0f} s in all", file=sys.stderr, flush=True)
    seconds = (time.process_time() - start) / asked.seeds
    return Timed(seconds, tuple(found), f"passes: {', '.join(passes)}")


def synthetic(
    *, seed: int = 0, test: int = 100_000, condition: float = 1.0, linear: bool = False
) -> Data:
    """Return 100,000 training, 10,000 validation and so many test items in 300 dimensions.

    With 100,000 test items accuracies are 0.1 points apart by chance.

    *condition*: the widest direction's standard deviation divided by the narrowest's.
    """
    generator = np.random.default_rng(seed)
    plain = generator.standard_normal((110_000 + test, 300), dtype=np.float32)
    if linear:
        score = plain @ generator.standard_normal(300) / 8
    else:
        teacher = generator.standard_normal((300, 20))
        score = 2 * np.tanh(plain @ teacher / 10) @ generator.standard_normal(20)
    labels = (score + generator.logistic(size=len(plain)) > 0).astype(np.int64)
    vectors = plain if condition == 1 else _squeezed(plain, condition, generator)
    cuts = np.split(np.arange(len(plain)), [100_000, 110_000])
    none = np.zeros((len(plain), 0), dtype=np.int64)
    train, validation, asked = (Items(rows, none[rows], labels[rows]) for rows in cuts)
    return Data(vectors, train, validation, asked, 0)


def _squeezed(plain: Vectors, condition: float, generator: np.random.Generator) -> Vectors:
    left, right = (np.linalg.qr(generator.standard_normal((300, 300)))[0] for _ in range(2))
    squeezed: NDArray[np.float64] = plain @ (left * np.geomspace(1, 1 / condition, 300) @ right)
    return squeezed.astype(np.float32)


FRESH = (1, 2)
"""Data for (b); the values of `conneau` that are ours were chosen on that of seed 0."""


def case_b(asked: Asked) -> str:
    """100,000 x 300, the 45 fits of the conneau grid, against the same one by one in PyTorch."""
    parts = [f"Data of seed {seed}.\n\n" + _grid(synthetic(seed=seed), asked) for seed in FRESH]
    return "\n\n".join(
        [
            "Synthetic, two labels, made by a network of 20 tanh units and noise; 100,000 test "
            "items. PyTorch: SentEval's way of training (batches of 64, checks every 4 passes, "
            "the sixth without improvement ends it), one probe at a time, its usual modules and "
            "optimizer. The batch, rate and patience of `conneau` were chosen on data of another "
            "seed. Two probes that differ in their first weights only are up to 0.5 points apart.",
            *parts,
        ]
    )


def _grid(data: Data, asked: Asked) -> str:
    seconds, fits = ours(data, find_preset("conneau"), seeds=1, device=asked.device)
    chosen = fits[0].chosen
    note = f"chosen: {_settings(chosen)}; {fits[0].precision}"
    rows = [Timed(seconds, percent(fits), note).row("sentprobe, 45 fits side by side")]
    print(rows[-1], file=sys.stderr, flush=True)
    others = [
        {"hidden": 100, "dropout": 0.0, "l2": 1e-3},
        {"hidden": 200, "dropout": 0.1, "l2": 1e-5},
    ]
    points = [dict(chosen), *(point for point in others if point != chosen)][: asked.points]
    measured = []
    for point in points:
        measured.append(_plain_pytorch(data, **point))
        rows.append(measured[-1].row(f"PyTorch, {_settings(point)}"))
        print(rows[-1], file=sys.stderr, flush=True)
    total = mean(each.seconds for each in measured) * 45
    note = f"{asked.points} fits measured, the other {45 - asked.points} extrapolated"
    rows.append(
        ("PyTorch, 45 fits", f"{total:.0f}", "", f"{note}; {total / seconds:.0f} times ours")
    )
    return table(HEADER, rows)


def _settings(point: object) -> str:
    assert isinstance(point, dict)
    return ", ".join(f"{name} {value:g}" for name, value in point.items())


def _plain_pytorch(data: Data, *, hidden: float, dropout: float, l2: float) -> Timed:
    torch.manual_seed(0)
    start = time.process_time()
    model = nn.Sequential(
        nn.Linear(300, int(hidden)), nn.Dropout(dropout), nn.Sigmoid(), nn.Linear(int(hidden), 2)
    )
    optimizer = torch.optim.Adam(model.parameters(), weight_decay=l2)
    assert data.validation is not None
    train, validation, test = (
        (torch.from_numpy(data.vectors[items.rows]), torch.from_numpy(items.targets.copy()))
        for items in (data.train, data.validation, data.test)
    )
    best, result, misses, passes = 0.0, 0.0, 0, 0
    while misses <= 5 and passes <= 200:
        for _ in range(4):
            _plain_pass(model, optimizer, *train)
        passes += 4
        if (found := _plain_accuracy(model, *validation)) > best:
            best, result = found, _plain_accuracy(model, *test)
        else:
            misses += 1
    return Timed(time.process_time() - start, (100 * result,), f"passes: {passes}")


def _plain_pass(
    model: nn.Module, optimizer: torch.optim.Optimizer, inputs: Tensor, targets: Tensor
) -> None:
    model.train()
    for batch in torch.randperm(len(inputs)).split(64):  # type: ignore[no-untyped-call]
        loss = nn.functional.cross_entropy(model(inputs[batch]), targets[batch])
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()


def _plain_accuracy(model: nn.Module, inputs: Tensor, targets: Tensor) -> float:
    model.eval()
    with torch.inference_mode():
        return float((model(inputs).argmax(dim=1) == targets).double().mean())


def case_c(asked: Asked) -> str:
    """Logistic regression on 100,000 x 300, against scikit-learn."""
    rows = []
    for name, condition in (("well-conditioned", 1.0), ("condition 10,000", 1e4)):
        data = synthetic(condition=condition, linear=True, test=10_000)
        seconds, fits = min(
            (ours(data, find_preset("logreg"), seeds=1, device=asked.device) for _ in range(3)),
            key=lambda pair: pair[0],
        )
        note = f"{fits[0].epochs} iterations, gradient {fits[0].gradient:.0e}"
        rows.append(Timed(seconds, percent(fits), note).row(f"sentprobe, {name}"))
        for limit in (100, 1000):
            rows.append(_sklearn_logreg(data, limit).row(f"scikit-learn, {name}, max_iter={limit}"))
    return "Synthetic, two labels, C = 1 in both tools.\n\n" + table(HEADER, rows)


def _sklearn_logreg(data: Data, limit: int) -> Timed:
    x, y = data.vectors[data.train.rows], data.vectors[data.test.rows]
    start = time.process_time()
    model = LogisticRegression(max_iter=limit).fit(x, data.train.targets)
    seconds = time.process_time() - start
    iterations = int(model.n_iter_[0])
    end = ", not converged" if iterations >= limit else ""
    accuracy = 100 * float(model.score(y, data.test.targets))
    return Timed(seconds, (accuracy,), f"{iterations} iterations{end}")


CASES: dict[str, tuple[str, Callable[[Asked], str]]] = {
    "a": ("A wide hidden layer", case_a),
    "b": ("A grid", case_b),
    "c": ("Logistic regression", case_c),
}


def main() -> None:
    """Run the cases and print Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("--device", default="cpu", help="for sentprobe; the others use the CPU")
    parser.add_argument("--seeds", type=int, default=5, help="fits of each tool in (a)")
    parser.add_argument(
        "--points", type=int, default=3, help="fits of plain PyTorch in (b), 1 to 3"
    )
    parser.add_argument("--precisions", default="bfloat16,float32", help="of sentprobe in (a)")
    given = parser.parse_args()
    precisions = tuple(given.precisions.split(","))
    asked = Asked(given.device, given.seeds, given.points, precisions)
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")  # scikit-learn's, when it reaches its limit
    torch.optim.Adam([torch.zeros(1)])  # so that no case pays for the import of torch.optim
    print("# The trainer against other tools\n")
    print(machine(["torch", "scikit-learn", "numpy", "scipy"]), f"Device: {asked.device}.\n")
    with threadpool_limits(1):
        for case in given.cases.split(","):  # each as soon as it is there: they take long
            name, measure = CASES[case]
            print(sections({f"({case}) {name}": measure(asked)}) + "\n", flush=True)


if __name__ == "__main__":
    main()
