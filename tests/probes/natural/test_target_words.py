"""How often the word asked about says what most of its kind say."""

from collections.abc import Sequence

import pytest

from sentprobe.probes.natural.target_words import _lead


@pytest.mark.parametrize(
    ("said", "lead"),
    [
        ([], 0),
        (["NN"], 1),
        (["NN", "NNS"], 0),
        (["NNS", "NN", "NNS"], -1),
        (["NN", "NN", "NNS", "NN"], 2),
    ],
)
def test_by_how_much_the_answer_leads(said: Sequence[str], lead: int) -> None:
    assert _lead("NN", said) == lead
