"""Comparison of the output shown on a page or in an example with the command's output.

Accuracies of trained probes vary a little between processors, which add in different orders. So decimals may differ by
some points, and counts such as 36/52 by some units; all else is equal.
"""

import re

POINTS = 3.0
NUMBER = re.compile(r"[-+]?\d+\.\d+|\d+(?=/\d)|(?<=/)\d+")
"""Decimals, and the whole numbers on either side of a slash."""


def is_same_output(shown: str, printed: str) -> bool:
    """Return whether a text was printed; ``...`` stands for any text, and spaces do not count."""
    pieces = re.split(rf"(\.\.\.|{NUMBER.pattern}|\s+)", shown.strip())
    pattern = "".join(_make_pattern(piece) if place % 2 else re.escape(piece) for place, piece in enumerate(pieces))
    match = re.fullmatch(pattern, printed.strip(), re.DOTALL)
    return match is not None and all(
        abs(float(shown_number) - float(printed_number)) <= POINTS
        for shown_number, printed_number in zip(NUMBER.findall(shown), match.groups(), strict=True)
    )


def _make_pattern(piece: str) -> str:
    """Return the pattern that matches an ellipsis, spaces or a number."""
    if piece == "...":
        return ".*?"
    return r"\s+" if piece.isspace() else r"([-+]?\d+(?:\.\d+)?)"
