"""The paragraph about a run says what its results say, and cites what it names."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from helpers.runs.reviewed_runs import SOUND, change_encoder, change_probes, round_probes
from helpers.strategies.probe_strategies import make_sample_result
from helpers.strategies.probe_strategies import results as any_results
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from sentprobe.common.tables import TableFormat
from sentprobe.probes.classifier.presets import PRESETS, find_preset, override
from sentprobe.probes.classifier.probe import Preset
from sentprobe.probes.reports.pages.methods_paragraph import (
    write_methods_paragraph,
    write_methods_text,
    write_references_text,
)
from sentprobe.probes.reports.references import SOFTWARE, list_keys, read_references, write_with_citations
from sentprobe.probes.results.data_facts import DataFacts
from sentprobe.probes.results.result import Condition, Result, Results

FACTS = DataFacts(train=4000, test=1000, word_types=9)


def text_of(results: Results) -> str:
    return write_with_citations(write_methods_paragraph(results), TableFormat.TEXT)


def test_methods_of_a_run_in_draws(stored_text: SnapshotAssertion) -> None:
    assert text_of(SOUND).replace(". ", ".\n") == stored_text


def make_single_result(change: Callable[[Result], Result]) -> str:
    return text_of(Results((change(make_sample_result("bow", "Tense", 900, 500)),)))


def add_control_task(result: Result) -> Result:
    return replace(result, scores={**result.scores, Condition.CONTROL_TASK: result.scores[Condition.PROBE]})


@pytest.mark.parametrize(
    ("change", "passage"),
    [
        (lambda e: e, "data with the digest 0, 1,000 test items"),
        (lambda e: e, "Accuracies are of one probe, in one draw (seed 0)."),
        (lambda e: e, "95% intervals are Wilson intervals (Wilson 1927) for the choice of test items."),
        (lambda e: replace(e, encoder="majority", dim=0), "we probed the baselines majority"),
        (lambda e: replace(e, encoder="bilstm-max"), "bilstm-max (3 dimensions) (Conneau et al."),
        (lambda e: replace(e, encoder="st:m"), "st:m (3 dimensions) (Reimers and Gurevych 2019)"),
        (lambda e: replace(e, encoder="hf:m?layer=2"), "(3 dimensions) (Wolf et al. 2020)"),
        (
            lambda e: replace(e, encoder="mine", command="probe run x -e 'st:m?dim=3&name=mine'"),
            "we probed mine (st:m?dim=3&name=mine) (3 dimensions) (Reimers",
        ),
        (lambda e: replace(e, task="reviews"), "The task is reviews. "),
        (lambda e: replace(e, data=replace(FACTS, source="a corpus")), "items (source: a corpus)."),
        (
            lambda e: replace(e, data=FACTS, preset=find_preset("adi")),
            "test items (a tenth of the training items used for validation).",
        ),
        (lambda e: replace(e, truncated=7), "bow read only the beginning of up to 7 sentences"),
        (round_probes, "trained in bfloat16 (the matrix products of the first layer) on cpu."),
        (
            lambda e: change_probes(e, lambda s: replace(s, converged=False), Condition.PROBE),
            "1 of 1 probes reached the limit of passes before they converged.",
        ),
        (lambda e: replace(e, scores={Condition.PROBE: e.scores[Condition.PROBE]}), "No controls were trained."),
        (lambda e: replace(e, probe_vectors="encoder"), "the encoder's own vectors for the probe words"),
        (lambda e: replace(e, probe_vectors="bow:f"), "gets the vectors of bow:f for the probe"),
        (
            lambda e: replace(e, preset=override(find_preset("ettinger"), [("average", "5")])),
            "The probabilities of 5 probes are averaged into each figure.",
        ),
        (
            lambda e: replace(e, preset=override(find_preset("ettinger"), [("enough", "0.01")])),
            "(the preset ettinger with enough=0.01 of sentprobe, after Ettinger et al. 2018)",
        ),
        (
            lambda e: replace(e, preset=find_preset("conneau")),
            "The width, dropout and the penalty are chosen by the accuracy on validation.",
        ),
        (
            lambda e: replace(e, preset=find_preset("conneau"), labels=1000),
            "or without a hidden layer where there are 100 labels or more",
        ),
        (lambda e: replace(e, preset=find_preset("adi")), "AdaGrad (Duchi et al. 2011)"),
        (lambda e: replace(e, preset=find_preset("logreg")), "fitted by L-BFGS, with an L2"),
        (
            lambda e: replace(e, data=replace(FACTS, held_out="passive")),
            "half of the test items with a structure held out of training (passive)",
        ),
        (add_control_task, "Also reported: selectivity, "),
        (add_control_task, "fixed for each word type (Hewitt and Liang 2019). "),
        (
            lambda _: make_sample_result("bow", "Order", 900, 700, 500, mirrored=True),
            "Of 2 controls that cannot know the answer, 1 is inside",
        ),
    ],
)
def test_methods_state_what_was_done(change: Callable[[Result], Result], passage: str) -> None:
    assert passage in make_single_result(change)


@pytest.mark.parametrize("preset", PRESETS, ids=lambda each: each.name)
def test_figures_of_presets_are_stated(preset: Preset) -> None:
    passage = make_single_result(lambda result: replace(result, preset=preset))
    assert f"{preset.max_epochs:,}" in passage
    assert f"{preset.tolerance:g}" in passage
    assert all(f"{value:g}" in passage for value in preset.l2)


def test_encoders_without_controls_are_named() -> None:
    def drop_controls(result: Result) -> Result:
        return replace(result, scores={Condition.PROBE: result.scores[Condition.PROBE]})

    assert "(not for poor on Order)." in text_of(change_encoder(drop_controls, encoder="poor"))


def test_several_tables_have_a_paragraph_each() -> None:
    other_record = replace(SOUND.records[0], preset=find_preset("senteval"))
    text = write_methods_text(Results((*SOUND.records, other_record)), TableFormat.MARKDOWN)
    assert text.count("With sentprobe we probed") == 2
    assert "**table 2 of 2, seed 0**" in text


@examples(40)
@given(st.lists(any_results(), min_size=1, max_size=3))
def test_bibtex_has_exactly_cited_works(records: list[Result]) -> None:
    reviewable = tuple(replace(result, majority=max(0.01, result.majority)) for result in records)
    for style in (TableFormat.TEXT, TableFormat.MARKDOWN, TableFormat.LATEX):
        assert write_methods_text(Results(reviewable), style)
    keys = list_keys(piece for result in reviewable for piece in write_methods_paragraph(Results((result,))))
    assert {*keys} <= {SOFTWARE, *read_references()}
    bibtex = write_references_text(Results(reviewable))
    assert all(f"{{{key},\n" in bibtex for key in keys)
