"""The suite structure: answers by hand and by event, mirrors of a moved clause, and the command line."""

from collections import Counter, defaultdict
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
from helpers.in_process import Command
from helpers.oracles.compeval_checks import SIZE, Item, dataset, find_vocabulary, items, lexicon_of
from helpers.strategies.space_strategies import spaces
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.common.errors import UsageError
from sentprobe.common.specs import Size
from sentprobe.generator.bulk.drawn_texts import get_text_renderer
from sentprobe.generator.events.checks import contains
from sentprobe.generator.events.event import (
    GAP,
    Aspect,
    Event,
    Mood,
    Participant,
    Polarity,
    Role,
    Voice,
    iterate_clauses,
    iterate_participants,
)
from sentprobe.generator.sentences.parse import parse
from sentprobe.generator.sentences.realize import realize
from sentprobe.generator.sentences.sentence_plan import find_slots
from sentprobe.generator.spaces.constraints import Choices
from sentprobe.generator.spaces.profile import STRUCTURE, Profile
from sentprobe.generator.spaces.space import Space
from sentprobe.generator.spaces.templates import find_patterns
from sentprobe.probes.datasets.dataset import ProbeDataset, Split, TooFewError
from sentprobe.probes.datasets.formats import read_dataset
from sentprobe.probes.generated import mirror
from sentprobe.probes.generated.assemble import build, build_task
from sentprobe.probes.generated.items import Drawer
from sentprobe.probes.generated.mirror import ProbedSentence, do_both_occur, does_verb_occur, is_agent, is_positive
from sentprobe.probes.generated.sampling import NoStructureError
from sentprobe.probes.generated.tasks import SUITE_TASKS, find_task
from sentprobe.probes.runs.completed_tasks import make_item_table

TASKS = SUITE_TASKS["structure"]
TINY = ("--train", 56, "--test", 28)

HAND_CHECKED: dict[str, list[tuple[str, tuple[str, ...], int | None]]] = {
    "Attachment": [
        ("the man that slept helped the doctor", ("man", "sleep"), True),
        ("the man helped the doctor that slept", ("man", "sleep"), False),
        ("the man was helped by the doctor that slept", ("doctor", "sleep"), True),
        ("the man that the lawyer called helped the doctor", ("lawyer", "call"), False),
        ("the man that slept helped the doctor", ("man", "help"), None),
        ("the man that slept helped the doctor", ("lawyer", "sleep"), None),
    ],
    "TenseOf": [
        ("the man that is helping the doctor was sleeping", ("sleep",), True),
        ("the man that was helping the doctor is sleeping", ("sleep",), False),
        ("the man that does not help the doctor did not sleep", ("help",), False),
        ("the man that did not help the doctor does not sleep", ("help",), True),
        ("the man that is helping the doctor was sleeping", ("call",), None),
    ],
    "NumberOf": [
        ("the men helped the doctor", ("help",), True),
        ("the doctor helped the men", ("help",), False),
        ("the doctor was helped by the men", ("help",), True),
        ("the doctors that the man helped slept", ("sleep",), True),
        ("the doctors that the man helped slept", ("help",), False),
        ("the men helped the doctor", ("call",), None),
    ],
    "Modality": [
        ("the men that may dance sleep", ("dance",), True),
        ("the men that dance may sleep", ("dance",), False),
        ("the men that dance may sleep", ("sleep",), True),
        ("the man that is not helped by the doctor could be sleeping", ("help",), False),
        ("the man that does not help the doctor must not sleep", ("sleep",), True),
        ("the man that does not help the doctor must not sleep", ("call",), None),
    ],
    "Binding": [
        ("the old man helped the young doctor", ("man", "old"), True),
        ("the old man helped the young doctor", ("man", "young"), False),
        ("the young doctor that the old man helped slept", ("doctor", "young"), True),
        ("the young doctor that the old man helped slept", ("doctor", "old"), False),
        ("the old man helped the doctor", ("man", "rich"), None),
        ("the old man helped the doctor", ("lawyer", "old"), None),
    ],
    "Recipient": [
        ("the man gave the doctor the book", ("doctor", "give"), True),
        ("the man gave the book to the doctor", ("doctor", "give"), True),
        ("the doctor was given the book by the man", ("doctor", "give"), True),
        ("the book was given to the doctor by the man", ("man", "give"), False),
        ("the man gave the doctor the book", ("man", "give"), False),
        ("the doctor that the man gave the book to helped the lawyer", ("doctor", "give"), True),
        ("the doctor that the man gave the book to helped the lawyer", ("lawyer", "give"), False),
        ("the man gave the doctor the book", ("doctor", "send"), None),
    ],
    "Question": [
        ("who helped the man", (), False),
        ("who did the man help", (), True),
        ("who is the man that the doctor called not helping", (), True),
        ("who was helped by the man", (), True),
        ("who was the man helped by", (), False),
        ("did the man help the doctor", (), None),
    ],
    "Mood": [
        ("the man is helping the doctor", (), 0),
        ("is the man helping the doctor", (), 1),
        ("who is helping the doctor", (), 1),
        ("do not help the doctor that slept", (), 2),
    ],
}
TEMPLATES = ("all", "ditransitive", "transitive-rc-ditransitive")
CHOICES = {
    "Modality": Choices(modals=(None, "may", "could", "must")),
    "Binding": Choices(adjectives=(0, 1)),
    "Question": Choices(moods=(Mood.QUESTION,), asked=(None, Role.AGENT, Role.PATIENT)),
    "Mood": Choices(moods=tuple(Mood), asked=(None, Role.AGENT)),
}


@pytest.mark.parametrize("name", HAND_CHECKED)
def test_hand_checked_answers(name: str) -> None:
    lexicon = lexicon_of("compeval")
    for text, probe, answer in HAND_CHECKED[name]:
        (event,) = parse(text, lexicon)
        space = Space(lexicon, vocabulary="structure", templates=TEMPLATES, choices=CHOICES.get(name))
        (drawn,) = space.decode([space.index(event)])
        assert TASKS[name].question(ProbedSentence(drawn, get_text_renderer(lexicon)), probe) == answer, (text, probe)


def pair_items(data: ProbeDataset) -> list[tuple[Item, Item]]:
    """Return the TRUE and the FALSE item of each mirror pair."""
    pairs: dict[object, dict[int, Item]] = {}
    for split in data.splits:
        for item in items(data, split):
            pairs.setdefault(item.mirror_key, {})[item.label] = item
    return [(pair[True], pair[False]) for pair in pairs.values()]


def test_only_the_attachment_differs() -> None:
    """Without its relative clause, the main clause is the same in both sentences."""
    lexicon = lexicon_of("compeval")
    for pair in pair_items(dataset("Attachment", "compeval")):
        mains, clauses, heads = set(), set(), set()
        for item in pair:
            (event,) = parse(item.text, lexicon)
            (main, _), (clause, head) = iterate_clauses(event)
            nouns = [person.noun for _, person in iterate_participants(main)]
            mains.add((main.predicate, main.voice, main.tense, *nouns))
            clauses.add(clause)
            heads.add(head == main.agent)
        assert (len(mains), len(clauses), heads) == (1, 1, {True, False})


def test_only_the_tenses_differ() -> None:
    for true, false in pair_items(dataset("TenseOf", "compeval")):
        words = zip(true.text.split(), false.text.split(), strict=True)
        changed = [pair for pair in words if pair[0] != pair[1]]
        assert len(changed) == 2
        assert changed[0] == changed[1][::-1]
        assert {*changed[0]} in ({"is", "was"}, {"are", "were"}, {"do", "did"}, {"does", "did"})


def test_only_the_modals_differ() -> None:
    """Each clause but its tense or modal is the same in both sentences; modals and shapes vary."""
    lexicon = lexicon_of("compeval")
    modals, shapes = set(), set()
    for pair in pair_items(dataset("Modality", "compeval")):
        clauses, forms = [], []
        for item in pair:
            (event,) = parse(item.text, lexicon)
            both = [clause for clause, _ in iterate_clauses(event)]
            forms.append([(clause.tense, clause.modal) for clause in both])
            clauses.append([(clause.predicate, clause.voice, clause.aspect, clause.polarity) for clause in both])
            modals |= {clause.modal for clause in both if clause.modal}
            shapes |= {(clause.voice, clause.aspect, clause.polarity) for clause in both}
        assert clauses[0] == clauses[1]
        assert forms[0] == forms[1][::-1]
    assert len(modals) == 8
    possible = {*product(Voice, (Aspect.SIMPLE, Aspect.PROGRESSIVE), Polarity)}
    # Two verbs without an auxiliary seldom have forms that a past and a modal can exchange.
    assert shapes >= possible - {(Voice.ACTIVE, Aspect.SIMPLE, Polarity.POSITIVE)}


def test_only_the_adjectives_differ() -> None:
    for true, false in pair_items(dataset("Binding", "compeval")):
        words = zip(true.text.split(), false.text.split(), strict=True)
        (first, second) = [pair for pair in words if pair[0] != pair[1]]
        assert first == second[::-1]
        assert true.probe[1] in first


def test_recipient_is_exchanged_in_every_form() -> None:
    """Only two nouns differ. Both forms, in both voices, are asked about, and gaps too."""
    lexicon = lexicon_of("compeval")
    forms, roles = set(), set()
    for true, false in pair_items(dataset("Recipient", "compeval")):
        words = zip(true.text.split(), false.text.split(), strict=True)
        (first, second) = [pair for pair in words if pair[0] != pair[1]]
        assert first == second[::-1]
        for item in (true, false):
            (event,) = parse(item.text, lexicon)
            ((clause, head),) = (pair for pair in iterate_clauses(event) if pair[0].predicate == item.probe[1])
            forms.add((clause.dative, clause.voice, clause.gap))
            fillers = {role: head if filler is GAP else filler for role in Role if (filler := clause.argument(role))}
            roles |= {role for role, filler in fillers.items() if getattr(filler, "noun", None) == item.probe[0]}
    assert len(forms) >= 4 + 5
    assert roles == {Role.AGENT, Role.RECIPIENT}


def test_only_the_asked_role_differs() -> None:
    """The person and its clause are the same, and so are tense, modal, aspect and voice, in many combinations."""
    lexicon = lexicon_of("compeval")
    shapes = set()
    for pair in pair_items(dataset("Question", "compeval")):
        events = []
        for item in pair:
            (event,) = parse(item.text, lexicon)
            assert event.asked is not None
            events.append((event.asked, replace(event, agent=event.patient, patient=event.agent)))
        (patient, swapped), (agent, _) = events
        assert (patient, agent) == (Role.PATIENT, Role.AGENT)
        assert swapped == parse(pair[1].text, lexicon)[0]
        shapes.add((swapped.voice, swapped.aspect, swapped.polarity, swapped.modal is None))
    assert len(shapes) == 16 - 1  # not "who helped the man", whose mirror has "did"


def test_statement_matches_question_and_order() -> None:
    lexicon = lexicon_of("compeval")
    data = dataset("Mood", "compeval")
    for split in data.splits:
        by_words: defaultdict[object, set[int]] = defaultdict(set)
        shapes: dict[int, Counter[object]] = {label: Counter() for label in range(3)}
        for item in items(data, split):
            by_words[item.mirror_key].add(item.label)
            (event,) = parse(item.text, lexicon)
            patient = event.patient
            assert isinstance(patient, Participant)
            shapes[item.label][event.predicate, event.polarity, event.adverbs, patient] += 1
        groups = Counter(map(frozenset, by_words.values()))
        assert groups[frozenset({0})] <= 1  # the last unit, which is cut
        assert groups.keys() - {frozenset({0})} == {frozenset({0, 1}), frozenset({2})}
        for label in (1, 2):
            assert (shapes[0] - shapes[label]).total() <= 1
            assert not shapes[label] - shapes[0]


@pytest.mark.parametrize("name", TASKS)
def test_every_item_has_its_columns(name: str) -> None:
    table = make_item_table(dataset(name, "compeval"))
    assert all(value for column in table.columns.values() for value in column)
    assert all(len(marks) == len(probe) for marks, probe in zip(table.marks, table.probes, strict=True))


@examples(10)
@given(
    name=st.sampled_from([*TASKS]),
    seed=st.integers(0, 10**6),
    vocabulary=st.sampled_from(["compeval", "english", "own"]),
)
def test_same_seed_gives_same_bytes(name: str, seed: int, vocabulary: str) -> None:
    build_again = [
        build(
            TASKS[name],
            lexicon_of(vocabulary),
            vocabulary=find_vocabulary(name, vocabulary),
            size=Size(56, 28),
            seed=seed,
        )
        for _ in range(2)
    ]
    assert build_again[0].fingerprint() == build_again[1].fingerprint()


@examples(20)
@given(seed=st.integers(0, 2**32), role=st.sampled_from(["agent", "patient"]))
def test_clause_moves_there_and_back(seed: int, role: str) -> None:
    from random import Random

    from sentprobe.probes.generated.structure_units import _move_clause

    lexicon = lexicon_of("compeval")
    drawer = Drawer(wording=get_text_renderer(lexicon), vocabulary="compeval", template="", rng=Random(seed))
    (template, *_) = drawer.shuffle([p.name for p in find_patterns((f"transitive-rc.{role}",))])
    space = Space(lexicon, vocabulary="compeval", templates=(template,))
    (drawn,) = space.decode(space.sample(1, seed=seed))
    (moved,) = _move_clause(drawer, ProbedSentence(drawn, drawer.wording), ())
    assert moved.layout.pattern.name != drawn.layout.pattern.name
    (back,) = _move_clause(drawer, ProbedSentence(moved, drawer.wording), ())
    assert back.event == drawn.event


def test_mirror_without_weight_is_refused() -> None:
    profile = Profile("one", {STRUCTURE: {"transitive-rc.agent.transitive": 1}})
    with pytest.raises(NoStructureError, match="Attachment: every sentence of its questions has weight 0"):
        build(TASKS["Attachment"], lexicon_of("compeval"), size=SIZE, profile=profile)


def test_structure_refuses_paper_sampling() -> None:
    with pytest.raises(UsageError, match=r"^TenseOf: sampling paper is for tasks of a paper"):
        build_task("TenseOf", train=56, test=28, sampling="paper")
    with pytest.raises(UsageError, match=r"no structure task 'Order'; the tasks are Attachment, "):
        find_task("Order", "structure")


@pytest.mark.parametrize(
    ("name", "words"), [("Binding", "7 nouns and 0 adjectives"), ("Recipient", "7 nouns and 0 ditransitive verbs")]
)
def test_vocabulary_without_words_is_refused(name: str, words: str) -> None:
    with pytest.raises(TooFewError, match=f"^{name}: the vocabulary has {words}; "):
        build_task(name, vocabulary="compeval")


@pytest.mark.slow
@pytest.mark.parametrize("structure", ["passive", "object-relative", "progressive", "plural"])
def test_structure_can_be_held_out(structure: str) -> None:
    for name in TASKS:
        if (name, structure) == ("NumberOf", "plural"):
            continue
        data = build_task(name, train=112, test=56, hold_out_structure=structure)
        assert data.held_out == structure
        assert data.mirrored is (name != "Mood")


def test_commands_build_and_run_structure(tmp_path: Path, command: Command) -> None:
    code, out, err = command("build", "structure", *TINY, "--out", tmp_path / "sets")
    assert code == 0, err
    for name in TASKS:
        data = read_dataset(tmp_path / "sets" / name)
        assert (data.card.task, data.card.source, len(data.splits[Split.TEST])) == (name, "sentprobe", 28)
    assert data.fingerprint() == build_task(name, train=56, test=28).fingerprint()
    options = ("-e", "bow?dim=8", *TINY, "--no-cache", "--jobs", 1, "--notes")
    code, out, err = command("run", "structure", "compeval", "--task", "NumberOf", "--task", "Order", *options)
    assert code == 0, err
    assert "NumberOf" in out
    assert "Order" in out
    assert "TenseOf" not in out
    code, out, err = command("sentences", "structure", "--task", "Attachment", *TINY)
    assert (code, len(out.splitlines())) == (0, 42)


def test_audit_bounds_bag_of_words(tmp_path: Path, command: Command) -> None:
    command("build", "structure", "--task", "TenseOf", *TINY, "--out", tmp_path / "sets")
    code, out, err = command("audit", tmp_path / "sets" / "TenseOf")
    assert code == 0, err
    assert "bound, bag of words and probe: train exactly 50.0% (28 groups); test exactly 50.0% (14 groups)" in out
    assert "a leak" not in out


ABSENT = "absent"


def does_noun_precede(event: Event, space: Space, probe: tuple[str, str]) -> bool:
    """Whether the noun comes first, by the tokens of the annotated sentence."""
    tagged_words = set(zip(("NOUN", "VERB"), probe, strict=True))
    tokens = realize(event, space.lexicon).tokens
    tags = [(token.upos.replace("PROPN", "NOUN"), token.lemma) for token in tokens]
    kinds = [kind for kind, lemma in tags if (kind, lemma) in tagged_words]
    return kinds == ["NOUN", "VERB"]


@examples(40)
@given(space=spaces(), seed=st.integers(0, 2**32))
def test_answers_are_those_of_event(space: Space, seed: int) -> None:
    for drawn in space.decode(space.sample(min(4, space.count()), seed=seed)):
        event, probed = drawn.event, ProbedSentence(drawn, get_text_renderer(space.lexicon))
        assert probed.text == realize(event, space.lexicon).text
        slots = find_slots(event).items()
        nouns = {word for slot, word in slots if slot.endswith("noun")}
        verbs = {word for slot, word in slots if slot.endswith("verb")}
        for probe in product({*nouns, ABSENT}, {*verbs, ABSENT}):
            noun, verb = probe
            has = (noun in nouns, verb in verbs)
            assert do_both_occur(probed, probe) is (all(has) if any(has) else None)
            agent = Event(predicate=verb, agent=Participant(noun=noun))
            assert is_agent(probed, probe) is (contains(event, agent) if all(has) else None)
            first = does_noun_precede(event, space, probe) if all(has) else None
            assert mirror.does_noun_precede(probed, probe) is first
        for verb in {*verbs, ABSENT}:
            assert does_verb_occur(probed, (verb,)) is (verb in verbs)
            positive = Event(predicate=verb, polarity=Polarity.POSITIVE)
            assert is_positive(probed, (verb,)) is (contains(event, positive) if verb in verbs else None)
