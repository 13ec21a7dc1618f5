"""Entailment pairs and training data: exact labels, no shortcut to them, and the promises of rows and files."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from random import Random

import pyarrow.parquet as pq
import pytest
from helpers.oracles.model_checker import Model, evaluate
from helpers.oracles.pairs_at_once import NliColumns, build_contrast_space, build_training_columns, sample_pairs
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.common.errors import UsageError
from sentprobe.generator.events.event import Fronting
from sentprobe.generator.events.meaning import Property, find_differences, has_same_meaning
from sentprobe.generator.pairs.contrasts import CONTRASTS
from sentprobe.generator.pairs.inference_pairs import (
    NEUTRAL_CONTRASTS,
    PAIRS_PER_GROUP,
    NliLabel,
    NliSpace,
    TrainingColumns,
    format_training_lines,
    write_training_data,
)
from sentprobe.generator.pairs.triplet_files import TripletFormat
from sentprobe.generator.pairs.triplets import SIDES, TripletSpace
from sentprobe.generator.sentences.parse import parse
from sentprobe.generator.sentences.sentence_records import annotate_text
from sentprobe.generator.spaces.templates import SplitSide
from sentprobe.lexicon import Kind, english, read_lexicon_text
from sentprobe.lexicon.words import PLACE, TIME
from sentprobe.probes.audits.cue_audit import audit
from sentprobe.probes.datasets.dataset import Card, Items, ProbeDataset, Split

contrasts = st.sampled_from(NEUTRAL_CONTRASTS)
every_contrast = pytest.mark.parametrize("contrast", NEUTRAL_CONTRASTS)
ALL = ("all", "transitive-rc-both")


def count_words(text: str) -> frozenset[tuple[str, int]]:
    return frozenset(Counter(text.split()).items())


def count_shared_words(premise: str, hypothesis: str) -> tuple[int, int, int]:
    """Count the words that both have, and those that only one has."""
    left, right = Counter(premise.split()), Counter(hypothesis.split())
    return (left & right).total(), (left - right).total(), (right - left).total()


VIEWS: dict[str, Callable[[str, str], object]] = {
    "the hypothesis": lambda _, hypothesis: hypothesis,
    "the premise": lambda premise, _: premise,
    "word overlap": count_shared_words,
    "both bags of words": lambda premise, hypothesis: (count_words(premise), count_words(hypothesis)),
}


def compute_best_accuracy(views: Iterable[object], labels: Sequence[int]) -> float:
    """Return the accuracy of the best rule on these pairs."""
    labels_by_view: dict[object, Counter[int]] = {}
    for view, label in zip(views, labels, strict=True):
        labels_by_view.setdefault(view, Counter())[label] += 1
    return sum(max(counts.values()) for counts in labels_by_view.values()) / len(labels)


@given(contrasts, st.sampled_from(["compeval", "published", "english"]), st.integers(0, 10**6))
@examples(20)
def test_bag_of_words_theorem_holds(contrast: str, vocabulary: str, seed: int) -> None:
    pairs = sample_pairs(NliSpace(english(), contrast, vocabulary=vocabulary), 12, seed=seed)
    views = {name: view for name, view in VIEWS.items() if contrast != "numeral" or name != "both bags of words"}
    for name, view in views.items():
        seen = [*map(view, pairs.premise, pairs.hypothesis)]
        assert compute_best_accuracy(seen, pairs.label) == 0.5, name
    assert Counter(pairs.label) == {NliLabel.NEUTRAL: 48, NliLabel.ENTAILMENT: 24, NliLabel.CONTRADICTION: 24}


def test_ordered_sentences_tell_label() -> None:
    pairs = sample_pairs(NliSpace(english(), "role"), 12, seed=0)
    assert compute_best_accuracy(zip(pairs.premise, pairs.hypothesis, strict=True), pairs.label) == 1


def check_with_models(pairs: NliColumns, rng: Random, *, most: int) -> None:
    """Derive each label from the parses of its sentences, in models of one or two of a noun."""
    expected = {
        NliLabel.ENTAILMENT: {(True, True)},
        NliLabel.NEUTRAL: {(True, True), (True, False)},
        NliLabel.CONTRADICTION: {(True, False)},
    }
    for premise, hypothesis, label in zip(pairs.premise, pairs.hypothesis, pairs.label, strict=True):
        tokens = [annotate_text(text, english()).tokens for text in (premise, hypothesis)]
        seen: set[tuple[bool, bool]] = set()
        for number in range(most):
            model = Model(rng, people=None)
            if evaluate(tokens[0], model):
                seen.add((True, evaluate(tokens[1], model) is True))
                assert seen <= expected[NliLabel(label)], (premise, hypothesis, label)
            if seen == expected[NliLabel(label)] and number >= 20:
                break
        assert seen == expected[NliLabel(label)], (premise, hypothesis, label)


@every_contrast
def test_model_checker_agrees(contrast: str) -> None:
    check_with_models(sample_pairs(NliSpace(english(), contrast), 2, seed=0), Random(0), most=5000)


@pytest.mark.slow
@every_contrast
def test_model_checker_agrees_on_all_structures(contrast: str) -> None:
    space = NliSpace(english(), contrast, templates=ALL)
    check_with_models(sample_pairs(space, 2 * len(space.strata), seed=1), Random(1), most=20000)


THREE = "students meet the professors"
MET = "the professors are met by"
EXPECTED = [
    (f"three {THREE}", f"{MET} two students", "ENTAILMENT"),
    (f"three {THREE}", f"{MET} eight students", "NEUTRAL"),
    (f"three {THREE}", f"{MET} no more than two students", "CONTRADICTION"),
    (f"three {THREE}", f"{MET} no more than eight students", "NEUTRAL"),
    (f"no more than three {THREE}", f"{MET} two students", "NEUTRAL"),
    (f"no more than three {THREE}", f"{MET} eight students", "CONTRADICTION"),
    (f"no more than three {THREE}", f"{MET} no more than two students", "NEUTRAL"),
    (f"no more than three {THREE}", f"{MET} no more than eight students", "ENTAILMENT"),
]


def test_labels_of_numerals() -> None:
    """Three doctors who helped are two doctors who helped, maybe nine, and not "no more than two"."""
    pairs = sample_pairs(NliSpace(english(), "numeral", templates=["transitive"]), 1, seed=0)
    rows = [*zip(pairs.premise, pairs.hypothesis, [NliLabel(label).name for label in pairs.label], strict=True)]
    assert rows == EXPECTED


def test_premises_have_times_and_places() -> None:
    """Fronted, where a place has one reading."""
    pairs = sample_pairs(NliSpace(english(), "adjunct"), 12, seed=0)
    events = [annotate_text(text, english()).event for text in pairs.premise]
    assert {event.fronting for event in events} == {Fronting.ADJUNCT}
    sorts = {english().get(str(event.adjunct), Kind.ADJUNCT).sort for event in events}
    assert sorts == {TIME, PLACE}


def test_modifiers_have_presuppositions() -> None:
    """The first sentence presupposes one lawyer; the second then denies it."""
    texts = ("the man that slept helped the lawyer", "the man did not help the lawyer that slept")
    tokens = [annotate_text(text, english()).tokens for text in texts]
    rng = Random(0)
    truth_values = set()
    for _ in range(500):
        model = Model(rng, people=None)
        truth_values.add(tuple(evaluate(sentence, model) for sentence in tokens))
    assert (True, True) not in truth_values
    assert {(True, None), (None, True)} <= truth_values


@pytest.mark.parametrize("contrast", [name for name in CONTRASTS if name not in NEUTRAL_CONTRASTS])
def test_contrast_without_neutral_pairs_is_refused(contrast: str) -> None:
    with pytest.raises(
        UsageError, match=f"'{contrast}' has no pairs for --nli; use role, negation, numeral or adjunct"
    ):
        NliSpace(english(), contrast)


SMALL = (
    "[noun]\nactor = {}\njudge = {}\nchild = {}\n[transitive]\nadvise = {}\nadmire = {}\n[intransitive]\nsleep = {}\n"
)


@every_contrast
@pytest.mark.parametrize(
    "template", ["intransitive-rc", pytest.param("transitive-rc.agent.transitive", marks=pytest.mark.slow)]
)
def test_space_is_counted_exactly(contrast: str, template: str) -> None:
    lexicon = read_lexicon_text(SMALL, "my")
    if contrast == "numeral":  # which multiplies the groups by nine
        lexicon, template = lexicon.replace_words("all", {Kind.NOUN: ["actor", "judge"]}), "transitive"
    space = NliSpace(lexicon, contrast, vocabulary="all", templates=[template])
    pairs = sample_pairs(space, space.count(), seed=0)
    distinct_pairs = {*zip(pairs.premise, pairs.hypothesis, strict=True)}
    assert len(distinct_pairs) == len(pairs.label) == PAIRS_PER_GROUP * space.count()
    with pytest.raises(UsageError, match=f"there are only {space.count()} different ones"):
        sample_pairs(space, space.count() + 1, seed=0)


def test_pairs_depend_on_their_seed_alone() -> None:
    space = NliSpace(english(), "role", side=SplitSide(share=0.5, held_out=True))
    assert sample_pairs(space, 5, seed=3) == sample_pairs(space, 5, seed=3) != sample_pairs(space, 5, seed=4)


def build_dataset(name: str, sentences: Sequence[str], labels: Sequence[int]) -> ProbeDataset:
    """Return one view of the pairs as a dataset of sentences; a third is for test."""
    places: dict[str, int] = {}
    rows = [places.setdefault(text, len(places)) for text in sentences]
    cut = len(rows) // (3 * PAIRS_PER_GROUP) * PAIRS_PER_GROUP
    splits = {
        split: Items(rows[part], [()] * len(rows[part]), labels[part])  # type: ignore[arg-type]
        for split, part in ((Split.TEST, slice(cut)), (Split.TRAIN, slice(cut, None)))
    }
    names = tuple(label.name.lower() for label in NliLabel)
    return ProbeDataset(name, tuple(places), names, (), splits, Card(name))


@pytest.mark.slow
@every_contrast
def test_audit_finds_no_leak(contrast: str) -> None:
    """``probe audit`` finds the hypothesis alone and word overlap at chance."""
    pairs = sample_pairs(NliSpace(english(), contrast, vocabulary="english"), 300, seed=0)
    overlap = [
        " ".join(f"{name}{count}" for name, count in zip("abc", count_shared_words(*both), strict=True))
        for both in zip(pairs.premise, pairs.hypothesis, strict=True)
    ]
    for name, seen in (("hypothesis", pairs.hypothesis), ("overlap", overlap)):
        report = audit(build_dataset(name, seen, pairs.label))
        assert (report.chance, report.leaks) == (0.5, ()), report


ROLE = TripletSpace(english(), "role", templates=["transitive"])
seeds = st.integers(0, 10**6)


@given(seeds, st.integers(1, 40))
@examples(20)
def test_half_of_negatives_are_of_either_kind(seed: int, count: int) -> None:
    drawn = ROLE.sample(count, seed=seed)
    columns = build_training_columns(drawn)
    assert [*columns] == ["anchor", "positive", "negative"]
    anchor, positive, negative, hard = (drawn.render_texts(side) for side in SIDES)
    assert (columns["anchor"], columns["positive"]) == (anchor, positive)
    kinds = [
        (text == negative_text, text == hard_text)
        for text, negative_text, hard_text in zip(columns["negative"], negative, hard, strict=True)
    ]
    assert {*kinds} <= {(True, False), (False, True)}
    assert sum(has_positive_form for has_positive_form, _ in kinds) in (count // 2, (count + 1) // 2)


@pytest.mark.parametrize("contrast", CONTRASTS)
def test_training_row_differs_in_contrast_alone(contrast: str) -> None:
    columns = build_training_columns(build_contrast_space(contrast).sample(4, seed=2))
    for row in zip(*columns.values(), strict=True):
        anchor, positive, negative = (parse(text, english())[0] for text in row)
        assert has_same_meaning(anchor, positive)
        assert find_differences(anchor, negative) == (Property(contrast),)


def test_training_rows_are_distinct() -> None:
    columns = build_training_columns(ROLE.sample(ROLE.count(), seed=0))
    assert Counter(zip(*columns.values(), strict=True)).most_common(1)[0][1] == 1


def test_training_files_say_same(tmp_path: Path) -> None:
    columns: TrainingColumns = {"premise": ['a "b"', "ü"], "label": [2, 0]}
    write_training_data([columns], tmp_path / "a.parquet", TripletFormat.PARQUET)
    write_training_data([columns], tmp_path / "a.jsonl", TripletFormat.JSONL)
    rows = [{"premise": 'a "b"', "label": 2}, {"premise": "ü", "label": 0}]
    assert pq.read_table(tmp_path / "a.parquet").to_pylist() == rows
    assert [json.loads(line) for line in format_training_lines([columns])] == rows
    assert (tmp_path / "a.jsonl").read_text("utf-8") == "".join(format_training_lines([columns]))
