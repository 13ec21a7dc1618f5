"""Twins of texts: one in straight marks, the other in typographic marks, converted by rule."""

import re

_RULES = (
    (r"(?<![.-])\.\.\.(?!\.)", "\u2026"),
    (r"(?<!-)--(?!-)", "\u2014"),
    (r'(?:(?<=^)|(?<=[\s(\[\u2014\'-]))"(?=\S)', "\u201c"),
    (r'"', "\u201d"),
    (r"(?:(?<=^)|(?<=[\s(\[\u2014\u201c-]))'(?=\w)", "\u2018"),
    (r"'", "\u2019"),
    (r"\b(Mr|Mrs|Dr)\. ", "\\1.\u00a0"),
    (r"\b([a-z]{4})([a-z]{5,})\b", "\\1\u00ad\\2"),
)

_BACK = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019", "'"),
        **dict.fromkeys("\u201c\u201d", '"'),
        "\u2014": "--",
        "\u2026": "...",
        "\u00a0": " ",
        "\u00ad": None,
    }
)


def curl(text: str) -> str:
    """Return a straight text in curly marks, with no-break spaces and soft hyphens.

    >>> curl("\\"Don't,\\" said Mr. Dogs' understanding--'aye'...") == (
    ...     "“Don’t,” said Mr.\u00a0Dogs’ unde\u00adrstanding—‘aye’…")
    True
    """
    for pattern, mark in _RULES:
        text = re.sub(pattern, mark, text)
    return text


def uncurl(text: str) -> str:
    """Return the text in straight marks; the inverse of :func:`curl`."""
    return text.translate(_BACK)
