"""Sentences of which an encoder read the beginning alone, and vectors that were cut or rounded."""

from collections.abc import Iterator

from sentprobe.probes.report.asked_specs import asked_spec
from sentprobe.probes.report.draws import cells
from sentprobe.probes.report.variants import cuts_of
from sentprobe.probes.review.claim_finding import ClaimFinding, Severity
from sentprobe.probes.runs.results import Result, Results


def cut_input(table: Results) -> Iterator[ClaimFinding]:
    """Find encoders that did not read all of each sentence, and those whose vectors were cut."""
    yield from _truncated(table)
    yield from _cut(table)


def _truncated(table: Results) -> Iterator[ClaimFinding]:
    for draws in cells(table):
        most = max(draws, key=lambda each: each.truncated or 0)
        if most.truncated:
            sentences = sum(each.sentences for each in most.norms)
            yield ClaimFinding(
                severity=Severity.WARNING,
                says="The encoder read the beginning of some sentences only: what is asked of the "
                "rest it cannot know.",
                figures=(f"{most.truncated:,} of {sentences:,} different sentences",),
                advice="Raise the option max_length of the encoder as far as its model allows, or "
                "leave longer sentences out of the data for all encoders.",
                task=most.task,
                encoder=most.encoder,
                draw=str(most.seed) if len(draws) > 1 else "",
            )


def _cut(table: Results) -> Iterator[ClaimFinding]:
    found = {each.encoder: text for each in table.records if (text := _lost(each))}
    if found:
        yield ClaimFinding(
            severity=Severity.NOTE,
            says="Vectors were cut, rounded or without a property: the figures are of what "
            "is left of them.",
            figures=tuple(f"{encoder}: {text}" for encoder, text in found.items()),
            advice="Say so beside the name, and claim nothing of the whole vectors.",
            encoder=", ".join(found),
        )


def _lost(record: Result) -> str:
    spec = asked_spec(record)
    lost = [] if spec is None else cuts_of(spec)
    return ", ".join(f"{name}={value}" for name, value in lost)
