"""The suite structure in German: hand-checked answers, mirrors of the same words, and one reading of every sentence."""

from functools import cache
from pathlib import Path

import pytest
from helpers.in_process import Command
from helpers.oracles.compeval_checks import check_balance, check_held_out, check_mirrors, check_sentences, items
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st

from sentprobe import lexicon as lexicon_package
from sentprobe.common.errors import UsageError
from sentprobe.common.specs import Size
from sentprobe.generator.bulk.drawn_texts import get_text_renderer
from sentprobe.generator.events.event import Event, Fronting, Number, Participant, Tense, iterate_clauses
from sentprobe.generator.sentences.parse import parse
from sentprobe.generator.spaces.constraints import Choices
from sentprobe.generator.spaces.space import Space
from sentprobe.lexicon import Kind, german
from sentprobe.lexicon.read import find_built_in
from sentprobe.probes.datasets.dataset import ProbeDataset, Split
from sentprobe.probes.datasets.formats import read_dataset
from sentprobe.probes.generated.assemble import build, build_task
from sentprobe.probes.generated.mirror import ProbedSentence
from sentprobe.probes.generated.tasks import STRUCTURE_TASKS, TASKS, HeldOutKind

POSSIBLE = ("Attachment", "TenseOf", "NumberOf", "Binding")
TINY = ("--train", 56, "--test", 28)

HAND_CHECKED: dict[str, list[tuple[str, tuple[str, ...], bool | None]]] = {
    "Attachment": [
        ("der Mann , der schlief , hatte den Arzt gerufen", ("Mann", "schlafen"), True),
        ("der Mann hatte den Arzt , der schlief , gerufen", ("Mann", "schlafen"), False),
        ("den Arzt , der schlief , hatte der Mann gerufen", ("Arzt", "schlafen"), True),
        ("der Mann , von dem der Anwalt gerufen wird , schläft", ("Anwalt", "rufen"), False),
        ("der Mann , der schlief , hatte den Arzt gerufen", ("Mann", "rufen"), None),
    ],
    "TenseOf": [
        ("der Mann , der geschlafen hat , hatte den Arzt gerufen", ("rufen",), True),
        ("der Mann , der geschlafen hatte , hat den Arzt gerufen", ("rufen",), False),
        ("der Mann , der von dem Arzt gerufen wird , wurde von dem Anwalt beobachtet", ("rufen",), False),
        ("der Mann , der von dem Arzt gerufen worden war , ist von dem Anwalt beobachtet worden", ("rufen",), True),
        ("der Mann , der geschlafen hat , hatte den Arzt gerufen", ("tanzen",), None),
    ],
    "NumberOf": [
        ("der Arzt hat den Mann , den die Anwälte beobachtet haben , gerufen", ("rufen",), False),
        ("die Anwälte haben den Mann , den der Arzt beobachtet hat , gerufen", ("rufen",), True),
        ("den Mann , den der Arzt beobachtet hat , haben die Anwälte gerufen", ("beobachten",), False),
        ("der Mann , der von den Ärzten gerufen wird , wird von dem Anwalt beobachtet", ("rufen",), True),
        ("der Mann schlief", ("rufen",), None),
    ],
    "Binding": [
        ("der alte Mann ruft den jungen Arzt", ("Mann", "alt"), True),
        ("den jungen Arzt ruft der alte Mann", ("Mann", "jung"), False),
        ("der alte Mann ruft den jungen Arzt", ("Anwalt", "jung"), None),
    ],
}


@pytest.mark.parametrize("name", POSSIBLE)
def test_hand_checked_answers(name: str) -> None:
    choices = Choices(adjectives=(0, 1), frontings=(None, Fronting.OBJECT), ambiguous=True)
    space = Space(german(), vocabulary="structure", choices=choices)
    for text, probe, answer in HAND_CHECKED[name]:
        (event,) = parse(text, german())
        (drawn,) = space.decode([space.index(event)])
        question = STRUCTURE_TASKS[name].question
        assert question(ProbedSentence(drawn, get_text_renderer(german())), probe) == answer, (text, probe)


@cache
def dataset(name: str, vocabulary: str, seed: int = 1) -> ProbeDataset:
    return build(STRUCTURE_TASKS[name], german(), vocabulary=vocabulary, size=Size(train=56, test=28), seed=seed)


def answer(name: str, event: Event, probe: tuple[str, ...]) -> bool:
    """Return the right answer by a parsed event."""
    clauses = {clause.predicate: (clause, head) for clause, head in iterate_clauses(event)}
    persons = [
        p for clause, _ in clauses.values() for p in (clause.agent, clause.patient) if isinstance(p, Participant)
    ]
    if name == "Binding":
        (person,) = (person for person in persons if probe[1] in person.adjectives)
        return person.noun == probe[0]
    clause, head = clauses[probe[-1]]
    if name == "Attachment":
        assert head is not None
        return head.noun == probe[0]
    if name == "TenseOf":
        assert {inner.tense for inner, _ in clauses.values()} == {*Tense}
        return clause.tense is Tense.PAST
    agents = {c.predicate: c.agent if isinstance(c.agent, Participant) else h for c, h in clauses.values()}
    numbers = {predicate: agent.number for predicate, agent in agents.items() if agent}
    assert {*numbers.values()} == {*Number}
    return numbers[clause.predicate] is Number.PLURAL


@examples(8)
@given(
    name=st.sampled_from(POSSIBLE), vocabulary=st.sampled_from(["structure", "everyday"]), seed=st.integers(0, 10**6)
)
def test_structure_sentences_have_one_reading(name: str, vocabulary: str, seed: int) -> None:
    """Every sentence has exactly one reading, that of its label."""
    data = dataset(name, vocabulary, seed)
    assert data.mirrored
    for check in (check_balance, check_sentences, check_held_out, check_mirrors):
        check(data)
    for split in data.splits:
        for item in items(data, split):
            (event,) = parse(item.text, german())
            assert answer(name, event, item.probe) is bool(item.label), item
    if STRUCTURE_TASKS[name].held_out is HeldOutKind.ADVERBS:
        words = {split: {word for item in items(data, split) for word in item.text.split()} for split in data.splits}
        assert not words[Split.TRAIN] & words[Split.TEST] & {*german().vocabulary(vocabulary).words[Kind.ADVERB]}


@examples(4)
@given(name=st.sampled_from([*TASKS]), seed=st.integers(0, 10**6))
def test_compeval_sentences_have_one_reading(name: str, seed: int) -> None:
    data = build(TASKS[name], german(), size=Size(train=112, test=28), seed=seed)
    assert all(len(parse(sentence, german())) == 1 for sentence in data.sentences)


def test_probes_with_few_mirrors_are_replaced() -> None:
    size = Size(train=200, test=40, validation=40)
    for task in (STRUCTURE_TASKS["Attachment"], TASKS["Order"]):
        assert len(build(task, german(), size=size).sentences) == 140


def test_auxiliaries_of_both_voices_are_exchanged() -> None:
    """TenseOf has the perfect and the passive; NumberOf has both voices and both orders."""
    data = build(STRUCTURE_TASKS["TenseOf"], german(), vocabulary="structure", size=Size(224, 56))
    words = {word for text in data.sentences for word in text.split()}
    assert words >= {"hat", "hatte", "haben", "hatten", "ist", "war", "sind", "waren", "wird", "wurde", "worden"}
    texts = dataset("NumberOf", "structure").sentences
    assert 0.3 < sum("von" in text.split() for text in texts) / len(texts) < 0.7
    assert any(text.startswith("den ") for text in texts)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("Modality", "modals"),
        ("Recipient", "ditransitives"),
        ("Question", "questions"),
        ("Mood", "questions and no orders"),
    ],
)
def test_task_without_its_construction_is_refused(name: str, reason: str, tmp_path: Path, command: Command) -> None:
    message = f"{name}: sentprobe's German has no {reason}"
    with pytest.raises(UsageError, match=message):
        build_task(name, lexicon=german())
    code, _, err = command("build", "structure", "--language", "de", "--task", name, "--out", tmp_path / "sets")
    assert (code, message in err) == (2, True)


def test_commands_take_german(tmp_path: Path, command: Command, caplog: pytest.LogCaptureFixture) -> None:
    code, _, err = command("build", "structure", "--language", "de", *TINY, "--out", tmp_path / "sets")
    assert code == 0, err
    assert sorted(path.name for path in (tmp_path / "sets").iterdir() if path.is_dir()) == sorted(POSSIBLE)
    (note,) = caplog.messages
    assert note.startswith("left out in German: Modality (no modals), Recipient (no ditransitives), ")
    data = read_dataset(tmp_path / "sets" / "NumberOf")
    assert data.fingerprint() == build_task("NumberOf", train=56, test=28, lexicon=german()).fingerprint()
    options = ("-e", "majority", "--no-controls", *TINY, "--no-cache", "--jobs", 1)
    code, out, err = command("run", "structure", "--language", "de", *options)
    assert code == 0, err
    assert all(name in out for name in POSSIBLE)
    code, out, err = command("audit", tmp_path / "sets" / "NumberOf")
    assert (code, "bag of words and probe: train exactly 50.0%" in out) == (0, True), err


def test_german_lexicon_audits_german_dataset(command: Command, tmp_path: Path) -> None:
    options = ("--language", "de", "--task", "TenseOf", *TINY, "--out", tmp_path)
    assert command("build", "structure", *options)[0] == 0
    lexicon = tmp_path / "german.toml"
    lexicon.write_text((Path(lexicon_package.__file__).parent / "german.toml").read_text("utf-8"), "utf-8")
    assert command("audit", tmp_path / "TenseOf", "--lexicon", lexicon)[0] == 0


def test_language_without_grammar_gets_english() -> None:
    assert find_built_in("fr") is find_built_in("en") is find_built_in("")
    assert find_built_in("de") is german()
