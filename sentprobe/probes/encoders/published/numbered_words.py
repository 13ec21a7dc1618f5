"""Words by number: the rows of their vectors, and what is to be said of those without one."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from sentprobe.errors import FormatError, path_error
from sentprobe.files import decode_lines
from sentprobe.probes.encoders.protocol import EncoderError, Vectors
from sentprobe.probes.encoders.word_vectors import SHOWN, WordVectors


@dataclass(frozen=True, slots=True)
class NumberedWords:
    """The number of each word; a word that has none gets *unknown*."""

    source: str
    numbers: Mapping[str, int]
    unknown: int
    _met: dict[str, bool] = field(default_factory=dict, repr=False, compare=False)

    def look_up(self, words: Sequence[str]) -> list[int]:
        """Return the numbers of the words."""
        self._met.update((word, word in self.numbers) for word in words)
        return [self.numbers.get(word, self.unknown) for word in words]

    @property
    def rows(self) -> int:
        """How many rows a table wants to have one for each number."""
        return max(self.numbers.values()) + 1

    def vectors(self, tables: Sequence[Vectors]) -> WordVectors:
        """Return the word vectors of tables, side by side; none for a word without a number."""

        def find(word: str) -> Vectors | None:
            number = self.numbers.get(word)
            if number is None:
                return None
            return np.concatenate([table[number] for table in tables], dtype=np.float32)

        return WordVectors(self.source, sum(table.shape[1] for table in tables), "", find)

    @property
    def notes(self) -> tuple[str, ...]:
        """One sentence on the words so far that have no number, if there are any."""
        missing = sorted(word for word, known in self._met.items() if not known)
        if not missing:
            return ()
        some = ", ".join(missing[:SHOWN]) + (", ..." if len(missing) > SHOWN else "")
        return (
            f"{len(missing)} of {len(self._met)} different words are not in {self.source} and have "
            f"the vector of unknown words: {some}",
        )


def read_word_list(path: Path) -> dict[str, int]:
    """Read a word a line, whose numbers count from 0; if one comes twice, the last counts.

    Raises:
        UsageError: there is no such file.
        EncoderError: a line is not UTF-8; says which.
    """
    return {line.strip(): number for number, line in enumerate(_lines(path))}


def read_word_numbers(path: Path) -> dict[str, int]:
    """Read lines of a word, a tab and its number.

    Raises:
        UsageError: there is no such file.
        EncoderError: a line is something else; says which.
    """
    return dict(_entries(_lines(path), path))


def _entries(lines: Iterable[str], path: Path) -> Iterator[tuple[str, int]]:
    for place, line in enumerate(lines, 1):
        word, tab, number = line.rstrip("\r\n").partition("\t")
        if not (tab and number.isdecimal() and len(number) < 10):
            raise EncoderError(f"{path}, line {place}: a word, a tab and its number are wanted")
        yield word, int(number)


def _lines(path: Path) -> Iterator[str]:
    try:
        with path.open("rb") as file:
            yield from decode_lines(file)
    except FormatError as error:
        raise EncoderError(f"{path}, {error}") from None
    except OSError as error:
        raise path_error(path, "cannot read the words", error, otherwise=EncoderError) from None
