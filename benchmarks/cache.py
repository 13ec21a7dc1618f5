"""Writing and reading the embedding cache, against one .npy file of the same vectors, in one run.

``python benchmarks/cache.py`` prints a page of Markdown: the quickest of several runs, each in this
process, the ways in turn; the files are in the operating system's memory.
"""

import argparse
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from measure import machine, table

from sentprobe.probes.encoders import Vectors
from sentprobe.probes.encoders.cache import Cache, our_files, our_folders
from sentprobe.probes.encoders.embed import embed

NOTE = """\
`np.load` checks nothing and knows no sentences. The cache finds each sentence by its digest and
checks the SHA-256 of each file that it takes a vector from, which is about half of the time.
Without a cache, `embed` still orders the sentences and checks the vectors."""


@dataclass(frozen=True, slots=True)
class Ready:
    """An encoder that has its vectors already, so that what is measured is the cache."""

    vectors: Vectors
    rows: dict[str, int]
    name: str = "ready"
    fingerprint: str = "0" * 64

    def encode(self, sentences: Sequence[str]) -> Vectors:
        """Look the vectors up, (n, dim) float32."""
        return self.vectors[[self.rows[text] for text in sentences]]


def seconds(work: Callable[[], object]) -> float:
    """Run *work* and return the CPU seconds of this process, user and system."""
    start = time.process_time()
    work()
    return time.process_time() - start


def measure(ready: Ready, folder: Path, runs: int) -> tuple[dict[str, float], int]:
    """Return the CPU seconds of each way, and the bytes on disk."""
    sentences = list(ready.rows)
    some = np.random.default_rng(1).choice(len(sentences), len(sentences) // 10, replace=False)
    tenth = [sentences[place] for place in some]
    plain = folder / "vectors.npy"
    np.save(plain, ready.vectors)
    found: dict[str, list[float]] = {}
    for run in range(runs):
        directory = folder / str(run)
        ways: dict[str, Callable[[], object]] = {
            "np.save": partial(np.save, plain, ready.vectors),
            "np.load": partial(np.load, plain),
            "embed, no cache": partial(embed, ready, sentences),
            "embed, filling the cache": partial(embed, ready, sentences, cache=Cache(directory)),
            "embed, all from the cache": partial(embed, ready, sentences, cache=Cache(directory)),
            "embed, a tenth, from the cache": partial(embed, ready, tenth, cache=Cache(directory)),
        }
        for name, work in ways.items():
            found.setdefault(name, []).append(seconds(work))
        (kept,) = our_folders(directory)
        size = sum(path.stat().st_size for path in our_files(kept))
        np.testing.assert_array_equal(
            embed(ready, sentences, cache=Cache(directory)), ready.vectors
        )
    return {name: min(times) for name, times in found.items()}, size


def main() -> None:
    """Measure and print the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sentences", type=int, default=100_000)
    parser.add_argument("--dim", type=int, default=768)
    parser.add_argument("--runs", type=int, default=3)
    asked = parser.parse_args()
    generator = np.random.default_rng(0)
    vectors = generator.standard_normal((asked.sentences, asked.dim), dtype=np.float32)
    rows = {
        f"the man that saw {n} doctors slept" + " well" * (n % 5): n for n in range(len(vectors))
    }
    with tempfile.TemporaryDirectory() as folder:
        found, size = measure(Ready(vectors, rows), Path(folder), asked.runs)
    lines = [
        (name, f"{time_:.2f}", f"{time_ / found['np.load']:.1f}", f"{len(rows) / time_:,.0f}")
        for name, time_ in found.items()
    ]
    print(
        f"# Speed of the embedding cache\n\n{machine(['numpy'])} Seconds are CPU time, user and "
        f"system; the quickest of {asked.runs} runs. {asked.sentences:,} sentences, of width "
        f"{asked.dim}. Made by `python benchmarks/cache.py`.\n"
    )
    print(table(("way", "seconds", "times np.load", "sentences a second"), lines))
    extra = (size - vectors.nbytes) / vectors.nbytes
    print(f"\nOn disk {size / 1e6:.1f} MB, {extra:.2%} more than the vectors.\n\n{NOTE}")


if __name__ == "__main__":
    main()
