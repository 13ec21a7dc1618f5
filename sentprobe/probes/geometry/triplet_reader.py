"""Read the triplet files that ``gen pairs`` writes."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from sentprobe.disk.inputs import to_input_path
from sentprobe.disk.reading import open_lines, report_parquet_errors
from sentprobe.errors import FormatError, SentprobeError, path_error
from sentprobe.generator.pairs.contrasts import find_contrast
from sentprobe.generator.pairs.triplets import SIDES, TripletSide
from sentprobe.probes.geometry.triplet_sentences import TripletSampling, TripletSentences, number_units
from sentprobe.values import BadSyntaxError, parse_json

CONTENT_TAGS = ("NOUN", "VERB")
"""Parts of speech of the words that define a unit: triplets with the same nouns and verbs form a unit."""
_FIELDS = ("contrast", *(side.value for side in SIDES), "annotation")
_PAIR_FIELDS = frozenset({"anchor", "premise", "sentence_good"})
"""Fields by which output of ``gen pairs`` is recognized: one each for triplets, ``--nli`` and minimal pairs."""


class ReadTriplet(NamedTuple):
    """A triplet from a file: its contrast, its sentences by side, and its content words."""

    contrast: str
    sides: tuple[str, ...]
    content: tuple[str, ...]
    """The lemmas of the anchor's nouns and verbs."""


def is_triplet_file(path: Path) -> bool:
    """Return whether a file has the fields of triplets, as columns (Parquet) or in the first line (JSONL)."""
    try:
        return set(_FIELDS) <= _read_fields(path)
    except SentprobeError:
        return False


def is_pairs_file(path: Path) -> bool:
    """Return whether a file looks like output of ``gen pairs``: it has one of _PAIR_FIELDS, or is Parquet."""
    try:
        is_known = path.suffix == ".parquet" or not _PAIR_FIELDS.isdisjoint(_read_fields(path))
    except SentprobeError:
        return False
    return is_known and path.is_file()


def check_annotation(path: Path) -> None:
    """Raise FormatError if a file is damaged or lacks a field that ``probe geometry`` needs."""
    if missing := [name for name in _FIELDS if name not in _read_fields(path)]:
        raise FormatError(
            f"{path}: not triplets that can be measured: {', '.join(missing)} {'is' if len(missing) == 1 else 'are'} "
            "missing; gen pairs writes them with their annotation, as JSONL or Parquet, without --for training"
        )


def _read_fields(path: Path) -> set[str]:
    """Return the names of a Parquet file's columns, or of the fields in the first line of a JSONL file."""
    if path.suffix == ".parquet":
        with _open_parquet(path) as file:
            return set(file.schema_arrow.names)
    first = next(_read_values(path), None) if path.suffix == ".jsonl" else None
    return set(first) if isinstance(first, Mapping) else set()


def read_triplets(path: Path, *, seed: int = 0) -> TripletSentences:
    """Read a JSONL or Parquet file with triplets of one contrast. Raises FormatError if it is malformed."""
    triplets = list(_read_rows(path))
    contrasts = sorted({triplet.contrast for triplet in triplets})
    if len(contrasts) != 1:
        problem = f"these are of {' and '.join(contrasts)}" if contrasts else "it has none"
        raise FormatError(f"{path}: a file must have triplets of one contrast; {problem}")
    return TripletSentences(
        find_contrast(contrasts[0]).name,
        TripletSampling(vocabulary="", templates=(), n=len(triplets), distractors=0, seed=seed),
        columns=list(zip(*(triplet.sides for triplet in triplets), strict=True)),
        units=number_units(triplet.content for triplet in triplets),
        groups={},
    )


def _read_rows(path: Path) -> Iterator[ReadTriplet]:
    is_parquet = path.suffix == ".parquet"
    row_kind = "triplet" if is_parquet else "line"
    rows: Iterable[Any] = _read_parquet_rows(path) if is_parquet else _read_values(path)
    for number, row in enumerate(rows, 1):
        try:
            texts = (row["contrast"], *(row[side.value] for side in SIDES))
            anchor = row["annotation"][TripletSide.ANCHOR.value]
            tokens = anchor.get("tokens", anchor)  # JSONL has the columns of tokens one level deeper than Parquet
            pairs = zip(tokens["lemma"], tokens["upos"], strict=True)
            content = tuple(lemma for lemma, upos in pairs if upos in CONTENT_TAGS)
            if not all(isinstance(text, str) and text for text in (*texts, *content)):
                raise TypeError("a text is missing")
            triplet = ReadTriplet(texts[0], texts[1:], content)
        except (KeyError, TypeError, AttributeError, ValueError):
            raise FormatError(
                f"{path}: {row_kind} {number}: not a triplet as gen pairs writes it, with the texts contrast, "
                f"{', '.join(SIDES)} and the annotation"
            ) from None
        yield triplet


def _read_values(path: Path) -> Iterator[Any]:
    try:
        with open_lines(path) as lines:
            for number, line in enumerate(lines, 1):
                try:
                    yield parse_json(line)
                except BadSyntaxError as error:
                    raise FormatError(f"{path}: line {number}: {error}") from None
    except OSError as error:
        raise path_error(path, "cannot read it", error, otherwise=FormatError) from error


@contextmanager
def _open_parquet(path: Path) -> Iterator[Any]:
    import pyarrow.parquet as pq

    with report_parquet_errors(path), pq.ParquetFile(to_input_path(path)) as file:
        yield file


def _read_parquet_rows(path: Path) -> list[Any]:
    anchor = f"annotation.{TripletSide.ANCHOR.value}"
    with _open_parquet(path) as file:
        rows: list[Any] = file.read(columns=["contrast", *SIDES, f"{anchor}.lemma", f"{anchor}.upos"]).to_pylist()
    return rows
