"""What training an encoder by each objective is worth, beside a head over the encoder as drawn.

    python benchmarks/objectives.py [--minutes M | --steps N] [--objective NAME ...] [--novels FILE]
        [--parallel TEXTS TRANSLATIONS] > benchmarks/objectives.md

An encoder and its head are trained, and beside them such a head over the same encoder, which stays
as it was drawn: for as many minutes of the processor each, or as many steps. So all objectives take
two hours and a half at ten minutes. The auto-encoders and skipthought learn from the novels in
shared/data, or FILE; where there are none from sentences of the generator, as the others do. nmt
learns from the files that --parallel names (two modules of SWORD, for example), or is left out.
"""

import argparse
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from measure import machine

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from frozen_controls import Comparison, compare
from generated_texts import GENERATED, Drawing
from shared import SHARED

from sentprobe.probes.encoders.networks.architecture import USUAL_LAYERS, Architecture
from sentprobe.probes.pretraining import loop, machines
from sentprobe.probes.pretraining.objective import Validation
from sentprobe.probes.pretraining.objectives import OBJECTIVES, ObjectiveOptions
from sentprobe.probes.pretraining.optimizers import usual_optimizer
from sentprobe.probes.pretraining.schedule import Every, Limits
from sentprobe.probes.pretraining.texts.corpora import Sentences
from sentprobe.probes.pretraining.texts.open_texts import TextKind
from sentprobe.probes.pretraining.texts.sieves import TextOptions
from sentprobe.probes.runs.training import read_texts
from sentprobe.probes.runs.training_plan import ModelPlan, TextPlan, TrainingPlan

NOVELS = SHARED / "novels" / "sentences-5-28.txt.xz"
HEADER = (
    "objective", "texts", "metric", "untrained", "frozen encoder", "trained encoder",
    "steps, frozen", "steps, trained", "CPU minutes",
)  # fmt: skip
UNTOLD = "no translations were given (--parallel)"


def plan_of(name: str, given: argparse.Namespace, folder: Path) -> TrainingPlan:
    """Return how an objective is trained."""
    limits = Limits(steps=given.steps) if given.steps else Limits()
    optimizer = usual_optimizer(given.architecture)
    return TrainingPlan(
        name=name,
        objective=name,
        texts=files_of(name, given),
        model=ModelPlan(
            architecture=Architecture(
                kind=given.architecture, hidden=given.hidden, inputs=given.inputs
            ),
            words=20_000,
        ),
        options=ObjectiveOptions(
            batch=given.batch, codes=given.codes, decoder_hidden=given.decoder, seed=given.seed
        ),
        settings=loop.TrainingSettings(
            seed=given.seed,
            optimizer=replace(optimizer, rate=given.rate or optimizer.rate),
            limits=limits,
            validate_every=Every(given.every),
        ),
        out=folder / name,
    )


def files_of(name: str, given: argparse.Namespace) -> TextPlan:
    """Return the files that an objective learns from: none, where texts are generated."""
    kind = OBJECTIVES[name].texts
    if kind is TextKind.PARALLEL and given.parallel:
        corpus, parallel = given.parallel
        return TextPlan(corpus=(corpus,), parallel=parallel)
    novels = kind is TextKind.SENTENCES and given.novels.exists()
    options = TextOptions(tokenised=True, longest=given.longest)
    return TextPlan(corpus=(given.novels,) if novels else (), options=options)


def texts_of(plan: TrainingPlan, given: argparse.Namespace) -> Any:
    """Return what an objective learns from; of novels the first sentences."""
    if not plan.texts.corpus:
        drawing = Drawing(
            items=given.items, template=given.template, vocabulary="english", seed=given.seed
        )
        return GENERATED[plan.objective](drawing)
    texts = read_texts(plan.kind, plan.texts, seed=given.seed)
    return first(texts, given.items) if isinstance(texts, Sentences) else texts


def first(texts: Sentences, count: int) -> Sentences:
    """Return so many sentences at most, from the beginning."""
    documents = tuple(start for start in texts.documents if start < count)
    return replace(texts, texts=texts.texts[:count], documents=documents)


def rows(given: argparse.Namespace) -> Iterator[tuple[str, ...]]:
    """Yield the row of each objective."""
    for name in given.objective or GENERATED:
        if OBJECTIVES[name].texts is TextKind.PARALLEL and not given.parallel:
            yield (name, UNTOLD, *[""] * (len(HEADER) - 2))
            continue
        with TemporaryDirectory() as folder:
            plan = plan_of(name, given, Path(folder))
            texts = texts_of(plan, given)
            minutes = None if given.steps else given.minutes
            yield name, str(texts), *cells(compare(plan, texts, minutes=minutes))


def cells(found: Comparison) -> Iterator[str]:
    """Yield what a row has of a comparison."""
    yield found.untrained.metric
    yield from map(figure, (found.untrained, found.frozen.best, found.trained.best))
    yield from (f"{each.steps:,}" for each in (found.frozen, found.trained))
    yield ", ".join(f"{each.minutes:.1f}" for each in (found.frozen, found.trained))


def figure(found: Validation) -> str:
    """Return a figure, and the loss behind it."""
    value = f"{found.value:.1%}" if found.metric == "accuracy" else f"{found.value:.1f}"
    return f"{value} ({found.loss:.2f})"


def described(given: argparse.Namespace) -> str:
    """Return what was measured, in words."""
    precision = machines.settled_precision(machines.TrainingMachine()).value
    until = f"{given.steps} steps" if given.steps else f"{given.minutes:g} min of CPU time"
    return (
        f"{machine(['torch'])} {given.architecture} of {given.hidden} units in {precision}, word "
        f"vectors of {given.inputs}; decoders of 2 x {given.decoder} units, {given.codes:,} codes; "
        f"batches of {given.batch}. At most {given.items:,} items are generated (template "
        f"{given.template}, vocabulary english) or taken from novels (sentences of at most "
        f"{given.longest} tokens). Training ends after {until}, its validations counted, of which "
        f"there is one every {given.every} steps; the best is shown. One seed, {given.seed}. A "
        "figure has the loss in nats behind it. Made by `python benchmarks/objectives.py`."
    )


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    ends = parser.add_mutually_exclusive_group()
    ends.add_argument("--minutes", type=float, default=10.0, help="of the processor, each (10)")
    ends.add_argument("--steps", type=int, help="in place of minutes")
    parser.add_argument("--objective", action="append", choices=[*GENERATED])
    parser.add_argument("--novels", type=Path, default=NOVELS, metavar="FILE")
    parser.add_argument("--parallel", type=Path, nargs=2, metavar=("TEXTS", "TRANSLATIONS"))
    parser.add_argument("--architecture", choices=[*USUAL_LAYERS], default="bilstm-max")
    parser.add_argument("--template", default="transitive", help="of generated sentences")
    parser.add_argument("--rate", type=float, help="of the optimizer; none: its usual one")
    numbers = {"hidden": 256, "inputs": 128, "decoder": 512, "codes": 4000, "batch": 128}
    numbers |= {"items": 50_000, "longest": 12, "every": 100, "seed": 1}
    for name, usual in numbers.items():
        parser.add_argument(f"--{name}", type=int, default=usual, help=f"({usual})")
    return parser.parse_args()


def main() -> None:
    """Print the table, row by row."""
    given = parse_arguments()
    torch.set_num_threads(1)
    print("# What training an encoder is worth\n")
    print(described(given), end="\n\n")
    for row in (HEADER, (":---", ":---", ":---", *["---:"] * (len(HEADER) - 3))):
        print("| " + " | ".join(row) + " |", flush=True)
    for row in rows(given):
        print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()
