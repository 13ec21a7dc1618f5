"""Damaged and malicious files: whatever is in one, a reader ends in a sentence or reads it."""

import random
from pathlib import Path

import pytest
from hostile_files import HostileReader
from hostile_readers import READERS
from mutations import mutated

from sentprobe.errors import SentprobeError

SLOW = ("config.json", "tokenizer.json", "model.safetensors", "pytorch_model.bin", "modules.json")
"""Each of these inputs takes a model to be loaded."""

LONGEST = 2000
"""The characters of a line of a message."""

pytestmark = pytest.mark.filterwarnings("ignore")  # libraries warn of what they read


def damage(name: str, reader: HostileReader, folder: Path, *, count: int) -> list[str]:
    """Read so many damaged files; return what came out that is no SentprobeError."""
    path = reader.make(folder)
    sound = path.read_bytes()
    reader.read(path)
    found = []
    for number in range(count):
        path.write_bytes(mutated(sound, reader.ways, random.Random(f"{name} {number}")))
        if wrong := fault(reader, path):
            found.append(f"{number}: {wrong}")
        if not path.exists():
            reader.make(folder)
    return found


def fault(reader: HostileReader, path: Path) -> str:
    """Say what is wrong with how a reader ends; nothing, if it is all right."""
    try:
        reader.read(path)
    except SentprobeError as error:
        text = str(error)
        lines = text.splitlines() or [""]
        sound = max(map(len, lines)) <= LONGEST and "\x1b" not in text and text.strip()
        return "" if sound else f"a message of {len(text)} characters: {text[:300]!r}"
    except Exception as error:
        return f"{type(error).__name__}: {error!s:.300}"
    return ""


@pytest.mark.parametrize("name", [name for name in READERS if name not in SLOW])
def test_some(name: str, tmp_path: Path) -> None:
    assert damage(name, READERS[name], tmp_path, count=40) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", READERS)
def test_many(name: str, tmp_path: Path) -> None:
    reader = READERS[name]
    assert damage(name, reader, tmp_path, count=reader.most) == []
