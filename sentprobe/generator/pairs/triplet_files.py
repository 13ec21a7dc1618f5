"""Writers of triplet files: JSONL and Parquet with annotation, or minimal pairs in the format of BLiMP."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from sentprobe.common.errors import UsageError
from sentprobe.common.files import atomic_path
from sentprobe.common.specs import choose_member
from sentprobe.common.values import format_json
from sentprobe.generator.bulk.generation import PART_SIZE
from sentprobe.generator.pairs.drafts import MAIN, RowRenderer, RowSource
from sentprobe.generator.pairs.triplets import SIDES, TripletRows, TripletSet, TripletSide
from sentprobe.generator.sentences.sentence import Sentence
from sentprobe.generator.sentences.sentence_records import json_escape, write_json


class TripletFormat(StrEnum):
    """The format of a triplet file."""

    JSONL = "jsonl"
    PARQUET = "parquet"
    BLIMP = "blimp"


LINES_SIZE = 4_096
"""Number of triplets that are formatted at a time."""

Format = TypeVar("Format", bound=StrEnum)


def find_pair_format(formats: type[Format], name: str | None, out: Path | None) -> Format:
    """Return the format *name* or, if that is None, the format of the suffix of *out* (JSONL without *out*).

    Raises:
        UsageError: the format is unknown, or cannot be written to standard output.
    """
    suffix = out.suffix.lower() if out else ".jsonl"
    suffixes = [known for known in (".jsonl", ".csv", ".tsv", ".parquet") if known[1:] in [*formats]]
    if name is None and suffix not in suffixes:
        hint = "; a folder needs --format lm-eval" if "lm-eval" in [*formats] and not suffix else ""
        raise UsageError(f"no format goes with the suffix {suffix!r}; use {', '.join(suffixes)} or --format{hint}")
    pair_format = choose_member(formats, suffix[1:] if name is None else name, what="format")
    if out is None and pair_format in ("parquet", "lm-eval"):
        what = "Parquet" if pair_format == "parquet" else f"the format {pair_format}"
        raise UsageError(f"{what} cannot be written to standard output; name a file with --out")
    return pair_format


def format_place(path: str) -> str:
    """Return the name that triplet files give to the clause or noun at *path*."""
    return "main" if path == MAIN else path.removesuffix(".")


def write_triplets(triplets: TripletSet, path: Path, triplet_format: TripletFormat) -> None:
    """Write triplets to a file. Raises UsageError if the path cannot be written."""
    write_rows(path, build_rows(triplets, triplet_format))


def build_rows(triplets: TripletSet, triplet_format: TripletFormat) -> Iterator[Any]:
    """Return triplets as lines of JSON, or as Arrow tables for Parquet."""
    is_parquet = triplet_format is TripletFormat.PARQUET
    return _build_parquet_tables(triplets) if is_parquet else format_triplet_lines(triplets, triplet_format)


def write_rows(path: Path, rows: Iterator[Any]) -> None:
    """Write lines to a text file, or Arrow tables to a Parquet file, one row group per table. Raises UsageError."""
    first = next(rows)
    with atomic_path(path) as temporary:
        if isinstance(first, str):
            with temporary.open("w", encoding="utf-8", newline="\n") as out:
                out.writelines(chain([first], rows))
            return
        import pyarrow.parquet as pq

        with pq.ParquetWriter(temporary, first.schema, compression="zstd") as writer:
            for table in chain([first], rows):
                writer.write_table(table)


def format_triplet_lines(triplets: TripletSet, triplet_format: TripletFormat) -> Iterator[str]:
    space = triplets.space
    # Escaped words contain no line breaks or tabs.
    renderer = RowRenderer(space.lexicon, space.words, format_record, json_escape)
    for first, portion in triplets.iterate_portions(LINES_SIZE):
        columns = renderer.render_columns(TripletRows(portion), len(SIDES))
        for fact, sentences in pair_records(portion, columns, first=first, total=len(triplets)):
            yield _LINE_WRITERS[triplet_format](fact, sentences)


def pair_records(
    portion: TripletSet, columns: Iterable[Sequence[str]], *, first: int, total: int, needs_two_negatives: bool = False
) -> Iterator[tuple[dict[str, str], dict[TripletSide, "SentenceJson"]]]:
    """Yield each triplet's fields and its sentences. *columns* has one list of formatted sentences per TripletSide.

    With *needs_two_negatives*, triplets whose two negatives have the same text are left out.
    """
    facts = _describe_triplets(portion, first)
    for place, (fact, *records) in enumerate(zip(facts, *columns, strict=True), first + 1):
        if needs_two_negatives and len({record.partition("\t")[0] for record in records[-2:]}) == 1:
            continue
        yield (
            fact,
            {
                side: SentenceJson(place + number * total, *record.split("\t"))
                for number, (side, record) in enumerate(zip(SIDES, records, strict=True))
            },
        )


class SentenceJson(NamedTuple):
    """A sentence's number, ``text`` as a JSON string, and the other ``fields`` of its JSON record, without the id."""

    number: int
    text: str
    fields: str


def format_record(sentence: Sentence) -> str:
    """Return ``text`` and ``fields`` of :class:`SentenceJson` for a sentence, separated by a tab."""
    text = format_json(sentence.text)
    record = write_json(replace(sentence, id="", index=None))
    return f"{text}\t{record.removeprefix(_NO_ID).rstrip()}"


_NO_ID = '{"id":"",'


def _describe_triplets(portion: TripletSet, first: int) -> list[dict[str, str]]:
    """Return the id, contrast, structure, ``place`` and ``voices`` of each triplet: all fields except the sentences."""
    name = portion.space.contrast.name
    return [
        {
            "id": f"{name}-{number}",
            "contrast": name,
            "structure": stratum.pattern.name,
            "place": format_place(stratum.place),
            "voices": ", ".join(map(format_place, stratum.voices)),
        }
        for number, stratum in enumerate(portion.list_strata(), first + 1)
    ]


def format_full_line(facts: Mapping[str, str], sentences: Mapping[TripletSide, SentenceJson]) -> str:
    """Return a triplet and the annotation of all its sentences as a line of JSON."""
    texts = (f'"{side}":{sentence.text}' for side, sentence in sentences.items())
    fields = tuple(facts.items())
    members = (_format_members(dict(fields[:1])), _format_shared_members(fields[1:]))  # the id, and the other fields
    return _format_line([*members, *texts], sentences)


@lru_cache(maxsize=4096)
def _format_shared_members(fields: tuple[tuple[str, str], ...]) -> str:
    return _format_members(dict(fields))


def _format_blimp_line(facts: Mapping[str, str], sentences: Mapping[TripletSide, SentenceJson]) -> str:
    """Return a line with a minimal pair: the positive is the good sentence, and the negative is the bad one."""
    good, bad = sentences[TripletSide.POSITIVE], sentences[TripletSide.NEGATIVE]
    fields = {
        "field": "semantics",
        "linguistics_term": facts["contrast"],
        "UID": f"{facts['contrast']}_{facts['structure']}",
        "simple_LM_method": False,
        "one_prefix_method": False,
        "two_prefix_method": False,
        "lexically_identical": sorted(good.text[1:-1].split()) == sorted(bad.text[1:-1].split()),
        "pairID": facts["id"].rpartition("-")[2],
    }
    members = [f'"sentence_good":{good.text}', f'"sentence_bad":{bad.text}', _format_members(fields)]
    members.append(f'"anchor":{sentences[TripletSide.ANCHOR].text}')
    return _format_line(members, {"good": good, "bad": bad})


def _format_members(fields: Mapping[str, object]) -> str:
    return format_json(fields, separators=(",", ":"))[1:-1]


def _format_line(members: Iterable[str], sentences: Mapping[Any, SentenceJson]) -> str:
    """Return a line with a JSON object: *members*, then ``annotation`` with the record of each of *sentences*."""
    annotation = ",".join(f'"{name}":{{"id":"s{s.number}",{s.fields}' for name, s in sentences.items())
    return f'{{{",".join(members)},"annotation":{{{annotation}}}}}\n'


_LINE_WRITERS = {TripletFormat.JSONL: format_full_line, TripletFormat.BLIMP: _format_blimp_line}


def _build_parquet_tables(triplets: TripletSet) -> Iterator[Any]:
    import pyarrow as pa

    from sentprobe.generator.bulk.parquet import TableMaker

    source = RowSource(triplets.space.lexicon, triplets.space.words)
    maker = TableMaker(source)
    for first, portion in triplets.iterate_portions(PART_SIZE):
        source.rows = TripletRows(portion)
        rows = np.arange(len(portion))
        sides = []
        for number in range(len(SIDES)):
            (side_table,) = maker.build_tables(rows + number * len(portion))
            side_table = side_table.drop_columns(["id", "index"])
            arrays = [_decode_dictionaries(column.combine_chunks()) for column in side_table.columns]
            sides.append(pa.StructArray.from_arrays(arrays, names=side_table.column_names))
        annotation = pa.StructArray.from_arrays(sides, names=[*SIDES])
        table = pa.Table.from_pylist(_describe_triplets(portion, first))
        for side, column in zip(SIDES, sides, strict=True):
            table = table.append_column(side.value, column.field("text"))
        yield table.append_column("annotation", annotation)


def _decode_dictionaries(array: Any) -> Any:
    """Return *array* without dictionary encoding, because row groups could have different dictionaries."""
    import pyarrow as pa

    if pa.types.is_dictionary(array.type):
        return array.dictionary_decode()
    if pa.types.is_list(array.type) and pa.types.is_dictionary(array.type.value_type):
        words = array.values.dictionary_decode()
        return pa.ListArray.from_arrays(array.offsets, words)
    return array
