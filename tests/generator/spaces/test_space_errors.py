"""Constraints that contradict each other, and words that are not there."""

import pytest
from helpers.oracles.space_by_loops import PASSIVE, TINY, Case

from sentprobe.common.errors import UsageError
from sentprobe.generator.events.event import Contradiction, Event
from sentprobe.generator.events.notation import read_event
from sentprobe.generator.spaces.constraints import Choices, Constraints
from sentprobe.generator.spaces.space import Space

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
        "the required event sleep[intransitive] is impossible",
    ),
    (
        Constraints(required=(read_event("*(agent: * rc *)"),), required_words=("man",)),
        "the required event *(agent: * rc *) is impossible",
    ),
    (Constraints(forbidden=(Event(),)), "the forbidden event * is impossible"),
    (Constraints(required=(read_event("*(agent: man)"), read_event("*(patient: man)"))), "contradict each other"),
    (Constraints(required_words=("help", "admire")), "contradict each other"),
    (
        Constraints(required=(read_event("admire[prog]"),)),
        "the required event admire[prog] and leaving out stative verbs in the progressive (see --allow) contradict",
    ),
]


@pytest.mark.parametrize(("constraints", "message"), CONTRADICTIONS)
def test_a_contradiction_names_its_constraints(constraints: Constraints, message: str) -> None:
    with pytest.raises(Contradiction) as caught:
        Case("three", ("transitive",)).make_space(constraints)
    assert message in str(caught.value)
    assert PLACE in str(caught.value)


def test_choices_can_contradict_constraints() -> None:
    case = Case("two", ("transitive",), Choices(main=PASSIVE))
    with pytest.raises(Contradiction) as caught:
        case.make_space(Constraints(required=(read_event("help[active]"),)))
    assert "the main clause *[passive] and the required event help[active]" in str(caught.value)


@pytest.mark.parametrize(("constraints", "message"), CONTRADICTIONS)
def test_the_search_for_what_contradicts_may_be_left_out(constraints: Constraints, message: str) -> None:
    with pytest.raises(Contradiction, match=r"^the space has no event$") as caught:
        Space(TINY, vocabulary="three", templates="transitive", constraints=constraints, explained=False)
    assert message not in str(caught.value)


def test_too_few_words() -> None:
    with pytest.raises(Contradiction, match=r"^the vocabulary has too few words for any sentence"):
        Case("two", ("transitive-rc.agent.transitive",)).make_space()


UNKNOWN = [
    (Constraints(required_words=("mann",)), "the lexicon has no word 'mann' (did you mean 'man'?)"),
    (Constraints(forbidden_words=("slep",)), "has no word 'slep' (did you mean 'sleep'?)"),
    (Constraints(forbidden=(read_event("hlep"),)), "has no word 'hlep' (did you mean 'help'?)"),
    (Constraints(required_words=("student",)), "'student' is required but is not in vocabulary"),
    (Constraints(required_words=("hit",)), "'hit' is required but is left out of vocabulary"),
    (Constraints(required=(read_event("*(agent: a man)"),)), "'a' is required but is not among"),
]


@pytest.mark.parametrize(("constraints", "message"), UNKNOWN)
def test_words_that_are_not_there(constraints: Constraints, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        Case("two", ("transitive",)).make_space(constraints)
    assert message in str(caught.value)


@pytest.mark.parametrize("count", [-1, 7, 100])
def test_a_verb_takes_up_to_six_adverbs(count: int) -> None:
    with pytest.raises(UsageError, match=rf"^a verb takes from 0 to 6 adverbs, not {count}$"):
        Case("two", ("transitive",), Choices(adverbs=(count,))).make_space()


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        (Choices(determiners=("teh",)), "unknown determiner 'teh' (did you mean 'the'?)"),
        (Choices(determiners=("man",)), "unknown determiner 'man' (the lexicon has it as noun)"),
        (Choices(relativizers=("hwo",)), "unknown relativizer 'hwo' (did you mean 'who'?)"),
    ],
)
def test_function_words_that_are_not_there(choices: Choices, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        Case("two", ("transitive-rc",), choices).make_space()
    assert str(caught.value) == message
