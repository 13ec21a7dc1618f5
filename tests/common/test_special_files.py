"""Pipes and devices in the folders of strangers are refused before they are read; those that a user names are read."""

import os
import threading
from pathlib import Path

import pytest
from helpers.in_process import Command, check_refusal, check_success
from helpers.runs.shown_runs import write_run
from helpers.strategies.probe_strategies import make_sample_result

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes"),
    pytest.mark.usefixtures("working_folder"),
]

REPLACED = {
    "results/bow": "probe show results",
    "results/geometry/x.json": "probe show results",
    "results/run.json": "probe check results",
    "enc/config.json": "probe embed lines.txt -e enc -o out.npy",
    "enc/model.safetensors": "probe embed lines.txt -e trained:enc -o out.npy",
    "model/modules.json": "probe embed lines.txt -e st:model -o out.npy",
    "model/pytorch_model.bin": "probe embed lines.txt -e hf:model -o out.npy",
    "data/card.json": "probe audit data",
    "table/table.json": "probe build natural table --out built",
}


@pytest.mark.parametrize("kind", ["pipe", "endless"])
@pytest.mark.parametrize(("place", "line"), REPLACED.items(), ids=REPLACED)
def test_special_file_in_a_folder_is_refused(kind: str, place: str, line: str, run_program: Command) -> None:
    if place.startswith("results"):
        write_run(Path("results"), make_sample_result("bow", "Order", 600))
    Path("lines.txt").write_text("the man slept\n", encoding="utf-8")
    path = next(Path("results").glob("bow*")) if place == "results/bow" else Path(place)
    path.unlink(missing_ok=True)
    path.parent.mkdir(exist_ok=True)
    if path.parent.name in ("enc", "model") and path.name != "config.json":
        (path.parent / "config.json").write_text("{}", encoding="utf-8")
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero")
    program, *words = line.split()
    code, out, err = run_program(program, *words)
    assert (code != 0, out) == (True, "")
    assert err == f"probe: {path}: is a pipe or a device, and a file is expected\n"


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/stdin", "/dev/urandom", "/dev/shm/../zero", "run", "probe"])
def test_device_in_a_run_file_is_refused(device: str, run_program: Command) -> None:
    for name in ("run", "probe"):
        os.mkfifo(name)
    encoder = f"sdae:{device}?dictionary={device}"
    Path("run.toml").write_text(f'targets = ["compeval"]\nencoder = ["{encoder}"]\n', encoding="utf-8")
    refused = run_program("probe", "run", "--config", "run.toml", "--dry-run")
    check_refusal(refused, f"{device}: is a pipe or a device, and a file is expected", program="probe")


def test_pipe_on_the_command_line_is_read(run_program: Command) -> None:
    os.mkfifo("pipe.txt")
    writer = threading.Thread(target=Path("pipe.txt").write_text, args=("the man slept\n",))
    writer.start()
    assert "the man slept" in check_success(run_program("gen", "parse", "--file", "pipe.txt"))
    writer.join()
    check_refusal(run_program("gen", "parse", "--file", "none.txt"), "none.txt", program="gen")


def test_training_refuses_a_pipe(run_program: Command) -> None:
    """Its corpus is read more than once."""
    os.mkfifo("pipe.txt")
    writer = threading.Thread(target=Path("pipe.txt").write_text, args=("the man slept\n" * 40,))
    writer.start()
    arguments = ("--objective", "none", "--corpus", "pipe.txt", "--hidden", "2", "--out", "enc")
    message = "pipe.txt: cannot read it: it is a pipe, which can be read only once; write its content to a file first"
    check_refusal(run_program("probe", "train", "cbow", *arguments), message, code=1)
    writer.join()
