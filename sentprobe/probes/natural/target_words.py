"""Tasks about one word of a sentence: a word of middling frequency, each form in one split only."""

from collections import Counter
from collections.abc import Mapping, Sequence

from sentprobe.probes.corpus.queries import SentencePool
from sentprobe.probes.dataset import Split
from sentprobe.probes.known_task import AGREEING, TIED, Redundancy
from sentprobe.probes.natural import select

TARGET_BAND = select.Band(100, 5000)
"""Of the main verb (Tense) and of the head noun (SubjNum, ObjNum)."""

FULL_CORPUS = 75_000_000
"""Tokens from which on the band is that of the paper. Our choice: so scaled, the words asked about
are about as common in English as those of the published data."""

LEAST_HIGH = 30
"""The upper end of the band is no lower, however small the corpus: else too few items are left."""

LETTERS = r"\p{L}[\p{L}-]*"
"""Words that can be the target of a question: neither ``'s`` nor ``%``."""


def target_band(tokens: int) -> select.Band:
    """Return the band of the words that are asked about, in a corpus of so many tokens.

    >>> [str(target_band(tokens)) for tokens in (90_000_000, 7_500_000, 450_000, 5)]
    ['100-5000', '10-500', '1-30', '1-30']
    """
    band = TARGET_BAND.scaled(tokens, full=FULL_CORPUS)
    return select.Band(band.low, max(LEAST_HIGH, band.high))


def form_of(role: str) -> str:
    """Return in SQL the word that fills a role (verb, subject, object), in lower case."""
    return f"lower(tokens[{role}_index + 1])"


def can_be_asked(role: str) -> str:
    """Return in SQL that the word that fills a role can be asked about."""
    return f"regexp_full_match({form_of(role)}, '{LETTERS}')"


def target_selection(
    draw: select.Draw, role: str, *, answer: str, labels: tuple[str, ...], others: Redundancy
) -> select.Selection:
    """Return a task about the words in a role, of which *answer* is in SQL the label.

    *others* says which words of a sentence the one asked about may agree with.

    Raises:
        TooFewError: the words cannot be divided so that each split has some of each class.
    """
    band = draw.settings.band or target_band(draw.corpus.tokens)
    cases = " ".join(f"WHEN '{label}' THEN {n}" for n, label in enumerate(labels))
    pool = draw.pool(
        f"SELECT digest, CASE answer {cases} END AS label, rank AS form FROM "
        f"(SELECT digest, answer, {form_of(role)} AS word FROM {select.asked(answer)}) "
        f"JOIN {draw.corpus.frequencies} USING (word) WHERE n BETWEEN {band.low} AND {band.high}"
    )
    places, got = select.by_form(pool, labels, draw.size, task=draw.task)
    forms = _forms_at(draw, pool, places)
    why = f"{select.rarest(pool, labels)}, and no word may be in two splits"
    return select.Selection(
        labels,
        select.entries_at(draw, pool, places, labels=labels),
        (band_note(band), *select.size_notes(draw, got, classes=len(labels), why=why)),
        count_forms(forms) | _count_agreeing(draw, pool, places, labels, others),
        forms,
    )


def _count_agreeing(
    draw: select.Draw,
    pool: SentencePool,
    places: select.SplitPlaces,
    labels: Sequence[str],
    others: Redundancy,
) -> dict[str, int]:
    """Return in how many test items the answer is what most words say, or what as many do."""
    chosen = places[Split.TEST]
    tags = draw.corpus.columns(pool.handles[chosen], "tags")
    answers = (labels[label] for label in pool.labels[chosen])
    leads = [
        _lead(answer, [of for tag in found for of, said in others.tags.items() if tag in said])
        for answer, (found,) in zip(answers, tags, strict=True)
    ]
    return {AGREEING: sum(lead > 0 for lead in leads), TIED: leads.count(0)}


def _lead(answer: str, said: Sequence[str]) -> int:
    """Return by how many more words the answer is said than what else is said most often."""
    counts = Counter(said)
    ours = counts.pop(answer, 0)
    return ours - max(counts.values(), default=0)


def band_note(band: select.Band) -> str:
    """Return the note that says which frequencies the words have."""
    return f"words of corpus frequency {band.low:,} to {band.high:,}"


def _forms_at(
    draw: select.Draw, pool: SentencePool, places: select.SplitPlaces
) -> dict[Split, frozenset[str]]:
    """Return the words that the questions of each split are about."""
    ranks = {split: {int(rank) for rank in pool.forms[chosen]} for split, chosen in places.items()}
    words = draw.corpus.words(sorted(set().union(*ranks.values())))
    return {split: frozenset(words[rank] for rank in found) for split, found in ranks.items()}


def count_forms(forms: Mapping[Split, frozenset[str]]) -> dict[str, int]:
    """Return how many words each split asks about, for the card."""
    return {f"{split.value} words": len(words) for split, words in forms.items()}
