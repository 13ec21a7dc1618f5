"""How often the word asked about says what most of its kind say."""

from collections.abc import Sequence

import pytest

from sentprobe.probes.natural.target_words import _commonest


@pytest.mark.parametrize(
    ("said", "commonest"),
    [
        ([], ""),
        (["NN"], "NN"),
        (["NN", "NNS"], ""),  # a tie is none
        (["NNS", "NN", "NNS"], "NNS"),
        (["PAST", "PAST", "PRES", "PRES", "PRES"], "PRES"),
    ],
)
def test_the_commonest(said: Sequence[str], commonest: str) -> None:
    assert _commonest(said) == commonest
