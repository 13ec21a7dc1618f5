"""The main clause from dependencies without relations: an independent check of the labels of trees.

Position and tags decide, as for NLTK's dependency treebank. That treebank was converted from the Penn Treebank by other
head rules: the root is the finite verb, and the head of a phrase is its last conjunct or its apposition. The labels
refer to the first conjunct, which is searched among the dependents of the last conjunct.
"""

from collections.abc import Sequence

from sentprobe.generator.events.event import Number
from sentprobe.probes.corpus import main_clauses, universal_labels
from sentprobe.probes.corpus.universal_labels import DependencyGraph

_NOMINAL_TAGS = main_clauses.NOUN_TAGS | {"PRP", "EX", "CD", "DT", "WP", "$", "JJR", "JJ", "RB"}
_UNAMBIGUOUS_NOMINAL_TAGS = _NOMINAL_TAGS - {"JJ", "RB", "JJR"}
_NEXT_VERB_TAGS = frozenset(("VB", "VBN", "VBG"))
_CLAUSE_SEPARATORS = frozenset(("CC", ":"))
_PHRASE_SEPARATORS = frozenset(("CC", ",", ":"))
_DETERMINERS = frozenset(("DT", "PRP$"))
_EXISTENTIAL_TAG = "EX"


def find_unlabelled_main_clause(
    tokens: Sequence[str], tags: Sequence[str], heads: Sequence[int]
) -> main_clauses.MainClause:
    """Return the main clause; *heads* count tokens from 1, with 0 for the root. Raises DependencyError."""
    graph = universal_labels.make_graph(tokens, tags, heads, [""] * len(tokens))
    verb = _find_first_verb(graph)
    if verb is None:
        return main_clauses.NO_CLAUSE
    before = [node for node in graph.dependents[verb] if node < verb]
    subject = _find_nominal(graph, before[::-1])
    if subject is None and tags[verb] in main_clauses.FINITE_TAGS:
        subject = _find_nominal(graph, _list_dependents_after(graph, verb))
    obj = None
    if subject is not None and tags[subject] == _EXISTENTIAL_TAG:
        subject = _find_existential_subject(graph, verb, existential=subject)
    else:
        obj = _find_object(graph, verb, subject=subject)
    return main_clauses.MainClause(verb, _find_unlabelled_head(graph, subject), _find_unlabelled_head(graph, obj))


def _find_existential_subject(graph: DependencyGraph, verb: int, *, existential: int) -> int:
    """Return the first nominal after the verb, which *there* announces, or *there* itself."""
    after = _list_dependents_after(graph, _find_lexical_verb(graph, verb))
    subject = _find_nominal(graph, [node for node in after if node != existential])
    return existential if subject is None else subject


def _find_first_verb(graph: DependencyGraph) -> int | None:
    """Return the root, or the first of the verbs coordinated with it."""
    below = graph.dependents[graph.root]
    for place, node in enumerate(below):
        later = below[place + 1 :]
        is_coordinated = any(graph.tags[sibling] in _CLAUSE_SEPARATORS for sibling in later if sibling < graph.root)
        if is_coordinated and node < graph.root and graph.tags[node] in main_clauses.FINITE_TAGS:
            return node
    return graph.root if graph.tags[graph.root] in main_clauses.VERB_TAGS else None


def _find_object(graph: DependencyGraph, verb: int, *, subject: int | None) -> int | None:
    """Return the last non-temporal nominal after the lexical verb."""
    verb = _find_lexical_verb(graph, verb)
    if graph.tokens[verb].lower() in main_clauses.COPULAS:
        return None
    return _find_nominal(graph, [node for node in _list_dependents_after(graph, verb)[::-1] if node != subject])


def _find_lexical_verb(graph: DependencyGraph, verb: int) -> int:
    while graph.tokens[verb].lower() in main_clauses.AUXILIARIES:
        inner = [n for n in _list_dependents_after(graph, verb) if graph.tags[n] in _NEXT_VERB_TAGS]
        if not inner:
            break
        verb = inner[0]
    return verb


def _list_dependents_after(graph: DependencyGraph, node: int) -> list[int]:
    return [child for child in graph.dependents[node] if child > node]


def _find_nominal(graph: DependencyGraph, nodes: Sequence[int]) -> int | None:
    """Return the first node that can head a noun phrase and is not temporal."""
    for node in nodes:
        if graph.tags[node] in _UNAMBIGUOUS_NOMINAL_TAGS and graph.tokens[node].lower() not in main_clauses.TIMES:
            return node
    return None


def _find_unlabelled_head(graph: DependencyGraph, node: int | None) -> main_clauses.Noun | None:
    """Return the first conjunct, or the noun before an apposition, if *node* is the last."""
    if node is None:
        return None
    below = [child for child in graph.dependents[node] if child < node]
    for place, child in enumerate(below):
        if graph.tags[child] in _UNAMBIGUOUS_NOMINAL_TAGS and _ends_phrase(graph, below[place + 1 :]):
            return main_clauses.Noun(child, _find_coordinated_number(graph, below[place + 1 :], child))
    return main_clauses.Noun(node, main_clauses.find_word_number(graph.tags[node], graph.tokens[node]))


def _ends_phrase(graph: DependencyGraph, later: Sequence[int]) -> bool:
    """Return whether *later* has a conjunction, comma or colon before a new phrase, so that the current phrase ends."""
    for place, node in enumerate(later):
        if graph.tags[node] in _PHRASE_SEPARATORS:
            later_tags = [graph.tags[later_node] for later_node in later[place + 1 :]]
            return _DETERMINERS.issuperset(later_tags[:1]) or not _NOMINAL_TAGS.intersection(later_tags)
        if graph.tags[node] in _UNAMBIGUOUS_NOMINAL_TAGS:
            return False
    return False


def _find_coordinated_number(graph: DependencyGraph, later: Sequence[int], node: int) -> Number | None:
    conjunctions = [graph.tokens[later_node].lower() for later_node in later if graph.tags[later_node] == "CC"]
    if not conjunctions:
        return main_clauses.find_word_number(graph.tags[node], graph.tokens[node])
    return Number.PLURAL if conjunctions[0] in main_clauses.CONJUNCTIONS else None
