"""The compeval tasks: balance, held-out words, definitions, mirrors, the card, and chance from the sentence alone."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from helpers.oracles.compeval_checks import (
    DEFINITIONS,
    MIRRORED,
    SIZE,
    TASKS,
    WITH_PAIRS,
    annotated,
    check,
    dataset,
    every_task,
    everywhere,
    find_vocabulary,
    items,
    lexicon_of,
    nouns,
    size_in,
    verbs,
)
from helpers.thoroughness import examples
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from sentprobe.common.specs import Size
from sentprobe.generator.events.event import Aspect, Event, Participant, RelativeClause, Role, Voice
from sentprobe.generator.sentences.sentence import Sentence
from sentprobe.generator.sentences.sentence_records import annotate_text
from sentprobe.generator.spaces.templates import find_event_pattern, find_patterns
from sentprobe.lexicon import Lexicon
from sentprobe.probes.classifier.presets import find_preset
from sentprobe.probes.datasets.dataset import ProbeDataset, Split
from sentprobe.probes.encoders.kinds import make_encoder
from sentprobe.probes.generated.assemble import build
from sentprobe.probes.generated.items import count_templates
from sentprobe.probes.generated.tasks import HeldOutKind


@every_task
@everywhere
def test_invariants(name: str, vocabulary: str) -> None:
    check(dataset(name, vocabulary), size_in(vocabulary))


@examples(12, suppress_health_check=list(HealthCheck))
@given(
    name=st.sampled_from(list(TASKS)),
    seed=st.integers(0, 10**6),
    units=st.tuples(st.integers(12, 30), st.integers(1, 12), st.integers(0, 6)),
    vocabulary=st.sampled_from(["compeval", "english", "own"]),
)
def test_invariants_of_any_size(name: str, seed: int, units: tuple[int, int, int], vocabulary: str) -> None:
    task = TASKS[name]
    train, test, validation = (count * task.unit for count in units)
    # The five nouns of our own words do not reach for a third split of any size.
    size = Size(train, test, 0 if vocabulary == "own" else validation)
    lexicon = lexicon_of(vocabulary)
    check(build(task, lexicon, vocabulary=find_vocabulary(name, vocabulary), size=size, seed=seed), size)


@every_task
@everywhere
def test_labels_are_true_by_definition(name: str, vocabulary: str) -> None:
    sentences = annotated(name, vocabulary)
    data = dataset(name, vocabulary)
    for split in data.splits:
        for item in items(data, split):
            assert DEFINITIONS[name](sentences[item.text], item.probe) == item.label, item


@pytest.mark.parametrize("name", [name for name, task in TASKS.items() if task.crossed])
def test_questions_are_asked_evenly(name: str) -> None:
    """Equally often, but for units of two kinds (Content2Probe, Order), and words that fit few sentences."""
    data = dataset(name, "compeval")
    for split in data.splits:
        counts = Counter(item.probe for item in items(data, split)).values()
        if name in ("Content2Probe", "Order", "Attachment"):
            assert max(counts) <= 3 * min(counts)
        else:
            assert max(counts) - min(counts) <= (20 if name == "NumberOf" else TASKS[name].unit)


@everywhere
def test_content2_lacks_noun_and_verb_equally(vocabulary: str) -> None:
    data, sentences = dataset("Content2Probe", vocabulary), annotated("Content2Probe", vocabulary)
    for split in data.splits:
        false = [item for item in items(data, split) if not item.label]
        with_noun = sum(item.probe[0] in nouns(sentences[item.text]) for item in false)
        assert 2 * with_noun == len(false)


@everywhere
@pytest.mark.parametrize("name", [name for name, task in TASKS.items() if task.held_out is HeldOutKind.ADVERBS])
def test_held_out_adverbs(name: str, vocabulary: str) -> None:
    data, sentences = dataset(name, vocabulary), annotated(name, vocabulary)
    adverbs = [
        {token.lemma for item in items(data, split) for token in sentences[item.text].tokens if token.upos == "ADV"}
        for split in data.splits
    ]
    assert all(adverbs)
    assert not set.intersection(*adverbs)


def name_structure(sentence: Sentence) -> str:
    """Name the sub-template of a sentence from its event."""
    event = sentence.event
    if sum(bool(isinstance(p := event.argument(r), Participant) and p.clause) for r in Role) > 1:
        return find_event_pattern(event).name
    for role in Role:
        person = event.argument(role)
        if isinstance(person, Participant) and isinstance(person.clause, RelativeClause):
            clause = person.clause
            inner = f"{clause.event.frame}.{clause.kind or get_clause_kind(clause)}"
            is_gift = clause.event.frame == "ditransitive" != event.frame
            return f"{event.frame}-rc{'-ditransitive' if is_gift else ''}.{role}.{inner}"
    return str(event.frame)


def get_clause_kind(clause: RelativeClause) -> str:
    return "src" if clause.event.gap is clause.event.subject else "orc"


@every_task
@everywhere
def test_structures(name: str, vocabulary: str) -> None:
    data, sentences = dataset(name, vocabulary), annotated(name, vocabulary)
    for split in data.splits:
        counts: Counter[str] = Counter()
        for item in items(data, split):
            sentence = sentences[item.text]
            counts[f"{split}: {data.labels[item.label]}"] += 1
            counts[f"{split}: {name_structure(sentence)}, {sentence.event.voice}"] += 1
        assert counts.items() <= data.card.counts.items()
        named = {k for k in data.card.counts if k.startswith(split) and k.endswith(VOICES)}
        assert named == {key for key in counts if key.endswith(VOICES)}
    templates = {pattern.name for pattern in find_patterns((*TASKS[name].templates, *TASKS[name].mirror_templates))}
    for split, share in iterate_shares(data):
        assert max(share.values()) <= 0.4, split
        possible = templates - IMPOSSIBLE.get((name, vocabulary), set())
        assert set(share) <= possible
        if split is Split.TRAIN and not TASKS[name].is_spread:  # Order takes the structures that its places need
            assert set(share) == possible


VOICES = tuple(f", {voice}" for voice in Voice)

ONE_NOUN = "intransitive-rc.agent.intransitive.src"
NO_ORDER = {ONE_NOUN, "intransitive-rc.agent.transitive.orc"}
"""Order: nothing to swap; both nouns come before both verbs."""

SAME_AGENT = {
    ONE_NOUN,
    "intransitive-rc.agent.transitive.src",
    "transitive-rc.agent.intransitive.src",
    "transitive-rc.agent.transitive.src",
}
"""NumberOf: both verbs have the same agent, or the mirror has *was* for *were*."""

OF_A_THING = {
    f"ditransitive-rc.patient.{clause}" for clause in ("transitive.src", "transitive.orc", "intransitive.src")
}
"""Recipient: clauses of a thing, whose verbs take persons only."""

IMPOSSIBLE = {
    ("Content1Probe", "compeval"): {ONE_NOUN},  # with one of its two verbs, but not with the other
    **{("Order", vocabulary): NO_ORDER for vocabulary in ("compeval", "english", "own")},
    **{("SemRole", vocabulary): {ONE_NOUN} for vocabulary in ("compeval", "english", "own")},
    **{("Binding", vocabulary): {ONE_NOUN} for vocabulary in ("compeval", "english", "own")},
    **{("Recipient", vocabulary): OF_A_THING for vocabulary in ("compeval", "own")},
    **{("NumberOf", vocabulary): SAME_AGENT for vocabulary in ("compeval", "english", "own")},
}
"""The structures in which a task has no items."""


def iterate_shares(data: ProbeDataset) -> Iterator[tuple[Split, dict[str, float]]]:
    for split, part in data.splits.items():
        counts = count_templates(data.card, split)
        assert sum(counts.values()) == len(part)
        shares_ = {name: count / len(part) for name, count in counts.items()}
        assert max(shares_.values()) == data.card.largest_share[split]
        yield split, shares_


@pytest.mark.parametrize("name", MIRRORED)
def test_bag_of_words_gets_exactly_half(name: str) -> None:
    from sentprobe.probes.runs.run import run

    preset = replace(find_preset("ettinger"), max_epochs=8)
    results = run([dataset(name, "own")], [make_encoder("bow?dim=20", seed=0)], preset=preset, seed=0)
    assert results.records[0].accuracy == 0.5


SLOW = pytest.mark.slow

SHARE_LIMIT = 0.25
"""No structure has a larger share of a split of the default size, in the vocabularies compeval and english. In a small
vocabulary some structures are impossible, and the others have more."""


@every_task
def test_card_counts_places_of_probe_words(name: str) -> None:
    """All combinations occur: in the main clause, in the relative clause, absent."""
    data = dataset(name, "compeval")
    if not data.slots:
        assert not any("probe:" in key for key in data.card.counts)
        return
    places = ("in main clause", "in relative clause")
    expected: list[tuple[str, ...]] = [(verb,) for verb in places]
    if TASKS[name].has_noun:
        expected = [(noun, verb) for noun in places for verb in places]
    if name == "Attachment":
        expected = [places]
    kinds = ("noun", "adjective" if name == "Binding" else "verb")[2 - data.slots :]
    for split, part in data.splits.items():
        counts = {
            key.removeprefix(f"{split}: probe: "): count
            for key, count in data.card.counts.items()
            if key.startswith(f"{split}: probe: ")
        }
        assert sum(counts.values()) == len(part)
        for places_ in expected if split is Split.TRAIN else ():
            key = ", ".join(f"{kind} {place}" for kind, place in zip(kinds, places_, strict=True))
            assert counts[key] / len(part) > 0.015, key
        assert any("absent" in key for key in counts) is name.startswith("Content")


NOUN_COUNTS = {"Recipient": ({3, 4, 5}, {3, 4}), "Question": ({1, 2}, {1, 2})}
"""The largest and the smallest set of numbers of nouns."""


@every_task
def test_card_counts_aspects_and_nouns(name: str) -> None:
    data, sentences = dataset(name, "own"), annotated(name, "own")
    for split, part in data.splits.items():
        counts: Counter[str] = Counter()
        for item in items(data, split):
            number = len(nouns(sentences[item.text]))
            counts[f"{split}: {number} noun{'' if number == 1 else 's'}"] += 1
            counts[f"{split}: main clause {sentences[item.text].event.aspect}"] += 1
        assert counts.items() <= data.card.counts.items()
        for aspect in (Aspect.SIMPLE, Aspect.PROGRESSIVE):
            assert 0.15 < counts[f"{split}: main clause {aspect}"] / len(part) < 0.85
        most, least = NOUN_COUNTS.get(name, ({1, 2, 3}, {2, 3}))
        assert most >= {int(key.split()[1]) for key in counts if "noun" in key} >= least


@every_task
@pytest.mark.parametrize("size", [SIZE, pytest.param(Size(2240, 840), marks=SLOW)], ids=str)
def test_no_structure_exceeds_its_share(name: str, size: Size) -> None:
    small = size == SIZE
    data = dataset(name, "compeval") if small else build(TASKS[name], lexicon_of("compeval"), size=size, seed=3)
    limit = 0.35 if name in ("NumberOf", "Mood") else SHARE_LIMIT  # they have few structures
    assert max(data.card.largest_share.values()) <= limit


@pytest.mark.parametrize(
    ("name", "vocabulary"), [*((name, "compeval") for name in TASKS), ("SemRole", "english"), ("Negation", "english")]
)
def test_invariants_with_validation(name: str, vocabulary: str) -> None:
    size = Size(train=168, test=56, validation=56)
    lexicon = lexicon_of(vocabulary)
    data = build(TASKS[name], lexicon, vocabulary=find_vocabulary(name, vocabulary), size=size, seed=2)
    check(data, size)
    sentences = {text: annotate_text(text, lexicon) for text in data.sentences}
    sets = {
        split: [(nouns(sentences[item.text]), verbs(sentences[item.text])) for item in items(data, split)]
        for split in data.splits
    }
    if name in WITH_PAIRS:
        held_out = {i.probe for s in (Split.TEST, Split.VALIDATION) for i in items(data, s)}
        held_out -= {item.probe for item in items(data, Split.TRAIN)}
        for ns, vs in sets[Split.TRAIN]:
            assert held_out.isdisjoint((noun, verb) for noun in ns for verb in vs)
    if name == "Negation":
        adverbs = {
            split: {
                token.lemma
                for item in items(data, split)
                for token in sentences[item.text].tokens
                if token.upos == "ADV"
            }
            for split in data.splits
        }
        assert not adverbs[Split.TEST] & (adverbs[Split.TRAIN] | adverbs[Split.VALIDATION])
        shared = bool(adverbs[Split.TRAIN] & adverbs[Split.VALIDATION])
        assert shared is (vocabulary != "english") is bool(data.card.notes)


@pytest.mark.parametrize("name", ["Content2Probe", "SemRole"])
def test_validation_split_is_kept_apart(name: str) -> None:
    """Test is the same with and without it, and mirrors are never divided."""
    size = Size(train=112, test=56)
    without_validation = build(TASKS[name], lexicon_of("compeval"), size=size, seed=2)
    with_validation = build(TASKS[name], lexicon_of("compeval"), size=replace(size, validation=28), seed=2)
    assert Split.VALIDATION not in without_validation.splits
    assert {item.text for item in items(without_validation, Split.TEST)} == {
        item.text for item in items(with_validation, Split.TEST)
    }
    by_words: dict[object, set[Split]] = defaultdict(set)
    for split in with_validation.splits if name in MIRRORED else ():
        for item in items(with_validation, split):
            by_words[item.mirror_key].add(split)
    assert all(len(splits) == 1 for splits in by_words.values())


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
def test_training_has_no_test_pair(name: str, vocabulary: str) -> None:
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
def test_sentence_alone_gives_chance(name: str, size: Size, seed: int) -> None:
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
def test_order_places_differ_seldom(vocabulary: str) -> None:
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


def get_only_clause(event: Event) -> Event:
    (clause,) = (
        person.clause.event
        for role in Role
        if isinstance(person := event.argument(role), Participant) and isinstance(person.clause, RelativeClause)
    )
    return clause


def count_adverbs(sentence: Sentence) -> tuple[int, int]:
    """Return how many adverbs the main clause and the relative clause have."""
    event = sentence.event
    return len(event.adverbs or ()), len(get_only_clause(event).adverbs or ())


@pytest.mark.parametrize("vocabulary", ["compeval", pytest.param("english", marks=pytest.mark.slow)])
def test_negation_balances_numbers_of_adverbs(vocabulary: str) -> None:
    data = make_dataset("Negation", vocabulary=vocabulary, size=Size(2400, 1600))
    lexicon = lexicon_of(vocabulary)
    for part in data.splits.values():
        sentences = [annotate_text(data.sentences[row], lexicon) for row in part.rows]
        counts = Counter(map(count_adverbs, sentences))
        shares = [counts[n, m] / len(part) for n in range(3) for m in range(3)]
        assert sum(shares) == pytest.approx(1)
        assert min(shares) > 0.75 / 9
        assert max(shares) < 1.25 / 9
