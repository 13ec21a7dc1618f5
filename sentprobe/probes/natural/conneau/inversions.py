"""Tasks CoordInv and BShift of Conneau et al. 2018, section 2.

CoordInv exchanges two clauses, BShift two neighbouring tokens.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from random import Random

from sentprobe.probes.formats.entries import Entry
from sentprobe.probes.known_task import Cue, give_reason
from sentprobe.probes.natural import changed_sentences as pairing
from sentprobe.probes.natural import selection
from sentprobe.probes.natural.natural_task import NaturalTask, ParseLabel, TableNeed

_FULL_STOPS = (".", "。", "।", "۔", "։", "።")
ANSWER_SQL = (
    f"CASE WHEN {selection.LENGTHS_SQL} AND {pairing.NO_QUOTES_SQL} AND tokens[-1] IN {_FULL_STOPS} THEN clauses END"
)
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
            entries += pairing.alternate_versions(chosen, split, labels=(pairing.ORIGINAL, pairing.INVERTED))
    notes = _describe_sizes(request, requested, unequal, equal)
    return selection.Selection((pairing.ORIGINAL, pairing.INVERTED), tuple(entries), notes, counts)


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


def _group_by_length(request: selection.SelectionRequest) -> dict[LongerClause, list[pairing.ChangedPair]]:
    pool = request.select_pool(
        f"SELECT digest, 0 AS label, 0 AS form FROM {selection.build_answered_rows_sql(ANSWER_SQL)}"
    )
    invertible: dict[str, CoordinatedSentence] = {}
    for text, tags, *spans, words in request.corpus.read_columns(pool.handles, _COLUMNS):
        parts = divide_sentence(text, tags, spans, words)
        if parts is not None and render_sentence(parts, inverted=False) == text:
            invertible[text] = parts
    changes = {text: render_sentence(parts, inverted=True) for text, parts in invertible.items()}
    pairs: dict[LongerClause, list[pairing.ChangedPair]] = {longer: [] for longer in LongerClause}
    for pair in pairing.filter_new_pairs(request, changes):
        pairs[invertible[pair.original].longer].append(pair)
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
    if any(map(pairing.is_word, [*before, *after])) or not set(pairing.DOUBLE_QUOTES).isdisjoint(clauses):
        return None
    recased = list(tokens)
    recased[start], second_word = words or [_decapitalize(tokens[n], tags[n]) for n in (start, second_start)]
    # A capital letter after the conjunction would reveal the original order.
    if second_word != tokens[second_start]:
        return None
    first, second = recased[start:end], recased[second_start:second_end]
    return CoordinatedSentence(before, first, tokens[end:second_start], second, after)


def render_sentence(parts: CoordinatedSentence, *, inverted: bool) -> str:
    """Return the text of the sentence; with *inverted*, the second clause comes first.

    >>> parts = CoordinatedSentence((), ("he", "left"), (",", "and"), ("I", "stayed"), (".",))
    >>> render_sentence(parts, inverted=False), render_sentence(parts, inverted=True)
    ('He left , and I stayed .', 'I stayed , and he left .')
    """
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
    return pairing.select_changed_sentences(
        request,
        "SELECT digest, 0 AS label, 0 AS form FROM sentences "
        f"WHERE {selection.LENGTHS_SQL} AND {pairing.NO_QUOTES_SQL}",
        labels=(pairing.ORIGINAL, pairing.INVERTED),
        change=_swap_neighbours,
    )


def _swap_neighbours(text: str, rng: Random) -> str | None:
    tokens = text.split(" ")
    positions = [n for n in range(1, len(tokens) - 1) if _can_swap(tokens[n], tokens[n + 1])]
    if not positions:
        return None
    n = rng.choice(positions)
    tokens[n : n + 2] = tokens[n + 1], tokens[n]
    return " ".join(tokens)


def _can_swap(left: str, right: str) -> bool:
    # The spelling would reveal the order: French l' stands only before some words, and -t-il after a verb.
    is_bound = any(token.endswith(("'", "’")) or token.startswith("-") for token in (left, right))
    return pairing.is_word(left) and pairing.is_word(right) and left.casefold() != right.casefold() and not is_bound


BSHIFT = NaturalTask(
    name="BShift",
    published="bigram_shift",
    question_text="were two neighbouring tokens of s swapped?",
    classes="O (no), I (yes)",
    select_items=select_bigram_shift,
    may_answer=give_reason("the task is about words that stand together", Cue.NGRAMS, Cue.TEMPLATE),
)
