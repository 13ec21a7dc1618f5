"""N-gram models with back-off, from ARPA files."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import log

from sentprobe.errors import FormatError
from sentprobe.probes.corpus.sources import Source, decode_lines, open_source
from sentprobe.probes.encoders.protocol import EncoderError
from sentprobe.probes.language_models.scorers import TokenScores
from sentprobe.probes.language_models.sentence_pairs import TextSpan, split_at_spaces
from sentprobe.progress import Reporter
from sentprobe.specs import Spec, read_options

START, END, UNKNOWN = "<s>", "</s>", "<unk>"

NGram = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NgramOptions:
    """Options of ``ngram:``."""

    lower: bool = False


@dataclass(slots=True)
class NgramModel:
    """A back-off model (Katz 1987) with the logarithms, to base 10, of an ARPA file."""

    name: str
    entries: Mapping[NGram, tuple[float, float]] = field(repr=False)
    """The probability and the back-off weight of each n-gram."""
    order: int
    lower: bool = False
    unknown: set[str] = field(default_factory=set)
    """Unknown words met so far."""

    @property
    def notes(self) -> tuple[str, ...]:
        """A note on unknown words."""
        count = len(self.unknown)
        return (f"{self.name} lacks {count} words, such as {min(self.unknown)!r}.",) if count else ()

    def score(self, texts: Sequence[str], reporter: Reporter) -> list[TokenScores]:
        """Return the scores of words and of the end; without an entry for unknown words, raise EncoderError."""
        ends = [END] if (END,) in self.entries else []
        scores = []
        for text in texts:
            spans = split_words(text)
            tokens = (START, *(self._find_word(text[start:end]) for start, end in spans), *ends)
            places = range(1, len(tokens))
            values = [self.compute_log_probability(tokens[max(0, i + 1 - self.order) : i + 1]) for i in places]
            scores.append(TokenScores(values, [*spans, *((len(text), len(text)) for _ in ends)]))
            reporter.advance()
        return scores

    def _find_word(self, text: str) -> str:
        word = text.lower() if self.lower else text
        if (word,) in self.entries:
            return word
        self.unknown.add(word)
        if (UNKNOWN,) not in self.entries:
            raise EncoderError(f"{self.name} lacks the word {word!r}, and has no entry {UNKNOWN}")
        return UNKNOWN

    def compute_log_probability(self, ngram: NGram) -> float:
        """Return the natural logarithm of the probability of the last word after the others."""
        weight = 0.0
        while ngram not in self.entries:
            weight += self.entries.get(ngram[:-1], (0.0, 0.0))[1]
            ngram = ngram[1:]
        return log(10) * (weight + self.entries[ngram][0])


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
    """Return the model of ``ngram:FILE``, plain or compressed. Raises UsageError, FormatError or SourceError."""
    options = read_options(spec, NgramOptions())
    with open_source(Source(spec.argument, "")) as opened:
        try:
            entries = dict(parse_arpa(decode_lines(opened, "utf-8")))
        except FormatError as error:
            raise FormatError(f"{spec.argument}: {error}") from None
    return NgramModel(spec.name, entries, max(map(len, entries)), options.lower)


def parse_arpa(lines: Iterable[str]) -> Iterator[tuple[NGram, tuple[float, float]]]:
    r"""Yield n-grams with probabilities and back-off weights. Raises FormatError.

    >>> text = "\\data\\\nngram 1=1\n\n\\1-grams:\n-0.5\tthe\t-0.2\n\n\\end\\"
    >>> [*parse_arpa(text.splitlines())]
    [(('the',), (-0.5, -0.2))]
    """
    order, line, is_filled = 0, "", False
    for number, text in enumerate(lines, 1):
        line = text.strip()
        if section := re.fullmatch(r"\\(\d+)-grams:", line):
            order = int(section[1])
        elif line == "\\end\\":
            break
        elif line and order:
            fields = line.split()
            try:
                values = float(fields[0]), float(fields[order + 1]) if len(fields) == order + 2 else 0.0
            except ValueError:
                values = None
            if values is None or len(fields) not in (order + 1, order + 2):
                raise FormatError(f"line {number}: a logarithm, {order} words and perhaps a weight are wanted")
            is_filled = True
            yield tuple(fields[1 : order + 1]), values
    if not is_filled or line != "\\end\\":
        raise FormatError("no ARPA file: it has no n-grams, or does not end with \\end\\")
