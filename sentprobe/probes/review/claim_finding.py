"""A finding of a review: what stands in the way of a claim, where, and what to do."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Severity(StrEnum):
    """How much of a claim is left where a finding is right."""

    GRAVE = "grave"
    """Nothing: what rests on these figures is not to be believed."""
    WARNING = "warning"
    """It may be true, and these results do not show it."""
    NOTE = "note"
    """All of it, if the claim says this too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimFinding:
    """What one check has found at one place."""

    severity: Severity
    says: str
    """What is wrong, in a sentence."""
    advice: str
    """What to do, in a sentence."""
    figures: tuple[str, ...] = ()
    task: str = ""
    """Empty: all of the table; so too of the next two."""
    encoder: str = ""
    """One or, with commas, several."""
    draw: str = ""
    """The seed of a draw."""
    table: str = ""
    """Which of several tables, as ``probe show`` calls it; empty: the only one, or all."""
    check: str = ""
    """The name of the check that found it."""

    @property
    def where(self) -> str:
        """The place, from the widest to the narrowest; empty: all results."""
        draw = f"seed {self.draw}" if self.draw else ""
        return "; ".join(part for part in (self.table, self.task, self.encoder, draw) if part)

    def to_record(self) -> dict[str, Any]:
        """Return a flat dictionary, as :mod:`json` can write it."""
        return {
            "severity": self.severity.value,
            "check": self.check,
            "table": self.table,
            "task": self.task,
            "encoder": self.encoder,
            "draw": self.draw,
            "says": self.says,
            "figures": list(self.figures),
            "advice": self.advice,
        }
