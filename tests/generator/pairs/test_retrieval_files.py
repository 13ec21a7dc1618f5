"""Retrieval sets: the judgements follow from the events, and the texts realize the events."""

import json
from collections.abc import Callable
from dataclasses import replace
from itertools import product, starmap
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.generator.events import event as ev
from sentprobe.generator.events.meaning import has_same_meaning
from sentprobe.generator.events.notation import read_event, write_event
from sentprobe.generator.pairs.contrasts import CONTRASTS
from sentprobe.generator.pairs.retrieval_files import (
    ExclusionSpace,
    _find_applicable_contrasts,
    sample_distinct_meanings,
    write_retrieval,
)
from sentprobe.generator.pairs.triplets import TripletSpace
from sentprobe.generator.sentences.parse import parse
from sentprobe.generator.sentences.realize import realize
from sentprobe.generator.spaces.templates import SplitSide
from sentprobe.lexicon import Lexicon, english, german, read_lexicon_text

PARAPHRASES = (
    *((name, english, "everyday") for name in CONTRASTS if name != "numeral"),
    *((name, german, "compeval") for name in ("role", "polarity", "number", "verb")),
)
sides = st.none() | st.builds(SplitSide, share=st.just(0.3), held_out=st.booleans())


def write_set(count: int, *, seed: int, vocabulary: str, side: SplitSide | None = None) -> tuple[list[Any], ...]:
    """Return the queries, the documents and the judgements of a set."""
    with TemporaryDirectory() as folder:
        out = Path(folder) / "set"
        space = ExclusionSpace(english(), vocabulary=vocabulary, side=side)
        write_retrieval(sample_distinct_meanings([space], count, seed=seed), out)
        files = ("queries.jsonl", "corpus.jsonl", "qrels/test.jsonl")
        return tuple([json.loads(line) for line in (out / name).read_text("utf-8").splitlines()] for name in files)


def read_events(record: Any) -> list[ev.Event]:
    return [read_event(text) for text in record["metadata"]["events"]]


def answers(question: ev.Event, statement: ev.Event) -> bool:
    """Say whether a statement is what a question for its agent asks."""
    answered = replace(question, agent=statement.agent, mood=ev.Mood.STATEMENT)
    return has_same_meaning(answered, statement)


@given(st.integers(0, 10**6), st.integers(1, 30), st.sampled_from(("english", "compeval", "everyday")))
@examples(8)
def test_relevant_documents_follow_from_events(seed: int, count: int, vocabulary: str) -> None:
    """They say of one agent both that he did it to the first patient, and that he did not do it to the second.

    Documents of other queries answer neither part.
    """
    queries, documents, judgements = write_set(count, seed=seed, vocabulary=vocabulary)
    expected = set()
    for query, document in product(queries, documents):
        questions, (first, second) = read_events(query), read_events(document)
        assert first.agent == second.agent
        if any(all(map(answers, questions, pair)) for pair in ((first, second), (second, first))):
            expected.add((query["_id"], document["_id"]))
        if any(starmap(answers, product(questions, (first, second)))):
            assert document["_id"].rpartition("-")[0] == query["_id"]
    assert {(row["query-id"], row["corpus-id"]) for row in judgements} == expected
    assert len(expected) == len(queries) == count
    assert all(row["score"] == 1 for row in judgements)


@given(st.integers(0, 10**6), sides)
@examples(8)
def test_exclusion_texts_realize_their_events(seed: int, side: SplitSide | None) -> None:
    queries, documents, _ = write_set(6, seed=seed, vocabulary="english", side=side)
    lexicon = english() if side is None else side.restrict_lexicon(english(), "english")
    for query in queries:
        first, second = query["text"].split(" but ")
        questions = (first, f"{first.split(' ')[0]} {second}")
        assert [parse(text, lexicon)[0] for text in questions] == read_events(query)
        assert [event.polarity for event in read_events(query)] == [*ev.Polarity]
    for document in documents:
        sentences = document["text"].removesuffix(".").split(". ")
        assert [parse(text, lexicon)[0] for text in sentences] == read_events(document)


@given(st.integers(0, 10**6), st.sampled_from(PARAPHRASES))
@examples(8)
def test_paraphrase_texts_realize_their_events(seed: int, case: tuple[str, Callable[[], Lexicon], str]) -> None:
    """The events are in the notation, as :func:`write_event` has it."""
    contrast, load, vocabulary = case
    space = TripletSpace(load(), contrast, vocabulary=vocabulary)
    with TemporaryDirectory() as folder:
        write_retrieval(sample_distinct_meanings([space], 12, seed=seed), Path(folder) / "set")
        texts = [(Path(folder) / "set" / f"{name}.jsonl").read_text("utf-8") for name in ("queries", "corpus")]
    records = [json.loads(line) for text in texts for line in text.splitlines()]
    assert len(records) == 12 * 4
    for record in records:
        (event,) = read_events(record)
        assert [write_event(event)] == record["metadata"]["events"]
        assert realize(event, space.lexicon).text == record["text"]


def test_relevant_and_exchanged_share_words() -> None:
    _, documents, _ = write_set(50, seed=1, vocabulary="english")
    texts = {record["_id"]: sorted(record["text"].split()) for record in documents}
    for name in {name.rpartition("-")[0] for name in texts}:
        assert texts[f"{name}-positive"] == texts[f"{name}-exchanged"] != texts[f"{name}-both"]


def test_negation_stands_in_either_sentence() -> None:
    """Its place does not tell the relevant document."""
    _, documents, _ = write_set(40, seed=2, vocabulary="english")
    places = [[" not " in text for text in record["text"].split(". ")] for record in documents]
    relevant = [place for record, place in zip(documents, places, strict=True) if record["_id"].endswith("positive")]
    assert [True, False] in relevant
    assert [False, True] in relevant


def test_no_distractor_exchanges_who_met_whom() -> None:
    words = (
        "[noun]\nman = {}\nwoman = {}\n[transitive]\nhelp = {}\nmeet = FLAGS\nwatch = {}\n[intransitive]\nsleep = {}\n"
    )
    for flags in ("{}", '{ flags = ["symmetric"] }'):
        lexicon = read_lexicon_text(words.replace("FLAGS", flags), "my")
        triplets = TripletSpace(lexicon, "tense", vocabulary="all").sample(10, seed=0)
        names = {contrast.name for contrast in _find_applicable_contrasts(triplets)}
        assert ("role" in names) is (flags == "{}")
