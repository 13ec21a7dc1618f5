"""What an encoder learns by each objective is worth more than a head over the encoder as drawn.

A random BiLSTM keeps much of a sentence, and a large decoder over many units reads much of that, so
that the control may be as good for a while. Here the encoder has 16 units a direction (32 for
meaning and contrastive), sentences are of one structure and 45 word types, and each course is long
enough for the whole to find its way. What is shown is that training reaches the encoder and is of
use on what was held out; how large the gap is elsewhere is not. benchmarks/objectives.py measures
that, by minutes.
"""

from pathlib import Path
from typing import NamedTuple

import pytest
import torch
from frozen_controls import compare, prepare_control, train, validated
from generated_texts import GENERATED, Drawing
from torch import nn

from sentprobe.probes.encoders.networks.architecture import Architecture
from sentprobe.probes.pretraining import loop, machines
from sentprobe.probes.pretraining.objective import Validation
from sentprobe.probes.pretraining.objectives import OBJECTIVES, ObjectiveOptions
from sentprobe.probes.pretraining.optimizers import OptimizerKind, OptimizerSettings
from sentprobe.probes.pretraining.schedule import Every, Limits
from sentprobe.probes.pretraining.texts.meanings import Meanings
from sentprobe.probes.pretraining.texts.open_texts import LearnedTexts
from sentprobe.probes.runs.training_plan import ModelPlan, TextPlan, TrainingPlan

pytest.importorskip("lightning_fabric")
pytest.importorskip("tokenizers")
pytest.importorskip("sacrebleu")


class Bout(NamedTuple):
    """A course, and by how much its trained encoder is to win."""

    steps: int
    gap: float
    """In units of BLEU or accuracy; of perplexity, in nats."""
    hidden: int = 16
    """Units of the encoder, of each direction."""
    rate: float = 0.015
    items: int = 2000


# With the seeds 1, 2 and 3 the gap to the frozen encoder was: autoencoder 72, 56, 43; denoising 46,
# 34, 29; skipthought 0.35, 0.29, 0.27; nmt 58, 54, 55; seq2tree 0.93, 1, 0.95; nli 0.27, 0.18,
# 0.28; contrastive 1, 1, 1; meaning 0.87, 0.88, 0.83.
BOUTS = {
    "autoencoder": Bout(300, 20),
    "denoising": Bout(300, 15),
    "skipthought": Bout(300, 0.1),
    "nmt": Bout(300, 20),
    "seq2tree": Bout(400, 0.3),
    "nli": Bout(200, 0.1),
    "meaning": Bout(500, 0.25, hidden=32, rate=0.012, items=3000),
    "contrastive": Bout(300, 0.4, hidden=32, rate=0.005),
}

SHORT = Bout(2, 0, items=80)


def plan_of(name: str, folder: Path, bout: Bout, *, seed: int = 1) -> TrainingPlan:
    """Return how an objective is trained."""
    return TrainingPlan(
        name=name,
        objective=name,
        texts=TextPlan(corpus=()),
        model=ModelPlan(
            architecture=Architecture(kind="bilstm-max", hidden=bout.hidden, inputs=32)
        ),
        options=ObjectiveOptions(
            batch=32,
            codes=300,
            decoder_hidden=96,
            decoder_layers=1,
            decoder_inputs=32,
            classes_hidden=64,
            validation=60,
            seed=seed,
        ),
        settings=loop.TrainingSettings(
            seed=seed,
            optimizer=OptimizerSettings(kind=OptimizerKind.ADAM, rate=bout.rate, clip=5.0),
            limits=Limits(steps=bout.steps),
            validate_every=Every(bout.steps),
            machine=machines.TrainingMachine(precision=machines.TrainingPrecision.FLOAT32),
        ),
        out=folder,
    )


def drawn(name: str, bout: Bout, *, seed: int = 1) -> LearnedTexts | Meanings:
    """Return what an objective learns from."""
    return GENERATED[name](Drawing(items=bout.items, seed=seed))


def gap(better: Validation, worse: Validation) -> float:
    """Return how much better a figure is; of perplexity, by how many nats a code."""
    if better.higher_is_better:
        return better.value - worse.value
    return worse.loss - better.loss


def test_every_objective_is_compared() -> None:
    learned = {name for name, kind in OBJECTIVES.items() if kind.learns}
    assert set(BOUTS) == set(GENERATED) == learned


def weights(module: nn.Module) -> list[torch.Tensor]:
    return [each.detach().clone() for each in module.parameters()]


def test_a_frozen_encoder_stays_as_drawn_while_its_head_learns(tmp_path: Path) -> None:
    plan = plan_of("nli", tmp_path, SHORT)
    made = prepare_control(plan, drawn("nli", SHORT))
    encoder, whole = weights(made.learner.encoder), weights(made.learner)
    assert train(made, plan, tmp_path / "frozen", None).steps == 2
    assert all(map(torch.equal, encoder, weights(made.learner.encoder)))
    assert sum(map(torch.equal, whole, weights(made.learner))) == len(encoder)


def test_where_there_is_no_head_nothing_is_trained(tmp_path: Path) -> None:
    plan = plan_of("contrastive", tmp_path, SHORT)
    made = prepare_control(plan, drawn("contrastive", SHORT))
    outcome = train(made, plan, tmp_path / "frozen", None)
    assert (outcome.steps, outcome.best) == (0, validated(made))


def test_minutes_are_counted_as_often_as_is_validated(tmp_path: Path) -> None:
    plan = plan_of("contrastive", tmp_path, SHORT)
    found = compare(plan, drawn("contrastive", SHORT), minutes=1e-9)
    assert (found.frozen.steps, found.trained.steps) == (0, 2)
    assert found.trained.best.metric == "accuracy"


@pytest.mark.slow  # up to half a minute of learning each
@pytest.mark.parametrize("name", BOUTS)
def test_a_trained_encoder_beats_itself_as_drawn(name: str, tmp_path: Path) -> None:
    bout = BOUTS[name]
    found = compare(plan_of(name, tmp_path, bout), drawn(name, bout))
    assert found.trained.steps == bout.steps
    assert gap(found.trained.best, found.frozen.best) > bout.gap
    assert gap(found.trained.best, found.untrained) > bout.gap
