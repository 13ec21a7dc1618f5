"""What is said below a table: what the figures are of, and the verdict on the sanity runs."""

from dataclasses import replace
from math import sqrt
from statistics import NormalDist

import pytest
from probe_strategies import sample_result as sample
from probe_strategies import seed_score

from sentprobe.probes.report.sanity import SanityVerdict, sanity_runs
from sentprobe.probes.report.tables import explain
from sentprobe.probes.runs.results import Condition, Result, Results, make_score
from sentprobe.probes.statistics import around
from sentprobe.probes.trainer.presets import find_preset, override

SAMPLE = Results(
    (
        sample("bow", "content1", 900, 500, 510, 880),
        sample("bow", "order", 551, 490, 505, 500, mirrored=True),
        sample("st:a|b", "content1", 887, 500, 501, 880),
    )
)


def test_sanity_runs_at_chance() -> None:
    said = explain(SAMPLE)
    assert "Accuracy in % on 1000 test items. Chance (always the commonest label) is 50.0" in said
    assert "on every task." in said
    # Two of random sentences (shared), three of random probes, one bag of words that must be.
    assert "All 6 sanity runs that must be at chance are inside the interval in which 99%" in said
    assert said.endswith(
        "content1: a bag of random word vectors is above chance (88.0), so the words alone tell "
        "that much; compare encoders with it, not with chance.\n"
    )


def test_the_run_nearest_to_the_edge_is_named() -> None:
    """By its share of the way from chance to the end of its own interval."""
    wide = replace(mirrored_bag(agree=True, right=275), task="wide")
    narrow = sample("st", "narrow", 600, 540)
    for results, nearest in (
        (SAMPLE, "bow, random probes on content1, 51.0, interval 45.0 to 55.0"),
        (Results((wide, narrow)), "random sentences (dim 3) on narrow, 54.0, interval "),
        (Results((wide, sample("st", "narrow", 600, 485))), "on wide, 55.0, interval 43.7 to 56.3"),
    ):
        (line,) = [each for each in explain(results).splitlines() if each.startswith("All ")]
        assert nearest in line.partition(" (nearest to the edge: ")[2]
        assert line.endswith(").")


def test_a_run_at_exactly_chance_is_nowhere_near() -> None:
    runs = sanity_runs(Results((sample("bow", "order", 600, 500, 490),)))
    assert [run.strain == 0 for run in runs] == [True, False]
    assert all(0 <= run.strain <= 1 for run in runs)


def test_sizes_that_differ_are_told_for_each_task() -> None:
    short = sample("bow", "Tense", 20)
    score = make_score([seed_score([True] * 20 + [False] * 6)], ())
    some = replace(short, scores={Condition.PROBE: score})
    said = explain(Results((some, sample("bow", "WC", 600), sample("bow", "SOMO", 600))))
    assert "Accuracy in % on 26 test items of Tense, 1000 of WC, 1000 of SOMO. Chance" in said


def test_what_encoders_share_comes_once() -> None:
    names = [run.name for run in sanity_runs(SAMPLE)]
    assert names == [
        "random sentences (dim 3) on content1",
        "bow, random probes on content1",
        "bag of words (dim 3) on content1",
        "random sentences (dim 3) on order",
        "bow, random probes on order",
        "bag of words (dim 3) on order",
        "st:a|b, random probes on content1",
    ]


def test_sanity_runs_outside_are_named() -> None:
    results = Results((sample("bow", "order", 600, 500, 546), sample("st", "order", 600, 500, 547)))
    lines = explain(results).splitlines()
    assert lines[-3:] == [
        "1 of 3 sanity runs that must be at chance is outside the interval in which 99% of "
        "sound tables have all of theirs:",
        "  st, random probes on order: 54.7, above chance (45.4 to 54.6 expected)",
        "  Above chance: repeat the run with another --seed first. If it is above again, something "
        "besides the sentence, or besides the question, gives the answer away; do not believe that "
        "column.",
    ]


@pytest.mark.parametrize("count", [1, 2, 10, 57])
def test_a_sound_table_is_flagged_once_in_a_hundred(count: int) -> None:
    """Each run misses with 0.01 / count, by the normal distribution; a leaky bag is not counted."""
    records = [sample(str(i), "order", 600, 500) for i in range(count)]
    tasks = [replace(record, task=record.encoder) for record in records]
    bag = sample("bow", "content1", 600, 500, 500, 900)
    bag = replace(bag, scores={k: bag.scores[k] for k in (Condition.PROBE, Condition.BAG_OF_WORDS)})
    runs = sanity_runs(Results((*tasks, bag)))
    assert sum(run.must_be_at_chance for run in runs) == count
    normal = NormalDist(0.5, sqrt(0.25 / 1000))
    for run in runs:
        missed = normal.cdf(run.expected.low) + 1 - normal.cdf(run.expected.high)
        assert count * missed == pytest.approx(0.01)


def test_probes_that_did_not_converge_are_counted() -> None:
    record = sample("bow", "order", 600, 500, seeds=3)
    cut = [replace(each, converged=False) for each in record.scores[Condition.PROBE].seeds]
    some = make_score([*cut[:2], record.scores[Condition.PROBE].seeds[2]], ())
    # Those of a sanity run do not count.
    for score, line in (
        (some, "2 of 6 probes were stopped by max_epochs before they converged; more passes may"),
        (make_score(cut[:1], ()), "1 of 4 probes was stopped by max_epochs before it converged;"),
    ):
        changed = replace(record, scores={**record.scores, Condition.PROBE: score})
        assert line in explain(Results((changed, replace(record, task="content1"))))
    sanity_only = {**record.scores, Condition.RANDOM_SENTENCES: some}
    assert "max_epochs before" not in explain(Results((replace(record, scores=sanity_only),)))


def test_below_chance_is_no_leak() -> None:
    lines = explain(Results((sample("bow", "order", 600, 458),))).splitlines()
    assert lines[-1].startswith("  random sentences (dim 3) on order: 45.8, below chance")


def test_where_labels_are_not_balanced_below_chance_is_expected() -> None:
    skewed = replace(sample("bow", "length", 600, 415, 415), majority=0.6)
    assert {run.verdict for run in sanity_runs(Results((skewed,)))} == {SanityVerdict.AT_CHANCE}
    (run, _) = sanity_runs(Results((replace(sample("bow", "x", 600, 650, 415), majority=0.6),)))
    assert run.verdict is SanityVerdict.ABOVE


def test_a_bag_of_words_must_not_know_mirror_pairs() -> None:
    lines = explain(Results((mirrored_bag(agree=True, right=300),))).splitlines()
    assert "  bag of words (dim 3) on order: 60.0, above chance (44.2 to 55.8 expected)" in lines


def test_a_bag_of_words_that_does_not_know() -> None:
    said = explain(Results((sample("bow", "content1", 600, 500, 500, 501),)))
    assert said.endswith("content1: a bag of random word vectors is not above chance (50.1).\n")


def mirrored_bag(*, agree: bool, right: int) -> Result:
    """A result on 500 pairs: both right, or one of each."""
    pairs = [(True, agree or pair >= right) for pair in range(right)]
    pairs += [(False, not agree)] * (500 - right)
    score = make_score(
        [seed_score([item for pair in pairs for item in pair])], [i // 2 for i in range(1000)]
    )
    result = sample("bow", "order", 500, mirrored=True)
    return replace(result, scores={Condition.PROBE: score, Condition.BAG_OF_WORDS: score})


def test_pairs_that_agree_count_as_one() -> None:
    (run,) = sanity_runs(Results((mirrored_bag(agree=True, right=250),)))
    assert run.verdict is SanityVerdict.AT_CHANCE
    narrow = around(0.5, 500, confidence=0.99)
    assert abs(run.expected.low - narrow.low) < 1e-3


def test_units_are_spoken_of() -> None:
    assert "are not independent" in explain(SAMPLE)
    assert "are not independent" not in explain(Results(SAMPLE.records[:1]))


def test_without_sanity_runs_there_is_no_verdict() -> None:
    said = explain(Results((sample("bow", "order", 500),)))
    assert said.splitlines()[-1] == (
        "No sanity runs were made (--no-controls): nothing here says whether to believe these "
        "figures."
    )
    assert "at chance" not in said


def test_runs_with_and_without_sanity_runs() -> None:
    some = Results((sample("bow", "order", 500, 500), sample("st", "order", 500)))
    said = explain(some)
    assert "No sanity runs were made of st on order (--no-controls): nothing here says" in said
    assert "All 1 sanity runs" in said


def test_a_baseline_needs_no_sanity_runs() -> None:
    baseline = replace(sample("majority", "order", 500), dim=0)
    assert "anity" not in explain(Results((baseline,)))


def test_baselines_alone_name_no_classifier() -> None:
    baseline = replace(sample("length", "order", 500), dim=0, probe_vectors="encoder")
    said = explain(Results((baseline,)))
    assert "classifier" not in said
    assert "word vectors" not in said
    both = explain(Results((baseline, sample("bow", "order", 500, 500))))
    assert both.count("classifier: ettinger (") == 1


def test_the_precision_is_stated() -> None:
    record = sample("bow", "order", 500, seeds=3)
    assert "Trained in float32." in explain(Results((record,))).splitlines()
    seeds = [replace(s, precision="bfloat16") for s in record.scores[Condition.PROBE].seeds]
    fast = replace(record, encoder="st", scores={Condition.PROBE: make_score(seeds, ())})
    what = "(the first layer's products; all else is float32)."
    assert f"Trained in bfloat16 {what}" in explain(Results((fast,)))
    assert f"Trained in bfloat16 (3 probes) and float32 (3 probes) {what}" in explain(
        Results((record, fast))
    )
    none = [replace(each, precision="") for each in seeds]
    baseline = replace(record, scores={Condition.PROBE: make_score(none, ())})
    assert "Trained" not in explain(Results((baseline,)))


def test_skewed_labels_are_spoken_of() -> None:
    skewed = replace(sample("bow", "length", 600), majority=0.6, labels=2)
    said = explain(Results((sample("bow", "order", 600), skewed)))
    assert "The labels of length are not equally common: chance is the share of the comm" in said
    assert "equally common" not in explain(Results((sample("bow", "order", 600),)))


def test_the_number_of_labels_decides_what_is_skewed() -> None:
    """A half of the items is no excess of two labels, and is one of three."""
    expected = [
        sanity_runs(Results((replace(sample("bow", "x", 600, 415), labels=labels),)))[
            0
        ].expected.low
        for labels in (2, 3, None)
    ]
    assert expected[0] > 0.4
    assert expected[1] == 0
    assert expected[2] == expected[0]


def test_seeds_are_stated() -> None:
    said = explain(Results((sample("bow", "order", 500, seeds=3),)))
    assert "on 1000 test items, mean ± standard deviation over 3 seeds." in said


def test_the_classifier_is_stated() -> None:
    preset = override(find_preset("ettinger"), [("hidden", "50"), ("scaling", "as-is")])
    results = Results((*SAMPLE.records, replace(SAMPLE.records[0], preset=preset)))
    assert explain(results).splitlines()[:2] == [
        f"classifier: {find_preset('ettinger')}",
        f"classifier: {preset}",
    ]


def test_chance_that_differs_is_told_for_each_task() -> None:
    skewed = replace(sample("bow", "length", 600, 600, 600), majority=0.6)
    said = explain(Results((sample("bow", "order", 600, 500, 500), skewed)))
    assert "is 50.0 on order, 60.0 on length." in said
    assert "All 4 sanity runs" in said
