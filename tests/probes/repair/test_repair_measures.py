"""The figures before and after a repair."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from sentprobe.common.tables import TableFormat, format_tables
from sentprobe.lexicon import english
from sentprobe.probes.corpus.text_edits import EditCounts
from sentprobe.probes.repair.repair_data import RepairData, RepairSide
from sentprobe.probes.repair.repair_measures import (
    RepairResult,
    build_repair_tables,
    compare_figures,
    correlate_cosines,
    find_first,
    measure_model,
)
from sentprobe.probes.similarity.pair_scores import TextPair
from sentprobe.probes.similarity.triplet_sentences import TripletSampling, build_triplet_spaces
from sentprobe.probes.statistics import Floats

NUMBERS = range(60)
TEXTS = tuple(f"text {number}" for number in NUMBERS)
SIDE = RepairSide(
    opposites=tuple(TextPair(text, f"{text} not", same=False, kind="negation") for text in TEXTS),
    variants=(),
    paraphrases=tuple(TextPair(text, f"{text} again", same=True) for text in TEXTS),
    texts=TEXTS,
    neutral=TEXTS,
)
DATA = RepairData(training=replace(SIDE, texts=()), held_out=SIDE, counts=EditCounts())


class Shift:
    """An encoder: a vector for each text without its last word, moved by *opposite* if that is ``not``."""

    def __init__(self, opposite: float, *, paraphrase: float = 0.3) -> None:
        self.name = self.fingerprint = f"shift {opposite} {paraphrase}"
        self._shifts = {"not": opposite, "again": paraphrase}

    def encode(self, sentences: Sequence[str]) -> NDArray[np.float32]:
        return np.array([self._encode(text) for text in sentences], np.float32)

    def _encode(self, text: str) -> Floats:
        *words, last = text.split()
        stem = " ".join(words) if last in self._shifts else text
        base, noise = (np.random.default_rng([*part.encode()]).normal(size=16) for part in (stem, f"{text} "))
        return base + self._shifts.get(last, 0.0) * noise


def compare(before: Shift, after: Shift) -> RepairResult:
    spaces, _ = build_triplet_spaces(english(), ("tense",), TripletSampling(n=20), None)
    triplets = [space.sample(20, seed=0) for space in spaces]
    first, second = (measure_model(encoder, DATA, triplets, seed=0) for encoder in (before, after))
    return compare_figures(first, second, DATA, model="shift", max_loss=0.02, seed=0)


def test_same_model_differs_in_nothing() -> None:
    result = compare(Shift(0.3), Shift(0.3))
    assert {row.difference for row in result.differences} == {0}
    assert result.spearman == pytest.approx(1)
    assert str(result).startswith("Significantly better on held-out texts: nothing; no kind is significantly worse")


def test_lost_kind_is_in_the_first_line() -> None:
    result = compare(Shift(0.8), Shift(0.1))
    assert str(result).startswith("Worse by more than 2 points on held-out texts: negation (")
    assert {row.name for row in result.list_losses()} == {"own pairs, negation"}


def test_better_kind_is_named_and_its_difference_has_a_star() -> None:
    result = compare(Shift(0.1), Shift(0.8))
    assert str(result).startswith("Significantly better on held-out texts: negation; no kind is significantly worse")
    table = format_tables(build_repair_tables(result), TableFormat.TEXT)
    (row,) = (line for line in table.splitlines() if line.startswith("negation"))
    assert row.count("*") == 2
    assert "generated tense" in table


def test_first_paraphrase_is_found() -> None:
    assert find_first(Shift(0.0, paraphrase=0.0), DATA).tolist() == [1.0] * len(TEXTS)
    assert find_first(Shift(0.0, paraphrase=1e3), DATA).mean() < 0.5


@given(st.integers(0, 99), st.integers(20, 30))
def test_monotone_change_of_cosines_keeps_ranks(seed: int, texts: int) -> None:
    cosines = np.atleast_2d(np.corrcoef(np.random.default_rng(seed).normal(size=(texts, 4))))
    value, interval = correlate_cosines(cosines, cosines**3, seed=seed)
    assert value == pytest.approx(1)
    assert interval.low == pytest.approx(1)
