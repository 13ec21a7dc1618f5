"""How many examples a property gets: a quarter in ``make test``, all in ``make test-slow``."""

from typing import Any

from hypothesis import settings

FEWEST = 3
"""So many a property gets at the least, however long one takes."""


def examples(count: int, **others: Any) -> settings:
    """Return settings with *count* examples, or their share under the profile that is loaded.

    A profile with 100 examples, the number that Hypothesis itself takes, gives all of them.
    """
    share = settings().max_examples / 100
    return settings(max_examples=max(FEWEST, round(count * share)), **others)
