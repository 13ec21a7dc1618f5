"""Text with citations, as text, Markdown or LaTeX."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from sentprobe.errors import visible
from sentprobe.probes.report.references import SOFTWARE, find_reference
from sentprobe.table_writers import TableFormat, in_latex, in_markdown


@dataclass(frozen=True, slots=True)
class Cited:
    """Where publications are cited; the space before it is its own."""

    keys: tuple[str, ...]
    bare: bool = False
    """Whether it is a part of the sentence, and so without parentheses."""


Piece: TypeAlias = str | Cited
"""A part of a text."""

ESCAPES: Mapping[TableFormat, Callable[[str], str]] = {
    TableFormat.TEXT: visible,
    TableFormat.MARKDOWN: in_markdown,
    TableFormat.LATEX: in_latex,
}


def write_cited(pieces: Iterable[Piece], style: TableFormat) -> str:
    """Return a text in one of the three formats; what means something to the format is escaped."""
    escape = ESCAPES[style]
    cite = _in_latex if style is TableFormat.LATEX else _in_words
    return "".join(escape(each) if isinstance(each, str) else cite(each) for each in pieces).strip()


def _in_latex(cited: Cited) -> str:
    return f"~\\cite{{{','.join(cited.keys)}}}"


def _in_words(cited: Cited) -> str:
    """Name authors and years; the software is named by the sentence itself."""
    labels = [find_reference(key).label for key in cited.keys if key != SOFTWARE]
    words = "; ".join(labels)
    if not words:
        return ""
    return f" {words}" if cited.bare else f" ({words})"


def keys_in(pieces: Iterable[Piece]) -> tuple[str, ...]:
    """Return the keys that a text cites, each once, in order."""
    return tuple(dict.fromkeys(key for p in pieces if isinstance(p, Cited) for key in p.keys))
