"""From a parsed sentence to its row of the table."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

from sentprobe.errors import SentprobeError
from sentprobe.probes.syntax.clauses import NO_CLAUSE, MainClause, Noun, main_clause
from sentprobe.probes.syntax.dependencies import DependencyError, main_clause_of_dependencies
from sentprobe.probes.syntax.labels import Coordination, coordination, depth, top_constituents
from sentprobe.probes.syntax.trees import Parsed, Tree, TreeError, plain_word, read_tree, write_tree
from sentprobe.probes.syntax.typography import straight_word

MAX_TOKENS = 32_767
"""The longest sentence and the deepest tree: what the columns of small numbers hold."""


class RowError(SentprobeError):
    """A parsed sentence that contradicts itself, or that no row can hold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What the tasks need of one sentence. Tokens count from 0.

    What needs constituents is None without a tree; the main clause also without dependencies.
    """

    source: str
    place: int
    text: str
    """The tokens joined by one space."""
    digest: str
    """The first 16 hexadecimal digits of the sha256 of the text."""
    tokens: tuple[str, ...]
    tags: tuple[str, ...]
    tree: str | None
    """In Penn brackets, under ROOT, with function tags and without traces."""
    depth: int | None
    top: str | None
    """The categories of the top constituents, joined by one space."""
    verb: int | None
    subject: Noun | None
    object: Noun | None
    clauses: Coordination | None

    def tag(self, token: int) -> str:
        """Return the tag of a token."""
        return self.tags[token]

    def form(self, token: int) -> str:
        """Return a token."""
        return self.tokens[token]


def analyse(parsed: Parsed) -> Row:
    """Return the row of *parsed*; a pure function.

    Raises:
        RowError: the tree is broken or has other words than the tokens, tokens and tags differ in
            number, dependencies lead nowhere, or there are no tokens or too many.

    >>> row = analyse(Parsed(tree="(S (NP (NNS men)) (VP (VBD slept)) (. .))"))
    >>> row.text, row.top, row.depth, row.tags[row.verb], row.subject.number.value
    ('men slept .', 'NP VP .', 4, 'VBD', 'pl')
    """
    try:
        if parsed.tree is not None:
            return _row_of_tree(parsed, parsed.tree)
        clause = NO_CLAUSE
        if parsed.heads:
            clause = main_clause_of_dependencies(
                _straight(parsed.tokens), parsed.tags, parsed.heads, parsed.relations
            )
    except (TreeError, DependencyError) as error:
        raise RowError(str(error)) from error
    if parsed.tags and len(parsed.tags) != len(parsed.tokens):
        raise RowError(f"{len(parsed.tokens)} tokens with {len(parsed.tags)} tags")
    tokens = _written(parsed, tuple(map(plain_word, parsed.tokens)))
    return _row(parsed, tokens, parsed.tags, tree=None, clause=clause)


def _row_of_tree(parsed: Parsed, tree: Tree | str) -> Row:
    if isinstance(tree, str):
        tree = read_tree(tree)
    if parsed.tokens and len(parsed.tokens) != len(tree.words):
        raise RowError(f"{len(parsed.tokens)} tokens, but the tree has {len(tree.words)} words")
    clause = main_clause(replace(tree, words=_straight(tree.words)))
    tree = replace(tree, words=_written(parsed, tree.words))
    return _row(parsed, tree.words, tree.tags, tree=tree, clause=clause)


def _straight(words: Sequence[str]) -> tuple[str, ...]:
    """Return the words as the lists of words know them."""
    return tuple(map(straight_word, words))


def _written(parsed: Parsed, words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the words as the text has them, unless the parser made more or fewer of them."""
    if len(parsed.written) != len(words):
        return words
    return tuple(map(plain_word, parsed.written))


def _row(
    parsed: Parsed,
    tokens: tuple[str, ...],
    tags: tuple[str, ...],
    *,
    tree: Tree | None,
    clause: MainClause,
) -> Row:
    tokens, text = _spaced(tokens)
    top = None if tree is None else top_constituents(tree)
    edges = None if tree is None else depth(tree)
    if edges is not None and edges > MAX_TOKENS:
        raise RowError(f"a tree of depth {edges}; a row holds at most {MAX_TOKENS}")
    return Row(
        source=parsed.source,
        place=parsed.place,
        text=text,
        digest=sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16],
        tokens=tokens,
        tags=tags,
        tree=None if tree is None else write_tree(tree),
        depth=edges,
        top=None if top is None else " ".join(top),
        verb=clause.verb,
        subject=clause.subject,
        object=clause.object,
        clauses=None if tree is None else coordination(tree),
    )


def _spaced(tokens: tuple[str, ...]) -> tuple[tuple[str, ...], str]:
    """Return the tokens and their text; white space inside a token becomes ``_``.

    Raises:
        RowError: there are no tokens, too many, or one that is only white space.
    """
    if not 0 < len(tokens) <= MAX_TOKENS:
        raise RowError(f"a sentence of {len(tokens)} tokens; a row holds 1 to {MAX_TOKENS}")
    text = " ".join(tokens)
    if len(text.split()) == len(tokens) and text.split() == list(tokens):
        return tokens, text
    tokens = tuple("_".join(token.split()) for token in tokens)
    if "" in tokens:
        raise RowError(f"token {tokens.index('') + 1} of {len(tokens)} is empty")
    return tokens, " ".join(tokens)
