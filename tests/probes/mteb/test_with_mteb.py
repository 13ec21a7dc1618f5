"""MTEB itself evaluates our tasks as ``probe run`` does, and reads the results that we write."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from helpers.encoders.model_files import packaged_model
from helpers.runs.natural_tables import sample_rows, write_table
from helpers.runs.shown_geometry import make_geometry_result
from helpers.shared import ROOT
from helpers.strategies.probe_strategies import make_learnable_dataset, make_sample_result

import sentprobe
from sentprobe.generator.pairs.retrieval_files import ExclusionSpace, sample_distinct_meanings, write_retrieval
from sentprobe.generator.pairs.triplet_files import TripletFormat, write_triplets
from sentprobe.generator.pairs.triplets import TripletSpace
from sentprobe.probes.mteb import make_mteb_results, write_mteb_results
from sentprobe.probes.reports.comparisons import group_by_encoder
from sentprobe.probes.reports.correlations import read_scores
from sentprobe.probes.results.result import Results
from sentprobe.probes.runs.suites import list_known_tasks

pytestmark = [pytest.mark.slow, pytest.mark.skipif(find_spec("mteb") is None, reason="the extra mteb is not installed")]
TASKS = {"Content1Probe": 1, "SemRole": 2, "Tense": 0, "AdiOrder": 2, "GeometryRole": None}
"""Those that are evaluated, of each kind one, and how many probe words each has."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of all tasks, in name, one of those that are evaluated, and one of results."""
    folder = tmp_path_factory.mktemp("mteb")
    for task in list_known_tasks():
        data = make_learnable_dataset(name=task.name, size=40)
        sentprobe.write_dataset(data, folder / "all" / task.name, format="hub")
    table = write_table(sample_rows(), folder / "table").path
    for data in (
        *(sentprobe.build_task(name, train=84, test=56) for name in ("Content1Probe", "SemRole")),
        *sentprobe.build_natural(table, ["Tense", "AdiOrder"], train=60, validation=20, test=40),
    ):
        sentprobe.write_dataset(data, folder / "some" / data.name)
    triplets = TripletSpace(sentprobe.english(), "role", vocabulary="compeval").sample(30, seed=0)
    for name in ("all", "some"):
        write_triplets(triplets, folder / name / "role.parquet", TripletFormat.PARQUET)
    queries = ExclusionSpace(sentprobe.english(), vocabulary="english")
    write_retrieval(sample_distinct_meanings([queries], 30, seed=0), folder / "exclusion")
    probed = Results(tuple(make_sample_result(e, "Order", n) for e, n in (("bow", 600), ("st:o/m", 700))))
    models = make_mteb_results(group_by_encoder(probed, "run"), [make_geometry_result("bow", "role")])
    write_mteb_results(models, folder / "exported")
    return folder


@pytest.fixture(scope="module")
def session(place: Path) -> Any:
    """The output of a session with MTEB."""
    script = ROOT / "tests" / "helpers" / "runs" / "mteb_session.py"
    command = [sys.executable, str(script), str(place), str(packaged_model())]
    environment = os.environ | {"HF_DATASETS_CACHE": str(place / "datasets")}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_every_task_has_full_metadata(session: Any) -> None:
    names = {task.name for task in list_known_tasks()}
    assert {*session["described"]} == {*names, "GeometryRole"}
    for name, description in session["described"].items():
        assert description["filled"], name
        assert description["citation"].startswith("\\cite{"), name
        if name in names:
            assert "(s is the sentence, n a noun" in description["description"], name
            assert (description["type"], {*description["sizes"]}) == ("Classification", {"train", "test"})
    assert (session["described"]["GeometryRole"]["type"], session["described"]["GeometryRole"]["sizes"]) == (
        "STS",
        {"test": 30},
    )


def test_all_items_are_used(session: Any) -> None:
    description = session["described"]["SemRole"]
    assert description["samples_per_label"] >= description["sizes"]["train"] / 2
    assert description["n_experiments"] == 1


def test_mteb_accuracies_are_those_of_run(session: Any) -> None:
    assert {*session["scores"]} == {*TASKS}
    assert session["texts"] > 100
    assert session["apart"] < 1e-5
    assert {*session["runs"]} == {*TASKS} - {"GeometryRole"}
    for name, accuracy in session["runs"].items():
        assert session["scores"][name] == pytest.approx(accuracy, abs=0.005), name
    assert session["scores"]["GeometryRole"] == pytest.approx(session["geometry"], abs=1e-9)


def test_mteb_reads_written_results(session: Any, place: Path) -> None:
    expected = {"sentprobe/bow": {"Order": 0.6, "GeometryRole": 0.5}, "o/m": {"Order": 0.7}}
    assert session["read_back"] == expected == read_scores(place / "exported")
    assert session["one"] == 0.7


def test_results_of_mteb_are_read(session: Any, place: Path) -> None:
    (scores,) = read_scores(place / "cache").values()
    assert scores == {name: pytest.approx(score, abs=1e-5) for name, score in session["scores"].items()}


def test_retrieval_figures_agree(session: Any) -> None:
    figures = session["retrieval"]
    assert figures["queries"] == 30
    assert figures["mteb_ndcg"] == pytest.approx(figures["ndcg"], abs=1e-4)
    assert figures["mteb_recall"] == pytest.approx(figures["recall"], abs=1e-4)
    assert 0.0 < figures["recall"] < 1.0


def test_mistakes_are_one_line(session: Any, place: Path) -> None:
    twice, split = session["mistakes"]
    folder = place / "some"
    assert twice == f"{folder}: a second task is named AdiOrder; the first is in {folder / 'AdiOrder'}"
    assert split == "AdiOrder: probes answer the test items, not train"
