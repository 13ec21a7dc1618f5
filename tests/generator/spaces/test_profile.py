"""Profiles: sentences that are sampled by weights of structures and features."""

import math
from collections import Counter
from pathlib import Path

import pytest
from helpers.oracles.space_by_loops import CASES, TINY, Case, list_nonempty_cases
from helpers.shared import SHARED, needs_shared
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.common.errors import UsageError
from sentprobe.generator.bulk.generate import generate
from sentprobe.generator.events.event import Contradiction, Number
from sentprobe.generator.sentences.parse import parse
from sentprobe.generator.spaces.constraints import Choices
from sentprobe.generator.spaces.profile import (
    FEATURES,
    RELATIVE,
    RELATIVES,
    STRUCTURE,
    FeatureWeights,
    Profile,
    count_features,
    load_profile,
    read_published,
)
from sentprobe.generator.spaces.space import Space
from sentprobe.lexicon import english

STRUCTURES = ("intransitive", "intransitive-rc", "transitive", "transitive-rc.agent", "transitive-rc.patient")
VALUES = {
    feature.name: tuple(value for value in feature.values if not value.startswith("perf")) for feature in FEATURES
} | {RELATIVE: tuple(RELATIVES.values()), STRUCTURE: STRUCTURES}


def list_weights(feature: str) -> st.SearchStrategy[dict[str, float]]:
    """Return positive weights of all values, or of all but some."""
    weights = st.sampled_from([0, 0.5, 1, 3])
    return st.fixed_dictionaries(dict.fromkeys(VALUES[feature], weights)).filter(lambda row: sum(row.values()) > 0)


cases = st.deferred(lambda: st.sampled_from(list_nonempty_cases()))
profiles = st.lists(st.sampled_from(sorted(VALUES)), max_size=4, unique=True).flatmap(
    lambda features: st.fixed_dictionaries({feature: list_weights(feature) for feature in features}).map(
        lambda weights: Profile("drawn", weights)
    )
)


def make_english(weights: FeatureWeights, *templates: str) -> Space:
    return Space(english(), templates=templates or ("all",), profile=Profile("ours", weights))


def count_sample(space: Space, count: int) -> dict[str, Counter[str]]:
    return count_features(space.decode(space.sample(count, seed=0)))


# ------------------------------------------------------------------ exact


@given(cases, profiles)
@examples(20)
def test_profile_keeps_events_of_positive_weight(case: Case, profile: Profile) -> None:
    """Strata are disjoint, numbered without gaps, and have all events whose values have a weight."""
    plain = case.make_space()

    def has_weight(index: int) -> bool:
        (drawn,) = plain.decode([index])
        counts = count_features([drawn])
        if STRUCTURE in profile.weights:
            structure = profile.find_structure(drawn.layout.pattern)
            counts[STRUCTURE] = Counter([structure or "none"])
        return all(profile.get_weight(f, v) for f in profile.weights for v in counts.get(f, ()))

    checked = range(0, plain.count(), max(1, plain.count() // 200))
    try:
        space = Space(TINY, vocabulary=case.vocabulary, templates=case.templates, choices=case.choices, profile=profile)
    except Contradiction as error:
        assert "a weight of 0" in str(error)
        assert not any(map(has_weight, checked))
        return
    assert [stratum.start for stratum in space.strata] == [0, *(stratum.end for stratum in space.strata[:-1])]
    assert space.strata[-1].end == space.count() <= plain.count()
    assert math.isclose(sum(stratum.share for stratum in space.strata), 1)
    for index in checked:
        found = space.find(plain[index])
        assert (found is not None) is has_weight(index)
        assert found is None or space[found] == plain[index]


@given(cases, profiles, st.integers(0, 99))
@examples(30)
def test_sample_depends_on_seed_alone(case: Case, profile: Profile, seed: int) -> None:
    try:
        space = Space(TINY, vocabulary=case.vocabulary, templates=case.templates, choices=case.choices, profile=profile)
        indices = space.sample(5, seed=seed, without=[0])
    except UsageError:  # no events, or a small stratum
        return
    assert len(set(indices.tolist())) == 5
    assert 0 not in indices
    assert indices.tolist() == space.sample(5, seed=seed, without=[0]).tolist()


@given(profiles, st.integers(0, 99))
@examples(12)
def test_sample_follows_weights(profile: Profile, seed: int) -> None:
    """Each share is within five standard errors; every value is possible in this space."""
    space = Space(english(), profile=profile)
    try:
        sample = [*space.decode(space.sample(1000, seed=seed))]
    except UsageError as error:
        assert "the profile asks for" in str(error)
        return
    counts = count_features(sample)
    structures = Counter(profile.find_structure(drawn.layout.pattern) or "" for drawn in sample)
    for feature, weights in profile.weights.items():
        row = structures if feature == STRUCTURE else counts.get(feature, Counter())
        total, possible = row.total(), sum(weights.values())
        for value, weight in weights.items():
            share = weight / possible
            assert abs(row[value] - share * total) <= 5 * math.sqrt(total * share * (1 - share)) + 1e-9


def test_without_weights_all_sentences_are_alike() -> None:
    """The numbers of sentences are the shares."""
    case = CASES[0]
    space = Space(TINY, vocabulary=case.vocabulary, templates=case.templates, profile=Profile("none", {}))
    plain = Space(TINY, vocabulary=case.vocabulary, templates=case.templates)
    assert space.count() == plain.count()
    for stratum in space.strata:
        assert math.isclose(stratum.share, (stratum.end - stratum.start) / plain.count())


# ------------------------------------------------------------------ by hand


def test_profile_shares_are_products() -> None:
    space = make_english(
        {STRUCTURE: {"transitive-rc": 3, "transitive": 1}, RELATIVE: {"object-stranded": 1, "subject-active": 4}}
    )
    shares = {str(stratum): stratum.share for stratum in space.strata}
    assert math.isclose(shares["structure transitive"], 0.25)
    stranded = shares["structure transitive-rc, relative object-stranded"]
    assert math.isclose(4 * stranded, shares["structure transitive-rc, relative subject-active"])


def test_impossible_value_leaves_weight_to_others() -> None:
    profile = Profile("half", {"number": {"sg": 1, "pl": 1}, "aspect": {"prog": 9, "simple": 1}})
    space = Space(english(), templates=["transitive"], choices=Choices(numbers=(Number.PLURAL,)), profile=profile)
    counts = count_sample(space, 300)
    assert counts["number"] == {"pl": 600}
    assert 240 <= counts["aspect"]["prog"] <= 290


def test_small_stratum_runs_out() -> None:
    profile = Profile("past", {"tense": {"past": 1, "pres": 1}})
    space = Case("two", ("transitive",)).make_space()
    weighted = Space(TINY, vocabulary="two", templates=["transitive"], profile=profile)
    with pytest.raises(UsageError, match=r"the profile asks for \d+ sentences with tense \w+, but there are only \d+;"):
        weighted.sample(space.count() - 1, seed=0)


def test_zero_weights_leave_nothing() -> None:
    with pytest.raises(
        Contradiction, match="the profile ours gives every possible sentence in the templates intransitive"
    ):
        make_english({STRUCTURE: {"transitive": 1}}, "intransitive")


def test_profile_of_space_beyond_64_bits() -> None:
    choices = Choices(adverbs=(2,))
    space = Space(
        english(), templates=["transitive-rc-both"], choices=choices, profile=Profile("a", {"voice": {"passive": 1}})
    )
    assert space.count() > 2**63
    assert count_sample(space, 50)["voice"] == {"passive": 50}


def test_templates_share_weight_of_their_structure() -> None:
    """Sub-templates with an intransitive clause have one form, those with a transitive clause two."""
    names = ["transitive", "transitive-rc.agent.intransitive.src", "transitive-rc.agent.transitive.src"]
    names += ["transitive-rc.agent.transitive.orc"]
    plain = Profile("plain", {})
    assert plain.weigh_templates(names) == dict.fromkeys(names, 0.25)
    relative = Profile("a", {RELATIVE: {"subject-active": 3, "object-active": 1}})
    assert [*relative.weigh_templates(names).values()] == [0.25, 0.25, 0.375, 0.125]
    structure = Profile("b", {STRUCTURE: {"transitive-rc.agent": 6}})
    assert [*structure.weigh_templates(names).values()] == [0, 2, 2, 2]


# ------------------------------------------------------------------ files


def test_profile_is_read_from_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text("[structure]\ntransitive = 1\n[voice]\npassive = 1\n[number]\nsg = 2\n", "utf-8")
    generate(tmp_path / "out.txt", n=5, profile=str(path))
    for line in (tmp_path / "out.txt").read_text("utf-8").splitlines():
        (event,) = parse(line, english())
        assert event.voice == "passive"
        assert " by the " in line


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[voise]\npassive = 1", "there is no feature 'voise' (did you mean 'voice'?)"),
        ("voice = 3", "voice must be a table of weights, not 3"),
        ("[voice]\nmiddle = 1", "voice has no value 'middle'; its values are active, passive"),
        (
            "[voice]\npassive = -1",
            "the weight of voice passive must be 0, or between 1/1,000,000 and 1,000,000, not -1",
        ),
        (
            "[voice]\npassive = inf",
            "the weight of voice passive must be 0, or between 1/1,000,000 and 1,000,000, not inf",
        ),
        ("[voice]\npassive = nan", "the weight of voice passive must be 0, or"),
        ("[voice]\npassive = true", "the weight of voice passive must be 0, or"),
        ("[voice]\npassive = 0", "no value of voice has a positive weight"),
        ("[voice]", "no value of voice has a positive weight"),
        ("[structure]\ngift = 1", "there is no template 'gift'"),
        (
            "[structure]\ntransitive-rc = 1\n'transitive-rc.agent' = 1",
            "its structure transitive-rc.agent overlaps with another",
        ),
        ("[voice", "a profile is a TOML file in UTF-8: "),
        ("[voice]\npassive = '\ud800'", "a profile is a TOML file in UTF-8: "),
    ],
)
def test_wrong_profile_is_refused(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.raises(UsageError) as caught:
        load_profile(str(path))
    assert message in str(caught.value)
    assert str(path) in str(caught.value)


def test_missing_profile_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        UsageError, match=r"there is no profile 'publishd' .*'published'.*; it is uniform, published or a"
    ):
        load_profile("publishd")
    with pytest.raises(UsageError, match="cannot read the profile: Is a directory"):
        load_profile(str(tmp_path))
    with pytest.raises(UsageError, match="there is no profile"):
        load_profile("a\0b")


# ------------------------------------------------------------------ published


@needs_shared
def test_published_datasets_have_profile_shares() -> None:
    paths = (SHARED / "compeval" / "published").glob("*/*.txt")
    texts = {line.split("\t")[2] for path in paths for line in path.read_text("utf-8").splitlines()}
    space = Space(english(), vocabulary="compeval")
    events = [event for text in sorted(texts) for event in parse(text, english())]
    counts = count_features(space.decode([space.index(event) for event in events]))
    assert counts[STRUCTURE].total() == 3095
    for feature, shares in read_published()[1].items():
        measured = {value: 100 * count / counts[feature].total() for value, count in counts[feature].items()}
        assert measured == pytest.approx(shares, abs=0.06)


def test_sentences_of_published_profile() -> None:
    """The stranded by-phrases of a uniform sample are a quarter of the transitive relative clauses."""
    published = count_features(
        (space := Space(english(), profile=load_profile("published"))).decode(space.sample(2000, seed=0))
    )
    uniform = count_features((space := Space(english())).decode(space.sample(2000, seed=0)))
    assert published[RELATIVE]["object-stranded"] / published[RELATIVE].total() < 0.035
    assert 0.2 < uniform[RELATIVE]["object-stranded"] / uniform[RELATIVE].total() < 0.3
    assert set(published[STRUCTURE]) == set(read_published()[1][STRUCTURE])
    assert {feature for feature in (load_profile("published") or Profile("", {})).weights} == {
        STRUCTURE,
        RELATIVE,
        "rc-aspect",
        "rc-polarity",
    }
