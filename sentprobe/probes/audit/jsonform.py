"""An audit as plain values for JSON, in a file or in a dataset's card, and its way back."""

from collections.abc import Mapping
from typing import Any

from sentprobe.errors import SentprobeError
from sentprobe.probes.audit.audit import FORMAT, Audit, Finding, Verdict
from sentprobe.probes.audit.bounds import Bound
from sentprobe.probes.audit.classify import Classifier, ModelScore, Trial
from sentprobe.probes.audit.cues import CUES, Cue
from sentprobe.probes.dataset import Split
from sentprobe.probes.intervals import Interval


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
        "cues": [_finding_to_json(each, probed=audit.probed) for each in audit.findings],
        "bounds": {
            str(cue): {str(split): _bound_to_json(each) for split, each in bounds.items()}
            for cue, bounds in audit.bounds.items()
        },
        "structures": dict(audit.structures),
    }


def from_json(value: Mapping[str, Any], *, source: str = "audit") -> Audit:
    """Read an audit back; the inverse of :func:`to_json`.

    Raises:
        SentprobeError: it is no audit of ours; *source* names it.
    """
    try:
        if value["format"] != FORMAT:
            raise ValueError(f"format {value['format']!r}, not {FORMAT!r}")
        return Audit(
            task=value["task"],
            fingerprint=value["fingerprint"],
            seed=value["seed"],
            chance=value["chance"],
            majority=_score_from_json(value["majority"]),
            items={Split(split): count for split, count in value["items"].items()},
            probed=value.get("probe_words", True),
            units=value["test_units"],
            findings=tuple(map(_finding_from_json, value["cues"])),
            bounds={
                Cue(cue): {
                    Split(split): Bound(each["best"], each["total"], each["groups"])
                    for split, each in bounds.items()
                }
                for cue, bounds in value["bounds"].items()
            },
            structures=dict(value["structures"]),
        )
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise SentprobeError(f"{source}: not an audit of sentprobe ({error})") from None


def _score_to_json(score: ModelScore) -> dict[str, Any]:
    return {
        "accuracy": score.accuracy,
        "correct": score.correct,
        "total": score.total,
        "interval": _interval_to_json(score.interval),
        "strict_interval": _interval_to_json(score.strict),
    }


def _score_from_json(value: Mapping[str, Any]) -> ModelScore:
    return ModelScore(
        value["correct"],
        value["total"],
        Interval(*value["interval"]),
        Interval(*value["strict_interval"]),
    )


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


def _finding_from_json(value: Mapping[str, Any]) -> Finding:
    scores = {Classifier(kind): _score_from_json(s) for kind, s in value["scores"].items()}
    return Finding(
        Cue(value["cue"]),
        Trial(Classifier(value["chosen"]), scores),
        Verdict(value["verdict"]),
        value["reason"],
    )
