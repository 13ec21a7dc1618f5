"""Strategies for probing datasets, and small datasets and encoders for examples."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from hypothesis import strategies as st

from sentprobe.probes.classifier.presets import PRESETS, find_preset
from sentprobe.probes.classifier.probe import CurvePoint
from sentprobe.probes.datasets.dataset import Card, Items, ProbeDataset, Split
from sentprobe.probes.encoders.encoder import Vectors
from sentprobe.probes.results.data_facts import DataFacts
from sentprobe.probes.results.result import (
    Condition,
    Norm,
    Result,
    Score,
    SeedScore,
    make_score,
    pack_bits,
    renumber_units,
)

words = st.text(alphabet="abcdefgh", min_size=1, max_size=4)
sentences = st.lists(words, min_size=1, max_size=7).map(" ".join)


@st.composite
def datasets(draw: st.DrawFn) -> ProbeDataset:
    """A valid dataset of a few items, with zero to two probe words an item."""
    texts = draw(st.lists(sentences, min_size=1, max_size=6, unique=True))
    slots = draw(st.integers(0, 2))
    probes = draw(st.lists(words, min_size=1, max_size=4, unique=True)) if slots else []
    row = st.integers(0, len(texts) - 1)
    probe = st.lists(st.integers(0, max(0, len(probes) - 1)), min_size=slots, max_size=slots)
    item = st.tuples(row, probe, st.integers(0, 1))
    first = draw(st.tuples(row, probe))
    train = [(*first, 0), (*first, 1), *draw(st.lists(item, max_size=5))]
    trained = st.tuples(*(st.sampled_from([i[1][slot] for i in train]) for slot in range(slots)))
    test = draw(st.lists(st.tuples(row, trained.map(list), st.integers(0, 1)), min_size=1))
    return ProbeDataset(
        name=draw(words),
        sentences=tuple(texts),
        labels=("FALSE", "TRUE"),
        probe_words=tuple(probes),
        splits={Split.TEST: to_items(test), Split.TRAIN: to_items(train)},
        card=Card("toy"),
    )


def to_items(entries: Sequence[tuple[int, list[int], int]]) -> Items:
    rows, probes, targets = zip(*entries, strict=True)
    return Items(np.array(rows), np.array(probes, np.int64).reshape(len(rows), -1), targets)  # type: ignore[arg-type]


def make_learnable_dataset(*, name: str = "toy", seed: int = 0, size: int = 600) -> ProbeDataset:
    """Does the probe word occur in the sentence? Four of ten words a sentence."""
    generator = np.random.default_rng(seed)
    vocabulary = [f"w{i}" for i in range(10)]
    texts = [" ".join(generator.choice(vocabulary, 4, replace=False)) for _ in range(size)]
    texts = list(dict.fromkeys(texts))
    entries = []
    for row, text in enumerate(texts):
        present = text.split()
        absent = [word for word in vocabulary if word not in present]
        for target, choice in enumerate((absent, present)):
            probe = vocabulary.index(str(generator.choice(choice)))
            entries.append((row, [probe], target))
    cut = len(entries) * 4 // 5 // 2 * 2
    return ProbeDataset(
        name=name,
        sentences=tuple(texts),
        labels=("FALSE", "TRUE"),
        probe_words=tuple(vocabulary),
        splits={Split.TRAIN: to_items(entries[:cut]), Split.TEST: to_items(entries[cut:])},
        card=Card(name, seed=seed),
    )


@dataclass
class CountingEncoder:
    """Wraps an encoder and records the encoded texts."""

    inner: object
    name: str = "counting"
    fingerprint: str = "0" * 64
    encoded_texts: list[str] = field(default_factory=list)

    def encode(self, texts: Sequence[str]) -> Vectors:
        self.encoded_texts.extend(texts)
        return self.inner.encode(texts)  # type: ignore[attr-defined,no-any-return]


def make_seed_score(right: Sequence[bool], *, seed: int = 0, epochs: int = 1) -> SeedScore:
    """A seed's score with these test items correct."""
    answers = np.array(right, dtype=np.bool_)
    return SeedScore(
        seed=seed,
        accuracy=int(answers.sum()) / len(answers),
        correct=int(answers.sum()),
        total=len(answers),
        right=pack_bits(answers),
        epochs=epochs,
        loss=0.5,
        converged=True,
    )


def make_sample_result(
    encoder: str, task: str, *correct: int, mirrored: bool = False, seeds: int = 1, total: int = 1000
) -> Result:
    """A result with the given numbers of *total* test items correct, by condition.

    With more seeds, each next one has one more correct. Mirrored: neighbours are a unit.
    """
    units = tuple(item // 2 for item in range(total)) if mirrored else ()
    scores = {
        condition: make_score(
            (make_seed_score([item < count + seed for item in range(total)], seed=seed) for seed in range(seeds)), units
        )
        for condition, count in zip(Condition, correct, strict=False)
    }
    return Result(
        task=task,
        encoder=encoder,
        encoder_fingerprint=encoder * 8,
        dim=3,
        dataset_fingerprint="0",
        majority=0.5,
        mirrored=mirrored,
        units=units,
        scores=scores,
        seed=0,
        preset=find_preset("ettinger"),
        command="",
        versions={},
    )


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
floats = st.floats(0, 1)
facts = st.builds(
    DataFacts,
    train=st.integers(1, 99),
    test=st.integers(1, 99),
    validation=st.integers(0, 9),
    word_types=st.integers(1, 999),
    vocabulary=texts,
    sampling=texts,
    seed=st.none() | st.integers(0, 99),
    source=texts,
    held_out=texts,
    places=st.sampled_from(["word 2", "word last", "words 1, 2 and last"]),
    place_bound=st.none() | st.integers(0, 1000).map(lambda n: n / 1000),
)
norms = st.builds(Norm, st.integers(1, 99), st.integers(1, 99), st.floats(0, 1e9), floats)


@st.composite
def results(draw: st.DrawFn) -> Result:
    """A result of up to 20 test items, some in units."""
    total = draw(st.integers(1, 20))
    rights = st.lists(st.booleans(), min_size=total, max_size=total)
    units = renumber_units(np.array(draw(st.lists(st.integers(0, 9), min_size=total, max_size=total))))

    def draw_score(condition: Condition) -> Score:
        seeds = draw(st.lists(st.integers(0, 9), min_size=1, max_size=3, unique=True))
        has_several_probes = condition in (Condition.PORTIONS, Condition.WIDTHS)
        seed_scores = map(draw_seed_score, seeds)
        return make_score(
            (add_readings(seed_score) if has_several_probes else seed_score for seed_score in seed_scores), units
        )

    def draw_seed_score(number: int) -> SeedScore:
        seed_score = make_seed_score(draw(rights), seed=number)
        wrong = seed_score.total - seed_score.correct
        answers = st.just(()) | st.tuples(*[st.integers(0, 5)] * wrong)
        return replace(seed_score, wrong_answers=draw(answers))

    def add_readings(seed_score: SeedScore) -> SeedScore:
        positions = (1, 2, total + 2)
        bits = st.floats(0, 1e6)
        readings = (CurvePoint(at=at, correct=seed_score.correct, bits=draw(bits)) for at in positions)
        information = draw(st.tuples(*[bits] * total))
        return replace(seed_score, readings=tuple(readings), information=information)

    conditions = sorted({Condition.PROBE, *draw(st.sets(st.sampled_from(Condition)))})
    return Result(
        task=draw(texts),
        encoder=draw(texts),
        encoder_fingerprint=draw(texts),
        dim=draw(st.integers(0, 5000)),
        dataset_fingerprint=draw(texts),
        data=draw(st.none() | facts),
        majority=draw(floats),
        mirrored=draw(st.booleans()),
        units=units,
        lengths=draw(st.just(()) | st.tuples(*[st.integers(1, 70)] * total)),
        norms=tuple(draw(st.lists(norms, max_size=3))),
        balanced_probes=draw(st.booleans()),
        probe_vectors=draw(texts),
        probe_fingerprint=draw(texts),
        scores={condition: draw_score(condition) for condition in conditions},
        seed=draw(st.integers(0, 2**40)),
        preset=draw(st.sampled_from(PRESETS)),
        command=draw(texts),
        versions=draw(st.dictionaries(texts, texts, max_size=2)),
        layer=draw(st.none() | st.integers(0, 12)),
        family=draw(texts),
        step=draw(st.none() | st.integers(0, 10**6)),
        epoch=draw(st.none() | st.floats(0, 100)),
        seconds=draw(st.dictionaries(texts, floats, max_size=2)),
    )
