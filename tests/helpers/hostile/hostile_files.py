"""A reader of untrusted files, with its sound file and the mutations to apply."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from helpers.hostile import mutations as mu


@dataclass(frozen=True, slots=True, kw_only=True)
class HostileReader:
    """A maker of sound files, which returns the one to damage, and its reader."""

    make: Callable[[Path], Path]
    read: Callable[[Path], object]
    """Called with the damaged file."""
    ways: Sequence[mu.Mutation] = mu.ANY
    most: int = 2000
    """Largest number of inputs, smaller for a slow reader."""


def text_file(name: str, content: str) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        path = folder / name
        path.write_text(content, encoding="utf-8")
        return path

    return make


def parquet_file(name: str, **columns: Sequence[object]) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        path = folder / name
        pq.write_table(pa.table(columns), path)
        return path

    return make


TREES = """\
(ROOT (S (NP (NNS men)) (VP (VBD slept)) (. .)))
( (S (NP-SBJ (NNS dogs)) (VP (VBD saw) (NP (PRP us)) (-NONE- *T*-1))))
"""
