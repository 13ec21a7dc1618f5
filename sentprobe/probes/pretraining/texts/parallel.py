"""Sentences and translations, from two aligned files, columns or TMX."""

from collections.abc import Iterator
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import TypeAlias

from sentprobe.errors import FormatError, format_count
from sentprobe.probes.pretraining.texts import text_files, text_filters, tmx
from sentprobe.probes.pretraining.texts.corpora import SentencePairs

_Pairs: TypeAlias = Iterator[tuple[str, str]]

COLUMNS = ("source", "target")
"""Default columns of a sentence and its translation."""

SUFFIXES = {**text_files.SUFFIXES, ".tmx": "tmx"}


def read_parallel(
    path: Path | str,
    translation: Path | str | None = None,
    *,
    columns: tuple[str, str] | None = None,
    options: text_filters.TextOptions = text_filters.DEFAULT_OPTIONS,
) -> SentencePairs:
    """Read sentences and translations; a pair is left out if one of its sentences is empty or too long.

    - translation: a second file, whose lines translate those of the first
    - columns: two column names, or the two languages of TMX. Without *columns*, the first two
      columns of a TSV file without header are read
    """
    text_filter = text_filters.TextFilter(options)
    pairs: list[tuple[str, str]] = []
    for source, target in _read_pairs(str(path), str(translation or ""), columns, text_filter):
        pair = text_filter.to_sentence(source), text_filter.to_sentence(target)
        if text_filter.is_kept(*pair):
            pairs.append(pair)
    where = f"{path} and {translation}" if translation else str(path)
    text_filters.check_enough(where, pairs, "pair", text_filter.summarize_omissions())
    sources, targets = zip(*pairs, strict=True)
    return SentencePairs(sources, targets, text_filter.summarize_omissions())


def _read_pairs(
    name: str, translation: str, columns: tuple[str, str] | None, text_filter: text_filters.TextFilter
) -> _Pairs:
    if translation:
        return _read_aligned_lines(name, translation, text_filter.options.encoding)
    advice = "; or name a second file, with the translation of each of its lines"
    file_format = text_files.find_format(name, SUFFIXES, advice=advice)
    if file_format == "tmx":
        return tmx.read_tmx_pairs(name, columns, text_filter)
    return _read_column_pairs(name, file_format, columns, text_filter.options.encoding)


def _read_aligned_lines(name: str, translation: str, encoding: str) -> _Pairs:
    lines = zip_longest(text_files.read_lines(name, encoding), text_files.read_lines(translation, encoding))
    for number, (source, target) in enumerate(lines, 1):
        if source is None or target is None:
            short, long = (name, translation) if source is None else (translation, name)
            length = f"has only {format_count(number - 1, 'line')}" if number > 1 else "is empty"
            raise FormatError(f"{long}, line {number}: has no partner: {short} {length}")
        yield source, target


def _read_column_pairs(name: str, file_format: str, columns: tuple[str, str] | None, encoding: str) -> _Pairs:
    if file_format == "tsv" and columns is None:
        yield from text_files.read_tab_pairs(name, encoding)
        return
    column_names = columns or COLUMNS
    for number, row in enumerate(text_files.read_rows(name, file_format, column_names, encoding), 1):
        where = f"{name}, row {number}"
        source, target = map(partial(text_files.to_text, where), column_names, row)
        yield source, target
