"""The audit of a dataset: the accuracy of surface cues, and upper bounds on it."""

from sentprobe.probes.audit.audit_report import format_verdict_lines, render, to_json
from sentprobe.probes.audit.cue_audit import (
    FORMAT,
    KEYS,
    Audit,
    Bound,
    Finding,
    Verdict,
    audit,
    audit_all,
    compute_bound,
    count_processes,
)
from sentprobe.probes.audit.cue_classifiers import Classifier, ModelScore, Trial
from sentprobe.probes.audit.cue_features import CUES
from sentprobe.probes.known_task import Cue

__all__ = [
    "CUES",
    "FORMAT",
    "KEYS",
    "Audit",
    "Bound",
    "Classifier",
    "Cue",
    "Finding",
    "ModelScore",
    "Trial",
    "Verdict",
    "audit",
    "audit_all",
    "compute_bound",
    "count_processes",
    "format_verdict_lines",
    "render",
    "to_json",
]
