"""Audits that nobody trained anything for, and the files that ``probe audit`` writes of them."""

from pathlib import Path

from sentprobe.probes import audit as au
from sentprobe.probes.dataset import Split
from sentprobe.probes.statistics import wilson


def model_score(correct: int) -> au.ModelScore:
    """So many of 1000 items right."""
    return au.ModelScore(
        correct, 1000, wilson(correct, 1000), wilson(correct, 1000, confidence=0.99)
    )


def finding(cue: au.Cue, correct: int, verdict: au.Verdict, reason: str = "") -> au.Finding:
    scores = {au.Classifier.LINEAR: model_score(500), au.Classifier.BOOSTING: model_score(correct)}
    return au.Finding(cue, au.Trial(au.Classifier.BOOSTING, scores), verdict, reason)


def made_audit(task: str = "Order", fingerprint: str = "0", *, leaks: bool = False) -> au.Audit:
    """An audit of three cues, of which one is expected above chance, and another is if it leaks."""
    return au.Audit(
        task=task,
        fingerprint=fingerprint,
        seed=3,
        chance=0.5,
        majority=model_score(500),
        items={Split.TRAIN: 4000, Split.TEST: 1000},
        units=500,
        findings=(
            finding(au.Cue.PROBE, 500, au.Verdict.CHANCE),
            finding(au.Cue.LENGTH, *((620, au.Verdict.LEAK) if leaks else (470, au.Verdict.BELOW))),
            finding(au.Cue.NGRAMS, 900, au.Verdict.EXPECTED, "it is about order"),
        ),
        bounds={au.Cue.PROBE: {Split.TEST: au.Bound(500, 1000, 9)}},
        structures={"parsed": 5, "skeleton": 0},
        expect=(au.Cue.NGRAMS,),
        agreeing=0.75,
    )


def audit_file(path: Path, *audits: au.Audit) -> Path:
    path.write_text(au.render(audits, style=au.AuditFormat.JSON), "utf-8")
    return path
