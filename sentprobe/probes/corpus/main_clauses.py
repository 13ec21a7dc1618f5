"""The main clause of a tree: its finite verb and the head nouns of its subject and object (``docs/corpus.md``).

Function tags (SBJ, TMP, PRD) decide which phrases are subject and object. In trees without function tags, positions and
the word lists below decide. The head rules for NP are those of Collins, with five changes: 's is never the head;
pronouns and existential *there* rank below nouns; NML and NX rank with nouns; "which men" has the head *men*; the
conjunct before a conjunction is the head.
"""

from collections.abc import Sequence, Set
from dataclasses import dataclass

from sentprobe.generator.events.event import Number
from sentprobe.probes.corpus.trees import Tree, list_children

VERB_TAGS = frozenset(("VB", "VBD", "VBG", "VBN", "VBP", "VBZ", "MD"))
FINITE_TAGS = frozenset(("VBD", "VBP", "VBZ", "MD"))
NOUN_TAGS = frozenset(("NN", "NNS", "NNP", "NNPS"))
BE = frozenset(("am", "is", "are", "was", "were", "be", "been", "being", "'m", "'re", "'s", "ai"))
AUXILIARIES = BE | frozenset(
    (
        *("have", "has", "had", "having", "'ve", "'d", "do", "does", "did", "wo", "ca", "sha"),
        *("get", "gets", "got", "gotten", "getting", "will", "'ll", "would", "can", "could"),
        *("may", "might", "shall", "should", "must", "need", "dare", "ought"),
    )
)
"""Auxiliaries that may precede another verb phrase, with their contractions."""

COPULAS = BE | frozenset(
    (
        *("become", "becomes", "became", "becoming", "remain", "remains", "remained", "remaining"),
        *("seem", "seems", "seemed", "seeming"),
    )
)
"""Verbs after which a noun phrase is a predicate, not an object."""

TIMES = frozenset(
    (
        *("today", "tomorrow", "yesterday", "tonight", "monday", "tuesday", "wednesday", "thursday"),
        *("friday", "saturday", "sunday", "january", "february", "march", "april", "may", "june"),
        *("july", "august", "september", "october", "november", "december", "jan.", "feb.", "aug."),
        *("sept.", "oct.", "nov.", "dec.", "second", "seconds", "minute", "minutes", "hour"),
        *("hours", "day", "days", "week", "weeks", "month", "months", "year", "years", "decade"),
        *("decades", "century", "centuries", "morning", "mornings", "afternoon", "afternoons"),
        *("evening", "evenings", "night", "nights", "weekend", "weekends", "spring", "summer"),
        *("autumn", "winter", "moment", "moments", "time", "times", "while"),
    )
)
"""Nouns that may be the head of a temporal noun phrase."""

TIME_DETERMINERS = frozenset(("this", "that", "last", "next", "every", "each", "one", "all", "some"))
"""Words that may begin a temporal noun phrase, such as *last* in *last week*."""

REFLEXIVES = frozenset(
    (*("myself", "yourself", "himself", "herself", "itself", "oneself", "ourselves"), *("yourselves", "themselves"))
)

SINGULAR = frozenset(
    (
        *("i", "he", "she", "it", "me", "him", "this", "that", "mine", "myself", "yourself"),
        *("himself", "herself", "itself", "someone", "somebody", "something", "everyone"),
        *("everybody", "everything", "nobody", "nothing", "anyone", "anybody", "anything"),
    )
)
PLURAL = frozenset(("we", "they", "us", "them", "these", "those", "ourselves", "yourselves", "themselves"))
"""Plural pronouns and determiners; SINGULAR lists the singular ones."""
CONJUNCTIONS = frozenset(("and", "&"))
"""Conjunctions that make a coordination plural."""
NOUN_PHRASES = frozenset(("NP", "NX", "NML", "NAC", "WHNP"))
_PRONOUNS = frozenset(("PRP", "EX", "WP"))
_CONJUNCTION_CATEGORIES = frozenset(("CC", "CONJP"))
_CONJUNCTS = NOUN_PHRASES | NOUN_TAGS | _PRONOUNS | {"CD", "DT", "QP"}
_SEPARATORS = frozenset((",", ":"))
_LEFT, _RIGHT = 1, -1

_HEAD_RULES: tuple[tuple[int, frozenset[str]], ...] = (
    (_RIGHT, NOUN_TAGS | {"NX", "NML", "JJR"}),
    (_LEFT, frozenset(("NP", "WHNP"))),
    (_RIGHT, _PRONOUNS),
    (_RIGHT, frozenset(("$", "ADJP", "PRN"))),
    (_RIGHT, frozenset(("CD",))),
    (_RIGHT, frozenset(("JJ", "JJS", "RB", "QP", "WDT", "DT"))),
)
"""Rules for the head of a noun phrase: search direction and categories. The first rule that finds a child decides."""

_TAG_NUMBERS = {"NN": Number.SINGULAR, "NNP": Number.SINGULAR, "NNS": Number.PLURAL, "NNPS": Number.PLURAL}


@dataclass(frozen=True, slots=True)
class Noun:
    """The head of a subject or object, and the number of the phrase: None for "a or b" or an ambiguous form (*you*)."""

    index: int
    number: Number | None


def find_head_noun(tree: Tree, node: int) -> Noun:
    """Return the head of the noun phrase *node*, with the phrase's grammatical number (None if ambiguous)."""
    conjunction = ""
    while (below := list_children(tree, node)) != []:
        categories = [tree.categories[child] for child in below]
        place = _find_head(categories)
        conjunction = conjunction or _find_conjunction(tree, below, categories, place)
        node = below[place]
    word = tree.starts[node]
    if conjunction:
        return Noun(word, Number.PLURAL if conjunction in CONJUNCTIONS else None)
    return Noun(word, find_word_number(tree.categories[node], tree.words[word]))


def _find_head(categories: Sequence[str]) -> int:
    order = range(len(categories))
    for direction, rule_categories in _HEAD_RULES:
        for place in order[::direction]:
            if categories[place] in rule_categories:
                return _find_first_conjunct(categories, place)
    return len(categories) - 1


def _find_first_conjunct(categories: Sequence[str], place: int) -> int:
    """If a conjunction stands right before *place*, return the first conjunct's position; otherwise, return *place*."""
    if place < 2 or categories[place - 1] not in _CONJUNCTION_CATEGORIES:
        return place
    before = place - 2
    while before > 0 and categories[before] in _SEPARATORS:
        before -= 1
    return before if categories[before] in _CONJUNCTS else place


def _find_conjunction(tree: Tree, below: Sequence[int], categories: Sequence[str], place: int) -> str:
    """Return the conjunction, such as "and", after the head of a noun phrase, or "". The head is at *place*."""
    for position in range(place + 1, len(below) - 1):
        if categories[position] in _CONJUNCTION_CATEGORIES and _CONJUNCTS.intersection(categories[position + 1 :]):
            return tree.words[tree.starts[below[position]]].lower()
    return ""


def find_word_number(tag: str, word: str) -> Number | None:
    """Return the number of a noun or pronoun by its tag or form; None if neither shows the number.

    >>> find_word_number("NNS", "lawyers"), find_word_number("PRP", "you")
    (<Number.PLURAL: 'pl'>, None)
    """
    if tag in _TAG_NUMBERS:
        return _TAG_NUMBERS[tag]
    if word.lower() in SINGULAR:
        return Number.SINGULAR
    return Number.PLURAL if word.lower() in PLURAL else None


_CLAUSES = frozenset(("S", "SINV", "SQ", "SBARQ"))
_INVERTED = FINITE_TAGS | {"SINV", "SQ"}
"""If a clause, or the clause's child with the verb, has one of these categories, the subject may follow the verb."""
_NO_OBJECT = frozenset(("TMP", "ADV", "PRD", "LOC", "DIR", "MNR", "EXT", "VOC", "PRP", "DTV", "BNF", "SBJ", "LGS"))
"""Function tags of noun phrases after a verb that are not its direct object."""
_NO_SUBJECT = frozenset(("TMP", "ADV", "VOC", "TPC", "LOC"))
"""Function tags of noun phrases before a verb that are not its subject."""
_PREDICATE = VERB_TAGS | {"VP"}
_STATEMENT_TAGS = FINITE_TAGS | {"VB"}
_VERB_OR_TO = VERB_TAGS | {"VP", "TO"}
_NEXT_VERB = VERB_TAGS | {"CC"}


@dataclass(frozen=True, slots=True)
class MainClause:
    """The main clause: the index of its first auxiliary or else its verb, and the heads of its subject and object."""

    verb: int | None = None
    subject: Noun | None = None
    object: Noun | None = None


NO_CLAUSE = MainClause()


@dataclass(frozen=True, slots=True)
class _Clause:
    """Nodes of a clause: ``node`` is the clause itself, ``below`` are its children, and ``verb`` is its verb.

    ``predicate`` is the child that is or contains the verb. ``host`` is the parent of the verb.
    """

    node: int
    below: Sequence[int]
    predicate: int
    verb: int
    host: int
    question: int | None
    """The question phrase (WHNP) before the clause, or None."""


def find_main_clause(tree: Tree) -> MainClause:
    """Return the main clause of *tree*. If the tree has no clause, as in a fragment, all fields are None.

    The first of several coordinated clauses or verb phrases is the main clause. In a quotation with *he said*, the main
    clause is that of *said*.

    >>> from sentprobe.probes.corpus.trees import read_tree
    >>> find_main_clause(read_tree(
    ...     "(S (NP (NNS men)) (VP (VBP have) (VP (VBN seen) (NP (DT the) (NN sea)))))"))
    MainClause(verb=1, subject=Noun(index=0, number=<Number.PLURAL: 'pl'>), \
object=Noun(index=4, number=<Number.SINGULAR: 'sg'>))
    """
    clause = _find_clause(tree)
    if clause is None:
        return NO_CLAUSE
    subject = _find_subject(tree, clause)
    obj = None
    if subject is not None and any(tree.categories[child] == "EX" for child in list_children(tree, subject)):
        # In "there is a man", "there" stands in the place of the subject, and the noun in that of an object.
        subject = _find_existential_subject(tree, clause, existential=subject)
    else:
        obj = _find_object(tree, clause, subject=subject)
    return MainClause(
        verb=tree.starts[clause.verb],
        subject=None if subject is None else find_head_noun(tree, subject),
        object=None if obj is None else find_head_noun(tree, obj),
    )


def _find_clause(tree: Tree) -> _Clause | None:
    """Return the first finite or imperative clause under ROOT, else the first clause with a verb, else None."""
    fallback = None
    queue: list[tuple[int, int | None]] = [(0, None)]
    while queue:
        node, question = queue.pop()
        below = list_children(tree, node)
        predicates = [child for child in below if tree.categories[child] in _PREDICATE]
        if not predicates:
            question_phrase = _find_first(tree, below, {"WHNP"})
            inner_clauses = [child for child in below if tree.categories[child] in _CLAUSES]
            # Reversed, since the list is read from its end: the first clause in the text is looked at first.
            queue.extend((child, question_phrase) for child in reversed(inner_clauses))
            continue
        for predicate in predicates:
            verb, host = _find_leading_verb(tree, predicate, host=node)
            if verb is not None:
                clause = _Clause(node, below, predicate, verb, host, question)
                if tree.categories[verb] in _STATEMENT_TAGS:
                    return clause
                fallback = fallback or clause
    return fallback


def _find_first(tree: Tree, nodes: Sequence[int], categories: Set[str]) -> int | None:
    return next((node for node in nodes if tree.categories[node] in categories), None)


def _find_leading_verb(tree: Tree, node: int, *, host: int) -> tuple[int | None, int]:
    """Return the first verb in the verb phrase *node* (*node* itself, if it is a verb), and the verb's parent.

    In an infinitive with *to*, the verb is None.
    """
    while tree.categories[node] == "VP":
        below = list_children(tree, node)
        first = _find_first(tree, below, _VERB_OR_TO)
        if first is None or tree.categories[first] == "TO":
            return None, node
        node, host = first, node
    return node, host


def _find_subject(tree: Tree, clause: _Clause) -> int | None:
    """Return the node of the subject; None if the subject is missing or is a clause."""
    for node in clause.below:
        if "SBJ" in tree.list_functions(node):
            return node if tree.categories[node] in NOUN_PHRASES else None
    place = clause.below.index(clause.predicate)
    before = _list_noun_phrases(tree, clause.below[:place])
    after = _list_noun_phrases(tree, clause.below[place + 1 :])
    # In an inverted question (SQ), the subject follows the auxiliary.
    if before and not (after and tree.categories[clause.node] == "SQ"):
        candidates = [node for node in before if not _is_temporal(tree, node)]
        return (candidates or before)[-1]
    inverted = {tree.categories[clause.node], tree.categories[clause.predicate]} & _INVERTED
    if after and inverted:
        return after[0]
    return clause.question


def _find_existential_subject(tree: Tree, clause: _Clause, *, existential: int) -> int:
    """Return the subject of *there is*: a noun phrase after the verb, if possible not a temporal one."""
    verb, host = _find_lexical_verb(tree, clause)
    after = [] if verb is None else [node for node in _list_noun_phrases_after(tree, verb, host) if node != existential]
    candidates = [node for node in after if not _is_temporal(tree, node)]
    times = [] if tree.has_function_tags else after
    question_phrase = [] if clause.question is None else [clause.question]
    return (*candidates, *times, *question_phrase, existential)[0]


def _list_noun_phrases(tree: Tree, nodes: Sequence[int]) -> list[int]:
    return [
        node
        for node in nodes
        if tree.categories[node] in NOUN_PHRASES and not _NO_SUBJECT.intersection(tree.list_functions(node))
    ]


def _is_temporal(tree: Tree, node: int, *, alone: bool = False) -> bool:
    """Return whether a noun phrase is temporal: by its function tags or, in a tree without such tags, by its head noun.

    In a tree without function tags, *alone* also requires a single word, or a first word from TIME_DETERMINERS.
    """
    if tree.has_function_tags:
        return "TMP" in tree.list_functions(node)
    words = tree.words[tree.starts[node] : tree.find_end(node)]
    if tree.words[find_head_noun(tree, node).index].lower() not in TIMES:
        return False
    return not alone or len(words) == 1 or words[0].lower() in TIME_DETERMINERS


def _find_object(tree: Tree, clause: _Clause, *, subject: int | None) -> int | None:
    """Return the verb's object: in "he did it himself yesterday", the noun phrase "it". None: there is no object."""
    verb, host = _find_lexical_verb(tree, clause)
    if verb is None or tree.words[tree.starts[verb]].lower() in COPULAS:
        return None
    noun_phrases = [
        node
        for node in _list_noun_phrases_after(tree, verb, host)
        if node != subject and not _NO_OBJECT.intersection(tree.list_functions(node))
    ]
    candidates = [node for node in noun_phrases if not _is_temporal(tree, node)]
    if not candidates:
        # A time can be the object itself (*spent the year*), unless it looks like an adverb (*this year*).
        candidates = [node for node in noun_phrases[:1] if not _is_temporal(tree, node, alone=True)]
    if len(candidates) > 1 and tree.words[tree.starts[candidates[-1]]].lower() in REFLEXIVES:
        return candidates[-2]
    # The recipient comes before the direct object: *gave him a book*.
    return candidates[-1] if candidates else None


def _find_lexical_verb(tree: Tree, clause: _Clause) -> tuple[int | None, int]:
    """Return the verb after all auxiliaries of the clause, and the verb's parent."""
    verb: int | None = clause.verb
    host = clause.host
    while verb is not None and tree.words[tree.starts[verb]].lower() in AUXILIARIES:
        later = [node for node in list_children(tree, host) if node > verb]
        phrase = _find_first(tree, later, {"VP"})
        if phrase is None:
            break
        verb, host = _find_leading_verb(tree, phrase, host=host)
    return verb, host


def _list_noun_phrases_after(tree: Tree, verb: int, host: int) -> list[int]:
    """Return *host*'s noun-phrase children after *verb*. A verb or conjunction after a noun phrase ends the list."""
    noun_phrases: list[int] = []
    for node in list_children(tree, host):
        category = tree.categories[node]
        if node > verb and category in NOUN_PHRASES:
            noun_phrases.append(node)
        elif noun_phrases and category in _NEXT_VERB:
            break
    return noun_phrases
