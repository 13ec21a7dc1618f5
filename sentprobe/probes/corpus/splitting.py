"""Running text to sentences, and sentences to tokens, both by NLTK."""

from collections.abc import Callable
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from sentprobe.errors import SentprobeError, UsageError, path_error

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
