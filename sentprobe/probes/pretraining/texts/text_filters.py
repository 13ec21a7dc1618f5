"""Filters of training texts: tokenisation, lower case, and counts of omitted texts."""

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
    """Options for each text of any file."""

    tokenised: bool = False
    """Whether texts already have spaces between all tokens."""
    lower: bool = False
    longest: int = 50
    """Maximum number of tokens of a sentence."""
    encoding: str = "utf-8"
    punkt: Path | None = None
    """Folder of Punkt's parameters, to split running text; None: NLTK's for English."""

    def __post_init__(self) -> None:
        sources.check_encoding(self.encoding)


DEFAULT_OPTIONS = TextOptions()

MIN_ITEMS = 2
"""One item to train on, and one to validate on."""


class TextFilter:
    """Converter of texts to sentences, which counts the texts that it leaves out."""

    def __init__(self, options: TextOptions) -> None:
        self.options = options
        self._counts: Counter[str] = Counter()

    def to_sentence(self, text: str, *, is_tokenised: bool = False) -> str:
        """Return the tokens of a text, separated by spaces; without tokens, an empty text.

        With *is_tokenised*, the text already has spaces between tokens.

        >>> TextFilter(TextOptions(lower=True)).to_sentence("Don't  go.")
        "do n't go ."
        """
        words = text.split()
        # A text with too many words is not tokenised, since it will be left out.
        is_tokenised = is_tokenised or self.options.tokenised
        if not is_tokenised and len(words) <= self.options.longest:
            words = word_tokens.tokenize(text)
        line = " ".join(words)
        return line.lower() if self.options.lower else line

    def to_sentences(self, where: str, columns: Sequence[str], values: Sequence[object]) -> list[str]:
        """Return the sentences in the columns of a row; *where* names the row in errors."""
        pairs = zip(columns, values, strict=False)  # columns after the texts hold no text
        return [self.to_sentence(text_files.to_text(where, column, value)) for column, value in pairs]

    def is_kept(self, *sentences: str) -> bool:
        """Return whether all *sentences* of an item are neither empty nor too long."""
        if not all(sentences):
            return self.count_omission("empty")
        if max(line.count(" ") for line in sentences) >= self.options.longest:
            return self.count_omission("long")
        return True

    def count_omission(self, reason: str) -> bool:
        """Count an omission for a reason, a field of :class:`Omissions`; return False."""
        self._counts[reason] += 1
        return False

    def summarize_omissions(self) -> Omissions:
        """Return the numbers of omitted texts so far."""
        return Omissions(**self._counts)


def check_enough(where: str, items: Sequence[object], noun: str, omitted: Omissions) -> None:
    """Raise UsageError if fewer than MIN_ITEMS items were read."""
    if len(items) >= MIN_ITEMS:
        return
    number = "only one" if items else "no"
    reason = f" ({omitted})" if omitted.total else ""
    raise UsageError(
        f"{where}: has {number} {noun} to learn from{reason}; at least {MIN_ITEMS} are needed, "
        "one of them to validate on"
    )
