"""From a text of a file to a sentence to learn from, or to the count of what was left out."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sentprobe.errors import UsageError
from sentprobe.probes.corpus import sources
from sentprobe.probes.pretraining.texts import text_files, word_tokens
from sentprobe.probes.pretraining.texts.corpora import Omissions


@dataclass(frozen=True, slots=True, kw_only=True)
class TextOptions:
    """What is done with each text, whatever the file."""

    tokenised: bool = False
    """Whether texts have a space between any two tokens already; else they are tokenised."""
    lower: bool = False
    """Whether words are turned to lower case."""
    longest: int = 50
    """The tokens of the longest sentence that is kept."""
    encoding: str = "utf-8"
    punkt: Path | None = None
    """A folder of Punkt's parameters, to split running text; none: NLTK's own for English."""

    def __post_init__(self) -> None:
        sources.check_encoding(self.encoding)


FEWEST = 2
"""One to train on, and one to validate on."""


class Sieve:
    """Makes sentences of texts, and counts those that it does not keep."""

    def __init__(self, options: TextOptions) -> None:
        self.options = options
        self._counts: Counter[str] = Counter()

    def sentence(self, text: str, *, tokens: bool = False) -> str:
        """Return the tokens of a text, with a space between any two; none is an empty text.

        With *tokens* the text has a space between any two already.

        >>> Sieve(TextOptions(lower=True)).sentence("Don't  go.")
        "do n't go ."
        """
        words = text.split()
        # A text too long by its words alone is not tokenised: it will not be kept.
        tokens = tokens or self.options.tokenised
        if not tokens and len(words) <= self.options.longest:
            words = word_tokens.tokens_of(text)
        line = " ".join(words)
        return line.lower() if self.options.lower else line

    def row(self, where: str, columns: Sequence[str], values: Sequence[object]) -> list[str]:
        """Return the sentences in the columns of a row, which is *where*.

        Raises:
            FormatError: a value is no text.
        """
        pairs = zip(columns, values, strict=False)  # what follows the texts is no text
        return [
            self.sentence(text_files.text_value(where, column, value)) for column, value in pairs
        ]

    def keeps(self, *sentences: str) -> bool:
        """Say whether sentences that belong together are neither empty nor too long."""
        if not all(sentences):
            return self.omit("empty")
        if max(line.count(" ") for line in sentences) >= self.options.longest:
            return self.omit("long")
        return True

    def omit(self, reason: str) -> bool:
        """Count what is left out for a reason, a field of :class:`Omissions`; return False."""
        self._counts[reason] += 1
        return False

    def omissions(self) -> Omissions:
        """Return how many were left out so far."""
        return Omissions(**self._counts)


def check_enough(where: str, found: Sequence[object], what: str, omitted: Omissions) -> None:
    """Refuse a corpus that nothing can be learned from.

    Raises:
        UsageError: it has none of *what*, or only one.
    """
    if len(found) >= FEWEST:
        return
    number = "only one" if found else "no"
    why = f" ({omitted})" if omitted.total else ""
    raise UsageError(
        f"{where}: has {number} {what} to learn from{why}; at least {FEWEST} are needed, one of "
        "them to validate on"
    )
