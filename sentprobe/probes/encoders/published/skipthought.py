"""Skip-Thought (Kiros et al. 2015): GRUs that learned to tell the sentences before and after."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import torch

from sentprobe.errors import UsageError
from sentprobe.probes.encoders import protocol, word_vectors
from sentprobe.probes.encoders.published import numbered_words, recurrent, theano_gru, weight_files
from sentprobe.probes.encoders.published import sentence_words as words_of
from sentprobe.specs import Spec, read_options


class SkipThoughtMode(StrEnum):
    """Which of the two models, or both side by side (Kiros et al. 2015, section 3)."""

    COMBINE = "combine"
    UNI = "uni"
    BI = "bi"


@dataclass(frozen=True, slots=True, kw_only=True)
class SkipThoughtOptions(recurrent.PublishedOptions):
    """Options of ``skipthought``."""

    mode: SkipThoughtMode = SkipThoughtMode.COMBINE
    eos: bool = False
    """Put the mark of the end behind each sentence, as in training."""
    normalize: bool = True
    """Bring the vector of each model to length 1, as their code does."""


@dataclass(frozen=True, slots=True)
class SkipThoughtFiles:
    """The files of a model: its weights, the vectors of its words, and its layers."""

    weights: str
    table: str
    layers: tuple[str, ...]


UNI = SkipThoughtFiles("uni_skip.npz", "utable.npy", ("encoder",))
BI = SkipThoughtFiles("bi_skip.npz", "btable.npy", ("encoder", "encoder_r"))
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

    gru: torch.nn.GRU
    table: protocol.Vectors  # (words, inputs), on disk

    def states(self, numbers: Sequence[Sequence[int]]) -> torch.Tensor:
        """Return the last states over the words of these numbers, (n, units of all directions)."""
        return recurrent.last_states(self.gru, [self.table[each] for each in numbers])


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SkipThought(recurrent.Published):
    """The last states of one or both models, uni before bi, each of length 1.

    A word that is not in the dictionary has the vector of ``UNK``.
    """

    words: numbered_words.NumberedWords
    models: tuple[_Model, ...]
    divide: words_of.Divide
    options: SkipThoughtOptions

    @property
    def inputs(self) -> word_vectors.WordVectors:
        """The vectors by which it reads words, those of both models side by side."""
        return self.words.vectors([model.table for model in self.models])

    def _forward(self, sentences: Sequence[str]) -> torch.Tensor:
        numbers = [self._numbers(sentence) for sentence in sentences]
        states = [model.states(numbers) for model in self.models]
        if self.options.normalize:
            states = [torch.nn.functional.normalize(each, dim=1) for each in states]
        return torch.cat(states, dim=1)

    def _numbers(self, sentence: str) -> list[int]:
        words = [*self.divide(sentence), *([END] if self.options.eos else [])]
        if not words:
            raise protocol.EncoderError(f"the sentence {sentence!r} has no words")
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
        fingerprint=protocol.digest("skipthought", *made_of, *contents),
        words=words,
        batch=options.batch,
        models=models,
        divide=words_of.division(options.words, words_of.treebank),
        options=options,
    )


def _read_words(path: Path, *, eos: bool) -> numbered_words.NumberedWords:
    numbers = numbered_words.read_word_list(path)
    for word in (UNKNOWN, *([END] if eos else [])):
        if word not in numbers:
            raise protocol.EncoderError(f"{path}: there is no {word} among the words")
    return numbered_words.NumberedWords(str(path), numbers, numbers[UNKNOWN])


def _read_tables(folder: Path, names: Sequence[str]) -> list[protocol.Vectors]:
    convert = CONVERT.format(names=tuple(names))  # all at once, as all were published alike
    return [weight_files.read_table(folder / name, convert=convert) for name in names]


def _read_model(
    folder: Path,
    files: SkipThoughtFiles,
    table: protocol.Vectors,
    words: numbered_words.NumberedWords,
    *,
    device: str,
) -> _Model:
    gru = theano_gru.read_gru(folder / files.weights, files.layers, device=device)
    if table.shape != (words.rows, gru.input_size):
        raise protocol.EncoderError(
            f"{folder / files.table}: vectors (words, dim) of shape {table.shape}; "
            f"{(words.rows, gru.input_size)} is wanted by {DICTIONARY} and {files.weights}"
        )
    return _Model(gru, table)
