"""Records of parsed sentences in bulk: those of realized events, for any structure and any words."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.strategies.space_strategies import spaces
from helpers.strategies.strategies import full_events
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.common.errors import SentprobeError
from sentprobe.generator.bulk import parsed_records
from sentprobe.generator.bulk.generate import read_file
from sentprobe.generator.bulk.parsed_records import ParsedText, format_parsed, write_parsed
from sentprobe.generator.events.event import Event
from sentprobe.generator.sentences.parse import build_event, parse, parse_clauses, parse_once
from sentprobe.generator.sentences.realize import find_adverb_sites, realize
from sentprobe.generator.sentences.sentence_records import PARQUET, RECORD_FORMATS, annotate_readings
from sentprobe.generator.spaces.space import Space
from sentprobe.lexicon import Kind, Lexicon, english

LEXICON = english()
numbered_events = st.lists(
    st.tuples(st.integers(1, 10**6), st.one_of(full_events(LEXICON), full_events(LEXICON, vocabulary="english"))),
    max_size=12,
)
NESTED = "the man that helped the man that slept danced"
MANY_ADVERBS = f"the man really {', really ' * 7}danced"


def parse_texts(texts: list[str], lexicon: Lexicon = LEXICON) -> list[ParsedText]:
    return [ParsedText(number, text, parse_clauses(text, lexicon)) for number, text in enumerate(texts, 1)]


def realize_records(sentences: list[ParsedText], lexicon: Lexicon, fmt: str) -> list[str]:
    """Return the records by way of the events, one by one."""
    records: list[str] = []
    for number, text, clauses in sentences:
        annotated = [realize(parse(text, lexicon)[0], lexicon, id=f"s{number}")]
        if fmt != "text" and len(parse(text, lexicon)) > 1:
            annotated = annotate_readings(clauses, lexicon, id=f"s{number}")
        records += map(RECORD_FORMATS[fmt].write, annotated)
    return records


@examples(25)
@given(numbered_events, st.integers(1, 5), st.sampled_from([*RECORD_FORMATS]))
def test_records_are_those_of_realized_events(events: list[tuple[int, Event]], size: int, fmt: str) -> None:
    """Also of structures that no template has, and of lines whose numbers have gaps."""
    texts = [(number, realize(event, LEXICON).text) for number, event in events]
    sentences = [ParsedText(number, text, parse_clauses(text, LEXICON)) for number, text in texts]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parsed_records, "PART_SIZE", size)
        records = [*format_parsed(sentences, LEXICON, fmt)]
    assert records == realize_records(sentences, LEXICON, fmt)


@examples(15)
@given(spaces(), st.integers(0, 2**32), st.sampled_from([*RECORD_FORMATS]))
def test_records_of_any_lexicon(space: Space, seed: int, fmt: str) -> None:
    events = space.events(space.sample(min(12, space.count()), seed=seed))
    sentences = parse_texts([realize(event, space.lexicon).text for event in events], space.lexicon)
    assert [*format_parsed(sentences, space.lexicon, fmt)] == realize_records(sentences, space.lexicon, fmt)


@pytest.mark.parametrize("fmt", RECORD_FORMATS)
def test_structures_beyond_templates_keep_their_place(fmt: str) -> None:
    sentences = parse_texts(["the man sleeps", NESTED, "the men dance", MANY_ADVERBS, NESTED, "the man slept"])
    assert [*format_parsed(sentences, LEXICON, fmt)] == realize_records(sentences, LEXICON, fmt)


def test_files_hold_records(tmp_path: Path) -> None:
    sentences = parse_texts(["the man sleeps", NESTED])
    for fmt in (*RECORD_FORMATS, PARQUET):
        write_parsed(sentences, LEXICON, tmp_path / fmt, fmt)
        assert [s.text for s in read_file(tmp_path / fmt, LEXICON, fmt)] == ["the man sleeps", NESTED]


@pytest.mark.parametrize("fmt", RECORD_FORMATS)
def test_typed_sentence_is_answered_at_once(fmt: str) -> None:
    read: list[str] = []

    def type_sentences() -> Iterator[ParsedText]:
        for sentence in parse_texts(["the man sleeps", "the men dance"]):
            read.append(sentence.text)
            yield sentence

    records = format_parsed(type_sentences(), LEXICON, fmt, is_interactive=True)
    assert "sleeps" in next(records)
    assert read == ["the man sleeps"]


@given(st.one_of(full_events(LEXICON), full_events(LEXICON, vocabulary="english")))
@examples(40)
def test_derivation_holds_event(event: Event) -> None:
    text = realize(event, LEXICON).text
    assert {build_event(clause) for clause in parse_clauses(text, LEXICON)} == {event}
    if not any(find_adverb_sites(event)):
        assert build_event(parse_once(text, LEXICON)) == event


def test_ambiguous_sentence_has_no_only_reading() -> None:
    double = replace(LEXICON.get("help", Kind.TRANSITIVE), lemma="aid")  # with the forms of help
    lexicon = Lexicon("double", (*LEXICON.entries, double), LEXICON.vocabularies)
    assert [event.predicate for event in parse("the man helped the men", lexicon)] == ["help", "aid"]
    with pytest.raises(SentprobeError, match="the sentence has 2 readings, not one"):
        parse_once("the man helped the men", lexicon)
    sentences = annotate_readings(parse_clauses("the man helped the men", lexicon), lexicon, id="s1")
    assert [(s.id, s.event.predicate) for s in sentences] == [("s1.1", "help"), ("s1.2", "aid")]
