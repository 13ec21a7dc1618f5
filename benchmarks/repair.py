"""Gains and losses of MiniLM from ``probe repair``, on held-out texts and on pairs and kinds that were not trained on.

    python benchmarks/repair.py run FOLDER --seed 0
    python benchmarks/repair.py run FOLDER --seed 0 --keep-weight 0
    python benchmarks/repair.py table FOLDER > benchmarks/repair.md

The texts are the questions in repair_questions.tsv and questions and statements of the EWT treebank; the spaCy pipeline
is that of shared/data. The trainings see the light rewordings in repair_questions.tsv, but neither its free rewordings
nor its traps, nor the pairs of people in shared/data, nor the sentences of novels.
"""

import argparse
import csv
import json
import lzma
import random
import resource
import subprocess
import sys
import tarfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import numpy as np
from measure import describe_machine, format_table

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from helpers.encoders.model_files import packaged_model
from helpers.shared import SHARED

from sentprobe.common.errors import format_count
from sentprobe.common.values import group_by
from sentprobe.probes.corpus.text_edits import EditCounts, choose_edit_rules, make_edits
from sentprobe.probes.corpus.user_texts import UserText
from sentprobe.probes.encoders.kinds import make_encoder
from sentprobe.probes.repair.repair_measures import compute_cosines, correlate_cosines
from sentprobe.probes.similarity.gate_rates import compute_auc
from sentprobe.probes.similarity.pair_scores import TextPair, VectorScorer
from sentprobe.probes.similarity.text_pairs import read_pairs, score_pairs
from sentprobe.probes.statistics import Floats

QUESTIONS = Path(__file__).with_name("repair_questions.tsv")
STATEMENTS, KEEP_TEXTS, NOVEL_SENTENCES = 300, 600, 300
MODEL = "minilm"


def read_treebank(part: str) -> list[str]:
    """Return the texts of 3 to 25 words of a part of EWT."""
    (path,) = (SHARED / "treebanks" / "ewt").glob(f"*{part}*.conllu.xz")
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        texts = [line.removeprefix("# text = ").strip() for line in lines if line.startswith("# text = ")]
    return [text for text in dict.fromkeys(texts) if 3 <= len(text.split()) <= 25 and text.isascii()]


def sample(texts: Sequence[str], n: int) -> list[str]:
    """Return *n* of the texts, always the same."""
    return random.Random(0).sample([*texts], n)


def write_inputs(folder: Path) -> None:
    """Write the texts, the pairs and the neutral texts of the trainings, and unpack the parser."""
    folder.mkdir(parents=True, exist_ok=True)
    own = [*read_pairs(QUESTIONS)]
    dev = read_treebank("dev")
    statements = [text for text in dev if not text.endswith("?")]
    questions = [text for text in dev if text.endswith("?")]
    chosen = sample(statements, STATEMENTS + KEEP_TEXTS)
    texts = [*dict.fromkeys(pair.first for pair in own if pair.same), *questions, *chosen[:STATEMENTS]]
    light = [f"{pair.first}\t{pair.second}\t1" for pair in own if pair.kind == "light"]
    for name, lines in (("texts.txt", texts), ("pairs.tsv", ["a\tb\tsame", *light]), ("keep.txt", chosen[STATEMENTS:])):
        (folder / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    with tarfile.open(SHARED / "parsers" / "spacy-ewt.tar.xz") as archive:
        archive.extractall(folder, filter="data")


def find_parser(folder: Path) -> str:
    """Return the spec of the unpacked parser."""
    return f"spacy:{folder / 'model-best'}"


def repair(folder: Path, *, seed: int, keep_weight: float, steps: int) -> None:
    """Repair a copy of the model; write its figures, and its CPU seconds and memory."""
    name = f"{'repaired' if keep_weight else 'without-keeping'}-{seed}"
    command = (
        *("probe", "repair", f"st:{packaged_model()}?name={MODEL}", "--texts", str(folder / "texts.txt")),
        *("--pairs", str(folder / "pairs.tsv"), "--keep-texts", str(folder / "keep.txt"), "--steps", str(steps)),
        *("--parser", find_parser(folder), "--out", str(folder / name), "--seed", str(seed)),
        *("--keep-weight", str(keep_weight), "--threads", "1", "--format", "json"),
    )
    program = f"from sentprobe.cli import {command[0]}; {command[0]}()"
    done = subprocess.run([sys.executable, "-c", program, *command[1:]], check=False, stdout=subprocess.PIPE, text=True)
    if done.returncode not in (0, 1) or not done.stdout:
        sys.exit(done.returncode)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    cost = {"cpu_seconds": used.ru_utime + used.ru_stime, "gigabytes": used.ru_maxrss / 2**20}
    figures = {"held_out": json.loads(done.stdout), "exit_code": done.returncode, **cost}
    (folder / f"{name}.json").write_text(json.dumps(figures), encoding="utf-8")
    before = make_encoder(f"st:{packaged_model()}", seed=0)
    after = make_encoder(f"st:{folder / name}", seed=0)
    figures["elsewhere"] = [*compare_elsewhere(before, after, folder)]
    (folder / f"{name}.json").write_text(json.dumps(figures), encoding="utf-8")


def read_human_pairs() -> dict[str, list[TextPair]]:
    """Return the pairs that people judged, by set and kind."""
    with (SHARED / "human_pairs" / "pairs.tsv").open(encoding="utf-8", newline="") as file:
        rows = [*csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)]
    pairs = [(f"{row['set']}: {row['kind']}", TextPair(row["a"], row["b"], same=False)) for row in rows]
    return {name: [pair for _, pair in group] for name, group in group_by(pairs, lambda row: row[0]).items()}


def compare_elsewhere(before: Any, after: Any, folder: Path) -> Iterator[tuple[str, int, float, float]]:
    """Yield a name, a number, and a figure before and after, on pairs that no training has seen."""
    human = read_human_pairs()
    paraphrases = next(pairs for name, pairs in human.items() if name.startswith("SICK: paraphrase"))
    own = group_by(read_pairs(QUESTIONS), lambda pair: pair.kind)
    parts = {name: pairs for name, pairs in human.items() if pairs is not paraphrases}
    parts |= {f"traps of ours: {name}": pairs for name, pairs in own.items() if not pairs[0].same}
    texts = read_treebank("test")
    rules = choose_edit_rules((), has_parse=True)
    edits = make_edits(map(UserText, texts), rules, EditCounts(), parser=find_parser(folder))
    for kind, group in group_by(edits, lambda edit: edit.kind).items():
        parts[f"edits of other texts: {kind}"] = [TextPair(edit.a, edit.b, same=False) for edit in group]

    def score(encoder: Any, pairs: Sequence[TextPair]) -> Floats:
        return score_pairs(VectorScorer(encoder), pairs).scores

    same = [score(encoder, paraphrases) for encoder in (before, after)]
    for name, pairs in parts.items():
        areas = [compute_auc(side, score(encoder, pairs)) for side, encoder in zip(same, (before, after), strict=True)]
        yield name, len(pairs), 100 * areas[0], 100 * areas[1]
    candidates = [*dict.fromkeys((folder / "texts.txt").read_text("utf-8").splitlines())]
    places = [candidates.index(pair.first) for pair in own["free"]]
    found = []
    for encoder in (before, after):
        vectors = [np.asarray(encoder.encode(part)) for part in ([pair.second for pair in own["free"]], candidates)]
        queries, rows = (part / np.linalg.norm(part, axis=1, keepdims=True) for part in vectors)
        found.append(float(((queries @ rows.T).argmax(axis=1) == places).mean()))
    yield "free rewordings found first", len(places), 100 * found[0], 100 * found[1]
    with lzma.open(SHARED / "novels" / "sentences-5-28.txt.xz", "rt", encoding="utf-8") as file:
        sentences = sample(file.read().splitlines(), NOVEL_SENTENCES)
    cosines = [compute_cosines(encoder, sentences) for encoder in (before, after)]
    yield "Spearman of cosines, novels", len(sentences), 100.0, 100 * correlate_cosines(*cosines, seed=0)[0]


def build_report(folder: Path) -> Iterator[str]:
    """Yield the lines of the page."""
    for style, title in (("repaired", "Repaired"), ("without-keeping", "Without the keep-near loss")):
        runs = [json.loads(path.read_text("utf-8")) for path in sorted(folder.glob(f"{style}-*.json"))]
        if not runs:
            continue
        cost = ", ".join(f"{run['cpu_seconds']:.0f} CPU s and {run['gigabytes']:.1f} GB" for run in runs)
        codes = ", ".join(str(run["exit_code"]) for run in runs)
        seeds = format_count(len(runs), "seed")
        yield f"## {title}\n\n{seeds}: {cost}; exit codes {codes}.\n\nHeld-out texts of the repair:\n"
        held_out = [
            {(row["name"], row["figure"]): row for row in run["held_out"] if row["name"] != "own pairs"} for run in runs
        ]
        names = [name for name in held_out[0] if all(name in records for records in held_out)]
        fields = ("pairs", "first_value", "second_value")
        rows = [
            [tuple(records[name][field] * (1 if field == "pairs" else 100) for field in fields) for records in held_out]
            for name in names
        ]
        yield format_rows(rows, [": ".join(name) for name in names])
        note = "no pair was trained on; rewordings are searched for among the training texts"
        yield f"\nOther texts, AUC against paraphrases of SICK ({note}):\n"
        elsewhere = [{row[0]: tuple(row[1:]) for row in run["elsewhere"]} for run in runs]
        parts = [*elsewhere[0]]
        yield format_rows([[records[name] for records in elsewhere] for name in parts], parts)


def format_rows(rows: Sequence[Sequence[tuple[int, float, float]]], names: Sequence[str]) -> str:
    """Return a table: for each name the number of pairs, and the mean before and after over the seeds."""
    lines = []
    for name, values in zip(names, rows, strict=True):
        after = [value[2] for value in values]
        spread = f" ± {stdev(after):.1f}" if len(after) > 1 else ""
        before = mean(value[1] for value in values)
        pairs = round(mean(value[0] for value in values))
        lines.append([name, str(pairs), f"{before:.1f}", f"{mean(after):.1f}{spread}", f"{mean(after) - before:+.1f}"])
    return format_table(("figure", "pairs", "before", "after", "difference"), lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Repair and measure, or print the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["run", "table"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=120)
    parser.add_argument("--keep-weight", type=float, default=30.0)
    options = parser.parse_args(arguments)
    if options.what == "run":
        write_inputs(options.folder)
        repair(options.folder, seed=options.seed, keep_weight=options.keep_weight, steps=options.steps)
    else:
        print(f"# Repairs of MiniLM\n\n{describe_machine(['torch', 'sentence-transformers'])}\n")
        print("Made by `python benchmarks/repair.py run` and `table`. Figures in percent; mean ± standard deviation.\n")
        print("\n".join(build_report(options.folder)))


if __name__ == "__main__":
    main()
