"""The compeval tasks: counts in the card, and the validation split."""

from collections import Counter, defaultdict
from dataclasses import replace

import pytest
from helpers.oracles.compeval_checks import (
    MIRRORED,
    SIZE,
    TASKS,
    WITH_PAIRS,
    annotated,
    check,
    dataset,
    every_task,
    find_vocabulary,
    items,
    lexicon_of,
    nouns,
    verbs,
)

from sentprobe.generator.events.event import Aspect
from sentprobe.generator.sentences.sentence_records import annotate_text
from sentprobe.probes.datasets.dataset import Size, Split
from sentprobe.probes.generated.assemble import build

SLOW = pytest.mark.slow

SHARE_LIMIT = 0.25
"""No structure has a larger share of a split of the default size, in the vocabularies compeval and english. In a small
vocabulary some structures are impossible, and the others have more."""


@every_task
def test_the_card_counts_where_the_probe_words_are(name: str) -> None:
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
def test_the_card_counts_aspects_and_nouns(name: str) -> None:
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
def test_no_structure_has_more_than_the_stated_share(name: str, size: Size) -> None:
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
def test_a_validation_split_is_kept_apart(name: str) -> None:
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
