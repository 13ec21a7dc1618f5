"""A study: its sample, its questions, and its key."""

import re
from collections import Counter
from dataclasses import replace

import pytest
from helpers.strategies.probe_strategies import datasets, make_learnable_dataset
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.common.errors import ResultsError, UsageError
from sentprobe.probes.annotation.study import Study, draw_study, format_study, parse_study
from sentprobe.probes.datasets.dataset import Card, ProbeDataset, Split
from sentprobe.probes.datasets.records import PROBES
from sentprobe.probes.runs.suites import list_known_tasks

QUESTION = "about all probe words"


def draw(data: ProbeDataset, *, n: int, seed: int = 0, question: str | None = QUESTION) -> Study:
    if question == QUESTION:  # only of the words that the dataset has
        question = ", ".join(["Is it so", *(f"is there {{{name}}}" for name in PROBES[: data.slots])]) + "?"
    return draw_study(data, n=n, seed=seed, question=question, command="probe annotate")


@given(datasets(), st.data(), st.integers(0, 3))
def test_sample_is_of_test_items_and_controls_of_training_items(
    data: ProbeDataset, drawing: st.DataObject, seed: int
) -> None:
    test = data.splits[Split.TEST]
    n = drawing.draw(st.integers(1, len(test)))
    study = draw(data, n=n, seed=seed)
    assert len(study.test_items) == n
    for item in study.items:
        items = data.splits[Split.TRAIN if item.is_control else Split.TEST]
        words = [data.probe_words[word] for word in items.probes[item.index]]
        assert item.sentence == data.sentences[items.rows[item.index]]
        assert item.label == data.labels[items.targets[item.index]]
        assert [f"is there {word}" in item.question.lower() for word in words] == [True] * len(words)
    assert len({(item.is_control, item.index) for item in study.items}) == len(study.items)
    assert not {item.sentence for item in study.controls} & {item.sentence for item in study.test_items}
    units = data.units(Split.TEST)
    assert [item.unit for item in study.test_items] == [units[item.index] for item in study.test_items]
    counts = Counter(item.unit for item in study.test_items)
    sizes = Counter(units.tolist())
    most = max(counts.values())
    assert all(counts[unit] >= min(size, most - 1) for unit, size in sizes.items())


@given(datasets(), st.integers(0, 3))
def test_key_is_read_as_written(data: ProbeDataset, seed: int) -> None:
    study = draw(data, n=1, seed=seed)
    assert parse_study(format_study(study), source="key.json") == study
    assert format_study(draw(data, n=1, seed=seed)) == format_study(study)


def test_names_tell_studies_apart_and_nothing_of_items() -> None:
    data = make_learnable_dataset()
    study = draw(data, n=50)
    assert [item.name for item in study.items] == [f"{study.prefix}.{number}" for number in range(1, 61)]
    others = [draw(data, n=50, seed=1), draw(data, n=51), draw(replace(data, name="other"), n=50)]
    assert len({study.prefix, *(other.prefix for other in others)}) == 4
    assert [item.is_control for item in study.items] != sorted(item.is_control for item in study.items)


def test_ten_controls_are_balanced() -> None:
    study = draw(make_learnable_dataset(), n=20)
    assert Counter(item.label for item in study.controls) == {"FALSE": 5, "TRUE": 5}


@pytest.mark.parametrize("task", list_known_tasks(), ids=lambda task: task.name)
def test_known_tasks_are_asked_in_words(task: object) -> None:
    """No letter of the short question remains, and both probe words are quoted."""
    name = str(getattr(task, "name", ""))
    crossed = getattr(task, "crossed", (0,) * int(getattr(task, "slots", 0)))
    slots = 2 if getattr(task, "has_noun", False) else int(getattr(task, "slots", bool(crossed)))
    data = make_learnable_dataset()
    splits = {split: replace(items, probes=items.probes.repeat(slots, axis=1)) for split, items in data.splits.items()}
    words = data.probe_words if slots else ()
    study = draw(replace(data, name=name, card=Card(name), splits=splits, probe_words=words), n=5, question=None)
    for item in study.items:
        assert not re.search(r"\b[nsvw]\b|[{}]", item.question), item.question
        assert re.match(r"[A-Z“].*[?)]$", item.question), item.question
        assert len(re.findall("“w[0-9]”", item.question)) >= slots


def test_labels_have_meanings() -> None:
    data = make_learnable_dataset()
    study = draw(replace(data, card=Card("BShift"), labels=("O", "I"), name="BShift"), n=5)
    assert [study.describe_label(label) for label in study.labels] == ["O (no)", "I (yes)"]
    assert draw(replace(data, labels=("a", "b")), n=5).describe_label("a") == "a"


@pytest.mark.parametrize(
    ("n", "question", "message"),
    [
        (0, QUESTION, "--n 0: toy has"),
        (10_000, QUESTION, "from which 1 or more are drawn"),
        (5, None, "toy is a task of your own: state its question with --question"),
        (5, "Is {probe1} {probe2}?", "--question 'Is {probe1} {probe2}?': toy has no {probe2}"),
        (5, "Is it so?", "--question 'Is it so?': {probe1} is missing; toy asks about 1 probe word"),
    ],
)
def test_bad_request_is_refused(n: int, question: str | None, message: str) -> None:
    with pytest.raises(UsageError, match=re.escape(message)):
        draw(make_learnable_dataset(), n=n, question=question)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("sentprobe-annotation 1", "sentprobe-annotation 9", "its format is not"),
        ('"seed": 0', '"seed": "0"', "seed must be"),
        ('"label": "TRUE"', '"label": "MAYBE"', "an unknown label"),
        ('"is_control": false', '"is_control": true', "all are control items"),
        ('"unit"', '"units"', "'units' is not expected"),
        ("{", "[", "Expecting"),
        ('"label": "TRUE"', '"label": "FALSE"', "its digest is missing or wrong"),
    ],
)
def test_damaged_key_is_refused(old: str, new: str, message: str) -> None:
    text = format_study(draw(make_learnable_dataset(), n=3))
    assert old in text
    with pytest.raises(ResultsError, match=message) as caught:
        parse_study(text.replace(old, new), source="study/key.json")
    assert str(caught.value).startswith("study/key.json: not a key of probe annotate")
