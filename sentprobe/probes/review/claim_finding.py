"""A finding of ``probe check``: a problem with a claim, the results concerned, and advice."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Severity(StrEnum):
    """How strongly a finding weakens a claim."""

    SEVERE = "severe"
    """Claims that rest on these figures are not supported."""
    WARNING = "warning"
    """The claim may be true, but these results do not show it."""
    NOTE = "note"
    """The claim is sound if it mentions this limitation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimFinding:
    """A problem that a check finds, with the task, encoders and table that it concerns."""

    severity: Severity
    problem: str
    advice: str
    figures: tuple[str, ...] = ()
    task: str = ""
    """The names of tasks, separated by commas; empty for all tasks."""
    encoder: str = ""
    """The names of encoders, separated by commas; empty for all encoders."""
    draw: str = ""
    table: str = ""
    """The title of the table of ``probe show``; empty if there is one table, or for all tables."""
    check: str = ""

    @property
    def where(self) -> str:
        """The finding's table, task, encoder and seed, separated by semicolons; empty if it concerns all results."""
        draw = f"seed {self.draw}" if self.draw else ""
        return "; ".join(part for part in (self.table, self.task, self.encoder, draw) if part)

    def to_record(self) -> dict[str, Any]:
        """Return the finding as a dictionary for :mod:`json`."""
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
