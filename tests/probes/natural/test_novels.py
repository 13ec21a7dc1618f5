"""Selection from a small corpus: all parsed novels, 450,000 tokens."""

import numpy as np
import pytest
from helpers.oracles.natural_checks import CHECKS, Source, iterate_items
from helpers.runs.natural_tables import build_one, read_novel_rows, write_table
from helpers.shared import needs_shared

from sentprobe.probes.corpus.table import Table
from sentprobe.probes.datasets.dataset import ProbeDataset
from sentprobe.probes.natural.datasets import TASKS, NaturalRecipe
from sentprobe.probes.natural.selection import FrequencyBand, NaturalSettings

pytestmark = [needs_shared, pytest.mark.slow]  # 31,000 trees are read


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Table:
    return write_table(read_novel_rows(40_000), tmp_path_factory.mktemp("novels") / "table")


def build_dataset(name: str, table: Table, *, band: FrequencyBand | None = None) -> ProbeDataset:
    recipe = NaturalRecipe(audit=False, settings=NaturalSettings(band=band))
    return build_one(TASKS[name], table, recipe=recipe)


def test_lengths_are_wide_and_tell_nothing_of_the_depth(table: Table) -> None:
    data = build_dataset("TreeDepth", table)
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


@pytest.mark.parametrize("name", ["SubjNum", "ObjNum"])
def test_rarer_words_cost_next_to_no_items(name: str, table: Table) -> None:
    data, common = build_dataset(name, table), build_dataset(name, table, band=FrequencyBand(4, 223))
    assert "words of corpus frequency 1 to 30" in data.card.notes
    assert len(list(iterate_items(data))) >= 0.9 * len(list(iterate_items(common)))
