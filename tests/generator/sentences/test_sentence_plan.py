"""Events of one structure share a kept plan."""

from collections.abc import Callable
from dataclasses import replace

from helpers.strategies.strategies import full_events
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.generator.events.event import ROLES, Event, Number, Participant, RelativeClause
from sentprobe.generator.sentences.realize import realize
from sentprobe.generator.sentences.sentence_plan import _Planner, extract_structure, find_slots, plan_sentence
from sentprobe.lexicon import english
from sentprobe.lexicon.languages.english import ENGLISH
from sentprobe.lexicon.words import NAME

LEXICON = english()

events = st.one_of(full_events(LEXICON), full_events(LEXICON, vocabulary="english"))


def replace_words(event: Event, word: Callable[[str], str], path: str = "") -> Event:
    """Return *event* with ``word(slot)`` in place of the word of every slot."""
    adverbs = tuple(word(f"{path}adverb{i}") for i in range(len(event.adverbs or ())))
    modal = None if event.modal is None else word(f"{path}modal")
    replaced = replace(event, predicate=word(f"{path}verb"), adverbs=adverbs, modal=modal)
    for role in ROLES:
        person = event.argument(role)
        if isinstance(person, Participant):
            replaced = replaced.with_argument(role, replace_participant_words(person, word, f"{path}{role.value}."))
    return replaced


def replace_participant_words(person: Participant, word: Callable[[str], str], path: str) -> Participant:
    clause, conjunct = person.clause, person.conjunct
    if conjunct is not None:
        conjunct = replace_participant_words(conjunct, word, f"{path}conjunct.")
    if isinstance(clause, RelativeClause):
        inner = replace_words(clause.event, word, f"{path}clause.")
        clause = replace(clause, relativizer=word(f"{path}rel"), event=inner)
    return Participant(
        noun=word(f"{path}noun"),
        number=person.number,
        determiner=word(f"{path}det"),
        clause=clause,
        adjectives=tuple(word(f"{path}adjective{i}") for i in range(len(person.adjectives))),
        conjunct=conjunct,
    )


@given(events)
@examples(100)
def test_plan_has_slots_of_event(event: Event) -> None:
    slots = [token.slot for token in plan_sentence(event, ENGLISH).tokens]
    assert {slot for slot in slots if slot} == {slot for slot, lemma in find_slots(event).items() if lemma != NAME}


@given(events)
@examples(100)
def test_cached_plan_fits_any_words(event: Event) -> None:
    """A numeral or the determiner of a name is a part of the structure: its phrase decides the plan."""
    words = find_slots(event)

    def rename(slot: str) -> str:
        word = words.get(slot, "")
        return word if word in ENGLISH.phrases else f"another {slot}"

    renamed = replace_words(event, rename)
    realize(event, LEXICON)
    assert plan_sentence(renamed, ENGLISH) is plan_sentence(event, ENGLISH)
    asked_number = Number.SINGULAR  # of "who" and "what"
    plan = _Planner(ENGLISH).plan_clause
    assert plan_sentence(event, ENGLISH) == plan(event, "", asked_number) == plan(renamed, "", asked_number)


@given(events, events)
@examples(60)
def test_one_structure_has_one_plan(event: Event, second: Event) -> None:
    same = extract_structure(event, ENGLISH) == extract_structure(second, ENGLISH)
    assert (plan_sentence(event, ENGLISH) is plan_sentence(second, ENGLISH)) == same
