"""Skip-Thought (Kiros et al. 2015): GRUs that learned to tell the sentences before and after."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional

from sentprobe.errors import UsageError
from sentprobe.probes.encoders.protocol import EncoderError, Vectors, digest
from sentprobe.probes.encoders.published import recurrent, weight_files
from sentprobe.probes.encoders.published.numbered_words import NumberedWords, read_word_list
from sentprobe.probes.encoders.published.recurrent import Published, PublishedOptions
from sentprobe.probes.encoders.published.sentence_words import Divide, division, treebank
from sentprobe.probes.encoders.published.theano_gru import read_gru
from sentprobe.probes.encoders.word_vectors import WordVectors
from sentprobe.specs import Spec, read_options


class SkipThoughtMode(StrEnum):
    """Which of the two models, or both side by side (Kiros et al. 2015, section 3)."""

    COMBINE = "combine"
    UNI = "uni"
    BI = "bi"


@dataclass(frozen=True, slots=True, kw_only=True)
class SkipThoughtOptions(PublishedOptions):
    """Options of ``skipthought``."""

    mode: SkipThoughtMode = SkipThoughtMode.COMBINE
    eos: bool = False
    """Put the mark of the end behind each sentence, as in training."""
    normalize: bool = True
    """Bring the vector of each model to length 1, as their code does."""


@dataclass(frozen=True, slots=True)
class _Files:
    """The files of a model: its weights, the vectors of its words, and its layers."""

    weights: str
    table: str
    layers: tuple[str, ...]


UNI = _Files("uni_skip.npz", "utable.npy", ("encoder",))
BI = _Files("bi_skip.npz", "btable.npy", ("encoder", "encoder_r"))
MODES = {
    SkipThoughtMode.COMBINE: (UNI, BI),
    SkipThoughtMode.UNI: (UNI,),
    SkipThoughtMode.BI: (BI,),
}
DICTIONARY = "dictionary.txt"
"""The words of the rows of both tables, a line each."""

UNKNOWN, END = "UNK", "<eos>"

CONVERT = (
    'in its folder, python -c "import numpy as n; [n.save(p, n.array([r.ravel() for r in n.load(p, '
    "allow_pickle=True, encoding='latin1')], 'f4')) for p in {names}]\""
)
"""How tables of objects, as they were published, become tables of numbers."""


@dataclass(frozen=True, slots=True, eq=False)
class _Model:
    """A GRU, and the vectors of its words."""

    gru: nn.GRU
    table: Vectors  # (words, inputs), on disk

    def states(self, numbers: Sequence[Sequence[int]]) -> torch.Tensor:
        """Return the last states over the words of these numbers, (n, units of all directions)."""
        return recurrent.last_states(self.gru, [self.table[each] for each in numbers])


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SkipThought(Published):
    """The last states of one or both models, uni before bi, each of length 1.

    A word that is not in the dictionary has the vector of ``UNK``.
    """

    words: NumberedWords
    models: tuple[_Model, ...]
    divide: Divide
    options: SkipThoughtOptions

    @property
    def inputs(self) -> WordVectors:
        """The vectors by which it reads words, those of both models side by side."""
        return self.words.vectors([model.table for model in self.models])

    def _forward(self, sentences: Sequence[str]) -> torch.Tensor:
        numbers = [self._numbers(sentence) for sentence in sentences]
        states = [model.states(numbers) for model in self.models]
        if self.options.normalize:
            states = [functional.normalize(each, dim=1) for each in states]
        return torch.cat(states, dim=1)

    def _numbers(self, sentence: str) -> list[int]:
        words = [*self.divide(sentence), *([END] if self.options.eos else [])]
        if not words:
            raise EncoderError(f"the sentence {sentence!r} has no words")
        return self.words.look_up(words)


def build_skipthought(spec: Spec) -> SkipThought:
    """Return the encoder of a spec ``skipthought:FOLDER``.

    Raises:
        UsageError: an option is wrong; there is no such folder, or a file is not in it.
        EncoderError: a file is damaged, does not fit the others, or would have to be unpickled.
    """
    options = read_options(spec, SkipThoughtOptions())
    folder = Path(spec.argument).expanduser()
    if not folder.is_dir():
        raise UsageError(f"skipthought: there is no folder {folder}")
    words = _read_words(folder / DICTIONARY, eos=options.eos)
    files = MODES[options.mode]
    tables = _read_tables(folder, [each.table for each in files])
    models = tuple(
        _read_model(folder, each, table, words, device=options.device)
        for each, table in zip(files, tables, strict=True)
    )
    used = (DICTIONARY, *(name for each in files for name in (each.weights, each.table)))
    made_of = (options.mode, options.eos, options.normalize, options.words)
    contents = [weight_files.content_digest(folder / name) for name in used]
    return SkipThought(
        name=spec.name,
        fingerprint=digest("skipthought", *made_of, *contents),
        words=words,
        batch=options.batch,
        models=models,
        divide=division(options.words, treebank),
        options=options,
    )


def _read_words(path: Path, *, eos: bool) -> NumberedWords:
    numbers = read_word_list(path)
    for word in (UNKNOWN, *([END] if eos else [])):
        if word not in numbers:
            raise EncoderError(f"{path}: there is no {word} among the words")
    return NumberedWords(str(path), numbers, numbers[UNKNOWN])


def _read_tables(folder: Path, names: Sequence[str]) -> list[Vectors]:
    convert = CONVERT.format(names=tuple(names))  # all at once, as all were published alike
    return [weight_files.read_table(folder / name, convert=convert) for name in names]


def _read_model(
    folder: Path, files: _Files, table: Vectors, words: NumberedWords, *, device: str
) -> _Model:
    gru = read_gru(folder / files.weights, files.layers, device=device)
    if table.shape != (words.rows, gru.input_size):
        raise EncoderError(
            f"{folder / files.table}: vectors (words, dim) of shape {table.shape}; "
            f"{(words.rows, gru.input_size)} is wanted by {DICTIONARY} and {files.weights}"
        )
    return _Model(gru, table)
