"""Triplets that ``gen pairs`` wrote, read to be measured."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sentprobe.errors import FormatError, SentprobeError, path_error
from sentprobe.files import decode_lines, local_path
from sentprobe.generator.contrasts import find_contrast
from sentprobe.generator.triplets import SIDES, TripletSide
from sentprobe.probes.geometry.material import Drawing, TripletMaterial
from sentprobe.values import BadSyntaxError, parse_json

CONTENT = ("NOUN", "VERB")
"""The words that make triplets belong together: those of the same nouns and verbs do."""

_FIELDS = ("contrast", *(side.value for side in SIDES), "annotation")

_OF_PAIRS = frozenset({"anchor", "premise", "sentence_good"})
"""Fields of which files of gen pairs have one: triplets, --nli, and minimal pairs."""


class ReadTriplet(NamedTuple):
    """What is measured of a triplet."""

    contrast: str
    sides: tuple[str, ...]
    content: tuple[str, ...]
    """The lemmas of the anchor's nouns and verbs, sorted."""


def is_triplets(path: Path) -> bool:
    """Say whether a file looks like triplets: by its columns, or the fields of its first line."""
    try:
        return set(_FIELDS) <= _fields(path)
    except SentprobeError:
        return False


def is_of_pairs(path: Path) -> bool:
    """Say whether a file is one that ``gen pairs`` may have written, also one without annotation.

    No dataset is a Parquet file by itself.
    """
    try:
        known = path.suffix == ".parquet" or not _OF_PAIRS.isdisjoint(_fields(path))
    except SentprobeError:
        return False
    return known and path.is_file()


def check_annotated(path: Path) -> None:
    """Refuse a file that lacks what is needed to measure triplets.

    Raises:
        FormatError: it does; or it is damaged.
    """
    if missing := [name for name in _FIELDS if name not in _fields(path)]:
        raise FormatError(
            f"{path}: no triplets that can be measured: {', '.join(missing)} "
            f"{'is' if len(missing) == 1 else 'are'} missing; gen pairs writes them with their "
            "annotation, as JSONL or Parquet, without --for training"
        )


def _fields(path: Path) -> set[str]:
    """Return the columns of a file or, of lines of JSON, the fields of the first."""
    if path.suffix == ".parquet":
        return set(_parquet(path).schema_arrow.names)
    first = next(_values(path), None) if path.suffix == ".jsonl" else None
    return set(first) if isinstance(first, Mapping) else set()


def read_triplets(path: Path, *, seed: int = 0) -> TripletMaterial:
    """Read triplets of one contrast, from JSONL or Parquet; *seed* is that of encoders.

    Raises:
        FormatError: the file is damaged, or of several contrasts; says where.
        UsageError: there is no such contrast.
    """
    found = list(_triplets(path))
    contrasts = sorted({each.contrast for each in found})
    if len(contrasts) != 1:
        what = f"are of {' and '.join(contrasts)}" if contrasts else "are none"
        raise FormatError(f"{path}: the triplets of a file are of one contrast; these {what}")
    numbers: dict[tuple[str, ...], int] = {}
    units = [numbers.setdefault(each.content, len(numbers)) for each in found]
    return TripletMaterial(
        find_contrast(contrasts[0]).name,
        Drawing(vocabulary="", templates=(), n=len(found), variants=0, seed=seed),
        columns=list(zip(*(each.sides for each in found), strict=True)),
        units=np.array(units, np.int64),
        groups={},
    )


def _triplets(path: Path) -> Iterator[ReadTriplet]:
    if path.suffix == ".parquet":
        rows: Iterator[Any] = iter(_parquet_rows(path))
        what = "triplet"
    else:
        rows, what = _values(path), "line"
    for number, row in enumerate(rows, 1):
        try:
            yield _triplet(row)
        except (KeyError, TypeError, AttributeError, ValueError):
            raise FormatError(
                f"{path}: {what} {number}: no triplet as gen pairs writes them, with the texts "
                f"contrast, {', '.join(SIDES)} and the annotation"
            ) from None


def _triplet(row: Any) -> ReadTriplet:
    """Return a triplet; one of several errors says that it is none."""
    texts = (row["contrast"], *(row[side.value] for side in SIDES))
    anchor = row["annotation"][TripletSide.ANCHOR.value]
    tokens = anchor.get("tokens", anchor)
    pairs = zip(tokens["lemma"], tokens["upos"], strict=True)
    content = tuple(sorted(lemma for lemma, upos in pairs if upos in CONTENT))
    if not all(isinstance(text, str) and text for text in (*texts, *content)):
        raise TypeError("a text is missing")
    return ReadTriplet(texts[0], texts[1:], content)


def _values(path: Path) -> Iterator[Any]:
    """Yield the value of each line of JSON."""
    try:
        with path.open("rb") as file:
            for number, line in enumerate(decode_lines(file), 1):
                try:
                    yield parse_json(line)
                except BadSyntaxError as error:
                    raise FormatError(f"{path}: line {number}: {error}") from None
    except OSError as error:
        raise path_error(path, "cannot read it", error, otherwise=FormatError) from error


def _parquet(path: Path) -> Any:
    import pyarrow as pa  # noqa: PLC0415 - slow import
    import pyarrow.parquet as pq  # noqa: PLC0415

    try:
        return pq.ParquetFile(local_path(path))
    except (pa.ArrowException, OSError) as error:
        reason = " ".join(str(error).split())
        raise FormatError(f"{path}: not a Parquet file that can be read ({reason})") from None


def _parquet_rows(path: Path) -> list[Any]:
    import pyarrow as pa  # noqa: PLC0415 - slow import

    anchor = f"annotation.{TripletSide.ANCHOR.value}"
    columns = ["contrast", *SIDES, f"{anchor}.lemma", f"{anchor}.upos"]
    try:
        rows: list[Any] = _parquet(path).read(columns=columns).to_pylist()
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        reason = " ".join(str(error).split())
        raise FormatError(f"{path}: not a Parquet file that can be read ({reason})") from None
    return rows
