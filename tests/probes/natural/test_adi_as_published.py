"""The tasks of Adi et al. 2017 with their own sampling: ``--sampling paper``."""

from collections import Counter
from pathlib import Path

import pytest
from helpers.in_process import Command
from helpers.oracles.natural_checks import Item, iterate_items
from helpers.runs.natural_tables import build_one, sample_rows, write_table
from helpers.thoroughness import examples
from hypothesis import Phase, given
from hypothesis import strategies as st

from sentprobe.common.errors import UsageError
from sentprobe.common.specs import ADI_BINS
from sentprobe.probes.corpus.table import Table
from sentprobe.probes.datasets.dataset import ProbeDataset, Sampling, Size, Split
from sentprobe.probes.natural.datasets import TASKS, NaturalRecipe
from sentprobe.probes.natural.selection import NaturalSettings
from sentprobe.probes.natural.surface_tasks import format_bins
from sentprobe.probes.runs.suites import build_natural

PAPER = NaturalSettings(sampling=Sampling.PAPER)
PAIRED = [f"{task}{tail}" for task in ("AdiContent", "AdiOrder") for tail in ("", "-permuted")]
SEEDED = examples(4, phases=(Phase.explicit, Phase.generate))


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Table:
    return write_table(sample_rows(), tmp_path_factory.mktemp("made") / "table")


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
def test_each_sentence_has_an_item_of_each_label(name: str, seed: int, table: Table) -> None:
    items_by_sentence = group_by_sentence(build_dataset(name, table, seed=seed))
    assert all(sorted(item.label for item in pair) == ["FALSE", "TRUE"] for pair in items_by_sentence.values())
    texts = [text for _, text in items_by_sentence]
    assert len(texts) == len(set(texts))  # no sentence is in two splits


@SEEDED
@given(seed=st.integers(0, 1000))
def test_a_word_that_is_absent_is_in_another_sentence_of_the_split(seed: int, table: Table) -> None:
    data = build_dataset("AdiContent", table, seed=seed)
    present = {(i.split, i.probes[0]) for i in iterate_items(data) if i.label == "TRUE"}
    for item in iterate_items(data):
        inside = item.probes[0] in [token.lower() for token in item.tokens]
        assert inside is (item.label == "TRUE")
        assert (item.split, item.probes[0]) in present


@SEEDED
@given(seed=st.integers(0, 1000))
def test_the_second_item_has_the_two_words_in_the_other_order(seed: int, table: Table) -> None:
    for pair in group_by_sentence(build_dataset("AdiOrder", table, seed=seed)).values():
        right, wrong = sorted(pair, key=lambda item: item.label == "FALSE")
        assert right.probes == wrong.probes[::-1]
        words = [token.lower() for token in right.tokens]
        assert words.index(right.probes[0]) < words.index(right.probes[1])


def test_items_of_a_sentence_are_one_unit(table: Table) -> None:
    data = build_dataset("AdiOrder", table)
    units = data.units(Split.TEST)
    assert len(set(units.tolist())) * 2 == len(units)


def test_lengths_are_as_common_as_in_the_corpus(table: Table) -> None:
    rows = [len(row.tokens) for row in sample_rows()]
    expected = [sum(low <= n <= high for n in rows) / len(rows) for low, high in ADI_BINS]
    data = build_dataset("AdiLength", table, train=2000)
    counts = Counter(item.label for item in iterate_items(data))
    for label, share in zip(format_bins(ADI_BINS), expected, strict=True):
        assert counts[label] / sum(counts.values()) == pytest.approx(share, abs=0.03)
    assert len(set(counts.values())) > 1


def test_random_words_are_of_the_dictionary_each_as_often(table: Table) -> None:
    """In text a few words make half of all tokens; drawn from the dictionary none is common."""
    drawn = Counter(t for i in iterate_items(build_dataset("AdiLength-random", table)) for t in i.tokens)
    usual = build_one(TASKS["AdiLength-random"], table, recipe=NaturalRecipe(size=Size(160, 16, 16), audit=False))
    in_text = Counter(t for i in iterate_items(usual) for t in i.tokens)
    assert set(drawn) <= {token for row in sample_rows() for token in row.tokens}
    share, usual_share = (max(c.values()) / sum(c.values()) for c in (drawn, in_text))
    assert share < usual_share / 2


def test_the_card_says_how_it_was_drawn(table: Table) -> None:
    assert build_dataset("AdiContent", table).card.sampling == "natural, paper"
    recipe = NaturalRecipe(size=Size(40, 20, 20), audit=False)
    assert build_one(TASKS["AdiContent"], table, recipe=recipe).card.sampling == "natural"


def test_seeds_and_sampling_decide_the_bytes(table: Table) -> None:
    prints = [build_dataset("AdiContent", table, seed=seed).fingerprint() for seed in (0, 0, 1)]
    assert prints[0] == prints[1] != prints[2]


def test_from_python(table: Table) -> None:
    (data,) = build_natural(table.path, "AdiOrder", train=40, test=20, validation=20, sampling="paper", audit=False)
    assert data.card.sampling == "natural, paper"
    with pytest.raises(UsageError, match=r"sampling 'papr'.*paper"):
        build_natural(table.path, "AdiOrder", sampling="papr")


@pytest.mark.parametrize("names", [(), ("SentLen", "Tense")])
def test_the_tasks_of_conneau_have_one_way(names: tuple[str, ...], table: Table) -> None:
    with pytest.raises(UsageError, match="sampling paper is for the tasks of Adi et al"):
        build_natural(table.path, names, sampling="paper", audit=False)


def test_the_command(table: Table, tmp_path: Path, command: Command) -> None:
    sizes = ("--train", 40, "--test", 20, "--validation", 20, "--no-audit")
    command_line = ("build", "natural", table.path, "--sampling", "paper", *sizes, "--out", tmp_path / "d")
    code, out, err = command(*command_line)
    assert (code, out) == (2, "")
    assert "sampling paper is for the tasks of Adi et al. (task adi)" in err
    code, out, _ = command(*command_line, "--task", "AdiContent")
    assert code == 0
    assert '"natural, paper"' in (tmp_path / "d" / "AdiContent" / "card.json").read_text()
