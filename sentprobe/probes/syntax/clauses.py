"""The main clause of a tree: its finite verb and the heads of its subject and object.

The rules for NP are Collins's with these changes. A possessive 's is never the head. Pronouns and
the *there* of existentials come after nouns and noun phrases (as in the Stanford parser), NML and
NX count as nouns do, and a question's WHNP follows the rules of NP, so that the head of "which
men" is *men*. Where the head follows a conjunction, the head is the conjunct before it.

Conneau et al. 2018, section 2 (Tense, SubjNum, ObjNum). What the trees of parsers leave open, for
want of function tags, is decided by position and by the lists below; where a tree has
function tags (SBJ, TMP, PRD, ...), they decide. ``docs/corpus.md`` has the definitions.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sentprobe.generator.event import Number
from sentprobe.probes.syntax.trees import Tree, children

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
"""Forms that may stand before another verb phrase as auxiliaries, with their contractions."""

COPULAS = BE | frozenset(
    (
        *("become", "becomes", "became", "becoming", "remain", "remains", "remained", "remaining"),
        *("seem", "seems", "seemed", "seeming"),
    )
)
"""Verbs after which a noun phrase is a predicate, and no object."""

TIMES = frozenset(
    (
        *(
            "today",
            "tomorrow",
            "yesterday",
            "tonight",
            "monday",
            "tuesday",
            "wednesday",
            "thursday",
        ),
        *("friday", "saturday", "sunday", "january", "february", "march", "april", "may", "june"),
        *("july", "august", "september", "october", "november", "december", "jan.", "feb.", "aug."),
        *("sept.", "oct.", "nov.", "dec.", "second", "seconds", "minute", "minutes", "hour"),
        *("hours", "day", "days", "week", "weeks", "month", "months", "year", "years", "decade"),
        *("decades", "century", "centuries", "morning", "mornings", "afternoon", "afternoons"),
        *("evening", "evenings", "night", "nights", "weekend", "weekends", "spring", "summer"),
        *("autumn", "winter", "moment", "moments", "time", "times", "while"),
    )
)
"""Heads of noun phrases that may say when."""

TIME_MARKS = frozenset(("this", "that", "last", "next", "every", "each", "one", "all", "some"))
"""First words of a noun phrase that, with a head in TIMES, says when rather than what."""

REFLEXIVES = frozenset(
    (
        *("myself", "yourself", "himself", "herself", "itself", "oneself", "ourselves"),
        *("yourselves", "themselves"),
    )
)

SINGULAR = frozenset(
    (
        *("i", "he", "she", "it", "me", "him", "this", "that", "mine", "myself", "yourself"),
        *("himself", "herself", "itself", "someone", "somebody", "something", "everyone"),
        *("everybody", "everything", "nobody", "nothing", "anyone", "anybody", "anything"),
    )
)
PLURAL = frozenset(
    ("we", "they", "us", "them", "these", "those", "ourselves", "yourselves", "themselves")
)
"""Pronouns and determiners whose number shows in the form."""

CONJUNCTIONS = frozenset(("and", "&"))
"""Those that make a plural of what they join."""


NOMINAL = frozenset(("NP", "NX", "NML", "NAC", "WHNP"))
"""The categories of noun phrases."""

_PRONOUNS = frozenset(("PRP", "EX", "WP"))
_CONJUNCTION_CATEGORIES = frozenset(("CC", "CONJP"))
_JOINED = NOMINAL | NOUN_TAGS | _PRONOUNS | {"CD", "DT", "QP"}
_SEPARATORS = frozenset((",", ":"))


_LEFT, _RIGHT = 1, -1


_RULES: tuple[tuple[int, frozenset[str]], ...] = (
    (_RIGHT, NOUN_TAGS | {"NX", "NML", "JJR"}),
    (_LEFT, frozenset(("NP", "WHNP"))),
    (_RIGHT, _PRONOUNS),
    (_RIGHT, frozenset(("$", "ADJP", "PRN"))),
    (_RIGHT, frozenset(("CD",))),
    (_RIGHT, frozenset(("JJ", "JJS", "RB", "QP", "WDT", "DT"))),
)
"""Where the search begins, and for which categories; the first rule that finds one decides."""

_TAG_NUMBERS = {
    "NN": Number.SINGULAR,
    "NNP": Number.SINGULAR,
    "NNS": Number.PLURAL,
    "NNPS": Number.PLURAL,
}


@dataclass(frozen=True, slots=True)
class Noun:
    """The head of a subject or object: which token, and the number of the whole phrase.

    The number is that of the head's tag or form, but plural where *and* joins it to another, and
    None where the form does not tell (*you*, *who*, *three*) or another conjunction joins two.
    """

    index: int
    number: Number | None


def head_noun(tree: Tree, node: int) -> Noun:
    """Return the head of the noun phrase *node*."""
    joined = ""
    while (below := children(tree, node)) != []:
        categories = [tree.categories[child] for child in below]
        place = _head_place(categories)
        joined = joined or _joined_by(tree, below, categories, place)
        node = below[place]
    word = tree.starts[node]
    return Noun(word, _phrase_number(tree.categories[node], tree.words[word], joined=joined))


def _head_place(categories: Sequence[str]) -> int:
    """Return which child is the head."""
    order = range(len(categories))
    for direction, wanted in _RULES:
        for place in order[::direction]:
            if categories[place] in wanted:
                return _first_conjunct(categories, place)
    return len(categories) - 1


def _first_conjunct(categories: Sequence[str], place: int) -> int:
    """Return the conjunct before *place* if a conjunction stands between them, else *place*."""
    if place < 2 or categories[place - 1] not in _CONJUNCTION_CATEGORIES:
        return place
    before = place - 2
    while before > 0 and categories[before] in _SEPARATORS:
        before -= 1
    return before if categories[before] in _JOINED else place


def _joined_by(tree: Tree, below: Sequence[int], categories: Sequence[str], place: int) -> str:
    """Return the conjunction after the head that joins another noun to it, or the empty string."""
    for other in range(place + 1, len(below) - 1):
        if categories[other] in _CONJUNCTION_CATEGORIES and _JOINED.intersection(
            categories[other + 1 :]
        ):
            return tree.words[tree.starts[below[other]]].lower()
    return ""


def _phrase_number(tag: str, word: str, *, joined: str) -> Number | None:
    if joined:
        return Number.PLURAL if joined in CONJUNCTIONS else None
    return word_number(tag, word)


def word_number(tag: str, word: str) -> Number | None:
    """Return the number that the tag or the form of a noun or pronoun shows, if it does.

    >>> word_number("NNS", "lawyers"), word_number("PRP", "They"), word_number("PRP", "you")
    (<Number.PLURAL: 'pl'>, <Number.PLURAL: 'pl'>, None)
    """
    if tag in _TAG_NUMBERS:
        return _TAG_NUMBERS[tag]
    if word.lower() in SINGULAR:
        return Number.SINGULAR
    return Number.PLURAL if word.lower() in PLURAL else None


_CLAUSES = frozenset(("S", "SINV", "SQ", "SBARQ"))
_INVERTED = FINITE_TAGS | {"SINV", "SQ"}
"""Where the subject may follow: such a clause, or a finite verb that is directly under a clause."""
_NO_OBJECT = frozenset(
    ("TMP", "ADV", "PRD", "LOC", "DIR", "MNR", "EXT", "VOC", "PRP", "DTV", "BNF", "SBJ", "LGS")
)
"""Function tags of noun phrases after a verb that are not its direct object."""
_NO_SUBJECT = frozenset(("TMP", "ADV", "VOC", "TPC", "LOC"))
"""Function tags of noun phrases before a verb that are not its subject."""
_PREDICATE = VERB_TAGS | {"VP"}
_STATING = FINITE_TAGS | {"VB"}
_VERB_OR_TO = VERB_TAGS | {"VP", "TO"}
_NEXT_VERB = VERB_TAGS | {"CC"}
_VERB_PHRASE = frozenset(("VP",))
_QUESTION = frozenset(("WHNP",))


@dataclass(frozen=True, slots=True)
class MainClause:
    """The main clause: the token of its verb, and the heads of its subject and direct object.

    The verb is the finite one, an auxiliary if there is one; its tag may be VB (an imperative) or,
    in a fragment, that of a participle.
    """

    verb: int | None = None
    subject: Noun | None = None
    object: Noun | None = None


NO_CLAUSE = MainClause()


@dataclass(frozen=True, slots=True)
class _Clause:
    """A clause's node, its children, the child with its verb, and the node of that verb."""

    node: int
    below: Sequence[int]
    predicate: int
    verb: int
    host: int
    """The node that the verb is directly under."""
    question: int | None
    """The WHNP before the clause, in a question."""


def main_clause(tree: Tree) -> MainClause:
    """Return the main clause of *tree*; all fields None where it has none, as a fragment.

    Of coordinated clauses or verb phrases it is the first, and of a quotation with *he said* the
    clause of *said*.

    >>> from sentprobe.probes.syntax.trees import read_tree
    >>> main_clause(read_tree(
    ...     "(S (NP (NNS men)) (VP (VBP have) (VP (VBN seen) (NP (DT the) (NN sea)))))"))
    MainClause(verb=1, subject=Noun(index=0, number=<Number.PLURAL: 'pl'>), \
object=Noun(index=4, number=<Number.SINGULAR: 'sg'>))
    """
    clause = _find_clause(tree)
    if clause is None:
        return NO_CLAUSE
    subject = _subject(tree, clause)
    obj = None
    if subject is not None and _is_there(tree, subject):
        subject = _announced(tree, clause, there=subject)
    else:
        obj = _object(tree, clause, subject=subject)
    return MainClause(
        verb=tree.starts[clause.verb],
        subject=None if subject is None else head_noun(tree, subject),
        object=None if obj is None else head_noun(tree, obj),
    )


def _find_clause(tree: Tree) -> _Clause | None:
    """Return the first clause under ROOT that states or commands, or else the first with a verb."""
    fallback = None
    waiting: list[tuple[int, int | None]] = [(0, None)]
    while waiting:
        node, question = waiting.pop()
        below = children(tree, node)
        predicates = [child for child in below if tree.categories[child] in _PREDICATE]
        if not predicates:
            asked = _first(tree, below, _QUESTION)
            inner = [child for child in below if tree.categories[child] in _CLAUSES]
            waiting.extend((child, asked) for child in reversed(inner))
            continue
        for predicate in predicates:
            verb, host = _leading_verb(tree, predicate, host=node)
            if verb is not None:
                clause = _Clause(node, below, predicate, verb, host, question)
                if tree.categories[verb] in _STATING:
                    return clause
                fallback = fallback or clause
    return fallback


def _first(tree: Tree, nodes: Sequence[int], wanted: frozenset[str]) -> int | None:
    for node in nodes:
        if tree.categories[node] in wanted:
            return node
    return None


def _leading_verb(tree: Tree, node: int, *, host: int) -> tuple[int | None, int]:
    """Return the first verb of the verb phrase *node*, and what it is under.

    None for an infinitive with *to*. A verb that is itself the node is returned as it is.
    """
    while tree.categories[node] == "VP":
        below = children(tree, node)
        first = _first(tree, below, _VERB_OR_TO)
        if first is None or tree.categories[first] == "TO":
            return None, node
        node, host = first, node
    return node, host


def _subject(tree: Tree, clause: _Clause) -> int | None:
    """Return the node of the subject, or None: there is none, or it is itself a clause."""
    if tree.annotated:
        marked = [node for node in clause.below if "SBJ" in tree.functions(node)]
        if marked:
            return marked[0] if tree.categories[marked[0]] in NOMINAL else None
    place = clause.below.index(clause.predicate)
    before = _noun_phrases(tree, clause.below[:place])
    after = _noun_phrases(tree, clause.below[place + 1 :])
    if before and not (after and tree.categories[clause.node] == "SQ"):
        others = [node for node in before if not _says_when(tree, node)]
        return (others or before)[-1]
    inverted = {tree.categories[clause.node], tree.categories[clause.predicate]} & _INVERTED
    if after and inverted:
        return after[0]
    return clause.question


def _is_there(tree: Tree, node: int) -> bool:
    """Say whether a noun phrase is the *there* of existentials."""
    return any(tree.categories[child] == "EX" for child in children(tree, node))


def _announced(tree: Tree, clause: _Clause, *, there: int) -> int:
    """Return the noun phrase that *there* announces: after the verb, or asked for before it.

    One that looks as if it said when is announced where there is no other: *there were times*.
    """
    verb, host = _lexical_verb(tree, clause)
    after = [] if verb is None else [node for node in _after(tree, verb, host) if node != there]
    found = [node for node in after if not _says_when(tree, node)]
    times = [] if tree.annotated else after
    asked = [] if clause.question is None else [clause.question]
    return (*found, *times, *asked, there)[0]


def _noun_phrases(tree: Tree, nodes: Sequence[int]) -> list[int]:
    return [
        node
        for node in nodes
        if tree.categories[node] in NOMINAL and not _NO_SUBJECT.intersection(tree.functions(node))
    ]


def _says_when(tree: Tree, node: int, *, alone: bool = False) -> bool:
    """Say whether a noun phrase says when; one that is *alone* only if its first word shows it."""
    if tree.annotated:
        return "TMP" in tree.functions(node)
    words = tree.words[tree.starts[node] : tree.end(node)]
    if tree.words[head_noun(tree, node).index].lower() not in TIMES:
        return False
    return not alone or len(words) == 1 or words[0].lower() in TIME_MARKS


def _object(tree: Tree, clause: _Clause, *, subject: int | None) -> int | None:
    """Return the node of the direct object, or None."""
    verb, host = _lexical_verb(tree, clause)
    if verb is None or tree.words[tree.starts[verb]].lower() in COPULAS:
        return None
    found = [
        node
        for node in _after(tree, verb, host)
        if node != subject and not _NO_OBJECT.intersection(tree.functions(node))
    ]
    return _direct(tree, found)


def _lexical_verb(tree: Tree, clause: _Clause) -> tuple[int | None, int]:
    """Return the verb that the auxiliaries of the clause lead to, and what it is under."""
    verb: int | None = clause.verb
    host = clause.host
    while verb is not None and tree.words[tree.starts[verb]].lower() in AUXILIARIES:
        later = [node for node in children(tree, host) if node > verb]
        phrase = _first(tree, later, _VERB_PHRASE)
        if phrase is None:
            break
        verb, host = _leading_verb(tree, phrase, host=host)
    return verb, host


def _after(tree: Tree, verb: int, host: int) -> list[int]:
    """Return the noun phrases after *verb*; those after a second verb only if none was before."""
    found: list[int] = []
    for node in children(tree, host):
        category = tree.categories[node]
        if node > verb and category in NOMINAL:
            found.append(node)
        elif found and category in _NEXT_VERB:
            break
    return found


def _direct(tree: Tree, found: Sequence[int]) -> int | None:
    """Return the direct object among the noun phrases after a verb: the last that can be one."""
    whats = [node for node in found if not _says_when(tree, node)]
    if not whats:
        whats = [node for node in found[:1] if not _says_when(tree, node, alone=True)]
    if len(whats) > 1 and tree.words[tree.starts[whats[-1]]].lower() in REFLEXIVES:
        return whats[-2]
    return whats[-1] if whats else None
