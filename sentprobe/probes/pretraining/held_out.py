"""Items that are held out of the training, so that no text of theirs is trained on."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sentprobe.errors import UsageError, counted
from sentprobe.probes.pretraining.token_rows import Places


@dataclass(frozen=True, slots=True, eq=False)
class Division:
    """Which items are trained on, and which are held out; those that are neither share a text."""

    train: Places
    validation: Places


def hold_out(*columns: Sequence[str], count: int, seed: int) -> Division:
    """Divide items, whose texts stand at one place of all *columns*, by the seed.

    At most *count*, and at most a tenth, are held out; all of these differ in each of their texts.

    >>> division = hold_out(["a", "b", "c", "a"], count=1, seed=0)
    >>> division.validation.tolist(), division.train.tolist()
    ([3], [1, 2])

    Raises:
        UsageError: nothing would be left to train on, or nothing to hold out.
    """
    items = len(columns[0])
    if items < 2:
        raise UsageError(f"{counted(items, 'item')} to learn from: at least 2 are needed")
    held: set[str] = set()
    chosen: list[int] = []
    for item in map(int, np.random.default_rng((seed, 1)).permutation(items)):
        texts = {column[item] for column in columns}
        if held.isdisjoint(texts):
            chosen.append(item)
            held |= texts
        if len(chosen) >= min(count, max(items // 10, 1)):
            break
    train = [item for item in range(items) if held.isdisjoint({c[item] for c in columns})]
    if not train:
        raise UsageError(f"all {items} items share a text with those held out: none is left")
    return Division(np.array(train, dtype=np.int64), np.array(sorted(chosen), dtype=np.int64))
