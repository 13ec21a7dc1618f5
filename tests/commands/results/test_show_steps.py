"""``probe show`` for encoders in training: a table and a plot by step."""

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
from helpers.in_process import Command, check_refusal, check_success
from helpers.runs.shown_runs import TagChecker, split_rows, write_run
from helpers.strategies.probe_strategies import make_sample_result
from syrupy.assertion import SnapshotAssertion

import sentprobe
from sentprobe.commands.shared.shown_results import read_distances
from sentprobe.probes.reports.pages.page_pictures import draw_training_picture
from sentprobe.probes.reports.pages.panels import LinePanel
from sentprobe.probes.reports.tables.training_curves import Curve, build_curves, find_axis, group_columns
from sentprobe.probes.results.records import CURVE_FILE, LearningPoint, TrainingCurve, add_point, read_learning_curves
from sentprobe.probes.results.result import Result
from sentprobe.probes.results.store import read_results


def make_step_result(step: int | None, correct: int, **options: Any) -> Result:
    """A result of a probe at a step."""
    label = f"epoch {options['epoch']:g}" if step is None else f"step {step}"
    name = options.pop("family", "mine")
    result = make_sample_result(f"{name} {label}", options.pop("task", "Order"), correct)
    return replace(result, family=name, step=step, **options)


STEPS = [
    make_step_result(100, 700, epoch=1.0),
    make_step_result(20, 600, epoch=0.5),
    make_step_result(3, 500, epoch=0.1),
]


def noise(texts: Sequence[str]) -> Any:
    """Vectors that know nothing."""
    seeds = [int.from_bytes(text.encode()) for text in texts]
    return np.stack([np.random.default_rng(seed).standard_normal(8) for seed in seeds])


@pytest.fixture
def trained(tmp_path: Path) -> Path:
    """A folder with a probe and distances at three steps."""
    scorer = sentprobe.Scorer(contrasts=["tense", "role"], triplets=8, out=tmp_path / "run", name="mine")
    for result in STEPS:
        scorer(noise, step=result.step, epoch=result.epoch)
    return write_run(tmp_path / "run", *STEPS)


def test_training_table_has_row_per_step(trained: Path, command: Command) -> None:
    code, stdout, stderr = command("show", trained)
    assert (code, stderr) == (0, "")
    assert stdout.startswith("mine in training\n")
    actual = [row for row in split_rows(stdout) if row[0]]
    assert actual[0] == ["step", "epoch", "Order", "role", "tense"]
    assert actual[1:5] == [
        ["accuracy of probes", "", "", "", ""],
        ["3", "0.1", "50.0", "", ""],
        ["20", "0.5", "60.0", "", ""],
        ["100", "1", "70.0", "", ""],
    ]
    assert [row[0] for row in actual[5:]] == [
        "accuracy, negative in the positive's form", "3", "20", "100",
        "accuracy, negative in the anchor's form", "3", "20", "100",
    ]  # fmt: skip
    scores = sentprobe.score(noise, contrasts=["role", "tense"], triplets=8)
    shown = [f"{100 * scores[f'geometry_{name}_form']:.1f}" for name in ("role", "tense")]
    assert all(row[2:] == ["", *shown] for row in actual[6:9])
    assert "Order: a probe (ettinger) on 1000 test items, chance 50.0" in stdout
    assert "role, tense: the positive is nearer by cosine, in 8 triplets, chance 50.0" in stdout


def test_untrained_encoders_have_first_table(tmp_path: Path, command: Command) -> None:
    run = write_run(tmp_path / "run", make_sample_result("bow", "Order", 500), *STEPS)
    _, stdout, _ = command("show", run)
    records = split_rows(stdout)
    assert records[:2] == [["encoder", "Order"], ["bow", "50.0"]]
    assert records[2:] == [["step", "epoch", "Order"], ["3", "0.1", "50.0"],
                         ["20", "0.5", "60.0"], ["100", "1", "70.0"]]  # fmt: skip


def test_epoch_column_needs_epochs(tmp_path: Path, command: Command) -> None:
    run = write_run(tmp_path / "run", make_step_result(5, 500), make_step_result(10, 600))
    assert split_rows(command("show", run)[1]) == [["step", "Order"], ["5", "50.0"], ["10", "60.0"]]
    run = write_run(tmp_path / "epochs", make_step_result(None, 500, epoch=1.0), make_step_result(None, 600, epoch=2.0))
    assert split_rows(command("show", run)[1]) == [["epoch", "Order"], ["1", "50.0"], ["2", "60.0"]]


def twice(correct: int, **changes: Any) -> tuple[Result, Result]:
    """Results of two moments of a training."""
    return make_step_result(5, correct, **changes), make_step_result(10, correct, **changes)


def test_one_moment_is_no_curve(tmp_path: Path, command: Command) -> None:
    run = write_run(tmp_path / "run", make_step_result(5, 500), make_step_result(7, 510, family="other"))
    _, stdout, _ = command("show", run)
    assert "in training" not in stdout
    assert [row[1:] for row in split_rows(stdout)] == [["Order"], ["50.0"], ["51.0"]]


def test_trainings_differ_by_name_seed_folder(tmp_path: Path, command: Command) -> None:
    second, third = twice(510, family="other"), twice(520, seed=3)
    one = write_run(tmp_path / "one", *twice(500), *second, *third)
    two = write_run(tmp_path / "two", *twice(600))
    _, stdout, _ = command("show", one, two)
    assert [line for line in stdout.splitlines() if "in training" in line] == [
        f"mine in training, seed 0, from {one}",
        f"mine in training, seed 0, from {two}",
        f"mine in training, seed 3, from {one}",
        f"other in training, seed 0, from {one}",
    ]


def test_other_data_has_own_column() -> None:
    records = (make_step_result(5, 500), make_step_result(5, 600, dataset_fingerprint="other"))
    (curve,) = build_curves(records)
    assert [*group_columns(curve)] == ["Order", "Order (2)"]


@pytest.mark.parametrize("style", ["markdown", "latex"])
def test_training_in_other_formats(style: str, learned: Path, command: Command, stored_text: SnapshotAssertion) -> None:
    assert command("show", learned, "-f", style)[1] == stored_text


def test_intervals(trained: Path, command: Command) -> None:
    assert "60.0 [56.9, 63.0]" in command("show", trained, "--intervals")[1]


def test_records_say_the_step(trained: Path, command: Command) -> None:
    records = json.loads(command("show", trained, "-f", "json")[1])
    assert {(record["step"], record["epoch"]) for record in records} == {(3, 0.1), (20, 0.5), (100, 1.0)}
    read = list(csv.DictReader(io.StringIO(command("show", trained, "-f", "csv")[1])))
    assert {record["step"] for record in read} == {"3", "20", "100"}


def test_page_has_table_and_plot(trained: Path, command: Command) -> None:
    page = check_success(command("show", trained, "-f", "html"))
    tags = TagChecker()
    tags.feed(page)
    assert not tags.open
    assert {"mine in training", "Accuracy by step", "70.0"} <= {*tags.texts}
    assert "<svg" in page
    assert any(f"numpy {np.__version__}" in text for text in tags.texts)


def test_plot_by_step_is_svg(trained: Path, tmp_path: Path, command: Command) -> None:
    plot = tmp_path / "plot.svg"
    assert command("show", trained, "--plot", plot)[0] == 0
    assert ElementTree.fromstring(plot.read_text("utf-8")).tag.endswith("svg")


def curve(*records: Result, of: Sequence[Path] = ()) -> Curve:
    """The one curve of results."""
    (result,) = build_curves(records, read_distances(of))
    return result


def test_lines_are_in_order_of_the_steps(trained: Path) -> None:
    assert len(draw_training_picture(curve(of=[trained])).panels) == 2
    (panel,) = draw_training_picture(curve(*STEPS)).panels
    assert isinstance(panel, LinePanel)
    assert [point.x for point in panel.lines[0].points] == [3, 20, 100]
    assert [point.y for point in panel.lines[0].points] == pytest.approx([50, 60, 70])
    assert panel.x_label == "step"


def test_axis_is_epoch_without_steps() -> None:
    assert find_axis(curve(make_step_result(3, 500, epoch=1.0), make_step_result(None, 500, epoch=2.0))) == "epoch"
    with pytest.raises(sentprobe.UsageError, match="some of its results lack the step"):
        find_axis(curve(make_step_result(3, 500), make_step_result(None, 500, epoch=2.0)))


def test_plot_is_of_one_training(tmp_path: Path, command: Command) -> None:
    run = write_run(tmp_path / "run", *twice(500), *twice(510, family="other"))
    plot = tmp_path / "plot.svg"
    code, _, stderr = command("show", run, "--plot", plot)
    assert (code, plot.exists()) == (2, False)
    assert "there are 2 trainings (name, seed or folder), and a plot shows one" in stderr


def test_damaged_file_is_named(trained: Path, learned: Path, command: Command) -> None:
    for folder, path in ((trained, next((trained / "geometry").iterdir())), (learned, learned / CURVE_FILE)):
        path.write_text("{")
        check_refusal(command("show", folder), str(path), 1)


def test_compared_steps_are_in_order(tmp_path: Path, command: Command) -> None:
    run = write_run(tmp_path / "run", *STEPS)
    stdout = command("compare", run)[1]
    assert stdout.index("mine step 3") < stdout.index("mine step 20") < stdout.index("step 100")


@pytest.fixture
def learned(tmp_path: Path) -> Path:
    """A folder with a probe at three steps, and two validations."""
    run = write_run(tmp_path / "learned", *STEPS)
    names = TrainingCurve(family="mine", seed=STEPS[0].seed, metric="BLEU", command="probe train lstm --out enc")
    for step, epoch, value in ((20, 0.5, 3.14), (60, 0.8, 12.0)):
        add_point(names, LearningPoint(step=step, epoch=epoch, value=value, loss=2.0), run)
    return run


def test_objective_is_shown_beside_probes(learned: Path, command: Command) -> None:
    stdout = check_success(command("show", learned))
    assert split_rows(stdout) == [
        ["step", "epoch", "BLEU", "Order"],
        ["3", "0.1", "", "50.0"],
        ["20", "0.5", "3.1", "60.0"],
        ["60", "0.8", "12.0", ""],
        ["100", "1", "", "70.0"],
    ]
    assert "BLEU: on held-out text." in stdout


def test_objective_has_a_panel(learned: Path, command: Command) -> None:
    (curve,) = build_curves(read_results(learned).records, (), read_learning_curves([learned]))
    panel = draw_training_picture(curve).panels[-1]
    assert isinstance(panel, LinePanel)
    assert (panel.title, panel.y_label) == ("training objective", "BLEU")
    assert [(point.x, point.y) for point in panel.lines[0].points] == [(20, 3.14), (60, 12.0)]
    code, page, _ = command("show", learned, "-f", "html")
    tags = TagChecker()
    tags.feed(page)
    assert (code, tags.open) == (0, [])
    assert {"training objective", "BLEU"} <= {*tags.texts}
    assert "probe train lstm --out enc" in page


def test_objective_of_other_training_is_hidden(tmp_path: Path, command: Command) -> None:
    run = write_run(tmp_path / "run", *STEPS)
    other_curve = TrainingCurve(family="other", seed=STEPS[0].seed, metric="BLEU")
    add_point(other_curve, LearningPoint(step=20, epoch=0.5, value=3.0, loss=2.0), run)
    assert "BLEU" not in command("show", run)[1]
