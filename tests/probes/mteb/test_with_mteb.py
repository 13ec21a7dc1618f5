"""MTEB itself evaluates our tasks as ``probe run`` does, and reads the results that we write."""

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from model_files import packaged_model
from natural_tables import made_up, write_table
from probe_strategies import learnable, sample_result
from shared import ROOT
from shown_geometry import measured

import sentprobe
from sentprobe.generator.triplet_files import TripletFormat, write_triplets
from sentprobe.generator.triplets import TripletSpace
from sentprobe.probes.mteb.result_files import mteb_results, write_mteb_results
from sentprobe.probes.report.comparisons import sides
from sentprobe.probes.report.downstream import read_scores
from sentprobe.probes.runs.results import Results
from sentprobe.probes.suites import known_tasks

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("mteb") is None, reason="the extra mteb is not installed"),
]
TASKS = {"Content1Probe": 1, "SemRole": 2, "Tense": 0, "AdiOrder": 2, "GeometryRole": None}
"""Those that are evaluated, of each kind one, and how many probe words each has."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of all tasks, in name, one of those that are evaluated, and one of results."""
    folder = tmp_path_factory.mktemp("mteb")
    for task in known_tasks():
        data = learnable(name=task.name, size=40)
        sentprobe.write_dataset(data, folder / "all" / task.name, format="hub")
    table = write_table(made_up(), folder / "table").path
    for data in (
        *(sentprobe.build_task(name, train=84, test=56) for name in ("Content1Probe", "SemRole")),
        *sentprobe.build_natural(table, ["Tense", "AdiOrder"], train=60, validation=20, test=40),
    ):
        sentprobe.write_dataset(data, folder / "some" / data.name)
    triplets = TripletSpace(sentprobe.english(), "role", vocabulary="compeval").sample(30, seed=0)
    for name in ("all", "some"):
        write_triplets(triplets, folder / name / "role.parquet", TripletFormat.PARQUET)
    probed = Results(
        tuple(sample_result(e, "Order", n) for e, n in (("bow", 600), ("st:o/m", 700)))
    )
    found = mteb_results(sides(probed, "run"), [measured("bow", "role")])
    write_mteb_results(found, folder / "exported")
    return folder


@pytest.fixture(scope="module")
def said(place: Path) -> Any:
    """What a session with MTEB says."""
    script = ROOT / "tests" / "mteb_session.py"
    done = subprocess.run(
        [sys.executable, script, place, packaged_model()],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_every_task_has_full_metadata(said: Any) -> None:
    names = {task.name for task in known_tasks()}
    assert {*said["described"]} == {*names, "GeometryRole"}
    for name, each in said["described"].items():
        assert each["filled"], name
        assert each["citation"].startswith("\\cite{"), name
        if name in names:
            assert "(s is the sentence, n a noun" in each["description"], name
            assert (each["type"], {*each["sizes"]}) == ("Classification", {"train", "test"})
    assert (
        said["described"]["GeometryRole"]["type"],
        said["described"]["GeometryRole"]["sizes"],
    ) == (
        "STS",
        {"test": 30},
    )


def test_all_items_are_used(said: Any) -> None:
    found = said["described"]["SemRole"]
    assert found["samples_per_label"] >= found["sizes"]["train"] / 2
    assert found["n_experiments"] == 1


def test_vectors_and_accuracies_are_those_of_a_run(said: Any) -> None:
    assert {*said["scores"]} == {*TASKS}
    assert said["texts"] > 100
    assert said["apart"] < 1e-5
    assert {*said["runs"]} == {*TASKS} - {"GeometryRole"}
    for name, accuracy in said["runs"].items():
        assert said["scores"][name] == pytest.approx(accuracy, abs=0.005), name
    assert said["scores"]["GeometryRole"] == pytest.approx(said["geometry"], abs=1e-9)


def test_mteb_reads_the_results_that_are_written(said: Any, place: Path) -> None:
    wanted = {"sentprobe/bow": {"Order": 0.6, "GeometryRole": 0.5}, "o/m": {"Order": 0.7}}
    assert said["read_back"] == wanted == read_scores(place / "exported")
    assert said["one"] == 0.7


def test_what_mteb_itself_writes_is_read(said: Any, place: Path) -> None:
    (found,) = read_scores(place / "cache").values()
    assert found == {name: pytest.approx(score, abs=1e-5) for name, score in said["scores"].items()}


def test_mistakes_are_one_line(said: Any, place: Path) -> None:
    twice, split = said["mistakes"]
    assert twice == (
        f"{place / 'some'}: there are two tasks AdiOrder; "
        f"the other is in {place / 'some' / 'AdiOrder'}"
    )
    assert split == "AdiOrder: probes answer the test items, not train"
