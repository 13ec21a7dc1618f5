"""The number of examples of a property: 10% in ``make test``, 50% in ``make test-slow``; all with max_examples=100."""

from typing import Any

from hypothesis import settings

FEWEST = 3
"""So many a property gets at the least, however long one takes."""


def examples(count: int, **options: Any) -> settings:
    """Return settings with *count* examples, scaled by the loaded Hypothesis profile."""
    share = settings().max_examples / 100
    return settings(max_examples=max(FEWEST, round(count * share)), **options)
