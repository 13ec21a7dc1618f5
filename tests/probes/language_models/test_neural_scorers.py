"""Causal, masked and recurrent models: equal to a slow path, whatever the batch, and errors."""

from pathlib import Path

import pytest
import torch
from helpers.encoders.language_models import (
    WORDS,
    load_scorer,
    make_bert,
    make_gpt2,
    score_causal_slowly,
    score_masked_slowly,
)
from helpers.encoders.model_files import tiny_model
from hypothesis import given, settings
from hypothesis import strategies as st

from sentprobe.common.errors import SentprobeError
from sentprobe.common.screen import SilentReporter
from sentprobe.probes.encoders.architecture import Architecture
from sentprobe.probes.encoders.models.trained import (
    ModelVocabulary,
    SentenceModel,
    make_sentence_model,
    write_sentence_model,
)
from sentprobe.probes.language_models import scorers
from sentprobe.probes.language_models.scorers import (
    ScoreKind,
    ScoringMethod,
    TokenScores,
    load_language_model,
    parse_models,
)

TEXTS = ["the men sleep .", "the man", "who did the man not dance ?", "who sleeps?", "x", "the men that danced  sleep."]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("models")
    return {"gpt2": make_gpt2(folder / "gpt2"), "bert": make_bert(folder / "bert")}


def score(spec: str, texts: list[str]) -> list[TokenScores]:
    return load_scorer(spec).score(texts, SilentReporter())


@pytest.mark.parametrize("bos", [True, False])
def test_causal_model_equals_slow_path(folders: dict[str, Path], bos: bool) -> None:
    for scores, text in zip(score(f"hf:{folders['gpt2']}?bos={'yes' if bos else 'no'}", TEXTS), TEXTS, strict=True):
        assert scores.log_probabilities == pytest.approx(score_causal_slowly(folders["gpt2"], text, bos=bos), abs=1e-4)


@pytest.mark.parametrize("within_word", [True, False])
def test_masked_model_equals_slow_path(folders: dict[str, Path], within_word: bool) -> None:
    spec = f"hf:{folders['bert']}?within_word={'yes' if within_word else 'no'}"
    for scores, text in zip(score(spec, TEXTS), TEXTS, strict=True):
        assert scores.log_probabilities == pytest.approx(
            score_masked_slowly(folders["bert"], text, within_word=within_word), abs=1e-4
        )


def test_correction_matters_within_words_only(folders: dict[str, Path]) -> None:
    specs = [f"hf:{folders['bert']}?within_word={value}" for value in ("yes", "no")]
    corrected, original = (score(spec, ["the who not", "the men"]) for spec in specs)
    assert corrected[0].log_probabilities == pytest.approx(original[0].log_probabilities)
    assert corrected[1].log_probabilities[1] != pytest.approx(original[1].log_probabilities[1])


@settings(max_examples=10)
@given(st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=7).map(" ".join), min_size=1, max_size=6))
def test_batches_do_not_change_transformer_scores(folders: dict[str, Path], texts: list[str]) -> None:
    for folder in folders.values():
        alone, together = (score(f"hf:{folder}?batch={batch}", texts) for batch in (1, 5))
        for one, other in zip(alone, together, strict=True):
            assert one.log_probabilities == pytest.approx(other.log_probabilities, abs=1e-5)
            assert one.spans == other.spans


def test_methods_and_unknown_words(folders: dict[str, Path]) -> None:
    bert, gpt2 = (load_scorer(f"hf:{folders[name]}") for name in ("bert", "gpt2"))
    assert bert.find_unknown(["the men", "x the ?! men"]) == [[], ["x", "!"]]
    assert gpt2.find_unknown(["x the"]) == [[]]
    assert (bert.method, gpt2.method) == (ScoringMethod.MASKED, ScoringMethod.CAUSAL)
    options = {"bert": "within_word=no", "gpt2": "bos=no"}
    methods = [load_scorer(f"hf:{folders[name]}?{option}").method for name, option in options.items()]
    assert methods == [ScoringMethod.MASKED_ALONE, ScoringMethod.CAUSAL_WITHOUT_START]


def test_only_tokens_of_regions_are_scored(folders: dict[str, Path]) -> None:
    model = load_scorer(f"hf:{folders['bert']}")
    regions = {text: [(4, 7), (8, 13)] for text in TEXTS}
    every, chosen = model.score(TEXTS, SilentReporter()), model.score(TEXTS, SilentReporter(), regions)
    for all_scores, scores, text in zip(every, chosen, TEXTS, strict=True):
        expected = [
            (value, span)
            for value, span in zip(all_scores.log_probabilities, all_scores.spans, strict=True)
            if span[1] > 4 and span[0] < 13 and span not in ((7, 8), (7, 9))
        ]
        assert len(scores.log_probabilities) == len(scores.spans)
        for region in regions[text]:
            numbers = [s.compute_score(ScoreKind.CRITICAL, region) for s in (all_scores, scores)]
            assert numbers[0] == pytest.approx(numbers[1], abs=1e-4)
        assert len(scores.spans) <= len(expected)


def test_spans_are_those_of_tokens(folders: dict[str, Path]) -> None:
    (gpt2,) = score(f"hf:{folders['gpt2']}", ["the men"])
    (bert,) = score(f"hf:{folders['bert']}", ["the  men."])
    assert ["the men"[start:end].strip() for start, end in gpt2.spans] == ["the", "m", "e", "n"]
    assert ["the  men."[start:end] for start, end in bert.spans] == ["the", "m", "en", "."]
    first, second = gpt2.compute_score(ScoreKind.CRITICAL, (4, 7)), sum(gpt2.log_probabilities[1:])
    assert first == pytest.approx(second, abs=1e-4)
    assert gpt2.compute_score(ScoreKind.TOKEN, (0, 0)) == pytest.approx(sum(gpt2.log_probabilities) / 4, abs=1e-4)


def test_model_without_start_omits_first_token(tmp_path: Path) -> None:
    folder = make_gpt2(tmp_path / "m", has_start=False)
    (scores, one) = score(f"hf:{folder}", ["the man", "the"])
    assert len(scores.log_probabilities) == len(scores.spans) == 3
    assert (one.log_probabilities, one.compute_score(ScoreKind.TOKEN, (0, 3))) == ([], 0.0)


@pytest.mark.parametrize(("kind", "longest"), [("gpt2", "x" * 63), ("bert", " ".join(["who"] * 62))])
def test_sentence_beyond_limit_is_refused(folders: dict[str, Path], kind: str, longest: str) -> None:
    score(f"hf:{folders[kind]}", [longest])
    with pytest.raises(SentprobeError, match="reads 64 tokens, and a sentence is too long"):
        score(f"hf:{folders[kind]}", [f"{longest} ."])


def test_models_that_cannot_be_scored(tmp_path: Path, folders: dict[str, Path]) -> None:
    write_model(tmp_path / "m", objective="autoencoder")
    bert = tiny_model(tmp_path / "bert", kind="Bert")
    for spec, message in (
        (f"hf:{bert}", "is neither a causal nor a masked language model, but BertModel"),
        (f"hf:{folders['bert']}?pool=mean", "hf has no option 'pool'"),
        (f"{tmp_path / 'm'}?trees=none", "trained has no option 'trees'; its options: batch, device, name"),
        (f"{tmp_path / 'm'}", "not a language model; its objective is autoencoder, not next-word"),
        ("trained:none", "there is no folder"),
    ):
        with pytest.raises(SentprobeError, match=message):
            score(spec, ["a"])
    with pytest.raises(SentprobeError, match="unknown device 'nowhere'"):
        load_language_model(parse_models([f"hf:{folders['bert']}"])[0], device="nowhere")


def test_missing_library_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scorers, "find_spec", lambda _: None)
    with pytest.raises(SentprobeError, match="a language model hf:"):
        load_language_model(*parse_models(["hf:gpt2"]))


OTHER_TEXTS = ["the man sleeps", "The dog sleeps .", "man", "the man did n't", "dog dog dog"]


def write_model(folder: Path, *, objective: str = "next-word", kind: str = "lstm") -> SentenceModel:
    architecture = Architecture(kind=kind, hidden=6, inputs=6, layers=2)
    model = make_sentence_model(architecture, ModelVocabulary(("the", "man", "sleeps"), lower=True), seed=1)
    folder.mkdir()
    write_sentence_model(model, folder, {"objective": objective})
    return model.eval()


def score_recurrent(folder: Path, options: str = "") -> list[TokenScores]:
    return load_scorer(f"{folder}{options}").score(OTHER_TEXTS, SilentReporter())


@pytest.mark.parametrize("kind", ["lstm", "gru-uni"])
def test_recurrent_model_equals_slow_path(kind: str, tmp_path: Path) -> None:
    model = write_model(tmp_path / "m", kind=kind)
    weight = model.words.weight
    rows = {"the": 2, "man": 3, "sleeps": 4}
    for text, scores in zip(OTHER_TEXTS, score_recurrent(tmp_path / "m"), strict=True):
        ids = [0, *(rows.get(word, 1) for word in text.lower().split()), 0]
        expected = []
        for end in range(1, len(ids)):
            with torch.no_grad():
                state = model.network(weight[ids[:end]][None], torch.tensor([end]))[0]
                expected.append(float(torch.log_softmax(weight @ state, dim=0)[ids[end]]))
        assert scores.log_probabilities == pytest.approx(expected, abs=1e-5)
        assert [text[start:end] for start, end in scores.spans] == [*text.split(), ""]


def test_batches_do_not_change_recurrent_scores(tmp_path: Path) -> None:
    write_model(tmp_path / "m")
    alone, together = score_recurrent(tmp_path / "m", "?batch=1"), score_recurrent(tmp_path / "m")
    for one, several in zip(alone, together, strict=True):
        assert one.log_probabilities == pytest.approx(several.log_probabilities, abs=1e-5)
    model = load_scorer(f"trained:{tmp_path / 'm'}?name=x")
    assert model.find_unknown(["the man slept ."]) == [["slept", "."]]
