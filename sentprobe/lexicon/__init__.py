"""The lexicon: words with parts of speech and inflected forms; reading, checking and writing of lexicon files."""

from sentprobe.lexicon.draft import write_lexicon_text
from sentprobe.lexicon.lexicon import Lexicon, UnknownVocabularyError, UnknownWordError
from sentprobe.lexicon.read import english, german, read_lexicon, read_lexicon_text
from sentprobe.lexicon.source import LexiconError, Problem
from sentprobe.lexicon.words import Flag, Form, Kind, Vocabulary, Word

__all__ = [
    "Flag",
    "Form",
    "Kind",
    "Lexicon",
    "LexiconError",
    "Problem",
    "UnknownVocabularyError",
    "UnknownWordError",
    "Vocabulary",
    "Word",
    "english",
    "german",
    "read_lexicon",
    "read_lexicon_text",
    "write_lexicon_text",
]
