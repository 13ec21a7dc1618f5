"""Where the CPU seconds of ``probe run compeval`` go, the limit of the fastest kernel, and scikit-learn beside it.

``python benchmarks/main_job.py > benchmarks/main_job.md`` runs the job in this process on one thread, without a cache.
``--seeds`` is the number of probes of each tool on Order.
"""

import argparse
import sys
import time
import warnings
from collections.abc import Sequence
from statistics import mean, stdev

START = time.process_time()
time.perf_counter = time.process_time  # results then store CPU seconds

import numpy as np  # noqa: E402
import torch  # noqa: E402
from measure import describe_machine, format_sections, format_table  # noqa: E402
from sklearn.neural_network import MLPClassifier  # noqa: E402
from threadpoolctl import threadpool_limits  # noqa: E402

from sentprobe.probes.classifier.devices import choose_precision, multiply  # noqa: E402
from sentprobe.probes.classifier.fit import fit  # noqa: E402
from sentprobe.probes.classifier.presets import find_preset  # noqa: E402
from sentprobe.probes.classifier.probe_bank import scale_to_tensor  # noqa: E402
from sentprobe.probes.datasets.dataset import ProbeDataset, Split  # noqa: E402
from sentprobe.probes.encoders.kinds import USUAL_ENCODERS, make_encoder  # noqa: E402
from sentprobe.probes.generated.assemble import build_task  # noqa: E402
from sentprobe.probes.results.result import Condition, Result  # noqa: E402
from sentprobe.probes.runs.run import run  # noqa: E402

PRESET = find_preset("ettinger")
CPU = torch.device("cpu")


def count_operations(result: Result, condition: Condition, *, words: int) -> float:
    """Return the operations of the first layer's products: forward, and the weights' gradient."""
    dim = 1 if condition is Condition.NO_SENTENCE else result.dim
    passes = sum(score.epochs for score in result.scores[condition].seeds)
    assert result.data is not None
    return 4.0 * passes * result.data.train * dim * (dim + words)


def measure_kernel(*, items: int = 200, dim: int = 512, width: int = 612, repeat: int = 300) -> float:
    """Return the operations per CPU second of a first layer's product, without casts."""
    precision = choose_precision(PRESET.precision, device=CPU)
    kind = torch.bfloat16 if precision.value == "bfloat16" else torch.float32
    left, right = torch.randn(items, dim).to(kind), torch.randn(dim, width).to(kind)
    multiply(left, right, precision=precision)
    start = time.process_time()
    for _ in range(repeat):
        torch.mm(left, right)
    return 2.0 * items * dim * width * repeat / (time.process_time() - start)


def measure_job() -> str:
    """Run the default job, and return the table of its stages."""
    imports = time.process_time() - START
    rate = measure_kernel()
    start = time.process_time()
    data = [build_task(task) for task in ("Content1Probe", "Content2Probe", "Order", "SemRole", "Negation")]
    building = time.process_time() - start
    results = run(data, USUAL_ENCODERS).records
    total = imports + time.process_time() - start
    slots = {task.name: task.slots * len(task.probe_words) for task in data}
    shared: set[object] = set()
    rows: dict[tuple[str, str], dict[str, float]] = {}
    encoding = {result.encoder: result.seconds["encoding"] for result in results}
    for result in results:
        for condition in result.scores:
            key = (result.task, result.seconds[condition.value])
            if key not in shared:  # fits that encoders or conditions share are trained once
                shared.add(key)
                row = rows.setdefault((result.encoder, condition.value), {"seconds": 0.0, "passes": 0.0, "limit": 0.0})
                row["seconds"] += result.seconds[condition.value]
                row["passes"] += sum(score.epochs for score in result.scores[condition].seeds)
                row["limit"] += count_operations(result, condition, words=slots[result.task]) / rate
    training = sum(row["seconds"] for row in rows.values())
    limit = sum(row["limit"] for row in rows.values())
    lines = [("imports", f"{imports:.1f}", "", ""), ("building five tasks", f"{building:.1f}", "", "")]
    lines += [(f"encoding, {name}", f"{seconds:.1f}", "", "") for name, seconds in encoding.items()]
    lines += [
        (f"{encoder}, {condition}", f"{row['seconds']:.1f}", f"{row['passes']:.0f}", f"{row['limit']:.1f}")
        for (encoder, condition), row in rows.items()
    ]
    lines.append(("other", f"{total - training - imports - building - sum(encoding.values()):.1f}", "", ""))
    lines.append(("all", f"{total:.1f}", "", f"{limit:.1f}"))
    return (
        f"One process, one thread. *Limit*: the products of the first layer alone, at {rate / 1e9:.0f} GFLOP per CPU "
        f"second, the rate of the kernel in this run. Training takes {training / limit:.1f} times the limit.\n\n"
        + format_table(("stage", "CPU s", "passes", "limit, CPU s"), lines)
    )


def measure_beside_sklearn(seeds: int) -> str:
    """Train probes on Order at 1,024 dimensions with both tools, by turns."""
    data = build_task("Order")
    vectors = np.asarray(make_encoder("bilstm-max", seed=0).encode(data.sentences), np.float32)
    train, test = (data.splits[split] for split in (Split.TRAIN, Split.TEST))
    scaled = scale_to_tensor(vectors, train.rows, scaling=PRESET.scaling).numpy()
    timings: dict[str, list[tuple[float, float]]] = {"sentprobe": [], "scikit-learn": []}
    for seed in range(seeds):
        start = time.process_time()
        (probe,) = fit(
            vectors, train=train, test=test, words=len(data.probe_words), labels=2, preset=PRESET, seeds=[seed]
        )
        timings["sentprobe"].append((time.process_time() - start, 100 * probe.accuracy))
        start = time.process_time()
        x, y = (join_inputs(scaled, data, split) for split in (Split.TRAIN, Split.TEST))
        model = MLPClassifier((x.shape[1],), max_iter=PRESET.max_epochs, random_state=seed).fit(x, train.targets)
        timings["scikit-learn"].append((time.process_time() - start, 100 * float(model.score(y, test.targets))))
        print(seed, {name: values[-1] for name, values in timings.items()}, file=sys.stderr, flush=True)
    seconds = {name: mean(value for value, _ in values) for name, values in timings.items()}
    rows = [
        (name, f"{seconds[name]:.1f}", describe_accuracies([accuracy for _, accuracy in values]))
        for name, values in timings.items()
    ]
    ratio = seconds["scikit-learn"] / seconds["sentprobe"]
    return (
        f"Untrained BiLSTM, 1,024 dimensions, {seeds} seeds by turns: {ratio:.1f} times as fast "
        f"({choose_precision(PRESET.precision, device=CPU)}).\n\n" + format_table(("", "CPU s", "accuracy %"), rows)
    )


def join_inputs(vectors: np.ndarray, data: ProbeDataset, split: Split) -> np.ndarray:
    """Return sentence vectors beside one-hot probe words, (n, dim + slots * words) float32."""
    items = data.splits[split]
    hots = [np.eye(len(data.probe_words), dtype=np.float32)[column] for column in items.probes.T]
    return np.hstack([vectors[items.rows], *hots])


def describe_accuracies(accuracies: Sequence[float]) -> str:
    """Return the mean, and the standard deviation of several."""
    spread = f" ± {stdev(accuracies):.2f}" if len(accuracies) > 1 else ""
    return f"{mean(accuracies):.2f}{spread}"


def main() -> None:
    """Print Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--parts", default="job,sklearn")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        parts = {
            "job": ("Where the time goes", measure_job),
            "sklearn": ("Beside scikit-learn", lambda: measure_beside_sklearn(arguments.seeds)),
        }
        print("# The main job, `probe run compeval`\n")
        print(describe_machine(["torch", "scikit-learn", "numpy"]), "Made by `python benchmarks/main_job.py`.\n")
        for part in arguments.parts.split(","):
            name, measure = parts[part]
            print(format_sections({name: measure()}) + "\n", flush=True)


if __name__ == "__main__":
    main()
