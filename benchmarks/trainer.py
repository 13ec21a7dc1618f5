"""The trainer against the field's usual tools: CPU seconds and accuracy on the same data.

``python benchmarks/trainer.py > benchmarks/trainer.md`` runs all cases, each in both tools, on one thread. ``--cases
a,c`` picks some; ``--seeds`` and ``--points`` say how many fits of the slow tools are really run: of their 45 fits in
(b), the time of the others is extrapolated, with a note.
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
from measure import describe_machine, format_sections, format_table
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from threadpoolctl import threadpool_limits
from torch import Tensor, nn

from sentprobe.probes.classifier.fit import Fit, fit
from sentprobe.probes.classifier.presets import find_preset, override
from sentprobe.probes.classifier.probe import Preset, Scaling
from sentprobe.probes.classifier.probe_bank import scale_to_tensor
from sentprobe.probes.datasets.dataset import Items
from sentprobe.probes.encoders.encoder import Vectors
from sentprobe.probes.encoders.kinds import make_encoder

PUBLISHED = Path(__file__).resolve().parents[2] / "shared/data/compeval/published/sr"


@dataclass(frozen=True, slots=True)
class Request:
    """Options of the command line."""

    device: str
    seeds: int
    points: int
    precisions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Data:
    """Vectors of shape (sentences, dim), float32, with the items of each split."""

    vectors: Vectors
    train: Items
    validation: Items | None
    test: Items
    words: int

    def inputs(self, items: Items) -> Vectors:
        """Return the inputs as one matrix for other tools, (n, dim + slots * words) float32."""
        hots = [np.eye(self.words, dtype=np.float32)[column] for column in items.probes.T]
        return np.hstack([self.vectors[items.rows], *hots])


@dataclass(frozen=True, slots=True)
class Timing:
    """CPU seconds, and accuracies in percent."""

    seconds: float
    accuracies: tuple[float, ...]
    note: str = ""

    def row(self, name: str) -> tuple[str, ...]:
        """Return a row of a table."""
        spread = f" ± {stdev(self.accuracies):.2f}" if len(self.accuracies) > 1 else ""
        return (name, f"{self.seconds:.2f}", f"{mean(self.accuracies):.2f}{spread}", self.note)


HEADER = ("", "CPU s", "accuracy %", "")


def time_fit(data: Data, preset: Preset, *, seeds: int, device: str) -> tuple[float, tuple[Fit, ...]]:
    """Fit; return the CPU seconds of all seeds (on a GPU: wall-clock seconds) and the fits."""
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


def list_percentages(fits: Sequence[Fit]) -> tuple[float, ...]:
    return tuple(100 * result.accuracy for result in fits)


def read_published() -> Data:
    """Return the published SemRole data with vectors of an untrained BiLSTM (2,400 wide)."""
    train, test = (_read_lines(PUBLISHED / f"{split}.txt") for split in ("train", "test"))
    sentences = list(dict.fromkeys(line[2] for line in train + test))
    words = sorted({word for line in train + test for word in line[3:5]})
    encoder = make_encoder("bilstm-max?hidden=1200", seed=0)

    def items(lines: list[list[str]]) -> Items:
        rows = [sentences.index(line[2]) for line in lines]
        probes = [[words.index(word) for word in line[3:5]] for line in lines]
        return Items(np.array(rows), np.array(probes), np.array([x[0] == "TRUE" for x in lines]) * 1)

    train_items = items(train)
    vectors = scale_to_tensor(encoder.encode(sentences), train_items.rows, scaling=Scaling.UNIT).numpy()
    return Data(vectors, train_items, None, items(test), len(words))


def _read_lines(path: Path) -> list[list[str]]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines if line.strip()]


def measure_case_a(request: Request) -> str:
    """4,000 x 2,428, a hidden layer as wide, against MLPClassifier."""
    data = read_published()
    preset = override(find_preset("ettinger"), [("scaling", "as-is")])
    ways = [(f"sentprobe, {name}", [("precision", name)]) for name in request.precisions]
    ways.append(("sentprobe, loss below 0.01", [("enough", "0.01")]))
    rows: list[tuple[str, ...]] = []
    for name, options in ways:
        try:
            seconds, fits = time_fit(data, override(preset, options), seeds=request.seeds, device=request.device)
        except ValueError as error:
            rows.append((name, "", "", str(error)))
            continue
        note = fits[0].precision
        rows.append(Timing(seconds / request.seeds, list_percentages(fits), note).row(name))
        print(rows[-1], file=sys.stderr, flush=True)
    rows.append(_time_sklearn_mlp(data, request).row("scikit-learn MLPClassifier"))
    return (
        "Published SemRole data (4,002 and 1,000 items), untrained BiLSTM of 2 x 1,200, scaled to "
        f"mean length 1. CPU seconds per fit; {request.seeds} seeds. All stop by scikit-learn's "
        "rule; where a row says so, [also at a loss below 0.01](stopping.md).\n\n" + format_table(HEADER, rows)
    )


def _time_sklearn_mlp(data: Data, request: Request) -> Timing:
    x, y = data.inputs(data.train), data.inputs(data.test)
    accuracies = []
    start = time.process_time()
    for seed in range(request.seeds):
        model = MLPClassifier((x.shape[1],), max_iter=700, random_state=seed)
        model.fit(x, data.train.targets)
        accuracies.append(100 * float(model.score(y, data.test.targets)))
        note = f"scikit-learn, seed {seed}: {model.n_iter_} passes, {accuracies[-1]:.2f}%"
        print(note, f"{time.process_time() - start:.0f} s in all", file=sys.stderr, flush=True)
    seconds = (time.process_time() - start) / request.seeds
    return Timing(seconds, tuple(accuracies))


def make_synthetic_data(*, seed: int = 0, test: int = 100_000, condition: float = 1.0, linear: bool = False) -> Data:
    """Return 100,000 training, 10,000 validation and the other test items in 300 dimensions.

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
    vectors = plain if condition == 1 else _squeeze(plain, condition, generator)
    cuts = np.split(np.arange(len(plain)), [100_000, 110_000])
    none = np.zeros((len(plain), 0), dtype=np.int64)
    train, validation, test_items = (Items(rows, none[rows], labels[rows]) for rows in cuts)
    return Data(vectors, train, validation, test_items, 0)


def _squeeze(plain: Vectors, condition: float, generator: np.random.Generator) -> Vectors:
    left, right = (np.linalg.qr(generator.standard_normal((300, 300)))[0] for _ in range(2))
    squeezed: NDArray[np.float64] = plain @ (left * np.geomspace(1, 1 / condition, 300) @ right)
    return squeezed.astype(np.float32)


FRESH_SEEDS = (1, 2)
"""Seeds of the data for (b); our own values of `conneau` were chosen on seed 0."""


def measure_case_b(request: Request) -> str:
    """100,000 x 300, the 45 fits of the conneau grid, against single fits in PyTorch."""
    rows = [row for seed in FRESH_SEEDS for row in _time_grid(make_synthetic_data(seed=seed), request, seed)]
    return (
        "Synthetic data, two labels, 100,000 training and test items. PyTorch trains as SentEval "
        "does, one probe at a time.\n\n" + format_table(HEADER, rows)
    )


def _time_grid(data: Data, request: Request, seed: int) -> list[tuple[str, ...]]:
    seconds, fits = time_fit(data, find_preset("conneau"), seeds=1, device=request.device)
    chosen = fits[0].grid_values
    note = f"chosen: {_format_settings(chosen)}; {fits[0].precision}"
    rows = [Timing(seconds, list_percentages(fits), note).row(f"seed {seed}: sentprobe, 45 fits")]
    print(rows[-1], file=sys.stderr, flush=True)
    other_rows = [{"hidden": 100, "dropout": 0.0, "l2": 1e-3}, {"hidden": 200, "dropout": 0.1, "l2": 1e-5}]
    points = [dict(chosen), *(point for point in other_rows if point != chosen)][: request.points]
    timings = []
    for point in points:
        timings.append(_time_pytorch(data, **point))
        rows.append(timings[-1].row(f"PyTorch, {_format_settings(point)}"))
        print(rows[-1], file=sys.stderr, flush=True)
    total = mean(timed.seconds for timed in timings) * 45
    note = f"extrapolated from {request.points}; {total / seconds:.0f} times ours"
    return [*rows, ("PyTorch, 45 fits", f"{total:.0f}", "", note)]


def _format_settings(point: object) -> str:
    assert isinstance(point, dict)
    return ", ".join(f"{name} {value:g}" for name, value in point.items())


def _time_pytorch(data: Data, *, hidden: float, dropout: float, l2: float) -> Timing:
    torch.manual_seed(0)
    start = time.process_time()
    model = nn.Sequential(nn.Linear(300, int(hidden)), nn.Dropout(dropout), nn.Sigmoid(), nn.Linear(int(hidden), 2))
    optimizer = torch.optim.Adam(model.parameters(), weight_decay=l2)
    assert data.validation is not None
    train, validation, test = (
        (torch.from_numpy(data.vectors[items.rows]), torch.from_numpy(items.targets.copy()))
        for items in (data.train, data.validation, data.test)
    )
    best, result, misses, passes = 0.0, 0.0, 0, 0
    while misses <= 5 and passes <= 200:
        for _ in range(4):
            _train_pass(model, optimizer, *train)
        passes += 4
        if (accuracy := _measure_accuracy(model, *validation)) > best:
            best, result = accuracy, _measure_accuracy(model, *test)
        else:
            misses += 1
    return Timing(time.process_time() - start, (100 * result,))


def _train_pass(model: nn.Module, optimizer: torch.optim.Optimizer, inputs: Tensor, targets: Tensor) -> None:
    model.train()
    for batch in torch.randperm(len(inputs)).split(64):  # type: ignore[no-untyped-call]
        loss = nn.functional.cross_entropy(model(inputs[batch]), targets[batch])
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()


def _measure_accuracy(model: nn.Module, inputs: Tensor, targets: Tensor) -> float:
    model.eval()
    with torch.inference_mode():
        return float((model(inputs).argmax(dim=1) == targets).double().mean())


def measure_case_c(request: Request) -> str:
    """Logistic regression on 100,000 x 300, against scikit-learn."""
    rows = []
    for name, condition in (("well-conditioned", 1.0), ("condition 10,000", 1e4)):
        data = make_synthetic_data(condition=condition, linear=True, test=10_000)
        seconds, fits = min(
            (time_fit(data, find_preset("logreg"), seeds=1, device=request.device) for _ in range(3)),
            key=lambda pair: pair[0],
        )
        note = f"{fits[0].epochs} iterations, gradient {fits[0].gradient:.0e}"
        rows.append(Timing(seconds, list_percentages(fits), note).row(f"sentprobe, {name}"))
        for limit in (100, 1000):
            rows.append(_time_sklearn_logreg(data, limit).row(f"scikit-learn, {name}, max_iter={limit}"))
    return "Synthetic data, two labels, C = 1.\n\n" + format_table(HEADER, rows)


def _time_sklearn_logreg(data: Data, limit: int) -> Timing:
    x, y = data.vectors[data.train.rows], data.vectors[data.test.rows]
    start = time.process_time()
    model = LogisticRegression(max_iter=limit).fit(x, data.train.targets)
    seconds = time.process_time() - start
    iterations = int(model.n_iter_[0])
    end = ", not converged" if iterations >= limit else ""
    accuracy = 100 * float(model.score(y, data.test.targets))
    return Timing(seconds, (accuracy,), f"{iterations} iterations{end}")


CASES: dict[str, tuple[str, Callable[[Request], str]]] = {
    "a": ("A wide hidden layer", measure_case_a),
    "b": ("A grid", measure_case_b),
    "c": ("Logistic regression", measure_case_c),
}


def main() -> None:
    """Run the cases and print Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("--device", default="cpu", help="device of sentprobe; other tools use the CPU")
    parser.add_argument("--seeds", type=int, default=5, help="fits of each tool in (a)")
    parser.add_argument("--points", type=int, default=3, help="fits of plain PyTorch in (b), 1 to 3")
    parser.add_argument("--precisions", default="bfloat16,float32", help="precisions of sentprobe in (a)")
    arguments = parser.parse_args()
    precisions = tuple(arguments.precisions.split(","))
    request = Request(arguments.device, arguments.seeds, arguments.points, precisions)
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")  # of scikit-learn at its iteration limit
    torch.optim.Adam([torch.zeros(1)])  # import torch.optim before timing
    print("# The trainer against other tools\n")
    print(describe_machine(["torch", "scikit-learn", "numpy", "scipy"]), f"Device: {request.device}.")
    print("Made by `python benchmarks/trainer.py`.\n")
    with threadpool_limits(1):
        for case in arguments.cases.split(","):  # print each case at once, since they take long
            name, measure = CASES[case]
            print(format_sections({f"({case}) {name}": measure(request)}) + "\n", flush=True)


if __name__ == "__main__":
    main()
