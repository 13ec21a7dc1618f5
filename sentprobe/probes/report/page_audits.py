"""What the page says of audits: what surface cues achieve on the very data of the results."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from sentprobe.errors import counted, visible
from sentprobe.probes.audit.audit import Audit, Verdict
from sentprobe.probes.audit.classify import ModelScore
from sentprobe.probes.audit.render import HEADER, cue_rows, explain, legend, title, verdict_lines
from sentprobe.probes.report import panels as pn
from sentprobe.probes.report.data_lines import DIGITS
from sentprobe.probes.runs.results import Condition, Result, Results, Score
from sentprobe.table_writers import Grid, GridCell, GridRow

VERDICTS = {
    Verdict.CHANCE: "not above chance",
    Verdict.LEAK: "leak",
    Verdict.BELOW: "below chance",
    Verdict.EXPECTED: "expected",
}
"""What the legend calls each verdict, in the order of their shapes and colours."""

BEST, BEST_MARK = "best encoder", 6

TITLE = "What surface cues achieve"

CAPTION = (
    "A dot is the accuracy in percent of classifiers that see one cue of each item, without any "
    "encoder, and its line the 95% interval; below, the best encoder on the same test items. "
    "Dotted: chance. An encoder shows more than a cue only where it exceeds it."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PageAudit:
    """What was found about one dataset."""

    verdict: str
    """What can be seen while it is folded."""
    leaks: bool
    title: str
    grid: Grid
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PageAudits:
    """The part of the page that is of audits."""

    title: str = TITLE
    lead: str
    missing: tuple[str, ...]
    """Which audits are of no data of the results, and which data has none."""
    picture: pn.PagePicture
    audits: tuple[PageAudit, ...]
    legend: tuple[str, ...]

    @property
    def warnings(self) -> tuple[str, ...]:
        """The verdicts on data that leaks, for the top of the page."""
        return tuple(each.verdict for each in self.audits if each.leaks)


def page_audits(results: Results, audits: Sequence[Audit]) -> PageAudits:
    """Return what audits say, of those datasets of which there are results."""
    once = [each for place, each in enumerate(audits) if each not in audits[:place]]
    names = _names(results)
    own = [each for each in once if each.fingerprint in names]
    return PageAudits(
        lead=_lead(own),
        missing=(*_of_others(results, once), *_not_audited(names, own)),
        picture=_picture(results, own, names),
        audits=tuple(_page_audit(each, names[each.fingerprint]) for each in own),
        legend=tuple(legend(own).splitlines()) if own else (),
    )


def _names(results: Results) -> dict[str, str]:
    """Name each dataset, by its fingerprint: with its seed where a task has several."""
    by_task: dict[str, dict[str, Result]] = {}
    for each in results.records:
        by_task.setdefault(each.task, {}).setdefault(each.dataset_fingerprint, each)
    return {
        fingerprint: visible(task if len(own) == 1 else f"{task}, {_seed(record)}")
        for task, own in by_task.items()
        for fingerprint, record in own.items()
    }


def _seed(record: Result) -> str:
    if record.data is None or record.data.seed is None:
        return record.dataset_fingerprint[:DIGITS]
    return f"seed {record.data.seed}"


def _lead(own: Sequence[Audit]) -> str:
    if not own:
        return "No audit is of the data of these results."
    leaking, count = sum(bool(each.leaks) for each in own), counted(len(own), "dataset")
    if not leaking:
        return f"No leak found in {count}: no cue that should tell nothing is above chance."
    return f"A cue that should tell nothing is above chance in {leaking} of {count}."


def _of_others(results: Results, audits: Sequence[Audit]) -> Iterator[str]:
    """Say which audits are of other data than the results, and so are left out."""
    for each in audits:
        same = {r.dataset_fingerprint: r for r in results.records if r.task == each.task}
        if any(r.dataset_fingerprint == each.fingerprint for r in results.records):
            continue
        why = "there are no results of that dataset here"
        if same:
            here = " and ".join(digest[:DIGITS] for digest in same)
            why = f"it is of the data {each.fingerprint[:DIGITS]}, and the results are of {here}"
        yield visible(f"The audit of {each.task} is left out: {why}.")


def _not_audited(names: Mapping[str, str], audits: Sequence[Audit]) -> Iterator[str]:
    done = {each.fingerprint for each in audits}
    others = [name for fingerprint, name in names.items() if fingerprint not in done]
    if others:
        yield f"Not audited: {'; '.join(others)}."


def _picture(results: Results, audits: Sequence[Audit], names: Mapping[str, str]) -> pn.PagePicture:
    """Return a panel for each dataset: a row for each cue, and one for the best encoder."""
    rows = [(*_cue_rows(each), *_best_row(results, each)) for each in audits]
    low = pn.floor_of([100.0, *(dot.low for own in rows for row in own for dot in row.dots)])
    panels = (
        pn.DotPanel(title=names[each.fingerprint], rows=own, low=low)
        for each, own in zip(audits, rows, strict=True)
    )
    there = {finding.verdict for each in audits for finding in each.findings}
    seen = [(name, _mark(each)) for each, name in VERDICTS.items() if each in there]
    return pn.PagePicture(
        title="",
        caption=CAPTION,
        panels=tuple(panels),
        legend=(*seen, (BEST, BEST_MARK)),
        of_encoders=False,
    )


def _mark(verdict: Verdict) -> int:
    return list(VERDICTS).index(verdict)


def _cue_rows(audit: Audit) -> Iterator[pn.DotRow]:
    for each in audit.findings:
        dot = _dot(each.score, VERDICTS[each.verdict], _mark(each.verdict))
        yield pn.DotRow(each.cue.value, (dot,), 100 * audit.chance, is_encoder=False)


def _best_row(results: Results, audit: Audit) -> Iterator[pn.DotRow]:
    """Yield the row of the encoder that is best on the same items; baselines are none."""
    there = [r for r in results.records if r.dim and r.dataset_fingerprint == audit.fingerprint]
    if there:
        best = max(there, key=_accuracy)
        dot = _dot(best.scores[Condition.PROBE], visible(best.encoder), BEST_MARK)
        yield pn.DotRow(BEST, (dot,), 100 * audit.chance, is_encoder=False)


def _accuracy(record: Result) -> float:
    return record.accuracy


def _dot(score: ModelScore | Score, name: str, mark: int) -> pn.Dot:
    return pn.Dot(
        value=100 * score.accuracy,
        low=100 * score.interval.low,
        high=100 * score.interval.high,
        name=name,
        mark=mark,
    )


def _page_audit(audit: Audit, name: str) -> PageAudit:
    rows = (GridRow(first, "", tuple(map(GridCell, rest))) for (first, *rest), _ in cue_rows(audit))
    return PageAudit(
        verdict=visible(verdict_lines(replace(audit, task=name))[0]),
        leaks=bool(audit.leaks),
        title=visible(title(audit)),
        grid=Grid(HEADER, tuple(rows)),
        lines=(
            *map(visible, explain(audit).splitlines()),
            f"The seed of the classifiers is {audit.seed}.",
        ),
    )
