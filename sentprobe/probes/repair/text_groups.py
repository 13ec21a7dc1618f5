"""Groups of texts that are near-copies or are edits of each other, and a split that keeps each group together."""

import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
from scipy import sparse

from sentprobe.common.values import group_by

NEAR_COPY = 0.7
"""Texts are near-copies if they share this part of their words (Jaccard index); numbers do not count as words."""
_BLOCK = 256
"""Number of texts that are compared with all others at a time, which limits memory."""
_WORD = re.compile(r"[^\W\d_]+")


def normalize(text: str) -> str:
    """Return a text without differences in case, spaces and final punctuation."""
    return " ".join(text.casefold().split()).rstrip(".?! ")


def group_texts(texts: Sequence[str], pairs: Iterable[tuple[str, str]]) -> dict[str, int]:
    """Return the group of each text, by the normalized text.

    Near-copies are in one group, as are both texts of a pair; the relation is transitive.

    - texts: the user's texts
    - pairs: an edit and its text, or two texts of a pair of the user's; they need not be among *texts*

    >>> groups = group_texts(["Pay 3 times?", "Pay 5 times?", "Open?"], [("Open?", "Closed?")])
    >>> groups["pay 3 times"] == groups["pay 5 times"], groups["open"] == groups["closed"], len({*groups.values()})
    (True, True, 2)
    """
    names: dict[str, int] = {}
    links = [
        (names.setdefault(normalize(first), len(names)), names.setdefault(normalize(second), len(names)))
        for first, second in pairs
    ]
    distinct = [*dict.fromkeys(map(normalize, texts))]
    nodes = [names.setdefault(text, len(names)) for text in distinct]
    links += [(nodes[first], nodes[second]) for first, second in _find_near_copies(distinct)]
    rows, columns = np.array(links, np.int64).reshape(-1, 2).T
    graph = sparse.coo_array((np.ones(len(links), np.int8), (rows, columns)), shape=(len(names), len(names)))
    _, groups = sparse.csgraph.connected_components(graph, directed=False)
    return dict(zip(names, groups.tolist(), strict=True))


def _find_near_copies(texts: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the places of two texts that share most of their words, the first before the second."""
    numbers: dict[str, int] = {}
    words = [[numbers.setdefault(word, len(numbers)) for word in {*_WORD.findall(text)}] for text in texts]
    sizes = np.array([len(row) for row in words])
    starts = np.concatenate([[0], np.cumsum(sizes)])
    flat = np.array([number for row in words for number in row], np.int64)
    table = sparse.csr_array((np.ones(len(flat), np.int32), flat, starts), shape=(len(texts), len(numbers)))
    # In blocks, since the counts of shared words of all pairs of texts would not fit in memory.
    for start in range(0, len(texts), _BLOCK):
        shared = (table[start : start + _BLOCK] @ table.T).tocoo()
        firsts, seconds = shared.coords[0] + start, shared.coords[1]
        # Jaccard's index: shared words by all words of both.
        union = sizes[firsts] + sizes[seconds] - shared.data
        is_near = (shared.data >= NEAR_COPY * union) & (firsts < seconds)
        yield from zip(firsts[is_near].tolist(), seconds[is_near].tolist(), strict=True)


def choose_held_out(groups: Mapping[str, int], texts: Iterable[str], *, share: float, seed: int) -> set[int]:
    """Return random groups that have about *share* of the distinct *texts*, and never more."""
    by_group = group_by({*map(normalize, texts)}, lambda text: groups[text])
    quota = share * sum(map(len, by_group.values()))
    order = sorted(by_group)
    random.Random(seed).shuffle(order)
    chosen: set[int] = set()
    count = 0
    for group in order:
        if count + len(by_group[group]) <= quota:
            chosen.add(group)
            count += len(by_group[group])
    return chosen
