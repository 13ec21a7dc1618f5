"""Control tasks: their labels, and accuracies of probes with and without access to word types."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from helpers.runs.planted import (
    PlantedEncoder,
    make_linear_vectors,
    make_numbered_dataset,
    sample_answers,
    sample_noise,
)
from helpers.strategies.probe_strategies import make_learnable_dataset, to_items
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.probes.classifier.presets import find_preset
from sentprobe.probes.datasets.dataset import Card, Indices, ProbeDataset, Split
from sentprobe.probes.results.result import Condition, Results
from sentprobe.probes.results.store import format_result
from sentprobe.probes.runs.controls import find_word_types, sample_labels
from sentprobe.probes.runs.run import run

WORDS = [f"w{number}" for number in range(20)]


def test_by_hand() -> None:
    # Of six training items four are of label 0. Two types have three of them each, so that the
    # second lacks room in label 0, whichever is first; a fourth type is in no training item.
    types = np.array([0, 0, 0, 1, 1, 1, 2])
    train = to_items([(row, [], int(row > 3)) for row in range(6)])
    assignments = {tuple(sample_labels(types, train, 2, np.random.default_rng(seed)).tolist()) for seed in range(30)}
    assert {labels[:6] for labels in assignments} == {(0, 0, 0, 1, 1, 1), (1, 1, 1, 0, 0, 0)}
    assert {labels[6] for labels in assignments} == {0, 1}


@given(st.lists(st.integers(0, 5), min_size=2, max_size=30), st.integers(0, 99))
@examples(40)
def test_labels_are_of_types(types: Sequence[int], seed: int) -> None:
    numbers = np.array(types)
    train = to_items([(row, [], row % 2) for row in range(len(types))])
    labels = sample_labels(numbers, train, 2, np.random.default_rng(seed))
    assert all(len(set(labels[numbers == word_type].tolist())) == 1 for word_type in types)
    assert set(labels.tolist()) <= {0, 1}


def test_types_are_last_words_or_sentences() -> None:
    items = to_items([(0, [], 0), (1, [], 1), (2, [], 0)])
    texts = ("a man slept .", "The man SLEPT", "he ran")

    def find_types(test: Sequence[int]) -> list[int]:
        test_items = to_items([(row, [], row % 2) for row in test])
        train = to_items([(0, [], 0), (1, [], 1)])
        splits = {Split.TRAIN: train, Split.TEST: test_items}
        data = ProbeDataset("t", texts, ("F", "T"), (), splits, Card("t"))
        return [*map(int, find_word_types(data))]

    assert len(items) == 3
    assert find_types([2, 1]) == [1, 1, 0]
    assert find_types([0, 1]) == [0, 1, 2]


def compute_accuracies(encoder: PlantedEncoder, targets: Indices) -> tuple[float, float]:
    """The accuracies on the task and on its control task."""
    data = make_numbered_dataset(targets, train=400, words=WORDS)
    results = run(data, encoder, preset="logreg", controls=False, control_task=True)
    (record,) = results.records
    return record.accuracy, record.scores[Condition.CONTROL_TASK].accuracy


def test_selectivity_of_what_is_planted() -> None:
    targets = sample_answers(600)
    words = np.eye(len(WORDS), dtype=np.float32)[np.arange(600) % len(WORDS)]
    knows, by_heart = compute_accuracies(PlantedEncoder(make_linear_vectors(targets)), targets)
    assert knows == 1.0
    assert abs(by_heart - 0.5) < 0.12
    knows, by_heart = compute_accuracies(PlantedEncoder(words), targets)
    assert abs(knows - 0.5) < 0.12
    assert by_heart == 1.0
    assert all(
        abs(accuracy - 0.5) < 0.12 for accuracy in compute_accuracies(PlantedEncoder(sample_noise(600)), targets)
    )


def test_it_is_the_same_again_and_another_by_another_seed() -> None:
    def run_with_seed(seed: int) -> Results:
        data = make_numbered_dataset(sample_answers(60), train=40, words=WORDS)
        encoder = PlantedEncoder(sample_noise(60), fingerprint="noise")
        return run(data, encoder, preset="logreg", controls=False, control_task=True, seed=seed)

    def get_answers(results: Results) -> str:
        return results.records[0].scores[Condition.CONTROL_TASK].seeds[0].right

    assert get_answers(run_with_seed(0)) == get_answers(run_with_seed(0))
    assert len({get_answers(run_with_seed(seed)) for seed in range(3)}) > 1


@pytest.mark.parametrize("method_options", [{"control_task": True}, {"methods": ["mdl", "complexity"]}])
def test_a_method_is_added_to_a_run_that_is_there(method_options: dict[str, object], tmp_path: Path) -> None:
    data = make_learnable_dataset(size=40)
    settings = {"preset": replace(find_preset("ettinger"), max_epochs=3), "controls": False}
    plain = run(data, "bow?dim=4", out=tmp_path, **settings)  # type: ignore[arg-type]
    more = run(data, "bow?dim=4", out=tmp_path, **settings, **method_options)  # type: ignore[arg-type]
    both = more.records[0].scores
    assert both[Condition.PROBE] == plain.records[0].scores[Condition.PROBE]
    assert len(both) > 1
    again = run(data, "bow?dim=4", out=tmp_path, **settings, **method_options)  # type: ignore[arg-type]
    assert [*map(format_result, again.records)] == [*map(format_result, more.records)]
