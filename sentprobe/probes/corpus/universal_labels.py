"""Labels from Universal Dependencies 2 (de Marneffe et al. 2021) in any language.

The labels are main clause, depth, relations, voice and coordinated clauses; a graph with Penn tags gives the main
clause only.

UD describes single words: in Croatian *je kupio* ("bought"), the auxiliary is in the present. COMPOUND_TENSES says of
each language which such pairs form a past or a future. A perfect in any other language has the tense of its auxiliary.
The table follows the pages of the languages, ``https://universaldependencies.org/CODE/``, and their pages on Tense.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from sentprobe.common.errors import SentprobeError
from sentprobe.generator.events.event import Number
from sentprobe.probes.corpus.main_clauses import (
    CONJUNCTIONS,
    FINITE_TAGS,
    NO_CLAUSE,
    VERB_TAGS,
    MainClause,
    Noun,
    find_word_number,
)
from sentprobe.probes.corpus.tree_files import Coordination
from sentprobe.probes.corpus.trees import ParsedSentence, UniversalWords


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
) -> MainClause:
    """Return the main clause of a sentence, or NO_CLAUSE if it has no main verb, or if all relations are "" or "_".

    *heads* counts tokens from 1 and has 0 for the root; the returned clause counts from 0. Raises DependencyError.

    >>> find_main_clause_from_dependencies(
    ...     ("We", "saw", "stars"), ("PRP", "VBD", "NNS"), (2, 0, 2), ("nsubj", "root", "obj"))
    MainClause(verb=1, subject=Noun(index=0, number=<Number.PLURAL: 'pl'>), \
object=Noun(index=2, number=<Number.PLURAL: 'pl'>))
    """
    graph = make_graph(tokens, tags, heads, relations or [""] * len(tokens))
    verb = _find_penn_verb(graph)
    if verb is None or _UNLABELLED.issuperset(relations):
        return NO_CLAUSE
    return MainClause(verb, _find_subject(graph), _find_first_noun(graph, "obj", "dobj"))


def _find_penn_verb(graph: DependencyGraph) -> int | None:
    """Return the root's first finite auxiliary or copula, else the root if it is a verb without *to*, else None."""
    for node in graph.find_dependents(graph.root, "aux", "auxpass", "cop"):
        if graph.tags[node] in FINITE_TAGS:
            return node
    below = (graph.tags[node] for node in graph.dependents[graph.root] if node < graph.root)
    if graph.tags[graph.root] == "VB" and "TO" in below:
        return None
    return graph.root if graph.tags[graph.root] in VERB_TAGS else None


def _find_subject(graph: DependencyGraph) -> Noun | None:
    """Return the subject, such as *it* in *it is true that ...* and *rain* in *there is rain*."""
    expletives = graph.find_dependents(graph.root, "expl")
    is_existential = any(graph.tags[node] == "EX" for node in expletives)
    if is_existential and (subject := _find_first_noun(graph, *_SUBJECT, _ATTRIBUTE)):
        return subject
    if expletives and expletives[0] < graph.root:
        return _make_noun(graph, expletives[0])
    return _find_first_noun(graph, *_SUBJECT)


def _find_first_noun(graph: DependencyGraph, *relations: str) -> Noun | None:
    dependents = graph.find_dependents(graph.root, *relations)
    return _make_noun(graph, dependents[0]) if dependents else None


def _make_noun(graph: DependencyGraph, node: int) -> Noun:
    number = find_word_number(graph.tags[node], graph.tokens[node])
    if conjuncts := graph.find_dependents(node, "conj"):
        conjunctions = [word for noun in (node, *conjuncts) for word in graph.find_dependents(noun, "cc")]
        is_plural = conjunctions and graph.tokens[conjunctions[0]].lower() in CONJUNCTIONS
        number = Number.PLURAL if is_plural else None
    return Noun(node, number)


HELPERS = ("aux", "cop")
_CONDITIONAL = "aux:cnd"
"""Relation of the Polish conditional particle *by*, which has no features in the treebank PDB."""
_UNKNOWN_LEMMA = "_"


class CompoundTense(NamedTuple):
    """The tense of a verb in a certain form with the present of certain auxiliaries."""

    tense: str
    """The value of the feature Tense: Past or Fut."""
    auxiliaries: tuple[str, ...]
    """Lemmas of the auxiliaries."""
    form: str
    """The verb's VerbForm: Part (never with Voice=Pass) or Inf."""
    stems: tuple[str, ...] = ("",)
    """Beginnings of the auxiliary's form; the first rule that fits decides."""


_BE = ("biti", "jesam", "бити", "јесам")
_CROATIAN = (
    CompoundTense("Fut", _BE, "Part", stems=("bud", "буд")),  # budem kupio: the future of subordinate clauses
    CompoundTense("Past", _BE, "Part"),
    CompoundTense("Fut", ("htjeti", "hteti", "ht(j)eti", "хтети"), "Inf"),
)
_PAST_WITH_BE = "být", "bývat", "byť", "bývať", "być", "bywać"

COMPOUND_TENSES: Mapping[str, tuple[CompoundTense, ...]] = {
    "ca": (CompoundTense("Past", ("anar",), "Inf"),),
    "cs": (CompoundTense("Past", _PAST_WITH_BE, "Part"),),
    "hr": _CROATIAN,
    "pl": (CompoundTense("Past", _PAST_WITH_BE, "Part"),),
    "sk": (CompoundTense("Past", _PAST_WITH_BE, "Part"),),
    "sl": (CompoundTense("Past", ("biti",), "Part"),),
    "sr": _CROATIAN,
    **dict.fromkeys(("bg", "de", "en", "fr", "hsb", "it", "mk"), ()),
}
"""Compound tenses by language code. A language with an empty row also has a past of one word; its perfect (*hat
gesehen*, *a vu*, *ha visto*) keeps the tense of the auxiliary. A code without a row is treated in the same way."""


def get_feature(tag: str, name: str) -> str:
    """Return the value of the feature *name* in a word's tag; empty if the tag has no such feature."""
    return next((part[len(name) + 1 :] for part in tag.split("|") if part.startswith(f"{name}=")), "")


def is_finite(tag: str) -> bool:
    """Return whether a verb is finite: its tag has VerbForm=Fin, or it has no VerbForm but a Mood or a Person."""
    form = get_feature(tag, "VerbForm")
    return form == "Fin" or (not form and bool(get_feature(tag, "Mood") or get_feature(tag, "Person")))


def resolve_compound_tenses(graph: DependencyGraph, lemmas: Sequence[str], language: str) -> tuple[str, ...]:
    """Return the words' tags, in which the verb of a compound tense is finite, and its auxiliary is not.

    The verb gets the Tense of the compound, and the auxiliary's Mood and Person; it keeps its other features. A past
    participle without an auxiliary (Czech *koupil*) is a finite past.
    """
    rules, tags = COMPOUND_TENSES.get(language, ()), list(graph.tags)
    for node in range(len(tags)) if rules else ():
        helpers = graph.find_dependents(node, *HELPERS)
        for verb in (node, *helpers):
            rule, finite = _find_rule(graph, lemmas, rules, verb, [helper for helper in helpers if helper != verb])
            if rule is not None:
                moods = [get_feature(graph.tags[helper], "Mood") for helper in helpers]
                is_conditional = "Cnd" in moods or any(graph.relations[word] == _CONDITIONAL for word in helpers)
                auxiliary = "" if finite is None else graph.tags[finite]
                # A present auxiliary gets the tense of the rule (*je kupio*); others keep their own (*bo kupil*).
                tense = get_feature(auxiliary, "Tense")
                features = {
                    "Mood": "Cnd" if is_conditional else get_feature(auxiliary, "Mood") or "Ind",
                    "Person": get_feature(auxiliary, "Person") or get_feature(graph.tags[verb], "Person"),
                    "Tense": rule.tense if tense in {"", "Pres"} else tense,
                    "VerbForm": "Fin",
                }
                tags[verb] = _set_features(graph.tags[verb], features)
                if finite is not None:
                    tags[finite] = _set_features(auxiliary, dict.fromkeys(features, ""))
                break
    return tuple(tags)


def _find_rule(
    graph: DependencyGraph, lemmas: Sequence[str], rules: Sequence[CompoundTense], verb: int, helpers: Sequence[int]
) -> tuple[CompoundTense | None, int | None]:
    """Return the rule for *verb* and its finite auxiliary among *helpers*; (None, None) if no rule fits.

    Without a finite auxiliary, the rule for the past fits a participle that has Tense=Past.
    """
    finite = next((helper for helper in helpers if is_finite(graph.tags[helper])), None)
    for rule in rules:
        if finite is None:
            fits = rule.tense == get_feature(graph.tags[verb], "Tense")
        else:
            is_known = lemmas[finite] in (*rule.auxiliaries, _UNKNOWN_LEMMA)
            is_conditional = get_feature(graph.tags[finite], "Mood") == "Cnd"
            fits = (is_known or is_conditional) and graph.tokens[finite].lower().startswith(rule.stems)
        if fits and _has_form(graph.tags[verb], rule.form):
            return rule, finite
    return None, None


def _has_form(tag: str, form: str) -> bool:
    """Return whether a word is a verb in *form*. Polish treebanks call the participle of the past finite."""
    verb_form = get_feature(tag, "VerbForm")
    is_past = verb_form == "Fin" and get_feature(tag, "Tense") == "Past" and get_feature(tag, "Gender") != ""
    is_verb = tag.startswith(("VERB", "AUX")) and get_feature(tag, "Voice") != "Pass"
    return is_verb and (verb_form == form or (form == "Part" and is_past))


def _set_features(tag: str, features: Mapping[str, str]) -> str:
    """Return *tag* with the given values of features; an empty value removes the feature."""
    upos, *parts = tag.split("|")
    values = {**dict(part.split("=", 1) for part in parts), **features}
    return "|".join((upos, *(f"{name}={values[name]}" for name in sorted(values, key=str.lower) if values[name])))


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


def find_universal_labels(parsed: ParsedSentence, words: UniversalWords, language: str) -> UniversalLabels:
    """Return the labels of a sentence. Raises DependencyError if its dependencies do not form a tree.

    The code of the *language*, such as ``hr``, decides which compound tenses are a past (COMPOUND_TENSES).
    """
    graph = make_graph(parsed.tokens, words.tags, parsed.heads, parsed.relations)
    words = replace(words, tags=resolve_compound_tenses(graph, words.lemmas, language))
    graph = replace(graph, tags=words.tags)
    depth = _compute_depth(graph)  # first, since it checks that the dependencies form a tree
    spans = list(_list_token_spans(len(parsed.tokens), words))
    token_of = [token for token, (first, end, _) in enumerate(spans) for _ in range(first, end)]
    verb = _find_universal_verb(graph)
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


def _find_universal_verb(graph: DependencyGraph) -> int | None:
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
