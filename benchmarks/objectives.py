"""Gain of training an encoder by each objective over a head on the untrained encoder.

    python benchmarks/objectives.py [--minutes M | --steps N] [--objective NAME ...] [--novels FILE]
        [--parallel TEXTS TRANSLATIONS] > benchmarks/objectives.md

The control is an equal head over the same untrained, frozen encoder, trained for as many CPU minutes or steps. At ten
minutes, all objectives take two hours and a half. The autoencoders and skipthought learn from the novels in
shared/data, or FILE; without them from generated sentences, as the others do. nmt learns from the files of --parallel
(two aligned files, for example), or is left out.
"""

import argparse
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from measure import describe_machine

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from helpers.shared import SHARED
from helpers.trainings.frozen_controls import Comparison, compare
from helpers.trainings.generated_texts import GENERATED, Drawing

from sentprobe.probes.encoders.architecture import DEFAULT_LAYERS, Architecture
from sentprobe.probes.runs.encoder_training import TrainingPlan, read_texts
from sentprobe.probes.training import devices_and_precision, loop
from sentprobe.probes.training.corpora import Sentences
from sentprobe.probes.training.objective import Validation
from sentprobe.probes.training.objective_options import ObjectiveOptions
from sentprobe.probes.training.objective_plans import ObjectivePlan
from sentprobe.probes.training.objectives import OBJECTIVES, TextKind
from sentprobe.probes.training.schedule import Limits, StepInterval, TrainingPreset
from sentprobe.probes.training.text_filters import TextOptions

NOVELS = SHARED / "novels" / "sentences-5-28.txt.xz"
HEADER = (
    "objective", "texts", "metric", "untrained", "frozen encoder", "trained encoder",
    "steps, frozen", "steps, trained", "CPU minutes",
)  # fmt: skip
UNTOLD = "no translations were given (--parallel)"


def make_plan(name: str, arguments: argparse.Namespace, folder: Path) -> TrainingPlan:
    """Return the plan of an objective's training."""
    parallel = OBJECTIVES[name].texts is TextKind.PARALLEL
    limits = Limits(steps=arguments.steps) if arguments.steps else Limits()
    optimizer = TrainingPreset().choose_optimizer(arguments.architecture)
    return TrainingPlan(
        name=name,
        objectives=(ObjectivePlan(objective=name, **find_files(name, arguments)),),
        text_options=TextOptions() if parallel else TextOptions(tokenised=True, longest=arguments.longest),
        architecture=Architecture(kind=arguments.architecture, hidden=arguments.hidden, inputs=arguments.inputs),
        words=20_000,
        options=ObjectiveOptions(
            batch=arguments.batch, codes=arguments.codes, decoder_hidden=arguments.decoder, seed=arguments.seed
        ),
        settings=loop.TrainingSettings(
            seed=arguments.seed,
            optimizer=replace(optimizer, rate=arguments.rate or optimizer.rate),
            limits=limits,
            validate_every=StepInterval(arguments.every),
        ),
        out=folder / name,
    )


def find_files(name: str, arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the text files of an objective's plan; none if texts are generated."""
    kind = OBJECTIVES[name].texts
    if kind is TextKind.PARALLEL and arguments.parallel:
        corpus, parallel = arguments.parallel
        return {"corpus": (corpus,), "parallel": parallel}
    novels = kind is TextKind.SENTENCES and arguments.novels.exists()
    return {"corpus": (arguments.novels,) if novels else ()}


def load_texts(plan: TrainingPlan, arguments: argparse.Namespace) -> Any:
    """Return the training texts of an objective; of novels, the first sentences."""
    if not plan.objectives[0].corpus:
        drawing = Drawing(items=arguments.items, template=arguments.template, vocabulary="english", seed=arguments.seed)
        return GENERATED[plan.objective](drawing)
    texts = read_texts(plan)[plan.objective]
    return first(texts, arguments.items) if isinstance(texts, Sentences) else texts


def first(texts: Sentences, count: int) -> Sentences:
    """Return at most *count* sentences from the beginning."""
    documents = tuple(start for start in texts.documents if start < count)
    return replace(texts, texts=texts.texts[:count], documents=documents)


def measure_rows(arguments: argparse.Namespace) -> Iterator[tuple[str, ...]]:
    """Yield the row of each objective."""
    for name in arguments.objective or GENERATED:
        if OBJECTIVES[name].texts is TextKind.PARALLEL and not arguments.parallel:
            yield (name, UNTOLD, *[""] * (len(HEADER) - 2))
            continue
        with TemporaryDirectory() as folder:
            plan = make_plan(name, arguments, Path(folder))
            texts = load_texts(plan, arguments)
            minutes = None if arguments.steps else arguments.minutes
            yield name, str(texts), *format_cells(compare(plan, texts, minutes=minutes))


def format_cells(comparison: Comparison) -> Iterator[str]:
    """Yield the cells of a comparison."""
    yield comparison.untrained.metric
    yield from map(format_figure, (comparison.untrained, comparison.frozen.best, comparison.trained.best))
    yield from (f"{training.steps:,}" for training in (comparison.frozen, comparison.trained))
    yield ", ".join(f"{training.minutes:.1f}" for training in (comparison.frozen, comparison.trained))


def format_figure(validation: Validation) -> str:
    """Return the metric and the loss as text."""
    value = f"{validation.value:.1%}" if validation.metric == "accuracy" else f"{validation.value:.1f}"
    return f"{value} ({validation.loss:.2f})"


def describe_run(args: argparse.Namespace) -> str:
    """Describe the measurement."""
    precision = devices_and_precision.choose_precision(devices_and_precision.TrainingMachine()).value
    until = f"{args.steps} steps" if args.steps else f"{args.minutes:g} min of CPU time"
    return (
        f"{describe_machine(['torch'])} {args.architecture} of {args.hidden} units in "
        f"{precision}, word "
        f"vectors of {args.inputs}; decoders of 2 x {args.decoder} units, {args.codes:,} codes; "
        f"batches of {args.batch}. At most {args.items:,} items are generated (template "
        f"{args.template}, vocabulary english) or taken from novels (sentences of at most "
        f"{args.longest} tokens). Training ends after {until}, its validations counted, of which "
        f"there is one every {args.every} steps; the best is shown. One seed, {args.seed}. A "
        "figure has the loss in nats behind it. Made by `python benchmarks/objectives.py`."
    )


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ends = parser.add_mutually_exclusive_group()
    ends.add_argument("--minutes", type=float, default=10.0, help="of the processor, each (10)")
    ends.add_argument("--steps", type=int, help="in place of minutes")
    parser.add_argument("--objective", action="append", choices=[*GENERATED])
    parser.add_argument("--novels", type=Path, default=NOVELS, metavar="FILE")
    parser.add_argument("--parallel", type=Path, nargs=2, metavar=("TEXTS", "TRANSLATIONS"))
    parser.add_argument("--architecture", choices=[*DEFAULT_LAYERS], default="bilstm-max")
    parser.add_argument("--template", default="transitive", help="of generated sentences")
    parser.add_argument("--rate", type=float, help="of the optimizer; none: its usual one")
    numbers = {"hidden": 256, "inputs": 128, "decoder": 512, "codes": 4000, "batch": 128}
    numbers |= {"items": 50_000, "longest": 12, "every": 100, "seed": 1}
    for name, usual in numbers.items():
        parser.add_argument(f"--{name}", type=int, default=usual, help=f"({usual})")
    return parser.parse_args()


def main() -> None:
    """Print the table, row by row."""
    arguments = parse_arguments()
    torch.set_num_threads(1)
    print("# What training an encoder is worth\n")
    print(describe_run(arguments), end="\n\n")
    for row in (HEADER, (":---", ":---", ":---", *["---:"] * (len(HEADER) - 3))):
        print("| " + " | ".join(row) + " |", flush=True)
    for row in measure_rows(arguments):
        print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()
