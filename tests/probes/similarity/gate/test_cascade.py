"""A cascade: its figures are those of both thresholds together."""

from pathlib import Path

import numpy as np
import pytest
from helpers.encoders.model_files import save_cross_encoder
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st

import sentprobe
from sentprobe.common.errors import UsageError
from sentprobe.generator.pairs.triplets import SIDES, TripletSpace
from sentprobe.lexicon import english
from sentprobe.probes.encoders.kinds import make_encoder
from sentprobe.probes.similarity.gate_rates import Cascade
from sentprobe.probes.similarity.pair_scores import PairModel

SCORES = st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), min_size=1, max_size=20)


@given(SCORES, st.integers(-3, 3))
def test_the_second_scores_only_the_pairs_that_pass_the_first(scores: list[tuple[int, int]], limit: int) -> None:
    asked: list[tuple[str, str]] = []

    def score_second(pairs: list[tuple[str, str]]) -> list[int]:
        asked.extend(pairs)
        return [scores[int(first)][1] for first, _ in pairs]

    first = PairModel(lambda pairs: [scores[int(first)][0] for first, _ in pairs], name="first")
    cascade = Cascade(first, PairModel(score_second, name="second"))
    texts = [str(number) for number in range(len(scores))]
    assert cascade.score_columns(texts, texts)[0].tolist() == [first for first, _ in scores]
    cascade.ask_second(limit)
    assert cascade.score_columns(texts, texts)[0].tolist() == [
        second if first >= limit else -np.inf for first, second in scores
    ]
    passing = [text for text, (first, _) in zip(texts, scores, strict=True) if first >= limit]
    assert asked == [(text, text) for text in passing]
    first_stage, second_stage = cascade.build_stages(limit, 0)
    assert (first_stage.pairs, second_stage.pairs) == (len(scores), len(passing))
    assert cascade.name == "first, then second"


@given(st.sampled_from(["role", "tense", "noun"]), st.integers(50, 100).map(lambda share: share / 100))
@examples(8)
def test_an_outsider_computes_the_same_figures(contrast: str, keep: float) -> None:
    """Both thresholds are chosen on even units, the second among the paraphrases that pass the first."""
    result = sentprobe.gate("bow?dim=8", then="bow?dim=4", contrasts=[contrast], n=120, keep=keep).draws[0]
    triplets = TripletSpace(english(), contrast).sample(120, seed=0)
    is_odd = triplets.hash_units() % 2 == 1
    scores = []
    for spec in ("bow?dim=8", "bow?dim=4"):
        a, p, _, n = (np.array(make_encoder(spec).encode(triplets.render_texts(side)), float) for side in SIDES)
        lengths = [np.linalg.norm(x, axis=1) for x in (a, p, n)]
        same, other = ((a * x).sum(1) / lengths[0] / length for x, length in zip((p, n), lengths[1:], strict=True))
        scores.append((same.round(6), other.round(6)))
    (same1, other1), (same2, other2) = scores
    first = np.sort(same1[~is_odd])[int((1 - keep) * sum(~is_odd) + 1e-9)]
    passed = same2[~is_odd & (same1 >= first)]
    second = np.sort(passed)[int((1 - keep) * len(passed) + 1e-9)]
    assert [stage.threshold for stage in result.stages] == [first, second]
    assert result.threshold == second
    rates = result.rates[0]
    assert rates.misses == ((same1 < first) | (same2 < second))[is_odd].mean()
    assert rates.false_hits == ((other1 >= first) & (other2 >= second))[is_odd].mean()


def test_a_cross_encoder_is_asked_about_the_pairs_that_pass(tmp_path: Path) -> None:
    folder = save_cross_encoder(tmp_path / "one", ("score",))
    figures = sentprobe.gate("bow?dim=8", then=f"ce:{folder}?name=tiny", contrasts=["tense"], n=60, threshold=0.9)
    first, second = figures.draws[0].stages
    assert (first.scorer, second.scorer, first.threshold) == ("bow?dim=8", "tiny", 0.9)
    assert 0 < second.pairs < first.pairs == 180
    alone = sentprobe.gate("bow?dim=8", contrasts=["tense"], n=60, threshold=0.9)
    assert figures.draws[0].rates[0].false_hits <= alone.draws[0].rates[0].false_hits + 0.2
    again = sentprobe.gate("bow?dim=8", then=f"ce:{folder}?name=tiny", contrasts=["tense"], n=60, threshold=0.9)
    assert again == figures


def test_a_first_threshold_that_no_paraphrase_passes() -> None:
    with pytest.raises(UsageError, match="no paraphrase passes the first threshold"):
        sentprobe.gate("bow?dim=8", then="bow", contrasts=["noun"], n=40, threshold=1.0)
