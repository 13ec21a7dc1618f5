"""Adjectives and coordinated nouns, from events to sentences and back."""

from collections.abc import Iterator

import pytest
from helpers.oracles.slow_path import chart_parse, chart_readings, derive
from helpers.strategies.space_strategies import odd_lexicon
from helpers.strategies.strategies import full_events, maybe
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from sentprobe.common.errors import UsageError
from sentprobe.generator.events.checks import contains, select_licensed
from sentprobe.generator.events.event import GAP, Dative, Event, iterate_clauses
from sentprobe.generator.events.event_json import event_from_json, event_to_json
from sentprobe.generator.events.meaning import find_differences, has_same_meaning
from sentprobe.generator.events.notation import read_event, write_event
from sentprobe.generator.sentences.parse import ParseError, parse
from sentprobe.generator.sentences.realize import list_readings, realize
from sentprobe.generator.sentences.sentence import Sentence
from sentprobe.generator.sentences.sentence_records import write_conllu
from sentprobe.lexicon import read_lexicon_text

LEXICON = odd_lexicon()
SMALL = read_lexicon_text(
    "noun = {man = {}, woman = {}, artist = {}}\ntransitive = {help = {}}\nintransitive = {sleep = {}}\n"
    'adverb = {really = {}}\nadjective = {old = { article = "an" }, young = {}}\n',
    "small.toml",
)
noun_phrase_events = full_events(LEXICON, vocabulary="odd")


@given(noun_phrase_events)
@examples(200)
def test_parsing_undoes_realizing(event: Event) -> None:
    parsed = parse(realize(event, LEXICON).text, LEXICON)
    readings = [reading for reading in parsed if list_objects(reading) == list_objects(event)]
    assert readings == select_licensed(list_readings(event), LEXICON)
    assert list_readings(event)[0] == event


def list_objects(event: Event) -> list[tuple[Dative | None, bool, bool]]:
    """Return the form of the objects of each clause; "lent the man that saw the doctor the pen" has two."""
    clauses = [clause for clause, _ in iterate_clauses(event)]
    return [(clause.dative, clause.patient is None, clause.recipient is GAP) for clause in clauses]


@given(noun_phrase_events)
@examples(15)
def test_fast_path_equals_slow_path(event: Event) -> None:
    sentence = realize(event, LEXICON, id="s1")
    assert sentence == derive(event, LEXICON, id="s1")
    parsed, readings = chart_parse(sentence.text.split(), LEXICON), parse(sentence.text, LEXICON)
    assert {*parsed} <= {*readings}
    assert len(parsed) == len({str(list_objects(reading)) for reading in readings})
    assert [reading for reading in parsed if list_objects(reading) == list_objects(event)] == [event]


@given(noun_phrase_events, st.data())
@examples(15)
def test_parsers_agree_on_any_tokens(event: Event, data: st.DataObject) -> None:
    tokens = realize(event, LEXICON).text.split()
    place = data.draw(st.integers(0, len(tokens) - 1), label="place")
    instead = data.draw(maybe(st.sampled_from([*tokens, "and", "old"])), label="instead")
    tokens[place : place + 1] = [] if instead is None else [instead]
    try:
        parsed = parse(" ".join(tokens), LEXICON)
    except ParseError:
        parsed = ()
    assert set(parsed) == set(chart_readings(tokens, LEXICON))


@given(noun_phrase_events)
@examples(60)
def test_notation_and_json_keep_event(event: Event) -> None:
    assert read_event(write_event(event)) == event
    assert event_from_json(event_to_json(event)) == event


@given(noun_phrase_events)
@examples(100)
def test_dependencies_of_noun_phrases_are_valid(event: Event) -> None:
    sentence = realize(event, LEXICON)
    assert list(find_invalid_dependencies(sentence)) == []


PAIRS = {"amod": ("ADJ", "NOUN"), "cc": ("CCONJ", "NOUN"), "conj": ("NOUN", "NOUN"), "det": ("DET", "NOUN")}
PAIRS |= {"nummod": ("NUM", "NOUN"), "nmod": ("ADJ", "NUM"), "fixed": ("ADP", "ADJ"), "compound": ("PROPN", "PROPN")}


def find_invalid_dependencies(sentence: Sentence) -> Iterator[str]:
    """Yield what UD's validation forbids in noun phrases."""
    tokens = sentence.tokens
    for at, token in enumerate(tokens, 1):
        head = tokens[token.head - 1]
        tags = token.upos, head.upos
        if token.deprel in ("cc", "conj"):  # of names too
            tags = token.upos.replace("PROPN", "NOUN"), head.upos.replace("PROPN", "NOUN")
        if token.deprel in PAIRS and PAIRS[token.deprel] != tags:
            yield f"{token.deprel} of {token.form}"
        if token.deprel == "conj" and token.head > at:
            yield f"{token.form} is to the left of its first conjunct"
        if token.deprel == "cc" and (token.head < at or head.deprel != "conj"):
            yield f"{token.form} does not depend on the second conjunct"
        is_bound = token.deprel in ("nmod", "advmod")  # the "least" of "at least", the "more" of "no more than"
        if token.upos in ("DET", "ADJ", "CCONJ", "PUNCT") and not is_bound and at in [t.head for t in tokens]:
            yield f"{token.form} has a dependent"


EXAMPLES = (
    "an old man sleeps",
    "a young artist sleeps",
    "the man and an artist sleep",
    "the man is helped by the old woman and the artist",
    "the man that the woman and the artist are helping sleeps",
    "the old man and a woman sleep",
)


def test_annotation_of_noun_phrases(stored_text: SnapshotAssertion) -> None:
    """Trees, dependencies and participants, which were written by hand."""
    readings = [parse(text, SMALL) for text in EXAMPLES]
    assert "".join(write_conllu(realize(event, SMALL, id="x")) for (event,) in readings) == stored_text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a old man sleeps", "token 2: expected a noun that goes with 'a', not 'old'"),
        ("an young man sleeps", "token 2: expected a noun that goes with 'an', not 'young'"),
        ("the old sleeps", "token 3: expected a noun that goes with 'the', not 'sleeps'"),
        ("the man old sleeps", "token 3: "),
        ("the man and the woman sleeps", "token 6: "),
        ("the man and woman sleep", "token 4: expected a determiner, not 'woman'"),
        ("the man and the woman and the artist sleep", "token 6: "),
        ("the man and the woman that sleeps sleep", "token 6: "),
        ("the man that sleeps and the woman sleep", "token 5: "),
    ],
)
def test_other_noun_phrases_are_not_covered(text: str, message: str) -> None:
    with pytest.raises(ParseError, match=f"^{message}"):
        parse(text, SMALL)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sleep[active, pres, simple, pos, adv()](agent: the man[sg, bare, adj(odl)])", "unknown adjective 'odl'"),
        (
            "sleep[active, pres, simple, pos, adv()](agent: the man[sg, bare] and a woman[pl, bare])",
            "the determiner 'a' does not go with a plural noun",
        ),
    ],
)
def test_impossible_noun_phrases_are_refused(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        realize(read_event(text), SMALL)


def test_constraint_ignores_order_of_conjuncts() -> None:
    (event,) = parse("the old man and the woman sleep", SMALL)
    for noun in ("the man[adj(old)]", "woman", "the woman and the man", "man and woman"):
        assert contains(event, read_event(f"sleep(agent: {noun})")), noun
    for noun in ("artist", "woman[adj(old)]", "man and man"):
        assert not contains(event, read_event(f"sleep(agent: {noun})")), noun


@pytest.mark.parametrize(
    ("first", "second", "differences"),
    [
        ("the man and the woman sleep", "the woman and the man sleep", []),
        ("the old man helps the woman and the artist", "the artist and the woman are helped by the old man", []),
        ("the old man and the artist sleep", "the artist and the old man sleep", []),
        ("the old young man sleeps", "the young old man sleeps", []),
        ("the old man helps the young woman", "the old woman is helped by the young man", ["binding"]),
        ("the old man and the young woman sleep", "the young man and the old woman sleep", ["binding"]),
        ("the old man sleeps", "the young man sleeps", ["adjective"]),
        ("the old man sleeps", "the man sleeps", ["adjective"]),
        ("the man and the woman help the artist", "the artist helps the man and the woman", ["role"]),
        ("the man and the woman help the artist", "the man helps the artist and the woman", ["structure"]),
        ("the man and the woman sleep", "the man sleeps", ["structure"]),
    ],
)
def test_meanings_differ_by_hand(first: str, second: str, differences: list[str]) -> None:
    (left,), (right,) = (parse(text, SMALL) for text in (first, second))
    assert [str(p) for p in find_differences(left, right)] == differences
    assert has_same_meaning(left, right) == has_same_meaning(right, left) == (not differences)
