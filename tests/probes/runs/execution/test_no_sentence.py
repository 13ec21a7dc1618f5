"""The control without sentences: its training, and the verdict on it."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from helpers.strategies.probe_strategies import datasets, make_learnable_dataset, make_sample_result, to_items
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.probes.classifier.presets import find_preset
from sentprobe.probes.datasets.dataset import ProbeDataset, Split
from sentprobe.probes.encoders.kinds import make_encoder
from sentprobe.probes.generated.assemble import build_task
from sentprobe.probes.reports.control_verdicts import ControlVerdict, find_controls
from sentprobe.probes.reports.tables.main_table import CellStyle, build_grid
from sentprobe.probes.reports.tables.table_notes import describe_all
from sentprobe.probes.results.result import Condition, Result, Results
from sentprobe.probes.runs.controls import CHANGES, ProbeItems
from sentprobe.probes.runs.run import run

ALL_ROWS = CellStyle(all_rows=True)

FAST = replace(find_preset("ettinger"), max_epochs=6)


@given(datasets())
def test_balanced_probes_by_counting(data: ProbeDataset) -> None:
    test = data.splits[Split.TEST]
    counts: dict[tuple[int, ...], Counter[int]] = {}
    for probe, target in zip(test.probes.tolist(), test.targets.tolist(), strict=True):
        counts.setdefault(tuple(probe), Counter())[target] += 1
    equal = all(len({count[label] for label in (0, 1)}) == 1 for count in counts.values())
    assert data.balanced_probes == (equal or not data.slots)


@given(st.integers(1, 9), st.integers(1, 9))
def test_the_sentence_is_one_and_the_same(rows: int, dim: int) -> None:
    vectors = np.ones((rows, dim), dtype=np.float32)
    material = ProbeItems(
        name="", train=to_items([(0, [0], 0)]), validation=None, test=to_items([(0, [0], 0)]),
        words=1, labels=2,
    )  # fmt: skip
    change = CHANGES[Condition.NO_SENTENCE]
    changed, same = change(vectors, material, np.random.default_rng(0))
    assert changed.shape == (rows, 1)
    assert not changed.any()
    assert same is material


@pytest.mark.parametrize("preset", ["ettinger", "logreg"])
def test_balanced_probe_words_tell_nothing(preset: str) -> None:
    """Words occur equally often with either label, so that any probe is half correct."""
    data = build_task("SemRole", train=400, test=56)
    assert data.balanced_probes
    chosen = replace(find_preset(preset), max_epochs=6)
    (record,) = run([data], [make_encoder("bow?dim=8")], preset=chosen).records
    assert record.balanced_probes
    assert record.scores[Condition.NO_SENTENCE].accuracy == 0.5


def make_ordered_dataset() -> ProbeDataset:
    """Which comes first? Always w0 before w1, w2 before w3, ... whatever the sentence."""
    data = make_learnable_dataset(size=300)
    generator = np.random.default_rng(0)
    entries = []
    for row in range(len(data.sentences)):
        low = 2 * int(generator.integers(5))
        entries.append((row, [low, low + 1], 1) if row % 2 else (row, [low + 1, low], 0))
    cut = len(entries) * 3 // 4
    splits = {Split.TRAIN: to_items(entries[:cut]), Split.TEST: to_items(entries[cut:])}
    return replace(data, name="AdiOrder", splits=splits)


def test_words_that_have_an_order_are_a_finding_and_no_fault() -> None:
    preset = replace(find_preset("ettinger"), max_epochs=120)
    data = make_ordered_dataset()
    assert not data.balanced_probes
    results = run([data], [make_encoder("bow?dim=4")], preset=preset)
    (record,) = results.records
    assert record.scores[Condition.NO_SENTENCE].accuracy > 0.95
    must = [control.condition for control in find_controls(results) if control.must_be_at_chance]
    assert must == [Condition.RANDOM_SENTENCES, Condition.RANDOM_PROBES]
    notes = describe_all(results)
    assert "do not believe" not in notes
    assert "If they reveal something, random sentence vectors should add nothing to it." in notes
    assert (
        "AdiOrder: the probe words alone (without the sentence) reach 100.0, above chance; compare encoders "
        "with that, not with chance." in notes
    )


def make_result(no_sentence: int, random_sentences: int, *, balanced: bool) -> Result:
    sample = make_sample_result("bow", "order", 700, random_sentences, 500, 500, no_sentence)
    return replace(sample, balanced_probes=balanced)


@pytest.mark.parametrize(
    ("no_sentence", "random_sentences", "balanced", "failed"),
    [
        (500, 500, True, []),
        (600, 500, True, [Condition.NO_SENTENCE]),  # it cannot be: the dataset is not what it says
        (600, 600, True, [Condition.RANDOM_SENTENCES, Condition.NO_SENTENCE]),
        (600, 600, False, []),  # the words tell it, with whatever sentence
        (600, 655, False, []),  # by accident
        (600, 670, False, [Condition.RANDOM_SENTENCES]),  # the words do not tell so much
        (500, 600, False, [Condition.RANDOM_SENTENCES]),  # it is not the words that tell it
    ],
)
def test_verdicts(
    no_sentence: int, random_sentences: int, balanced: bool, failed: list[Condition]
) -> None:  # fmt: skip
    results = Results((make_result(no_sentence, random_sentences, balanced=balanced),))
    runs = [control for control in find_controls(results) if control.must_be_at_chance]
    assert [control.condition for control in runs if control.verdict is not ControlVerdict.AT_CHANCE] == failed
    assert ("do not believe" in describe_all(results)) == bool(failed)


def test_a_leak_is_found_though_the_words_tell_something() -> None:
    """The test items are training items; the two words are in their usual order in 3 of 4."""
    data = make_ordered_dataset()
    train = data.splits[Split.TRAIN]
    words = np.where(train.rows[:, None] % 8 < 6, train.probes, train.probes[:, ::-1])
    again = replace(train, probes=words)
    leaking = replace(data, splits={Split.TRAIN: again, Split.TEST: again})
    preset = replace(find_preset("ettinger"), max_epochs=120)
    results = run([leaking], [make_encoder("bow?dim=64")], preset=preset)
    assert 0.6 < results.records[0].scores[Condition.NO_SENTENCE].accuracy < 0.8
    runs = {control.condition: control for control in find_controls(results)}
    assert not runs[Condition.NO_SENTENCE].must_be_at_chance
    assert runs[Condition.RANDOM_SENTENCES].verdict is ControlVerdict.ABOVE
    assert "do not believe that column" in describe_all(results)


def test_it_is_named_without_a_width() -> None:
    results = Results(
        (make_result(540, 500, balanced=False), replace(make_result(540, 500, balanced=False), encoder="b", dim=9))
    )
    assert [row.label for row in build_grid(results, style=ALL_ROWS).rows].count("no sentence") == 1
    names = [control.name for control in find_controls(results)]
    assert names.count("no sentence on order") == 1
    assert "order: the probe words without the sentence are not above chance (52.0)" in describe_all(
        Results((make_result(520, 500, balanced=False),))
    )
    assert "No sentence: the probe sees only the probe words" in describe_all(results)
