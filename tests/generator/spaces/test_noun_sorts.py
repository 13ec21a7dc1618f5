"""Sorts of nouns: a space has exactly the events whose nouns have the sorts that verbs and relativizers take."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from space_by_loops import list_events
from thoroughness import examples

from sentprobe.errors import SentprobeError
from sentprobe.generator.bulk.generate import read_known_event
from sentprobe.generator.events.event import (
    GAP,
    Contradiction,
    Event,
    Number,
    Participant,
    RelativeClause,
    Role,
    iterate_clauses,
    iterate_participants,
)
from sentprobe.generator.events.lemmas import check_sorts
from sentprobe.generator.events.notation import read_event
from sentprobe.generator.pairs.contrasts import CONTRASTS
from sentprobe.generator.pairs.distractors import render_distractors
from sentprobe.generator.pairs.triplets import SIDES, TripletSpace
from sentprobe.generator.sentences.parse import parse
from sentprobe.generator.sentences.realize import realize
from sentprobe.generator.spaces.constraints import Choices, Constraints, choose_words
from sentprobe.generator.spaces.counting import build_full_box, count_box, forbid
from sentprobe.generator.spaces.layout import Group
from sentprobe.generator.spaces.sort_bans import find_sort_bans, find_sort_boxes
from sentprobe.generator.spaces.space import Space
from sentprobe.lexicon import Kind, Lexicon, english, read_lexicon_text
from sentprobe.lexicon.sorts import restrict_to_one_sort
from sentprobe.probes.compeval.assemble import build
from sentprobe.probes.compeval.tasks import TASKS
from sentprobe.probes.dataset import Size

SORTS = ("person", "thing", "place")
RELATIVIZERS = {"that": SORTS, "who": ("person",), "which": ("thing", "place")}
TEMPLATES = ("intransitive", "intransitive-rc", "transitive", "transitive-rc.agent", "transitive-rc.patient")
PLAIN = read_event("*[past, simple, pos]")

OPERATIONS = """
[noun]
admin = {}
operator = {}
user = { article = "a" }
intruder = {}
server = { sort = "thing" }
firewall = { sort = "thing" }
router = { sort = "thing" }
printer = { sort = "thing" }
laptop = { sort = "thing" }
gateway = { sort = "thing" }
[transitive]
help = {}
warn = {}
meet = { VBN = "met" }
disable = { takes = { patient = ["thing"] } }
restart = { takes = { patient = ["thing"] } }
block = { takes = { agent = ["person", "thing"], patient = ["person"] } }
stop = { takes = { agent = ["not place"], patient = ["person", "thing"] } }
[intransitive]
sleep = {}
crash = { takes = { agent = ["thing"] } }
"""


def operations() -> Lexicon:
    return read_lexicon_text(OPERATIONS.replace('"not place"', '"person", "thing"'), "operations.toml")


Takes = dict[str, list[str]]
some_sorts = st.lists(st.sampled_from([*SORTS, *(f"not {sort}" for sort in SORTS)]), max_size=2, unique=True)
random_words = st.tuples(
    st.lists(st.sampled_from(SORTS), min_size=3, max_size=4),
    st.lists(st.fixed_dictionaries({"agent": some_sorts, "patient": some_sorts}), min_size=1, max_size=3),
    st.lists(st.fixed_dictionaries({"agent": some_sorts}), max_size=2),
)
RandomWords = tuple[list[str], list[Takes], list[Takes]]


def name_words(words: RandomWords) -> tuple[dict[str, str], dict[str, dict[str, Takes]]]:
    """Return the sorts of the nouns, and what the verbs take, by kind."""
    sorts = {f"noun-{'abcd'[i]}": sort for i, sort in enumerate(words[0])}
    kinds = zip(("transitive", "intransitive"), words[1:], strict=True)
    return sorts, {kind: {f"{kind}-{'abc'[i]}": t for i, t in enumerate(verbs)} for kind, verbs in kinds if verbs}


def write_lexicon(words: RandomWords, *, has_sorts: bool) -> str:
    """Return the text of a lexicon; without sorts, every word takes every noun."""
    sorts, verbs = name_words(words)
    lines = ["[noun]", *(f'{noun} = {{ sort = "{sort if has_sorts else "person"}" }}' for noun, sort in sorts.items())]
    for kind, takes_by_verb in verbs.items():
        lines.append(f"[{kind}]")
        for verb, takes in takes_by_verb.items():
            table = ", ".join(f"{role} = {sorts}" for role, sorts in takes.items() if sorts and has_sorts)
            lines.append(f"{verb} = {{ takes = {{ {table} }} }}")
    if not has_sorts:
        lines += ["[relativizer]", *(f'{word} = {{ WDT = "{word}" }}' for word in RELATIVIZERS)]
    return "\n".join(lines)


def is_accepted(stated: list[str], sort: str) -> bool:
    positive = [name for name in stated if not name.startswith("not ")]
    negative = [name[4:] for name in stated if name.startswith("not ")]
    return sort in (stated or ["person"]) or (bool(negative) and sort not in negative and sort not in positive)


def list_roles(event: Event) -> Iterator[tuple[str, str, str]]:
    """Yield each verb with a role and the noun in it, and each relativizer with the noun before it."""
    for clause, head in iterate_clauses(event):
        for role in Role:
            filler = head if clause.argument(role) is GAP else clause.argument(role)
            if isinstance(filler, Participant):
                yield str(clause.predicate), role.value, str(filler.noun)
        for _, person in iterate_participants(clause):
            if isinstance(person.clause, RelativeClause):
                yield str(person.clause.relativizer), "", str(person.noun)


def make_space(lexicon: Lexicon, template: str) -> Space | None:
    choices = Choices(
        main=PLAIN,
        clause=PLAIN if "rc" in template else Event(),
        numbers=(Number.SINGULAR,),
        relativizers=tuple(RELATIVIZERS),
    )
    try:
        return Space(lexicon, vocabulary="all", templates=[template], choices=choices)
    except Contradiction:
        return None


@given(random_words, st.sampled_from(TEMPLATES))
@examples(100)
def test_a_space_has_exactly_the_events_of_the_right_sorts(words: RandomWords, template: str) -> None:
    sorts, verbs = name_words(words)
    try:
        lexicon = read_lexicon_text(write_lexicon(words, has_sorts=True), "sorts.toml")
    except SentprobeError as error:
        assert "L012" in str(error)
        return
    accepted_sorts = {verb: takes for by_verb in verbs.values() for verb, takes in by_verb.items()}
    accepted_sorts |= {word: {"": [*accepted]} for word, accepted in RELATIVIZERS.items()}
    full_space = make_space(read_lexicon_text(write_lexicon(words, has_sorts=False), "plain.toml"), template)
    expected = {
        event
        for event in (list_events(full_space) if full_space else ())
        if all(is_accepted(accepted_sorts[word][role], sorts[noun]) for word, role, noun in list_roles(event))
    }
    space = make_space(lexicon, template)
    events = list_events(space) if space else []
    assert set(events) == expected
    assert len(events) == len(expected)
    assert space is None or [space.index(event) for event in events] == list(range(len(events)))
    for event in events[:: len(events) // 20 + 1]:
        assert parse(realize(event, lexicon).text, lexicon) == (event,)


@given(random_words, st.data())
@examples(30)
def test_realizing_refuses_exactly_the_wrong_sorts(words: RandomWords, data: st.DataObject) -> None:
    try:
        lexicon = read_lexicon_text(write_lexicon(words, has_sorts=True), "sorts.toml")
    except SentprobeError:
        return
    full_space = make_space(read_lexicon_text(write_lexicon(words, has_sorts=False), "plain.toml"), "transitive")
    if full_space is None:
        return
    event = full_space[data.draw(st.integers(0, full_space.count() - 1))]
    space = make_space(lexicon, "transitive")
    if space is not None and space.find(event) is not None:
        assert realize(event, lexicon)
        return
    with pytest.raises(Contradiction, match=r"^'noun-\w' is a \w+, and the \w+ of 'transitive-\w' is "):
        realize(event, lexicon)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("disable(agent: firewall)", "'firewall' is a thing, and the agent of 'disable' is a person"),
        ("disable(patient: admin)", "'admin' is a person, and the patient of 'disable' is a thing"),
        ("block(patient: server)", "'server' is a thing, and the patient of 'block' is a person"),
        ("help(agent: admin that crash(agent: _))", "'admin' is a person, and the agent of 'crash' is a thing"),
        ("crash(agent: server who meet)", "'server' is a thing, and the noun of 'who' is a person"),
        ("sleep(agent: admin rc(which) meet)", "'admin' is a person, and the noun of 'which' is not a person"),
    ],
)
def test_an_event_of_a_wrong_sort_is_refused(text: str, message: str) -> None:
    with pytest.raises(Contradiction, match=f"^{message}$"):
        read_known_event(text, operations())


def test_a_pattern_agrees_with_one_entry_of_its_verb() -> None:
    verbs = '[transitive]\nshow = {}\n[ditransitive]\nshow = { takes = { patient = ["thing"] } }\n'
    lexicon = read_lexicon_text(f'[noun]\nman = {{}}\nwoman = {{}}\nbook = {{ sort = "thing" }}\n{verbs}', "dual.toml")
    constraints = Constraints(required=(read_known_event("show(agent: man, patient: book)", lexicon),))
    assert Space(lexicon, vocabulary="all", templates=["ditransitive"], constraints=constraints).count()
    with pytest.raises(Contradiction, match=r"^'book' is a thing, and the agent of 'show' is a person$"):
        read_known_event("show(agent: book)", lexicon)
    with pytest.raises(Contradiction, match=r"^'book' is a thing, and the recipient of 'show' is a person$"):
        read_known_event("show(recipient: book)", lexicon)


def test_a_sentence_of_a_wrong_sort_is_parsed() -> None:
    (event,) = parse("the firewall disabled the admin", operations())
    assert (event.agent, event.patient) != (None, None)
    with pytest.raises(Contradiction, match="'firewall' is a thing"):
        realize(event, operations())
    assert realize(event, operations(), checked=True).text == "the firewall disabled the admin"


def test_a_contradiction_with_the_sorts_is_explained() -> None:
    constraints = Constraints(required=(read_event("help(patient: server)"),))
    with pytest.raises(Contradiction, match=r"server\) and the sorts of nouns that verbs and relativizers take contra"):
        Space(operations(), vocabulary="all", templates=["transitive"], constraints=constraints)


@pytest.mark.parametrize("vocabulary", ["compeval", "published", "english"])
def test_the_old_vocabularies_have_no_sorts(vocabulary: str) -> None:
    words = choose_words(english(), vocabulary, Choices(relativizers=("that", "who")), Constraints())
    assert find_sort_bans(words, english()) == ()
    assert restrict_to_one_sort(english(), vocabulary) is english()


@pytest.mark.parametrize("contrast", [name for name, row in CONTRASTS.items() if row.needed_kind is None])
def test_negatives_have_the_right_sorts(contrast: str) -> None:
    lexicon = operations()
    triplets = TripletSpace(lexicon, contrast, vocabulary="all").sample(60, seed=1)
    texts = [text for side in SIDES for text in triplets.render_texts(side)]
    texts += [text for column in render_distractors(triplets, 3) for text in column]
    for text in texts:
        for event in parse(text, lexicon):
            check_sorts(event, lexicon)
    moved = {"server", "crashed", "disabled"} & {word for text in texts for word in text.split()}
    assert bool(moved) is not CONTRASTS[contrast].moves_nouns


def test_compeval_has_the_nouns_of_one_sort() -> None:
    data = build(TASKS["SemRole"], operations(), vocabulary="all", size=Size(train=48, test=24))
    assert not {"server", "firewall", "router", "laptop"} & {word for text in data.sentences for word in text.split()}
    usable = restrict_to_one_sort(operations(), "all").vocabulary("all").words
    assert usable[Kind.NOUN] == ("admin", "operator", "user", "intruder")
    assert usable[Kind.TRANSITIVE] == ("help", "warn", "meet", "block", "stop")
    assert usable[Kind.INTRANSITIVE] == ("sleep",)


def test_every_noun_and_verb_of_everyday_can_be_drawn_with_its_sorts() -> None:
    space = Space(english(), vocabulary="everyday", templates=["intransitive", "transitive"])
    drawn_words: set[str] = set()
    for event in space.events(space.sample(8000, seed=0)):
        check_sorts(event, english())
        drawn_words |= {str(event.predicate), *(str(person.noun) for _, person in iterate_participants(event))}
    words = english().vocabulary("everyday").words
    assert {*words[Kind.NOUN], *words[Kind.TRANSITIVE]} <= drawn_words
    for verb in words[Kind.INTRANSITIVE]:
        constraints = Constraints(required_words=(verb,))
        assert Space(english(), vocabulary="everyday", templates=["intransitive"], constraints=constraints).count()


@pytest.mark.parametrize("template", ["transitive-rc-both", "ditransitive-rc", "transitive-rc-ditransitive"])
def test_sorts_cut_a_space_into_boxes_of_different_sorts_only(template: str) -> None:
    choices = Choices(adjectives=(1,), relativizers=tuple(RELATIVIZERS))
    words = choose_words(english(), "everyday", choices, Constraints())
    bans = find_sort_bans(words, english())
    for layout in Space(english(), vocabulary="everyday", templates=[template], choices=choices).layouts:
        nouns = sum(variable.group is Group.NOUN for variable in layout.variables)
        boxes = forbid([build_full_box(layout)], list(find_sort_boxes(bans, layout)))
        counted = [count_box(layout, box) for box in boxes]
        assert len(boxes) <= len(SORTS) ** nouns
        assert [box.size for box in counted] == [sum(cell.size for cell in box.cells) for box in counted]
