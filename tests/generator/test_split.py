"""What is held out of training data is in none of it, and all that a test draws from."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from thoroughness import examples

from sentprobe.errors import UsageError
from sentprobe.generator.contrasts import CONTRASTS
from sentprobe.generator.event import Event, clauses
from sentprobe.generator.meaning import meaning_of
from sentprobe.generator.parse import parse
from sentprobe.generator.split import SplitSide, parse_side
from sentprobe.generator.templates import find_patterns, template_names
from sentprobe.generator.training import training_columns
from sentprobe.generator.triplets import SIDES, NoContrastError, TripletSpace
from sentprobe.lexicon import Kind, english, read_lexicon_text
from sentprobe.probes.compeval import TASKS, build
from sentprobe.probes.dataset import Size
from sentprobe.probes.geometry.material import Drawing, GeometryMaterial, background

shares = st.floats(0.01, 0.99)
nouns = st.sampled_from(english().vocabulary("english").words[Kind.NOUN])
EVERY = find_patterns(template_names())
LACKING = {
    ("modifier", "transitive-rc", False),
    ("modifier", "intransitive-rc.agent.transitive", True),
}
"""Sides that have no such structures: contrast, what is held out, and whether it is that side."""
CLOSED = ("transitive", "transitive-rc", "intransitive-rc.agent.transitive")


def sides(*values: str) -> tuple[SplitSide, SplitSide]:
    rest, held = (parse_side(values, held_out=each) for each in (False, True))
    assert rest is not None
    assert held is not None
    return rest, held


@given(shares, nouns)
def test_a_word_is_on_one_side(share: float, lemma: str) -> None:
    rest, held = (SplitSide(share=share, held_out=each) for each in (False, True))
    assert rest.has_word(lemma) is not held.has_word(lemma)


@given(shares, shares, nouns)
def test_what_a_smaller_share_holds_out_a_larger_one_does(
    one: float, other: float, lemma: str
) -> None:
    small, large = (SplitSide(share=each, held_out=True) for each in sorted((one, other)))
    assert large.has_word(lemma) or not small.has_word(lemma)


@pytest.mark.parametrize("share", [0.2, 0.5])
def test_a_share_is_about_that_share(share: float) -> None:
    lemmas = {word.lemma for word in english().entries if word.kind is not Kind.ADVERB}
    held = [*filter(SplitSide(share=share, held_out=True).has_word, lemmas)]
    assert abs(len(held) - share * len(lemmas)) < 3 * math.sqrt(len(lemmas) * share * (1 - share))


def test_a_word_is_on_the_same_side_in_any_lexicon() -> None:
    own = read_lexicon_text("[noun]\nman = {}\nlawyer = {}\n[transitive]\nhelp = {}\n", "my")
    rest, held = sides("0.3")
    assert held.lexicon(own, "all").vocabulary("all").words[Kind.NOUN] == ("man",)
    assert "man" in held.lexicon(english(), "english").vocabulary("english").words[Kind.NOUN]
    with pytest.raises(UsageError, match=r"--hold-out 0\.3: that leaves vocabulary 'all' no tr"):
        rest.lexicon(own, "all")


@pytest.mark.parametrize("name", CLOSED)
def test_a_structure_is_on_one_side(name: str) -> None:
    rest, held = sides(name)
    assert [*filter(held.has_structure, EVERY)] == [*find_patterns([name])]
    assert all(rest.has_structure(each) is not held.has_structure(each) for each in EVERY)


@given(st.floats(0, 1, exclude_min=True, exclude_max=True), st.booleans())
def test_a_share_is_written_with_all_digits(share: float, held_out: bool) -> None:
    side = SplitSide(share=share, held_out=held_out)
    assert parse_side(side.values, held_out=held_out) == side


def test_what_is_written_is_read_back() -> None:
    for side in sides("transitive", "0.25", "transitive-rc", "transitive"):
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
        (["transitve"], r"there is no template 'transitve' \(did you mean 'transitive'\?\)"),
        (["transitive-rc.agent"], r"have the structure transitive-rc\.patient\.transitive\.src;"),
        (["intransitive-rc.agent.transitive.src"], "hold all of intransitive-rc out"),
    ],
)
def test_what_cannot_be_held_out(values: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse_side(values, held_out=True)


@pytest.mark.parametrize(
    "name",
    [
        "transitive-rc",
        pytest.param("intransitive-rc.agent.transitive", marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("contrast", CONTRASTS)
def test_all_sentences_of_a_triplet_are_on_its_side(contrast: str, name: str) -> None:
    for side in sides(name, "0.4"):
        try:
            found = TripletSpace(english(), contrast, vocabulary="english", side=side)
        except NoContrastError:
            assert (contrast, name, side.held_out) in LACKING
            continue
        drawn = found.sample(len(found.strata), seed=1)
        structures = {structure_of(each) for kind in SIDES for each in drawn.events(kind)}
        wanted = {structure_of_names(each.name) for each in EVERY if side.has_structure(each)}
        assert structures <= wanted


def structure_of(event: Event) -> tuple[str, ...]:
    """Return the frame of a sentence, and of its relative clauses, by what the parser says."""
    main, *inner = (str(clause.frame) for clause, _ in clauses(event))
    return (main, *sorted(inner))


def structure_of_names(name: str) -> tuple[str, ...]:
    main, *rest = name.split(".")
    inner = [part for part in rest if part in ("transitive", "intransitive")]
    return (main.partition("-")[0], *sorted(inner))


def check_nothing_is_in_both(
    *values: str, contrasts: list[str], tasks: list[str], count: int
) -> None:
    """Hold texts of both sides against each other, by what the parser says of them alone."""
    rest, held = sides(*values)
    lexicon = english()
    trained: set[str] = set()
    for name in contrasts:
        space = TripletSpace(lexicon, name, vocabulary="english", side=rest)
        trained.update(*training_columns(space.sample(2 * count, seed=0)).values())
    drawing = Drawing(vocabulary="english", n=count, held_out=held.values)
    tested = {*background(lexicon, drawing)[: 4 * count]}
    for name in contrasts:
        space = TripletSpace(lexicon, name, vocabulary="english", side=held)
        tested.update(GeometryMaterial(space, drawing).sentences)
    for name in tasks:
        data = build(TASKS[name], lexicon, vocabulary="english", size=Size(48, 24), side=held)
        tested.update(data.sentences)
    assert trained.isdisjoint(tested)
    pairs, structures = zip(*(read(texts) for texts in (trained, tested)), strict=True)
    assert pairs[0].isdisjoint(pairs[1])
    if held.structures:
        assert structures[0].isdisjoint(structures[1])


def read(texts: set[str]) -> tuple[set[tuple[str, str]], set[tuple[str, ...]]]:
    """Return which nouns stand with which verbs in a sentence, and of what structures there are."""
    pairs, structures = set(), set()
    for text in texts:
        (event,) = parse(text, english())
        structures.add(structure_of(event))
        nouns, verbs = words_of(event)
        pairs |= {(noun, verb) for noun in nouns for verb in verbs}
    return pairs, structures


def words_of(event: Event) -> tuple[set[str], set[str]]:
    """Return the nouns and the verbs of a sentence."""
    meaning = meaning_of(event)
    return {*meaning.nouns}, {*meaning.clauses}


def test_nothing_that_is_trained_on_is_tested() -> None:
    values = ("0.4", "transitive-rc")
    check_nothing_is_in_both(*values, contrasts=["role", "noun"], tasks=["SemRole"], count=10)


@pytest.mark.slow
@pytest.mark.parametrize("values", [("0.3",), ("0.5", "transitive-rc"), ("0.2", *CLOSED[:1])])
def test_nothing_that_is_trained_on_is_tested_of_all(values: tuple[str, ...]) -> None:
    lacking = {"modifier": len(values) > 1, "negation": "transitive" in values}
    contrasts = [name for name in CONTRASTS if not lacking.get(name)]
    tasks = [name for name in TASKS if not lacking.get(name.lower())]
    check_nothing_is_in_both(*values, contrasts=contrasts, tasks=tasks, count=40)


@examples(20)
@given(shares)
def test_any_share_gives_no_word_to_both(share: float) -> None:
    found = []
    for each in (False, True):
        try:
            side = SplitSide(share=share, held_out=each)
            words = side.lexicon(english(), "published").vocabulary("published").words
        except UsageError:
            return
        found.append({lemma for kind in Kind if kind in words for lemma in words[kind]})
    shared = {*english().vocabulary("published").words[Kind.ADVERB]}
    assert found[0] & found[1] == shared
