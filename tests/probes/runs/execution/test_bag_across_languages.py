"""The bag of words across languages: it knows only words of training, and without any such word it has one answer."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from helpers.strategies.probe_strategies import to_items
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.probes.classifier.fit import TrainingProblem
from sentprobe.probes.datasets.dataset import Card, ProbeDataset, Split
from sentprobe.probes.encoders.word_vectors import sample_word_vectors
from sentprobe.probes.results.control import CONTROLS
from sentprobe.probes.results.data_facts import DataFacts, collect_data_facts
from sentprobe.probes.results.result import Condition
from sentprobe.probes.runs.controls import encode_bag_of_words, make_control_bow
from sentprobe.probes.runs.run import run

ENGLISH, GERMAN = ("dogs", "sleep", "see", "a", "cat"), ("hunde", "sehen", "eine", "katze", "nicht")
SHARED = (".", "Anna")


def make_dataset(training: Sequence[str], test: Sequence[str]) -> ProbeDataset:
    """Return a dataset with labels in turn, English training and German test sentences."""
    sentences = tuple(dict.fromkeys((*training, *test)))
    splits = {
        split: to_items([(sentences.index(text), [], number % 2) for number, text in enumerate(texts)])
        for split, texts in ((Split.TRAIN, training), (Split.TEST, test))
    }
    return ProbeDataset(
        name="Tense.en-de",
        sentences=sentences,
        labels=("PRES", "PAST"),
        probe_words=(),
        splits=splits,
        card=Card("Tense", train_language="en", test_language="de"),
    )


def texts_of(words: Sequence[str], *, least: int = 2) -> st.SearchStrategy[list[str]]:
    text = st.lists(st.sampled_from(words), min_size=1, max_size=6).map(" ".join)
    return st.lists(text, min_size=least, max_size=8, unique=True).map(lambda texts: texts[: len(texts) // 2 * 2])


@given(texts_of(ENGLISH + SHARED), texts_of(GERMAN + SHARED), st.integers(0, 9))
def test_vectors_are_means_of_the_words_of_training(training: list[str], test: list[str], seed: int) -> None:
    data = make_dataset(training, test)
    vectors = encode_bag_of_words(make_control_bow(seed=seed, dim=5), data)
    words = sample_word_vectors(seed=seed, dim=5)
    training_words = set(" ".join(training).split())
    for sentence, vector in zip(data.sentences, vectors, strict=True):
        rows = [words.find(word) for word in sentence.split() if word in training_words]
        expected = np.mean(np.array(rows), axis=0) if rows else np.zeros(5)
        np.testing.assert_allclose(vector, expected, atol=1e-6)


@given(texts_of(ENGLISH + SHARED), texts_of(GERMAN))
def test_without_a_word_of_training_all_test_sentences_are_alike(training: list[str], test: list[str]) -> None:
    data = make_dataset(training, test)
    vectors = encode_bag_of_words(make_control_bow(seed=0, dim=4), data)
    assert not vectors[data.splits[Split.TEST].rows].any()
    assert collect_data_facts(data).known_words == 0


def test_then_it_is_exactly_at_chance_and_must_be() -> None:
    data = make_dataset([f"dogs see{n}" for n in range(60)], [f"hunde sehen{n}" for n in range(40)])
    (result,) = run(data, "bow?dim=8", preset="logreg").records
    assert result.scores[Condition.BAG_OF_WORDS].accuracy == 0.5
    assert CONTROLS[Condition.BAG_OF_WORDS].must_be_at_chance(result)


def test_items_with_a_word_of_training_are_counted() -> None:
    data = make_dataset(["dogs sleep .", "Anna sleep"], ["hunde sehen .", "eine katze", "Anna nicht", "katze"])
    facts = collect_data_facts(data)
    assert (facts.train_language, facts.test_language, facts.known_words) == ("en", "de", 2)
    assert DataFacts(**facts.to_json()) == facts


def test_the_digest_of_test_items_ignores_training() -> None:
    test = ["eine katze", "katze nicht"]
    first, second = (collect_data_facts(make_dataset(texts, test)) for texts in (["a cat", "dogs"], ["see", "a"]))
    assert first.test_digest == second.test_digest
    assert first.test_digest != collect_data_facts(make_dataset(["see", "a"], test[::-1])).test_digest


@pytest.mark.parametrize("language", ["", "de"])
def test_the_encoder_bow_equals_the_control_in_one_language_only(language: str) -> None:
    data = make_dataset(
        [f"dogs {n}" for n in range(20)], [f"{word} {n}" for n in range(10) for word in ("hunde", "sehen")]
    )
    data = replace(data, card=replace(data.card, train_language="en" if language else "", test_language=language))
    (result,) = run(data, "bow?dim=8", preset="logreg").records
    rights = {result.scores[condition].seeds[0].right for condition in (Condition.PROBE, Condition.BAG_OF_WORDS)}
    assert (len(rights) == 1) is not bool(language)


def test_draws_may_differ_in_their_few_validation_items() -> None:
    facts = collect_data_facts(make_dataset(["dogs sleep", "see"], ["katze", "hunde"]), origin="a table")
    first = replace(facts, sampling="natural", seed=0, train=300, validation=18)
    second = replace(first, seed=10, train=310, validation=30)
    assert first.is_other_draw(second)
    assert not first.is_other_draw(replace(second, train=400))
    assert not first.is_other_draw(replace(second, test_language="fr"))


def test_a_probe_is_trained_once_for_all_test_languages(monkeypatch: pytest.MonkeyPatch) -> None:
    """The scores are those of a run of each dataset alone; only the random vectors depend on the test language."""
    training = [f"dogs see{n}" for n in range(60)]
    german = make_dataset(training, [f"hunde sehen{n}" for n in range(40)])
    french = make_dataset(training, [f"chiens dogs{n}" for n in range(30)])
    french = replace(french, name="Tense.en-fr", card=replace(french.card, test_language="fr"))
    smaller = replace(make_dataset(training[:50], ["eine katze", "katze"]), name="Tense.it-de")
    trainings: list[int] = []

    def count(self: TrainingProblem, *args: Any) -> Any:
        trainings.append(len(self.train))
        return train_probes(self, *args)

    train_probes = TrainingProblem.train_probes
    monkeypatch.setattr(TrainingProblem, "train_probes", count)
    options: dict[str, Any] = {"preset": "logreg", "seeds": 2}
    together = run([german, french, smaller], "bow?dim=8", **options).records
    assert sorted(trainings) == [46] * 5 + [54] * 6  # without validation items
    for result, data in zip(together, (german, french, smaller), strict=True):
        (alone,) = run(data, "bow?dim=8", **options).records
        for condition, scores in alone.scores.items():
            for first, second in zip(result.scores[condition].seeds, scores.seeds, strict=True):
                assert first == second, condition
