"""Audits read back from JSON: what is written says all of them."""

from collections.abc import Mapping
from typing import Any

from sentprobe.probes.audit import (
    Audit,
    Bound,
    Classifier,
    Cue,
    Finding,
    ModelScore,
    Trial,
    Verdict,
)
from sentprobe.probes.dataset import Split
from sentprobe.probes.statistics import Interval


def from_json(value: Mapping[str, Any]) -> Audit:
    """Return the audit that ``to_json`` wrote."""
    return Audit(
        task=value["task"],
        fingerprint=value["fingerprint"],
        seed=value["seed"],
        chance=value["chance"],
        majority=_score(value["majority"]),
        items={Split(split): count for split, count in value["items"].items()},
        probed=value["probe_words"],
        units=value["test_units"],
        findings=tuple(map(_finding, value["cues"])),
        bounds={
            Cue(cue): {
                Split(split): Bound(each["best"], each["total"], each["groups"])
                for split, each in bounds.items()
            }
            for cue, bounds in value["bounds"].items()
        },
        structures=dict(value["structures"]),
        expect=tuple(map(Cue, value.get("expect", ()))),
        agreeing=value.get("agreeing"),
    )


def _score(value: Mapping[str, Any]) -> ModelScore:
    return ModelScore(
        value["correct"],
        value["total"],
        Interval(*value["interval"]),
        Interval(*value["strict_interval"]),
    )


def _finding(value: Mapping[str, Any]) -> Finding:
    scores = {Classifier(kind): _score(each) for kind, each in value["scores"].items()}
    return Finding(
        Cue(value["cue"]),
        Trial(Classifier(value["chosen"]), scores),
        Verdict(value["verdict"]),
        value["reason"],
    )
