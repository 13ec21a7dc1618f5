"""Labels from Universal Dependencies 2 in any language: main clause, depth, relations, voice, coordinated clauses."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sentprobe.generator.events.event import Number
from sentprobe.probes.syntax.compound_tenses import HELPERS, get_feature, is_finite, resolve_compound_tenses
from sentprobe.probes.syntax.dependencies import DependencyError, DependencyGraph, make_graph
from sentprobe.probes.syntax.depth_and_constituents import Coordination
from sentprobe.probes.syntax.main_clauses import MainClause, Noun
from sentprobe.probes.syntax.trees import ParsedSentence, UniversalWords

PENN_TAGS = frozenset(
    (
        *("CC", "CD", "DT", "EX", "FW", "IN", "JJ", "JJR", "JJS", "LS", "MD", "NN", "NNS", "NNP", "NNPS", "PDT"),
        *("POS", "PRP", "PRP$", "RB", "RBR", "RBS", "RP", "SYM", "TO", "UH", "VB", "VBD", "VBG", "VBN", "VBP"),
        *("VBZ", "WDT", "WP", "WP$", "WRB", "#", "$", ".", ",", ":", "``", "''", "-LRB-", "-RRB-"),
        *("ADD", "AFX", "GW", "HYPH", "NFP", "XX"),
    )
)
_INFLECTED = re.compile(r"(?!PRON\b).*\|(Gender|Case)=")
_LAST_LATIN = "\u024f"
_SUBJECTS = ("nsubj", "csubj")
_NUMBERS = {"Sing": Number.SINGULAR, "Plur": Number.PLURAL, "Ptan": Number.PLURAL}
"""The number that each value of the feature Number means; Ptan marks plurals without a singular, such as *clothes*."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UniversalLabels:
    """Labels of a sentence. Indices in ``clause`` and ``coordination`` count tokens: German *zum* is one token."""

    tokens: tuple[str, ...]
    tags: tuple[str, ...]
    """The tag of each token, with compound tenses resolved; for a multiword token, its words' tags, joined by ``+``."""
    clause: MainClause
    main_tags: Sequence[str | None]
    """Tags of the main verb, subject and object; None for a missing word."""
    depth: int
    order: str
    """Relations of the root and its dependents in sentence order, such as ``nsubj root obj``, without punctuation."""
    voice: str | None
    coordination: Coordination | None
    clause_words: tuple[str, ...] | None
    """First words of both coordinated clauses, as they are written inside a sentence: *the* for *The*."""


def has_penn_tags(parsed: ParsedSentence, words: UniversalWords) -> bool:
    """Return whether a sentence is English with the Penn Treebank's tags.

    Treebanks of other languages may use the same tags. A sentence is not English if its script is not Latin, or if a
    word (except a pronoun) has gender or case.
    """
    letters = [letter for token in parsed.tokens for letter in token if letter.isalpha()]
    return (
        PENN_TAGS.issuperset(parsed.tags)
        and not any(_INFLECTED.match(tag) for tag in words.tags)
        and sum(letter > _LAST_LATIN for letter in letters) <= len(letters) / 2
    )


def find_universal_labels(parsed: ParsedSentence, words: UniversalWords, language: str = "") -> UniversalLabels:
    """Return the labels of a sentence. Raises DependencyError if its dependencies do not form a tree.

    The code of the *language*, such as ``hr``, decides which compound tenses are a past (:mod:`.compound_tenses`).
    """
    graph = make_graph(parsed.tokens, words.tags, parsed.heads, parsed.relations)
    words = replace(words, tags=resolve_compound_tenses(graph, words.lemmas, language))
    graph = replace(graph, tags=words.tags)
    depth = _compute_depth(graph)  # first, since it checks that the dependencies form a tree
    spans = list(_list_token_spans(len(parsed.tokens), words))
    token_of = [token for token, (first, end, _) in enumerate(spans) for _ in range(first, end)]
    verb = _find_verb(graph)
    nouns = [_find_noun(graph, relation) if verb is not None else None for relation in ("nsubj", "obj")]
    tokens = tuple(parsed.tokens[first] if form is None else form for first, _, form in spans)
    coordination = clause_words = None
    if clauses := _find_coordination(graph):
        coordination = _map_coordination(clauses, token_of)
    if clauses and coordination:
        starts = (clauses.first[0], clauses.second[0])
        clause_words = tuple(_lower_first(tokens[token_of[n]], words.lemmas[n], words.tags[n]) for n in starts)
    root_words = sorted((graph.root, *graph.dependents[graph.root]))
    relations = [graph.relations[node].split(":")[0] for node in root_words]
    return UniversalLabels(
        tokens=tokens,
        tags=tuple("+".join(words.tags[first:end]) for first, end, _ in spans),
        clause=MainClause(
            None if verb is None else token_of[verb],
            *(noun and Noun(token_of[noun.index], noun.number) for noun in nouns),
        ),
        main_tags=(
            None if verb is None else words.tags[verb],
            *(None if noun is None else words.tags[noun.index] for noun in nouns),
        ),
        depth=depth,
        order=" ".join(relation for relation in relations if relation != "punct"),
        voice=_find_voice(graph),
        coordination=coordination,
        clause_words=clause_words,
    )


def _list_token_spans(word_count: int, words: UniversalWords) -> Iterator[tuple[int, int, str | None]]:
    """Yield (start, end, form) for each token: the range of its words, and a multiword token's form (else None)."""
    place = 0
    for first, end, form in (*words.ranges, (word_count, word_count, "")):
        yield from ((word, word + 1, None) for word in range(place, first))
        if end > first:
            yield first, end, form
        place = end


def _compute_depth(graph: DependencyGraph) -> int:
    """Return the number of edges from the root to the deepest word. Raises DependencyError."""
    levels = [[graph.root]]
    while below := [dependent for node in levels[-1] for dependent in graph.dependents[node]]:
        levels.append(below)
    if missing := len(graph.tokens) - sum(map(len, levels)):
        raise DependencyError(f"{missing} tokens are not below the root")
    return len(levels) - 1


def _find_verb(graph: DependencyGraph) -> int | None:
    """Return the first finite auxiliary or copula of the root, else the root if it is the main verb, else None.

    The root is the main verb if it is a finite verb, a verb without a VerbForm, or a participle or infinitive with a
    subject.
    """
    helpers = (node for node in graph.find_dependents(graph.root, *HELPERS) if is_finite(graph.tags[node]))
    tag = graph.tags[graph.root]
    form, has_subject = get_feature(tag, "VerbForm"), graph.find_dependents(graph.root, *_SUBJECTS) != []
    is_verb = re.match(r"(VERB|AUX)\b", tag) and (form in {"", "Fin"} or (form in {"Part", "Inf"} and has_subject))
    return next(helpers, graph.root if is_verb else None)


def _find_noun(graph: DependencyGraph, relation: str) -> Noun | None:
    """Return the root's first dependent with *relation*. A singular noun with a conjunct gets the number None."""
    nodes = graph.find_dependents(graph.root, relation)
    if not nodes:
        return None
    is_joined = graph.find_dependents(nodes[0], "conj") != []
    number = _NUMBERS.get(get_feature(graph.tags[nodes[0]], "Number"))
    return Noun(nodes[0], None if is_joined and number is not Number.PLURAL else number)


def _find_voice(graph: DependencyGraph) -> str | None:
    """Return the main clause's voice: Pass if a dependent of the root has a relation such as ``nsubj:pass``.

    Otherwise, return the voice in the root's tag, or Act if the tag has none; None if the root is not a verb.
    """
    tag = graph.tags[graph.root]
    if any(graph.relations[node].endswith(":pass") for node in graph.dependents[graph.root]):
        return "Pass"
    return (get_feature(tag, "Voice") or "Act") if tag.startswith("VERB") else None


def _find_coordination(graph: DependencyGraph) -> Coordination | None:
    """Return the word positions of two coordinated main clauses and their conjunction; None if not found.

    The root heads the first clause, its only ``conj`` the second; the conjunction is the sentence's only ``cc``.
    Both clauses must have a verb. If one has a subject, so must the other; likewise for a finite verb.
    """
    second = graph.find_dependents(graph.root, "conj")
    relations = [relation.split(":")[0] for relation in graph.relations]
    conjunctions = [node for node, relation in enumerate(relations) if relation == "cc"]
    if len(second) != 1 or len(conjunctions) != 1 or conjunctions[0] not in graph.dependents[second[0]]:
        return None
    first_form, second_form = (_describe_clause(graph, node) for node in (graph.root, second[0]))
    if first_form != second_form or first_form is None:
        return None
    joint = conjunctions[0]
    content = [node for node, relation in enumerate(relations) if relation != "punct"]
    start, end = content[0], content[-1] + 1
    first_end = joint - 1 if joint and relations[joint - 1] == "punct" else joint
    second_words = [second[0]]
    # The list grows during the loop, so that it gets all words below the second clause's head.
    for node in second_words:
        second_words += graph.dependents[node]
    if set(content).intersection(second_words) - {joint} != {node for node in content if node > joint}:
        return None
    is_in_order = start < first_end and graph.root < joint
    return Coordination(joint, (start, first_end), (joint + 1, end)) if is_in_order else None


def _describe_clause(graph: DependencyGraph, node: int) -> tuple[bool, bool] | None:
    """Return whether a clause has a subject, and whether its verb is finite; None if it has no verb."""
    verbs = [node, *graph.find_dependents(node, *HELPERS)]
    if len(verbs) == 1 and not graph.tags[node].startswith(("VERB", "AUX")):
        return None
    return graph.find_dependents(node, *_SUBJECTS) != [], any(is_finite(graph.tags[verb]) for verb in verbs)


def _map_coordination(words: Coordination, token_of: Sequence[int]) -> Coordination | None:
    """Convert positions of words to positions of tokens; return None if a clause starts or ends inside a token."""
    bounds = (*words.first, words.conjunction, *words.second)
    if any(0 < bound < len(token_of) and token_of[bound] == token_of[bound - 1] for bound in bounds):
        return None
    first, end, joint, start, stop = (len(set(token_of[:bound])) for bound in bounds)
    return Coordination(joint, (first, end), (start, stop))


def _lower_first(token: str, lemma: str, tag: str) -> str:
    """Return a token as it is written inside a sentence: *the* for *The*, unless lemma or tag requires a capital."""
    is_lower = (lemma[:1].islower() or lemma == "_") and not tag.startswith("PROPN")
    is_uppercase = token.isupper() and sum(map(str.isalpha, token)) > 1
    return token[:1].lower() + token[1:] if is_lower and not is_uppercase else token
