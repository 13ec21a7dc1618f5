"""The training of a repair: the trainer and losses of sentence-transformers, and a loss that keeps old cosines."""

import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from sentprobe.common.errors import UsageError, first_line
from sentprobe.common.files import write_atomically
from sentprobe.common.screen import Reporter
from sentprobe.common.values import group_by
from sentprobe.probes.classifier.devices import choose_precision, find_device
from sentprobe.probes.classifier.probe import Precision
from sentprobe.probes.encoders.encoder import EncoderError, digest
from sentprobe.probes.encoders.models.model_loading import suppress_messages
from sentprobe.probes.encoders.models.sentence_transformer import SentenceTransformerEncoder
from sentprobe.probes.repair.repair_data import RepairData
from sentprobe.probes.similarity.pair_scores import TextPair

CHECKPOINTS = 5
"""The number of checkpoints during a training."""
COMPLETE = "complete"
"""A file in a checkpoint that was written in full."""
RECIPE = "recipe.txt"
"""A file in the folder of checkpoints: a digest of all that the training depends on."""
MOST_COPIES = 4
"""How often a pair of a rare kind occurs in a pass over the pairs, at most."""
PART = 8
"""The number of texts in a batch that are computed together."""
EDITS, KEEP = "edits", "keep"
"""The two data sets of a training, from which batches come in turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairSettings:
    """The settings of a repair's training."""

    steps: int
    """Number of batches; every other one has neutral texts."""
    batch: int
    rate: float
    """The greatest learning rate, after a warm-up of a tenth of the steps; it falls to 0."""
    keep_weight: float
    """The weight of the loss that keeps cosines of neutral texts; 0: none."""
    strength: float
    """The share of the trained change of the weights that the repaired model has, above 0 and at most 1."""
    seed: int
    device: str
    precision: Precision
    margin: float = 0.5
    """The distance (1 - cosine) up to which texts of different meaning are pushed apart."""


class ShortPadding(nn.Module):
    """A model that computes a batch in parts of texts of similar length, so that little padding is computed."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def forward(self, features: dict[str, Any]) -> dict[str, Tensor]:
        """Return the vectors of a batch of n texts, (n, dim), as ``sentence_embedding``."""
        mask = features.get("attention_mask")
        if mask is None:
            return {"sentence_embedding": self.model(features)["sentence_embedding"]}
        order = mask.sum(1).argsort()
        vectors = []
        for rows in order.split(PART):
            columns = mask[rows].any(0)
            part = {
                name: value[rows][:, columns] if isinstance(value, Tensor) and value.shape == mask.shape else value
                for name, value in features.items()
            }
            vectors.append(self.model(part)["sentence_embedding"])
        return {"sentence_embedding": torch.cat(vectors)[order.argsort()]}


class KeepCosinesLoss(nn.Module):
    """The mean squared difference between the new and the old cosines of all texts in a batch, of two columns.

    The old vectors are the labels, so that the old model is not needed during the training.
    """

    def __init__(self, model: Any, weight: float) -> None:
        super().__init__()
        self.model, self.weight = model, weight

    def forward(self, sentence_features: Iterable[dict[str, Tensor]], labels: Tensor) -> Tensor:
        """Return the loss of a batch of n rows.

        - sentence_features: the tokens of two columns of texts
        - labels: the old vectors of both, (n, 2, dim)
        """
        columns = [self.model(features)["sentence_embedding"].float() for features in sentence_features]
        new = nn.functional.normalize(torch.cat(columns), dim=1)
        old = nn.functional.normalize(torch.cat([*labels.to(new).unbind(1)]), dim=1)
        return self.weight * (new @ new.T - old @ old.T).square().mean()


def check_trainable(encoder: SentenceTransformerEncoder) -> None:
    """Raise EncoderError if a model has no parameter that can be trained."""
    if not any(parameter.requires_grad and parameter.is_floating_point() for parameter in encoder.model.parameters()):
        raise EncoderError(f"{encoder.name}: the model has no trainable part, so it cannot be repaired")


def train_repair(
    encoder: SentenceTransformerEncoder,
    data: RepairData,
    settings: RepairSettings,
    *,
    checkpoints: Path,
    reporter: Reporter,
) -> None:
    """Train the encoder's model in place; a killed training is resumed from the folder *checkpoints*.

    Raises UsageError for a device or precision that cannot be used, EncoderError if the training fails.
    """
    from sentence_transformers import SentenceTransformerTrainer
    from sentence_transformers.sentence_transformer.losses import ContrastiveLoss
    from transformers import PrinterCallback

    check_trainable(encoder)
    model = encoder.model
    datasets = build_datasets(encoder, data, keeps=settings.keep_weight > 0)
    parts: Any = ShortPadding(model)
    losses = {EDITS: ContrastiveLoss(parts, margin=settings.margin), KEEP: KeepCosinesLoss(parts, settings.keep_weight)}
    old = [parameter.detach().clone() for parameter in model.parameters()]
    checkpoint = find_checkpoint(checkpoints, digest(encoder.fingerprint, data.digest(), repr(settings)))
    model.model_card_data.widget = [{}]  # else the trainer draws examples for its own card, with a progress bar
    with _report_training_errors(encoder.name), suppress_messages(), freeze_embeddings(model):
        trainer = SentenceTransformerTrainer(
            model=model,
            args=build_arguments(encoder, settings, checkpoints),
            train_dataset=datasets,
            loss={name: losses[name] for name in datasets},
            callbacks=[build_callback(reporter, settings.steps)],
        )
        trainer.remove_callback(PrinterCallback)  # it prints the trainer's own figures
        trainer.train(resume_from_checkpoint=None if checkpoint is None else str(checkpoint))
    if not all(torch.isfinite(parameter).all() for parameter in model.parameters()):
        raise EncoderError(f"{encoder.name}: the training diverged, so that weights are not finite; take a lower rate")
    with torch.no_grad():
        for parameter, old_parameter in zip(model.parameters(), old, strict=True):
            parameter.copy_(torch.lerp(old_parameter, parameter, settings.strength))
    model.eval()


@contextmanager
def freeze_embeddings(model: nn.Module) -> Iterator[None]:
    """Exclude a model's embeddings of tokens and positions from training, unless it has no other weights.

    Words that the texts lack keep their places beside those that the texts have.
    """
    embeddings = [module for module in model.modules() if isinstance(module, nn.Embedding | nn.EmbeddingBag)]
    names = {id(parameter) for module in embeddings for parameter in module.parameters()}
    trainable = [parameter for parameter in model.parameters() if parameter.requires_grad]
    frozen = [parameter for parameter in trainable if id(parameter) in names]
    # A bag of embeddings, such as a static model: nothing would be left to train.
    if len(frozen) == len(trainable):
        frozen = []
    for parameter in frozen:
        parameter.requires_grad = False
    try:
        yield
    finally:
        for parameter in frozen:
            parameter.requires_grad = True


def build_datasets(encoder: SentenceTransformerEncoder, data: RepairData, *, keeps: bool) -> dict[str, Any]:
    """Return the data sets of a training: pairs with labels, and texts to keep with their old vectors as labels."""
    from datasets import Dataset

    side = data.training
    pairs = [*balance_kinds(side.opposites), *side.variants, *side.paraphrases]
    edits = {
        "first": [pair.first for pair in pairs],
        "second": [pair.second for pair in pairs],
        "label": [float(pair.same) for pair in pairs],
    }
    datasets = {EDITS: Dataset.from_dict(edits)}
    if keeps:
        # two texts of a generated pair are in one row, so that the cosines of minimal pairs stay, too
        rows = [*data.generated, *zip(side.neutral[::2], [*side.neutral[1::2], side.neutral[0]], strict=False)]
        old = np.asarray(encoder.encode([*chain.from_iterable(rows)]), np.float32).reshape(len(rows), 2, -1)
        first, second = map(list, zip(*rows, strict=True))
        datasets[KEEP] = Dataset.from_dict({"first": first, "second": second, "label": [*old]})
    return datasets


def balance_kinds(pairs: Sequence[TextPair]) -> list[TextPair]:
    """Return the pairs, those of rare kinds several times (at most MOST_COPIES), so that kinds are about equally many.

    >>> [len(balance_kinds([TextPair("a", "b", False, kind) for kind in kinds])) for kinds in ("xxxyyy", "xxxy")]
    [6, 6]
    """
    by_kind = group_by(pairs, lambda pair: pair.kind)
    largest = max(map(len, by_kind.values()), default=0)
    return [pair for group in by_kind.values() for pair in group * min(MOST_COPIES, round(largest / len(group)))]


def build_arguments(encoder: SentenceTransformerEncoder, settings: RepairSettings, folder: Path) -> Any:
    """Return the trainer's arguments. Raises UsageError for a device or precision that cannot be used."""
    from sentence_transformers import SentenceTransformerTrainingArguments

    device = find_device(settings.device)
    precision = choose_precision(settings.precision, device=torch.device(device))
    return SentenceTransformerTrainingArguments(
        output_dir=str(folder),
        max_steps=settings.steps,
        per_device_train_batch_size=settings.batch,
        learning_rate=settings.rate,
        warmup_steps=settings.steps // 10,
        seed=settings.seed,
        data_seed=settings.seed,
        save_strategy="steps",
        save_steps=max(1, settings.steps // CHECKPOINTS),
        save_total_limit=2,  # the older one is complete while the newer one is written
        logging_strategy="no",
        report_to=[],
        use_cpu=device == "cpu",
        bf16=precision is Precision.BFLOAT16,
        disable_tqdm=True,
        prompts=encoder.prompt or None,
        multi_dataset_batch_sampler="round_robin",
        dataloader_pin_memory=device.startswith("cuda"),
    )


def check_checkpoints(folder: Path) -> None:
    """Raise UsageError if a path is neither new nor empty nor the checkpoints of a repair, which are replaced."""
    is_own = folder.is_dir() and ((folder / RECIPE).is_file() or not any(folder.iterdir()))
    if folder.exists() and not is_own:
        raise UsageError(f"{folder}: checkpoints belong there, and it has other content; name another --out")


def find_checkpoint(folder: Path, recipe: str) -> Path | None:
    """Return the newest complete checkpoint of a training with this recipe; empty the folder if there is none."""
    written = folder / RECIPE
    if written.is_file() and written.read_text("utf-8").strip() == recipe:
        complete = [path.parent for path in folder.glob(f"checkpoint-*/{COMPLETE}")]
        if complete:
            return max(complete, key=lambda path: int(path.name.rpartition("-")[2]))
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    write_atomically(written, f"{recipe}\n")
    return None


def build_callback(reporter: Reporter, steps: int) -> Any:
    """Return a callback that reports steps, and marks each checkpoint that is complete."""
    from transformers import TrainerCallback

    class RepairCallback(TrainerCallback):
        def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:  # noqa: ARG002
            reporter.begin("train", steps)
            reporter.advance(state.global_step)

        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:  # noqa: ARG002
            reporter.advance()

        def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:  # noqa: ARG002
            (Path(args.output_dir) / f"checkpoint-{state.global_step}" / COMPLETE).touch()

    return RepairCallback()


@contextmanager
def _report_training_errors(name: str) -> Iterator[None]:
    try:
        yield
    except torch.OutOfMemoryError as error:
        raise EncoderError(f"{name}: the device's memory is full: {first_line(error)}") from error
    except (RuntimeError, ValueError, KeyError) as error:
        raise EncoderError(f"{name}: it cannot be trained: {type(error).__name__}: {first_line(error)}") from error
