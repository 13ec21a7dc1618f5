"""The table of the checks of ``probe check``, and the review of results by these checks."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from sentprobe.display.table_writers import TableFormat, escape_markdown, format_records
from sentprobe.errors import escape_control_characters, format_count
from sentprobe.probes.language_models.pair_results import PairTables
from sentprobe.probes.report.tables.main_table import describe_differences, sort_results, split_settings
from sentprobe.probes.results.result import Results
from sentprobe.probes.review import significance_checks, training_checks
from sentprobe.probes.review.claim_finding import ClaimFinding, Severity
from sentprobe.probes.review.completeness_checks import find_incomplete
from sentprobe.probes.review.data_versions import find_machine_differences, find_version_differences
from sentprobe.probes.review.language_model_checks import PAIR_CHECKS, review_language_models
from sentprobe.values import group_by


@dataclass(frozen=True, slots=True)
class ClaimCheck:
    """A check of ``probe check``: its name, its question, and the function that finds problems."""

    name: str
    asks: str
    find: Callable[[Results], Iterable[ClaimFinding]]
    sees_all_results: bool = False
    """Whether ``find`` reads all results at once. Otherwise, it reads each table of ``probe show`` by itself."""


CHECKS = (
    ClaimCheck("complete", "is all there that the run asked for, unedited?", find_incomplete, sees_all_results=True),
    ClaimCheck(
        "controls", "are probes that cannot know the answer at chance?", significance_checks.find_failed_controls
    ),
    ClaimCheck("words", "is a bag of words as accurate?", significance_checks.find_bag_of_words_ties),
    ClaimCheck("positions", "are words at fixed places as accurate?", significance_checks.find_fixed_position_ties),
    ClaimCheck(
        "order", "are words with their positions as accurate?", significance_checks.find_words_and_positions_ties
    ),
    ClaimCheck("length", "is the length alone above chance?", training_checks.find_length_leaks),
    ClaimCheck("probe-words", "are the probe words alone as accurate?", significance_checks.find_memorised_words),
    ClaimCheck("chance", "are figures above chance?", significance_checks.find_near_chance),
    ClaimCheck("noise", "is the best significantly better than the others?", significance_checks.find_ties_with_best),
    ClaimCheck("repetitions", "are there enough draws and seeds?", training_checks.find_few_repetitions),
    ClaimCheck("seeds", "are all seeds of the series there?", training_checks.find_chosen_seeds),
    ClaimCheck("convergence", "did the training of the probes converge?", training_checks.find_unconverged),
    ClaimCheck("cut", "were sentences or vectors cut?", training_checks.find_cut_input),
    ClaimCheck("repeated", "are the test sentences new to the probes?", training_checks.find_repeated_sentences),
    ClaimCheck("machines", "do the rows share device, precision and versions?", find_machine_differences),
    ClaimCheck("data", "do all figures share data and classifier?", find_version_differences, sees_all_results=True),
)


@dataclass(frozen=True, slots=True)
class ClaimReview:
    """The findings of all checks, with severe findings first."""

    findings: tuple[ClaimFinding, ...]
    checks: int = len(CHECKS)
    """The number of checks that were run."""

    @property
    def has_severe_finding(self) -> bool:
        return self.count(Severity.SEVERE) > 0

    def count(self, severity: Severity) -> int:
        return sum(finding.severity is severity for finding in self.findings)


def review_results(results: Results, pair_tables: PairTables = ()) -> ClaimReview:
    """Run all checks on results of probes and language models; equal findings of several tables become one."""
    arranged = sort_results(results)
    tables = split_settings(arranged)
    titled = tuple(zip(describe_differences(tables), tables, strict=True))
    findings = [
        replace(finding, check=check.name, table=title)
        for check in CHECKS
        for title, part in ((("", arranged),) if check.sees_all_results else titled)
        for finding in check.find(part)
    ]
    severities = [*Severity]
    by_content = group_by(findings, lambda finding: replace(finding, table=""))
    merged = [
        replace(finding, table=" and ".join(member.table for member in alike)) for finding, alike in by_content.items()
    ]
    merged += review_language_models(pair_tables)
    count = len(CHECKS) * bool(results.records or not pair_tables) + (len(PAIR_CHECKS) + 1) * bool(pair_tables)
    return ClaimReview(tuple(sorted(merged, key=lambda finding: severities.index(finding.severity))), count)


def render_review(review: ClaimReview, style: TableFormat) -> str:
    """Return a review as plain text, Markdown or JSON."""
    if style is TableFormat.JSON:
        return format_records([finding.to_record() for finding in review.findings], style)
    is_markdown = style is TableFormat.MARKDOWN
    lines = _render_markdown(review) if is_markdown else map(escape_control_characters, _render_text(review))
    return "".join(f"{line}\n" for line in lines)


def summarize_review(review: ClaimReview) -> str:
    """Return the number of findings of each severity.

    >>> summarize_review(ClaimReview(()))
    '0 severe, 0 warnings, 0 notes, by 16 checks'
    """
    severe, warnings, notes = (review.count(severity) for severity in Severity)
    checks = format_count(review.checks, "check")
    return f"{severe} severe, {format_count(warnings, 'warning')}, {format_count(notes, 'note')}, by {checks}"


def _render_text(review: ClaimReview) -> Iterator[str]:
    for finding in review.findings:
        yield ": ".join(filter(None, (finding.severity, finding.check, finding.where)))
        yield f"  {finding.problem}"
        yield from (f"    {figure}" for figure in finding.figures)
        yield from (f"  Do: {finding.advice}", "")
    yield summarize_review(review)


def _render_markdown(review: ClaimReview) -> Iterator[str]:
    yield summarize_review(review)
    for severity in Severity:
        selected = [finding for finding in review.findings if finding.severity is severity]
        if selected:
            yield from ("", f"## {TITLES[severity]}", "")
        for finding in selected:
            where = f" ({escape_markdown(finding.where)})" if finding.where else ""
            yield f"- **{finding.check}**{where}: {escape_markdown(finding.problem)} {escape_markdown(finding.advice)}"
            yield from (f"  - {escape_markdown(figure)}" for figure in finding.figures)


TITLES = {Severity.SEVERE: "Severe", Severity.WARNING: "Warnings", Severity.NOTE: "Notes"}
