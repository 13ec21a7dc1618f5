"""``--sampling paper``: properties and leaks of the published datasets.

The published SemRole and Order are compared if they are available.
"""

from collections import Counter, defaultdict
from functools import cache

import pytest
from helpers.oracles.compeval_checks import DEFINITIONS, MIRRORED, annotated_in, items, lexicon_of, nouns, verbs
from helpers.shared import SHARED, needs_shared

from sentprobe.common.errors import SentprobeError, UsageError
from sentprobe.probes.datasets.dataset import ProbeDataset, Sampling, Size, Split
from sentprobe.probes.datasets.formats import read_dataset
from sentprobe.probes.generated.assemble import build
from sentprobe.probes.generated.tasks import TASKS, HeldOutKind

SIZE = Size(train=400, test=100, validation=50)
PAIR_TASKS = tuple(task.name for task in TASKS.values() if task.held_out is HeldOutKind.PAIRS)

every_task = pytest.mark.parametrize("name", TASKS)


@cache
def build_dataset(name: str, vocabulary: str = "compeval") -> ProbeDataset:
    return build(TASKS[name], lexicon_of(vocabulary), vocabulary=vocabulary, size=SIZE, seed=5, sampling=Sampling.PAPER)


@every_task
@pytest.mark.parametrize("vocabulary", ["compeval", "english"])
def test_invariants(name: str, vocabulary: str) -> None:
    data = build_dataset(name, vocabulary)
    assert data.card.sampling == "paper"
    assert {split: len(part) for split, part in data.splits.items()} == {
        split: SIZE.count_items(split) for split in Split
    }
    rows = [set(part.rows.tolist()) for part in data.splits.values()]
    assert len(set.union(*rows)) == sum(map(len, rows)) == len(data.sentences)
    for split in data.splits:
        by_sentence: defaultdict[str, Counter[int]] = defaultdict(Counter)
        for item in items(data, split):
            by_sentence[item.text][item.label] += 1
        assert all(counts[True] == counts[False] for counts in by_sentence.values())
        assert len({(i.text, i.probe) for i in items(data, split)}) == len(data.splits[split])
    probes = {split: {item.probe for item in items(data, split)} for split in data.splits}
    if name in PAIR_TASKS:
        assert not probes[Split.TRAIN] & probes[Split.TEST]
        assert not probes[Split.VALIDATION] & probes[Split.TEST]


@every_task
def test_labels_are_true_by_definition(name: str) -> None:
    data = build_dataset(name)
    sentences = annotated_in(data, "compeval")
    for split in data.splits:
        for item in items(data, split):
            assert DEFINITIONS[name](sentences[item.text], item.probe) == item.label


@pytest.mark.parametrize("name", [name for name in MIRRORED if name in TASKS])
def test_no_mirrors(name: str) -> None:
    data = build_dataset(name)
    assert not data.mirrored
    probes = {split: Counter(i.probe for i in items(data, split)) for split in data.splits}
    labels = {split: Counter((i.probe, i.label) for i in items(data, split)) for split in probes}
    assert any(
        labels[split][probe, True] != labels[split][probe, False]
        for split, split_probes in probes.items()
        for probe in split_probes
    )


def test_do_support_in_negation() -> None:
    sentences = annotated_in(build_dataset("Negation"), "compeval").values()
    lemmas = [{token.lemma for token in sentence.tokens} for sentence in sentences]
    with_do = sum("do" in words for words in lemmas)
    assert 0.2 < with_do / len(lemmas) < 0.8


def share_with_test_pairs(data: ProbeDataset) -> float:
    """Of the training sentences, the share that has both words of a pair in test."""
    test = {item.probe for item in items(data, Split.TEST)}
    training = {item.text for item in items(data, Split.TRAIN)}
    sentences = annotated_in(data, "compeval")
    count = sum(
        not test.isdisjoint((n, v) for n in nouns(sentences[text]) for v in verbs(sentences[text])) for text in training
    )
    return count / len(training)


@needs_shared
@pytest.mark.slow  # datasets as large as the published ones
@pytest.mark.parametrize(("name", "folder"), [("SemRole", "sr"), ("Order", "order")])
def test_ours_are_like_the_published(name: str, folder: str) -> None:
    """Figures that the procedure decides; those of the published datasets are counted here."""
    theirs = read_dataset(SHARED / "compeval" / "published" / folder)
    size = Size(train=len(theirs.splits[Split.TRAIN]), test=len(theirs.splits[Split.TEST]))
    ours = build(TASKS[name], lexicon_of("compeval"), size=size, seed=0, sampling=Sampling.PAPER)
    for split in (Split.TRAIN, Split.TEST):
        per_sentence = [Counter(Counter(data.splits[split].rows.tolist()).values()) for data in (theirs, ours)]
        assert per_sentence[0].keys() == per_sentence[1].keys()
        probes = [{item.probe for item in items(data, split)} for data in (theirs, ours)]
        assert len(probes[0]) == len(probes[1]) == (42 if split is Split.TRAIN else 7)
        assert len(set(ours.splits[split].rows)) == pytest.approx(len(set(theirs.splits[split].rows)), rel=0.15)
    assert share_with_test_pairs(ours) == pytest.approx(share_with_test_pairs(theirs), abs=0.1)
    assert set(ours.probe_words) == set(theirs.probe_words)


@every_task
def test_seed_decides_all(name: str) -> None:
    size = Size(112, 28)
    datasets = [
        build(TASKS[name], lexicon_of("compeval"), size=size, seed=seed, sampling=Sampling.PAPER) for seed in (1, 1, 2)
    ]
    fingerprints = [data.fingerprint() for data in datasets]
    assert fingerprints[0] == fingerprints[1] != fingerprints[2]


def test_refused() -> None:
    with pytest.raises(UsageError, match="train items must be a positive multiple of 2"):
        build(TASKS["Order"], lexicon_of("compeval"), size=Size(3, 2), sampling=Sampling.PAPER)
    with pytest.raises(UsageError, match="validation items must be a positive multiple of 2"):
        build(TASKS["Order"], lexicon_of("compeval"), size=Size(4, 2, 3), sampling=Sampling.PAPER)
    with pytest.raises(UsageError, match="too few training items for every probe word"):
        build(TASKS["Order"], lexicon_of("compeval"), size=Size(4, 40), sampling=Sampling.PAPER)
    with pytest.raises(SentprobeError, match="without using a sentence twice; ask for fewer"):
        build(
            TASKS["Content1Probe"], lexicon_of("own"), vocabulary="small", size=Size(40_000, 4), sampling=Sampling.PAPER
        )
