"""A review as text, Markdown, or records."""

from collections.abc import Iterator, Sequence

from sentprobe.errors import visible
from sentprobe.probes.review.checks import CHECKS, ClaimReview
from sentprobe.probes.review.claim_finding import ClaimFinding, Severity
from sentprobe.table_writers import TableFormat, in_markdown, write_records


def write_review(found: ClaimReview, style: TableFormat) -> str:
    """Return a review in one of the three formats."""
    if style is TableFormat.JSON:
        return write_records([each.to_record() for each in found.findings], style)
    write = _in_markdown if style is TableFormat.MARKDOWN else _in_text
    return "".join(f"{line}\n" for line in write(found))


def summary(found: ClaimReview) -> str:
    """Say how many findings there are of each severity.

    >>> summary(ClaimReview(()))
    '0 grave, 0 warnings, 0 notes, by 10 checks'
    """
    grave, warnings, notes = (found.count(severity) for severity in Severity)
    return f"{grave} grave, {_count(warnings, 'warning')}, {_count(notes, 'note')}, by {_checks()}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _checks() -> str:
    return _count(len(CHECKS), "check")


def _in_text(found: ClaimReview) -> Iterator[str]:
    for each in found.findings:
        yield visible(_head(each))
        yield f"  {visible(each.says)}"
        yield from (f"    {visible(figure)}" for figure in each.figures)
        yield f"  Do: {visible(each.advice)}"
        yield ""
    yield summary(found)


def _head(finding: ClaimFinding) -> str:
    return f"{finding.severity}: {finding.check}" + (finding.where and f": {finding.where}")


def _in_markdown(found: ClaimReview) -> Iterator[str]:
    yield summary(found)
    for severity in Severity:
        some = [each for each in found.findings if each.severity is severity]
        if some:
            yield from ("", f"## {TITLES[severity]}", "")
            yield from _list(some)


TITLES = {Severity.GRAVE: "Grave", Severity.WARNING: "Warnings", Severity.NOTE: "Notes"}


def _list(findings: Sequence[ClaimFinding]) -> Iterator[str]:
    for each in findings:
        where = f" ({in_markdown(each.where)})" if each.where else ""
        yield f"- **{each.check}**{where}: {in_markdown(each.says)} {in_markdown(each.advice)}"
        yield from (f"  - {in_markdown(figure)}" for figure in each.figures)
