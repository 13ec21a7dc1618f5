"""From bracketed trees to a table, against NLTK's tree reader alone, in one run.

``python benchmarks/corpus.py FILE.mrg.xz`` prints a page of Markdown. Each measurement is a process
of its own. Larger corpora are the file again and again, with each word changed so that no sentence
repeats.
"""

import argparse
import json
import lzma
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from measure import machine, sections, table

from sentprobe.engines import EngineName, Machines
from sentprobe.probes.corpus.analyze import Analysis, analyze
from sentprobe.probes.corpus.recipe import Recipe
from sentprobe.probes.corpus.sources import find_sources
from sentprobe.probes.corpus.table import open_table

_WORD = re.compile(r" ([A-Za-z]+)\)")


def repeat(source: Path, target: Path, sentences: int) -> None:
    """Write so many trees: those of *source*, then the same with other words, and so on."""
    with lzma.open(source, "rt", encoding="utf-8") as file:
        trees = file.readlines()
    with target.open("w", encoding="utf-8") as out:
        for round_ in range(-(-sentences // len(trees))):
            suffix = f" \\g<1>{chr(97 + round_ % 26)}{chr(97 + round_ // 26)})" if round_ else None
            for tree in trees[: sentences - round_ * len(trees)]:
                out.write(tree if suffix is None else _WORD.sub(suffix, tree))


def read_by_nltk(file: Path) -> int:
    """Read all trees by NLTK alone."""
    from nltk.tree import Tree  # noqa: PLC0415 - measured alone

    with file.open(encoding="utf-8") as lines:
        return sum(1 for line in lines if Tree.fromstring(line).leaves())


def make(file: Path, jobs: int, scheduler: str | None = None) -> int:
    """Make the table and return how many sentences there were."""
    engine = EngineName.LOCAL if scheduler is None else EngineName.DASK
    with tempfile.TemporaryDirectory() as folder:
        plan = Analysis(
            sources=find_sources([str(file)]), recipe=Recipe(), out=Path(folder) / "table"
        )
        analyze(plan, Machines(engine=engine, jobs=jobs, scheduler=scheduler))
        return open_table(plan.out, check=False).counts.sentences


def make_on_dask(file: Path, jobs: int) -> int:
    """Make the table on a Dask cluster of processes on this machine; starting it is not counted."""
    from distributed import LocalCluster  # noqa: PLC0415 - an extra

    create: Any = LocalCluster
    with create(
        n_workers=jobs, threads_per_worker=1, dashboard_address=None, silence_logs=50
    ) as cluster:
        start = time.perf_counter()
        count = make(file, jobs, cluster.scheduler_address)
        print(json.dumps({"wall": time.perf_counter() - start}), file=sys.stderr)
        return count


WAYS: Mapping[str, Callable[[Path], int]] = {
    "NLTK reads the trees": read_by_nltk,
    "table, one process": lambda file: make(file, 1),
    "table, two processes": lambda file: make(file, 2),
    "table, two workers of Dask": lambda file: make_on_dask(file, 2),
}


def measure_way(name: str, file: Path) -> None:
    """Run one way in this process and print what it took."""
    start = time.perf_counter()
    count = WAYS[name](file)
    wall = time.perf_counter() - start
    own = resource.getrusage(resource.RUSAGE_SELF)
    others = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = sum(use.ru_utime + use.ru_stime for use in (own, others))
    peak = 1024 * max(own.ru_maxrss, others.ru_maxrss)
    print(json.dumps({"count": count, "wall": wall, "cpu": cpu, "peak": peak}))


def measured(name: str, file: Path, runs: int) -> dict[str, float]:
    """Run one way in processes of its own; return the quickest."""
    found = []
    for _ in range(runs):
        command = [sys.executable, "-W", "ignore", __file__, str(file), "--way", name]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        result = json.loads(done.stdout)
        if "Dask" in name:
            result["wall"] = json.loads(done.stderr.strip().splitlines()[-1])["wall"]
        found.append(result)
    return min(found, key=lambda each: each["wall"])


def speed(file: Path, runs: int) -> str:
    """Return the table of the ways."""
    rows = []
    for name in WAYS:
        found = measured(name, file, runs)
        rate, per_core = found["count"] / found["wall"], found["count"] / found["cpu"]
        rows.append((name, f"{found['wall']:.1f}", f"{rate:,.0f}", f"{per_core:,.0f}"))
    header = ("way", "seconds", "sentences a second", "sentences a second of CPU")
    return table(header, rows)


def memory(source: Path, folder: Path, sizes: list[int]) -> str:
    """Return the table of peak memory at growing sizes; of the largest process."""
    rows = []
    for size in sizes:
        file = folder / "grown.mrg"
        repeat(source, file, size)
        found = measured("table, two processes", file, 1)
        rate = found["count"] / found["wall"]
        rows.append((f"{size:,}", f"{found['peak'] / 1e6:.0f}", f"{rate:,.0f}"))
    return table(("sentences", "MB", "sentences a second"), rows)


def main() -> None:
    """Measure and print the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path, help="Penn brackets, a tree a line, packed by xz.")
    parser.add_argument("--sentences", type=int, default=60_000)
    parser.add_argument("--sizes", type=int, nargs="*", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--way", choices=WAYS, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.way:
        measure_way(asked.way, asked.file)
        return
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "trees.mrg"
        repeat(asked.file, file, asked.sentences)
        parts = {
            f"{asked.sentences:,} trees to a table": speed(file, asked.runs),
            "Memory (the largest process)": memory(asked.file, Path(folder), asked.sizes),
        }
    print(f"# Speed of analysing a corpus\n\n{machine(['nltk', 'pyarrow'])} The quickest of")
    print(f"{asked.runs} runs. Made by `python benchmarks/corpus.py`.\n\n{sections(parts)}")


if __name__ == "__main__":
    main()
