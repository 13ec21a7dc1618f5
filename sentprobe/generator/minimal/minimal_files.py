"""Writers of minimal pairs: JSONL with BLiMP's fields, Parquet, and a folder for lm-evaluation-harness."""

import json
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import StrEnum
from importlib.resources import files
from itertools import islice
from pathlib import Path
from typing import Any

from sentprobe.disk.files import atomic_new_folder
from sentprobe.generator.minimal.changes import SAME_WORDS, describe_word_overlap
from sentprobe.generator.minimal.minimal_pairs import MinimalPair, MinimalPairSpace
from sentprobe.generator.minimal.paradigms import PrefixMethod
from sentprobe.generator.pairs.triplet_files import write_rows


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
    cards = {"_template_yaml": "template", "sentprobe_minimal.yaml": "group", "README.md": "card"}
    file_names = [*cards, *(f"{uid}{suffix}" for uid in uids for suffix in (".jsonl", ".yaml"))]
    with atomic_new_folder(path, file_names) as folder:
        for space, uid in zip(spaces, uids, strict=True):
            lines = (f"{pair_fields}\n" for pair_fields, _ in sample_pairs([space], n, seed=seed))
            _write_lines(lines, folder / f"{uid}.jsonl")
            _write_lines([texts["task"].format(uid=uid)], folder / f"{uid}.yaml")
        for name, key in cards.items():
            _write_lines([texts[key].format(**values)], folder / name)
