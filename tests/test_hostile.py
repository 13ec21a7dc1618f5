"""Damaged and malicious files: a reader accepts any file or ends in a clear error."""

import random
from pathlib import Path

import pytest
from helpers.hostile.hostile_files import HostileReader
from helpers.hostile.hostile_readers import READERS
from helpers.hostile.mutations import mutate

from sentprobe.common.errors import SentprobeError

SLOW = ("config.json", "tokenizer.json", "model.safetensors", "pytorch_model.bin", "modules.json")
"""Inputs for which a model is loaded."""

MAX_LINE = 2000
"""Largest number of characters in a line of a message."""

pytestmark = pytest.mark.filterwarnings("ignore")  # libraries warn of what they read


def find_faults(name: str, reader: HostileReader, folder: Path, *, count: int) -> list[str]:
    """Read *count* damaged files; return the errors other than a clear SentprobeError."""
    path = reader.make(folder)
    sound = path.read_bytes()
    reader.read(path)
    faults = []
    for number in range(count):
        path.write_bytes(mutate(sound, reader.ways, random.Random(f"{name} {number}")))
        if wrong := describe_fault(reader, path):
            faults.append(f"{number}: {wrong}")
        if not path.exists():
            reader.make(folder)
    return faults


def describe_fault(reader: HostileReader, path: Path) -> str:
    """Describe the fault in how a reader ends; the empty string without a fault."""
    try:
        reader.read(path)
    except SentprobeError as error:
        text = str(error)
        lines = text.splitlines() or [""]
        sound = max(map(len, lines)) <= MAX_LINE and "\x1b" not in text and text.strip()
        return "" if sound else f"a message of {len(text)} characters: {text[:300]!r}"
    except Exception as error:
        return f"{type(error).__name__}: {error!s:.300}"
    return ""


@pytest.mark.parametrize("name", [name for name in READERS if name not in SLOW])
def test_damaged_files_are_clear_errors(name: str, tmp_path: Path) -> None:
    assert find_faults(name, READERS[name], tmp_path, count=40) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", READERS)
def test_many_damaged_files_are_clear_errors(name: str, tmp_path: Path) -> None:
    reader = READERS[name]
    assert find_faults(name, reader, tmp_path, count=reader.most) == []
