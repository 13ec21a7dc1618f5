"""The main clause from a sentence's dependencies: a route that no constituent tree is needed for.

The relations of Universal Dependencies (de Marneffe et al. 2021) say what is subject and object.
Where there are no names, position and tag decide: so in NLTK's dependency treebank, converted from
the Penn Treebank by head rules other than ours: the finite verb is the root, and of conjuncts and
of a noun with its apposition the last is the head. The labels mean the first of them, so it is
looked for among the last one's dependents.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sentprobe.errors import SentprobeError
from sentprobe.generator.event import Number
from sentprobe.probes.syntax import clauses


class DependencyError(SentprobeError):
    """Dependencies that are none: a head that is no token of the sentence, or no root."""


@dataclass(frozen=True, slots=True)
class Graph:
    """Tokens with tags, and the dependents of each; tokens count from 0."""

    tokens: Sequence[str]
    tags: Sequence[str]
    relations: Sequence[str]
    below: Sequence[list[int]]
    root: int

    def find(self, node: int, wanted: frozenset[str]) -> list[int]:
        """Return the dependents of *node* whose relation, less its subtype, is *wanted*."""
        return [
            child for child in self.below[node] if self.relations[child].split(":")[0] in wanted
        ]

    def form(self, node: int) -> str:
        """Return the token in lower case."""
        return self.tokens[node].lower()


def make_graph(
    tokens: Sequence[str], tags: Sequence[str], heads: Sequence[int], relations: Sequence[str]
) -> Graph:
    """Return the dependents of each token.

    Raises:
        DependencyError: a head out of range, no root, or lists of different lengths.
    """
    count = len(tokens)
    if not len(tags) == len(heads) == len(relations) == count:
        raise DependencyError(
            f"{count} tokens with {len(tags)} tags, {len(heads)} heads and {len(relations)} "
            "relations; there must be one of each for every token"
        )
    below: list[list[int]] = [[] for _ in range(count)]
    for node, head in enumerate(heads):
        if not 0 <= head <= count:
            raise DependencyError(f"token {node + 1} has the head {head}, not one of 0..{count}")
        if head:
            below[head - 1].append(node)
    if 0 not in heads:
        raise DependencyError("no token is the root (none has the head 0)")
    return Graph(tokens, tags, relations, below, heads.index(0))


_NOMINAL_TAGS = clauses.NOUN_TAGS | {"PRP", "EX", "CD", "DT", "WP", "$", "JJR", "JJ", "RB"}
_PLAINLY_NOMINAL = _NOMINAL_TAGS - {"JJ", "RB", "JJR"}
_NEXT_VERB_TAGS = frozenset(("VB", "VBN", "VBG"))
_CLAUSE_SEPARATORS = frozenset(("CC", ":"))
_PHRASE_SEPARATORS = frozenset(("CC", ",", ":"))
_DETERMINERS = frozenset(("DT", "PRP$"))
_THERE = "EX"


def unnamed_main_clause(
    tokens: Sequence[str], tags: Sequence[str], heads: Sequence[int]
) -> clauses.MainClause:
    """Return the main clause; *heads* count tokens from 1, with 0 for the root.

    Raises:
        DependencyError: a head out of range, no root, or lists of different lengths.
    """
    graph = make_graph(tokens, tags, heads, [""] * len(tokens))
    verb = _first_verb(graph)
    if verb is None:
        return clauses.NO_CLAUSE
    before = [node for node in graph.below[verb] if node < verb]
    subject = _pick(graph, before[::-1])
    if subject is None and tags[verb] in clauses.FINITE_TAGS:
        subject = _pick(graph, _after(graph, verb))
    obj = None
    if subject is not None and tags[subject] == _THERE:
        subject = _announced(graph, verb, there=subject)
    else:
        obj = _object(graph, verb, subject=subject)
    return clauses.MainClause(verb, _unnamed_noun(graph, subject), _unnamed_noun(graph, obj))


def _announced(graph: Graph, verb: int, *, there: int) -> int:
    """Return the first nominal after the verb, which *there* announces; failing that, *there*."""
    after = _after(graph, _lexical_verb(graph, verb))
    found = _pick(graph, [node for node in after if node != there])
    return there if found is None else found


def _first_verb(graph: Graph) -> int | None:
    """Return the root, or the first of the verbs that are joined to it."""
    below = graph.below[graph.root]
    for place, node in enumerate(below):
        later = below[place + 1 :]
        joined = any(
            graph.tags[other] in _CLAUSE_SEPARATORS for other in later if other < graph.root
        )
        if joined and node < graph.root and graph.tags[node] in clauses.FINITE_TAGS:
            return node
    return graph.root if graph.tags[graph.root] in clauses.VERB_TAGS else None


def _object(graph: Graph, verb: int, *, subject: int | None) -> int | None:
    """Return the last nominal after the verb that the auxiliaries lead to, unless it says when."""
    verb = _lexical_verb(graph, verb)
    if graph.form(verb) in clauses.COPULAS:
        return None
    return _pick(graph, [node for node in _after(graph, verb)[::-1] if node != subject])


def _lexical_verb(graph: Graph, verb: int) -> int:
    """Return the verb that the auxiliaries lead to."""
    while graph.form(verb) in clauses.AUXILIARIES:
        inner = [n for n in _after(graph, verb) if graph.tags[n] in _NEXT_VERB_TAGS]
        if not inner:
            break
        verb = inner[0]
    return verb


def _after(graph: Graph, node: int) -> list[int]:
    return [child for child in graph.below[node] if child > node]


def _pick(graph: Graph, nodes: Sequence[int]) -> int | None:
    """Return the first that can head a noun phrase and does not say when."""
    for node in nodes:
        if graph.tags[node] in _PLAINLY_NOMINAL and graph.form(node) not in clauses.TIMES:
            return node
    return None


def _unnamed_noun(graph: Graph, node: int | None) -> clauses.Noun | None:
    """Return the first of what *node* is the last of: conjuncts, or a noun and its apposition."""
    if node is None:
        return None
    below = [child for child in graph.below[node] if child < node]
    for place, child in enumerate(below):
        if graph.tags[child] in _PLAINLY_NOMINAL and _ends_phrase(graph, below[place + 1 :]):
            return clauses.Noun(child, _joined_number(graph, below[place + 1 :], child))
    return clauses.Noun(node, clauses.word_number(graph.tags[node], graph.tokens[node]))


def _ends_phrase(graph: Graph, later: Sequence[int]) -> bool:
    """Say whether a new phrase, not just a modifier, begins in *later* after a conjunction."""
    for place, node in enumerate(later):
        if graph.tags[node] in _PHRASE_SEPARATORS:
            rest = [graph.tags[other] for other in later[place + 1 :]]
            return _DETERMINERS.issuperset(rest[:1]) or not _NOMINAL_TAGS.intersection(rest)
        if graph.tags[node] in _PLAINLY_NOMINAL:
            return False
    return False


def _joined_number(graph: Graph, later: Sequence[int], node: int) -> Number | None:
    joining = [graph.form(other) for other in later if graph.tags[other] == "CC"]
    if not joining:
        return clauses.word_number(graph.tags[node], graph.tokens[node])
    return Number.PLURAL if joining[0] in clauses.CONJUNCTIONS else None


_UNNAMED = frozenset(("", "_"))
_AUXILIARY = frozenset(("aux", "auxpass", "cop"))
_EXPLETIVE = frozenset(("expl",))
_SUBJECT = frozenset(("nsubj", "nsubjpass"))
_ATTRIBUTE = frozenset(("attr",))
"""What spaCy's English models call the noun that *there* announces."""
_OBJECT = frozenset(("obj", "dobj"))
_CONJUNCT = frozenset(("conj",))
_CONJUNCTION = frozenset(("cc",))


def main_clause_of_dependencies(
    tokens: Sequence[str],
    tags: Sequence[str],
    heads: Sequence[int],
    relations: Sequence[str] = (),
) -> clauses.MainClause:
    """Return the main clause; *heads* count tokens from 1, with 0 for the root.

    Raises:
        DependencyError: a head out of range, no root, or lists of different lengths.

    >>> main_clause_of_dependencies(
    ...     ("We", "saw", "stars"), ("PRP", "VBD", "NNS"), (2, 0, 2), ("nsubj", "root", "obj"))
    MainClause(verb=1, subject=Noun(index=0, number=<Number.PLURAL: 'pl'>), \
object=Noun(index=2, number=<Number.PLURAL: 'pl'>))
    """
    if _UNNAMED.issuperset(relations):
        return unnamed_main_clause(tokens, tags, heads)
    graph = make_graph(tokens, tags, heads, relations)
    verb = _verb(graph)
    if verb is None:
        return clauses.NO_CLAUSE
    return clauses.MainClause(verb, _subject(graph), _first(graph, _OBJECT))


def _verb(graph: Graph) -> int | None:
    """Return the first auxiliary or copula of the root, or the root itself if it is a verb."""
    helpers = graph.find(graph.root, _AUXILIARY)
    finite = [node for node in helpers if graph.tags[node] in clauses.FINITE_TAGS]
    if finite:
        return finite[0]
    below = (graph.tags[node] for node in graph.below[graph.root] if node < graph.root)
    if graph.tags[graph.root] == "VB" and "TO" in below:
        return None
    return graph.root if graph.tags[graph.root] in clauses.VERB_TAGS else None


def _subject(graph: Graph) -> clauses.Noun | None:
    """Return the subject: of *it is true that* it is *it*, of *there is rain* it is *rain*."""
    expletive = graph.find(graph.root, _EXPLETIVE)
    there = any(graph.tags[node] == _THERE for node in expletive)
    before = [node for node in expletive if node < graph.root]
    found = _first(graph, _SUBJECT | _ATTRIBUTE) if there else None
    return found or (_noun(graph, before[0]) if before else _first(graph, _SUBJECT))


def _first(graph: Graph, wanted: frozenset[str]) -> clauses.Noun | None:
    found = graph.find(graph.root, wanted)
    return _noun(graph, found[0]) if found else None


def _noun(graph: Graph, node: int) -> clauses.Noun:
    number = clauses.word_number(graph.tags[node], graph.tokens[node])
    conjuncts = graph.find(node, _CONJUNCT)
    if not conjuncts:
        return clauses.Noun(node, number)
    joining = [
        graph.form(word)
        for conjunct in (node, *conjuncts)
        for word in graph.find(conjunct, _CONJUNCTION)
    ]
    plural = bool(joining) and joining[0] in clauses.CONJUNCTIONS
    return clauses.Noun(node, clauses.word_number("NNS", "") if plural else None)
