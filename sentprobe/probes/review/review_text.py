"""A review as text, Markdown, or records."""

from collections.abc import Iterator

from sentprobe.display.table_writers import TableFormat, escape_markdown, format_records
from sentprobe.errors import escape_control_characters, format_count
from sentprobe.probes.review.checks import CHECKS, ClaimReview
from sentprobe.probes.review.claim_finding import Severity


def render_review(review: ClaimReview, style: TableFormat) -> str:
    """Render a review in one of the three formats."""
    if style is TableFormat.JSON:
        return format_records([finding.to_record() for finding in review.findings], style)
    write = _render_markdown if style is TableFormat.MARKDOWN else _render_text
    return "".join(f"{line}\n" for line in write(review))


def summarize_review(review: ClaimReview) -> str:
    """Return the number of findings of each severity.

    >>> summarize_review(ClaimReview(()))
    '0 severe, 0 warnings, 0 notes, by 11 checks'
    """
    severe, warnings, notes = (review.count(severity) for severity in Severity)
    checks = format_count(len(CHECKS), "check")
    return f"{severe} severe, {format_count(warnings, 'warning')}, {format_count(notes, 'note')}, by {checks}"


def _render_text(review: ClaimReview) -> Iterator[str]:
    for finding in review.findings:
        where = f": {finding.where}" if finding.where else ""
        yield escape_control_characters(f"{finding.severity}: {finding.check}{where}")
        yield f"  {escape_control_characters(finding.problem)}"
        yield from (f"    {escape_control_characters(figure)}" for figure in finding.figures)
        yield f"  Do: {escape_control_characters(finding.advice)}"
        yield ""
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
