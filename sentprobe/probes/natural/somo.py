"""SOMO of Conneau et al. 2018, section 2: a noun or verb replaced by another that fits less well.

Word and replacement have the same tag (that of most of their occurrences), corpus frequencies in
the band, and two bigrams each, with the word before and after, whose frequencies are within a
factor of two of each other (so all of these bigrams occur in the corpus). The originals are
sentences of which a word could have been replaced in the same way.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sentprobe.probes.corpus.queries import HANDLE, Corpus, SentencePool
from sentprobe.probes.dataset import Split
from sentprobe.probes.formats.entries import Entry
from sentprobe.probes.known_task import Cue, why
from sentprobe.probes.natural import select
from sentprobe.probes.natural.pairs import ChangedPair, new_pairs, versions_of
from sentprobe.probes.natural.target_words import LETTERS, band_note, count_forms
from sentprobe.probes.natural.task import NaturalTask, TableNeed

ODD_BAND = select.Band(40, 400)
"""Of the word that is replaced and of its replacement."""

LABELS = ("O", "C")
"""Original and changed, as in the published data."""

TAGS = ("NN", "NNS", "VB", "VBD", "VBG", "VBN", "VBP", "VBZ")
"""Nouns and verbs; no names."""

RATIO = 2.0
"""By what factor the frequencies of two bigrams may differ."""

_OVERSAMPLE = 1.5
"""Sentences that are tried at first for each one that is needed."""


@dataclass(frozen=True, slots=True)
class Replacement:
    """A pair of sentences, and the rank of the word that the changed one has instead."""

    pair: ChangedPair
    rank: int


def odd_man_out(draw: select.Draw) -> select.Selection:
    """Return SOMO: whether a noun or verb of the sentence was replaced (C) or not (O).

    Half of the sentences are changed. In changed sentences, no replacement is in two splits.

    Raises:
        TooFewError: too few words can be replaced.
    """
    band = draw.settings.odd_band or ODD_BAND.scaled(draw.corpus.tokens)
    found = _replacements(draw, band)
    wanted = select.wanted_share(draw.size, classes=2)
    dealt = _deal(found, {split: 2 * number for split, number in wanted.items()})
    part = min([1.0, *(len(dealt[split]) / (2 * n) for split, n in wanted.items())])
    got = {split: int(number * part + 1e-9) for split, number in wanted.items()}
    if not all(got.values()):
        counts = {f"replacements in {split.value}": len(each) for split, each in dealt.items()}
        raise select.too_few(draw.task, counts, needed=2, forms=True)
    entries: list[Entry] = []
    forms: dict[Split, frozenset[str]] = {}
    words = draw.corpus.words([each.rank for each in found])
    for split, number in got.items():
        chosen = dealt[split][: 2 * number]
        entries += versions_of([each.pair for each in chosen], split, labels=LABELS)
        forms[split] = frozenset(words[each.rank] for each in chosen[1::2])
    why = f"{len(found):,} sentences can be changed, and no replacement may be in two splits"
    notes = (
        band_note(band),
        *select.size_notes(draw, select.Share(wanted, got), classes=2, why=why),
    )
    return select.Selection(LABELS, tuple(entries), notes, count_forms(forms), forms)


def _deal(found: Sequence[Replacement], wanted: dict[Split, int]) -> dict[Split, list[Replacement]]:
    """Return the replacements of each split, such that no word is in two."""
    ranks = np.array([each.rank for each in found], np.int64)
    zeros = np.zeros(len(found), np.int64)
    pool = SentencePool(zeros.astype(np.uint64), zeros, ranks)
    of_item = select.deal_forms(pool, classes=1, wanted=wanted)
    return {
        split: [each for each, where in zip(found, of_item, strict=True) if where == number]
        for number, split in enumerate(wanted)
    }


def _replacements(draw: select.Draw, band: select.Band) -> list[Replacement]:
    """Return as many replacements as are needed to fill all splits, or all that there are."""
    prepare(draw.corpus, band)
    needed = int(1.2 * sum(select.wanted_share(draw.size, classes=2).values()) * 2)
    limit = int(_OVERSAMPLE * needed) + 1000
    while True:
        targets = draw.corpus.query(_TARGETS.format(limit=limit), draw.key)
        ((tried,),) = targets
        found = _replace_all(draw)
        if len(found) >= needed or tried < limit:
            return found
        limit *= 4


def _replace_all(draw: select.Draw) -> list[Replacement]:
    """Return what the targets in the table ``targets`` are replaced by."""
    rows = draw.corpus.query(_CHOICE.format(log=math.log(RATIO) + 1e-9), draw.key)
    handles = np.array([row[0] for row in rows], np.uint64)
    texts = draw.corpus.texts(handles)
    changes: dict[str, str] = {}
    ranks: dict[str, int] = {}
    for text, (_, place, word, rank) in zip(texts, rows, strict=True):
        tokens = text.split(" ")
        tokens[place] = word
        changes[text] = " ".join(tokens)
        ranks[text] = int(rank)
    return [Replacement(pair, ranks[pair.original]) for pair in new_pairs(draw, changes)]


def prepare(corpus: Corpus, band: select.Band) -> None:
    """Make the tables that the queries below read.

    - odd_words (word, tag, rank): words in the band whose commonest tag is a noun's or verb's
    - before, after (tag, other, word, rank, n): how often such a word follows *other*, or precedes
      it
    """
    tags = ", ".join(f"'{tag}'" for tag in TAGS)
    corpus.query(
        "CREATE OR REPLACE TEMP TABLE odd_words AS WITH chosen AS ("
        f"SELECT word, rank FROM {corpus.frequencies} WHERE n BETWEEN ? AND ? "
        f"AND regexp_full_match(word, '{LETTERS}')), tagged AS ("
        "SELECT lower(token) AS word, tag, sum(n) AS n FROM ("
        "SELECT unnest(tokens) AS token, unnest(tags) AS tag, 1 AS n FROM sentences "
        "WHERE len(tags) = len(tokens)) WHERE lower(token) IN (SELECT word FROM chosen) "
        "GROUP BY ALL), best AS (SELECT word, arg_max(tag, (n, tag)) AS tag FROM tagged "
        f"GROUP BY word) SELECT word, tag, rank FROM best JOIN chosen USING (word) "
        f"WHERE tag IN ({tags})",
        band.low,
        band.high,
    )
    for name, other, word in (("before", "a", "b"), ("after", "b", "a")):
        corpus.query(
            f"CREATE OR REPLACE TEMP TABLE {name} AS "
            "SELECT tag, other, word, rank, count(*) AS n FROM ("
            f"SELECT lower({other}) AS other, lower({word}) AS word FROM ("
            "SELECT unnest(tokens[1:-2]) AS a, unnest(tokens[2:]) AS b FROM sentences)) "
            "JOIN odd_words USING (word) GROUP BY ALL"
        )


_TARGETS = f"""
CREATE OR REPLACE TEMP TABLE targets AS
WITH tokenised AS (
    SELECT digest, length, unnest(tokens) AS token, unnest(tags) AS tag,
           generate_subscripts(tokens, 1) - 1 AS spot
    FROM sentences WHERE {select.LENGTHS} AND len(tags) = len(tokens)
), eligible AS (
    SELECT digest, spot, token AS word, tag
    FROM tokenised SEMI JOIN odd_words ON token = word AND tokenised.tag = odd_words.tag
    WHERE spot > 0 AND spot < length - 1
), one AS (
    SELECT digest, arg_min((spot, word, tag),
                           md5_number_lower(concat(digest, ' ', $1, ' ', spot))) AS chosen
    FROM eligible GROUP BY digest
    ORDER BY md5_number_lower(concat(digest, ' ', $1)), digest LIMIT {{limit}}
)
SELECT digest, chosen[1] AS spot, chosen[2] AS word, chosen[3] AS tag,
       lower(tokens[spot]) AS prior, lower(tokens[spot + 2]) AS next
FROM one JOIN sentences USING (digest)
"""


_CHOICE = f"""
WITH known AS (
    SELECT targets.*, before.n AS before_n, after.n AS after_n FROM targets
    JOIN before ON before.other = prior AND before.word = targets.word
    JOIN after ON after.other = next AND after.word = targets.word
), fitting AS (
    SELECT known.digest, spot, before.word AS word, before.rank AS rank FROM known
    JOIN before ON before.tag = known.tag AND before.other = prior AND before.word <> known.word
         AND abs(ln(before.n) - ln(before_n)) <= {{log}}
    JOIN after ON after.other = next AND after.word = before.word
         AND abs(ln(after.n) - ln(after_n)) <= {{log}}
), one AS (
    SELECT digest, any_value(spot) AS spot,
           arg_min((word, rank), md5_number_lower(concat(digest, ' ', $1, ' ', word))) AS chosen
    FROM fitting GROUP BY digest
)
SELECT {HANDLE} AS handle, spot, chosen[1] AS word, chosen[2] AS rank FROM one
ORDER BY md5_number_lower(concat(digest, ' ', $1)), digest
"""


TASK = NaturalTask(
    name="SOMO",
    published="odd_man_out",
    asks="was a noun or verb of s replaced?",
    classes="O (no), C (yes)",
    draw=odd_man_out,
    need=TableNeed.TAGS,
    may_answer=why(
        "the new word fits those around it less well; beat this figure", Cue.BAG, Cue.NGRAMS
    ),
    turned=why(
        "no replacement of training is one in test, where it stands in originals too",
        *(Cue.BAG, Cue.NGRAMS),
    ),
)
