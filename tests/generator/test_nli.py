"""Entailment, contradiction and neutral pairs: exact labels, and nothing that gives them away."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from model_checker import Model, truth
from thoroughness import examples

from sentprobe.errors import UsageError
from sentprobe.generator.contrasts import CONTRASTS
from sentprobe.generator.nli import GROUP, NEUTRAL_CONTRASTS, NliColumns, NliLabel, NliSpace
from sentprobe.generator.records import annotate_text
from sentprobe.generator.split import SplitSide
from sentprobe.lexicon import english, read_lexicon_text
from sentprobe.probes.audit import audit
from sentprobe.probes.dataset import Card, Items, ProbeDataset, Split

contrasts = st.sampled_from(NEUTRAL_CONTRASTS)
every_contrast = pytest.mark.parametrize("contrast", NEUTRAL_CONTRASTS)
ALL = ("all", "transitive-rc-both")


def bag(text: str) -> frozenset[tuple[str, int]]:
    return frozenset(Counter(text.split()).items())


def shared(premise: str, hypothesis: str) -> tuple[int, int, int]:
    """Return how many words both have, and how many each has alone."""
    one, other = Counter(premise.split()), Counter(hypothesis.split())
    return (one & other).total(), (one - other).total(), (other - one).total()


VIEWS: dict[str, Callable[[str, str], object]] = {
    "the hypothesis": lambda _, hypothesis: hypothesis,
    "the premise": lambda premise, _: premise,
    "word overlap": shared,
    "both bags of words": lambda premise, hypothesis: (bag(premise), bag(hypothesis)),
}


def at_most(views: Iterable[object], labels: Sequence[int]) -> float:
    """Return the accuracy of the best rule that there is on these pairs."""
    found: dict[object, Counter[int]] = {}
    for view, label in zip(views, labels, strict=True):
        found.setdefault(view, Counter())[label] += 1
    return sum(max(each.values()) for each in found.values()) / len(labels)


@given(contrasts, st.sampled_from(["compeval", "published", "english"]), st.integers(0, 10**6))
@examples(20)
def test_the_theorem(contrast: str, vocabulary: str, seed: int) -> None:
    pairs = NliSpace(english(), contrast, vocabulary=vocabulary).pairs(12, seed=seed)
    for name, view in VIEWS.items():
        seen = [*map(view, pairs.premise, pairs.hypothesis)]
        assert at_most(seen, pairs.label) == 0.5, name
    assert Counter(pairs.label) == {
        NliLabel.NEUTRAL: 48,
        NliLabel.ENTAILMENT: 24,
        NliLabel.CONTRADICTION: 24,
    }


def test_the_two_sentences_in_order_tell() -> None:
    pairs = NliSpace(english(), "role").pairs(12, seed=0)
    assert at_most(zip(pairs.premise, pairs.hypothesis, strict=True), pairs.label) == 1


def check_by_models(pairs: NliColumns, rng: Random, *, most: int) -> None:
    """Derive each label from the parse of its sentences, in models of one or two of each noun."""
    wanted = {
        NliLabel.ENTAILMENT: {(True, True)},
        NliLabel.NEUTRAL: {(True, True), (True, False)},
        NliLabel.CONTRADICTION: {(True, False)},
    }
    for premise, hypothesis, label in zip(
        pairs.premise, pairs.hypothesis, pairs.label, strict=True
    ):
        tokens = [annotate_text(text, english()).tokens for text in (premise, hypothesis)]
        seen: set[tuple[bool, bool]] = set()
        for number in range(most):
            model = Model(rng, people=None)
            if truth(tokens[0], model):
                seen.add((True, truth(tokens[1], model) is True))
                assert seen <= wanted[NliLabel(label)], (premise, hypothesis, label)
            if seen == wanted[NliLabel(label)] and number >= 20:
                break
        assert seen == wanted[NliLabel(label)], (premise, hypothesis, label)


@every_contrast
def test_an_independent_model_checker_says_the_same(contrast: str) -> None:
    check_by_models(NliSpace(english(), contrast).pairs(2, seed=0), Random(0), most=5000)


@pytest.mark.slow
@every_contrast
def test_an_independent_model_checker_says_the_same_of_all_structures(contrast: str) -> None:
    space = NliSpace(english(), contrast, templates=ALL)
    check_by_models(space.pairs(2 * len(space.strata), seed=1), Random(1), most=20000)


def test_why_modifiers_are_refused() -> None:
    """The first presupposes one lawyer, and then the second denies what the first says."""
    texts = ("the man that slept helped the lawyer", "the man did not help the lawyer that slept")
    tokens = [annotate_text(text, english()).tokens for text in texts]
    rng = Random(0)
    found = set()
    for _ in range(500):
        model = Model(rng, people=None)
        found.add(tuple(truth(each, model) for each in tokens))
    assert (True, True) not in found
    assert {(True, None), (None, True)} <= found


@pytest.mark.parametrize("contrast", [name for name in CONTRASTS if name not in NEUTRAL_CONTRASTS])
def test_a_contrast_without_such_pairs(contrast: str) -> None:
    with pytest.raises(UsageError, match=f"'{contrast}' has no pairs for --nli, but role and neg"):
        NliSpace(english(), contrast)


SMALL = (
    "[noun]\nactor = {}\njudge = {}\nchild = {}\n[transitive]\nadvise = {}\nadmire = {}\n"
    "[intransitive]\nsleep = {}\n"
)


@every_contrast
@pytest.mark.parametrize(
    "template",
    ["intransitive-rc", pytest.param("transitive-rc.agent.transitive", marks=pytest.mark.slow)],
)
def test_a_space_is_counted_exactly_and_no_pair_is_twice(contrast: str, template: str) -> None:
    lexicon = read_lexicon_text(SMALL, "my")
    space = NliSpace(lexicon, contrast, vocabulary="all", templates=[template])
    pairs = space.pairs(space.count(), seed=0)
    found = {*zip(pairs.premise, pairs.hypothesis, strict=True)}
    assert len(found) == len(pairs.label) == GROUP * space.count()
    with pytest.raises(UsageError, match=f"there are only {space.count()} different ones"):
        space.pairs(space.count() + 1, seed=0)


def test_the_same_seed_gives_the_same_pairs_and_another_others() -> None:
    space = NliSpace(english(), "role", side=SplitSide(share=0.5, held_out=True))
    assert space.pairs(5, seed=3) == space.pairs(5, seed=3) != space.pairs(5, seed=4)


def as_dataset(name: str, sentences: Sequence[str], labels: Sequence[int]) -> ProbeDataset:
    """Return a view of pairs as a dataset whose sentences are what is seen; a third is for test."""
    places: dict[str, int] = {}
    rows = [places.setdefault(text, len(places)) for text in sentences]
    cut = len(rows) // (3 * GROUP) * GROUP
    splits = {
        split: Items(rows[part], [()] * len(rows[part]), labels[part])  # type: ignore[arg-type]
        for split, part in ((Split.TEST, slice(cut)), (Split.TRAIN, slice(cut, None)))
    }
    names = tuple(label.name.lower() for label in NliLabel)
    return ProbeDataset(name, tuple(places), names, (), splits, Card(name))


@pytest.mark.slow
@every_contrast
def test_the_audit_finds_no_leak(contrast: str) -> None:
    """``probe audit`` finds what the hypothesis says, and how words overlap, at chance."""
    pairs = NliSpace(english(), contrast, vocabulary="english").pairs(300, seed=0)
    overlap = [
        " ".join(f"{name}{count}" for name, count in zip("abc", shared(*both), strict=True))
        for both in zip(pairs.premise, pairs.hypothesis, strict=True)
    ]
    for name, seen in (("hypothesis", pairs.hypothesis), ("overlap", overlap)):
        found = audit(as_dataset(name, seen, pairs.label))
        assert (found.chance, found.leaks) == (0.5, ()), found
