"""Tokenizers of published models, and vocabularies that map each word to its row in a table of vectors."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

import numpy as np

from sentprobe.disk.reading import open_lines
from sentprobe.errors import FormatError, path_error
from sentprobe.probes.encoders.files.word_vectors import WordVectors, note_unknown_words
from sentprobe.probes.encoders.protocol import EncoderError, Vectors


class Tokenization(StrEnum):
    """Choice of the tokenizer of an encoder with published weights."""

    OWN = "own"
    """The tokenizer of the published code."""
    SPACES = "spaces"
    """Splitting at spaces, as in SentEval, whose sentences are tokenized already."""


Tokenizer = Callable[[str], list[str]]


def tokenize_treebank(sentence: str) -> list[str]:
    """Tokenize a text by the Penn Treebank rules of NLTK, as one sentence.

    >>> tokenize_treebank("The man didn't sleep.")
    ['The', 'man', 'did', "n't", 'sleep', '.']
    """
    from nltk.tokenize import word_tokenize

    return list(word_tokenize(sentence, preserve_line=True))


def tokenize_moses(sentence: str) -> list[str]:
    """Tokenize by Penn Treebank rules, but split "didn't" as Moses does, unless it is the end of the sentence.

    >>> tokenize_moses("The man didn't sleep.")
    ['The', 'man', 'didn', "'t", 'sleep', '.']
    """
    return " ".join(tokenize_treebank(sentence)).replace(" n't ", "n 't ").split()


def tokenize_at_punctuation(sentence: str) -> list[str]:
    """Split a sentence into sequences of letters and digits, and sequences of punctuation.

    >>> tokenize_at_punctuation("The man didn't sleep.")
    ['The', 'man', 'didn', "'", 't', 'sleep', '.']
    """
    from nltk.tokenize import wordpunct_tokenize

    return list(wordpunct_tokenize(sentence))


def choose_tokenizer(tokenization: Tokenization, model_tokenizer: Tokenizer) -> Tokenizer:
    return str.split if tokenization is Tokenization.SPACES else model_tokenizer


@dataclass(frozen=True, slots=True)
class NumberedWords:
    """A vocabulary with a number for each word; all other words get the number *unknown*."""

    source: str
    numbers: Mapping[str, int]
    unknown: int
    _seen: dict[str, bool] = field(default_factory=dict, repr=False, compare=False)

    def look_up(self, words: Sequence[str]) -> list[int]:
        """Return the number of each word; unknown words are recorded for :attr:`notes`."""
        self._seen.update((word, word in self.numbers) for word in words)
        return [self.numbers.get(word, self.unknown) for word in words]

    @property
    def row_count(self) -> int:
        """Number of rows that a table of word vectors must have. A word's number is the index of its row."""
        return max(self.numbers.values()) + 1

    def make_word_vectors(self, tables: Sequence[Vectors]) -> WordVectors:
        """Return a map from each word to its rows in all tables, concatenated; each table is (words, dim)."""

        def find(word: str) -> Vectors | None:
            number = self.numbers.get(word)
            if number is None:
                return None
            return np.concatenate([table[number] for table in tables], dtype=np.float32)

        return WordVectors(self.source, sum(table.shape[1] for table in tables), "", find)

    @property
    def notes(self) -> tuple[str, ...]:
        """A note on the unknown words among those looked up so far; empty if there are none."""
        missing = [word for word, has_number in self._seen.items() if not has_number]
        effect = f"are not in {self.source} and have the vector of unknown words"
        return note_unknown_words(missing, total=len(self._seen), effect=effect)


def read_word_list(path: Path) -> dict[str, int]:
    """Read a file with a word per line; return the line number, from 0, of each word. Raises EncoderError."""
    return {line.strip(): number for number, line in enumerate(_read_lines(path))}


def read_word_numbers(path: Path) -> dict[str, int]:
    """Return the index of each word in a file. A line has a word, a tab and the index. Raises EncoderError."""
    numbers: dict[str, int] = {}
    for line_number, line in enumerate(_read_lines(path), 1):
        word, tab, number = line.rstrip("\r\n").partition("\t")
        if not (tab and number.isascii() and number.isdecimal() and len(number) < 10):
            raise EncoderError(f"{path}, line {line_number}: a word, a tab and its number are expected")
        numbers[word] = int(number)
    return numbers


def _read_lines(path: Path) -> Iterator[str]:
    try:
        with open_lines(path) as lines:
            yield from lines
    except FormatError as error:
        raise EncoderError(f"{path}, {error}") from None
    except OSError as error:
        raise path_error(path, "cannot read the words", error, otherwise=EncoderError) from None
