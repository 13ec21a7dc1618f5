"""A finding of a review: a problem with a claim, its place, and advice."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Severity(StrEnum):
    """The effect of a finding on a claim."""

    SEVERE = "severe"
    """Claims that rest on these figures are not supported."""
    WARNING = "warning"
    """The claim may be true, but these results do not show it."""
    NOTE = "note"
    """The claim holds if it mentions this limitation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimFinding:
    """A finding of one check at one place."""

    severity: Severity
    problem: str
    advice: str
    figures: tuple[str, ...] = ()
    task: str = ""
    """Empty: all tasks."""
    encoder: str = ""
    """One or, with commas, several; empty: all encoders."""
    draw: str = ""
    table: str = ""
    """The table of ``probe show``; empty: the only one, or all."""
    check: str = ""

    @property
    def where(self) -> str:
        """The table, task, encoder and seed of the finding, separated by semicolons; empty: all results."""
        draw = f"seed {self.draw}" if self.draw else ""
        return "; ".join(part for part in (self.table, self.task, self.encoder, draw) if part)

    def to_record(self) -> dict[str, Any]:
        """Return a flat dictionary for :mod:`json`."""
        return {
            "severity": self.severity.value,
            "check": self.check,
            "table": self.table,
            "task": self.task,
            "encoder": self.encoder,
            "draw": self.draw,
            "says": self.problem,
            "figures": list(self.figures),
            "advice": self.advice,
        }
