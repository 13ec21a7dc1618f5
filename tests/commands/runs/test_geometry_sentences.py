"""``probe geometry`` on test sentences of tasks, beside the accuracy of probes."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.in_process import Command
from helpers.runs.natural_tables import sample_rows, write_table
from helpers.runs.shown_runs import parse_cells
from helpers.strategies.probe_strategies import make_learnable_dataset, make_sample_result, make_seed_score

from sentprobe.commands.shared.geometry_input import MIRROR_TASKS, parse_sentence_targets
from sentprobe.commands.shared.options import TripletOptions
from sentprobe.lexicon import english
from sentprobe.probes.classifier.presets import find_preset
from sentprobe.probes.datasets.dataset import ProbeDataset, Size, Split
from sentprobe.probes.datasets.formats import write_dataset
from sentprobe.probes.encoders.kinds import make_encoder
from sentprobe.probes.generated.assemble import build
from sentprobe.probes.generated.tasks import find_task
from sentprobe.probes.reports.tables.distance_report import select_items_with_probe
from sentprobe.probes.results.result import Condition, Result, make_score, renumber_units
from sentprobe.probes.results.store import read_results, write_result
from sentprobe.probes.similarity.distance_results import read_geometry

FAST = ("--set", "max_epochs=2", "--jobs", "1", "--no-cache", "--no-controls")
BOW = ("-e", "bow?dim=8")
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
    assert command("run", sets, "--task", "SemRole", *BOW, *FAST, "--out", out)[0] == 0
    code, stdout, stderr = command("geometry", sets, *BOW, "--no-cache", "--out", out)
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


def test_the_probe_counts_on_the_anchors_alone(
    command: Command, sets: Path, tmp_path: Path, tasks: dict[str, ProbeDataset]
) -> None:
    """Right on just the items that are no anchors: 0.0; on just the anchors: 100.0."""
    out, data = tmp_path / "results", tasks["Negation"]
    geometry = ("geometry", sets, "--task", "Negation", *BOW, "--no-cache", "--out", out)
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


def test_compeval_is_what_a_run_of_it_has(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
        more = (*BOW, "--task", "SemRole", "--seed", seed, "--out", out, "--no-cache")
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


def test_what_has_no_mirror_pairs_is_left_out(command: Command, sets: Path) -> None:
    write_dataset(make_learnable_dataset(name="toy", size=30), sets / "toy")
    code, stdout, stderr = command("geometry", sets, *BOW, "--no-cache", "-f", "json")
    assert code == 0
    assert {record["contrast"] for record in json.loads(stdout)} == {"SemRole", "Negation"}
    assert "left out: toy: no test items are mirror pairs" in stderr
    code, stdout, stderr = command("geometry", sets, *BOW, "--task", "toy")
    assert (code, stdout) == (2, "")
    assert "toy: no test items are mirror pairs" in stderr


def test_refused(command: Command, sets: Path, tmp_path: Path) -> None:
    table = tmp_path / "table"
    write_table(sample_rows(30), table)
    cases: list[tuple[tuple[object, ...], str]] = [
        ((sets, "-c", "role"), "--contrast is for sampled triplets, not for the sentences"),
        ((sets, "-n", "9"), "--n is for sampled triplets"),
        ((sets, "--distractors", "3"), "--distractors is for sampled triplets"),
        (("compeval", "-t", "transitive"), "--template is for sampled triplets"),
        (("--task", "SemRole", "-c", "role"), "--task is for compeval or datasets"),
        (("compevl",), "there is no suite 'compevl' (did you mean 'compeval'?)"),
        ((tmp_path / "none",), "nor such a file or directory"),
        ((sets, "--task", "SemRol"), "there is no task 'SemRol'"),
        (("compeval", "--task", "BShift"), "there is no compeval task 'BShift'"),
        (("natural", table), "natural-text tasks have no mirror pairs"),
        ((table,), "natural-text tasks have no mirror pairs"),
        ((sets, sets), "twice"),
    ]
    for arguments, message in cases:
        code, stdout, stderr = command("geometry", *arguments, *BOW)
        assert (code, stdout) == (2, ""), arguments
        assert message in stderr
        assert "Traceback" not in stderr
