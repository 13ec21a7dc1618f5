"""Text with citations, as text, Markdown or LaTeX."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from sentprobe.display.table_writers import TableFormat, escape_latex, escape_markdown
from sentprobe.errors import escape_control_characters
from sentprobe.probes.report.references import SOFTWARE, find_reference


@dataclass(frozen=True, slots=True)
class Citation:
    """A citation, with the space before it."""

    keys: tuple[str, ...]
    bare: bool = False
    """Whether the citation is part of the sentence, without parentheses."""


Piece: TypeAlias = str | Citation

ESCAPES: Mapping[TableFormat, Callable[[str], str]] = {
    TableFormat.TEXT: escape_control_characters,
    TableFormat.MARKDOWN: escape_markdown,
    TableFormat.LATEX: escape_latex,
}


def write_with_citations(pieces: Iterable[Piece], style: TableFormat) -> str:
    """Return a text in one of the three formats; special characters are escaped."""
    escape = ESCAPES[style]
    return "".join(escape(piece) if isinstance(piece, str) else _cite(piece, style) for piece in pieces).strip()


def _cite(cited: Citation, style: TableFormat) -> str:
    """Return a LaTeX command, or authors and years; the sentence itself names the software."""
    if style is TableFormat.LATEX:
        return f"~\\cite{{{','.join(cited.keys)}}}"
    labels = [find_reference(key).label for key in cited.keys if key != SOFTWARE]
    words = "; ".join(labels)
    if not words:
        return ""
    return f" {words}" if cited.bare else f" ({words})"


def list_keys(pieces: Iterable[Piece]) -> tuple[str, ...]:
    """Return the cited keys, each once, in order."""
    return tuple(dict.fromkeys(key for p in pieces if isinstance(p, Citation) for key in p.keys))
