"""Mirror pairs of tasks as triplets with the test sentences as anchors."""

from collections import Counter
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from helpers.oracles.pairs_at_once import build_events

from sentprobe.common.specs import Size
from sentprobe.generator.events.meaning import find_differences, has_same_meaning
from sentprobe.generator.pairs.drafts import MAIN
from sentprobe.generator.pairs.triplets import TripletSide, TripletSpace
from sentprobe.generator.sentences.parse import parse
from sentprobe.generator.sentences.realize import realize
from sentprobe.lexicon import english
from sentprobe.probes.datasets.dataset import Card, Items, ProbeDataset, Split
from sentprobe.probes.encoders.kinds import make_encoder
from sentprobe.probes.generated.assemble import build
from sentprobe.probes.generated.tasks import find_task
from sentprobe.probes.similarity import measures as ms
from sentprobe.probes.similarity.distance_run import measure_encoder
from sentprobe.probes.similarity.mirror_triplets import (
    NoMirrorError,
    build_mirror_material,
    change_voice,
    find_mirror_items,
    find_mirror_triplets,
)
from sentprobe.probes.similarity.triplet_sentences import TripletSampling

SMALL = Size(56, 56)


@cache
def build_dataset(task: str) -> ProbeDataset:
    return build(find_task(task), english(), size=SMALL)


@pytest.mark.parametrize("task", ["SemRole", "Order", "Negation"])
def test_anchors_are_the_test_sentences(task: str) -> None:
    """Each answer is of the sentence of the item that it names, in order."""
    data = build_dataset(task)
    items = data.splits[Split.TEST]
    material = build_mirror_material(data, english(), TripletSampling(n=1, distractors=3))
    anchors = [*material.columns[ms.ANCHOR], *material.columns[ms.HARD]]
    assert anchors == [data.sentences[items.rows[i]] for i in material.items]
    assert len({*material.items}) == len(material.items) == 2 * len(material.units)
    if task == "SemRole":  # in the others, some sentences have other words in the other voice
        assert sorted(material.items) == [*range(56)]
    assert len(material.items) >= 28
    assert (material.drawing.n, material.drawing.distractors) == (len(material.units), 0)
    assert material.dataset == data.fingerprint()


@pytest.mark.parametrize("task", ["SemRole", "Order", "Negation"])
def test_positive_keeps_meaning_unlike_mirror(task: str) -> None:
    material = build_mirror_material(build_dataset(task), english(), TripletSampling())
    for texts in zip(*material.columns, strict=True):
        anchor, positive, negative, hard = (parse(text, english())[0] for text in texts)
        assert has_same_meaning(anchor, positive)
        assert has_same_meaning(hard, negative)
        assert find_differences(anchor, hard)
        words = [Counter(text.split()) for text in texts]
        assert words[0] == words[3] != words[1] == words[2]


@pytest.mark.parametrize("task", ["SemRole", "Negation"])
def test_bag_of_words_is_half_right(task: str) -> None:
    material = build_mirror_material(build_dataset(task), english(), TripletSampling())
    bow = make_encoder("bow")
    result = measure_encoder(bow, material, bow.encode(material.sentences), None)
    for kind, accuracy in ((ms.NegativeKind.FORM, 0.5), (ms.NegativeKind.ANCHOR, 0.0)):
        overall = result.find_overall(kind, ms.Nearness.COSINE)
        assert overall is not None
        assert overall.measured.accuracy == accuracy
    assert result.items == tuple(material.items)
    assert result.ranking is None


@pytest.mark.parametrize("contrast", ["role", "tense"])
def test_other_voice_equals_drawn_triplets(contrast: str) -> None:
    """Events are turned here as the columns of drafts are."""
    triplets = TripletSpace(english(), contrast).sample(60, seed=1)
    rows = zip(build_events(triplets, TripletSide.ANCHOR), triplets.list_strata(), strict=True)
    for (event, stratum), text in zip(rows, triplets.render_texts(TripletSide.POSITIVE), strict=True):
        changed = event
        for path in stratum.voices:
            changed = change_voice(changed, path)
        assert realize(changed, english()).text == text


def make_dataset(*entries: tuple[str, str, int]) -> ProbeDataset:
    """Return a dataset with these test items: sentence, probe verb, label."""
    sentences = tuple(dict.fromkeys(text for text, _, _ in entries))
    verbs = tuple(dict.fromkeys(verb for _, verb, _ in entries))
    rows, probes, targets = zip(*((sentences.index(t), [verbs.index(v)], y) for t, v, y in entries), strict=True)
    items = Items(rows, probes, targets)  # type: ignore[arg-type]
    return ProbeDataset(
        name="mine", sentences=sentences, labels=("FALSE", "TRUE"), probe_words=verbs,
        splits={Split.TRAIN: items, Split.TEST: items}, card=Card("mine"),
    )  # fmt: skip


def test_mirror_triplets_by_hand() -> None:
    """The clause of the verb that is asked about is turned; if it has no other voice, another."""
    data = make_dataset(
        ("the man that helped the lawyer slept", "sleep", 1),
        ("the man helped the lawyer", "help", 1),
        ("the lawyer helped the man", "help", 0),
        ("the lawyer that helped the man slept", "sleep", 0),
    )
    material = build_mirror_material(data, english(), TripletSampling())
    assert sorted(zip(*material.columns, strict=True)) == [
        (
            "the man helped the lawyer",
            "the lawyer was helped by the man",
            "the man was helped by the lawyer",
            "the lawyer helped the man",
        ),
        (
            "the man that helped the lawyer slept",
            "the man that the lawyer was helped by slept",
            "the lawyer that the man was helped by slept",
            "the lawyer that helped the man slept",
        ),
    ]
    assert material.items == [1, 0, 2, 3]
    assert material.groups["structure"] == ["transitive", "intransitive-rc.agent.transitive.src"]
    assert material.groups["place"] == ["main", "main"]
    assert material.groups["distance"] == ["1 to 3 tokens", "4 to 6 tokens"]
    assert material.groups["voice"] == ["no relative clause", "main changed, voice of relative"]
    assert material.units.tolist() == [0, 1]


@pytest.mark.parametrize(
    "entries",
    [
        (("the man slept", "sleep", 1), ("the man was sleeping", "sleep", 0)),  # other words
        (("the man helped the lawyer", "help", 1), ("the lawyer helped the man", "help", 1),
         ("the man met the lawyer", "meet", 0)),  # one label
        (("man the helped", "help", 1), ("helped the man", "help", 0)),  # no sentences of ours
        (("the man helped the lawyer", "help", 1), ("the man helped the lawyer", "help", 0)),
        (("the man willingly helped the lawyer", "help", 1),
         ("the lawyer willingly helped the man", "help", 0)),  # who was willing?
        (("the men help the lawyer", "help", 1), ("the lawyer help the men", "help", 0)),
    ],
)  # fmt: skip
def test_items_without_mirrors_are_refused(entries: tuple[tuple[str, str, int], ...]) -> None:
    with pytest.raises(NoMirrorError, match="mine: no test items are mirror pairs"):
        build_mirror_material(make_dataset(*entries), english(), TripletSampling())


def test_turned_sentences_keep_words() -> None:
    """ "is not helping" and "is helping" may change places, "does not help" and "helps" may not."""
    entries = (
        ("the man that is not helped by the lawyer is sleeping", "help", 0),
        ("the man that is helped by the lawyer is not sleeping", "help", 1),
    )
    assert find_mirror_triplets(make_dataset(*entries), english()) == []
    entries = (
        ("the man that is not being helped by the lawyer is sleeping", "help", 0),
        ("the man that is being helped by the lawyer is not sleeping", "help", 1),
    )
    (triplet,) = find_mirror_triplets(make_dataset(*entries), english())
    assert realize(triplet.changed_events[0], english()).text == ("the man that the lawyer is not helping is sleeping")
    assert triplet.probed_path != MAIN


def test_each_item_is_in_one_pair() -> None:
    data = build_dataset("SemRole")
    pairs = [*find_mirror_items(data)]
    assert sorted(np.array(pairs).reshape(-1).tolist()) == [*range(56)]
    targets = data.splits[Split.TEST].targets
    assert all({int(targets[at]) for at in pair} == {0, 1} for pair in pairs)


def test_another_training_split_is_another_material() -> None:
    data = make_dataset(("the man helped the lawyer", "help", 1), ("the lawyer helped the man", "help", 0))
    train = data.splits[Split.TRAIN]
    reordered = Items(train.rows[::-1], train.probes[::-1], train.targets[::-1])
    changed = replace(data, splits={**data.splits, Split.TRAIN: reordered})
    one, two = (build_mirror_material(data_, english(), TripletSampling()) for data_ in (data, changed))
    assert one.columns == two.columns
    assert one.fingerprint != two.fingerprint
