"""Items about one word of a sentence, such as its main verb. No word is rare, very frequent, or in two splits."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import product

from sentprobe.probes.corpus.queries import SentencePool
from sentprobe.probes.dataset import Split
from sentprobe.probes.known_task import AGREEING, TIED, Redundancy
from sentprobe.probes.natural import selection

TARGET_BAND = selection.FrequencyBand(100, 5000)
"""The paper's corpus frequencies of main verbs (Tense) and head nouns (SubjNum, ObjNum)."""
FULL_CORPUS = 75_000_000
"""Number of tokens from which TARGET_BAND applies unchanged. Our choice: with this scale, target words are about as
common in English as those of the published data."""
MIN_BAND_HIGH = 30
"""Minimum of a band's upper end; if that end were lower, a small corpus would give too few items."""

WORD_PATTERN = r"\p{L}[\p{L}\p{M}\x{200c}\x{200d}·-]*"
"""Pattern of words that can be targets: letters, with joiners (Persian) or dots (Catalan), but not ``'s`` or ``%``."""


def compute_target_band(tokens: int) -> selection.FrequencyBand:
    """Return the frequency band of target words, scaled to a corpus of *tokens* tokens.

    >>> [str(compute_target_band(tokens)) for tokens in (90_000_000, 7_500_000, 450_000, 5)]
    ['100-5000', '10-500', '1-30', '1-30']
    """
    band = TARGET_BAND.scale(tokens, full_tokens=FULL_CORPUS)
    return selection.FrequencyBand(band.low, max(MIN_BAND_HIGH, band.high))


def build_form_sql(role: str) -> str:
    """Return SQL for the word in a role (``verb``, ``subject`` or ``object``), in lower case."""
    return f"lower(tokens[{role}_index + 1])"


def build_askable_sql(role: str) -> str:
    """Return SQL that is true if the word in *role* can be a target word: it matches WORD_PATTERN."""
    return f"regexp_full_match({build_form_sql(role)}, '{WORD_PATTERN}')"


def select_target_words(
    request: selection.SelectionRequest, role: str, *, answer: str, labels: tuple[str, ...], redundancy: Redundancy
) -> selection.Selection:
    """Return items about the word in *role*, labelled by the SQL *answer*. Raises TooFewError."""
    band = request.settings.band or compute_target_band(request.corpus.token_count)
    cases = " ".join(f"WHEN '{label}' THEN {n}" for n, label in enumerate(labels))
    pool = request.select_pool(
        "SELECT digest, label, rank AS form FROM "
        f"(SELECT digest, CASE answer {cases} END AS label, {build_form_sql(role)} AS word FROM "
        f"{selection.build_answered_rows_sql(answer)}) "
        f"JOIN {request.corpus.frequency_table} USING (word) "
        f"WHERE label IS NOT NULL AND n BETWEEN {band.low} AND {band.high}"
    )
    indices, share = selection.select_by_form(pool, labels, request.size, task=request.task)
    ranks = {split: {int(rank) for rank in pool.forms[chosen]} for split, chosen in indices.items()}
    words = request.corpus.find_words(sorted(set().union(*ranks.values())))
    forms = {split: frozenset(words[rank] for rank in split_ranks) for split, split_ranks in ranks.items()}
    why = f"{selection.describe_rarest_class(pool, labels)}, and no word may be in two splits"
    return selection.Selection(
        labels,
        selection.read_entries(request, pool, indices, labels=labels),
        (format_band_note(band), *selection.describe_size(request, share, classes=len(labels), why=why)),
        count_forms(forms) | _count_agreeing(request, pool, indices, labels, redundancy),
        forms,
    )


def _count_agreeing(
    request: selection.SelectionRequest,
    pool: SentencePool,
    indices: selection.SplitIndices,
    labels: Sequence[str],
    redundancy: Redundancy,
) -> dict[str, int]:
    """Count test items whose answer is the commonest label of the sentence's words (AGREEING) or tied for it (TIED)."""
    if Split.TEST not in indices:
        return {}
    chosen = indices[Split.TEST]
    sentences = request.corpus.read_columns(pool.handles[chosen], "tags")
    leads: list[int] = []
    for answer, (tags_of_sentence,) in zip((labels[label] for label in pool.labels[chosen]), sentences, strict=True):
        pairs = product(tags_of_sentence, redundancy.tags.items())
        leads.append(_compute_lead(answer, [label for tag, (label, tags) in pairs if has_any_tag(tag, tags)]))
    return {AGREEING: sum(lead > 0 for lead in leads), TIED: leads.count(0)}


def has_any_tag(tag: str, label_tags: Sequence[str]) -> bool:
    """Return whether a token has a word whose tag contains all parts of at least one of *label_tags*.

    *tag* consists of the tags of the token's words, joined by ``+``. The parts of a word's tag are joined by ``|``.

    >>> has_any_tag("AUX|Mood=Ind|Tense=Past|VerbForm=Fin+PART", ("VBD", "Mood=Ind|Tense=Past"))
    True
    """
    words = [set(word_tag.split("|")) for word_tag in tag.split("+")]
    return any(word.issuperset(label_tag.split("|")) for label_tag in label_tags for word in words)


def _compute_lead(answer: str, word_labels: Sequence[str]) -> int:
    """Return the number of words with the label *answer* minus the number with the commonest other label."""
    counts = Counter(word_labels)
    return counts.pop(answer, 0) - max(counts.values(), default=0)


def format_band_note(band: selection.FrequencyBand) -> str:
    """Return the note for the card that states the frequency band."""
    return f"words of corpus frequency {band.low:,} to {band.high:,}"


def count_forms(forms: Mapping[Split, frozenset[str]]) -> dict[str, int]:
    """Return the number of target words of each split, for the card."""
    return {f"{split.value} words": len(words) for split, words in forms.items()}
