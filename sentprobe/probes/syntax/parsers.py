"""The protocol and the list of parsers; a spec such as ``stanza:en?package=default_accurate`` names one."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from threading import Lock
from typing import Protocol, TypeAlias

from sentprobe.errors import SentprobeError, UsageError, suggest
from sentprobe.extras import format_install
from sentprobe.probes.syntax.trees import ParsedSentence
from sentprobe.specs import Spec, parse_spec

ParserOutcome: TypeAlias = ParsedSentence | str
"""A parsed sentence, or the reason why it has no parse."""


class ParserError(SentprobeError):
    """A parser cannot be used: it is not installed, it has no model, or its server does not answer."""


class Parser(Protocol):
    """A constituency or dependency parser; an exception other than ParserError is the failure of one sentence."""

    @property
    def fingerprint(self) -> str:
        """Library, version and model: the parses depend on them."""

    @property
    def splits(self) -> bool:
        """Whether the parser splits running text into sentences."""

    def parse(self, sentences: Sequence[Sequence[str]]) -> Sequence[ParserOutcome]:
        """Return a parse of each tokenised sentence, or the reason why it has none."""

    def tokenize(self, sentence: str) -> Sequence[str]:
        """Return the tokens of a sentence, as the parser's models know them; empty if it has no tokenizer."""

    def parse_text(self, text: str) -> Sequence[ParserOutcome]:
        """Split a running text and parse its sentences; only for parsers that split."""


NO_PARSER = "none"
"""Spec for no parser: sentences have tokens only."""


@dataclass(frozen=True, slots=True)
class ParserKind:
    """A kind of parser: name (also of its extra), library, and the function that loads it."""

    name: str
    module: str
    load: Callable[[Spec], Parser]
    constituents: bool = True
    """Whether the parser produces constituent trees."""

    @property
    def is_installed(self) -> bool:
        """Whether the parser's library is installed."""
        return find_spec(self.module) is not None


def _load_lazily(module: str, name: str) -> Callable[[Spec], Parser]:
    def load(spec: Spec) -> Parser:
        parser: Parser = getattr(import_module(f"sentprobe.probes.syntax.{module}"), name)(spec)
        return parser

    return load


PARSERS = (
    ParserKind("stanza", "stanza", _load_lazily("parser_stanza", "load_stanza")),
    ParserKind("bllip", "bllipparser", _load_lazily("parser_bllip", "load_bllip")),
    ParserKind("corenlp", "requests", _load_lazily("parser_corenlp", "load_corenlp")),
    ParserKind("benepar", "benepar", _load_lazily("parser_spacy", "load_benepar")),
    ParserKind("spacy", "spacy", _load_lazily("parser_spacy", "load_spacy"), constituents=False),
)


def find_parser(spec: str) -> ParserKind:
    """Return the kind of parser that *spec* names. Raises UsageError or ParserError."""
    name = parse_spec(spec).kind
    names = [kind.name for kind in PARSERS]
    if name not in names:
        raise UsageError(f"there is no parser {name!r}{suggest(name, names)}; known: {', '.join((*names, NO_PARSER))}")
    kind = PARSERS[names.index(name)]
    if not kind.is_installed:
        raise ParserError(f"the parser {name} needs the extra: {format_install(name)}")
    return kind


_load_lock = Lock()


def load_parser(spec: str) -> Parser:
    """Load the parser of *spec*, and keep the last one in memory. Raises UsageError or ParserError."""
    with _load_lock:
        return _load_cached(spec)


@lru_cache(maxsize=1)
def _load_cached(spec: str) -> Parser:
    return find_parser(spec).load(parse_spec(spec))
