"""The dependency graph of a sentence (Universal Dependencies; de Marneffe et al. 2021), and the main clause in it."""

from collections.abc import Sequence
from dataclasses import dataclass

from sentprobe.errors import SentprobeError
from sentprobe.generator.events.event import Number
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

    def find_dependents(self, node: int, *relations: str) -> list[int]:
        """Return the dependents of *node* with one of *relations*; subtypes such as ``nsubj:pass`` count too."""
        return [child for child in self.dependents[node] if self.relations[child].split(":")[0] in relations]


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
_SUBJECT = ("nsubj", "nsubjpass")
_ATTRIBUTE = "attr"
"""Relation of *rain* in *there is rain*, in spaCy's English models."""


def find_main_clause_from_dependencies(
    tokens: Sequence[str], tags: Sequence[str], heads: Sequence[int], relations: Sequence[str] = ()
) -> main_clauses.MainClause:
    """Return the main clause of a sentence, or NO_CLAUSE if it has no main verb, or if all relations are "" or "_".

    *heads* counts tokens from 1 and has 0 for the root; the returned clause counts from 0. Raises DependencyError.

    >>> find_main_clause_from_dependencies(
    ...     ("We", "saw", "stars"), ("PRP", "VBD", "NNS"), (2, 0, 2), ("nsubj", "root", "obj"))
    MainClause(verb=1, subject=Noun(index=0, number=<Number.PLURAL: 'pl'>), \
object=Noun(index=2, number=<Number.PLURAL: 'pl'>))
    """
    graph = make_graph(tokens, tags, heads, relations or [""] * len(tokens))
    verb = _find_verb(graph)
    if verb is None or _UNLABELLED.issuperset(relations):
        return main_clauses.NO_CLAUSE
    return main_clauses.MainClause(verb, _find_subject(graph), _find_first_noun(graph, "obj", "dobj"))


def _find_verb(graph: DependencyGraph) -> int | None:
    """Return the root's first finite auxiliary or copula, else the root if it is a verb without *to*, else None."""
    for node in graph.find_dependents(graph.root, "aux", "auxpass", "cop"):
        if graph.tags[node] in main_clauses.FINITE_TAGS:
            return node
    below = (graph.tags[node] for node in graph.dependents[graph.root] if node < graph.root)
    if graph.tags[graph.root] == "VB" and "TO" in below:
        return None
    return graph.root if graph.tags[graph.root] in main_clauses.VERB_TAGS else None


def _find_subject(graph: DependencyGraph) -> main_clauses.Noun | None:
    """Return the subject, such as *it* in *it is true that ...* and *rain* in *there is rain*."""
    expletives = graph.find_dependents(graph.root, "expl")
    is_existential = any(graph.tags[node] == "EX" for node in expletives)
    if is_existential and (subject := _find_first_noun(graph, *_SUBJECT, _ATTRIBUTE)):
        return subject
    if expletives and expletives[0] < graph.root:
        return _make_noun(graph, expletives[0])
    return _find_first_noun(graph, *_SUBJECT)


def _find_first_noun(graph: DependencyGraph, *relations: str) -> main_clauses.Noun | None:
    dependents = graph.find_dependents(graph.root, *relations)
    return _make_noun(graph, dependents[0]) if dependents else None


def _make_noun(graph: DependencyGraph, node: int) -> main_clauses.Noun:
    number = main_clauses.find_word_number(graph.tags[node], graph.tokens[node])
    if conjuncts := graph.find_dependents(node, "conj"):
        conjunctions = [word for noun in (node, *conjuncts) for word in graph.find_dependents(noun, "cc")]
        is_plural = conjunctions and graph.tokens[conjunctions[0]].lower() in main_clauses.CONJUNCTIONS
        number = Number.PLURAL if is_plural else None
    return main_clauses.Noun(node, number)
