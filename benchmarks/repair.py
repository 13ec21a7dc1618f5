"""Gains and losses of MiniLM from ``probe repair``, on held-out texts and on pairs and kinds that were not trained on.

    python benchmarks/repair.py run FOLDER --seed 0
    python benchmarks/repair.py run FOLDER --seed 0 --part without-keeping
    python benchmarks/repair.py table FOLDER > benchmarks/repair.md

The texts are the questions in repair_questions.tsv and questions and statements of the EWT treebank; the spaCy pipeline
is that of shared/data. The trainings see the light rewordings in repair_questions.tsv, but neither its free rewordings
nor its traps, nor the pairs of people in shared/data, nor the sentences of novels.
"""

import argparse
import csv
import json
import lzma
import pickle
import random
import resource
import shutil
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import mean
from typing import Any, TypeVar

import numpy as np
import torch
from measure import describe_machine, format_table

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from helpers.encoders.model_files import packaged_model
from helpers.shared import SHARED

from sentprobe.common.errors import format_count
from sentprobe.common.screen import SilentReporter
from sentprobe.common.specs import Spec
from sentprobe.common.values import group_by
from sentprobe.generator.pairs.triplets import TripletSide
from sentprobe.probes.classifier.probe import Precision
from sentprobe.probes.corpus.text_edits import EditCounts, choose_edit_rules, make_edits
from sentprobe.probes.corpus.user_texts import UserText
from sentprobe.probes.encoders.kinds import make_encoder, read_spec
from sentprobe.probes.encoders.models.sentence_transformer import load_sentence_transformer
from sentprobe.probes.repair.repair_data import RepairData
from sentprobe.probes.repair.repair_measures import compute_cosines, correlate_cosines
from sentprobe.probes.repair.repair_run import RepairPlan, read_repair_data, sample_generated
from sentprobe.probes.repair.repair_training import RepairSettings, balance_kinds, train_repair
from sentprobe.probes.similarity.gate_rates import compute_auc
from sentprobe.probes.similarity.pair_scores import TextPair, VectorScorer, load_cross_encoder
from sentprobe.probes.similarity.text_pairs import read_pairs, score_pairs

QUESTIONS = Path(__file__).with_name("repair_questions.tsv")
STATEMENTS, KEEP_TEXTS, NOVEL_SENTENCES = 300, 600, 300
MODEL = "minilm"
SETTINGS: dict[str, Any] = {"steps": 120, "batch": 32, "rate": 5e-5, "keep_weight": 30.0, "strength": 0.65}
"""The defaults of the command."""
PARTS = {
    "repaired": "Repaired",
    "without-keeping": "Without the loss that keeps cosines",
    "without-generated": "Without generated pairs to keep",
    "without-variants": "Without variants",
    "generated": "Generated pairs of all contrasts instead of edits and paraphrases",
    "with-role": "With generated role pairs, about a quarter of all",
}
REMEDIES = "remedies"
CROSS_STEPS, CROSS_RATE = 300, 2e-4
ROLE_TRIPLETS = 120
MOST = 60
"""The greatest number of pairs of a kind."""
SAME = "SICK: paraphrase (entailment, relatedness>=4.5)"
NOTE = "no pair was trained on; rewordings are searched for among the training texts"
SPEARMAN = "Spearman of cosines, novels"
T = TypeVar("T")


def read_treebank(part: str) -> list[str]:
    """Return the texts of 3 to 25 words of a part of EWT."""
    (path,) = (SHARED / "treebanks" / "ewt").glob(f"*{part}*.conllu.xz")
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        texts = [line.removeprefix("# text = ").strip() for line in lines if line.startswith("# text = ")]
    return [text for text in dict.fromkeys(texts) if 3 <= len(text.split()) <= 25 and text.isascii()]


def sample(texts: Sequence[T], n: int) -> list[T]:
    """Return *n* of the texts or pairs, always the same."""
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


def repair(folder: Path, *, seed: int) -> None:
    """Repair a copy of the model by the command; write its figures, and its CPU seconds and memory."""
    name = f"repaired-{seed}"
    command = (
        *("probe", "repair", f"st:{packaged_model()}?name={MODEL}", "--texts", str(folder / "texts.txt")),
        *("--pairs", str(folder / "pairs.tsv"), "--keep-texts", str(folder / "keep.txt")),
        *("--parser", find_parser(folder), "--out", str(folder / name), "--seed", str(seed)),
        *("--threads", "1", "--format", "json"),
        *(word for name, value in SETTINGS.items() for word in (f"--{name.replace('_', '-')}", str(value))),
    )
    program = f"from sentprobe.cli import {command[0]}; {command[0]}()"
    done = subprocess.run([sys.executable, "-c", program, *command[1:]], check=False, stdout=subprocess.PIPE, text=True)
    if done.returncode not in (0, 1) or not done.stdout:
        sys.exit(done.returncode)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    cost = {"cpu_seconds": used.ru_utime + used.ru_stime, "gigabytes": used.ru_maxrss / 2**20}
    figures = {"held_out": json.loads(done.stdout), "exit_code": done.returncode, **cost}
    write_figures(folder, name, make_encoder(f"st:{folder / name}", seed=0), figures)


def build_plan(folder: Path, part: str, seed: int) -> RepairPlan:
    """Return the plan of a training of the benchmark."""
    return RepairPlan(
        model=f"st:{packaged_model()}?name={MODEL}",
        texts=str(folder / "texts.txt"),
        out=folder / f"{part}-{seed}",
        pairs=folder / "pairs.tsv",
        keep_texts=folder / "keep.txt",
        parser=find_parser(folder),
    )


def ablate(folder: Path, part: str, *, seed: int) -> None:
    """Train a copy of the model with a part of the recipe left out; write its figures on other texts."""
    start = time.process_time()
    plan = build_plan(folder, part, seed)
    data = read_repair_data(plan, seed=seed)
    side = data.training
    settings = RepairSettings(seed=seed, device="cpu", precision=Precision.FLOAT32, **SETTINGS)
    if part == "without-keeping":
        settings = replace(settings, keep_weight=0.0)
    elif part == "without-generated":
        data = replace(data, generated=())
    elif part == "without-variants":
        side = replace(side, variants=())
    elif part == "with-role":
        triplets = list_generated(ROLE_TRIPLETS)["role"]
        exchanged = tuple(TextPair(first, other, same=False, kind="role") for first, _, other in triplets)
        same = tuple(TextPair(first, second, same=True) for first, second, _ in triplets)
        side = replace(side, opposites=(*side.opposites, *exchanged), paraphrases=(*side.paraphrases, *same))
    elif part == "generated":
        opposites, paraphrases = sample_generated_pairs(len(data.training.opposites))
        side = replace(side, opposites=opposites, variants=(), paraphrases=paraphrases)
    encoder = load_sentence_transformer(read_spec(plan.model, ["st"]))
    data = replace(data, training=side)
    train_repair(encoder, data, settings, checkpoints=plan.checkpoints, reporter=SilentReporter())
    shutil.rmtree(plan.checkpoints)
    write_figures(folder, f"{part}-{seed}", encoder, {"cpu_seconds": time.process_time() - start})


def list_generated(n: int, *, held_out: bool = False) -> dict[str, list[tuple[str, ...]]]:
    """Return the anchor, positive and negative of n generated triplets of each contrast, by contrast."""
    sides = (TripletSide.ANCHOR, TripletSide.POSITIVE, TripletSide.NEGATIVE)
    triplet_sets = sample_generated("en", n, held_out=held_out, seed=1)
    return {
        triplets.space.contrast.name: [*zip(*map(triplets.render_texts, sides), strict=True)]
        for triplets in triplet_sets
    }


def sample_generated_pairs(count: int) -> tuple[tuple[TextPair, ...], tuple[TextPair, ...]]:
    """Return about *count* opposites and as many paraphrases, of generated sentences."""
    triplets = list_generated(30)
    rows = [(name, row) for name, group in triplets.items() for row in group]
    chosen = random.Random(0).sample(rows, min(count, len(rows)))
    return (
        tuple(TextPair(first, other, same=False, kind=name) for name, (first, _, other) in chosen),
        tuple(TextPair(first, second, same=True) for _, (first, second, _) in chosen),
    )


def write_figures(folder: Path, name: str, after: Any, figures: dict[str, Any]) -> None:
    """Measure a model on texts that no training has seen; the old model's figures are measured once and kept."""
    path = folder / "before.pickle"
    pairs = read_other_pairs(folder)
    if not path.exists():
        path.write_bytes(pickle.dumps(measure(make_encoder(f"st:{packaged_model()}", seed=0), pairs, folder)))
    before = pickle.loads(path.read_bytes())
    values = measure(after, pairs, folder)
    figures["elsewhere"] = [
        [part, before[part][0], 100 * before[part][1], 100 * values[part][1]] for part in values if part != SPEARMAN
    ]
    spearman = correlate_cosines(before[SPEARMAN], values[SPEARMAN], seed=0)[0]
    figures["elsewhere"].append([SPEARMAN, len(before[SPEARMAN]), 100.0, 100 * spearman])
    (folder / f"{name}.json").write_text(json.dumps(figures), encoding="utf-8")


def read_human_pairs() -> dict[str, list[TextPair]]:
    """Return the pairs that people judged, by set and kind."""
    with (SHARED / "human_pairs" / "pairs.tsv").open(encoding="utf-8", newline="") as file:
        rows = [*csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)]
    pairs = [(f"{row['set']}: {row['kind']}", TextPair(row["a"], row["b"], same=False)) for row in rows]
    return {name: [pair for _, pair in group] for name, group in group_by(pairs, lambda row: row[0]).items()}


def read_other_pairs(folder: Path) -> dict[str, list[TextPair]]:
    """Return pairs of texts that no training has seen, by their source and kind, at most MOST of each."""
    own = group_by(read_pairs(QUESTIONS), lambda pair: pair.kind)
    parts = read_human_pairs()
    parts |= {f"traps of ours: {name}": pairs for name, pairs in own.items() if not pairs[0].same}
    rules = choose_edit_rules((), has_parse=True)
    edits = make_edits(map(UserText, read_treebank("test")), rules, EditCounts(), parser=find_parser(folder))
    for kind, group in group_by(edits, lambda edit: edit.kind).items():
        parts[f"edits of other texts: {kind}"] = [TextPair(edit.a, edit.b, same=False) for edit in group]
    return {name: sample(pairs, min(MOST, len(pairs))) for name, pairs in parts.items()}


def measure(encoder: Any, parts: Mapping[str, Sequence[TextPair]], folder: Path) -> dict[str, Any]:
    """Return the number of pairs and the AUC of each part, the share of rewordings found, and cosines of novels."""
    scorer = VectorScorer(encoder)
    scores = {name: score_pairs(scorer, pairs).scores for name, pairs in parts.items()}
    same = scores.pop(SAME)
    figures: dict[str, Any] = {name: (len(part), compute_auc(same, part)) for name, part in scores.items()}
    for contrast, rows in list_generated(MOST, held_out=True).items():
        anchors, *others = map(list, zip(*rows, strict=True))
        figures[f"generated, held-out words: {contrast}"] = (
            len(rows),
            compute_auc(*scorer.score_columns(anchors, *others)),
        )
    free = [pair for pair in read_pairs(QUESTIONS) if pair.kind == "free"]
    candidates = [*dict.fromkeys((folder / "texts.txt").read_text("utf-8").splitlines())]
    places = [candidates.index(pair.first) for pair in free]
    vectors = [np.asarray(encoder.encode(part)) for part in ([pair.second for pair in free], candidates)]
    queries, rows = (part / np.linalg.norm(part, axis=1, keepdims=True) for part in vectors)
    figures["free rewordings found first"] = len(free), float(((queries @ rows.T).argmax(axis=1) == places).mean())
    with lzma.open(SHARED / "novels" / "sentences-5-28.txt.xz", "rt", encoding="utf-8") as file:
        figures[SPEARMAN] = compute_cosines(encoder, sample(file.read().splitlines(), NOVEL_SENTENCES))
    return figures


def train_cross_encoder(folder: Path, data: RepairData) -> float:
    """Train a cross-encoder, which begins with the weights of the model, on the pairs of a repair. Return CPU seconds.

    The embeddings of tokens are not trained, and there is no dropout.
    """
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    start = time.process_time()
    torch.manual_seed(0)
    tokenizer = AutoTokenizer.from_pretrained(packaged_model())
    model = AutoModelForSequenceClassification.from_pretrained(
        packaged_model(), num_labels=1, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0
    )
    model.bert.embeddings.requires_grad_(requires_grad=False)
    optimizer = torch.optim.AdamW(model.parameters(), lr=CROSS_RATE, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / (CROSS_STEPS / 10), 1 - step / CROSS_STEPS)
    )
    side = data.training
    opposites = balance_kinds(side.opposites)
    same = [*side.variants, *side.paraphrases, *(TextPair(text, text, same=True) for text in side.texts)]
    draw = random.Random(0)
    model.train()
    for _ in range(CROSS_STEPS):
        batch = [*draw.sample(opposites, 8), *draw.sample(same, 8)]
        rows = [pair[:2] if draw.random() < 0.5 else pair[1::-1] for pair in batch]
        inputs = tokenizer(*map(list, zip(*rows, strict=True)), padding=True, return_tensors="pt")
        labels = torch.tensor([float(pair.same) for pair in batch])
        loss = torch.nn.functional.binary_cross_entropy_with_logits(model(**inputs).logits[:, 0], labels)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
    for part in (model, tokenizer):
        part.save_pretrained(folder)
    return time.process_time() - start


def compare_remedies(folder: Path, *, seed: int) -> None:
    """Write the shares of pairs that pass a threshold, a higher one, the repaired model, or a cross-encoder behind."""
    data = read_repair_data(build_plan(folder, "cross-encoder", seed), seed=seed)
    seconds = train_cross_encoder(folder / "cross-encoder", data)
    old, repaired = (
        VectorScorer(make_encoder(f"st:{path}", seed=0)) for path in (packaged_model(), folder / f"repaired-{seed}")
    )
    cross = load_cross_encoder(Spec("ce", str(folder / "cross-encoder")))
    parts = {name: pairs for name, pairs in read_other_pairs(folder).items() if len(pairs) > MOST / 10}
    generated = list_generated(MOST, held_out=True)["role"]
    parts["generated, held-out words: role"] = [TextPair(row[0], row[2], same=False) for row in generated]
    scores = [
        {name: score_pairs(scorer, pairs).scores for name, pairs in parts.items()} for scorer in (old, repaired, cross)
    ]

    def set_threshold(part: Mapping[str, Any], keep: float) -> float:
        return float(np.quantile(part[SAME], 1 - keep, method="lower"))

    first = set_threshold(scores[0], 0.975)
    behind = {name: np.where(scores[0][name] >= first, part, -np.inf) for name, part in scores[2].items()}
    remedies = (scores[0], 0.95), (scores[0], 0.8), (scores[1], 0.95), (behind, 0.95)
    passed = {
        name: [len(pairs), *(float((part[name] >= set_threshold(part, keep)).mean()) for part, keep in remedies)]
        for name, pairs in parts.items()
    }
    (folder / "remedies.json").write_text(json.dumps({"seconds": seconds, "passed": passed}), encoding="utf-8")


def format_remedies(folder: Path) -> Iterator[str]:
    """Yield the section that compares remedies."""
    remedies = json.loads((folder / "remedies.json").read_text("utf-8"))
    yield (
        "\n## Threshold, repair or cross-encoder\n\nThe share of pairs, in percent, that pass a threshold chosen on "
        "paraphrases of SICK. The cross-encoder begins with MiniLM's weights and learns from the pairs of the repair "
        f"with seed 0 ({CROSS_STEPS} steps of 16 pairs, {remedies['seconds']:.0f} CPU seconds); it scores pairs whose "
        "old cosine passes a threshold that keeps 97.5% of the paraphrases.\n"
    )
    rows = [
        [name, str(n), *(f"{100 * share:.0f}" for share in shares)] for name, (n, *shares) in remedies["passed"].items()
    ]
    heads = ("old cosine, keeps 95%", "old cosine, keeps 80%", "repaired, keeps 95%", "cross-encoder behind, keeps 95%")
    yield format_table(("pairs", "number", *heads), rows)


def build_report(folder: Path) -> Iterator[str]:
    """Yield the lines of the page."""
    for part, title in PARTS.items():
        runs = [json.loads(path.read_text("utf-8")) for path in sorted(folder.glob(f"{part}-[0-9].json"))]
        if not runs:
            continue
        seconds = ", ".join(f"{run['cpu_seconds']:.0f}" for run in runs)
        head = f"## {title}\n\n{format_count(len(runs), 'seed')}: {seconds} CPU seconds"
        if part == "repaired":
            memory = max(run["gigabytes"] for run in runs)
            codes = ", ".join(str(run["exit_code"]) for run in runs)
            yield f"{head}; at most {memory:.1f} GB; exit codes {codes}.\n\nHeld-out texts of the repair:\n"
            yield from format_held_out(runs)
        else:
            yield f"{head}."
        yield f"\nOther texts, AUC against paraphrases of SICK, or of generated sentences ({NOTE}):\n"
        elsewhere = [{row[0]: tuple(row[1:]) for row in run["elsewhere"]} for run in runs]
        names = [*elsewhere[0]]
        yield format_rows([[records[name] for records in elsewhere] for name in names], names)


def format_held_out(runs: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the table of the figures that the command prints."""
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


def format_rows(rows: Sequence[Sequence[tuple[int, float, float]]], names: Sequence[str]) -> str:
    """Return a table: for each name the number of pairs, the means over the seeds, and each seed's difference."""
    lines = []
    for name, values in zip(names, rows, strict=True):
        before, after = mean(value[1] for value in values), mean(value[2] for value in values)
        pairs = round(mean(value[0] for value in values))
        by_seed = ", ".join(f"{value[2] - value[1]:+.1f}" for value in values)
        lines.append([name, str(pairs), f"{before:.1f}", f"{after:.1f}", f"{after - before:+.1f}", by_seed])
    return format_table(("figure", "pairs", "before", "after", "difference", "by seed"), lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Repair and measure, or print the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["run", "table"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--part", choices=[*PARTS, REMEDIES], default="repaired")
    options = parser.parse_args(arguments)
    if options.what == "run":
        torch.set_num_threads(1)
        write_inputs(options.folder)
        if options.part == "repaired":
            repair(options.folder, seed=options.seed)
        elif options.part == REMEDIES:
            compare_remedies(options.folder, seed=options.seed)
        else:
            ablate(options.folder, options.part, seed=options.seed)
    else:
        print(f"# Repairs of MiniLM\n\n{describe_machine(['torch', 'sentence-transformers'])}\n")
        print("Made by `python benchmarks/repair.py run` and `table`. Figures in percent, means over the seeds.\n")
        print("\n".join(build_report(options.folder)))
        if (options.folder / "remedies.json").exists():
            print("\n".join(format_remedies(options.folder)))


if __name__ == "__main__":
    main()
