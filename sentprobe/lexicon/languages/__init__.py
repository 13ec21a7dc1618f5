"""The languages by code: each has a module that defines its :class:`~.language.Language`."""

from sentprobe.common.errors import UsageError, suggest
from sentprobe.lexicon.languages.english import ENGLISH
from sentprobe.lexicon.languages.german import GERMAN
from sentprobe.lexicon.languages.language import Language

LANGUAGES = {language.code: language for language in (ENGLISH, GERMAN)}


def find_language(code: str) -> Language:
    """Return the language with an ISO 639-1 code, such as ``de``. Raises UsageError."""
    if code not in LANGUAGES:
        codes = ", ".join(f"{language.code} ({language.name})" for language in LANGUAGES.values())
        raise UsageError(f"there is no language {code!r}{suggest(code, LANGUAGES)}; the languages are {codes}")
    return LANGUAGES[code]
