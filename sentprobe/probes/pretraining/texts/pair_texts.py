"""Pairs for natural language inference (SNLI, MultiNLI, ``gen pairs --nli``), and triplets (``gen pairs``)."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from sentprobe.errors import FormatError, suggest
from sentprobe.generator.pairs import training_files
from sentprobe.generator.pairs.inference_pairs import NliLabel
from sentprobe.probes.pretraining.texts import corpora, text_files, text_filters

PUBLISHED_COLUMNS = ("sentence1", "sentence2", "gold_label")
"""Columns of the published SNLI and MultiNLI."""

COLUMNS = ("premise", "hypothesis", "label")
"""Columns of ``gen pairs --nli``, and of SNLI and MultiNLI on the Hub."""

_LABELS: Mapping[object, NliLabel] = {
    **{label.value: label for label in NliLabel},
    **{label.name.lower(): label for label in NliLabel},
}
_NO_LABEL = ("-", "", None, -1)
"""Values of pairs whose annotators did not agree."""


def read_nli(path: Path | str, *, options: text_filters.TextOptions = text_filters.DEFAULT_OPTIONS) -> corpora.NliPairs:
    """Read labelled pairs; pairs without a label or with an omitted text are left out."""
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
    text_filters.check_enough(name, pairs, "pair", text_filter.summarize_omissions())
    premises, hypotheses, labels = zip(*pairs, strict=True)
    return corpora.NliPairs(premises, hypotheses, np.array(labels, np.int64), text_filter.summarize_omissions())


def _parse_label(where: str, value: object) -> NliLabel | None:
    if value in _NO_LABEL:
        return None
    if isinstance(value, str | int) and not isinstance(value, bool) and value in _LABELS:
        return _LABELS[value]
    names = [label.name.lower() for label in NliLabel]
    raise FormatError(
        f"{where}: there is no label {value!r}{suggest(str(value), names)}; known: "
        f"{', '.join(names)}, their numbers from 0, and - for none"
    )


TRIPLET_COLUMNS = tuple(map(str, training_files.COLUMNS))


def read_triplets(
    path: Path | str, *, options: text_filters.TextOptions = text_filters.DEFAULT_OPTIONS
) -> corpora.Triplets:
    """Read triplets, as ``gen pairs`` writes them; triplets with an omitted text are left out."""
    name, text_filter = str(path), text_filters.TextFilter(options)
    file_format = text_files.find_format(name, text_files.SUFFIXES)
    rows = text_files.read_rows(name, file_format, TRIPLET_COLUMNS, options.encoding)
    triplets = (
        text_filter.to_sentences(f"{name}, row {number}", TRIPLET_COLUMNS, row) for number, row in enumerate(rows, 1)
    )
    kept_triplets = [triplet for triplet in triplets if text_filter.is_kept(*triplet)]
    text_filters.check_enough(name, kept_triplets, "triplet", text_filter.summarize_omissions())
    anchors, positives, negatives = zip(*kept_triplets, strict=True)
    return corpora.Triplets(anchors, positives, negatives, text_filter.summarize_omissions())
