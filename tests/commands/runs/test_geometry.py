"""The command ``probe geometry`` on sampled triplets, files of ``gen pairs`` and test sentences of tasks."""

import csv
import io
import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from helpers.in_process import Command, check_refusal, check_success
from helpers.runs.natural_tables import sample_rows, write_table
from helpers.runs.shown_runs import parse_cells
from helpers.strategies.probe_strategies import make_learnable_dataset, make_sample_result, make_seed_score

from sentprobe.commands.shared.geometry_input import MIRROR_TASKS, parse_sentence_targets
from sentprobe.commands.shared.options import TripletOptions
from sentprobe.common.specs import Size
from sentprobe.generator.pairs.contrasts import CONTRASTS
from sentprobe.generator.pairs.triplet_files import TripletFormat, write_triplets
from sentprobe.generator.pairs.triplets import TripletSpace
from sentprobe.lexicon import english
from sentprobe.probes.classifier.presets import find_preset
from sentprobe.probes.datasets.dataset import ProbeDataset, Split
from sentprobe.probes.datasets.formats import write_dataset
from sentprobe.probes.encoders.kinds import make_encoder
from sentprobe.probes.generated.assemble import build
from sentprobe.probes.generated.tasks import find_task
from sentprobe.probes.reports.tables.distance_report import select_items_with_probe
from sentprobe.probes.results.result import Condition, Result, make_score, renumber_units
from sentprobe.probes.results.store import prepare_directory, read_results, write_result
from sentprobe.probes.similarity.distance_results import read_geometry

TINY = ("--n", "30", "--distractors", "2", "--no-cache")


def test_table(command: Command, tmp_path: Path) -> None:
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


def test_mean_of_probes_is_shown(command: Command, tmp_path: Path) -> None:
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
    shown = check_success(command(*arguments))
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


def test_encoder_of_zeros(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "zeros_only.py").write_text(
        "import numpy as np\ndef encode(sentences):\n    return np.zeros((len(sentences), 4), dtype=np.float32)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    shown = check_success(command("geometry", "-e", "python:zeros_only:encode", "-c", "role", *TINY, "-f", "json"))
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


def test_figures_by_nearness_are_those_of_records(command: Command, uneven: str) -> None:
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
def test_figures_by_group_are_those_of_records(command: Command, uneven: str, by: str) -> None:
    arguments = ("geometry", "-e", uneven, "-c", "role", *TINY, "--format")
    records = [record for record in json.loads(command(*arguments, "json")[1]) if record["by"] == by]
    rows = table_rows(command(*arguments, "markdown", "--by", by)[1])
    groups = {record["group"] for record in records}
    expected = [(record["group"], f"{100 * record['accuracy']:.1f}") for record in records]
    assert [(row[0], row[1]) for row in rows if row[0] in groups] == expected
    assert len({figure for _, figure in expected}) > 2


@pytest.mark.parametrize("by", ["structure", "place", "distance", "voice"])
def test_by_group(command: Command, by: str) -> None:
    shown = check_success(
        command("geometry", "-e", "bow?dim=8", "-c", "role", "-t", "transitive", *TINY, "--by", by, "-f", "markdown")
    )
    assert f"| {by} | role |" in shown
    group = {"structure": "transitive", "place": "main", "distance": "1 to 3 tokens", "voice": "no relative clause"}[by]
    assert f"| {group} | 50.0 |" in shown


def test_parts_stand_beside_the_mean(command: Command, uneven: str) -> None:
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


def test_default_contrasts_are_those_of_template(command: Command) -> None:
    _, shown, _ = command("geometry", "-e", "bow?dim=8", "-t", "transitive", *TINY, "-f", "markdown")
    header = shown.splitlines()[0]
    assert "role" in header
    assert "modifier" not in header


def test_contrasts_missing_in_template_are_named(command: Command) -> None:
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


BAD = [
    ("-e bow?dim=8 -c rolle", "there is no contrast 'rolle' (did you mean 'role'?)"),
    ("-e bow?dim=8 -c role -t intransitive", "no clause of it is transitive"),
    ("-e bow?dim=8 -t intransitive", "no clause of it is transitive"),
    ("-e bow?dim=8 -c modifier -t transitive", "needs a relative clause on the agent"),
    ("-e bow?dim=8 -c role -t transitive -n 9000", "there are only 5376 different ones"),
    ("-e bow?dim=8 -c noun -n 250000001", "too many at once, at most 250,000,000"),
    ("-e majority", "'majority' is a baseline without vectors, so it has no distances"),
    ("-e bow -e bow", "encoder 'bow' is given twice"),
    ("-e bow?dim=8 --nearness far", "there is no nearness 'far'"),
    ("-e bow?dim=8 --by length", "there is no group 'length'"),
    ("-e bow?dim=8 --by place --nearness dot", "groups are measured by cosine only"),
    ("-e bow?dim=8 --distractors 9 -c role", "a triplet has from 0 to 8 distractors, not 9"),
    ("-e bow?dim=8 --format html", "geometry has no format 'html'"),
    ("-e bow?dim=8 --threads 0", "threads"),
    (
        "-e bow?dim=2100 -c role -n 5 --nearness whitened --no-cache",
        "there are more dimensions than sentences to estimate whitening from",
    ),
    ("-e bow?dim=8 -c role -n 30 --no-cache -o full", "not a directory of sentprobe's results"),
]


@pytest.mark.usefixtures("working_folder")
@pytest.mark.parametrize(("line", "message"), BAD, ids=[line for line, _ in BAD])
def test_bad_request_is_refused(line: str, message: str, command: Command) -> None:
    Path("full").mkdir()
    Path("full/a.txt").write_text("mine")
    check_refusal(command("geometry", *line.split()), message, progress=True)


def test_refused_request_leaves_no_folder(command: Command, tmp_path: Path) -> None:
    out = tmp_path / "results"
    assert command("geometry", "-e", "majority", "-c", "role", *TINY, "-o", str(out))[0] == 2
    vectors = tmp_path / "few.npy"
    np.save(vectors, np.ones((3, 4), dtype=np.float32))
    arguments = ("-e", f"file:{vectors}", "-c", "role", *TINY, "-o", str(out))
    code, _, err = command("geometry", *arguments)
    assert code != 0
    assert "3 vectors for" in err
    assert not out.exists()


BOW = ("-e", "bow?dim=8", "--no-cache")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Triplets of two contrasts."""
    out = tmp_path_factory.mktemp("pairs")
    for name in ("role", "tense"):
        space = TripletSpace(english(), name, vocabulary="compeval", templates=["all"])
        drawn = space.sample(30, seed=0)
        for fmt in (TripletFormat.PARQUET, TripletFormat.JSONL):
            write_triplets(drawn, out / f"{name}.{fmt}", fmt)
    return out


def figures(shown: str) -> dict[str, Any]:
    """Return each figure but those by group, by what it is of."""
    keys = ("accuracy", "paired", "margin", "low", "high")
    return {
        f"{record['contrast']} {record['kind']} {record['nearness']} {key}": record[key]
        for record in json.loads(shown)
        for key in keys
        if not record["by"]
    }


@pytest.mark.parametrize("suffix", ["parquet", "jsonl"])
def test_figures_equal_those_of_sampled_triplets(suffix: str, files: Path, command: Command) -> None:
    arguments = [files / f"{name}.{suffix}" for name in ("role", "tense")]
    read = check_success(command("geometry", *arguments, *BOW, "--format", "json"))
    options = ("-c", "role", "-c", "tense", "-n", 30, "--distractors", 0)
    drawn = check_success(command("geometry", *options, *BOW, "--format", "json"))
    assert figures(read) == pytest.approx(figures(drawn))


def test_note_names_number_of_triplets(files: Path, command: Command) -> None:
    shown = check_success(command("geometry", files / "role.parquet", *BOW))
    assert "30 triplets from each file, and their mirrors" in " ".join(shown.split())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("role.jsonl role.parquet", "role.parquet are both of the contrast role: use two"),
        ("role.jsonl --by place", "--by is for sampled triplets, not for those of "),
        ("role.jsonl --held-out 0.3", "--held-out is for sampled triplets, not for those"),
        ("role.jsonl --task Order", "--task is for compeval or datasets: name"),
        ("role.jsonl -n 3", "--n is for sampled triplets, not for the sentences of "),
    ],
)
def test_bad_files_are_refused(options: str, message: str, files: Path, command: Command) -> None:
    words = [files / word if "." in word and "0" not in word else word for word in options.split()]
    check_refusal(command("geometry", *words, *BOW), message)


@pytest.mark.parametrize("suffix", ["parquet", "jsonl"])
def test_files_without_annotation(suffix: str, tmp_path: Path, command: Command) -> None:
    path = tmp_path / f"training.{suffix}"
    line = {"anchor": "a man slept", "positive": "b", "negative": "c"}
    if suffix == "jsonl":
        path.write_text(json.dumps(line), "utf-8")
    else:
        pq.write_table(pa.Table.from_pylist([line]), path)
    message = (
        f"{path}: not triplets that can be measured: contrast, hard_negative, annotation are missing; "
        "gen pairs writes them with their annotation, as JSONL or Parquet, without --for training\n"
    )
    assert command("geometry", path, *BOW) == (1, "", f"probe: {message}")


def test_damaged_file_is_named(tmp_path: Path, command: Command) -> None:
    path = tmp_path / "role.parquet"
    path.write_bytes(b"PAR1")
    check_refusal(command("geometry", path, *BOW), f"probe: {path}: not a Parquet file that can be read (", 1)


FAST = ("--set", "max_epochs=2", "--jobs", "1", "--no-cache", "--no-controls")
OF_BOW = ("-e", "bow?dim=8")
SMALL = Size(56, 56)
PROBED = "accuracy, a probe on the same sentences"


@pytest.fixture(scope="module")
def tasks() -> dict[str, ProbeDataset]:
    return {n: build(find_task(n), english(), size=SMALL) for n in ("SemRole", "Negation")}


@pytest.fixture
def sets(tmp_path: Path, tasks: dict[str, ProbeDataset]) -> Path:
    for name, data in tasks.items():
        write_dataset(data, tmp_path / "sets" / name)
    return tmp_path / "sets"


def probed(data: ProbeDataset, right: Callable[[int], bool], *, seed: int = 0, **changed: Any) -> Result:
    """Return the result of a probe of bow that has the test items right of which that holds."""
    answers = [right(at) for at in range(len(data.splits[Split.TEST]))]
    units = renumber_units(data.units(Split.TEST))
    result = replace(
        make_sample_result("bow?dim=8", data.name, 500),
        encoder_fingerprint=make_encoder("bow?dim=8", seed=seed).fingerprint,
        dataset_fingerprint=data.fingerprint(),
        scores={Condition.PROBE: make_score([make_seed_score(answers, seed=seed)], units)},
        units=units,
        seed=seed,
    )
    return replace(result, **changed)


@pytest.mark.slow  # it trains a probe
def test_both_are_of_the_same_sentences(
    command: Command, sets: Path, tmp_path: Path, tasks: dict[str, ProbeDataset]
) -> None:
    """The items that the probe answered are those whose sentences are the anchors, by the files."""
    out = tmp_path / "results"
    assert command("run", sets, "--task", "SemRole", *OF_BOW, *FAST, "--out", out)[0] == 0
    code, stdout, stderr = command("geometry", sets, *OF_BOW, "--no-cache", "--out", out)
    assert code == 0
    assert f"results: {out}" in stderr
    cells = parse_cells(stdout)
    assert cells["", "encoder"] == ["Negation", "SemRole"]
    assert cells["accuracy, negative in the positive's form", "bow?dim=8"] == ["50.0", "50.0"]
    assert cells[PROBED, "bow?dim=8"] == ["-", "50.0"]  # of mirror pairs, bow is on half
    (record,) = read_results(out).records
    (result,) = (item for item in read_geometry(out) if item.contrast == "SemRole")
    assert record.dataset_fingerprint == result.dataset == tasks["SemRole"].fingerprint()
    assert record.encoder_fingerprint == result.encoder_fingerprint
    assert sorted(result.items) == [*range(record.scores[Condition.PROBE].total)]
    assert "The anchors are test sentences (mirror pairs: Negation " in stdout
    assert "in this folder" not in stdout  # that is of other sentences
    shown = command("show", out)[1]
    shown = shown[shown.index("geometry\n") :]
    assert parse_cells(shown)["", "encoder"] == ["SemRole", "Negation"]
    assert parse_cells(shown)[PROBED, "bow?dim=8"] == ["50.0", "-"]
    page = command("show", out, "-f", "html")[1]
    assert PROBED in page


def test_probe_counts_on_the_anchors_alone(
    command: Command, sets: Path, tmp_path: Path, tasks: dict[str, ProbeDataset]
) -> None:
    """Right on just the items that are no anchors: 0.0; on just the anchors: 100.0."""
    out, data = tmp_path / "results", tasks["Negation"]
    geometry = ("geometry", sets, "--task", "Negation", *OF_BOW, "--no-cache", "--out", out)
    assert (PROBED, "bow?dim=8") not in parse_cells(command(*geometry)[1])
    (result,) = read_geometry(out)
    anchors = {*result.items}
    assert 0 < len(anchors) < len(data.splits[Split.TEST])
    options: list[dict[str, Any]] = [{"dataset_fingerprint": "0"}, {"encoder_fingerprint": "other"}]
    for changed in options:
        path = write_result(probed(data, anchors.__contains__, **changed), out)
        assert (PROBED, "bow?dim=8") not in parse_cells(command(*geometry)[1])
        path.unlink()
    for expected, right in (("0.0", lambda at: at not in anchors), ("100.0", anchors.__contains__)):
        write_result(probed(data, right), out)
        assert parse_cells(command(*geometry)[1])[PROBED, "bow?dim=8"] == [expected]
    shown = parse_cells(command(*geometry, "--intervals")[1])[PROBED, "bow?dim=8"]
    assert shown[0].startswith("100.0 [")
    other_result = replace(find_preset("logreg"), name="logreg")
    write_result(probed(data, lambda at: at not in anchors, preset=other_result), out)
    shown = parse_cells(command(*geometry)[1])[PROBED, "bow?dim=8"]
    assert sorted(shown[0].split(", ")) == ["0.0 (logreg)", "100.0 (ettinger)"]


def test_units_and_answers_of_some_items(tasks: dict[str, ProbeDataset]) -> None:
    result = make_sample_result("bow", "Order", 500, mirrored=True, seeds=2)
    some = select_items_with_probe(result, [998, 999, 0, 1])
    score = some.scores[Condition.PROBE]
    assert (score.total, score.accuracy, some.units) == (4, 0.5, (0, 0, 1, 1))
    assert [seed.seed for seed in score.seeds] == [0, 1]
    assert select_items_with_probe(result, []) is result
    assert select_items_with_probe(result, [1000]) is result
    assert tasks["SemRole"].units(Split.TEST).tolist() == np.repeat(range(14), 4).tolist()


def test_compeval_has_datasets_of_run(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The word stands for the same datasets as for ``probe run``, by seed and by words."""
    from sentprobe.probes.runs import suites

    calls: list[tuple[str, int, str]] = []
    built: dict[int, ProbeDataset] = {}

    def small(task: Any, lexicon: Any, **options: Any) -> ProbeDataset:
        calls.append((task.name, options["seed"], options["vocabulary"]))
        data = built.get(options["seed"]) or build(task, lexicon, **{**options, "size": SMALL})
        return built.setdefault(options["seed"], data)

    monkeypatch.setattr(suites, "build", small)
    out = tmp_path / "results"
    for seed in (0, 10):
        more = (*OF_BOW, "--task", "SemRole", "--seed", seed, "--out", out, "--no-cache")
        assert command("geometry", "compeval", *more)[0] == 0
        write_result(probed(built[seed], lambda at: at < 28, seed=seed), out)
    assert calls == [("SemRole", seed, "compeval") for seed in (0, 10)]
    assert len({result.dataset for result in read_geometry(out)}) == 2
    shown = command("show", out)[1]
    shown = shown[shown.index("geometry") :]
    assert "over 2 draws" in shown
    assert parse_cells(shown)[PROBED, "bow?dim=8"] == ["50.0 ± 50.0"]


def test_of_compeval_the_tasks_of_mirror_pairs() -> None:
    for words, names in ((["compeval"], ()), (["compeval"], ("SemRole",))):
        targets = parse_sentence_targets(words, names, TripletOptions(), seed=3)
        (suite,) = targets.built
        assert [task.name for task in suite.tasks] == [*(names or MIRROR_TASKS)]
    assert sorted(MIRROR_TASKS) == ["Negation", "Order", "SemRole"]


def test_task_without_mirror_pairs_is_omitted(command: Command, sets: Path) -> None:
    write_dataset(make_learnable_dataset(name="toy", size=30), sets / "toy")
    code, stdout, stderr = command("geometry", sets, *OF_BOW, "--no-cache", "-f", "json")
    assert code == 0
    assert {record["contrast"] for record in json.loads(stdout)} == {"SemRole", "Negation"}
    assert "left out: toy: no test items are mirror pairs" in stderr
    code, stdout, stderr = command("geometry", sets, *OF_BOW, "--task", "toy")
    assert (code, stdout) == (2, "")
    assert "toy: no test items are mirror pairs" in stderr


SETS_BAD = [
    ("sets -c role", "--contrast is for sampled triplets, not for the sentences"),
    ("sets -n 9", "--n is for sampled triplets"),
    ("sets --distractors 3", "--distractors is for sampled triplets"),
    ("compeval -t transitive", "--template is for sampled triplets"),
    ("--task SemRole -c role", "--task is for compeval or datasets"),
    ("compevl", "there is no suite 'compevl' (did you mean 'compeval'?)"),
    ("none/none", "nor such a file or directory"),
    ("sets --task SemRol", "there is no task 'SemRol'"),
    ("compeval --task BShift", "there is no compeval task 'BShift'"),
    ("natural table", "natural-text tasks have no mirror pairs"),
    ("table", "natural-text tasks have no mirror pairs"),
    ("sets sets", "twice"),
]


@pytest.mark.usefixtures("working_folder", "sets")
@pytest.mark.parametrize(("line", "message"), SETS_BAD, ids=[line for line, _ in SETS_BAD])
def test_bad_sentences_are_refused(line: str, message: str, command: Command) -> None:
    write_table(sample_rows(30), Path("table"))
    check_refusal(command("geometry", *line.split(), *OF_BOW), message, progress=True)
