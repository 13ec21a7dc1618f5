"""What a parser is: the protocol that all of them keep."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, TypeAlias

from sentprobe.errors import SentprobeError, UsageError
from sentprobe.probes.syntax.trees import Parsed

ParserOutcome: TypeAlias = Parsed | str
"""A parsed sentence, or why it is not parsed."""


class ParserError(SentprobeError):
    """A parser that cannot be used at all: not installed, no model, no answer."""


class Parser(Protocol):
    """What parses sentences. An exception from it is the failure of one sentence.

    Only a :class:`ParserError` ends the run.
    """

    @property
    def fingerprint(self) -> str:
        """What its parses depend on: library, version, model."""

    @property
    def splits(self) -> bool:
        """Whether it splits running text itself."""

    def parse(self, sentences: Sequence[Sequence[str]]) -> Sequence[ParserOutcome]:
        """Return a parse for each sentence, given in tokens, or why there is none."""

    def parse_text(self, text: str) -> Sequence[ParserOutcome]:
        """Return a parse for each sentence of a running text; only where *splits*."""


def find_model(folder: str, *, owner: str, how: str) -> Path:
    """Return the folder of a model.

    Raises:
        UsageError: it is not there; *how* says how to get one.
    """
    path = Path(folder)
    if not folder or not path.is_dir():
        what = f"{folder}: there is no such folder" if folder else f"{owner}: no model is named"
        raise UsageError(f"{what}; {how}")
    return path
