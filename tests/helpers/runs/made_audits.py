"""Audits made by hand, and the files of ``probe audit`` with them."""

from pathlib import Path

from sentprobe.common.values import format_json
from sentprobe.probes.audits import cue_audit as au
from sentprobe.probes.audits.audit_report import to_json
from sentprobe.probes.audits.cue_classifiers import Classifier, ModelScore, Trial
from sentprobe.probes.datasets.dataset import Split
from sentprobe.probes.datasets.known_task import Cue
from sentprobe.probes.results.data_facts import SplitOverlap
from sentprobe.probes.statistics import wilson


def make_model_score(correct: int) -> ModelScore:
    """Make a score with this number of 1000 items right."""
    return ModelScore(correct, 1000, wilson(correct, 1000), wilson(correct, 1000, confidence=0.99))


def make_finding(cue: Cue, correct: int, verdict: au.Verdict, reason: str = "") -> au.Finding:
    scores = {Classifier.LINEAR: make_model_score(500), Classifier.BOOSTING: make_model_score(correct)}
    return au.Finding(cue, Trial(Classifier.BOOSTING, scores), verdict, reason)


def make_audit(task: str = "Order", fingerprint: str = "0", *, leaks: bool = False) -> au.Audit:
    """Make an audit of three cues: one is expected, another is above chance if it leaks."""
    return au.Audit(
        task=task,
        fingerprint=fingerprint,
        seed=3,
        chance=0.5,
        overlap=SplitOverlap(1000, 0, 4),
        majority=make_model_score(500),
        items={Split.TRAIN: 4000, Split.TEST: 1000},
        units=500,
        findings=(
            make_finding(Cue.PROBE, 500, au.Verdict.CHANCE),
            make_finding(Cue.LENGTH, *((620, au.Verdict.LEAK) if leaks else (470, au.Verdict.BELOW))),
            make_finding(Cue.NGRAMS, 900, au.Verdict.EXPECTED, "it is about order"),
        ),
        bounds={Cue.PROBE: {Split.TEST: au.Bound(500, 1000, 9)}},
        structures={"parsed": 5, "skeleton": 0},
        expect=(Cue.NGRAMS,),
        agreeing=0.75,
    )


def write_audit_file(path: Path, *audits: au.Audit) -> Path:
    path.write_text(format_json(list(map(to_json, audits))), "utf-8")
    return path
