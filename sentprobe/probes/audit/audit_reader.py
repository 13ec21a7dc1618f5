"""Reader of the audits that ``probe audit --format json`` writes."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sentprobe.errors import FormatError, SentprobeError, path_error
from sentprobe.probes.audit.cue_audit import FORMAT, Audit, Bound, Finding, Verdict
from sentprobe.probes.audit.cue_classifiers import Classifier, ModelScore, Trial
from sentprobe.probes.dataset import Split
from sentprobe.probes.known_task import Cue
from sentprobe.probes.results.split_overlap import SplitOverlap
from sentprobe.probes.statistics import Interval
from sentprobe.values import check_record, parse_json


def read_audits(path: Path) -> tuple[Audit, ...]:
    """Return the audits in a file; raise UsageError or FormatError if it cannot be read."""
    try:
        text = path.read_bytes()
    except OSError as error:
        raise path_error(path, "cannot read it", error) from error
    return parse_audits(text, source=str(path))


def parse_audits(text: str | bytes, *, source: str) -> tuple[Audit, ...]:
    """Parse audits rendered as JSON; raise FormatError, which names *source*, if the text is in another format."""
    try:
        records = parse_json(text)
        if not isinstance(records, list) or not records:
            raise ValueError("not a list of audits")
        return tuple(map(audit_from_json, records))
    except (SentprobeError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise FormatError(f"{source}: not what probe audit --format json writes ({error})") from None


def audit_from_json(value: Mapping[str, Any]) -> Audit:
    """Return the audit that ``to_json`` wrote; raise one of several errors if the value is malformed."""
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
        overlap=SplitOverlap(items[Split.TEST], value["overlap"]["repeated"], value["overlap"]["inflected"]),
        majority=_parse_score(value["majority"]),
        items=items,
        probed=value["probe_words"],
        units=value["test_units"],
        findings=tuple(map(_parse_finding, value["cues"])),
        bounds={
            Cue(cue): {
                Split(split): Bound(record["best"], record["total"], record["groups"])
                for split, record in bounds.items()
            }
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
    return ModelScore(
        value["correct"], value["total"], Interval(*value["interval"]), Interval(*value["strict_interval"])
    )


def _parse_finding(value: Mapping[str, Any]) -> Finding:
    scores = {Classifier(kind): _parse_score(score) for kind, score in value["scores"].items()}
    return Finding(
        Cue(value["cue"]), Trial(Classifier(value["chosen"]), scores), Verdict(value["verdict"]), value["reason"]
    )


def _check_audit(audit: Audit) -> None:
    """Check consistency between parts that are each of the right type."""
    if set(audit.structures) not in ({*()}, _STRUCTURE_KEYS):
        raise ValueError("the number of structures is missing")
    if any(finding.trial.chosen not in finding.trial.scores for finding in audit.findings):
        raise ValueError("the chosen classifier has no score")
    bounds = [bound for split_bounds in audit.bounds.values() for bound in split_bounds.values()]
    scores = [audit.majority, *(score for finding in audit.findings for score in finding.trial.scores.values())]
    counts = [*((score.correct, score.total) for score in scores), *((bound.best, bound.total) for bound in bounds)]
    accuracies = [audit.chance, *(end for score in scores for end in (score.interval.low, score.interval.high))]
    if not all(0 <= count <= total != 0 for count, total in counts) or not all(0 <= share <= 1 for share in accuracies):
        raise ValueError("an accuracy is outside 0 to 1")


_STRUCTURE_KEYS = {"parsed", "skeleton"}
