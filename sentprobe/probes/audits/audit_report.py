"""Audits as tables and records. An audit has the accuracies of cues, upper bounds on accuracies, and a verdict."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sentprobe.common.errors import FormatError, SentprobeError, describe_damage, path_error
from sentprobe.common.tables import Grid, GridCell, GridRow, ShownTable
from sentprobe.common.values import check_record, parse_json
from sentprobe.probes.audits.cue_audit import CONFIDENCE, FORMAT, Audit, Bound, Finding, Verdict
from sentprobe.probes.audits.cue_classifiers import Classifier, ModelScore, Trial
from sentprobe.probes.audits.cue_features import CUES
from sentprobe.probes.datasets.dataset import ProbeDataset, Split
from sentprobe.probes.datasets.known_task import Cue
from sentprobe.probes.encoders.baselines import TellingFeature
from sentprobe.probes.results.data_facts import SplitOverlap
from sentprobe.probes.runs.suites import find_redundancy
from sentprobe.probes.statistics import Interval

OVERLAPS = ("repeated", "inflected", "reworded")


def to_json(audit: Audit) -> dict[str, Any]:
    """Return an audit as a dictionary for JSON."""
    return {
        "format": FORMAT,
        "task": audit.task,
        "fingerprint": audit.fingerprint,
        "seed": audit.seed,
        "chance": audit.chance,
        "overlap": {name: getattr(audit.overlap, name) for name in OVERLAPS},
        "majority": _score_to_json(audit.majority),
        "items": {str(split): count for split, count in audit.items.items()},
        "probe_words": audit.probed,
        "test_units": audit.units,
        "leaks": [str(finding.cue) for finding in audit.leaks],
        **({"expect": [*map(str, audit.expect)], "not_found": [*map(str, audit.not_found)]} if audit.expect else {}),
        "cues": [_finding_to_json(finding, probed=audit.probed) for finding in audit.findings],
        "bounds": {
            str(cue): {str(split): {"share": bound.share, **asdict(bound)} for split, bound in bounds.items()}
            for cue, bounds in audit.bounds.items()
        },
        "structures": dict(audit.structures),
        **({} if audit.agreeing is None else {"agreeing": audit.agreeing}),
    }


def to_cue_records(audits: Sequence[Audit]) -> list[dict[str, Any]]:
    """Return a dictionary of scalar values for each dataset and cue, with the accuracy of the chosen classifier."""
    records = []
    for audit in audits:
        data = {"task": audit.task, "fingerprint": audit.fingerprint, "seed": audit.seed, "chance": audit.chance}
        data |= {"test_units": audit.units} | {name: getattr(audit.overlap, name) for name in OVERLAPS}
        for finding in audit.findings:
            values = _finding_to_json(finding, probed=audit.probed)
            scores, bounds = finding.trial.scores, audit.bounds.get(finding.cue, {})
            values |= _score_to_json(finding.score)
            for name in ("interval", "strict_interval"):
                values[f"{name}_low"], values[f"{name}_high"] = values.pop(name)
            values |= {str(kind): scores[kind].accuracy if kind in scores else None for kind in Classifier}
            values |= {f"bound_{split}": bounds[split].share if split in bounds else None for split in Split}
            del values["scores"]
            records.append(data | {"majority": audit.majority.accuracy} | values)
    return records


def _score_to_json(score: ModelScore) -> dict[str, Any]:
    return {
        "accuracy": score.accuracy,
        "correct": score.correct,
        "total": score.total,
        "interval": [score.interval.low, score.interval.high],
        "strict_interval": [score.strict.low, score.strict.high],
    }


def _finding_to_json(finding: Finding, *, probed: bool) -> dict[str, Any]:
    return {
        "cue": str(finding.cue),
        "sees": CUES[finding.cue].get_description(probed=probed),
        "verdict": str(finding.verdict),
        "reason": finding.reason,
        "chosen": str(finding.trial.chosen),
        "scores": {str(kind): _score_to_json(score) for kind, score in finding.trial.scores.items()},
    }


HEADER = ("cue", "accuracy", "95% interval", *Classifier, "verdict")
_STYLES = {Verdict.LEAK: "bold red", Verdict.BELOW: "yellow", Verdict.EXPECTED: "", Verdict.CHANCE: ""}


def format_notes(audit: Audit) -> str:
    """Return the notes below the table: bounds, redundancy, overlap of training and test, and verdict."""
    lines = []
    for cue, bounds in audit.bounds.items():
        parts = [f"{split} {_format_bound(bound)}" for split, bound in bounds.items()]
        lines.append(f"bound, {CUES[cue].get_title(probed=audit.probed)}: {'; '.join(parts)}")
    if audit.structures:
        lines.append(
            f"template: from the grammar for {audit.structures['parsed']} sentences, from their "
            f"function words for {audit.structures['skeleton']}"
        )
    redundancy = find_redundancy(audit.task)
    if audit.agreeing is not None and redundancy is not None:  # Conneau et al. 2018, section 4
        lines.append(
            f"redundancy: in {_format_percent(audit.agreeing)}% of the test items the answer is also the most frequent "
            f"{redundancy.feature} in the sentence ({redundancy.published}% in the published data), so a bag of words "
            "can find it"
        )
    shares = (audit.overlap.format_repeated(), audit.overlap.format_inflected(), audit.overlap.format_reworded())
    lines += [f"overlap: {'; '.join(shares)}", *format_verdict_lines(audit)]
    return "".join(f"{line}\n" for line in lines)


def build_audit_tables(audits: Sequence[Audit]) -> Iterator[ShownTable]:
    """Yield the table of each audit; notes end with an empty line, and those of the last table with the legend."""
    for number, audit in enumerate(audits, 1):
        legend = format_legend(audits) if number == len(audits) else ""
        yield format_title(audit), build_cue_grid(audit), f"{format_notes(audit)}\n{legend}"


def format_legend(audits: Sequence[Audit]) -> str:
    """Return the legend of all tables: an explanation of the cues, classifiers and verdicts."""
    cues = {(finding.cue, audit.probed) for audit in audits for finding in audit.findings}
    lines = [
        f"{CUES[cue].get_title(probed=probed)}: a classifier sees {CUES[cue].get_description(probed=probed)}."
        for cue in Cue
        for probed in (True, False)
        if (cue, probed) in cues
    ]
    return "".join(f"{line}\n" for line in [*dict.fromkeys(lines), *_LEGEND])


_LEGEND = (
    "accuracy: that of the classifier that is more accurate on held-out training items, so that the "
    "choice does not depend on test items.",
    f"leak: the cue is above chance at the {CONFIDENCE:.0%} level (corrected for the number of "
    "cues), although the task is not about it.",
    "expected: the cue is above chance, because the task is about the cue, or natural text correlates "
    "cue and label. A probe is informative only above this accuracy.",
    "below chance: the relation between cue and label is reversed in the test items.",
    "bound: the highest accuracy on these items that any function of the cue can have, even one that "
    "knows the labels; a bound of 100% excludes nothing.",
)


def format_verdict_lines(audit: Audit) -> tuple[str, ...]:
    """Return the verdict on a dataset in sentences, one per line."""
    verdict = "no leak found: no cue that should be at chance is above chance."
    if audit.is_leaky:
        names = ", ".join(_format_accuracy(finding, probed=audit.probed) for finding in audit.leaks)
        cues = [f"{names}, where chance is {_format_percent(audit.chance)}%"] if names else []
        repeated = [audit.overlap.format_repeated()] if audit.overlap.is_leaky else []
        verdict = f"LEAK: {'; '.join((*cues, *repeated))}."
    lines = [f"{audit.task}: {verdict}"]
    for finding in audit.findings:
        if finding.verdict in (Verdict.EXPECTED, Verdict.BELOW):
            accuracy = _format_accuracy(finding, probed=audit.probed)
            lines.append(f"  {finding.verdict}: {accuracy} ({finding.reason})")
    for cue in audit.not_found:
        if tried := audit.find(cue):
            lines.append(f"  expected, but not found: {_format_accuracy(tried, probed=audit.probed)}")
        else:
            lines.append(f"  expected, but not tried here: {CUES[cue].get_title(probed=True)}")
    return tuple(lines)


def _format_accuracy(finding: Finding, *, probed: bool) -> str:
    return f"{CUES[finding.cue].get_title(probed=probed)} gives {_format_percent(finding.score.accuracy)}%"


def format_title(audit: Audit) -> str:
    """Return the title of the table: the task, the numbers of items, and chance."""
    counts = ", ".join(f"{count} {split}" for split, count in audit.items.items())
    units = "" if audit.units == audit.items[Split.TEST] else f" in {audit.units} units"
    return f"{audit.task} ({counts} items{units}; chance {_format_percent(audit.chance)}%)"


def build_cue_grid(audit: Audit) -> Grid:
    """Build the table of an audit: the majority baseline, then a row for each cue."""
    blanks = (GridCell(""),) * (len(Classifier) + 1)
    rows = [GridRow("majority", "", (*_build_score_cells(audit.majority), *blanks))]
    for finding in audit.findings:
        scores = finding.trial.scores
        classifiers = [
            GridCell(
                _format_percent(scores[kind].accuracy) if kind in scores else "",
                style="bold" if kind is finding.trial.chosen else "",
            )
            for kind in Classifier
        ]
        verdict = GridCell(str(finding.verdict), style=_STYLES[finding.verdict])
        title = CUES[finding.cue].get_title(probed=audit.probed)
        rows.append(GridRow(title, "", (*_build_score_cells(finding.score), *classifiers, verdict)))
    return Grid(HEADER, tuple(rows), left=frozenset({0, len(HEADER) - 1}))


def build_feature_table(data: ProbeDataset, features: Sequence[TellingFeature]) -> ShownTable:
    """Return the table of the most telling features of each label of a dataset; a note names labels without any."""
    rows = []
    for telling in features:
        counts = (f"{telling.log_odds:.2f}", f"{telling.items}", f"{100 * telling.with_label / telling.items:.0f}%")
        rows.append(GridRow(telling.label, telling.label, tuple(map(GridCell, (telling.feature, *counts)))))
    title = f"{data.name} ({len(data.splits[Split.TRAIN])} training items)"
    header = ("label", "feature", "log-odds", "items", "with label")
    labels = [label for label in data.labels if label not in {telling.label for telling in features}]
    notes = f"no feature is more frequent under: {', '.join(labels)}\n" if labels else ""
    return title, Grid(header, tuple(rows), left=frozenset({0, 1})), notes


def _build_score_cells(score: ModelScore) -> tuple[GridCell, GridCell]:
    return GridCell(_format_percent(score.accuracy)), GridCell(score.interval.format_percent())


def _format_bound(bound: Bound) -> str:
    if not bound.binds:
        return "100% (excludes nothing)"
    exact = "exactly " if 2 * bound.best == bound.total else ""
    percent = "under 100" if _format_percent(bound.share) == "100.0" else _format_percent(bound.share)
    return f"{exact}{percent}% ({bound.groups} groups)"


def _format_percent(share: float) -> str:
    return f"{100 * share:.1f}"


def read_audits(path: Path) -> tuple[Audit, ...]:
    """Read the audits in a JSON file; raise UsageError if it is unreadable, FormatError if it is malformed."""
    try:
        text = path.read_bytes()
    except OSError as error:
        raise path_error(path, "cannot read it", error) from error
    try:
        records = parse_json(text)
        if not isinstance(records, list) or not records:
            raise ValueError("not a list of audits")
        if not all(isinstance(record, dict) for record in records):
            raise ValueError("an audit is not a JSON object")
        return tuple(map(audit_from_json, records))
    except (SentprobeError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise FormatError(f"{path}: not the output of probe audit --format json ({describe_damage(error)})") from None


def audit_from_json(value: Mapping[str, Any]) -> Audit:
    """Build an audit from a dictionary; the inverse of :func:`to_json`. Malformed values raise various errors."""
    if value["format"] != FORMAT:
        raise FormatError(f"the format is {value['format']!r}, not {FORMAT!r}")
    items = {Split(split): count for split, count in value["items"].items()}
    if Split.TEST not in items:
        raise ValueError("the number of test items is missing")
    audit = Audit(
        task=value["task"],
        fingerprint=value["fingerprint"],
        seed=value["seed"],
        chance=value["chance"],
        overlap=SplitOverlap(items[Split.TEST], **{name: value["overlap"][name] for name in OVERLAPS}),
        majority=_parse_score(value["majority"]),
        items=items,
        probed=value["probe_words"],
        units=value["test_units"],
        findings=tuple(map(_parse_finding, value["cues"])),
        bounds={
            Cue(cue): {Split(split): Bound(b["best"], b["total"], b["groups"]) for split, b in bounds.items()}
            for cue, bounds in value["bounds"].items()
        },
        structures=dict(value["structures"]),
        expect=tuple(map(Cue, value.get("expect", ()))),
        agreeing=value.get("agreeing"),
    )
    check_record(audit)
    _check_audit(audit)
    return audit


def _parse_score(value: Mapping[str, Any]) -> ModelScore:
    interval, strict = Interval(*value["interval"]), Interval(*value["strict_interval"])
    return ModelScore(value["correct"], value["total"], interval, strict)


def _parse_finding(value: Mapping[str, Any]) -> Finding:
    scores = {Classifier(kind): _parse_score(score) for kind, score in value["scores"].items()}
    trial = Trial(Classifier(value["chosen"]), scores)
    return Finding(Cue(value["cue"]), trial, Verdict(value["verdict"]), value["reason"])


def _check_audit(audit: Audit) -> None:
    if set(audit.structures) not in (set(), {"parsed", "skeleton"}):
        raise ValueError("the number of structures is missing")
    if any(finding.trial.chosen not in finding.trial.scores for finding in audit.findings):
        raise ValueError("the chosen classifier has no score")
    bounds = [bound for split_bounds in audit.bounds.values() for bound in split_bounds.values()]
    scores = [audit.majority, *(score for finding in audit.findings for score in finding.trial.scores.values())]
    counts = [*((score.correct, score.total) for score in scores), *((bound.best, bound.total) for bound in bounds)]
    accuracies = [audit.chance, *(end for score in scores for end in (score.interval.low, score.interval.high))]
    if not all(0 <= count <= total != 0 for count, total in counts) or not all(0 <= share <= 1 for share in accuracies):
        raise ValueError("an accuracy is not between 0 and 1")
