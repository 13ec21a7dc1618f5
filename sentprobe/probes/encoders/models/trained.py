"""The sentence models that ``probe train`` trains: a vocabulary, word vectors and a network.

Read and write the folder of a sentence model: config.json, words.txt and model.safetensors.

The encoder ``trained:``, which loads a sentence model that ``probe train`` trained.
"""

import hashlib
import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import numpy as np
import safetensors
import torch
from safetensors import torch as tensor_files
from torch import nn

from sentprobe.common import reading
from sentprobe.common.errors import FormatError, UsageError, first_line, folder_part_error
from sentprobe.common.specs import Spec, read_options
from sentprobe.common.values import check_record
from sentprobe.lexicon.languages.english import ENGLISH
from sentprobe.probes.encoders.architecture import (
    CONFIG_FILE,
    Architecture,
    ModelConfig,
    read_config,
    read_part,
    write_config,
)
from sentprobe.probes.encoders.encoder import Capabilities, EncoderError, Vectors, digest
from sentprobe.probes.encoders.models.model_loading import (
    ModelPrecision,
    count_none_truncated,
    find_default_device,
    move_to_device,
)
from sentprobe.probes.encoders.models.untrained import encode_by_length
from sentprobe.probes.encoders.network import NETWORKS, Recurrent, check_weights, make_network
from sentprobe.probes.encoders.sentence_trees import SentenceTrees, load_trees
from sentprobe.probes.encoders.word_vectors import WordVectors, list_some_words, note_unknown_words

log = logging.getLogger(__name__)
PADDING, UNKNOWN = 0, 1
"""Rows of two special word vectors: for padding, and for all words outside the vocabulary."""
SPECIAL_ROWS = 2
"""Number of special word vectors; the vocabulary's words have the rows after them."""
WORD_VECTOR_STD = 0.1
"""Initial standard deviation of learned word vectors (Gehring et al. 2017, section 3.5)."""


@dataclass(frozen=True, slots=True)
class ModelVocabulary:
    """The words of a sentence model, and the row of each word's vector; the first word has row 2 (SPECIAL_ROWS).

    >>> ModelVocabulary(("the", "man")).find_ids("the old man")
    [2, 1, 3]
    """

    words: tuple[str, ...]
    lower: bool = False
    """Whether sentences are converted to lower case before the look-up."""
    reverse: bool = False
    """Whether the model reads sentences from the last word to the first (Adi et al. 2017, appendix I)."""
    trees: SentenceTrees | None = field(default=None, repr=False, compare=False)
    """The trees of sentences, for a network that reads them."""
    rows: Mapping[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        rows = {word: row for row, word in enumerate(self.words, start=SPECIAL_ROWS)}
        if len(rows) < len(self.words):
            twice = next(w for row, w in enumerate(self.words, SPECIAL_ROWS) if rows[w] != row)
            raise FormatError(f"the word {twice!r} is in the vocabulary twice")
        if wrong := [word for word in self.words if word.split() != [word]]:
            raise FormatError(f"{wrong[0]!r} is not a word: it is empty or contains spaces")
        object.__setattr__(self, "rows", rows)

    def find_ids(self, sentence: str) -> list[int]:
        """Return the row of each word's vector; UNKNOWN for words outside the vocabulary.

        With ``trees``, the number of the word's head times :attr:`row_count` is added to it, so that trees pass through
        every objective as word numbers do; :meth:`SentenceModel.forward` separates them. Raises EncoderError if the
        sentence has no tree.
        """
        ids = [self.rows.get(word, UNKNOWN) for word in self.tokenize(sentence)]
        if self.trees is None or not ids:
            return ids
        (heads,) = self.trees.find_heads([sentence], lower=self.lower)
        if self.reverse:
            heads = tuple(head and len(heads) + 1 - head for head in reversed(heads))
        return [row + head * self.row_count for row, head in zip(ids, heads, strict=True)]

    @property
    def row_count(self) -> int:
        """Number of word vectors, including special ones."""
        return SPECIAL_ROWS + len(self.words)

    def tokenize(self, sentence: str) -> list[str]:
        """Return the words of a sentence, in lower case if ``lower``, and from the last to the first if ``reverse``."""
        words = (sentence.lower() if self.lower else sentence).split()
        return words[::-1] if self.reverse else words


def _find_no_tree(_: str) -> None:
    """Find nothing; a lambda could not be sent to another process."""


_NO_TREES = SentenceTrees("a model without trees", "", _find_no_tree, "pass trees=load_trees(trees=FILE)")


class SentenceModel(nn.Module):
    """Word vectors, and a network that computes sentence vectors from them; see :func:`make_sentence_model`."""

    def __init__(self, vocabulary: ModelVocabulary, architecture: Architecture, *, frozen: bool) -> None:
        super().__init__()
        if NETWORKS[architecture.kind].reads_trees and vocabulary.trees is None:
            vocabulary = replace(vocabulary, trees=_NO_TREES)
        self.vocabulary = vocabulary
        self.architecture = architecture
        self.frozen = frozen
        self.words = nn.Embedding(vocabulary.row_count, architecture.inputs, padding_idx=PADDING)
        self.words.weight.requires_grad_(not frozen)
        self.network = NETWORKS[architecture.kind](architecture)

    @property
    def dim(self) -> int:
        """Width of the sentence vectors."""
        return self.network.dim

    def forward(self, ids: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        """Return the vectors of b sentences, (b, dim).

        - ids: the number of each word, by :meth:`ModelVocabulary.find_ids`, (b, time) int64, padded with PADDING
        - lengths: number of words of each sentence, (b,) int64 on the CPU, from 1 to time
        """
        trees = []
        if self.network.reads_trees:
            trees = [ids // self.vocabulary.row_count]
            ids = ids % self.vocabulary.row_count
        vectors: torch.Tensor = self.network(self.words(ids), lengths, *trees)
        return vectors

    def encode_words(self, ids: torch.Tensor, lengths: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the vectors of b sentences, (b, dim), and the states of their words, (b, time, width).

        The arguments are those of :meth:`forward`; the network must be recurrent.
        """
        assert isinstance(self.network, Recurrent)
        states = self.network.compute_states(self.words(ids), lengths)
        return self.network.pool_states(states, lengths), states

    def word_vectors(self, words: Sequence[str]) -> Vectors:
        """Return the input vectors of n words, (n, inputs) float32; zeros for unknown words."""
        rows = [self.vocabulary.rows.get(word, PADDING) for word in words]
        vectors: Vectors = self.words.weight.detach()[rows].cpu().float().numpy()
        return vectors


def make_sentence_model(
    architecture: Architecture,
    vocabulary: ModelVocabulary,
    *,
    vectors: WordVectors | None = None,
    frozen: bool = False,
    seed: int,
) -> SentenceModel:
    """Return an untrained sentence model with random weights. Raises UsageError or EncoderError.

    - vectors: initial word vectors; words without a vector get a random one of the same scale. None: all are random
    - frozen: whether training leaves the word vectors unchanged
    """
    check_size(architecture, words=len(vocabulary.words))
    if vectors is not None and vectors.dim != architecture.inputs:
        raise UsageError(
            f"{vectors.source}: word vectors of width {vectors.dim}; those of the model have {architecture.inputs}"
        )
    with torch.device("meta"):
        model = SentenceModel(vocabulary, architecture, frozen=frozen)
    generator = torch.Generator().manual_seed(seed)
    model.network = make_network(architecture, generator=generator)
    model.words = model.words.to_empty(device="cpu")
    with torch.no_grad():
        weight = model.words.weight
        weight.normal_(0, WORD_VECTOR_STD if vectors is None else vectors.scale, generator=generator)
        weight[PADDING] = 0
        if vectors is not None:
            rows, known_vectors = _find_known_vectors(vocabulary, vectors)
            weight[rows] = torch.from_numpy(known_vectors)
    return model


def count_weights(architecture: Architecture, *, words: int) -> int:
    """Return the number of weights of a sentence model with *words* words, including word vectors."""
    network = NETWORKS[architecture.kind].count_weights(architecture)
    return network + (words + SPECIAL_ROWS) * architecture.inputs


def check_size(architecture: Architecture, *, words: int) -> None:
    """Raise UsageError if a sentence model with *words* words has more than network.MAX_WEIGHTS weights."""
    subject = f"{architecture.kind} over {words:,} words"
    check_weights(architecture, subject=subject, other_weights=(words + SPECIAL_ROWS) * architecture.inputs)


def _find_known_vectors(vocabulary: ModelVocabulary, vectors: WordVectors) -> tuple[list[int], Vectors]:
    """Return the row numbers and vectors, (n, inputs), of the words with a vector. Raises EncoderError if n = 0."""
    lookups = ((row, vectors.find(word)) for word, row in vocabulary.rows.items())
    pairs = [(row, vector) for row, vector in lookups if vector is not None]
    if not pairs:
        raise EncoderError(f"{vectors.source}: none of the {len(vocabulary.words)} words has a vector")
    if lacking := [word for word in vocabulary.words if vectors.find(word) is None]:
        log.warning(
            "%d of %d words have no vector in %s and get random vectors: %s",
            *(len(lacking), len(vocabulary.words), vectors.source, list_some_words(lacking)),
        )
    return [row for row, _ in pairs], np.stack([vector for _, vector in pairs])


WORDS, WEIGHTS = "words.txt", "model.safetensors"
MAX_HEADER_BYTES = 2**20
"""Maximum size, in bytes, of the header of model.safetensors."""


def write_sentence_model(model: SentenceModel, folder: Path, record: Mapping[str, object]) -> None:
    """Write the files of a sentence model to an existing folder.

    - record: facts about the training, as JSON values, such as ``{"step": 500}``
    """
    vocabulary = model.vocabulary
    weights = {name: tensor.float().cpu() for name, tensor in model.state_dict().items()}
    contents = {WORDS: "".join(f"{word}\n" for word in vocabulary.words).encode(), WEIGHTS: tensor_files.save(weights)}
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    config = ModelConfig(
        architecture=model.architecture,
        words=len(vocabulary.words),
        lower=vocabulary.lower,
        reverse=vocabulary.reverse,
        frozen=model.frozen,
        record=record,
        digests={name: hashlib.sha256(content).hexdigest() for name, content in contents.items()},
    )
    write_config(config, folder)


def load_sentence_model(folder: Path, *, trees: SentenceTrees | None = None) -> SentenceModel:
    """Load a sentence model from its folder, on the CPU and in evaluation mode. Raises UsageError or EncoderError.

    - trees: the trees of sentences, for a network that reads them; None: it can read sentences of one word only
    """
    config = read_config(folder)
    check_size(config.architecture, words=config.words)
    try:
        size = (folder / WEIGHTS).stat().st_size
    except OSError as error:
        raise folder_part_error(folder / WEIGHTS, error, damaged=EncoderError) from None
    expected_bytes = 4 * count_weights(config.architecture, words=config.words)  # of float32
    if not expected_bytes < size <= expected_bytes + MAX_HEADER_BYTES:
        raise EncoderError(
            f"{folder / WEIGHTS}: has {size:,} bytes; by {CONFIG_FILE}, it must have {expected_bytes:,} and a header"
        )
    vocabulary = read_part(folder / WORDS, lambda text: _parse_vocabulary(text, config))
    vocabulary = replace(vocabulary, trees=trees)
    with torch.device("meta"):
        model = SentenceModel(vocabulary, config.architecture, frozen=config.frozen)
    weights = read_part(folder / WEIGHTS, lambda content: _parse_weights(content, model, config))
    model.load_state_dict(weights, assign=True)
    model.words.weight.requires_grad_(not config.frozen)
    return model.eval()


def _parse_vocabulary(content: bytes, config: ModelConfig) -> ModelVocabulary:
    lines = tuple(reading.decode_lines(content.split(b"\n")))
    if len(lines) - 1 != config.words or lines[-1]:
        raise FormatError(f"{len(lines) - 1} lines; {CONFIG_FILE} says {config.words} words")
    vocabulary = ModelVocabulary(lines[:-1], lower=config.lower, reverse=config.reverse)
    _check_digest(WORDS, content, config)
    return vocabulary


def _parse_weights(content: bytes, model: SentenceModel, config: ModelConfig) -> dict[str, torch.Tensor]:
    try:
        tensors = tensor_files.load(content)
    except (safetensors.SafetensorError, ValueError, KeyError) as error:
        raise FormatError(first_line(error)) from None
    for name, empty in model.state_dict().items():
        tensor = tensors.get(name)
        if tensor is None or tensor.shape != empty.shape or tensor.dtype != empty.dtype:
            problem = "missing" if tensor is None else f"{tensor.dtype} of shape {tuple(tensor.shape)}"
            expected = f"{empty.dtype} of shape {tuple(empty.shape)}"
            raise FormatError(f"the weights {name!r} are {problem}; expected: {expected}")
    if unexpected := tensors.keys() - model.state_dict().keys():
        raise FormatError(f"has weights {min(unexpected)!r}, which a model with this {CONFIG_FILE} lacks")
    _check_digest(WEIGHTS, content, config)
    return tensors


def _check_digest(name: str, content: bytes, config: ModelConfig) -> None:
    if hashlib.sha256(content).hexdigest() != config.digests.get(name):
        raise FormatError(
            f"is not the file that {CONFIG_FILE} was written with: it is damaged, or the training was stopped "
            "between writing the two; the same command continues it"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainedOptions:
    """The options of the encoder and of the language model ``trained``."""

    batch: int = 256
    device: str = ""
    """A PyTorch device, such as ``cuda:1``; empty: a GPU if there is one, else the CPU."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainedEncoderOptions(TrainedOptions):
    """The options of the encoder ``trained``."""

    trees: str = ""
    """For ``tree-lstm``: path of a CoNLL-U file with trees; empty: the exact trees of generated sentences."""
    lexicon: str = ""
    """For ``tree-lstm``: the lexicon file of generated sentences; empty: the built-in lexicon."""
    language: str = ENGLISH.code
    """For ``tree-lstm``: the language of generated sentences."""


TREE_OPTIONS = ("trees", "lexicon", "language")


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
        self._device = options.device or find_default_device()
        self._model: SentenceModel = move_to_device(model, device=self._device, precision=ModelPrecision.FLOAT32)
        self._seen: set[str] = set()

    @property
    def capabilities(self) -> Capabilities:
        """The checkpoint's family, step and epoch, a note on unknown words, word vectors, and halves of the vector."""
        halves = self._model.network.halves
        return Capabilities(
            family=self._point.family,
            step=self._point.step,
            epoch=self._point.epoch,
            notes=self.notes,
            count_truncated=count_none_truncated,
            word_vectors=self._words.average_words,
            halves=halves[::-1] if self._model.vocabulary.reverse else halves,
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """A note on the words encoded so far that are not in the vocabulary, if there are any, and those on trees."""
        unknown = self._seen - self._model.vocabulary.rows.keys()
        effect = f"are not in the vocabulary of {self.name} and are read as an unknown word"
        trees = self._model.vocabulary.trees
        return note_unknown_words(unknown, total=len(self._seen), effect=effect) + (trees.notes if trees else ())

    def encode(self, sentences: Sequence[str]) -> Vectors:
        """Return the sentence vectors, (n, dim) float32. Raises EncoderError if a sentence has no words or tree."""
        vocabulary = self._model.vocabulary
        for sentence in sentences:
            words = vocabulary.tokenize(sentence)
            if not words:
                raise EncoderError(f"{self.name}: the sentence {sentence!r} has no words")
            self._seen.update(words)
        if vocabulary.trees:
            vocabulary.trees.find_heads(sentences, lower=vocabulary.lower)  # counts all that have none
        ids = [*map(vocabulary.find_ids, sentences)]
        return encode_by_length(ids, self._model, batch=self._batch, dim=self._model.dim, device=self._device)

    def _find_vector(self, word: str) -> Vectors | None:
        token = self._model.vocabulary.tokenize(word)[0]
        has_row = token in self._model.vocabulary.rows
        return self._model.word_vectors([token])[0] if has_row else None


def compute_fingerprint(model: SentenceModel) -> str:
    """Return a digest of a sentence model: its weights, sizes and vocabulary, and its trees if it reads any."""
    content = hashlib.sha256()
    for name, weight in model.state_dict().items():
        content.update(f"{name} {tuple(weight.shape)}".encode())
        content.update(weight.cpu().numpy().tobytes())
    sizes, vocabulary = asdict(model.architecture).items(), model.vocabulary
    trees = [vocabulary.trees.fingerprint] if vocabulary.trees else []
    parts = (vocabulary.lower, vocabulary.reverse, *vocabulary.words, content.hexdigest())
    return digest("trained", *sizes, *parts, *trees)


def build_trained(spec: Spec) -> TrainedEncoder:
    """Build the encoder of a spec ``trained:FOLDER``. Raises UsageError or EncoderError."""
    options = read_options(spec, TrainedEncoderOptions())
    folder = Path(spec.argument).expanduser()
    config = read_config(folder)
    record = config.record
    point = TrainingPoint(**{name: record[name] for name in ("family", "step", "epoch") if name in record})
    try:
        check_record(point, "record")
    except FormatError as error:
        raise EncoderError(f"{folder / CONFIG_FILE}: {error}") from None
    kind, trees = config.architecture.kind, None
    if NETWORKS[kind].reads_trees:
        trees = load_trees(**{name: getattr(options, name) for name in TREE_OPTIONS})
    elif names := [name for name, _ in spec.options if name in TREE_OPTIONS]:
        raise UsageError(f"{spec.name}: the option {names[0]} is for tree-lstm, not for {kind}")
    model = load_sentence_model(folder, trees=trees)
    return TrainedEncoder(model, options, name=spec.name, point=point)
