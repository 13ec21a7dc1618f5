"""Parsed sentences from files of Penn brackets or CoNLL-U."""

from collections.abc import Iterator

from sentprobe.errors import FormatError
from sentprobe.probes.corpus import text_formats as tf
from sentprobe.probes.pretraining.texts.text_files import read_lines
from sentprobe.probes.syntax.trees import Mistake, ParsedSentence, Tree

FORMATS = ("trees", "conllu")

SUFFIXES = {suffix: name for name in FORMATS for suffix in tf.FORMATS[name].suffixes}

DOCUMENT_BREAK = None
"""Marks a gap between two sentences, where a new document begins."""


def read_parses(name: str, file_format: str, encoding: str) -> Iterator[ParsedSentence | None]:
    """Yield the parsed sentences of a file, and DOCUMENT_BREAK where a document begins."""
    text_format = tf.FORMATS[file_format]
    for piece in text_format.split(f"{line}\n" for line in read_lines(name, encoding)):
        if isinstance(piece, Mistake):
            raise FormatError(f"{name}, {piece}")
        if piece.text.startswith("# newdoc"):
            yield DOCUMENT_BREAK
        for parsed in text_format.read(piece, tf.RecordFields()):
            if not isinstance(parsed, ParsedSentence):
                raise FormatError(f"{name}, {parsed}")
            yield parsed


def join_tokens(parsed: ParsedSentence) -> str:
    """Return a sentence's tokens, separated by spaces; white space in a token becomes ``_``."""
    words = parsed.tree.words if isinstance(parsed.tree, Tree) else parsed.tokens
    return " ".join("_".join(word.split()) for word in words)
