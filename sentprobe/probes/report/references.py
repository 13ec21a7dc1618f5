"""What a result may have to cite: as a line, as a mark in a sentence, and as BibTeX."""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from sentprobe.table_writers import in_latex

OTHERS = "others"
"""What BibTeX takes for more authors than are named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """A publication."""

    key: str
    kind: str
    """BibTeX's type of entry."""
    authors: tuple[str, ...]
    """Each as family name, given name."""
    title: str
    year: int
    short: str
    """What the field calls the venue."""
    where: str
    """The venue in full."""
    volume: str = ""
    pages: str = ""
    doi: str = ""
    url: str = ""

    @property
    def families(self) -> tuple[str, ...]:
        """The authors' family names."""
        return tuple(each.partition(",")[0] for each in self.authors)

    @property
    def label(self) -> str:
        """Authors and year, as a sentence has them.

        >>> [find_reference(key).label for key in ("ettinger2018", "senteval", "wilson1927")]
        ['Ettinger et al. 2018', 'Conneau and Kiela 2018', 'Wilson 1927']
        """
        first, *rest = self.families
        second = f"{first} and {rest[0]}" if rest and OTHERS not in rest else f"{first} et al."
        names = {0: first, 1: second}.get(len(rest), f"{first} et al.")
        return f"{names} {self.year}"

    @property
    def citation(self) -> str:
        """Authors, year, title and where, in a line."""
        *first, last = self.families
        names = f"{', '.join(first)} and {last}" if first else last
        pages = f", pages {self.pages}" if self.pages else ""
        return f"{names} ({self.year}), {self.title}, {self.short}{pages}"

    def bibtex(self) -> str:
        """Return the entry, with what means something to LaTeX escaped."""
        place = "journal" if self.kind == "article" else "booktitle"
        values = {
            "author": in_latex(" and ".join(self.authors)),
            "title": f"{{{in_latex(self.title)}}}",
            place: in_latex(self.where),
            "volume": self.volume,
            "year": str(self.year),
            "pages": self.pages.replace("-", "--"),
            "doi": self.doi,
            "url": self.url,
        }
        return entry(self.kind, self.key, values)


def entry(kind: str, key: str, values: Mapping[str, str]) -> str:
    """Return an entry of BibTeX with the values that are not empty.

    >>> print(entry("misc", "mine", {"title": "T", "note": ""}), end="")
    @misc{mine,
      title = {T},
    }
    """
    lines = (f"  {name} = {{{value}}},\n" for name, value in values.items() if value)
    return f"@{kind}{{{key},\n{''.join(lines)}}}\n"


@cache
def references() -> Mapping[str, Reference]:
    """Read the packaged references, by key."""
    text = files("sentprobe.probes.report").joinpath("references.toml").read_text("utf-8")
    return {key: _reference(key, value) for key, value in tomllib.loads(text).items()}


def _reference(key: str, value: dict[str, Any]) -> Reference:
    return Reference(**{**value, "key": key, "authors": tuple(value["authors"])})


def find_reference(key: str) -> Reference:
    """Return the reference of that key."""
    return references()[key]


SOFTWARE = "sentprobe"
"""The key of this software, whose entry has the version that made the results."""


def bibliography(keys: Iterable[str], *, version: str) -> str:
    """Return the entries of these keys, each once, in their order."""
    made = {"title": "sentprobe", "author": "{The sentprobe developers}"}
    note = f"Version {in_latex(version)}" if version else ""
    own = entry("misc", SOFTWARE, {**made, "note": note})
    distinct = dict.fromkeys(keys)
    return "\n".join(own if key == SOFTWARE else find_reference(key).bibtex() for key in distinct)
