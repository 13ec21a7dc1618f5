"""Larger batches and higher learning rates in place of 200 and 0.001: accuracy, spread and CPU seconds of probes.

    python benchmarks/batches.py train LOG --seeds 10
    python benchmarks/batches.py table LOG > benchmarks/batches.md

The first command trains one probe for each case, seed and setting, with the same initial weights in all settings, and
appends a line of JSON for each to LOG; probes in LOG are not trained again. Sentence vectors are computed once.
"""

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import sqrt
from os import getloadavg, times
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import torch
from measure import describe_machine, format_table

from sentprobe.probes.classifier.fit import fit
from sentprobe.probes.classifier.presets import find_preset, override
from sentprobe.probes.datasets.dataset import ProbeDataset, Split
from sentprobe.probes.encoders.embedding import embed
from sentprobe.probes.encoders.encoder import Vectors
from sentprobe.probes.encoders.kinds import make_encoder
from sentprobe.probes.generated.assemble import build_task
from sentprobe.probes.statistics import student_quantile

MINILM = "st:all-MiniLM-L6-v2"
CASES = {
    "Content2Probe, bow (300)": ("Content2Probe", "bow"),
    "Order, BiLSTM (512)": ("Order", "bilstm-max?hidden=256"),
    "Order, BiLSTM (1,024)": ("Order", "bilstm-max"),
    "Order, MiniLM (384)": ("Order", MINILM),
    "SemRole, BiLSTM (512)": ("SemRole", "bilstm-max?hidden=256"),
    "Negation, MiniLM (384)": ("Negation", MINILM),
}
"""Task and encoder of each case, by its name."""
Setting = tuple[int, float]
"""Items of a batch, and learning rate."""
USUAL: Setting = (200, 0.001)
SETTINGS: tuple[Setting, ...] = (USUAL, (400, 0.002), (400, 0.003), (800, 0.004))
MIN_PAIRS = 3
"""Fewest paired seeds of a case in the tables."""
MAX_DIFFERENCE = 0.2
"""Largest change of a case's mean accuracy, in points, with which a setting could be the default."""
ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class TrainedProbe:
    """Accuracy in percent on the test items, CPU seconds in user mode, and passes of one probe."""

    case: str
    seed: int
    batch: int
    rate: float
    accuracy: float
    seconds: float
    passes: int
    load: float

    @property
    def setting(self) -> Setting:
        """The size of batches and the rate."""
        return self.batch, self.rate


def parse_setting(text: str) -> Setting:
    """Return the setting that a text such as ``400:0.002`` names."""
    batch, _, rate = text.partition(":")
    return int(batch), float(rate)


def read_log(log: Path) -> list[TrainedProbe]:
    """Return the probes in a log, in order; [] if there is none."""
    lines = log.read_text("utf-8").splitlines() if log.exists() else []
    return [TrainedProbe(**json.loads(line)) for line in lines]


def train_probe(data: ProbeDataset, vectors: Vectors, *, seed: int, setting: Setting) -> dict[str, Any]:
    """Train one probe; return its accuracy, CPU seconds and passes."""
    batch, rate = setting
    start = times().user
    (result,) = fit(
        vectors,
        train=data.splits[Split.TRAIN],
        test=data.splits[Split.TEST],
        words=len(data.probe_words),
        labels=len(data.labels),
        preset=override(find_preset("ettinger"), [("batch", str(batch)), ("learning_rate", str(rate))]),
        seeds=[seed],
    )
    return {"accuracy": 100 * result.accuracy, "seconds": times().user - start, "passes": result.epochs}


def train(arguments: argparse.Namespace) -> None:
    """Train the probes that the log lacks: of each seed, all cases and settings by turns."""
    known = {(probe.case, probe.seed, probe.setting) for probe in read_log(arguments.log)}
    inputs: dict[str, tuple[ProbeDataset, Vectors]] = {}
    for case, (task, spec) in CASES.items():
        data = build_task(task, train=4000, test=arguments.test)
        own_spec = f"st:{arguments.model}" if spec == MINILM and arguments.model else spec
        inputs[case] = data, embed(make_encoder(own_spec, seed=0), data.sentences)
    for seed in range(arguments.seeds):
        settings = arguments.settings[:: -1 if seed % 2 else 1]
        for case, setting in ((case, setting) for case in CASES for setting in settings):
            if (case, seed, setting) in known:
                continue
            names = {"case": case, "seed": seed, "batch": setting[0], "rate": setting[1]}
            probe = {**names, **train_probe(*inputs[case], seed=seed, setting=setting), "load": getloadavg()[0]}
            with arguments.log.open("a", encoding="utf-8") as out:
                out.write(json.dumps(probe) + "\n")


def select_pairs(
    probes: Sequence[TrainedProbe], case: str, setting: Setting
) -> Iterator[tuple[TrainedProbe, TrainedProbe]]:
    """Yield the probes of a case that were trained with the usual setting and with another, seed by seed."""
    table = {(probe.seed, probe.setting): probe for probe in probes if probe.case == case}
    for seed in sorted({seed for seed, _ in table}):
        if {(seed, USUAL), (seed, setting)} <= table.keys():
            yield table[seed, USUAL], table[seed, setting]


def format_case(case: str, pairs: Sequence[tuple[TrainedProbe, TrainedProbe]]) -> tuple[str, ...]:
    """Return the row of a case: accuracies, their paired difference with its 95% interval, spread, passes and time."""
    usual, other = zip(*pairs, strict=True)
    differences = [second.accuracy - first.accuracy for first, second in pairs]
    half = student_quantile(0.95, len(pairs) - 1) * stdev(differences) / sqrt(len(pairs))
    spreads = [stdev(probe.accuracy for probe in part) for part in (usual, other)]
    passes = [f"{mean(probe.passes for probe in part):.0f}" for part in (usual, other)]
    seconds = [sum(probe.seconds for probe in part) for part in (usual, other)]
    return (
        case,
        str(len(pairs)),
        f"{mean(probe.accuracy for probe in usual):.2f} ± {spreads[0]:.2f}",
        f"{mean(probe.accuracy for probe in other):.2f} ± {spreads[1]:.2f}",
        f"{mean(differences):+.2f} ± {half:.2f}",
        f"{spreads[1] / spreads[0]:.2f}" if spreads[0] else "",
        " to ".join(passes),
        f"{seconds[0] / len(pairs):.1f}",
        f"{seconds[1] / seconds[0]:.2f}",
    )


def print_table(arguments: argparse.Namespace) -> None:
    """Print Markdown: a table for each setting."""
    probes = read_log(arguments.log)
    loads = [probe.load for probe in probes]
    print("# Larger batches\n")
    print(describe_machine(["torch", "numpy"]), f"Load {min(loads):.1f} to {max(loads):.1f}.", METHOD_NOTE)
    header = ("task, encoder (dimensions)", "seeds", "200, 0.001: %", "%", "change", "spread", "passes", "CPU s", "CPU")
    for batch, rate in SETTINGS[1:]:
        pairs = {case: [*select_pairs(probes, case, (batch, rate))] for case in CASES}
        pairs = {case: case_pairs for case, case_pairs in pairs.items() if len(case_pairs) >= MIN_PAIRS}
        if pairs:
            rows = [format_case(case, case_pairs) for case, case_pairs in pairs.items()]
            print(f"## Batches of {batch}, rate {rate:g}\n\n{format_table(header, rows)}\n")
            print(describe_rule([*pairs.values()]) + "\n")


def describe_rule(cases: Sequence[Sequence[tuple[TrainedProbe, TrainedProbe]]]) -> str:
    """Return one sentence: in how many cases the mean holds, the mean ratio of spreads, and that of CPU seconds."""
    changes = [mean(second.accuracy - first.accuracy for first, second in pairs) for pairs in cases]
    held = sum(abs(change) <= MAX_DIFFERENCE + ROUNDING for change in changes)
    spreads = [[stdev(pair[place].accuracy for pair in pairs) for pairs in cases] for place in (0, 1)]
    seconds = [sum(pair[place].seconds for pairs in cases for pair in pairs) for place in (0, 1)]
    return (
        f"The mean is within {MAX_DIFFERENCE} points in {held} of {len(cases)} cases; over them, it changes by "
        f"{mean(changes):+.2f}. Mean spread {mean(spreads[0]):.2f} to {mean(spreads[1]):.2f}; CPU seconds "
        f"{seconds[1] / seconds[0]:.2f} times."
    )


METHOD_NOTE = """\
Preset `ettinger`, 4,000 training and 4,000 test items, one probe a fit, one thread.

    python benchmarks/batches.py train LOG --seeds 10
    python benchmarks/batches.py table LOG > benchmarks/batches.md

*%*: mean accuracy ± standard deviation over seeds. *Change*: mean difference of paired seeds (same initial weights and
data) ± half of its 95% interval (Student's t). *Spread*: ratio of the standard deviations. *CPU s*: user seconds of a
probe with 200 and 0.001; *CPU*: ratio to it.
"""


def main() -> None:
    """Train, or print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(required=True)
    training = commands.add_parser("train")
    training.add_argument("log", type=Path)
    training.add_argument("--seeds", type=int, default=10)
    training.add_argument("--test", type=int, default=4000, help="test items")
    training.add_argument(
        "--settings", nargs="+", type=parse_setting, default=SETTINGS, metavar="BATCH:RATE", help="of the probes"
    )
    training.add_argument("--model", help="the folder of all-MiniLM-L6-v2, if it is not to be downloaded")
    training.set_defaults(work=train)
    printing = commands.add_parser("table")
    printing.add_argument("log", type=Path)
    printing.set_defaults(work=print_table)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    arguments.work(arguments)


if __name__ == "__main__":
    main()
