"""Items held out for validation, none of whose texts is trained on."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sentprobe.errors import UsageError, format_count
from sentprobe.probes.pretraining.token_rows import Places


@dataclass(frozen=True, slots=True, eq=False)
class TrainValidationSplit:
    """Training and validation items; any other item that shares a text with a validation item is left out."""

    train: Places
    validation: Places


def hold_out(*columns: Sequence[str], count: int, seed: int) -> TrainValidationSplit:
    """Split items at random by *seed*; item i has the texts at place i of all *columns*.

    At most *count* items, and at most a tenth, are held out; no two held-out items share a text.

    >>> split = hold_out(["a", "b", "c", "a"], count=1, seed=0)
    >>> split.validation.tolist(), split.train.tolist()
    ([3], [1, 2])
    """
    items = len(columns[0])
    if items < 2:
        raise UsageError(f"{format_count(items, 'item')} to learn from: at least 2 are needed")
    held_out_texts: set[str] = set()
    validation: list[int] = []
    for item in map(int, np.random.default_rng((seed, 1)).permutation(items)):
        texts = {column[item] for column in columns}
        if held_out_texts.isdisjoint(texts):
            validation.append(item)
            held_out_texts |= texts
        if len(validation) >= min(count, max(items // 10, 1)):
            break
    train = [item for item in range(items) if held_out_texts.isdisjoint({c[item] for c in columns})]
    if not train:
        raise UsageError(f"all {items} items share a text with those held out: none is left")
    return TrainValidationSplit(np.array(train, dtype=np.int64), np.array(sorted(validation), dtype=np.int64))
