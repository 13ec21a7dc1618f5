"""The audit of a dataset: what surface cues achieve, and what they cannot exceed."""

from sentprobe.probes.audit.audit import (
    FORMAT,
    KEYS,
    Audit,
    Bound,
    Finding,
    Verdict,
    audit,
    audit_all,
    bound,
    processes_for,
)
from sentprobe.probes.audit.classify import Classifier, ModelScore, Trial
from sentprobe.probes.audit.features import CUES
from sentprobe.probes.audit.render import AuditFormat, render, to_json, verdict_lines
from sentprobe.probes.known_task import Cue

__all__ = [
    "CUES",
    "FORMAT",
    "KEYS",
    "Audit",
    "AuditFormat",
    "Bound",
    "Classifier",
    "Cue",
    "Finding",
    "ModelScore",
    "Trial",
    "Verdict",
    "audit",
    "audit_all",
    "bound",
    "processes_for",
    "render",
    "to_json",
    "verdict_lines",
]
