"""Pairs with a label: those of SNLI and MultiNLI, and what ``gen pairs --nli`` writes."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from sentprobe.errors import FormatError, suggest
from sentprobe.generator.nli import NliLabel
from sentprobe.probes.pretraining.texts import corpora, sieves, text_files

PUBLISHED = ("sentence1", "sentence2", "gold_label")
"""The columns of SNLI and MultiNLI as they are published."""

COLUMNS = ("premise", "hypothesis", "label")
"""The columns of ``gen pairs --nli``, and of the two corpora on the Hub."""

_LABELS: Mapping[object, NliLabel] = {
    **{label.value: label for label in NliLabel},
    **{label.name.lower(): label for label in NliLabel},
}
_NONE = ("-", "", None, -1)
"""What stands where annotators did not agree."""


def read_nli(
    path: Path | str,
    *,
    options: sieves.TextOptions = sieves.TextOptions(),  # noqa: B008 - frozen
) -> corpora.NliPairs:
    """Read pairs with a label; those without one are left out, and those of which one text is.

    Raises:
        UsageError: the file is not there, of no known format, or lacks a column; or it has fewer
            than two pairs.
        SentprobeError: it is damaged, or a label is not known; says where.
    """
    name = str(path)
    style = text_files.find_format(name, text_files.SUFFIXES)
    known = text_files.column_names(name, style, options.encoding)
    wanted = PUBLISHED if PUBLISHED[-1] in known else COLUMNS
    sieve = sieves.Sieve(options)
    kept: list[tuple[str, str, int]] = []
    rows = text_files.rows_of(name, style, wanted, options.encoding)
    for number, (*texts, value) in enumerate(rows, 1):
        where = f"{name}, row {number}"
        label = _label(where, value)
        premise, hypothesis = sieve.row(where, wanted, texts)
        if label is None:
            sieve.omit("unlabelled")
        elif sieve.keeps(premise, hypothesis):
            kept.append((premise, hypothesis, label))
    sieves.check_enough(name, kept, "pair", sieve.omissions())
    premises, hypotheses, labels = zip(*kept, strict=True)
    return corpora.NliPairs(premises, hypotheses, np.array(labels, np.int64), sieve.omissions())


def _label(where: str, value: object) -> NliLabel | None:
    if value in _NONE:
        return None
    if isinstance(value, str | int) and not isinstance(value, bool) and value in _LABELS:
        return _LABELS[value]
    names = [label.name.lower() for label in NliLabel]
    raise FormatError(
        f"{where}: there is no label {value!r}{suggest(str(value), names)}; known: "
        f"{', '.join(names)}, their numbers from 0, and - for none"
    )
