"""The audit: exact bounds, classifiers, verdicts; on planted cues, on real tasks and on natural text."""

import json
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from random import Random

import numpy as np
import pytest
from helpers.in_process import Command
from helpers.oracles.compeval_checks import dataset
from helpers.shared import SHARED, needs_shared
from helpers.strategies.probe_strategies import datasets, make_learnable_dataset, to_items
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.common.errors import UsageError
from sentprobe.common.processes import count_cores
from sentprobe.common.specs import TaskGroup
from sentprobe.common.tables import WRITERS, TableFormat, format_tables
from sentprobe.probes.audits.audit_report import audit_from_json, build_audit_tables, format_verdict_lines, to_json
from sentprobe.probes.audits.cue_audit import (
    KEYS,
    Audit,
    Verdict,
    audit,
    audit_all,
    compute_bound,
    count_processes,
    list_audited_places,
)
from sentprobe.probes.audits.cue_classifiers import (
    Classifier,
    ModelScore,
    Trial,
    TrialItems,
    sample_units,
    score_answers,
    try_classifiers,
)
from sentprobe.probes.datasets.dataset import Card, Items, ProbeDataset, Split
from sentprobe.probes.datasets.formats import read_dataset, read_datasets, write_dataset
from sentprobe.probes.datasets.known_task import Cue
from sentprobe.probes.encoders.baselines import FIRST_SECOND_LAST, compute_place_bound
from sentprobe.probes.natural.datasets import TASKS
from sentprobe.probes.results.data_facts import SplitOverlap
from sentprobe.probes.runs.suites import explain_expected_cue, explain_inverted_cue, find_preset_name
from sentprobe.probes.statistics import Interval, wilson


@cache
def audit_task(name: str) -> Audit:
    return audit(dataset(name, "compeval"))


def get_accuracy(result: Audit, cue: Cue) -> float:
    finding = result.find(cue)
    assert finding is not None
    return finding.score.accuracy


def get_verdict(result: Audit, cue: Cue) -> Verdict:
    finding = result.find(cue)
    assert finding is not None
    return finding.verdict


def make_skewed_dataset(share: float, *, size: int = 500) -> ProbeDataset:
    """Labels are balanced overall; for each probe word, one label has that share of the items."""
    majority, minority = round(size * share / 2), round(size * (1 - share) / 2)
    counts = {(0, 1): majority, (0, 0): minority, (1, 0): majority, (1, 1): minority}
    generator = np.random.default_rng(0)
    texts = [" ".join(generator.choice(list("abcdefgh"), 6)) for _ in range(6 * size)]
    rows = iter(range(len(texts := list(dict.fromkeys(texts)))))
    splits = {
        split: to_items(
            [(next(rows), [probe], label) for (probe, label), count in counts.items() for _ in range(count * times)]
        )
        for split, times in ((Split.TRAIN, 2), (Split.TEST, 1))
    }
    return ProbeDataset(
        name="planted",
        sentences=tuple(texts),
        labels=("FALSE", "TRUE"),
        probe_words=("call", "help"),
        splits=splits,
        card=Card("planted"),
    )


@given(datasets())
def test_bound_is_that_of_best_function(data: ProbeDataset) -> None:
    for cue, key in KEYS.items():
        items = data.splits[Split.TRAIN]
        cue_values = [
            key(tuple(data.sentences[row].split()), tuple(probes))
            for row, probes in zip(items.rows, items.probes.tolist(), strict=True)
        ]
        groups = list(dict.fromkeys(cue_values))
        functions = product(range(len(data.labels)), repeat=len(groups))
        right = (
            sum(answers[groups.index(value)] == target for value, target in zip(cue_values, items.targets, strict=True))
            for answers in functions
        )
        exact_bound = compute_bound(data, Split.TRAIN, key)
        assert exact_bound.best == max(right), cue
        assert (exact_bound.total, exact_bound.groups) == (len(items), len(groups))


@given(datasets())
def test_more_knowledge_raises_the_bound(data: ProbeDataset) -> None:
    for split, items in data.splits.items():
        shares = [compute_bound(data, split, KEYS[cue]).share for cue in (Cue.PROBE, Cue.LENGTH, Cue.BAG)]
        assert shares == sorted(shares)
        assert shares[0] >= np.bincount(items.targets).max() / len(items)


@pytest.mark.parametrize("name", ["Order", "SemRole", "Negation"])
def test_mirror_pairs_bound_bag_to_half(name: str) -> None:
    for split in (Split.TRAIN, Split.TEST):
        exact_bound = compute_bound(dataset(name, "compeval"), split, KEYS[Cue.BAG])
        assert 2 * exact_bound.best == exact_bound.total
    result = audit_task(name) if name == "Order" else audit(dataset(name, "compeval"), cues=[Cue.BAG])
    assert get_accuracy(result, Cue.BAG) == 0.5
    assert not result.leaks


@pytest.mark.parametrize("name", ["Order", "Content1Probe"])
def test_our_tasks_leak_nothing(name: str) -> None:
    result = audit_task(name)
    assert not result.leaks
    assert get_accuracy(result, Cue.PROBE) == 0.5
    assert result.bounds[Cue.PROBE][Split.TEST].share == 0.5
    assert result.chance == result.majority.accuracy == 0.5
    assert result.structures == {"parsed": len(dataset(name, "compeval").sentences), "skeleton": 0}


def test_cue_of_the_task_is_expected() -> None:
    words = audit_task("Content1Probe")
    assert get_accuracy(words, Cue.BAG) > 0.95
    assert get_verdict(words, Cue.BAG) is Verdict.EXPECTED
    assert any("the task is about which words there are" in line for line in format_verdict_lines(words))
    order = audit_task("Order")
    assert get_accuracy(order, Cue.POSITION) == 1
    assert get_verdict(order, Cue.POSITION) is Verdict.EXPECTED


def test_fixed_positions_have_exact_bound() -> None:
    data, result = dataset("Order", "compeval"), audit_task("Order")
    places = list_audited_places(data)
    assert {*FIRST_SECOND_LAST} <= {*places}
    for split, bound in result.bounds[Cue.PLACES].items():
        assert bound.share == compute_place_bound(data, split, places)
    bound_in_test = result.bounds[Cue.PLACES][Split.TEST].share
    assert get_accuracy(result, Cue.PLACES) <= bound_in_test < 0.8
    assert get_verdict(result, Cue.PLACES) is Verdict.CHANCE
    assert Cue.PLACES not in audit_task("Content1Probe").bounds


def test_telling_word_at_place_is_leak() -> None:
    data = make_skewed_dataset(0.5)
    texts = list(data.sentences)
    for items in data.splits.values():
        for row, target in zip(items.rows.tolist(), items.targets.tolist(), strict=True):
            words = texts[row].split()
            texts[row] = " ".join([*words[:1], f"{words[1]}{target}", *words[2:], f"{words[1]}{1 - target}", "end"])
    leaky = replace(data, sentences=tuple(texts))
    result = audit(leaky, cues=[Cue.PLACES, Cue.LENGTH])
    assert get_accuracy(result, Cue.PLACES) > 0.95
    assert [finding.cue for finding in result.leaks] == [Cue.PLACES]


def test_mirror_pair_counts_once() -> None:
    finding = audit_task("Order").find(Cue.BAG)
    assert finding is not None
    units = audit_task("Order").units
    assert finding.score.interval == wilson(units / 2, units)


def test_telling_probe_word_is_leak() -> None:
    result = audit(make_skewed_dataset(0.6), cues=[Cue.PROBE, Cue.LENGTH, Cue.TEMPLATE])
    finding = result.find(Cue.PROBE)
    assert finding is not None
    assert finding.score.accuracy == pytest.approx(0.6)
    assert finding.verdict is Verdict.LEAK
    assert result.bounds[Cue.PROBE][Split.TEST].share == pytest.approx(0.6)
    assert get_verdict(result, Cue.TEMPLATE) is Verdict.CHANCE
    assert format_verdict_lines(result)[0].startswith("planted: LEAK: probe only gives 60.0%")


def test_reversed_cue_is_below_chance() -> None:
    data = make_skewed_dataset(0.7, size=200)
    test = data.splits[Split.TEST]
    reversed_data = replace(data, splits={**data.splits, Split.TEST: Items(test.rows, test.probes, 1 - test.targets)})
    result = audit(reversed_data, cues=[Cue.PROBE])
    assert get_verdict(result, Cue.PROBE) is Verdict.BELOW
    assert not result.leaks
    assert any("training and test disagree" in line for line in format_verdict_lines(result))


def test_skewed_labels_allow_below_chance() -> None:
    generator = np.random.default_rng(0)
    texts = tuple(f"{' '.join(generator.choice(list('abcdefgh'), 6))} x{i}" for i in range(1200))
    targets = generator.choice(5, size=1200, p=[0.4, 0.15, 0.15, 0.15, 0.15]).tolist()
    items: list[tuple[int, list[int], int]] = [(row, [], t) for row, t in enumerate(targets)]
    data = ProbeDataset(
        name="skewed",
        sentences=texts,
        labels=tuple("abcde"),
        probe_words=(),
        splits={Split.TRAIN: to_items(items[:300]), Split.TEST: to_items(items[300:])},
        card=Card("skewed"),
    )
    result = audit(data, cues=[Cue.NGRAMS])
    finding = result.find(Cue.NGRAMS)
    assert finding is not None
    assert finding.score.strict.high < result.chance
    assert finding.verdict is Verdict.CHANCE


def make_items(features: list[dict[str, float]], targets: list[int], units: list[int]) -> TrialItems:
    return TrialItems(features, np.array(targets), np.array(units))


def make_exclusive_or_items(size: int, *, seed: int) -> TrialItems:
    """The label is whether just one of two features is there: no linear model can tell."""
    generator = np.random.default_rng(seed)
    pairs = generator.integers(0, 2, (size, 2))
    features = [{"a": float(a), "b": float(b)} for a, b in pairs]
    return TrialItems(features, pairs.sum(axis=1) % 2, np.arange(size))


def test_classifier_is_chosen_on_training_items() -> None:
    train = make_exclusive_or_items(300, seed=0)
    trial = try_classifiers(train, make_exclusive_or_items(200, seed=1), validation=None, seed=0, strict=0.99)
    assert trial.chosen is Classifier.BOOSTING
    assert trial.score.accuracy == 1
    assert trial.scores[Classifier.LINEAR].accuracy < 0.8


@given(st.lists(st.integers(0, 1), min_size=40, max_size=40))
@examples(5)
def test_choice_ignores_test_labels(labels: list[int]) -> None:
    train, test = make_exclusive_or_items(80, seed=0), make_exclusive_or_items(40, seed=1)
    relabelled = replace(test, targets=np.array(labels))
    first, second = (
        try_classifiers(train, test_items, validation=None, seed=0, strict=0.99) for test_items in (test, relabelled)
    )
    assert first.chosen is second.chosen


def test_validation_split_decides_the_choice() -> None:
    train = make_exclusive_or_items(300, seed=0)
    validation = make_exclusive_or_items(100, seed=2)
    reversed_validation = replace(validation, targets=1 - validation.targets)
    chosen = [
        try_classifiers(
            train, make_exclusive_or_items(50, seed=1), validation=validation_items, seed=0, strict=0.99
        ).chosen
        for validation_items in (validation, reversed_validation)
    ]
    assert chosen == [Classifier.BOOSTING, Classifier.LINEAR]


def try_on(train: TrialItems, test: TrialItems) -> Trial:
    return try_classifiers(train, test, validation=None, seed=0, strict=0.99)


def test_few_or_many_labels_are_allowed() -> None:
    """Training items of one label, too few units to hold any out, and more labels than boosting takes."""
    one_label = make_items([{"a": 1.0}] * 4, [1] * 4, [0, 1, 2, 3])
    assert try_on(one_label, make_items([{"b": 1.0}] * 2, [0, 1], [0, 1])).score.accuracy == 0.5
    few_units = make_items([{"a": 1.0}, {"b": 1.0}, {"a": 1.0}], [0, 1, 0], [0, 1, 2])
    trial = try_on(few_units, few_units)
    assert (trial.chosen, [*trial.scores]) == (Classifier.LINEAR, [*Classifier])
    labels = list(range(30)) * 4
    many_labels = make_items([{f"word {label}": 1.0} for label in labels], labels, list(range(120)))
    trial = try_on(many_labels, many_labels)
    assert ([*trial.scores], trial.score.accuracy) == ([Classifier.LINEAR], 1)


def test_mirror_pairs_predict_fitted_result() -> None:
    generator = np.random.default_rng(0)
    pairs = generator.integers(0, 5, 60).tolist()
    features = [{f"look {look}": 1.0} for look in pairs for _ in range(2)]
    mirrored = replace(make_items(features, [0, 1] * 60, [n // 2 for n in range(120)]), mirrored=True)
    assert mirrored.unpredictable
    assert not replace(mirrored, mirrored=False).unpredictable
    assert not replace(mirrored, features=[*features[:-1], {"another": 1.0}]).unpredictable
    predicted, fitted = (
        try_classifiers(train, mirrored, validation=validation, seed=0, strict=0.99)
        for train, validation in ((mirrored, None), (mirrored, mirrored))
    )
    assert predicted == fitted
    assert predicted.score.accuracy == 0.5


@given(st.lists(st.integers(0, 9), min_size=1, max_size=60), st.integers(1, 60), st.integers(0, 9))
def test_sample_has_whole_units(units: list[int], limit: int, seed: int) -> None:
    items = make_items([{}] * len(units), list(range(len(units))), units)
    sampled = sample_units(items, limit=limit, seed=seed)
    assert len(sampled.targets) <= max(limit, 0) or len(units) <= limit
    for unit in set(sampled.units.tolist()):
        assert (sampled.units == unit).sum() == units.count(unit)
    assert np.array_equal(sample_units(items, limit=limit, seed=seed).targets, sampled.targets)


def test_interval_of_single_items_is_wilsons() -> None:
    items = make_items([{}] * 4, [0, 0, 1, 1], [0, 1, 2, 3])
    result = score_answers(np.array([0, 1, 1, 1]), items, strict=0.99)
    assert (result.correct, result.total, result.accuracy) == (3, 4, 0.75)
    assert result.interval == wilson(3, 4)
    assert result.strict == wilson(3, 4, confidence=0.99)


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_audit_is_equal_in_any_processes(jobs: int) -> None:
    data = [make_learnable_dataset(size=60), make_skewed_dataset(0.6, size=60)]
    cues = (Cue.BAG, Cue.POSITION)
    audits = [audit(data_, cues=cues, seed=4) for data_ in data]
    assert audit_all(data, cues=cues, seed=4, jobs=jobs) == audits


def test_number_of_processes_follows_work() -> None:
    data = make_learnable_dataset(size=60)
    assert count_processes([data]) == 1
    assert count_processes([]) == 1
    assert count_processes([data] * 100_000) == count_cores()


def test_agreeing_answers_are_counted() -> None:
    counted = replace(make_learnable_dataset(size=60), name="SubjNum")
    tests = len(counted.splits[Split.TEST])
    counted = replace(counted, card=Card("SubjNum", counts={"test agreeing": tests // 4, "test tied": tests // 2}))
    result = audit(counted, cues=(Cue.LENGTH,))
    assert result.agreeing == (tests // 4 + tests // 2 / 2) / tests
    assert (
        f"redundancy: in {100 * result.agreeing:.1f}% of the test items the answer is also the "
        "most frequent number of its nouns in the sentence (75.9% in the published data)"
        in " ".join(str(result).split())
    )
    assert audit_from_json(to_json(result)) == result
    without_counts = audit(replace(counted, card=Card("SubjNum")), cues=(Cue.LENGTH,))
    assert without_counts.agreeing is None
    assert "redundancy" not in str(without_counts)


def test_audit_round_trips_through_json() -> None:
    for result, has_probe_words in (
        (audit_task("Order"), True),
        (audit(make_dataset("mine", predictive=False), cues=[Cue.LENGTH]), False),
    ):
        value = to_json(result)
        assert (value["format"], value["leaks"]) == ("sentprobe-audit 1", [])
        assert value["probe_words"] is has_probe_words
        assert audit_from_json(value) == result


def test_audit_refuses_bad_options() -> None:
    with pytest.raises(UsageError, match="no cue 'bag-of-word' \\(did you mean 'bag-of-words'"):
        audit(make_skewed_dataset(0.5, size=40), expect=["bag-of-word"])  # type: ignore[list-item]
    with pytest.raises(UsageError, match="jobs must be positive"):
        audit_all([make_learnable_dataset(size=20)], jobs=0)


def test_report_states_bounds_in_each_format() -> None:
    audits = [audit_task("Order"), audit_task("Content1Probe")]
    text, markdown = (format_tables([*build_audit_tables(audits)], s) for s in (TableFormat.TEXT, TableFormat.MARKDOWN))
    for report in (text, markdown):
        assert "bound, bag of words and probe: train exactly 50.0%" in report
        assert "Order: no leak found" in report
        assert "probe only: a classifier sees the probe words." in report
    assert "| majority | 50.0 | " in markdown
    assert markdown.count("\n| bag of words and probe | ") == 2


def test_nearly_full_bound_is_not_rounded() -> None:
    entries = [(row, [0], row % 2) for row in range(4000)]
    conflicting = [*entries, (0, [0], 1)]
    data = ProbeDataset(
        name="toy",
        sentences=tuple(f"w{row} x" for row in range(4000)),
        labels=("FALSE", "TRUE"),
        probe_words=("w0",),
        splits={Split.TRAIN: to_items(conflicting), Split.TEST: to_items(entries[:20])},
        card=Card("toy"),
    )
    score_of = ModelScore(10, 20, Interval(0.3, 0.7), Interval(0.2, 0.8))
    result = Audit(
        task="a_toy|[x]",
        fingerprint="0",
        seed=0,
        chance=0.5,
        overlap=SplitOverlap(20, 0, 0),
        majority=score_of,
        items={Split.TRAIN: 4001, Split.TEST: 20},
        units=20,
        findings=(),
        bounds={Cue.BAG: {split: compute_bound(data, split, KEYS[Cue.BAG]) for split in data.splits}},
        structures={"parsed": 0, "skeleton": 4000},
    )
    text = format_tables([*build_audit_tables([result])], TableFormat.MARKDOWN)
    assert "train under 100% (4000 groups); test 100% (excludes nothing)" in text
    assert text.startswith("**a\\_toy\\|\\[x] (4001 train, 20 test items; chance 50.0%)**\n\n| cue |")


@needs_shared
@pytest.mark.slow  # four cues of thousands of items, with boosting
def test_published_datasets() -> None:
    cues = (Cue.PROBE, Cue.BAG, Cue.POSITION, Cue.TEMPLATE)
    order, sr = audit_all(read_datasets(SHARED / "compeval" / "published"), cues=cues, jobs=2)
    assert (order.task, sr.task) == ("order", "sr")
    # Words and probe words tell more of the order than they should: a leak that ours has not.
    assert get_verdict(order, Cue.BAG) is Verdict.LEAK
    assert 0.55 < get_accuracy(order, Cue.BAG) < 0.60
    assert get_accuracy(order, Cue.POSITION) == 1
    assert not sr.leaks
    assert 0.84 < get_accuracy(sr, Cue.POSITION) < 0.91
    for result in (order, sr):
        assert 0.46 < get_accuracy(result, Cue.PROBE) < 0.54
        assert result.bounds[Cue.PROBE][Split.TEST].share > 0.54 - 1e-9
        # Each test sentence is there once with each label.
        assert get_accuracy(result, Cue.TEMPLATE) == 0.5
        assert result.structures["skeleton"] == 0


PLAIN_CUES = (Cue.LENGTH, Cue.BAG, Cue.NGRAMS, Cue.TEMPLATE)
"""The cues of a dataset without probe words."""

BALANCED_CUES = {
    "SentLen": (),
    "WC": (),
    "TreeDepth": (Cue.LENGTH,),
    "TopConst": (),
    "BShift": (Cue.LENGTH, Cue.BAG),
    "Tense": (),
    "SubjNum": (),
    "ObjNum": (),
    "SOMO": (Cue.LENGTH, Cue.TEMPLATE),
    "CoordInv": (Cue.LENGTH,),
}
"""The cues that the definition of a task rules out."""

FILES = (
    "sentence_length",
    "word_content",
    "tree_depth",
    "top_constituents",
    "bigram_shift",
    "past_present",
    "subj_number",
    "obj_number",
    "odd_man_out",
    "coordination_inversion",
)


@pytest.mark.parametrize("name", BALANCED_CUES)
def test_natural_tasks_expect_their_cues(name: str) -> None:
    assert tuple(cue for cue in PLAIN_CUES if not explain_expected_cue(name, cue)) == BALANCED_CUES[name]


def test_natural_tasks_have_file_names() -> None:
    assert all(task.may_answer for task in TASKS.values())
    for task, file in zip(BALANCED_CUES, FILES, strict=True):
        for name in (file, file.replace("_", ""), file.upper()):
            assert all(explain_expected_cue(name, cue) == explain_expected_cue(task, cue) for cue in Cue)
            assert all(explain_inverted_cue(name, cue) == explain_inverted_cue(task, cue) for cue in Cue)
        assert find_preset_name(file) == find_preset_name(task) == "conneau"


def test_usual_order_is_expected() -> None:
    assert explain_expected_cue("AdiOrder", Cue.PROBE)
    assert not explain_expected_cue("AdiOrder-permuted", Cue.PROBE)
    assert not explain_expected_cue("AdiOrder-random", Cue.BAG)
    assert not explain_expected_cue("AdiOrder", Cue.SENTENCE)
    other_names = (task.name for task in TASKS.values() if task.suite is not TaskGroup.CONNEAU)
    assert not any(explain_expected_cue(name, Cue.PROBE) for name in other_names if not name.startswith("AdiOrder"))


def make_dataset(name: str, *, predictive: bool, reversed_in_test: bool = False) -> ProbeDataset:
    """Sentences without probe words; a word tells the label, or in test the other one."""
    rng = Random(0)
    texts: list[str] = []
    splits = {}
    for split, size in ((Split.TRAIN, 300), (Split.TEST, 200)):
        rows: list[tuple[int, list[int], int]] = []
        for place in range(size):
            label = place % 2
            sign = label ^ (reversed_in_test and split is Split.TEST) if predictive else rng.randrange(2)
            words = [f"w{rng.randrange(40)}" for _ in range(6)]
            texts.append(" ".join([*words, f"x{len(texts)}", ("red", "blue")[sign]]))
            rows.append((len(texts) - 1, [], label))
        splits[split] = to_items(rows)
    card = Card(name)
    return ProbeDataset(name=name, sentences=tuple(texts), labels=("O", "C"), probe_words=(), splits=splits, card=card)


@pytest.mark.parametrize(
    ("name", "expected_verdict"),
    [("SOMO", Verdict.EXPECTED), ("odd_man_out", Verdict.EXPECTED), ("BShift", Verdict.LEAK), ("mine", Verdict.LEAK)],
)
def test_telling_word_is_judged_by_task(name: str, expected_verdict: Verdict) -> None:
    result = audit(make_dataset(name, predictive=True), cues=[Cue.BAG])
    assert get_verdict(result, Cue.BAG) is expected_verdict
    assert bool(result.leaks) == (expected_verdict is Verdict.LEAK)


def test_reversed_cue_states_its_reason() -> None:
    for name, reason in (("SOMO", "no replacement of training"), ("BShift", "training and test dis")):
        result = audit(make_dataset(name, predictive=True, reversed_in_test=True), cues=[Cue.BAG])
        assert get_verdict(result, Cue.BAG) is Verdict.BELOW
        assert reason in explain_inverted_cue(name, Cue.BAG)
        assert any(f"below chance: bag of words gives 0.0% ({reason}" in x for x in format_verdict_lines(result))


def test_report_omits_absent_probe_words() -> None:
    result = audit(make_dataset("SOMO", predictive=True), cues=PLAIN_CUES)
    tables = [*build_audit_tables([result])]
    for text in (*(format_tables(tables, style) for style in WRITERS), json.dumps(to_json(result))):
        assert "probe word" not in text
        assert "and probe" not in text
    text = format_tables(tables, TableFormat.MARKDOWN)
    assert "- length: a classifier sees the number of tokens.\n" in text
    assert "| bag of words | 100.0 |" in text
    assert "SOMO: no leak found" in text


def test_report_explains_both_kinds() -> None:
    both = [
        audit(data, cues=[Cue.BAG]) for data in (make_dataset("mine", predictive=True), make_learnable_dataset(size=60))
    ]
    text = format_tables([*build_audit_tables(both)], TableFormat.MARKDOWN)
    assert "- bag of words: a classifier sees how often each word occurs.\n" in text
    assert "- bag of words and probe: a classifier sees how often each word occurs, whether" in text


def test_written_audit_keeps_baselines(tmp_path: Path, command: Command) -> None:
    data = make_dataset("SOMO", predictive=True)
    baselines = {"baselines": {"majority": 0.5}}
    write_dataset(replace(data, card=replace(data.card, audit=baselines)), tmp_path / "SOMO")
    code, out, err = command(*("audit", tmp_path / "SOMO", "--write", "--strict", "--jobs", 1))
    assert code == 0, err
    assert "expected: bag of words gives 100.0% (the new word fits" in out
    stored = read_dataset(tmp_path / "SOMO").card.audit
    assert stored["baselines"] == baselines["baselines"]
    assert audit_from_json(stored).task == "SOMO"
