"""Fixed places: the exact bound of an encoder that sees only the words at some places, against brute force."""

from itertools import permutations, product

import numpy as np
from helpers.oracles.compeval_checks import dataset
from helpers.strategies.probe_strategies import to_items
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.probes.datasets.dataset import Card, ProbeDataset, Split
from sentprobe.probes.encoders.baselines import (
    FIRST_SECOND_LAST,
    Places,
    compute_highest_bound,
    compute_place_bound,
    find_best_place,
    find_words,
    list_place_sets,
)

place_sets = st.lists(st.integers(-4, 3), min_size=1, max_size=3, unique=True).map(tuple)
Unit = tuple[tuple[str, ...], tuple[str, ...], bool]


@st.composite
def units(draw: st.DrawFn) -> Unit:
    """A sentence, its mirror (another order of its words), and whether both are asked about a second word, too."""
    words = draw(st.lists(st.sampled_from("abcd"), min_size=2, max_size=4).filter(lambda words: len({*words}) > 1))
    orders = sorted({*permutations(words)})
    first, second = draw(st.permutations(orders))[:2]
    return first, second, draw(st.booleans())


def make_mirror_dataset(mirror_units: list[Unit]) -> ProbeDataset:
    """Each unit's second sentence has the opposite answers; a word of its own keeps the bags of two units apart."""
    texts: dict[str, int] = {}
    entries = []
    for number, (first, second, is_asked_twice) in enumerate(mirror_units):
        for words, answer in ((first, 1), (second, 0)):
            row = texts.setdefault(" ".join([*words[:2], f"x{number}", *words[2:]]), len(texts))
            entries += [(row, [0], answer)] + [(row, [1], 1 - answer)] * is_asked_twice
    entries.sort(key=lambda entry: entry[1])
    train = [*entries, *((row, [1 - probe], answer) for row, (probe,), answer in entries)]
    return ProbeDataset(
        name="mirrors",
        sentences=tuple(texts),
        labels=("FALSE", "TRUE"),
        probe_words=("p", "q"),
        splits={Split.TRAIN: to_items(train), Split.TEST: to_items(entries)},
        card=Card("mirrors"),
    )


def find_best_by_brute_force(data: ProbeDataset, places: Places) -> float:
    """Try every function from what the encoder and the probe see of a unit to an answer."""
    test = data.splits[Split.TEST]
    unit_numbers = data.units(Split.TEST)
    best = 0
    for unit in set(unit_numbers.tolist()):
        items = np.flatnonzero(unit_numbers == unit)
        views = [
            (find_words(data.sentences[test.rows[item]].split(), places), test.probes[item].tolist()) for item in items
        ]
        distinct = [view for place, view in enumerate(views) if view not in views[:place]]
        functions = product((0, 1), repeat=len(distinct))
        targets = test.targets[items].tolist()
        best += max(
            sum(answers[distinct.index(view)] == target for view, target in zip(views, targets, strict=True))
            for answers in functions
        )
    return best / len(test)


@given(st.lists(units(), min_size=1, max_size=4), place_sets)
def test_place_bound_is_that_of_the_best_function(mirror_units: list[Unit], places: Places) -> None:
    data = make_mirror_dataset(mirror_units)
    assert data.mirrored
    assert compute_place_bound(data, Split.TEST, places) == find_best_by_brute_force(data, places)


@given(st.lists(units().map(lambda unit: (*unit[:2], True)), min_size=1, max_size=6), place_sets)
def test_place_bound_is_half_and_half_the_share_that_differs(mirror_units: list[Unit], places: Places) -> None:
    data = make_mirror_dataset(mirror_units)
    pairs = zip(data.sentences[::2], data.sentences[1::2], strict=True)
    differing = [find_words(first.split(), places) != find_words(second.split(), places) for first, second in pairs]
    bound = compute_place_bound(data, Split.TEST, places)
    assert bound is not None
    assert abs(bound - (0.5 + np.mean(differing) / 2)) < 1e-12


@given(st.lists(units(), min_size=1, max_size=4))
def test_best_place_has_the_highest_bound_in_training(mirror_units: list[Unit]) -> None:
    data = make_mirror_dataset(mirror_units)
    best = find_best_place(data)
    assert best is not None
    highest = compute_place_bound(data, Split.TRAIN, (best,))
    assert highest == max(compute_place_bound(data, Split.TRAIN, (place,)) or 0 for place in range(-5, 5))
    assert (best,) in list_place_sets(data)


def test_bound_needs_mirror_pairs() -> None:
    data = dataset("Content1Probe", "compeval")
    assert find_best_place(data) is None
    assert compute_place_bound(data, Split.TEST, FIRST_SECOND_LAST) is None
    assert compute_highest_bound(data, list_place_sets(data)) is None
    assert list_place_sets(data) == (FIRST_SECOND_LAST, (1,), (-1,))
