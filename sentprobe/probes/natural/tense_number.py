"""Tense, SubjNum and ObjNum, of the semantic tasks of Conneau et al. 2018, section 2."""

from collections.abc import Mapping

from sentprobe.probes.corpus.queries import SentencePool
from sentprobe.probes.dataset import Split
from sentprobe.probes.natural.select import (
    LENGTHS,
    TARGET_BAND,
    Band,
    Draw,
    Selection,
    SplitPlaces,
    by_form,
    entries_at,
    rarest,
    size_notes,
)

NUMBERS = ("NN", "NNS")
LETTERS = r"\p{L}[\p{L}-]*"
"""Words that can be the target of a question: neither ``'s`` nor ``%``."""


def tense(draw: Draw) -> Selection:
    """Return Tense: whether the main verb is VBP or VBZ (PRES), or VBD (PAST).

    The main verb is the finite verb of the main clause; its form has a corpus frequency in the
    band, and is in one split only.
    """
    labels = tuple(dict.fromkeys(TENSES.values()))
    cases = " ".join(f"WHEN '{tag}' THEN {labels.index(name)}" for tag, name in TENSES.items())
    return _with_target(
        draw,
        f"SELECT digest, CASE verb_tag {cases} END AS label, "
        "lower(tokens[verb_index + 1]) AS word FROM sentences "
        f"WHERE {LENGTHS} AND verb_tag IN {sql_strings(tuple(TENSES))}",
        labels=labels,
    )


def subject_number(draw: Draw) -> Selection:
    """Return SubjNum: whether the head of the main clause's subject is NN or NNS."""
    return _number(draw, "subject")


def object_number(draw: Draw) -> Selection:
    """Return ObjNum: whether the head of the main clause's direct object is NN or NNS."""
    return _number(draw, "object")


def _number(draw: Draw, role: str) -> Selection:
    """Return the task of a noun's number.

    Common nouns only, in the band, each form in one split. A phrase whose number is not that of its
    head, as in *a cat and a dog*, is left out.
    """
    return _with_target(
        draw,
        f"SELECT digest, CASE {role}_tag WHEN 'NNS' THEN 1 ELSE 0 END AS label, "
        f"lower(tokens[{role}_index + 1]) AS word FROM sentences WHERE {LENGTHS} AND "
        + number_condition(role),
        labels=NUMBERS,
    )


def number_condition(role: str) -> str:
    """Return in SQL that a role is filled by a common noun in a phrase of the noun's number."""
    return f"({role}_tag, {role}_number) IN (('NN', 'sg'), ('NNS', 'pl'))"


def sql_strings(texts: tuple[str, ...]) -> str:
    """Return texts without quotes in them as a list in SQL.

    >>> sql_strings(("VBP", "VBZ"))
    "('VBP', 'VBZ')"
    """
    return "(" + ", ".join(f"'{text}'" for text in texts) + ")"


def _with_target(draw: Draw, sql: str, *, labels: tuple[str, ...]) -> Selection:
    """Return a task about the words that *sql* selects (digest, label, word)."""
    band = draw.settings.band or TARGET_BAND.scaled(draw.corpus.tokens)
    pool = draw.pool(
        f"SELECT digest, label, rank AS form FROM ({sql}) "
        f"JOIN {draw.corpus.frequencies} USING (word) "
        f"WHERE n BETWEEN {band.low} AND {band.high} AND regexp_full_match(word, '{LETTERS}')"
    )
    places, got = by_form(pool, labels, draw.size, task=draw.task)
    forms = forms_at(draw, pool, places)
    why = f"{rarest(pool, labels)}, and no word may be in two splits"
    return Selection(
        labels,
        entries_at(draw, pool, places, labels=labels),
        (band_note(band), *size_notes(draw, got, classes=len(labels), why=why)),
        count_forms(forms),
        forms,
    )


def band_note(band: Band) -> str:
    """Return the note that says which frequencies the words have."""
    return f"words of corpus frequency {band.low:,} to {band.high:,}"


def forms_at(draw: Draw, pool: SentencePool, places: SplitPlaces) -> dict[Split, frozenset[str]]:
    """Return the words that the questions of each split are about."""
    ranks = {split: {int(rank) for rank in pool.forms[chosen]} for split, chosen in places.items()}
    words = draw.corpus.words(sorted(set().union(*ranks.values())))
    return {split: frozenset(words[rank] for rank in found) for split, found in ranks.items()}


def count_forms(forms: Mapping[Split, frozenset[str]]) -> dict[str, int]:
    """Return how many words each split asks about, for the card."""
    return {f"{split.value} words": len(words) for split, words in forms.items()}


TENSES = {"VBP": "PRES", "VBZ": "PRES", "VBD": "PAST"}
"""The tense that a main verb's tag shows; other tags show none."""
