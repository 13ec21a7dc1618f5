"""Tables of one draw: the results of each belong together, and none is compared with all others."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from helpers.strategies.probe_strategies import make_sample_result
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.probes.classifier.presets import find_preset
from sentprobe.probes.reports.tables import main_table
from sentprobe.probes.reports.tables.main_table import split_single_draws
from sentprobe.probes.results.result import Result, Results

SAMPLES = [make_sample_result("a", "Order", 510, 500, seeds=seeds) for seeds in (1, 2)]

RECORDS = st.builds(
    lambda sample, values: replace(sample, **values),
    st.sampled_from(SAMPLES),
    st.fixed_dictionaries(
        {
            "encoder": st.sampled_from("ab"),
            "task": st.sampled_from(["Order", "SemRole"]),
            "seed": st.sampled_from([0, 10]),
            "preset": st.sampled_from([find_preset("ettinger"), find_preset("adi")]),
            "encoder_fingerprint": st.sampled_from("ef"),
            "dataset_fingerprint": st.sampled_from("de"),
            "probe_vectors": st.sampled_from(["", "one-hot", "encoder"]),
            "probe_fingerprint": st.sampled_from(["", "p", "q"]),
        }
    ),
)


def split_by_pairs(records: Sequence[Result]) -> list[tuple[Result, ...]]:
    """Divide results by comparing each with all members of each table."""
    tables: list[list[Result]] = []
    for record in records:
        for table in tables:
            if any(differ(record, member) for member in table):
                continue
            place = next((place for place, member in enumerate(table) if member.cell == record.cell), len(table))
            table[place : place + 1] = [max([*table[place : place + 1], record], key=main_table._count_scores)]
            break
        else:
            tables.append([record])
    return sorted(map(tuple, tables), key=lambda table: table[0].seed)


def differ(first: Result, second: Result) -> bool:
    """Say whether two results cannot be in one table."""
    if (first.preset, first.seed) != (second.preset, second.seed):
        return True
    words = [
        (record.probe_vectors, "" if record.probe_vectors == "encoder" else record.probe_fingerprint)
        for record in (first, second)
    ]
    if "" not in (first.probe_vectors, second.probe_vectors) and words[0] != words[1]:
        return True
    if first.task == second.task and first.dataset_fingerprint != second.dataset_fingerprint:
        return True
    other_words = len({first.probe_fingerprint, second.probe_fingerprint} - {""}) > 1
    other_vectors = first.encoder_fingerprint != second.encoder_fingerprint
    return first.encoder == second.encoder and (other_vectors or other_words)


@given(st.lists(RECORDS, max_size=12))
def test_tables_are_those_of_a_comparison_of_all_pairs(records: list[Result]) -> None:
    tables = split_single_draws(Results(tuple(records)))
    assert [table.records for table in tables] == split_by_pairs(records)


def test_each_result_is_looked_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    lookups = []
    list_values = main_table._list_shared_values

    def count(record: Result) -> dict[tuple[str, str], object]:
        lookups.append(record)
        return list_values(record)

    monkeypatch.setattr(main_table, "_list_shared_values", count)
    records = [replace(SAMPLES[0], encoder=f"e{n}", seed=10 * seed) for n in range(20) for seed in range(10)]
    assert len(split_single_draws(Results(tuple(records)))) == 10
    assert len(lookups) == len(records)
