"""The grammar of the generated English, and its derivations."""

from functools import cache
from importlib.resources import files


@cache
def read_english_source() -> str:
    """Return the text of ``english.fcfg``."""
    return (files(__name__) / "english.fcfg").read_text(encoding="utf-8")
