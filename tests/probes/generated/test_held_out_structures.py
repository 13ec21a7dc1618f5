"""A structure held out of training: no training sentence has it, half of the test items do."""

from collections import Counter

import pytest
from helpers.strategies.strategies import full_events
from helpers.thoroughness import examples
from hypothesis import given

from sentprobe.common.errors import SentprobeError, UsageError
from sentprobe.common.specs import Size
from sentprobe.generator.events import event as ev
from sentprobe.generator.events.checks import contains
from sentprobe.generator.events.event import Event
from sentprobe.generator.sentences.parse import parse
from sentprobe.generator.sentences.realize import realize
from sentprobe.lexicon import Kind, english
from sentprobe.probes.datasets.dataset import STRUCTURE, TRAINED, ProbeDataset, Split, name_structure_part
from sentprobe.probes.generated.assemble import build, build_task
from sentprobe.probes.generated.held_out_pairs import STRUCTURES, Structure, find_structure
from sentprobe.probes.generated.sampling import NoStructureError
from sentprobe.probes.generated.tasks import TASKS, find_task

LEXICON = english()


def has_structure(event: ev.Event, structure: Structure) -> bool:
    """Say whether an event has a structure, in any of its clauses."""
    return any(contains(event, pattern) for pattern in structure.events)


def check_dataset(data: ProbeDataset, name: str) -> None:
    """Each sentence has the structure if its item says so, and only the test items do."""
    for split, items in data.splits.items():
        parts = items.columns[STRUCTURE]
        for row, part in zip(items.rows, parts, strict=True):
            (event,) = parse(data.sentences[row], LEXICON)
            assert has_structure(event, STRUCTURES[name]) == (part != TRAINED)
        half = len(items) // 2 if split is Split.TEST else len(items)
        expected = {TRAINED: half, name_structure_part(name): len(items) - half}
        assert Counter(parts) == Counter({part: count for part, count in expected.items() if count})
    assert data.held_out == name
    assert data.card.counts[f"test: {name_structure_part(name)}"] == len(data.splits[Split.TEST]) // 2
    assert f"no training sentence has {STRUCTURES[name].description}" in data.card.notes[0]


def test_held_out_passives() -> None:
    data = build_task("SemRole", train=224, test=56, hold_out_structure="passive")
    check_dataset(data, "passive")
    assert data.mirrored
    assert data.balanced_probes
    again = build_task("SemRole", train=224, test=56, hold_out_structure="passive")
    assert again == data


@pytest.mark.parametrize(
    ("task", "name"), [("Mood", "past"), ("Mood", "progressive"), ("Question", "passive"), ("Modality", "negated")]
)
def test_mirrors_keep_to_their_part(task: str, name: str) -> None:
    check_dataset(build_task(task, train=112, test=56, hold_out_structure=name), name)


# Negation asks about both verbs of a sentence with a relative clause, and about none that training lacks.
IMPOSSIBLE = {
    ("Negation", "relative"): "training sentence",
    ("Negation", "negated"): "training sentence",
    ("Negation", "intransitive"): "test item",
}


@pytest.mark.slow
@pytest.mark.parametrize("sampling", ["mirror", "paper"])
@pytest.mark.parametrize("name", STRUCTURES)
@pytest.mark.parametrize("task", TASKS)
def test_every_structure_of_every_task(task: str, name: str, sampling: str) -> None:
    try:
        data = build_task(task, train=400, test=112, validation=56, hold_out_structure=name, sampling=sampling)
    except NoStructureError as error:
        assert f"no {IMPOSSIBLE[task, name]} is left" in str(error)
        return
    except SentprobeError as error:
        assert sampling == "paper"
        assert "items could be made" in str(error) or "too few training items" in str(error)
        return
    check_dataset(data, name)
    assert data.balanced_probes or sampling == "paper"
    assert data.mirrored == (sampling == "mirror" and task in ("Order", "SemRole", "Negation"))


def test_words_absent_from_training_are_not_probed() -> None:
    data = build_task("Content1Probe", train=112, test=56, hold_out_structure="intransitive")
    check_dataset(data, "intransitive")
    assert {"sleep", "dance", "shout"}.isdisjoint(data.probe_words)


@examples(60)
@given(full_events(LEXICON))
def test_structure_shows_in_sentence(event: Event) -> None:
    sentence = realize(event, LEXICON)
    relations = {token.deprel for token in sentence.tokens}
    tags = {token.xpos for token in sentence.tokens}
    observed = {
        "passive": "aux:pass" in relations,
        "relative": len(sentence.predicates) > 1,
        "negated": bool(sentence.negations),
        "plural": "NNS" in tags,
        "intransitive": any(predicate.patient is None for predicate in sentence.predicates),
        "past": bool(tags & {"VBD"}),
    }
    for name, expected in observed.items():
        assert has_structure(sentence.event, STRUCTURES[name]) == expected, name
    either = [has_structure(sentence.event, STRUCTURES[f"{n}-relative"]) for n in ("subject", "object")]
    assert any(either) == observed["relative"]


def test_impossible_structures_are_refused() -> None:
    with pytest.raises(UsageError) as caught:
        find_structure("passives")
    assert str(caught.value).startswith(
        "there is no structure 'passives' (did you mean 'passive'?) to hold out; the structures "
    )
    size = Size(112, 56)
    with pytest.raises(NoStructureError) as no_training:
        build(find_task("Negation"), LEXICON, size=size, structure=STRUCTURES["negated"])
    assert str(no_training.value) == (
        "Negation: every sentence of its questions has the held-out structure, so that no training sentence is left"
    )
    without = LEXICON.replace_words("compeval", {Kind.INTRANSITIVE: ()})
    with pytest.raises(NoStructureError) as no_test:
        build(find_task("Order"), without, size=size, structure=STRUCTURES["intransitive"])
    assert str(no_test.value) == (
        "Order: no sentence of its questions has the structure (held out: intransitive), so that no test item is left"
    )
    with pytest.raises(UsageError, match="test items must be a positive multiple of 8, so that"):
        build(find_task("Order"), LEXICON, size=Size(112, 60), structure=STRUCTURES["past"])
