"""Tasks SentLen (number of tokens) and WC (which of 1,000 words occurs) of Conneau et al. 2018, section 2."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from sentprobe.errors import UsageError
from sentprobe.probes.corpus.queries import SentencePool
from sentprobe.probes.dataset import TooFewError
from sentprobe.probes.known_task import ABOUT_WORDS, Cue, give_reason
from sentprobe.probes.natural import selection
from sentprobe.probes.natural.natural_task import BAG_AND_ORDER, CORRELATED_IN_TEXT, NaturalTask

BINS = ((5, 8), (9, 12), (13, 16), (17, 20), (21, 25), (26, 28))

ABOUT_LENGTH = give_reason(
    "the task is about the length of the sentence", *(Cue.LENGTH, Cue.BAG, Cue.NGRAMS, Cue.TEMPLATE, Cue.SENTENCE)
)
"""The cues that may answer a task about length (all but probe words and their positions), with the reason."""

HOW_LONG = "how many tokens does s have?"


def format_bins(bins: Sequence[tuple[int, int]]) -> tuple[str, ...]:
    """Return the class name of each bin, such as ``5-8`` for (5, 8)."""
    return tuple(f"{low}-{high}" for low, high in bins)


def select_length_classes(
    request: selection.SelectionRequest, bins: Sequence[tuple[int, int]], *, balanced: bool = True
) -> selection.Selection:
    """Return items whose class is their length bin; if *balanced*, classes are equally large. Raises TooFewError."""
    labels = format_bins(bins)
    cases = " ".join(f"WHEN length <= {high} THEN {n}" for n, (_, high) in enumerate(bins))
    pool = request.select_pool(
        f"SELECT digest, CASE {cases} END AS label, 0 AS form FROM sentences "
        f"WHERE length BETWEEN {bins[0][0]} AND {bins[-1][1]}"
    )
    if balanced:
        return selection.select_classes(request, pool, labels)
    indices, share = selection.select_unbalanced(pool, labels, request.size, task=request.task)
    notes = selection.describe_size(request, share, classes=1, why=f"it has {len(pool.labels):,} sentences")
    return selection.Selection(labels, selection.read_entries(request, pool, indices, labels=labels), notes)


SENTENCE_LENGTH = NaturalTask(
    name="SentLen",
    published="sentence_length",
    question_text=HOW_LONG,
    classes=", ".join(format_bins(BINS)),
    published_labels={name: str(number) for number, name in enumerate(format_bins(BINS))},
    select_items=partial(select_length_classes, bins=BINS),
    may_answer=ABOUT_LENGTH,
)

FIRST_RANK = 2001
WORDS = 1000
MIN_LETTERS = 4


def select_word_content(request: selection.SelectionRequest) -> selection.Selection:
    """Return the items of WC. A sentence's class is the only target word in it. Raises TooFewError or UsageError.

    The 1,000 targets have at least 4 letters and frequency ranks from 2,001 on; small corpora use fewer, commoner ones.
    """
    words, first = _find_words(request)
    rows = ", ".join(f"({rank}, {label})" for label, (rank, _) in enumerate(words))
    frequencies = request.corpus.frequency_table
    pool = request.select_pool(
        f"WITH targets AS (SELECT word, label FROM {frequencies} "
        f"JOIN (VALUES {rows}) AS chosen(rank, label) USING (rank)) "
        "SELECT digest, any_value(label) AS label, 0 AS form FROM "
        "(SELECT digest, lower(unnest(tokens)) AS word FROM sentences WHERE "
        f"{selection.LENGTHS_SQL}) "
        "JOIN targets USING (word) GROUP BY digest HAVING count(*) = 1"
    )
    labels = tuple(word for _, word in words)
    _check_enough(request, pool, words)
    ranks = f"ranks {words[0][0]:,} to {words[-1][0]:,}"
    note = f"{len(words):,} words, the first from frequency rank {first:,} on: {ranks}"
    return selection.select_classes(request, pool, labels, notes=[note])


def _check_enough(request: selection.SelectionRequest, pool: SentencePool, words: Sequence[tuple[int, str]]) -> None:
    needed = len(selection.list_splits(request.size))
    counts = np.bincount(pool.labels, minlength=len(words))
    few = np.flatnonzero(counts < needed)
    if not len(few):
        return
    first = int(few[0])
    advice = f"--words {first} asks for those before it, and " if first > 1 else ""
    raise TooFewError(
        f"{request.task}: {len(few):,} of {len(words):,} words of at least {MIN_LETTERS} letters from frequency rank "
        f"{words[0][0]:,} on are in fewer than {needed} sentences without another of the words, one for each split; "
        f"the first is {words[first][1]!r}; {advice}--first-rank for commoner or rarer ones"
    )


def _find_words(request: selection.SelectionRequest) -> tuple[list[tuple[int, str]], int]:
    """Return (frequency rank, word) for each target word, and the rank at which the search for target words began."""
    scale = min(1.0, request.corpus.token_count / selection.REFERENCE_TOKENS)
    settings = request.settings
    first = settings.first_rank or 1 + round((FIRST_RANK - 1) * scale)
    word_count = settings.words or max(2, round(WORDS * scale))
    rows = request.corpus.query(
        f"SELECT rank, word FROM {request.corpus.frequency_table} "
        rf"WHERE rank >= ? AND regexp_full_match(word, '\p{{L}}[\p{{L}}\p{{M}}]{{{MIN_LETTERS - 1},}}') "
        "ORDER BY rank LIMIT ?",
        first,
        word_count,
    )
    if settings.words is not None and len(rows) < word_count:
        raise UsageError(
            f"{request.task}: the corpus has {len(rows)} words of at least {MIN_LETTERS} letters from rank "
            f"{first:,} on, not {word_count:,}; ask for fewer (--words) or begin at an earlier rank "
            "(--first-rank)"
        )
    if len(rows) < 2:
        raise TooFewError(
            f"{request.task}: the corpus has {len(rows)} words of at least {MIN_LETTERS} letters from rank "
            f"{first:,} on; at least 2 are needed"
        )
    return [(int(rank), str(word)) for rank, word in rows], first


WORD_CONTENT = NaturalTask(
    name="WC",
    published="word_content",
    question_text="which of 1,000 words is in s? (exactly one is, exactly once)",
    classes="the words",
    select_items=select_word_content,
    may_answer=give_reason(ABOUT_WORDS, *BAG_AND_ORDER, Cue.SENTENCE) | give_reason(CORRELATED_IN_TEXT, Cue.LENGTH),
)
