"""``probe train --probe-every``: what is looked at on the way, and what of it is refused."""

import json
from functools import partial
from pathlib import Path

import pytest
from in_process import Command
from train_command import WEIGHTS, Train, contents, run_train, write_text, write_triplets

from sentprobe.errors import SentprobeError
from sentprobe.probes.compeval.assemble import build_task
from sentprobe.probes.dataset import ProbeDataset
from sentprobe.probes.formats import read_datasets, write_dataset
from sentprobe.probes.geometry import results as geometry
from sentprobe.probes.runs import probing_plan
from sentprobe.probes.runs.learning_curve import read_learning_curve
from sentprobe.probes.runs.results import Condition
from sentprobe.probes.runs.store import sound_results

pytest.importorskip("lightning_fabric", reason="the extra train is not installed")


@pytest.fixture
def train(command: Command) -> Train:
    return partial(run_train, command)


@pytest.fixture(scope="module")
def triplets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_triplets(tmp_path_factory.mktemp("texts"))


@pytest.fixture
def text(tmp_path: Path) -> Path:
    return write_text(tmp_path)


def test_who_looks_on_the_way_changes_nothing_and_has_a_curve(
    train: Train, command: Command, triplets: Path, tmp_path: Path
) -> None:
    given = ("lstm", "--objective", "contrastive", "--corpus", triplets, "-o")
    assert train(*given, tmp_path / "alone")[0] == 0
    code, _, err = train(*given, tmp_path / "seen", "--probe-every", 3, "-c", "role")
    assert code == 0
    assert err.count(" different words are not in the vocabulary of lstm contrastive") == 1
    assert contents(tmp_path / "seen", *WEIGHTS) == contents(tmp_path / "alone", *WEIGHTS)
    code, out, _ = command("show", tmp_path / "seen" / "probes")
    assert code == 0
    assert "lstm contrastive in training" in out
    assert [line.split()[1] for line in out.splitlines() if line.startswith("│ ")][1:5] == list(
        "0234"
    )  # and the validation after the second


def test_what_is_over_is_probed_where_that_is_asked_for_later(
    train: Train, triplets: Path, tmp_path: Path
) -> None:
    enc = tmp_path / "enc"
    for objective in ("none", "contrastive"):
        corpus = triplets if objective == "contrastive" else triplets.with_suffix(".txt")
        corpus.exists() or corpus.write_text("The dog saw a cat .\nIt ran .\n")
        given = ("lstm", "--objective", objective, "--corpus", corpus, "-o", enc / objective)
        enc.mkdir(exist_ok=True)
        for looks in ((), ("-c", "role"), ("-c", "role", "-c", "tense")):
            every = ("--probe-every", "epoch") if looks else ()
            assert train(*given, *every, *looks)[0] == 0
            found = geometry.read_geometry(enc / objective / "probes")
            step = 4 if objective == "contrastive" else 0
            assert {(each.contrast, each.step) for each in found} == {
                (name, step) for name in looks if name != "-c"
            }
        before = {path: path.stat().st_mtime_ns for path in enc.rglob("*.json")}
        assert train(*given, "--probe-every", "epoch", "-c", "role")[0] == 0
        assert {path: path.stat().st_mtime_ns for path in enc.rglob("*.json")} == before


@pytest.mark.slow
def test_tasks_are_probed_on_the_way_and_the_encoder_after(
    train: Train, command: Command, triplets: Path, tmp_path: Path
) -> None:
    enc = tmp_path / "enc"
    looks = ("--probe-every", "epoch", "--items", 200)
    given = ("bilstm-max", "--objective", "contrastive", "--corpus", triplets)
    assert train(*given, "-o", enc, *looks)[0] == 0
    found = json.loads(command("show", enc / "probes", "--format", "json")[1])
    tasks = {each["task"] for each in found}
    assert tasks == {"Content1Probe", "Content2Probe", "SemRole", "Order", "Negation"}
    items = ("--task", "SemRole", "--train", 200, "--test", 100, "--no-cache")
    code, out, _ = command("run", "compeval", "--encoder", enc, *items)
    assert code == 0
    assert "SemRole" in out


def test_a_look_that_is_interrupted_is_made_again(
    train: Train, text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = ("lstm", "--objective", "none", "--corpus", text, "-o", tmp_path / "enc")
    looks = (*given, "--probe-every", "epoch", "-c", "role")
    with monkeypatch.context() as patch:
        patch.setattr("sentprobe.probes.runs.scorer.measure", _fail)
        assert train(*looks)[0] == 1
    assert train(*looks)[0] == 0
    assert any((tmp_path / "enc" / "probes").rglob("*.json"))


def _fail(*_: object) -> None:
    raise SentprobeError("it is stopped here")


def test_validations_are_kept_beside_what_is_looked_at(
    train: Train, command: Command, triplets: Path, tmp_path: Path
) -> None:
    given = ("lstm", "--objective", "contrastive", "--corpus", triplets, "-o")
    looks = ("--probe-every", 2, "-c", "role")
    assert train(*given, tmp_path / "whole", *looks)[0] == 0
    for steps in (3, 4):
        assert train(*given, tmp_path / "part", *looks, "--steps", steps)[0] == 0
    whole, part = (read_learning_curve(tmp_path / name / "probes") for name in ("whole", "part"))
    assert whole is not None
    assert part is not None
    assert [point.step for point in whole.points] == [2, 4]
    assert [point.step for point in part.points] == [2, 3, 4]
    assert (whole.family, whole.metric) == ("lstm contrastive", "accuracy")
    assert {*whole.points} <= {*part.points}
    _, out, _ = command("show", tmp_path / "whole" / "probes")
    assert "accuracy (%): of what the training held out." in out


@pytest.fixture(scope="module")
def datasets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of two datasets."""
    folder = tmp_path_factory.mktemp("datasets")
    for name in ("SemRole", "Order"):
        write_dataset(build_task(name, train=40, test=20), folder / name)
    return folder


def test_datasets_that_are_there_are_looked_at_beside_tasks_that_are_built(
    train: Train, datasets: Path, triplets: Path, tmp_path: Path
) -> None:
    enc = tmp_path / "enc"
    given = ("lstm", "--objective", "contrastive", "--corpus", triplets, "-o", enc)
    looks = ("--probe-every", 2, "--task", datasets, "--task", "Content1Probe", "--items", 112)
    code, _, err = train(*given, *looks)
    assert code == 0, err
    found = [*sound_results(enc / "probes")]
    tasks = ("SemRole", "Order", "Content1Probe")
    assert {(each.task, each.step) for each in found} == {
        (task, step) for task in tasks for step in (0, 2, 4)
    }
    assert {(each.task, each.scores[Condition.PROBE].total) for each in found} == {
        ("SemRole", 20),
        ("Order", 20),
        ("Content1Probe", 56),
    }
    before = contents(enc, *WEIGHTS)
    assert "was over already" in train(*given, *looks)[1]
    assert contents(enc, *WEIGHTS) == before


def test_other_items_of_the_same_name_are_looked_at_anew(
    train: Train, triplets: Path, tmp_path: Path
) -> None:
    enc, data = tmp_path / "enc", tmp_path / "data"
    given = ("lstm", "--objective", "contrastive", "--corpus", triplets, "-o", enc)
    made = []
    for seed in (0, 0, 1):
        write_dataset(build_task("Order", train=40, test=20, seed=seed), data)
        assert train(*given, "--probe-every", 4, "--task", data)[0] == 0
        made.append({(e.step, e.dataset_fingerprint) for e in sound_results(enc / "probes")})
    assert made[0] == made[1] < made[2]
    assert {step for step, _ in made[2] - made[0]} == {4}


def test_datasets_are_read_once_for_all_encoders(
    train: Train, datasets: Path, triplets: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[Path] = []

    def told(path: Path) -> list[ProbeDataset]:
        read.append(path)
        return read_datasets(path)

    monkeypatch.setattr(probing_plan, "read_datasets", told)
    given = ("lstm", "cbow", "--objective", "contrastive", "--corpus", triplets, "--seeds", 2)
    looks = ("--probe-every", 4, "--task", datasets)
    assert train(*given, "-o", tmp_path, *looks, "--steps", 1)[0] == 0
    assert read == [datasets]


BAD = [
    ("--task SemRolle", "there is no task 'SemRolle' of compeval (did you mean 'SemRole'?), nor"),
    ("--task none.jsonl", "nor such a file or directory of datasets; the tasks are Content1Probe"),
    ("--task NOTHING", "NOTHING: there is no dataset in it"),
    ("--task DATASETS --task SemRole", "task 'SemRole' is asked for twice"),
    ("--task Order --task Order", "task 'Order' is asked for twice"),
    ("--task DATASETS --items 9", "--items is of tasks that are built: datasets are looked at"),
    ("--items 7 --task SemRole", "must be a positive multiple of 2, so that labels balance, not 7"),
    ("--items 0", "items=0: at least 2 are wanted"),
    ("--items -5", "items=-5: at least 2 are wanted"),
    ("-c rolle", "there is no contrast 'rolle' (did you mean 'role'?)"),
    ("-c role -c role", "contrast 'role' is asked for twice"),
]


@pytest.fixture
def places(datasets: Path, triplets: Path, tmp_path: Path) -> dict[str, Path]:
    """Return the folders that BAD names, and what is learned from."""
    nothing = tmp_path / "nothing"
    nothing.mkdir()
    return {"DATASETS": datasets, "NOTHING": nothing, "TRIPLETS": triplets}


@pytest.mark.parametrize(("line", "said"), BAD, ids=[line for line, _ in BAD])
def test_what_cannot_be_looked_at_is_refused_before_a_text_is_read(
    train: Train, places: dict[str, Path], tmp_path: Path, line: str, said: str
) -> None:
    words = [str(places.get(word, word)) for word in line.split()]
    given = ("lstm", "--objective", "contrastive", "--corpus", places["TRIPLETS"])
    code, out, err = train(*given, "-o", tmp_path / "enc", "--probe-every", 2, *words)
    assert (code, out) == (2, "")
    assert said.replace("NOTHING", str(places["NOTHING"])) in err
    assert not (tmp_path / "enc").exists()
