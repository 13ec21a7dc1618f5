"""Each check finds a run that has its fault, and no other; a run without a fault has no finding."""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st
from probe_strategies import results as any_results
from reviewed_runs import (
    GOOD,
    SOUND,
    a_draw,
    changed,
    found_by,
    in_draws,
    rounded_probes,
    with_seeds,
)
from shared import ROOT
from thoroughness import examples

from sentprobe.probes.review.checks import CHECKS, review
from sentprobe.probes.review.claim_finding import ClaimFinding, Severity
from sentprobe.probes.runs.results import Condition, Made, Result, Results
from sentprobe.probes.trainer.presets import find_preset

GRAVE, WARNING, NOTE = Severity
Found = tuple[str, Severity, str]
"""What a finding is known by here: its check, its severity, and the encoder."""


def shown(findings: Sequence[ClaimFinding]) -> list[Found]:
    return [(each.check, each.severity, each.encoder) for each in findings]


def text_of(findings: Sequence[ClaimFinding]) -> str:
    return "\n".join(chain.from_iterable((e.says, *e.figures, e.advice) for e in findings))


def both(*runs: Results) -> Results:
    return Results(tuple(chain.from_iterable(each.records for each in runs)))


def test_a_sound_run_has_no_finding() -> None:
    assert review(SOUND).findings == ()
    assert not review(SOUND).grave


CONDITIONS = [Condition.RANDOM_SENTENCES, Condition.BAG_OF_WORDS, Condition.NO_SENTENCE]


@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize(("right", "severity"), [(650, GRAVE), (350, WARNING)])
def test_a_control_that_fails(condition: Condition, right: int, severity: Severity) -> None:
    run = both(GOOD, in_draws("poor", 700, 704, 694))
    made = [a_draw(each.encoder, int(1000 * each.accuracy), seed=each.seed,
                   others={condition: right if each.seed == 10 else 500})
            for each in run.records]  # fmt: skip
    (finding,) = review(Results(tuple(made))).findings
    assert shown([finding]) == [("controls", severity, "")]
    assert (finding.task, finding.draw) == ("Order", "10")
    (figure,) = finding.figures
    assert f"{right / 10:.1f}, {'above' if right > 500 else 'below'} chance" in figure


def test_a_control_of_one_encoder_names_it() -> None:
    made = a_draw("poor", 700, others={Condition.RANDOM_PROBES: 650})
    (finding,) = found_by("controls", Results((made, a_draw("good", 950))))
    assert finding.encoder == "poor"


def without_controls(result: Result) -> Result:
    return replace(result, scores={Condition.PROBE: result.scores[Condition.PROBE]})


def test_no_controls() -> None:
    found = review(changed(without_controls, of="poor")).findings
    assert shown(found) == [("controls", GRAVE, "poor")]
    baseline = changed(lambda each: replace(without_controls(each), dim=0), of="poor")
    assert found_by("controls", baseline) == []


def natural(result: Result) -> Result:
    """The same where words alone may tell the answer."""
    return replace(result, mirrored=False)


@pytest.mark.parametrize(("task", "severity"), [("Tense", GRAVE), ("Content1Probe", NOTE)])
@pytest.mark.parametrize("right", [695, 800])
def test_a_bag_of_words_that_knows_as_much(task: str, severity: Severity, right: int) -> None:
    poor = in_draws("poor", 700, 704, 694, task=task, others={Condition.BAG_OF_WORDS: right})
    good = in_draws("good", 950, 956, 948, task=task, others={Condition.BAG_OF_WORDS: 695})
    run = Results(tuple(map(natural, both(good, poor).records)))
    (finding,) = review(run).findings
    assert shown([finding]) == [("words", severity, "poor")]
    assert finding.task == task
    assert f"poor: 69.9, bag of words: {right / 10:.1f}; difference " in finding.figures[0]


def test_the_bag_of_words_itself_is_not_held_against_itself() -> None:
    made = in_draws("bow", 700, 700, 700, task="Tense", others={Condition.BAG_OF_WORDS: 700})
    assert found_by("words", Results(tuple(map(natural, made.records)))) == []


def test_probe_words_that_tell_as_much() -> None:
    told = {Condition.NO_SENTENCE: 700}
    good = in_draws("good", 950, 956, 948, others=told)
    poor = in_draws("poor", 700, 704, 694, others=told)
    run = Results(tuple(replace(e, balanced_probes=False) for e in both(good, poor).records))
    found = review(run).findings
    assert shown(found) == [("probe-words", GRAVE, "poor"), ("probe-words", NOTE, "")]
    assert "poor: 69.9, no sentence: 70.0; difference" in found[0].figures[0]
    assert len(found[1].figures) == 3


def test_a_figure_inside_the_interval_of_chance() -> None:
    run = both(GOOD, in_draws("poor", 540, 620, 700))
    (finding,) = review(run).findings
    assert shown([finding]) == [("chance", WARNING, "poor")]
    assert finding.figures[0].startswith("poor: 54.0 (seed 0), 44.1 to 55.9 at chance; some 3,800")
    assert "test items would tell (here 1,000)" in finding.figures[0]
    assert review(both(GOOD, in_draws("poor", 500, 500, 500))).findings == ()


def test_the_best_is_not_told_apart() -> None:
    run = both(SOUND, in_draws("other", 940, 956, 949))
    (finding,) = review(run).findings
    assert shown([finding]) == [("noise", WARNING, "good")]
    assert "of the 3 differences on this task 2 are significant" in finding.says
    (figure,) = finding.figures
    assert figure.startswith("95.1 against other: 94.8; difference +0.3 [")
    assert "draws would tell (here 3)" in figure


def test_of_one_draw_it_says_how_many_items_would_tell() -> None:
    run = Results((a_draw("good", 700), a_draw("other", 699)))
    (finding,) = found_by("noise", run)
    assert "all others: the one difference on this task is not significant (p < " in finding.says
    assert "p = 1.000 (sign test); some " in finding.figures[0]
    assert "test items would tell (here 1,000)" in finding.figures[0]
    assert found_by("noise", Results((a_draw("good", 700), a_draw("other", 700)))) == []


def test_an_encoder_is_not_held_against_itself_cut() -> None:
    of_one = Results((a_draw("a", 700), a_draw("a, 8 dims", 699), a_draw("a, int8", 698)))
    assert found_by("noise", of_one) == []
    (finding,) = found_by("noise", Results((*of_one.records, a_draw("b", 699))))
    assert "all others: of the 3 differences on this task 0 are significant" in finding.says
    assert [each.partition(";")[0] for each in finding.figures] == ["70.0 against b: 69.9"]


def test_repetitions() -> None:
    def advised(results: Results) -> list[str]:
        return [each.advice[:10] for each in found_by("repetitions", results)]

    once = Results(tuple(each.of_seeds([0]) for each in SOUND.records[::3]))
    assert advised(once) == ["--seeds 5 "]
    one = Results(SOUND.records[::3])
    assert advised(one) == ["--draws 3 "]
    fixed = [
        replace(e, data=replace(e.data, origin=""), encoder_seed=None)
        for e in one.records
        if e.data
    ]
    assert advised(Results(tuple(fixed))) == []
    two = Results(tuple(each for each in SOUND.records if each.seed < 20))
    assert advised(two) == ["Take at le"]
    assert advised(SOUND) == []
    baselines = Results(tuple(replace(each, dim=0) for each in once.records))
    assert advised(baselines) == []


def test_fewer_probes_for_one_than_for_others() -> None:
    run = changed(lambda each: each.of_seeds([each.seed]), of="poor")
    (finding,) = review(run).findings
    assert shown([finding]) == [("repetitions", NOTE, "poor")]
    assert "means over 1 or 2 probes" in finding.says


@pytest.mark.parametrize(
    ("condition", "last", "severity"),
    [
        (Condition.PROBE, 1, GRAVE),
        (Condition.PROBE, 0, WARNING),
        (Condition.RANDOM_PROBES, 1, NOTE),
    ],
)
def test_probes_that_did_not_converge(condition: Condition, last: int, severity: Severity) -> None:
    def ended(result: Result) -> Result:
        return with_seeds(
            result, lambda e: replace(e, converged=e.seed > result.seed + last), condition
        )

    (finding,) = review(changed(ended, of="poor")).findings
    assert shown([finding]) == [("convergence", severity, "poor")]
    assert finding.figures[0].endswith(f"on Order: {6 if last else 3} of 6 after 700")


def test_a_control_that_may_know_and_did_not_converge() -> None:
    def ended(result: Result) -> Result:
        changed = with_seeds(result, lambda e: replace(e, converged=False), Condition.BAG_OF_WORDS)
        return natural(changed)

    found = found_by("convergence", Results(tuple(map(ended, SOUND.records))))
    assert [each.severity for each in found] == [WARNING]


def test_sentences_that_were_cut() -> None:
    run = changed(lambda each: replace(each, truncated=each.seed), of="poor")
    (finding,) = review(run).findings
    assert shown([finding]) == [("cut", WARNING, "poor")]
    assert finding.figures == ("20 of 5,000 different sentences",)
    assert finding.draw == "20"
    assert not review(changed(lambda each: replace(each, truncated=None), of="poor")).findings


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
    found = review(changed(lambda e: replace(e, encoder=name, command=command), of="good")).findings
    assert shown(found) == ([("cut", NOTE, name)] if lost else [])
    assert [each.figures for each in found] == ([(f"{name}: {lost}",)] if lost else [])


def test_precision() -> None:
    (finding,) = review(changed(rounded_probes, of="poor")).findings
    assert shown([finding]) == [("machines", WARNING, "")]
    assert finding.figures == ("float32: good", "bfloat16: poor")
    (finding,) = review(Results(tuple(map(rounded_probes, SOUND.records)))).findings
    assert shown([finding]) == [("machines", NOTE, "")]


def test_devices_and_versions() -> None:
    (finding,) = review(changed(lambda each: replace(each, device="cuda"), of="poor")).findings
    assert shown([finding]) == [("machines", NOTE, "")]
    assert finding.figures == ("cpu: good", "cuda: poor")
    newer = changed(lambda each: replace(each, versions={"torch": "2.14.0"}), of="poor")
    (finding,) = review(newer).findings
    assert finding.figures == ("torch 2.13.0: good", "torch 2.14.0: poor")
    later = Made("", {"torch": "2.14.0"}, "cpu")
    added = changed(
        lambda e: with_seeds(e, lambda s: replace(s, made=later), Condition.PROBE), of="good"
    )
    assert found_by("machines", added)[0].figures[1] == "torch 2.14.0: good"


def other_data(result: Result) -> Result:
    return replace(result, dataset_fingerprint=f"{result.dataset_fingerprint}, changed")


def test_another_version_of_the_data() -> None:
    (finding,) = review(changed(other_data, of="poor")).findings
    assert shown([finding]) == [("data", GRAVE, "")]
    assert "versions of the data" in finding.says
    assert [figure.rpartition(": ")[2] for figure in finding.figures] == ["good", "poor"]
    again = both(SOUND, Results(tuple(map(other_data, SOUND.records))))
    assert shown(review(again).findings) == [("data", NOTE, "")]


def test_another_classifier() -> None:
    other = find_preset("senteval")
    (finding,) = review(changed(lambda each: replace(each, preset=other), of="poor")).findings
    assert shown([finding]) == [("data", GRAVE, "")]
    assert "classifiers" in finding.says


def test_two_encoders_of_one_name() -> None:
    def other_model(result: Result) -> Result:
        if result.seed:
            return replace(result, encoder_fingerprint="one", encoder_seed=None)
        return replace(result, encoder_fingerprint="two", encoder_seed=None)

    found = found_by("data", changed(other_model, of="good"))
    assert shown(found) == [("data", WARNING, "good")]
    assert found[0].figures == ("one", "two")


def test_a_draw_that_is_not_finished_is_no_other_version() -> None:
    unfinished = Results(SOUND.records[:-1])
    assert found_by("data", unfinished) == []


def test_data_of_which_little_is_known() -> None:
    older = changed(lambda each: replace(each, data=None), of="good")
    assert "not recorded" in text_of(found_by("data", older))
    noted = changed(lambda each: replace(each, notes=("validation has its pairs",)), of="good")
    (finding,) = review(noted).findings
    assert shown([finding]) == [("data", NOTE, "")]
    assert finding.says == "The card of the data says: validation has its pairs"


def test_the_grave_come_first_and_of_several_tables_each_is_named() -> None:
    run = both(SOUND, Results((replace(a_draw("x", 510, seed=3), preset=find_preset("adi")),)))
    found = review(run).findings
    assert [each.severity for each in found] == sorted(
        (each.severity for each in found), key=[*Severity].index
    )
    assert {each.table for each in found if each.check == "chance"} == {"table 2 of 2, seed 3"}


def test_what_is_so_of_two_tables_is_said_once() -> None:
    other = find_preset("senteval")
    twice = [e for each in SOUND.records[::3] for e in (each, replace(each, preset=other))]
    (finding,) = found_by("repetitions", Results(tuple(twice)))
    assert finding.table == "table 1 of 2 and table 2 of 2"


def test_the_page_has_a_row_for_each_check_and_says_why() -> None:
    page = (ROOT / "docs" / "check.md").read_text("utf-8")
    rows = re.findall(r"^\| `([\w-]+)` \| ([^|]*) \|", page, re.MULTILINE)
    assert rows == [(each.name, each.asks) for each in CHECKS]
    assert re.findall(r"^\*\*([\w-]+)\.\*\* ", page, re.MULTILINE) == [name for name, _ in rows]


def test_names_of_checks_are_told_apart() -> None:
    assert len({each.name for each in CHECKS}) == len({each.asks for each in CHECKS}) == len(CHECKS)


@examples(40)
@given(st.lists(any_results(), min_size=1, max_size=3))
def test_whatever_the_results_are_they_are_reviewed(records: list[Result]) -> None:
    known = (replace(each, majority=max(0.01, each.majority)) for each in records)
    for finding in review(Results(tuple(known))).findings:
        assert finding.says and finding.advice
