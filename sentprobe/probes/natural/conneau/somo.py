"""Task SOMO of Conneau et al. 2018, section 2: a noun or verb is replaced by a word that fits less well.

The replaced word and its replacement have the same most frequent tag, and corpus frequencies in the same band. The
two bigrams that they form with the preceding word differ in frequency by at most a factor of two. So do the two
bigrams that they form with the following word.
"""

import math

import numpy as np

from sentprobe.probes.corpus.queries import HANDLE_SQL, Corpus, SentencePool
from sentprobe.probes.dataset import Split
from sentprobe.probes.formats.entries import Entry
from sentprobe.probes.known_task import Cue, give_reason
from sentprobe.probes.natural import selection
from sentprobe.probes.natural.changed_sentences import ChangedPair, alternate_versions, filter_new_pairs
from sentprobe.probes.natural.natural_task import NaturalTask, TableNeed
from sentprobe.probes.natural.target_words import WORD_PATTERN, count_forms, format_band_note

ODD_BAND = selection.FrequencyBand(40, 400)
"""Corpus frequencies of replaced words and of replacements."""
LABELS = ("O", "C")
"""Original and changed, as in the published data."""
TAGS = ("NN", "NNS", "VB", "VBD", "VBG", "VBN", "VBP", "VBZ")
"""Penn tags of nouns, without names, and of verbs."""
MAX_FREQUENCY_RATIO = 2.0
"""Maximum ratio of the frequencies of a bigram with the replaced word and the same bigram with the replacement."""
_OVERSAMPLE = 1.5
"""Number of sentences that are tried in the first attempt, per sentence needed."""
Replacement = tuple[ChangedPair, int]
"""A sentence with its changed version, and the frequency rank of the word that was put in."""


def select_odd_man_out(request: selection.SelectionRequest) -> selection.Selection:
    """Return SOMO's items. Half (label C) have a replaced word. No replacement is in two splits. Raises TooFewError."""
    band = request.settings.odd_band or ODD_BAND.scale(request.corpus.token_count)
    replacements = _find_replacements(request, band)
    requested = selection.compute_class_share(request.size, classes=2)
    ranks, zeros = np.array([rank for _, rank in replacements], np.int64), np.zeros(len(replacements), np.int64)
    pool = SentencePool(zeros.astype(np.uint64), zeros, ranks)
    split_numbers = selection.deal_forms(pool, classes=1, requested={split: 2 * n for split, n in requested.items()})
    dealt = {
        split: [replacement for replacement, n in zip(replacements, split_numbers, strict=True) if n == number]
        for number, split in enumerate(requested)
    }
    filled_share = min([1.0, *(len(dealt[split]) / (2 * n) for split, n in requested.items())])
    share = {split: int(number * filled_share + 1e-9) for split, number in requested.items()}
    if not all(share.values()):
        counts = {f"replacements in {split.value}": len(split_words) for split, split_words in dealt.items()}
        raise selection.make_too_few_error(request.task, counts, needed=2, forms=True)
    entries: list[Entry] = []
    forms: dict[Split, frozenset[str]] = {}
    words = request.corpus.find_words(ranks.tolist())
    for split, number in share.items():
        chosen = dealt[split][: 2 * number]
        entries += alternate_versions([pair for pair, _ in chosen], split, labels=LABELS)
        # alternate_versions changes every second sentence, so only these replacements are in the dataset.
        forms[split] = frozenset(words[rank] for _, rank in chosen[1::2])
    why = f"{len(replacements):,} sentences can be changed, and no replacement may be in two splits"
    notes = (format_band_note(band), *selection.describe_size(request, share, classes=2, why=why))
    return selection.Selection(LABELS, tuple(entries), notes, count_forms(forms), forms)


def _find_replacements(request: selection.SelectionRequest, band: selection.FrequencyBand) -> list[Replacement]:
    """Return enough replacements to fill all splits, or all that the corpus allows."""
    create_word_tables(request.corpus, band)
    needed = int(1.2 * sum(selection.compute_class_share(request.size, classes=2).values()) * 2)
    limit = int(_OVERSAMPLE * needed) + 1000
    while True:
        ((target_count,),) = request.corpus.query(_TARGETS_SQL.format(limit=limit), request.key)
        replacements = _replace_targets(request)
        if len(replacements) >= needed or target_count < limit:
            return replacements
        limit *= 4


def _replace_targets(request: selection.SelectionRequest) -> list[Replacement]:
    rows = request.corpus.query(_CHOICE_SQL.format(log=math.log(MAX_FREQUENCY_RATIO) + 1e-9), request.key)
    handles = np.array([row[0] for row in rows], np.uint64)
    texts = request.corpus.read_texts(handles)
    changes: dict[str, str] = {}
    ranks: dict[str, int] = {}
    for text, (_, position, word, rank) in zip(texts, rows, strict=True):
        tokens = text.split(" ")
        tokens[position] = word
        changes[text] = " ".join(tokens)
        ranks[text] = int(rank)
    return [(pair, ranks[pair.original]) for pair in filter_new_pairs(request, changes)]


def create_word_tables(corpus: Corpus, band: selection.FrequencyBand) -> None:
    """Create the tables that the queries below read.

    - odd_words (word, tag, rank, form): words in the band whose most frequent tag is that of a noun or verb. *form* is
      the word in lower case; with tags of Universal Dependencies, it is the most frequent spelling, such as *Haus*
    - before (tag, other, word, rank, n): *n* is how often *other* stands before *word*; *tag* and *rank* are of *word*
    - after (the same columns): *n* is how often *other* stands after *word*
    """
    tags = ", ".join(f"'{tag}'" for tag in TAGS)
    corpus.query(
        "CREATE OR REPLACE TEMP TABLE odd_words AS WITH chosen AS ("
        f"SELECT word, rank FROM {corpus.frequency_table} WHERE n BETWEEN ? AND ? "
        f"AND regexp_full_match(word, '{WORD_PATTERN}')), tagged AS ("
        "SELECT lower(token) AS word, tag, sum(n) AS n FROM ("
        "SELECT unnest(tokens) AS token, unnest(tags) AS tag, 1 AS n FROM sentences "
        "WHERE len(tags) = len(tokens)) WHERE lower(token) IN (SELECT word FROM chosen) "
        "GROUP BY ALL), best AS (SELECT word, arg_max(tag, (n, tag)) AS tag FROM tagged "
        f"GROUP BY word) SELECT word, tag, rank, if(tag IN ({tags}), word, form) AS form "
        "FROM best JOIN chosen USING (word) JOIN (SELECT lower(token) AS word, arg_max(token, (n, token)) AS form "
        "FROM (SELECT token, count(*) AS n FROM (SELECT unnest(tokens) AS token FROM sentences) GROUP BY token) "
        "GROUP BY ALL) USING (word) "
        rf"WHERE tag IN ({tags}) OR regexp_full_match(tag, '(NOUN|VERB)([|][^+]*)?')",
        band.low,
        band.high,
    )
    for name, neighbour, word in (("before", "a", "b"), ("after", "b", "a")):
        corpus.query(
            f"CREATE OR REPLACE TEMP TABLE {name} AS "
            "SELECT tag, other, word, rank, count(*) AS n FROM ("
            f"SELECT lower({neighbour}) AS other, lower({word}) AS word FROM ("
            "SELECT unnest(tokens[1:-2]) AS a, unnest(tokens[2:]) AS b FROM sentences)) "
            "JOIN odd_words USING (word) GROUP BY ALL"
        )


_TARGETS_SQL = f"""
CREATE OR REPLACE TEMP TABLE targets AS
WITH tokenised AS (
    SELECT digest, length, unnest(tokens) AS token, unnest(tags) AS tag,
           generate_subscripts(tokens, 1) - 1 AS spot
    FROM sentences WHERE {selection.LENGTHS_SQL} AND len(tags) = len(tokens)
), eligible AS (
    SELECT digest, spot, word, odd_words.tag
    FROM tokenised JOIN odd_words ON token = form AND tokenised.tag = odd_words.tag
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

_CHOICE_SQL = f"""
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
SELECT {HANDLE_SQL} AS handle, spot, form AS word, chosen[2] AS rank
FROM one JOIN odd_words ON word = chosen[1]
ORDER BY md5_number_lower(concat(digest, ' ', $1)), digest
"""

TASK = NaturalTask(
    name="SOMO",
    published="odd_man_out",
    question_text="was a noun or verb of s replaced?",
    classes="O (no), C (yes)",
    select_items=select_odd_man_out,
    need=TableNeed.TAGS,
    may_answer=give_reason("the new word fits those around it less well; beat this figure", Cue.BAG, Cue.NGRAMS),
    reversed_cues=give_reason(
        "no replacement of training is one in test, where it stands in originals too", *(Cue.BAG, Cue.NGRAMS)
    ),
)
