"""The dependency graph of a sentence (Universal Dependencies; de Marneffe et al. 2021), and the main clause in it."""

from collections.abc import Sequence
from dataclasses import dataclass

from sentprobe.errors import SentprobeError
from sentprobe.probes.syntax import main_clauses


class DependencyError(SentprobeError):
    """Dependencies are invalid: a head is outside the sentence, no token is the root, or the heads form a circle."""


@dataclass(frozen=True, slots=True)
class DependencyGraph:
    """The dependencies of a sentence. Tokens are numbered from 0; *dependents* lists the dependents of each token."""

    tokens: Sequence[str]
    tags: Sequence[str]
    relations: Sequence[str]
    dependents: Sequence[list[int]]
    root: int

    def find_dependents(self, node: int, relations: frozenset[str]) -> list[int]:
        """Return the dependents of *node* with one of *relations*; subtypes (``nsubj:pass``) are ignored."""
        return [child for child in self.dependents[node] if self.relations[child].split(":")[0] in relations]

    def form(self, node: int) -> str:
        """Return the token *node* in lower case."""
        return self.tokens[node].lower()


def make_graph(
    tokens: Sequence[str], tags: Sequence[str], heads: Sequence[int], relations: Sequence[str]
) -> DependencyGraph:
    """Return the graph of a sentence. Raises DependencyError if the lists differ in length, or a head is wrong."""
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
    return DependencyGraph(tokens, tags, relations, below, heads.index(0))


_UNLABELLED = frozenset(("", "_"))
_AUXILIARY = frozenset(("aux", "auxpass", "cop"))
_EXPLETIVE = frozenset(("expl",))
_SUBJECT = frozenset(("nsubj", "nsubjpass"))
_ATTRIBUTE = frozenset(("attr",))
"""Relation of *rain* in *there is rain*, in spaCy's English models."""
_OBJECT = frozenset(("obj", "dobj"))
_CONJUNCT = frozenset(("conj",))
_CONJUNCTION = frozenset(("cc",))


def find_main_clause_from_dependencies(
    tokens: Sequence[str], tags: Sequence[str], heads: Sequence[int], relations: Sequence[str] = ()
) -> main_clauses.MainClause:
    """Return the main clause of a sentence, or NO_CLAUSE if no relation has a name. Raises DependencyError.

    *heads* has the number of each token's head, from 1, and 0 for the root.

    >>> find_main_clause_from_dependencies(
    ...     ("We", "saw", "stars"), ("PRP", "VBD", "NNS"), (2, 0, 2), ("nsubj", "root", "obj"))
    MainClause(verb=1, subject=Noun(index=0, number=<Number.PLURAL: 'pl'>), \
object=Noun(index=2, number=<Number.PLURAL: 'pl'>))
    """
    graph = make_graph(tokens, tags, heads, relations or [""] * len(tokens))
    verb = _find_verb(graph)
    if verb is None or _UNLABELLED.issuperset(relations):
        return main_clauses.NO_CLAUSE
    return main_clauses.MainClause(verb, _find_subject(graph), _find_first_noun(graph, _OBJECT))


def _find_verb(graph: DependencyGraph) -> int | None:
    """Return the first finite auxiliary or copula of the root, else the root if a verb without *to*, else None."""
    helpers = graph.find_dependents(graph.root, _AUXILIARY)
    finite = [node for node in helpers if graph.tags[node] in main_clauses.FINITE_TAGS]
    if finite:
        return finite[0]
    below = (graph.tags[node] for node in graph.dependents[graph.root] if node < graph.root)
    if graph.tags[graph.root] == "VB" and "TO" in below:
        return None
    return graph.root if graph.tags[graph.root] in main_clauses.VERB_TAGS else None


def _find_subject(graph: DependencyGraph) -> main_clauses.Noun | None:
    """Return the subject, such as *it* in *it is true that ...* and *rain* in *there is rain*."""
    expletive = graph.find_dependents(graph.root, _EXPLETIVE)
    is_existential = any(graph.tags[node] == "EX" for node in expletive)
    expletives_before = [node for node in expletive if node < graph.root]
    existential_subject = _find_first_noun(graph, _SUBJECT | _ATTRIBUTE) if is_existential else None
    return existential_subject or (
        _make_noun(graph, expletives_before[0]) if expletives_before else _find_first_noun(graph, _SUBJECT)
    )


def _find_first_noun(graph: DependencyGraph, relations: frozenset[str]) -> main_clauses.Noun | None:
    dependents = graph.find_dependents(graph.root, relations)
    return _make_noun(graph, dependents[0]) if dependents else None


def _make_noun(graph: DependencyGraph, node: int) -> main_clauses.Noun:
    number = main_clauses.find_word_number(graph.tags[node], graph.tokens[node])
    conjuncts = graph.find_dependents(node, _CONJUNCT)
    if not conjuncts:
        return main_clauses.Noun(node, number)
    conjunctions = [
        graph.form(word) for conjunct in (node, *conjuncts) for word in graph.find_dependents(conjunct, _CONJUNCTION)
    ]
    plural = bool(conjunctions) and conjunctions[0] in main_clauses.CONJUNCTIONS
    return main_clauses.Noun(node, main_clauses.find_word_number("NNS", "") if plural else None)
