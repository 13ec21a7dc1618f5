"""Scores at a step: chance for uninformative vectors, 1 for vectors that hold the answer."""

import json
import random
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st

import sentprobe
from sentprobe.common.values import digest_value
from sentprobe.generator.events.meaning import compute_meaning
from sentprobe.generator.spaces.templates import SplitSide
from sentprobe.probes.results.store import format_result, parse_result
from sentprobe.probes.runs import scorer as scoring
from sentprobe.probes.similarity.distance_results import FOLDER, parse_geometry
from sentprobe.probes.similarity.triplet_sentences import SampledTriplets

SMALL: dict[str, Any] = {"contrasts": ("role", "tense"), "triplets": 12}
FORMS = ["geometry_role_form", "geometry_tense_form", "geometry_mean_form"]


def noise(texts: Sequence[str], dim: int = 24) -> Any:
    """Vectors that only identify the sentence."""
    seeds = [int.from_bytes(text.encode()) for text in texts]
    return np.stack([np.random.default_rng(seed).standard_normal(dim) for seed in seeds])


@cache
def find_meaning(text: str) -> str:
    """The meaning of a sentence, independent of the voice of its clauses."""
    (event,) = sentprobe.parse(text, sentprobe.english())
    return repr(compute_meaning(event))


def encode_meaning(texts: Sequence[str]) -> Any:
    """Vectors of what sentences mean."""
    return noise([find_meaning(text) for text in texts])


def make_parity_dataset() -> sentprobe.ProbeDataset:
    """A task whose answer is whether a number is odd."""
    rows = [np.arange(0, 60), np.arange(60, 90)]
    train, test = (sentprobe.Items(items, np.empty((len(items), 0), np.int64), items % 2) for items in rows)
    return sentprobe.ProbeDataset(
        name="parity",
        sentences=tuple(f"number {number}" for number in range(90)),
        labels=("even", "odd"),
        probe_words=(),
        splits={sentprobe.Split.TRAIN: train, sentprobe.Split.TEST: test},
        card=sentprobe.Card("parity"),
    )


def encode_parity(texts: Sequence[str]) -> Any:
    """Vectors that hold the answer to the parity task."""
    return np.array([[float(int(text.split()[1]) % 2), 1.0] for text in texts])


@pytest.mark.parametrize("seed", range(3))
def test_vectors_of_noise_are_at_chance(seed: int) -> None:
    scores = sentprobe.score(noise, contrasts=("role", "tense", "number"), triplets=60, seed=seed)
    assert all(0.3 < share < 0.7 for share in scores.values())


def test_scores_of_known_vectors() -> None:
    """Vectors of the meaning are right everywhere, a bag of words is at the theorem, and a mean is that of the rest."""
    assert set(sentprobe.score(encode_meaning, **SMALL).values()) == {1.0}
    scores = sentprobe.score(sentprobe.make_encoder("bow"), contrasts=["role", "modifier"], triplets=20)
    assert (scores["geometry_mean_form"], scores["geometry_mean_anchor"]) == (0.5, 0.0)
    scores = sentprobe.score(noise, **SMALL)
    assert scores[FORMS[2]] == pytest.approx((scores[FORMS[0]] + scores[FORMS[1]]) / 2)


def test_probe_finds_only_what_is_there() -> None:
    scorer = sentprobe.Scorer(contrasts=(), tasks=make_parity_dataset(), preset="logreg")
    assert scorer(encode_parity) == {"probe_parity": 1.0, "probe_mean": 1.0}
    scores = sentprobe.score(noise, contrasts=(), tasks=[make_parity_dataset()], preset="logreg")
    assert 0.2 < scores["probe_parity"] < 0.8


def test_keys_are_known_before_calls() -> None:
    scorer = sentprobe.Scorer(tasks=make_parity_dataset(), preset="logreg", **SMALL)
    anchors = [key.replace("_form", "_anchor") for key in FORMS]
    assert scorer.keys == (*FORMS, *anchors, "probe_parity", "probe_mean")
    for encode in (noise, noise):
        assert tuple(scorer(encode)) == scorer.keys


@given(seed=st.integers(0, 2**32), dim=st.integers(1, 40))
@examples(20, deadline=None)
def test_equal_vectors_have_equal_scores(seed: int, dim: int) -> None:
    def encode(texts: Sequence[str]) -> Any:
        return noise([f"{seed} {text}" for text in texts], dim)

    once = sentprobe.score(encode, **SMALL)
    assert sentprobe.score(encode, **SMALL) == once == sentprobe.Scorer(**SMALL)(encode, step=3)
    assert all(0 <= share <= 1 for share in once.values())


def test_probes_depend_on_seed() -> None:
    def scores(seed: int) -> dict[str, float]:
        return sentprobe.score(
            noise, contrasts=(), tasks="Content1Probe", train=40, test=20, preset="logreg", seed=seed
        )

    assert scores(0) == scores(0)
    assert sentprobe.Scorer(tasks="Order", train=84, test=28, seed=0).sentences != (
        sentprobe.Scorer(tasks="Order", train=84, test=28, seed=1).sentences
    )


def test_scorer_builds_and_encodes_once(monkeypatch: pytest.MonkeyPatch) -> None:
    built = []
    make = SampledTriplets

    def counting(*args: Any) -> Any:
        built.append(args)
        return make(*args)

    monkeypatch.setattr(scoring, "SampledTriplets", counting)
    encoded: list[list[str]] = []

    def encode(texts: list[str]) -> Any:
        encoded.append(texts)
        return noise(texts)

    for step in range(3):
        sentprobe.score(encode, contrasts=["role", "verb"], triplets=9, step=step)
    assert len(built) == 2
    assert len(encoded) == 3
    assert len(encoded[0]) == len({*encoded[0]})


class Model(torch.nn.Module):
    """A model with a part that is frozen, as in a training loop."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = torch.nn.Linear(24, 8), torch.nn.Dropout(0.5)
        self.train()
        self.first.eval()

    def encode(self, texts: Sequence[str]) -> Any:
        """Return vectors, as sentence-transformers does: in the mode for use, and left there."""
        self.eval()
        return self.second(self.first(torch.tensor(noise(texts), dtype=torch.float32)))


def read_global_state() -> list[Any]:
    """The global state of random numbers and of PyTorch."""
    return [
        random.getstate(),
        str(np.random.get_state()),
        torch.get_rng_state().tolist(),
        torch.get_num_threads(),
        torch.is_grad_enabled(),
        torch.get_default_dtype(),
        torch.is_autocast_enabled("cpu"),
    ]


@pytest.mark.parametrize("bound", [False, True])
def test_nothing_of_the_loop_changes(bound: bool) -> None:
    model = Model()
    scorer = sentprobe.Scorer(tasks=make_parity_dataset(), preset="logreg", **SMALL)
    state_before = read_global_state()
    scorer(model.encode if bound else model)
    assert read_global_state() == state_before
    assert (model.training, model.first.training, model.second.training) == (True, False, True)


def test_mode_is_restored_after_failed_encoding() -> None:
    class Failing(Model):
        def encode(self, texts: Sequence[str]) -> Any:
            self.eval()
            raise RuntimeError(f"out of memory: {len(texts)}")

    model = Failing()
    with pytest.raises(sentprobe.EncoderError, match="out of memory"):
        sentprobe.score(model, **SMALL)
    assert model.training


def test_loop_may_use_autocast_without_gradients() -> None:
    scorer = sentprobe.Scorer(contrasts=(), tasks=make_parity_dataset(), preset="logreg")
    plain = scorer(noise)
    with torch.autocast("cpu"), torch.no_grad():
        assert scorer(noise) == plain
        assert torch.is_autocast_enabled("cpu")


def rows_missing(texts: Sequence[str]) -> Any:
    return noise(texts)[1:]


def not_finite(texts: Sequence[str]) -> Any:
    vectors = noise(texts)
    vectors[3, 1] = np.nan
    return vectors


def encode_as_integers(texts: Sequence[str]) -> Any:
    return [[len(text)] for text in texts]


def failing(texts: Sequence[str]) -> Any:
    raise ValueError(f"{len(texts)} are too many")


class Narrow:
    """An encoder of the same name and another width."""

    name = "noise"
    fingerprint = ""

    def encode(self, texts: Sequence[str]) -> Any:
        """Return vectors that know nothing."""
        return noise(texts, 7)


NO_ENCODER = r".*is no encoder; expected: a function of a list"


@pytest.mark.parametrize(
    ("encode", "message"),
    [
        (rows_missing, r"encoder rows_missing returned \d+ rows for \d+ sentences"),
        (not_finite, r"encoder not_finite returned a vector that is not finite for the sentence"),
        (encode_as_integers, r"encoder \w+ returned int64; floating point is expected"),
        (failing, r"encoder failing raised ValueError: \d+ are too many"),
        ("bow", NO_ENCODER),
        (3, NO_ENCODER),
        (None, NO_ENCODER),
        (Model, NO_ENCODER),
    ],
)
def test_bad_encoder_is_refused(encode: Any, message: str) -> None:
    kind = sentprobe.ArgumentTypeError if message == NO_ENCODER else sentprobe.EncoderError
    with pytest.raises(kind, match=f"^{message}"):
        sentprobe.score(encode, **SMALL)


def test_width_may_not_change_between_steps() -> None:
    scorer = sentprobe.Scorer(**SMALL)
    scorer(noise, step=1)
    with pytest.raises(
        sentprobe.EncoderError,
        match=r"^encoder noise returned vectors of width 7 after vectors of width 24 at an earlier "
        r"step: for another encoder, make another scorer$",
    ):
        scorer(Narrow(), step=2)


BAD: list[tuple[dict[str, Any], str]] = [
    ({"contrasts": ()}, "there is nothing to score: name contrasts, tasks or both"),
    ({"contrasts": "rolle"}, "there is no contrast 'rolle' (did you mean 'role'?); known: role, recipient, modifier"),
    ({"contrasts": ["role", "role"]}, "contrast 'role' is given twice"),
    ({"tasks": "Semrole"}, "there is no compeval task 'Semrole' (did you mean 'SemRole'?); the tasks are"),
    ({"tasks": ["Order", "Order"]}, "task 'Order' is given twice"),
    ({"contrasts": "role", "triplets": 10**9}, "but there are only"),
    ({"contrasts": "role", "triplets": 0}, "the number of triplets must be positive, not 0"),
    ({"triplets": 1.5}, "triplets must be a whole number, not 1.5"),
    ({"held_out": "1.5"}, "--held-out 1.5: the share of the words that is held out is between"),
    ({"held_out": ["0.01"]}, "--held-out 0.01: that leaves vocabulary 'compeval' no noun"),
    ({"vocabulary": "engl"}, "unknown vocabulary 'engl'"),
    ({"seed": -1}, "seed=-1: the seed is 0 or more"),
    ({"tasks": "Order", "train": 7}, "must be a positive multiple of 4, so that labels balance, not 7"),
    ({"tasks": "Order", "preset": "etinger"}, "unknown preset 'etinger' (did you mean 'ettinger'?)"),
]


@pytest.mark.parametrize(("options", "message"), BAD)
def test_bad_scorer_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(sentprobe.UsageError) as caught:
        sentprobe.Scorer(**options)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("at", [{"step": -1}, {"step": 1.5}, {"epoch": -0.5}, {"epoch": float("nan")}])
def test_bad_step_is_refused(at: dict[str, Any]) -> None:
    with pytest.raises(sentprobe.UsageError, match=rf"{next(iter(at))}\b"):
        sentprobe.score(noise, **SMALL, **at)


def test_repeated_step_replaces_its_results(tmp_path: Path) -> None:
    scorer = sentprobe.Scorer(tasks=make_parity_dataset(), preset="logreg", out=tmp_path, name="mine", **SMALL)
    for step, epoch in ((5, 0.5), (10, None), (5, 0.5)):
        scores = scorer(noise, step=step, epoch=epoch)
    results = sentprobe.read_results(tmp_path)
    assert [(r.encoder, r.family, r.step, r.epoch) for r in results.records] == [
        ("mine step 5", "mine", 5, 0.5),
        ("mine step 10", "mine", 10, None),
    ]
    assert results.records[0].accuracy == scores["probe_parity"]
    assert [r["step"] for r in results.to_records()] == [5, 10]
    files = sorted((tmp_path / FOLDER).iterdir())
    distances = [parse_geometry(path.read_text("utf-8"), source=str(path)) for path in files]
    assert {(r.contrast, r.step, r.epoch) for r in distances} == {
        (contrast, *at) for contrast in ("role", "tense") for at in ((5, 0.5), (10, None))
    }
    assert len(files) == 4
    assert {r.family for r in distances} == {"mine"}


def test_result_without_step_is_usual(tmp_path: Path) -> None:
    sentprobe.score(noise, contrasts=(), tasks=make_parity_dataset(), preset="logreg", out=tmp_path)
    (record,) = sentprobe.read_results(tmp_path).records
    assert (record.encoder, record.family, record.step, record.epoch) == ("noise", "", None, None)


def test_foreign_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(sentprobe.UsageError, match="not a directory of sentprobe's results"):
        sentprobe.Scorer(out=tmp_path, **SMALL)


def test_results_without_steps_are_read(tmp_path: Path) -> None:
    sentprobe.score(noise, tasks=make_parity_dataset(), preset="logreg", out=tmp_path, **SMALL)
    (record,) = sentprobe.read_results(tmp_path).records
    value = json.loads(format_result(record))
    del value["step"], value["epoch"]
    assert parse_result(json.dumps(value)).step is None
    path = next((tmp_path / FOLDER).iterdir())
    value = json.loads(path.read_text("utf-8"))
    for name in ("step", "epoch", "family", "digest"):
        del value[name]
    value["digest"] = digest_value(value)
    assert parse_geometry(json.dumps(value), source="it").step is None


def test_scorer_uses_only_held_out_words() -> None:
    held = sentprobe.Scorer(
        contrasts="role", tasks="Order", triplets=20, train=84, test=28,
        vocabulary="english", held_out="0.3",
    )  # fmt: skip
    side = SplitSide(share=0.3, held_out=True)
    for text in held.sentences[::20]:
        nouns = compute_meaning(sentprobe.parse(text, sentprobe.english())[0]).nouns
        assert all(map(side.has_word, nouns)), text
