"""Files of Penn bracket trees: where the text of one tree ends and that of the next begins.

A tree may take several lines, empty ones among them (the Penn Treebank has such), and a line may
hold several trees. Where a tree does not end, reading goes on at the next line that begins as it
began, with ``(ROOT`` or ``( (S`` in the first column; if all before it took a line each, and its
own line has words, at the next that begins with any bracket there.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sentprobe.probes.syntax.trees import Mistake, Tree, TreeError, parse_trees, shorten

_BEGINNING = re.compile(r"\([ \t]*+[^ \t\r\n()]*+")


@dataclass(frozen=True, slots=True)
class TreeText:
    """The text of one tree, or of several that share a line, and the line that it begins in."""

    text: str
    line: int


def trees_of(source: TreeText) -> list[Tree] | list[Mistake]:
    """Return the trees in one piece of a file, or the one mistake that is in it."""
    try:
        return parse_trees(source.text)
    except TreeError as error:
        line = source.line + source.text.count("\n", 0, error.place)
        return [Mistake(line, str(error), shorten(source.text))]


def split_trees(lines: Iterable[str]) -> Iterator[TreeText | Mistake]:
    """Yield the text of each tree without looking inside; that is quick, and one tree at a time."""
    held = _Held()
    taken: set[int] = set()  # how many lines the trees so far took
    for number, line in enumerate(lines, 1):
        if held.lines and _begins_anew(held, line, line_each=taken == {1}):
            yield held.unclosed()
            held = _Held()
        if not held.lines and not line.strip():
            continue
        if not held.lines and not line.lstrip().startswith("("):
            yield Mistake(number, f"expected '(', found {shorten(line)!r}", shorten(line))
            continue
        held.add(line, number)
        if held.balance <= 0:
            taken.add(len(held.lines))
            yield TreeText("".join(held.lines), held.first)
            held = _Held()
    if held.lines:
        yield held.unclosed()


class _Held:
    """The lines of a tree that is not yet whole."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.first = 0
        self.balance = 0

    def add(self, line: str, number: int) -> None:
        self.first = self.first or number
        self.lines.append(line if line.endswith("\n") else line + "\n")
        self.balance += line.count("(") - line.count(")")

    def unclosed(self) -> Mistake:
        text = shorten(self.lines[0])
        brackets = "a bracket is" if self.balance == 1 else f"{self.balance} brackets are"
        return Mistake(self.first, f"{brackets} not closed in the tree that begins {text!r}", text)


def _begins_anew(held: _Held, line: str, *, line_each: bool) -> bool:
    """Say whether *line* begins another tree though the one before it is not whole."""
    beginning = _BEGINNING.match(line)
    first = _BEGINNING.match(held.lines[0])
    if beginning is None or first is None:
        return False
    alike = beginning[0] == first[0]
    return alike or (line_each and len(held.lines) == 1 and ")" in held.lines[0])
