"""Sorts of nouns: a space has exactly the events whose nouns have the sorts that verbs and relativizers take."""

import re
from collections.abc import Iterator

import pytest
from helpers.oracles.space_by_loops import list_events
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.common.errors import SentprobeError
from sentprobe.common.specs import Size
from sentprobe.generator.bulk.generate import read_known_event
from sentprobe.generator.events.checks import check_sorts
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
from sentprobe.generator.events.notation import read_event
from sentprobe.generator.pairs.contrasts import CONTRASTS
from sentprobe.generator.pairs.retrieval_files import render_distractors
from sentprobe.generator.pairs.triplets import SIDES, TripletSpace
from sentprobe.generator.sentences.parse import parse
from sentprobe.generator.sentences.realize import realize
from sentprobe.generator.spaces.constraints import Choices, Constraints, choose_words
from sentprobe.generator.spaces.counting import build_full_box, count_box, forbid
from sentprobe.generator.spaces.layout import Group
from sentprobe.generator.spaces.rules import find_sort_bans, find_sort_boxes
from sentprobe.generator.spaces.space import Space
from sentprobe.lexicon import Kind, Lexicon, english, german, read_lexicon_text
from sentprobe.lexicon.lexicon import restrict_to_one_sort
from sentprobe.probes.generated.assemble import build
from sentprobe.probes.generated.tasks import TASKS

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
def test_space_has_events_of_right_sorts(words: RandomWords, template: str) -> None:
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
def test_realizing_refuses_wrong_sorts(words: RandomWords, data: st.DataObject) -> None:
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
def test_event_of_wrong_sort_is_refused(text: str, message: str) -> None:
    with pytest.raises(Contradiction, match=f"^{message}$"):
        read_known_event(text, operations())


def test_pattern_agrees_with_one_verb_entry() -> None:
    verbs = '[transitive]\nshow = {}\n[ditransitive]\nshow = { takes = { patient = ["thing"] } }\n'
    lexicon = read_lexicon_text(f'[noun]\nman = {{}}\nwoman = {{}}\nbook = {{ sort = "thing" }}\n{verbs}', "dual.toml")
    constraints = Constraints(required=(read_known_event("show(agent: man, patient: book)", lexicon),))
    assert Space(lexicon, vocabulary="all", templates=["ditransitive"], constraints=constraints).count()
    with pytest.raises(Contradiction, match=r"^'book' is a thing, and the agent of 'show' is a person$"):
        read_known_event("show(agent: book)", lexicon)
    with pytest.raises(Contradiction, match=r"^'book' is a thing, and the recipient of 'show' is a person$"):
        read_known_event("show(recipient: book)", lexicon)


def test_sentence_of_wrong_sort_is_parsed() -> None:
    (event,) = parse("the firewall disabled the admin", operations())
    assert (event.agent, event.patient) != (None, None)
    with pytest.raises(Contradiction, match="'firewall' is a thing"):
        realize(event, operations())
    assert realize(event, operations(), checked=True).text == "the firewall disabled the admin"


def test_contradiction_with_sorts_is_explained() -> None:
    constraints = Constraints(required=(read_event("help(patient: server)"),))
    with pytest.raises(Contradiction, match=r"server\) and the sorts of nouns that verbs and relativizers take contra"):
        Space(operations(), vocabulary="all", templates=["transitive"], constraints=constraints)


@pytest.mark.parametrize("vocabulary", ["compeval", "published", "english"])
def test_old_vocabularies_have_no_sorts(vocabulary: str) -> None:
    words = choose_words(english(), vocabulary, Choices(relativizers=("that", "who")), Constraints())
    assert find_sort_bans(words, english()) == ()
    assert restrict_to_one_sort(english(), vocabulary) is english()


@pytest.mark.parametrize("contrast", [name for name, row in CONTRASTS.items() if row.needed_kind is None])
def test_negatives_have_right_sorts(contrast: str) -> None:
    lexicon = operations()
    triplets = TripletSpace(lexicon, contrast, vocabulary="all").sample(60, seed=1)
    texts = [text for side in SIDES for text in triplets.render_texts(side)]
    texts += [text for column in render_distractors(triplets, 3) for text in column]
    for text in texts:
        for event in parse(text, lexicon):
            check_sorts(event, lexicon)
    moved = {"server", "crashed", "disabled"} & {word for text in texts for word in text.split()}
    assert bool(moved) is not CONTRASTS[contrast].moves_nouns


@pytest.mark.parametrize("contrast", ["binding", "adverb", "verb", "noun"])
def test_negatives_of_everyday_keep_its_rules(contrast: str) -> None:
    triplets = TripletSpace(english(), contrast, vocabulary="everyday").sample(80, seed=1)
    words = english().vocabulary("everyday")
    for text in (text for side in SIDES for text in triplets.render_texts(side)):
        for event in parse(text, english()):
            check_sorts(event, english())
            for clause, _ in iterate_clauses(event):
                assert clause.predicate not in words.states or not {*(clause.adverbs or ())} & {*words.event_adverbs}


def test_compeval_has_nouns_of_one_sort() -> None:
    data = build(TASKS["SemRole"], operations(), vocabulary="all", size=Size(train=48, test=24))
    assert not {"server", "firewall", "router", "laptop"} & {word for text in data.sentences for word in text.split()}
    usable = restrict_to_one_sort(operations(), "all").vocabulary("all").words
    assert usable[Kind.NOUN] == ("admin", "operator", "user", "intruder")
    assert usable[Kind.TRANSITIVE] == ("help", "warn", "meet", "block", "stop")
    assert usable[Kind.INTRANSITIVE] == ("sleep",)


def test_everyday_words_can_be_drawn() -> None:
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
def test_boxes_differ_in_sorts_only(template: str) -> None:
    choices = Choices(adjectives=(1,), relativizers=tuple(RELATIVIZERS))
    words = choose_words(english(), "everyday", choices, Constraints())
    bans = find_sort_bans(words, english())
    things = len({noun.sorts for noun in english().words(Kind.NOUN) if noun.sort == "thing"})
    for layout in Space(english(), vocabulary="everyday", templates=[template], choices=choices).layouts:
        nouns = sum(variable.group is Group.NOUN for variable in layout.variables)
        boxes = forbid([build_full_box(layout)], list(find_sort_boxes(bans, layout)))
        counted = [count_box(layout, box) for box in boxes]
        assert len(boxes) <= (len(SORTS) - 1 + things) ** nouns
        assert [box.size for box in counted] == [sum(cell.size for cell in box.cells) for box in counted]


GROUPS = ("metal", "cloth")
"""Further sorts, of things."""
some_groups = st.lists(
    st.sampled_from([*GROUPS, "thing", *(f"not {name}" for name in GROUPS)]), max_size=2, unique=True
)


@st.composite
def vocabularies(draw: st.DrawFn) -> tuple[str, str, dict[str, tuple[str, ...]], dict[str, list[str]], bool]:
    """Draw a lexicon with further sorts and all rules of a vocabulary, the same without rules, and its parts."""
    sorts: dict[str, tuple[str, ...]] = {"man": ("person",), "boy": ("person",)}
    for noun in ("key", "hat", "pen")[: draw(st.integers(2, 3))]:
        sorts[noun] = ("thing", *draw(st.lists(st.sampled_from(GROUPS), unique=True)))
    takes = {adjective: draw(some_groups) for adjective in ("rusty", "large")}
    is_uniform = draw(st.booleans())
    nouns = "\n".join(f'{noun} = {{ sort = "{names[0]}" }}' for noun, names in sorts.items())
    groups = {name: [noun for noun, names in sorts.items() if name in names] for name in GROUPS}
    words = "[transitive]\nown = { takes = { patient = TAKEN } }\nlift = { takes = { patient = TAKEN } }\n"
    words += "[adverb]\nsuddenly = {}\nreally = {}\n[adjective]\n"
    choices = "\n".join(f'{kind} = "*"' for kind in ("noun", "transitive", "adjective", "adverb"))
    rules = f'uniform_conjuncts = {str(is_uniform).lower()}\nevent_adverbs = ["suddenly"]\nstates = ["own"]\n'
    rows = {adjective: f"takes = {names}" if names else "" for adjective, names in takes.items()}
    with_rules = "\n".join(f"{adjective} = {{ {row} }}" for adjective, row in rows.items())
    listed = "\n".join(f"{name} = {members}" for name, members in groups.items() if members)
    for name in GROUPS:
        if not groups[name]:
            with_rules = with_rules.replace(f"'{name}'", "'thing'").replace(f"'not {name}'", "'not thing'")
            takes = {
                a: [n.replace(name, "thing") if n.removeprefix("not ") == name else n for n in t]
                for a, t in takes.items()
            }
    start = f"[noun]\n{nouns}\n{words.replace('TAKEN', repr(['person', 'thing']))}"
    ruled = f"{start}{with_rules}\n[sorts]\n{listed}\n[vocabulary.all]\n{choices}\n{rules}"
    free = f"{start}rusty = {{}}\nlarge = {{}}\n[vocabulary.all]\n{choices}\n"
    return ruled, free, sorts, takes, is_uniform


def is_modified(stated: list[str], sorts: tuple[str, ...]) -> bool:
    """Say whether an adjective goes with a noun: of a sort that it names, or of none that it excludes."""
    excluded = [name[4:] for name in stated if name.startswith("not ")]
    return not stated or any(name in stated for name in sorts) or (bool(excluded) and not {*excluded} & {*sorts})


def keeps_rules(event: Event, sorts: dict[str, tuple[str, ...]], takes: dict[str, list[str]], *, uniform: bool) -> bool:
    conjuncts = [person.conjuncts for _, person in iterate_participants(event)]
    nouns = [noun for pair in conjuncts for noun in pair]
    is_state = event.predicate == "own" and "suddenly" in (event.adverbs or ())
    return (
        not is_state
        and all(is_modified(takes[a], sorts[str(noun.noun)]) for noun in nouns for a in noun.adjectives)
        and not (uniform and any(len({sorts[str(noun.noun)][0] for noun in pair}) > 1 for pair in conjuncts))
    )


@given(vocabularies())
@examples(30)
def test_space_keeps_rules_of_vocabulary(
    words: tuple[str, str, dict[str, tuple[str, ...]], dict[str, list[str]], bool],
) -> None:
    ruled, free, sorts, takes, is_uniform = words
    choices = Choices(main=PLAIN, numbers=(Number.SINGULAR,), adjectives=(0, 1), adverbs=(0, 1), coordinations=(0, 1))
    spaces = [
        Space(read_lexicon_text(text, "rules.toml"), vocabulary="all", templates=["transitive"], choices=choices)
        for text in (ruled, free)
    ]
    events, every = map(list_events, spaces)
    assert set(events) == {event for event in every if keeps_rules(event, sorts, takes, uniform=is_uniform)}
    assert len(events) == spaces[0].count() == len(set(events))
    step = len(events) // 50 + 1
    assert [spaces[0].index(event) for event in events[::step]] == list(range(0, len(events), step))


def test_agents_never_stand_in_row() -> None:
    """Neither "that she was called by by the man" nor "that was called by the boy by the man" is drawn."""
    text = (
        "[noun]\nman = {}\nboy = {}\nking = {}\nqueen = {}\nkey = { sort = 'thing' }\n[transitive]\ncall = {}\n"
        "lose = { takes = { patient = ['thing'] } }\n"
        "[ditransitive]\nsend = { takes = { patient = ['thing'] } }\ngive = { takes = { patient = ['thing'] } }\n"
        "[vocabulary.all]\nnoun = '*'\ntransitive = '*'\nditransitive = '*'\nseparate_agents = "
    )
    separate, close = (read_lexicon_text(f"{text}{value}", "gifts.toml") for value in ("true", "false"))
    passive = read_event("*[past, simple, pos, passive]")
    choices = Choices(main=passive, clause=read_event("*[past, simple, pos]"), numbers=(Number.SINGULAR,))
    drawn, every = (
        {realize(event, lexicon).text for event in list_events(space)}
        for lexicon in (separate, close)
        for space in [Space(lexicon, vocabulary="all", templates=["ditransitive-rc"], choices=choices)]
    )
    in_a_row = re.compile(r"\bby (the \w+ )?by\b")
    assert any("by by" in text for text in every) and any(re.search(r"by the \w+ by", text) for text in every)
    assert drawn == {text for text in every if not in_a_row.search(text)}
    assert parse(next(text for text in every if "by by" in text), separate)


BAD_PAIRS = ["rusty book", "rusty pillow", "rusty table", "shiny letter", "shiny towel"]
GOOD_PAIRS = ["rusty kettle", "shiny coin", "new book", "wet towel"]
GERMAN_PAIRS = [("rostig", "Roman", False), ("rostig", "Kissen", False), ("rostig", "Kessel", True)]


@pytest.mark.parametrize(
    ("language", "adjective", "noun", "is_drawn"),
    [
        *(("en", *pair.split(), False) for pair in BAD_PAIRS),
        *(("en", *pair.split(), True) for pair in GOOD_PAIRS),
        *(("de", *pair) for pair in GERMAN_PAIRS),
    ],
)
def test_everyday_adjective_fits_its_noun(language: str, adjective: str, noun: str, is_drawn: bool) -> None:
    lexicon = {"en": english(), "de": german()}[language]
    constraints = Constraints(required=(Event(patient=Participant(noun=noun, adjectives=(adjective,))),))

    def count() -> int:
        choices = Choices(adjectives=(0, 1))
        return Space(
            lexicon, vocabulary="everyday", templates=["transitive"], choices=choices, constraints=constraints
        ).count()

    if is_drawn:
        assert count()
    else:
        with pytest.raises(Contradiction, match="the sorts of nouns"):
            count()


@pytest.mark.parametrize("lexicon", [english(), german()], ids=["en", "de"])
def test_everyday_adjectives_fit_many_things(lexicon: Lexicon) -> None:
    names = lexicon.vocabulary("everyday").words[Kind.ADJECTIVE]
    translated = {lexicon.get(name, Kind.ADJECTIVE).english or name for name in names}
    assert not {"famous", "fragile", "heavy", "modern", "old", "portable", "striped", "wooden"} & translated


def test_german_everyday_has_english_rules() -> None:
    ours, theirs = german(), english()
    for noun in ours.words(Kind.NOUN):
        assert noun.sorts == theirs.get(noun.english, Kind.NOUN).sorts, noun.lemma
    for adjective in ours.words(Kind.ADJECTIVE):
        assert adjective.takes == theirs.get(adjective.english, Kind.ADJECTIVE).takes, adjective.lemma
    german_words, english_words = (lexicon.vocabulary("everyday") for lexicon in (ours, theirs))
    adverbs = {ours.get(lemma, Kind.ADVERB).english for lemma in german_words.words[Kind.ADVERB]}
    events = {ours.get(lemma, Kind.ADVERB).english for lemma in german_words.event_adverbs}
    assert events == adverbs & {*english_words.event_adverbs}
    verbs = {
        lemma: ours.get(lemma, kind).english
        for kind in (Kind.TRANSITIVE, Kind.DATIVE)
        for lemma in german_words.words[kind]
    }
    assert {verbs[lemma] for lemma in german_words.states} == {*verbs.values()} & {*english_words.states}
    for words in (german_words, english_words):
        assert {*words.event_adverbs} <= {*words.words[Kind.ADVERB]}
        assert {*words.states} <= {lemma for lemmas in words.words.values() for lemma in lemmas}


def test_wrong_adjective_is_parsed_not_written() -> None:
    (event,) = parse("the man lost the rusty novel", english())
    with pytest.raises(Contradiction, match="'novel' is a thing, and the noun of 'rusty' is a metal"):
        realize(event, english())
