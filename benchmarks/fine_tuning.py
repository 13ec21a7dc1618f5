"""What a model gains and loses by training on role triplets, on words and structures held out.

    python benchmarks/fine_tuning.py test FOLDER --model PATH
    python benchmarks/fine_tuning.py tune FOLDER --model PATH --seed 0
    python benchmarks/fine_tuning.py test FOLDER --seed 0
    python benchmarks/fine_tuning.py table FOLDER > benchmarks/fine_tuning.md

The first measures the model, the last the copy that was trained by the trainer of
sentence-transformers (which needs the package accelerate); a seed decides the triplets, their order
and dropout. The natural tasks are built of the parsed novels in shared/data, or of
--parsed FILE; with --bibles FOLDER, verses are looked for in another translation (see verses.py).
What was stopped goes on.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import mean, stdev

from measure import machine, sections, table
from verses import VERSES, found_at_once, same_verses

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from shared import SHARED

from sentprobe.generator.contrasts import CONTRASTS
from sentprobe.probes.compeval.tasks import TASKS
from sentprobe.probes.geometry.measures import Nearness, NegativeKind
from sentprobe.probes.geometry.results import GeometryResult, read_geometry
from sentprobe.probes.natural.catalogue import find_tasks
from sentprobe.probes.runs.results import Result
from sentprobe.probes.runs.store import read_results

STEPS, BATCH, RATE = 45, 32, 2e-4
TRIPLETS = ("gen", "pairs", "--for", "training", "-c", "role", "-v", "english")
HELD_OUT = ("0.3", "transitive-rc")
"""What is held out of the triplets: words, and the structures of a transitive verb and a clause."""
SIDE = ("-v", "english", "--held-out", "0.3")
"""All structures are tested, on held-out words."""
FEW = ("--variants", "0")
SIZES = ("--train", "1000", "--test", "400", "--no-controls", "--set", "enough=0.01")
NATURAL = ("--train", "1000", "--validation", "200", "--test", "500")
FOUND = ("--sequences", "5", "--frequency-band", "1-5000", "--no-audit")
"""What a small corpus can give: see docs/natural.md."""
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


def test(folder: Path, name: str, path: str, tasks: Path) -> None:
    """Measure a model; *tasks* are the natural ones."""
    encoder, out = ("-e", f"st:{path}?name={name}"), ("-o", str(folder / f"results-{name}"))
    others = [word for each in CONTRASTS if each != "role" for word in ("-c", each)]
    sentprobe("probe", "geometry", *encoder, "-c", "role", "-n", "400", *SIDE, *FEW, *out)
    sentprobe("probe", "geometry", *encoder, *others, "-n", "100", *SIDE, *FEW, *out)
    sentprobe("probe", "run", "compeval", *encoder, *SIDE, *SIZES, *out)
    sentprobe("probe", "run", str(tasks), *encoder, "--no-controls", *out)


def build_natural(folder: Path, parsed: Path) -> Path:
    """Build the natural tasks, once; return their folder."""
    table, tasks = folder / "table", folder / "natural"
    if not (tasks / "README.md").exists():  # it is written last
        sentprobe("probe", "analyze", str(parsed), "-o", str(table))
        sentprobe("probe", "build", "natural", str(table), *NATURAL, *FOUND, "-o", str(tasks))
    return tasks


def find_verses(folder: Path, name: str, path: str, bibles: Path) -> None:
    """Keep how many verses a model finds in another translation."""
    (folder / f"verses-{name}.json").write_text(
        json.dumps(found_at_once(path, same_verses(bibles)))
    )


def contrast_rows(folder: Path) -> Iterable[list[str]]:
    """Yield a row for each contrast and kind of negative; role by whether a structure is new."""
    found = [each for path in folder.glob("results-*") for each in read_geometry(path)]
    for name in CONTRASTS:
        mine = {each.encoder: each for each in found if each.contrast == name}
        for kind in NegativeKind:
            yield shown([name, kind], {e: accuracy(each, kind) for e, each in mine.items()})
            if name == "role":
                for what, new in (("held-out words", False), ("held-out structure", True)):
                    values = {e: part(each, kind, new=new) for e, each in mine.items()}
                    yield shown([f"- {what}", kind], values)


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


def shown(heads: Sequence[str], values: Mapping[str, float]) -> list[str]:
    """Return a row: its heads, before, after (the mean over seeds and their standard deviation)."""
    after = [100 * value for encoder, value in values.items() if encoder != BEFORE]
    spread = f" ± {stdev(after):.1f}" if len(after) > 1 else ""
    return [*heads, f"{100 * values[BEFORE]:.1f}", f"{mean(after):.1f}{spread}"]


def read_tasks(folder: Path, names: Iterable[str]) -> dict[str, dict[str, Result]]:
    """Return the results by task and encoder."""
    found = [each for path in folder.glob("results-*") for each in read_results(path).records]
    return {name: {each.encoder: each for each in found if each.task == name} for name in names}


def task_rows(folder: Path) -> Iterable[list[str]]:
    """Yield a row for each task of compeval."""
    for name, found in read_tasks(folder, TASKS).items():
        yield shown([name], accuracies(found))


def natural_rows(folder: Path) -> Iterable[list[str]]:
    """Yield a row for each natural task: its test items and chance, too."""
    for name, found in read_tasks(folder, [task.name for task in find_tasks()]).items():
        one = found[BEFORE]
        yield shown([name, str(len(one.lengths)), f"{100 * one.majority:.1f}"], accuracies(found))


def accuracies(found: Mapping[str, Result]) -> dict[str, float]:
    """Return the accuracy of each encoder."""
    return {encoder: each.accuracy for encoder, each in found.items()}


def verse_rows(folder: Path) -> Iterable[list[str]]:
    """Yield the row of the verses, if they were looked for before and after."""
    files = [*folder.glob("verses-*.json")]
    found = {file.stem.removeprefix("verses-"): json.loads(file.read_text()) for file in files}
    if found.keys() > {BEFORE}:
        yield shown(["verses found"], found)


def report(folder: Path) -> str:
    """Return the page."""
    seeds = len([*folder.glob("tuned-*")])
    distances = (
        f"{STEPS} steps of {BATCH} role triplets, rate {RATE:g}, {seeds} seeds: before, and after "
        "(mean ± standard deviation over seeds). Form: the negative in the positive's form; "
        "anchor: in the anchor's. Held-out structure: transitive-rc, which no triplet had."
    )
    natural = (
        "The ten tasks of Conneau et al., of sentences from novels: accuracy of one probe each, "
        f"{NATURAL[1]} training items or as many as there are. Chance: the commonest label."
    )
    retrieval = (
        f"Of {VERSES} verses of one translation, those that are nearest, by cosine, to themselves "
        "among as many of another (benchmarks/verses.py says which)."
    )
    tables = {
        "Distances": (distances, ("contrast", "negative"), contrast_rows(folder)),
        "Probes": ("", ("task",), task_rows(folder)),
        "Natural tasks": (natural, ("task", "test items", "chance"), natural_rows(folder)),
        "Retrieval": (retrieval, ("what",), verse_rows(folder)),
    }
    written = {name: shown_table(*each) for name, each in tables.items()}
    return sections({name: text for name, text in written.items() if text})


def shown_table(note: str, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table under its note; nothing if there are no rows."""
    filled = [*rows]
    return f"{note}\n\n{table((*heads, 'before', 'after'), filled)}".strip() if filled else ""


def main(arguments: Sequence[str] | None = None) -> None:
    """Train, test or print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["tune", "test", "table"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--model", default="all-MiniLM-L6-v2")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--parsed", type=Path, default=SHARED / "novels" / "parsed.mrg.xz")
    parser.add_argument("--bibles", type=Path)
    given = parser.parse_args(arguments)
    name = BEFORE if given.seed is None else f"tuned-{given.seed}"
    path = given.model if name == BEFORE else str(given.folder / name)
    if given.what == "tune":
        tune(given.folder, given.model, given.seed or 0)
    elif given.what == "test":
        test(given.folder, name, path, build_natural(given.folder, given.parsed))
        if given.bibles:
            find_verses(given.folder, name, path, given.bibles)
    else:
        packages = ["torch", "sentence-transformers"]
        print(f"# Training on role triplets\n\n{machine(packages)}\n\n{report(given.folder)}")


if __name__ == "__main__":
    main()
