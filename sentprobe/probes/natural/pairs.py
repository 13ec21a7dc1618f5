"""Tasks whose sentences are either as they were or changed: no sentence in both versions."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random

import numpy as np

from sentprobe.probes.corpus.queries import SentencePool
from sentprobe.probes.dataset import Split
from sentprobe.probes.formats.entries import Entry
from sentprobe.probes.natural import select


@dataclass(frozen=True, slots=True)
class ChangedPair:
    """A sentence and what it would be if it were changed; a dataset has one of the two."""

    original: str
    changed: str


Changer = Callable[[str, Random], str | None]
"""From a sentence to what it becomes, or None where it cannot be changed."""


def changed_selection(
    draw: select.Draw, sql: str, *, labels: tuple[str, str], change: Changer
) -> select.Selection:
    """Return a task of which half of the sentences are changed, drawn from what *sql* selects.

    Raises:
        TooFewError: fewer sentences can be changed than there are splits and classes.
    """
    pairs = _pairs(draw, sql, change)
    wanted = select.wanted_share(draw.size, classes=2)
    got = select.share_out(len(pairs) // 2, wanted)
    if got is None:
        counts = {f"sentences that can be {labels[1]}": len(pairs)}
        raise select.too_few(draw.task, counts, needed=2 * len(wanted))
    entries: list[Entry] = []
    rest = iter(pairs)
    for split, number in got.items():
        chosen = [next(rest) for _ in range(2 * number)]
        entries += versions_of(chosen, split, labels=labels)
    notes = select.size_notes(
        draw, select.Share(wanted, got), classes=2, why=f"{len(pairs):,} sentences can be changed"
    )
    return select.Selection(labels, tuple(entries), notes)


def versions_of(pairs: list[ChangedPair], split: Split, *, labels: tuple[str, str]) -> list[Entry]:
    """Return every other sentence as it was, the rest changed."""
    return [
        select.item(split, labels[number % 2], pair.changed if number % 2 else pair.original)
        for number, pair in enumerate(pairs)
    ]


def _pairs(draw: select.Draw, sql: str, change: Changer) -> list[ChangedPair]:
    """Return as many pairs as are needed, or all, reading no more sentences than that takes."""
    needed = 2 * sum(select.wanted_share(draw.size, classes=2).values())
    limit = 2 * needed + 100
    while True:
        pool = draw.pool(sql, limit=limit)
        pairs = _change_all(draw, pool, change)
        if len(pairs) >= needed or len(pool) < limit:
            return pairs
        limit *= 4


def _change_all(draw: select.Draw, pool: SentencePool, change: Changer) -> list[ChangedPair]:
    found = [
        (text, change(text, draw.random(handle)))
        for handle, text in zip(
            np.asarray(pool.handles).tolist(), draw.corpus.texts(pool.handles), strict=True
        )
    ]
    return new_pairs(draw, {text: changed for text, changed in found if changed is not None})


def new_pairs(draw: select.Draw, changes: Mapping[str, str]) -> list[ChangedPair]:
    """Return the pairs whose changed sentence is not in the corpus, nor that of another pair."""
    unknown = select.unknown_texts(draw.corpus, changes.values())
    pairs = []
    for original, changed in changes.items():
        if changed in unknown:
            unknown.discard(changed)
            pairs.append(ChangedPair(original, changed))
    return pairs


DOUBLE_QUOTES = ('"', "``", "''", "“", "”", "„", "‟", "«", "»")
"""Tokens that are double quotes, as they stand in text and in the Penn Treebank."""

_LISTED = ", ".join("'" + quote.replace("'", "''") + "'" for quote in DOUBLE_QUOTES)

NO_QUOTES = f"NOT list_has_any(tokens, [{_LISTED}])"
"""In SQL that a sentence has no double quotes."""


ORIGINAL, INVERTED = "O", "I"
"""The classes of BShift and CoordInv, named as in the published data."""


def is_word(token: str) -> bool:
    """Say whether a token is more than punctuation.

    >>> is_word("n't"), is_word("--")
    (True, False)
    """
    return any(map(str.isalnum, token))
