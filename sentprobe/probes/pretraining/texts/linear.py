"""Trees in a line of symbols, as a decoder writes them, and back.

As in Conneau et al. (2018, table 1), which follows Vinyals et al. (2015, "Grammar as a foreign
language"): a constituent opens with its label and closes with it, and a tag stands for its word.
"""

from collections.abc import Sequence

from sentprobe.probes.syntax.trees import Tree, TreeError


def linearise(tree: Tree) -> str:
    """Return the symbols of a tree, with a space between any two, without function tags.

    >>> from sentprobe.probes.syntax.trees import read_tree
    >>> linearise(read_tree("(S (NP-SBJ (NNP Ann)) (VP (VBZ sees) (NP (DT a) (NN dog))) (. .))"))
    '(ROOT (S (NP NNP )NP (VP VBZ (NP DT NN )NP )VP . )S )ROOT'
    """
    symbols: list[str] = []
    open_until: list[tuple[int, str]] = []
    for node, (label, stop) in enumerate(zip(tree.categories, tree.stops, strict=True), 1):
        if stop == node:
            symbols.append(_symbol(label))
        else:
            symbols.append(f"({_symbol(label)}")
            open_until.append((stop, f"){_symbol(label)}"))
        while open_until and open_until[-1][0] == node:
            symbols.append(open_until.pop()[1])
    return " ".join(symbols)


def _symbol(label: str) -> str:
    return "_".join(label.split())


def tree_of(symbols: str, words: Sequence[str]) -> Tree:
    """Return the tree of a line of symbols and of its words; the inverse of :func:`linearise`.

    >>> tree_of("(ROOT (S (NP PRP )NP (VP VBD )VP )S )ROOT", ["We", "slept"]).tags
    ('PRP', 'VBD')

    Raises:
        TreeError: the symbols are no tree, or it has not as many tags as there are words.
    """
    labels: list[str] = []
    stops: list[int] = []
    starts: list[int] = []
    opened: list[int] = []
    count = 0
    for place, symbol in enumerate(symbols.split()):
        if symbol.startswith(")"):
            if not opened or labels[opened[-1]] != symbol[1:]:
                raise TreeError(f"{symbol!r} closes no constituent that is open", place=place)
            stops[opened.pop()] = len(labels)
            continue
        if labels and not opened:
            raise TreeError(f"{symbol!r} stands after the end of the tree", place=place)
        starts.append(count)
        if symbol.startswith("("):
            opened.append(len(labels))
        else:
            count += 1
        labels.append(symbol.removeprefix("("))
        stops.append(len(labels))
    if opened or count != len(words):
        what = f"{len(opened)} constituents are open" if opened else f"it has {count} tags"
        raise TreeError(f"no tree of {len(words)} words: {what}")
    return Tree(tuple(labels), tuple(labels), tuple(stops), tuple(starts), tuple(words))
