"""Conversion of typographic marks to ASCII (*straight marks*), which tokenisers, parsers and our word lists expect."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

_APOSTROPHES = "\u2018\u2019\u201a\u201b\u2032\u2039\u203a\u02bc\u00b4\uff07"
_QUOTES = "\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb\uff02"
_HYPHENS = "\u2010\u2011\u2012\u2212"
_DASHES = "\u2013\u2014\u2015\u2e3a\u2e3b"
_SPACES = "\u00a0\u2007\u2009\u200a\u202f"
_INVISIBLE = "\u00ad\u200b\u2060\ufeff"

_STRAIGHT: Mapping[str, str] = {
    **dict.fromkeys(_APOSTROPHES, "'"),
    **dict.fromkeys(_QUOTES, '"'),
    **dict.fromkeys(_HYPHENS, "-"),
    **dict.fromkeys(_DASHES, "--"),
    **dict.fromkeys(_SPACES, " "),
    **dict.fromkeys(_INVISIBLE, ""),
    "\u2026": "...",
}
_LINE_BREAK_HYPHEN = r"\u00ad\s+"
_MARK = re.compile(f"(?<=[0-9])(\u2013)(?=[0-9])|({_LINE_BREAK_HYPHEN})|[{''.join(_STRAIGHT)}]")
"""An en dash between digits becomes a hyphen, any other en dash a dash. A soft hyphen at the end of a line is removed
together with the white space after it."""
_REMOVED = re.compile(f"{_LINE_BREAK_HYPHEN}|[{_INVISIBLE}]")


@dataclass(frozen=True, slots=True)
class StraightText:
    """A text with ASCII quotes, dashes and spaces (*text*), the original (*written*), and offsets that align them."""

    text: str
    written: str
    starts: Sequence[int]
    """The offset in *written* of each character of *text* and of its end, (characters + 1,)."""

    def restore_form(self, start: int, end: int) -> str:
        """Return the original of ``text[start:end]``. If the slice cuts a "--" or "..." apart, return the slice."""
        if self._is_inside_mark(start) or self._is_inside_mark(end):
            return self.text[start:end]
        return _REMOVED.sub("", self.written[self.starts[start] : self.starts[end]])

    def _is_inside_mark(self, position: int) -> bool:
        return position > 0 and self.starts[position] == self.starts[position - 1]


def straighten(text: str) -> StraightText:
    r"""Return *text* in straight marks, together with the original.

    >>> straighten("\u201cIt\u2019s late\u201d\u2014he\u00a0said\u2026").text
    '"It\'s late"--he said...'
    >>> straighten("in 1914\u201318 \u2013 the co\u00adoperation").text
    'in 1914-18 -- the cooperation'
    """
    if not _has_marks(text):
        return StraightText(text, text, range(len(text) + 1))
    parts: list[str] = []
    starts: list[int] = []
    last = 0
    for match in _MARK.finditer(text):
        position = match.start()
        mark = "-" if match[1] else "" if match[2] else _STRAIGHT[match[0]]
        parts += text[last:position], mark
        starts += (*range(last, position), *[position] * len(mark))
        last = match.end()
    return StraightText("".join((*parts, text[last:])), text, (*starts, *range(last, len(text)), len(text)))


def _has_marks(text: str) -> bool:
    return not text.isascii() and _MARK.search(text) is not None


def straighten_word(word: str) -> str:
    """Return a token with ASCII marks in place of typographic marks, and ``_`` in place of special spaces.

    >>> straighten_word("n\u2019t"), straighten_word("\u2014"), straighten_word("caf\u00e9")
    ("n't", '--', 'café')
    """
    if not _has_marks(word):
        return word
    return straighten(word).text.replace(" ", "_") or word


_QUOTE_FORMS = ('"', "``", "''")
"""The forms in which tokenisers write a double quote."""
_MAX_SKIPPED = 20
"""Maximum number of characters between the expected and the actual position of a token in the text."""


def restore_written_forms(straight: StraightText, sentences: Iterable[Sequence[str]]) -> Iterator[tuple[str, ...]]:
    """Yield the tokens of each sentence of the straight text in their original forms.

    A token that the text does not contain, because the parser changed it, is yielded unchanged.

    >>> text = straighten("He didn\u2019t go\u2026 \u201cNo?\u201d")
    >>> list(restore_written_forms(text, [["He", "did", "n't", "go", "..."], ["``", "No", "?", "''"]]))
    [('He', 'did', 'n’t', 'go', '…'), ('“', 'No', '?', '”')]
    """
    position = 0
    for tokens in sentences:
        forms = []
        for token in tokens:
            start, end = _find_token(straight.text, token, position)
            form = straight.restore_form(start, end)
            forms.append(token if form == straight.text[start:end] else form)
            position = end
        yield tuple(forms)


def _find_token(text: str, token: str, position: int) -> tuple[int, int]:
    """Return the start and end of *token* in *text*, at or soon after *position*; an empty span if it is not found."""
    while text[position : position + 1].isspace():
        position += 1
    forms = _QUOTE_FORMS if token in _QUOTE_FORMS else (token,)
    for form in forms:
        if text.startswith(form, position):
            return position, position + len(form)
    spans = [
        (start, start + len(form))
        for form in forms
        if (start := text.find(form, position, position + _MAX_SKIPPED + len(form))) >= 0
    ]
    return min(spans, default=(position, position))
