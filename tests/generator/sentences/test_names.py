"""Names: one event, one sentence, one reading; determiners, modifiers, capitals and annotation."""

import pytest
from helpers.oracles.oracle import Oracle, collect_words
from helpers.oracles.slow_path import chart_parse, derive

from sentprobe.common.errors import UsageError
from sentprobe.generator.bulk.drawn_texts import DrawnTextRenderer
from sentprobe.generator.events.event import Contradiction, Mood, Negator, Role, iterate_clauses, iterate_participants
from sentprobe.generator.events.event_json import event_from_json, event_to_json
from sentprobe.generator.events.meaning import Property, find_differences
from sentprobe.generator.events.notation import read_event, write_event
from sentprobe.generator.sentences.parse import ParseError, normalize_sentence, parse
from sentprobe.generator.sentences.realize import realize
from sentprobe.generator.spaces.constraints import Choices, Constraints
from sentprobe.generator.spaces.space import Space
from sentprobe.generator.spaces.templates import parse_side
from sentprobe.lexicon import Kind, english, german
from sentprobe.lexicon.read import read_lexicon_text
from sentprobe.lexicon.words import NAMED

LEXICON = english()
DETERMINERS = LEXICON.language.list_name_determiners()
ORACLE = Oracle(collect_words(LEXICON))


def test_names_of_lexicon() -> None:
    assert DETERMINERS == ("name", "Doctor", "Professor", "Judge", "Captain", "Senator")
    names = [word for word in LEXICON.words(Kind.NOUN) if word.phrase]
    assert len(names) == 30
    assert not {name.lemma.lower() for name in names} & {*LEXICON.list_forms()}
    assert all(
        name.lemma not in words for v in LEXICON.vocabularies.values() for words in v.words.values() for name in names
    )


@pytest.mark.parametrize("mood", Mood)
@pytest.mark.parametrize("template", ["transitive-rc", "ditransitive", "intransitive-rc"])
def test_every_sentence_has_one_reading(template: str, mood: Mood) -> None:
    """The event, its notations, the parser, the drawn text and an independent grammar agree."""
    if (template, mood) == ("intransitive-rc", Mood.ORDER):
        return
    choices = Choices(
        determiners=("the", "three", *DETERMINERS), moods=(mood,), coordinations=(0, 1), negators=tuple(Negator),
        adjectives=(0, 1) if template == "ditransitive" else (0,),
        asked=(None, Role.PATIENT) if mood is Mood.QUESTION and template != "intransitive-rc" else (None,),
    )  # fmt: skip
    vocabulary = "everyday" if template == "ditransitive" else "english"
    constraints = Constraints(required_any=tuple(read_event(f"*({role}: {d} *)") for role in Role for d in DETERMINERS))
    space = Space(LEXICON, vocabulary=vocabulary, templates=[template], choices=choices, constraints=constraints)
    renderer = DrawnTextRenderer(LEXICON)
    for drawn in space.decode(space.sample(40, seed=2)):
        text = realize(drawn.event, LEXICON).text
        assert renderer.render(drawn) == text
        assert parse(text, LEXICON) == (drawn.event,)
        assert parse(normalize_sentence(f"{text.upper()}.", LEXICON), LEXICON) == (drawn.event,)
        assert ORACLE.accepts(text.split())
        assert read_event(write_event(drawn.event)) == drawn.event
        assert event_from_json(event_to_json(drawn.event)) == drawn.event


@pytest.mark.parametrize("name", ["Mary", "Doctor Smith"])
def test_slow_path_agrees(name: str) -> None:
    text = f"the man that {name} helped met {name} and the young lawyer"
    (event,) = parse(text, LEXICON)
    assert derive(event, LEXICON) == realize(event, LEXICON)
    assert chart_parse(text.split(), LEXICON) == [event]


def test_annotation_of_names() -> None:
    (event,) = parse("Doctor Smith was helped by Mary", LEXICON)
    sentence = realize(event, LEXICON)
    assert sentence.tree == (
        "(S (NP (NNP Doctor) (NNP Smith)) (VP (VBD was) (VP (VBN helped) (PP (IN by) (NP (NNP Mary))))))"
    )
    assert [(t.lemma, t.upos, t.feats, t.head, t.deprel) for t in sentence.tokens if t.upos == "PROPN"] == [
        ("Doctor", "PROPN", "Number=Sing", 2, "compound"),
        ("Smith", "PROPN", "Number=Sing", 4, "nsubj:pass"),
        ("Mary", "PROPN", "Number=Sing", 4, "obl:agent"),
    ]
    assert write_event(event).endswith("(agent: name Mary[sg, bare], patient: Doctor Smith[sg, bare])")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("the Mary slept", "token 2: expected a noun that goes with 'the', not 'Mary'"),
        ("the young Mary slept", "token 3: expected a noun that goes with 'the', not 'Mary'"),
        ("two Mary slept", "token 2: expected a noun that goes with 'two', not 'Mary'"),
        ("Mary that slept danced", "not 'that'"),
        ("Smith slept", "token 1: expected a determiner"),
        ("Doctor Mary slept", "token 2: expected a noun that goes with 'Doctor', not 'Mary'"),
        ("Doctor doctor slept", "token 2: expected a noun that goes with 'Doctor', not 'doctor'"),
        ("Mary sleep", "not 'sleep'"),
        ("Mary helped himself", "'himself' does not agree with the agent of 'help'"),
        ("name Mary slept", "token 1: expected a determiner"),
        ("mary slept", "(not in the lexicon)"),
    ],
)
def test_wrong_name_is_refused(text: str, message: str) -> None:
    with pytest.raises(ParseError) as error:
        parse(text, LEXICON)
    assert message in str(error.value)
    assert not ORACLE.accepts(text.split())
    assert chart_parse(text.split(), LEXICON) == [] or "himself" in text


@pytest.mark.parametrize(
    ("phrase", "message"),
    [
        ("the Mary[sg, bare]", "the determiner 'the' does not go with the noun 'Mary'"),
        ("name doctor[sg, bare]", "the determiner 'name' does not go with the noun 'doctor'"),
        ("name Smith[sg, bare]", "the determiner 'name' does not go with the noun 'Smith'"),
        ("name Mary[pl, bare]", "the name 'Mary' has no plural"),
        ("name Mary[sg, bare, adj(young)]", "the name 'Mary' has no adjective and no relative clause"),
        ("name Mary[sg] that sleep[past, simple, pos, adv()]", "the name 'Mary' has no adjective"),
    ],
)
def test_wrong_event_is_refused(phrase: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        realize(read_event(f"dance[past, simple, pos, adv()](agent: {phrase})"), LEXICON)


def test_names_are_drawn_on_request_only() -> None:
    with pytest.raises(UsageError, match="'Mary' is required but is a name, which needs --determiner name"):
        Space(LEXICON, constraints=Constraints(required_words=("Mary",)))
    with pytest.raises(Contradiction, match="names without determiners and modifiers"):
        Space(LEXICON, templates=["transitive-rc"], choices=Choices(determiners=("name",)))
    with pytest.raises(UsageError, match="unknown determiner 'name'; the determiners are der"):
        Space(german(), vocabulary="german", choices=Choices(determiners=("name",)))
    space = Space(LEXICON, templates=["transitive"], choices=Choices(determiners=("name",)))
    for event in space.events(space.sample(50, seed=0)):
        nouns = [person.noun for clause, _ in iterate_clauses(event) for _, person in iterate_participants(clause)]
        assert all(LEXICON.get(str(noun), Kind.NOUN).phrase == "name" for noun in nouns)


def test_names_are_divided_between_training_and_test() -> None:
    sides = [parse_side(["0.5"], held_out=held_out) for held_out in (False, True)]
    first, second = (
        {
            w.lemma
            for w in side.restrict_lexicon(LEXICON, "english").entries
            if w.phrase in NAMED and w.kind is Kind.NOUN
        }
        for side in sides
        if side
    )
    assert first
    assert second
    assert not first & second
    assert len(first | second) == 30


@pytest.mark.parametrize(
    ("other", "difference"),
    [("Anna slept", Property.NAME), ("Doctor Smith slept", Property.NAME), ("the doctor slept", Property.NOUN)],
)
def test_another_name_is_a_difference_in_meaning(other: str, difference: Property) -> None:
    assert find_differences(parse("Mary slept", LEXICON)[0], parse(other, LEXICON)[0]) == (difference,)


def test_noun_spelled_like_a_name_is_parsed() -> None:
    lexicon = read_lexicon_text("[noun]\nhenry = {}\n\n[intransitive]\nsleep = {}\n", "own.toml")
    (event,) = parse(normalize_sentence("The henry slept.", lexicon), lexicon)
    assert realize(event, lexicon).text == "the henry slept"
