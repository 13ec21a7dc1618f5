"""Cross-encoders from files, and functions of pairs."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.encoders.model_files import FIRSTS, SECONDS, save_cross_encoder

import sentprobe
from sentprobe.common.errors import UsageError
from sentprobe.common.specs import parse_spec
from sentprobe.probes.encoders.encoder import EncoderError
from sentprobe.probes.similarity.pair_scores import PairModel, load_cross_encoder


def predict_logits(folder: Path, firsts: list[str], seconds: list[str]) -> np.ndarray:
    """Return the model's outputs without sentence-transformers, (n, labels)."""
    import torch
    import transformers

    tokenizer: Any = transformers.AutoTokenizer.from_pretrained(folder)
    model: Any = transformers.AutoModelForSequenceClassification.from_pretrained(folder)
    with torch.no_grad():
        output = model.eval()(**tokenizer(firsts, seconds, padding=True, return_tensors="pt")).logits
    return np.asarray(output, dtype=np.float64)


def test_one_output_is_averaged_over_both_orders(tmp_path: Path) -> None:
    folder = save_cross_encoder(tmp_path / "one", ("score",))
    (scores,) = load_cross_encoder(parse_spec(f"ce:{folder}")).score_columns(FIRSTS, SECONDS)
    logits = [predict_logits(folder, FIRSTS, SECONDS), predict_logits(folder, SECONDS, FIRSTS)]
    expected = np.mean([1 / (1 + np.exp(-values[:, 0])) for values in logits], axis=0)
    assert scores == pytest.approx(expected, abs=2e-6)
    assert abs(logits[0] - logits[1]).max() > 1e-3


def test_of_three_classes_the_score_is_the_probability_of_entailment(tmp_path: Path) -> None:
    folder = save_cross_encoder(tmp_path / "nli", ("contradiction", "Entailment", "neutral"))
    (scores,) = load_cross_encoder(parse_spec(f"ce:{folder}")).score_columns(FIRSTS, SECONDS)
    logits = np.exp([predict_logits(folder, FIRSTS, SECONDS), predict_logits(folder, SECONDS, FIRSTS)])
    assert scores == pytest.approx((logits[..., 1] / logits.sum(axis=-1)).mean(axis=0), abs=2e-6)


def test_a_gate_of_a_cross_encoder(tmp_path: Path) -> None:
    folder = save_cross_encoder(tmp_path / "one", ("score",))
    figures = sentprobe.gate(f"ce:{folder}?batch=8&name=tiny", contrasts=["role"], n=50)
    assert (figures.draws[0].scorer, figures.draws[0].measure) == ("tiny", "score")
    assert str(figures).startswith("At a score of 0.")
    path = tmp_path / "mine.csv"
    path.write_text("a,b,same\nx,x,1\nx,y,0\n", encoding="utf-8")
    assert sentprobe.gate(f"ce:{folder}", pairs=path, threshold=7).draws[0].kept == 0


@pytest.mark.parametrize(
    ("labels", "message"),
    [(("a", "b"), "has 2 outputs, none of which is entailment"), (None, "no model at"), ((), "ce: wants a model")],
)
def test_a_model_that_cannot_be_used(labels: tuple[str, ...] | None, message: str, tmp_path: Path) -> None:
    model: Path | str = tmp_path / "none" / "here" if labels is None else ""
    with pytest.raises(UsageError, match=message):
        sentprobe.gate(f"ce:{save_cross_encoder(tmp_path, labels) if labels else model}", contrasts=["role"], n=20)


def test_a_model_without_a_head_is_no_cross_encoder(tmp_path: Path) -> None:
    """The library would give it random weights."""
    folder = save_cross_encoder(tmp_path / "x", ("score",))
    config = json.loads((folder / "config.json").read_text("utf-8"))
    (folder / "config.json").write_text(json.dumps(config | {"architectures": ["BertModel"]}), encoding="utf-8")
    with pytest.raises(UsageError, match="is not a cross-encoder"):
        sentprobe.gate(f"ce:{folder}", contrasts=["role"], n=20)


def test_a_damaged_model(tmp_path: Path) -> None:
    folder = save_cross_encoder(tmp_path / "x", ("score",))
    config = json.loads((folder / "config.json").read_text("utf-8"))
    (folder / "config.json").write_text(json.dumps(config | {"hidden_size": 48}), encoding="utf-8")
    with pytest.raises(EncoderError, match="cannot load the model"):
        sentprobe.gate(f"ce:{folder}", contrasts=["role"], n=20)


def test_a_function_of_pairs_that_counts_shared_words() -> None:
    def count_shared(pairs: list[tuple[str, str]]) -> list[int]:
        return [len(set(first.split()) & set(second.split())) for first, second in pairs]

    rates = sentprobe.gate(score=count_shared, contrasts=["role"], n=60).draws[0].rates[1]
    assert (rates.auc, rates.ties) == (0.5, 60)
    assert rates.at_threshold > 0


@pytest.mark.parametrize("values", [[1.0, np.nan], [1.0, 1e308], np.ma.array([1.0, 2.0], mask=[False, True])])
def test_a_score_that_is_not_finite_is_refused_with_its_pair(values: object) -> None:
    with pytest.raises(EncoderError) as caught:
        PairModel(lambda _: values, name="mine", symmetric=True).score_columns(FIRSTS, SECONDS)
    assert f"mine: the score of the pair {FIRSTS[1]!r}, {SECONDS[1]!r} is not a finite number" in str(caught.value)


@pytest.mark.parametrize("values", [[1.0, 1j], ["1", "2"], [None, 2.0]])
def test_scores_that_are_no_real_numbers_are_refused(values: object) -> None:
    with pytest.raises(EncoderError, match="is not a finite number"):
        PairModel(lambda _: values, name="mine").score_columns(FIRSTS, SECONDS)


@pytest.mark.parametrize("values", [[1.0], [[1.0], [2.0]]])
def test_a_function_that_does_not_return_a_score_for_each_pair(values: object) -> None:
    with pytest.raises(EncoderError, match="did not return one score for each of 2 pairs"):
        PairModel(lambda _: values, name="mine").score_columns(FIRSTS, SECONDS)


@pytest.mark.parametrize("arguments", [{}, {"model": "bow", "score": len}])
def test_either_a_model_or_a_function(arguments: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="give either a model or a score function"):
        sentprobe.gate(**arguments, contrasts=["role"], n=20)
