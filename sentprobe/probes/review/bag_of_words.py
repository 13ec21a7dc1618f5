"""Encoders that know no more than a bag of words does, where words alone tell something."""

from collections.abc import Iterator

from sentprobe.probes.known_task import ABOUT_WORDS, Cue
from sentprobe.probes.report.marks import told_by_words
from sentprobe.probes.review.beyond_control import against, no_better
from sentprobe.probes.review.claim_finding import ClaimFinding, Severity
from sentprobe.probes.runs.results import Condition, Results
from sentprobe.probes.suites import expected


def only_words(table: Results) -> Iterator[ClaimFinding]:
    """Find the encoders that the paired test does not find above the bag of words of their width.

    It is grave but where the task asks which words there are: there words are what it is about.
    """
    for task, compared in no_better(table, told_by_words(table), Condition.BAG_OF_WORDS):
        about_words = expected(task, Cue.BAG) == ABOUT_WORDS
        yield ClaimFinding(
            severity=Severity.NOTE if about_words else Severity.GRAVE,
            says="A bag of random word vectors knows as much, as far as the paired test tells"
            + (", and the task asks which words there are." if about_words else "."),
            figures=tuple(against(each, Condition.BAG_OF_WORDS) for each in compared),
            advice="Say that any encoder of this width that keeps the words would do as well."
            if about_words
            else "Claim nothing here beyond the words, or use a task that words cannot answer "
            "(mirror pairs).",
            task=task,
            encoder=", ".join(each.first.encoder for each in compared),
        )
