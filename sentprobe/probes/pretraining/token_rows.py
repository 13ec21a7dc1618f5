"""Token sequences in flat arrays: 500,000 sentences are two arrays."""

from array import array
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

Places = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class TokenRows:
    """Rows of tokens, of any lengths."""

    tokens: NDArray[np.int32]
    bounds: Places
    """Start of each row, and end of the last one."""

    def __len__(self) -> int:
        return len(self.bounds) - 1

    def __getitem__(self, row: int) -> NDArray[np.int32]:
        """Return the tokens of a row."""
        return self.tokens[self.bounds[row] : self.bounds[row + 1]]

    @property
    def lengths(self) -> Places:
        """Number of tokens of each row."""
        return np.diff(self.bounds)


def collect_rows(rows: Iterable[Iterable[int]]) -> TokenRows:
    """Collect rows of tokens in flat arrays.

    >>> rows = collect_rows([[5, 6], [], [7]])
    >>> len(rows), rows[0].tolist(), rows.lengths.tolist()
    (3, [5, 6], [2, 0, 1])
    """
    tokens, bounds = array("i"), array("q", [0])
    for row in rows:
        tokens.extend(row)
        bounds.append(len(tokens))
    return TokenRows(np.array(tokens, dtype=np.int32), np.array(bounds, dtype=np.int64))


def pad_rows(rows: Iterable[NDArray[np.int32]], *, before: int = 0, after: int = 0) -> torch.Tensor:
    """Return rows of tokens as one tensor (b, time) int64, padded with zeros.

    *before* and *after*, unless 0, are added around each row.

    >>> pad_rows([np.array([5, 6]), np.array([7])], before=1, after=2).tolist()
    [[1, 5, 6, 2], [1, 7, 2, 0]]
    """
    edges = [np.array([edge] if edge else [], dtype=np.int32) for edge in (before, after)]
    sequences = [torch.from_numpy(np.concatenate([edges[0], row, edges[1]])) for row in rows]
    return torch.nn.utils.rnn.pad_sequence(sequences, batch_first=True).long()
