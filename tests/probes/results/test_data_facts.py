"""Test sentences that training has: counted, and named by audit, results and checks."""

import tracemalloc
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.in_process import probe
from helpers.oracles.compeval_checks import dataset
from helpers.runs.reviewed_runs import SOUND, change_encoder, find_by
from helpers.strategies.probe_strategies import datasets, make_learnable_dataset, to_items
from hypothesis import given
from hypothesis import strategies as st
from nltk.stem.snowball import EnglishStemmer

from sentprobe.lexicon import english
from sentprobe.probes.audits.audit_report import audit_from_json, format_verdict_lines, to_json
from sentprobe.probes.audits.cue_audit import audit
from sentprobe.probes.datasets.dataset import Card, ProbeDataset, Split
from sentprobe.probes.datasets.formats import write_dataset
from sentprobe.probes.datasets.known_task import Cue
from sentprobe.probes.results.data_facts import (
    FUNCTION_STEMS,
    DataFacts,
    SplitOverlap,
    collect_data_facts,
    count_by_length,
    count_reworded,
    find_lemma,
    find_overlap,
)
from sentprobe.probes.results.result import Condition, Result, Results, make_score
from sentprobe.probes.review.claim_finding import Severity


def copy_into_training(data: ProbeDataset, share: float) -> ProbeDataset:
    """Return a dataset whose training items begin with a share of its test items."""
    train, test = data.splits[Split.TRAIN], data.splits[Split.TEST]
    copied = test.select(slice(0, round(share * len(test))))
    entries = [
        (row, probes, target)
        for items in (copied, train)
        for row, probes, target in zip(items.rows.tolist(), items.probes.tolist(), items.targets.tolist(), strict=True)
    ]
    return replace(data, splits={**data.splits, Split.TRAIN: to_items(entries)})


TRAINING = ("the man slept", "the doctors call the lawyer")


@pytest.mark.parametrize(
    ("test_sentence", "repeated", "inflected"),
    [
        ("the man slept", 1, 0),
        ("The men sleep .", 0, 1),
        ("the doctor called the lawyers", 0, 1),
        ("the lawyer called the doctor", 0, 0),
        ("the man danced", 0, 0),
    ],
)
def test_overlap_counts_repeated_and_inflected_sentences(test_sentence: str, repeated: int, inflected: int) -> None:
    sentences = tuple(dict.fromkeys((*TRAINING, test_sentence)))
    row = sentences.index(test_sentence)
    splits = {Split.TRAIN: to_items([(0, [], 0), (1, [], 1)]), Split.TEST: to_items([(row, [], 0)])}
    data = ProbeDataset("toy", sentences, ("FALSE", "TRUE"), (), splits, Card("toy"))
    assert find_overlap(data) == SplitOverlap(1, repeated, inflected)


@pytest.mark.parametrize(
    ("token", "lemma"),
    [("slept", "sleep"), ("Women", "woman"), ("servers", "server"), ("restarted", "restart"), (",", "")],
)
def test_lemmas_come_from_lexicon_or_stemmer(token: str, lemma: str) -> None:
    assert find_lemma(token, english()) == lemma


@given(datasets())
def test_training_items_as_test_are_repeated(data: ProbeDataset) -> None:
    test = data.splits[Split.TEST]
    overlap = find_overlap(data)
    training_rows = {*data.splits[Split.TRAIN].rows.tolist()}
    assert overlap.repeated == sum(row in training_rows for row in test.rows.tolist())
    both = replace(data, splits={Split.TRAIN: data.splits[Split.TRAIN], Split.TEST: data.splits[Split.TRAIN]})
    size = len(data.splits[Split.TRAIN])
    assert find_overlap(both) == SplitOverlap(size, size, 0)


@given(st.integers(0, 50), st.integers(0, 50), st.integers(0, 40))
def test_counts_must_fit(repeated: int, inflected: int, items: int) -> None:
    if repeated + inflected > items or not items:
        with pytest.raises(ValueError, match="do not fit"):
            SplitOverlap(items, repeated, inflected)
    else:
        overlap = SplitOverlap(items, repeated, inflected)
        assert overlap.is_leaky == (repeated / items > 0.01)
        assert overlap.has_near_copies >= overlap.is_leaky


@pytest.mark.parametrize("name", ["Content1Probe", "Order", "SemRole", "Negation"])
def test_our_own_tasks_repeat_no_sentence(name: str) -> None:
    overlap = find_overlap(dataset(name, "compeval"))
    assert overlap.repeated == 0
    assert not overlap.has_near_copies


def test_audit_calls_repeated_sentences_a_leak() -> None:
    data = copy_into_training(make_learnable_dataset(), 0.1)
    result = audit(data, cues=[Cue.LENGTH], expect=[Cue.LENGTH])
    assert not result.leaks
    assert result.is_leaky
    assert format_verdict_lines(result)[0] == (
        "toy: LEAK: the sentences of 10.6% of the test items are training sentences."
    )
    assert audit_from_json(to_json(result)) == result


def test_command_fails_where_sentences_are_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    data = copy_into_training(make_learnable_dataset(size=200), 0.1)
    write_dataset(data, tmp_path / "toy")
    arguments = ("audit", tmp_path / "toy", "--strict", "--expect", "length")
    exit_code, out, err = probe(*arguments, monkeypatch=monkeypatch, capsys=capsys)
    assert exit_code == 1
    assert "are training sentences" in out
    assert "leaks in 1 of 1 datasets: toy" in err


def test_results_keep_the_overlap() -> None:
    data = copy_into_training(make_learnable_dataset(), 0.1)
    facts = collect_data_facts(data)
    assert facts.overlap == find_overlap(data)
    assert facts.overlap.is_leaky
    assert DataFacts(**facts.to_json()) == facts


@pytest.mark.parametrize(
    ("repeated", "inflected", "severity"), [(100, 0, Severity.SEVERE), (0, 50, Severity.WARNING), (5, 4, None)]
)
def test_check_names_the_task(repeated: int, inflected: int, severity: Severity | None) -> None:
    def set_overlap(result: Result) -> Result:
        assert result.data is not None
        return replace(result, data=replace(result.data, repeated=repeated, inflected=inflected))

    findings = find_by("repeated", change_encoder(set_overlap, encoder="poor", results=SOUND))
    assert [finding.severity for finding in findings] == ([] if severity is None else [severity])
    assert all(finding.task == "Order" for finding in findings)


def test_function_words_have_their_snowball_stems() -> None:
    stemmer = EnglishStemmer()
    assert {word: stemmer.stem(word) for word in FUNCTION_STEMS} == FUNCTION_STEMS


LONG = ("the old man slept in the garden", "two young women danced on the stage", "a dog barked at night here")


@pytest.mark.parametrize(
    ("test_sentence", "label", "reworded"),
    [
        ("the old man slept in the kitchen", 0, 1),
        ("The old man sang in the garden .", 0, 1),
        ("the old man slept in the garden", 0, 0),
        ("the old man slept in the kitchen", 1, 0),
        ("the old man sang in the kitchen", 0, 0),
        ("the old man slept in garden", 0, 0),
    ],
)
def test_near_copy_must_tell_the_answer(test_sentence: str, label: int, reworded: int) -> None:
    data = make_dataset((*LONG, test_sentence), label)
    assert count_reworded(data) == reworded


WORDS = st.lists(st.sampled_from(["a", "b", "A", "."]), min_size=1, max_size=7).map(" ".join)


@given(WORDS, WORDS, st.integers(0, 1))
def test_near_copies_differ_in_one_word(training_sentence: str, test_sentence: str, label: int) -> None:
    long, short = (
        [word for word in sentence.lower().split() if word != "."] for sentence in (training_sentence, test_sentence)
    )
    gaps = [[words[:place] + words[place + 1 :] for place in range(len(words))] for words in (long, short)]
    agrees = len(long) == len(short) >= 4 and any(one == two for one, two in zip(*gaps, strict=True))
    data = make_dataset((training_sentence, "x", "y", test_sentence), label)
    assert count_reworded(data) == (agrees and label == 0 and training_sentence != test_sentence)


def test_a_long_sentence_takes_little_memory() -> None:
    """Once without each of its words, it would have 25 million words."""
    data = make_dataset(("w " * 4999 + "w", *LONG[1:], "w " * 4999 + "v"), 0)
    tracemalloc.start()
    assert count_reworded(data) == 1
    assert tracemalloc.get_traced_memory()[1] < 20_000_000
    tracemalloc.stop()


def make_dataset(sentences: tuple[str, ...], label: int) -> ProbeDataset:
    """Return a dataset whose last sentence is its only test item; training labels are 0, 1 and 1."""
    distinct = tuple(dict.fromkeys(sentences))
    splits = {
        Split.TRAIN: to_items([(0, [], 0), (1, [], 1), (2, [], 1)]),
        Split.TEST: to_items([(distinct.index(sentences[-1]), [], label)]),
    }
    return ProbeDataset("toy", distinct, ("FALSE", "TRUE"), (), splits, Card("toy"))


@given(st.integers(0, 50))
def test_near_copies_exceed_a_fifth(reworded: int) -> None:
    assert SplitOverlap(100, 0, 0, reworded).has_near_copies == (reworded > 20)


@pytest.mark.parametrize(("label", "right"), [(0, 0), (1, 1)])
def test_length_answers_by_nearest_length(label: int, right: int) -> None:
    assert count_by_length(make_dataset((*LONG, "all dogs barked at night"), label)) == right


def test_check_names_near_copies() -> None:
    def set_reworded(result: Result) -> Result:
        assert result.data is not None
        return replace(result, data=replace(result.data, reworded=950))

    (finding,) = find_by("repeated", change_encoder(set_reworded, encoder="poor"))
    assert finding.severity is Severity.WARNING
    assert finding.figures[-1] == "95.0% are training items but for one word of the sentence"


@pytest.mark.parametrize(("by_length", "severity"), [(520, None), (600, Severity.WARNING), (900, Severity.SEVERE)])
def test_check_names_leak_by_length(by_length: int, severity: Severity | None) -> None:
    def set_length(result: Result) -> Result:
        assert result.data is not None
        return replace(result, data=replace(result.data, by_length=by_length))

    findings = find_by("length", change_encoder(set_length, encoder="poor"))
    assert [finding.severity for finding in findings] == [severity] * (severity is not None)
    assert all(finding.encoder == ("poor" if by_length == 900 else "") for finding in findings)


def test_check_names_gaps_in_seeds() -> None:
    assert not find_by("seeds", SOUND)
    without_second = Results(tuple(result for result in SOUND.records if result.seed != 10))
    (gap,) = find_by("seeds", without_second)
    assert (gap.severity, gap.figures) == (Severity.WARNING, ("draws with seeds 0, 20",))
    (late,) = find_by("seeds", Results(tuple(result for result in SOUND.records if result.seed == 20)))
    assert late.severity is Severity.NOTE
    best = [replace(score, seed=3) for score in SOUND.records[0].scores[Condition.PROBE].seeds[:1]]
    scores = {Condition.PROBE: make_score(best, SOUND.records[0].units)}
    (chosen,) = find_by("seeds", Results((replace(SOUND.records[0], scores=scores),)))
    assert chosen.figures == ("good on Order, seed 0: probes 3",)
