"""The pictures that results allow, and what is in them."""

from dataclasses import replace

import pytest
from probe_strategies import sample_result
from shown_runs import LAYERS

from sentprobe.lengths import Lengths
from sentprobe.probes.report.panels import DotPanel, LinePanel, PagePicture
from sentprobe.probes.report.pictures import MOST, encoders_by_task, layers, lengths
from sentprobe.probes.report.standings import standings
from sentprobe.probes.runs.data_facts import DataFacts
from sentprobe.probes.runs.results import Norm, Result, Results


def line_panels(picture: PagePicture) -> list[LinePanel]:
    assert all(isinstance(each, LinePanel) for each in picture.panels)
    return [each for each in picture.panels if isinstance(each, LinePanel)]


def test_a_dot_for_each_encoder_on_each_task() -> None:
    words = sample_result("a", "Content1Probe", 900, 500, 500, 880)
    results = Results((sample_result("a", "Order", 900), sample_result("b", "Order", 600), words))
    picture = encoders_by_task(results, standings(results))
    assert [panel.title for panel in picture.panels] == ["Order", "Content1Probe"]
    order, content = (each for each in picture.panels if isinstance(each, DotPanel))
    found = [(row.encoder, row.dots[0].value, row.dots[0].hollow) for row in order.rows]
    assert found == [("a", 90.0, False), ("b", 60.0, True)]
    assert [row.reference for row in (*order.rows, *content.rows)] == [50, 50, 88]
    assert order.low == content.low == 50
    assert order.rows[0].dots[0].told.startswith("90.0 (")


def test_layers_are_in_order() -> None:
    (picture,) = layers(Results(tuple(LAYERS)))
    (panel,) = line_panels(picture)
    (line,) = panel.lines
    assert [(point.x, round(point.y, 6)) for point in line.points] == [(0, 50), (2, 51.8), (10, 59)]
    assert (line.name, panel.named, picture.legend) == ("hf:m", True, ())
    assert list(panel.references) == [50]
    assert [*layers(Results((sample_result("bow", "Order", 500),)))] == []


def of_lengths(name: str, right: int, *, seed: int = 0) -> Result:
    """A result with all its first items right, and the first half of its sentences short."""
    made = sample_result(name, "Order", right)
    facts = DataFacts(
        train=9, test=1000, validation=0, word_types=9, vocabulary="v", sampling="s", seed=seed
    )
    norms = (Norm(6, 5, 2.0, 0.25), Norm(10, 7, 100.0, 0.5))
    return replace(made, lengths=(6,) * 500 + (10,) * 500, norms=norms, seed=seed, data=facts)


def test_accuracies_and_norms_by_length() -> None:
    (picture,) = lengths(Results((of_lengths("a", 600), of_lengths("b", 250))), Lengths.BINS)
    accuracy, norm = line_panels(picture)
    assert [[p.y for p in line.points] for line in accuracy.lines] == [[100, 20], [50, 0]]
    assert [text for _, text in accuracy.x_ticks()] == ["5-8", "9-12"]
    assert [[p.y for p in line.points] for line in norm.lines] == [[2, 100]] * 2
    assert norm.logarithmic
    assert (accuracy.up, norm.up) == ("accuracy (%)", "norm")
    (tokens,) = lengths(Results((of_lengths("a", 600),)), Lengths.TOKENS)
    assert [p.x for p in line_panels(tokens)[0].lines[0].points] == [6, 10]


def test_draws_are_one_line() -> None:
    draws = Results((of_lengths("a", 600), of_lengths("a", 700, seed=10)))
    accuracy, _ = line_panels(next(lengths(draws, Lengths.BINS)))
    (line,) = accuracy.lines
    assert [point.y for point in line.points] == pytest.approx([100, 30])
    assert line.points[1].low < 20  # Student's t of two
    assert line.points[1].high > 40


def test_of_many_encoders_the_best_are_drawn() -> None:
    many = [of_lengths(f"e{n}", 500 + 10 * n) for n in range(MOST + 2)]
    (picture,) = lengths(Results(tuple(many)), Lengths.BINS)
    assert [name for name, _ in picture.legend] == [f"e{n}" for n in range(2, MOST + 2)]
    assert {*(mark for _, mark in picture.legend)} == {*range(MOST)}
