"""Share of a target word's label among the other words of its kind."""

from collections.abc import Sequence

import pytest

from sentprobe.probes.natural.surface_tasks import _compute_lead


@pytest.mark.parametrize(
    ("answers", "lead"),
    [([], 0), (["NN"], 1), (["NN", "NNS"], 0), (["NNS", "NN", "NNS"], -1), (["NN", "NN", "NNS", "NN"], 2)],
)
def test_by_how_much_the_answer_leads(answers: Sequence[str], lead: int) -> None:
    assert _compute_lead("NN", answers) == lead
