"""How a corpus is analysed: all that its rows depend on, the splitting of running text among it."""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sentprobe.errors import SentprobeError, UsageError, path_error
from sentprobe.probes.corpus.text_formats import RecordFields
from sentprobe.probes.syntax.parsers import NO_PARSER, find_parser, load_parser
from sentprobe.versions import library, own_version

if TYPE_CHECKING:
    from nltk.tokenize.punkt import PunktParameters


PUNKT_FILES = ("abbrev_types.txt", "collocations.tab", "ortho_context.tab", "sent_starters.txt")
"""What a folder of Punkt's parameters consists of, in NLTK's text format."""

Splitter = Callable[[str], list[str]]


def find_punkt(folder: Path | None) -> Path:
    """Return the folder of Punkt's parameters: the one given, or NLTK's own for English.

    Raises:
        UsageError: there are no such parameters in it, or NLTK's are not installed.
    """
    if folder is None:
        return _punkt_of_nltk()
    missing = [name for name in PUNKT_FILES if not (folder / name).is_file()]
    if missing:
        raise UsageError(
            f"{folder}: not a folder of Punkt's parameters: it has no {missing[0]} "
            "(nltk.tokenize.punkt.save_punkt_params writes one)"
        )
    return folder.resolve()


def _punkt_of_nltk() -> Path:
    from nltk.data import find  # noqa: PLC0415 - slow import

    try:
        return Path(find("tokenizers/punkt_tab/english"))
    except LookupError:
        raise UsageError(
            "splitting text into sentences needs Punkt's parameters: name a folder of them with "
            "--punkt, or get NLTK's by: python -m nltk.downloader punkt_tab"
        ) from None


def punkt_digest(folder: Path) -> str:
    """Return a digest of the parameters."""
    digest = sha256()
    for name in PUNKT_FILES:
        digest.update((folder / name).read_bytes())
    return digest.hexdigest()[:16]


@lru_cache(maxsize=2)
def load_splitter(folder: str) -> Splitter:
    """Return the function that splits running text into sentences (Kiss and Strunk 2006)."""
    from nltk.tokenize.punkt import PunktSentenceTokenizer  # noqa: PLC0415 - slow import

    splitter: Splitter = PunktSentenceTokenizer(_parameters(Path(folder))).tokenize
    return splitter


def _parameters(folder: Path) -> "PunktParameters":
    """Read the parameters; NLTK's own function for that reads its data folders alone."""
    from nltk.tabdata import PunktDecoder  # noqa: PLC0415 - slow import
    from nltk.tokenize.punkt import PunktParameters  # noqa: PLC0415

    found = PunktParameters()
    decoder = PunktDecoder()
    try:
        for name, decode in (
            ("abbrev_types", decoder.txt2set),
            ("collocations", lambda lines: set(decoder.tab2tups(lines))),
            ("ortho_context", decoder.tab2intdict),
            ("sent_starters", decoder.txt2set),
        ):
            files = (folder / file for file in PUNKT_FILES if file.startswith(name))
            with next(files).open(encoding="utf-8") as lines:
                setattr(found, name, decode(lines))
    except OSError as error:
        raise path_error(folder, "cannot read Punkt's parameters", error) from error
    except (ValueError, IndexError) as error:
        raise SentprobeError(f"{folder}: cannot read Punkt's parameters: {error}") from error
    return found


@lru_cache(maxsize=1)
def load_tokenizer() -> Splitter:
    """Return the function that splits a sentence into the tokens of the Penn Treebank."""
    from nltk.tokenize.destructive import NLTKWordTokenizer  # noqa: PLC0415 - slow import

    tokenizer: Splitter = NLTKWordTokenizer().tokenize
    return tokenizer


FORMAT = "sentprobe-table 1"
"""The format of the table, in its head."""

MAX_TOKENS = 100
"""The longest sentence that is given to a parser, unless the user says otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """What is done with the pieces of a corpus; goes to every worker."""

    reading: RecordFields = RecordFields()  # noqa: RUF009 - frozen
    parser: str | None = None
    """The spec of the parser; None where all sources are parsed already."""
    punkt: str | None = None
    """The folder of Punkt's parameters; None: the parser splits text, or there is none."""
    max_tokens: int = MAX_TOKENS

    @property
    def parses(self) -> bool:
        """Whether there is a parser."""
        return self.parser not in {None, NO_PARSER}

    def to_json(self) -> dict[str, Any]:
        """Return what the rows depend on, for people and for :meth:`digest`; loads the parser."""
        made, constituents = None, self.parser is None
        if self.parser and self.parses:
            made = load_parser(self.parser).fingerprint
            constituents = find_parser(self.parser).constituents
        return {
            "parser": self.parser,
            "parser_made_of": made,
            "constituents": constituents,
            "punkt": self.punkt and punkt_digest(Path(self.punkt)),
            "max_tokens": self.max_tokens,
            "reading": asdict(self.reading),
        }

    def describe(self) -> str:
        """Return all of it as one line: equal lines give equal rows."""
        versions = [FORMAT, own_version(), library("nltk"), library("pyarrow")]
        return json.dumps([self.to_json(), *versions], sort_keys=True)


def make_recipe(
    *,
    reading: RecordFields,
    parser: str | None,
    punkt: Path | None,
    max_tokens: int,
    has_text: bool,
) -> Recipe:
    """Return the recipe; *has_text* says whether a source may hold running text.

    Raises:
        UsageError: the parser or its options are wrong, or text cannot be split.
        ParserError: the parser cannot be loaded.
    """
    splits = parser not in {None, NO_PARSER} and load_parser(str(parser)).splits
    folder = None
    if has_text and (punkt is not None or not splits):
        folder = str(find_punkt(punkt))
    return Recipe(reading=reading, parser=parser, punkt=folder, max_tokens=max_tokens)
