"""Parsed sentences from files of them: Penn brackets and CoNLL-U."""

from collections.abc import Iterator

from sentprobe.errors import FormatError
from sentprobe.probes.corpus import text_formats as tf
from sentprobe.probes.pretraining.texts.text_files import lines_of
from sentprobe.probes.syntax.trees import Mistake, Parsed, Tree

FORMATS = ("trees", "conllu")

SUFFIXES = {suffix: name for name in FORMATS for suffix in tf.FORMATS[name].suffixes}
"""The format of a file by its suffix."""

BREAK = None
"""Stands between two sentences of which the second does not follow the first."""


def parses_of(name: str, style: str, encoding: str) -> Iterator[Parsed | None]:
    """Yield the sentences of a file, and a break where it says that a document begins.

    Raises:
        FormatError: a sentence is damaged; says where.
    """
    form = tf.FORMATS[style]
    for piece in form.split(f"{line}\n" for line in lines_of(name, encoding)):
        if isinstance(piece, Mistake):
            raise FormatError(f"{name}, {piece}")
        if piece.text.startswith("# newdoc"):
            yield BREAK
        for found in form.read(piece, tf.RecordFields()):
            if not isinstance(found, Parsed):
                raise FormatError(f"{name}, {found}")
            yield found


def words_of(parsed: Parsed) -> str:
    """Return the tokens of a sentence; white space in one becomes ``_``."""
    words = parsed.tree.words if isinstance(parsed.tree, Tree) else parsed.tokens
    return " ".join("_".join(word.split()) for word in words)
