"""Audits read back from what ``probe audit --format json`` wrote, which may be anybody's."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sentprobe.errors import FormatError, SentprobeError, path_error
from sentprobe.probes.audit.audit import FORMAT, Audit, Bound, Finding, Verdict
from sentprobe.probes.audit.classify import Classifier, ModelScore, Trial
from sentprobe.probes.dataset import Split
from sentprobe.probes.known_task import Cue
from sentprobe.probes.statistics import Interval
from sentprobe.values import check_record, parse_json


def read_audits(path: Path) -> tuple[Audit, ...]:
    """Return the audits of a file.

    Raises:
        UsageError: it may not be read.
        FormatError: it is not as ``probe audit --format json`` writes it.
    """
    try:
        text = path.read_bytes()
    except OSError as error:
        raise path_error(path, "cannot read it", error) from error
    return parse_audits(text, source=str(path))


def parse_audits(text: str | bytes, *, source: str) -> tuple[Audit, ...]:
    """Read audits back, the inverse of ``render`` as JSON; *source* names them in an error.

    Raises:
        FormatError: they are none.
    """
    try:
        found = parse_json(text)
        if not isinstance(found, list) or not found:
            raise ValueError("a list of audits is wanted")
        return tuple(map(from_json, found))
    except (SentprobeError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise FormatError(
            f"{source}: not what probe audit --format json writes ({error})"
        ) from None


def from_json(value: Mapping[str, Any]) -> Audit:
    """Return the audit that ``to_json`` wrote.

    Raises:
        FormatError, ValueError, TypeError, KeyError, AttributeError: it did not write that.
    """
    if value["format"] != FORMAT:
        raise FormatError(f"the format is {value['format']!r}, not {FORMAT!r}")
    audit = Audit(
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
    check_record(audit)
    _check(audit)
    return audit


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


def _check(audit: Audit) -> None:
    """Refuse what no audit says, though each of its parts is of its type."""
    if Split.TEST not in audit.items or set(audit.structures) not in ({*()}, _STRUCTURES):
        raise ValueError("there is no number of test items, or of structures")
    if any(each.trial.chosen not in each.trial.scores for each in audit.findings):
        raise ValueError("a classifier was chosen that has no score")
    bounds = [each for own in audit.bounds.values() for each in own.values()]
    counts = [
        *((each.correct, each.total) for each in _scores(audit)),
        *((each.best, each.total) for each in bounds),
    ]
    shares = [audit.chance, *(s for e in _scores(audit) for s in (e.interval.low, e.interval.high))]
    if not all(0 <= part <= whole != 0 for part, whole in counts) or not all(
        0 <= share <= 1 for share in shares
    ):
        raise ValueError("an accuracy is no share of the items")


_STRUCTURES = {"parsed", "skeleton"}


def _scores(audit: Audit) -> Iterator[ModelScore]:
    yield audit.majority
    for finding in audit.findings:
        yield from finding.trial.scores.values()
