"""Triplets of anchor, positive and negative from files."""

from pathlib import Path

from sentprobe.generator.pairs import training_files
from sentprobe.probes.pretraining.texts import corpora, text_files, text_filters

COLUMNS = tuple(map(str, training_files.COLUMNS))
"""Columns that ``gen pairs`` writes."""


def read_triplets(
    path: Path | str,
    *,
    options: text_filters.TextOptions = text_filters.TextOptions(),  # noqa: B008 - frozen
) -> corpora.Triplets:
    """Read triplets, as ``gen pairs`` writes them; triplets with an omitted text are left out."""
    name, text_filter = str(path), text_filters.TextFilter(options)
    file_format = text_files.find_format(name, text_files.SUFFIXES)
    rows = text_files.read_rows(name, file_format, COLUMNS, options.encoding)
    triplets = (text_filter.to_sentences(f"{name}, row {number}", COLUMNS, row) for number, row in enumerate(rows, 1))
    kept_triplets = [triplet for triplet in triplets if text_filter.is_kept(*triplet)]
    text_filters.check_enough(name, kept_triplets, "triplet", text_filter.summarize_omissions())
    anchors, positives, negatives = zip(*kept_triplets, strict=True)
    return corpora.Triplets(anchors, positives, negatives, text_filter.summarize_omissions())
