"""Gains and losses of a model from training on role triplets, on held-out words and structures.

    python benchmarks/fine_tuning.py test FOLDER --model PATH
    python benchmarks/fine_tuning.py tune FOLDER --model PATH --seed 0
    python benchmarks/fine_tuning.py test FOLDER --seed 0
    python benchmarks/fine_tuning.py table FOLDER > benchmarks/fine_tuning.md

The first command measures the model; the second trains a copy with the trainer of sentence-transformers; the third
measures the copy. The seed sets the triplets, their order and dropout. The natural tasks come from the parsed novels in
shared/data, or from --parsed FILE. With --bibles FOLDER, the model also retrieves verses in another translation (see
verses.py). An interrupted command can be repeated.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from statistics import mean, stdev

from measure import describe_machine, format_sections, format_table
from verses import VERSES, measure_retrieval, sample_verse_pairs

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from helpers.shared import SHARED

from sentprobe.generator.pairs.contrasts import CONTRASTS
from sentprobe.probes.generated.tasks import TASKS
from sentprobe.probes.natural.datasets import find_tasks
from sentprobe.probes.results.result import Result
from sentprobe.probes.results.store import read_results
from sentprobe.probes.similarity.distance_results import GeometryResult, read_geometry
from sentprobe.probes.similarity.measures import Nearness, NegativeKind

STEPS, BATCH, RATE = 45, 32, 2e-4
TRIPLET_COMMAND = ("gen", "pairs", "--for", "training", "-c", "role", "-v", "english")
HELD_OUT = ("0.3", "transitive-rc")
"""Held out of the triplets: 30% of the words, and transitive verbs with a relative clause."""
TEST_OPTIONS = ("-v", "english", "--held-out", "0.3")
"""Test options: all structures, with held-out words."""
DISTRACTOR_OPTIONS = ("--distractors", "0")
PROBE_OPTIONS = ("--train", "1000", "--test", "400", "--no-controls", "--set", "enough=0.01")
NATURAL_OPTIONS = ("--train", "1000", "--validation", "200", "--test", "500")
SMALL_CORPUS_OPTIONS = ("--sequences", "5", "--frequency-band", "1-5000", "--no-audit")
"""Limits of a small corpus: see docs/natural.md."""
MEASURED = [name for name in CONTRASTS if name not in ("recipient", "binding")]
"""The contrasts that the vocabulary has words for."""
BEFORE = "before"
BEFORE_AFTER = ("before", "after")
CONTRAST_HEADS = ("contrast", "form: before", "after", "anchor: before", "after")
NATURAL_HEADS = ("task", "test items", "chance", *BEFORE_AFTER)


def run_command(*words: str) -> None:
    """Run a sentprobe command in its own process."""
    program = f"from sentprobe.cli import {words[0]}; {words[0]}()"
    subprocess.run([sys.executable, "-c", program, *words[1:]], check=True)


def tune(folder: Path, model: str, seed: int) -> None:
    """Train a copy of the model."""
    from datasets import load_dataset
    from sentence_transformers import (
        SentenceTransformer,
        SentenceTransformerTrainer,
        SentenceTransformerTrainingArguments,
    )
    from sentence_transformers.sentence_transformer import losses

    rows = folder / f"train-{seed}.parquet"
    hold_out_options = [word for value in HELD_OUT for word in ("--hold-out", value)]
    run_command(*TRIPLET_COMMAND, *hold_out_options, "-n", str(STEPS * BATCH), "--seed", str(seed), "-o", str(rows))
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


def measure_model(folder: Path, name: str, path: str, tasks: Path) -> None:
    """Measure a model on distances, probes and the natural tasks in *tasks*."""
    encoder, out = ("-e", f"st:{path}?name={name}"), ("-o", str(folder / f"results-{name}"))
    contrast_options = [word for contrast in MEASURED if contrast != "role" for word in ("-c", contrast)]
    run_command("probe", "geometry", *encoder, "-c", "role", "-n", "400", *TEST_OPTIONS, *DISTRACTOR_OPTIONS, *out)
    run_command("probe", "geometry", *encoder, *contrast_options, "-n", "100", *TEST_OPTIONS, *DISTRACTOR_OPTIONS, *out)
    run_command("probe", "run", "compeval", *encoder, *TEST_OPTIONS, *PROBE_OPTIONS, *out)
    run_command("probe", "run", str(tasks), *encoder, "--no-controls", *out)


def build_natural_tasks(folder: Path, parsed: Path) -> Path:
    """Build the natural tasks unless they exist; return their folder."""
    table, tasks = folder / "table", folder / "natural"
    if not (tasks / "README.md").exists():  # written last
        run_command("probe", "analyze", str(parsed), "-o", str(table))
        run_command("probe", "build", "natural", str(table), *NATURAL_OPTIONS, *SMALL_CORPUS_OPTIONS, "-o", str(tasks))
    return tasks


def write_verse_accuracy(folder: Path, name: str, path: str, bibles: Path) -> None:
    """Write the model's accuracy at retrieving verses of another translation."""
    (folder / f"verses-{name}.json").write_text(json.dumps(measure_retrieval(path, sample_verse_pairs(bibles))))


def build_contrast_rows(folder: Path) -> Iterable[list[str]]:
    """Yield a row for each contrast, and for role also held-out words and structure."""
    results = [result for path in folder.glob("results-*") for result in read_geometry(path)]
    for name in MEASURED:
        by_encoder = {result.encoder: result for result in results if result.contrast == name}
        yield build_contrast_row(name, by_encoder, find_accuracy)
        if name == "role":
            yield build_contrast_row("- held-out words", by_encoder, partial(find_part_accuracy, new=False))
            yield build_contrast_row("- held-out structure", by_encoder, partial(find_part_accuracy, new=True))


def build_contrast_row(
    head: str, by_encoder: Mapping[str, GeometryResult], measure: Callable[[GeometryResult, NegativeKind], float]
) -> list[str]:
    """Return a row: its head, then before and after for each kind of negative."""
    kinds = (
        format_before_after([], {name: measure(result, kind) for name, result in by_encoder.items()})
        for kind in (NegativeKind.FORM, NegativeKind.ANCHOR)
    )
    return [head, *chain.from_iterable(kinds)]


def find_accuracy(result: GeometryResult, kind: NegativeKind) -> float:
    """Return the accuracy over all triplets, by cosine."""
    score = result.find_overall(kind, Nearness.COSINE)
    assert score is not None
    return score.measured.accuracy


def find_part_accuracy(result: GeometryResult, kind: NegativeKind, *, new: bool) -> float:
    """Return the accuracy on the structures held out of training (*new*), or on the others."""
    groups = result.find_by_group(kind, by="structure")
    chosen = [score for name, score in groups.items() if name.startswith("transitive-rc") is new]
    return sum(score.accuracy * score.triplets for score in chosen) / sum(score.triplets for score in chosen)


def format_before_after(heads: Sequence[str], values: Mapping[str, float]) -> list[str]:
    """Return a row: its heads, before, and after (mean ± standard deviation over seeds)."""
    after = [100 * value for encoder, value in values.items() if encoder != BEFORE]
    spread = f" ± {stdev(after):.1f}" if len(after) > 1 else ""
    return [*heads, f"{100 * values[BEFORE]:.1f}", f"{mean(after):.1f}{spread}"]


def read_results_by_task(folder: Path, names: Iterable[str]) -> dict[str, dict[str, Result]]:
    """Return the results by task and encoder."""
    results = [result for path in folder.glob("results-*") for result in read_results(path).records]
    return {name: {result.encoder: result for result in results if result.task == name} for name in names}


def build_task_rows(folder: Path) -> Iterable[list[str]]:
    """Yield a row for each task of compeval."""
    for name, results in read_results_by_task(folder, TASKS).items():
        yield format_before_after([name], find_accuracies(results))


def build_natural_rows(folder: Path) -> Iterable[list[str]]:
    """Yield a row for each natural task, with its test items and chance."""
    for name, results in read_results_by_task(folder, [task.name for task in find_tasks()]).items():
        untrained = results[BEFORE]
        yield format_before_after(
            [name, str(len(untrained.lengths)), f"{100 * untrained.majority:.1f}"], find_accuracies(results)
        )


def find_accuracies(results: Mapping[str, Result]) -> dict[str, float]:
    """Return the accuracy of each encoder."""
    return {encoder: result.accuracy for encoder, result in results.items()}


def build_verse_rows(folder: Path) -> Iterable[list[str]]:
    """Yield the row of verse retrieval, if it was measured before and after."""
    files = [*folder.glob("verses-*.json")]
    shares = {file.stem.removeprefix("verses-"): json.loads(file.read_text()) for file in files}
    if shares.keys() > {BEFORE}:
        yield format_before_after(["verses found"], shares)


def build_report(folder: Path) -> str:
    """Return the page."""
    seeds = len([*folder.glob("tuned-*")])
    distances = (
        f"Triplet accuracy before and after {STEPS} steps of {BATCH} role triplets, rate {RATE:g}; "
        f"mean ± standard deviation over {seeds} seeds. Form, anchor: the negative has the form of "
        "the positive, or of the anchor. Held-out structure: transitive-rc."
    )
    natural = f"Sentences from novels, at most {NATURAL_OPTIONS[1]} training items."
    retrieval = f"{VERSES} Bible verses, each looked up in another translation (benchmarks/verses.py)."
    tables = {
        "Distances": (distances, CONTRAST_HEADS, build_contrast_rows(folder)),
        "Probes": ("", ("task", *BEFORE_AFTER), build_task_rows(folder)),
        "Natural tasks": (natural, NATURAL_HEADS, build_natural_rows(folder)),
        "Retrieval": (retrieval, ("retrieval", *BEFORE_AFTER), build_verse_rows(folder)),
    }
    written = {name: format_section(*parts) for name, parts in tables.items()}
    return format_sections({name: text for name, text in written.items() if text})


def format_section(note: str, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table under its note; the empty string without rows."""
    filled = [*rows]
    return f"{note}\n\n{format_table(heads, filled)}".strip() if filled else ""


def main(arguments: Sequence[str] | None = None) -> None:
    """Train, test or print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["tune", "test", "table"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--model", default="all-MiniLM-L6-v2")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--parsed", type=Path, default=SHARED / "novels" / "parsed.mrg.xz")
    parser.add_argument("--bibles", type=Path)
    options = parser.parse_args(arguments)
    name = BEFORE if options.seed is None else f"tuned-{options.seed}"
    path = options.model if name == BEFORE else str(options.folder / name)
    if options.what == "tune":
        tune(options.folder, options.model, options.seed or 0)
    elif options.what == "test":
        measure_model(options.folder, name, path, build_natural_tasks(options.folder, options.parsed))
        if options.bibles:
            write_verse_accuracy(options.folder, name, path, options.bibles)
    else:
        packages = ["torch", "sentence-transformers"]
        print(f"# Training on role triplets\n\n{describe_machine(packages)}\n")
        print("Made by `python benchmarks/fine_tuning.py tune`, `test` and `table`.\n")
        print(build_report(options.folder))


if __name__ == "__main__":
    main()
