"""Which of two validations is better."""

import pytest

from sentprobe.probes.pretraining.objective import Validation


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
