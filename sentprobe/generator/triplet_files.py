"""Files of triplets: JSONL and Parquet with all that is known, minimal pairs in BLiMP's fields."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from sentprobe.errors import UsageError
from sentprobe.files import atomic_path
from sentprobe.generator.bulk import PART, Renderer
from sentprobe.generator.drafts import MAIN
from sentprobe.generator.records import json_escape, write_json
from sentprobe.generator.sentence import Sentence
from sentprobe.generator.triplets import SIDES, Stratum, TripletRows, TripletSet, TripletSide
from sentprobe.specs import choose


class TripletFormat(StrEnum):
    """How triplets are written."""

    JSONL = "jsonl"
    PARQUET = "parquet"
    BLIMP = "blimp"


SUFFIXES = {".jsonl": TripletFormat.JSONL, ".parquet": TripletFormat.PARQUET}
"""The format of a file by its suffix."""


def find_triplet_format(name: str | None, out: Path | None) -> TripletFormat:
    """Return the format of that name; of none, the one that the suffix of *out* says.

    Raises:
        UsageError: there is none, or it is not one for standard output.
    """
    suffix = out.suffix.lower() if out else ".jsonl"
    if name is None and suffix not in SUFFIXES:
        known = ", ".join(SUFFIXES)
        raise UsageError(f"no format goes with the suffix {suffix!r}; use {known} or --format")
    style = SUFFIXES[suffix] if name is None else choose(TripletFormat, name, what="format")
    if out is None and style is TripletFormat.PARQUET:
        raise UsageError("Parquet cannot be written to standard output; name a file with --out")
    return style


@dataclass(frozen=True, slots=True)
class TripletFacts:
    """What is said of a triplet beside its sentences."""

    id: str
    contrast: str
    structure: str
    place: str
    """The clause or noun that the negative changes."""
    voices: str
    """The clauses that are in the other voice in the positive."""

    def to_json(self) -> dict[str, str]:
        """Return the fields by name."""
        return {name: getattr(self, name) for name in self.__slots__}


def facts_of(number: int, contrast: str, stratum: Stratum) -> TripletFacts:
    """Return what is said of the triplet of that number."""
    voices = ", ".join(map(place_name, stratum.voices))
    place = place_name(stratum.place)
    return TripletFacts(f"{contrast}-{number}", contrast, stratum.pattern.name, place, voices)


def place_name(path: str) -> str:
    """Return the name of a clause or noun.

    >>> place_name(""), place_name("agent.clause.patient.")
    ('main', 'agent.clause.patient')
    """
    return "main" if path == MAIN else path.removesuffix(".")


def write_triplets(triplets: TripletSet, path: Path, style: TripletFormat) -> None:
    """Write triplets to a file.

    Raises:
        UsageError: a path that cannot be written.
    """
    with atomic_path(path) as temporary:
        if style is TripletFormat.PARQUET:
            _write_parquet(triplets, temporary)
        else:
            with temporary.open("w", encoding="utf-8", newline="\n") as out:
                out.writelines(triplet_lines(triplets, style))


def triplet_lines(triplets: TripletSet, style: TripletFormat) -> Iterator[str]:
    """Yield a line of JSON for each triplet."""
    facts = _facts(triplets)
    texts = {side: triplets.texts(side) for side in SIDES}
    records = _annotations(triplets)
    for place, fact in enumerate(facts):
        sentences = {side: texts[side][place] for side in SIDES}
        annotated = {side: records[number][place] for number, side in enumerate(SIDES)}
        yield _LINES[style](fact, sentences, annotated)


def _facts(triplets: TripletSet) -> list[TripletFacts]:
    name = triplets.space.contrast.name
    return [facts_of(number, name, each) for number, each in enumerate(triplets.strata(), 1)]


def _annotations(triplets: TripletSet) -> list[list[str]]:
    """Return the records of the sentences of each side, as JSON."""

    def write(sentence: Sentence) -> str:
        return write_json(replace(sentence, index=None))

    renderer = Renderer(TripletRows(triplets), write, escape=json_escape)
    rows = np.arange(len(triplets) * len(SIDES))
    # An escaped word has no end of line in it, so that each line is a record.
    lines = "".join(text for _, text in renderer.chunks(rows)).split("\n")
    return [lines[first : first + len(triplets)] for first in range(0, len(rows), len(triplets))]


_Line = Callable[[TripletFacts, Mapping[TripletSide, str], Mapping[TripletSide, str]], str]


def _whole_line(
    facts: TripletFacts, texts: Mapping[TripletSide, str], records: Mapping[TripletSide, str]
) -> str:
    head = json.dumps({**facts.to_json(), **texts}, ensure_ascii=False, separators=(",", ":"))
    return f'{head[:-1]},"annotation":{_object(records.items())}}}\n'


def _blimp_line(
    facts: TripletFacts, texts: Mapping[TripletSide, str], records: Mapping[TripletSide, str]
) -> str:
    """Write a minimal pair: the positive is good, the negative in its form is bad."""
    good, bad = texts[TripletSide.POSITIVE], texts[TripletSide.NEGATIVE]
    fields = {
        "sentence_good": good,
        "sentence_bad": bad,
        "field": "semantics",
        "linguistics_term": facts.contrast,
        "UID": f"{facts.contrast}_{facts.structure}",
        "simple_LM_method": False,
        "one_prefix_method": False,
        "two_prefix_method": False,
        "lexically_identical": Counter(good.split()) == Counter(bad.split()),
        "pairID": facts.id.rpartition("-")[2],
        "anchor": texts[TripletSide.ANCHOR],
    }
    head = json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
    both = {"good": records[TripletSide.POSITIVE], "bad": records[TripletSide.NEGATIVE]}
    return f'{head[:-1]},"annotation":{_object(both.items())}}}\n'


def _object(members: Iterable[tuple[str, str]]) -> str:
    """Return a JSON object of values that are JSON."""
    return "{" + ",".join(f'"{name}":{value}' for name, value in members) + "}"


_LINES: Mapping[TripletFormat, _Line] = {
    TripletFormat.JSONL: _whole_line,
    TripletFormat.BLIMP: _blimp_line,
}


def _write_parquet(triplets: TripletSet, path: Path) -> None:
    import pyarrow.parquet as pq  # noqa: PLC0415 - slow import

    tables = _parquet_tables(triplets)
    first = next(tables)
    with pq.ParquetWriter(path, first.schema, compression="zstd") as writer:
        for table in chain([first], tables):
            writer.write_table(table)


def _parquet_tables(triplets: TripletSet) -> Iterator[Any]:
    """Yield the row groups of the file as tables."""
    import pyarrow as pa  # noqa: PLC0415 - slow import

    from sentprobe.generator.parquet import TableMaker  # noqa: PLC0415

    maker = TableMaker(TripletRows(triplets))
    facts = pa.Table.from_pylist([each.to_json() for each in _facts(triplets)])
    for start in range(0, len(triplets), PART):
        rows = np.arange(start, min(start + PART, len(triplets)))
        sides = [_side(maker, rows + number * len(triplets)) for number in range(len(SIDES))]
        annotation = pa.StructArray.from_arrays(sides, names=[*SIDES])
        table = facts.slice(start, len(rows))
        for side, column in zip(SIDES, sides, strict=True):
            table = table.append_column(side.value, column.field("text"))
        yield table.append_column("annotation", annotation)


def _side(maker: Any, rows: Any) -> Any:
    """Return the sentences of these rows as an array of structs."""
    import pyarrow as pa  # noqa: PLC0415 - slow import

    (table,) = maker.tables(rows)
    table = table.drop_columns(["id", "index"])
    arrays = [_plain(column.combine_chunks()) for column in table.columns]
    return pa.StructArray.from_arrays(arrays, names=table.column_names)


def _plain(array: Any) -> Any:
    """Return an array without dictionaries: those of two row groups would differ."""
    import pyarrow as pa  # noqa: PLC0415 - slow import

    if pa.types.is_dictionary(array.type):
        return array.dictionary_decode()
    if pa.types.is_list(array.type) and pa.types.is_dictionary(array.type.value_type):
        words = array.values.dictionary_decode()
        return pa.ListArray.from_arrays(array.offsets, words)
    return array
