"""SDAE (Hill et al. 2016): a GRU that learned to restore sentences from noise."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from sentprobe.errors import UsageError
from sentprobe.probes.encoders import protocol, word_vectors
from sentprobe.probes.encoders.published import numbered_words, recurrent, theano_gru, weight_files
from sentprobe.probes.encoders.published import sentence_words as words_of
from sentprobe.specs import Spec, read_options

END, UNKNOWN = 0, 1
"""The numbers of the end of a sentence, and of words that have no other."""

LAYER, TABLE = "encoder", "Wemb"

CONVERT_MODEL = (
    "in the Python that wrote it, numpy.savez('model.npz', **{name: numpy.asarray(value) for name, "
    "value in parameters.items()})"
)
"""How pickled parameters become arrays."""

CONVERT_VECTORS = "with numpy.load(FILE, allow_pickle=True) and numpy.save, as float32 (words, dim)"

CONVERT_WORDS = (
    "python -c \"import pickle; [print(w, n, sep='\\t') for w, n in pickle.load(open('{name}', "
    "'rb'), encoding='utf-8').items()]\" > words.tsv"
)
"""How the dictionary, which their code pickles, becomes lines."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SdaeOptions(recurrent.PublishedOptions):
    """Options of ``sdae``."""

    dictionary: str = ""
    """The file of the words and their numbers."""
    vectors: str = ""
    """The npy file of the fixed word vectors that a model learned over; empty: it has its own."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Sdae(recurrent.Published):
    """The last state of the GRU, after the words and the mark of the end.

    Sentences are not made noisy, as they are in training.
    """

    words: numbered_words.NumberedWords
    gru: torch.nn.GRU
    table: protocol.Vectors  # (words, inputs)
    divide: words_of.Divide

    @property
    def inputs(self) -> word_vectors.WordVectors:
        """The vectors by which it reads words."""
        return self.words.vectors([self.table])

    def _forward(self, sentences: Sequence[str]) -> torch.Tensor:
        numbers = [[*self.words.look_up(self.divide(each)), END] for each in sentences]
        return recurrent.last_states(self.gru, [self.table[each] for each in numbers])


def build_sdae(spec: Spec) -> Sdae:
    """Return the encoder of a spec ``sdae:MODEL.npz?dictionary=FILE``.

    Raises:
        UsageError: an option is wrong or missing; there is no such file.
        EncoderError: a file is damaged, does not fit the others, or would have to be unpickled.
    """
    options = read_options(spec, SdaeOptions())
    if not options.dictionary:
        raise UsageError("sdae: dictionary=FILE is wanted: lines of a word, a tab and its number")
    path = Path(spec.argument).expanduser()
    weight_files.refuse_pickle(path, CONVERT_MODEL)
    gru = theano_gru.read_gru(path, (LAYER,), device=options.device)
    table = _read_table(path, options.vectors, width=gru.input_size)
    words = _read_words(Path(options.dictionary).expanduser(), rows=len(table))
    used = (
        path,
        *(Path(file).expanduser() for file in (options.dictionary, options.vectors) if file),
    )
    contents = map(weight_files.content_digest, used)
    return Sdae(
        name=spec.name,
        fingerprint=protocol.digest("sdae", options.words, *contents),
        words=words,
        batch=options.batch,
        gru=gru,
        table=table,
        divide=words_of.division(options.words, words_of.punctuation),
    )


def _read_table(path: Path, vectors: str, *, width: int) -> protocol.Vectors:
    """Return the vectors of the words, (words, width)."""
    if vectors:
        path = Path(vectors).expanduser()
        table = weight_files.read_table(path, convert=CONVERT_VECTORS)
    else:
        table = weight_files.read_arrays(path, (TABLE,))[TABLE].numpy()
    if table.ndim != 2 or len(table) <= UNKNOWN or table.shape[1] != width:
        raise protocol.EncoderError(
            f"{path}: word vectors of shape {table.shape}; at least two of width {width} are wanted"
        )
    return table


def _read_words(path: Path, *, rows: int) -> numbered_words.NumberedWords:
    """Return the words that have a row; their code takes those from the last one on for unknown."""
    weight_files.refuse_pickle(path, CONVERT_WORDS.format(name=path.name))
    found = numbered_words.read_word_numbers(path)
    numbers = {word: number for word, number in found.items() if number < rows - 1}
    if not numbers:
        raise protocol.EncoderError(f"{path}: no word has a number below {rows - 1}")
    return numbered_words.NumberedWords(str(path), numbers, UNKNOWN)
