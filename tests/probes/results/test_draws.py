"""Several draws as one table: which tables are joined, their cells, and their notes."""

from dataclasses import replace
from typing import Any

import pytest
from helpers.strategies.probe_strategies import make_sample_result, make_seed_score
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from sentprobe.common.errors import ResultsError
from sentprobe.probes.classifier.presets import find_preset
from sentprobe.probes.reports.comparisons import compare_encoders, describe_comparisons
from sentprobe.probes.reports.control_verdicts import find_controls
from sentprobe.probes.reports.figures import compute_figure
from sentprobe.probes.reports.tables.main_table import (
    CellStyle,
    build_grid,
    describe_differences,
    split_settings,
    split_single_draws,
)
from sentprobe.probes.reports.tables.table_notes import describe_all, summarize
from sentprobe.probes.reports.tables.view import build_sections
from sentprobe.probes.results.data_facts import DataFacts
from sentprobe.probes.results.draws import find_missing_cells, join_draws, list_seeds
from sentprobe.probes.results.result import Condition, Result, Results, make_score
from sentprobe.probes.statistics import Correction, accuracy_interval

FACTS = DataFacts(train=4000, test=1000, word_types=318, sampling="mirror", seed=0, origin="its words")


def make_draw(seed: int, *correct: int, encoder: str = "bilstm-max", task: str = "Order") -> Result:
    """Make the result of a draw: for each number, a probe with that many of 1000 items right."""
    scores = [
        make_seed_score([item < right for item in range(1000)], seed=seed + place)
        for place, right in enumerate(correct)
    ]
    sample = make_sample_result(encoder, task, 500, 500)
    control = make_score([replace(sample.scores[Condition.RANDOM_SENTENCES].seeds[0], seed=seed)], ())
    return replace(
        sample,
        seed=seed,
        data=replace(FACTS, seed=seed, word_types=300 + seed),
        dataset_fingerprint=f"{task} {seed}",
        encoder_fingerprint=f"{encoder} {seed}",
        encoder_seed=seed,
        scores={Condition.PROBE: make_score(scores, ()), Condition.RANDOM_SENTENCES: control},
    )


DRAWS = (make_draw(0, 878, 876), make_draw(10, 831, 833), make_draw(20, 875, 875))


def join_one_table(*records: Result) -> Results:
    (table,) = split_settings(Results(records))
    return table


@given(st.permutations(DRAWS))
def test_draws_are_joined_by_seed(records: list[Result]) -> None:
    table = join_one_table(*records)
    assert table == Results(DRAWS)
    assert list_seeds(table) == [0, 10, 20]
    assert split_single_draws(Results(tuple(records))) == tuple(Results((record,)) for record in DRAWS)


OTHERWISE: dict[str, dict[str, Any]] = {
    "another classifier": {"preset": find_preset("senteval")},
    "another form of probe words": {"probe_vectors": "encoder"},
    "another width": {"dim": 4},
    "another size of data": {"data": replace(FACTS, seed=10, train=400)},
    "another vocabulary": {"data": replace(FACTS, seed=10, vocabulary="english")},
    "a vocabulary of the same name and other words": {"data": replace(FACTS, seed=10, origin="other words")},
    "data of which nobody knows the words": {"data": replace(FACTS, seed=10, origin="")},
    "data of the same seed": {"data": FACTS},
    "data that is not ours": {"data": replace(FACTS, seed=None)},
    "data of which nothing is known": {"data": None},
    "another model of the same name": {"encoder_seed": None},
    "another encoder": {"encoder": "bow"},
    "another task": {"task": "SemRole"},
    "the same probes": {"scores": DRAWS[0].scores},
    "the same run": {"seed": 0},
}


@pytest.mark.parametrize("changes", OTHERWISE.values(), ids=OTHERWISE)
def test_draws_that_differ_stay_apart(changes: dict[str, Any]) -> None:
    tables = join_draws([Results(DRAWS[:1]), Results((replace(DRAWS[1], **changes),))])
    assert len(tables) == 2


def test_data_of_unknown_origin_stay_apart() -> None:
    unknown = [replace(e, data=replace(FACTS, seed=e.seed, origin="")) for e in DRAWS]
    assert len(split_settings(Results(tuple(unknown)))) == 3


def test_unfinished_draw_stays_apart() -> None:
    more = [make_draw(seed, 800, task="SemRole") for seed in (0, 10)]
    tables = split_settings(Results((*DRAWS, *more)))
    assert [list_seeds(table) for table in tables] == [[0, 10], [20]]
    assert describe_differences(tables) == ("table 1 of 2, seed 0 and 10", "table 2 of 2, seed 20")


def test_notes_name_cells_of_other_draws() -> None:
    more = [make_draw(seed, 800, task="SemRole") for seed in (0, 10)]
    notes = [text for _, _, text in build_sections(Results((*DRAWS, *more)), CellStyle())]
    assert "Unequal draws" not in notes[0]
    assert "Unequal draws: seed 20 lacks bilstm-max on SemRole, so other draws are in" in notes[1]
    assert all(len(text.splitlines()) <= 4 for text in notes)
    other = find_missing_cells([Results(DRAWS[:1]), Results((replace(DRAWS[1], preset=find_preset("senteval")),))])
    assert other == ((), ())
    named = [replace(record, encoder=f"bow?seed={record.seed}") for record in DRAWS]
    assert find_missing_cells([Results((record,)) for record in named]) == ((), (), ())


def list_noted_tables() -> dict[str, Results]:
    """Return tables whose notes are stored, by what they have."""
    units = tuple(item // 2 for item in range(1000))
    paired = [replace(record, units=units) for record in DRAWS]
    same = [replace(record, dataset_fingerprint="0") for record in paired]
    fixed = [replace(record, encoder_seed=None, encoder_fingerprint="0") for record in DRAWS]
    return {
        "three draws": join_one_table(*DRAWS),
        "chance differs": join_one_table(*(replace(e, majority=0.5 + e.seed / 1000) for e in DRAWS[:2])),
        "same vectors": join_one_table(*fixed),
        "one probe a draw": join_one_table(*(make_draw(seed, 870 - seed) for seed in (0, 10))),
        "new pairs": join_one_table(*paired),
        "same pairs": join_one_table(*same),
        "new and same pairs": join_one_table(*paired, *(replace(record, task="SemRole") for record in same)),
        "one draw of pairs": join_one_table(paired[0]),
        "one draw": Results((make_draw(0, 878),)),
        "probes of one draw": Results((make_draw(10, 878, 876, 870),)),
        "fewer probes": Results((make_draw(0, 878, 876), make_draw(0, 700, encoder="bow"))),
    }


def test_notes_of_draws(stored_text: SnapshotAssertion) -> None:
    """Complete and short notes of each table."""
    notes = []
    for name, table in list_noted_tables().items():
        complete, short = describe_all(table), "\n".join(summarize(table, CellStyle()))
        notes.append(f"{name}:\n{complete}\n{short}\n")
    assert "\n".join(notes) == stored_text


def test_comparisons_over_fewer_draws_are_named() -> None:
    more = [make_draw(seed, 500 + seed, encoder="bow") for seed in (0, 10)]
    comparisons = compare_encoders(Results((*DRAWS, *more, *(make_draw(s, 600, encoder="x") for s in (0, 10, 20)))))
    text = describe_comparisons(comparisons, correction=Correction.HOLM)
    assert "Fewer than 3 draws: bilstm-max - bow on Order (2), bow - x on Order (2)." in text


def test_draws_may_differ_slightly_in_size() -> None:
    def make_natural(place: int, train: int) -> Result:
        facts = replace(FACTS, sampling="natural", seed=10 * place, train=train)
        return replace(DRAWS[place], data=facts)

    def count_tables(*sizes: int) -> int:
        return len(split_settings(Results(tuple(make_natural(*place_and_size) for place_and_size in enumerate(sizes)))))

    assert (count_tables(4000, 3900), count_tables(4000, 3100)) == (1, 2)


def test_seed_in_name_is_one_row() -> None:
    named = [replace(record, encoder=f"bow?dim=8&seed={record.seed}") for record in DRAWS]
    assert join_one_table(*named).encoders == ("bow?dim=8",)
    fixed = [replace(record, encoder="bow?seed=0") for record in DRAWS]
    assert join_one_table(*fixed).encoders == ("bow?seed=0",)
    both = [replace(e, encoder="bow") for e in DRAWS] + [replace(e, encoder=f"bow?seed={e.seed}") for e in DRAWS]
    assert len(split_settings(Results(tuple(both)))) == 3  # which of the two would a row "bow" be?


def test_cell_is_over_all_draws() -> None:
    table = join_one_table(*DRAWS)
    first, second = build_grid(table, style=CellStyle(sources=True, all_rows=True)).rows[:2]
    assert first.cells[0].text == "86.1 ± 6.3 (draws 2.5, probes 0.1)"
    assert second.cells[0].text == "50.0 ± 3.9 (draws 0.0)"
    figure = compute_figure(DRAWS, Condition.PROBE)
    assert figure is not None
    assert figure.interval.low == pytest.approx(0.8613 - 4.303 * 0.02533 / 3**0.5, abs=1e-3)
    assert compute_figure(DRAWS, Condition.BAG_OF_WORDS) is None


def test_interval_of_stored_data_covers_items() -> None:
    stored = [replace(record, data=replace(FACTS, seed=None), dataset_fingerprint="0") for record in DRAWS]
    figure, other_items = (compute_figure(records, Condition.PROBE) for records in (stored, DRAWS))
    assert figure is not None and other_items is not None
    assert figure.interval == other_items.interval  # the draws differ by more than their items
    steady = [replace(record, scores=DRAWS[0].scores) for record in stored]
    figure = compute_figure(steady, Condition.PROBE)
    assert figure is not None and figure.half_width is not None
    assert figure.half_width == pytest.approx(4.303 * (0.877 * 0.123 / 999 / 3) ** 0.5, abs=1e-3)
    many = [replace(record, seed=seed) for seed, record in enumerate(steady * 10)]
    figure = compute_figure(many, Condition.PROBE)
    assert figure is not None
    assert figure.interval == accuracy_interval([item < 876 or (item < 878) / 2 for item in range(1000)], ())
    text = describe_all(join_one_table(*stored))
    assert "New in each draw (seeds 0, 10, 20): the untrained weights, the probes. The same" in text
    assert "The same in each: the data." in text


def test_each_draw_has_its_controls() -> None:
    runs = find_controls(join_one_table(*DRAWS))
    assert [run.name for run in runs] == [f"random sentences (dim 3) on Order (seed {seed})" for seed in (0, 10, 20)]


def test_encoders_are_compared_over_draws() -> None:
    more_records = [
        replace(make_draw(seed, right, encoder="bow"), dataset_fingerprint=f"Order {seed}")
        for seed, right in ((0, 500), (10, 460), (20, 495))
    ]
    table = join_one_table(*DRAWS, *more_records)
    (comparisons,) = compare_encoders(table)
    assert (comparisons.draws, comparisons.paired.wins, comparisons.is_significant) == (3, 3, True)
    assert comparisons.accuracies == pytest.approx((0.8613, 0.485), abs=1e-3)
    mirrored = Results(tuple(replace(record, mirrored=True) for record in table.records))
    assert [row.cells[0].best for row in build_grid(mirrored).rows[:2]] == [True, False]
    moved = [replace(record, dataset_fingerprint="else") for record in more_records]
    with pytest.raises(ResultsError, match="only answers to the same items can be compared"):
        compare_encoders(Results((*DRAWS, *moved)))
