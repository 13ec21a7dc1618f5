"""Controls train for at most as many passes as the probe that they are a control of, and still find leaks."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.runs.planted import PlantedEncoder, make_faint_vectors, make_linear_vectors, sample_answers
from helpers.strategies.probe_strategies import CountingEncoder, to_items
from helpers.thoroughness import examples
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from sentprobe.common.engines import Engine, EngineChoice, InlineExecutor
from sentprobe.probes.classifier.fit import fit
from sentprobe.probes.classifier.presets import find_preset
from sentprobe.probes.datasets.dataset import Card, Indices, Items, ProbeDataset, Split
from sentprobe.probes.encoders.encoder import Vectors
from sentprobe.probes.encoders.kinds import make_encoder
from sentprobe.probes.results.result import Condition, Result
from sentprobe.probes.runs.controls import LIMITING_CONDITIONS
from sentprobe.probes.runs.run import run

SHORT = replace(find_preset("ettinger"), hidden=(20,), batch=20, learning_rate=1e-2, max_epochs=60, patience=3)


def make_mirrored_dataset(*, name: str, pairs: int, seed: int = 0) -> ProbeDataset:
    """Does the first probe word come before the second? A bag of words cannot tell, so that its training ends early."""
    generator = np.random.default_rng(seed)
    texts: dict[str, tuple[list[int], int]] = {}
    while len(texts) < 2 * pairs:
        words = generator.choice(7, 5, replace=False).tolist()
        for order, target in ((words, 1), (words[::-1], 0)):
            texts.setdefault(" ".join(f"w{word}" for word in order), ([words[0], words[-1]], target))
    entries = [(row, words, target) for row, (words, target) in enumerate(texts.values())]
    cut = pairs // 4 * 6
    return ProbeDataset(
        name=name,
        sentences=tuple(texts),
        labels=("FALSE", "TRUE"),
        probe_words=tuple(f"w{word}" for word in range(7)),
        splits={Split.TRAIN: to_items(entries[:cut]), Split.TEST: to_items(entries[cut:])},
        card=Card(name, seed=seed),
    )


DATASETS = [make_mirrored_dataset(name="one", pairs=40, seed=1), make_mirrored_dataset(name="two", pairs=60)]


def make_bow(name: str = "bow", *, seed: int = 0) -> Any:
    return CountingEncoder(make_encoder("bow?dim=30", seed=seed), name=name, fingerprint=name)


@pytest.mark.parametrize("name", ["ettinger", "adi", "conneau"])
def test_limited_training_begins_longer_one(name: str) -> None:
    data = DATASETS[0]
    vectors = make_bow().encode(data.sentences)
    preset = replace(find_preset(name), hidden=(5,), dropout=(0.0,), l2=(1e-4,), batch=10)
    learn, test = data.splits[Split.TRAIN], data.splits[Split.TEST]
    arguments: dict[str, Any] = {"train": learn, "test": test, "validation": test, "words": 10, "labels": 2}

    def train(max_epochs: int, **limits: Any) -> Any:
        chosen = replace(preset, max_epochs=max_epochs)
        return fit(vectors, preset=chosen, seeds=(3, 4), **arguments, **limits)

    first, second = train(9, pass_limits={3: 2, 4: 6})
    assert (first.epochs, first.pass_limit, first.converged) == (2, 2, True)
    assert (second.epochs, second.pass_limit) == (6, 6)
    for limited, alone in ((first, train(2)[0]), (second, train(6)[1])):
        assert limited.loss == alone.loss
        assert (limited.right == alone.right).all()
        assert alone.pass_limit is None


def list_passes(result: Result, condition: Condition) -> dict[int, int]:
    return {score.seed: score.epochs for score in result.scores[condition].seeds}


def test_control_is_limited_by_its_probe() -> None:
    results = run(DATASETS, [make_bow()], preset=SHORT, seeds=3).records
    limits = []
    for result in results:
        for control, limiting in LIMITING_CONDITIONS.items():
            passes = list_passes(result, limiting)
            assert all(list_passes(result, control)[seed] <= passes[seed] for seed in passes)
            limits += [score.pass_limit for score in result.scores[control].seeds]
        assert all(score.pass_limit is None for score in result.scores[Condition.PROBE].seeds)
        assert all(score.converged for score in result.scores[Condition.RANDOM_PROBES].seeds)
    assert len([limit for limit in limits if limit]) > 3


def read_scores(directory: Path) -> dict[str, Any]:
    values = {path.name: json.loads(path.read_bytes()) for path in directory.glob("[!.]*.json")}
    return {name: value["scores"] for name, value in values.items() if "scores" in value}


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    out = tmp_path_factory.mktemp("complete")
    run(DATASETS, [make_bow(), make_bow("other", seed=1)], preset=SHORT, out=out)
    return read_scores(out)


@examples(8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.sampled_from([[0], [1], [0, 1]]), st.sampled_from("ab"), st.booleans()), max_size=3))
def test_resumed_run_has_same_limits(
    tmp_path_factory: pytest.TempPathFactory, uninterrupted: dict[str, Any], history: list[tuple[list[int], str, bool]]
) -> None:
    """The limit of random sentences does not depend on the encoder that was probed first."""
    out = tmp_path_factory.mktemp("run")
    encoders = {"a": make_bow(), "b": make_bow("other", seed=1)}
    for places, name, controls in history:
        run([DATASETS[place] for place in places], [encoders[name]], preset=SHORT, out=out, controls=controls)
    run(DATASETS, [*encoders.values()], preset=SHORT, out=out)
    assert read_scores(out) == uninterrupted


@contextmanager
def make_inline_engine(_: EngineChoice) -> Iterator[Engine]:
    yield Engine(InlineExecutor(), max_waiting=3)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["local", "dask"])
def test_workers_give_the_same_limits(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    specs = ["bow?dim=30", "bow?dim=30&seed=1&name=other"]
    here = run(DATASETS[:1], specs, preset=SHORT)
    if engine == "local":
        there = run(DATASETS[:1], specs, preset=SHORT, jobs=2)
    else:
        monkeypatch.setattr("sentprobe.probes.runs.run.make_engine", make_inline_engine)
        there = run(DATASETS[:1], specs, preset=SHORT, engine=engine, scheduler="tcp://cluster:8786")
    assert [record.scores for record in here.records] == [record.scores for record in there.records]


LEAK_ITEMS = 800


def make_leaking_dataset(targets: Indices, words: Indices) -> ProbeDataset:
    """Return a dataset of an item for each sentence; the last quarter is for testing."""
    pairs = zip(words.tolist(), targets.tolist(), strict=True)
    entries = [(row, [word], target) for row, (word, target) in enumerate(pairs)]
    cut = len(targets) * 3 // 4
    return ProbeDataset(
        name="leak",
        sentences=tuple(f"{row} ." for row in range(len(targets))),
        labels=("FALSE", "TRUE"),
        probe_words=tuple(f"w{word}" for word in range(4)),
        splits={Split.TRAIN: to_items(entries[:cut]), Split.TEST: to_items(entries[cut:])},
        card=Card("leak"),
    )


def probe_leak(data: ProbeDataset, vectors: Vectors) -> Result:
    preset = replace(find_preset("ettinger"), hidden=(30,), batch=50, learning_rate=5e-3, max_epochs=100)
    (result,) = run([data], [PlantedEncoder(vectors, fingerprint="planted")], preset=preset).records
    return result


def test_probe_words_that_leak_are_found() -> None:
    targets, generator = sample_answers(LEAK_ITEMS), np.random.default_rng(3)
    words = np.where(generator.random(LEAK_ITEMS) < 0.6, targets, generator.integers(0, 4, LEAK_ITEMS))
    result = probe_leak(make_leaking_dataset(targets, words), make_linear_vectors(targets))
    assert not result.balanced_probes
    assert result.scores[Condition.NO_SENTENCE].accuracy > 0.7
    assert result.scores[Condition.RANDOM_SENTENCES].accuracy > 0.6


@pytest.mark.slow
def test_position_that_leaks_is_found() -> None:
    """The answer is in the sentence alone, so the probe words do not matter."""
    targets, words = sample_answers(LEAK_ITEMS), np.random.default_rng(3).integers(0, 4, LEAK_ITEMS)
    result = probe_leak(make_leaking_dataset(targets, words), make_faint_vectors(targets))
    assert result.scores[Condition.RANDOM_PROBES].accuracy > 0.7


@pytest.mark.slow
def test_sentences_that_leak_are_found() -> None:
    """A tenth of the test items are training items; the bag of words learns nothing and ends early."""
    data = make_mirrored_dataset(name="copied", pairs=300)
    train, test = data.splits[Split.TRAIN], data.splits[Split.TEST]
    count = len(test) // 10
    rows, probes, targets = (
        np.concatenate([part[:count], rest[count:]])
        for part, rest in ((train.rows, test.rows), (train.probes, test.probes), (train.targets, test.targets))
    )
    data = replace(data, splits={Split.TRAIN: train, Split.TEST: Items(rows, probes, targets)})
    (result,) = run([data], [make_bow()], preset=replace(SHORT, patience=10)).records
    score = result.scores[Condition.RANDOM_SENTENCES]
    assert score.seeds[0].pass_limit
    assert score.items()[:count].mean() > 0.95
