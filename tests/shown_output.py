"""What a page or an example shows of a command's output, beside what the command prints.

Figures of trained probes move a little from processor to processor: the last digits of a vector do,
by the order in which a processor adds. So decimals may differ by some points, and counts such as
36/52 by some units; all else, verdicts included, is the same.
"""

import re

POINTS = 3.0
NUMBER = re.compile(r"[-+]?\d+\.\d+|\d+(?=/\d)|(?<=/)\d+")
"""Decimals, and the whole numbers on either side of a slash."""


def agrees(shown: str, printed: str) -> bool:
    """Say whether a text was printed; ``...`` stands for any text, and spaces do not count."""
    pieces = re.split(rf"(\.\.\.|{NUMBER.pattern}|\s+)", shown.strip())
    pattern = "".join(
        _any_like(piece) if place % 2 else re.escape(piece) for place, piece in enumerate(pieces)
    )
    found = re.fullmatch(pattern, printed.strip(), re.DOTALL)
    return found is not None and all(
        abs(float(told) - float(was)) <= POINTS
        for told, was in zip(NUMBER.findall(shown), found.groups(), strict=True)
    )


def _any_like(piece: str) -> str:
    """Return the pattern of what may stand for an ellipsis, spaces or a number."""
    if piece == "...":
        return ".*?"
    return r"\s+" if piece.isspace() else r"([-+]?\d+(?:\.\d+)?)"
