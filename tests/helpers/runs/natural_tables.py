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
from helpers.oracles.trees_of_lines import read_line_trees
from helpers.shared import SHARED

from sentprobe.probes.corpus.table import (
    HEAD_NAME,
    SHARDS,
    Counts,
    Shard,
    SourceCount,
    Table,
    compute_checksum,
    format_head,
    open_table,
)
from sentprobe.probes.corpus.table_rows import Row, build_row, make_record_batch
from sentprobe.probes.corpus.trees import Mistake, ParsedSentence
from sentprobe.probes.datasets.dataset import ProbeDataset, TooFewError
from sentprobe.probes.natural.datasets import NaturalRecipe, build_datasets
from sentprobe.probes.natural.natural_task import NaturalTask

_ONSETS = ("b", "br", "d", "dr", "f", "g", "gr", "k", "kl", "l", "m", "n", "p", "pl", "r", "s", "t")
_VOWELS = ("a", "e", "i", "o", "u", "ee", "oa")


def _make_stems(rng: Random, number: int) -> list[str]:
    stems: dict[str, None] = {}
    while len(stems) < number:
        stems[f"{rng.choice(_ONSETS)}{rng.choice(_VOWELS)}{rng.choice(_ONSETS[:6])}el"] = None
    return list(stems)


class Speaker:
    """A source of random sentences of a small grammar, with frequent words and rare ones."""

    def __init__(self, seed: int) -> None:
        self.rng = Random(seed)
        stems = _make_stems(self.rng, 320)
        self.nouns, self.verbs, self.modifiers = stems[:140], stems[140:260], stems[260:]

    def choose_word(self, words: Sequence[str]) -> str:
        return words[int(len(words) * self.rng.random() ** 2)]

    def make_noun(self) -> str:
        plural = self.rng.random() < 0.5
        word = self.choose_word(self.nouns)
        return f"(NNS {word}s)" if plural else f"(NN {word})"

    def make_phrase(self, depth: int = 0) -> str:
        inner = "(DT the) "
        if self.rng.random() < 0.4:
            inner += self.make_adjective() + " "
        if depth < 4 and self.rng.random() < 0.45:
            preposition = self.rng.choice(("of", "in", "with"))
            below = self.make_phrase(depth + 1)
            return f"(NP (NP {inner}{self.make_noun()}) (PP (IN {preposition}) {below}))"
        return f"(NP {inner}{self.make_noun()})"

    def make_adjective(self) -> str:
        """Return an adjective in nested phrases, so that depth differs from length."""
        wrapped = self.rng.randrange(8)
        return "(ADJP " * wrapped + f"(JJ {self.choose_word(self.modifiers)})" + ")" * wrapped

    def make_predicate(self) -> str:
        tag = self.rng.choice(("VBD", "VBD", "VBZ", "VBP"))
        word = self.choose_word(self.verbs)
        form = {"VBD": f"{word}ed", "VBZ": f"{word}s", "VBP": word}[tag]
        flat = self.rng.choice((0, 0, 1, 2, 4, 7))
        extra = "".join(f" (ADVP (RB {self.choose_word(self.modifiers)}ly))" for _ in range(flat))
        return f"(VP ({tag} {form}) {self.make_phrase()}{extra})"

    def make_clause(self) -> str:
        subject = "(NP (PRP he))" if self.rng.random() < 0.2 else self.make_phrase()
        return f"(S {subject} {self.make_predicate()})"

    def make_opening(self) -> str:
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

    def make_tree(self) -> str:
        if self.rng.random() < 0.25:
            comma = self.rng.choice(("", "(, ,) "))
            tree_text = f"(S {self.make_clause()} {comma}(CC and) {self.make_clause()} (. .))"
        else:
            stop = self.rng.choice(("(. .)", "(. .)", "(. !)", "(. ?)"))
            tree_text = f"(S {self.make_opening()}{self.make_clause()[3:-1]} {stop})"
        return _capitalize(tree_text)


def _capitalize(tree: str) -> str:
    """Return the tree with its first word beginning with a capital letter."""
    end = tree.index(")")
    place = tree.rindex(" ", 0, end) + 1
    return tree[:place] + tree[place].upper() + tree[place + 1 :]


@cache
def sample_rows(number: int = 3000, seed: int = 0) -> tuple[Row, ...]:
    """Return rows of sentences of a small grammar."""
    speaker = Speaker(seed)
    return parse_rows(speaker.make_tree() for _ in range(number))


@cache
def read_treebank_rows() -> tuple[Row, ...]:
    """Return the rows of NLTK's sample of the Penn Treebank."""
    archive = SHARED / "nltk_data" / "corpora" / "treebank.zip"
    with ZipFile(archive) as opened:
        names = sorted(name for name in opened.namelist() if name.endswith(".mrg"))
        lines = [line for name in names for line in opened.read(name).decode().splitlines(True)]
    return parse_rows(lines)


@cache
def read_novel_rows(number: int) -> tuple[Row, ...]:
    """Return the rows of the first sentences of the novels that were parsed."""
    with lzma.open(SHARED / "novels" / "parsed.mrg.xz", "rt", encoding="utf-8") as lines:
        return parse_rows(islice(lines, number))


def parse_rows(lines: Iterable[str]) -> tuple[Row, ...]:
    """Return the rows of the trees in the lines, each sentence once."""
    rows: dict[str, Row] = {}
    for place, tree in enumerate(read_line_trees(lines)):
        if not isinstance(tree, Mistake):
            row = build_row(ParsedSentence(tree=tree, source="made.mrg", place=place))
            rows.setdefault(row.digest, row)
    return tuple(rows.values())


def write_table(rows: Sequence[Row], out: Path, *, shards: int = 1, language: str = "") -> Table:
    """Write the rows as a table with this number of shards, and open it."""
    (out / SHARDS).mkdir(parents=True)
    width = -(-len(rows) // shards)
    for number in range(shards):
        part = rows[number * width : (number + 1) * width]
        file = out / SHARDS / f"part-{number:05d}.parquet"
        batch = make_record_batch(part, first=number * width)
        pq.write_table(pa.Table.from_batches([batch]), file)
    return write_head(out, rows=len(rows), language=language)


def write_head(out: Path, *, rows: int, language: str = "") -> Table:
    """Write the head of a table whose shards are there, and open it."""
    head = Table(
        path=out,
        command="",
        recipe={"constituents": True},
        versions={},
        sources=(SourceCount(path="made.mrg", format="trees", sentences=rows),),
        counts=Counts(sentences=rows, rows=rows, duplicates=0, failures=0),
        shards=tuple(map(_describe_shard, sorted((out / SHARDS).iterdir()))),
        language=language,
    )
    (out / HEAD_NAME).write_text(format_head(head), encoding="utf-8")
    return open_table(out)


def _describe_shard(file: Path) -> Shard:
    return Shard(
        file=file.name, rows=pq.read_metadata(file).num_rows, size=file.stat().st_size, sha256=compute_checksum(file)
    )


def build_one(task: NaturalTask, table: Table, *, recipe: NaturalRecipe | None = None) -> ProbeDataset:
    """Build the dataset of one task, or raise the reason why it cannot be built."""
    ((_, data),) = build_datasets([task], table, recipe=recipe)
    if isinstance(data, TooFewError):
        raise data
    return data
