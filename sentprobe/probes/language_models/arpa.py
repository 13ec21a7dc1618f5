"""The language model ``ngram:``, a back-off model in an ARPA file."""

import re
from array import array
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from math import isfinite, log, nan
from typing import TypeAlias

import numpy as np

from sentprobe.common.errors import FormatError, format_count
from sentprobe.common.reading import ASCII_BLANKS, MAX_LINE, parse_numbers, split_at_blanks
from sentprobe.common.screen import Reporter
from sentprobe.common.specs import Spec, read_options
from sentprobe.probes.corpus.sources import Source, decode_lines, open_source
from sentprobe.probes.encoders.encoder import EncoderError
from sentprobe.probes.language_models.scorers import Regions, ScoringMethod, TokenScores
from sentprobe.probes.language_models.sentence_pairs import TextSpan, split_at_spaces

START, END, UNKNOWN = "<s>", "</s>", "<unk>"
MAX_HEAD_LINES = 1000
"""Maximum number of lines up to the header of an ARPA file."""
MAX_ROUNDING = 1e-3
"""How far a log probability may lie above 0, as ARPA files have few digits."""

NGram: TypeAlias = tuple[str, ...]
NgramValues: TypeAlias = tuple[float, float]
"""The probability and the back-off weight of an n-gram, both as logarithms to base 10."""


@dataclass(frozen=True, slots=True)
class NgramOptions:
    """The options of the language model ``ngram:``."""

    lower: bool = False
    """Whether words are converted to lower case."""


@dataclass(slots=True)
class NgramModel:
    """A back-off model (Katz 1987) in an ARPA file. It loads only the n-grams whose words are in the scored texts."""

    name: str
    read_entries: Callable[[frozenset[str]], tuple[Mapping[NGram, NgramValues], int]] = field(repr=False)
    """Function that reads all n-grams of these words from the file, and returns them with the order of the model."""
    lower: bool = False
    method: ScoringMethod = ScoringMethod.NGRAM

    def find_unknown(self, texts: Sequence[str]) -> list[list[str]]:
        sentences = [list_words(text, split_words(text), lower=self.lower) for text in texts]
        entries, _ = self._read_entries(sentences)
        return [[word for word in words if (word,) not in entries] for words in sentences]

    def score(self, texts: Sequence[str], reporter: Reporter, _: Regions | None = None) -> list[TokenScores]:
        """Score the words of each text, and the token ``</s>`` after them if the model has this token.

        Raises EncoderError if the model lacks both a word and ``<unk>``, or gives a probability above 1.
        """
        spans = [split_words(text) for text in texts]
        sentences = [list_words(text, row, lower=self.lower) for text, row in zip(texts, spans, strict=True)]
        entries, order = self._read_entries(sentences)
        ends = [END] if (END,) in entries else []
        scores = []
        for text, word_spans, words in zip(texts, spans, sentences, strict=True):
            tokens = (START, *(self._find_word(word, entries) for word in words), *ends)
            # From the second token on: the start of a sentence has no probability of its own.
            ngrams = (tokens[max(0, stop - order) : stop] for stop in range(2, len(tokens) + 1))
            values = [compute_log_probability(ngram, entries) for ngram in ngrams]
            if max(values, default=0.0) > MAX_ROUNDING:
                raise EncoderError(
                    f"{self.name} gives a word of {text!r} a probability above 1; are its weights damaged?"
                )
            scores.append(TokenScores(values, [*word_spans, *((len(text), len(text)) for _ in ends)]))
            reporter.advance()
        return scores

    def _read_entries(self, sentences: Sequence[Sequence[str]]) -> tuple[Mapping[NGram, NgramValues], int]:
        return self.read_entries(frozenset({START, END, UNKNOWN, *chain.from_iterable(sentences)}))

    def _find_word(self, word: str, entries: Mapping[NGram, NgramValues]) -> str:
        if (word,) in entries:
            return word
        if (UNKNOWN,) not in entries:
            raise EncoderError(f"{self.name} lacks the word {word!r}, and has no entry {UNKNOWN}; see --known-words")
        return UNKNOWN


def compute_log_probability(ngram: NGram, entries: Mapping[NGram, NgramValues]) -> float:
    """Return the natural logarithm of the probability of an n-gram's last word, given the words before."""
    weight = 0.0
    while ngram not in entries:
        weight += entries.get(ngram[:-1], (0.0, 0.0))[1]
        ngram = ngram[1:]
    return log(10) * (weight + entries[ngram][0])


def split_words(text: str) -> list[TextSpan]:
    """Return the spans of a text's words by Penn Treebank rules; if quotes make the rules fail, split at spaces.

    >>> [text[start:end] for text in ["He didn't go."] for start, end in split_words(text)]
    ['He', 'did', "n't", 'go', '.']
    """
    from nltk.tokenize import NLTKWordTokenizer

    try:
        return [*NLTKWordTokenizer().span_tokenize(text)]
    except ValueError:
        return split_at_spaces(text)


def list_words(text: str, spans: Iterable[TextSpan], *, lower: bool) -> list[str]:
    """Return the words at these spans of a text, in lower case if *lower*."""
    return [text[start:end].lower() if lower else text[start:end] for start, end in spans]


def load_ngram_model(spec: Spec, device: str) -> NgramModel:  # noqa: ARG001 - all loaders have this parameter
    """Return the model of a spec ``ngram:FILE``; the file may be compressed. Raises UsageError.

    A file may have millions of n-grams, so the model loads only those with words of the texts that it scores. Scoring
    raises FormatError or SourceError if the file cannot be read.
    """
    options = read_options(spec, NgramOptions())
    source = Source(spec.argument, "")
    with open_source(source):
        pass

    @lru_cache(maxsize=1)  # the same texts are first searched for unknown words, and then scored
    def read_entries(words: frozenset[str]) -> tuple[Mapping[NGram, NgramValues], int]:
        with open_source(source) as opened:
            try:
                return parse_arpa(decode_lines(opened, "utf-8", limit=MAX_LINE), words)
            except FormatError as error:
                raise FormatError(f"{spec.argument}: {error}") from None

    return NgramModel(spec.name, read_entries, options.lower)


def parse_arpa(lines: Iterable[str], words: Container[str]) -> tuple[dict[NGram, NgramValues], int]:
    r"""Return an ARPA file's n-grams that consist of *words*, and the model's order. Raises FormatError, with the line.

    ASCII blanks separate fields. ``<UNK>`` is ``<unk>``. Lines before ``\data\`` and after ``\end\`` are not read.

    >>> text = "\\data\\\nngram 1=2\n\n\\1-grams:\n-0.5\tthe\t-0.2\n-0.7\tman\n\n\\end\\"
    >>> parse_arpa(text.splitlines(), {"the"})
    ({('the',): (-0.5, -0.2)}, 1)
    """
    content = _iterate_content(lines)
    counts, number, heading = _read_counts(content)
    entries: dict[NGram, NgramValues] = {}
    known_words: set[str] = set()
    for order, stated in enumerate(counts, 1):
        if heading != f"\\{order}-grams:":
            raise FormatError(f"line {number}: \\{order}-grams: is expected")
        hashes, places = array("q"), array("q")  # 16 bytes for each n-gram, as a file has millions
        for number, heading in content:
            if heading.startswith("\\"):
                break
            ngram, values = _parse_entry(split_at_blanks(heading), order, number)
            _check_words(ngram, known_words, number)  # also of n-grams that are not kept
            hashes.append(hash(ngram))
            places.append(number)
            if all(word in words for word in ngram):
                entries[ngram] = values
        _, first_places = np.unique(hashes, return_index=True)
        if len(first_places) < len(hashes):
            twice = places[int(np.setdiff1d(np.arange(len(hashes)), first_places)[0])]
            raise FormatError(f"line {twice}: this {order}-gram is listed twice")
        if len(hashes) != stated:
            raise FormatError(f"line {number}: {len(hashes)} {order}-grams end here, and the header states {stated}")
    if heading != "\\end\\":
        raise FormatError(f"line {number}: \\end\\ is expected")
    return entries, len(counts)


def _check_words(ngram: NGram, known_words: set[str], number: int) -> None:
    """Add the word of a new 1-gram to *known_words*; raise FormatError if they lack a word of a longer n-gram."""
    if len(ngram) == 1:
        known_words.update(ngram)
    elif not known_words.issuperset(ngram):
        unknown = next(word for word in ngram if word not in known_words)
        raise FormatError(f"line {number}: {unknown!r} is not among the 1-grams")


def _iterate_content(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Yield number and text of each line that is not blank; raise FormatError after the last line."""
    number = 1
    for number, line in enumerate(lines, 1):
        if text := line.strip(ASCII_BLANKS):
            yield number, text
    raise FormatError(f"line {number}: not an ARPA file, or cut off: it ends without \\end\\")


_COUNT = re.compile(r"ngram[ \t]+([0-9]{1,18})[ \t]*=[ \t]*([0-9]{1,18})")


def _read_counts(content: Iterator[tuple[int, str]]) -> tuple[list[int], int, str]:
    """Return the number of n-grams of each order, from the header, and the number and text of the line after it."""
    counts: list[int] = []
    is_header = False
    for number, text in content:
        if not is_header:
            is_header = text == "\\data\\"
            if number > MAX_HEAD_LINES:
                raise FormatError(
                    f"line {number}: not an ARPA file: \\data\\ is expected in the first {MAX_HEAD_LINES} lines"
                )
        elif (match := _COUNT.fullmatch(text)) and int(match[1]) == len(counts) + 1:
            counts.append(int(match[2]))
            if not counts[0]:
                raise FormatError(f"line {number}: the model has no n-grams")
        elif counts:
            return counts, number, text
        else:
            raise FormatError(f"line {number}: ngram {len(counts) + 1}= with the number of n-grams is expected")
    raise AssertionError  # the content ends with an exception


def _parse_entry(fields: list[str], order: int, number: int) -> tuple[NGram, NgramValues]:
    """Return a line's n-gram, and its probability and back-off weight as logarithms. Raises FormatError."""
    if len(fields) not in (order + 1, order + 2):
        words = format_count(order, "word")
        raise FormatError(f"line {number}: a logarithm, {words} and an optional weight are expected")
    try:
        values = parse_numbers(" ".join([fields[0], *fields[order + 1 :]]))
    except ValueError:
        values = [nan]
    if not all(map(isfinite, values)):
        raise FormatError(f"line {number}: a logarithm and an optional weight are expected, as finite numbers")
    if values[0] > 0:
        raise FormatError(f"line {number}: a log probability above 0: {fields[0]}")
    ngram = tuple(UNKNOWN if word == "<UNK>" else word for word in fields[1 : order + 1])  # as some tools write it
    return ngram, (values[0], values[1] if len(values) > 1 else 0.0)
