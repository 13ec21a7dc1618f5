"""What each cue shows of an item, and what it hides; the structure of a sentence."""

import numpy as np
import pytest
from compeval_checks import dataset
from hypothesis import given
from hypothesis import strategies as st
from probe_strategies import datasets, sentences, to_items, words

from sentprobe.lexicon import english
from sentprobe.probes.audit.features import (
    CUES,
    Features,
    Seen,
    Structures,
    cues_of,
    seen,
    skeleton,
)
from sentprobe.probes.compeval import TASKS
from sentprobe.probes.dataset import Card, ProbeDataset, Split
from sentprobe.probes.known_task import Cue
from sentprobe.probes.suites import expected

LEXICON = english()


def item(text: str, *probes: str) -> Seen:
    """The item as the cues see it."""
    data = ProbeDataset(
        name="toy",
        sentences=(text,),
        labels=("FALSE", "TRUE"),
        probe_words=tuple(dict.fromkeys(probes)),
        splits={
            split: to_items(
                [(0, [*map([*dict.fromkeys(probes)].index, probes)], i) for i in (0, 1)]
            )
            for split in (Split.TRAIN, Split.TEST)
        },
        card=Card("toy"),
    )
    return seen(data, data.splits[Split.TEST], LEXICON)[0]


def shows(cue: Cue, of: Seen) -> Features:
    return CUES[cue].make(Structures(LEXICON))(of)


items = st.builds(item, sentences, words, words)


@given(items, st.randoms(use_true_random=False))
def test_the_bag_of_words_and_the_length_do_not_know_the_order(
    one: Seen, random: np.random.Generator
) -> None:
    tokens = list(one.tokens)
    random.shuffle(tokens)
    mixed = Seen(tuple(tokens), one.probes, one.forms)
    for cue in (Cue.BAG, Cue.LENGTH, Cue.PROBE):
        assert shows(cue, one) == shows(cue, mixed)


@given(items)
def test_the_position_does_not_know_words_nor_which_the_probe_words_are(one: Seen) -> None:
    forms = frozenset().union(*one.forms)
    names = {form: form * 9 for form in forms}
    renamed = Seen(
        tuple(names.get(token, "other") for token in one.tokens),
        tuple(names[probe] for probe in one.probes),
        tuple(frozenset(names[form] for form in each) for each in one.forms),
    )
    assert shows(Cue.POSITION, one) == shows(Cue.POSITION, renamed)


@given(items, words, words)
def test_sentence_and_template_do_not_know_the_probe_words(
    one: Seen, first: str, second: str
) -> None:
    other = Seen(one.tokens, (first, second), (frozenset({first}), frozenset({second})))
    for cue in (Cue.SENTENCE, Cue.TEMPLATE):
        assert shows(cue, one) == shows(cue, other)


@given(datasets())
def test_every_cue_has_numbers_for_every_item(data: ProbeDataset) -> None:
    for cue in cues_of(data):
        for one in seen(data, data.splits[Split.TEST], LEXICON):
            assert all(np.isfinite(value) for value in shows(cue, one).values())


def test_a_probe_word_is_found_by_its_forms_or_as_it_stands() -> None:
    one = item("the zork helped the women", "help", "woman")
    assert one.places(0) == [2]
    assert one.places(1) == [4]
    assert item("the zork slept", "zork", "zorks").places(0) == [1]
    assert item("the zork slept", "zork", "zorks").places(1) == []


def test_position_by_hand() -> None:
    found = shows(Cue.POSITION, item("the man helped the women", "woman", "help"))
    assert [found["0 from start"], found["0 from end"]] == [5, 1]
    assert found["0 relative"] == pytest.approx(0.9)
    assert found["distance"] == -2
    assert found["first is 1"] == 1
    assert "0 absent" not in found
    assert shows(Cue.POSITION, item("the man slept", "dance"))["0 absent"] == 1


def test_ngrams_know_the_neighbours_of_a_probe_word() -> None:
    found = shows(Cue.NGRAMS, item("the man is not helping the women", "help"))
    assert found["marked not <0>"] == 1
    assert found["is not"] == 1
    assert found["is not & probe 0 is help"] == 1


def test_without_probe_words_there_are_four_cues() -> None:
    bare = ProbeDataset(
        name="toy",
        sentences=("a b", "b a"),
        labels=("x", "y"),
        probe_words=(),
        splits={split: to_items([(0, [], 0), (1, [], 1)]) for split in (Split.TRAIN, Split.TEST)},
        card=Card("toy"),
    )
    assert cues_of(bare) == (Cue.LENGTH, Cue.BAG, Cue.NGRAMS, Cue.TEMPLATE)


def structure(text: str) -> tuple[str, ...]:
    return Structures(LEXICON).features(tuple(text.split()))


def test_sentences_that_differ_in_words_only_have_one_structure() -> None:
    first = structure("the man that is helping the women does not sleep")
    assert first == structure("the lawyer that is calling the doctors does not dance")
    assert first != structure("the lawyer that called the doctors does not dance")
    assert "main.agent aspect prog" in first


def test_other_sentences_have_a_skeleton_and_both_kinds_are_counted() -> None:
    found = Structures(LEXICON)
    for text in ("the man slept", "the man slept", "Quickly , rain fell on it !"):
        found.features(tuple(text.split()))
    assert (found.parsed, found.skeletons) == (1, 1)
    frame = skeleton(["Quickly", ",", "rain", "fell", "on", "it", "!"])
    assert frame == ("_", ",", "_", "_", "on", "it", "!")
    assert structure("rain fell on towns .") == structure("snow lay on roads .")


def test_expectations_are_by_the_name_of_the_dataset_whatever_its_case() -> None:
    assert expected("ORDER", Cue.POSITION)
    assert not expected("order", Cue.BAG)
    assert not expected("my own task", Cue.NGRAMS)
    assert all(task.may_answer for task in TASKS.values())
    assert not any(Cue.PROBE in task.may_answer for task in TASKS.values())
    assert expected("sr", Cue.NGRAMS) == expected("SemRole", Cue.NGRAMS) != ""


def test_sentences_of_one_sequence_of_word_classes_have_the_structure_that_a_parse_gives() -> None:
    texts = dataset("SemRole", "compeval").sentences[:60]
    together = Structures(LEXICON)
    for text in texts:
        tokens = tuple(text.split())
        assert together.features(tokens) == Structures(LEXICON).features(tokens), text
    assert (together.parsed, together.skeletons) == (len(texts), 0)
