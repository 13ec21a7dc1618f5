"""Validations are compared and shown, and held-out items share no text with training items."""

import pytest
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.common.errors import UsageError
from sentprobe.probes.training.objective import Validation, hold_out
from sentprobe.probes.training.schedule import TrainingState

PAIRS = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), min_size=2, max_size=60)


@examples(100)
@given(PAIRS, st.integers(1, 9), st.integers(0, 3))
def test_held_out_texts_are_not_trained_on(pairs: list[tuple[int, int]], count: int, seed: int) -> None:
    columns = [[str(pair[side]) for pair in pairs] for side in (0, 1)]
    try:
        train, validation = hold_out(*columns, count=count, seed=seed)
    except UsageError:
        return
    texts = [[{column[item] for column in columns} for item in items] for items in (train, validation)]
    assert set().union(*texts[0]).isdisjoint(set().union(*texts[1]))
    assert sum(map(len, texts[1])) == len(set().union(*texts[1]))  # none twice
    assert 1 <= len(validation) <= min(count, max(len(pairs) // 10, 1))


def test_seed_decides_held_out_items() -> None:
    texts = [str(number) for number in range(50)]
    once, again, other_seed = (hold_out(texts, count=5, seed=seed) for seed in (1, 1, 2))
    assert once[1].tolist() == again[1].tolist() != other_seed[1].tolist()
    assert len(once[0]) == 45


def test_too_little_text_is_refused() -> None:
    with pytest.raises(UsageError, match="1 item to learn from: at least 2 are needed"):
        hold_out(["a"], count=1, seed=1)
    with pytest.raises(UsageError, match="all 3 items share a text with those held out"):
        hold_out(["a", "a", "a"], count=1, seed=1)


@pytest.mark.parametrize("higher", [True, False])
def test_figure_decides_before_loss(higher: bool) -> None:
    worse, better = sorted([3.0, 4.0], reverse=not higher)
    one = Validation("figure", worse, higher_is_better=higher, loss=1)
    better_result = Validation("figure", better, higher_is_better=higher, loss=2)
    assert one.is_better_than(None)
    assert better_result.is_better_than(one)
    assert not one.is_better_than(better_result)
    less = Validation("figure", worse, higher_is_better=higher, loss=0.5)
    assert less.is_better_than(one)
    assert not one.is_better_than(less)
    assert not one.is_better_than(one)


@pytest.mark.parametrize(
    ("metric", "value", "text"),
    [
        ("BLEU", 9.733, "BLEU 9.7"),
        ("accuracy", 0.9299, "accuracy 93.0%"),
        ("perplexity", 8012.34, "perplexity 8,012"),
        ("perplexity", 94.712, "perplexity 94.71"),
    ],
)
def test_validation_text_has_its_unit(metric: str, value: float, text: str) -> None:
    validation = Validation(metric, value, higher_is_better=True, loss=1.0)
    assert str(validation) == text
    assert str(TrainingState(step=7).record_validation(validation, steps_per_epoch=9).best) == f"{text} at step 7"
