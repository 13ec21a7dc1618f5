"""Corpora of sentences in Penn brackets, and their fast analyses."""

from collections.abc import Sequence
from pathlib import Path

import pyarrow.parquet as pq
from hypothesis import strategies as st

from sentprobe.common.engines import EngineChoice
from sentprobe.probes.corpus.analysis import Analysis, analyze
from sentprobe.probes.corpus.sources import ChunkSize, find_sources
from sentprobe.probes.corpus.table import AnalysisRecipe, Table

HERE = EngineChoice(jobs=1)
SMALL = ChunkSize(pieces=3, characters=10_000)
PAIRS = [("men", "slept"), ("dogs", "ran"), ("men", "slept"), ("kings", "saw us")]

NOUNS = ("men", "dogs", "kings", "naïve")
VERBS = ("slept", "ran", "saw us")


def format_tree(noun: str, verb: str) -> str:
    words = " ".join(f"(VBD {word})" for word in verb.split())
    return f"(ROOT (S (NP (NNS {noun})) (VP {words}) (. .)))"


def format_text(noun: str, verb: str) -> str:
    return f"{noun} {verb} ."


def sentences() -> st.SearchStrategy[list[tuple[str, str]]]:
    """Nouns and verbs of sentences, with repetitions."""
    return st.lists(st.tuples(st.sampled_from(NOUNS), st.sampled_from(VERBS)), max_size=30)


def chunk_sizes() -> st.SearchStrategy[ChunkSize]:
    return st.builds(ChunkSize, pieces=st.integers(1, 40), characters=st.integers(1, 4000))


def write_trees(path: Path, pairs: Sequence[tuple[str, str]]) -> Path:
    path.write_text("".join(format_tree(*pair) + "\n" for pair in pairs), encoding="utf-8")
    return path


def make_table(
    files: Sequence[Path],
    out: Path,
    *,
    size: ChunkSize | None = None,
    machines: EngineChoice = HERE,
    recipe: AnalysisRecipe | None = None,
    force: bool = False,
    format: str | None = None,
) -> Table:
    plan = Analysis(
        sources=find_sources([str(file) for file in files], format=format),
        recipe=recipe or AnalysisRecipe(),
        out=out,
        size=size,
        force=force,
    )
    return analyze(plan, machines)


def read_rows(table: Table) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for file in table.files:
        rows += pq.read_table(file).to_pylist()
    return rows


def read_contents(folder: Path) -> dict[str, bytes]:
    """Return the bytes of all files in a folder, by relative path."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}
