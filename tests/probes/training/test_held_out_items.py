"""Held-out items share no text with training items."""

import pytest
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.common.errors import UsageError
from sentprobe.probes.training.objective import hold_out

PAIRS = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), min_size=2, max_size=60)


@examples(100)
@given(PAIRS, st.integers(1, 9), st.integers(0, 3))
def test_no_text_held_out_is_trained_on(pairs: list[tuple[int, int]], count: int, seed: int) -> None:
    columns = [[str(pair[side]) for pair in pairs] for side in (0, 1)]
    try:
        split = hold_out(*columns, count=count, seed=seed)
    except UsageError:
        return
    texts = [[{column[item] for column in columns} for item in items] for items in (split.train, split.validation)]
    assert set().union(*texts[0]).isdisjoint(set().union(*texts[1]))
    assert sum(map(len, texts[1])) == len(set().union(*texts[1]))  # none twice
    assert 1 <= len(split.validation) <= min(count, max(len(pairs) // 10, 1))


def test_the_seed_decides() -> None:
    texts = [str(number) for number in range(50)]
    once, again, other_seed = (hold_out(texts, count=5, seed=seed) for seed in (1, 1, 2))
    assert once.validation.tolist() == again.validation.tolist() != other_seed.validation.tolist()
    assert len(once.train) == 45


def test_too_little_text_is_refused() -> None:
    with pytest.raises(UsageError, match="1 item to learn from: at least 2 are needed"):
        hold_out(["a"], count=1, seed=1)
    with pytest.raises(UsageError, match="all 3 items share a text with those held out"):
        hold_out(["a", "a", "a"], count=1, seed=1)
