"""The run file: it holds every option, and repeats a run."""

import json
import socket
import sys
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from helpers.encoders.model_files import tiny_model
from helpers.in_process import Command, check_refusal, check_success
from hypothesis import given
from hypothesis import strategies as st

import sentprobe
from sentprobe.cli import load_command
from sentprobe.commands.shared import run_file
from sentprobe.probes.results.result import Results
from sentprobe.probes.results.store import read_results
from sentprobe.probes.runs.suites import PresetChoice

TINY = ("--task", "Order", "--train", "56", "--test", "28", "-e", "bow?dim=8", "--jobs", "1",
        "--set", "max_epochs=2", "--no-cache", "--seed", "3")  # fmt: skip


def remove_times(results: Results) -> list[object]:
    """Return results without their times, commands and folders."""
    return [
        replace(result, command="", seconds={}, source="") for result in results.records
    ]  # fmt: skip


def test_run_file_repeats_run(tmp_path: Path, command: Command) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    assert command("run", "compeval", *TINY, "--out", first)[0] == 0
    settings = tomllib.loads((first / "run.toml").read_text("utf-8"))
    assert settings == {
        "targets": ["compeval"], "encoder": ["bow?dim=8"], "task": ["Order"], "out": str(first),
        "seed": 3, "seeds": 1, "controls": True, "language": "en", "sampling": "mirror", "train": 56, "test": 28,
        "control-task": False,
        "set": ["max_epochs=2"], "device": "cpu", "jobs": 1, "cache": False, "draws": 1,
        "all-rows": False, "notes": False, "intervals": False, "sources": False, "engine": "local",
    }  # fmt: skip
    code, _, err = command("run", "--config", first / "run.toml")
    assert (code, err) == (0, "1 result found\n")
    out = check_success(command("run", "--config", first / "run.toml", "--out", second))
    assert out.endswith(f"results: {second}\n")
    assert remove_times(read_results(first)) == remove_times(read_results(second))
    again = tomllib.loads((second / "run.toml").read_text("utf-8"))
    assert again == settings | {"out": str(second)}


def test_run_file_is_of_last_run(tmp_path: Path, command: Command) -> None:
    """Also of one that found all; after one from Python that made results there is none."""
    out = tmp_path / "run"
    small: dict[str, Any] = {"tasks": "Order", "train": 56, "test": 28, "seed": 3, "out": out,
                             "preset": PresetChoice(values=(("max_epochs", "2"),))}  # fmt: skip
    assert command("run", "compeval", *TINY, "--out", out)[0] == 0
    assert command("run", "compeval", *TINY, "--no-controls", "--out", out)[2] == "1 result found\n"
    before = (out / "run.toml").read_bytes()
    assert tomllib.loads(before.decode())["controls"] is False
    sentprobe.run("compeval", "bow?dim=8", **small)
    assert (out / "run.toml").read_bytes() == before
    sentprobe.run("compeval", "majority", **small)
    assert not (out / "run.toml").exists()
    assert command("run", "compeval", *TINY, "--out", out)[2] == "1 result found\n"
    assert tomllib.loads((out / "run.toml").read_text("utf-8"))["controls"] is True


def test_every_option_is_a_key(tmp_path: Path, command: Command) -> None:
    *_, help_text = command("run", "--help")[1:2]
    loaded = load_command("probe", "run")

    class Context:
        command = loaded

    keys = set(run_file.list_settings(Context()))  # type: ignore[arg-type]
    written = {
        option_name.removeprefix("--")
        for parameter in loaded.params
        for option_name in parameter.opts
        if option_name.startswith("--")
    } - {"help"}
    assert keys == {*written, "targets"}
    assert all(f"--{key}" in help_text for key in written)
    assert tmp_path.exists()


WRONG = {
    'seeds = "3"': "line 1: seeds: a whole number is expected, not '3'",
    "\n\nseeds = true": "line 3: seeds: a whole number is expected, not True",
    "seed = -1": "line 1: seed: a whole number from 0 is expected, not -1",
    "sed = 3": "line 1: there is no option 'sed' (did you mean 'seed'?)",
    "[zzz]\nseed = 1": "line 1: there is no option 'zzz'",
    "encoder = [1]": "line 1: encoder: a text, or a list of texts is expected, not [1]",
    "controls = 0": "line 1: controls: true or false is expected, not 0",
    "device = ['cpu']": "line 1: device: a text is expected, not ['cpu']",
    'config = "other.toml"': "line 1: there is no option 'config'",
}


WRONG_VALUES = {
    'encoder = [\n"bow",\n"frobs:1"]': "line 4: unknown encoder 'frobs'",
    'set = ["sed=1"]': "line 2: preset ettinger has no option 'sed'",
    'erase = ["nowhere"]': "line 2: nowhere: there is no such file",
    'draws = 2\ntask = ["Ordr"]': "line 3: there is no compeval task 'Ordr'",
    'preset = "x"': "line 2: unknown preset 'x'",
    "jobs = 0": "line 2: the number of jobs must be positive, not 0",
    'probe-vectors = "bow?x=1"': "line 2: bow has no option 'x'",
}


@pytest.mark.parametrize("text", WRONG_VALUES)
def test_wrong_value_is_named_with_its_line(tmp_path: Path, command: Command, text: str) -> None:
    path = tmp_path / "run.toml"
    path.write_text(f"seed = 0\n{text}\n")
    check_refusal(command("run", "compeval", "--config", path, "--dry-run"), f"probe: {path}, {WRONG_VALUES[text]}")


def test_wrong_value_of_command_line_is_not_of_run_file(tmp_path: Path, command: Command) -> None:
    path = tmp_path / "run.toml"
    path.write_text('seed = 0\njobs = 2\npreset = "ettinger"\n')
    arguments = ("run", "compeval", "--config", path, "--dry-run", "--jobs", "0")
    check_refusal(command(*arguments), "probe: the number of jobs must be positive")


@pytest.mark.parametrize(("text", "message"), WRONG.items())
def test_wrong_key_or_value(tmp_path: Path, command: Command, text: str, message: str) -> None:
    path = tmp_path / "run.toml"
    path.write_text(text)
    assert command("run", "--config", path) == (2, "", f"probe: {path}, {message}\n")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"seeds = ", "run.toml: Invalid value (at"),
        (b'out = "\xff"', "run.toml: line 1: not UTF-8"),
        (None, "run.toml: cannot read the run file: No such file or directory"),
        (b'targets = "compeval"\nfrequency-band = "1-2"', "--frequency-band is for the suite"),
        (b'targets = "compeval"\npreset = "etinger"', "did you mean 'ettinger'?"),
        (b"seeds = 2", "Missing argument"),
    ],
)
def test_unusable_file_is_refused(tmp_path: Path, command: Command, content: bytes | None, message: str) -> None:
    if content is not None:
        (tmp_path / "run.toml").write_bytes(content)
    check_refusal(command("run", "--config", tmp_path / "run.toml"), message)


@given(
    st.recursive(st.booleans() | st.integers(0, 2**60) | st.text(), st.lists, max_leaves=4).filter(
        lambda value: value is not None
    )
)
def test_written_value_is_read(value: object) -> None:
    assert tomllib.loads(f"key = {run_file._format_value(value)}")["key"] == value


MODULE = "open('ran', 'w').close()\ndef encode(texts): return [[1.0] for _ in texts]\n"
ADD_TRUST = "which a run file may not ask for: add --trust if you trust the file, or give it on the command line"
ONLY_HERE = "which only the command line may ask for"
SERVER = "openai:m?base_url=http://localhost:1/v1"
SENDS = "sends a key of yours over a connection"
REQUESTS = [
    ('encoder = ["bow?dim=4",\n  "python:evil_module"]\n', 3, "encoder python:evil_module runs code", ADD_TRUST),
    ('encoder = "python:subprocess:call"\n', 2, "encoder python:subprocess:call runs code", ADD_TRUST),
    ('probe-vectors = "python:evil_module"\n', 2, "probe-vectors python:evil_module runs code", ADD_TRUST),
    ('engine = "dask"\nscheduler = "tcp://a:1"\n', 3, "scheduler tcp://a:1 opens a connection", ADD_TRUST),
    ('encoder = "st:evil/model"\n', 2, "encoder st:evil/model opens a connection", ADD_TRUST),
    ('encoder = "evil/model"\n', 2, "encoder evil/model opens a connection", ADD_TRUST),
    ('encoder = "evil-model?dim=4"\n', 2, "encoder evil-model?dim=4 opens a connection", ADD_TRUST),
    ('encoder = "encoder"\n', 2, "encoder encoder opens a connection", ADD_TRUST),
    ('probe-vectors = "evil/model"\n', 2, "probe-vectors evil/model opens a connection", ADD_TRUST),
    ('encoder = "hf:evil/model"\n', 2, "encoder hf:evil/model opens a connection", ADD_TRUST),
    (f'encoder = "{SERVER}"\n', 2, f"encoder {SERVER} opens a connection", ADD_TRUST),
    (f'encoder = "{SERVER}&key_env=MY_KEY"\n', 2, f"encoder {SERVER}&key_env=MY_KEY {SENDS}", ONLY_HERE),
    *(
        (f'encoder = "{SERVER}&{option}"\n', 2, f"encoder {SERVER}&{option} opens a connection", ADD_TRUST)
        for option in ("dims=2", "quantize=int8", "erase=sets/Order", "dims=2&quantize=int8")
    ),
    ('encoder = "openai:m?dims=2"\n', 2, f"encoder openai:m?dims=2 {SENDS}", ONLY_HERE),
    ('encoder = "openai:m"\n', 2, f"encoder openai:m {SENDS}", ONLY_HERE),
]


@pytest.fixture
def evil_file(working_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MY_KEY", "secret")
    monkeypatch.setattr(socket, "create_connection", lambda *_, **__: Path("ran").touch())
    (working_folder / "evil_module.py").write_text(MODULE)
    return working_folder / "run.toml"


@pytest.mark.parametrize("dry_run", [(), ("--dry-run",)])
@pytest.mark.parametrize("case", REQUESTS)
def test_run_file_runs_no_code(
    case: tuple[str, int, str, str], dry_run: tuple[str, ...], evil_file: Path, command: Command
) -> None:
    text, line, request_text, hint = case
    evil_file.write_text(f"targets = 'compeval'\n{text}")
    code, out, err = command("run", "--config", "run.toml", *dry_run)
    assert (code, out) == (2, "")
    assert err.startswith(f"probe: run.toml, line {line}: {request_text}, {hint}: --")
    assert err.count("\n") == 1
    assert not Path("ran").exists()
    if hint == ONLY_HERE:
        assert hint in command("run", "--config", "run.toml", "--trust", *dry_run)[2]


def test_user_may_trust_run_file(evil_file: Path, command: Command) -> None:
    sizes = "task = 'Order'\ntrain = 56\ntest = 28\n"
    evil_file.write_text(f"targets = 'compeval'\nencoder = 'python:evil_module'\n{sizes}")
    line = ("run", "--config", "run.toml", "--dry-run", "--no-cache")
    assert command(*line, "-e", "bow?dim=4")[0] == 0
    assert not Path("ran").exists()
    assert command(*line, "-e", "python:evil_module")[0] == 0
    Path("ran").unlink()
    sys.modules.pop("evil_module")
    assert command(*line, "--trust")[0] == 0
    assert Path("ran").exists()


def test_run_file_may_name_local_folder(evil_file: Path, command: Command) -> None:
    """A recognised folder is read as by its whole spec: no code in it runs, whatever its configuration asks for."""
    folder = tiny_model(evil_file.parent / "model", kind="Bert")
    line = ("run", "--config", "run.toml", "--no-controls", "--set", "max_epochs=1", "--no-cache", "--out")
    settings = "targets = 'compeval'\ntask = 'Order'\ntrain = 56\ntest = 28\nprobe-vectors = 'one-hot'\n"
    evil_file.write_text(f"{settings}encoder = './model'\n")
    check_success(command(*line, "bare"))
    evil_file.write_text(f"{settings}encoder = 'hf:./model'\n")
    check_success(command(*line, "whole"))
    assert Path("bare/run.toml").read_text().replace('"bare"', '"whole"') == Path("whole/run.toml").read_text()
    assert read_results(Path("bare")).encoders == read_results(Path("whole")).encoders == ("hf:./model",)
    config = json.loads((folder / "config.json").read_text())
    (folder / "evil_module.py").write_text(MODULE)
    code_map = {"AutoModel": "evil_module.Model", "AutoConfig": "evil_module.Config"}
    (folder / "config.json").write_text(json.dumps(config | {"model_type": "evil", "auto_map": code_map}))
    messages = []
    for spec in ("./model", "hf:./model"):
        evil_file.write_text(f"{settings}encoder = '{spec}'\n")
        code, _, err = command(*line, "evil")
        messages.append(err.splitlines()[-1])
        assert code == 1
    assert messages[0] == messages[1]
    assert not Path("ran").exists()


def test_run_file_cannot_trust_itself(evil_file: Path, command: Command) -> None:
    evil_file.write_text("trust = true\n")
    assert "there is no option 'trust'" in command("run", "compeval", "--config", "run.toml")[2]


@pytest.mark.parametrize("name", ["HOME", "MY_SECRET", "AWS_KEY_ID", "MY KEY", "KEY"])
def test_key_variable_needs_a_key_name(name: str, evil_file: Path, command: Command) -> None:
    code, _, err = command("run", "compeval", "-e", f"{SERVER}&key_env={name}", "--task", "Order")
    assert code == 2
    assert f"openai: option key_env={name}: the name of a variable that ends in _KEY or _TOKEN is expected" in err
    assert not (evil_file.parent / "ran").exists()
