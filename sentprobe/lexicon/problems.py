"""Problems of a lexicon file, with their lines."""

from collections.abc import Iterable
from dataclasses import dataclass

from sentprobe.errors import SentprobeError, format_message


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One mistake in a lexicon file; *code* is a key of ``CHECKS`` in ``lexicon_checks``."""

    line: int
    code: str
    text: str


class LexiconError(SentprobeError):
    """A lexicon file is wrong; the message has a line ``FILE:LINE: CODE: ...`` for each problem."""

    exit_code = 2

    def __init__(self, path: str, problems: Iterable[Problem]) -> None:
        self.path = path
        self.problems = tuple(sorted(problems))
        super().__init__(path, self.problems)

    @property
    def code(self) -> str:
        """The code of the first problem."""
        return self.problems[0].code

    @property
    def line(self) -> int:
        """The line of the first problem, counted from 1."""
        return self.problems[0].line

    def __str__(self) -> str:
        lines = (f"{self.path}:{p.line}: {p.code}: {p.text}" for p in self.problems)
        return format_message("\n".join(lines))
