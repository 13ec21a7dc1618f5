"""Small compeval datasets for several tests, and checks of their properties.

Labels are checked on the parsed text alone, independently of the builder.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

import pytest
from helpers.shared import DATA

from sentprobe.common.specs import Size
from sentprobe.generator.events.event import GAP, Participant, Tense, iterate_clauses
from sentprobe.generator.sentences.sentence import Sentence
from sentprobe.generator.sentences.sentence_records import annotate_text
from sentprobe.lexicon import Lexicon, english, read_lexicon
from sentprobe.probes.datasets.dataset import ProbeDataset, Split
from sentprobe.probes.generated.assemble import build
from sentprobe.probes.generated.tasks import SUITE_TASKS, HeldOutKind

OWN = DATA / "compeval" / "own.toml"
TASKS = {name: task for tasks in SUITE_TASKS.values() for name, task in tasks.items()}
MIRRORED = ("Order", "SemRole", "Negation", *(name for name in SUITE_TASKS["structure"] if name != "Mood"))
WITH_PAIRS = tuple(task.name for task in TASKS.values() if task.held_out is HeldOutKind.PAIRS)
SIZE = Size(train=672, test=224)
OWN_SIZE = Size(train=672, test=128)
"""In a larger test split, our own few words leave one aspect to nearly all main clauses."""

everywhere = pytest.mark.parametrize("vocabulary", ["compeval", "english", "own"])
every_task = pytest.mark.parametrize("name", TASKS)


@cache
def lexicon_of(vocabulary: str) -> Lexicon:
    return read_lexicon(OWN) if vocabulary in ("own", "gifts") else english()


WITH_ADJECTIVES_AND_GIFTS = {"compeval": "structure", "english": "everyday", "own": "gifts"}


def find_vocabulary(name: str, vocabulary: str) -> str:
    """Return the vocabulary, or a larger one if the task needs adjectives or ditransitive verbs."""
    return WITH_ADJECTIVES_AND_GIFTS[vocabulary] if name in ("Binding", "Recipient") else vocabulary


def size_in(vocabulary: str) -> Size:
    return OWN_SIZE if vocabulary == "own" else SIZE


@cache
def dataset(name: str, vocabulary: str) -> ProbeDataset:
    """Return a dataset shared by tests in several files."""
    size, lexicon = size_in(vocabulary), lexicon_of(vocabulary)
    return build(TASKS[name], lexicon, vocabulary=find_vocabulary(name, vocabulary), size=size, seed=1)


@dataclass(frozen=True)
class Item:
    """An item by its texts."""

    text: str
    probe: tuple[str, ...]
    label: int
    """The number of the label; of FALSE and TRUE, the truth value."""

    @property
    def mirror_key(self) -> tuple[object, ...]:
        return tuple(sorted(self.text.split())), self.probe


def items(data: ProbeDataset, split: Split) -> list[Item]:
    part = data.splits[split]
    return [
        Item(data.sentences[row], tuple(data.probe_words[word] for word in probe), int(target))
        for row, probe, target in zip(part.rows, part.probes, part.targets, strict=True)
    ]


def check_balance(data: ProbeDataset) -> None:
    for split in data.splits:
        by_probe: defaultdict[tuple[str, ...], Counter[int]] = defaultdict(Counter)
        for item in items(data, split):
            by_probe[item.probe][item.label] += 1
        for counts in by_probe.values():
            numbers = [counts[label] for label in range(len(data.labels))]
            assert max(numbers) - min(numbers) <= (len(numbers) > 2)
        if data.slots:
            check_each_sentence_has_both_answers(items(data, split))


def check_each_sentence_has_both_answers(items: list[Item]) -> None:
    """Check that each sentence has as many TRUE as FALSE, so that it predicts no answer without the question."""
    labels: defaultdict[str, list[int]] = defaultdict(list)
    for item in items:
        labels[item.text].append(item.label)
    assert all(sorted(answers) == [0, 1] for answers in labels.values())


def check_sentences(data: ProbeDataset) -> None:
    rows = [int(row) for part in data.splits.values() for row in part.rows]
    assert sorted({*rows}) == list(range(len(data.sentences)))
    assert sum(len({*part.rows.tolist()}) for part in data.splits.values()) == len(data.sentences)  # none in two splits
    assert len(set(data.sentences)) == len(data.sentences)


def check_held_out(data: ProbeDataset) -> None:
    probes = {split: {item.probe for item in items(data, split)} for split in data.splits}
    train = probes.pop(Split.TRAIN)
    for split_probes in probes.values():
        for slot in range(data.slots):
            assert {probe[slot] for probe in split_probes} <= {probe[slot] for probe in train}
    if data.name not in WITH_PAIRS:
        return
    if any("two for each verb" in note for note in data.card.notes):
        assert probes[Split.TEST] - train
    else:
        assert not train & probes[Split.TEST]
    if Split.VALIDATION in probes:
        assert not probes[Split.VALIDATION] & probes[Split.TEST]
        shared = probes[Split.VALIDATION] & train
        assert bool(shared) is any("pairs of training" in note for note in data.card.notes)


def check_mirrors(data: ProbeDataset) -> None:
    """Check that no function of the bag of words and the probe words exceeds 50% accuracy."""
    for split in data.splits:
        groups: defaultdict[object, Counter[int]] = defaultdict(Counter)
        for item in items(data, split):
            groups[item.mirror_key][item.label] += 1
        assert all(counts[True] == counts[False] for counts in groups.values())


def check(data: ProbeDataset, size: Size) -> None:
    assert {split: len(part) for split, part in data.splits.items()} == {
        split: size.count_items(split) for split in Split if size.count_items(split)
    }
    assert list(data.splits) == [split for split in Split if size.count_items(split)]
    check_balance(data)
    check_sentences(data)
    check_held_out(data)
    if data.name in MIRRORED:
        check_mirrors(data)
        assert data.mirrored


def verbs(sentence: Sentence) -> list[str]:
    return [sentence.tokens[predicate.verb - 1].lemma for predicate in sentence.predicates]


def nouns(sentence: Sentence) -> list[str]:
    return [token.lemma for token in sentence.tokens if token.upos == "NOUN"]


def has_verb(sentence: Sentence, probe: tuple[str, ...]) -> bool:
    return probe[0] in verbs(sentence)


def has_both(sentence: Sentence, probe: tuple[str, ...]) -> bool:
    noun, verb = probe
    assert noun in nouns(sentence) or verb in verbs(sentence)
    return noun in nouns(sentence) and verb in verbs(sentence)


def comes_first(sentence: Sentence, probe: tuple[str, ...]) -> bool:
    lemmas = [token.lemma for token in sentence.tokens]
    assert (lemmas.count(probe[0]), lemmas.count(probe[1])) == (1, 1)
    return lemmas.index(probe[0]) < lemmas.index(probe[1])


def is_agent(sentence: Sentence, probe: tuple[str, ...]) -> bool:
    noun, verb = probe
    assert noun in nouns(sentence)
    (agent,) = (
        sentence.tokens[predicate.agent - 1].lemma
        for predicate in sentence.predicates
        if predicate.agent and sentence.tokens[predicate.verb - 1].lemma == verb
    )
    return agent == noun


def is_positive(sentence: Sentence, probe: tuple[str, ...]) -> bool:
    assert len(set(verbs(sentence))) == len(verbs(sentence)) == 2
    assert sum(token.lemma == "not" for token in sentence.tokens) == 1
    assert probe[0] in verbs(sentence)
    (negation,) = sentence.negations
    return sentence.tokens[negation.verb - 1].lemma != probe[0]


def is_head(sentence: Sentence, probe: tuple[str, ...]) -> bool:
    """Whether the noun stands right before the relativizer; its verb is one of the relative clause."""
    lemmas = [token.lemma for token in sentence.tokens]
    assert verbs(sentence)[0] != probe[1] in verbs(sentence)
    return lemmas[lemmas.index(probe[0]) + 1 :][:1] == ["that"]


def is_past(sentence: Sentence, probe: tuple[str, ...]) -> bool:
    tenses = {clause.predicate: clause.tense for clause, _ in iterate_clauses(sentence.event)}
    assert {*tenses.values()} == {Tense.PAST, Tense.PRESENT}
    return tenses[probe[0]] is Tense.PAST


def has_plural_agent(sentence: Sentence, probe: tuple[str, ...]) -> bool:
    assert {clause.tense for clause, _ in iterate_clauses(sentence.event)} == {Tense.PAST}
    agents = (sentence.tokens[(predicate.agent or 0) - 1].feats for predicate in sentence.predicates)
    plurals = dict(zip(verbs(sentence), ("Number=Plur" in feats for feats in agents), strict=True))
    assert {*plurals.values()} == {True, False}
    return plurals[probe[0]]


def has_modal(sentence: Sentence, probe: tuple[str, ...]) -> bool:
    """Whether the verb is the head of the sentence's only modal."""
    (modal,) = (token for token in sentence.tokens if token.xpos == "MD")
    assert probe[0] in verbs(sentence)
    return sentence.tokens[modal.head - 1].lemma == probe[0]


def is_described(sentence: Sentence, probe: tuple[str, ...]) -> bool:
    noun, adjective = probe
    assert noun in nouns(sentence)
    (head,) = (token.head for token in sentence.tokens if token.lemma == adjective)
    return sentence.tokens[head - 1].lemma == noun


def is_recipient(sentence: Sentence, probe: tuple[str, ...]) -> bool:
    noun, verb = probe
    assert noun in nouns(sentence)
    ((event, head),) = (pair for pair in iterate_clauses(sentence.event) if pair[0].predicate == verb)
    recipient = head if event.recipient is GAP else event.recipient
    assert isinstance(recipient, Participant)
    return recipient.noun == noun


def is_patient_asked(sentence: Sentence, _: tuple[str, ...]) -> bool:
    """Whether the word *who* is the object, by the relations of the dependency tree."""
    is_passive = any(
        token.deprel == "aux:pass" and token.head == sentence.predicates[0].verb for token in sentence.tokens
    )
    assert sentence.tokens[0].lemma == "who"
    is_subject = sentence.tokens[0].deprel.startswith("nsubj")
    return is_subject == is_passive


def get_mood(sentence: Sentence, _: tuple[str, ...]) -> int:
    """Return the number of the mood, by the label of the sentence's tree and the subject of its root."""
    (root,) = (token for token in sentence.tokens if token.deprel == "root")
    subjects = {token.head for token in sentence.tokens if token.deprel.startswith("nsubj")}
    if sentence.tokens.index(root) + 1 not in subjects:
        return 2
    return ["S", "SQ"].index(sentence.tree[1:].split()[0])


DEFINITIONS: Mapping[str, Callable[[Sentence, tuple[str, ...]], int]] = {
    "Content1Probe": has_verb,
    "Content2Probe": has_both,
    "Order": comes_first,
    "SemRole": is_agent,
    "Negation": is_positive,
    "Attachment": is_head,
    "TenseOf": is_past,
    "NumberOf": has_plural_agent,
    "Modality": has_modal,
    "Binding": is_described,
    "Recipient": is_recipient,
    "Question": is_patient_asked,
    "Mood": get_mood,
}


@cache
def annotated(name: str, vocabulary: str) -> dict[str, Sentence]:
    return annotated_in(dataset(name, vocabulary), vocabulary)


def annotated_in(data: ProbeDataset, vocabulary: str) -> dict[str, Sentence]:
    return {text: annotate_text(text, lexicon_of(vocabulary)) for text in data.sentences}
