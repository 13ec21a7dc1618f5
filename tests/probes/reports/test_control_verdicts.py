"""Notes below a table: the measure of the figures, and the verdict on the controls."""

from dataclasses import replace
from math import sqrt
from statistics import NormalDist

import pytest
from helpers.strategies.probe_strategies import make_sample_result as sample
from helpers.strategies.probe_strategies import make_seed_score

from sentprobe.probes.classifier.presets import find_preset, override
from sentprobe.probes.reports.control_verdicts import ControlVerdict, find_controls
from sentprobe.probes.reports.tables.table_notes import describe_all
from sentprobe.probes.results.result import Condition, Result, Results, make_score
from sentprobe.probes.statistics import chance_interval

SAMPLE = Results(
    (
        sample("bow", "content1", 900, 500, 510, 880),
        sample("bow", "order", 551, 490, 505, 500, mirrored=True),
        sample("st:a|b", "content1", 887, 500, 501, 880),
    )
)


def test_controls_at_chance() -> None:
    text = describe_all(SAMPLE)
    assert "Accuracy in % on 1000 test items. Chance, the share of the most frequent label, is 50.0" in text
    assert "on every task." in text
    # Two of random sentences (shared), three of random probe words, one bag of words that must be.
    assert "All 6 controls that must be at chance are inside their intervals around chance." in text
    assert "The intervals are made so that, without a leak, 99% of tables have all controls inside." in text
    assert text.endswith(
        "content1: the words alone (bags of random word vectors, as wide as each encoder's vectors) reach 88.0, "
        "above chance; compare encoders with that, not with chance.\n"
    )


def test_the_run_nearest_to_the_edge_is_named() -> None:
    """By its share of the way from chance to the end of its own interval."""
    wide = replace(mirrored_bag(agree=True, right=275), task="wide")
    narrow = sample("st", "narrow", 600, 540)
    for results, nearest in (
        (SAMPLE, "random probe words of bow on content1, 51.0 (interval around chance: 45.0 to 55.0)"),
        (Results((wide, narrow)), "random sentences (dim 3) on narrow, 54.0 (interval around chance: "),
        (Results((wide, sample("st", "narrow", 600, 485))), "on wide, 55.0 (interval around chance: 43.7 to 56.3)"),
    ):
        (line,) = [result for result in describe_all(results).splitlines() if result.startswith("All ")]
        assert nearest in line.partition(" The control closest to an end of its interval: ")[2]
        assert line.endswith(").")


def test_a_run_at_exactly_chance_is_nowhere_near() -> None:
    runs = find_controls(Results((sample("bow", "order", 600, 500, 490),)))
    assert [run.strain == 0 for run in runs] == [True, False]
    assert all(0 <= run.strain <= 1 for run in runs)


def test_sizes_that_differ_are_told_for_each_task() -> None:
    short = sample("bow", "Tense", 20)
    score = make_score([make_seed_score([True] * 20 + [False] * 6)], ())
    some = replace(short, scores={Condition.PROBE: score})
    text = describe_all(Results((some, sample("bow", "WC", 600), sample("bow", "SOMO", 600))))
    assert "Accuracy in % on 26 test items of Tense, 1000 of WC, 1000 of SOMO. Chance" in text


def test_what_encoders_share_comes_once() -> None:
    names = [run.name for run in find_controls(SAMPLE)]
    assert names == [
        "random sentences (dim 3) on content1",
        "random probe words of bow on content1",
        "bag of words (dim 3) on content1",
        "random sentences (dim 3) on order",
        "random probe words of bow on order",
        "bag of words (dim 3) on order",
        "random probe words of st:a|b on content1",
    ]


def test_controls_outside_are_named() -> None:
    results = Results((sample("bow", "order", 600, 500, 546), sample("st", "order", 600, 500, 547)))
    lines = describe_all(results).splitlines()
    assert lines[-3:] == [
        "1 of 3 controls that must be at chance is outside the interval; in 99% of tables without a leak, none is:",
        "  random probe words of st on order: 54.7, above chance (45.4 to 54.6 expected)",
        "  Above chance: first repeat the run with another --seed. If the control is above chance "
        "again, something other than the sentence or the question reveals the answer: do not "
        "believe that column.",
    ]


@pytest.mark.parametrize("count", [1, 2, 10, 57])
def test_a_sound_table_is_flagged_once_in_a_hundred(count: int) -> None:
    """Each run misses with 0.01 / count, by the normal distribution; a leaky bag is not counted."""
    records = [sample(str(i), "order", 600, 500) for i in range(count)]
    tasks = [replace(record, task=record.encoder) for record in records]
    bag = sample("bow", "content1", 600, 500, 500, 900)
    bag = replace(bag, scores={k: bag.scores[k] for k in (Condition.PROBE, Condition.BAG_OF_WORDS)})
    runs = find_controls(Results((*tasks, bag)))
    assert sum(run.must_be_at_chance for run in runs) == count
    normal = NormalDist(0.5, sqrt(0.25 / 1000))
    for run in runs:
        missed = normal.cdf(run.expected.low) + 1 - normal.cdf(run.expected.high)
        assert count * missed == pytest.approx(0.01)


def test_probes_that_did_not_converge_are_counted() -> None:
    record = sample("bow", "order", 600, 500, seeds=3)
    cut = [replace(probe, converged=False) for probe in record.scores[Condition.PROBE].seeds]
    some = make_score([*cut[:2], record.scores[Condition.PROBE].seeds[2]], ())
    # Unconverged probes of a control do not count.
    for score, line in (
        (some, "2 of 6 probes were stopped by max_epochs before they converged; more epochs may"),
        (make_score(cut[:1], ()), "1 of 4 probes was stopped by max_epochs before it converged;"),
    ):
        changed = replace(record, scores={**record.scores, Condition.PROBE: score})
        assert line in describe_all(Results((changed, replace(record, task="content1"))))
    control_only = {**record.scores, Condition.RANDOM_SENTENCES: some}
    assert "max_epochs before" not in describe_all(Results((replace(record, scores=control_only),)))


def test_below_chance_is_no_leak() -> None:
    lines = describe_all(Results((sample("bow", "order", 600, 458),))).splitlines()
    assert lines[-1].startswith("  random sentences (dim 3) on order: 45.8, below chance")


def test_where_labels_are_not_balanced_below_chance_is_expected() -> None:
    skewed = replace(sample("bow", "length", 600, 415, 415), majority=0.6)
    assert {run.verdict for run in find_controls(Results((skewed,)))} == {ControlVerdict.AT_CHANCE}
    (run, _) = find_controls(Results((replace(sample("bow", "x", 600, 650, 415), majority=0.6),)))
    assert run.verdict is ControlVerdict.ABOVE


def test_a_bag_of_words_must_not_know_mirror_pairs() -> None:
    lines = describe_all(Results((mirrored_bag(agree=True, right=300),))).splitlines()
    assert "  bag of words (dim 3) on order: 60.0, above chance (44.2 to 55.8 expected)" in lines


def test_a_bag_of_words_that_does_not_know() -> None:
    text = describe_all(Results((sample("bow", "content1", 600, 500, 500, 501),)))
    assert text.endswith("content1: bags of random word vectors are not above chance (50.1).\n")


def mirrored_bag(*, agree: bool, right: int) -> Result:
    """Make a result on 500 pairs: both right, or one of each."""
    pairs = [(True, agree or pair >= right) for pair in range(right)]
    pairs += [(False, not agree)] * (500 - right)
    score = make_score([make_seed_score([item for pair in pairs for item in pair])], [i // 2 for i in range(1000)])
    result = sample("bow", "order", 500, mirrored=True)
    return replace(result, scores={Condition.PROBE: score, Condition.BAG_OF_WORDS: score})


def test_pairs_that_agree_count_as_one() -> None:
    (run,) = find_controls(Results((mirrored_bag(agree=True, right=250),)))
    assert run.verdict is ControlVerdict.AT_CHANCE
    narrow = chance_interval(0.5, 500, confidence=0.99)
    assert abs(run.expected.low - narrow.low) < 1e-3


def test_units_are_spoken_of() -> None:
    assert "are not independent" in describe_all(SAMPLE)
    assert "are not independent" not in describe_all(Results(SAMPLE.records[:1]))


def test_without_controls_there_is_no_verdict() -> None:
    text = describe_all(Results((sample("bow", "order", 500),)))
    assert text.splitlines()[-1] == ("No controls were run (--no-controls), so nothing tests these figures.")
    assert "at chance" not in text


def test_runs_with_and_without_controls() -> None:
    some = Results((sample("bow", "order", 500, 500), sample("st", "order", 500)))
    text = describe_all(some)
    assert "No controls were run for st on order (--no-controls), so nothing tests" in text
    assert "All 1 controls" in text


def test_a_baseline_needs_no_controls() -> None:
    baseline = replace(sample("majority", "order", 500), dim=0)
    assert "anity" not in describe_all(Results((baseline,)))


def test_baselines_alone_name_no_classifier() -> None:
    baseline = replace(sample("length", "order", 500), dim=0, probe_vectors="encoder")
    text = describe_all(Results((baseline,)))
    assert "classifier" not in text
    assert "word vectors" not in text
    both = describe_all(Results((baseline, sample("bow", "order", 500, 500))))
    assert both.count("classifier: ettinger (") == 1


def test_the_precision_is_stated() -> None:
    record = sample("bow", "order", 500, seeds=3)
    assert "Probes were trained in float32." in describe_all(Results((record,))).splitlines()
    seeds = [replace(s, precision="bfloat16") for s in record.scores[Condition.PROBE].seeds]
    fast = replace(record, encoder="st", scores={Condition.PROBE: make_score(seeds, ())})
    start, end = "In training, matrix products of the first layer use bfloat16", "; all else uses float32."
    assert f"{start}{end}" in describe_all(Results((fast,)))
    assert f"{start} (3 probes) or float32 (3 probes){end}" in describe_all(Results((record, fast)))
    none = [replace(probe, precision="") for probe in seeds]
    baseline = replace(record, scores={Condition.PROBE: make_score(none, ())})
    assert "float32" not in describe_all(Results((baseline,)))


def test_skewed_labels_are_spoken_of() -> None:
    skewed = replace(sample("bow", "length", 600), majority=0.6, labels=2)
    text = describe_all(Results((sample("bow", "order", 600), skewed)))
    assert "The labels of length are not equally frequent: chance is the share of the most freq" in text
    assert "equally frequent" not in describe_all(Results((sample("bow", "order", 600),)))


def test_the_number_of_labels_decides_what_is_skewed() -> None:
    """A half of the items is no excess of two labels, and is one of three."""
    expected = [
        find_controls(Results((replace(sample("bow", "x", 600, 415), labels=labels),)))[0].expected.low
        for labels in (2, 3, None)
    ]
    assert expected[0] > 0.4
    assert expected[1] == 0
    assert expected[2] == expected[0]


def test_seeds_are_stated() -> None:
    text = describe_all(Results((sample("bow", "order", 500, seeds=3),)))
    assert "on 1000 test items, mean ± half the 95% interval over 3 seeds." in text


def test_the_classifier_is_stated() -> None:
    preset = override(find_preset("ettinger"), [("hidden", "50"), ("scaling", "as-is")])
    results = Results((*SAMPLE.records, replace(SAMPLE.records[0], preset=preset)))
    assert describe_all(results).splitlines()[:2] == [f"classifier: {find_preset('ettinger')}", f"classifier: {preset}"]


def test_chance_that_differs_is_told_for_each_task() -> None:
    skewed = replace(sample("bow", "length", 600, 600, 600), majority=0.6)
    text = describe_all(Results((sample("bow", "order", 600, 500, 500), skewed)))
    assert "is 50.0 on order, 60.0 on length." in text
    assert "All 4 controls" in text
