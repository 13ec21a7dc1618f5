"""What a model gains and loses by training on role triplets, on words and structures held out.

    python benchmarks/fine_tuning.py test FOLDER --model PATH
    python benchmarks/fine_tuning.py tune FOLDER --model PATH --seed 0
    python benchmarks/fine_tuning.py test FOLDER --seed 0
    python benchmarks/fine_tuning.py table FOLDER > benchmarks/fine_tuning.md

The first measures the model, the last the copy that was trained by the trainer of
sentence-transformers (which needs the package accelerate); a seed decides the triplets, their order
and dropout. What was stopped goes on.
"""

import argparse
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import mean, stdev

from measure import machine, sections, table

from sentprobe.generator.contrasts import CONTRASTS
from sentprobe.probes.compeval.tasks import TASKS
from sentprobe.probes.geometry.measures import Nearness, NegativeKind
from sentprobe.probes.geometry.results import GeometryResult, read_geometry
from sentprobe.probes.runs.store import read_results

STEPS, BATCH, RATE = 45, 32, 2e-4
TRIPLETS = ("gen", "pairs", "--for", "training", "-c", "role", "-v", "english")
HELD_OUT = ("0.3", "transitive-rc")
"""What is held out of the triplets: words, and the structures of a transitive verb and a clause."""
SIDE = ("-v", "english", "--held-out", "0.3")
"""All structures are tested, on held-out words."""
FEW = ("--variants", "0")
SIZES = ("--train", "1000", "--test", "400", "--no-controls", "--set", "enough=0.01")
BEFORE = "before"


def sentprobe(*words: str) -> None:
    """Run a command of ours, in a process of its own."""
    program = f"from sentprobe.cli import {words[0]}; {words[0]}()"
    subprocess.run([sys.executable, "-c", program, *words[1:]], check=True)


def tune(folder: Path, model: str, seed: int) -> None:
    """Train a copy of the model."""
    from datasets import load_dataset  # noqa: PLC0415 - slow imports
    from sentence_transformers import (  # noqa: PLC0415
        SentenceTransformer,
        SentenceTransformerTrainer,
        SentenceTransformerTrainingArguments,
    )
    from sentence_transformers.sentence_transformer import losses  # noqa: PLC0415

    rows = folder / f"train-{seed}.parquet"
    left_out = [word for value in HELD_OUT for word in ("--hold-out", value)]
    sentprobe(*TRIPLETS, *left_out, "-n", str(STEPS * BATCH), "--seed", str(seed), "-o", str(rows))
    tuned = SentenceTransformer(model, device="cpu")
    settings = SentenceTransformerTrainingArguments(
        output_dir=str(folder / f"trainer-{seed}"),
        max_steps=STEPS,
        per_device_train_batch_size=BATCH,
        learning_rate=RATE,
        warmup_steps=STEPS // 10,
        seed=seed,
        save_strategy="no",
        logging_steps=5,
        report_to=[],
        use_cpu=True,
        disable_tqdm=True,
    )
    trainer = SentenceTransformerTrainer(
        model=tuned,
        args=settings,
        train_dataset=load_dataset("parquet", data_files=str(rows), split="train"),
        loss=losses.MultipleNegativesRankingLoss(tuned),
    )
    trainer.train()
    tuned.save(str(folder / f"tuned-{seed}"))


def test(folder: Path, name: str, path: str) -> None:
    """Measure a model."""
    encoder, out = ("-e", f"st:{path}?name={name}"), ("-o", str(folder / f"results-{name}"))
    others = [word for each in CONTRASTS if each != "role" for word in ("-c", each)]
    sentprobe("probe", "geometry", *encoder, "-c", "role", "-n", "400", *SIDE, *FEW, *out)
    sentprobe("probe", "geometry", *encoder, *others, "-n", "100", *SIDE, *FEW, *out)
    sentprobe("probe", "run", "compeval", *encoder, *SIDE, *SIZES, *out)


def contrast_rows(folder: Path) -> Iterable[list[str]]:
    """Yield a row for each contrast and kind of negative; role by whether a structure is new."""
    found = [each for path in folder.glob("results-*") for each in read_geometry(path)]
    for name in CONTRASTS:
        mine = {each.encoder: each for each in found if each.contrast == name}
        for kind in NegativeKind:
            yield shown(name, kind, {e: accuracy(each, kind) for e, each in mine.items()})
            if name == "role":
                for what, new in (("held-out words", False), ("held-out structure", True)):
                    values = {e: part(each, kind, new=new) for e, each in mine.items()}
                    yield shown(f"- {what}", kind, values)


def accuracy(result: GeometryResult, kind: NegativeKind) -> float:
    """Return the accuracy over all triplets, by cosine."""
    score = result.whole(kind, Nearness.COSINE)
    assert score is not None
    return score.measured.accuracy


def part(result: GeometryResult, kind: NegativeKind, *, new: bool) -> float:
    """Return the accuracy over the structures that training had, or had not."""
    groups = result.find(kind, by="structure")
    chosen = [each for name, each in groups.items() if name.startswith("transitive-rc") is new]
    return sum(each.accuracy * each.triplets for each in chosen) / sum(
        each.triplets for each in chosen
    )


def shown(name: str, kind: str, values: Mapping[str, float]) -> list[str]:
    """Return a row: before, after (the mean over seeds and their standard deviation)."""
    after = [100 * value for encoder, value in values.items() if encoder != BEFORE]
    spread = f" ± {stdev(after):.1f}" if len(after) > 1 else ""
    return [name, kind, f"{100 * values[BEFORE]:.1f}", f"{mean(after):.1f}{spread}"]


def task_rows(folder: Path) -> Iterable[list[str]]:
    """Yield a row for each task of compeval."""
    found = [each for path in folder.glob("results-*") for each in read_results(path).records]
    for name in TASKS:
        values = {each.encoder: each.accuracy for each in found if each.task == name}
        yield shown(name, "", values)


def report(folder: Path) -> str:
    """Return the page."""
    seeds = len([*folder.glob("tuned-*")])
    note = (
        f"{STEPS} steps of {BATCH} role triplets, rate {RATE:g}, {seeds} seeds: before, and after "
        "(mean ± standard deviation over seeds). Form: the negative in the positive's form; "
        "anchor: in the anchor's. Held-out structure: transitive-rc, which no triplet had."
    )
    heads = ("contrast", "negative", "before", "after")
    whole = f"{note}\n\n{table(heads, [*contrast_rows(folder)])}"
    tasks = [[name, before, after] for name, _, before, after in task_rows(folder)]
    return sections({"Distances": whole, "Probes": table(("task", "before", "after"), tasks)})


def main(arguments: Sequence[str] | None = None) -> None:
    """Train, test or print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["tune", "test", "table"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--model", default="all-MiniLM-L6-v2")
    parser.add_argument("--seed", type=int)
    given = parser.parse_args(arguments)
    name = BEFORE if given.seed is None else f"tuned-{given.seed}"
    if given.what == "tune":
        tune(given.folder, given.model, given.seed or 0)
    elif given.what == "test":
        test(given.folder, name, given.model if name == BEFORE else str(given.folder / name))
    else:
        packages = ["torch", "sentence-transformers"]
        print(f"# Training on role triplets\n\n{machine(packages)}\n\n{report(given.folder)}")


if __name__ == "__main__":
    main()
