"""Files of triplets: JSONL and Parquet with annotation, or minimal pairs with BLiMP's fields."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sentprobe.disk.files import atomic_path
from sentprobe.errors import UsageError
from sentprobe.generator.bulk.generation import PART_SIZE
from sentprobe.generator.pairs.drafts import MAIN
from sentprobe.generator.pairs.row_renderer import RowRenderer, RowSource
from sentprobe.generator.pairs.triplets import SIDES, Stratum, TripletRows, TripletSet, TripletSide
from sentprobe.generator.sentences.sentence import Sentence
from sentprobe.generator.sentences.sentence_records import json_escape, write_json
from sentprobe.specs import choose_member


class TripletFormat(StrEnum):
    """The format of a triplet file."""

    JSONL = "jsonl"
    PARQUET = "parquet"
    BLIMP = "blimp"


LINES_SIZE = 2_048
"""Number of triplets whose lines are rendered at a time."""

FORMATS_BY_SUFFIX = {".jsonl": TripletFormat.JSONL, ".parquet": TripletFormat.PARQUET}


def find_triplet_format(name: str | None, out: Path | None) -> TripletFormat:
    """Return the format called *name*; without a name, the format for the suffix of *out*.

    Raises:
        UsageError: the format is unknown, or is Parquet for standard output.
    """
    suffix = out.suffix.lower() if out else ".jsonl"
    if name is None and suffix not in FORMATS_BY_SUFFIX:
        suffixes = ", ".join(FORMATS_BY_SUFFIX)
        raise UsageError(f"no format goes with the suffix {suffix!r}; use {suffixes} or --format")
    triplet_format = FORMATS_BY_SUFFIX[suffix] if name is None else choose_member(TripletFormat, name, what="format")
    if out is None and triplet_format is TripletFormat.PARQUET:
        raise UsageError("Parquet cannot be written to standard output; name a file with --out")
    return triplet_format


@dataclass(frozen=True, slots=True)
class TripletMetadata:
    """The fields that a triplet file has in addition to the sentences."""

    id: str
    contrast: str
    structure: str
    place: str
    """The clause or noun that the negative changes."""
    voices: str
    """The clauses whose voice differs between anchor and positive."""

    def to_json(self) -> dict[str, str]:
        """Return the fields by name."""
        return {name: getattr(self, name) for name in self.__slots__}


def describe_triplet(number: int, contrast: str, stratum: Stratum) -> TripletMetadata:
    """Return the metadata of triplet *number*."""
    voices = ", ".join(map(format_place, stratum.voices))
    place = format_place(stratum.place)
    return TripletMetadata(f"{contrast}-{number}", contrast, stratum.pattern.name, place, voices)


def format_place(path: str) -> str:
    """Return the name of a clause or noun by its path.

    >>> format_place(""), format_place("agent.clause.patient.")
    ('main', 'agent.clause.patient')
    """
    return "main" if path == MAIN else path.removesuffix(".")


def write_triplets(triplets: TripletSet, path: Path, triplet_format: TripletFormat) -> None:
    """Write triplets to a file.

    Raises:
        UsageError: the path cannot be written.
    """
    with atomic_path(path) as temporary:
        if triplet_format is TripletFormat.PARQUET:
            _write_parquet(triplets, temporary)
        else:
            with temporary.open("w", encoding="utf-8", newline="\n") as out:
                out.writelines(format_triplet_lines(triplets, triplet_format))


def format_triplet_lines(triplets: TripletSet, triplet_format: TripletFormat) -> Iterator[str]:
    """Yield a line of JSON for each triplet."""
    space = triplets.space
    # Escaped words contain no line breaks or tabs.
    renderer = RowRenderer(space.lexicon, space.words, _format_record, json_escape)
    for first, portion in triplets.iterate_portions(LINES_SIZE):
        columns = renderer.render_columns(TripletRows(portion), len(SIDES))
        facts = _describe_triplets(portion, first)
        for place, (fact, *records) in enumerate(zip(facts, *columns, strict=True), first + 1):
            sentences = {
                side: _SentenceJson(place + number * len(triplets), *record.split("\t"))
                for number, (side, record) in enumerate(zip(SIDES, records, strict=True))
            }
            yield _LINE_WRITERS[triplet_format](fact, sentences)


class _SentenceJson(NamedTuple):
    """The number of a sentence, its text as a JSON string, and its JSON record without the id."""

    number: int
    text: str
    fields: str


def _format_record(sentence: Sentence) -> str:
    text = json.dumps(sentence.text, ensure_ascii=False)
    record = write_json(replace(sentence, id="", index=None))
    return f"{text}\t{record.removeprefix(_NO_ID).rstrip()}"


_NO_ID = '{"id":"",'


def _describe_triplets(portion: TripletSet, first: int) -> list[TripletMetadata]:
    name = portion.space.contrast.name
    return [describe_triplet(number, name, stratum) for number, stratum in enumerate(portion.list_strata(), first + 1)]


def _format_full_line(facts: TripletMetadata, sentences: Mapping[TripletSide, _SentenceJson]) -> str:
    texts = (f'"{side}":{sentence.text}' for side, sentence in sentences.items())
    return _format_line([_format_members(facts.to_json()), *texts], sentences)


def _format_blimp_line(facts: TripletMetadata, sentences: Mapping[TripletSide, _SentenceJson]) -> str:
    """Format a minimal pair: the positive is good; the negative in the positive's form is bad."""
    good, bad = sentences[TripletSide.POSITIVE], sentences[TripletSide.NEGATIVE]
    fields = {
        "field": "semantics",
        "linguistics_term": facts.contrast,
        "UID": f"{facts.contrast}_{facts.structure}",
        "simple_LM_method": False,
        "one_prefix_method": False,
        "two_prefix_method": False,
        "lexically_identical": sorted(good.text[1:-1].split()) == sorted(bad.text[1:-1].split()),
        "pairID": facts.id.rpartition("-")[2],
    }
    members = [f'"sentence_good":{good.text}', f'"sentence_bad":{bad.text}', _format_members(fields)]
    members.append(f'"anchor":{sentences[TripletSide.ANCHOR].text}')
    return _format_line(members, {"good": good, "bad": bad})


def _format_members(fields: Mapping[str, object]) -> str:
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))[1:-1]


def _format_line(members: Iterable[str], sentences: Mapping[Any, _SentenceJson]) -> str:
    """Return a line of JSON with *members* and, as the annotation, the records of *sentences*."""
    annotation = ",".join(f'"{name}":{{"id":"s{s.number}",{s.fields}' for name, s in sentences.items())
    return f'{{{",".join(members)},"annotation":{{{annotation}}}}}\n'


_LINE_WRITERS = {TripletFormat.JSONL: _format_full_line, TripletFormat.BLIMP: _format_blimp_line}


def _write_parquet(triplets: TripletSet, path: Path) -> None:
    import pyarrow.parquet as pq

    tables = _build_parquet_tables(triplets)
    first = next(tables)
    with pq.ParquetWriter(path, first.schema, compression="zstd") as writer:
        for table in chain([first], tables):
            writer.write_table(table)


def _build_parquet_tables(triplets: TripletSet) -> Iterator[Any]:
    import pyarrow as pa

    from sentprobe.generator.bulk.parquet import TableMaker

    source = RowSource(triplets.space.lexicon, triplets.space.words)
    maker = TableMaker(source)
    for first, portion in triplets.iterate_portions(PART_SIZE):
        source.rows = TripletRows(portion)
        rows = np.arange(len(portion))
        sides = [_build_side_array(maker, rows + number * len(portion)) for number in range(len(SIDES))]
        annotation = pa.StructArray.from_arrays(sides, names=[*SIDES])
        table = pa.Table.from_pylist([triplet.to_json() for triplet in _describe_triplets(portion, first)])
        for side, column in zip(SIDES, sides, strict=True):
            table = table.append_column(side.value, column.field("text"))
        yield table.append_column("annotation", annotation)


def _build_side_array(maker: Any, rows: Any) -> Any:
    import pyarrow as pa

    (table,) = maker.build_tables(rows)
    table = table.drop_columns(["id", "index"])
    arrays = [_decode_dictionaries(column.combine_chunks()) for column in table.columns]
    return pa.StructArray.from_arrays(arrays, names=table.column_names)


def _decode_dictionaries(array: Any) -> Any:
    """Decode dictionary-encoded arrays, because the dictionaries of two row groups would differ."""
    import pyarrow as pa

    if pa.types.is_dictionary(array.type):
        return array.dictionary_decode()
    if pa.types.is_list(array.type) and pa.types.is_dictionary(array.type.value_type):
        words = array.values.dictionary_decode()
        return pa.ListArray.from_arrays(array.offsets, words)
    return array
