"""The table of the parsers that there are.

A parser is named by a spec such as ``bllip:MODEL`` or ``stanza:en?package=default_accurate``, in
the grammar of encoder specs.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from threading import Lock

from sentprobe.errors import UsageError, suggest
from sentprobe.probes.syntax.parser import Parser, ParserError
from sentprobe.specs import Spec, parse_spec

NO_PARSER = "none"
"""The spec that leaves sentences unparsed: tokens and no more."""


@dataclass(frozen=True, slots=True)
class ParserKind:
    """A kind of parser: how it is called, what it needs and gives, and how it is made."""

    name: str
    example: str
    summary: str
    extra: str
    module: str
    load: Callable[[Spec], Parser]
    constituents: bool = True
    """Whether it gives trees."""

    @property
    def installed(self) -> bool:
        """Whether the library is there."""
        return find_spec(self.module) is not None


def _stanza(spec: Spec) -> Parser:
    from sentprobe.probes.syntax.parser_stanza import load_stanza  # noqa: PLC0415

    return load_stanza(spec)


def _bllip(spec: Spec) -> Parser:
    from sentprobe.probes.syntax.parser_bllip import load_bllip  # noqa: PLC0415

    return load_bllip(spec)


def _benepar(spec: Spec) -> Parser:
    from sentprobe.probes.syntax.parser_spacy import load_benepar  # noqa: PLC0415

    return load_benepar(spec)


def _corenlp(spec: Spec) -> Parser:
    from sentprobe.probes.syntax.parser_corenlp import load_corenlp  # noqa: PLC0415

    return load_corenlp(spec)


def _spacy(spec: Spec) -> Parser:
    from sentprobe.probes.syntax.parser_spacy import load_spacy  # noqa: PLC0415

    return load_spacy(spec)


PARSERS = (
    ParserKind(
        "stanza",
        "stanza:en",
        "constituents, tags and dependencies; what most should choose",
        "stanza",
        "stanza",
        _stanza,
    ),
    ParserKind(
        "bllip",
        "bllip:MODEL",
        "the Charniak-Johnson parser: constituents and tags, quick on a CPU",
        "bllip",
        "bllipparser",
        _bllip,
    ),
    ParserKind(
        "corenlp",
        "corenlp:http://localhost:9000",
        "a running CoreNLP server: constituents, tags and dependencies",
        "corenlp",
        "requests",
        _corenlp,
    ),
    ParserKind(
        "benepar",
        "benepar:benepar_en3",
        "the Berkeley neural parser, on a spaCy pipeline: constituents and tags",
        "benepar",
        "benepar",
        _benepar,
    ),
    ParserKind(
        "spacy",
        "spacy:en_core_web_sm",
        "tags and dependencies only: no tree, depth, top constituents or clauses",
        "spacy",
        "spacy",
        _spacy,
        constituents=False,
    ),
)
"""The kinds of parser."""


def find_parser(spec: str) -> ParserKind:
    """Return the kind that *spec* names.

    Raises:
        UsageError: there is none.
        ParserError: its library is not installed.
    """
    name = parse_spec(spec).kind
    known = [kind.name for kind in PARSERS]
    if name not in known:
        raise UsageError(
            f"there is no parser {name!r}{suggest(name, known)}; known: "
            f"{', '.join((*known, NO_PARSER))}"
        )
    kind = PARSERS[known.index(name)]
    if not kind.installed:
        raise ParserError(
            f"the parser {name} needs the extra: pip install 'sentprobe[{kind.extra}]'"
        )
    return kind


_loading = Lock()


def load_parser(spec: str) -> Parser:
    """Return the parser of *spec*; the same one each time, as loading is slow.

    Raises:
        UsageError: there is no such parser, or its options are wrong.
        ParserError: its library or its model is not there.
    """
    with _loading:
        return _load(spec)


@lru_cache(maxsize=1)
def _load(spec: str) -> Parser:
    return find_parser(spec).load(parse_spec(spec))
