"""The settings that decide the weights of a training, as its folder stores them; random numbers of objectives."""

import json
from dataclasses import replace
from itertools import chain, combinations
from pathlib import Path

import numpy as np
import pytest
import torch
from helpers.trainings.pretraining_pieces import TINY, model_of, sentences
from syrupy.assertion import SnapshotAssertion

from sentprobe.probes.classifier.probe import Precision
from sentprobe.probes.datasets.dataset import Indices
from sentprobe.probes.encoders.architecture import Architecture
from sentprobe.probes.runs import encoder_training as plans
from sentprobe.probes.runs.encoder_training import identify_training
from sentprobe.probes.training import devices_and_precision, loop
from sentprobe.probes.training.corpora import Sentences
from sentprobe.probes.training.decoder import GenerationValidator, Seq2Seq, SequencePairs, make_decoder
from sentprobe.probes.training.objective import Batch, ItemBatches, PreparedObjective
from sentprobe.probes.training.objective_options import ObjectiveOptions
from sentprobe.probes.training.objective_plans import ObjectivePlan
from sentprobe.probes.training.schedule import SGD
from sentprobe.probes.training.text_filters import TextOptions


def make_plan(folder: Path, *, has_options: bool) -> plans.TrainingPlan:
    for name, text in (("a.txt", "x\n"), ("b.txt", "y\n")):
        (folder / name).write_bytes(text.encode())
    (folder / "punkt").mkdir()
    (folder / "punkt" / "words").write_bytes(b"z")
    return plans.TrainingPlan(
        name="lstm nmt",
        objectives=(
            ObjectivePlan(
                objective="nmt",
                corpus=(folder / "a.txt",),
                parallel=folder / "b.txt",
                format="tsv" if has_options else None,
                columns=("a", "b") if has_options else (),
                document="d" if has_options else None,
            ),
        ),
        text_options=TextOptions(punkt=folder / "punkt" if has_options else None),
        architecture=Architecture(kind="lstm"),
        vectors=str(folder / "a.txt") if has_options else "",
        options=ObjectiveOptions(),
        settings=loop.TrainingSettings(
            seed=0, optimizer=SGD, machine=devices_and_precision.TrainingMachine(precision=Precision.FLOAT32)
        ),
        out=folder,
    )


@pytest.mark.parametrize("has_options", [False, True])
def test_identity_of_a_training(has_options: bool, tmp_path: Path, stored_text: SnapshotAssertion) -> None:
    """Defaults and digests of files are stored; a change here keeps trainings that were stopped from going on."""
    identity = identify_training(make_plan(tmp_path, has_options=has_options))
    assert json.dumps(identity, indent=1) == stored_text


def prepare_alone_and_together(folder: Path, names: tuple[str, ...]) -> list[dict[str, PreparedObjective]]:
    """Return objectives on the same sentences, prepared for encoders of their own, then for one encoder."""
    texts = Sentences(sentences(60), (0,))
    plan = replace(make_plan(folder, has_options=False), options=TINY)
    prepared: list[dict[str, PreparedObjective]] = []

    def keep(parts: dict[str, PreparedObjective], *_: object, **__: object) -> PreparedObjective:
        prepared.append(parts)
        return next(iter(parts.values()))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plans, "combine_objectives", keep)
        for group in (*((name,) for name in names), names):
            objectives = tuple(ObjectivePlan(objective=name) for name in group)
            shared_texts = dict.fromkeys(group, texts)
            plans.prepare_objectives(replace(plan, objectives=objectives), shared_texts, model_of(texts.texts))
    *single, together = prepared
    return [{name: part for parts in single for name, part in parts.items()}, together]


def get_pairs(prepared: PreparedObjective) -> tuple[SequencePairs, list[list[int]], list[torch.Tensor], list[int]]:
    """Return the training items of an objective, their batches, the decoder's weights, and the held-out items."""
    assert isinstance(prepared.train, SequencePairs)
    assert isinstance(prepared.validate, GenerationValidator)
    assert isinstance(prepared.learner, Seq2Seq)
    batches = [rows.tolist() for epoch in range(2) for rows in prepared.train.plan_batches(epoch)]
    weights: list[torch.Tensor] = [*prepared.learner.decoders.parameters()]
    return prepared.train, batches, weights, prepared.validate.pairs.items.tolist()


def test_objectives_of_one_encoder_share_no_random_numbers(tmp_path: Path) -> None:
    pytest.importorskip("tokenizers")
    pytest.importorskip("sacrebleu")
    names = ("autoencoder", "denoising", "skipthought")
    alone, together = prepare_alone_and_together(tmp_path, names)
    _, batches, _, held_out = get_pairs(together["autoencoder"])
    _, other_batches, _, other_held_out = get_pairs(together["denoising"])
    assert held_out == other_held_out
    assert sorted(chain.from_iterable(batches)) == sorted(chain.from_iterable(other_batches))
    assert sorted(map(sorted, batches)) != sorted(map(sorted, other_batches))
    lstm_weights = [get_pairs(together[name])[2][1] for name in names]
    assert len({weight.shape for weight in lstm_weights}) == 1
    assert not any(torch.equal(weight, other) for weight, other in combinations(lstm_weights, 2))
    # The first has the random numbers that it has alone.
    _, batches, weights, _ = get_pairs(together["autoencoder"])
    _, batches_alone, weights_alone, _ = get_pairs(alone["autoencoder"])
    assert batches == batches_alone
    assert all(map(torch.equal, weights, weights_alone))


def test_an_objective_alone_has_the_seeds_of_its_streams(tmp_path: Path) -> None:
    """As before objectives could share an encoder: such a training, if stopped, goes on."""
    pytest.importorskip("tokenizers")
    pytest.importorskip("sacrebleu")
    alone, together = prepare_alone_and_together(tmp_path, ("autoencoder", "denoising"))
    for name, prepared in alone.items():
        train, _, weights, _ = get_pairs(prepared)
        assert isinstance(prepared.learner, Seq2Seq)
        (seed,) = np.random.default_rng((TINY.seed, 4)).integers(2**62, size=1).tolist()
        expected = make_decoder(len(prepared.learner.subwords), 2 * 8, TINY, seed=seed)
        assert all(map(torch.equal, weights, expected.parameters())), name
        random = np.random.default_rng((TINY.seed, 2, 3))
        items = random.permutation(train.items)
        items = items[np.lexsort([rows.lengths[items] for rows in (train.sources, *train.targets)])]
        batches = [items[start : start + TINY.batch].tolist() for start in range(0, len(items), TINY.batch)]
        batches = [batches[place] for place in random.permutation(len(batches))]
        assert [rows.tolist() for rows in train.plan_batches(3)] == batches, name
    noisy, other = get_pairs(alone["denoising"])[0], get_pairs(together["denoising"])[0]
    rows = noisy.items[:20]
    assert noisy.noise is not None
    generators = [np.random.default_rng((TINY.seed, 3, 5, row)) for row in rows.tolist()]
    words = [noisy.noise(noisy.sources[row], g).tolist() for row, g in zip(rows.tolist(), generators, strict=True)]
    noise, other_noise = (list_sources(pairs, rows.tolist()) for pairs in (noisy, other))
    assert noise == words
    assert noise != other_noise


def list_sources(pairs: SequencePairs, rows: list[int]) -> list[list[int]]:
    tensors = pairs.make_batch(np.array(rows), 5).tensors
    return [row[:length] for row, length in zip(tensors["sources"].tolist(), tensors["lengths"].tolist(), strict=True)]


def test_items_of_a_later_objective_have_another_order() -> None:
    def make_batch(items: Indices) -> Batch:
        return Batch({"items": torch.from_numpy(items)}, items=len(items), targets=len(items))

    orders = [
        [
            item
            for batch in ItemBatches(np.arange(50), 10, 3, make_batch, place).batches(4)
            for item in batch.tensors["items"].tolist()
        ]
        for place in range(3)
    ]
    assert orders[0] == np.random.default_rng((3, 2, 4)).permutation(50).tolist()
    assert not any(order == other for order, other in combinations(orders, 2))
