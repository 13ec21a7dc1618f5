"""References to publications, written as a line of text, as BibTeX, or as citations in a text."""

import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TypeAlias

from sentprobe.common.errors import escape_control_characters
from sentprobe.common.tables import TableFormat, escape_latex, escape_markdown

MORE_AUTHORS = "others"
"""The last author of an abbreviated list, for which BibTeX prints "et al."."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """A publication."""

    key: str
    kind: str
    authors: tuple[str, ...]
    """The authors, each as "FAMILY NAME, GIVEN NAME"."""
    title: str
    year: int
    short: str
    where: str
    volume: str = ""
    pages: str = ""
    doi: str = ""
    url: str = ""

    @property
    def families(self) -> tuple[str, ...]:
        return tuple(author.partition(",")[0] for author in self.authors)

    @property
    def label(self) -> str:
        """The authors and the year, as cited in a sentence.

        >>> [find_reference(key).label for key in ("ettinger2018", "senteval", "wilson1927")]
        ['Ettinger et al. 2018', 'Conneau and Kiela 2018', 'Wilson 1927']
        """
        first, *co_authors = self.families
        names = f"{first} et al."
        if len(co_authors) < 2 and MORE_AUTHORS not in co_authors:
            names = " and ".join(self.families)
        return f"{names} {self.year}"

    @property
    def citation(self) -> str:
        """The authors, year, title and venue in one line."""
        *first, last = self.families
        names = f"{', '.join(first)} and {last}" if first else last
        pages = f", pages {self.pages}" if self.pages else ""
        return f"{names} ({self.year}), {self.title}, {self.short}{pages}"

    def bibtex(self) -> str:
        """Return the BibTeX entry of the publication, escaped for LaTeX."""
        venue = "journal" if self.kind == "article" else "booktitle"
        values = {
            "author": escape_latex(" and ".join(self.authors)),
            "title": f"{{{escape_latex(self.title)}}}",
            venue: escape_latex(self.where),
            "volume": self.volume,
            "year": str(self.year),
            "pages": self.pages.replace("-", "--"),
            "doi": self.doi,
            "url": self.url,
        }
        return format_bibtex_entry(self.kind, self.key, values)


def format_bibtex_entry(kind: str, key: str, values: Mapping[str, str]) -> str:
    """Return a BibTeX entry. Fields with an empty value are left out."""
    lines = (f"  {name} = {{{value}}},\n" for name, value in values.items() if value)
    return f"@{kind}{{{key},\n{''.join(lines)}}}\n"


@cache
def read_references() -> Mapping[str, Reference]:
    """Return the references in ``references.toml`` by key."""
    entries = tomllib.loads(files("sentprobe.probes.reports").joinpath("references.toml").read_text("utf-8")).items()
    return {key: Reference(**{**value, "key": key, "authors": tuple(value["authors"])}) for key, value in entries}


def find_reference(key: str) -> Reference:
    """Return the reference with this key."""
    return read_references()[key]


SOFTWARE = "sentprobe"
"""The key of the BibTeX entry for sentprobe itself, which names the version that computed the results."""


def write_bibliography(keys: Iterable[str], *, version: str) -> str:
    """Return the BibTeX entries with these keys. The entry of sentprobe itself names its *version*."""
    note = f"Version {escape_latex(version)}" if version else ""
    software = {"title": "sentprobe", "author": "{The sentprobe developers}", "note": note}
    entry = format_bibtex_entry("misc", SOFTWARE, software)
    return "\n".join(entry if key == SOFTWARE else find_reference(key).bibtex() for key in dict.fromkeys(keys))


@dataclass(frozen=True, slots=True)
class Citation:
    """A citation of publications in a text. :func:`write_with_citations` puts a space before it."""

    keys: tuple[str, ...]
    bare: bool = False
    """Whether the citation is written without parentheses, as a part of the sentence."""


Piece: TypeAlias = str | Citation

ESCAPES: Mapping[TableFormat, Callable[[str], str]] = {
    TableFormat.TEXT: escape_control_characters,
    TableFormat.MARKDOWN: escape_markdown,
    TableFormat.LATEX: escape_latex,
}


def write_with_citations(pieces: Iterable[Piece], style: TableFormat) -> str:
    """Join texts and citations into one text in this format. Special characters of the texts are escaped."""
    escape = ESCAPES[style]
    return "".join(escape(piece) if isinstance(piece, str) else _cite(piece, style) for piece in pieces).strip()


def _cite(cited: Citation, style: TableFormat) -> str:
    """Return a LaTeX command, or authors and years. Sentprobe itself is cited only in LaTeX."""
    if style is TableFormat.LATEX:
        return f"~\\cite{{{','.join(cited.keys)}}}"
    words = "; ".join(find_reference(key).label for key in cited.keys if key != SOFTWARE)
    if not words:
        return ""
    return f" {words}" if cited.bare else f" ({words})"


def list_keys(pieces: Iterable[Piece]) -> tuple[str, ...]:
    """Return the distinct keys that a text cites, in order."""
    return tuple(dict.fromkeys(key for p in pieces if isinstance(p, Citation) for key in p.keys))
