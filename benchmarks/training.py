"""How fast encoders are trained: `probe train`'s loop beside a bare loop of PyTorch.

python benchmarks/training.py CORPUS [--sentences N] [--steps N] [--rounds N]

Both train the same model on the same batches in turns, in one process with one thread, and are
timed in seconds of the processor, so that other work on the machine counts little.
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

from sentprobe.probes.encoders import sentence_model as models
from sentprobe.probes.encoders.networks.architecture import Architecture
from sentprobe.probes.pretraining import loop, objectives
from sentprobe.probes.pretraining.objective import Batch, Learner, Prepared, Validation
from sentprobe.probes.pretraining.optimizers import ADAM, make_optimizer
from sentprobe.probes.pretraining.schedule import Every, Limits
from sentprobe.probes.pretraining.texts.sentences import read_sentences
from sentprobe.probes.pretraining.texts.sieves import TextOptions
from sentprobe.probes.pretraining.vocabulary import learn_vocabulary
from sentprobe.probes.trainer.bank import fast_bfloat16

WARM = 1
"""Steps that are not timed: the first ones set things up."""


@dataclass(frozen=True)
class Case:
    """A model that is trained, without attention to what it learns."""

    name: str
    architecture: Architecture
    codes: int = 8000


CASES = (
    Case("bilstm-max 512", Architecture(kind="bilstm-max", hidden=512)),
    Case("lstm 256", Architecture(kind="lstm", hidden=256)),
    Case("bilstm-max 512, 40,000 codes", Architecture(kind="bilstm-max", hidden=512), 40_000),
)


def prepare(case: Case, texts: Any) -> Prepared:
    """Return the auto-encoder of a case, and a validation that costs nothing."""
    words = learn_vocabulary(texts.texts, words=50_000)
    model = models.make_sentence_model(case.architecture, words, seed=0)
    options = objectives.ObjectiveOptions(codes=case.codes)
    made = objectives.prepare(objectives.OBJECTIVES["autoencoder"], texts, model, options)
    return replace(made, validate=no_validation)


def no_validation(_: Learner) -> Validation:
    return Validation("none", 0.0, higher_is_better=True, loss=0.0)


def of_loop(made: Prepared, steps: int, folder: Path) -> float:
    """Return the processor's seconds of so many steps of the loop, after those that warm it."""
    times: dict[int, float] = {}
    settings = loop.TrainingSettings(
        seed=0,
        optimizer=ADAM,
        limits=Limits(steps=WARM + steps),
        validate_every=Every(10**9),
        point_every=Every(1),
    )
    store = loop.TrainingStore(folder, {}, lambda *_: None)

    def note(point: loop.Point) -> None:
        times[point.step] = time.process_time()

    loop.train(made, settings, store, at_point=note)
    return times[WARM + steps] - times[WARM]


def of_bare(made: Prepared, steps: int) -> float:
    """Return the same of the shortest loop that one would write."""
    learner, start = made.learner.train(), 0.0
    optimizer = make_optimizer(ADAM, learner)
    fast = fast_bfloat16()
    for number, batch in enumerate(islice(made.train.batches(0), WARM + steps)):
        if number == WARM:
            start = time.process_time()
        with torch.autocast("cpu", torch.bfloat16) if fast else nullcontext():
            loss = learner(batch)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(learner.parameters(), ADAM.clip)
        optimizer.step()
    return time.process_time() - start


def targets(batches: Iterator[Batch], steps: int) -> int:
    """Return how many codes are asked for in the steps that are timed."""
    return sum(each.targets for each in islice(batches, WARM, WARM + steps))


def measure(case: Case, texts: Any, steps: int, rounds: int) -> str:
    """Return the line of a case: targets a second of the processor, the median of rounds."""
    bare, whole, ratios = [], [], []
    made = prepare(case, texts)
    asked = targets(made.train.batches(0), steps)
    for number in range(rounds):
        with TemporaryDirectory() as folder:
            pair = (
                (of_bare(made, steps), of_loop(made, steps, Path(folder)))
                if number % 2
                else (of_loop(made, steps, Path(folder)), of_bare(made, steps))[::-1]
            )
        bare.append(asked / pair[0])
        whole.append(asked / pair[1])
        ratios.append(pair[0] / pair[1])
    middle = rounds // 2
    figures = (sorted(each)[middle] for each in (bare, whole, ratios))
    return "| {} | {:,.0f} | {:,.0f} | {:.2f} |".format(case.name, *figures)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--sentences", type=int, default=60_000)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    torch.set_num_threads(1)
    texts = read_sentences(given.corpus, options=TextOptions(tokenised=True))
    texts = replace(texts, texts=texts.texts[: given.sentences], documents=(0,))
    precision = "bfloat16" if fast_bfloat16() else "float32"
    print("# How fast encoders are trained\n")
    print(
        f"Target tokens a second of the processor, one thread, {precision}, auto-encoder, batches "
        f"of 256, 8,000 codes unless it says more; the median of {given.rounds} rounds of "
        f"{given.steps} steps in turns. {len(texts.texts):,} sentences of novels; Python "
        f"{platform.python_version()}, PyTorch {torch.__version__}. "
        "Made by `python benchmarks/training.py`.\n"
    )
    print("| model | bare loop | probe train | ratio |\n|---|---:|---:|---:|")
    for case in CASES:
        print(measure(case, texts, given.steps, given.rounds), flush=True)


if __name__ == "__main__":
    main()
