"""The table of the checks of ``probe check``, and the review of results by these checks.

Checks whether compared results differ in data, classifier, precision, device or software versions.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from sentprobe.common.errors import escape_control_characters, format_count
from sentprobe.common.tables import TableFormat, escape_markdown, format_records
from sentprobe.common.values import group_by
from sentprobe.probes.classifier.presets import format_preset_name
from sentprobe.probes.classifier.probe import Precision
from sentprobe.probes.language_models.pair_results import PairTables
from sentprobe.probes.reports.tables.main_table import describe_differences, sort_results, split_settings
from sentprobe.probes.reports.tables.notes import describe_missing_cells
from sentprobe.probes.reports.tables.table_notes import DIGEST_LENGTH
from sentprobe.probes.results.draws import are_drawn_alike, find_missing_cells
from sentprobe.probes.results.result import Condition, Result, Results, find_provenances
from sentprobe.probes.review import significance_checks, training_checks
from sentprobe.probes.review.claim_finding import ClaimFinding, Severity
from sentprobe.probes.review.significance_checks import PAIR_CHECKS, review_language_models
from sentprobe.probes.review.training_checks import find_incomplete


def find_version_differences(results: Results) -> Iterator[ClaimFinding]:
    """Find tasks with different data or classifiers, names that two encoders share, and encoders that lack draws."""
    tables = split_settings(results)
    for task in results.tasks:
        by_table = [[record for record in table.records if record.task == task] for table in tables]
        on_task = [records for records in by_table if records]
        yield from _find_differences(task, on_task, _describe_data, "versions of the data", is_same=are_drawn_alike)
        yield from _find_differences(task, on_task, lambda result: format_preset_name(result.preset), "classifiers")
        yield from _find_unrecorded(task, on_task)
    yield from _find_namesakes(results)
    yield from _find_unequal_draws(tables)


def _find_namesakes(results: Results) -> Iterator[ClaimFinding]:
    for name, records in group_by(results.records, lambda record: record.encoder).items():
        fingerprints = {(record.encoder_fingerprint, record.encoder_seed) for record in records}
        if len({fingerprint for fingerprint, _ in fingerprints}) > len({seed for _, seed in fingerprints}):
            yield ClaimFinding(
                severity=Severity.WARNING,
                problem="This name stands for different encoders: another model or file, or other options.",
                figures=tuple(sorted(fingerprint[:DIGEST_LENGTH] for fingerprint, _ in fingerprints)),
                advice="Give every encoder its own name with name=, and say which encoder you mean.",
                encoder=name,
            )


def _find_unequal_draws(tables: Sequence[Results]) -> Iterator[ClaimFinding]:
    notes = [
        note
        for table, missing in zip(tables, find_missing_cells(tables), strict=True)
        for note in describe_missing_cells(table, missing)
    ]
    if notes:
        yield ClaimFinding(
            severity=Severity.WARNING,
            problem="Some encoders or tasks lack draws: the run is unfinished, or the seeds differ.",
            figures=tuple(notes),
            advice="Run all encoders with the same --seed and --draws. Existing results are reused.",
        )


def _find_differences(
    task: str,
    tables: Sequence[Sequence[Result]],
    describe: Callable[[Result], str],
    subject: str,
    *,
    is_same: Callable[[Result, Result], bool] = lambda first, second: False,  # noqa: ARG005
) -> Iterator[ClaimFinding]:
    firsts = [table[0] for table in tables]
    differing = [(a, b) for a, b in combinations(firsts, 2) if describe(a) != describe(b) and not is_same(a, b)]
    if not differing:
        return
    names = [{record.encoder for record in table} for table in tables]
    all_complete = all(table_names == names[0] for table_names in names)
    yield ClaimFinding(
        severity=Severity.NOTE if all_complete else Severity.SEVERE,
        problem=f"There are figures on different {subject}, "
        + (
            "in separate tables, each with all encoders."
            if all_complete
            else "and some encoders lack some of them: differences between encoders may come from these differences."
        ),
        figures=tuple(
            f"{describe(table[0])}: {', '.join(dict.fromkeys(record.encoder for record in table))}" for table in tables
        ),
        advice="Compare within a table of probe show only." if all_complete else "Run all encoders on one of them.",
        task=task,
    )


def _describe_data(record: Result) -> str:
    facts = record.data
    seed = "" if facts is None or facts.seed is None else f", seed {facts.seed}"
    sizes = "" if facts is None else f" ({facts.train:,} training, {facts.test:,} test items{seed})"
    return f"{record.dataset_fingerprint[:DIGEST_LENGTH]}{sizes}"


def _find_unrecorded(task: str, tables: Sequence[Sequence[Result]]) -> Iterator[ClaimFinding]:
    records = [record for table in tables for record in table]
    if any(record.data is None for record in records):
        yield ClaimFinding(
            severity=Severity.NOTE,
            problem="The origin of the data is not recorded: only a digest identifies the data.",
            figures=tuple(dict.fromkeys(record.dataset_fingerprint[:DIGEST_LENGTH] for record in records)),
            advice="Run the same command again: it adds the missing facts to the files.",
            task=task,
        )
    for note in dict.fromkeys(note for record in records for note in record.notes):
        yield ClaimFinding(
            severity=Severity.NOTE,
            problem=f"The data card says: {note}",
            advice="Mention this beside the figures.",
            task=task,
        )


def find_machine_differences(table: Results) -> Iterator[ClaimFinding]:
    """Yield findings if probes in a table differ in precision, device or software versions, or all use bfloat16."""
    trained = Results(tuple(record for record in table.records if record.dim))
    yield from _check_precision(trained)
    devices = _group_by_value(trained, lambda record: [making.device for making in find_provenances(record)])
    yield from _find_mixtures(devices, "devices", "compute the last digits differently")
    yield from _find_mixtures(_group_by_value(trained, _list_versions), "versions", "may train or encode differently")


def _check_precision(table: Results) -> Iterator[ClaimFinding]:
    by_value = _group_by_value(table, lambda record: [seed.precision for seed in record.scores[Condition.PROBE].seeds])
    if len(by_value) > 1:
        yield ClaimFinding(
            severity=Severity.WARNING,
            problem="Compared probes were trained in different precisions, which alone can change a figure by up to "
            "2 points.",
            figures=tuple(f"{value}: {', '.join(names)}" for value, names in by_value.items()),
            advice="Train all probes with --set precision=float32, in a new folder.",
        )
    elif Precision.BFLOAT16 in by_value:
        yield ClaimFinding(
            severity=Severity.NOTE,
            problem="Training computed the first layer in bfloat16. Compared with float32, this changes a figure by "
            "0.2 points on average, and by at most 2.",
            advice="Mention the precision, or train with --set precision=float32, which is the same on every "
            "processor.",
        )


def _find_mixtures(by_value: Mapping[str, Mapping[str, None]], subject: str, effect: str) -> Iterator[ClaimFinding]:
    if len(by_value) > 1:
        yield ClaimFinding(
            severity=Severity.NOTE,
            problem=f"Compared rows were computed with different {subject}, which {effect}.",
            figures=tuple(f"{value}: {', '.join(names)}" for value, names in by_value.items()),
            advice="Mention this, or compute all rows in the same way in a new folder.",
        )


def _group_by_value(table: Results, list_values: Callable[[Result], list[str]]) -> dict[str, dict[str, None]]:
    by_value: dict[str, dict[str, None]] = {}
    for record in table.records:
        for value in list_values(record):
            by_value.setdefault(value, {})[record.encoder] = None
    return by_value


def _list_versions(record: Result) -> list[str]:
    """Return the versions of the software that made a result, as texts such as "python 3.12, torch 2.4"."""
    stated = ("python", "sentprobe", "torch", "numpy", "scikit-learn")
    return [
        ", ".join(f"{name} {making.versions[name]}" for name in stated if name in making.versions)
        for making in find_provenances(record)
        if making.versions
    ]


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
    ClaimCheck("last-token", "do layers see more than the last token?", training_checks.find_last_token_layers),
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
