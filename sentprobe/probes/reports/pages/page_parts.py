"""Audits on the report page: the accuracy of surface cues on the data of the results.

The HTML page of ``probe gate``: a table, curves of false hits against misses, and the worst false hits.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import nlargest

from sentprobe.common.errors import format_count, split_lines
from sentprobe.common.tables import Grid, GridCell, GridRow
from sentprobe.common.values import group_by
from sentprobe.probes.audits import audit_report
from sentprobe.probes.audits.cue_audit import Audit, Verdict
from sentprobe.probes.reports.pages import panels as pn
from sentprobe.probes.reports.tables.table_notes import DIGEST_LENGTH
from sentprobe.probes.reports.tables.view import load_template
from sentprobe.probes.results.result import Condition, Result, Results
from sentprobe.probes.similarity.distance_tables import KIND_TITLES
from sentprobe.probes.similarity.gate_tables import GateResults, build_gate_tables
from sentprobe.probes.similarity.measures import NegativeKind
from sentprobe.probes.similarity.pair_scores import NEAREST, OWN_PAIRS, ScoredPair, find_sign

VERDICT_NAMES = {
    Verdict.CHANCE: "not above chance",
    Verdict.LEAK: "leak",
    Verdict.BELOW: "below chance",
    Verdict.EXPECTED: "expected",
}
"""The names of verdicts in the legend. The index of a verdict is the number of its shape and colour."""
MARKS = [*VERDICT_NAMES]
BEST_NAME, BEST_MARK = "best encoder", 6

CAPTION = (
    "A dot is the accuracy in percent of a classifier that sees only one cue of each item, without any "
    "encoder; its line is the 95% interval. The last row is the best encoder on the same test items. "
    "Dotted: chance. An encoder shows more than a cue only if its accuracy is higher."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PageAudit:
    """The audit of one dataset on the page."""

    verdict: str
    is_leaky: bool
    title: str
    grid: Grid
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PageAudits:
    """The audits of all datasets on the page."""

    lead: str
    missing: tuple[str, ...]
    picture: pn.ResultPicture
    audits: tuple[PageAudit, ...]
    legend: tuple[str, ...]

    @property
    def warnings(self) -> tuple[str, ...]:
        """The verdicts on datasets with leaks, shown at the top of the page."""
        return tuple(audit.verdict for audit in self.audits if audit.is_leaky)


def build_page_audits(results: Results, audits: Sequence[Audit]) -> PageAudits:
    """Return the audits of the datasets on which encoders were probed, with a plot and notes."""
    distinct = [audit for place, audit in enumerate(audits) if audit not in audits[:place]]
    names = _name_datasets(results)
    relevant = [audit for audit in distinct if audit.fingerprint in names]
    audited = {audit.fingerprint for audit in relevant}
    unaudited = [name for fingerprint, name in names.items() if fingerprint not in audited]
    unaudited_notes = [f"Not audited: {'; '.join(unaudited)}."] if unaudited else []
    return PageAudits(
        lead=_describe_leaks(relevant),
        missing=(*_describe_excluded_audits(results, distinct), *unaudited_notes),
        picture=_draw_audits(results, relevant, names),
        audits=tuple(_build_page_audit(audit, names[audit.fingerprint]) for audit in relevant),
        legend=tuple(split_lines(audit_report.format_legend(relevant))) if relevant else (),
    )


def _name_datasets(results: Results) -> dict[str, str]:
    """Return the name of each dataset by fingerprint: "Tense" or, if the task has several datasets, "Tense, seed 1"."""
    by_task: dict[str, dict[str, Result]] = {}
    for record in results.records:
        by_task.setdefault(record.task, {}).setdefault(record.dataset_fingerprint, record)
    names = {}
    for task, by_fingerprint in by_task.items():
        for fingerprint, record in by_fingerprint.items():
            seed = record.data.seed if record.data else None
            draw = fingerprint[:DIGEST_LENGTH] if seed is None else f"seed {seed}"
            names[fingerprint] = task if len(by_fingerprint) == 1 else f"{task}, {draw}"
    return names


def _describe_leaks(audits: Sequence[Audit]) -> str:
    if not audits:
        return "There is no audit of the data of these results."
    leaking, count = sum(audit.is_leaky for audit in audits), format_count(len(audits), "dataset")
    if not leaking:
        return f"No leak found in {count}: no cue that should be uninformative is above chance."
    reasons = "a cue that should be uninformative is above chance, or training has test sentences"
    return f"{leaking} of {count} have leaks: {reasons}."


def _describe_excluded_audits(results: Results, audits: Sequence[Audit]) -> Iterator[str]:
    for audit in audits:
        if any(record.dataset_fingerprint == audit.fingerprint for record in results.records):
            continue
        task_digests = dict.fromkeys(r.dataset_fingerprint for r in results.records if r.task == audit.task)
        digests = " and ".join(digest[:DIGEST_LENGTH] for digest in task_digests)
        reason = f"it is of the data {audit.fingerprint[:DIGEST_LENGTH]}, but the results are of {digests}"
        if not task_digests:
            reason = "there are no results on this task"
        yield f"The audit of {audit.task} is left out: {reason}."


def _draw_audits(results: Results, audits: Sequence[Audit], names: Mapping[str, str]) -> pn.ResultPicture:
    rows: list[tuple[pn.DotRow, ...]] = []
    for audit in audits:
        chance = 100 * audit.chance
        audit_rows = []
        for finding in audit.findings:
            percents = pn.to_percent(finding.score.accuracy, finding.score.interval)
            dot = pn.Dot(*percents, name=VERDICT_NAMES[finding.verdict], mark=MARKS.index(finding.verdict))
            audit_rows.append(pn.DotRow(finding.cue.value, (dot,), chance, is_encoder=False))
        trained = (r for r in results.records if r.dim and r.dataset_fingerprint == audit.fingerprint)
        if best := max(trained, key=lambda record: record.accuracy, default=None):
            percents = pn.to_percent(best.accuracy, best.scores[Condition.PROBE].interval)
            dot = pn.Dot(*percents, name=best.encoder, mark=BEST_MARK)
            audit_rows.append(pn.DotRow(BEST_NAME, (dot,), chance, is_encoder=False))
        rows.append(tuple(audit_rows))
    low = pn.compute_floor([100.0, *(dot.low for audit_rows in rows for row in audit_rows for dot in row.dots)])
    panels = (
        pn.DotPanel(title=names[audit.fingerprint], rows=panel_rows, low=low)
        for audit, panel_rows in zip(audits, rows, strict=True)
    )
    verdicts = {finding.verdict for audit in audits for finding in audit.findings}
    verdict_marks = [(name, MARKS.index(verdict)) for verdict, name in VERDICT_NAMES.items() if verdict in verdicts]
    return pn.ResultPicture(
        title="",
        caption=CAPTION,
        panels=tuple(panels),
        legend=(*verdict_marks, (BEST_NAME, BEST_MARK)),
        of_encoders=False,
    )


def _build_page_audit(audit: Audit, name: str) -> PageAudit:
    return PageAudit(
        verdict=audit_report.format_verdict_lines(replace(audit, task=name))[0],
        is_leaky=audit.is_leaky,
        title=audit_report.format_title(audit),
        grid=audit_report.build_cue_grid(audit),
        lines=(*split_lines(audit_report.format_notes(audit)), f"The seed of the classifiers is {audit.seed}."),
    )


def build_gate_page(results: GateResults, *, command: str, intervals: bool) -> str:
    """Return the page as HTML that loads no other files. All inserted texts are escaped."""
    # The false hits, in the first draw, whose sentences were scored as most similar.
    draw = results.draws[0]
    names: dict[ScoredPair, str] = {}
    for rates in draw.rates:
        for pair in rates.worst:
            names.setdefault(pair, rates.name)
    rows = []
    for pair in nlargest(NEAREST, names, key=lambda pair: pair.score):
        cell = GridCell(f"{find_sign(draw.measure) * pair.score:.4f}")
        rows.append(GridRow(f"{names[pair]}: {pair.first} / {pair.second}", "", (cell,)))
    return load_template("gate.html.j2").render(
        sentence=str(results),
        tables=[
            (title, grid, split_lines(notes)) for title, grid, notes in build_gate_tables(results, intervals=intervals)
        ],
        curves=_draw_curves(results),
        worst=Grid(("contrast and sentences", draw.measure), tuple(rows)),
        command=command,
    )


def _draw_curves(results: GateResults) -> pn.ResultPicture:
    """Return the plot of the first draw, with a panel for each form of negative and a line for each contrast.

    Without paraphrases, there is no panel.
    """
    rates = [rates for rates in (*results.draws[0].rates, *results.draws[0].generated) if rates.curve]
    marks = pn.number_marks(case.subject for case in rates)
    panels = []
    for form, cases in group_by(rates, lambda case: case.form).items():
        lines = []
        for case in cases:
            points = tuple(pn.LinePoint(100 * misses, *[100 * hits] * 3) for misses, hits in case.curve)
            lines.append(pn.Line(name=case.subject, mark=marks[case.subject], points=points))
        panels.append(
            pn.LinePanel(
                title=KIND_TITLES[NegativeKind(form)] if form else OWN_PAIRS,
                x_label="misses (%)",
                y_label="false hits (%)",
                lines=tuple(lines),
                low=0,
                named=len(marks) <= pn.MAX_NAMED_LINES,
            )
        )
    return pn.ResultPicture(
        title="False hits against misses",
        caption="Each point is a threshold. Curves near the lower left corner have few misses and few false hits.",
        panels=tuple(panels),
        legend=pn.build_legend(marks),
        of_encoders=False,
    )
