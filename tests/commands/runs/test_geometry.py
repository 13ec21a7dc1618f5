"""The command ``probe geometry``: output, results and errors."""

import csv
import io
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.in_process import Command
from helpers.strategies.probe_strategies import make_sample_result

from sentprobe.generator.pairs.contrasts import CONTRASTS
from sentprobe.probes.encoders.kinds import make_encoder
from sentprobe.probes.results.result import Result
from sentprobe.probes.results.store import prepare_directory, read_results, write_result

TINY = ("--n", "30", "--distractors", "2", "--no-cache")


def test_the_table(command: Command, tmp_path: Path) -> None:
    out = tmp_path / "results"
    arguments = ("geometry", "-e", "bow?dim=8", "-c", "role", "-c", "tense", *TINY, "-o", str(out))
    code, shown, err = command(*arguments)
    assert code == 0
    rows = [line.split() for line in shown.splitlines() if "bow?dim=8" in line]
    assert rows[0].count("50.0") == 1
    assert rows[1].count("0.0") == 1
    assert "A bag of words is at 50.0 in the positive's form and at 0.0 in the anchor's" in shown
    assert f"results: {out}" in err
    assert len(list((out / "geometry").iterdir())) == 2
    code, again, err = command(*arguments)
    assert (code, again) == (0, shown)
    assert "2 results found" in err
    assert "encode" not in err


def make_probe_result(encoder: str, correct: int, *, seed: int = 0, **changed: Any) -> Result:
    """Return a result of SemRole with *correct* of 1000 items right."""
    fingerprint = make_encoder(encoder, seed=0).fingerprint
    result = make_sample_result(encoder, "SemRole", correct)
    return replace(result, **{"encoder_fingerprint": fingerprint, "seed": seed, **changed})


def test_beside_several_probes_their_mean_and_none_of_another_encoder(command: Command, tmp_path: Path) -> None:
    out = tmp_path / "results"
    prepare_directory(out)
    for seed, correct in enumerate((700, 720, 770)):
        write_result(make_probe_result("bow?dim=8", correct, seed=seed), out)
    for seed, other_name in ((3, "of another seed"), (4, "")):
        write_result(make_probe_result("bow?dim=8", 990, seed=seed, encoder_fingerprint=other_name), out)
    write_result(make_probe_result("bow?dim=8", 990, seed=5, scores={}), out)
    _, shown, _ = command("geometry", "-e", "bow?dim=8", "-c", "role", *TINY, "-o", str(out))
    assert "SemRole in this folder: bow?dim=8 73.0 (mean of 3)." in shown


def test_beside_a_probe_in_the_same_folder(command: Command, tmp_path: Path) -> None:
    """The folder is that of a run, which still reads its own results."""
    out = tmp_path / "results"
    prepare_directory(out)
    write_result(make_probe_result("bow?dim=8", 700), out)
    arguments = ("geometry", "-e", "bow?dim=8", "-c", "role", *TINY, "-o", str(out))
    code, shown, _ = command(*arguments)
    assert code == 0
    assert "SemRole in this folder: bow?dim=8 70.0." in shown
    json.loads(command(*arguments, "-f", "json")[1])
    assert len(read_results(out).records) == 1


def test_records_and_other_formats(command: Command) -> None:
    arguments = ("geometry", "-e", "bow?dim=8", "-c", "role", *TINY, "--format")
    records = json.loads(command(*arguments, "json")[1])
    rows = list(csv.DictReader(io.StringIO(command(*arguments, "csv")[1])))
    assert len(rows) == len(records)
    (record,) = (row for row in records if (row["kind"], row["nearness"], row["by"]) == ("form", "cosine", ""))
    assert (record["accuracy"], record["paired"], record["triplets"]) == (0.5, 0.25, 60)
    assert "| bow?dim=8 | 50.0 |" in command(*arguments, "markdown")[1]
    latex = command(*arguments, "latex", "--caption", "Geometry")[1]
    assert r"\caption{Geometry}" in latex
    assert "bow?dim=8 & 50.0" in latex


def test_an_encoder_of_zeros(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "zeros_only.py").write_text(
        "import numpy as np\ndef encode(sentences):\n    return np.zeros((len(sentences), 4), dtype=np.float32)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    code, shown, _ = command("geometry", "-e", "python:zeros_only:encode", "-c", "role", *TINY, "-f", "json")
    assert code == 0
    assert {record["accuracy"] for record in json.loads(shown)} == {0.5}


@pytest.fixture
def uneven(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the spec of an encoder whose figures differ by nearness, contrast and group."""
    (tmp_path / "uneven.py").write_text(
        "import numpy as np\n"
        "def encode(sentences):\n"
        "    rows = [[ord(w[1]) + 9.0 * at * len(w) for at, w in enumerate(t.split()[:5])]\n"
        "            for t in sentences]\n"
        "    return np.array(rows, dtype=np.float32)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "uneven", raising=False)
    return "python:uneven:encode"


def table_rows(markdown: str) -> list[list[str]]:
    lines = [line for line in markdown.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in lines]


def test_the_figures_shown_are_those_of_the_nearness(command: Command, uneven: str) -> None:
    arguments = ("geometry", "-e", uneven, "-c", "role", *TINY, "--format")
    records = json.loads(command(*arguments, "json")[1])
    shown = {}
    for name in ("cosine", "dot", "euclid", "whitened"):
        rows = table_rows(command(*arguments, "markdown", "--nearness", name)[1])
        cells = [row[1] for row in rows if row[0] == uneven]
        expected = [record for record in records if (record["nearness"], record["by"]) == (name, "")]
        assert [record["kind"] for record in expected] == ["form", "anchor"]
        shown[name] = cells[:4]
        assert shown[name] == [f"{100 * record[of]:.1f}" for of in ("accuracy", "paired") for record in expected]
    assert len(set(map(tuple, shown.values()))) == 4


@pytest.mark.parametrize("by", ["structure", "place", "distance", "voice"])
def test_the_figures_by_group_are_those_of_the_group(command: Command, uneven: str, by: str) -> None:
    arguments = ("geometry", "-e", uneven, "-c", "role", *TINY, "--format")
    records = [record for record in json.loads(command(*arguments, "json")[1]) if record["by"] == by]
    rows = table_rows(command(*arguments, "markdown", "--by", by)[1])
    groups = {record["group"] for record in records}
    expected = [(record["group"], f"{100 * record['accuracy']:.1f}") for record in records]
    assert [(row[0], row[1]) for row in rows if row[0] in groups] == expected
    assert len({figure for _, figure in expected}) > 2


@pytest.mark.parametrize("by", ["structure", "place", "distance", "voice"])
def test_by_group(command: Command, by: str) -> None:
    code, shown, _ = command(
        "geometry", "-e", "bow?dim=8", "-c", "role", "-t", "transitive", *TINY, "--by", by,
        "-f", "markdown")  # fmt: skip
    assert code == 0
    assert f"| {by} | role |" in shown
    group = {"structure": "transitive", "place": "main", "distance": "1 to 3 tokens", "voice": "no relative clause"}[by]
    assert f"| {group} | 50.0 |" in shown


def test_the_parts_stand_beside_the_mean(command: Command, uneven: str) -> None:
    """The lowest and the highest accuracy by the changed clause and the clause in the other voice."""
    arguments = ("geometry", "-e", uneven, "-c", "role", "-n", "400", "--distractors", "0", "--format")
    records = json.loads(command(*arguments, "json")[1])
    shown = command(*arguments, "markdown")[1]
    rows = table_rows(shown)
    for kind, title in (("form", "positive's form"), ("anchor", "anchor's form")):
        parts = [r for r in records if (r["by"], r["kind"]) == ("voice", kind) and r["triplets"] >= 20]
        low, high = (f"{100 * choose(r['accuracy'] for r in parts):.1f}" for choose in (min, max))
        (at,) = (i for i, row in enumerate(rows) if row[0] == f"lowest to highest voice, negative in the {title}")
        assert rows[at + 1] == [uneven, f"{low} to {high}"]
    assert "Accuracy is a mean over groups by changed clause and clause in the other form (--by voice)" in shown
    assert len(parts) == 6


def test_intervals_and_another_nearness(command: Command) -> None:
    arguments = ("geometry", "-e", "bow?dim=8", "-c", "role", *TINY, "-f", "markdown")
    for nearness in ("dot", "euclid", "whitened"):
        _, shown, _ = command(*arguments, "--nearness", nearness, "--intervals")
        assert r"| bow?dim=8 | 50.0 \[" in shown
        assert f"by {nearness}" in shown
        assert "mean rank" not in shown


def test_without_names_the_contrasts_that_a_template_has(command: Command) -> None:
    _, shown, _ = command(
        "geometry", "-e", "bow?dim=8", "-t", "transitive", *TINY, "-f", "markdown")  # fmt: skip
    header = shown.splitlines()[0]
    assert "role" in header
    assert "modifier" not in header


def test_contrasts_that_one_of_the_templates_lacks_are_named(command: Command) -> None:
    """A column covers all templates; a template without the contrast is reported."""
    templates = ("-t", "transitive", "-t", "transitive-rc")
    code, shown, err = command("geometry", "-e", "bow?dim=8", *templates, *TINY, "-f", "markdown")
    assert code == 0
    header = shown.splitlines()[0]
    for name in CONTRASTS:
        is_left_out = any("left out: " in line and f"the contrast '{name}'" in line for line in err.splitlines())
        assert is_left_out is (f" {name} " not in header)
    assert "left out: the contrast 'binding' needs adjectives; vocabulary 'compeval' has none" in err
    assert "modifier" not in header
    code, _, err = command("geometry", "-e", "bow", *templates, "-c", "modifier")
    assert code == 2
    assert "left out" not in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-c", "rolle"), "there is no contrast 'rolle' (did you mean 'role'?)"),
        (("-c", "role", "-t", "intransitive"), "no clause of it is transitive"),
        (("-t", "intransitive"), "no clause of it is transitive"),
        (("-c", "modifier", "-t", "transitive"), "needs a relative clause on the agent"),
        (("-c", "role", "-t", "transitive", "-n", "9000"), "there are only 6720 different ones"),
        (("-c", "noun", "-n", "250000001"), "too many at once, at most 250,000,000"),
        (("-e", "majority"), "'majority' is a baseline without vectors, so it has no distances"),
        (("-e", "bow", "-e", "bow"), "encoder 'bow' is given twice"),
        (("--nearness", "far"), "there is no nearness 'far'"),
        (("--by", "length"), "there is no group 'length'"),
        (("--by", "place", "--nearness", "dot"), "groups are measured by cosine only"),
        (("--distractors", "9", "-c", "role"), "a triplet has from 0 to 8 distractors, not 9"),
        (("--format", "html"), "geometry has no format 'html'"),
        (("--threads", "0"), "threads"),
    ],
)
def test_what_is_refused(command: Command, arguments: tuple[str, ...], message: str) -> None:
    usual = () if "-e" in arguments else ("-e", "bow?dim=8")
    code, shown, err = command("geometry", *usual, *arguments)
    assert (code, shown) == (2, "")
    assert message in err


def test_what_is_refused_leaves_no_folder(command: Command, tmp_path: Path) -> None:
    out = tmp_path / "results"
    assert command("geometry", "-e", "majority", "-c", "role", *TINY, "-o", str(out))[0] == 2
    vectors = tmp_path / "few.npy"
    np.save(vectors, np.ones((3, 4), dtype=np.float32))
    arguments = ("-e", f"file:{vectors}", "-c", "role", *TINY, "-o", str(out))
    code, _, err = command("geometry", *arguments)
    assert code != 0
    assert "3 vectors for" in err
    assert not out.exists()


def test_whitened_needs_sentences(command: Command) -> None:
    arguments = ("-c", "role", "-n", "5", "--nearness", "whitened", "--no-cache")
    code, _, err = command("geometry", "-e", "bow?dim=2100", *arguments)
    assert code == 2
    assert "there are more dimensions than sentences to estimate whitening from" in err


def test_a_folder_that_is_not_ours(command: Command, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("mine")
    code, _, err = command("geometry", "-e", "bow?dim=8", "-c", "role", *TINY, "-o", str(tmp_path))
    assert code == 2
    assert "not a directory of sentprobe's results" in err
