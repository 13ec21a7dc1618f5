"""Sentences and their translations, from two files of lines, columns, TMX, gettext or SWORD."""

from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import TypeAlias

from sentprobe.errors import FormatError, UsageError, counted
from sentprobe.probes.pretraining.texts import gettext_files, sieves, sword, text_files, tmx
from sentprobe.probes.pretraining.texts.corpora import SentencePairs

_Pairs: TypeAlias = Iterator[tuple[str, str]]

COLUMNS = ("source", "target")
"""The columns of a sentence and its translation, unless others are named."""

SUFFIXES = {**text_files.SUFFIXES, ".tmx": "tmx", ".po": "po"}
"""The format of one file that has both, by its suffix."""


def read_parallel(
    path: Path | str,
    other: Path | str | None = None,
    *,
    columns: tuple[str, str] | None = None,
    options: sieves.TextOptions = sieves.TextOptions(),  # noqa: B008 - frozen
) -> SentencePairs:
    """Read sentences and their translations; a pair is left out if one of the two is.

    With *other*, each line of the one file is the translation of that line of the other. *columns*
    are the two columns of a file that has names for them, or the two languages of TMX; without
    them, TSV has no names, and the two come first. Two Bibles of SWORD (:mod:`.sword`) are read
    verse by verse.

    Raises:
        UsageError: a file is not there, of no known format, or lacks a column; or there are fewer
            than two pairs.
        SentprobeError: a file is damaged, or two have not as many lines; says where.
    """
    sieve = sieves.Sieve(options)
    kept: list[tuple[str, str]] = []
    for source, target in _pairs(str(path), None if other is None else str(other), columns, sieve):
        pair = sieve.sentence(source), sieve.sentence(target)
        if sieve.keeps(*pair):
            kept.append(pair)
    where = f"{path} and {other}" if other else str(path)
    sieves.check_enough(where, kept, "pair", sieve.omissions())
    sources, targets = zip(*kept, strict=True)
    return SentencePairs(sources, targets, sieve.omissions())


def _pairs(
    name: str, other: str | None, columns: tuple[str, str] | None, sieve: sieves.Sieve
) -> _Pairs:
    if name.startswith(sword.PREFIX):
        if other is None or not other.startswith(sword.PREFIX):
            raise UsageError(f"{name}: needs another module of SWORD, with the translation")
        return sword.verse_pairs(name, other, sieve)
    if other:
        return _line_by_line(name, other, sieve.options.encoding)
    also = "; or name a second file, with the translation of each of its lines"
    style = text_files.find_format(name, SUFFIXES, otherwise=also)
    if style == "tmx":
        return tmx.tmx_pairs(name, columns, sieve)
    if style == "po":
        return gettext_files.gettext_pairs(name, sieve)
    return _of_columns(name, style, columns, sieve.options.encoding)


def _line_by_line(name: str, other: str, encoding: str) -> _Pairs:
    """Yield the lines of two files, each with its partner."""
    lines = zip_longest(text_files.lines_of(name, encoding), text_files.lines_of(other, encoding))
    for number, (source, target) in enumerate(lines, 1):
        if source is None or target is None:
            short, long = (name, other) if source is None else (other, name)
            has = f"has only {counted(number - 1, 'line')}" if number > 1 else "is empty"
            raise FormatError(f"{long}, line {number}: has no partner: {short} {has}")
        yield source, target


def _of_columns(name: str, style: str, columns: tuple[str, str] | None, encoding: str) -> _Pairs:
    if style == "tsv" and columns is None:
        yield from text_files.tab_pairs(name, encoding)
        return
    wanted = columns or COLUMNS
    for number, row in enumerate(text_files.rows_of(name, style, wanted, encoding), 1):
        where = f"{name}, row {number}"
        yield (
            text_files.text_value(where, wanted[0], row[0]),
            text_files.text_value(where, wanted[1], row[1]),
        )
