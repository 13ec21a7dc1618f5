"""The protocol of parsers, and the table of all parsers. A spec (``stanza:en?package=default_fast``) names a parser."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from importlib.util import find_spec
from pkgutil import resolve_name
from threading import Lock
from typing import Protocol, TypeAlias

from sentprobe.common.errors import SentprobeError, UsageError, format_install, suggest
from sentprobe.common.specs import Spec, parse_spec
from sentprobe.probes.corpus.trees import ParsedSentence

ParserOutcome: TypeAlias = ParsedSentence | str
"""A parsed sentence, or the reason why it has no parse."""


class ParserError(SentprobeError):
    """A parser cannot be used: it is not installed, it has no model, or its server does not answer."""


class Parser(Protocol):
    """A constituency or dependency parser. If parsing crashes, the text has no parse; a SentprobeError is passed on."""

    @property
    def fingerprint(self) -> str:
        """Text with the library, its version and the model."""

    @property
    def splits(self) -> bool:
        """Whether the parser splits running text into sentences."""

    def parse(self, sentences: Sequence[Sequence[str]]) -> Sequence[ParserOutcome]:
        """Return the parse of each tokenised sentence, or the reason why the sentence has none."""

    def tokenize(self, sentence: str) -> Sequence[str]:
        """Return the tokens of a sentence, divided as in the parser's training data; empty without a tokenizer."""

    def parse_text(self, text: str) -> Sequence[ParserOutcome]:
        """Split a text into sentences, and return their parses; only for parsers whose *splits* is true."""


NO_PARSER = "none"
"""The spec for analysis without a parser: sentences then have tokens only."""


@dataclass(frozen=True, slots=True)
class ParserKind:
    """A parser that a spec may name: its name, its library, and a function that loads it.

    The extra of sentprobe with the library has the name of the parser; urllib3 needs none.
    """

    name: str
    module: str
    load: Callable[[Spec], Parser]
    constituents: bool = True
    """Whether the parser produces constituent trees."""

    @property
    def is_installed(self) -> bool:
        return find_spec(self.module) is not None


def _load_by(function: str, spec: Spec) -> Parser:
    parser: Parser = resolve_name(f"sentprobe.probes.corpus.own_parsers:{function}")(spec)
    return parser


PARSERS = (
    ParserKind("stanza", "stanza", partial(_load_by, "load_stanza")),
    ParserKind("bllip", "bllipparser", partial(_load_by, "load_bllip")),
    ParserKind("corenlp", "urllib3", partial(_load_by, "load_corenlp")),
    ParserKind("benepar", "benepar", partial(_load_by, "load_benepar")),
    ParserKind("spacy", "spacy", partial(_load_by, "load_spacy"), constituents=False),
)


def find_parser(spec: str) -> ParserKind:
    """Return the entry of PARSERS that *spec* names. Raises UsageError, or ParserError if it is not installed."""
    name = parse_spec(spec).kind
    names = [kind.name for kind in PARSERS]
    if name not in names:
        raise UsageError(f"there is no parser {name!r}{suggest(name, names)}; known: {', '.join(names)}")
    kind = PARSERS[names.index(name)]
    if not kind.is_installed:
        raise ParserError(f"the parser {name} needs the extra: {format_install(name)}")
    return kind


_load_lock = Lock()


def load_parser(spec: str) -> Parser:
    """Return the parser that *spec* names; the parser loaded last stays in memory. Raises UsageError or ParserError."""
    with _load_lock:
        return _load_cached(spec)


@lru_cache(maxsize=1)
def _load_cached(spec: str) -> Parser:
    return find_parser(spec).load(parse_spec(spec))
