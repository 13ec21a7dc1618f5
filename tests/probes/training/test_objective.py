"""Comparison and text of validations."""

import pytest

from sentprobe.probes.training.objective import Validation
from sentprobe.probes.training.schedule import TrainingState


@pytest.mark.parametrize("higher", [True, False])
def test_the_figure_decides_and_then_the_loss(higher: bool) -> None:
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
def test_a_figure_is_told_as_elsewhere(metric: str, value: float, text: str) -> None:
    validation = Validation(metric, value, higher_is_better=True, loss=1.0)
    assert str(validation) == text
    assert str(TrainingState(step=7).record_validation(validation, steps_per_epoch=9).best) == f"{text} at step 7"
