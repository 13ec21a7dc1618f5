"""The encoder ``sdae:`` (Hill et al. 2016), a denoising auto-encoder: a GRU trained to restore noisy sentences."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from sentprobe.errors import UsageError
from sentprobe.probes.encoders import protocol
from sentprobe.probes.encoders.files import word_vectors
from sentprobe.probes.encoders.published import recurrent_encoder, sentence_words, weight_files
from sentprobe.specs import Spec, read_options

END, UNKNOWN = 0, 1
"""Numbers of the token at the end of each sentence, and of the token that replaces unknown words."""
LAYER, TABLE = "encoder", "Wemb"

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
class SdaeOptions(recurrent_encoder.PublishedOptions):
    """The options of the encoder ``sdae``."""

    dictionary: str = ""
    """Path of a text file whose lines are a word, a tab and its number."""
    vectors: str = ""
    """Path of an npy file of word vectors; empty: the word vectors are in the model's file."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Sdae(recurrent_encoder.PublishedEncoder):
    """An SDAE. The sentence vector is the GRU's state after the end token; no noise is added to the sentence."""

    words: sentence_words.NumberedWords
    gru: torch.nn.GRU
    table: protocol.Vectors  # (words, inputs)
    tokenize: sentence_words.Tokenizer

    @property
    def inputs(self) -> word_vectors.WordVectors:
        """The word vectors that the GRU reads."""
        return self.words.make_word_vectors([self.table])

    def _forward(self, sentences: Sequence[str]) -> torch.Tensor:
        numbers = [[*self.words.look_up(self.tokenize(sentence)), END] for sentence in sentences]
        return recurrent_encoder.compute_last_states(self.gru, self.table, numbers)


def build_sdae(spec: Spec) -> Sdae:
    """Build the encoder of a spec ``sdae:MODEL.npz?dictionary=FILE``. Raises UsageError or EncoderError."""
    options = read_options(spec, SdaeOptions())
    if not options.dictionary:
        raise UsageError("sdae: dictionary=FILE is expected: lines of a word, a tab and its number")
    path = Path(spec.argument).expanduser()
    weight_files.refuse_pickle(path, CONVERT_MODEL_HINT)
    gru = recurrent_encoder.read_gru(path, (LAYER,), device=options.device)
    table = _read_table(path, options.vectors, width=gru.input_size)
    words = _read_words(Path(options.dictionary).expanduser(), rows=len(table))
    paths = (path, *(Path(file).expanduser() for file in (options.dictionary, options.vectors) if file))
    contents = map(weight_files.digest_file, paths)
    return Sdae(
        name=spec.name,
        fingerprint=protocol.digest("sdae", options.words, *contents),
        words=words,
        batch=options.batch,
        gru=gru,
        table=table,
        tokenize=sentence_words.choose_tokenizer(options.words, sentence_words.tokenize_at_punctuation),
    )


def _read_table(path: Path, vectors: str, *, width: int) -> protocol.Vectors:
    if vectors:
        path = Path(vectors).expanduser()
        table = weight_files.read_table(path, convert=CONVERT_VECTORS)
    else:
        table = weight_files.read_arrays(path, (TABLE,))[TABLE].numpy()
    if table.ndim != 2 or len(table) <= UNKNOWN or table.shape[1] != width:
        raise protocol.EncoderError(
            f"{path}: word vectors of shape {table.shape}; at least two of width {width} are expected"
        )
    return table


def _read_words(path: Path, *, rows: int) -> sentence_words.NumberedWords:
    """Read the words that have a vector, except the word of the last vector. The published code omits it, too."""
    weight_files.refuse_pickle(path, CONVERT_WORDS.format(name=path.name))
    word_numbers = sentence_words.read_word_numbers(path)
    numbers = {word: number for word, number in word_numbers.items() if number < rows - 1}
    if not numbers:
        raise protocol.EncoderError(f"{path}: no word has a number below {rows - 1}")
    return sentence_words.NumberedWords(str(path), numbers, UNKNOWN)
