"""The language of a table: chosen by the user, or found in file names, such as those of Universal Dependencies."""

import re
from collections.abc import Iterable
from pathlib import Path

from sentprobe.errors import UsageError

_LANGUAGE = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_TREEBANK_FILE = re.compile(r"([a-z]{2,3})_[a-z0-9]+-s?ud-")
_CODE = re.compile(r"[a-z]{2}(?=\.|$)")


def check_language(text: str) -> str:
    """Return the name of a language; raise UsageError if it has characters besides letters, digits and ``_``."""
    if _LANGUAGE.fullmatch(text):
        return text
    raise UsageError(f"the language {text!r} has characters besides letters, digits and _; examples: de, pt_BR")


def choose_language(files: Iterable[str], folder: Path, *, chosen: str | None = None) -> str:
    """Return *chosen*, else the language in the names of all *files*, else in that of *folder*; "" if unknown.

    >>> choose_language(["ud/de_gsd-ud-dev.conllu", "ud/de_pud-ud-test.conllu.xz"], Path("table"))
    'de'
    >>> choose_language(["all.conllu"], Path("fr.table")), choose_language(["all.conllu"], Path("table"))
    ('fr', '')
    """
    if chosen is not None:
        return check_language(chosen)
    codes = [match and match[1] for match in (_TREEBANK_FILE.match(Path(file).name) for file in files)]
    if len({*codes}) == 1 and codes[0]:
        return codes[0]
    match = _CODE.match(folder.name)
    return match[0] if match else ""
