"""A gate on generated triplets: an outsider's figures, a bag of words, blocks and draws."""

import re
from pathlib import Path

import numpy as np
import pytest
from helpers.oracles.pairs_at_once import build_contrast_space, choose_contrast_vocabulary
from helpers.shared import ROOT

import sentprobe
from sentprobe.common.errors import UsageError
from sentprobe.generator.pairs.contrasts import CONTRASTS
from sentprobe.generator.pairs.triplet_files import TripletFormat, write_triplets
from sentprobe.probes.encoders.kinds import make_encoder
from sentprobe.probes.similarity import pair_scores


def encode_positions(sentences: list[str]) -> np.ndarray:
    """Return vectors that depend on the order of words."""
    rows = [[ord(word[0]) + place * len(word) for place, word in enumerate(text.split()[:6])] for text in sentences]
    return np.array([row + [1.0] * (6 - len(row)) for row in rows], dtype=np.float32)


def run_lines_of_the_page(encode: object, contrast: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return the figures that the lines of docs/gate.md print."""
    triplets = build_contrast_space(contrast).sample(150, seed=0)
    write_triplets(triplets, folder / "role.jsonl", TripletFormat.JSONL)
    *_, code = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "gate.md").read_text("utf-8"), re.DOTALL)
    monkeypatch.chdir(folder)
    printed: list[float] = []
    exec(code, {"encode": encode, "print": lambda *values: printed.extend(map(float, values))})
    return printed


@pytest.mark.parametrize(
    ("model", "contrast"),
    [("bow?dim=8", "role"), *((encode_positions, contrast) for contrast in CONTRASTS)],
    ids=["bow-role", *CONTRASTS],
)
def test_code_of_page_gives_same_figures(
    model: object, contrast: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encode = make_encoder(model).encode if isinstance(model, str) else model
    vocabulary = choose_contrast_vocabulary(contrast)
    result = sentprobe.gate(model, contrasts=[contrast], n=150, vocabulary=vocabulary).draws[0]
    rates = result.rates[1]
    assert [result.threshold, rates.false_hits, rates.misses] == run_lines_of_the_page(
        encode, contrast, tmp_path, monkeypatch
    )


@pytest.mark.parametrize("measure", ["cosine", "dot", "euclid"])
def test_bag_of_words_is_at_half(measure: str) -> None:
    names = [name for name, contrast in CONTRASTS.items() if contrast.same_words]
    rows = sentprobe.gate("bow", contrasts=names, n=120, measure=measure, vocabulary="everyday").draws[0].rates
    assert {rates.contrast for rates in rows} == {*names}
    for rates in (rates for rates in rows if rates.form == "form"):
        assert (rates.auc, rates.ties) == (0.5, 120)
        assert rates.eer == pytest.approx(0.5, abs=1e-15)
        assert rates.false_hits + rates.misses == pytest.approx(1, abs=1e-15)


def test_blocks_do_not_change_the_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = sentprobe.gate(encode_positions, contrasts=["role", "noun"], n=50).to_records()
    monkeypatch.setattr(pair_scores, "BLOCK", 7)
    changed = sentprobe.gate(encode_positions, contrasts=["role", "noun"], n=50).to_records()
    examples = ("first", "second")
    assert [{k: v for k, v in record.items() if k not in examples} for record in changed] == [
        {k: v for k, v in record.items() if k not in examples} for record in expected
    ]


def test_blocks_do_not_grow_with_triplets() -> None:
    sizes = []

    def encode(sentences: list[str]) -> np.ndarray:
        sizes.append(len(sentences))
        return np.ones((len(sentences), 2), np.float32)

    sentprobe.gate(encode, contrasts=["role"], n=3 * pair_scores.BLOCK)
    assert max(sizes) <= 4 * pair_scores.BLOCK


def test_each_draw_equals_its_seed() -> None:
    drawn = sentprobe.gate("bow?dim=8", contrasts=["role"], n=30, draws=2, seed=3)
    assert [result.seed for result in drawn.draws] == [3, 13]
    assert drawn.draws[1] == sentprobe.gate("bow?dim=8", contrasts=["role"], n=30, seed=13).draws[0]


def test_distance_threshold_is_greatest_that_passes() -> None:
    chosen = sentprobe.gate("bow?dim=8", contrasts=["role"], n=60, measure="euclid").draws[0]
    assert chosen.threshold > 0
    same = sentprobe.gate("bow?dim=8", contrasts=["role"], n=60, measure="euclid", threshold=chosen.threshold)
    assert 0 < same.draws[0].kept < 1
    assert sentprobe.gate("bow?dim=8", contrasts=["role"], n=60, measure="euclid", threshold=0).draws[0].kept == 0


class OrderedEncoder:
    """An encoder whose vectors depend on all sentences."""

    name, fingerprint, together = "ordered", "", True

    def encode(self, sentences: list[str]) -> np.ndarray:
        return np.ones((len(sentences), 2), np.float32)


@pytest.mark.parametrize(
    ("model", "options", "message"),
    [
        ("majority", {}, "'majority' is a baseline"),
        (["bow", "bow?dim=8"], {}, "2 models; one is expected here"),
        ("bow", {"keep": 0.0}, "the share of paraphrases to keep must be above 0"),
        ("bow", {"threshold": 1.5}, "the threshold 1.5 is outside the range of the cosine, -1 to 1"),
        ("bow", {"measure": "whitened"}, "there is no measure 'whitened'; known: cosine, dot, euclid"),
        ("bow", {"contrasts": ["rol"]}, "did you mean 'role'"),
        ("bow", {"draws": 0}, "the number of draws must be positive"),
        ("bow", {"n": 0}, "the number of triplets must be positive"),
        ("bow", {"n": 1, "contrasts": ["role"]}, "role: too few pairs to choose a threshold on one half of them and"),
        (OrderedEncoder(), {}, "ordered needs all sentences at once"),
        ("bow", {"templates": ["transitive"], "contrasts": ["modifier"]}, "cannot have the contrast 'modifier'"),
        ("bow", {"then": "bow", "contrasts": ["noun"], "n": 40, "threshold": 1.0}, "no paraphrase passes the first"),
    ],
)
def test_gate_refuses_bad_options(model: object, options: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=re.escape(message)):
        sentprobe.gate(model, **options)  # type: ignore[arg-type]


def test_contrasts_without_templates_are_named() -> None:
    figures = sentprobe.gate("bow?dim=8", templates=["transitive"], n=20)
    assert any("'modifier'" in reason for reason in figures.left_out)


def test_equal_vectors_are_one_tie() -> None:
    result = sentprobe.gate(lambda texts: np.ones((len(texts), 3), np.float32), contrasts=["tense"], n=40).draws[0]
    assert result.threshold == 1.0
    for rates in result.rates:
        assert (rates.false_hits, rates.misses, rates.auc, rates.eer, rates.ties) == (1.0, 0.0, 0.5, 0.5, 40)
