"""Changes of a whole clause: negation, tense, mood of the question, modals, conditions and roles."""

from sentprobe.generator.edits.edit_clauses import ClauseMood, FiniteClause, FoundPlace, find_clause
from sentprobe.generator.edits.edit_table import EditRule, EditTable
from sentprobe.generator.edits.edit_text import EditableText, EditableToken, RefusalError, Splice, has_relation
from sentprobe.generator.edits.inflection import inflect

_FULL_FORMS = {"'ll": "will", "'ve": "have", "wo": "will", "ca": "can", "sha": "shall"}
CONTRACTED = {
    "can": "can't", "will": "won't", "is": "isn't", "are": "aren't", "was": "wasn't", "were": "weren't", "do": "don't",
    "does": "doesn't", "did": "didn't", "has": "hasn't", "have": "haven't", "had": "hadn't", "should": "shouldn't",
    "could": "couldn't", "would": "wouldn't", "must": "mustn't",
}  # fmt: skip
_PLURAL_SUBJECTS = frozenset(("you", "we", "they", "these", "those", "both"))


def _write_full(clause: FiniteClause, operator: EditableToken) -> str:
    """Return the operator as a full word: ``'ll`` as *will*."""
    if operator.lower == "'d":
        return "would" if clause.operator_lemma == "would" else "had"
    return _FULL_FORMS.get(operator.lower, operator.form)


def _replace_operator(operator: EditableToken, new: str) -> Splice:
    """Replace a finite auxiliary; one that is attached to its subject (``'s``) gets a space."""
    return Splice(operator.start, operator.end, f" {new}" if operator.form.startswith(("'", "’")) else new)


def build_negation(text: EditableText, clause: FiniteClause) -> list[Splice]:
    """Return the changes that negate a clause with its subject before its verb, or an order. Raises RefusalError."""
    operator, verb = clause.operator, clause.predicate
    if clause.mood is ClauseMood.ORDER:
        return [Splice(verb.start, verb.end, f"do not {verb.lower}")]
    if operator is None:
        bare = verb.lemma
        helper = {"VBZ": "does", "VBP": "do", "VBD": "did"}[verb.tag]
        if not bare.isalpha():
            raise RefusalError("the verb is no plain word")
        before = text.tokens[verb.number - 1] if verb.number else verb
        # An adverb stays next to its verb: "he often goes" becomes "he does not often go".
        if before.relation == "advmod" and before.tag == "RB" and before.number >= clause.subject_span[1]:
            return [Splice(before.start, before.start, f"{helper} not "), Splice(verb.start, verb.end, bare)]
        return [Splice(verb.start, verb.end, f"{helper} not {bare}")]
    if operator.lower in ("'ll", "'ve", "'d"):
        # A contracted auxiliary is written in full: "he'll not go" and "I've not gone" are rare.
        return [_replace_operator(operator, f"{_write_full(clause, operator)} not")]
    # The only auxiliary that is one word with its negation.
    if operator.lower == "can":
        return [Splice(operator.start, operator.end, "cannot")]
    return [Splice(operator.end, operator.end, " not")]


def negate_clause(text: EditableText, place: FoundPlace, rule: EditRule, table: EditTable) -> list[Splice]:
    """Negate the main clause."""
    del rule, table
    return build_negation(text, place.get_clause())


def negate_past(text: EditableText, place: FoundPlace, rule: EditRule, table: EditTable) -> list[Splice]:
    """Negate a past verb that begins a text without a subject: Loved it > Did not love it."""
    del text, rule, table
    verb = place.get_token()
    if not verb.lemma.isalpha() or verb.lemma == verb.lower:
        raise RefusalError("the verb is no plain past")
    return [Splice(verb.start, verb.end, f"did not {verb.lemma}")]


def negate_question(_: EditableText, place: FoundPlace, rule: EditRule, table: EditTable) -> list[Splice]:
    """Negate a question by a contracted *not*: ``Why isn't``."""
    del rule, table
    operator = place.get_clause().operator
    if operator is None or operator.lower not in CONTRACTED:
        raise RefusalError("no negated form of the verb is known")
    return [Splice(operator.start, operator.end, CONTRACTED[operator.lower])]


def negate_verb(text: EditableText, place: FoundPlace, rule: EditRule, table: EditTable) -> list[Splice]:
    """Put *not* before the verb of a question: ``What does it not cover``."""
    del text, rule, table
    clause = place.get_clause()
    if clause.predicate.number < clause.subject_span[1]:
        raise RefusalError("the verb does not follow the subject")
    return [Splice(clause.predicate.start, clause.predicate.start, "not ")]


def is_plural(text: EditableText, clause: FiniteClause) -> bool:
    """Return whether the subject is plural. Raises RefusalError if that is not certain."""
    subject = clause.subject
    if subject is None or subject.lower in ("there", "who", "what", "which", "i"):
        raise RefusalError("the number of the subject is not certain")
    if subject.lower in _PLURAL_SUBJECTS or subject.tag in ("NNS", "NNPS"):
        return True
    if any(child.relation == "conj" for child in text.list_children(subject.number)):
        raise RefusalError("the number of the subject is not certain")
    return False


def put_in_past(text: EditableText, place: FoundPlace, rule: EditRule, table: EditTable) -> list[Splice]:
    """Replace a present by a past: is > was, does > did, costs > cost."""
    del text, rule, table
    clause = place.get_clause()
    operator, verb = clause.operator, clause.predicate
    if operator is None:
        return [Splice(verb.start, verb.end, inflect(verb.lemma, "VBD"))]
    if clause.operator_lemma == "do":
        return [Splice(operator.start, operator.end, "did")]
    past = "were" if operator.lower in ("are", "'re") else "was"
    return [_replace_operator(operator, past)]


def put_past_in_future(text: EditableText, place: FoundPlace, rule: EditRule, table: EditTable) -> list[Splice]:
    """Replace a past by a future: went > will go, was > will be, did he go > will he go."""
    del text, rule, table
    clause = place.get_clause()
    operator, verb = clause.operator, clause.predicate
    if operator is None:
        return [Splice(verb.start, verb.end, f"will {verb.lemma}")]
    if clause.operator_lemma == "do":
        return [Splice(operator.start, operator.end, "will")]
    if not clause.is_inverted:
        return [Splice(operator.start, operator.end, "will be")]
    _, end = clause.subject_span
    return [Splice(operator.start, operator.end, "will"), Splice(end, end, "")]


def put_past_question_in_future(
    text: EditableText, place: FoundPlace, rule: EditRule, table: EditTable
) -> list[Splice]:
    """Replace *was* in a question by *will ... be*, with *be* after the subject."""
    del rule, table
    clause = place.get_clause()
    if clause.operator is None or not clause.is_inverted:
        raise RefusalError("the sentence has another form")
    operator, position = clause.operator, text.tokens[clause.subject_span[1] - 1].end
    return [Splice(operator.start, operator.end, "will"), Splice(position, position, " be")]


def put_future_in_past(text: EditableText, place: FoundPlace, rule: EditRule, table: EditTable) -> list[Splice]:
    """Replace a future by a past: will open > opened, will be > was, will it open > did it open."""
    del rule, table
    clause = place.get_clause()
    operator, verb = clause.operator, clause.predicate
    if operator is None:
        raise RefusalError("the sentence has another form")
    # "will be" may stand before an adjective, noun or participle, or be the verb itself. In each case, "was" takes the
    # place of both words.
    be = next((t for t in text.list_children(verb.number, "aux", "cop") if t.lower == "be"), None)
    if be is None and verb.lower == "be":
        be = verb
    if any(t.lower in ("have", "been") for t in text.list_children(verb.number, "aux")):
        raise RefusalError("a future perfect")
    if be is not None:
        past = "were" if is_plural(text, clause) else "was"
        gap_start = text.tokens[be.number - 1].end
        return [_replace_operator(operator, past), Splice(gap_start, be.end, "")]
    if clause.is_inverted:
        return [Splice(operator.start, operator.end, "did")]
    if verb.tag not in ("VB", "VBP") or verb.number <= operator.number:
        raise RefusalError("no bare verb follows the auxiliary")
    gap_start = text.tokens[operator.number - 1].end if operator.number else operator.start
    between = text.tokens[operator.number + 1 : verb.number]
    if any(token.tag not in ("RB",) for token in between):
        raise RefusalError("the verb does not follow the auxiliary")
    return [Splice(gap_start, operator.end, ""), Splice(verb.start, verb.end, inflect(verb.lemma, "VBD"))]


def ask_why_not(_: EditableText, place: FoundPlace, rule: EditRule, table: EditTable) -> list[Splice]:
    """Replace *How do I* by *Why can't I*."""
    del rule, table
    clause = place.get_clause()
    if clause.operator is None or clause.question_word is None:
        raise RefusalError("the sentence has another form")
    if clause.operator.number != clause.question_word.number + 1:
        raise RefusalError("the verb does not follow the question word")
    return [Splice(clause.question_word.start, clause.operator.end, "Why can't".lower())]


def ask_when(_: EditableText, place: FoundPlace, rule: EditRule, table: EditTable) -> list[Splice]:
    """Replace *Can I* by *When can I*."""
    del table
    operator = place.get_clause().operator
    if operator is None:
        raise RefusalError("the sentence has another form")
    return [Splice(operator.start, operator.end, f"{rule.words['question']} {operator.lower}")]


def replace_modal(_: EditableText, place: FoundPlace, rule: EditRule, table: EditTable) -> list[Splice]:
    """Replace a modal: can > must, must > can; in a question: *Can I* > *Do I have to*."""
    del table
    clause = place.get_clause()
    operator, subject = clause.operator, clause.subject
    if operator is None or subject is None:
        raise RefusalError("the sentence has another form")
    if clause.is_inverted and clause.operator_lemma == "can":
        # "have to" is put behind the head of the subject, which is the end of the subject only if that is one word.
        if clause.predicate.tag not in ("VB", "VBP") or clause.subject_span[1] - clause.subject_span[0] != 1:
            raise RefusalError("the sentence has another form")
        helper = "does" if subject.lower in ("he", "she", "it", "this", "that") else "do"
        return [Splice(operator.start, operator.end, helper), Splice(subject.end, subject.end, " have to")]
    return [_replace_operator(operator, rule.words[clause.operator_lemma])]


def replace_need(text: EditableText, place: FoundPlace, rule: EditRule, table: EditTable) -> list[Splice]:
    """Replace *need to* and *have to* by *can*: *Do I need to* > *Can I*."""
    del rule, table
    clause = place.get_clause()
    verb, operator = clause.predicate, clause.operator
    particle = text.tokens[verb.number + 1] if verb.number + 1 < len(text.tokens) else None
    if particle is None or particle.lower != "to" or particle.number + 1 >= len(text.tokens):
        raise RefusalError("no infinitive follows the verb")
    if operator is None:
        return [Splice(verb.start, particle.end, "can")]
    following = text.tokens[particle.number + 1]
    return [Splice(operator.start, operator.end, "can"), Splice(verb.start, following.start, "")]


def negate_condition(text: EditableText, place: FoundPlace, rule: EditRule, table: EditTable) -> list[Splice]:
    """Negate the clause that *if* introduces."""
    del rule, table
    mark = place.get_token()
    head = text.tokens[mark.head]
    clause = find_clause(text, head)
    if clause.is_inverted or clause.finite.number < mark.number:
        raise RefusalError("the condition has another form")
    return build_negation(text, clause)


def remove_negation(text: EditableText, place: FoundPlace, rule: EditRule, table: EditTable) -> list[Splice]:
    """Remove *not* after an auxiliary; *do not go* becomes *go*, *does not go* becomes *goes*."""
    del rule, table
    token = place.get_token()
    if token.number == 0:
        raise RefusalError("the sentence has another form")
    operator = text.tokens[token.number - 1]
    # What tokenizers leave of "can't", "won't" and "shan't".
    full = {"ca": "can", "wo": "will", "sha": "shall"}.get(operator.lower, operator.form)
    head = text.tokens[token.head]
    if operator.lower not in ("do", "does", "did"):
        if operator.lower not in (*CONTRACTED, "am", "may", "might", "ca", "wo", "'s", "'re", "'m", "'ll", "'ve"):
            raise RefusalError("the word before the negation is no auxiliary")
        return [Splice(operator.start, operator.end, full), Splice(operator.end, token.end, "")]
    verb = head if head.number > token.number else None
    if verb is None or verb.lower != verb.lemma or verb.tag not in ("VB", "VBP"):
        raise RefusalError("no bare verb follows the auxiliary")
    # "Does it not open?": without the negation, the question needs its auxiliary as before.
    inverted = any(
        child.number > token.number and child.number < verb.number for child in text.list_children(verb.number, "nsubj")
    )
    if inverted:
        return [Splice(operator.end, token.end, "")]
    if verb.number != token.number + 1:
        raise RefusalError("the verb does not follow the negation")
    # The tense and number that the auxiliary showed must now be shown by the verb.
    tag = {"do": "VBP", "does": "VBZ", "did": "VBD"}[operator.lower]
    return [Splice(operator.start, verb.end, inflect(verb.lemma, tag))]


_CASES = {
    "i": "me", "he": "him", "she": "her", "we": "us", "they": "them",
    "me": "I", "him": "he", "us": "we", "them": "they", "her": "she", "you": "you", "it": "it",
}  # fmt: skip


def swap_roles(text: EditableText, place: FoundPlace, rule: EditRule, table: EditTable) -> list[Splice]:
    """Exchange the subject and the object, with the case of pronouns."""
    del rule, table
    clause = place.get_clause()
    subject, verb = clause.subject, clause.predicate
    objects = [child for child in text.list_children(verb.number) if child.relation == "obj"]
    if subject is None or len(objects) != 1 or not has_relation(subject.relation, ["nsubj"]):
        raise RefusalError("the verb does not have one subject and one object")
    if is_number_marked(subject, objects[0]):
        raise RefusalError("subject and object differ in number")
    first, second = clause.subject_span, text.find_span(objects[0].number)
    if second[0] < first[1] or clause.question_role == "subject":
        raise RefusalError("the object does not follow the subject")
    names = [text.slice_text(*first), text.slice_text(*second)]
    exchanged = [_CASES.get(name.casefold(), name) for name in names]
    # The subject has a capital because it begins the sentence, unless it is a name; below, the object gets one.
    if first[0] == 0 and subject.tag not in ("NNP", "NNPS") and names[0] != "I":
        exchanged[0] = exchanged[0][:1].lower() + exchanged[0][1:]
    spans = [(text.tokens[span[0]].start, text.tokens[span[1] - 1].end) for span in (first, second)]
    if first[0] == 0:
        exchanged[1] = exchanged[1][:1].upper() + exchanged[1][1:]
    return [Splice(*spans[0], exchanged[1]), Splice(*spans[1], exchanged[0])]


def is_number_marked(subject: EditableToken, other: EditableToken) -> bool:
    """Return whether two nouns differ in number, so that the verb would have to change."""
    plural = [
        token.tag in ("NNS", "NNPS") or token.lower in ("they", "them", "we", "us", "you") for token in (subject, other)
    ]
    return plural[0] != plural[1] or "i" in (subject.lower, other.lower) or "me" in (subject.lower, other.lower)


def ask_to_avoid(_: EditableText, place: FoundPlace, rule: EditRule, table: EditTable) -> list[Splice]:
    """Put *avoid* and the *-ing* form in place of a verb."""
    del rule, table
    verb = place.get_clause().predicate
    return [Splice(verb.start, verb.end, f"avoid {inflect(verb.lemma, 'VBG')}")]


CLAUSE_CHANGES = {
    "negate": negate_clause,
    "negate past": negate_past,
    "negate question": negate_question,
    "negate verb": negate_verb,
    "past": put_in_past,
    "future of past": put_past_in_future,
    "future of past question": put_past_question_in_future,
    "past of future": put_future_in_past,
    "ask why not": ask_why_not,
    "ask when": ask_when,
    "modal": replace_modal,
    "need": replace_need,
    "negate condition": negate_condition,
    "remove negation": remove_negation,
    "swap roles": swap_roles,
    "avoid": ask_to_avoid,
}
