"""The checks of the sentences: repeated in training, or truncated; and of reduced vectors."""

from collections.abc import Iterator

from sentprobe.probes.report.findings.draws import group_by_cell
from sentprobe.probes.report.findings.encoder_variants import find_reductions, find_requested_spec
from sentprobe.probes.results.result import Result, Results
from sentprobe.probes.review.claim_finding import ClaimFinding, Severity


def find_cut_input(table: Results) -> Iterator[ClaimFinding]:
    """Find encoders that truncated sentences, and encoders whose vectors were reduced."""
    yield from _find_truncated(table)
    yield from _find_reduced_vectors(table)


def _find_truncated(table: Results) -> Iterator[ClaimFinding]:
    for draws in group_by_cell(table):
        worst = max(draws, key=lambda result: result.truncated or 0)
        if worst.truncated:
            sentences = sum(norm.sentences for norm in worst.norms)
            yield ClaimFinding(
                severity=Severity.WARNING,
                problem="The encoder read the beginning of some sentences only: it cannot know the "
                "answer to questions about the rest.",
                figures=(f"{worst.truncated:,} of {sentences:,} different sentences",),
                advice="Raise the option max_length of the encoder as far as its model allows, or "
                "leave longer sentences out of the data for all encoders.",
                task=worst.task,
                encoder=worst.encoder,
                draw=str(worst.seed) if len(draws) > 1 else "",
            )


def _find_reduced_vectors(table: Results) -> Iterator[ClaimFinding]:
    reduced = {record.encoder: text for record in table.records if (text := _describe_reductions(record))}
    if reduced:
        yield ClaimFinding(
            severity=Severity.NOTE,
            problem="Vectors were cut, rounded or without a property: the figures describe only the reduced vectors.",
            figures=tuple(f"{encoder}: {text}" for encoder, text in reduced.items()),
            advice="Say so beside the name, and claim nothing about the whole vectors.",
            encoder=", ".join(reduced),
        )


def _describe_reductions(record: Result) -> str:
    spec = find_requested_spec(record)
    reductions = [] if spec is None else find_reductions(spec)
    return ", ".join(f"{name}={value}" for name, value in reductions)


def find_repeated_sentences(table: Results) -> Iterator[ClaimFinding]:
    """Find the tasks whose training items have sentences of test items, in any draw."""
    for task in table.tasks:
        facts = [record.data for record in table.records if record.task == task and record.data is not None]
        overlaps = [data.overlap for data in facts if data.overlap.has_near_copies]
        if not overlaps:
            continue
        worst = max(overlaps, key=lambda overlap: (overlap.is_leaky, overlap.repeated + overlap.inflected))
        yield ClaimFinding(
            severity=Severity.SEVERE if worst.is_leaky else Severity.WARNING,
            problem="Training has sentences of the test items: a probe may remember their answers."
            if worst.is_leaky
            else "Training has sentences that are nearly those of test items: a probe may remember their answers.",
            figures=(worst.format_repeated(), worst.format_inflected()),
            advice="Put equal sentences, and those with the same lemmas, into the same split.",
            task=task,
        )
