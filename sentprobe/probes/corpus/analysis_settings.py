"""The settings of a corpus analysis that determine its rows, and the splitting of text into sentences and tokens."""

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
from sentprobe.versions import describe_package, get_own_version

if TYPE_CHECKING:
    from nltk.tokenize.punkt import PunktParameters

PUNKT_FILES = ("abbrev_types.txt", "collocations.tab", "ortho_context.tab", "sent_starters.txt")
"""The files with the parameters of the sentence splitter Punkt, in NLTK's text format."""
Splitter = Callable[[str], list[str]]


def find_punkt(folder: Path | None) -> Path:
    """Return the folder of Punkt parameters, by default NLTK's for English; raise UsageError if files are missing."""
    if folder is None:
        from nltk.data import find

        try:
            return Path(find("tokenizers/punkt_tab/english"))
        except LookupError:
            raise UsageError(
                "splitting text into sentences needs Punkt parameters: name their folder with --punkt, "
                "or install those of NLTK: python -m nltk.downloader punkt_tab"
            ) from None
    missing = [name for name in PUNKT_FILES if not (folder / name).is_file()]
    if missing:
        raise UsageError(
            f"{folder}: not a folder of Punkt parameters: it has no {missing[0]} "
            "(nltk.tokenize.punkt.save_punkt_params writes such a folder)"
        )
    return folder.resolve()


def compute_punkt_digest(folder: Path) -> str:
    """Return 16 hexadecimal digits: a digest of the Punkt parameters in a folder."""
    return sha256(b"".join((folder / name).read_bytes() for name in PUNKT_FILES)).hexdigest()[:16]


@lru_cache(maxsize=2)
def load_splitter(folder: str) -> Splitter:
    """Return Punkt's function (Kiss and Strunk 2006), which splits running text into sentences."""
    from nltk.tokenize.punkt import PunktSentenceTokenizer

    splitter: Splitter = PunktSentenceTokenizer(_read_punkt_parameters(Path(folder))).tokenize
    return splitter


def _read_punkt_parameters(folder: Path) -> "PunktParameters":
    """Read Punkt parameters from any folder; NLTK's own function reads only from NLTK's data folders."""
    from nltk.tabdata import PunktDecoder
    from nltk.tokenize.punkt import PunktParameters

    parameters, decoder = PunktParameters(), PunktDecoder()
    decoders = (decoder.txt2set, lambda lines: set(decoder.tab2tups(lines)), decoder.tab2intdict, decoder.txt2set)
    try:
        for name, decode in zip(PUNKT_FILES, decoders, strict=True):
            with (folder / name).open(encoding="utf-8") as lines:
                setattr(parameters, Path(name).stem, decode(lines))
    except OSError as error:
        raise path_error(folder, "cannot read Punkt's parameters", error) from error
    except (ValueError, IndexError) as error:
        raise SentprobeError(f"{folder}: cannot read Punkt's parameters: {error}") from error
    return parameters


@lru_cache(maxsize=1)
def load_tokenizer() -> Splitter:
    """Return the function that splits a sentence into tokens as in the Penn Treebank."""
    from nltk.tokenize.destructive import NLTKWordTokenizer

    tokenizer: Splitter = NLTKWordTokenizer().tokenize
    return tokenizer


TABLE_FORMAT = "sentprobe-table 3"
"""The format name in ``table.json``."""
MAX_TOKENS = 100
"""The default maximum length of a sentence in tokens. Longer sentences are not parsed, and have no row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalysisRecipe:
    """The settings of an analysis that determine the rows of the table."""

    reading: RecordFields = RecordFields()  # noqa: RUF009 - frozen
    parser: str | None = None
    """The name of the parser, as in ``--parser``; None if all sources are already parsed."""
    punkt: str | None = None
    """The folder of Punkt parameters; None if the parser splits text into sentences, or no source has running text."""
    max_tokens: int = MAX_TOKENS
    universal: bool = False
    """Whether rows are built from Universal Dependencies even if a sentence also has Penn Treebank tags or a tree."""
    language: str = ""
    """The code of the language of all sources; "" if it is unknown, or if they have several languages."""

    @property
    def has_parser(self) -> bool:
        return self.parser not in {None, NO_PARSER}

    def to_json(self) -> dict[str, Any]:
        """Return the settings as a dictionary for JSON. If there is a parser, load it to include its fingerprint."""
        parser_fingerprint, constituents = None, self.parser is None
        if self.parser and self.has_parser:
            parser_fingerprint = load_parser(self.parser).fingerprint
            constituents = find_parser(self.parser).constituents
        return {
            "parser": self.parser,
            "parser_made_of": parser_fingerprint,
            "constituents": constituents,
            "punkt": self.punkt and compute_punkt_digest(Path(self.punkt)),
            "max_tokens": self.max_tokens,
            "universal": self.universal,
            "reading": asdict(self.reading),
        }

    def format_line(self) -> str:
        """Return one line of JSON with all settings and versions that determine the rows of the table."""
        versions = [TABLE_FORMAT, get_own_version(), describe_package("nltk"), describe_package("pyarrow")]
        return json.dumps([self.to_json(), self.language, *versions], sort_keys=True)


def make_recipe(
    *,
    reading: RecordFields,
    parser: str | None,
    punkt: Path | None,
    max_tokens: int,
    has_text: bool,
    universal: bool = False,
    language: str = "",
) -> AnalysisRecipe:
    """Return the recipe of an analysis. Punkt splits running text if *punkt* is set or the parser cannot split it."""
    splits = parser not in {None, NO_PARSER} and load_parser(str(parser)).splits
    folder = str(find_punkt(punkt)) if has_text and (punkt is not None or not splits) else None
    return AnalysisRecipe(
        reading=reading, parser=parser, punkt=folder, max_tokens=max_tokens, universal=universal, language=language
    )
