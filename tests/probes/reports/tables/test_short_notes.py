"""The summary of the notes below a table."""

from dataclasses import replace
from pathlib import Path

from helpers.in_process import Command
from helpers.runs.shown_runs import write_run
from helpers.strategies.probe_strategies import make_sample_result as sample

from sentprobe.probes.reports.tables.main_table import CellStyle
from sentprobe.probes.reports.tables.table_notes import summarize
from sentprobe.probes.results.result import Condition, Result, Results, make_score


def summarize_results(*results: Result) -> list[str]:
    return [*summarize(Results(results), CellStyle())]


def test_three_lines_say_figures_certainty_and_controls() -> None:
    figures, certainty, controls = summarize_results(
        sample("bow", "Order", 690, 490, 505, 500, mirrored=True),
        sample("st", "Order", 500, 490, 505, 500, mirrored=True),
    )
    assert figures == (
        "Accuracy in % on 1000 test items; chance is 50.0. Bold or *: significantly better than chance and than "
        "every other model. Where a bag of words, words and positions or fixed positions are above chance, they take "
        "the place of chance."
    )
    assert certainty.startswith("Each figure is from one probe on one draw of the data. 95% intervals: ±")
    assert controls == "Controls: 4 of 4 that must be at chance are at chance."


def test_one_encoder_is_compared_with_its_control_only() -> None:
    figures = summarize_results(sample("bow", "Order", 690, 490, 505, 500, mirrored=True))[0]
    assert figures.endswith(
        "Bold or *: significantly better than chance. Where a bag of words, words and positions or fixed positions are "
        "above chance, they take the place of chance."
    )


def test_controls_that_may_know_the_answer_are_told_in_one_breath() -> None:
    controls = summarize_results(sample("st", "Order", 900, 500, 500, 500, 500, 600, 700, mirrored=True))[-1]
    assert "(without the other words) reach 60.0 on Order. The words and their positions" in controls
    assert controls.count("compare encoders with these figures, not with chance.") == 1


def test_a_failed_control_is_named_with_its_columns() -> None:
    controls = summarize_results(sample("bow", "Order", 900, 800, 505, 500))[2]
    assert controls == (
        "Controls: 1 of 2 that must be at chance is at chance; random sentences (dim 3) on Order is above chance "
        "(80.0). Do not believe Order before a repetition with another --seed."
    )


def test_a_table_without_controls_says_so() -> None:
    assert summarize_results(sample("bow", "Order", 900))[2] == (
        "Controls: none (--no-controls), so nothing tests these figures."
    )


def test_words_that_solve_a_task_are_named() -> None:
    controls = summarize_results(sample("bow", "Content1Probe", 900, 500, 501, 880))[2]
    assert controls == (
        "Controls: 2 of 2 that must be at chance are at chance. The words alone (bags of random word vectors, as "
        "wide as each encoder's vectors) reach 88.0 on Content1Probe: compare encoders with these "
        "figures, not with chance."
    )


def test_probes_and_sentences_cut_short_are_warned_of() -> None:
    result = replace(sample("bow", "Order", 600, 500), truncated=12)
    probes = [replace(probe, converged=False) for probe in result.scores[Condition.PROBE].seeds]
    scores = {**result.scores, Condition.PROBE: make_score(probes, ())}
    certainty = summarize_results(replace(result, scores=scores))[1]
    assert "1 of 1 probes reached max_epochs before converging." in certainty
    assert "bow read only the beginning of long sentences (up to 12 sentences on one task)." in certainty


def test_sizes_and_chance_that_differ_are_ranges() -> None:
    skewed = replace(sample("bow", "length", 600), majority=0.6)
    figures = summarize_results(skewed, sample("bow", "Order", 600))[0]
    assert "on 1000 test items; chance is 50.0 to 60.0 (by task)." in figures


def test_the_command_prints_all_notes_when_asked(tmp_path: Path, command: Command) -> None:
    run = write_run(tmp_path / "run", sample("bow", "Order", 690, 490, 505, 500, mirrored=True))
    short, complete = command("show", run)[1], command("show", run, "--notes")[1]
    assert short.endswith(f"\nAll notes: probe show {run} --notes\n")
    assert len(short.split("┘\n")[1].splitlines()) == 4
    assert "classifier: ettinger (hidden layer as wide as the input" in complete
    assert "All notes:" not in complete


def test_notes_are_refused_where_there_are_none(tmp_path: Path, command: Command) -> None:
    run = write_run(tmp_path / "run", sample("bow", "Order", 690))
    for more in (("-f", "csv"), ("--by-length", "bins")):
        code, out, err = command("show", run, "--notes", *more)
        assert (code, out) == (2, "")
        assert "--notes is for tables of encoders by task" in err
