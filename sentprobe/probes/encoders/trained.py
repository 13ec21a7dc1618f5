"""Encoders that were trained here (``probe train``), each by the folder of its sentence model."""

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch

from sentprobe.errors import FormatError
from sentprobe.probes.encoders import model_config, model_folder, models
from sentprobe.probes.encoders.protocol import EncoderError, Vectors, digest
from sentprobe.probes.encoders.sentence_model import SentenceModel
from sentprobe.probes.encoders.untrained import batches_of_one_length
from sentprobe.probes.encoders.word_vectors import SHOWN, WordVectors
from sentprobe.specs import Spec, read_options
from sentprobe.values import check_record


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainedOptions:
    """Options of ``trained``."""

    batch: int = 256
    """Sentences that are encoded together, at most."""
    device: str = ""
    """A PyTorch device; empty: a GPU where there is one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingPoint:
    """How far the training was that a folder is of, as its record says."""

    family: str = ""
    """What all points of one training have in common."""
    step: int | None = None
    epoch: float | None = None


class TrainedEncoder:
    """A sentence model as an encoder.

    Sentences of one length are encoded together, so there is no padding that could count. Words
    that are not in the vocabulary have a vector that they share.
    """

    def __init__(
        self, model: SentenceModel, options: TrainedOptions, *, name: str, point: TrainingPoint
    ) -> None:
        self.name = name
        self.fingerprint = fingerprint_of(model)
        self.family, self.step, self.epoch = point.family, point.step, point.epoch
        self._batch = options.batch
        self._words = WordVectors(name, model.words.embedding_dim, "", self._find)
        self._device = options.device or models.usual_device()
        self._model: SentenceModel = models.place(
            model, device=self._device, precision=models.ModelPrecision.FLOAT32
        )
        self._seen: set[str] = set()

    @property
    def notes(self) -> tuple[str, ...]:
        """One sentence on the words so far that are not in the vocabulary."""
        unknown = sorted(word for word in self._seen if word not in self._model.vocabulary.rows)
        if not unknown:
            return ()
        some = ", ".join(unknown[:SHOWN]) + (", ..." if len(unknown) > SHOWN else "")
        return (
            f"{len(unknown)} of {len(self._seen)} different words are not in the vocabulary of "
            f"{self.name} and are read as an unknown word: {some}",
        )

    def encode(self, sentences: Sequence[str]) -> Vectors:
        """Return the sentence vectors, (n, dim) float32.

        Raises:
            EncoderError: a sentence has no words.
        """
        ids = [self._ids(sentence) for sentence in sentences]
        out = np.empty((len(sentences), self._model.dim), dtype=np.float32)
        for rows in batches_of_one_length([len(each) for each in ids], size=self._batch):
            stacked = torch.tensor([ids[row] for row in rows], device=self._device)
            lengths = torch.full((len(rows),), stacked.shape[1])
            with torch.inference_mode():
                out[rows] = self._model(stacked, lengths).cpu().numpy()
        return out

    def word_vectors(self, texts: Sequence[str]) -> Vectors:
        """Return the word vectors of texts, (n, width) float32; 0 where there is none."""
        return self._words.of_words(texts)

    def truncated(self, sentences: Sequence[str]) -> int:  # noqa: ARG002
        """Return 0: all of a sentence is read."""
        return 0

    def _ids(self, sentence: str) -> list[int]:
        vocabulary = self._model.vocabulary
        self._seen.update(vocabulary.tokens(sentence))
        ids = vocabulary.ids(sentence)
        if not ids:
            raise EncoderError(f"{self.name}: the sentence {sentence!r} has no words")
        return ids

    def _find(self, word: str) -> Vectors | None:
        token = self._model.vocabulary.tokens(word)[0]
        known = token in self._model.vocabulary.rows
        return self._model.word_vectors([token])[0] if known else None


def fingerprint_of(model: SentenceModel) -> str:
    """Return a digest of all that the vectors of a model depend on."""
    content = hashlib.sha256()
    for name, weight in model.state_dict().items():
        content.update(f"{name} {tuple(weight.shape)}".encode())
        content.update(weight.cpu().numpy().tobytes())
    vocabulary = model.vocabulary
    sizes = asdict(model.architecture).items()
    reading = (vocabulary.lower, vocabulary.reverse)
    return digest("trained", *sizes, *reading, *vocabulary.words, content.hexdigest())


def build_trained(spec: Spec) -> TrainedEncoder:
    """Return the encoder of a spec ``trained:DIR``.

    Raises:
        UsageError: an option is not known; there is no such folder.
        EncoderError: the folder is damaged; the machine has no such device.
    """
    options = read_options(spec, TrainedOptions())
    folder = Path(spec.argument).expanduser()
    point = _point(folder)
    model = model_folder.load_sentence_model(folder)
    return TrainedEncoder(model, options, name=spec.name, point=point)


def _point(folder: Path) -> TrainingPoint:
    record = model_config.read_config(folder).record
    known = {name: record[name] for name in ("family", "step", "epoch") if name in record}
    point = TrainingPoint(**known)
    try:
        check_record(point, "record")
    except FormatError as error:
        raise EncoderError(f"{folder / model_config.CONFIG}: {error}") from None
    return point
