"""Templates, their counts and names; held-out words and structures."""

import math
from itertools import permutations

import pytest
from helpers.oracles.pairs_at_once import build_events, build_training_columns, choose_contrast_vocabulary
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.common.errors import UsageError
from sentprobe.common.specs import Size
from sentprobe.generator.events.event import Event, Frame, iterate_clauses
from sentprobe.generator.events.meaning import compute_meaning
from sentprobe.generator.pairs.contrasts import CONTRASTS
from sentprobe.generator.pairs.triplets import SIDES, ImpossibleContrastError, TripletSpace
from sentprobe.generator.sentences.parse import parse
from sentprobe.generator.spaces.space import Space
from sentprobe.generator.spaces.templates import SplitSide, find_patterns, list_template_names, parse_side
from sentprobe.lexicon import Kind, english, read_lexicon_text
from sentprobe.probes.generated.assemble import build
from sentprobe.probes.generated.tasks import TASKS
from sentprobe.probes.similarity.triplet_sentences import SampledTriplets, TripletSampling, sample_background


def count_of(*templates: str) -> int:
    return Space(english(), vocabulary="compeval", templates=templates).count()


@pytest.mark.parametrize("template", [name for name in list_template_names(deep=True) if "ditrans" not in name])
def test_counts_of_sub_templates_add_up(template: str) -> None:
    deeper = [
        name
        for name in list_template_names(deep=True)
        if name.startswith(f"{template}.") and name.count(".") == template.count(".") + 1
    ]
    if deeper:
        assert count_of(template) == sum(count_of(name) for name in deeper)
        assert count_of(template) == count_of(*deeper) == count_of(template, *deeper)


def test_count_ignores_order_and_repetition() -> None:
    names = ("transitive-rc", "intransitive", "transitive")
    counts = {count_of(*order) for order in permutations(names)}
    assert counts == {sum(map(count_of, names))}
    assert count_of(*names, *names, "transitive-rc.agent") in counts


def test_all_leaves_out_two_clauses() -> None:
    four = ("intransitive", "intransitive-rc", "transitive", "transitive-rc")
    assert list_template_names()[:5] == (*four, "transitive-rc-both")
    assert find_patterns(["all"]) == find_patterns(four)
    assert all(len(pattern.clauses) <= 1 for pattern in find_patterns(["all"]))
    assert all(len(pattern.clauses) == 2 for pattern in find_patterns(["transitive-rc-both"]))
    assert count_of("all") == sum(map(count_of, four))


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("transitiv", "transitive"),
        ("transitive-rc.pateint", "transitive-rc.patient"),
        ("transitive-rc.agent.intransitive.orc", "transitive-rc.agent.intransitive.src"),
        ("transitive-r", "transitive-rc"),
        ("al", "all"),
    ],
)
def test_unknown_template_suggests_nearest(name: str, nearest: str) -> None:
    with pytest.raises(UsageError) as caught:
        find_patterns([name])
    assert str(caught.value) == f"there is no template {name!r} (did you mean {nearest!r}?); gen templates lists them"


@pytest.mark.parametrize("name", ["", ".", "transitive.", "all.agent", "xyz", "TRANSITIVE"])
def test_unknown_template_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="there is no template"):
        find_patterns([name])


def test_no_template_is_error() -> None:
    with pytest.raises(UsageError):
        Space(english(), templates=[])


@pytest.mark.parametrize("name", list_template_names(deep=True))
def test_every_template_is_found_under_its_name(name: str) -> None:
    for pattern in find_patterns([name]):
        assert pattern.name == name or pattern.name.startswith(f"{name}.")


shares = st.floats(0.01, 0.99)
nouns = st.sampled_from(english().vocabulary("english").words[Kind.NOUN])
EVERY = find_patterns(list_template_names())
LACKING = {
    ("modifier", "transitive-rc", False),
    ("modifier", "intransitive-rc.agent.transitive", True),
    ("recipient", "transitive-rc", True),
    ("recipient", "intransitive-rc.agent.transitive", True),
}
"""Sides that have no such structures: contrast, what is held out, and whether it is that side."""
CLOSED = ("transitive", "transitive-rc", "intransitive-rc.agent.transitive")


def parse_sides(*values: str) -> tuple[SplitSide, SplitSide]:
    training, held_out = (parse_side(values, held_out=is_held_out) for is_held_out in (False, True))
    assert training is not None
    assert held_out is not None
    return training, held_out


@given(shares, nouns)
def test_word_is_on_one_side(share: float, lemma: str) -> None:
    training, held = (SplitSide(share=share, held_out=is_held_out) for is_held_out in (False, True))
    assert training.has_word(lemma) is not held.has_word(lemma)


@given(shares, shares, nouns)
def test_larger_share_includes_smaller(first: float, second: float, lemma: str) -> None:
    small, large = (SplitSide(share=share, held_out=True) for share in sorted((first, second)))
    assert large.has_word(lemma) or not small.has_word(lemma)


@pytest.mark.parametrize("share", [0.2, 0.5])
def test_share_is_about_its_size(share: float) -> None:
    lemmas = {word.lemma for word in english().entries if word.kind is not Kind.ADVERB}
    held = [*filter(SplitSide(share=share, held_out=True).has_word, lemmas)]
    assert abs(len(held) - share * len(lemmas)) < 3 * math.sqrt(len(lemmas) * share * (1 - share))


def test_word_side_is_independent_of_lexicon() -> None:
    user_lexicon = read_lexicon_text("[noun]\nman = {}\nlawyer = {}\n[transitive]\nhelp = {}\n", "my")
    training, held = parse_sides("0.3")
    assert held.restrict_lexicon(user_lexicon, "all").vocabulary("all").words[Kind.NOUN] == ("man",)
    assert "man" in held.restrict_lexicon(english(), "english").vocabulary("english").words[Kind.NOUN]
    with pytest.raises(UsageError, match=r"--hold-out 0\.3: that leaves vocabulary 'all' no tr"):
        training.restrict_lexicon(user_lexicon, "all")


@pytest.mark.parametrize("name", CLOSED)
def test_structure_is_on_one_side(name: str) -> None:
    training, held = parse_sides(name)
    assert [*filter(held.has_structure, EVERY)] == [*find_patterns([name])]
    assert all(training.has_structure(pattern) is not held.has_structure(pattern) for pattern in EVERY)


@given(st.floats(0, 1, exclude_min=True, exclude_max=True), st.booleans())
def test_share_is_written_with_all_digits(share: float, held_out: bool) -> None:
    side = SplitSide(share=share, held_out=held_out)
    assert parse_side(side.values, held_out=held_out) == side


def test_split_side_comes_back() -> None:
    for side in parse_sides("transitive", "0.25", "transitive-rc", "transitive"):
        assert side.values == ("0.25", "transitive", "transitive-rc")
        assert parse_side(side.values, held_out=side.held_out) == side
    assert parse_side([], held_out=True) is None


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["0"], "--held-out 0: the share of the words that is held out is between 0 and 1"),
        (["1"], "--held-out 1: the share of the words"),
        (["-0.5"], "--held-out -0.5: the share of the words"),
        (["nan"], "--held-out nan: the share of the words"),
        (["0.2", "0.3"], "--held-out: one share of the words, not 0.2 and 0.3"),
        (["half"], "there is no template 'half'"),
        (["0.1_0"], "there is no template '0.1_0'"),
        (["transitve"], r"there is no template 'transitve' \(did you mean 'transitive'\?\)"),
        (["transitive-rc.agent"], r"have the structure transitive-rc\.patient\.transitive\.src;"),
        (["intransitive-rc.agent.transitive.src"], "hold all of intransitive-rc out"),
        (["dative-rc.agent"], r"have the structure dative-rc\.patient\.transitive\.src;"),
    ],
)
def test_unholdable_parts_are_refused(values: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse_side(values, held_out=True)


@pytest.mark.parametrize(
    "name", ["transitive-rc", pytest.param("intransitive-rc.agent.transitive", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("contrast", CONTRASTS)
def test_triplet_sentences_are_on_its_side(contrast: str, name: str) -> None:
    for side in parse_sides(name, "0.4"):
        try:
            vocabulary = choose_contrast_vocabulary(contrast, "english")
            triplet_space = TripletSpace(english(), contrast, vocabulary=vocabulary, side=side)
        except ImpossibleContrastError:
            assert (contrast, name, side.held_out) in LACKING
            continue
        drawn = triplet_space.sample(len(triplet_space.strata), seed=1)
        structures = {find_structure(event) for kind in SIDES for event in build_events(drawn, kind)}
        expected = {parse_structure(pattern.name) for pattern in EVERY if side.has_structure(pattern)}
        assert structures <= expected


def find_structure(event: Event) -> tuple[str, ...]:
    """Return the frame of a sentence, and of its relative clauses, by what the parser says."""
    main, *inner = (str(clause.frame) for clause, _ in iterate_clauses(event))
    return (main, *sorted(inner))


def parse_structure(name: str) -> tuple[str, ...]:
    main, *parts = name.split(".")
    inner = [part for part in parts if part in [*Frame]]
    return (main.partition("-")[0], *sorted(inner))


def check_sides_are_disjoint(*values: str, contrasts: list[str], tasks: list[str], count: int) -> None:
    """Check that training and test texts share no split word and no split structure."""
    training, held = parse_sides(*values)
    lexicon = english()
    trained: set[str] = set()
    for name in contrasts:
        space = TripletSpace(lexicon, name, vocabulary=choose_contrast_vocabulary(name, "english"), side=training)
        trained.update(*build_training_columns(space.sample(2 * count, seed=0)).values())
    drawing = TripletSampling(vocabulary="english", n=count, held_out=held.values)
    tested = {*sample_background(lexicon, drawing)[: 4 * count]}
    for name in contrasts:
        space = TripletSpace(lexicon, name, vocabulary=choose_contrast_vocabulary(name, "english"), side=held)
        tested.update(SampledTriplets(space, drawing).sentences)
    for name in tasks:
        data = build(TASKS[name], lexicon, vocabulary="english", size=Size(48, 24), side=held)
        tested.update(data.sentences)
    assert trained.isdisjoint(tested)
    pairs, structures = zip(*(parse_texts(texts) for texts in (trained, tested)), strict=True)
    assert pairs[0].isdisjoint(pairs[1])
    if held.structures:
        assert structures[0].isdisjoint(structures[1])


def parse_texts(texts: set[str]) -> tuple[set[tuple[str, str]], set[tuple[str, ...]]]:
    """Return which nouns stand with which verbs in a sentence, and of what structures there are."""
    pairs, structures = set(), set()
    for text in texts:
        (event,) = parse(text, english())
        structures.add(find_structure(event))
        nouns, verbs = find_words(event)
        pairs |= {(noun, verb) for noun in nouns for verb in verbs}
    return pairs, structures


def find_words(event: Event) -> tuple[set[str], set[str]]:
    """Return the nouns and the verbs of a sentence."""
    meaning = compute_meaning(event)
    return {*meaning.nouns}, {*meaning.clauses}


def test_training_and_test_are_disjoint() -> None:
    values = ("0.4", "transitive-rc")
    check_sides_are_disjoint(*values, contrasts=["role", "noun"], tasks=["SemRole"], count=10)


@pytest.mark.slow
@pytest.mark.parametrize("values", [("0.3",), ("0.5", "transitive-rc"), ("0.2", *CLOSED[:1])])
def test_training_and_test_are_disjoint_for_all(values: tuple[str, ...]) -> None:
    lacking = {"modifier": len(values) > 1, "negation": "transitive" in values, "recipient": len(values) > 1}
    lacking["name"] = values[0] == "0.2"  # which leaves too few names
    contrasts = [name for name in CONTRASTS if not lacking.get(name)]
    tasks = [name for name in TASKS if not lacking.get(name.lower())]
    check_sides_are_disjoint(*values, contrasts=contrasts, tasks=tasks, count=40)


@examples(20)
@given(shares)
def test_sides_share_no_word(share: float) -> None:
    words_of_sides = []
    for is_held_out in (False, True):
        try:
            side = SplitSide(share=share, held_out=is_held_out)
            words = side.restrict_lexicon(english(), "published").vocabulary("published").words
        except UsageError:
            return
        words_of_sides.append({lemma for kind in Kind if kind in words for lemma in words[kind]})
    shared = {*english().vocabulary("published").words[Kind.ADVERB]}
    assert words_of_sides[0] & words_of_sides[1] == shared
