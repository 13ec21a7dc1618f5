"""Datasets: content, fingerprint, units, cards, and refused values."""

import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from itertools import cycle, islice
from typing import Any

import numpy as np
import pytest
from helpers.strategies.dataset_strategies import any_datasets, cards
from helpers.strategies.probe_strategies import datasets, make_learnable_dataset
from hypothesis import given

from sentprobe.probes.datasets.dataset import (
    STRUCTURE,
    Card,
    CardError,
    DatasetError,
    Items,
    ProbeDataset,
    Split,
    name_structure_part,
)


@given(datasets())
def test_equal_content_has_equal_fingerprint(data: ProbeDataset) -> None:
    reversed_splits = dict(reversed(list(data.splits.items())))
    again = replace(data, splits=reversed_splits, card=Card("another", seed=7))
    assert again.fingerprint() == data.fingerprint()
    assert list(again.splits) == [Split.TRAIN, Split.TEST]


@given(datasets())
def test_other_content_has_another_fingerprint(data: ProbeDataset) -> None:
    test = data.splits[Split.TEST]
    flipped = {**data.splits, Split.TEST: replace(test, targets=1 - test.targets)}
    changed = (
        replace(data, splits=flipped),
        replace(data, name=data.name + "x"),
        replace(data, labels=("FALSE", "TRUE", "OTHER")),
        replace(data, sentences=(*data.sentences, "never seen")),
    )
    assert len({data.fingerprint(), *(dataset.fingerprint() for dataset in changed)}) == 5


@given(datasets())
def test_items_are_read_only_and_int64(data: ProbeDataset) -> None:
    for items in data.splits.values():
        assert items.rows.dtype == items.probes.dtype == items.targets.dtype == np.int64
        assert not items.rows.flags.writeable
        assert items.probes.shape == (len(items), data.slots)
        again = Items(items.rows.copy(), items.probes.tolist(), items.targets)
        assert again == items
        assert hash(again) == hash(items)


def test_texts_do_not_run_together() -> None:
    data = make_learnable_dataset(size=5)
    first, second, *remaining = data.probe_words
    moved = (first + second[0], second[1:], *remaining)
    assert replace(data, probe_words=moved).fingerprint() != data.fingerprint()


def make_dataset(**changes: Any) -> ProbeDataset:
    items = Items([0, 1], [[0], [1]], [0, 1])  # type: ignore[arg-type]
    fields: dict[str, Any] = {
        "name": "toy",
        "sentences": ("a b", "b a"),
        "labels": ("FALSE", "TRUE"),
        "probe_words": ("a", "b"),
        "splits": {Split.TRAIN: items, Split.TEST: items},
        "card": Card("toy"),
    }
    return ProbeDataset(**(fields | changes))


def make_splits(*, train: Any = ([0, 1], [[0], [1]], [0, 1]), test: Any = ([0], [[0]], [0])) -> Mapping[Split, Items]:
    return {Split.TRAIN: Items(*train), Split.TEST: Items(*test)}


def are_linked(data: ProbeDataset, first: tuple[int, ...], second: tuple[int, ...]) -> bool:
    """Say whether two items (row and probes) share a sentence or are mirrors."""
    if first[0] == second[0]:
        return True
    words = [sorted(data.sentences[item[0]].split()) for item in (first, second)]
    return words[0] == words[1] and first[1:] == second[1:]


@given(any_datasets())
def test_units_are_classes_of_linked_items(data: ProbeDataset) -> None:
    """By the definition, one link after the other."""
    for split, part in data.splits.items():
        items = [(int(row), *probe) for row, probe in zip(part.rows, part.probes.tolist(), strict=True)]
        expected = list(range(len(items)))
        for _ in items:
            for i, first in enumerate(items):
                for j, second in enumerate(items):
                    if are_linked(data, first, second):
                        expected[i] = expected[j] = min(expected[i], expected[j])
        rank = {unit: place for place, unit in enumerate(dict.fromkeys(expected))}
        units = data.units(split)
        assert units.dtype == np.int64
        assert units.tolist() == [rank[unit] for unit in expected]


def test_mirrors_and_shared_sentences_are_units() -> None:
    sentences = ("the man saw the boy", "the boy saw the man", "the girl slept")
    probes = [[0], [0], [1], [1], [0]]
    data = make_dataset(sentences=sentences, splits=make_splits(train=([0, 1, 2, 1, 2], probes, [0, 1, 0, 1, 1])))
    assert data.units(Split.TRAIN).tolist() == [0, 0, 1, 0, 1]
    separate = make_dataset(sentences=sentences, splits=make_splits(train=([0, 1, 2], [[0], [1], [0]], [0, 1, 1])))
    assert separate.units(Split.TRAIN).tolist() == [0, 1, 2]  # other probe words: no mirrors


@given(cards)
def test_cards_round_trip(card: Card) -> None:
    value = card.to_json()
    assert Card.from_json(value) == card
    assert Card.from_json(json.loads(json.dumps(value))) == card


BAD_CARDS: list[tuple[Any, str]] = [
    ([], "must be an object that has at least the key 'task'"),
    ({"seed": 1}, "must be an object that has at least the key 'task'"),
    ({"task": "x", "sead": 1}, "a card has no field 'sead' (did you mean 'seed'?)"),
    ({"task": 1}, "card: task must be text, not 1"),
    ({"task": "x", "seed": True}, "card: seed must be a whole number, not True"),
    ({"task": "x", "counts": {"a": 0.5}}, "card: counts must be an object of whole numbers"),
    ({"task": "x", "versions": ["a"]}, "card: versions must be an object of texts"),
    ({"task": "x", "largest_share": {"a": "b"}}, "card: largest_share must be an object of numb"),
    ({"task": "x", "notes": "abc"}, "card: notes must be a list of texts, not 'abc'"),
    ({"task": "x", "audit": 3}, "card: audit must be an object, not 3"),
]

BAD_DATASETS: list[tuple[dict[str, Any], str]] = [
    ({"sentences": ("a b", "a b")}, "sentence 'a b' occurs twice"),
    ({"sentences": ("a b", "a  b")}, "expected tokens with one space"),
    ({"sentences": ("a b", "")}, "expected tokens with one space"),
    ({"labels": ("TRUE",)}, "dataset 'toy' has one label only"),
    ({"labels": ("TRUE", "TRUE")}, "label 'TRUE' occurs twice"),
    ({"probe_words": ("a", "a")}, "probe word 'a' occurs twice"),
    ({"splits": {Split.TRAIN: make_splits()[Split.TRAIN]}}, "has no test split"),
    ({"splits": make_splits(test=([], [], []))}, "split test of dataset 'toy' is empty"),
    (
        {"splits": {**make_splits(), Split.VALIDATION: Items([], [], [])}},  # type: ignore[arg-type]
        "split validation of dataset 'toy' is empty",
    ),
    ({"splits": make_splits(test=([2], [[0]], [0]))}, "split test, item 0: row 2 is not in 0..1"),
    ({"splits": make_splits(test=([0, -1], [[0]] * 2, [0, 0]))}, "item 1: row -1 is not in"),
    ({"splits": make_splits(test=([0], [[9]], [0]))}, "item 0: probe word 9 is not in 0..1"),
    ({"splits": make_splits(test=([0], [[0]], [5]))}, "item 0: target 5 is not in 0..1"),
    ({"splits": make_splits(test=([0], [], [0]))}, "test has 0 probe words per item, train has 1"),
    ({"splits": make_splits(train=([0, 1], [[0], [1]], [1, 1]))}, "one label, 'TRUE'"),
    (
        {"labels": ("FALSE", "TRUE", "MAYBE"), "splits": make_splits(test=([0], [[0]], [2]))},
        "label 'MAYBE' occurs in test but never in training",
    ),
    (
        {"splits": make_splits(train=([0, 1], [[0], [0]], [0, 1]), test=([0], [[1]], [0]))},
        "probe word 'b' occurs in test but never in training",
    ),
]

BAD_ITEMS: list[tuple[Any, str]] = [
    (([0, 1], [[0]], [0]), "must have equally many"),
    (([0.5], [[0]], [0]), "rows must be integers, not float64"),
    (([0], [[0, 0, 0]], [0]), "3 probe words per item; at most 2"),
    (([[0]], [[0]], [0]), "rows must have 1 dimensions, not 2"),
]

MALFORMED = [
    *((partial(Card.from_json, value), CardError, message) for value, message in BAD_CARDS),
    *((partial(make_dataset, **changes), DatasetError, message) for changes, message in BAD_DATASETS),
    *((partial(Items, *arrays), DatasetError, message) for arrays, message in BAD_ITEMS),
]


@pytest.mark.parametrize(("make", "error", "message"), MALFORMED, ids=[message for _, _, message in MALFORMED])
def test_malformed_value_is_refused(make: Callable[[], object], error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        make()
    assert message in str(caught.value)


def make_with_structures(train: str, *test: str) -> ProbeDataset:
    data = make_learnable_dataset(name="one", size=40)
    values = {Split.TRAIN: [train], Split.TEST: [*test]}
    splits = {
        split: replace(items, columns={STRUCTURE: tuple(islice(cycle(values[split]), len(items)))})
        for split, items in data.splits.items()
    }
    return replace(data, splits=splits)


def test_held_out_names_structure_of_test() -> None:
    passive, past = map(name_structure_part, ("passive", "past"))
    assert make_with_structures("trained", "trained", passive).held_out == "passive"
    assert make_with_structures(passive, "trained", passive).held_out == ""
    assert make_with_structures("trained", passive, past).held_out == ""
    assert make_with_structures(past, passive, past).held_out == "passive"
    assert make_learnable_dataset(name="one", size=40).held_out == ""


def test_import_of_datasets_imports_no_torch() -> None:
    code = "import sys, sentprobe.probes, sentprobe.probes.encoders; print('torch' in sys.modules)"
    completed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert completed.stdout.strip() == "False"
