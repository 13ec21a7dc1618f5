"""Tokenizers of published models, and vocabularies that number words by the rows of their vectors."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

import numpy as np

from sentprobe.disk.files import decode_lines
from sentprobe.errors import FormatError, path_error
from sentprobe.probes.encoders.files.word_vectors import MAX_WORDS_SHOWN, WordVectors
from sentprobe.probes.encoders.protocol import EncoderError, Vectors


class Tokenization(StrEnum):
    """The tokenizer of an encoder."""

    OWN = "own"
    """The tokenizer of the published code."""
    SPACES = "spaces"
    """Spaces, for tokenized sentences as in SentEval."""


Tokenizer = Callable[[str], list[str]]


def tokenize_treebank(sentence: str) -> list[str]:
    """Tokenize by Penn Treebank rules (NLTK), without sentence splitting.

    >>> tokenize_treebank("The man didn't sleep.")
    ['The', 'man', 'did', "n't", 'sleep', '.']
    """
    from nltk.tokenize import word_tokenize

    words: list[str] = word_tokenize(sentence, preserve_line=True)
    return words


def tokenize_moses(sentence: str) -> list[str]:
    """Tokenize by Penn Treebank rules, but split "don 't" as Moses does before other words.

    >>> tokenize_moses("The man didn't sleep.")
    ['The', 'man', 'didn', "'t", 'sleep', '.']
    """
    return " ".join(tokenize_treebank(sentence)).replace(" n't ", "n 't ").split()


def tokenize_at_punctuation(sentence: str) -> list[str]:
    """Split into runs of letters and digits, and runs of other signs.

    >>> tokenize_at_punctuation("The man didn't sleep.")
    ['The', 'man', 'didn', "'", 't', 'sleep', '.']
    """
    from nltk.tokenize import wordpunct_tokenize

    words: list[str] = wordpunct_tokenize(sentence)
    return words


def choose_tokenizer(tokenization: Tokenization, model_tokenizer: Tokenizer) -> Tokenizer:
    """Return the chosen tokenizer."""
    return str.split if tokenization is Tokenization.SPACES else model_tokenizer


@dataclass(frozen=True, slots=True)
class NumberedWords:
    """The number of each word; other words have the number *unknown*."""

    source: str
    numbers: Mapping[str, int]
    unknown: int
    _seen: dict[str, bool] = field(default_factory=dict, repr=False, compare=False)

    def look_up(self, words: Sequence[str]) -> list[int]:
        """Return the numbers of the words."""
        self._seen.update((word, word in self.numbers) for word in words)
        return [self.numbers.get(word, self.unknown) for word in words]

    @property
    def row_count(self) -> int:
        """Number of rows that a table must have."""
        return max(self.numbers.values()) + 1

    def make_word_vectors(self, tables: Sequence[Vectors]) -> WordVectors:
        """Return the word vectors of the tables, concatenated; none for unknown words."""

        def find(word: str) -> Vectors | None:
            number = self.numbers.get(word)
            if number is None:
                return None
            return np.concatenate([table[number] for table in tables], dtype=np.float32)

        return WordVectors(self.source, sum(table.shape[1] for table in tables), "", find)

    @property
    def notes(self) -> tuple[str, ...]:
        """A note on the unknown words so far."""
        missing = sorted(word for word, has_number in self._seen.items() if not has_number)
        if not missing:
            return ()
        some = ", ".join(missing[:MAX_WORDS_SHOWN]) + (", ..." if len(missing) > MAX_WORDS_SHOWN else "")
        return (
            f"{len(missing)} of {len(self._seen)} different words are not in {self.source} and have "
            f"the vector of unknown words: {some}",
        )


def read_word_list(path: Path) -> dict[str, int]:
    """Read one word per line, numbered from 0; the last line of a repeated word counts. Raises EncoderError."""
    return {line.strip(): number for number, line in enumerate(_read_lines(path))}


def read_word_numbers(path: Path) -> dict[str, int]:
    """Read lines of a word, a tab and its number. Raises EncoderError."""
    numbers: dict[str, int] = {}
    for place, line in enumerate(_read_lines(path), 1):
        word, tab, number = line.rstrip("\r\n").partition("\t")
        if not (tab and number.isdecimal() and len(number) < 10):
            raise EncoderError(f"{path}, line {place}: a word, a tab and its number are wanted")
        numbers[word] = int(number)
    return numbers


def _read_lines(path: Path) -> Iterator[str]:
    try:
        with path.open("rb") as file:
            yield from decode_lines(file)
    except FormatError as error:
        raise EncoderError(f"{path}, {error}") from None
    except OSError as error:
        raise path_error(path, "cannot read the words", error, otherwise=EncoderError) from None
