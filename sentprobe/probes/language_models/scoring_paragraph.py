"""Write the methods paragraph of a paper that scores minimal pairs with language models."""

from collections.abc import Iterator, Mapping, Sequence

from sentprobe.display.table_writers import TableFormat, format_title
from sentprobe.errors import format_count
from sentprobe.probes.language_models.pair_accuracies import CHANCE, PairResults
from sentprobe.probes.language_models.scorers import DECIMALS, ScoreKind, ScoringMethod
from sentprobe.probes.report.findings.comparisons import CORRECTION_NAMES
from sentprobe.probes.report.paper.methods_paragraph import format_packages, join_words
from sentprobe.probes.report.references import SOFTWARE, Citation, Piece, write_with_citations
from sentprobe.values import group_by

METHOD_PAPERS: Mapping[ScoringMethod, tuple[str, ...]] = {
    ScoringMethod.CAUSAL: ("wolf2020",),
    ScoringMethod.CAUSAL_WITHOUT_START: ("wolf2020",),
    ScoringMethod.MASKED: ("salazar2020", "kauf2023"),
    ScoringMethod.MASKED_ALONE: ("salazar2020",),
}
KIND_TEXTS: Mapping[ScoreKind, str] = {
    ScoreKind.SENTENCE: "their sum",
    ScoreKind.TOKEN: "their mean",
    ScoreKind.CRITICAL: "their sum from the first to the last changed word",
}
MAX_LISTED_PARADIGMS = 12
"""The maximum number of paradigms that the paragraph lists by name."""


def write_pair_paragraph(table: PairResults) -> tuple[Piece, ...]:
    """Return the paragraph on one set of pairs and the models that scored it."""
    parts = (_describe_pairs, _describe_scores, _describe_accuracies)
    return tuple(piece for part in parts for piece in part(table))


def _describe_pairs(table: PairResults) -> Iterator[Piece]:
    yield from ("With sentprobe", Citation((SOFTWARE,)))
    names = [s.model if s.spec in ("", s.model) else f"{s.model} ({s.spec})" for s in table.scores]
    yield f" we scored minimal pairs of a grammatical and an ungrammatical sentence by {join_words(names)}. "
    paradigms = [*dict.fromkeys(pair.paradigm for pair in table.pairs)]
    yield f"The {len(table.pairs):,} pairs are from {format_count(len(paradigms), 'paradigm')}"
    yield f" ({join_words(paradigms)})" if len(paradigms) <= MAX_LISTED_PARADIGMS else ""
    yield Citation(("warstadt2020",))
    sources = dict.fromkeys(scores.source for scores in table.scores if scores.source)
    yield f": {join_words([*sources], last='or')}. " if sources else ". "


def _describe_scores(table: PairResults) -> Iterator[Piece]:
    methods = group_by(table.scores, lambda scores: scores.method)
    for method, members in methods.items():
        subject = f"Scores of {join_words([scores.model for scores in members])}" if len(methods) > 1 else "Scores"
        yield f"{subject} are {method}"
        yield from [Citation(METHOD_PAPERS[method])] if method in METHOD_PAPERS else []
        yield ". "
    if any(method is not ScoringMethod.FILE for method in methods):
        yield f"A sentence's score is {KIND_TEXTS[table.kind]}, to {DECIMALS} decimals. "
    for scores in table.scores:
        yield f"{scores.describe_unknown()}. " if len(scores.unknown_rows) else ""
    packages = format_packages([provenance.versions for provenance in table.provenances])
    devices = sorted({provenance.device for provenance in table.provenances} - {""})
    device = f" on {join_words(devices)}" if devices else ""
    yield f"Scores were computed{device} with {join_words(packages)}. " if packages else ""


def _describe_accuracies(table: PairResults) -> Iterator[Piece]:
    ties = [f"{scores.ties:,} of {scores.model}" for scores in table.scores if scores.ties]
    yield "Accuracy is the share of pairs whose grammatical sentence scores higher; "
    yield f"ties ({join_words(ties)}) count half. " if ties else "there are no ties. "
    yield (
        f"Chance is {100 * CHANCE:.1f} (in %). Word frequencies of one half of a paradigm's grammatical sentences "
        f"achieve {100 * float(table.frequency_answers.mean()):.1f} on the other half. 95% intervals are Wilson's"
    )
    yield Citation(("wilson1927",))
    yield ", widened where grammatical sentences have the same words. "
    if count := len(table.comparisons):
        correction = f", corrected for {count} comparisons ({CORRECTION_NAMES[table.correction]})" if count > 1 else ""
        yield f"On each paradigm, models are compared by exact sign tests{correction}. "


def write_pair_methods(tables: Sequence[PairResults], style: TableFormat) -> str:
    """Return a title and a paragraph for each table, as text in a format."""
    return "\n".join(
        format_title(title, style) + write_with_citations(write_pair_paragraph(table), style) + "\n"
        for title, table in zip(name_pair_tables(len(tables)), tables, strict=True)
    )


def name_pair_tables(count: int) -> list[str]:
    """Return the titles of *count* tables, such as "language models, table 1 of 2"."""
    return ["language models" + (f", table {number} of {count}" if count > 1 else "") for number in range(1, count + 1)]
