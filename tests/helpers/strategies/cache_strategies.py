"""An encoder whose vectors are known, and sentences and damage for the embedding cache."""

import hashlib
import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from hypothesis import strategies as st

from sentprobe.probes.encoders.encoder import Vectors

texts = st.lists(st.text("ab ", max_size=4) | st.sampled_from(["der Löwe 🦁", "x" * 50, "\ud800"]), min_size=1)
"""Sentences of any kind; some come twice."""


@dataclass
class HashingEncoder:
    """An encoder whose vectors are made from a digest of the sentence; it counts what it sees."""

    dim: int = 3
    fingerprint: str = "f" * 64
    name: str = "hashing"
    seen: list[str] = field(default_factory=list)
    calls: list[int] = field(default_factory=list)

    def encode(self, sentences: Sequence[str]) -> Vectors:
        self.seen.extend(sentences)
        self.calls.append(len(sentences))
        return expected(sentences, encoder=self)


def expected(sentences: Sequence[str], *, encoder: HashingEncoder) -> Vectors:
    out = np.empty((len(sentences), encoder.dim), dtype=np.float32)
    for row, text in enumerate(sentences):
        content = f"{encoder.fingerprint} {text}".encode("utf-8", "surrogatepass")
        out[row] = list(hashlib.sha512(content).digest()[: encoder.dim])
    return out


def flip(path: Path, place: int) -> None:
    content = bytearray(path.read_bytes() or b"x")
    content[place % len(content)] ^= 1 << (place % 8)
    path.write_bytes(content)


def truncate(path: Path, place: int) -> None:
    os.truncate(path, place % (path.stat().st_size or 1))


def lengthen(path: Path, place: int) -> None:
    with path.open("ab") as file:
        file.write(bytes(1 + place % 100))


def empty(path: Path, _: int) -> None:
    path.write_bytes(b"")


def zeros(path: Path, _: int) -> None:
    """As after a power cut: the length is right, the content was never written."""
    path.write_bytes(bytes(path.stat().st_size))


def copy_other_file(path: Path, place: int) -> None:
    """A file under the name of another."""
    other_files = [candidate for candidate in path.parent.glob("*.vectors") if candidate != path]
    if other_files:
        shutil.copy(other_files[place % len(other_files)], path)


Damage = Callable[[Path, int], None]

DAMAGE: tuple[Damage, ...] = (flip, truncate, lengthen, empty, zeros, copy_other_file)


def list_vector_files_below(directory: Path) -> list[Path]:
    return sorted(directory.glob("vectors-*/*.vectors"))
