"""How long it takes to select all ten tasks from a table of a million rows, with how much memory.

    python benchmarks/natural.py            # makes the table of the parsed novels in shared/data
    python benchmarks/natural.py --table DIRECTORY

The million rows are the novels' 31,000 with half of the open-class words exchanged for others of
the same tag, again and again. Each measurement is a process of its own.
"""

import argparse
import lzma
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from itertools import islice
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.parquet as pq
from measure import Measurement, machine, measure_apart, print_measurement, table

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from natural_tables import write_head
from shared import SHARED
from trees_of_lines import read_trees

from sentprobe.probes.corpus.table import SHARDS, open_table
from sentprobe.probes.dataset import ProbeDataset
from sentprobe.probes.natural.catalogue import find_tasks
from sentprobe.probes.natural.datasets import NaturalRecipe, build_each
from sentprobe.probes.syntax.row_columns import record_batch
from sentprobe.probes.syntax.rows import Row, analyse
from sentprobe.probes.syntax.trees import Mistake, Parsed

ROWS = 1_000_000
_OPEN = frozenset(("NN", "NNS", "NNP", "VB", "VBD", "VBG", "VBN", "VBP", "VBZ", "JJ", "RB"))


def novels() -> list[Row]:
    with lzma.open(SHARED / "novels" / "parsed.mrg.xz", "rt", encoding="utf-8") as lines:
        trees = (tree for tree in read_trees(lines) if not isinstance(tree, Mistake))
        rows = (analyse(Parsed(tree=tree, source="novels")) for tree in trees)
        return list({row.digest: row for row in rows}.values())


def enlarged(rows: list[Row]) -> Iterator[Row]:
    """Yield the rows, and then endlessly rows of theirs with other words; no text twice."""
    words: dict[str, list[str]] = {}
    for row in rows:
        for token, tag in zip(row.tokens, row.tags, strict=True):
            words.setdefault(tag, []).append(token)
    rng = Random(0)
    seen = {row.digest for row in rows}
    yield from rows
    while True:
        for row in rows:
            tokens = [
                rng.choice(words[tag]) if place and tag in _OPEN and rng.random() < 0.5 else token
                for place, (token, tag) in enumerate(zip(row.tokens, row.tags, strict=True))
            ]
            text = " ".join(tokens)
            digest = sha256(text.encode()).hexdigest()[:16]
            if digest not in seen:
                seen.add(digest)
                yield replace(row, tokens=tuple(tokens), text=text, digest=digest)


def write_enlarged(out: Path, *, rows: int) -> None:
    (out / SHARDS).mkdir(parents=True)
    stream = islice(enlarged(novels()), rows)
    number = 0
    while part := list(islice(stream, 50_000)):
        batch = record_batch(part, first=number * 50_000)
        file = out / SHARDS / f"part-{number:05d}.parquet"
        pq.write_table(pa.Table.from_batches([batch]), file, compression="zstd")
        number += 1
    write_head(out, rows=rows)


def select(directory: Path, *, audit: bool) -> Measurement:
    """Build the ten tasks; the seconds are of the clock, not of one core."""
    import resource  # noqa: PLC0415

    start = time.monotonic()
    made = 0
    for task, data in build_each(
        find_tasks(), open_table(directory), recipe=NaturalRecipe(audit=audit)
    ):
        made += isinstance(data, ProbeDataset)
        print(f"{task.name}: {time.monotonic() - start:.0f} s", file=sys.stderr)
    peak = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return Measurement(made, time.monotonic() - start, peak)


def report(directory: Path) -> str:
    lines = []
    for what, flag in (("datasets", "select"), ("datasets and their baselines", "audit")):
        found = measure_apart(Path(__file__), ["--table", str(directory), "--measure", flag])
        lines.append([what, str(found.count), f"{found.seconds:.0f}", f"{found.peak / 1e9:.1f}"])
    return table(("what", "tasks", "seconds", "peak memory, GB"), lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--table", type=Path)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--measure", choices=("select", "audit"))
    given = parser.parse_args()
    if given.measure:
        print_measurement(select(given.table, audit=given.measure == "audit"))
        return
    with TemporaryDirectory() as scratch:
        directory = given.table or Path(scratch) / "table"
        if given.table is None:
            write_enlarged(directory, rows=given.rows)
        print(machine(["duckdb", "pyarrow", "scikit-learn"]))
        print(report(directory))


if __name__ == "__main__":
    main()
