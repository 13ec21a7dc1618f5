"""InferSent 1 and 2 (Conneau et al. 2017): a BiLSTM learned on inference, with max pooling."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

import torch

from sentprobe.errors import UsageError
from sentprobe.probes.encoders import protocol, word_files, word_vectors
from sentprobe.probes.encoders.published import recurrent, weight_files
from sentprobe.probes.encoders.published import sentence_words as words_of
from sentprobe.specs import Spec, read_options


class InferSentVersion(StrEnum):
    """The two that were published; they differ in vectors, words and padding."""

    GLOVE = "1"
    FASTTEXT = "2"
    NAMED = "named"
    """The one that the name of the file says: infersent1, infersent2."""


class InferSentPadding(StrEnum):
    """What stands behind the words of a sentence when the maximum is taken."""

    NONE = "none"
    ZEROS = "zeros"
    """A zero, as version 1 had behind all but the longest sentences of a batch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InferSentOptions(recurrent.PublishedOptions):
    """Options of ``infersent``."""

    vectors: str = ""
    """The file of the word vectors: GloVe 840B for version 1, fastText's crawl for 2."""
    version: InferSentVersion = InferSentVersion.NAMED
    padding: InferSentPadding = InferSentPadding.NONE


@dataclass(frozen=True, slots=True)
class _Habits:
    """What a version puts around a sentence, and how it divides it into words."""

    begin: str
    end: str
    divide: words_of.Divide

    def frame(self, sentence: str) -> str:
        """Return the words of a sentence between the marks, with spaces between them."""
        return " ".join((self.begin, *self.divide(sentence), self.end))


HABITS = {
    InferSentVersion.GLOVE: _Habits("<s>", "</s>", words_of.treebank),
    InferSentVersion.FASTTEXT: _Habits("<p>", "</p>", words_of.moses),
}

VECTORS = {
    InferSentVersion.GLOVE: "version 1 learned over glove.840B.300d.txt",
    InferSentVersion.FASTTEXT: "version 2 learned over crawl-300d-2M.vec",
}
"""The word vectors that each was published with."""

LAYER = "enc_lstm."
WEIGHTS = tuple(
    f"{kind}_l0{direction}"
    for direction in ("", "_reverse")
    for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
)
"""The names in the state dictionary, behind that of the layer."""

CONVERT = (
    "beside their models.py, python -c \"import torch as t; t.save(t.load('{name}', 'cpu', "
    "weights_only=False).state_dict(), 'infersent1.pkl')\""
)
"""How a pickled model becomes a state dictionary."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class InferSent(recurrent.Published):
    """A BiLSTM over word vectors, and the maximum over time of its states.

    Conneau et al. 2017, section 3.2.2; 2,048 units a direction as published. A word without a
    vector is left out, as in their code, and so is a mark of begin or end without one.
    """

    words: word_vectors.WordVectors
    lstm: torch.nn.LSTM
    habits: _Habits
    padding: InferSentPadding

    @property
    def inputs(self) -> word_vectors.WordVectors:
        """The vectors by which it reads words."""
        return self.words

    def _forward(self, sentences: Sequence[str]) -> torch.Tensor:
        matrices = self.words.look_up([self.habits.frame(sentence) for sentence in sentences])
        packed, _ = self.lstm(recurrent.pack(matrices, self.lstm))
        states = recurrent.unpack(packed, filled=-torch.inf)  # (time, n, 2 * units)
        highest = states.amax(dim=0)  # (n, 2 * units)
        return highest.relu() if self.padding is InferSentPadding.ZEROS else highest


def build_infersent(spec: Spec) -> InferSent:
    """Return the encoder of a spec ``infersent:MODEL?vectors=FILE``.

    Raises:
        UsageError: an option is wrong or missing; there is no such file.
        EncoderError: a file is damaged, holds something else, or would have to be unpickled.
    """
    options = read_options(spec, InferSentOptions())
    path = Path(spec.argument).expanduser()
    version = _version(path, options.version)
    if not options.vectors:
        raise UsageError(f"infersent: vectors=FILE is wanted: {VECTORS[version]}")
    lstm = _read_lstm(path, device=options.device)
    words = _read_words(options.vectors, lstm, path)
    habits = HABITS[version]
    made_of = (version, options.padding, options.words, words.fingerprint)
    return InferSent(
        name=spec.name,
        fingerprint=protocol.digest("infersent", *made_of, weight_files.content_digest(path)),
        words=words,
        batch=options.batch,
        lstm=lstm,
        habits=replace(habits, divide=words_of.division(options.words, habits.divide)),
        padding=options.padding,
    )


def _version(path: Path, asked: InferSentVersion) -> InferSentVersion:
    if asked is not InferSentVersion.NAMED:
        return asked
    found = re.search(r"infersent([12])(?!\d)", path.name)
    if not found:
        raise UsageError(
            f"infersent: version=1 or version=2 is wanted; the name {path.name} does not say which"
        )
    return InferSentVersion(found[1])


def _read_lstm(path: Path, *, device: str) -> torch.nn.LSTM:
    found = weight_files.read_state_dict(
        path,
        [f"{LAYER}{name}" for name in WEIGHTS],
        within="encoder.",  # in the network that their code trains, beside its classifier
        beside="classifier.",
        convert=CONVERT.format(name=path.name),
    )
    inputs, units = (
        weight_files.shape_of_matrix(name, found[name], path)[1]
        for name in (f"{LAYER}weight_ih_l0", f"{LAYER}weight_hh_l0")
    )
    with torch.device("meta"):  # without weights, so that no global generator is touched
        lstm = torch.nn.LSTM(inputs, units, bidirectional=True)
    for name, parameter in lstm.named_parameters():
        weight_files.check_shape(f"{LAYER}{name}", found[f"{LAYER}{name}"], parameter.shape, path)
    weights = {name.removeprefix(LAYER): tensor for name, tensor in found.items()}
    return recurrent.with_weights(lstm, weights, device=device)


def _read_words(file: str, lstm: torch.nn.LSTM, path: Path) -> word_vectors.WordVectors:
    words = word_files.read_word_vectors(Path(file).expanduser())
    if words.dim != lstm.input_size:
        raise protocol.EncoderError(
            f"{words.source}: vectors of width {words.dim}; {path} wants {lstm.input_size}"
        )
    return words
