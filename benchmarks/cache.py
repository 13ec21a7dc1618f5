"""Time to write and read the embedding cache, compared with one .npy file of the same vectors.

``python benchmarks/cache.py`` prints a page of Markdown: the minimum of several runs in this process, the ways in turn.
The operating system holds the files in memory.
"""

import argparse
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from measure import describe_machine, format_table

from sentprobe.probes.encoders.cache import Cache, list_cache_folders, list_vector_files
from sentprobe.probes.encoders.embedding import embed
from sentprobe.probes.encoders.encoder import Vectors

NOTE = "`np.load` checks nothing; the cache finds sentences by digest and checks the SHA-256 of each file."


@dataclass(frozen=True, slots=True)
class ReadyEncoder:
    """An encoder with stored vectors, so that only the cache takes time."""

    vectors: Vectors
    rows: dict[str, int]
    name: str = "ready"
    fingerprint: str = "0" * 64

    def encode(self, sentences: Sequence[str]) -> Vectors:
        """Look the vectors up, (n, dim) float32."""
        return self.vectors[[self.rows[text] for text in sentences]]


def measure_seconds(work: Callable[[], object]) -> float:
    """Run *work* and return the CPU seconds of this process, user and system."""
    start = time.process_time()
    work()
    return time.process_time() - start


def measure(encoder: ReadyEncoder, folder: Path, runs: int) -> tuple[dict[str, float], int]:
    """Return the CPU seconds of each way, and the bytes on disk."""
    sentences = list(encoder.rows)
    tenth_indices = np.random.default_rng(1).choice(len(sentences), len(sentences) // 10, replace=False)
    tenth = [sentences[place] for place in tenth_indices]
    npy_path = folder / "vectors.npy"
    np.save(npy_path, encoder.vectors)
    seconds_by_way: dict[str, list[float]] = {}
    for run in range(runs):
        cache_folder = folder / str(run)
        work_by_way: dict[str, Callable[[], object]] = {
            "np.save": partial(np.save, npy_path, encoder.vectors),
            "np.load": partial(np.load, npy_path),
            "embed, no cache": partial(embed, encoder, sentences),
            "embed, filling the cache": partial(embed, encoder, sentences, cache=Cache(cache_folder)),
            "embed, all from the cache": partial(embed, encoder, sentences, cache=Cache(cache_folder)),
            "embed, a tenth, from the cache": partial(embed, encoder, tenth, cache=Cache(cache_folder)),
        }
        for name, work in work_by_way.items():
            seconds_by_way.setdefault(name, []).append(measure_seconds(work))
        (vector_folder,) = list_cache_folders(cache_folder)
        size = sum(path.stat().st_size for path in list_vector_files(vector_folder))
        np.testing.assert_array_equal(embed(encoder, sentences, cache=Cache(cache_folder)), encoder.vectors)
    return {name: min(times) for name, times in seconds_by_way.items()}, size


def main() -> None:
    """Measure and print the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sentences", type=int, default=100_000)
    parser.add_argument("--dim", type=int, default=768)
    parser.add_argument("--runs", type=int, default=3)
    arguments = parser.parse_args()
    generator = np.random.default_rng(0)
    vectors = generator.standard_normal((arguments.sentences, arguments.dim), dtype=np.float32)
    rows = {f"the man that saw {n} doctors slept" + " well" * (n % 5): n for n in range(len(vectors))}
    with tempfile.TemporaryDirectory() as folder:
        seconds_by_way, size = measure(ReadyEncoder(vectors, rows), Path(folder), arguments.runs)
    lines = [
        (name, f"{time_:.2f}", f"{time_ / seconds_by_way['np.load']:.1f}", f"{len(rows) / time_:,.0f}")
        for name, time_ in seconds_by_way.items()
    ]
    print(
        f"# The embedding cache\n\n{describe_machine(['numpy'])} CPU seconds, fastest of "
        f"{arguments.runs} runs; {arguments.sentences:,} sentences of width {arguments.dim}. "
        "Made by "
        "`python benchmarks/cache.py`.\n"
    )
    print(format_table(("way", "seconds", "times np.load", "sentences per second"), lines))
    extra = (size - vectors.nbytes) / vectors.nbytes
    print(f"\nOn disk {size / 1e6:.1f} MB, {extra:.2%} more than the vectors.\n\n{NOTE}")


if __name__ == "__main__":
    main()
