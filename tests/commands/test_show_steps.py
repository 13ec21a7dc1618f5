"""``probe show`` of encoders in training: a table and a plot by step."""

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from in_process import Command
from probe_strategies import sample_result
from shown_runs import Tags, a_run, rows

import sentprobe
from sentprobe.commands.given_runs import read_distances
from sentprobe.probes.report.curve_plots import axis_of, draw_curve
from sentprobe.probes.report.curves import Curve, columns_of, curves_of
from sentprobe.probes.runs.learning_curve import (
    PLACE,
    LearningCurve,
    LearningPoint,
    add_point,
    read_learning_curves,
)
from sentprobe.probes.runs.results import Result
from sentprobe.probes.runs.store import read_results


def at(step: int | None, correct: int, **others: Any) -> Result:
    """A result of a probe at a step."""
    label = f"epoch {others['epoch']:g}" if step is None else f"step {step}"
    name = others.pop("family", "mine")
    made = sample_result(f"{name} {label}", others.pop("task", "Order"), correct)
    return replace(made, family=name, step=step, **others)


STEPS = [at(100, 700, epoch=1.0), at(20, 600, epoch=0.5), at(3, 500, epoch=0.1)]


def noise(texts: Sequence[str]) -> Any:
    """Vectors that know nothing."""
    seeds = [int.from_bytes(text.encode()) for text in texts]
    return np.stack([np.random.default_rng(each).standard_normal(8) for each in seeds])


@pytest.fixture
def trained(tmp_path: Path) -> Path:
    """A folder with a probe and distances at three steps."""
    scorer = sentprobe.Scorer(
        contrasts=["tense", "role"], triplets=8, out=tmp_path / "run", name="mine"
    )
    for each in STEPS:
        scorer(noise, step=each.step, epoch=each.epoch)
    return a_run(tmp_path / "run", *STEPS)


def test_a_row_for_each_step_and_a_part_for_each_kind(trained: Path, command: Command) -> None:
    code, stdout, stderr = command("show", trained)
    assert (code, stderr) == (0, "")
    assert stdout.startswith("mine in training\n")
    found = [row for row in rows(stdout) if row[0]]
    assert found[0] == ["step", "epoch", "Order", "role", "tense"]
    assert found[1:5] == [
        ["accuracy of probes", "", "", "", ""],
        ["3", "0.1", "50.0", "", ""],
        ["20", "0.5", "60.0", "", ""],
        ["100", "1", "70.0", "", ""],
    ]
    assert [row[0] for row in found[5:]] == [
        "accuracy, negative in the positive's form", "3", "20", "100",
        "accuracy, negative in the anchor's form", "3", "20", "100",
    ]  # fmt: skip
    scores = sentprobe.score(noise, contrasts=["role", "tense"], triplets=8)
    shown = [f"{100 * scores[f'geometry_{name}_form']:.1f}" for name in ("role", "tense")]
    assert all(row[2:] == ["", *shown] for row in found[6:9])
    assert "Order: a probe (ettinger) on 1000 test items, chance 50.0" in stdout
    assert "role, tense: the positive is nearer by cosine, in 8 triplets, chance 50.0" in stdout


def test_what_is_in_no_training_has_its_table_first(tmp_path: Path, command: Command) -> None:
    run = a_run(tmp_path / "run", sample_result("bow", "Order", 500), *STEPS)
    _, stdout, _ = command("show", run)
    found = rows(stdout)
    assert found[:2] == [["encoder", "Order"], ["bow", "50.0"]]
    assert found[2:] == [["step", "epoch", "Order"], ["3", "0.1", "50.0"],
                         ["20", "0.5", "60.0"], ["100", "1", "70.0"]]  # fmt: skip


def test_without_epochs_there_is_no_column_of_them(tmp_path: Path, command: Command) -> None:
    run = a_run(tmp_path / "run", at(5, 500), at(10, 600))
    assert rows(command("show", run)[1]) == [["step", "Order"], ["5", "50.0"], ["10", "60.0"]]
    run = a_run(tmp_path / "epochs", at(None, 500, epoch=1.0), at(None, 600, epoch=2.0))
    assert rows(command("show", run)[1]) == [["epoch", "Order"], ["1", "50.0"], ["2", "60.0"]]


def twice(correct: int, **changes: Any) -> tuple[Result, Result]:
    """Results of two moments of a training."""
    return at(5, correct, **changes), at(10, correct, **changes)


def test_one_moment_is_no_curve(tmp_path: Path, command: Command) -> None:
    run = a_run(tmp_path / "run", at(5, 500), at(7, 510, family="other"))
    _, stdout, _ = command("show", run)
    assert "in training" not in stdout
    assert [row[1:] for row in rows(stdout)] == [["Order"], ["50.0"], ["51.0"]]


def test_a_training_each_by_name_seed_and_folder(tmp_path: Path, command: Command) -> None:
    other, third = twice(510, family="other"), twice(520, seed=3)
    one = a_run(tmp_path / "one", *twice(500), *other, *third)
    two = a_run(tmp_path / "two", *twice(600))
    _, stdout, _ = command("show", one, two)
    assert [line for line in stdout.splitlines() if "in training" in line] == [
        f"mine in training, seed 0, from {one}",
        f"mine in training, seed 0, from {two}",
        f"mine in training, seed 3, from {one}",
        f"other in training, seed 0, from {one}",
    ]


def test_other_data_of_the_same_task_has_a_column_of_its_own() -> None:
    records = (at(5, 500), at(5, 600, dataset_fingerprint="other"))
    (curve,) = curves_of(records)
    assert [*columns_of(curve)] == ["Order", "Order (2)"]


@pytest.mark.parametrize("style", ["markdown", "latex"])
def test_other_formats(trained: Path, command: Command, style: str) -> None:
    _, stdout, _ = command("show", trained, "-f", style)
    sign = {"markdown": "| 20 | 0.5 | 60.0 |", "latex": r"  20 & 0.5 & 60.0 &"}
    assert sign[style] in stdout
    assert stdout.startswith({"markdown": "**mine in training**", "latex": "% mine in"}[style])


def test_intervals(trained: Path, command: Command) -> None:
    assert "60.0 [56.9, 63.0]" in command("show", trained, "--intervals")[1]


def test_records_say_the_step(trained: Path, command: Command) -> None:
    records = json.loads(command("show", trained, "-f", "json")[1])
    assert {(each["step"], each["epoch"]) for each in records} == {(3, 0.1), (20, 0.5), (100, 1.0)}
    read = list(csv.DictReader(io.StringIO(command("show", trained, "-f", "csv")[1])))
    assert {each["step"] for each in read} == {"3", "20", "100"}


def test_the_page_has_table_and_plot(trained: Path, command: Command) -> None:
    code, page, _ = command("show", trained, "-f", "html")
    assert code == 0
    tags = Tags()
    tags.feed(page)
    assert not tags.open
    assert {"mine in training", "Accuracy by step", "70.0"} <= {*tags.texts}
    assert "<svg" in page
    assert any(f"numpy {np.__version__}" in text for text in tags.texts)


def test_a_plot_by_step(trained: Path, tmp_path: Path, command: Command) -> None:
    plot = tmp_path / "plot.svg"
    assert command("show", trained, "--plot", plot)[0] == 0
    assert ElementTree.fromstring(plot.read_text("utf-8")).tag.endswith("svg")


def curve(*records: Result, of: Sequence[Path] = ()) -> Curve:
    """The one curve of results."""
    (found,) = curves_of(records, read_distances(of, probed=False))
    return found


def test_lines_are_in_order_of_the_steps(trained: Path) -> None:
    (of_distances,) = (curve(of=[trained]),)
    assert len(draw_curve(of_distances).axes) == 2
    (panel,) = draw_curve(curve(*STEPS)).axes
    line = panel.lines[0]
    assert np.asarray(line.get_xdata()).tolist() == [3, 20, 100]
    assert np.asarray(line.get_ydata()).tolist() == pytest.approx([50, 60, 70])
    assert panel.get_xlabel() == "step"


def test_over_epochs_where_a_step_is_not_known() -> None:
    assert axis_of(curve(at(3, 500, epoch=1.0), at(None, 500, epoch=2.0))) == "epoch"
    with pytest.raises(sentprobe.UsageError, match="some of its results lack the step"):
        axis_of(curve(at(3, 500), at(None, 500, epoch=2.0)))


def test_a_plot_is_of_one_training(tmp_path: Path, command: Command) -> None:
    run = a_run(tmp_path / "run", *twice(500), *twice(510, family="other"))
    plot = tmp_path / "plot.svg"
    code, _, stderr = command("show", run, "--plot", plot)
    assert (code, plot.exists()) == (2, False)
    assert "there are 2 trainings (name, seed or folder), and one plot is of one" in stderr


def test_a_damaged_file_is_named(trained: Path, command: Command) -> None:
    path = next((trained / "geometry").iterdir())
    path.write_text("{")
    code, _, stderr = command("show", trained)
    assert (code, str(path) in stderr) == (1, True)


def test_steps_are_in_order_where_they_are_compared(tmp_path: Path, command: Command) -> None:
    run = a_run(tmp_path / "run", *STEPS)
    stdout = command("compare", run)[1]
    assert stdout.index("mine step 3") < stdout.index("mine step 20") < stdout.index("step 100")


@pytest.fixture
def learned(tmp_path: Path) -> Path:
    """A folder with a probe at three steps, and two validations."""
    run = a_run(tmp_path / "learned", *STEPS)
    known = LearningCurve(
        family="mine",
        seed=STEPS[0].seed,
        metric="BLEU",
        command="probe train lstm --out enc",
    )
    for step, epoch, value in ((20, 0.5, 3.14), (60, 0.8, 12.0)):
        add_point(known, LearningPoint(step=step, epoch=epoch, value=value, loss=2.0), run)
    return run


def test_what_it_is_trained_to_do_stands_beside_what_probes_read(
    learned: Path, command: Command
) -> None:
    code, stdout, _ = command("show", learned)
    assert code == 0
    assert rows(stdout) == [
        ["step", "epoch", "BLEU", "Order"],
        ["3", "0.1", "", "50.0"],
        ["20", "0.5", "3.1", "60.0"],
        ["60", "0.8", "12.0", ""],
        ["100", "1", "", "70.0"],
    ]
    assert "BLEU: of what the training held out." in stdout


def test_it_has_a_panel_of_its_own(learned: Path, command: Command) -> None:
    (curve,) = curves_of(read_results(learned).records, (), read_learning_curves([learned]))
    panel = draw_curve(curve).axes[-1]
    assert (panel.get_title(), panel.get_ylabel()) == ("what it is trained to do", "BLEU")
    assert np.asarray(panel.lines[0].get_xdata()).tolist() == [20, 60]
    assert np.asarray(panel.lines[0].get_ydata()).tolist() == [3.14, 12.0]
    code, page, _ = command("show", learned, "-f", "html")
    tags = Tags()
    tags.feed(page)
    assert (code, tags.open) == (0, [])
    assert {"what it is trained to do", "BLEU"} <= {*tags.texts}
    assert "probe train lstm --out enc" in page


def test_of_another_training_it_is_not_shown(tmp_path: Path, command: Command) -> None:
    run = a_run(tmp_path / "run", *STEPS)
    other = LearningCurve(family="other", seed=STEPS[0].seed, metric="BLEU")
    add_point(other, LearningPoint(step=20, epoch=0.5, value=3.0, loss=2.0), run)
    assert "BLEU" not in command("show", run)[1]


def test_damaged_validations_are_named(learned: Path, command: Command) -> None:
    (learned / PLACE).write_text("{")
    code, _, stderr = command("show", learned)
    assert (code, str(learned / PLACE) in stderr) == (1, True)
