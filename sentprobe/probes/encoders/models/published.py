"""The encoder ``infersent:`` (Conneau et al. 2017): a BiLSTM with max pooling, trained on NLI.

The encoder ``skipthought:`` (Kiros et al. 2015): GRUs that were trained to predict neighbouring sentences.

The encoder ``sdae:`` (Hill et al. 2016), a denoising auto-encoder: a GRU trained to restore noisy sentences.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

import torch
from torch.nn.utils import rnn

from sentprobe.common.errors import UsageError
from sentprobe.common.inputs import record_input
from sentprobe.common.specs import Spec, read_options
from sentprobe.probes.encoders.encoder import EncoderError, Half, Vectors, digest
from sentprobe.probes.encoders.models.weight_files import (
    NumberedWords,
    PublishedEncoder,
    PublishedOptions,
    Tokenizer,
    check_shape,
    choose_tokenizer,
    compute_last_states,
    digest_file,
    get_matrix_shape,
    load_weights,
    pack_matrices,
    read_arrays,
    read_gru,
    read_state_dict,
    read_weight_table,
    read_word_list,
    read_word_numbers,
    refuse_pickle,
    tokenize_at_punctuation,
    tokenize_moses,
    tokenize_treebank,
)
from sentprobe.probes.encoders.word_vectors import WordVectors, read_word_vectors


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
class InferSentOptions(PublishedOptions):
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
    tokenize: Tokenizer
    vectors_hint: str
    """The file of word vectors with which the version was trained, for an error message."""

    def add_marks(self, sentence: str) -> str:
        return " ".join((self.begin, *self.tokenize(sentence), self.end))


PREPROCESSING = {
    InferSentVersion.GLOVE: _Preprocessing(
        "<s>", "</s>", tokenize_treebank, "version 1 learned over glove.840B.300d.txt"
    ),
    InferSentVersion.FASTTEXT: _Preprocessing(
        "<p>", "</p>", tokenize_moses, "version 2 learned over crawl-300d-2M.vec"
    ),
}

LSTM_LAYER = "enc_lstm."
WEIGHTS = tuple(
    f"{kind}_l0{direction}"
    for direction in ("", "_reverse")
    for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
)
"""Names of the weights in the state dictionary, without the prefix LSTM_LAYER."""

CONVERT_COMMAND = (
    "beside their models.py, python -c \"import torch as t; t.save(t.load('{name}', 'cpu', "
    "weights_only=False).state_dict(), 'infersent1.pkl')\""
)
"""Advice for the error about a pickled model: a command that converts it to a state dictionary."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class InferSent(PublishedEncoder):
    """A BiLSTM with max pooling (Conneau et al. 2017, section 3.2.2); words that have no vector are left out."""

    words: WordVectors
    lstm: torch.nn.LSTM
    preprocessing: _Preprocessing
    padding: InferSentPadding

    @property
    def inputs(self) -> WordVectors:
        """The word vectors that the BiLSTM reads."""
        return self.words

    @property
    def halves(self) -> tuple[Half, ...]:
        """The maximum over time is that of each direction alone."""
        return (Half.FORWARD, Half.BACKWARD)

    def _forward(self, sentences: Sequence[str]) -> torch.Tensor:
        matrices = [*self.words.look_up([self.preprocessing.add_marks(sentence) for sentence in sentences])]
        packed, _ = self.lstm(pack_matrices(matrices, self.lstm))
        states, _ = rnn.pad_packed_sequence(packed, padding_value=-torch.inf)  # (time, n, 2 * units)
        maxima = states.amax(dim=0)  # (n, 2 * units)
        return maxima.relu() if self.padding is InferSentPadding.ZEROS else maxima


def build_infersent(spec: Spec) -> InferSent:
    """Build the encoder of a spec ``infersent:FILE?vectors=FILE``. Raises UsageError or EncoderError."""
    options = read_options(spec, InferSentOptions())
    path = Path(spec.argument).expanduser()
    version = options.version
    if version is InferSentVersion.NAMED:
        match = re.search(r"infersent([12])(?!\d)", path.name)
        if not match:
            raise UsageError(f"infersent: version=1 or version=2 is expected; the name {path.name} does not say which")
        version = InferSentVersion(match[1])
    preprocessing = PREPROCESSING[version]
    if not options.vectors:
        raise UsageError(f"infersent: vectors=FILE is expected: {preprocessing.vectors_hint}")
    lstm = _read_lstm(path, device=options.device)
    words = read_word_vectors(Path(options.vectors).expanduser())
    if words.dim != lstm.input_size:
        raise EncoderError(f"{words.source}: vectors of width {words.dim}; {path} needs {lstm.input_size}")
    tokenize = choose_tokenizer(options.words, preprocessing.tokenize)
    settings = (version, options.padding, options.words, words.fingerprint)
    return InferSent(
        name=spec.name,
        fingerprint=digest("infersent", *settings, digest_file(path)),
        words=words,
        batch=options.batch,
        lstm=lstm,
        preprocessing=replace(preprocessing, tokenize=tokenize),
        padding=options.padding,
    )


def _read_lstm(path: Path, *, device: str) -> torch.nn.LSTM:
    tensors = read_state_dict(
        path,
        [f"{LSTM_LAYER}{name}" for name in WEIGHTS],
        prefix="encoder.",  # in files of the whole network, which includes a classifier
        ignored_prefix="classifier.",
        convert=CONVERT_COMMAND.format(name=path.name),
    )
    inputs, units = (
        get_matrix_shape(name, tensors[name], path)[1]
        for name in (f"{LSTM_LAYER}weight_ih_l0", f"{LSTM_LAYER}weight_hh_l0")
    )
    with torch.device("meta"):  # creates no weights, and so does not use PyTorch's global random generator
        lstm = torch.nn.LSTM(inputs, units, bidirectional=True)
    for name, parameter in lstm.named_parameters():
        check_shape(f"{LSTM_LAYER}{name}", tensors[f"{LSTM_LAYER}{name}"], parameter.shape, path)
    weights = {name.removeprefix(LSTM_LAYER): tensor for name, tensor in tensors.items()}
    return load_weights(lstm, weights, device=device)


class SkipThoughtMode(StrEnum):
    """Which published models compute the vectors (Kiros et al. 2015, section 3). COMBINE concatenates UNI and BI."""

    COMBINE = "combine"
    UNI = "uni"
    BI = "bi"


@dataclass(frozen=True, slots=True, kw_only=True)
class SkipThoughtOptions(PublishedOptions):
    """The options of the encoder ``skipthought``."""

    mode: SkipThoughtMode = SkipThoughtMode.COMBINE
    eos: bool = False
    """Whether the token ``<eos>`` is added to each sentence, as in training."""
    normalize: bool = True
    """Whether each model's vector is scaled to length 1, as in the published code."""


@dataclass(frozen=True, slots=True)
class SkipThoughtFiles:
    """File names of a model's weights and word vectors; ``layers``: prefixes of array names in the file of weights."""

    weights: str
    table: str
    layers: tuple[str, ...]


UNI = SkipThoughtFiles("uni_skip.npz", "utable.npy", ("encoder",))
BI = SkipThoughtFiles("bi_skip.npz", "btable.npy", ("encoder", "encoder_r"))
FILES_BY_MODE = {SkipThoughtMode.COMBINE: (UNI, BI), SkipThoughtMode.UNI: (UNI,), SkipThoughtMode.BI: (BI,)}
DICTIONARY = "dictionary.txt"
"""File of words, one per line; the vector of the word in line i is row i of the word vectors."""
UNKNOWN, END = "UNK", "<eos>"

CONVERT = (
    'in its folder, python -c "import numpy as n; [n.save(p, n.array([r.ravel() for r in n.load(p, '
    "allow_pickle=True, encoding='latin1')], 'f4')) for p in {names}]\""
)
"""Advice for the error about pickled arrays of objects: a command that converts them to arrays of numbers."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SkipThought(PublishedEncoder):
    """Skip-Thought: the last states of one or both models, concatenated. Unknown words are replaced by ``UNK``."""

    words: NumberedWords
    models: tuple[tuple[torch.nn.GRU, Vectors], ...]
    """Each model's network and its table of word vectors, (words, inputs), on disk."""
    tokenize: Tokenizer
    options: SkipThoughtOptions

    @property
    def inputs(self) -> WordVectors:
        """The word vectors that the encoder reads. With ``mode=combine``, a word's two vectors are concatenated."""
        return self.words.make_word_vectors([table for _, table in self.models])

    @property
    def halves(self) -> tuple[Half, ...]:
        """Both directions with ``mode=bi``; else none, since the vector of ``mode=combine`` has three parts."""
        return (Half.FORWARD, Half.BACKWARD) if self.options.mode is SkipThoughtMode.BI else ()

    def _forward(self, sentences: Sequence[str]) -> torch.Tensor:
        numbers = []
        for sentence in sentences:
            words = [*self.tokenize(sentence), *([END] if self.options.eos else [])]
            if not words:
                raise EncoderError(f"the sentence {sentence!r} has no words")
            numbers.append(self.words.look_up(words))
        states = [compute_last_states(gru, table, numbers) for gru, table in self.models]
        if self.options.normalize:
            states = [torch.nn.functional.normalize(vectors, dim=1) for vectors in states]
        return torch.cat(states, dim=1)


def build_skipthought(spec: Spec) -> SkipThought:
    """Build the encoder of a spec ``skipthought:FOLDER``. Raises UsageError or EncoderError."""
    options = read_options(spec, SkipThoughtOptions())
    folder = Path(spec.argument).expanduser()
    if not folder.is_dir():
        raise UsageError(f"skipthought: there is no folder {folder}")
    record_input(folder)
    dictionary = folder / DICTIONARY
    numbers = read_word_list(dictionary)
    for word in (UNKNOWN, *([END] if options.eos else [])):
        if word not in numbers:
            raise EncoderError(f"{dictionary}: there is no {word} among the words")
    words = NumberedWords(str(dictionary), numbers, numbers[UNKNOWN])
    files = FILES_BY_MODE[options.mode]
    names = tuple(model_files.table for model_files in files)
    convert = CONVERT.format(names=names)  # one command for all files, which were published in the same format
    tables = [read_weight_table(folder / name, convert=convert) for name in names]
    models = tuple(
        _read_skipthought_model(folder, model_files, table, words, device=options.device)
        for model_files, table in zip(files, tables, strict=True)
    )
    read_names = (DICTIONARY, *(name for model_files in files for name in (model_files.weights, model_files.table)))
    settings = (options.mode, options.eos, options.normalize, options.words)
    contents = [digest_file(folder / name) for name in read_names]
    return SkipThought(
        name=spec.name,
        fingerprint=digest("skipthought", *settings, *contents),
        words=words,
        batch=options.batch,
        models=models,
        tokenize=choose_tokenizer(options.words, tokenize_treebank),
        options=options,
    )


def _read_skipthought_model(
    folder: Path, files: SkipThoughtFiles, table: Vectors, words: NumberedWords, *, device: str
) -> tuple[torch.nn.GRU, Vectors]:
    gru = read_gru(folder / files.weights, files.layers, device=device)
    if table.shape != (words.row_count, gru.input_size):
        raise EncoderError(
            f"{folder / files.table}: vectors (words, dim) of shape {table.shape}; "
            f"{(words.row_count, gru.input_size)} is expected for {DICTIONARY} and {files.weights}"
        )
    return gru, table


END_NUMBER, UNKNOWN_NUMBER = 0, 1
"""Numbers of the token at the end of each sentence, and of the token that replaces unknown words."""
GRU_LAYER, TABLE = "encoder", "Wemb"

CONVERT_MODEL_HINT = (
    "in the Python that wrote it, numpy.savez('model.npz', **{name: numpy.asarray(value) for name, "
    "value in parameters.items()})"
)
"""Advice for the error about pickled parameters: how to convert them to arrays."""

CONVERT_VECTORS = "with numpy.load(FILE, allow_pickle=True) and numpy.save, as float32 (words, dim)"

CONVERT_WORDS = (
    "python -c \"import pickle; [print(w, n, sep='\\t') for w, n in pickle.load(open('{name}', "
    "'rb'), encoding='utf-8').items()]\" > words.tsv"
)
"""Advice for the error about a pickled dictionary: a command that converts it to lines of text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SdaeOptions(PublishedOptions):
    """The options of the encoder ``sdae``."""

    dictionary: str = ""
    """Path of a text file whose lines are a word, a tab and its number."""
    vectors: str = ""
    """Path of an npy file of word vectors; empty: the word vectors are in the model's file."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Sdae(PublishedEncoder):
    """An SDAE. The sentence vector is the GRU's state after the end token; no noise is added to the sentence."""

    words: NumberedWords
    gru: torch.nn.GRU
    table: Vectors  # (words, inputs)
    tokenize: Tokenizer

    @property
    def inputs(self) -> WordVectors:
        """The word vectors that the GRU reads."""
        return self.words.make_word_vectors([self.table])

    def _forward(self, sentences: Sequence[str]) -> torch.Tensor:
        numbers = [[*self.words.look_up(self.tokenize(sentence)), END_NUMBER] for sentence in sentences]
        return compute_last_states(self.gru, self.table, numbers)


def build_sdae(spec: Spec) -> Sdae:
    """Build the encoder of a spec ``sdae:MODEL.npz?dictionary=FILE``. Raises UsageError or EncoderError."""
    options = read_options(spec, SdaeOptions())
    if not options.dictionary:
        raise UsageError("sdae: dictionary=FILE is expected: lines of a word, a tab and its number")
    path = Path(spec.argument).expanduser()
    refuse_pickle(path, CONVERT_MODEL_HINT)
    gru = read_gru(path, (GRU_LAYER,), device=options.device)
    table = _read_sdae_table(path, options.vectors, width=gru.input_size)
    words = _read_sdae_words(Path(options.dictionary).expanduser(), rows=len(table))
    paths = (path, *(Path(file).expanduser() for file in (options.dictionary, options.vectors) if file))
    contents = map(digest_file, paths)
    return Sdae(
        name=spec.name,
        fingerprint=digest("sdae", options.words, *contents),
        words=words,
        batch=options.batch,
        gru=gru,
        table=table,
        tokenize=choose_tokenizer(options.words, tokenize_at_punctuation),
    )


def _read_sdae_table(path: Path, vectors: str, *, width: int) -> Vectors:
    if vectors:
        path = Path(vectors).expanduser()
        table = read_weight_table(path, convert=CONVERT_VECTORS)
    else:
        table = read_arrays(path, (TABLE,))[TABLE].numpy()
    if table.ndim != 2 or len(table) <= UNKNOWN_NUMBER or table.shape[1] != width:
        raise EncoderError(f"{path}: word vectors of shape {table.shape}; at least two of width {width} are expected")
    return table


def _read_sdae_words(path: Path, *, rows: int) -> NumberedWords:
    """Read the words that have a vector, except the word of the last vector. The published code omits it, too."""
    refuse_pickle(path, CONVERT_WORDS.format(name=path.name))
    word_numbers = read_word_numbers(path)
    numbers = {word: number for word, number in word_numbers.items() if number < rows - 1}
    if not numbers:
        raise EncoderError(f"{path}: no word has a number below {rows - 1}")
    return NumberedWords(str(path), numbers, UNKNOWN_NUMBER)
