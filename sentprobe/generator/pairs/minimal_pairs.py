"""The space of all minimal pairs of a paradigm, and writers of samples from it.

The index of a pair is the index of its good sentence. The formats are JSONL with BLiMP's fields, Parquet, and a folder
for lm-evaluation-harness.
"""

import json
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from importlib.resources import files
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sentprobe.common.errors import UsageError
from sentprobe.common.files import atomic_new_folder
from sentprobe.generator.bulk.columns import NOTHING
from sentprobe.generator.bulk.generation import Decoder, Renderer, SentenceChunk, parse_column
from sentprobe.generator.bulk.word_tables import WordTables
from sentprobe.generator.pairs.changes import (
    SAME_WORDS,
    SentenceEdit,
    apply_edit,
    build_alternatives,
    compile_change,
    describe_word_overlap,
    find_first_change,
    find_tables,
)
from sentprobe.generator.pairs.paradigms import (
    ALL_PARADIGMS,
    PrefixMethod,
    build_vocabulary_error,
    find_paradigm,
    load_paradigms,
)
from sentprobe.generator.pairs.triplet_files import write_rows
from sentprobe.generator.sentences.sentence import Sentence
from sentprobe.generator.sentences.sentence_records import json_escape, write_json
from sentprobe.generator.spaces.counting import IndexArray, divide_evenly, sample_distinct
from sentprobe.lexicon import Lexicon


@dataclass(frozen=True, slots=True, kw_only=True)
class MinimalPair:
    """A minimal pair: a good sentence, and a bad sentence with one error.

    The sentences are escaped as in JSON strings. ``critical`` is the number, from 1, of the first token that differs.
    ``annotation`` is the annotated good sentence as JSON text.
    """

    good: str
    bad: str
    critical: int
    annotation: str


POOL = 16
"""The number of pairs from which one pair of a sample is chosen."""


class _EditedWords:
    """Store of the column, or the word of the grammar, that a change edits first in each shape."""

    def __init__(self, change: str) -> None:
        self._change = change
        self._columns: list[int] = []
        self._words: list[int] = []
        self._known: dict[str, int] = {}

    def add(self, marked: Sentence) -> frozenset[int]:
        """Add a shape; return the number of its column."""
        edit = compile_change(self._change, marked)
        place = next((i for i, token in enumerate(edit) if token.table or token.position != i), len(edit))
        text = marked.tokens[place].form if place < len(marked.tokens) else ""
        self._columns.append(parse_column(text))
        self._words.append(self._known.setdefault(text, -1 - len(self._known)))
        return frozenset({self._columns[-1]})

    def find_words(self, chunk: SentenceChunk) -> NDArray[np.int64]:
        """Return the edited word of each sentence: its number in the columns, or a negative number."""
        columns = np.array(self._columns)[chunk.shapes]
        words = chunk.words[np.arange(len(chunk)), columns].astype(np.int64)
        return np.where(columns == NOTHING, np.array(self._words)[chunk.shapes], words)


class MinimalPairSpace:
    """The minimal pairs of a paradigm, with the words of a vocabulary.

    Raises:
        UsageError: an unknown paradigm or vocabulary; a vocabulary without the words that the paradigm needs.

    >>> from sentprobe.lexicon import english
    >>> space = MinimalPairSpace(english(), "verb_form_after_be", vocabulary="compeval")
    >>> pair = next(space.iterate_pairs(space.sample(1, seed=1)))
    >>> pair.good, pair.bad, pair.critical
    ('the student is sleeping', 'the student is sleep', 4)
    """

    def __init__(self, lexicon: Lexicon, uid: str, *, vocabulary: str) -> None:
        self.paradigm = find_paradigm(uid, lexicon.language)
        self._space = self.paradigm.build_space(lexicon, vocabulary)
        words, lacks = lexicon.vocabulary(vocabulary), self.paradigm.lacks
        names = find_tables(self.paradigm.change)
        self._tables = {name: build_alternatives(name, lexicon, words, lacks) for name in names}
        if not all(self._tables.values()):
            raise build_vocabulary_error(uid, vocabulary)
        self._edits: list[SentenceEdit] = []

    def count(self) -> int:
        """Return the exact number of pairs."""
        return self._space.count()

    def check_count(self, count: int) -> None:
        """Raise UsageError if *count* is not positive, or larger than the space."""
        if not 0 < count <= self.count():
            uid = self.paradigm.uid
            raise UsageError(f"{count} pairs of {uid} were asked for; from 1 to {self.count():,} are possible")

    def sample(self, count: int, *, seed: int) -> IndexArray:
        """Return the indices of *count* different pairs, in random order. Raises UsageError.

        Each word that the change edits is about equally frequent in their good sentences: the pairs are chosen among
        POOL times as many, equally many of each frame (intransitive, transitive, ditransitive).
        """
        self.check_count(count)
        rng, ranges = np.random.default_rng(seed), self._space.find_frame_ranges()
        sizes = [end - start for start, end in ranges]
        shares = divide_evenly(min(POOL * count, self.count()), sizes, Random(seed))
        dtype = np.int64 if self.count() < 2**63 else object
        rows = zip(ranges, shares, sizes, strict=True)
        parts = [sample_distinct(share, size, rng).astype(dtype) + start for (start, _), share, size in rows]
        pool = rng.permutation(np.concatenate(parts))
        edited = _EditedWords(self.paradigm.change)
        chunks = Decoder(self._space, WordTables(self._space), [edited]).decode_chunks(pool)
        words = np.concatenate([edited.find_words(chunk) for chunk in chunks])
        # Sorted by edited word, the pool has a run of pairs for each word; each run gives a share from its start.
        order = np.argsort(words, kind="stable")
        _, counts = np.unique(words, return_counts=True)
        chosen = divide_evenly(count, counts.tolist(), Random(seed))
        firsts = (np.cumsum(counts) - counts).tolist()
        places = np.concatenate([order[i : i + share] for i, share in zip(firsts, chosen, strict=True)])
        sample: IndexArray = pool[np.sort(places)]
        return sample

    def iterate_pairs(self, indices: IndexArray) -> Iterator[MinimalPair]:
        """Yield the pairs at *indices*, in the order of *indices*."""
        renderer = Renderer(self._space, self._format_record, escape=json_escape)
        start = 0
        for size, chunk in renderer.render_chunks(indices):
            rows = zip(chunk.split("\n"), indices[start : start + size].tolist(), strict=False)
            for record, index in rows:
                good, tags, number, annotation = record.split("\t")
                words = good.split(" ")
                bad = apply_edit(self._edits[int(number)], words, tags.split(" "), self._tables, index)
                critical = find_first_change(words, bad)
                yield MinimalPair(good=good, bad=" ".join(bad), critical=critical, annotation=annotation)
            start += size

    def _format_record(self, sentence: Sentence) -> str:
        """Return text, tags, edit index and annotation of *sentence*, joined by tabs. Append the edit to ``_edits``."""
        self._edits.append(compile_change(self.paradigm.change, sentence))
        tags = " ".join(token.xpos for token in sentence.tokens)
        return f"{sentence.text}\t{tags}\t{len(self._edits) - 1}\t{write_json(sentence)}"


def build_pair_spaces(lexicon: Lexicon, uids: Sequence[str], *, vocabulary: str) -> list[MinimalPairSpace]:
    """Return the space of each paradigm in *uids*; ``["all"]``: see :data:`~.paradigms.ALL_PARADIGMS`.

    Raises:
        UsageError: a paradigm or the vocabulary is unknown, or the vocabulary lacks words for a paradigm in *uids*.
    """
    if [*uids] != [ALL_PARADIGMS]:
        return [MinimalPairSpace(lexicon, uid, vocabulary=vocabulary) for uid in dict.fromkeys(uids)]
    lexicon.vocabulary(vocabulary)
    spaces = []
    for uid in (uid for uid, row in load_paradigms(lexicon.language).items() if not row.on_request):
        with suppress(UsageError):
            spaces.append(MinimalPairSpace(lexicon, uid, vocabulary=vocabulary))
    return spaces


class PairFormat(StrEnum):
    """The format of a file, or a folder, of minimal pairs."""

    JSONL = "jsonl"
    PARQUET = "parquet"
    LM_EVAL = "lm-eval"


ROW_GROUP_SIZE = 32_768
"""The number of pairs in a row group of a Parquet file."""


def sample_pairs(spaces: Sequence[MinimalPairSpace], n: int, *, seed: int) -> Iterator[tuple[str, str]]:
    """Sample *n* pairs from each space. Yield (BLiMP's fields, annotated good sentence) for each pair, both as JSON."""
    for space in spaces:
        format_fields = make_field_writer(space)
        for number, pair in enumerate(space.iterate_pairs(space.sample(n, seed=seed))):
            yield format_fields(pair, number), pair.annotation


def make_field_writer(space: MinimalPairSpace) -> Callable[[MinimalPair, int], str]:
    """Return a function that formats a pair and its number as a JSON object with BLiMP's fields.

    The field ``lexically_identical`` is true only if both sentences have the same words. In BLiMP, it can also be true
    if they differ in the form of a noun, but not if they differ in the form of a verb.
    """
    row = space.paradigm
    names = {"field": row.field, "linguistics_term": row.term, "UID": row.uid, "simple_LM_method": True}
    has_same_words = describe_word_overlap(row.change) == SAME_WORDS
    methods = {"two_prefix_method": row.prefix is PrefixMethod.TWO, "lexically_identical": has_same_words}
    first, last = (json.dumps(fields)[1:-1] for fields in (names, methods))

    def write(pair: MinimalPair, number: int) -> str:
        has_prefix = "true" if row.prefix is PrefixMethod.ONE and pair.critical > 1 else "false"
        return (
            f'{{"sentence_good": "{pair.good}", "sentence_bad": "{pair.bad}", {first}, "one_prefix_method": '
            f'{has_prefix}, {last}, "pairID": "{number}", "critical": {pair.critical}}}'
        )

    return write


def format_pair_lines(rows: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield a line of JSON for each pair: BLiMP's fields and the annotation."""
    for pair_fields, annotation in rows:
        yield f'{pair_fields[:-1]}, "annotation": {annotation}}}\n'


def write_pairs(spaces: Sequence[MinimalPairSpace], n: int, path: Path, pair_format: PairFormat, *, seed: int) -> None:
    """Write *n* pairs per space into one file, or for LM_EVAL a file per space into a new folder. Raises UsageError."""
    if pair_format is PairFormat.LM_EVAL:
        _write_folder(spaces, n, path, seed=seed)
        return
    rows = sample_pairs(spaces, n, seed=seed)
    write_rows(path, _build_tables(rows) if pair_format is PairFormat.PARQUET else format_pair_lines(rows))


def _write_lines(lines: Iterable[str], path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as out:
        out.writelines(lines)


def _build_tables(rows: Iterator[tuple[str, str]]) -> Iterator[Any]:
    """Yield Arrow tables with a column for each of BLiMP's fields, and a column with the annotation in JSON."""
    import pyarrow as pa

    while portion := [json.loads(first) | {"annotation": second} for first, second in islice(rows, ROW_GROUP_SIZE)]:
        yield pa.Table.from_pylist(portion)


def _write_folder(spaces: Sequence[MinimalPairSpace], n: int, path: Path, *, seed: int) -> None:
    texts = tomllib.loads((files(__package__) / "harness.toml").read_text(encoding="utf-8"))
    uids = [space.paradigm.uid for space in spaces]
    values = {
        "tasks": "\n".join(f"  - sentprobe_{uid}" for uid in uids),
        "configs": "\n".join(f"- config_name: {uid}\n  data_files: {uid}.jsonl" for uid in uids),
        "facts": "\n".join(f"- `{s.paradigm.uid}` ({s.paradigm.term}): {n:,} of {s.count():,} pairs" for s in spaces),
    }
    # File name to section of harness.toml. The harness takes every .yaml for a task, so the shared part has no suffix.
    cards = {"_template_yaml": "template", "sentprobe_minimal.yaml": "group", "README.md": "card"}
    file_names = [*cards, *(f"{uid}{suffix}" for uid in uids for suffix in (".jsonl", ".yaml"))]
    with atomic_new_folder(path, file_names) as folder:
        for space, uid in zip(spaces, uids, strict=True):
            lines = (f"{pair_fields}\n" for pair_fields, _ in sample_pairs([space], n, seed=seed))
            _write_lines(lines, folder / f"{uid}.jsonl")
            _write_lines([texts["task"].format(uid=uid)], folder / f"{uid}.yaml")
        for name, key in cards.items():
            _write_lines([texts[key].format(**values)], folder / name)
