"""Items of BShift, CoordInv and SOMO, which ask whether a sentence was changed.

A dataset contains a sentence either in its original or in its changed version, never in both.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random

import numpy as np

from sentprobe.probes.dataset import Split
from sentprobe.probes.formats.entries import Entry
from sentprobe.probes.natural import selection


@dataclass(frozen=True, slots=True)
class ChangedPair:
    """A sentence and its changed version. A dataset contains at most one of the two, as an item."""

    original: str
    changed: str


Changer = Callable[[str, Random], str | None]
"""A function from a sentence to its changed version, or to None if the sentence cannot be changed."""


def select_changed_sentences(
    request: selection.SelectionRequest, sql: str, *, labels: tuple[str, str], change: Changer
) -> selection.Selection:
    """Return items from the sentences that *sql* selects; every second sentence is changed. Raises TooFewError."""
    pairs = _make_pairs(request, sql, change)
    requested = selection.compute_class_share(request.size, classes=2)
    share = selection.scale_share(len(pairs) // 2, requested)
    if share is None:
        counts = {f"sentences that can be {labels[1]}": len(pairs)}
        raise selection.make_too_few_error(request.task, counts, needed=2 * len(requested))
    entries: list[Entry] = []
    remaining = iter(pairs)
    for split, number in share.items():
        chosen = [next(remaining) for _ in range(2 * number)]
        entries += alternate_versions(chosen, split, labels=labels)
    why = f"{len(pairs):,} sentences can be changed"
    return selection.Selection(labels, tuple(entries), selection.describe_size(request, share, classes=2, why=why))


def alternate_versions(pairs: list[ChangedPair], split: Split, *, labels: tuple[str, str]) -> list[Entry]:
    """Return an item for each pair, alternately with the original and with the changed sentence."""
    return [
        Entry(
            split=split,
            label=labels[number % 2],
            sentence=pair.changed if number % 2 else pair.original,
            original=pair.original,
        )
        for number, pair in enumerate(pairs)
    ]


def _make_pairs(request: selection.SelectionRequest, sql: str, change: Changer) -> list[ChangedPair]:
    """Return enough pairs for all splits or, if the corpus has fewer, all pairs. Read only as much as is needed."""
    needed = 2 * sum(selection.compute_class_share(request.size, classes=2).values())
    limit = 2 * needed + 100
    while True:
        pool = request.select_pool(sql, limit=limit)
        texts = zip(np.asarray(pool.handles).tolist(), request.corpus.read_texts(pool.handles), strict=True)
        changes = {text: changed for h, text in texts if (changed := change(text, request.make_random(h))) is not None}
        pairs = filter_new_pairs(request, changes)
        if len(pairs) >= needed or len(pool) < limit:
            return pairs
        limit *= 4


def filter_new_pairs(request: selection.SelectionRequest, changes: Mapping[str, str]) -> list[ChangedPair]:
    """Return the pairs of *changes* whose changed sentence is neither in the corpus nor in an earlier pair."""
    unseen = selection.find_unknown_texts(request.corpus, changes.values())
    pairs = []
    for original, changed in changes.items():
        if changed in unseen:
            unseen.discard(changed)
            pairs.append(ChangedPair(original, changed))
    return pairs


DOUBLE_QUOTES = ('"', "``", "''", "“", "”", "„", "‟", "«", "»", "「", "」", "『", "』")
"""Tokens that are double quotes in running text or in the Penn Treebank."""
_QUOTES_SQL = ", ".join("'" + quote.replace("'", "''") + "'" for quote in DOUBLE_QUOTES)
NO_QUOTES_SQL = f"NOT list_has_any(tokens, [{_QUOTES_SQL}])"
"""SQL condition that a sentence has no double quotes."""
ORIGINAL, INVERTED = "O", "I"
"""The classes of BShift and CoordInv, named as in the published data."""


def is_word(token: str) -> bool:
    """Return whether a token contains a letter or digit.

    >>> is_word("n't"), is_word("--")
    (True, False)
    """
    return any(map(str.isalnum, token))
