"""corpora.Triplets of an anchor, a sentence near to it and one that is not."""

from pathlib import Path

from sentprobe.generator import training
from sentprobe.probes.pretraining.texts import corpora, sieves, text_files

COLUMNS = tuple(map(str, training.COLUMNS))
"""The columns that ``gen pairs`` writes."""


def read_triplets(
    path: Path | str,
    *,
    options: sieves.TextOptions = sieves.TextOptions(),  # noqa: B008 - frozen
) -> corpora.Triplets:
    """Read triplets, as ``gen pairs`` writes them; one is left out if one of its texts is.

    Raises:
        UsageError: the file is not there, of no known format, or lacks a column; or it has fewer
            than two triplets.
        SentprobeError: it is damaged; says where.
    """
    name, sieve = str(path), sieves.Sieve(options)
    style = text_files.find_format(name, text_files.SUFFIXES)
    rows = text_files.rows_of(name, style, COLUMNS, options.encoding)
    found = (sieve.row(f"{name}, row {number}", COLUMNS, row) for number, row in enumerate(rows, 1))
    kept = [triplet for triplet in found if sieve.keeps(*triplet)]
    sieves.check_enough(name, kept, "triplet", sieve.omissions())
    anchors, positives, negatives = zip(*kept, strict=True)
    return corpora.Triplets(anchors, positives, negatives, sieve.omissions())
