"""The space of events against an enumeration by nested loops; its samples and its errors."""

from dataclasses import fields, replace
from functools import cache
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from helpers.oracles.space_by_loops import (
    CASES,
    PASSIVE,
    PAST,
    PLAIN,
    PLAINEST,
    STRUCTURES,
    TINY,
    Case,
    enumerate_case,
    find_satisfying_events,
    has_distinct_words,
    list_events,
    list_nonempty_cases,
    list_words,
)
from helpers.strategies.space_strategies import spaces
from helpers.strategies.strategies import generalizations
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from sentprobe.common.errors import UsageError
from sentprobe.generator.events.checks import check_sorts
from sentprobe.generator.events.event import (
    Aspect,
    Contradiction,
    Event,
    Mood,
    Negator,
    Number,
    Participant,
    Polarity,
    RelativeClause,
    Role,
    Tense,
    Voice,
    iterate_clauses,
    iterate_participants,
)
from sentprobe.generator.events.notation import read_event
from sentprobe.generator.sentences.realize import realize
from sentprobe.generator.spaces.constraints import Choices, Constraints
from sentprobe.generator.spaces.layout import read_values
from sentprobe.generator.spaces.space import Space
from sentprobe.generator.spaces.templates import list_template_names
from sentprobe.lexicon import Flag, Kind, Lexicon, english, read_lexicon_text
from sentprobe.lexicon.words import NO_PROGRESSIVE


@pytest.mark.slow
def test_cases_are_worth_their_time() -> None:
    sizes = [len(enumerate_case(case)) for case in CASES]
    assert max(sizes) < 6000
    assert min(len(enumerate_case(case)) for case in list_nonempty_cases()) >= 32


@pytest.mark.parametrize("case", CASES, ids=range(len(CASES)))
def test_space_equals_loops(case: Case) -> None:
    expected = enumerate_case(case)
    if not expected:
        with pytest.raises(Contradiction):
            case.make_space()
        return
    space = case.make_space()
    assert space.count() == len(space) == len(expected)
    assert set(list_events(space)) == expected


LARGE_STRUCTURES = {"all", *(name for name in STRUCTURES if "ditransitive" in name and "rc" in name)}
"""The templates whose spaces are too large to list with random choices."""


@st.composite
def random_cases(draw: st.DrawFn) -> Case:
    """Small spaces of the templates, with any moods, modals, adverbs, adjectives, coordinations and determiners."""
    template = draw(st.sampled_from([name for name in STRUCTURES if name not in LARGE_STRUCTURES]))
    open_fields: st.SearchStrategy[dict[str, Any]] = st.sampled_from(
        [{}, {"tense": None}, {"aspect": None}, {"polarity": None, "negator": None}]
    )
    numbers = st.sampled_from([(0,), (0,), (1,)])
    main, clause = (replace(PLAINEST, **draw(open_fields)) for _ in range(2))
    choices = Choices(
        main=main,
        clause=clause if "rc" in template else Event(),
        numbers=(draw(st.sampled_from(Number)),),
        determiners=(draw(st.sampled_from(("the", "no", "some"))),),
        negators=(draw(st.sampled_from(Negator)),),
        modals=(None, "can") if main.tense is None else (None,),
        moods=tuple(draw(st.sets(st.sampled_from(Mood), min_size=1))),
        asked=tuple(draw(st.sets(st.sampled_from((None, *Role)), min_size=1))),
        adverbs=draw(numbers),
        adjectives=draw(numbers),
        coordinations=(0,) if "rc" in template else draw(numbers),
    )
    return Case("three", (template,), choices)


@given(random_cases())
@examples(60)
def test_random_space_equals_loops(case: Case) -> None:
    expected = enumerate_case(case)
    try:
        events = list_events(case.make_space())
    except Contradiction:
        events = []
    assert {*events} == expected
    assert len(events) == len(expected)


# ------------------------------------------------------------------ random constraints


@st.composite
def sparse(draw: st.DrawFn, value: Any) -> Any:
    """A value with one to three of the fields of *value*, at any depth; the rest open."""
    stated = [f.name for f in fields(value) if getattr(value, f.name) is not None]
    chosen = draw(st.lists(st.sampled_from(stated), min_size=1, max_size=3, unique=True))
    changes: dict[str, Any] = {}
    for name in {*chosen, "event"} & {*stated}:
        old = getattr(value, name)
        inner = isinstance(old, Event | Participant | RelativeClause)
        changes[name] = draw(sparse(old)) if inner else old
    return type(value)(**changes)


@st.composite
def partial_events_in(draw: st.DrawFn, case: Case) -> Event:
    """Partial events that some event of the case contains, or nearly."""
    event = draw(st.sampled_from(sort_events(case)))
    clause, head = draw(st.sampled_from(list(iterate_clauses(event))))
    if head is not None and clause.gap is not None and draw(st.booleans()):
        clause = clause.with_argument(clause.gap, replace(head, clause=None))
    partial: Event = draw(st.one_of(sparse(clause), generalizations(clause)))
    return partial


@cache
def sort_events(case: Case) -> list[Event]:
    return sorted(enumerate_case(case), key=repr)[::7]


@cache
def some_of_its_words(case: Case) -> list[str]:
    return sorted({str(word) for event in sort_events(case)[::5] for word in list_words(event)})


@st.composite
def constraints_on(draw: st.DrawFn, case: Case) -> Constraints:
    """Constraints from the words and events of a case; some are contradictory."""
    partials = partial_events_in(case)
    some_words = st.lists(st.sampled_from(some_of_its_words(case)), max_size=2, unique=True).map(tuple)
    return Constraints(
        required=draw(st.lists(partials, max_size=2).map(tuple)),
        required_any=draw(st.lists(partials, max_size=3).map(tuple)),
        forbidden=draw(st.lists(partials, max_size=2).map(tuple)),
        required_words=draw(some_words),
        forbidden_words=draw(some_words),
    )


@given(st.data())
@examples(60)
def test_constrained_space_equals_loops(data: st.DataObject) -> None:
    case = data.draw(st.sampled_from(list_nonempty_cases()), label="case")
    constraints = data.draw(constraints_on(case), label="constraints")
    expected = find_satisfying_events(case, constraints)
    try:
        space = case.make_space(constraints)
    except Contradiction as error:
        assert not expected
        assert any(text in str(error) for text in (" satisfies this: ", " contradict each other", " all of these "))
        return
    events = list_events(space)
    assert set(events) == expected
    assert space.count() == len(expected)
    some = data.draw(st.integers(-len(expected), len(expected) - 1), label="index")
    assert space[some] == events[some]
    assert space.index(space[some]) == some % len(expected)


# ------------------------------------------------------------------ indexing


def test_space_is_indexed_like_sequence() -> None:
    space = Case("two", ("transitive",)).make_space()
    count = space.count()
    assert [space[i] for i in range(count)] == list_events(space)
    assert space[-1] == space[count - 1]
    for index in (count, -count - 1, 10**30):
        with pytest.raises(IndexError, match=rf"outside a space of {count} events"):
            space[index]


def test_event_outside_space_has_no_index() -> None:
    space = Case("two", ("transitive",), Choices(main=PAST)).make_space()
    for other_space in CASES[1].make_space(), Case("three", ("transitive",)).make_space():
        outside = set(list_events(other_space)) - set(list_events(space))
        for event in outside:
            with pytest.raises(ValueError, match="not in the space"):
                space.index(event)


LARGE = Choices(
    determiners=("the", "a", "some"), relativizers=("that", "who"), negators=tuple(Negator), adverbs=(0, 1, 2, 3)
)


@given(st.integers(0, 10**40))
@examples(30)
def test_indexing_is_inverted(number: int) -> None:
    space = large_space()
    assert space
    assert space.count() > 2**64
    assert space.index(space[number % space.count()]) == number % space.count()


@cache
def large_space() -> Space:
    return Space(english(), templates=["transitive-rc"], choices=LARGE)


# ------------------------------------------------------------------ sampling


def test_sample_depends_on_seed_alone() -> None:
    for space in (CASES[0].make_space(), large_space()):
        drawn = space.sample(200, seed=3).tolist()
        assert len(set(drawn)) == 200
        assert drawn == space.sample(200, seed=3).tolist()
        assert drawn != space.sample(200, seed=4).tolist()
        assert all(0 <= index < space.count() for index in drawn)
        events = list(space.events(space.sample(200, seed=3)))
        assert events == [space[index] for index in drawn]


def test_sample_can_be_whole_space() -> None:
    space = Case("two", ("transitive",)).make_space()
    for count in (space.count(), space.count() - 1, space.count() // 2):
        assert len(set(space.sample(count, seed=0).tolist())) == count
    assert sorted(space.sample(space.count(), seed=0).tolist()) == list(range(space.count()))


def test_impossible_sample_size_is_refused() -> None:
    space = Case("two", ("transitive",)).make_space()
    message = f"but there are only {space.count()} different ones"
    with pytest.raises(UsageError, match=message):
        space.sample(space.count() + 1, seed=0)
    for count in (0, -5):
        with pytest.raises(UsageError, match=f"must be positive, not {count}"):
            space.sample(count, seed=0)


def test_sampling_is_uniform() -> None:
    """Of samples of different sizes, the first and the last draw; seeds are fixed."""
    space = Case("two", ("transitive",), Choices(main=PLAIN, numbers=(Number.PLURAL,))).make_space(
        Constraints(forbidden=(read_event("help[passive, neg](agent: man)"),))
    )
    size = space.count()
    assert size == 15
    for count in (1, 2, size // 2, size - 1, size):
        draws = [space.sample(count, seed=seed).tolist() for seed in range(1500)]
        for place in (0, -1):
            tally = np.bincount([draw[place] for draw in draws], minlength=size)
            assert chisquare(tally).pvalue > 0.001
    pairs = [tuple(space.sample(2, seed=seed).tolist()) for seed in range(4200)]
    counts = [pairs.count(pair) for pair in permutations(range(size), 2)]
    assert chisquare(counts).pvalue > 0.001


def test_features_are_drawn_evenly() -> None:
    space = Space(english(), templates=["transitive-rc"])
    events = list(space.events(space.sample(2000, seed=0)))
    inner = [clause for event in events for clause, head in iterate_clauses(event) if head is not None]
    for some in (events, inner):
        assert chisquare([sum(e.tense is t for e in some) for t in Tense]).pvalue > 0.001
        assert chisquare([sum(e.polarity is p for e in some) for p in Polarity]).pvalue > 0.001
        people = [person for event in some for _, person in iterate_participants(event)]
        assert chisquare([sum(p.number is n for p in people) for n in Number]).pvalue > 0.001


# ------------------------------------------------------------------ words


@given(st.sampled_from(list_template_names()), st.integers(0, 99))
@examples(30)
def test_drawn_words_differ(template: str, seed: int) -> None:
    choices = replace(LARGE, adverbs=(2,))
    vocabulary = "everyday" if "ditransitive" in template else "compeval"
    space = Space(english(), vocabulary=vocabulary, templates=[template], choices=choices)
    assert all(has_distinct_words(event) for event in space.events(space.sample(20, seed=seed)))


def make_published_space(*allow: Flag, required_words: tuple[str, ...] = ()) -> Space:
    return Space(
        english(),
        vocabulary="published",
        templates=["transitive"],
        choices=Choices(allow=frozenset(allow)),
        constraints=Constraints(required_words=required_words),
    )


def test_states_need_permission_for_progressive() -> None:
    space = make_published_space(required_words=("believe",))
    aspects = {event.aspect for event in space.events(space.sample(space.count(), seed=0))}
    assert aspects == {Aspect.SIMPLE}
    allowed = make_published_space(Flag.STATIVE, required_words=("believe",))
    assert allowed.count() == 2 * space.count()


PERFECT, PERFECT_PROGRESSIVE = Event(aspect=Aspect.PERFECT), Event(aspect=Aspect.PERFECT_PROGRESSIVE)
USUAL = {Aspect.SIMPLE, Aspect.PROGRESSIVE}


@pytest.mark.parametrize(
    ("choices", "required", "main", "inner"),
    [
        (Choices(), (), USUAL, USUAL),
        (Choices(main=PERFECT), (), {Aspect.PERFECT}, USUAL),
        (Choices(clause=PERFECT_PROGRESSIVE), (), USUAL, {Aspect.PERFECT_PROGRESSIVE}),
        (Choices(main=PERFECT, clause=PERFECT), (), {Aspect.PERFECT}, {Aspect.PERFECT}),
        (Choices(main=PERFECT_PROGRESSIVE), (PERFECT,), {Aspect.PERFECT_PROGRESSIVE}, {Aspect.PERFECT}),
        (Choices(), (PERFECT,), {*USUAL, Aspect.PERFECT}, {*USUAL, Aspect.PERFECT}),
        (Choices(), (PERFECT_PROGRESSIVE,), {*USUAL, Aspect.PERFECT_PROGRESSIVE}, {*USUAL, Aspect.PERFECT_PROGRESSIVE}),
    ],
)
def test_perfect_is_drawn_where_it_is_named(
    choices: Choices, required: tuple[Event, ...], main: set[Aspect], inner: set[Aspect]
) -> None:
    templates = ["transitive-rc.agent.transitive.src", "transitive-rc.agent.transitive.orc"]
    limits = Constraints(required=required)
    space = Space(english(), vocabulary="compeval", templates=templates, choices=choices, constraints=limits)
    clauses = [[*iterate_clauses(event)] for event in space.events(space.sample(400, seed=1))]
    assert {outer.aspect for (outer, _), _ in clauses} == main
    assert {clause.aspect for _, (clause, _) in clauses} == inner


def test_perfect_has_forms_of_simple_and_progressive() -> None:
    """A perfect has as many sentences as the simple aspect; a perfect progressive as the progressive, if active."""

    def make_space(aspect: Aspect, voice: Voice | None = None) -> Space:
        choices = Choices(main=Event(aspect=aspect, voice=voice), negators=tuple(Negator))
        return Space(english(), vocabulary="published", templates=["transitive"], choices=choices)

    assert make_space(Aspect.PERFECT).count() == make_space(Aspect.SIMPLE).count()
    progressive = make_space(Aspect.PROGRESSIVE, Voice.ACTIVE)
    assert make_space(Aspect.PERFECT_PROGRESSIVE).count() == progressive.count()
    event = make_space(Aspect.PERFECT)[0]
    assert make_space(Aspect.PERFECT).index(event) == 0
    assert make_space(Aspect.SIMPLE).find(event) is None


PROGRESSIVES = (Aspect.PROGRESSIVE, Aspect.PERFECT_PROGRESSIVE)
FLAGGED_VERBS = {Flag.PSYCH: "startle", Flag.PUNCTUAL: "recognize", Flag.STATIVE: "admire"}


@pytest.mark.parametrize("flag", FLAGGED_VERBS)
def test_verb_class_needs_permission_for_progressive(flag: Flag) -> None:
    required = Constraints(required=(Event(predicate=FLAGGED_VERBS[flag], aspect=Aspect.PROGRESSIVE),))

    def make_space(*allow: Flag) -> Space:
        return Space(english(), templates=["all"], choices=Choices(allow=frozenset(allow)), constraints=required)

    message = f"{FLAGGED_VERBS[flag]}.* and leaving out {flag} verbs in the progressive .see --allow. contradict"
    for others in ((), set(FLAGGED_VERBS) - {flag}):
        with pytest.raises(UsageError, match=message):
            make_space(*others)
    assert make_space(flag).count() > 0


@given(spaces(), st.integers(0, 2**32))
@examples(40)
def test_drawn_verbs_respect_no_progressive(space: Space, seed: int) -> None:
    for event in space.events(space.sample(min(20, space.count()), seed=seed)):
        for clause, _ in iterate_clauses(event):
            word = space.lexicon.get(clause.predicate or "", Kind(str(clause.frame)))
            assert clause.aspect not in PROGRESSIVES or not word.flags & NO_PROGRESSIVE


def test_syncretic_verbs_are_used_only_if_allowed() -> None:
    space = make_published_space()
    assert "hit" not in space.words.verbs
    with pytest.raises(UsageError, match="'hit' is required but is left out of vocabulary"):
        make_published_space(required_words=("hit",))
    assert make_published_space(Flag.SYNCRETIC, required_words=("hit",)).count() > 0
    assert make_published_space(Flag.SYNCRETIC).count() > space.count()


@given(st.sampled_from(list_template_names()), st.integers(0, 2**32), st.integers(1, 20))
@examples(40)
def test_single_event_has_values_of_batch(template: str, seed: int, count: int) -> None:
    vocabulary = "everyday" if "ditransitive" in template else "english"
    space = Space(english(), vocabulary=vocabulary, templates=[template], choices=LARGE)
    indices = space.sample(count, seed=seed)
    events = list(space.events(indices))
    for batch in space.batches(indices):
        for row, place in enumerate(batch.positions.tolist()):
            values = read_values(events[place], batch.layout)
            assert values == {name: column[row] for name, column in batch.values.items()}


def test_events_are_refused_outside_space() -> None:
    space = large_space()
    assert list(space.events([])) == []
    for index in (-1, space.count(), 10**30):
        with pytest.raises(IndexError, match="outside a space"):
            list(space.events([0, index]))


WORDS = """
[noun]
man = {}
child = {}
box = { sort = "thing" }
[transitive]
open = { takes = { patient = ["thing"] } }
see = { takes = { patient = ["person", "thing"] } }
[adjective]
heavy = {}
clever = { takes = ["person"] }
wooden = { takes = ["thing"] }
"""
NOUN_PHRASES = Choices(
    main=Event(tense=Tense.PAST), numbers=(Number.SINGULAR,), adjectives=(0, 1), coordinations=(0, 1), negators=()
)


def has_right_sorts(event: Event, lexicon: Lexicon) -> bool:
    try:
        check_sorts(event, lexicon)
    except Contradiction:
        return False
    return True


def test_adjectives_and_conjuncts_have_right_sorts() -> None:
    lexicon = read_lexicon_text(WORDS, "sorts.toml")
    plain_words = "\n".join(line.partition(" = ")[0] + " = {}" if "=" in line else line for line in WORDS.splitlines())
    everything = list_events(
        Space(
            read_lexicon_text(plain_words, "p.toml"), vocabulary="all", templates=["transitive"], choices=NOUN_PHRASES
        )
    )
    space = Space(lexicon, vocabulary="all", templates=["transitive"], choices=NOUN_PHRASES)
    events = list_events(space)
    assert set(events) == {event for event in everything if has_right_sorts(event, lexicon)}
    assert [space.index(event) for event in events] == list(range(space.count()))
    texts = {realize(event, lexicon).text for event in events[::50]}
    assert not any("wooden man" in text or "clever box" in text for text in texts)


def test_vocabulary_without_adjectives_is_refused() -> None:
    with pytest.raises(Contradiction, match="vocabulary 'compeval' has no adjective"):
        Space(english(), vocabulary="compeval", choices=Choices(adjectives=(0, 1)))


PLACE = "in the templates transitive"
CONTRADICTIONS = [
    (
        Constraints(required=(read_event("help[past]"),), forbidden=(read_event("*[past]"),)),
        "the required event help[past] and the forbidden event *[past] contradict each other",
    ),
    (
        Constraints(
            required_any=(read_event("help[past]"), read_event("admire[past]")), forbidden=(read_event("*[past]"),)
        ),
        "the required event help[past] or admire[past] and the forbidden event *[past] contradict",
    ),
    (
        Constraints(required_words=("man",), forbidden_words=("man",)),
        "the required word 'man' and the forbidden word 'man' contradict each other",
    ),
    (
        Constraints(forbidden=tuple(map(read_event, ("help", "admire[past]", "admire[pres]")))),
        "no sentence satisfies all of these together in the templates transitive: the forbidden "
        "event help; the forbidden event admire[past]; the forbidden event admire[pres]",
    ),
    (
        Constraints(required=(read_event("sleep[intransitive]"),)),
        "no sentence in the templates transitive satisfies this: the required event sleep[intransitive]",
    ),
    (
        Constraints(required=(read_event("*(agent: * rc *)"),), required_words=("man",)),
        "no sentence in the templates transitive satisfies this: the required event *(agent: * rc *)",
    ),
    (
        Constraints(forbidden=(Event(),)),
        "no sentence in the templates transitive satisfies this: the forbidden event *",
    ),
    (Constraints(required=(read_event("*(agent: man)"), read_event("*(patient: man)"))), "contradict each other"),
    (Constraints(required_words=("help", "admire")), "contradict each other"),
    (
        Constraints(required=(read_event("admire[prog]"),)),
        "the required event admire[prog] and leaving out stative verbs in the progressive (see --allow) contradict",
    ),
]


@pytest.mark.parametrize(("constraints", "message"), CONTRADICTIONS)
def test_contradiction_names_its_constraints(constraints: Constraints, message: str) -> None:
    with pytest.raises(Contradiction) as caught:
        Case("three", ("transitive",)).make_space(constraints)
    assert message in str(caught.value)
    assert PLACE in str(caught.value)


@pytest.mark.parametrize(("constraints", "message"), CONTRADICTIONS)
def test_contradiction_may_stay_unexplained(constraints: Constraints, message: str) -> None:
    with pytest.raises(Contradiction, match=r"^the space has no event$") as caught:
        Space(TINY, vocabulary="three", templates="transitive", constraints=constraints, explained=False)
    assert message not in str(caught.value)


# Templates, choices, constraints, error and message.
BAD_SPACES: list[tuple[str, Choices, Constraints, type[UsageError], str]] = [
    (
        "transitive",
        Choices(main=PASSIVE),
        Constraints(required=(read_event("help[active]"),)),
        Contradiction,
        "the main clause *[passive] and the required event help[active]",
    ),
    (
        "transitive-rc.agent.transitive",
        Choices(),
        Constraints(),
        Contradiction,
        "the vocabulary has too few words for any sentence",
    ),
    ("all", Choices(coordinations=(3,)), Constraints(), Contradiction, "has 3 nouns without relative clauses to coord"),
    (
        "all",
        Choices(adjectives=(1,), coordinations=(2,)),
        Constraints(),
        Contradiction,
        "the size of the vocabulary and the choice of coordinations",
    ),
    (
        "transitive",
        Choices(determiners=("a",), numbers=(Number.PLURAL,)),
        Constraints(),
        Contradiction,
        "none of the determiners goes",
    ),
    (
        "transitive",
        Choices(negators=(Negator.CONTRACTED,)),
        Constraints(required=(read_event("help[not]"),)),
        Contradiction,
        "the required event help[not] and the choice of negators contradict each other",
    ),
    (
        "transitive",
        Choices(),
        Constraints(required_words=("really",)),
        Contradiction,
        "'really' and the choice of adverbs contradict",
    ),
    ("transitive", Choices(clause=PAST), Constraints(), Contradiction, "have no relative clause"),
    *(
        ("transitive", Choices(), constraints, UsageError, message)
        for constraints, message in (
            (Constraints(required_words=("mann",)), "the lexicon has no word 'mann' (did you mean 'man'?)"),
            (Constraints(forbidden_words=("slep",)), "has no word 'slep' (did you mean 'sleep'?)"),
            (Constraints(forbidden=(read_event("hlep"),)), "has no word 'hlep' (did you mean 'help'?)"),
            (Constraints(required_words=("student",)), "'student' is required but is not in vocabulary"),
            (Constraints(required_words=("hit",)), "'hit' is required but is left out of vocabulary"),
            (Constraints(required=(read_event("*(agent: a man)"),)), "'a' is required but is not among"),
        )
    ),
    *(
        ("transitive-rc", Choices(relativizers=("who",)), constraints, UsageError, "not among the determiners, rel")
        for constraints in (
            Constraints(required_words=("that",)),
            Constraints(required=(read_event("help(agent: man that *)"),)),
        )
    ),
    *(
        ("transitive-rc", choices, Constraints(), UsageError, message)
        for choices, message in (
            (Choices(adjectives=(2,)), "a drawn noun has at most one adjective, not 2"),
            (Choices(adverbs=(-1,)), "a verb takes from 0 to 6 adverbs, not -1"),
            (Choices(adverbs=(7,)), "a verb takes from 0 to 6 adverbs, not 7"),
            (Choices(adverbs=(100,)), "a verb takes from 0 to 6 adverbs, not 100"),
            (Choices(determiners=("teh",)), "unknown determiner 'teh' (did you mean 'the'?)"),
            (Choices(determiners=("man",)), "unknown determiner 'man' (the lexicon has it as noun)"),
            (Choices(relativizers=("hwo",)), "unknown relativizer 'hwo' (did you mean 'who'?)"),
        )
    ),
]


@pytest.mark.parametrize(
    ("template", "choices", "constraints", "error", "message"), BAD_SPACES, ids=[row[-1][:30] for row in BAD_SPACES]
)
def test_impossible_space_is_explained(
    template: str, choices: Choices, constraints: Constraints, error: type[UsageError], message: str
) -> None:
    with pytest.raises(error) as caught:
        Case("two", (template,), choices).make_space(constraints)
    assert message in str(caught.value)
