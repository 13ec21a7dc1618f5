"""The audit of a dataset: the accuracy of surface cues, and upper bounds on it."""

from sentprobe.probes.audit.audit_report import format_verdict_lines as format_verdict_lines
from sentprobe.probes.audit.audit_report import render as render
from sentprobe.probes.audit.audit_report import to_json as to_json
from sentprobe.probes.audit.cue_audit import FORMAT as FORMAT
from sentprobe.probes.audit.cue_audit import KEYS as KEYS
from sentprobe.probes.audit.cue_audit import Audit as Audit
from sentprobe.probes.audit.cue_audit import Bound as Bound
from sentprobe.probes.audit.cue_audit import Finding as Finding
from sentprobe.probes.audit.cue_audit import Verdict as Verdict
from sentprobe.probes.audit.cue_audit import audit as audit
from sentprobe.probes.audit.cue_audit import audit_all as audit_all
from sentprobe.probes.audit.cue_audit import compute_bound as compute_bound
from sentprobe.probes.audit.cue_audit import count_processes as count_processes
from sentprobe.probes.audit.cue_classifiers import Classifier as Classifier
from sentprobe.probes.audit.cue_classifiers import ModelScore as ModelScore
from sentprobe.probes.audit.cue_classifiers import Trial as Trial
from sentprobe.probes.audit.cue_features import CUES as CUES
from sentprobe.probes.known_task import Cue as Cue
