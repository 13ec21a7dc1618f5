"""A control task: which labels it has, and what probes that can or cannot know them achieve."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from planted import Planted, answers, linear, noise, numbered
from probe_strategies import learnable, to_items
from thoroughness import examples

from sentprobe.probes.dataset import Card, Indices, ProbeDataset, Split
from sentprobe.probes.runs.control_task import draw_labels, word_types
from sentprobe.probes.runs.results import Condition, Results
from sentprobe.probes.runs.run import run
from sentprobe.probes.runs.store import format_result
from sentprobe.probes.trainer.presets import find_preset

WORDS = [f"w{each}" for each in range(20)]


def test_by_hand() -> None:
    # Of six training items four are of label 0. Two types have three of them each, so that the
    # second lacks room in label 0, whichever is first; a fourth type is in no training item.
    types = np.array([0, 0, 0, 1, 1, 1, 2])
    train = to_items([(row, [], int(row > 3)) for row in range(6)])
    found = {
        tuple(draw_labels(types, train, 2, np.random.default_rng(seed)).tolist())
        for seed in range(30)
    }
    assert {each[:6] for each in found} == {(0, 0, 0, 1, 1, 1), (1, 1, 1, 0, 0, 0)}
    assert {each[6] for each in found} == {0, 1}


@given(st.lists(st.integers(0, 5), min_size=2, max_size=30), st.integers(0, 99))
@examples(40)
def test_labels_are_of_types(types: Sequence[int], seed: int) -> None:
    numbers = np.array(types)
    train = to_items([(row, [], row % 2) for row in range(len(types))])
    labels = draw_labels(numbers, train, 2, np.random.default_rng(seed))
    assert all(len(set(labels[numbers == each].tolist())) == 1 for each in types)
    assert set(labels.tolist()) <= {0, 1}


def test_types_are_last_words_or_sentences() -> None:
    items = to_items([(0, [], 0), (1, [], 1), (2, [], 0)])
    texts = ("a man slept .", "The man SLEPT", "he ran")

    def types(test: Sequence[int]) -> list[int]:
        asked = to_items([(row, [], row % 2) for row in test])
        train = to_items([(0, [], 0), (1, [], 1)])
        splits = {Split.TRAIN: train, Split.TEST: asked}
        data = ProbeDataset("t", texts, ("F", "T"), (), splits, Card("t"))
        return [*map(int, word_types(data))]

    assert len(items) == 3
    assert types([2, 1]) == [1, 1, 0]
    assert types([0, 1]) == [0, 1, 2]


def control(encoder: Planted, targets: Indices) -> tuple[float, float]:
    """The accuracies on the task and on its control task."""
    data = numbered(targets, train=400, words=WORDS)
    made = run(data, encoder, preset="logreg", controls=False, control_task=True)
    (record,) = made.records
    return record.accuracy, record.scores[Condition.CONTROL_TASK].accuracy


def test_selectivity_of_what_is_planted() -> None:
    targets = answers(600)
    words = np.eye(len(WORDS), dtype=np.float32)[np.arange(600) % len(WORDS)]
    knows, by_heart = control(Planted(linear(targets)), targets)
    assert knows == 1.0
    assert abs(by_heart - 0.5) < 0.12
    knows, by_heart = control(Planted(words), targets)
    assert abs(knows - 0.5) < 0.12
    assert by_heart == 1.0
    assert all(abs(each - 0.5) < 0.12 for each in control(Planted(noise(600)), targets))


def test_it_is_the_same_again_and_another_by_another_seed() -> None:
    def made(seed: int) -> Results:
        data = numbered(answers(60), train=40, words=WORDS)
        encoder = Planted(noise(60), fingerprint="noise")
        return run(data, encoder, preset="logreg", controls=False, control_task=True, seed=seed)

    def right(found: Results) -> str:
        return found.records[0].scores[Condition.CONTROL_TASK].seeds[0].right

    assert right(made(0)) == right(made(0))
    assert len({right(made(seed)) for seed in range(3)}) > 1


@pytest.mark.parametrize("asked", [{"control_task": True}, {"methods": ["mdl", "complexity"]}])
def test_a_method_is_added_to_a_run_that_is_there(asked: dict[str, object], tmp_path: Path) -> None:
    data = learnable(size=40)
    given = {"preset": replace(find_preset("ettinger"), max_epochs=3), "controls": False}
    plain = run(data, "bow?dim=4", out=tmp_path, **given)  # type: ignore[arg-type]
    more = run(data, "bow?dim=4", out=tmp_path, **given, **asked)  # type: ignore[arg-type]
    both = more.records[0].scores
    assert both[Condition.PROBE] == plain.records[0].scores[Condition.PROBE]
    assert len(both) > 1
    again = run(data, "bow?dim=4", out=tmp_path, **given, **asked)  # type: ignore[arg-type]
    assert [*map(format_result, again.records)] == [*map(format_result, more.records)]
