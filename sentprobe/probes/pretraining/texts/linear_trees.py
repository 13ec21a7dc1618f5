"""Trees as lines of symbols, which a decoder can generate.

The format is that of Conneau et al. (2018, table 1), after Vinyals et al. (2015, "Grammar as a foreign language"). A
constituent opens and closes with its label; a tag replaces its word.
"""

from sentprobe.probes.syntax.trees import Tree


def linearise(tree: Tree) -> str:
    """Return a tree's symbols, separated by spaces, without function tags.

    >>> from sentprobe.probes.syntax.trees import read_tree
    >>> linearise(read_tree("(S (NP-SBJ (NNP Ann)) (VP (VBZ sees) (NP (DT a) (NN dog))) (. .))"))
    '(ROOT (S (NP NNP )NP (VP VBZ (NP DT NN )NP )VP . )S )ROOT'
    """
    symbols: list[str] = []
    open_constituents: list[tuple[int, str]] = []
    for node, (label, stop) in enumerate(zip(tree.categories, tree.stops, strict=True), 1):
        symbol = "_".join(label.split())
        symbols.append(symbol if stop == node else f"({symbol}")
        if stop != node:
            open_constituents.append((stop, f"){symbol}"))
        while open_constituents and open_constituents[-1][0] == node:
            symbols.append(open_constituents.pop()[1])
    return " ".join(symbols)
