"""The protocol of parsers."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, TypeAlias

from sentprobe.errors import SentprobeError, UsageError
from sentprobe.probes.syntax.trees import ParsedSentence

ParserOutcome: TypeAlias = ParsedSentence | str
"""A parsed sentence, or the reason why it has no parse."""


class ParserError(SentprobeError):
    """A parser cannot be used: it is not installed, it has no model, or its server does not answer."""


class Parser(Protocol):
    """A constituency or dependency parser.

    An exception counts as the failure of one sentence; only a :class:`ParserError` ends the run.
    """

    @property
    def fingerprint(self) -> str:
        """Library, version and model: the parses depend on them."""

    @property
    def splits(self) -> bool:
        """Whether the parser splits running text into sentences."""

    def parse(self, sentences: Sequence[Sequence[str]]) -> Sequence[ParserOutcome]:
        """Return a parse of each tokenised sentence, or the reason why it has none."""

    def tokenize(self, sentence: str) -> Sequence[str]:
        """Return the tokens of a sentence, as the parser's models know them; empty if it has no tokenizer."""

    def parse_text(self, text: str) -> Sequence[ParserOutcome]:
        """Split a running text and parse its sentences; only for parsers that split."""


def find_model(folder: str, *, owner: str, how: str) -> Path:
    """Return the folder of a model, or raise a UsageError that ends with *how* to get one."""
    path = Path(folder)
    if not folder or not path.is_dir():
        problem = f"{folder}: the folder does not exist" if folder else f"{owner}: the spec names no model"
        raise UsageError(f"{problem}; {how}")
    return path
