"""The ten tasks of Conneau et al. 2018 keep their definitions, on made-up and on real text."""

from collections import Counter
from pathlib import Path
from random import Random

import numpy as np
import pytest
from helpers.oracles.natural_checks import CHECKS, Source, check_all, check_tree_depth, iterate_items
from helpers.runs.natural_tables import build_one, read_novel_rows, read_treebank_rows, sample_rows, write_table
from helpers.shared import needs_shared
from helpers.thoroughness import examples
from hypothesis import Phase, given
from hypothesis import strategies as st

from sentprobe.common.specs import Size
from sentprobe.generator.events.event import Number
from sentprobe.probes.corpus.table import Table
from sentprobe.probes.corpus.table_rows import Row
from sentprobe.probes.datasets.dataset import ProbeDataset, Split, TooFewError
from sentprobe.probes.natural.datasets import TASKS, NaturalRecipe, build_datasets, find_tasks
from sentprobe.probes.natural.selection import FrequencyBand, NaturalSettings

WIDE = NaturalSettings(band=FrequencyBand(1, 500), odd_band=FrequencyBand(2, 200), first_rank=40, words=8, sequences=4)


@pytest.fixture(scope="module")
def source() -> Source:
    return Source(sample_rows())


def sizes() -> st.SearchStrategy[Size]:
    return st.builds(Size, st.integers(20, 500), st.integers(10, 80), st.integers(0, 80))


@pytest.mark.parametrize("name", CHECKS)
@examples(5, phases=(Phase.explicit, Phase.generate))
@given(size=sizes(), seed=st.integers(0, 1000))
def test_invariants(name: str, size: Size, seed: int, table: Table, source: Source) -> None:
    recipe = NaturalRecipe(size=size, seed=seed, settings=WIDE, audit=False)
    data = build_one(TASKS[name], table, recipe=recipe)
    check_all(data)
    CHECKS[name](data, source)
    assert (Split.VALIDATION in data.splits) == bool(size.validation)


def test_depth_that_lacks_items_is_noted(table: Table, source: Source) -> None:
    recipe = NaturalRecipe(size=Size(42, 21, 19), seed=118, settings=WIDE, audit=False)
    data = build_one(TASKS["TreeDepth"], table, recipe=recipe)
    check_tree_depth(data, source)
    assert "but fewer where the corpus has too few" in data.card.notes[0]


def test_requested_sizes_are_built(table: Table) -> None:
    size = Size(60, 12, 12)
    recipe = NaturalRecipe(size=size, settings=WIDE, audit=False)
    for _, data in build_datasets(find_tasks(), table, recipe=recipe):
        assert isinstance(data, ProbeDataset)
        classes = len(data.labels) if data.name != "CoordInv" else 6
        for split, split_items in data.splits.items():
            assert size.count_items(split) <= len(split_items) < size.count_items(split) + classes, data.name
        assert not any(note.startswith("scaled") for note in data.card.notes)


def test_small_corpus_scales_sizes_down(table: Table) -> None:
    recipe = NaturalRecipe(settings=WIDE, audit=False)
    for task, data in build_datasets(find_tasks(), table, recipe=recipe):
        assert isinstance(data, ProbeDataset)
        (note,) = [note for note in data.card.notes if note.startswith("scaled down")]
        shown = ", ".join(f"{len(split_items):,} {s.value}" for s, split_items in data.splits.items())
        assert shown in note, task.name


@pytest.mark.parametrize("name", [*CHECKS, "AdiContent", "AdiOrder"])
def test_shards_do_not_change_items(name: str, table: Table, tmp_path: Path) -> None:
    rows = list(sample_rows())
    Random(1).shuffle(rows)
    sharded = write_table(rows, tmp_path / "other", shards=7)
    recipe = NaturalRecipe(size=Size(200, 40, 40), seed=5, settings=WIDE, audit=False, threads=1)
    first = build_one(TASKS[name], table, recipe=recipe)
    two_threads = NaturalRecipe(size=Size(200, 40, 40), seed=5, settings=WIDE, audit=False, threads=2)
    second = build_one(TASKS[name], sharded, recipe=two_threads)
    assert first == second
    assert first.fingerprint() == second.fingerprint()
    changed = NaturalRecipe(size=Size(200, 40, 40), seed=6, settings=WIDE, audit=False)
    assert build_one(TASKS[name], table, recipe=changed).fingerprint() != first.fingerprint()


def test_depths_are_balanced_and_uncorrelated(table: Table) -> None:
    recipe = NaturalRecipe(size=Size(56, 16, 16), audit=False)
    data = build_one(TASKS["TreeDepth"], table, recipe=recipe)
    assert {data.card.counts[f"test {depth}"] for depth in range(5, 13)} == {2}
    assert "all depths equally frequent" in data.card.notes[0]
    assert "that remains: train 0.000, validation 0.000, test 0.000" in data.card.notes[0]


def test_other_depths_are_the_classes(table: Table, source: Source) -> None:
    """As in the published file."""
    recipe = NaturalRecipe(size=Size(56, 14, 14), settings=NaturalSettings(depths=range(5, 12)), audit=False)
    data = build_one(TASKS["TreeDepth"], table, recipe=recipe)
    assert data.labels == ("5", "6", "7", "8", "9", "10", "11")
    for item in iterate_items(data):
        assert item.label == str(source.rows[item.text].depth)
    assert {data.card.counts[f"test {depth}"] for depth in range(5, 12)} == {2}
    assert "test 12" not in data.card.counts


def test_card_has_baselines_of_paper(table: Table) -> None:
    recipe = NaturalRecipe(size=Size(300, 100, 100), settings=WIDE)
    data = build_one(TASKS["SentLen"], table, recipe=recipe)
    scores = data.card.audit["baselines"]
    assert list(scores) == ["majority", "length", "nb-uni-tfidf", "nb-bi-tfidf"]
    assert scores["majority"] == pytest.approx(1 / 6, abs=1e-6)
    assert scores["length"] > 0.95
    assert data.card.source == "made.mrg"
    assert {"sentprobe", "duckdb", "numpy"} <= set(data.card.versions)


@needs_shared
@pytest.mark.parametrize("name", CHECKS)
def test_treebank_keeps_invariants(name: str, real: tuple[Table, Source]) -> None:
    table, source = real
    data = build_one(TASKS[name], table, recipe=NaturalRecipe(audit=False))
    check_all(data)
    CHECKS[name](data, source)


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> tuple[Table, Source]:
    rows = read_treebank_rows()
    return write_table(rows, tmp_path_factory.mktemp("real") / "table"), Source(rows)


@needs_shared
@pytest.mark.slow  # 9,000 sentences; the treebank, which is not slow, is real text too
@pytest.mark.parametrize("name", CHECKS)
def test_novels_keep_invariants(name: str, parsed: tuple[Table, Source]) -> None:
    table, source = parsed
    recipe = NaturalRecipe(audit=False, settings=NaturalSettings(words=20, sequences=6))
    data = build_one(TASKS[name], table, recipe=recipe)
    check_all(data)
    CHECKS[name](data, source)
    assert len(data.splits[Split.TRAIN]) >= 150


@needs_shared
@pytest.mark.parametrize("name", ["SubjNum", "ObjNum", "Tense"])
def test_separate_words_cost_few_items(name: str, parsed: tuple[Table, Source]) -> None:
    table, source = parsed
    recipe = NaturalRecipe(audit=False, settings=NaturalSettings(band=FrequencyBand(1, 5000)))
    data = build_one(TASKS[name], table, recipe=recipe)
    available = Counter(label for row in source.rows.values() if (label := find_label(name, row)))
    least = 2 * min(available[label] for label in data.labels)
    assert 0.94 * least <= sum(map(len, data.splits.values())) <= least


def find_label(name: str, row: Row) -> str | None:
    """Return the label of a sentence, whatever its word's frequency; None for words like ``'s``."""
    if name == "Tense":
        if row.verb is None or not row.tokens[row.verb].isalpha():
            return None
        return {"VBP": "PRES", "VBZ": "PRES", "VBD": "PAST"}.get(row.tags[row.verb])
    noun = row.subject if name == "SubjNum" else row.object
    usual = {"NN": Number.SINGULAR, "NNS": Number.PLURAL}
    tag = None if noun is None else row.tags[noun.index]
    return tag if noun is not None and tag in usual and usual[tag] is noun.number else None


@pytest.fixture(scope="module")
def parsed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Table, Source]:
    rows = read_novel_rows(9000)
    return write_table(rows, tmp_path_factory.mktemp("novels") / "table", shards=2), Source(rows)


def test_too_few_sentences_are_counted(tmp_path: Path) -> None:
    small = write_table(sample_rows(40), tmp_path / "small")
    recipe = NaturalRecipe(audit=False)
    datasets = dict(build_datasets(find_tasks(["SentLen", "TreeDepth", "CoordInv"]), small, recipe=recipe))
    assert all(isinstance(error, TooFewError) for error in datasets.values())
    message = str(datasets[TASKS["SentLen"]])
    assert message.startswith("SentLen: the corpus has too few sentences: at least 3 are needed")
    assert "26-28: " in message


@pytest.fixture(scope="module")
def novels(tmp_path_factory: pytest.TempPathFactory) -> Table:
    return write_table(read_novel_rows(40_000), tmp_path_factory.mktemp("novels") / "table")


def build_from_novels(name: str, table: Table, *, band: FrequencyBand | None = None) -> ProbeDataset:
    recipe = NaturalRecipe(audit=False, settings=NaturalSettings(band=band))
    return build_one(TASKS[name], table, recipe=recipe)


@needs_shared
@pytest.mark.slow
def test_novel_depths_are_uncorrelated_with_length(novels: Table) -> None:
    data = build_from_novels("TreeDepth", novels)
    CHECKS["TreeDepth"](data, Source(read_novel_rows(40_000)))
    pairs = [(int(item.label), len(item.tokens)) for item in iterate_items(data)]
    depths, lengths = np.array(pairs).T
    assert len(pairs) >= 1000
    assert lengths.std() >= 3
    assert (lengths.min(), lengths.max()) == (6, 22)
    assert abs(np.corrcoef(depths, lengths)[0, 1]) <= 0.1
    # Whoever knows the length and all labels is hardly better than who always says the commonest.
    best = sum(np.bincount(depths[lengths == length]).max() for length in set(lengths.tolist()))
    assert best <= np.bincount(depths).max() + 0.02 * len(pairs)


@needs_shared
@pytest.mark.slow
@pytest.mark.parametrize("name", ["SubjNum", "ObjNum"])
def test_rare_words_cost_few_items(name: str, novels: Table) -> None:
    data, common = build_from_novels(name, novels), build_from_novels(name, novels, band=FrequencyBand(4, 223))
    assert "words of corpus frequency 1 to 30" in data.card.notes
    assert len(list(iterate_items(data))) >= 0.9 * len(list(iterate_items(common)))
