"""Features of each cue, the information that it lacks, and structures of sentences."""

import numpy as np
import pytest
from helpers.oracles.compeval_checks import dataset
from helpers.strategies.probe_strategies import datasets, sentences, to_items, words
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.lexicon import english
from sentprobe.probes.audits.cue_features import (
    CUES,
    CueItem,
    Features,
    Structures,
    build_cue_items,
    build_skeleton,
    list_cues,
)
from sentprobe.probes.datasets.dataset import Card, ProbeDataset, Split
from sentprobe.probes.datasets.known_task import Cue
from sentprobe.probes.generated.tasks import TASKS
from sentprobe.probes.runs.suites import explain_expected_cue

LEXICON = english()


def make_item(text: str, *probes: str) -> CueItem:
    """The item as the cues see it."""
    data = ProbeDataset(
        name="toy",
        sentences=(text,),
        labels=("FALSE", "TRUE"),
        probe_words=tuple(dict.fromkeys(probes)),
        splits={
            split: to_items([(0, [*map([*dict.fromkeys(probes)].index, probes)], i) for i in (0, 1)])
            for split in (Split.TRAIN, Split.TEST)
        },
        card=Card("toy"),
    )
    return build_cue_items(data, data.splits[Split.TEST], LEXICON)[0]


def compute_features(cue: Cue, cue_item: CueItem) -> Features:
    return CUES[cue].make_extractor(Structures(LEXICON))(cue_item)


items = st.builds(make_item, sentences, words, words)


@given(items, st.randoms(use_true_random=False))
def test_bag_and_length_ignore_order(cue_item: CueItem, random: np.random.Generator) -> None:
    tokens = list(cue_item.tokens)
    random.shuffle(tokens)
    shuffled = CueItem(tuple(tokens), cue_item.probes, cue_item.forms)
    for cue in (Cue.BAG, Cue.LENGTH, Cue.PROBE):
        assert compute_features(cue, cue_item) == compute_features(cue, shuffled)


@given(items)
def test_position_ignores_words(cue_item: CueItem) -> None:
    forms = frozenset().union(*cue_item.forms)
    names = {form: form * 9 for form in forms}
    renamed = CueItem(
        tuple(names.get(token, "other") for token in cue_item.tokens),
        tuple(names[probe] for probe in cue_item.probes),
        tuple(frozenset(names[form] for form in forms_) for forms_ in cue_item.forms),
    )
    assert compute_features(Cue.POSITION, cue_item) == compute_features(Cue.POSITION, renamed)


@given(items, words, words)
def test_sentence_and_template_ignore_probe_words(cue_item: CueItem, first: str, second: str) -> None:
    with_other_probes = CueItem(cue_item.tokens, (first, second), (frozenset({first}), frozenset({second})))
    for cue in (Cue.SENTENCE, Cue.TEMPLATE):
        assert compute_features(cue, cue_item) == compute_features(cue, with_other_probes)


@given(datasets())
def test_cues_give_finite_numbers(data: ProbeDataset) -> None:
    for cue in list_cues(data):
        for cue_item in build_cue_items(data, data.splits[Split.TEST], LEXICON):
            assert all(np.isfinite(value) for value in compute_features(cue, cue_item).values())


def test_probe_word_is_found_by_form() -> None:
    cue_item = make_item("the zork helped the women", "help", "woman")
    assert cue_item.find_positions(0) == [2]
    assert cue_item.find_positions(1) == [4]
    assert make_item("the zork slept", "zork", "zorks").find_positions(0) == [1]
    assert make_item("the zork slept", "zork", "zorks").find_positions(1) == []


def test_position_by_hand() -> None:
    features = compute_features(Cue.POSITION, make_item("the man helped the women", "woman", "help"))
    assert [features["0 from start"], features["0 from end"]] == [5, 1]
    assert features["0 relative"] == pytest.approx(0.9)
    assert features["distance"] == -2
    assert features["first is 1"] == 1
    assert "0 absent" not in features
    assert compute_features(Cue.POSITION, make_item("the man slept", "dance"))["0 absent"] == 1


def test_ngrams_include_neighbours_of_probe_word() -> None:
    features = compute_features(Cue.NGRAMS, make_item("the man is not helping the women", "help"))
    assert features["marked not <0>"] == 1
    assert features["is not"] == 1
    assert features["is not & probe 0 is help"] == 1


def test_items_without_probe_words_have_cues() -> None:
    dataset_ = ProbeDataset(
        name="toy",
        sentences=("a b", "b a"),
        labels=("x", "y"),
        probe_words=(),
        splits={split: to_items([(0, [], 0), (1, [], 1)]) for split in (Split.TRAIN, Split.TEST)},
        card=Card("toy"),
    )
    assert list_cues(dataset_) == (Cue.LENGTH, Cue.BAG, Cue.NGRAMS, Cue.PLACES, Cue.TEMPLATE)


def find_structure(text: str) -> tuple[str, ...]:
    return Structures(LEXICON).find_features(tuple(text.split()))


def test_structure_ignores_words() -> None:
    first = find_structure("the man that is helping the women does not sleep")
    assert first == find_structure("the lawyer that is calling the doctors does not dance")
    assert first != find_structure("the lawyer that called the doctors does not dance")
    assert "main.agent aspect prog" in first


def test_unparsed_sentences_have_skeletons() -> None:
    structures = Structures(LEXICON)
    for text in ("the man slept", "the man slept", "Quickly , rain fell on it !"):
        structures.find_features(tuple(text.split()))
    assert (structures.parsed, structures.skeletons) == (1, 1)
    frame = build_skeleton(["Quickly", ",", "rain", "fell", "on", "it", "!"])
    assert frame == ("_", ",", "_", "_", "on", "it", "!")
    assert find_structure("rain fell on towns .") == find_structure("snow lay on roads .")


def test_expected_cues_ignore_case_of_name() -> None:
    assert explain_expected_cue("ORDER", Cue.POSITION)
    assert not explain_expected_cue("order", Cue.BAG)
    assert not explain_expected_cue("my own task", Cue.NGRAMS)
    assert all(task.may_answer for task in TASKS.values())
    assert not any(Cue.PROBE in task.may_answer for task in TASKS.values())
    assert explain_expected_cue("sr", Cue.NGRAMS) == explain_expected_cue("SemRole", Cue.NGRAMS) != ""


def test_shared_structures_equal_those_of_parses() -> None:
    texts = dataset("SemRole", "compeval").sentences[:60]
    shared = Structures(LEXICON)
    for text in texts:
        tokens = tuple(text.split())
        assert shared.find_features(tokens) == Structures(LEXICON).find_features(tokens), text
    assert (shared.parsed, shared.skeletons) == (len(texts), 0)
