"""Read files of weights safely: pickles, which may run code when they are loaded, are refused.

Tokenizers of published models, and vocabularies that map each word to its row in a table of vectors.

The base class of encoders with published weights; functions that load and run their recurrent networks.
"""

import hashlib
import logging
import pickle
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from torch.nn.utils import rnn

from sentprobe.common.errors import FormatError, SentprobeError, format_count, path_error
from sentprobe.common.reading import check_archive, open_lines
from sentprobe.probes.encoders.encoder import Capabilities, EncoderError, Half, Vectors
from sentprobe.probes.encoders.models.model_loading import (
    ModelPrecision,
    count_none_truncated,
    find_default_device,
    move_to_device,
)
from sentprobe.probes.encoders.word_vectors import WordVectors, note_unknown_words

log = logging.getLogger(__name__)

NPY_MAGIC = b"\x93NUMPY"
"""The first bytes of an npy file."""


def read_state_dict(
    path: Path, names: Sequence[str], *, prefix: str, ignored_prefix: str, convert: str
) -> dict[str, torch.Tensor]:
    """Read the tensors *names* of a PyTorch state dictionary, as float32. Raises EncoderError.

    - prefix: removed from the beginning of the names in the file
    - ignored_prefix: the beginning of the names of tensors that belong to other parts of a larger network
    - convert: the command with which the user can convert a pickle, for the error message
    """
    with _report_damage(path, "a PyTorch state dictionary"):
        check_archive(path)
        try:
            with warnings.catch_warnings(action="ignore"):  # PyTorch warns about other pickle protocols than its own
                tensors: Any = torch.load(path, map_location="cpu", weights_only=True)
        except pickle.UnpicklingError as error:
            if "GLOBAL" in str(error):  # the file needs functions or classes beside those of tensors
                raise unpickling_error(path, convert) from None
            raise
    if not isinstance(tensors, Mapping):
        raise EncoderError(f"{path}: a {type(tensors).__name__}; a state dictionary is expected")
    model_tensors = {str(name): value for name, value in tensors.items() if not str(name).startswith(ignored_prefix)}
    tensors = {name.removeprefix(prefix): value for name, value in model_tensors.items()}
    _check_names(tensors, names, path)
    if sum(_count_bytes(name, tensors[name], path) for name in names) > path.stat().st_size:
        raise EncoderError(f"{path}: its tensors declare more numbers than the file has")
    return {name: _check_finite(name, tensors[name].float().contiguous(), path) for name in names}


def _count_bytes(name: str, tensor: Any, path: Path) -> int:
    """Return the size of a tensor in bytes. Raises EncoderError if it is not a dense floating-point tensor."""
    if not (isinstance(tensor, torch.Tensor) and tensor.layout is torch.strided):
        raise EncoderError(f"{path}: {name} is not a dense tensor")
    if tensor.device.type != "cpu" or not tensor.is_floating_point() or not tensor.numel():
        raise EncoderError(
            f"{path}: {name} is {tensor.dtype} of shape {tuple(tensor.shape)}; floating-point numbers are expected"
        )
    return tensor.numel() * tensor.element_size()


def read_arrays(path: Path, names: Sequence[str]) -> dict[str, torch.Tensor]:
    """Read the arrays *names* of an npz file, as float32 tensors. Raises UsageError or EncoderError."""
    with _report_damage(path, "an npz file of arrays"):
        check_archive(path)
        # NumPy warns about arrays that Python 2 wrote.
        with (
            path.open("rb") as file,
            warnings.catch_warnings(action="ignore", category=UserWarning),
            np.load(file, allow_pickle=False) as arrays,
        ):
            _check_names([name for name in arrays if name in names], names, path)
            return {name: _read_array(arrays, name, path) for name in names}


def _read_array(arrays: Any, name: str, path: Path) -> torch.Tensor:
    try:
        array = arrays[name]
    except ValueError as error:
        if "Object arrays" in str(error):
            raise unpickling_error(path, f"save {name} as an array of float32") from None
        raise
    if not isinstance(array, np.ndarray) or array.dtype.kind != "f" or not array.size:
        raise EncoderError(f"{path}: {name} is not an array of floating-point numbers")
    with np.errstate(over="ignore"):  # overflowing numbers become infinite, and are reported below
        return _check_finite(name, torch.from_numpy(array.astype(np.float32)), path)


def read_weight_table(path: Path, *, convert: str) -> Vectors:
    """Map the array of an npy file, (rows, dim) floats, into memory. Raises UsageError or EncoderError."""
    with _report_damage(path, "an npy file with one array"):
        with path.open("rb") as file:
            if file.read(len(NPY_MAGIC)) != NPY_MAGIC:
                raise EncoderError(f"{path}: not an npy file with one array")
        try:
            with warnings.catch_warnings(action="ignore", category=UserWarning):
                table = np.load(path, mmap_mode="r", allow_pickle=False)
        except ValueError as error:
            if "Python objects" in str(error):
                raise unpickling_error(path, convert) from None
            raise
    if table.ndim != 2 or 0 in table.shape or table.dtype.kind != "f":
        raise EncoderError(f"{path}: {table.dtype} of shape {table.shape}; floats (words, dim) are expected")
    if path.stat().st_size != table.offset + table.nbytes:
        raise EncoderError(f"{path}: more bytes than its header's {table.dtype} of shape {table.shape} takes")
    vectors: Vectors = table
    return vectors


@contextmanager
def _report_damage(path: Path, file_type: str) -> Iterator[None]:
    try:
        yield
    except SentprobeError:
        raise
    except OSError as error:
        raise path_error(path, "cannot read the weights", error, otherwise=EncoderError) from None
    except Exception:  # for a damaged file, PyTorch raises various exceptions
        raise EncoderError(f"{path}: not {file_type}, or damaged") from None


def _check_names(names: Collection[str], expected_names: Sequence[str], path: Path) -> None:
    if missing := [expected for expected in expected_names if expected not in names]:
        raise EncoderError(f"{path}: this file lacks {', '.join(missing)}")
    if unexpected := [name for name in names if name not in expected_names]:
        raise EncoderError(f"{path}: this file has {', '.join(unexpected)}, which belongs to another model")


def _check_finite(name: str, tensor: torch.Tensor, path: Path) -> torch.Tensor:
    if not tensor.isfinite().all():
        raise EncoderError(f"{path}: {name} has numbers that are not finite")
    return tensor


def get_matrix_shape(name: str, tensor: torch.Tensor, path: Path) -> tuple[int, int]:
    """Return a matrix's numbers of rows and columns. Raises EncoderError if the tensor is not a matrix."""
    if tensor.ndim != 2:
        raise EncoderError(f"{path}: {name} has the shape {tuple(tensor.shape)}; a matrix is expected")
    return tensor.shape[0], tensor.shape[1]


def check_shape(name: str, tensor: torch.Tensor, expected_shape: Sequence[int], path: Path) -> None:
    """Raise EncoderError if a tensor does not have the expected shape."""
    if tuple(tensor.shape) != tuple(expected_shape):
        raise EncoderError(
            f"{path}: {name} has the shape {tuple(tensor.shape)}; the other arrays require {tuple(expected_shape)}"
        )


def unpickling_error(path: Path, convert: str) -> EncoderError:
    """Return the error for a file that is a pickle; its message ends with *convert*, how to convert the file."""
    return EncoderError(
        f"{path}: a pickle, which may contain code that runs when it is read; if you trust it, convert it: {convert}"
    )


def digest_file(path: Path) -> str:
    with _report_damage(path, "a file of weights"), path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


PICKLE_PREFIXES = (b"\x80", b"(dp", b"}q\x00", b"}q\x01", b"ccopy_reg\n", b"ccollections\n")
"""First bytes of pickle files: 0x80 for protocol 2 and later, and several for older protocols."""


def refuse_pickle(path: Path, convert: str) -> None:
    """Raise EncoderError if the first bytes of a file are those of a pickle."""
    with _report_damage(path, "a file of weights"), path.open("rb") as file:
        if file.read(16).startswith(PICKLE_PREFIXES):
            raise unpickling_error(path, convert)


class Tokenization(StrEnum):
    """Choice of the tokenizer of an encoder with published weights."""

    OWN = "own"
    """The tokenizer of the published code."""
    SPACES = "spaces"
    """Splitting at spaces, as in SentEval, whose sentences are tokenized already."""


Tokenizer = Callable[[str], list[str]]


def tokenize_treebank(sentence: str) -> list[str]:
    """Tokenize a text by the Penn Treebank rules of NLTK, as one sentence."""
    from nltk.tokenize import word_tokenize

    return list(word_tokenize(sentence, preserve_line=True))


def tokenize_moses(sentence: str) -> list[str]:
    """Tokenize by Penn Treebank rules, but split "didn't" as Moses does, unless it is the end of the sentence.

    >>> tokenize_moses("The man didn't sleep.")
    ['The', 'man', 'didn', "'t", 'sleep', '.']
    """
    return " ".join(tokenize_treebank(sentence)).replace(" n't ", "n 't ").split()


def tokenize_at_punctuation(sentence: str) -> list[str]:
    """Split a sentence into sequences of letters and digits, and sequences of punctuation."""
    from nltk.tokenize import wordpunct_tokenize

    return list(wordpunct_tokenize(sentence))


def choose_tokenizer(tokenization: Tokenization, model_tokenizer: Tokenizer) -> Tokenizer:
    return str.split if tokenization is Tokenization.SPACES else model_tokenizer


@dataclass(frozen=True, slots=True)
class NumberedWords:
    """A vocabulary with a number for each word; all other words get the number *unknown*."""

    source: str
    numbers: Mapping[str, int]
    unknown: int
    _seen: dict[str, bool] = field(default_factory=dict, repr=False, compare=False)

    def look_up(self, words: Sequence[str]) -> list[int]:
        """Return the number of each word; unknown words are recorded for :attr:`notes`."""
        self._seen.update((word, word in self.numbers) for word in words)
        return [self.numbers.get(word, self.unknown) for word in words]

    @property
    def row_count(self) -> int:
        """Number of rows that a table of word vectors must have. A word's number is the index of its row."""
        return max(self.numbers.values()) + 1

    def make_word_vectors(self, tables: Sequence[Vectors]) -> WordVectors:
        """Return a map from each word to its rows in all tables, concatenated; each table is (words, dim)."""

        def find(word: str) -> Vectors | None:
            number = self.numbers.get(word)
            if number is None:
                return None
            return np.concatenate([table[number] for table in tables], dtype=np.float32)

        return WordVectors(self.source, sum(table.shape[1] for table in tables), "", find)

    @property
    def notes(self) -> tuple[str, ...]:
        """A note on the unknown words among those looked up so far; empty if there are none."""
        missing = [word for word, has_number in self._seen.items() if not has_number]
        effect = f"are not in {self.source} and have the vector of unknown words"
        return note_unknown_words(missing, total=len(self._seen), effect=effect)


def read_word_list(path: Path) -> dict[str, int]:
    """Read a file with a word per line; return the line number, from 0, of each word. Raises EncoderError."""
    words = [line.strip() for line in _read_lines(path)]
    numbers = {word: number for number, word in enumerate(words)}
    if repeated := len(words) - len(numbers):
        lines = format_count(repeated, "line")
        log.warning("%s: %s with a word that a later line has; the last one is used", path, lines)
    return numbers


def read_word_numbers(path: Path) -> dict[str, int]:
    """Return the index of each word in a file. A line has a word, a tab and the index. Raises EncoderError."""
    numbers: dict[str, int] = {}
    words: dict[int, str] = {}
    for line_number, line in enumerate(_read_lines(path), 1):
        word, tab, number = line.rstrip("\r\n").partition("\t")
        if not (tab and number.isascii() and number.isdecimal() and len(number) < 10):
            raise EncoderError(f"{path}, line {line_number}: a word, a tab and its number are expected")
        if word in numbers:
            raise EncoderError(f"{path}, line {line_number}: the word {word!r} is listed twice")
        if int(number) in words:
            raise EncoderError(
                f"{path}, line {line_number}: the number {number} is that of two words, "
                f"{words[int(number)]!r} and {word!r}"
            )
        words[int(number)] = word
        numbers[word] = int(number)
    return numbers


def _read_lines(path: Path) -> Iterator[str]:
    try:
        with open_lines(path) as lines:
            yield from lines
    except FormatError as error:
        raise EncoderError(f"{path}, {error}") from None
    except OSError as error:
        raise path_error(path, "cannot read the words", error, otherwise=EncoderError) from None


Recurrent = TypeVar("Recurrent", torch.nn.LSTM, torch.nn.GRU)


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedOptions:
    """Options that all encoders with published weights have."""

    words: Tokenization = Tokenization.OWN
    """The tokenizer: that of the published code, or splitting at spaces."""
    batch: int = 64
    device: str = ""
    """A PyTorch device, such as ``cuda:1``; empty: a GPU if there is one, else the CPU."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PublishedEncoder(ABC):
    """An encoder with published weights. Its network reads a batch of sentences of different lengths."""

    name: str
    fingerprint: str
    words: WordVectors | NumberedWords
    batch: int

    @property
    def capabilities(self) -> Capabilities:
        """The encoder's word vectors, a truncation counter that always returns 0, and notes on unknown words."""
        return Capabilities(
            notes=self.words.notes,
            count_truncated=count_none_truncated,
            word_vectors=self.inputs.average_words,
            halves=self.halves,
        )

    @property
    def halves(self) -> tuple[Half, ...]:
        """The directions in which the two halves of a vector are read; empty if they are not apart in it."""
        return ()

    def encode(self, sentences: Sequence[str]) -> Vectors:
        """Return the sentence vectors, (n, dim) float32."""
        starts = range(0, len(sentences), self.batch)
        with torch.inference_mode():
            batches = [self._forward(sentences[start : start + self.batch]) for start in starts]
            vectors: Vectors = torch.cat(batches).cpu().numpy()
        return vectors

    @property
    @abstractmethod
    def inputs(self) -> WordVectors:
        """The word vectors that the network reads."""

    @abstractmethod
    def _forward(self, sentences: Sequence[str]) -> torch.Tensor:
        """Return the vectors of a batch of sentences, (n, dim)."""


def pack_matrices(matrices: Sequence[Vectors], network: torch.nn.LSTM | torch.nn.GRU) -> rnn.PackedSequence:
    """Pack sentences, each a matrix of word vectors (words, dim), for the network and on its device."""
    device = next(network.parameters()).device
    arrays = (np.asarray(matrix, dtype=np.float32) for matrix in matrices)
    tensors = [torch.from_numpy(array).to(device) for array in arrays]
    return rnn.pack_sequence(tensors, enforce_sorted=False)


def compute_last_states(gru: torch.nn.GRU, table: Vectors, sentences: Sequence[Sequence[int]]) -> torch.Tensor:
    """Run a GRU on n sentences, each a list of rows of *table*; return its last states, (n, directions * units)."""
    _, last = gru(pack_matrices([table[rows] for rows in sentences], gru))  # (directions, n, units)
    return torch.cat(tuple(last), dim=1)


def load_weights(network: Recurrent, weights: dict[str, torch.Tensor], *, device: str) -> Recurrent:
    """Load weights into a network on PyTorch's meta device; return the network on *device*."""
    network = network.to_empty(device="cpu")
    network.load_state_dict(weights)
    placed: Recurrent = move_to_device(
        network, device=device or find_default_device(), precision=ModelPrecision.FLOAT32
    )
    return placed


GRU_ARRAYS = ("W", "b", "U", "Wx", "bx", "Ux")
"""Names of a GRU's arrays in the Theano code of Kiros, Cho and others; the file has them as ``encoder_W`` etc."""


def read_gru(path: Path, layers: Sequence[str], *, device: str) -> torch.nn.GRU:
    """Load a GRU from an npz file. Raises UsageError or EncoderError.

    The arrays W (inputs, 2 * units), b (2 * units,) and U (units, 2 * units) belong to the reset and update gates. Wx,
    bx and Ux belong to the new state.

    As in PyTorch, the reset gate multiplies the output of Ux, and the update gate is the weight of the old state. The
    code that trained the weights does the same; the equations of Kiros et al. (2015, section 2.1) do not.

    - layers: prefixes of the arrays' names: ``encoder``; for a bidirectional GRU, ``encoder`` and ``encoder_r``
    """
    names = [f"{layer}_{array}" for layer in layers for array in GRU_ARRAYS]
    arrays = read_arrays(path, names)
    matrix = f"{layers[0]}_Wx"
    inputs, units = get_matrix_shape(matrix, arrays[matrix], path)
    shapes = {
        "W": (inputs, 2 * units), "b": (2 * units,), "U": (units, 2 * units),
        "Wx": (inputs, units), "bx": (units,), "Ux": (units, units),
    }  # fmt: skip
    for name, array in arrays.items():
        check_shape(name, array, shapes[name.rpartition("_")[2]], path)
    with torch.device("meta"):  # creates no weights, and so does not use PyTorch's global random generator
        gru = torch.nn.GRU(inputs, units, bidirectional=len(layers) == 2)
    weights: dict[str, torch.Tensor] = {}
    for layer, ending in zip(layers, ("_l0", "_l0_reverse"), strict=False):
        w, b, u, wx, bx, ux = (arrays[f"{layer}_{array}"] for array in GRU_ARRAYS)
        weights[f"weight_ih{ending}"] = torch.cat((w, wx), dim=1).T
        weights[f"weight_hh{ending}"] = torch.cat((u, ux), dim=1).T
        weights[f"bias_ih{ending}"] = torch.cat((b, bx))
        # The file has one bias for each gate. It is bias_ih, since the reset gate multiplies that of bias_hh.
        weights[f"bias_hh{ending}"] = torch.zeros(3 * units)
    return load_weights(gru, weights, device=device)
