"""``probe train --probe-every``: probing during training, and errors."""

import json
from pathlib import Path

import pytest
from helpers.in_process import Command, check_refusal, check_success
from helpers.trainings.train_command import WEIGHTS, Train, contents

from sentprobe.common.errors import SentprobeError
from sentprobe.probes.datasets.dataset import ProbeDataset
from sentprobe.probes.datasets.formats import read_datasets, write_dataset
from sentprobe.probes.generated.assemble import build_task
from sentprobe.probes.results.records import read_learning_curve
from sentprobe.probes.results.result import Condition
from sentprobe.probes.results.store import read_sound_results
from sentprobe.probes.runs import encoder_training
from sentprobe.probes.similarity import distance_results as geometry

pytest.importorskip("lightning_fabric", reason="the extra train is not installed")


def test_probing_changes_no_weights(train: Train, command: Command, triplets: Path, tmp_path: Path) -> None:
    arguments = ("lstm", "--objective", "contrastive", "--corpus", triplets, "-o")
    assert train(*arguments, tmp_path / "alone")[0] == 0
    code, _, err = train(*arguments, tmp_path / "seen", "--probe-every", 3, "-c", "role")
    assert code == 0
    assert err.count(" different words are not in the vocabulary of lstm contrastive") == 1
    assert contents(tmp_path / "seen", *WEIGHTS) == contents(tmp_path / "alone", *WEIGHTS)
    out = check_success(command("show", tmp_path / "seen" / "probes"))
    assert "lstm contrastive in training" in out
    assert [line.split()[1] for line in out.splitlines() if line.startswith("│ ")][1:5] == list(
        "0234"
    )  # and the validation after the second


def test_finished_training_is_probed_later(train: Train, triplets: Path, tmp_path: Path) -> None:
    enc = tmp_path / "enc"
    for objective in ("none", "contrastive"):
        corpus = triplets if objective == "contrastive" else triplets.with_suffix(".txt")
        corpus.exists() or corpus.write_text("The dog saw a cat .\nIt ran .\n")
        arguments = ("lstm", "--objective", objective, "--corpus", corpus, "-o", enc / objective)
        enc.mkdir(exist_ok=True)
        for looks in ((), ("-c", "role"), ("-c", "role", "-c", "tense")):
            every = ("--probe-every", "epoch") if looks else ()
            assert train(*arguments, *every, *looks)[0] == 0
            actual_geometry = geometry.read_geometry(enc / objective / "probes")
            step = 4 if objective == "contrastive" else 0
            assert {(record.contrast, record.step) for record in actual_geometry} == {
                (name, step) for name in looks if name != "-c"
            }
        before = {path: path.stat().st_mtime_ns for path in enc.rglob("*.json")}
        assert train(*arguments, "--probe-every", "epoch", "-c", "role")[0] == 0
        assert {path: path.stat().st_mtime_ns for path in enc.rglob("*.json")} == before


@pytest.mark.slow
def test_tasks_are_probed_during_and_after(train: Train, command: Command, triplets: Path, tmp_path: Path) -> None:
    enc = tmp_path / "enc"
    looks = ("--probe-every", "epoch", "--items", 200)
    arguments = ("bilstm-max", "--objective", "contrastive", "--corpus", triplets)
    assert train(*arguments, "-o", enc, *looks)[0] == 0
    records = json.loads(command("show", enc / "probes", "--format", "json")[1])
    tasks = {record["task"] for record in records}
    assert tasks == {"Content1Probe", "Content2Probe", "SemRole", "Order", "Negation"}
    items = ("--task", "SemRole", "--train", 200, "--test", 100, "--no-cache")
    out = check_success(command("run", "compeval", "--encoder", enc, *items))
    assert "SemRole" in out


def test_failed_probing_is_repeated(train: Train, text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = ("lstm", "--objective", "none", "--corpus", text, "-o", tmp_path / "enc")
    looks = (*arguments, "--probe-every", "epoch", "-c", "role")
    with monkeypatch.context() as patch:
        patch.setattr("sentprobe.probes.runs.scorer.measure_encoder", _fail)
        assert train(*looks)[0] == 1
    assert train(*looks)[0] == 0
    assert any((tmp_path / "enc" / "probes").rglob("*.json"))


def _fail(*_: object) -> None:
    raise SentprobeError("it is stopped here")


def test_validations_are_kept_beside_probes(train: Train, command: Command, triplets: Path, tmp_path: Path) -> None:
    arguments = ("lstm", "--objective", "contrastive", "--corpus", triplets, "-o")
    looks = ("--probe-every", 2, "-c", "role")
    assert train(*arguments, tmp_path / "whole", *looks)[0] == 0
    for steps in (3, 4):
        assert train(*arguments, tmp_path / "part", *looks, "--steps", steps)[0] == 0
    full_output, part = (read_learning_curve(tmp_path / name / "probes") for name in ("whole", "part"))
    assert full_output is not None
    assert part is not None
    assert [point.step for point in full_output.points] == [2, 4]
    assert [point.step for point in part.points] == [2, 3, 4]
    assert (full_output.family, full_output.metric) == ("lstm contrastive", "accuracy")
    assert {*full_output.points} <= {*part.points}
    _, out, _ = command("show", tmp_path / "whole" / "probes")
    assert "accuracy (%): on held-out text." in out


@pytest.fixture(scope="module")
def datasets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of two datasets."""
    folder = tmp_path_factory.mktemp("datasets")
    for name in ("SemRole", "Order"):
        write_dataset(build_task(name, train=40, test=20), folder / name)
    return folder


@pytest.mark.slow
def test_stored_and_built_tasks_are_probed(train: Train, datasets: Path, triplets: Path, tmp_path: Path) -> None:
    enc = tmp_path / "enc"
    arguments = ("lstm", "--objective", "contrastive", "--corpus", triplets, "-o", enc)
    looks = ("--probe-every", 2, "--task", datasets, "--task", "Content1Probe", "--items", 112)
    check_success(train(*arguments, *looks))
    actual = [*read_sound_results(enc / "probes")]
    tasks = ("SemRole", "Order", "Content1Probe")
    assert {(record.task, record.step) for record in actual} == {(task, step) for task in tasks for step in (0, 2, 4)}
    assert {(record.task, record.scores[Condition.PROBE].total) for record in actual} == {
        ("SemRole", 20),
        ("Order", 20),
        ("Content1Probe", 56),
    }
    before = contents(enc, *WEIGHTS)
    assert "finished before" in train(*arguments, *looks)[1]
    assert contents(enc, *WEIGHTS) == before


def test_changed_dataset_is_probed_anew(train: Train, triplets: Path, tmp_path: Path) -> None:
    enc, data = tmp_path / "enc", tmp_path / "data"
    arguments = ("lstm", "--objective", "contrastive", "--corpus", triplets, "-o", enc)
    calls = []
    for seed in (0, 0, 1):
        write_dataset(build_task("Order", train=40, test=20, seed=seed), data)
        assert train(*arguments, "--probe-every", 4, "--task", data)[0] == 0
        calls.append({(e.step, e.dataset_fingerprint) for e in read_sound_results(enc / "probes")})
    assert calls[0] == calls[1] < calls[2]
    assert {step for step, _ in calls[2] - calls[0]} == {4}


@pytest.mark.slow
def test_datasets_are_read_once(
    train: Train, datasets: Path, triplets: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[Path] = []

    def told(path: Path) -> list[ProbeDataset]:
        read.append(path)
        return read_datasets(path)

    monkeypatch.setattr(encoder_training, "read_datasets", told)
    arguments = ("lstm", "cbow", "--objective", "contrastive", "--corpus", triplets, "--seeds", 2)
    looks = ("--probe-every", 4, "--task", datasets)
    assert train(*arguments, "-o", tmp_path, *looks, "--steps", 1)[0] == 0
    assert read == [datasets]


BAD = [
    ("--task SemRolle", "there is no task 'SemRolle' of compeval (did you mean 'SemRole'?), nor"),
    ("--task none.jsonl", "nor such a file or directory of datasets; the tasks are Content1Probe"),
    ("--task NOTHING", "NOTHING: there is no dataset in it"),
    ("--task DATASETS --task SemRole", "task 'SemRole' is given twice"),
    ("--task Order --task Order", "task 'Order' is given twice"),
    ("--task DATASETS --items 9", "--items is for tasks that are built: datasets are used"),
    ("--items 7 --task SemRole", "must be a positive multiple of 4, so that labels balance, not 7"),
    ("--items 0", "items=0: at least 2 are needed"),
    ("--items -5", "items=-5: at least 2 are needed"),
    ("-c rolle", "there is no contrast 'rolle' (did you mean 'role'?)"),
    ("-c role -c role", "contrast 'role' is given twice"),
]


@pytest.fixture
def places(datasets: Path, triplets: Path, tmp_path: Path) -> dict[str, Path]:
    """Return the paths that BAD names, and the training file."""
    nothing = tmp_path / "nothing"
    nothing.mkdir()
    return {"DATASETS": datasets, "NOTHING": nothing, "TRIPLETS": triplets}


@pytest.mark.parametrize(("line", "said"), BAD, ids=[line for line, _ in BAD])
def test_bad_request_is_refused(train: Train, places: dict[str, Path], tmp_path: Path, line: str, said: str) -> None:
    words = [str(places.get(word, word)) for word in line.split()]
    arguments = ("lstm", "--objective", "contrastive", "--corpus", places["TRIPLETS"])
    outcome = train(*arguments, "-o", tmp_path / "enc", "--probe-every", 2, *words)
    check_refusal(outcome, said.replace("NOTHING", str(places["NOTHING"])), progress=True)
    assert not (tmp_path / "enc").exists()
