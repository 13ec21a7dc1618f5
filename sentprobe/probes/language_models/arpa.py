"""N-gram models with back-off, from ARPA files."""

import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from math import log
from typing import TypeAlias

from sentprobe.errors import FormatError
from sentprobe.probes.corpus.sources import Source, decode_lines, open_source
from sentprobe.probes.encoders.protocol import EncoderError
from sentprobe.probes.language_models.scorers import Regions, ScoringMethod, TokenScores
from sentprobe.probes.language_models.sentence_pairs import TextSpan, split_at_spaces
from sentprobe.progress import Reporter
from sentprobe.specs import Spec, read_options

START, END, UNKNOWN = "<s>", "</s>", "<unk>"

NGram: TypeAlias = tuple[str, ...]
NgramValues: TypeAlias = tuple[float, float]
"""The probability and the back-off weight of an n-gram."""


@dataclass(frozen=True, slots=True)
class NgramOptions:
    """Options of ``ngram:``."""

    lower: bool = False


@dataclass(slots=True)
class NgramModel:
    """A back-off model (Katz 1987) with the logarithms, to base 10, of an ARPA file."""

    name: str
    read_entries: Callable[[frozenset[str]], tuple[Mapping[NGram, NgramValues], int]] = field(repr=False)
    """Returns the n-grams over some words, and the order of the model."""
    lower: bool = False
    method: ScoringMethod = ScoringMethod.NGRAM

    def find_unknown(self, texts: Sequence[str]) -> list[list[str]]:
        """Return the words of each text that have no entry."""
        sentences = [self._list_words(text, split_words(text)) for text in texts]
        entries, _ = self._read_entries(sentences)
        return [[word for word in words if (word,) not in entries] for words in sentences]

    def score(self, texts: Sequence[str], reporter: Reporter, _: Regions | None = None) -> list[TokenScores]:
        """Return the scores of words and of the end; without an entry for unknown words, raise EncoderError."""
        spans = [split_words(text) for text in texts]
        sentences = [*map(self._list_words, texts, spans)]
        entries, order = self._read_entries(sentences)
        ends = [END] if (END,) in entries else []
        scores = []
        for text, places, words in zip(texts, spans, sentences, strict=True):
            tokens = (START, *(self._find_word(word, entries) for word in words), *ends)
            values = [
                compute_log_probability(tokens[max(0, i + 1 - order) : i + 1], entries) for i in range(1, len(tokens))
            ]
            scores.append(TokenScores(values, [*places, *((len(text), len(text)) for _ in ends)]))
            reporter.advance()
        return scores

    def _list_words(self, text: str, spans: Sequence[TextSpan]) -> list[str]:
        return [text[start:end].lower() if self.lower else text[start:end] for start, end in spans]

    def _read_entries(self, sentences: Sequence[Sequence[str]]) -> tuple[Mapping[NGram, NgramValues], int]:
        return self.read_entries(frozenset({START, END, UNKNOWN, *chain.from_iterable(sentences)}))

    def _find_word(self, word: str, entries: Mapping[NGram, NgramValues]) -> str:
        if (word,) in entries:
            return word
        if (UNKNOWN,) not in entries:
            raise EncoderError(f"{self.name} lacks the word {word!r}, and has no entry {UNKNOWN}; see --known-words")
        return UNKNOWN


def compute_log_probability(ngram: NGram, entries: Mapping[NGram, NgramValues]) -> float:
    """Return the natural logarithm of the probability of the last word after the others."""
    weight = 0.0
    while ngram not in entries:
        weight += entries.get(ngram[:-1], (0.0, 0.0))[1]
        ngram = ngram[1:]
    return log(10) * (weight + entries[ngram][0])


def split_words(text: str) -> list[TextSpan]:
    """Return the spans of the words of a text, as in the Penn Treebank; those between spaces if quotes do not match.

    >>> [text[start:end] for text in ["He didn't go."] for start, end in split_words(text)]
    ['He', 'did', "n't", 'go', '.']
    """
    from nltk.tokenize import NLTKWordTokenizer

    try:
        return [*NLTKWordTokenizer().span_tokenize(text)]
    except ValueError:
        return split_at_spaces(text)


def load_ngram_model(spec: Spec, device: str) -> NgramModel:  # noqa: ARG001 - the other kinds have one
    """Return the model of ``ngram:FILE``, plain or compressed, whose file is read when texts with other words come.

    A file may hold millions of n-grams; only those over the words of the texts are stored. Raises UsageError; reading
    raises FormatError or SourceError.
    """
    options = read_options(spec, NgramOptions())
    source = Source(spec.argument, "")
    with open_source(source):
        pass

    @lru_cache(maxsize=1)
    def read_entries(words: frozenset[str]) -> tuple[Mapping[NGram, NgramValues], int]:
        with open_source(source) as opened:
            try:
                return parse_arpa(decode_lines(opened, "utf-8"), words)
            except FormatError as error:
                raise FormatError(f"{spec.argument}: {error}") from None

    return NgramModel(spec.name, read_entries, options.lower)


def parse_arpa(lines: Iterable[str], words: Container[str]) -> tuple[dict[NGram, NgramValues], int]:
    r"""Return the n-grams whose words are all in *words*, and the model's order. Raises FormatError.

    >>> text = "\\data\\\nngram 1=2\n\n\\1-grams:\n-0.5\tthe\t-0.2\n-0.7\tman\n\n\\end\\"
    >>> parse_arpa(text.splitlines(), {"the"})
    ({('the',): (-0.5, -0.2)}, 1)
    """
    order, line, is_filled = 0, "", False
    entries: dict[NGram, NgramValues] = {}
    for number, text in enumerate(lines, 1):
        line = text.strip()
        if line == "\\end\\":
            break
        if line.startswith("\\") and (section := re.fullmatch(r"\\(\d+)-grams:", line)):
            order = int(section[1])
        elif line and order:
            is_filled = True
            if entry := _parse_entry(line.split(), order, words, number):
                entries[entry[0]] = entry[1]
    if not is_filled or line != "\\end\\":
        raise FormatError("no ARPA file: it has no n-grams, or does not end with \\end\\")
    return entries, order


def _parse_entry(fields: list[str], order: int, words: Container[str], number: int) -> tuple[NGram, NgramValues] | None:
    """Return the n-gram of a line and its values, or None if it has a word that is not in *words*."""
    try:
        if len(fields) not in (order + 1, order + 2):
            raise ValueError
        ngram = tuple(fields[1 : order + 1])
        if not all(word in words for word in ngram):
            return None
        return ngram, (float(fields[0]), float(fields[order + 1]) if len(fields) == order + 2 else 0.0)
    except ValueError:
        raise FormatError(f"line {number}: a logarithm, {order} words and perhaps a weight are wanted") from None
