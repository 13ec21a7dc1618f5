"""Printers' marks: curly quotes, dashes, ellipses, no-break spaces and soft hyphens.

Tokenisers, parsers and our lists of words know a typewriter's marks: ``don't`` falls into two
tokens and ``don’t`` into three. So they are given a text with straight marks, and the tokens get
the forms that are written in the text: a text in curly marks has the same tokens and labels as the
same text in straight ones.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

_APOSTROPHES = "\u2018\u2019\u201a\u201b\u2032\u2039\u203a\u02bc\u00b4\uff07"
_QUOTES = "\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb\uff02"
_HYPHENS = "\u2010\u2011\u2012\u2212"
_DASHES = "\u2013\u2014\u2015\u2e3a\u2e3b"
_SPACES = "\u00a0\u2007\u2009\u200a\u202f"
_NOTHING = "\u00ad\u200b\u2060\ufeff"

_STRAIGHT: Mapping[str, str] = {
    **dict.fromkeys(_APOSTROPHES, "'"),
    **dict.fromkeys(_QUOTES, '"'),
    **dict.fromkeys(_HYPHENS, "-"),
    **dict.fromkeys(_DASHES, "--"),
    **dict.fromkeys(_SPACES, " "),
    **dict.fromkeys(_NOTHING, ""),
    "\u2026": "...",
}
_BROKEN = r"\u00ad\s+"
_MARK = re.compile(f"(?<=[0-9])(\u2013)(?=[0-9])|({_BROKEN})|[{''.join(_STRAIGHT)}]")
"""The en dash of *1914-18* is a hyphen, any other a dash. A soft hyphen at the end of a line goes
with the space that stands for the line's end."""
_UNSEEN = re.compile(f"{_BROKEN}|[{_NOTHING}]")


@dataclass(frozen=True, slots=True)
class Straight:
    """A text with straight marks, as it is written, and where in that each character begins."""

    text: str
    written: str
    starts: Sequence[int]
    """(characters of *text* + 1,)"""

    def form(self, start: int, end: int) -> str:
        """Return as it is written what is from *start* to *end* in the straight text.

        What has but a part of a mark, such as two dots of an ellipsis, is given as it is.
        """
        if self._splits(start) or self._splits(end):
            return self.text[start:end]
        return _UNSEEN.sub("", self.written[self.starts[start] : self.starts[end]])

    def _splits(self, place: int) -> bool:
        return place > 0 and self.starts[place] == self.starts[place - 1]


def straighten(text: str) -> Straight:
    r"""Return *text* with straight marks.

    >>> straighten("\u201cIt\u2019s late\u201d\u2014he\u00a0said\u2026").text
    '"It\'s late"--he said...'
    >>> straighten("in 1914\u201318 \u2013 the co\u00adoperation").text
    'in 1914-18 -- the cooperation'
    """
    if not _has_marks(text):
        return Straight(text, text, range(len(text) + 1))
    parts: list[str] = []
    starts: list[int] = []
    last = 0
    for match in _MARK.finditer(text):
        place = match.start()
        mark = "-" if match[1] else "" if match[2] else _STRAIGHT[match[0]]
        parts += text[last:place], mark
        starts += (*range(last, place), *[place] * len(mark))
        last = match.end()
    return Straight(
        "".join((*parts, text[last:])), text, (*starts, *range(last, len(text)), len(text))
    )


def _has_marks(text: str) -> bool:
    return not text.isascii() and _MARK.search(text) is not None


def straight_word(word: str) -> str:
    """Return a token with straight marks; it stays one token, so never empty and without spaces.

    >>> straight_word("n\u2019t"), straight_word("\u2014"), straight_word("caf\u00e9")
    ("n't", '--', 'café')
    """
    if not _has_marks(word):
        return word
    return straighten(word).text.replace(" ", "_") or word


_SAME_QUOTES = ('"', "``", "''")
"""Tokenisers write a double quote in one of these ways."""

_NEAR = 20
"""So many characters further on a token may stand that is not where it should be."""


def written_forms(
    straight: Straight, sentences: Iterable[Sequence[str]]
) -> Iterator[tuple[str, ...]]:
    """Yield the tokens of each sentence as they are written; *sentences* are of the straight text.

    A token that is not in the text, as the parser changed it, stays as it is.

    >>> text = straighten("He didn\u2019t go\u2026 \u201cNo?\u201d")
    >>> list(written_forms(text, [["He", "did", "n't", "go", "..."], ["``", "No", "?", "''"]]))
    [('He', 'did', 'n’t', 'go', '…'), ('“', 'No', '?', '”')]
    """
    place = 0
    for tokens in sentences:
        forms = []
        for token in tokens:
            start, end = _find(straight.text, token, place)
            form = straight.form(start, end)
            forms.append(token if form == straight.text[start:end] else form)
            place = end
        yield tuple(forms)


def _find(text: str, token: str, place: int) -> tuple[int, int]:
    """Return where *token* is in *text* from *place* on; nowhere is an empty stretch."""
    while text[place : place + 1].isspace():
        place += 1
    ways = _SAME_QUOTES if token in _SAME_QUOTES else (token,)
    for way in ways:
        if text.startswith(way, place):
            return place, place + len(way)
    found = [(start, start + len(way)) for way in ways if (start := _near(text, way, place)) >= 0]
    return min(found, default=(place, place))


def _near(text: str, token: str, place: int) -> int:
    return text.find(token, place, place + _NEAR + len(token)) if token else -1
