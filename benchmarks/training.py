"""Training speed of encoders: `probe train`'s loop against a plain PyTorch loop.

python benchmarks/training.py CORPUS [--sentences N] [--steps N] [--rounds N]

Both train the same model on the same batches in turns, in one process with one thread, and are timed in seconds of the
processor, so that other work on the machine counts little.
"""

import argparse
import platform
import time
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from sentprobe.probes.classifier.devices import has_fast_bfloat16
from sentprobe.probes.encoders.architecture import Architecture
from sentprobe.probes.encoders.models import trained as models
from sentprobe.probes.training import loop, objective_options, objectives
from sentprobe.probes.training.objective import Batch, Learner, PreparedObjective, Validation
from sentprobe.probes.training.running_text import read_sentences
from sentprobe.probes.training.schedule import ADAM, Limits, StepInterval, make_optimizer
from sentprobe.probes.training.text_filters import TextOptions, learn_vocabulary

WARM_UP_STEPS = 1
"""Warm-up steps, which are not timed."""


@dataclass(frozen=True)
class Case:
    """A model whose training speed is measured."""

    name: str
    architecture: Architecture
    codes: int = 8000


CASES = (
    Case("bilstm-max 512", Architecture(kind="bilstm-max", hidden=512)),
    Case("lstm 256", Architecture(kind="lstm", hidden=256)),
    Case("bilstm-max 512, 40,000 codes", Architecture(kind="bilstm-max", hidden=512), 40_000),
)


def prepare(case: Case, texts: Any) -> PreparedObjective:
    """Return the autoencoder of a case, with a validation that takes no time."""
    words = learn_vocabulary(texts.texts, words=50_000)
    model = models.make_sentence_model(case.architecture, words, seed=0)
    options = objective_options.ObjectiveOptions(codes=case.codes)
    prepared = objectives.prepare(objectives.OBJECTIVES["autoencoder"], texts, model, options)
    return replace(prepared, validate=no_validation)


def no_validation(_: Learner) -> Validation:
    return Validation("none", 0.0, higher_is_better=True, loss=0.0)


def measure_loop(prepared: PreparedObjective, steps: int, folder: Path) -> float:
    """Return the CPU seconds of *steps* steps of the loop, after warm-up."""
    times: dict[int, float] = {}
    settings = loop.TrainingSettings(
        seed=0,
        optimizer=ADAM,
        limits=Limits(steps=WARM_UP_STEPS + steps),
        validate_every=StepInterval(10**9),
        probe_every=StepInterval(1),
    )
    store = loop.TrainingStore(folder, {}, lambda *_: None)

    def record_time(point: loop.ProbingPoint) -> None:
        times[point.step] = time.process_time()

    loop.train(prepared, settings, store, probe_model=record_time)
    return times[WARM_UP_STEPS + steps] - times[WARM_UP_STEPS]


def measure_bare(prepared: PreparedObjective, steps: int) -> float:
    """Return the CPU seconds of *steps* steps of a minimal loop, after warm-up."""
    learner, start = prepared.learner.train(), 0.0
    optimizer = make_optimizer(ADAM, learner)
    fast = has_fast_bfloat16()
    for number, batch in enumerate(islice(prepared.train.batches(0), WARM_UP_STEPS + steps)):
        if number == WARM_UP_STEPS:
            start = time.process_time()
        with torch.autocast("cpu", torch.bfloat16) if fast else nullcontext():
            loss = learner(batch)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(learner.parameters(), ADAM.clip)
        optimizer.step()
    return time.process_time() - start


def count_targets(batches: Iterator[Batch], steps: int) -> int:
    """Return the number of target codes in the timed steps."""
    return sum(batch.targets for batch in islice(batches, WARM_UP_STEPS, WARM_UP_STEPS + steps))


def measure(case: Case, texts: Any, steps: int, rounds: int) -> str:
    """Return the row of a case: targets per CPU second, the median of rounds."""
    bare, loop_speeds, ratios = [], [], []
    prepared = prepare(case, texts)
    target_count = count_targets(prepared.train.batches(0), steps)
    for number in range(rounds):
        with TemporaryDirectory() as folder:
            pair = (
                (measure_bare(prepared, steps), measure_loop(prepared, steps, Path(folder)))
                if number % 2
                else (measure_loop(prepared, steps, Path(folder)), measure_bare(prepared, steps))[::-1]
            )
        bare.append(target_count / pair[0])
        loop_speeds.append(target_count / pair[1])
        ratios.append(pair[0] / pair[1])
    middle = rounds // 2
    figures = (sorted(speeds)[middle] for speeds in (bare, loop_speeds, ratios))
    return "| {} | {:,.0f} | {:,.0f} | {:.2f} |".format(case.name, *figures)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--sentences", type=int, default=60_000)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    texts = read_sentences(arguments.corpus, options=TextOptions(tokenised=True))
    texts = replace(texts, texts=texts.texts[: arguments.sentences], documents=(0,))
    precision = "bfloat16" if has_fast_bfloat16() else "float32"
    print("# Training encoders\n")
    print(
        f"Target tokens a second of the processor, one thread, {precision}, auto-encoder, batches "
        f"of 256, 8,000 codes unless it says more; the median of {arguments.rounds} rounds of "
        f"{arguments.steps} steps in turns. {len(texts.texts):,} sentences of novels; Python "
        f"{platform.python_version()}, PyTorch {torch.__version__}. "
        "Made by `python benchmarks/training.py`.\n"
    )
    print("| model | bare loop | probe train | ratio |\n|---|---:|---:|---:|")
    for case in CASES:
        print(measure(case, texts, arguments.steps, arguments.rounds), flush=True)


if __name__ == "__main__":
    main()
