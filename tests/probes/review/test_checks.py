"""Each check finds the run with its fault; a sound run has no finding."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain

import pytest
from helpers.runs.reviewed_runs import (
    GOOD,
    SOUND,
    change_encoder,
    change_probes,
    find_by,
    make_draw,
    make_draws,
    round_probes,
)
from helpers.shared import ROOT
from helpers.strategies.probe_strategies import results as any_results
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.probes.classifier.presets import find_preset
from sentprobe.probes.results.result import Condition, Provenance, Result, Results
from sentprobe.probes.review.checks import CHECKS, review_results
from sentprobe.probes.review.claim_finding import ClaimFinding, Severity
from sentprobe.probes.review.significance_checks import PAIR_CHECKS

SEVERE, WARNING, NOTE = Severity
FindingKey = tuple[str, Severity, str]
"""The check of a finding, its severity, and the encoder."""


def list_keys(findings: Sequence[ClaimFinding]) -> list[FindingKey]:
    return [(finding.check, finding.severity, finding.encoder) for finding in findings]


def change_poor(change: Callable[[Result], Result]) -> Results:
    return change_encoder(change, encoder="poor")


def stop_probes(condition: Condition, last: int) -> Callable[[Result], Result]:
    """Return a change after which probes up to a seed did not converge."""
    return lambda result: change_probes(
        result, lambda probe: replace(probe, converged=probe.seed > result.seed + last), condition
    )


def join_runs(*runs: Results) -> Results:
    return Results(tuple(chain.from_iterable(run.records for run in runs)))


def test_sound_run_has_no_finding() -> None:
    review = review_results(SOUND)
    assert (review.findings, review.has_severe_finding) == ((), False)


def test_layers_at_last_token_are_noted() -> None:
    def place(position: str, *layers: int) -> Results:
        runs = [make_draws(f"m, layer {layer}", 700 + layer, 704, 694).records for layer in layers]
        return Results(
            tuple(
                replace(record, layer=layer, position=position, family="m")
                for layer, records in zip(layers, runs, strict=True)
                for record in records
            )
        )

    (finding,) = find_by("last-token", join_runs(place("last", 0, 1, 3), GOOD))
    assert (finding.severity, finding.encoder, finding.task) == (NOTE, "m", "Order")
    assert finding.problem.startswith("The vectors are states of the last token: figures at low layers tell the last t")
    assert finding.figures == ("layers 0 to 3",)
    assert "pool=mean" in finding.advice
    assert find_by("last-token", join_runs(place("mean", 0, 1), place("last", 3), GOOD)) == []


CONDITIONS = [Condition.RANDOM_SENTENCES, Condition.BAG_OF_WORDS, Condition.NO_SENTENCE]


@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize(("right", "severity"), [(650, SEVERE), (350, WARNING)])
def test_control_that_fails(condition: Condition, right: int, severity: Severity) -> None:
    run = join_runs(GOOD, make_draws("poor", 700, 704, 694))
    draws = [make_draw(record.encoder, int(1000 * record.accuracy), seed=record.seed,
                   control_counts={condition: right if record.seed == 10 else 500})
            for record in run.records]  # fmt: skip
    (finding,) = review_results(Results(tuple(draws))).findings
    assert list_keys([finding]) == [("controls", severity, "")]
    assert (finding.task, finding.draw) == ("Order", "10")
    (figure,) = finding.figures
    assert f"{right / 10:.1f}, {'above' if right > 500 else 'below'} chance" in figure


def test_control_of_one_encoder_names_it() -> None:
    draw = make_draw("poor", 700, control_counts={Condition.RANDOM_PROBES: 650})
    (finding,) = find_by("controls", Results((draw, make_draw("good", 950))))
    assert finding.encoder == "poor"


def drop_controls(result: Result) -> Result:
    return replace(result, scores={Condition.PROBE: result.scores[Condition.PROBE]})


def change_data(result: Result) -> Result:
    return replace(result, dataset_fingerprint=f"{result.dataset_fingerprint}, changed")


LATER = Provenance("", {"torch": "2.14.0"}, "cpu")
FAULTS: list[tuple[Callable[[Result], Result], FindingKey, str]] = [
    (drop_controls, ("controls", SEVERE, "poor"), "There are no controls"),
    (lambda e: e.select_seeds([e.seed]), ("repetitions", NOTE, "poor"), "means over 1 or 2 probes"),
    (stop_probes(Condition.PROBE, 1), ("convergence", SEVERE, "poor"), "on Order: 6 of 6 probes stopped at 700 epochs"),
    (
        stop_probes(Condition.PROBE, 0),
        ("convergence", WARNING, "poor"),
        "on Order: 3 of 6 probes stopped at 700 epochs",
    ),
    (
        stop_probes(Condition.RANDOM_PROBES, 1),
        ("convergence", NOTE, "poor"),
        "on Order: 6 of 6 probes stopped at 700 ep",
    ),
    (lambda e: replace(e, truncated=e.seed), ("cut", WARNING, "poor"), "20 of 5,000 different sentences"),
    (round_probes, ("machines", WARNING, ""), "float32: good\nbfloat16: poor"),
    (lambda e: replace(e, device="cuda"), ("machines", NOTE, ""), "cpu: good\ncuda: poor"),
    (
        lambda e: replace(e, versions={"torch": "2.14.0"}),
        ("machines", NOTE, ""),
        "torch 2.13.0: good\ntorch 2.14.0: poor",
    ),
    (
        lambda e: change_probes(e, lambda s: replace(s, provenance=LATER), Condition.PROBE),
        ("machines", NOTE, ""),
        "torch 2.13.0: good, poor\ntorch 2.14.0: poor",
    ),
    (change_data, ("data", SEVERE, ""), "versions of the data"),
    (lambda e: replace(e, preset=find_preset("senteval")), ("data", SEVERE, ""), "classifiers"),
    (lambda e: replace(e, notes=("a reservation",)), ("data", NOTE, ""), "The data card says: a reservation"),
]


@pytest.mark.parametrize(("change", "key", "text"), FAULTS)
def test_fault_of_one_encoder_is_found(change: Callable[[Result], Result], key: FindingKey, text: str) -> None:
    findings = review_results(change_poor(change)).findings
    assert list_keys(findings) == [key]
    assert text in "\n".join((findings[0].problem, *findings[0].figures))


def test_faults_of_all_encoders() -> None:
    (finding,) = review_results(Results(tuple(map(round_probes, SOUND.records)))).findings
    assert list_keys([finding]) == [("machines", NOTE, "")]
    again = join_runs(SOUND, Results(tuple(map(change_data, SOUND.records))))
    assert list_keys(review_results(again).findings) == [("data", NOTE, "")]
    baseline = change_poor(lambda result: replace(drop_controls(result), dim=0))
    assert find_by("controls", baseline) == []
    assert not review_results(change_poor(lambda result: replace(result, truncated=None))).findings
    unknown = find_by("data", change_poor(lambda result: replace(result, data=None)))
    assert any("not recorded" in text for finding in unknown for text in (finding.problem, *finding.figures))


def allow_words(result: Result) -> Result:
    """Mark a result as one whose words alone may reveal the answer."""
    return replace(result, mirrored=False)


@pytest.mark.parametrize(("task", "severity"), [("Tense", SEVERE), ("Content1Probe", NOTE)])
@pytest.mark.parametrize("right", [695, 800])
def test_bag_of_words_tells_as_much(task: str, severity: Severity, right: int) -> None:
    poor = make_draws("poor", 700, 704, 694, task=task, control_counts={Condition.BAG_OF_WORDS: right})
    good = make_draws("good", 950, 956, 948, task=task, control_counts={Condition.BAG_OF_WORDS: 695})
    run = Results(tuple(map(allow_words, join_runs(good, poor).records)))
    (finding,) = review_results(run).findings
    assert list_keys([finding]) == [("words", severity, "poor")]
    assert finding.task == task
    assert f"poor: 69.9, bag of words: {right / 10:.1f}; difference " in finding.figures[0]


def test_bow_is_not_compared_with_itself() -> None:
    draws = make_draws("bow", 700, 700, 700, task="Tense", control_counts={Condition.BAG_OF_WORDS: 700})
    assert find_by("words", Results(tuple(map(allow_words, draws.records)))) == []


@pytest.mark.parametrize(
    ("condition", "right", "task", "key", "problem"),
    [
        (Condition.FIXED_POSITIONS, 695, "Order", ("positions", SEVERE, "poor"), ""),
        (Condition.FIXED_POSITIONS, 800, "Order", ("positions", SEVERE, "poor"), ""),
        (Condition.WORDS_AND_POSITIONS, 800, "SemRole", ("order", WARNING, "poor"), "is significantly better."),
        (
            Condition.WORDS_AND_POSITIONS,
            800,
            "Order",
            ("order", NOTE, "poor"),
            "An average of random vectors of each word at its position is significantly better, and the task is about "
            "the order of words.",
        ),
    ],
)
def test_control_that_tells_as_much(condition: Condition, right: int, task: str, key: FindingKey, problem: str) -> None:
    counts = {condition: right}
    runs = join_runs(
        make_draws("good", 950, 956, 948, task=task, control_counts=counts),
        make_draws("poor", 700, 704, 694, task=task, control_counts=counts),
    )
    (finding,) = review_results(runs).findings
    assert list_keys([finding]) == [key]
    assert finding.problem.endswith(problem)
    assert f"poor: 69.9, {condition.replace('-', ' ')}: {right / 10:.1f}; difference " in finding.figures[0]


@pytest.mark.parametrize(
    ("name", "condition"), [("positions", Condition.FIXED_POSITIONS), ("order", Condition.WORDS_AND_POSITIONS)]
)
def test_encoder_at_chance_claims_nothing(name: str, condition: Condition) -> None:
    assert find_by(name, make_draws("poor", 500, 510, 490, control_counts={condition: 700})) == []


def test_probe_words_that_tell_as_much() -> None:
    word_counts = {Condition.NO_SENTENCE: 700}
    good = make_draws("good", 950, 956, 948, control_counts=word_counts)
    poor = make_draws("poor", 700, 704, 694, control_counts=word_counts)
    run = Results(tuple(replace(e, balanced_probes=False) for e in join_runs(good, poor).records))
    findings = review_results(run).findings
    assert list_keys(findings) == [("probe-words", SEVERE, "poor"), ("probe-words", NOTE, "")]
    assert "poor: 69.9, no sentence: 70.0; difference" in findings[0].figures[0]
    assert findings[1].figures == ("no sentence: 70.0, chance 50.0; p = 0.004 (t-test over draws, Holm)",)


def test_figure_not_above_chance_is_found() -> None:
    run = join_runs(GOOD, make_draws("poor", 540, 620, 700))
    (finding,) = review_results(run).findings
    assert list_keys([finding]) == [("chance", WARNING, "poor")]
    assert finding.figures == (
        "poor: 62.0, chance 50.0; p = 0.360 (t-test over draws, Holm); about 9 draws give 80% power (this run: 3)",
    )
    (finding,) = find_by("chance", Results((GOOD.records[0], make_draw("poor", 540))))
    assert finding.figures[0].startswith("poor: 54.0, chance 50.0; p = 0.244 (binomial test, Holm); about 3,")
    assert "test items give 80% power (this run: 1,000)" in finding.figures[0]
    assert review_results(join_runs(GOOD, make_draws("poor", 500, 500, 500))).findings == ()


def test_best_is_not_told_apart() -> None:
    run = join_runs(SOUND, make_draws("other", 940, 956, 949))
    (finding,) = review_results(run).findings
    assert list_keys([finding]) == [("noise", WARNING, "good")]
    assert "of the 3 differences on this task 2 are significant" in finding.problem
    (figure,) = finding.figures
    assert figure.startswith("95.1 against other: 94.8; difference +0.3 [")
    assert "draws give 80% power (this run: 3)" in figure


def test_single_draw_states_items_needed() -> None:
    run = Results((make_draw("good", 700), make_draw("other", 699)))
    (finding,) = find_by("noise", run)
    assert "but not significantly: the difference from the only other encoder is not significant at " in finding.problem
    assert "p = 1.000 (sign test); about " in finding.figures[0]
    assert "test items give 80% power (this run: 1,000)" in finding.figures[0]
    assert find_by("noise", Results((make_draw("good", 700), make_draw("other", 700)))) == []


def test_variants_are_not_compared() -> None:
    variants = Results((make_draw("a", 700), make_draw("a, 8 dims", 699), make_draw("a, int8", 698)))
    assert find_by("noise", variants) == []
    (finding,) = find_by("noise", Results((*variants.records, make_draw("b", 699))))
    assert "but not significantly: of the 3 differences on this task 0 are significant" in finding.problem
    assert [figure.partition(";")[0] for figure in finding.figures] == ["70.0 against b: 69.9"]


def test_repetitions() -> None:
    def advised(results: Results) -> list[str]:
        return [finding.advice[:10] for finding in find_by("repetitions", results)]

    once = Results(tuple(result.select_seeds([0]) for result in SOUND.records[::3]))
    assert advised(once) == ["--seeds 5 "]
    one = Results(SOUND.records[::3])
    assert advised(one) == ["--draws 3 "]
    fixed = [replace(e, data=replace(e.data, origin=""), encoder_seed=None) for e in one.records if e.data]
    assert advised(Results(tuple(fixed))) == []
    two = Results(tuple(result for result in SOUND.records if result.seed < 20))
    assert advised(two) == ["Use at lea"]
    assert advised(SOUND) == []
    baselines = Results(tuple(replace(result, dim=0) for result in once.records))
    assert advised(baselines) == []


def test_unconverged_probes_get_a_number_of_epochs() -> None:
    """The advice can be pasted: twice the largest limit that was reached."""
    stop = stop_probes(Condition.PROBE, 1)
    results = [stop(record) for record in SOUND.records if record.encoder == "poor"]
    longer = [replace(results[0], preset=replace(results[0].preset, max_epochs=900)), *results[1:]]
    advice = [find_by("convergence", Results(tuple(records)))[0].advice for records in (results, longer)]
    assert [re.search(r"--set max_epochs=(\d+)\.", text)[1] for text in advice] == ["1400", "1800"]  # type: ignore[index]


def test_unconverged_informative_control_is_found() -> None:
    def ended(result: Result) -> Result:
        changed = change_probes(result, lambda e: replace(e, converged=False), Condition.BAG_OF_WORDS)
        return allow_words(changed)

    findings = find_by("convergence", Results(tuple(map(ended, SOUND.records))))
    assert [finding.severity for finding in findings] == [WARNING]


@pytest.mark.parametrize(
    ("name", "command", "lost"),
    [
        ("st:m?dims=64&quantize=int8", "", "dims=64, quantize=int8"),
        ("st:m?dim=64", "", "dim=64"),
        ("small", "probe run compeval -e 'st:m?dim=64&name=small' -e poor", "dim=64"),
        ("small, 64 dims", "probe run x --encoder='st:m?dims=64&name=small'", "dims=64"),
        ("openai:m?dim=64", "", "dim=64"),
        ("bow?dim=64", "", ""),
        ("bow?dims=64", "", "dims=64"),
        ("mine?dims=64", "", ""),
        ("encode", "probe run 'an open quote", ""),
    ],
)
def test_vectors_that_were_cut(name: str, command: str, lost: str) -> None:
    findings = review_results(
        change_encoder(lambda e: replace(e, encoder=name, command=command), encoder="good")
    ).findings
    assert list_keys(findings) == ([("cut", NOTE, name)] if lost else [])
    assert [finding.figures for finding in findings] == ([(f"{name}: {lost}",)] if lost else [])


def test_two_encoders_of_one_name() -> None:
    def other_model(result: Result) -> Result:
        if result.seed:
            return replace(result, encoder_fingerprint="one", encoder_seed=None)
        return replace(result, encoder_fingerprint="two", encoder_seed=None)

    findings = find_by("data", change_encoder(other_model, encoder="good"))
    assert list_keys(findings) == [("data", WARNING, "good")]
    assert findings[0].figures == ("one", "two")


def test_unfinished_draw_is_named() -> None:
    """It is unfinished, and so are draws that only some encoders have."""
    (finding,) = find_by("data", Results(SOUND.records[:-1]))
    assert finding.severity is WARNING
    assert finding.figures == ("Unequal draws: seed 20 lacks poor on Order, so other draws are in another table.",)
    other_seeds = Results((*SOUND.records[:2], *SOUND.records[-1:]))
    (finding,) = find_by("data", other_seeds)
    assert [figure.partition(",")[0] for figure in finding.figures] == [
        "Unequal draws: seeds 0", "Unequal draws: seed 20 lacks good on Order",
    ]  # fmt: skip


def test_findings_name_their_tables() -> None:
    run = join_runs(SOUND, Results((replace(make_draw("x", 510, seed=3), preset=find_preset("adi")),)))
    findings = review_results(run).findings
    severities = [finding.severity for finding in findings]
    assert severities == sorted(severities, key=[*Severity].index)
    assert {finding.table for finding in findings if finding.check == "chance"} == {"table 2 of 2, seed 3"}
    preset = find_preset("senteval")
    twice = [e for result in SOUND.records[::3] for e in (result, replace(result, preset=preset))]
    (finding,) = find_by("repetitions", Results(tuple(twice)))
    assert finding.table == "table 1 of 2 and table 2 of 2"


def test_page_has_row_for_each_check() -> None:
    page = (ROOT / "docs" / "check.md").read_text("utf-8")
    rows = re.findall(r"^`([\w-]+)` \| ([^|]*) \|", page, re.MULTILINE)
    assert rows[: len(CHECKS)] == [(check.name, check.asks) for check in CHECKS]
    assert [name for name, _ in rows[len(CHECKS) :]] == [*PAIR_CHECKS]
    notes = re.findall(r"^- \*\*([\w-]+)\*\*: ", page, re.MULTILINE)
    assert notes == [name for name, _ in rows[: len(CHECKS)] if name in notes]
    assert len({check.name for check in CHECKS}) == len({check.asks for check in CHECKS}) == len(CHECKS)


@examples(40)
@given(st.lists(any_results(), min_size=1, max_size=3))
def test_any_results_can_be_reviewed(records: list[Result]) -> None:
    # Results with one fingerprint have the same test items.
    totals = [result.scores[Condition.PROBE].total for result in records]
    reviewable = (
        replace(result, majority=max(0.01, result.majority), dataset_fingerprint=f"{result.dataset_fingerprint}{total}")
        for result, total in zip(records, totals, strict=True)
    )
    for finding in review_results(Results(tuple(reviewable))).findings:
        assert finding.problem and finding.advice
