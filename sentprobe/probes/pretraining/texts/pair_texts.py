"""Read pairs for natural language inference (NLI), triplets that ``gen pairs`` wrote, and translations."""

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import TypeAlias

import numpy as np

from sentprobe.errors import FormatError, format_count, suggest
from sentprobe.generator.pairs import training_files
from sentprobe.generator.pairs.inference_pairs import NliLabel
from sentprobe.probes.pretraining.texts import corpora, text_files, text_filters, tmx

PUBLISHED_COLUMNS = ("sentence1", "sentence2", "gold_label")
COLUMNS = ("premise", "hypothesis", "label")
"""The columns in files that ``gen pairs --nli`` wrote, and in SNLI and MultiNLI on the Hugging Face hub."""

_LABELS: Mapping[object, NliLabel] = {
    **{label.value: label for label in NliLabel},
    **{str(label.value): label for label in NliLabel},
    **{label.name.lower(): label for label in NliLabel},
}
_NO_LABEL = ("-", "", None, -1, "-1")
"""Values of the label column if the annotators did not agree on a label."""


def read_nli(path: Path | str, *, options: text_filters.TextOptions = text_filters.DEFAULT_OPTIONS) -> corpora.NliPairs:
    """Read NLI pairs, except those without a label or with an empty or too long sentence. Raises SentprobeError."""
    name = str(path)
    file_format = text_files.find_format(name, text_files.SUFFIXES)
    file_columns = text_files.read_column_names(name, file_format, options.encoding)
    columns = PUBLISHED_COLUMNS if PUBLISHED_COLUMNS[-1] in file_columns else COLUMNS
    text_filter = text_filters.TextFilter(options)
    pairs: list[tuple[str, str, int]] = []
    rows = text_files.read_rows(name, file_format, columns, options.encoding)
    for number, (*texts, value) in enumerate(rows, 1):
        where = f"{name}, row {number}"
        label = _parse_label(where, value)
        premise, hypothesis = text_filter.to_sentences(where, columns, texts)
        if label is None:
            text_filter.count_omission("unlabelled")
        elif text_filter.is_kept(premise, hypothesis):
            pairs.append((premise, hypothesis, label))
    omitted = text_filter.check_enough(name, pairs, "pair")
    premises, hypotheses, labels = zip(*pairs, strict=True)
    return corpora.NliPairs(premises, hypotheses, np.array(labels, np.int64), omitted)


def _parse_label(where: str, value: object) -> NliLabel | None:
    if value in _NO_LABEL:
        return None
    if isinstance(value, str | int) and not isinstance(value, bool) and value in _LABELS:
        return _LABELS[value]
    names = [label.name.lower() for label in NliLabel]
    raise FormatError(
        f"{where}: there is no label {value!r}{suggest(str(value), names)}; known: "
        f"{', '.join(names)}, their numbers from 0, and - for no label"
    )


TRIPLET_COLUMNS = tuple(map(str, training_files.COLUMNS))


def read_triplets(
    path: Path | str, *, options: text_filters.TextOptions = text_filters.DEFAULT_OPTIONS
) -> corpora.Triplets:
    """Read triplets, except those with an empty or too long sentence. Raises UsageError or FormatError."""
    name, text_filter = str(path), text_filters.TextFilter(options)
    file_format = text_files.find_format(name, text_files.SUFFIXES)
    rows = text_files.read_rows(name, file_format, TRIPLET_COLUMNS, options.encoding)
    triplets: list[list[str]] = []
    for number, row in enumerate(rows, 1):
        triplet = text_filter.to_sentences(f"{name}, row {number}", TRIPLET_COLUMNS, row)
        if text_filter.is_kept(*triplet):
            triplets.append(triplet)
    omitted = text_filter.check_enough(name, triplets, "triplet")
    anchors, positives, negatives = zip(*triplets, strict=True)
    return corpora.Triplets(anchors, positives, negatives, omitted)


_Pairs: TypeAlias = Iterator[tuple[str, str]]

SIDES = ("source", "target")
"""The default names of the columns with a sentence and its translation."""
PARALLEL_SUFFIXES = {**text_files.SUFFIXES, ".tmx": "tmx"}


def read_parallel(
    path: Path | str,
    translation: Path | str | None = None,
    *,
    columns: tuple[str, str] | None = None,
    options: text_filters.TextOptions = text_filters.DEFAULT_OPTIONS,
) -> corpora.SentencePairs:
    """Read pairs of a sentence and its translation. Raises UsageError or FormatError.

    Pairs with an empty or too long sentence are left out.

    - translation: a second file, whose line i translates line i of the first
    - columns: the names of two columns or, for TMX, two languages. None: the first two columns of a TSV file,
      which then has no header; the two languages of a TMX file; ``source`` and ``target`` in all other formats
    """
    text_filter = text_filters.TextFilter(options)
    pairs: list[tuple[str, str]] = []
    for source, target in _read_pairs(str(path), str(translation or ""), columns, text_filter):
        pair = text_filter.to_sentence(source), text_filter.to_sentence(target)
        if text_filter.is_kept(*pair):
            pairs.append(pair)
    omitted = text_filter.check_enough(f"{path} and {translation}" if translation else str(path), pairs, "pair")
    sources, targets = zip(*pairs, strict=True)
    return corpora.SentencePairs(sources, targets, omitted)


def _read_pairs(
    name: str, translation: str, columns: tuple[str, str] | None, text_filter: text_filters.TextFilter
) -> _Pairs:
    if translation:
        return _read_aligned_lines(name, translation, text_filter.options.encoding)
    advice = "; or name a second file, with the translation of each of its lines"
    file_format = text_files.find_format(name, PARALLEL_SUFFIXES, advice=advice)
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
    column_names = columns or SIDES
    for number, row in enumerate(text_files.read_rows(name, file_format, column_names, encoding), 1):
        source, target = map(partial(text_files.to_text, f"{name}, row {number}"), column_names, row)
        yield source, target
