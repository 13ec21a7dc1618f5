"""Several draws as one table: which go together, what a cell shows, what the lines say."""

import sys
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from probe_strategies import sample_result, seed_score

from sentprobe.errors import ResultsError
from sentprobe.probes.report.comparisons import compare_encoders
from sentprobe.probes.report.draws import in_draws, join_draws, seeds_of
from sentprobe.probes.report.figures import figure_of
from sentprobe.probes.report.sanity import sanity_runs
from sentprobe.probes.report.tables import CellStyle, explain, grid, settings, single_draws, titles
from sentprobe.probes.runs.data_facts import DataFacts
from sentprobe.probes.runs.results import Condition, Result, Results, make_score
from sentprobe.probes.trainer.presets import find_preset

FACTS = DataFacts(
    train=4000, test=1000, word_types=318, sampling="mirror", seed=0, origin="its words"
)


def draw(seed: int, *correct: int, encoder: str = "bilstm-max", task: str = "Order") -> Result:
    """The result of a draw: a probe with so many of 1000 items right for each number."""
    scores = [
        seed_score([item < right for item in range(1000)], seed=seed + place)
        for place, right in enumerate(correct)
    ]
    made = sample_result(encoder, task, 500, 500)
    control = make_score([replace(made.scores[Condition.RANDOM_SENTENCES].seeds[0], seed=seed)], ())
    return replace(
        made,
        seed=seed,
        data=replace(FACTS, seed=seed, word_types=300 + seed),
        dataset_fingerprint=f"{task} {seed}",
        encoder_fingerprint=f"{encoder} {seed}",
        encoder_seed=seed,
        scores={Condition.PROBE: make_score(scores, ()), Condition.RANDOM_SENTENCES: control},
    )


DRAWS = (draw(0, 878, 876), draw(10, 831, 833), draw(20, 875, 875))


def one_table(*records: Result) -> Results:
    (table,) = settings(Results(records))
    return table


@given(st.permutations(DRAWS))
def test_draws_are_one_table_in_order_of_seed(records: list[Result]) -> None:
    table = one_table(*records)
    assert table == Results(DRAWS)
    assert seeds_of(table) == [0, 10, 20]
    assert in_draws(table) == tuple(Results((each,)) for each in DRAWS)
    assert single_draws(Results(tuple(records))) == in_draws(table)


OTHERWISE: dict[str, dict[str, Any]] = {
    "another classifier": {"preset": find_preset("senteval")},
    "another form of probe words": {"probe_vectors": "encoder"},
    "another width": {"dim": 4},
    "another size of data": {"data": replace(FACTS, seed=10, train=400)},
    "another vocabulary": {"data": replace(FACTS, seed=10, vocabulary="english")},
    "a vocabulary of the same name and other words": {
        "data": replace(FACTS, seed=10, origin="other words")
    },
    "data of which nobody knows the words": {"data": replace(FACTS, seed=10, origin="")},
    "data of the same seed": {"data": FACTS},
    "data that is not ours": {"data": replace(FACTS, seed=None)},
    "data of an older version": {"data": None},
    "another model of the same name": {"encoder_seed": None},
    "another encoder": {"encoder": "bow"},
    "another task": {"task": "SemRole"},
    "the same probes": {"scores": DRAWS[0].scores},
    "the same run": {"seed": 0},
}


@pytest.mark.parametrize("changes", OTHERWISE.values(), ids=OTHERWISE)
def test_what_differs_in_more_than_the_draw_stays_apart(changes: dict[str, Any]) -> None:
    tables = join_draws([Results(DRAWS[:1]), Results((replace(DRAWS[1], **changes),))])
    assert len(tables) == 2


def test_nobody_knows_whether_older_data_is_of_the_same_words() -> None:
    older = [replace(e, data=replace(FACTS, seed=e.seed, origin="")) for e in DRAWS]
    assert len(settings(Results(tuple(older)))) == 3


def test_a_draw_that_is_not_finished_stays_apart() -> None:
    more = [draw(seed, 800, task="SemRole") for seed in (0, 10)]
    tables = settings(Results((*DRAWS, *more)))
    assert [seeds_of(table) for table in tables] == [[0, 10], [20]]
    assert titles(tables) == ("table 1 of 2, seed 0 and 10", "table 2 of 2, seed 20")


def test_draws_of_natural_text_may_be_of_not_quite_as_many_items() -> None:
    def natural(place: int, train: int) -> Result:
        facts = replace(FACTS, sampling="natural", seed=10 * place, train=train)
        return replace(DRAWS[place], data=facts)

    def tables(*sizes: int) -> int:
        return len(settings(Results(tuple(natural(*each) for each in enumerate(sizes)))))

    assert (tables(4000, 3900), tables(4000, 3100)) == (1, 2)


def test_what_differs_between_draws_is_said_of_each() -> None:
    said = explain(one_table(*(replace(e, majority=0.5 + e.seed / 1000) for e in DRAWS[:2])))
    assert "Chance (always the commonest label) is 50.0 or 51.0." in said


def test_an_encoder_that_has_the_seed_in_its_name_is_one_row() -> None:
    named = [replace(each, encoder=f"bow?dim=8&seed={each.seed}") for each in DRAWS]
    assert one_table(*named).encoders == ("bow?dim=8",)
    fixed = [replace(each, encoder="bow?seed=0") for each in DRAWS]
    assert one_table(*fixed).encoders == ("bow?seed=0",)
    both = [replace(e, encoder="bow") for e in DRAWS] + [
        replace(e, encoder=f"bow?seed={e.seed}") for e in DRAWS
    ]
    assert len(settings(Results(tuple(both)))) == 3  # which of the two would a row "bow" be?


def test_a_cell_is_over_all_draws() -> None:
    table = one_table(*DRAWS)
    first, second = grid(table, style=CellStyle(sources=True, all_rows=True)).rows[:2]
    assert first.cells[0].text == "86.1 ± 2.3 (draws 2.5, probes 0.1)"
    assert second.cells[0].text == "50.0 ± 0.0 (draws 0.0)"
    figure = figure_of(DRAWS, Condition.PROBE)
    assert figure is not None
    assert figure.interval.low == pytest.approx(0.8613 - 4.303 * 0.02533 / 3**0.5, abs=1e-3)
    assert figure_of(DRAWS, Condition.BAG_OF_WORDS) is None


def test_of_stored_data_the_interval_is_still_for_the_choice_of_items() -> None:
    stored = [
        replace(each, data=replace(FACTS, seed=None), dataset_fingerprint="0") for each in DRAWS
    ]
    figure = figure_of(one_table(*stored).records, Condition.PROBE)
    assert figure is not None
    assert figure.interval.high - figure.interval.low == pytest.approx(0.043, abs=0.001)
    said = explain(one_table(*stored))
    assert "New in each draw (seeds 0, 10, 20): the weights, the probes. The same" in said
    assert "The same in each: the data." in said


def test_the_lines_say_what_plus_minus_is() -> None:
    said = explain(one_table(*DRAWS))
    assert "mean ± standard deviation over 3 draws of 2 probes each." in said
    assert "New in each draw (seeds 0, 10, 20): the data, the weights, the probes." in said
    assert "between draws is 2.5 points, between the probes of one draw 0.1 (--sources" in said
    assert said.count("Data: ") == 3
    fixed = [replace(each, encoder_seed=None, encoder_fingerprint="0") for each in DRAWS]
    assert "The same in each: the vectors." in explain(one_table(*fixed))
    singles = explain(one_table(*(draw(seed, 870 - seed) for seed in (0, 10))))
    assert "Each has one probe, so that it holds what probes differ by as well" in singles


def test_intervals_are_called_what_they_are() -> None:
    """Those over draws are not widened for items that belong together; those of items are."""
    units = tuple(item // 2 for item in range(1000))
    paired = [replace(each, units=units) for each in DRAWS]
    new = explain(one_table(*paired))
    assert "(--intervals shows each) are Student's t over the draws' means, for other" in new
    assert "widened" not in new
    same = [replace(each, dataset_fingerprint="0") for each in paired]
    old = explain(one_table(*same))
    assert "(--intervals shows each) are Wilson's, for the choice of test items alone." in old
    assert "intervals are widened for it" in old
    others = [replace(each, task="SemRole") for each in same]
    both = explain(one_table(*paired, *others))
    assert "Student's t over the draws' means; on SemRole, Wilson's, for" in both
    assert "intervals are widened for it" in both
    assert "intervals are widened for it" in explain(one_table(paired[0]))


def test_one_draw_says_what_it_does_not_tell() -> None:
    one = explain(Results((draw(0, 878),)))
    assert "Each figure is of one draw and one probe (seed 0)." in one
    assert "for the choice of test items alone, is 2.0 points to either side" in one
    assert "is not known: --seeds 5 and --draws 3 tell." in one
    probes = explain(Results((draw(10, 878, 876, 870),)))
    assert "± is over probes that differ in their seed alone (seeds 10 to 12)" in probes
    assert "Other data or other untrained weights may change a figure by more" in probes


def test_draws_are_shown_without_scipy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.stats", None)
    others = [draw(seed, 500, encoder="bow") for seed in (0, 10, 20)]
    table = one_table(*DRAWS, *others)
    assert "between draws is" in explain(table)
    assert len(grid(table, style=CellStyle(intervals=True)).rows) == 2


def test_each_draw_has_its_sanity_runs() -> None:
    runs = sanity_runs(one_table(*DRAWS))
    assert [run.name for run in runs] == [
        f"random sentences (dim 3) on Order (seed {seed})" for seed in (0, 10, 20)
    ]


def test_encoders_are_compared_over_draws() -> None:
    others = [
        replace(draw(seed, right, encoder="bow"), dataset_fingerprint=f"Order {seed}")
        for seed, right in ((0, 500), (10, 460), (20, 495))
    ]
    table = one_table(*DRAWS, *others)
    (found,) = compare_encoders(table)
    assert (found.draws, found.paired.wins, found.significant) == (3, 3, True)
    assert found.accuracies == pytest.approx((0.8613, 0.485), abs=1e-3)
    mirrored = Results(tuple(replace(each, mirrored=True) for each in table.records))
    assert [row.cells[0].best for row in grid(mirrored).rows[:2]] == [True, False]
    moved = [replace(each, dataset_fingerprint="else") for each in others]
    with pytest.raises(ResultsError, match="only answers to the same items can be compared"):
        compare_encoders(Results((*DRAWS, *moved)))
