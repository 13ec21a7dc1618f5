"""A reader of anybody's files: how its sound file is made, how it may be damaged, what reads it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import mutations as mu


@dataclass(frozen=True, slots=True, kw_only=True)
class HostileReader:
    """What makes sound files in a folder, and returns the one to be damaged; and what reads it."""

    make: Callable[[Path], Path]
    read: Callable[[Path], object]
    """It is given the damaged file."""
    ways: Sequence[mu.Mutation] = mu.ANY
    most: int = 2000
    """Of a slow reader, so many inputs are enough."""


def text_file(name: str, content: str) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        path = folder / name
        path.write_text(content, encoding="utf-8")
        return path

    return make
