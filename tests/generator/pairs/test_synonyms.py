"""No negative differs from its positive only by a synonym."""

import tomllib
from collections.abc import Iterator
from functools import cache
from itertools import combinations
from pathlib import Path

import pytest
from helpers.oracles.pairs_at_once import build_events
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st

import sentprobe.lexicon
from sentprobe.common.errors import UsageError
from sentprobe.generator.events.event import Event, iterate_clauses, iterate_participants
from sentprobe.generator.pairs.retrieval_files import render_distractors
from sentprobe.generator.pairs.triplets import SIDES, TripletSet, TripletSide, TripletSpace
from sentprobe.lexicon import Lexicon, english, read_lexicon_text

CONTRASTS = ("noun", "verb", "adverb")
SYNONYMS = tomllib.loads(Path(sentprobe.lexicon.__file__).with_name("english.toml").read_text("utf-8"))["synonyms"]
NOUNS = ("judge", "actor", "child", "king")
VERBS = ("advise", "help", "call")
TEMPLATES = ("transitive", "transitive-rc.agent.transitive.src", "intransitive-rc.agent.transitive.orc")


@cache
def get_space(contrast: str, vocabulary: str) -> TripletSpace:
    return TripletSpace(english(), contrast, vocabulary=vocabulary)


def collect_words(event: Event) -> set[str]:
    """Return the content words of an event; its words differ from each other."""
    clauses = [clause for clause, _ in iterate_clauses(event)]
    nouns = {p.noun for clause in clauses for _, p in iterate_participants(clause) if p.noun}
    return {*nouns, *(c.predicate for c in clauses if c.predicate), *(a for c in clauses for a in c.adverbs or ())}


def find_exchanges(triplets: TripletSet) -> Iterator[frozenset[str]]:
    """Yield the two words in which a positive and its negative differ."""
    columns = [build_events(triplets, side) for side in (TripletSide.POSITIVE, TripletSide.NEGATIVE)]
    for positive, negative in zip(*columns, strict=True):
        exchange = collect_words(positive) ^ collect_words(negative)
        assert len(exchange) == 2
        yield frozenset(exchange)


def list_pairs(sets: list[list[str]]) -> set[frozenset[str]]:
    return {frozenset(pair) for synonyms in sets for pair in combinations(synonyms, 2)}


@given(st.sampled_from(CONTRASTS), st.sampled_from(["compeval", "published", "english"]), st.integers(0, 10**6))
@examples(40)
def test_negatives_are_no_synonyms(contrast: str, vocabulary: str, seed: int) -> None:
    triplets = get_space(contrast, vocabulary).sample(60, seed=seed)
    synonyms = set().union(*(list_pairs(sets) for sets in SYNONYMS.values()))
    assert synonyms.isdisjoint(find_exchanges(triplets))


@pytest.mark.parametrize(
    "pair", [("attorney", "prosecutor"), ("captivate", "fascinate"), ("doctor", "physician"), ("fully", "totally")]
)
def test_built_in_lexicon_lists_near_synonyms(pair: tuple[str, str]) -> None:
    assert any(frozenset(pair) in list_pairs(sets) for sets in SYNONYMS.values())


def build_lexicon(nouns: list[list[str]], verbs: list[list[str]]) -> Lexicon:
    lines = ["[noun]", *(f"{word} = {{}}" for word in NOUNS), "[transitive]", *(f"{word} = {{}}" for word in VERBS)]
    lines += ["[intransitive]", "sleep = {}", "[synonyms]", f"noun = {nouns}", f"transitive = {verbs}"]
    return read_lexicon_text("\n".join(lines), "my")


def sample_sets(words: tuple[str, ...]) -> st.SearchStrategy[list[list[str]]]:
    return st.lists(st.lists(st.sampled_from(words), min_size=2, unique=True), max_size=2)


@given(sample_sets(NOUNS), sample_sets(VERBS), st.sampled_from(CONTRASTS[:2]), st.sampled_from(TEMPLATES))
@examples(60)
def test_small_vocabularies_are_counted_exactly(
    nouns: list[list[str]], verbs: list[list[str]], contrast: str, template: str
) -> None:
    """All triplets can be drawn; none differs by a synonym; words that may lack a replacement are in no anchor."""
    try:
        space = TripletSpace(build_lexicon(nouns, verbs), contrast, vocabulary="all", templates=[template])
    except UsageError as error:
        assert "has too few words" in str(error)
        assert nouns if contrast == "noun" else verbs
        return
    count = min(space.count(), 1500)
    triplets = space.sample(count, seed=1)
    keys = [*zip(*(triplets.render_texts(side) for side in SIDES[:2]), triplets.list_strata(), strict=True)]
    assert len({(anchor, positive, stratum.place) for anchor, positive, stratum in keys}) == count
    pairs = list_pairs(nouns if contrast == "noun" else verbs)
    assert pairs.isdisjoint(find_exchanges(triplets))
    assert len(render_distractors(triplets, 2)) == 2


def test_irreplaceable_words_are_left_out() -> None:
    """Verbs: `advise` and `help` are replaced by `call` only, `call` by both."""
    space = TripletSpace(build_lexicon([], [["advise", "help"]]), "verb", vocabulary="all", templates=["transitive"])
    assert set(find_exchanges(space.sample(space.count(), seed=0))) == {
        frozenset({"advise", "call"}),
        frozenset({"help", "call"}),
    }
    # One verb: nothing is left out. 4 * 3 nouns, 3 verbs, and 2 voices, tenses, aspects, polarities, numbers of each.
    assert space.count() == 4 * 3 * 3 * 2**6


def test_contrast_without_replacements_is_refused() -> None:
    with pytest.raises(UsageError, match="vocabulary 'all' has too few words"):
        TripletSpace(build_lexicon([], [list(VERBS)]), "verb", vocabulary="all", templates=["transitive"])
