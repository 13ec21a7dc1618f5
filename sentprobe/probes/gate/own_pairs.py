"""A user's pairs of texts, from a table with the columns a, b and same."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np

from sentprobe.errors import FormatError
from sentprobe.generator.pairs.drafts import hash_words
from sentprobe.probes.formats.records import read_table_rows
from sentprobe.probes.gate.pair_scores import BLOCK, PairScorer, ScoredPairs, find_shortest

COLUMNS = ("a", "b", "same")

LABELS = {"1": True, "0": False}


def score_own_pairs(scorer: PairScorer, path: Path) -> ScoredPairs:
    """Return the scores of the pairs in a file; pairs with the same first text share a unit.

    Raises:
        FormatError: the file has no such pairs, an empty text, or one label only.
    """
    scores, units, labels = [], [], []
    example: tuple[str, str] | None = None
    pairs = _read_pairs(path)
    while block := [*islice(pairs, BLOCK)]:
        firsts, seconds, same = map(list, zip(*block, strict=True))
        scores += scorer.score_columns(firsts, seconds)
        units += [hash_words([text]) for text in firsts]
        labels += same
        others = [(first, second) for first, second, is_same in block if not is_same]
        example = example or (find_shortest(*zip(*others, strict=True)) if others else None)
    is_same = np.array(labels, dtype=np.bool_)
    if example is None or not is_same.any():
        labels_found = "no pairs" if not labels else f"only pairs with same={int(is_same[0])}"
        raise FormatError(f"{path}: {labels_found}; pairs that mean the same (1) and others (0) are needed")
    all_scores, all_units = np.concatenate(scores), np.array(units, np.int64)
    return ScoredPairs(
        contrast="",
        form="",
        example=example,
        same=all_scores[is_same],
        other=all_scores[~is_same],
        same_units=all_units[is_same],
        other_units=all_units[~is_same],
    )


def _read_pairs(path: Path) -> Iterator[tuple[str, str, bool]]:
    rows = read_table_rows(path)
    header = [name.strip().casefold() for name in next(rows, ("", []))[1]]
    if missing := [name for name in COLUMNS if name not in header]:
        raise FormatError(f"{path}: the column {missing[0]} is missing; the first line names a, b and same")
    for where, row in rows:
        if len(row) != len(header):
            raise FormatError(f"{where}: {len(row)} fields, the first line names {len(header)}")
        first, second, label = (row[header.index(name)].strip() for name in COLUMNS)
        if not (first and second):
            raise FormatError(f"{where}: a text is empty")
        if label not in LABELS:
            raise FormatError(f"{where}: same is {label!r}; 1 (the same meaning) or 0 is wanted")
        yield first, second, LABELS[label]
