"""Language models that ``probe train`` makes: their scores, word by word, and folders that are none."""

from pathlib import Path

import pytest
import torch
from helpers.encoders.language_models import load_scorer

from sentprobe.common.errors import SentprobeError
from sentprobe.common.screen import SilentReporter
from sentprobe.probes.encoders.architecture import Architecture
from sentprobe.probes.encoders.models.trained import (
    ModelVocabulary,
    SentenceModel,
    make_sentence_model,
    write_sentence_model,
)
from sentprobe.probes.language_models.scorers import TokenScores

TEXTS = ["the man sleeps", "The dog sleeps .", "man", "the man did n't", "dog dog dog"]


def write_model(folder: Path, *, objective: str = "next-word", kind: str = "lstm") -> SentenceModel:
    architecture = Architecture(kind=kind, hidden=6, inputs=6, layers=2)
    model = make_sentence_model(architecture, ModelVocabulary(("the", "man", "sleeps"), lower=True), seed=1)
    folder.mkdir()
    write_sentence_model(model, folder, {"objective": objective})
    return model.eval()


def score(folder: Path, options: str = "") -> list[TokenScores]:
    return load_scorer(f"{folder}{options}").score(TEXTS, SilentReporter())


@pytest.mark.parametrize("kind", ["lstm", "gru-uni"])
def test_each_word_is_scored_after_those_before_it(kind: str, tmp_path: Path) -> None:
    model = write_model(tmp_path / "m", kind=kind)
    weight = model.words.weight
    rows = {"the": 2, "man": 3, "sleeps": 4}
    for text, scores in zip(TEXTS, score(tmp_path / "m"), strict=True):
        ids = [0, *(rows.get(word, 1) for word in text.lower().split()), 0]
        expected = []
        for end in range(1, len(ids)):
            with torch.no_grad():
                state = model.network(weight[ids[:end]][None], torch.tensor([end]))[0]
                expected.append(float(torch.log_softmax(weight @ state, dim=0)[ids[end]]))
        assert scores.log_probabilities == pytest.approx(expected, abs=1e-5)
        assert [text[start:end] for start, end in scores.spans] == [*text.split(), ""]


def test_batches_do_not_change_scores_and_unknown_words_are_found(tmp_path: Path) -> None:
    write_model(tmp_path / "m")
    alone, together = score(tmp_path / "m", "?batch=1"), score(tmp_path / "m")
    for one, several in zip(alone, together, strict=True):
        assert one.log_probabilities == pytest.approx(several.log_probabilities, abs=1e-5)
    model = load_scorer(f"trained:{tmp_path / 'm'}?name=x")
    assert model.find_unknown(["the man slept ."]) == [["slept", "."]]


def test_other_folders_are_no_language_models(tmp_path: Path) -> None:
    write_model(tmp_path / "m", objective="autoencoder")
    with pytest.raises(SentprobeError, match="not a language model; its objective is autoencoder, not next-word"):
        score(tmp_path / "m")
    with pytest.raises(SentprobeError, match="there is no folder"):
        score(Path("trained:none"))
