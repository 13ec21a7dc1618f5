"""Time and memory for selecting all ten natural tasks from a table of a million rows.

    python benchmarks/natural.py            # makes the table of the parsed novels in shared/data
    python benchmarks/natural.py --table DIRECTORY

The million rows repeat the novels' 31,000, with half of the open-class words replaced by others of the same tag. Each
measurement has its own process.
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
from measure import Measurement, describe_machine, format_table, measure_in_process, print_measurement

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from helpers.oracles.trees_of_lines import read_line_trees
from helpers.runs.natural_tables import write_head
from helpers.shared import SHARED

from sentprobe.probes.corpus.table import SHARDS, open_table
from sentprobe.probes.corpus.table_rows import Row, build_row, make_record_batch
from sentprobe.probes.corpus.trees import Mistake, ParsedSentence
from sentprobe.probes.datasets.dataset import ProbeDataset
from sentprobe.probes.natural.datasets import NaturalRecipe, build_datasets, find_tasks

ROWS = 1_000_000
_OPEN_CLASS_TAGS = frozenset(("NN", "NNS", "NNP", "VB", "VBD", "VBG", "VBN", "VBP", "VBZ", "JJ", "RB"))


def read_novels() -> list[Row]:
    with lzma.open(SHARED / "novels" / "parsed.mrg.xz", "rt", encoding="utf-8") as lines:
        trees = (tree for tree in read_line_trees(lines) if not isinstance(tree, Mistake))
        rows = (build_row(ParsedSentence(tree=tree, source="novels")) for tree in trees)
        return list({row.digest: row for row in rows}.values())


def enlarge_corpus(rows: list[Row]) -> Iterator[Row]:
    """Yield the rows, then endless copies with replaced words; no text repeats."""
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
                rng.choice(words[tag]) if place and tag in _OPEN_CLASS_TAGS and rng.random() < 0.5 else token
                for place, (token, tag) in enumerate(zip(row.tokens, row.tags, strict=True))
            ]
            text = " ".join(tokens)
            digest = sha256(text.encode()).hexdigest()[:16]
            if digest not in seen:
                seen.add(digest)
                yield replace(row, tokens=tuple(tokens), text=text, digest=digest)


def write_enlarged(out: Path, *, rows: int) -> None:
    (out / SHARDS).mkdir(parents=True)
    stream = islice(enlarge_corpus(read_novels()), rows)
    number = 0
    while chunk := list(islice(stream, 50_000)):
        batch = make_record_batch(chunk, first=number * 50_000)
        file = out / SHARDS / f"part-{number:05d}.parquet"
        pq.write_table(pa.Table.from_batches([batch]), file, compression="zstd")
        number += 1
    write_head(out, rows=rows)


def measure_selection(directory: Path, *, audit: bool) -> Measurement:
    """Build the ten tasks; the measured seconds are wall-clock seconds."""
    import resource

    start = time.monotonic()
    built = 0
    for task, data in build_datasets(find_tasks(), open_table(directory), recipe=NaturalRecipe(audit=audit)):
        built += isinstance(data, ProbeDataset)
        print(f"{task.name}: {time.monotonic() - start:.0f} s", file=sys.stderr)
    peak = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return Measurement(built, time.monotonic() - start, peak)


def build_report(directory: Path) -> str:
    lines = []
    for label, flag in (("datasets", "select"), ("datasets and their baselines", "audit")):
        measurement = measure_in_process(Path(__file__), ["--table", str(directory), "--measure", flag])
        lines.append([label, str(measurement.count), f"{measurement.seconds:.0f}", f"{measurement.peak / 1e9:.1f}"])
    return format_table(("what", "tasks", "seconds", "peak memory, GB"), lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--table", type=Path)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--measure", choices=("select", "audit"))
    arguments = parser.parse_args()
    if arguments.measure:
        print_measurement(measure_selection(arguments.table, audit=arguments.measure == "audit"))
        return
    with TemporaryDirectory() as scratch:
        directory = arguments.table or Path(scratch) / "table"
        if arguments.table is None:
            write_enlarged(directory, rows=arguments.rows)
        print(describe_machine(["duckdb", "pyarrow", "scikit-learn"]))
        print(build_report(directory))


if __name__ == "__main__":
    main()
