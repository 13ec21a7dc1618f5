"""Interventions on tiny models: a planted direction, random ones, and the next word."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from helpers.encoders.word_models import NOUNS, make_role_data, save_word_model

from sentprobe.common.screen import SilentReporter
from sentprobe.common.specs import parse_spec
from sentprobe.lexicon import english
from sentprobe.probes.classifier.presets import find_preset
from sentprobe.probes.datasets.dataset import Split
from sentprobe.probes.encoders.encoder import EncoderError
from sentprobe.probes.encoders.models.hf import HfEncoder, load_hf
from sentprobe.probes.interventions import readouts
from sentprobe.probes.interventions.exchange import DirectionKind, open_states
from sentprobe.probes.interventions.intervention_run import InterventionResult, average_pairs, measure_interventions
from sentprobe.probes.interventions.mirror_units import find_mirror_units

REPORTER = SilentReporter()
DATA = make_role_data()
TRAIN, TEST = (find_mirror_units(DATA, split, english(), n=99) for split in (Split.TRAIN, Split.TEST))


def measure(encoder: HfEncoder, readout: readouts.Readout, layers: tuple[int, ...]) -> InterventionResult:
    return measure_interventions(
        open_states(encoder.store.model), readout, TRAIN, TEST, layers=layers, seed=0, reporter=REPORTER,
        name="tiny", task="SemRole",
    )  # fmt: skip


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> InterventionResult:
    """A BERT without normalization of its embeddings: all mirrors differ in one direction, that of the two places.

    The mean over tokens does not see their order. So a sentence whose nouns exchange the vectors of their places is
    its mirror.
    """
    folder = save_word_model(tmp_path_factory.mktemp("m") / "m", DATA.sentences, kind="Bert")
    (encoder,) = load_hf(parse_spec(f"hf:{folder}?device=cpu"))
    encoder.store.model.model.embeddings.LayerNorm = torch.nn.Identity()
    readout = readouts.train_probe_readout(
        encoder, DATA, TEST, preset=find_preset("ettinger"), seed=0, cache=None, reporter=REPORTER
    )
    return measure(encoder, readout, (0, 1, 2))


def find_effects(result: InterventionResult, kind: DirectionKind) -> dict[int, float | None]:
    return {effect.layer: effect.completeness for effect in result.effects if effect.kind is kind}


def test_planted_direction_is_complete(planted: InterventionResult) -> None:
    assert planted.accuracy > 0.9
    assert planted.mirror.interval.low > 0
    for kind in (DirectionKind.MEAN_DIFFERENCE, DirectionKind.WHOLE):
        assert find_effects(planted, kind)[0] == pytest.approx(1, abs=1e-3)
    probe = next(effect for effect in planted.effects if effect.kind is DirectionKind.PROBE)
    assert probe.log_odds.interval.low > 0
    assert probe.selectivity is not None
    assert probe.selectivity.mean > 0


def test_random_direction_has_odds_of_one(planted: InterventionResult) -> None:
    effects = [effect for effect in planted.effects if effect.kind is DirectionKind.RANDOM]
    assert [effect.layer for effect in effects] == [0, 1, 2]
    assert effects[0].log_odds.mean == pytest.approx(0, abs=1e-3)  # no other direction differs between mirrors
    assert all(0 in effect.log_odds.interval for effect in effects[1:])


def test_table_and_records_agree(planted: InterventionResult) -> None:
    records = planted.to_records()
    assert len(records) == 12
    assert {record["direction"] for record in records} == {*map(str, DirectionKind)}
    first = records[0]
    assert first["odds_ratio"] == pytest.approx(np.exp(first["log_odds"]))
    grid = planted.build_grid()
    assert [row.label for row in grid.rows if row.heading] == [*map(str, DirectionKind)]
    assert grid.rows[1].cells[0].text.startswith(f"{first['odds_ratio']:.3g} [")
    assert "surely differ" not in planted.format_notes()


def test_equal_answers_have_no_completeness(planted: InterventionResult) -> None:
    nothing = replace(planted, mirror=average_pairs(np.array([-1.0, 1.0])))
    assert "there is nothing to exchange" in nothing.format_notes()
    assert average_pairs(np.array([3.0])).interval.low == -np.inf


@pytest.fixture(scope="module")
def causal(tmp_path_factory: pytest.TempPathFactory) -> HfEncoder:
    folder = save_word_model(tmp_path_factory.mktemp("m") / "m", (*DATA.sentences, "so it was"), kind="GPT2LMHead")
    (encoder,) = load_hf(parse_spec(f"hf:{folder}?device=cpu&batch=4"), predicts_words=True)
    model = encoder.store.model
    model = replace(model, frame=replace(model.frame, prompt="so {sentence} it was the"))
    return replace(encoder, store=type(encoder.store)(model, [encoder.place]))


def test_next_word_is_that_of_a_plain_pass(causal: HfEncoder) -> None:
    model = causal.store.model
    readout = readouts.find_next_words(model, TEST)
    result = measure(causal, readout, (0, 1))
    margins = []
    for text, labels in zip(TEST.sentences, TEST.labels.reshape(-1, 2), strict=True):
        words = text.split()
        nouns = [word for word in NOUNS if word in words]
        with torch.inference_mode():
            ids = model.tokenizer(f"so {text} it was the", return_tensors="pt")["input_ids"]
            logits = model.model(ids).logits[0, -1]
        right, other = (nouns[int(np.flatnonzero(labels == label)[0])] for label in (1, 0))
        ends = [model.tokenizer(noun)["input_ids"][0] for noun in (right, other)]
        margins.append(float(logits[ends[0]] - logits[ends[1]]))
    assert result.accuracy == np.mean(np.array(margins) > 0)
    assert result.mirror.mean == pytest.approx(2 * np.mean(margins), abs=1e-4)
    assert result.readout == "the next word"
    whole = [effect for effect in result.effects if effect.kind is DirectionKind.WHOLE]
    assert whole[0].log_odds.mean != pytest.approx(0, abs=1e-3)


def test_figures_of_a_layer_do_not_depend_on_the_others(causal: HfEncoder) -> None:
    readout = readouts.find_next_words(causal.store.model, TEST)
    alone, beside = (measure(causal, readout, layers).effects for layers in ((1,), (0, 1)))
    assert alone == tuple(effect for effect in beside if effect.layer == 1)


def test_last_layer_cannot_change_the_next_word(causal: HfEncoder) -> None:
    result = measure(causal, readouts.find_next_words(causal.store.model, TEST), (2,))
    assert all(effect.log_odds.mean == pytest.approx(0, abs=1e-6) for effect in result.effects)


def test_words_of_one_first_token_are_refused(tmp_path: Path) -> None:
    folder = save_word_model(tmp_path / "m", ["the helped"], kind="GPT2LMHead")  # it knows no noun
    (encoder,) = load_hf(parse_spec(f"hf:{folder}?device=cpu"), predicts_words=True)
    with pytest.raises(EncoderError, match="'man' and 'woman' begin with the same token"):
        readouts.find_next_words(encoder.store.model, TEST)
