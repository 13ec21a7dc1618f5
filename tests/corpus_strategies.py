"""Corpora: sentences as Penn brackets, and ways to analyse them quickly."""

from collections.abc import Sequence
from pathlib import Path

import pyarrow.parquet as pq
from hypothesis import strategies as st

from sentprobe.engines import Machines
from sentprobe.probes.corpus.analyze import Analysis, analyze
from sentprobe.probes.corpus.recipe import Recipe
from sentprobe.probes.corpus.sources import ChunkSize, find_sources
from sentprobe.probes.corpus.table import Table

HERE = Machines(jobs=1)
SMALL = ChunkSize(pieces=3, characters=10_000)
PAIRS = [("men", "slept"), ("dogs", "ran"), ("men", "slept"), ("kings", "saw us")]

NOUNS = ("men", "dogs", "kings", "naïve")
VERBS = ("slept", "ran", "saw us")


def tree(noun: str, verb: str) -> str:
    words = " ".join(f"(VBD {word})" for word in verb.split())
    return f"(ROOT (S (NP (NNS {noun})) (VP {words}) (. .)))"


def text(noun: str, verb: str) -> str:
    return f"{noun} {verb} ."


def sentences() -> st.SearchStrategy[list[tuple[str, str]]]:
    """Nouns and verbs of sentences; some come again."""
    return st.lists(st.tuples(st.sampled_from(NOUNS), st.sampled_from(VERBS)), max_size=30)


def chunk_sizes() -> st.SearchStrategy[ChunkSize]:
    return st.builds(ChunkSize, pieces=st.integers(1, 40), characters=st.integers(1, 4000))


def write_trees(path: Path, pairs: Sequence[tuple[str, str]]) -> Path:
    path.write_text("".join(tree(*pair) + "\n" for pair in pairs), encoding="utf-8")
    return path


def make_table(
    files: Sequence[Path],
    out: Path,
    *,
    size: ChunkSize | None = None,
    machines: Machines = HERE,
    recipe: Recipe | None = None,
    force: bool = False,
) -> Table:
    plan = Analysis(
        sources=find_sources([str(file) for file in files]),
        recipe=recipe or Recipe(),
        out=out,
        size=size,
        force=force,
    )
    return analyze(plan, machines)


def rows_of(table: Table) -> list[dict[str, object]]:
    found: list[dict[str, object]] = []
    for file in table.files:
        found += pq.read_table(file).to_pylist()
    return found


def content(folder: Path) -> dict[str, bytes]:
    """All files of a folder, by their names in it."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}
