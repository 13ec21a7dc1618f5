"""The tasks of Adi et al. 2017, with our sampling and with theirs: ``--sampling paper``."""

from collections import Counter
from pathlib import Path

import pytest
from helpers.in_process import Command
from helpers.oracles.natural_checks import Item, check_all, iterate_items
from helpers.runs.natural_tables import build_one, sample_rows
from helpers.thoroughness import examples
from hypothesis import Phase, given
from hypothesis import strategies as st

from sentprobe.common.errors import UsageError
from sentprobe.common.specs import ADI_BINS, Sampling, Size
from sentprobe.probes.corpus.table import Table
from sentprobe.probes.datasets.dataset import ProbeDataset, Split
from sentprobe.probes.natural.datasets import TASKS, NaturalRecipe
from sentprobe.probes.natural.selection import NaturalSettings
from sentprobe.probes.natural.surface_tasks import format_bins
from sentprobe.probes.runs.suites import build_natural

PAPER = NaturalSettings(sampling=Sampling.PAPER)
PAIRED = [f"{task}{tail}" for task in ("AdiContent", "AdiOrder") for tail in ("", "-permuted")]
SEEDED = examples(4, phases=(Phase.explicit, Phase.generate))
ADI = ("AdiContent", "AdiContent-permuted", "AdiContent-random")
ORDER = ("AdiOrder", "AdiOrder-permuted", "AdiOrder-random")


def make_recipe(train: int = 200, test: int = 40, *, seed: int = 0) -> NaturalRecipe:
    return NaturalRecipe(size=Size(train, test, test), seed=seed, audit=False)


@pytest.mark.parametrize("name", ADI)
@SEEDED
@given(seed=st.integers(0, 1000))
def test_probe_words_are_balanced(name: str, seed: int, table: Table) -> None:
    data = build_one(TASKS[name], table, recipe=make_recipe(seed=seed))
    check_all(data, lengths=(5, 70))
    counts: Counter[tuple[Split, str]] = Counter()
    for item in iterate_items(data):
        inside = item.probes[0] in [token.lower() for token in item.tokens]
        assert item.label == str(inside).upper()
        counts[item.split, item.probes[0]] += 1 if inside else -1
    assert set(counts.values()) == {0}


@pytest.mark.parametrize("name", ORDER)
@SEEDED
@given(seed=st.integers(0, 1000))
def test_order_label_says_which_is_first(name: str, seed: int, table: Table) -> None:
    data = build_one(TASKS[name], table, recipe=make_recipe(seed=seed))
    check_all(data, lengths=(5, 70))
    for item in iterate_items(data):
        words = [token.lower() for token in item.tokens]
        assert [words.count(probe) for probe in item.probes] == [1, 1]
        first, second = map(words.index, item.probes)
        assert item.label == str(first < second).upper()


@pytest.mark.parametrize(("name", "tells"), [*zip(ORDER, (True, False, False), strict=True)])
def test_word_order_is_usual_in_text_alone(name: str, tells: bool, table: Table) -> None:
    """Which of two words is first in training more often? In a random order neither is."""
    data = build_one(TASKS[name], table, recipe=make_recipe(2000, 600))
    lead = Counter[str]()
    for item in iterate_items(data):
        if item.split is Split.TRAIN:
            first, second = item.probes if item.label == "TRUE" else item.probes[::-1]
            lead[first] += 1
            lead[second] -= 1
    answers = [
        (lead[item.probes[0]] > lead[item.probes[1]]) == (item.label == "TRUE")
        for item in iterate_items(data)
        if item.split is Split.TEST
    ]
    right = sum(answers) / len(answers)
    assert right > 0.6 if tells else abs(right - 0.5) < 0.1


def test_lengths_go_to_70(table: Table) -> None:
    size = make_recipe(160, 16)
    data = build_one(TASKS["AdiLength"], table, recipe=size)
    assert data.labels[0] == "5-8"
    assert data.labels[-1] == "34-70"
    for item in iterate_items(data):
        low, high = map(int, item.label.split("-"))
        assert low <= len(item.tokens) <= high


@pytest.mark.parametrize("name", [*ADI, *ORDER, "AdiLength", "BShift"])
def test_items_have_slots_of_task(name: str, table: Table) -> None:
    data = build_one(TASKS[name], table, recipe=make_recipe(160, 16))
    assert data.slots == TASKS[name].slots


@pytest.mark.parametrize("control", ["permuted", "random"])
@pytest.mark.parametrize("task", ["AdiLength", "AdiContent", "AdiOrder"])
def test_controls_keep_the_questions(task: str, control: str, table: Table) -> None:
    plain = build_one(TASKS[task], table, recipe=make_recipe(160, 16))
    control_data = build_one(TASKS[f"{task}-{control}"], table, recipe=make_recipe(160, 16))
    originals = {row.text for row in sample_rows()}
    assert control_data.labels == plain.labels
    check_all(control_data, lengths=(5, 70))
    texts = [item.text for item in iterate_items(control_data)]
    assert sum(text in originals for text in texts) < len(texts) / 10
    if control == "permuted":
        bags = {tuple(sorted(row.tokens)) for row in sample_rows()}
        assert all(tuple(sorted(text.split(" "))) in bags for text in texts)


# Their sampling


def build_dataset(name: str, table: Table, *, seed: int = 0, train: int = 400) -> ProbeDataset:
    recipe = NaturalRecipe(size=Size(train, 80, 80), seed=seed, settings=PAPER, audit=False)
    return build_one(TASKS[name], table, recipe=recipe)


def group_by_sentence(data: ProbeDataset) -> dict[tuple[Split, str], list[Item]]:
    items_by_sentence: dict[tuple[Split, str], list[Item]] = {}
    for item in iterate_items(data):
        items_by_sentence.setdefault((item.split, item.text), []).append(item)
    return items_by_sentence


@pytest.mark.parametrize("name", PAIRED)
@SEEDED
@given(seed=st.integers(0, 1000))
def test_paper_sentence_has_each_label(name: str, seed: int, table: Table) -> None:
    items_by_sentence = group_by_sentence(build_dataset(name, table, seed=seed))
    assert all(sorted(item.label for item in pair) == ["FALSE", "TRUE"] for pair in items_by_sentence.values())
    texts = [text for _, text in items_by_sentence]
    assert len(texts) == len(set(texts))  # no sentence is in two splits


@SEEDED
@given(seed=st.integers(0, 1000))
def test_absent_word_is_in_another_sentence(seed: int, table: Table) -> None:
    data = build_dataset("AdiContent", table, seed=seed)
    present = {(i.split, i.probes[0]) for i in iterate_items(data) if i.label == "TRUE"}
    for item in iterate_items(data):
        inside = item.probes[0] in [token.lower() for token in item.tokens]
        assert inside is (item.label == "TRUE")
        assert (item.split, item.probes[0]) in present


@SEEDED
@given(seed=st.integers(0, 1000))
def test_second_item_reverses_the_words(seed: int, table: Table) -> None:
    for pair in group_by_sentence(build_dataset("AdiOrder", table, seed=seed)).values():
        right, wrong = sorted(pair, key=lambda item: item.label == "FALSE")
        assert right.probes == wrong.probes[::-1]
        words = [token.lower() for token in right.tokens]
        assert words.index(right.probes[0]) < words.index(right.probes[1])


def test_items_of_sentence_are_one_unit(table: Table) -> None:
    data = build_dataset("AdiOrder", table)
    units = data.units(Split.TEST)
    assert len(set(units.tolist())) * 2 == len(units)


def test_paper_lengths_are_as_in_corpus(table: Table) -> None:
    rows = [len(row.tokens) for row in sample_rows()]
    expected = [sum(low <= n <= high for n in rows) / len(rows) for low, high in ADI_BINS]
    data = build_dataset("AdiLength", table, train=2000)
    counts = Counter(item.label for item in iterate_items(data))
    for label, share in zip(format_bins(ADI_BINS), expected, strict=True):
        assert counts[label] / sum(counts.values()) == pytest.approx(share, abs=0.03)
    assert len(set(counts.values())) > 1


def test_paper_random_words_are_equally_frequent(table: Table) -> None:
    """In text a few words make half of all tokens; drawn from the dictionary none is common."""
    drawn = Counter(t for i in iterate_items(build_dataset("AdiLength-random", table)) for t in i.tokens)
    usual = build_one(TASKS["AdiLength-random"], table, recipe=make_recipe(160, 16))
    in_text = Counter(t for i in iterate_items(usual) for t in i.tokens)
    assert set(drawn) <= {token for row in sample_rows() for token in row.tokens}
    share, usual_share = (max(c.values()) / sum(c.values()) for c in (drawn, in_text))
    assert share < usual_share / 2


def test_card_names_sampling(table: Table) -> None:
    assert build_dataset("AdiContent", table).card.sampling == "natural, paper"
    recipe = make_recipe(40, 20)
    assert build_one(TASKS["AdiContent"], table, recipe=recipe).card.sampling == "natural"


def test_seed_decides_paper_sampling(table: Table) -> None:
    prints = [build_dataset("AdiContent", table, seed=seed).fingerprint() for seed in (0, 0, 1)]
    assert prints[0] == prints[1] != prints[2]


def test_python_takes_paper_sampling(table: Table) -> None:
    (data,) = build_natural(table.path, "AdiOrder", train=40, test=20, validation=20, sampling="paper", audit=False)
    assert data.card.sampling == "natural, paper"
    with pytest.raises(UsageError, match=r"sampling 'papr'.*paper"):
        build_natural(table.path, "AdiOrder", sampling="papr")


@pytest.mark.parametrize("names", [(), ("SentLen", "Tense")])
def test_conneau_tasks_refuse_paper_sampling(names: tuple[str, ...], table: Table) -> None:
    with pytest.raises(UsageError, match="sampling paper is for the tasks of Adi et al"):
        build_natural(table.path, names, sampling="paper", audit=False)


def test_command_takes_paper_sampling(table: Table, tmp_path: Path, command: Command) -> None:
    sizes = ("--train", 40, "--test", 20, "--validation", 20, "--no-audit")
    command_line = ("build", "natural", table.path, "--sampling", "paper", *sizes, "--out", tmp_path / "d")
    code, out, err = command(*command_line)
    assert (code, out) == (2, "")
    assert "sampling paper is for the tasks of Adi et al. (task adi)" in err
    code, out, _ = command(*command_line, "--task", "AdiContent")
    assert code == 0
    assert '"natural, paper"' in (tmp_path / "d" / "AdiContent" / "card.json").read_text()
