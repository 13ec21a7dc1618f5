"""The sentence alone does not predict the answer in the compeval tasks.

The features are those of the questions, from the parsed text: its nouns and verbs, and which noun stands on which side
of which verb.
"""

from collections import Counter

import numpy as np
import pytest
from helpers.oracles.compeval_checks import TASKS, WITH_PAIRS, dataset, find_vocabulary, lexicon_of

from sentprobe.generator.events.event import Event, Participant, RelativeClause, Role
from sentprobe.generator.sentences.sentence import Sentence
from sentprobe.generator.sentences.sentence_records import annotate_text
from sentprobe.lexicon import Lexicon
from sentprobe.probes.datasets.dataset import ProbeDataset, Size, Split
from sentprobe.probes.generated.assemble import build

Lemmas = list[tuple[str, str]]


def make_dataset(name: str, *, vocabulary: str = "compeval", seed: int = 0, size: Size) -> ProbeDataset:
    lexicon = lexicon_of(vocabulary)
    return build(TASKS[name], lexicon, vocabulary=find_vocabulary(name, vocabulary), size=size, seed=seed)


def list_lemmas(data: ProbeDataset, lexicon: Lexicon) -> list[Lemmas]:
    """Return the nouns, verbs and adjectives of each sentence, by lemma and part of speech, in order."""
    words_by_form: dict[str, tuple[str, str]] = {}
    lemmas_ = []
    for text in data.sentences:
        if not words_by_form.keys() >= set(text.split()):
            tokens = annotate_text(text, lexicon).tokens
            words_by_form |= {token.form: (token.lemma, token.upos) for token in tokens}
        words = [words_by_form[form] for form in text.split()]
        lemmas_.append([word for word in words if word[1] in {"NOUN", "VERB", "ADJ"}])
    return lemmas_


def list_pairs(words: Lemmas) -> set[tuple[str, str]]:
    return {(n, v) for n, kind in words for v, tag in words if kind == "NOUN" and tag in {"VERB", "ADJ"}}


@pytest.mark.parametrize("name", WITH_PAIRS)
@pytest.mark.parametrize("vocabulary", ["compeval", "english", "own"])
def test_no_training_sentence_has_both_words_of_a_test_pair(name: str, vocabulary: str) -> None:
    data = dataset(name, vocabulary)
    train, test = data.splits[Split.TRAIN], data.splits[Split.TEST]
    held_out = {(data.probe_words[noun], data.probe_words[verb]) for noun, verb in test.probes.tolist()}
    words = list_lemmas(data, lexicon_of(vocabulary))
    assert all(held_out.isdisjoint(list_pairs(words[row])) for row in train.rows)
    assert any(held_out & list_pairs(words[row]) for row in test.rows)


def list_features(words: Lemmas) -> set[object]:
    sides = {
        (n, v, i < j)
        for i, (n, kind) in enumerate(words)
        for j, (v, tag) in enumerate(words)
        if kind == "NOUN" and tag in {"VERB", "ADJ"}
    }
    return {*words, *list_pairs(words), *sides}


@pytest.mark.parametrize("name", WITH_PAIRS)
@pytest.mark.parametrize(
    ("size", "seed"),
    [(Size(1400, 700), 0), *(pytest.param(Size(), seed, marks=pytest.mark.slow) for seed in (0, 1))],
    ids=str,
)
def test_the_sentence_alone_gives_chance(name: str, size: Size, seed: int) -> None:
    linear_model = pytest.importorskip("sklearn.linear_model")
    data = make_dataset(name, size=size, seed=seed)
    sets = [list_features(words) for words in list_lemmas(data, lexicon_of("compeval"))]
    columns = {feature: i for i, feature in enumerate(sorted(set().union(*sets), key=str))}
    table = np.zeros((len(sets), len(columns)), np.float32)
    for row, present in enumerate(sets):
        table[row, [columns[feature] for feature in present]] = 1
    train, test = data.splits[Split.TRAIN], data.splits[Split.TEST]
    model = linear_model.LogisticRegression(max_iter=1000).fit(table[train.rows], train.targets)
    assert model.score(table[test.rows], test.targets) == 0.5


@pytest.mark.parametrize("vocabulary", ["compeval", pytest.param("english", marks=pytest.mark.slow)])
def test_order_no_place_differs_in_more_than_a_fifth_of_the_units(vocabulary: str) -> None:
    """An encoder that sees one place only is right on at most 60%: half, and half of this share."""
    data = make_dataset("Order", vocabulary=vocabulary, size=Size(400, 2000))
    pairs: dict[int, set[int]] = {}
    test = data.splits[Split.TEST]
    for unit, row in zip(data.units(Split.TEST).tolist(), test.rows.tolist(), strict=True):
        pairs.setdefault(unit, set()).add(row)
    counts: Counter[int] = Counter()
    for rows in pairs.values():
        first, second = (data.sentences[row].split() for row in rows)
        assert len(first) == len(second)
        places = [at for at in range(len(first)) if first[at] != second[at]]
        counts.update([*places, *(at - len(first) for at in places)])
    assert len(pairs) == 500
    assert max(counts.values()) <= 100, counts.most_common(3)


def get_clause(event: Event) -> Event:
    (clause,) = (
        person.clause.event
        for role in Role
        if isinstance(person := event.argument(role), Participant) and isinstance(person.clause, RelativeClause)
    )
    return clause


def count_adverbs(sentence: Sentence) -> tuple[int, int]:
    """Return how many adverbs the main clause and the relative clause have."""
    event = sentence.event
    return len(event.adverbs or ()), len(get_clause(event).adverbs or ())


@pytest.mark.parametrize("vocabulary", ["compeval", pytest.param("english", marks=pytest.mark.slow)])
def test_negation_has_every_number_of_adverbs_equally_often(vocabulary: str) -> None:
    data = make_dataset("Negation", vocabulary=vocabulary, size=Size(2400, 1600))
    lexicon = lexicon_of(vocabulary)
    for items in data.splits.values():
        sentences = [annotate_text(data.sentences[row], lexicon) for row in items.rows]
        counts = Counter(map(count_adverbs, sentences))
        shares = [counts[n, m] / len(items) for n in range(3) for m in range(3)]
        assert sum(shares) == pytest.approx(1)
        assert min(shares) > 0.75 / 9
        assert max(shares) < 1.25 / 9
