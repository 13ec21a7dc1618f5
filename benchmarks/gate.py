"""False hits of a cross-encoder that learns from generated pairs, beside MiniLM's cosine, on held-out words.

    python benchmarks/gate.py FOLDER --model PATH > benchmarks/gate.md

The cross-encoder begins with the weights of the model in PATH, all-MiniLM-L6-v2, and a new layer that scores pairs. It
is saved to FOLDER, and read from there if it exists. Nothing is downloaded.
"""

import argparse
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from measure import describe_machine, format_sections, format_table
from transformers import AutoModelForSequenceClassification, AutoTokenizer

import sentprobe
from sentprobe.generator.pairs.triplets import SIDES, TripletSpace
from sentprobe.generator.spaces.templates import SplitSide
from sentprobe.lexicon import english
from sentprobe.probes.similarity.distance_tables import NEGATIVE_FORMS
from sentprobe.probes.similarity.measures import NegativeKind

CONTRASTS = ("role", "polarity", "tense", "aspect", "modality", "number", "noun", "verb")
TEMPLATES, VOCABULARY, SHARE = ("transitive",), "english", 0.3
"""Structures and words; the share of nouns and verbs that is held out of training."""
STEPS, TRIPLETS, RATE, WARM_UP = 400, 5, 2e-4, 40
"""Steps, triplets in a step, highest learning rate, and steps in which it rises; it falls to 0."""
TESTED = 400
"""Measured triplets of each contrast."""


def sample_triplets() -> list[tuple[str, ...]]:
    """Return triplets of the training words, in random order."""
    side = SplitSide(share=SHARE, held_out=False)
    count = -(-STEPS * TRIPLETS // len(CONTRASTS))
    rows: list[tuple[str, ...]] = []
    for contrast in CONTRASTS:
        space = TripletSpace(english(), contrast, vocabulary=VOCABULARY, templates=TEMPLATES, side=side)
        triplets = space.sample(count, seed=1)
        rows += zip(*map(triplets.render_texts, SIDES), strict=True)
    return [rows[i] for i in np.random.default_rng(0).permutation(len(rows))]


def list_pairs(triplet: tuple[str, ...], number: int) -> Iterator[tuple[str, str, float]]:
    """Yield pairs with the same meaning (1) and pairs with different meanings (0); a third is in the same form."""
    anchor, positive, negative, hard = triplet
    yield from ((anchor, positive, 1.0), (hard, negative, 1.0), (anchor, negative, 0.0), (positive, hard, 0.0))
    first, second = (anchor, hard) if number % 2 else (negative, positive)
    yield from ((first, first, 1.0), (second, first, 0.0))


def train(model_folder: str, folder: Path) -> None:
    """Train the cross-encoder and save it, with the CPU seconds that it took."""
    start = time.process_time()
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    tokenizer = AutoTokenizer.from_pretrained(model_folder)
    model = AutoModelForSequenceClassification.from_pretrained(
        model_folder, num_labels=1, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0
    )
    model.bert.embeddings.requires_grad_(requires_grad=False)
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / WARM_UP, 1 - (step - WARM_UP) / (STEPS - WARM_UP))
    )
    triplets = sample_triplets()
    model.train()
    for step in range(STEPS):
        batch = triplets[step * TRIPLETS : (step + 1) * TRIPLETS]
        rows = [row for number, triplet in enumerate(batch) for row in list_pairs(triplet, number)]
        firsts, seconds, labels = zip(*rows, strict=True)
        pairs = [pair[:: rng.choice((1, -1))] for pair in zip(firsts, seconds, strict=True)]
        inputs = tokenizer(*map(list, zip(*pairs, strict=True)), padding=True, return_tensors="pt")
        logits = model(**inputs).logits[:, 0]
        loss = torch.nn.functional.binary_cross_entropy_with_logits(logits, torch.tensor(labels))
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        if step % 50 == 49:
            right = ((logits > 0) == (torch.tensor(labels) > 0)).float().mean().item()
            print(f"step {step + 1}: loss {loss.item():.3f}, right {right:.2f}", file=sys.stderr, flush=True)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    (folder / "seconds.json").write_text(json.dumps(time.process_time() - start), "utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--model", required=True)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    if not (arguments.folder / "seconds.json").exists():
        train(arguments.model, arguments.folder)
    seconds = json.loads((arguments.folder / "seconds.json").read_text("utf-8"))
    cosine, cross = (
        sentprobe.gate(
            spec, contrasts=CONTRASTS, n=TESTED, vocabulary=VOCABULARY, templates=TEMPLATES, held_out=[str(SHARE)]
        )
        for spec in (f"st:{arguments.model}", f"ce:{arguments.folder}")
    )
    rates = [results.draws[0].rates for results in (cosine, cross)]
    names = [(row.contrast, NEGATIVE_FORMS[NegativeKind(row.form)]) for row in rates[0]]
    shares = np.array(
        [[row.false_hits for row in side] for side in rates] + [[row.auc for row in side] for side in rates]
    )
    columns = np.column_stack([shares, shares.mean(axis=1)]).T
    rows = [
        [*name, *(f"{100 * share:.1f}" for share in column)]
        for name, column in zip([*names, ("mean", "")], columns.tolist(), strict=True)
    ]
    heads = ("contrast", "negative in the", "false hits: cosine", "cross-encoder", "AUC: cosine", "cross-encoder")
    text = (
        f"A cross-encoder that begins with the weights of all-MiniLM-L6-v2 is trained on {STEPS * TRIPLETS:,} "
        f"generated triplets (template {TEMPLATES[0]}, vocabulary {VOCABULARY}, without {100 * SHARE:g}% of the "
        f"nouns and verbs) in {seconds:.0f} CPU seconds. Both are measured on {TESTED} triplets of each contrast with "
        "the held-out words, each at the threshold that keeps 95% of paraphrases.\n\n"
        f"- Cosine of MiniLM: {cosine}\n- Cross-encoder: {cross}\n\n{format_table(heads, rows)}"
    )
    print("# A trained cross-encoder\n")
    print(describe_machine(("torch", "transformers", "sentence-transformers")), end="\n\n")
    print("Made by `python benchmarks/gate.py FOLDER --model PATH`.\n")
    print(format_sections({"Held-out words": text}))


if __name__ == "__main__":
    main()
