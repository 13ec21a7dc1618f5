"""Penn bracket trees: parsing into flat arrays, and writing on one line.

This is the grammar in BNF; white space between the parts is optional:

    tree  ::= "(" label? node+ ")" | node
    node  ::= "(" label node+ ")" | "(" tag word ")"

A label may have function tags and an index (``NP-SBJ-1``). The outermost bracket may be missing, or without a label, or
labelled ROOT, TOP or S1; in a :class:`Tree` its label is always ``ROOT``. Traces (``-NONE-``) and nodes that contain
only traces are removed.

The module also converts typographic marks to ASCII (*straight marks*), which tokenisers, parsers and our word lists
expect, and escapes and unescapes brackets in words.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

from sentprobe.common.errors import SentprobeError
from sentprobe.common.reading import shorten_line

_APOSTROPHES = "\u2018\u2019\u201a\u201b\u2032\u2039\u203a\u02bc\u00b4\uff07"
_QUOTE_MARKS = "\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb\uff02"
_HYPHENS = "\u2010\u2011\u2012\u2212"
_DASHES = "\u2013\u2014\u2015\u2e3a\u2e3b"
_SPACES = "\u00a0\u2007\u2009\u200a\u202f"
_INVISIBLE = "\u00ad\u200b\u2060\ufeff"

_STRAIGHT: Mapping[str, str] = {
    **dict.fromkeys(_APOSTROPHES, "'"),
    **dict.fromkeys(_QUOTE_MARKS, '"'),
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
        # A mark of several characters stands for one character, so all of them point to its position.
        starts += (*range(last, position), *[position] * len(mark))
        last = match.end()
    return StraightText("".join((*parts, text[last:])), text, (*starts, *range(last, len(text)), len(text)))


def _has_marks(text: str) -> bool:
    return not text.isascii() and _MARK.search(text) is not None


def straighten_word(word: str) -> str:
    """Return a token with ASCII marks in place of typographic marks, and ``_`` in place of special spaces."""
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


_PLAIN = {"-LRB-": "(", "-RRB-": ")", "-LCB-": "{", "-RCB-": "}", "-LSB-": "[", "-RSB-": "]"}
_PLAIN |= {escape.lower(): plain for escape, plain in _PLAIN.items()}

_ESCAPES = re.compile("|".join(_PLAIN))
_QUOTES = {"``": '"', "''": '"'}
_AUXILIARIES = {
    **dict.fromkeys(("am", "'m", "are", "'re", "have", "'ve", "do"), "VBP"),
    **dict.fromkeys(("is", "'s", "has", "does"), "VBZ"),
    **dict.fromkeys(("was", "were", "had", "'d", "did"), "VBD"),
    **dict.fromkeys(("been", "done"), "VBN"),
    **dict.fromkeys(("being", "having", "doing"), "VBG"),
}
"""Penn tags of the words that Charniak's parsers tag AUX or AUXG."""


def unescape_word(word: str) -> str:
    r"""Return *word* with brackets, slashes, asterisks and double quotes in place of their escapes in treebanks.

    >>> unescape_word("-LRB-"), unescape_word("1\\/2"), unescape_word("``")
    ('(', '1/2', '"')
    """
    if word.isalnum():
        return word
    if "\\" in word:
        word = word.replace("\\/", "/").replace("\\*", "*")
    if "B-" in word or "b-" in word:
        word = _ESCAPES.sub(lambda match: _PLAIN[match[0]], word)
    return _QUOTES.get(word, word)


def escape_word(word: str) -> str:
    return word.replace("(", "-LRB-").replace(")", "-RRB-")


ROOT = "ROOT"
_OUTERMOST = frozenset(("", ROOT, "TOP", "S1"))
_TRACE = "-NONE-"

# Groups: label, word, closing bracket, anything else.
# Unicode's other spaces may stand inside a word: parsers keep "1 000" as one token.
_TOKEN_PATTERN = re.compile(
    r"\([ \t\n\r\f\v]*+([^ \t\n\r\f\v()]*+)"
    r"(?:[ \t\n\r\f\v]++([^ \t\n\r\f\v()]++)[ \t\n\r\f\v]*+\))?"
    r"|(\))|([^ \t\n\r\f\v()]++)"
)
_INDEX = re.compile(r"(?<=.)[-=]\d+")
_FUNCTIONS = re.compile(r"\A([^-=|]+)[-=|].*", re.DOTALL)  # the tag -LRB- has none


class TreeError(SentprobeError):
    """A text is not in Penn brackets, or not exactly one tree; *place* is the error's offset in characters."""

    def __init__(self, message: str, *, place: int = 0) -> None:
        super().__init__(message)
        self.place = place


@dataclass(frozen=True, slots=True)
class Tree:
    """A constituent tree, as arrays over its nodes in the order in which their brackets open.

    Node 0 is ``ROOT``. A node without children is a part-of-speech tag, with one word.

    >>> tree = read_tree("(S (NP-SBJ-1 (PRP We)) (VP (VBD slept)))")
    >>> tree.labels
    ('ROOT', 'S', 'NP-SBJ', 'PRP', 'VP', 'VBD')
    >>> tree.words, tree.tags, list(list_children(tree, 1))
    (('We', 'slept'), ('PRP', 'VBD'), [2, 4])
    """

    labels: tuple[str, ...]
    """The label of each node with its function tags, without its index: ``NP-SBJ``."""
    categories: tuple[str, ...]
    """The label of each node without function tags: ``NP``."""
    stops: tuple[int, ...]
    """For each node, the number of the first node after it and its descendants."""
    starts: tuple[int, ...]
    """For each node, the index of its first word."""
    words: tuple[str, ...]

    @property
    def tags(self) -> tuple[str, ...]:
        """The tag of each word."""
        return tuple(self.categories[node] for node, stop in enumerate(self.stops) if stop == node + 1)

    @property
    def has_function_tags(self) -> bool:
        """Whether any label has function tags, as in hand-annotated treebanks."""
        return self.labels != self.categories

    def list_functions(self, node: int) -> list[str]:
        """Return the function tags of *node*, such as ``SBJ``."""
        return self.labels[node].split("-")[1:]

    def find_end(self, node: int) -> int:
        """Return the index of the first word after the words of *node*."""
        stop = self.stops[node]
        return self.starts[stop] if stop < len(self.starts) else len(self.words)


def list_children(tree: Tree, node: int) -> list[int]:
    """Return the children of *node* in order; a part-of-speech node has none."""
    nodes, child, stop = [], node + 1, tree.stops[node]
    while child < stop:
        nodes.append(child)
        child = tree.stops[child]
    return nodes


def read_tree(text: str) -> Tree:
    """Return the tree in *text*. Raises TreeError for a syntax error, and if there is not exactly one tree."""
    trees = parse_trees(text)
    if len(trees) != 1:
        raise TreeError(f"expected one tree, found {len(trees) or 'none'}")
    return trees[0]


def parse_trees(text: str) -> list[Tree]:
    """Return the trees in *text* in order. Raises TreeError for a syntax error."""
    labels, stops, starts, words, ends = _parse_arrays(text)
    trees, first = [], 0
    for end in ends:
        word = starts[first]
        last = starts[end] if end < len(starts) else len(words)
        trees.append(
            _make_tree(
                labels[first:end],
                [stop - first for stop in stops[first:end]],
                [start - word for start in starts[first:end]],
                words[word:last],
            )
        )
        first = end
    return trees


def _parse_arrays(text: str) -> tuple[list[str], list[int], list[int], list[str], list[int]]:  # noqa: C901, PLR0912 - the inner loop
    """Return labels, stops, starts, words (see Tree) of all trees, and the index after the last node of each tree."""
    labels, stops, starts, words = list[str](), list[int](), list[int](), list[str]()
    stack: list[int] = []
    ends: list[int] = []
    emptied = -1  # number of nodes when a trace or an empty node was last removed
    for number, (label, word, close, stray_text) in enumerate(_TOKEN_PATTERN.findall(text)):
        if word:
            if label == _TRACE:
                emptied = len(labels)
                continue
            starts.append(len(words))
            labels.append(label)
            stops.append(len(labels))
            words.append(word)
        elif close:
            if not stack:
                raise _make_piece_error(text, number)
            node = stack.pop()
            count = len(labels)
            if count > node + 1:
                stops[node] = count
            # All below this node was removed, so the node is empty and is removed as well.
            elif emptied == count:
                del labels[node], stops[node], starts[node]
                emptied = node
            else:
                raise _make_piece_error(text, number)
        elif stray_text:
            raise _make_piece_error(text, number)
        elif label or not stack:
            stack.append(len(labels))
            starts.append(len(words))
            labels.append(label)
            stops.append(0)
            continue
        else:
            raise _make_piece_error(text, number)
        if not stack:
            # The tree had traces only.
            if len(labels) == (ends[-1] if ends else 0):
                raise _make_piece_error(text, number)
            ends.append(len(labels))
    if stack:
        raise TreeError(describe_unclosed(text.strip(), len(stack)))
    return labels, stops, starts, words, ends


def _make_piece_error(text: str, number: int) -> TreeError:
    """Return the error at the bracket or word with this *number*, counted from 0, in *text*."""
    piece = next(match for count, match in enumerate(_TOKEN_PATTERN.finditer(text)) if count == number)
    shown = shorten_line(piece[4] or piece[0])
    if piece[4]:
        message = f"the word {shown!r} has no tag (expected a word as '(TAG word)')"
    elif piece[3] and text.count("(", 0, piece.start()) == text.count(")", 0, piece.start()):
        message = "a closing bracket that no bracket opens"
    elif piece[3]:
        message = "a bracket with no word in it"
    else:
        message = "a bracket without a label inside a tree"
    return TreeError(message, place=piece.start())


def describe_unclosed(text: str, count: int) -> str:
    """Return an error message: *count* brackets of the tree in *text* are not closed."""
    brackets = "a bracket is" if count == 1 else f"{count} brackets are"
    return f"{brackets} not closed in the tree that begins {shorten_line(text)!r}"


_strip_index = lru_cache(10_000)(partial(_INDEX.sub, ""))
_strip_functions = lru_cache(10_000)(partial(_FUNCTIONS.sub, r"\1"))
# The size of the caches is limited, because a damaged file may have any number of labels.


def _make_tree(labels: list[str], stops: list[int], starts: list[int], words: list[str]) -> Tree:
    # With one node, the outermost label is the tag of a word, whatever its name.
    if labels[0] in _OUTERMOST and stops[0] > 1:
        labels[0] = ROOT
    else:
        labels.insert(0, ROOT)
        stops[:] = [len(labels), *(stop + 1 for stop in stops)]
        starts.insert(0, 0)
    if "AUX" in labels or "AUXG" in labels:
        for node, label in enumerate(labels):
            if label in ("AUX", "AUXG"):
                labels[node] = _AUXILIARIES.get(straighten_word(words[starts[node]]).lower(), "VB")
    names = tuple(map(_strip_index, labels))
    return Tree(
        labels=names,
        categories=tuple(map(_strip_functions, names)),
        stops=tuple(stops),
        starts=tuple(starts),
        words=tuple(map(unescape_word, words)),
    )


def write_tree(tree: Tree) -> str:
    """Return *tree* on one line in Penn brackets; round brackets in words become ``-LRB-`` and ``-RRB-``.

    >>> write_tree(read_tree("( (S (NP (PRP We)) (VP (VBD slept)) ) )"))
    '(ROOT (S (NP (PRP We)) (VP (VBD slept))))'
    """
    pieces: list[str] = []
    open_until: list[int] = []
    words = iter(tree.words)
    for node, (label, stop) in enumerate(zip(tree.labels, tree.stops, strict=True), 1):
        if stop > node:
            pieces.append(f"({label} ")
            open_until.append(stop)
            continue
        pieces.append(f"({label} {escape_word(next(words))})")
        closing = 0
        while open_until and open_until[-1] == node:
            open_until.pop()
            closing += 1
        pieces.append(")" * closing + " " if closing else " ")
    return "".join(pieces).rstrip(" ")


def iterate_nodes(tree: Tree) -> Iterator[tuple[int, int]]:
    """Yield each node with its depth: the number of edges between the node and ROOT."""
    open_until: list[int] = []
    for node, stop in enumerate(tree.stops):
        while open_until and open_until[-1] <= node:
            open_until.pop()
        yield node, len(open_until)
        open_until.append(stop)


@dataclass(frozen=True, slots=True)
class UniversalWords:
    """The words of a sentence in Universal Dependencies: tags (``NOUN|Number=Plur``), lemmas and multiword tokens."""

    tags: tuple[str, ...]
    lemmas: tuple[str, ...]
    ranges: tuple[tuple[int, int, str], ...] = ()
    """The start, end and form of each multiword token, such as ``(0, 2, "im")``; words are numbered from 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedSentence:
    """A sentence with its Penn tags, tree and dependencies, as far as known. It has tokens or a tree, or both."""

    tokens: tuple[str, ...] = ()
    written: tuple[str, ...] = ()
    """The tokens with the typography of the text, such as ``n’t``; empty if *tokens* are the same."""
    tags: tuple[str, ...] = ()
    tree: Tree | str | None = None
    """The constituents as a tree or as text in Penn brackets; None if unknown."""
    heads: tuple[int, ...] = ()
    """The number of each token's head, from 1, and 0 for the root. Empty without dependencies."""
    relations: tuple[str, ...] = ()
    """Relations of Universal Dependencies; empty if the dependencies have no labels."""
    universal: UniversalWords | None = None
    sentence_id: str | None = None
    """The ``sent_id`` of CoNLL-U, which translations share."""
    source: str = ""
    """File or corpus of the sentence."""
    place: int = 0
    """Number of the sentence in its source, from 0."""


@dataclass(frozen=True, slots=True)
class Mistake:
    """A sentence that cannot be read: its line (from 1), the reason, and the beginning of its text."""

    line: int
    message: str
    text: str = ""

    def __str__(self) -> str:
        return f"line {self.line}: {self.message}"
