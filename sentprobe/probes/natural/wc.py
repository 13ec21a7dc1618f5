"""WC of Conneau et al. 2018, section 2: which of many words a sentence has."""

from collections.abc import Sequence

import numpy as np

from sentprobe.errors import UsageError
from sentprobe.probes.corpus.queries import SentencePool
from sentprobe.probes.dataset import TooFewError
from sentprobe.probes.known_task import ABOUT_WORDS, Cue, why
from sentprobe.probes.natural import select
from sentprobe.probes.natural.task import BAG_AND_ORDER, IN_TEXT, NaturalTask

FIRST_RANK = 2001
"""The first frequency rank of the words."""

WORDS = 1000
"""How many words there are."""


def word_content(draw: select.Draw) -> select.Selection:
    """Return WC: which of 1,000 words is in the sentence; exactly one is, exactly once.

    The words are lower-case forms of at least 4 letters, and nothing but letters, in the order of
    their frequency from rank 2,001 on.

    Raises:
        TooFewError: the corpus has fewer than two such words.
    """
    words, first = _words(draw)
    rows = ", ".join(f"({rank}, {label})" for label, (rank, _) in enumerate(words))
    frequencies = draw.corpus.frequencies
    pool = draw.pool(
        f"WITH targets AS (SELECT word, label FROM {frequencies} "
        f"JOIN (VALUES {rows}) AS chosen(rank, label) USING (rank)) "
        "SELECT digest, any_value(label) AS label, 0 AS form FROM "
        f"(SELECT digest, lower(unnest(tokens)) AS word FROM sentences WHERE {select.LENGTHS}) "
        "JOIN targets USING (word) GROUP BY digest HAVING count(*) = 1"
    )
    labels = tuple(word for _, word in words)
    _check_enough(draw, pool, words)
    places, got = select.by_class(pool, labels, draw.size, task=draw.task)
    used = f"{len(words):,} words, the first from frequency rank {first:,} on: "
    return select.Selection(
        labels,
        select.entries_at(draw, pool, places, labels=labels),
        (
            used + f"ranks {words[0][0]:,} to {words[-1][0]:,}",
            *select.size_notes(draw, got, classes=len(labels), why=select.rarest(pool, labels)),
        ),
    )


def _check_enough(draw: select.Draw, pool: SentencePool, words: Sequence[tuple[int, str]]) -> None:
    """Refuse words of which one has not a sentence for each split, and say how many have."""
    needed = len(select.splits_of(draw.size))
    counts = np.bincount(pool.labels, minlength=len(words))
    few = np.flatnonzero(counts < needed)
    if not len(few):
        return
    place = int(few[0])
    advice = f"--words {place} asks for those before it, and " if place > 1 else ""
    raise TooFewError(
        f"{draw.task}: {len(few):,} of {len(words):,} words from frequency rank {words[0][0]:,} on "
        f"are in fewer than {needed} sentences without another of the words, one for each split; "
        f"the first is {words[place][1]!r}; {advice}--first-rank for commoner or rarer ones"
    )


def _words(draw: select.Draw) -> tuple[list[tuple[int, str]], int]:
    """Return the target words with their ranks, and the rank from which on they were looked for."""
    part = select.share(draw.corpus.tokens)
    settings = draw.settings
    first = settings.first_rank or 1 + round((FIRST_RANK - 1) * part)
    wanted = settings.words or max(2, round(WORDS * part))
    found = draw.corpus.query(
        f"SELECT rank, word FROM {draw.corpus.frequencies} "
        r"WHERE rank >= ? AND regexp_full_match(word, '\p{L}{4,}') ORDER BY rank LIMIT ?",
        first,
        wanted,
    )
    if settings.words is not None and len(found) < wanted:
        raise UsageError(
            f"{draw.task}: the corpus has {len(found)} words of at least 4 letters from rank "
            f"{first:,} on, not {wanted:,}; ask for fewer (--words) or begin at an earlier rank "
            "(--first-rank)"
        )
    if len(found) < 2:
        raise TooFewError(
            f"{draw.task}: the corpus has {len(found)} words of at least 4 letters from rank "
            f"{first:,} on; at least 2 are needed"
        )
    return [(int(rank), str(word)) for rank, word in found], first


TASK = NaturalTask(
    name="WC",
    published="word_content",
    asks="which of 1,000 words is in s? (exactly one is, exactly once)",
    classes="the words",
    draw=word_content,
    may_answer=why(ABOUT_WORDS, *BAG_AND_ORDER, Cue.SENTENCE) | why(IN_TEXT, Cue.LENGTH),
)
