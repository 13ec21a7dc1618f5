"""Corpora for the natural-text tasks: made-up trees, real trees, and tables of their rows."""

import lzma
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import islice
from pathlib import Path
from random import Random
from zipfile import ZipFile

import pyarrow as pa
import pyarrow.parquet as pq
from shared import SHARED
from trees_of_lines import read_trees

from sentprobe.probes.corpus.table import (
    HEAD_NAME,
    SHARDS,
    Counts,
    Shard,
    SourceCount,
    Table,
    checksum,
    format_head,
    open_table,
)
from sentprobe.probes.syntax.row_columns import record_batch
from sentprobe.probes.syntax.rows import Row, analyse
from sentprobe.probes.syntax.trees import Mistake, Parsed

_ONSETS = ("b", "br", "d", "dr", "f", "g", "gr", "k", "kl", "l", "m", "n", "p", "pl", "r", "s", "t")
_VOWELS = ("a", "e", "i", "o", "u", "ee", "oa")


def _stems(rng: Random, number: int) -> list[str]:
    found: dict[str, None] = {}
    while len(found) < number:
        found[f"{rng.choice(_ONSETS)}{rng.choice(_VOWELS)}{rng.choice(_ONSETS[:6])}el"] = None
    return list(found)


class Speaker:
    """Says random sentences of a small grammar, with frequent words and rare ones."""

    def __init__(self, seed: int) -> None:
        self.rng = Random(seed)
        stems = _stems(self.rng, 320)
        self.nouns, self.verbs, self.rest = stems[:140], stems[140:260], stems[260:]

    def word(self, words: Sequence[str]) -> str:
        return words[int(len(words) * self.rng.random() ** 2)]

    def noun(self) -> str:
        plural = self.rng.random() < 0.5
        word = self.word(self.nouns)
        return f"(NNS {word}s)" if plural else f"(NN {word})"

    def phrase(self, depth: int = 0) -> str:
        inner = "(DT the) "
        if self.rng.random() < 0.4:
            inner += self.adjective() + " "
        if depth < 4 and self.rng.random() < 0.45:
            preposition = self.rng.choice(("of", "in", "with"))
            below = self.phrase(depth + 1)
            return f"(NP (NP {inner}{self.noun()}) (PP (IN {preposition}) {below}))"
        return f"(NP {inner}{self.noun()})"

    def adjective(self) -> str:
        """An adjective, in as many phrases as it takes to make depth differ from length."""
        wrapped = self.rng.randrange(8)
        return "(ADJP " * wrapped + f"(JJ {self.word(self.rest)})" + ")" * wrapped

    def predicate(self) -> str:
        tag = self.rng.choice(("VBD", "VBD", "VBZ", "VBP"))
        word = self.word(self.verbs)
        form = {"VBD": f"{word}ed", "VBZ": f"{word}s", "VBP": word}[tag]
        flat = self.rng.choice((0, 0, 1, 2, 4, 7))
        extra = "".join(f" (ADVP (RB {self.word(self.rest)}ly))" for _ in range(flat))
        return f"(VP ({tag} {form}) {self.phrase()}{extra})"

    def clause(self) -> str:
        subject = "(NP (PRP he))" if self.rng.random() < 0.2 else self.phrase()
        return f"(S {subject} {self.predicate()})"

    def opening(self) -> str:
        return self.rng.choice(
            (
                "",
                "",
                "(ADVP (RB then)) ",
                "(PP (IN in) (NP (NN time))) ",
                "(CC but) ",
                "(ADVP (RB here)) (PP (IN of) (NP (NN late))) ",
            )
        )

    def tree(self) -> str:
        if self.rng.random() < 0.25:
            comma = self.rng.choice(("", "(, ,) "))
            whole = f"(S {self.clause()} {comma}(CC and) {self.clause()} (. .))"
        else:
            stop = self.rng.choice(("(. .)", "(. .)", "(. !)", "(. ?)"))
            whole = f"(S {self.opening()}{self.clause()[3:-1]} {stop})"
        return _capitalised(whole)


def _capitalised(tree: str) -> str:
    """Return the tree with its first word beginning with a capital letter."""
    end = tree.index(")")
    place = tree.rindex(" ", 0, end) + 1
    return tree[:place] + tree[place].upper() + tree[place + 1 :]


@cache
def made_up(number: int = 3000, seed: int = 0) -> tuple[Row, ...]:
    """Return rows of sentences of a small grammar."""
    speaker = Speaker(seed)
    return rows_of(speaker.tree() for _ in range(number))


@cache
def treebank() -> tuple[Row, ...]:
    """Return the rows of NLTK's sample of the Penn Treebank."""
    archive = SHARED / "nltk_data" / "corpora" / "treebank.zip"
    with ZipFile(archive) as opened:
        names = sorted(name for name in opened.namelist() if name.endswith(".mrg"))
        lines = [line for name in names for line in opened.read(name).decode().splitlines(True)]
    return rows_of(lines)


@cache
def novels(number: int) -> tuple[Row, ...]:
    """Return the rows of the first sentences of the novels that were parsed."""
    with lzma.open(SHARED / "novels" / "parsed.mrg.xz", "rt", encoding="utf-8") as lines:
        return rows_of(islice(lines, number))


def rows_of(lines: Iterable[str]) -> tuple[Row, ...]:
    """Return the rows of the trees in the lines, each sentence once."""
    rows: dict[str, Row] = {}
    for place, tree in enumerate(read_trees(lines)):
        if not isinstance(tree, Mistake):
            row = analyse(Parsed(tree=tree, source="made.mrg", place=place))
            rows.setdefault(row.digest, row)
    return tuple(rows.values())


def write_table(rows: Sequence[Row], out: Path, *, shards: int = 1) -> Table:
    """Write the rows as a table of so many shards, and open it."""
    (out / SHARDS).mkdir(parents=True)
    width = -(-len(rows) // shards)
    for number in range(shards):
        part = rows[number * width : (number + 1) * width]
        file = out / SHARDS / f"part-{number:05d}.parquet"
        batch = record_batch(part, first=number * width)
        pq.write_table(pa.Table.from_batches([batch]), file)
    return write_head(out, rows=len(rows))


def write_head(out: Path, *, rows: int) -> Table:
    """Write the head of a table whose shards are there, and open it."""
    head = Table(
        path=out,
        command="",
        recipe={"constituents": True},
        versions={},
        sources=(SourceCount(path="made.mrg", format="trees", sentences=rows),),
        counts=Counts(sentences=rows, rows=rows, duplicates=0, failures=0),
        shards=tuple(map(_shard, sorted((out / SHARDS).iterdir()))),
    )
    (out / HEAD_NAME).write_text(format_head(head), encoding="utf-8")
    return open_table(out)


def _shard(file: Path) -> Shard:
    return Shard(
        file=file.name,
        rows=pq.read_metadata(file).num_rows,
        size=file.stat().st_size,
        sha256=checksum(file),
    )
