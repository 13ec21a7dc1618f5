"""Tasks CoordInv, BShift and SOMO of Conneau et al. 2018, section 2, which ask whether a sentence was changed.

A dataset contains a sentence either in its original or in its changed version, never in both.

- CoordInv: two coordinated clauses were exchanged
- BShift: two neighbouring tokens were exchanged
- SOMO: a noun or verb was replaced by a word that fits less well. The replaced word and its replacement have the same
  most frequent tag, and corpus frequencies in the same band. The two bigrams that they form with the preceding word
  differ in frequency by at most a factor of two. So do the two bigrams that they form with the following word
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from hashlib import sha256
from random import Random

import numpy as np

from sentprobe.probes.corpus.queries import HANDLE_SQL, Corpus, SentencePool
from sentprobe.probes.datasets.dataset import Split
from sentprobe.probes.datasets.known_task import Cue, give_reason
from sentprobe.probes.datasets.records import Entry
from sentprobe.probes.natural import selection
from sentprobe.probes.natural.natural_task import NaturalTask, ParseLabel, TableNeed
from sentprobe.probes.natural.surface_tasks import WORD_PATTERN, count_forms, format_band_note

ChangedPair = tuple[str, str]
"""A sentence and its changed version. A dataset contains at most one of the two, as an item."""
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


def alternate_versions(pairs: Iterable[ChangedPair], split: Split, *, labels: tuple[str, str]) -> list[Entry]:
    """Return an item for each pair, alternately with the original and with the changed sentence."""
    return [
        Entry(split=split, label=labels[number % 2], sentence=versions[number % 2], original=versions[0])
        for number, versions in enumerate(pairs)
    ]


def _make_pairs(request: selection.SelectionRequest, sql: str, change: Changer) -> list[ChangedPair]:
    """Return enough pairs for all splits or, if the corpus has fewer, all pairs. Read only as much as is needed."""
    needed = 2 * sum(selection.compute_class_share(request.size, classes=2).values())
    limit = 2 * needed + 100
    while True:
        # The pool's order does not depend on the limit, so that a larger pool begins with the sentences of this one.
        pool = request.select_pool(sql, limit=limit)
        texts = zip(np.asarray(pool.handles).tolist(), request.corpus.read_texts(pool.handles), strict=True)
        # A generator for each sentence: what becomes of it does not depend on the sentences before.
        changes = {text: changed for h, text in texts if (changed := change(text, request.make_random(h))) is not None}
        pairs = filter_new_pairs(request, changes)
        if len(pairs) >= needed or len(pool) < limit:
            return pairs
        limit *= 4


def filter_new_pairs(request: selection.SelectionRequest, changes: Mapping[str, str]) -> list[ChangedPair]:
    """Return the pairs of *changes* whose changed sentence is neither in the corpus nor in an earlier pair."""
    # Digests as in the table (corpus/table_rows.py), so that the database need not compare texts.
    digests = {sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]: text for text in changes.values()}
    unseen = {digests[digest] for digest in request.corpus.find_unknown_digests(sorted(digests))}
    pairs = []
    for original, changed in changes.items():
        if changed in unseen:
            unseen.discard(changed)
            pairs.append((original, changed))
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


_FULL_STOPS = (".", "。", "।", "۔", "։", "።")
ANSWER_SQL = f"CASE WHEN {selection.LENGTHS_SQL} AND {NO_QUOTES_SQL} AND tokens[-1] IN {_FULL_STOPS} THEN clauses END"
"""SQL for the spans of both clauses; NULL unless the sentence has 5 to 28 tokens, a full stop and no double quotes."""

_COLUMNS = "text, tags, clauses.first_start, clauses.first_end, clauses.second_start, clauses.second_end, clause_words"
_NAME_TAGS = frozenset(("NNP", "NNPS"))


class LongerClause(IntEnum):
    """The longer of two clauses, by number of tokens."""

    FIRST = 0
    SECOND = 1
    NEITHER = 2


@dataclass(frozen=True, slots=True)
class CoordinatedSentence:
    """The tokens of a sentence of two coordinated clauses. Clauses begin in lower case, except with a name or *I*."""

    before: Sequence[str]
    first: Sequence[str]
    between: Sequence[str]
    second: Sequence[str]
    after: Sequence[str]

    @property
    def longer(self) -> LongerClause:
        """The clause with more tokens."""
        if len(self.first) == len(self.second):
            return LongerClause.NEITHER
        return LongerClause.FIRST if len(self.first) > len(self.second) else LongerClause.SECOND


def select_coordination_inversion(request: selection.SelectionRequest) -> selection.Selection:
    """Return the items of CoordInv: both top clauses are in the original order (O) or inverted (I). Raises TooFewError.

    There are sentences with a longer first clause, with a longer second clause, and with clauses of equal length. In
    each split, half of the sentences of each kind are inverted. The kinds are equally frequent, unless the corpus has
    too few clauses of equal length.
    """
    pairs = _group_by_length(request)
    counts = {f"{longer.name.lower()} clause longer": len(pairs[longer]) for longer in LongerClause}
    requested = selection.compute_class_share(request.size, classes=6)
    unequal_pairs = min(len(pairs[LongerClause.FIRST]), len(pairs[LongerClause.SECOND]))
    # Half of the pairs give their original, half their inverted version: no sentence occurs in both orders.
    unequal = selection.scale_share(unequal_pairs // 2, requested)
    if unequal is None:
        raise selection.make_too_few_error(request.task, counts, needed=2 * len(requested))
    equal = selection.scale_share(len(pairs[LongerClause.NEITHER]) // 2, unequal) or dict.fromkeys(requested, 0)
    remaining = {longer: iter(length_pairs) for longer, length_pairs in pairs.items()}
    entries: list[Entry] = []
    for split, unequal_count in unequal.items():
        for longer in LongerClause:
            number = equal[split] if longer is LongerClause.NEITHER else unequal_count
            chosen = [next(remaining[longer]) for _ in range(2 * number)]
            entries += alternate_versions(chosen, split, labels=(ORIGINAL, INVERTED))
    notes = _describe_sizes(request, requested, unequal, equal)
    return selection.Selection((ORIGINAL, INVERTED), tuple(entries), notes, counts)


def _describe_sizes(
    request: selection.SelectionRequest,
    requested: selection.ClassShare,
    unequal: selection.ClassShare,
    equal: selection.ClassShare,
) -> tuple[str, ...]:
    notes = []
    if equal != unequal:
        notes.append(
            f"{2 * sum(equal.values()):,} sentences have clauses of equal length, fewer than "
            f"the {2 * sum(unequal.values()):,} with a longer first clause: the corpus has no more"
        )
    if not requested == unequal == equal:
        items = {split: 4 * n + 2 * equal[split] for split, n in unequal.items()}
        why = "both classes must have as many of each relation of lengths"
        notes.append(selection.format_scaled_note(request.size, items, why=why))
    return tuple(notes)


def _group_by_length(request: selection.SelectionRequest) -> dict[LongerClause, list[ChangedPair]]:
    pool = request.select_pool(
        f"SELECT digest, 0 AS label, 0 AS form FROM {selection.build_answered_rows_sql(ANSWER_SQL)}"
    )
    invertible: dict[str, CoordinatedSentence] = {}
    for text, tags, *spans, words in request.corpus.read_columns(pool.handles, _COLUMNS):
        parts = divide_sentence(text, tags, spans, words)
        # The rendered original must be the text itself: otherwise, spelling would tell originals from inverted ones.
        if parts is not None and render_sentence(parts, inverted=False) == text:
            invertible[text] = parts
    changes = {text: render_sentence(parts, inverted=True) for text, parts in invertible.items()}
    pairs: dict[LongerClause, list[ChangedPair]] = {longer: [] for longer in LongerClause}
    for original, changed in filter_new_pairs(request, changes):
        pairs[invertible[original].longer].append((original, changed))
    return pairs


def divide_sentence(
    text: str, tags: Sequence[str], spans: Sequence[int], words: Sequence[str] | None = None
) -> CoordinatedSentence | None:
    """Divide a sentence into two clauses; *spans* are the token indices (start 1, end 1, start 2, end 2).

    *words* has the first word of each clause, written as inside a sentence: *the* for *The*, but *Paris*. If *words*
    is None, *tags* decide whether these words are names. Return None if a word of the sentence is before the first
    clause or after the second, or if a clause has a double quote (its partner may be in the other clause). Also return
    None if the second clause begins with a word like *The*, since its capital letter would reveal the original order.
    """
    tokens = text.split(" ")
    start, end, second_start, second_end = spans
    before, after = tokens[:start], tokens[second_end:]
    clauses = [*tokens[start:end], *tokens[second_start:second_end]]
    if any(map(is_word, [*before, *after])) or not set(DOUBLE_QUOTES).isdisjoint(clauses):
        return None
    recased = list(tokens)
    recased[start], second_word = words or [_decapitalize(tokens[n], tags[n]) for n in (start, second_start)]
    # A capital letter after the conjunction would reveal the original order.
    if second_word != tokens[second_start]:
        return None
    first, second = recased[start:end], recased[second_start:second_end]
    return CoordinatedSentence(before, first, tokens[end:second_start], second, after)


def render_sentence(parts: CoordinatedSentence, *, inverted: bool) -> str:
    """Return the text of the sentence; with *inverted*, the second clause comes first."""
    first, second = (parts.second, parts.first) if inverted else (parts.first, parts.second)
    opening = (first[0][:1].upper() + first[0][1:], *first[1:])
    return " ".join((*parts.before, *opening, *parts.between, *second, *parts.after))


def _decapitalize(token: str, tag: str) -> str:
    """Return the first token of a sentence as it is written inside a sentence: *the* for *The*, but *I* for *I*."""
    if tag in _NAME_TAGS or token == "I" or token.startswith(("I'", "I’")):
        return token
    is_uppercase = len(token) > 1 and token.isupper()
    return token if is_uppercase else token[:1].lower() + token[1:]


COORDINV = NaturalTask(
    name="CoordInv",
    published="coordination_inversion",
    question_text="were the two coordinated clauses of s inverted?",
    classes="O (no), I (yes)",
    select_items=select_coordination_inversion,
    need=TableNeed.CLAUSES,
    labels={"coordinated clauses": ParseLabel("clauses", classes=False)},
    answer=ParseLabel(ANSWER_SQL, classes=False),
    may_answer=give_reason("the task is about the order of clauses", Cue.NGRAMS, Cue.TEMPLATE)
    | give_reason("the capital letter says which word is first; beat this figure", Cue.BAG),
)


def select_bigram_shift(request: selection.SelectionRequest) -> selection.Selection:
    """Return the items of BShift: two neighbouring words after the first token are swapped (I) or not (O)."""
    return select_changed_sentences(
        request,
        f"SELECT digest, 0 AS label, 0 AS form FROM sentences WHERE {selection.LENGTHS_SQL} AND {NO_QUOTES_SQL}",
        labels=(ORIGINAL, INVERTED),
        change=_swap_neighbours,
    )


def _swap_neighbours(text: str, rng: Random) -> str | None:
    tokens = text.split(" ")
    positions = []
    for n in range(1, len(tokens) - 1):
        left, right = tokens[n], tokens[n + 1]
        # The spelling would reveal the order: French l' stands only before some words, and -t-il after a verb.
        is_bound = any(token.endswith(("'", "’")) or token.startswith("-") for token in (left, right))
        if is_word(left) and is_word(right) and left.casefold() != right.casefold() and not is_bound:
            positions.append(n)
    if not positions:
        return None
    n = rng.choice(positions)
    tokens[n : n + 2] = tokens[n + 1], tokens[n]
    return " ".join(tokens)


BSHIFT = NaturalTask(
    name="BShift",
    published="bigram_shift",
    question_text="were two neighbouring tokens of s swapped?",
    classes="O (no), I (yes)",
    select_items=select_bigram_shift,
    may_answer=give_reason("the task is about words that stand together", Cue.NGRAMS, Cue.TEMPLATE),
)


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
    # Replacements are dealt to the splits as target words are, so a pool stands in whose forms are their ranks.
    ranks, zeros = np.array([rank for _, rank in replacements], np.int64), np.zeros(len(replacements), np.int64)
    pool = SentencePool(zeros.astype(np.uint64), zeros, ranks)
    split_numbers = selection.deal_forms(pool, classes=1, requested={split: 2 * n for split, n in requested.items()})
    dealt = {
        split: [replacement for replacement, n in zip(replacements, split_numbers, strict=True) if n == number]
        for number, split in enumerate(requested)
    }
    filled_share = min([1.0, *(len(dealt[split]) / (2 * n) for split, n in requested.items())])
    # As in selection.select_by_form: 49 * (1 / 49) is less than 1.
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
    # A fifth more than needed: some stay unused when words are dealt to the splits.
    needed = int(1.2 * sum(selection.compute_class_share(request.size, classes=2).values()) * 2)
    limit = int(_OVERSAMPLE * needed) + 1000
    while True:
        ((target_count,),) = request.corpus.query(_TARGETS_SQL.format(limit=limit), request.key)
        rows = request.corpus.query(_CHOICE_SQL.format(log=math.log(MAX_FREQUENCY_RATIO) + 1e-9), request.key)
        texts = request.corpus.read_texts(np.array([row[0] for row in rows], np.uint64))
        changes: dict[str, str] = {}
        ranks: dict[str, int] = {}
        for text, (_, position, word, rank) in zip(texts, rows, strict=True):
            tokens = text.split(" ")
            tokens[position] = word
            changes[text] = " ".join(tokens)
            ranks[text] = int(rank)
        pairs = filter_new_pairs(request, changes)
        replacements = [((original, changed), ranks[original]) for original, changed in pairs]
        # With fewer targets than the limit, the corpus has no more.
        if len(replacements) >= needed or target_count < limit:
            return replacements
        limit *= 4


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
    # DuckDB counts from 1 and includes the end: tokens[1:-2] is all but the last, the first words of all bigrams.
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

SOMO = NaturalTask(
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
