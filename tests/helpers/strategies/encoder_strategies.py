"""Hypothesis strategies for vectors and files of encoders."""

import gzip
import json
import lzma
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from safetensors.numpy import save_file

from sentprobe.probes.encoders.encoder import Vectors

words = st.text(alphabet="abcdefgh", min_size=1, max_size=4)
sentences = st.lists(words, min_size=1, max_size=7).map(" ".join)
batches = st.lists(sentences, min_size=1, max_size=8, unique=True)

# Any text that a file can hold in a field: no surrogates, tabs or ends of lines.
fields = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\t\n\r\0\ufeff"), min_size=1).filter(
    lambda text: text.strip() == text
)

Filed = tuple[list[str], Vectors]


@st.composite
def filed_vectors(draw: st.DrawFn) -> Filed:
    """Distinct texts, and as many finite float32 vectors of one width."""
    texts = draw(st.lists(fields, min_size=1, max_size=6, unique=True))
    shape = (len(texts), draw(st.integers(1, 4)))
    numbers = st.floats(allow_nan=False, allow_infinity=False, width=32)
    return texts, draw(arrays(np.float32, shape, elements=numbers))


def write_with_ids(path: Path, texts: Sequence[str], vectors: Vectors, ids: Sequence[str]) -> None:
    """Write vectors with sentences and ids, as other tools do."""
    if path.suffix == ".npz":
        np.savez(path, vectors=vectors, sentences=np.array(texts), ids=np.array(ids))
    elif path.suffix == ".npy":
        np.save(path, vectors)
    elif path.suffix == ".safetensors":
        save_file({"vectors": vectors}, path, metadata={"sentences": json.dumps(texts), "ids": json.dumps(ids)})
    elif path.suffix == ".parquet":
        pq.write_table(pa.table({"id": [*ids], "sentence": [*texts], "vector": vectors.tolist()}), path)
    else:
        rows = (" ".join(map(repr, row)) for row in vectors.tolist())
        lines = [f"{name}\t{text}\t{row}\n" for name, text, row in zip(ids, texts, rows, strict=True)]
        text = "".join(lines).encode()
        packed = {".gz": gzip.compress(text), ".xz": lzma.compress(text)}
        path.write_bytes(packed.get(path.suffix, text))


def word_table(*entries: tuple[str, Sequence[float]]) -> str:
    """Word vectors as text, without a header."""
    return "".join(f"{word} {' '.join(map(str, vector))}\n" for word, vector in entries)


Damage = tuple[float, bytes, bool]

damages: st.SearchStrategy[Damage] = st.tuples(st.floats(0, 1), st.binary(min_size=1, max_size=8), st.booleans())
"""Where in a file, what is there instead, and whether the file ends there."""


def damaged(content: bytes, damage: Damage) -> bytes:
    """The content of a file with that damage."""
    at, new, cut = damage
    place = int(at * len(content))
    return content[:place] + (b"" if cut else new + content[place + len(new) :])
