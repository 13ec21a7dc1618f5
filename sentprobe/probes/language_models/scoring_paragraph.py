"""The methods paragraph of a paper about language models on minimal pairs, from a results folder."""

from collections.abc import Iterator, Mapping, Sequence

from sentprobe.display.table_writers import TableFormat, format_title
from sentprobe.errors import format_count
from sentprobe.probes.language_models.pair_accuracies import CHANCE, PairResults, PairScores
from sentprobe.probes.language_models.scorers import DECIMALS, ScoreKind, ScoringMethod
from sentprobe.probes.report.findings.comparisons import CORRECTION_NAMES
from sentprobe.probes.report.paper.methods_paragraph import format_packages, join_words
from sentprobe.probes.report.references import SOFTWARE, Citation, Piece, write_with_citations

_MASKED = "pseudo-log-likelihoods: log probabilities of tokens that are masked one by one"
_WORDS = "log probabilities of words and of the sentence's end in a"
METHOD_TEXTS: Mapping[ScoringMethod, tuple[str, tuple[str, ...]]] = {
    ScoringMethod.CAUSAL: ("log probabilities of tokens given those before, from a start token on", ("wolf2020",)),
    ScoringMethod.CAUSAL_WITHOUT_START: ("log probabilities of tokens given at least one before", ("wolf2020",)),
    ScoringMethod.MASKED: (f"{_MASKED}, with the later tokens of the same word", ("salazar2020", "kauf2023")),
    ScoringMethod.MASKED_ALONE: (_MASKED, ("salazar2020",)),
    ScoringMethod.NGRAM: (f"{_WORDS} back-off n-gram model", ()),
    ScoringMethod.RECURRENT: (f"{_WORDS} recurrent network", ()),
    ScoringMethod.FUNCTION: ("numbers of a function", ()),
    ScoringMethod.FILE: ("numbers of a file", ()),
}
KIND_TEXTS: Mapping[ScoreKind, str] = {
    ScoreKind.SENTENCE: "their sum",
    ScoreKind.TOKEN: "their mean",
    ScoreKind.CRITICAL: "their sum from the first to the last changed word",
}
MOST_NAMES = 12
"""The most paradigms that the paragraph names."""


def write_pair_paragraph(table: PairResults) -> tuple[Piece, ...]:
    """Return the paragraph about the models on one set of pairs."""
    parts = (_describe_models, _describe_pairs, _describe_scores, _describe_baselines, _describe_tests, _describe_runs)
    return tuple(piece for part in parts for piece in part(table))


def _describe_models(table: PairResults) -> Iterator[Piece]:
    yield "With sentprobe"
    yield Citation((SOFTWARE,))
    names = [s.model if s.spec in ("", s.model) else f"{s.model} ({s.spec})" for s in table.scores]
    yield f" we scored minimal pairs of a grammatical and an ungrammatical sentence by {join_words(names)}. "


def _describe_pairs(table: PairResults) -> Iterator[Piece]:
    paradigms = [*dict.fromkeys(pair.paradigm for pair in table.pairs)]
    yield f"The {len(table.pairs):,} pairs are of {format_count(len(paradigms), 'paradigm')}"
    yield f" ({join_words(paradigms)})" if len(paradigms) <= MOST_NAMES else ""
    yield Citation(("warstadt2020",))
    sources = dict.fromkeys(scores.source for scores in table.scores if scores.source)
    yield f": {join_words([*sources], last='or')}. " if sources else ". "


def _describe_scores(table: PairResults) -> Iterator[Piece]:
    methods: dict[ScoringMethod, list[PairScores]] = {}
    for scores in table.scores:
        methods.setdefault(scores.method, []).append(scores)
    for method, members in methods.items():
        text, keys = METHOD_TEXTS[method]
        subject = f"Scores of {join_words([scores.model for scores in members])}" if len(methods) > 1 else "Scores"
        yield f"{subject} are {text}"
        yield from [Citation(keys)] if keys else []
        yield ". "
    yield f"A sentence's score is {KIND_TEXTS[table.kind]}, to {DECIMALS} decimals. "
    for scores in table.scores:
        yield f"{scores.describe_unknown()}. " if len(scores.unknown_rows) else ""


def _describe_baselines(table: PairResults) -> Iterator[Piece]:
    yield "Accuracy is the share of pairs whose grammatical sentence scores higher; "
    ties = [f"{scores.ties:,} of {scores.model}" for scores in table.scores if scores.ties]
    yield f"ties ({join_words(ties)}) count half. " if ties else "there are no ties. "
    yield (
        f"Chance is {100 * CHANCE:.1f} (in %). Word frequencies in the grammatical sentences of one half of the pairs "
        f"achieve {100 * float(table.frequency_answers.mean()):.1f} on the other half. "
    )


def _describe_tests(table: PairResults) -> Iterator[Piece]:
    yield "95% intervals are Wilson's"
    yield Citation(("wilson1927",))
    yield ", widened where grammatical sentences have the same words. "
    if count := len(table.comparisons):
        correction = f", corrected for {count} comparisons ({CORRECTION_NAMES[table.correction]})" if count > 1 else ""
        yield f"On each paradigm, models are compared by exact sign tests{correction}. "


def _describe_runs(table: PairResults) -> Iterator[Piece]:
    packages = format_packages([provenance.versions for provenance in table.provenances])
    devices = {provenance.device for provenance in table.provenances} - {""}
    yield f"Scores were computed with {join_words(packages)}" if packages else ""
    yield f" on {join_words(sorted(devices))}" if packages and devices else ""
    yield ". " if packages else ""


def write_pair_methods(tables: Sequence[PairResults], style: TableFormat) -> str:
    """Return a paragraph for each set of pairs and kind of score."""
    return "\n".join(
        format_title(title, style) + write_with_citations(write_pair_paragraph(table), style) + "\n"
        for title, table in zip(name_pair_tables(len(tables)), tables, strict=True)
    )


def name_pair_tables(count: int) -> list[str]:
    """Return the titles of the tables of language models.

    >>> name_pair_tables(1), name_pair_tables(2)
    (['language models'], ['language models, table 1 of 2', 'language models, table 2 of 2'])
    """
    return ["language models" + (f", table {number} of {count}" if count > 1 else "") for number in range(1, count + 1)]
