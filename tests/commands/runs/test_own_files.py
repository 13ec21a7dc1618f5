"""Users' own files in ``probe run`` and ``probe audit``."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers.in_process import Command

SHORT = ("-e", "bow?dim=8", "--set", "max_epochs=1", "--jobs", 1, "--no-cache", "--no-controls")
SIZES = (("train", 40), ("dev", 10), ("test", 20))


def rows() -> list[tuple[str, str, str]]:
    calls = []
    for split, size in SIZES:
        for number in range(size):
            label = str(number % 2)
            calls.append((split, f"the {split} film {number} is {'good' if number % 2 else 'bad'}", label))
    return calls


def as_csv(folder: Path) -> Path:
    path = folder / "reviews.csv"
    lines = [f'{split},"{text}",{label}\n' for split, text, label in rows()]
    path.write_text("split,text,label\n" + "".join(lines))
    return path


def as_jsonl(folder: Path) -> Path:
    path = folder / "reviews.jsonl"
    with path.open("w") as file:
        for number, (split, text, label) in enumerate(rows()):
            value = {"idx": number, "text": text, "label": int(label), "split": split}
            file.write(json.dumps(value) + "\n")
    return path


def as_splits(folder: Path) -> Path:
    (folder / "reviews").mkdir()
    for split, _ in SIZES:
        lines = [f'"{text}",{label}\n' for value, text, label in rows() if value == split]
        (folder / "reviews" / f"{split}.csv").write_text("sentence,label\n" + "".join(lines))
    return folder / "reviews"


def as_senteval(folder: Path) -> Path:
    path = folder / "reviews.txt"
    codes = {"train": "tr", "dev": "va", "test": "te"}
    path.write_text("".join(f"{codes[s]}\t{label}\t-\t{text}\n" for s, text, label in rows()))
    return path


@pytest.mark.parametrize("write", [as_csv, as_jsonl, as_splits, as_senteval])
def test_files_of_ones_own_are_run_and_audited(write: Callable[[Path], Path], tmp_path: Path, command: Command) -> None:
    path = write(tmp_path)
    code, out, err = command("run", path, *SHORT)
    assert (code, "reviews" in out, "20 test items" in out) == (0, True, True), err
    assert ("available to probe show --by: 'idx'" in out + err) == (write is as_jsonl)
    code, out, err = command("audit", path, "--jobs", 1)
    assert (code, "reviews: LEAK: bag of words" in out) == (0, True), err


def test_what_is_missing_is_said_in_a_line(tmp_path: Path, command: Command) -> None:
    path = tmp_path / "reviews.csv"
    path.write_text("text,label\ngood,1\n")
    for line in (("run", path, *SHORT), ("audit", path)):
        code, out, err = command(*line)
        assert (code, out) == (1, "")
        assert f"{path}: line 1: 'split' is missing: give each item its split" in err
