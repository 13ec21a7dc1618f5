"""Which of two validations is better, and how one is told."""

import pytest

from sentprobe.probes.pretraining.objective import Validation
from sentprobe.probes.pretraining.schedule import TrainingState


@pytest.mark.parametrize("higher", [True, False])
def test_the_figure_decides_and_then_the_loss(higher: bool) -> None:
    worse, better = sorted([3.0, 4.0], reverse=not higher)
    one = Validation("figure", worse, higher_is_better=higher, loss=1)
    other = Validation("figure", better, higher_is_better=higher, loss=2)
    assert one.betters(None)
    assert other.betters(one)
    assert not one.betters(other)
    less = Validation("figure", worse, higher_is_better=higher, loss=0.5)
    assert less.betters(one)
    assert not one.betters(less)
    assert not one.betters(one)


@pytest.mark.parametrize(
    ("metric", "value", "told"),
    [
        ("BLEU", 9.733, "BLEU 9.7"),
        ("accuracy", 0.9299, "accuracy 93.0%"),
        ("perplexity", 8012.34, "perplexity 8,012"),
        ("perplexity", 94.712, "perplexity 94.71"),
    ],
)
def test_a_figure_is_told_as_elsewhere(metric: str, value: float, told: str) -> None:
    found = Validation(metric, value, higher_is_better=True, loss=1.0)
    assert str(found) == told
    assert str(TrainingState(step=7).validated(found, steps=9).best) == f"{told} at step 7"
