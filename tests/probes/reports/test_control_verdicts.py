"""Notes below a table: the measure of the figures, and the verdict on the controls."""

from dataclasses import replace
from math import sqrt
from statistics import NormalDist

import pytest
from helpers.runs.reviewed_runs import change_probes, round_probes
from helpers.strategies.probe_strategies import make_sample_result as sample
from helpers.strategies.probe_strategies import make_seed_score
from syrupy.assertion import SnapshotAssertion

from sentprobe.probes.classifier.presets import find_preset, override
from sentprobe.probes.reports.control_verdicts import CONFIDENCE, ControlVerdict, estimate_rarity, find_controls
from sentprobe.probes.reports.tables.notes import TableFacts, summarize_controls
from sentprobe.probes.reports.tables.table_notes import describe_all
from sentprobe.probes.results.result import Condition, Result, Results, make_score
from sentprobe.probes.statistics import Interval, chance_interval

SAMPLE = Results(
    (
        sample("bow", "content1", 900, 500, 510, 880),
        sample("bow", "order", 551, 490, 505, 500, mirrored=True),
        sample("st:a|b", "content1", 887, 500, 501, 880),
    )
)


def mirrored_bag(*, agree: bool, right: int) -> Result:
    """Make a result on 500 pairs: both right, or one of each."""
    pairs = [(True, agree or pair >= right) for pair in range(right)]
    pairs += [(False, not agree)] * (500 - right)
    score = make_score([make_seed_score([item for pair in pairs for item in pair])], [i // 2 for i in range(1000)])
    result = sample("bow", "order", 500, mirrored=True)
    return replace(result, scores={Condition.PROBE: score, Condition.BAG_OF_WORDS: score})


def list_noted_tables() -> dict[str, tuple[Result, ...]]:
    """Return tables whose notes are stored, by what they have."""
    order, three = sample("bow", "order", 600, 500), sample("bow", "order", 600, 500, seeds=3)
    rounded = round_probes(replace(three, encoder="st"))
    baseline = replace(sample("length", "order", 500), dim=0, probe_vectors="encoder")
    preset = override(find_preset("ettinger"), [("hidden", "50"), ("scaling", "as-is")])
    few_items = make_score([make_seed_score([True] * 20 + [False] * 6)], ())
    unlike_sizes = replace(sample("bow", "Tense", 20), scores={Condition.PROBE: few_items})
    stopped = change_probes(three, lambda probe: replace(probe, converged=False), Condition.PROBE)
    partly_stopped = change_probes(three, lambda probe: replace(probe, converged=probe.seed > 1), Condition.PROBE)
    control_only = {**three.scores, Condition.RANDOM_SENTENCES: stopped.scores[Condition.PROBE]}
    return {
        "controls at chance": SAMPLE.records,
        "controls outside": (sample("bow", "order", 600, 500, 546), sample("st", "order", 600, 500, 547)),
        "control below chance": (sample("bow", "order", 600, 458),),
        "bag knows mirror pairs": (mirrored_bag(agree=True, right=300),),
        "bag at chance": (sample("bow", "content1", 600, 500, 500, 501),),
        "no units": SAMPLE.records[:1],
        "no controls": (sample("bow", "order", 500),),
        "some controls": (sample("bow", "order", 500, 500), sample("st", "order", 500)),
        "majority alone": (replace(sample("majority", "order", 500), dim=0),),
        "baseline alone": (baseline,),
        "baseline and encoder": (baseline, sample("bow", "order", 500, 500)),
        "sizes": (unlike_sizes, sample("bow", "WC", 600), sample("bow", "SOMO", 600)),
        "chance": (order, replace(sample("bow", "length", 600, 600, 600), majority=0.6)),
        "skewed labels": (order, replace(sample("bow", "length", 600), majority=0.6, labels=2)),
        "precision bfloat16": (rounded,),
        "precision of both": (three, rounded),
        "precision unknown": (change_probes(three, lambda probe: replace(probe, precision=""), Condition.PROBE),),
        "classifiers": (*SAMPLE.records, replace(SAMPLE.records[0], preset=preset)),
        "two of six stopped": (partly_stopped, replace(three, task="content1")),
        "one of four stopped": (
            change_probes(order, lambda probe: replace(probe, converged=False), Condition.PROBE),
            replace(three, task="content1"),
        ),
        "control stopped": (replace(three, scores=control_only),),
    }


def test_notes_of_controls(stored_text: SnapshotAssertion) -> None:
    notes = [f"{name}:\n{describe_all(Results(records))}" for name, records in list_noted_tables().items()]
    assert "\n".join(notes) == stored_text


def test_control_nearest_to_edge_is_named() -> None:
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


@pytest.mark.parametrize("count", [1, 31, 400])
def test_rarity_is_that_of_the_interval(count: int) -> None:
    """At an interval's end, it is the share of tables that some interval misses; further away, it is smaller."""
    run = next(run for run in find_controls(SAMPLE) if run.score.accuracy > run.result.majority)
    chance, distance = run.result.majority, run.score.accuracy - run.result.majority
    expected = [Interval(chance - width * distance, chance + width * distance) for width in (2, 1, 0.5)]
    shares = [estimate_rarity(replace(run, expected=interval), count=count) for interval in expected]
    assert shares[1] == pytest.approx(1 - CONFIDENCE)
    assert 1 >= shares[0] > shares[1] > shares[2] >= 0


def test_command_that_decides_is_named() -> None:
    order = sample("bow", "order", 600, 800)
    for command, end in (
        ("probe run compeval --out x", "before probe run compeval --seed 100 --out AGAIN has it at chance."),
        ("probe run 'a b' --seed=3 -o x -e bow", "before probe run 'a b' -e bow --seed 100 --out AGAIN has it"),
        ("probe run x; curl y | sh #", "before probe run 'x;' curl y '|' sh '#' --seed 100 --out AGAIN has it"),
        *(
            (other, "before a repetition with another seed, such as 100, has it")
            for other in ("", "probe run '", "rm x")
        ),
    ):
        assert end in " ".join(summarize_controls(TableFacts(Results((replace(order, command=command),)))))


def test_control_at_chance_has_no_strain() -> None:
    runs = find_controls(Results((sample("bow", "order", 600, 500, 490),)))
    assert [run.strain == 0 for run in runs] == [True, False]
    assert all(0 <= run.strain <= 1 for run in runs)


def test_shared_controls_come_once() -> None:
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


@pytest.mark.parametrize("count", [1, 2, 10, 57])
def test_sound_table_fails_once_in_hundred(count: int) -> None:
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


def test_below_chance_is_expected_if_skewed() -> None:
    skewed = replace(sample("bow", "length", 600, 415, 415), majority=0.6)
    assert {run.verdict for run in find_controls(Results((skewed,)))} == {ControlVerdict.AT_CHANCE}
    (run, _) = find_controls(Results((replace(sample("bow", "x", 600, 650, 415), majority=0.6),)))
    assert run.verdict is ControlVerdict.ABOVE


def test_pairs_that_agree_count_as_one() -> None:
    (run,) = find_controls(Results((mirrored_bag(agree=True, right=250),)))
    assert run.verdict is ControlVerdict.AT_CHANCE
    narrow = chance_interval(0.5, 500, confidence=0.99)
    assert abs(run.expected.low - narrow.low) < 1e-3


def test_number_of_labels_decides_skew() -> None:
    """A half of the items is no excess of two labels, and is one of three."""
    expected = [
        find_controls(Results((replace(sample("bow", "x", 600, 415), labels=labels),)))[0].expected.low
        for labels in (2, 3, None)
    ]
    assert expected[0] > 0.4
    assert expected[1] == 0
    assert expected[2] == expected[0]
