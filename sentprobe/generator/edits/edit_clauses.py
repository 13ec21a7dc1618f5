"""The finite clause of a sentence: its operator, subject and predicate, and whether it asks, states or orders.

The analysis believes a parse only where the order of the words confirms it; otherwise it refuses.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from sentprobe.generator.edits.edit_text import (
    NOUN_TAGS,
    VERB_TAGS,
    EditableText,
    EditableToken,
    RefusalError,
    has_relation,
)
from sentprobe.generator.edits.inflection import is_verb


class ClauseMood(StrEnum):
    """Whether a clause states, asks for a yes or no, asks with a question word, or orders."""

    STATEMENT = "statement"
    POLAR = "polar"
    WH = "wh"
    ORDER = "order"


OPERATORS: dict[str, tuple[str, bool]] = {
    **dict.fromkeys(("am", "'m", "is", "are", "'re"), ("be", False)),
    **dict.fromkeys(("was", "were"), ("be", True)),
    **dict.fromkeys(("has", "have", "'ve"), ("have", False)),
    "had": ("have", True),
    **dict.fromkeys(("do", "does"), ("do", False)),
    "did": ("do", True),
    **{form: (form, False) for form in ("can", "will", "shall", "may", "must", "should", "could", "would", "might")},
    **{"ca": ("can", False), "wo": ("will", False), "'ll": ("will", False), "sha": ("shall", False)},
}
"""The lemma of each finite auxiliary, and whether it is a past."""
_FINITE = frozenset(("VBZ", "VBP", "VBD"))
_PLURAL_PRONOUNS = frozenset(("i", "you", "we", "they", "these", "those"))
_SINGULAR_PRONOUNS = frozenset(("he", "she", "it", "this", "that"))
_IRREGULAR_NOUNS = frozenset(
    [
        "lot",
        "number",
        "majority",
        "staff",
        "team",
        "police",
        "people",
        "data",
        "media",
        "news",
        "rest",
        "half",
        "couple",
        "variety",
        "percent",
        "family",
        "group",
        "crew",
        "company",
        "government",
        "committee",
        "none",
        "series",
        "means",
        "mathematics",
        "physics",
        "politics",
        "bunch",
        "pair",
        "sort",
        "kind",
        "ton",
        "tons",
        "type",
    ]
)
_SUBJECT_PRONOUNS = frozenset(("i", "we", "they", "he", "she", "to"))
_OBJECT_PRONOUNS = frozenset(("me", "him", "them", "us"))


@dataclass(frozen=True, slots=True, kw_only=True)
class FiniteClause:
    """A finite clause. *predicate* is its head: a verb, or the noun or adjective beside a copula."""

    mood: ClauseMood
    predicate: EditableToken
    operator: EditableToken | None
    """The finite auxiliary or form of *be*; None if the predicate itself is the finite verb, or in an order."""
    operator_lemma: str
    """``be``, ``have``, ``do`` or a modal; ``none`` without an operator."""
    is_past: bool
    subject: EditableToken | None
    subject_span: tuple[int, int]
    """The first token of the subject, and the token after it; (0, 0) without a subject."""
    question_word: EditableToken | None = None
    question_role: str = ""
    """What a question word is: subject, object (of the verb, or a predicate), or adverb (how, when, ...)."""

    @property
    def is_inverted(self) -> bool:
        """Whether the operator stands before the subject."""
        return self.subject is not None and self.operator is not None and self.operator.number < self.subject_span[0]

    @property
    def finite(self) -> EditableToken:
        """The finite verb."""
        return self.operator or self.predicate


def find_clause(text: EditableText, head: EditableToken | None = None) -> FiniteClause:
    """Return the main clause, or the clause with the given head. Raises RefusalError if none is certain."""
    key = ("clause", None if head is None else head.number)
    if key not in text.cache:
        try:
            text.cache[key] = _analyze(text, head)
        except RefusalError as error:
            text.cache[key] = error
    result = text.cache[key]
    if isinstance(result, RefusalError):
        raise result
    assert isinstance(result, FiniteClause)
    return result


def _analyze(text: EditableText, head: EditableToken | None) -> FiniteClause:
    is_main = head is None
    if head is None:
        if len(text.roots) != 1:
            raise RefusalError("the parse has several roots")
        head = text.roots[0]
    helpers = [
        child for child in text.list_children(head.number, "aux", "cop") if child.lower not in ("to", "not", "n't")
    ]
    operator: EditableToken | None = None
    if is_main and text.list_children(head.number, "mark"):
        raise RefusalError("the main clause has a conjunction")
    if helpers and helpers[0].lower in (*OPERATORS, "'s", "'d"):
        operator = helpers[0]
    elif head.lemma == "be" and head.tag in _FINITE:
        operator = head
    elif helpers:
        raise RefusalError("no finite verb was found with certainty")
    subjects = text.list_children(head.number, "nsubj", "csubj", "expl")
    subject = subjects[0] if subjects else None
    span = text.find_span(subject.number) if subject else (0, 0)
    if len(subjects) == 2 and subjects[0].relation == "expl":
        # In "there are users", the expletive stands where a subject does; the noun follows the verb.
        span = (subject.number, subject.number + 1) if subject else span
    if subject is not None and subject.relation.startswith("csubj"):
        raise RefusalError("the subject is a clause")
    word = _find_question_word(text) if is_main else None
    if operator is None and subject is None:
        return _analyze_order(text, head, is_main=is_main)
    lemma, is_past = _name_operator(operator, head)
    clause = FiniteClause(
        mood=_find_mood(text, operator, subject, span, word, is_main=is_main),
        predicate=head,
        operator=operator,
        operator_lemma=lemma,
        is_past=is_past,
        subject=subject,
        subject_span=span,
        question_word=word,
        question_role=_find_role(text, subject, span, word),
    )
    _check_order(text, clause)
    if is_main:
        _check_single_verb(text, clause)
    return clause


def _name_operator(operator: EditableToken | None, head: EditableToken) -> tuple[str, bool]:
    if operator is None:
        if head.tag not in _FINITE:
            raise RefusalError("no finite verb was found with certainty")
        return "none", head.tag == "VBD"
    if operator.lower in ("'s", "'d"):
        if operator.lower == "'s":
            # The auxiliary of a passive is aux:pass, so that a plain aux before a participle is that of the perfect.
            is_perfect = operator.lemma == "have" or (head.tag == "VBN" and operator.relation == "aux")
            return ("have" if is_perfect else "be"), False
        # "'d" is would before a plain form, had before a participle.
        return ("would", False) if head.tag in ("VB", "VBP") else ("had", True)
    if operator.lower not in OPERATORS:
        raise RefusalError("no finite verb was found with certainty")
    return OPERATORS[operator.lower]


def _find_question_word(text: EditableText) -> EditableToken | None:
    # A question word is first, or follows a preposition or a greeting: "in which", "and why".
    for token in text.tokens[:2]:
        if token.tag in ("WP", "WRB", "WDT", "WP$") or token.lower in ("how", "why", "when", "where", "what", "who"):
            return token
        if token.tag != "IN" and token.lower not in ("and", "so", "but", "hi", "hello"):
            return None
    return None


def _find_mood(
    text: EditableText,
    operator: EditableToken | None,
    subject: EditableToken | None,
    span: tuple[int, int],
    word: EditableToken | None,
    *,
    is_main: bool,
) -> ClauseMood:
    if not is_main:
        return ClauseMood.STATEMENT
    # The question mark may stand before a closing quote or bracket.
    asks = text.text.rstrip(" \"')").endswith("?")
    inverted = operator is not None and subject is not None and operator.number < span[0]
    if word is not None:
        if operator is not None and (inverted or (subject is not None and word.number in range(*span))):
            return ClauseMood.WH
        if asks and (inverted or operator is not None or (subject is not None and word.number in range(*span))):
            return ClauseMood.WH
        raise RefusalError("a question word begins a sentence that is not a plain question")
    if (
        inverted
        and operator is not None
        # Words such as "well, and" may precede the verb of a yes/no question; after others, as in "on it is a cat", a
        # verb before its subject makes no question.
        and all(t.tag in ("UH", "RB", ",", "CC") for t in text.tokens[: operator.number])
    ):
        return ClauseMood.POLAR
    if asks:
        raise RefusalError("a question in the order of a statement")
    if inverted and not (operator and operator.lemma == "be" and subject and subject.lower == "there"):
        raise RefusalError("a statement in the order of a question")
    return ClauseMood.STATEMENT


def _find_role(
    text: EditableText, subject: EditableToken | None, span: tuple[int, int], word: EditableToken | None
) -> str:
    if word is None:
        return ""
    if word.lower in ("how", "why", "when", "where") and text.tokens[word.number + 1 :][:1]:
        return "adverb"
    if subject is not None and word.number in range(*span):
        return "subject"
    return "object"


def _analyze_order(text: EditableText, head: EditableToken, *, is_main: bool) -> FiniteClause:
    """Return the clause of an order: a verb in its base form at the beginning, perhaps after *please*."""
    before = text.tokens[: head.number]
    polite = all(token.lower in ("please", ",", "then", "just", "also", "always") for token in before)
    if not (is_main and polite and head.tag in ("VB", "VBP") and head.lower == head.lemma):
        raise RefusalError("no subject was found with certainty")
    # These also begin wishes and set phrases: thank you, see below, hope it helps.
    if head.lemma in ("be", "let", "thank", "thanks", "hope", "see", "have") or text.text.rstrip().endswith("?"):
        raise RefusalError("no order was found with certainty")
    following = text.tokens[head.number + 1].lower if head.number + 1 < len(text.tokens) else ""
    # A pronoun in the subject's form shows that the verb begins no order: "want to go", "think I can".
    if following in _SUBJECT_PRONOUNS or not is_verb(head.lemma):
        raise RefusalError("no order was found with certainty")
    return FiniteClause(
        mood=ClauseMood.ORDER,
        predicate=head,
        operator=None,
        operator_lemma="none",
        is_past=False,
        subject=None,
        subject_span=(0, 0),
    )


def _check_order(text: EditableText, clause: FiniteClause) -> None:
    """Raise RefusalError if the order or the forms of the words contradict the parse."""
    subject, finite = clause.subject, clause.finite
    if subject is None:
        raise RefusalError("no subject was found with certainty")
    first, end = clause.subject_span
    if clause.mood in (ClauseMood.POLAR, ClauseMood.WH) and clause.is_inverted:
        gap = text.tokens[finite.number + 1 : first]
        is_verb = clause.predicate.tag in ("VB", "VBP", "VBG", "VBN", "VBD")
        # These may stand between: "is n't it", "is not it", "is there a way".
        if any(token.lower not in ("n't", "not", "there") for token in gap):
            raise RefusalError("the subject does not follow the verb of the question")
        if is_verb and clause.predicate.number > finite.number and clause.predicate.number < end:
            # The parse took a participle after the noun for the verb of the clause.
            raise RefusalError("the verb stands within the subject")
    elif not clause.is_inverted:
        gap = text.tokens[end : finite.number]
        if end > finite.number or len(gap) > 2 or any(token.tag not in ("RB", "RBR") for token in gap):
            raise RefusalError("the subject does not stand before its verb")
    _check_forms(text, clause, subject, finite)


def _check_single_verb(text: EditableText, clause: FiniteClause) -> None:
    """Raise RefusalError if the parse makes one clause of several: a finite verb before this one has no clause."""
    finite, subject = clause.finite, clause.subject
    if finite.form.isupper() and len(finite.form) > 1:
        raise RefusalError("the finite verb is in capitals")
    if subject is not None and text.list_children(subject.number, "case"):
        raise RefusalError("the subject has a preposition")
    if clause.mood is not ClauseMood.STATEMENT:
        return
    if finite.number and text.tokens[finite.number - 1].lower == ",":
        raise RefusalError("the subject does not stand before its verb")
    for token in text.tokens[: finite.number]:
        if token.tag in ("VBZ", "VBD", "MD") or (token.tag == "VBP" and token.lower in OPERATORS):
            head = (
                text.tokens[token.head] if has_relation(token.relation, ("aux", "cop")) and token.head >= 0 else token
            )
            if head.relation not in _CLAUSE_RELATIONS and not text.list_children(head.number, "mark"):
                raise RefusalError("the sentence has another clause")


_CLAUSE_RELATIONS = frozenset(("advcl", "acl:relcl", "acl", "ccomp", "csubj", "parataxis", "advcl:relcl"))


def _check_forms(text: EditableText, clause: FiniteClause, subject: EditableToken, finite: EditableToken) -> None:
    is_single = clause.subject_span[1] - clause.subject_span[0] == 1
    singular_verb = finite.lower in ("is", "was", "has", "does", "'s") or finite.tag == "VBZ"
    plural_verb = finite.lower in ("are", "have", "do", "'re", "'ve") or (finite.tag == "VBP" and finite.lower != "am")
    if is_single and clause.mood is not ClauseMood.ORDER:
        if subject.lower in _PLURAL_PRONOUNS and singular_verb and not (subject.lower == "i" and finite.lower == "was"):
            raise RefusalError("subject and verb do not agree")
        if subject.lower in _SINGULAR_PRONOUNS and plural_verb:
            raise RefusalError("subject and verb do not agree")
        if subject.lower in _OBJECT_PRONOUNS:
            raise RefusalError("the subject is no subject")
    noun_is_plural = subject.tag in ("NNS", "NNPS")
    has_and = any(child.relation == "conj" for child in text.list_children(subject.number))
    differs = singular_verb and finite.tag != "VBD" if noun_is_plural else plural_verb and finite.lower != "do"
    if subject.tag in NOUN_TAGS and not has_and and is_regular(subject) and differs:
        raise RefusalError("subject and verb do not agree")
    is_modal = clause.operator_lemma not in ("be", "have", "had", "do", "none")
    helpers = [child.lower for child in text.list_children(clause.predicate.number, "aux", "cop")]
    # "will opening" and "will opened" are no verb phrases; "will be opening" and "will have opened" are.
    if is_modal and clause.predicate.tag in ("VBG", "VBN") and not {"be", "have", "been"} & {*helpers}:
        raise RefusalError("no bare verb follows the auxiliary")
    is_verb_missing = clause.predicate.tag not in VERB_TAGS and not {"be", "been"} & {*helpers}
    if is_modal and is_verb_missing and clause.predicate.lower not in ("be", "have"):
        raise RefusalError("no bare verb follows the auxiliary")
    if clause.operator_lemma in ("have", "had") and clause.predicate.tag != "VBN" and "been" not in helpers:
        raise RefusalError("no participle follows the auxiliary")
    is_bare = clause.predicate.lower == clause.predicate.lemma or clause.predicate.tag == "VB"
    if clause.operator_lemma == "do" and clause.operator is not clause.predicate and not is_bare:
        raise RefusalError("no bare verb follows the auxiliary")


def is_regular(noun: EditableToken) -> bool:
    """Return whether a noun's number is plain: not a name, a group (*staff*) or a quantity (*a lot*)."""
    return noun.tag in ("NN", "NNS") and noun.lower not in _IRREGULAR_NOUNS


class FoundPlace(NamedTuple):
    """A match of a regular expression, or a token, with the main clause if the rule tests the clause."""

    match: re.Match[str] | None = None
    token: EditableToken | None = None
    clause: FiniteClause | None = None

    def get_match(self) -> re.Match[str]:
        """Return the match; for changes of rules with ``match``."""
        if self.match is None:
            raise RefusalError("the rule has no match")
        return self.match

    def get_token(self) -> EditableToken:
        """Return the token; for changes of rules with ``find`` or ``clause``."""
        if self.token is None:
            raise RefusalError("the rule has no token")
        return self.token

    def get_clause(self) -> FiniteClause:
        """Return the clause; for changes of rules with ``clause``."""
        if self.clause is None:
            raise RefusalError("the sentence has another form")
        return self.clause
