"""An audit for people and as JSON: a table of cues, the exact bounds, the verdict in sentences."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from io import StringIO
from typing import Any, TypeAlias

from rich.console import Console
from rich.table import Table
from rich.text import Text

from sentprobe import table_writers as tw
from sentprobe.probes.audit.audit import CONFIDENCE, FORMAT, Audit, Bound, Finding, Verdict
from sentprobe.probes.audit.classify import Classifier, ModelScore
from sentprobe.probes.audit.features import CUES
from sentprobe.probes.dataset import Split
from sentprobe.probes.known_task import Cue
from sentprobe.probes.statistics import Interval
from sentprobe.probes.suites import redundancy_of
from sentprobe.screen import print_lines, print_table


def to_json(audit: Audit) -> dict[str, Any]:
    """Return the audit as dictionaries, lists, texts and numbers."""
    return {
        "format": FORMAT,
        "task": audit.task,
        "fingerprint": audit.fingerprint,
        "seed": audit.seed,
        "chance": audit.chance,
        "majority": _score_to_json(audit.majority),
        "items": {str(split): count for split, count in audit.items.items()},
        "probe_words": audit.probed,
        "test_units": audit.units,
        "leaks": [str(finding.cue) for finding in audit.leaks],
        **_expect_to_json(audit),
        "cues": [_finding_to_json(each, probed=audit.probed) for each in audit.findings],
        "bounds": {
            str(cue): {str(split): _bound_to_json(each) for split, each in bounds.items()}
            for cue, bounds in audit.bounds.items()
        },
        "structures": dict(audit.structures),
        **({} if audit.agreeing is None else {"agreeing": audit.agreeing}),
    }


def _expect_to_json(audit: Audit) -> dict[str, Any]:
    """Return what the user expected and what of it was not found; nothing where that is nothing."""
    if not audit.expect:
        return {}
    told = {"expect": audit.expect, "not_found": audit.not_found}
    return {name: [str(cue) for cue in cues] for name, cues in told.items()}


def _score_to_json(score: ModelScore) -> dict[str, Any]:
    return {
        "accuracy": score.accuracy,
        "correct": score.correct,
        "total": score.total,
        "interval": _interval_to_json(score.interval),
        "strict_interval": _interval_to_json(score.strict),
    }


def _interval_to_json(interval: Interval) -> list[float]:
    return [interval.low, interval.high]


def _bound_to_json(bound: Bound) -> dict[str, Any]:
    return {
        "share": bound.share,
        "best": bound.best,
        "total": bound.total,
        "groups": bound.groups,
    }


def _finding_to_json(finding: Finding, *, probed: bool) -> dict[str, Any]:
    return {
        "cue": str(finding.cue),
        "sees": CUES[finding.cue].sees(probed=probed),
        "verdict": str(finding.verdict),
        "reason": finding.reason,
        "chosen": str(finding.trial.chosen),
        "scores": {str(kind): _score_to_json(s) for kind, s in finding.trial.scores.items()},
    }


class AuditFormat(StrEnum):
    """How audits are written."""

    TEXT = "text"
    MARKDOWN = "markdown"
    JSON = "json"


HEADER = ("cue", "accuracy", "95% interval", *Classifier, "verdict")

_STYLES = {
    Verdict.LEAK: "bold red",
    Verdict.BELOW: "yellow",
    Verdict.EXPECTED: "",
    Verdict.CHANCE: "",
}


def table(audit: Audit) -> Table:
    """Return the cues as a table for a terminal, in percent; the chosen classifier's in bold."""
    drawn = tw.empty_table(HEADER, left=[len(HEADER) - 1])
    drawn.title, drawn.title_justify = title(audit), "left"
    for row, finding in cue_rows(audit):
        cells = [Text(cell) for cell in row]
        if finding is not None:
            cells[-1].stylize(_STYLES[finding.verdict])
            cells[3 + list(Classifier).index(finding.trial.chosen)].stylize("bold")
        drawn.add_row(*cells)
    return drawn


def explain(audit: Audit) -> str:
    """Return what stands below the table: the bounds and the verdict, a sentence a line."""
    lines = (*_bound_lines(audit), *_agreeing_lines(audit), *verdict_lines(audit))
    return "".join(f"{line}\n" for line in lines)


def _agreeing_lines(audit: Audit) -> Iterator[str]:
    """Say how often the answer is that of most words of its kind (Conneau et al. 2018, sec. 4)."""
    known = redundancy_of(audit.task)
    if audit.agreeing is not None and known is not None:
        yield (
            f"redundancy: in {_percent(audit.agreeing)}% of the test items the answer is also the "
            f"commonest {known.of} in the sentence ({known.published}% in the published ones), so "
            "a bag of words can find it"
        )


def render(audits: Sequence[Audit], *, style: AuditFormat = AuditFormat.TEXT) -> str:
    """Return the audits as text."""
    return _RENDERERS[style](audits)


def legend(audits: Sequence[Audit]) -> str:
    """Return how to read the tables: each cue, the classifiers, the words of the verdict."""
    cues = {(finding.cue, audit.probed) for audit in audits for finding in audit.findings}
    lines = [
        f"{CUES[cue].name(probed=probed)}: a classifier sees {CUES[cue].sees(probed=probed)}."
        for cue in Cue
        for probed in (True, False)
        if (cue, probed) in cues
    ]
    return "".join(f"{line}\n" for line in [*dict.fromkeys(lines), *_LEGEND])


_LEGEND = (
    "accuracy: of the classifier that does better on items held out of training; test items had no "
    "part in the choice.",
    f"leak: the cue is above chance at the {CONFIDENCE:.0%} level (corrected for the number of "
    "cues), though the task is not about it.",
    "expected: above chance, and the answer lies partly in the cue, or in natural text goes with "
    "it. A probe shows more only where it exceeds that figure.",
    "below chance: what the cue says in training is turned round in test.",
    "bound: the best that any function of the cue could do on these items, even one that knows the "
    "labels; 100% excludes nothing.",
)


def verdict_lines(audit: Audit) -> tuple[str, ...]:
    """Return the verdict in plain sentences."""
    lines = [f"{audit.task}: {_verdict(audit)}"]
    for finding in audit.findings:
        if finding.verdict in (Verdict.EXPECTED, Verdict.BELOW):
            shown = _figure(finding, probed=audit.probed)
            lines.append(f"  {finding.verdict}: {shown} ({finding.reason})")
    return (*lines, *(f"  {_not_found(audit, cue)}" for cue in audit.not_found))


def _not_found(audit: Audit, cue: Cue) -> str:
    finding = audit.find(cue)
    if finding is None:
        return f"expected, but not tried here: {CUES[cue].name(probed=True)}"
    return f"expected, but not found: {_figure(finding, probed=audit.probed)}"


def _verdict(audit: Audit) -> str:
    if not audit.leaks:
        return "no leak found; no cue that should tell nothing is above chance."
    names = ", ".join(_figure(finding, probed=audit.probed) for finding in audit.leaks)
    return f"LEAK: {names}, where chance is {_percent(audit.chance)}%."


def _figure(finding: Finding, *, probed: bool) -> str:
    return f"{CUES[finding.cue].name(probed=probed)} gives {_percent(finding.score.accuracy)}%"


def title(audit: Audit) -> str:
    """Return what stands above the table: the task, its items, and chance."""
    counts = ", ".join(f"{count} {split}" for split, count in audit.items.items())
    units = "" if audit.units == audit.items[Split.TEST] else f" in {audit.units} units"
    return f"{audit.task} ({counts} items{units}; chance {_percent(audit.chance)}%)"


AuditRow: TypeAlias = tuple[tuple[str, ...], Finding | None]


def cue_rows(audit: Audit) -> Iterator[AuditRow]:
    """Yield the rows of the table below HEADER, each with what was found of its cue."""
    score = audit.majority
    blank = ("",) * len(Classifier)
    yield ("majority", _percent(score.accuracy), _interval(score), *blank, ""), None
    for finding in audit.findings:
        scores = [finding.trial.scores.get(kind) for kind in Classifier]
        yield (
            (
                CUES[finding.cue].name(probed=audit.probed),
                _percent(finding.score.accuracy),
                _interval(finding.score),
                *("" if each is None else _percent(each.accuracy) for each in scores),
                str(finding.verdict),
            ),
            finding,
        )


def _bound_lines(audit: Audit) -> Iterator[str]:
    for cue, bounds in audit.bounds.items():
        parts = [f"{split} {_bound(each)}" for split, each in bounds.items()]
        yield f"bound, {CUES[cue].name(probed=audit.probed)}: {'; '.join(parts)}"
    if audit.structures:
        yield (
            f"template: from the grammar for {audit.structures['parsed']} sentences, from their "
            f"function words for {audit.structures['skeleton']}"
        )


def _bound(bound: Bound) -> str:
    if not bound.binds:
        return "100% (excludes nothing)"
    exact = "exactly " if 2 * bound.best == bound.total else ""
    share = "under 100" if _percent(bound.share) == "100.0" else _percent(bound.share)
    return f"{exact}{share}% ({bound.groups} groups)"


def _interval(score: ModelScore) -> str:
    return f"{_percent(score.interval.low)} to {_percent(score.interval.high)}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"


def print_audits(audits: Sequence[Audit], console: Console) -> None:
    """Print tables, bounds, verdicts and the legend, to a terminal in colour."""
    for audit in audits:
        print_table(table(audit), console)
        print_lines(explain(audit), console)
    print_lines(legend(audits).removesuffix("\n"), console)


def _text(audits: Sequence[Audit]) -> str:
    with StringIO() as text:
        print_audits(audits, Console(file=text, width=120))
        return "".join(f"{line.rstrip()}\n" for line in text.getvalue().splitlines())


def _markdown(audits: Sequence[Audit]) -> str:
    parts = [_markdown_of(audit) for audit in audits]
    return "\n".join(parts) + tw.write_notes(legend(audits), tw.TableFormat.MARKDOWN)


def _markdown_of(audit: Audit) -> str:
    rows = ([tw.in_markdown(text) for text in row] for row, _ in cue_rows(audit))
    body = tw.markdown_table(HEADER, rows, left=[len(HEADER) - 1])
    notes = tw.write_notes(explain(audit), tw.TableFormat.MARKDOWN)
    return f"## {tw.in_markdown(title(audit))}\n\n{body}{notes}"


def _json(audits: Sequence[Audit]) -> str:
    return json.dumps([to_json(audit) for audit in audits], indent=2, ensure_ascii=False) + "\n"


_RENDERERS: Mapping[AuditFormat, Callable[[Sequence[Audit]], str]] = {
    AuditFormat.TEXT: _text,
    AuditFormat.MARKDOWN: _markdown,
    AuditFormat.JSON: _json,
}
"""A writer per format."""
