"""The encoder ``infersent:`` (Conneau et al. 2017): a BiLSTM with max pooling, trained on NLI."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

import torch
from torch.nn.utils import rnn

from sentprobe.errors import UsageError
from sentprobe.probes.encoders import protocol
from sentprobe.probes.encoders.files import word_files, word_vectors
from sentprobe.probes.encoders.published import recurrent_encoder, sentence_words, weight_files
from sentprobe.specs import Spec, read_options


class InferSentVersion(StrEnum):
    """The version of the published model: 1 or 2. They differ in word vectors, tokenizer and padding."""

    GLOVE = "1"
    FASTTEXT = "2"
    NAMED = "named"
    """Version 1 if the name of the weights file contains ``infersent1``; version 2 if ``infersent2``."""


class InferSentPadding(StrEnum):
    """Whether max pooling reads a state of zeros (padding) in addition to the states of the words."""

    NONE = "none"
    ZEROS = "zeros"
    """A state of zeros. In version 1, every sentence of a batch had such padding, except the longest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InferSentOptions(recurrent_encoder.PublishedOptions):
    """The options of the encoder ``infersent``."""

    vectors: str = ""
    """The file of word vectors: GloVe 840B for version 1, fastText's crawl-300d-2M for version 2."""
    version: InferSentVersion = InferSentVersion.NAMED
    padding: InferSentPadding = InferSentPadding.NONE


@dataclass(frozen=True, slots=True)
class _Preprocessing:
    """How a version of InferSent splits a sentence into tokens, and which token it adds at each end."""

    begin: str
    end: str
    tokenize: sentence_words.Tokenizer
    vectors_hint: str
    """The file of word vectors with which the version was trained, for an error message."""

    def add_marks(self, sentence: str) -> str:
        return " ".join((self.begin, *self.tokenize(sentence), self.end))


PREPROCESSING = {
    InferSentVersion.GLOVE: _Preprocessing(
        "<s>", "</s>", sentence_words.tokenize_treebank, "version 1 learned over glove.840B.300d.txt"
    ),
    InferSentVersion.FASTTEXT: _Preprocessing(
        "<p>", "</p>", sentence_words.tokenize_moses, "version 2 learned over crawl-300d-2M.vec"
    ),
}

LAYER = "enc_lstm."
WEIGHTS = tuple(
    f"{kind}_l0{direction}"
    for direction in ("", "_reverse")
    for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
)
"""Names of the weights in the state dictionary, without the prefix LAYER."""

CONVERT_COMMAND = (
    "beside their models.py, python -c \"import torch as t; t.save(t.load('{name}', 'cpu', "
    "weights_only=False).state_dict(), 'infersent1.pkl')\""
)
"""Advice for the error about a pickled model: a command that converts it to a state dictionary."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class InferSent(recurrent_encoder.PublishedEncoder):
    """A BiLSTM with max pooling (Conneau et al. 2017, section 3.2.2); words that have no vector are left out."""

    words: word_vectors.WordVectors
    lstm: torch.nn.LSTM
    preprocessing: _Preprocessing
    padding: InferSentPadding

    @property
    def inputs(self) -> word_vectors.WordVectors:
        """The word vectors that the BiLSTM reads."""
        return self.words

    def _forward(self, sentences: Sequence[str]) -> torch.Tensor:
        matrices = self.words.look_up([self.preprocessing.add_marks(sentence) for sentence in sentences])
        packed, _ = self.lstm(recurrent_encoder.pack_matrices(matrices, self.lstm))
        states, _ = rnn.pad_packed_sequence(packed, padding_value=-torch.inf)  # (time, n, 2 * units)
        maxima = states.amax(dim=0)  # (n, 2 * units)
        return maxima.relu() if self.padding is InferSentPadding.ZEROS else maxima


def build_infersent(spec: Spec) -> InferSent:
    """Build the encoder of a spec ``infersent:FILE?vectors=FILE``. Raises UsageError or EncoderError."""
    options = read_options(spec, InferSentOptions())
    path = Path(spec.argument).expanduser()
    version = _choose_version(path, options.version)
    preprocessing = PREPROCESSING[version]
    if not options.vectors:
        raise UsageError(f"infersent: vectors=FILE is expected: {preprocessing.vectors_hint}")
    lstm = _read_lstm(path, device=options.device)
    words = word_files.read_word_vectors(Path(options.vectors).expanduser())
    if words.dim != lstm.input_size:
        raise protocol.EncoderError(f"{words.source}: vectors of width {words.dim}; {path} needs {lstm.input_size}")
    tokenize = sentence_words.choose_tokenizer(options.words, preprocessing.tokenize)
    settings = (version, options.padding, options.words, words.fingerprint)
    return InferSent(
        name=spec.name,
        fingerprint=protocol.digest("infersent", *settings, weight_files.digest_file(path)),
        words=words,
        batch=options.batch,
        lstm=lstm,
        preprocessing=replace(preprocessing, tokenize=tokenize),
        padding=options.padding,
    )


def _choose_version(path: Path, requested_version: InferSentVersion) -> InferSentVersion:
    if requested_version is not InferSentVersion.NAMED:
        return requested_version
    match = re.search(r"infersent([12])(?!\d)", path.name)
    if not match:
        raise UsageError(f"infersent: version=1 or version=2 is expected; the name {path.name} does not say which")
    return InferSentVersion(match[1])


def _read_lstm(path: Path, *, device: str) -> torch.nn.LSTM:
    tensors = weight_files.read_state_dict(
        path,
        [f"{LAYER}{name}" for name in WEIGHTS],
        prefix="encoder.",  # in files of the whole network, which includes a classifier
        ignored_prefix="classifier.",
        convert=CONVERT_COMMAND.format(name=path.name),
    )
    inputs, units = (
        weight_files.get_matrix_shape(name, tensors[name], path)[1]
        for name in (f"{LAYER}weight_ih_l0", f"{LAYER}weight_hh_l0")
    )
    with torch.device("meta"):  # creates no weights, and so does not use PyTorch's global random generator
        lstm = torch.nn.LSTM(inputs, units, bidirectional=True)
    for name, parameter in lstm.named_parameters():
        weight_files.check_shape(f"{LAYER}{name}", tensors[f"{LAYER}{name}"], parameter.shape, path)
    weights = {name.removeprefix(LAYER): tensor for name, tensor in tensors.items()}
    return recurrent_encoder.load_weights(lstm, weights, device=device)
