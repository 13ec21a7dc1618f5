"""The compeval tasks: balance, held-out words, definitions, and the mirror theorem."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import pytest
from helpers.oracles.compeval_checks import (
    DEFINITIONS,
    MIRRORED,
    TASKS,
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
)
from helpers.thoroughness import examples
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from sentprobe.generator.events.event import Participant, RelativeClause, Role, Voice
from sentprobe.generator.sentences.sentence import Sentence
from sentprobe.generator.spaces.templates import find_event_pattern, find_patterns
from sentprobe.probes.classifier.presets import find_preset
from sentprobe.probes.datasets.dataset import ProbeDataset, Size, Split
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
def test_content2_lacks_the_noun_as_often_as_the_verb(vocabulary: str) -> None:
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
def test_a_bag_of_words_gets_exactly_half(name: str) -> None:
    from sentprobe.probes.runs.run import run

    preset = replace(find_preset("ettinger"), max_epochs=8)
    results = run([dataset(name, "own")], [make_encoder("bow?dim=20", seed=0)], preset=preset, seed=0)
    assert results.records[0].accuracy == 0.5
