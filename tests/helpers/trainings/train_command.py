"""``probe train`` for tiny encoders on texts of a few lines."""

import json
from collections.abc import Callable
from pathlib import Path

from helpers.in_process import Command
from helpers.oracles.pairs_at_once import build_training_columns

from sentprobe.generator.pairs.triplets import TripletSpace
from sentprobe.lexicon import english

Train = Callable[..., tuple[int, str, str]]
"""Runs ``probe train`` with the sizes of a tiny encoder."""

TINY = {"--hidden": 4, "--inputs": 3, "--batch": 8, "--steps": 4, "--validate-every": 2, "--precision": "float32"}
"""What is asked for where a test does not."""

OF_ENCODER = ("--hidden", "--inputs")
"""The options of these that mean something where nothing is learned."""

WEIGHTS = ("model.safetensors", "words.txt", "checkpoint/weights.safetensors")


def run_train(command: Command, *arguments: object) -> tuple[int, str, str]:
    """Run ``probe train`` and return its exit code, stdout and stderr."""
    tiny = {name: TINY[name] for name in OF_ENCODER} if "none" in arguments else TINY
    usual = [word for option in tiny.items() if option[0] not in arguments for word in option]
    return command("train", *arguments, *usual)


def write_triplets(folder: Path) -> Path:
    """Write 40 triplets to learn from, and return their file."""
    path = folder / "triplets.jsonl"
    space = TripletSpace(english(), "role", templates=["transitive"])
    columns = build_training_columns(space.sample(40, seed=1))
    rows = (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def write_text(folder: Path) -> Path:
    """Write three sentences, and return their file."""
    path = folder / "text.txt"
    path.write_text("The dog saw a cat .\nIt ran .\nThe cat did not .\n")
    return path


def contents(folder: Path, *names: str) -> list[bytes]:
    """Return what files of a folder hold."""
    return [(folder / name).read_bytes() for name in names]
