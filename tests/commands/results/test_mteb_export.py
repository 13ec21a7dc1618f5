"""``probe show --format mteb``: its files, which ``probe correlate`` reads."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from helpers.in_process import Command
from helpers.runs.shown_geometry import make_geometry_result
from helpers.runs.shown_runs import split_rows, write_run
from helpers.strategies.probe_strategies import make_sample_result, make_seed_score
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.probes.reports.correlations import match_names, read_scores, to_mteb_name
from sentprobe.probes.results.data_facts import DataFacts
from sentprobe.probes.results.result import Condition, Result, make_score
from sentprobe.probes.similarity.distance_results import write_geometry

ENCODERS = ("bow?dim=8", "bow?dim=16", "st:./models/mini", "hf:org/mini?layer=1")
NAMES = ("sentprobe/bow_dim=8", "sentprobe/bow_dim=16", "sentprobe/mini", "org/mini_layer=1")


@pytest.fixture
def run(tmp_path: Path) -> Path:
    results = [
        make_sample_result(encoder, task, 500 + 10 * place + rise, 495, seeds=2)
        for place, encoder in enumerate(ENCODERS)
        for task, rise in (("Order", 0), ("SemRole", 5))
    ]
    return write_run(tmp_path / "run", *results)


def read(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


def test_the_files_of_a_run(run: Path, tmp_path: Path, command: Command) -> None:
    for encoder in ENCODERS[:2]:
        write_geometry(make_geometry_result(encoder, "role"), run)
    out = tmp_path / "out"
    line = ("show", run, "--format", "mteb", "--out", out)
    assert command(*line) == (0, f"results of 4 encoders in 10 files: {out}\n", "")
    folders = [name.replace("/", "__") for name in NAMES]
    assert sorted(path.name for path in (out / "results").iterdir()) == sorted(folders)
    (place,) = (out / "results" / folders[1]).iterdir()
    assert sorted(path.name for path in place.iterdir()) == [
        "GeometryRole.json",
        "Order.json",
        "SemRole.json",
        "model_meta.json",
    ]
    meta = read(place / "model_meta.json")
    assert (meta["name"], meta["revision"]) == (NAMES[1], place.name)
    record = read(place / "SemRole.json")
    assert (record["task_name"], record["dataset_revision"]) == ("SemRole", "0")
    (part,) = record["scores"]["test"]
    assert part["main_score"] == part["accuracy"] == pytest.approx(0.5155)
    assert part["low"] < 0.5155 < part["high"]
    assert part["chance"] == 0.5
    assert part["accuracy_random_sentences"] == pytest.approx(0.4955)
    assert [item["seed"] for item in part["scores_per_experiment"]] == [0, 1]
    (part,) = read(place / "GeometryRole.json")["scores"]["test"]
    assert part["main_score"] == part["form_cosine_accuracy"] == 0.5
    assert part["anchor_cosine_accuracy"] == 0.0


def test_correlate_reads_them(run: Path, tmp_path: Path, command: Command) -> None:
    assert command("show", run, "--format", "mteb", "--out", tmp_path / "out")[0] == 0
    assert match_names(ENCODERS, NAMES) == dict(zip(ENCODERS, NAMES, strict=True))
    assert read_scores(tmp_path / "out")[NAMES[3]]["Order"] == pytest.approx(0.5305)
    code, out, _ = command("correlate", run, "--with", tmp_path / "out")
    assert code == 0
    assert split_rows(out)[1] == ["Order", "1.00 [1.00, 1.00]", "1.00 [1.00, 1.00]"]
    assert "over 4 encoders" in " ".join(out.split())


def a_draw(seed: int, correct: int) -> Result:
    facts = DataFacts(train=9, test=1000, word_types=9, sampling="mirror", seed=seed, origin="x")
    right = make_seed_score([item < correct for item in range(1000)], seed=seed)
    return replace(
        make_sample_result("bow", "Order", correct),
        seed=seed,
        data=facts,
        dataset_fingerprint=f"{seed}",
        scores={Condition.PROBE: make_score([right], ())},
    )


def test_draws_are_parts_whose_mean_is_the_score(tmp_path: Path, command: Command) -> None:
    run = write_run(tmp_path / "run", a_draw(0, 600), a_draw(10, 700))
    assert command("show", run, "--format", "mteb", "--out", tmp_path / "out")[0] == 0
    (path,) = (tmp_path / "out").rglob("Order.json")
    assert [part["hf_subset"] for part in read(path)["scores"]["test"]] == ["seed-0", "seed-10"]
    assert read_scores(tmp_path / "out") == {"sentprobe/bow": {"Order": pytest.approx(0.65)}}


def test_what_is_there_stays_and_the_same_is_replaced(run: Path, tmp_path: Path, command: Command) -> None:
    line = ("show", run, "--format", "mteb", "--out", tmp_path / "out")
    assert command(*line)[0] == 0
    files = {p: p.read_bytes() for p in (tmp_path / "out").rglob("*.json")}
    (tmp_path / "out" / "results" / "mine.txt").write_text("mine")
    assert command(*line)[0] == 0
    assert {p: p.read_bytes() for p in (tmp_path / "out").rglob("*.json")} == files
    assert (tmp_path / "out" / "results" / "mine.txt").read_text() == "mine"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "--format mteb writes a folder: name it with --out"),
        (("--out", "{out}", "--intervals"), "--intervals is for tables, and --format mteb writes"),
        (("--out", "{out}", "--by-length", "bins"), "--by-length is for tables, and --format mteb"),
        (("--out", "{out}", "--caption", "x"), "--caption is for tables, and --format mteb writes"),
        (("--out", "{run}"), "is an input; the output needs another path"),
        (("--out", "{file}"), "cannot write results there"),
    ],
)
def test_what_cannot_be(run: Path, tmp_path: Path, command: Command, options: tuple[str, ...], message: str) -> None:
    (tmp_path / "file").write_text("mine")
    places = {"out": tmp_path / "out", "run": run, "file": tmp_path / "file"}
    arguments = [option.format(**places) for option in options]
    code, out, err = command("show", run, "--format", "mteb", *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message in err


def test_a_format_that_is_misspelt(run: Path, command: Command) -> None:
    code, _, err = command("show", run, "--format", "mtep")
    assert (code, "no format 'mtep' (did you mean 'mteb'?); known: text," in err) == (2, True)


def test_runs_that_do_not_fit(run: Path, tmp_path: Path, command: Command) -> None:
    other_result = replace(make_sample_result("bow?dim=8", "Order", 500), dataset_fingerprint="1")
    more = write_run(tmp_path / "more", other_result)
    same = write_run(tmp_path / "same", *(make_sample_result(f"st:{n}/x", "Order", 5) for n in ["./a", "/b"]))
    far = write_run(tmp_path / "far", make_sample_result("bow", "Order", 5))
    for seed in (0, 1):
        write_geometry(make_geometry_result("bow", seed=seed), far)
    empty = write_run(tmp_path / "empty")
    for runs, message in (
        ((run, more), "classifier, data or seed; MTEB's layout holds one of them: name fewer runs"),
        ((same,), "the encoders st:./a/x and st:/b/x would both be sentprobe/x in MTEB's layout"),
        ((far,), "there are two results of bow on the contrast role, of other sentences"),
        ((empty,), "no results yet"),
    ):  # fmt: skip
        code, out, err = command("show", *runs, "--format", "mteb", "--out", tmp_path / "out")
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert message in err
        assert not (tmp_path / "out").exists()


@examples(100)
@given(st.text(min_size=1))
def test_a_name_is_an_organisation_and_a_model_that_a_folder_can_have(encoder: str) -> None:
    organisation, slash, model = to_mteb_name(encoder).partition("/")
    assert slash
    for part in (organisation, model):
        assert part
        assert not {"/", " ", "\0", "\n"} & {*part}
        assert "__" not in part
    assert to_mteb_name(encoder) == to_mteb_name(encoder)
