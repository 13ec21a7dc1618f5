"""Settings: frozen dataclasses whose fields state once what the command line, the run file and Python need of them.

A field is ``seed: Annotated[int, Setting("Random seed.", panel=DATA)] = 0``. Its name, type and default
are those of the option. Modules of settings import no library, since every ``--help`` reads them.
"""

from dataclasses import dataclass

DATA = "Data"
HELD_OUT = "Held-out data"
NATURAL_TEXT = "Natural text"
CLASSIFIER = "The classifier"
MACHINE = "Machine"
METHODS = "Methods"
FIX = "Features to set"
VARY = "Words to allow (repeatable)"
"""The constants from DATA to VARY are titles of panels (groups of options) in ``--help``."""

Repeatable = list[str] | None
"""Type of an option that the user may repeat; None if it is not set."""


@dataclass(frozen=True, slots=True)
class Setting:
    """The part of a setting that only its option has: the help, and the panel of the help that shows it."""

    help: str
    panel: str | None = None
    names: tuple[str, ...] = ()
    """Names of the option, such as ``--template`` and ``-t``; by default ``--`` and the field's name."""
    metavar: str | None = None
    choices: tuple[str, ...] = ()
    """Values that shell completion offers; by default those for the field's name in every command."""
