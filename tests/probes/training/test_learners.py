"""Learners: noise of SDAE, next words, labelled pairs and triplets, and the examples of the page."""

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
import torch
from helpers.oracles.pairs_at_once import build_training_columns, sample_pairs
from helpers.shared import ROOT
from helpers.thoroughness import examples
from helpers.trainings.pretraining_pieces import TINY, model_of, sentences, teach
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.common.errors import UsageError
from sentprobe.generator.events.notation import write_event
from sentprobe.generator.pairs.inference_pairs import NliSpace
from sentprobe.generator.pairs.triplets import TripletSpace
from sentprobe.generator.sentences.parse import parse
from sentprobe.lexicon import english
from sentprobe.probes.encoders.architecture import Architecture
from sentprobe.probes.encoders.models import trained as models
from sentprobe.probes.training import learners
from sentprobe.probes.training.corpora import NliPairs, Sentences, Triplets, split_notation
from sentprobe.probes.training.decoder import SOURCES, format_target_name
from sentprobe.probes.training.learners import ContrastiveLearner, DropAndSwap, NliLearner
from sentprobe.probes.training.objective import Batch, PreparedObjective
from sentprobe.probes.training.objective_options import ObjectiveOptions
from sentprobe.probes.training.objectives import OBJECTIVES, prepare

WORD_IDS = st.lists(st.integers(2, 9), min_size=1, max_size=12)
SHARES = st.floats(0, 1)
SEEDS = st.integers(0, 99)


def apply_noise(words: list[int], drop: float, swap: float, seed: int) -> list[int]:
    noise = DropAndSwap(drop, swap)
    noisy_words = noise(np.array(words, dtype=np.int32), np.random.default_rng(seed))
    return [int(word) for word in noisy_words]


@examples(100)
@given(WORD_IDS, SHARES, SHARES, SEEDS)
def test_noise_adds_no_word(words: list[int], drop: float, swap: float, seed: int) -> None:
    left = apply_noise(words, drop, swap, seed)
    assert left
    assert Counter(left) <= Counter(words)


@examples(50)
@given(WORD_IDS, SHARES, SEEDS)
def test_noise_without_swaps_keeps_order(words: list[int], drop: float, seed: int) -> None:
    remaining_words = iter(words)
    assert all(word in remaining_words for word in apply_noise(words, drop, 0, seed))


@examples(50)
@given(WORD_IDS, SHARES, SEEDS)
def test_noise_swaps_disjoint_pairs(words: list[int], swap: float, seed: int) -> None:
    left = apply_noise(words, 0, swap, seed)
    for place in range(0, len(words), 2):
        pair = words[place : place + 2]
        assert left[place : place + 2] in (pair, pair[::-1])


@examples(50)
@given(WORD_IDS, SEEDS)
def test_noise_shares_0_and_1_are_certain(words: list[int], seed: int) -> None:
    assert apply_noise(words, 0, 0, seed) == words
    assert len(apply_noise(words, 1, 1, seed)) == 1
    pairs = [words[place : place + 2] for place in range(0, len(words), 2)]
    turned = [word for pair in pairs for word in (pair[::-1] if len(pair) == 2 else pair)]
    assert apply_noise(words, 0, 1, seed) == turned


def test_noise_shares_are_as_asked() -> None:
    words = list(range(20_000))
    left = apply_noise(words, 0.1, 0, 1)
    assert len(left) == pytest.approx(18_000, rel=0.01)
    swapped = np.array(apply_noise(words, 0, 0.3, 1)) != np.array(words)
    assert swapped.mean() == pytest.approx(0.3, abs=0.02)


def test_noise_is_on_sources_alone() -> None:
    texts = sentences(30)
    prepared = prepare(OBJECTIVES["denoising"], Sentences(texts, (0,)), model_of(texts), TINY)
    sources, targets = (
        [
            sorted(
                [token for token in row if token]
                for batch in prepared.train.batches(epoch)
                for row in batch.tensors[name].tolist()
            )
            for epoch in (0, 0, 1)
        ]
        for name in (SOURCES, format_target_name(0))
    )
    assert sources[0] == sources[1] != sources[2]
    assert targets[0] == targets[1] == targets[2]


@pytest.mark.parametrize("share", [-0.1, 1.5, float("nan")])
def test_bad_share_is_refused(share: float) -> None:
    with pytest.raises(UsageError, match=r"swap=.*: a share is from 0 to 1"):
        ObjectiveOptions(swap=share)


TEXTS = sentences(30)


def make_model(*, hidden: int = 8) -> models.SentenceModel:
    words = sorted({word for text in TEXTS for word in text.split()} - {"Ann"})
    architecture = Architecture(kind="lstm", hidden=hidden, inputs=hidden)
    return models.make_sentence_model(architecture, models.ModelVocabulary(tuple(words)), seed=1)


@pytest.mark.parametrize("limit", [1, 40, 2**21])
def test_next_word_loss_equals_slow_path(limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learners, "MAX_LOGITS", limit)
    model = make_model()
    prepared = prepare(OBJECTIVES["next-word"], Sentences(TEXTS, (0,)), model, TINY)
    weight, batch = model.words.weight, next(prepared.train.batches(0))
    rows = zip(batch.tensors["sources"].tolist(), batch.tensors["lengths"].tolist(), strict=True)
    losses = []
    for row, length in rows:
        ids = [0, *row[:length], 0]
        for end in range(1, len(ids)):
            state = model.network(weight[ids[:end]][None], torch.tensor([end]))[0]
            losses.append(-float(torch.log_softmax(weight @ state, dim=0)[ids[end]].detach()))
    assert len(losses) == batch.targets
    assert float(prepared.learner(batch).detach()) == pytest.approx(sum(losses) / len(losses), abs=1e-5)


def test_next_word_learns() -> None:
    prepared = prepare(OBJECTIVES["next-word"], Sentences(TEXTS, (0,)), make_model(hidden=16), TINY)
    before = prepared.validate(prepared.learner)
    teach(prepared, epochs=40)
    after = prepared.validate(prepared.learner)
    assert before.metric == "perplexity"
    assert after.value == pytest.approx(math.exp(after.loss))
    assert after.value < 4 < before.value


def sample_nli(groups: int) -> NliPairs:
    """Return generated pairs, eight per group."""
    inference_pairs = sample_pairs(NliSpace(english(), "role", templates=["transitive"]), groups, seed=1)
    return NliPairs(tuple(inference_pairs.premise), tuple(inference_pairs.hypothesis), np.array(inference_pairs.label))


def sample_triplets(count: int) -> Triplets:
    space = TripletSpace(english(), "role", templates=["transitive"])
    columns = build_training_columns(space.sample(count, seed=1))
    return Triplets(tuple(columns["anchor"]), tuple(columns["positive"]), tuple(columns["negative"]))


def prepare_pairs(texts: NliPairs, options: ObjectiveOptions = TINY, hidden: int = 8) -> PreparedObjective:
    model = model_of((*texts.premises, *texts.hypotheses), hidden=hidden)
    return prepare(OBJECTIVES["nli"], texts, model, options)


def prepare_triplets(texts: Triplets, options: ObjectiveOptions = TINY, hidden: int = 8) -> PreparedObjective:
    model = model_of((*texts.anchors, *texts.positives, *texts.negatives), hidden=hidden)
    return prepare(OBJECTIVES["contrastive"], texts, model, options)


def test_classes_are_those_of_snli() -> None:
    assert learners.CLASSES == ("entailment", "neutral", "contradiction")


@pytest.fixture(params=["nli", "contrastive"])
def prepared(request: pytest.FixtureRequest) -> PreparedObjective:
    return prepare_pairs(sample_nli(8)) if request.param == "nli" else prepare_triplets(sample_triplets(40))


def test_gradients_reach_every_weight(prepared: PreparedObjective) -> None:
    teach(prepared, epochs=1)
    for name, weight in prepared.learner.named_parameters():
        assert weight.grad is not None, name
        assert bool(weight.grad.any()), name


def test_pair_objective_learns_a_little(prepared: PreparedObjective) -> None:
    before = prepared.validate(prepared.learner)
    state, random = prepared.learner.state_dict(), torch.get_rng_state()
    assert (before.metric, before.higher_is_better) == ("accuracy", True)
    assert prepared.validate(prepared.learner) == before
    assert all(torch.equal(prepared.learner.state_dict()[name], tensor) for name, tensor in state.items())
    assert torch.equal(torch.get_rng_state(), random)
    first = teach(prepared, epochs=1)
    assert teach(prepared, epochs=4) < first


def test_pair_batches_follow_seed_and_epoch() -> None:
    batches = prepare_pairs(sample_nli(8)).train
    all_batches = [batch.tensors for batch in batches.batches(3)]
    assert len(all_batches) == batches.steps
    resumed_batches = [batch.tensors for batch in batches.batches(3, start=2)]
    assert all(
        torch.equal(one["ids"], other_epoch["ids"])
        for one, other_epoch in zip(all_batches[2:], resumed_batches, strict=True)
    )
    other_epoch = next(iter(batches.batches(4))).tensors
    assert not torch.equal(other_epoch["labels"], all_batches[0]["labels"])


def test_contrastive_compares_the_whole_batch() -> None:
    prepared = prepare_triplets(sample_triplets(40))
    assert isinstance(prepared.learner, ContrastiveLearner)
    batch = next(iter(prepared.train.batches(0)))
    anchors, candidates = prepared.learner.encode_batch(batch)
    assert anchors.shape == (8, 16)
    assert candidates.shape == (16, 16)
    assert torch.allclose(candidates.norm(dim=1), torch.ones(16))


def measure_accuracy(prepared: PreparedObjective) -> float:
    """Return the training accuracy."""
    correct_count, count = 0, 0
    for batch in prepared.train.batches(0):
        correct_count += int(count_correct(prepared, batch).sum())
        count += batch.items
    return correct_count / count


def count_correct(prepared: PreparedObjective, batch: Batch) -> torch.Tensor:
    learner = prepared.learner
    with torch.no_grad():
        if isinstance(learner, NliLearner):
            chosen: torch.Tensor = learner.compute_logits(batch).argmax(dim=1)
            return chosen == batch.tensors["labels"]
        assert isinstance(learner, ContrastiveLearner)
        anchors, candidates = learner.encode_batch(batch)
        return (anchors @ candidates.T).argmax(dim=1) == torch.arange(len(anchors))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["nli", "contrastive"])
def test_pair_objective_learns_fifty_items(kind: str) -> None:
    options = replace(TINY, batch=10, temperature=0.1)
    if kind == "nli":
        prepared = prepare_pairs(sample_nli(7), options, hidden=32)
    else:
        prepared = prepare_triplets(sample_triplets(56), options, hidden=32)
    teach(prepared, epochs=80, rate=0.005)
    assert measure_accuracy(prepared) >= 0.99


PAGE = (ROOT / "docs" / "train-objectives.md").read_text("utf-8")
ROWS = {
    row[0].strip("` "): [cell.strip(" *`") for cell in row]
    for line in PAGE.splitlines()
    if line.startswith("| `")
    for row in [line.strip("|").split("|")]
}


def test_page_has_row_for_objective() -> None:
    assert set(ROWS) == set(OBJECTIVES)


def test_page_shows_actual_noise() -> None:
    usual = ObjectiveOptions()
    words = ROWS["denoising"][3].split()
    noise = DropAndSwap(usual.drop, usual.swap)
    left = noise(np.arange(len(words), dtype=np.int32), np.random.default_rng(3))
    assert " ".join(words[place] for place in left) == ROWS["denoising"][2]


def test_page_shows_actual_event() -> None:
    (event,) = parse(ROWS["meaning"][2], english())
    assert split_notation(write_event(event)) == ROWS["meaning"][3]
