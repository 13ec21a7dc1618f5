"""Encoders on other versions of a task's data, or under other classifiers, than others."""

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations

from sentprobe.probes.report.data_lines import DIGITS
from sentprobe.probes.report.tables import settings
from sentprobe.probes.review.claim_finding import ClaimFinding, Severity
from sentprobe.probes.runs.results import Result, Results
from sentprobe.probes.trainer.presets import short_name


def other_versions(results: Results) -> Iterator[ClaimFinding]:
    """Find the tasks on which some encoders can only be compared across versions of the data.

    That is, across two tables of ``probe show``; so too across classifiers.
    """
    tables = settings(results)
    for task in results.tasks:
        here = [[each for each in table.records if each.task == task] for table in tables]
        there = [records for records in here if records]
        yield from _unlike(task, there, _digest, "versions of the data", same=_drawn_alike)
        yield from _unlike(task, there, _classifier, "classifiers")
        yield from _unknown(task, there)
    yield from _namesakes(results)


def _namesakes(results: Results) -> Iterator[ClaimFinding]:
    """Find the names that stand for several encoders, which are no draws of one."""
    for name in results.encoders:
        records = [each for each in results.records if each.encoder == name]
        found = {(each.encoder_fingerprint, each.encoder_seed) for each in records}
        if len({fingerprint for fingerprint, _ in found}) > len({seed for _, seed in found}):
            yield ClaimFinding(
                severity=Severity.WARNING,
                says="This name stands for different encoders: another model or file, or other "
                "options.",
                figures=tuple(sorted(fingerprint[:DIGITS] for fingerprint, _ in found)),
                advice="Give each a name of its own with name=, and say which is meant.",
                encoder=name,
            )


def _never(one: Result, other: Result) -> bool:  # noqa: ARG001
    return False


def _unlike(
    task: str,
    tables: Sequence[Sequence[Result]],
    of: Callable[[Result], str],
    what: str,
    *,
    same: Callable[[Result, Result], bool] = _never,
) -> Iterator[ClaimFinding]:
    firsts = [table[0] for table in tables]
    apart = [(a, b) for a, b in combinations(firsts, 2) if of(a) != of(b) and not same(a, b)]
    if not apart:
        return
    names = [{each.encoder for each in table} for table in tables]
    every = all(each == names[0] for each in names)
    yield ClaimFinding(
        severity=Severity.NOTE if every else Severity.GRAVE,
        says=f"There are figures of different {what}, "
        + (
            "in tables of their own, each with all encoders."
            if every
            else "and not every encoder has one of each: no difference between them is the "
            "encoders' alone."
        ),
        figures=tuple(
            f"{of(table[0])}: {', '.join(dict.fromkeys(each.encoder for each in table))}"
            for table in tables
        ),
        advice="Compare within a table of probe show only."
        if every
        else "Run all encoders on one of them.",
        task=task,
    )


def _digest(record: Result) -> str:
    facts = record.data
    seed = "" if facts is None or facts.seed is None else f", seed {facts.seed}"
    sizes = "" if facts is None else f" ({facts.train:,} training, {facts.test:,} test items{seed})"
    return f"{record.dataset_fingerprint[:DIGITS]}{sizes}"


def _classifier(record: Result) -> str:
    return short_name(record.preset)


def _drawn_alike(one: Result, other: Result) -> bool:
    """Say whether two datasets are draws of one, of which some lack encoders still."""
    return one.data is not None and other.data is not None and one.data.same_but_drawn(other.data)


def _unknown(task: str, tables: Sequence[Sequence[Result]]) -> Iterator[ClaimFinding]:
    records = [each for table in tables for each in table]
    if any(each.data is None for each in records):
        yield ClaimFinding(
            severity=Severity.NOTE,
            says="What the data was made of is not recorded: it is known by its digest alone.",
            figures=tuple(dict.fromkeys(each.dataset_fingerprint[:DIGITS] for each in records)),
            advice="Run the same command again: it adds to the files what they lack.",
            task=task,
        )
    for note in dict.fromkeys(note for each in records for note in each.notes):
        yield ClaimFinding(
            severity=Severity.NOTE,
            says=f"The card of the data says: {note}",
            advice="Say so where the figures stand.",
            task=task,
        )
