"""The encoder ``skipthought:`` (Kiros et al. 2015): GRUs that were trained to predict neighbouring sentences."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

import torch

from sentprobe.disk.inputs import record_input
from sentprobe.errors import UsageError
from sentprobe.probes.encoders import protocol
from sentprobe.probes.encoders.files import word_vectors
from sentprobe.probes.encoders.published import recurrent_encoder, sentence_words, weight_files
from sentprobe.specs import Spec, read_options


class SkipThoughtMode(StrEnum):
    """Which published models compute the vectors (Kiros et al. 2015, section 3). COMBINE concatenates UNI and BI."""

    COMBINE = "combine"
    UNI = "uni"
    BI = "bi"


@dataclass(frozen=True, slots=True, kw_only=True)
class SkipThoughtOptions(recurrent_encoder.PublishedOptions):
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


class _SkipThoughtModel(NamedTuple):
    gru: torch.nn.GRU
    table: protocol.Vectors  # (words, inputs), on disk


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SkipThought(recurrent_encoder.PublishedEncoder):
    """Skip-Thought: the last states of one or both models, concatenated. Unknown words are replaced by ``UNK``."""

    words: sentence_words.NumberedWords
    models: tuple[_SkipThoughtModel, ...]
    tokenize: sentence_words.Tokenizer
    options: SkipThoughtOptions

    @property
    def inputs(self) -> word_vectors.WordVectors:
        """The word vectors that the encoder reads. With ``mode=combine``, a word's two vectors are concatenated."""
        return self.words.make_word_vectors([model.table for model in self.models])

    def _forward(self, sentences: Sequence[str]) -> torch.Tensor:
        numbers = [self._look_up_words(sentence) for sentence in sentences]
        states = [recurrent_encoder.compute_last_states(*model, numbers) for model in self.models]
        if self.options.normalize:
            states = [torch.nn.functional.normalize(vectors, dim=1) for vectors in states]
        return torch.cat(states, dim=1)

    def _look_up_words(self, sentence: str) -> list[int]:
        words = [*self.tokenize(sentence), *([END] if self.options.eos else [])]
        if not words:
            raise protocol.EncoderError(f"the sentence {sentence!r} has no words")
        return self.words.look_up(words)


def build_skipthought(spec: Spec) -> SkipThought:
    """Build the encoder of a spec ``skipthought:FOLDER``. Raises UsageError or EncoderError."""
    options = read_options(spec, SkipThoughtOptions())
    folder = Path(spec.argument).expanduser()
    if not folder.is_dir():
        raise UsageError(f"skipthought: there is no folder {folder}")
    record_input(folder)
    words = _read_words(folder / DICTIONARY, eos=options.eos)
    files = FILES_BY_MODE[options.mode]
    names = tuple(model_files.table for model_files in files)
    convert = CONVERT.format(names=names)  # one command for all files, which were published in the same format
    tables = [weight_files.read_table(folder / name, convert=convert) for name in names]
    models = tuple(
        _read_model(folder, model_files, table, words, device=options.device)
        for model_files, table in zip(files, tables, strict=True)
    )
    read_names = (DICTIONARY, *(name for model_files in files for name in (model_files.weights, model_files.table)))
    settings = (options.mode, options.eos, options.normalize, options.words)
    contents = [weight_files.digest_file(folder / name) for name in read_names]
    return SkipThought(
        name=spec.name,
        fingerprint=protocol.digest("skipthought", *settings, *contents),
        words=words,
        batch=options.batch,
        models=models,
        tokenize=sentence_words.choose_tokenizer(options.words, sentence_words.tokenize_treebank),
        options=options,
    )


def _read_words(path: Path, *, eos: bool) -> sentence_words.NumberedWords:
    numbers = sentence_words.read_word_list(path)
    for word in (UNKNOWN, *([END] if eos else [])):
        if word not in numbers:
            raise protocol.EncoderError(f"{path}: there is no {word} among the words")
    return sentence_words.NumberedWords(str(path), numbers, numbers[UNKNOWN])


def _read_model(
    folder: Path, files: SkipThoughtFiles, table: protocol.Vectors, words: sentence_words.NumberedWords, *, device: str
) -> _SkipThoughtModel:
    gru = recurrent_encoder.read_gru(folder / files.weights, files.layers, device=device)
    if table.shape != (words.row_count, gru.input_size):
        raise protocol.EncoderError(
            f"{folder / files.table}: vectors (words, dim) of shape {table.shape}; "
            f"{(words.row_count, gru.input_size)} is expected for {DICTIONARY} and {files.weights}"
        )
    return _SkipThoughtModel(gru, table)
