"""The encoder ``trained:``, which loads a sentence model that ``probe train`` trained."""

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from sentprobe.errors import FormatError
from sentprobe.probes.encoders.files.word_vectors import WordVectors, note_unknown_words
from sentprobe.probes.encoders.models import model_loading
from sentprobe.probes.encoders.models.model_loading import count_none_truncated
from sentprobe.probes.encoders.protocol import Capabilities, EncoderError, Vectors, digest
from sentprobe.probes.encoders.trained import model_config, model_folder
from sentprobe.probes.encoders.trained.sentence_model import SentenceModel
from sentprobe.probes.encoders.trained.untrained import encode_by_length
from sentprobe.specs import Spec, read_options
from sentprobe.values import check_record


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainedOptions:
    """The options of the encoder ``trained``."""

    batch: int = 256
    device: str = ""
    """A PyTorch device, such as ``cuda:1``; empty: a GPU if there is one, else the CPU."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingPoint:
    """The origin of a checkpoint: the training's name, the step and the epoch."""

    family: str = ""
    """A name that all checkpoints of one training share."""
    step: int | None = None
    epoch: float | None = None


class TrainedEncoder:
    """An encoder that runs a trained sentence model, on batches of sentences of equal length."""

    def __init__(self, model: SentenceModel, options: TrainedOptions, *, name: str, point: TrainingPoint) -> None:
        self.name = name
        self.fingerprint = compute_fingerprint(model)
        self._point = point
        self._batch = options.batch
        self._words = WordVectors(name, model.words.embedding_dim, "", self._find_vector)
        self._device = options.device or model_loading.find_default_device()
        self._model: SentenceModel = model_loading.move_to_device(
            model, device=self._device, precision=model_loading.ModelPrecision.FLOAT32
        )
        self._seen: set[str] = set()

    @property
    def capabilities(self) -> Capabilities:
        """The checkpoint's family, step and epoch, a note on unknown words, and a function that finds word vectors."""
        return Capabilities(
            family=self._point.family,
            step=self._point.step,
            epoch=self._point.epoch,
            notes=self.notes,
            count_truncated=count_none_truncated,
            word_vectors=self._words.average_words,
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """A note on the words encoded so far that are not in the vocabulary; empty if there are none."""
        unknown = self._seen - self._model.vocabulary.rows.keys()
        effect = f"are not in the vocabulary of {self.name} and are read as an unknown word"
        return note_unknown_words(unknown, total=len(self._seen), effect=effect)

    def encode(self, sentences: Sequence[str]) -> Vectors:
        """Return the sentence vectors, (n, dim) float32. Raises EncoderError if a sentence has no words."""
        vocabulary = self._model.vocabulary
        for sentence in sentences:
            words = vocabulary.tokenize(sentence)
            if not words:
                raise EncoderError(f"{self.name}: the sentence {sentence!r} has no words")
            self._seen.update(words)
        ids = [*map(vocabulary.find_ids, sentences)]
        return encode_by_length(ids, self._model, batch=self._batch, dim=self._model.dim, device=self._device)

    def _find_vector(self, word: str) -> Vectors | None:
        token = self._model.vocabulary.tokenize(word)[0]
        has_row = token in self._model.vocabulary.rows
        return self._model.word_vectors([token])[0] if has_row else None


def compute_fingerprint(model: SentenceModel) -> str:
    """Return a digest of a sentence model: its weights, sizes and vocabulary."""
    content = hashlib.sha256()
    for name, weight in model.state_dict().items():
        content.update(f"{name} {tuple(weight.shape)}".encode())
        content.update(weight.cpu().numpy().tobytes())
    sizes, vocabulary = asdict(model.architecture).items(), model.vocabulary
    return digest("trained", *sizes, vocabulary.lower, vocabulary.reverse, *vocabulary.words, content.hexdigest())


def build_trained(spec: Spec) -> TrainedEncoder:
    """Build the encoder of a spec ``trained:FOLDER``. Raises UsageError or EncoderError."""
    options = read_options(spec, TrainedOptions())
    folder = Path(spec.argument).expanduser()
    point = _read_training_point(folder)
    model = model_folder.load_sentence_model(folder)
    return TrainedEncoder(model, options, name=spec.name, point=point)


def _read_training_point(folder: Path) -> TrainingPoint:
    record = model_config.read_config(folder).record
    fields = {name: record[name] for name in ("family", "step", "epoch") if name in record}
    point = TrainingPoint(**fields)
    try:
        check_record(point, "record")
    except FormatError as error:
        raise EncoderError(f"{folder / model_config.CONFIG_FILE}: {error}") from None
    return point
