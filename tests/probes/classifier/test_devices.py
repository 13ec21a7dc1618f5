"""Devices: accepted names, the choice of auto, and errors in one line."""

import re
from unittest.mock import Mock

import pytest
import torch
from helpers.strategies.probe_strategies import make_learnable_dataset
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.common.errors import UsageError
from sentprobe.common.specs import DEVICES
from sentprobe.probes.classifier.devices import check_device, find_device, send_to_device
from sentprobe.probes.runs.run import run

KNOWN = "; known: auto, cpu, cuda, mps"


@pytest.mark.parametrize(
    ("device", "near"), [("gpu", "cuda"), ("GPU:1", "cuda"), ("coda", "cuda"), ("CPU", "cpu"), ("autp", "auto")]
)
def test_an_unknown_device_and_the_nearest(device: str, near: str) -> None:
    message = f"unknown device '{device}' (did you mean '{near}'?){KNOWN}"
    with pytest.raises(UsageError, match=f"^{re.escape(message)}$"):
        find_device(device)


@pytest.mark.parametrize("device", ["", "meta", "cuda:x", "xyz", "auto:1"])
def test_a_device_that_may_not_be_asked_for(device: str) -> None:
    with pytest.raises(UsageError, match=f"^unknown device '{device}'.*{KNOWN}$"):
        find_device(device)


@given(st.text(max_size=8))
def test_any_other_text_is_one_line_of_usage(text: str) -> None:
    try:
        assert find_device(text).partition(":")[0] in DEVICES[1:]
    except UsageError as error:
        assert len(str(error).splitlines()) == 1
        assert error.exit_code == 2


@pytest.mark.parametrize("device", ["cuda:99", "mps:99"])
def test_a_device_that_is_not_there(device: str) -> None:
    with pytest.raises(UsageError, match=f"^device '{device}' cannot be used: .*$"):
        check_device(device)


@pytest.mark.parametrize(
    ("available", "best"), [((), "cpu"), (("cuda",), "cuda"), (("mps",), "mps"), (DEVICES, "cuda")]
)
def test_auto_is_the_best(available: tuple[str, ...], best: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: "cuda" in available)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: "mps" in available)
    monkeypatch.setattr("sentprobe.probes.classifier.devices.check_device", torch.device)
    assert find_device("auto") == best


def test_nvidia_gpu_copies_from_locked_memory() -> None:
    tensor, gpu = Mock(), torch.device("cuda")
    assert send_to_device(tensor, gpu) is tensor.pin_memory().to.return_value
    tensor.pin_memory().to.assert_called_once_with(gpu, non_blocking=True)
    assert send_to_device(torch.ones(2), torch.device("meta")).device.type == "meta"


def test_a_result_states_the_device_that_auto_stands_for() -> None:
    results = run(make_learnable_dataset(size=60), "bow?dim=4", controls=False, device="auto")
    assert [record.device for record in results.records] == [find_device("auto")]
