"""The grammars of the languages, and the shapes (structures without words) that they derive."""

from functools import cache
from importlib.resources import files

from sentprobe.lexicon.languages.language import Language


@cache
def read_grammar_source(language: Language) -> str:
    """Return the text of a language's grammar file, such as ``english.fcfg``."""
    return (files(__name__) / f"{language.stem}.fcfg").read_text(encoding="utf-8")
