"""Speed of making a corpus table from bracketed trees, compared with NLTK's tree reader.

``python benchmarks/corpus.py FILE.mrg.xz`` prints a page of Markdown. Each measurement has its own process. Larger
corpora repeat the file; each repetition changes the words, so that no sentence repeats.
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

from measure import describe_machine, format_sections, format_table

from sentprobe.common.engines import EngineChoice, EngineName
from sentprobe.probes.corpus.analysis import Analysis, analyze
from sentprobe.probes.corpus.sources import find_sources
from sentprobe.probes.corpus.table import AnalysisRecipe, open_table

_WORD = re.compile(r" ([A-Za-z]+)\)")


def write_repeated_trees(source: Path, target: Path, sentences: int) -> None:
    """Write *sentences* trees: those of *source*, then the same trees with changed words."""
    with lzma.open(source, "rt", encoding="utf-8") as file:
        trees = file.readlines()
    with target.open("w", encoding="utf-8") as out:
        for round_ in range(-(-sentences // len(trees))):
            suffix = f" \\g<1>{chr(97 + round_ % 26)}{chr(97 + round_ // 26)})" if round_ else None
            for tree in trees[: sentences - round_ * len(trees)]:
                out.write(tree if suffix is None else _WORD.sub(suffix, tree))


def read_by_nltk(file: Path) -> int:
    """Read all trees with NLTK alone."""
    from nltk.tree import Tree

    with file.open(encoding="utf-8") as lines:
        return sum(1 for line in lines if Tree.fromstring(line).leaves())


def make_table(file: Path, jobs: int, scheduler: str | None = None) -> int:
    """Make the table; return its number of sentences."""
    engine = EngineName.LOCAL if scheduler is None else EngineName.DASK
    with tempfile.TemporaryDirectory() as folder:
        plan = Analysis(sources=find_sources([str(file)]), recipe=AnalysisRecipe(), out=Path(folder) / "table")
        analyze(plan, EngineChoice(engine=engine, jobs=jobs, scheduler=scheduler))
        return open_table(plan.out, check=False).counts.sentences


def make_table_on_dask(file: Path, jobs: int) -> int:
    """Make the table on a local Dask cluster; the start of the cluster is not timed."""
    from distributed import LocalCluster

    create: Any = LocalCluster
    with create(n_workers=jobs, threads_per_worker=1, dashboard_address=None, silence_logs=50) as cluster:
        start = time.perf_counter()
        count = make_table(file, jobs, cluster.scheduler_address)
        print(json.dumps({"wall": time.perf_counter() - start}), file=sys.stderr)
        return count


WAYS: Mapping[str, Callable[[Path], int]] = {
    "NLTK reads the trees": read_by_nltk,
    "table, one process": lambda file: make_table(file, 1),
    "table, two processes": lambda file: make_table(file, 2),
    "table, two workers of Dask": lambda file: make_table_on_dask(file, 2),
}


def measure_way(name: str, file: Path) -> None:
    """Run one way in this process; print its times and peak memory."""
    start = time.perf_counter()
    count = WAYS[name](file)
    wall = time.perf_counter() - start
    process_usage = resource.getrusage(resource.RUSAGE_SELF)
    child_usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = sum(use.ru_utime + use.ru_stime for use in (process_usage, child_usage))
    peak = 1024 * max(process_usage.ru_maxrss, child_usage.ru_maxrss)
    print(json.dumps({"count": count, "wall": wall, "cpu": cpu, "peak": peak}))


def measure_in_processes(name: str, file: Path, runs: int) -> dict[str, float]:
    """Run one way in several processes; return the fastest run."""
    timings = []
    for _ in range(runs):
        command = [sys.executable, "-W", "ignore", __file__, str(file), "--way", name]
        process = subprocess.run(command, check=True, capture_output=True, text=True)
        timing = json.loads(process.stdout)
        if "Dask" in name:
            timing["wall"] = json.loads(process.stderr.strip().splitlines()[-1])["wall"]
        timings.append(timing)
    return min(timings, key=lambda candidate: candidate["wall"])


def make_speed_table(file: Path, runs: int) -> str:
    """Return the table of speeds."""
    rows = []
    for name in WAYS:
        timing = measure_in_processes(name, file, runs)
        rate, per_core = timing["count"] / timing["wall"], timing["count"] / timing["cpu"]
        rows.append((name, f"{timing['wall']:.1f}", f"{rate:,.0f}", f"{per_core:,.0f}"))
    header = ("way", "seconds", "sentences per second", "sentences per CPU second")
    return format_table(header, rows)


def make_memory_table(source: Path, folder: Path, sizes: list[int]) -> str:
    """Return the table of peak memory of the largest process, by corpus size."""
    rows = []
    for size in sizes:
        file = folder / "grown.mrg"
        write_repeated_trees(source, file, size)
        timing = measure_in_processes("table, two processes", file, 1)
        rate = timing["count"] / timing["wall"]
        rows.append((f"{size:,}", f"{timing['peak'] / 1e6:.0f}", f"{rate:,.0f}"))
    return format_table(("sentences", "MB", "sentences per second"), rows)


def main() -> None:
    """Measure and print the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path, help="Penn brackets, a tree a line, compressed by xz.")
    parser.add_argument("--sentences", type=int, default=60_000)
    parser.add_argument("--sizes", type=int, nargs="*", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--way", choices=WAYS, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.way:
        measure_way(arguments.way, arguments.file)
        return
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "trees.mrg"
        write_repeated_trees(arguments.file, file, arguments.sentences)
        parts = {
            f"{arguments.sentences:,} trees to a table": make_speed_table(file, arguments.runs),
            "Memory": make_memory_table(arguments.file, Path(folder), arguments.sizes),
        }
    print(f"# Speed of analysing a corpus\n\n{describe_machine(['nltk', 'pyarrow'])} The fastest of")
    print(f"{arguments.runs} runs. Made by `python benchmarks/corpus.py`.\n\n{format_sections(parts)}")


if __name__ == "__main__":
    main()
