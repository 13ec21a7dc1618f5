"""TopConst and BShift, of the syntactic tasks of Conneau et al. 2018, section 2."""

from collections.abc import Sequence
from random import Random

from sentprobe.probes.corpus.balance import TooFewError, by_class, rarest, wanted_share
from sentprobe.probes.corpus.bands import SEQUENCES
from sentprobe.probes.corpus.pairs import changed_selection
from sentprobe.probes.corpus.selection import LENGTHS, Draw, Selection, entries_at, size_notes

OTHER = "OTHER"
"""The class of all sequences that are not among the most frequent."""

LEAST = 12
"""Sentences that a sequence must have to be a class of its own, unless the user says how many
classes there are: enough for each split to have some at the default proportions."""

DOUBLE_QUOTES = ('"', "``", "''", "“", "”", "„", "«", "»")
"""Tokens that are double quotes, as they stand in text and in the Penn Treebank."""

ORIGINAL, INVERTED = "O", "I"
"""The classes of BShift and CoordInv, named as in the published data."""

SEQUENCE = r"regexp_full_match(top, '([A-Z]+ )+\.')"
"""Constituents, none of them punctuation or a quote, and then the full stop's label."""


def top_constituents(draw: Draw) -> Selection:
    """Return TopConst: the 19 most frequent sequences of constituents under the top S, and OTHER.

    Sequences with punctuation or quotes inside are left out, and those without the full stop's
    label at the end. Classes are named with ``_`` between constituents, as in the published data.

    Raises:
        TooFewError: no sequence is frequent enough, or there is nothing for OTHER.
    """
    tops, notes = _sequences(draw)
    cases = " ".join(f"WHEN '{top}' THEN {n}" for n, top in enumerate(tops))
    pool = draw.pool(
        f"SELECT digest, CASE top {cases} ELSE {len(tops)} END AS label, 0 AS form "
        f"FROM sentences WHERE {LENGTHS} AND {SEQUENCE}"
    )
    labels = (*(top.replace(" ", "_") for top in tops), OTHER)
    places, got = by_class(pool, labels, draw.size, task=draw.task)
    return Selection(
        labels,
        entries_at(draw, pool, places, labels=labels),
        (*notes, *size_notes(draw, got, classes=len(labels), why=rarest(pool, labels))),
    )


def _sequences(draw: Draw) -> tuple[list[str], tuple[str, ...]]:
    """Return the most frequent sequences, and a note where they are not as many as in the paper."""
    wanted = draw.settings.sequences or SEQUENCES
    least = 1 if draw.settings.sequences else min(LEAST, _smallest_class(draw, wanted + 1))
    found = draw.corpus.query(
        f"SELECT top FROM sentences WHERE {LENGTHS} AND {SEQUENCE} "
        "GROUP BY top HAVING count(*) >= ? ORDER BY count(*) DESC, top LIMIT ?",
        least,
        wanted,
    )
    if not found:
        raise TooFewError(
            f"{draw.task}: the corpus has no sequence of top constituents with {least} sentences "
            "of 5 to 28 tokens; the task needs sentences with trees"
        )
    if len(found) == SEQUENCES:
        return [top for (top,) in found], ()
    note = f"{len(found)} sequences instead of {SEQUENCES}"
    if len(found) < wanted:
        note += f": no other has {least} sentences"
    return [top for (top,) in found], (note,)


def _smallest_class(draw: Draw, classes: int) -> int:
    return sum(wanted_share(draw.size, classes=classes).values())


def bigram_shift(draw: Draw) -> Selection:
    """Return BShift: whether two neighbouring tokens were swapped (I) or not (O).

    The first token is never swapped, nor is punctuation, nor tokens that differ in case only.
    Sentences with double quotes are left out, and those that swapping makes a sentence of the
    corpus.
    """
    quotes = ", ".join("'" + quote.replace("'", "''") + "'" for quote in DOUBLE_QUOTES)
    where = f"{LENGTHS} AND NOT list_has_any(tokens, [{quotes}])"
    return changed_selection(
        draw,
        f"SELECT digest, 0 AS label, 0 AS form FROM sentences WHERE {where}",
        labels=(ORIGINAL, INVERTED),
        change=_swapped,
    )


def _swapped(text: str, rng: Random) -> str | None:
    tokens = text.split(" ")
    places = [place for place in range(1, len(tokens) - 1) if _may_swap(tokens, place)]
    if not places:
        return None
    place = rng.choice(places)
    tokens[place : place + 2] = tokens[place + 1], tokens[place]
    return " ".join(tokens)


def _may_swap(tokens: Sequence[str], place: int) -> bool:
    left, right = tokens[place : place + 2]
    return is_word(left) and is_word(right) and left.casefold() != right.casefold()


def is_word(token: str) -> bool:
    """Say whether a token is more than punctuation.

    >>> is_word("n't"), is_word("--")
    (True, False)
    """
    return any(map(str.isalnum, token))
