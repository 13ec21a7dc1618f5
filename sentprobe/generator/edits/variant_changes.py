"""Variants of the same meaning: indirect and polite questions, contractions, and the dative alternation."""

from sentprobe.generator.edits.clause_changes import CONTRACTED
from sentprobe.generator.edits.edit_clauses import ClauseMood, FiniteClause, FoundPlace
from sentprobe.generator.edits.edit_table import EditRule, EditTable
from sentprobe.generator.edits.edit_text import EditableText, RefusalError, Splice
from sentprobe.generator.edits.inflection import inflect


def ask_indirectly(text: EditableText, place: FoundPlace, rule: EditRule, table: EditTable) -> list[Splice]:
    """Put a question into the order of a statement, after an opening such as *Could you tell me*."""
    del table
    clause = place.get_clause()
    operator, subject, word = clause.operator, clause.subject, clause.question_word
    if operator is None or subject is None:
        raise RefusalError("the sentence has another form")
    first, end = clause.subject_span
    is_polar = clause.mood is ClauseMood.POLAR
    opening = rule.words["polar" if is_polar else "wh"]
    if not is_polar and word is None:
        raise RefusalError("the sentence has another form")
    start = text.tokens[0]
    if start.number != (operator.number if is_polar else word.number if word else -1):
        raise RefusalError("the question does not begin the text")
    # The first word is now inside the sentence: "How do I" becomes "Could you tell me how I".
    opening_word = start.form if start.form == "I" else start.form.lower()
    changes = [] if is_polar else [Splice(start.start, start.end, f"{opening} {opening_word}")]
    if not clause.is_inverted:
        return changes
    subject_text = text.slice_text(first, end)
    if is_polar:
        changes.append(Splice(operator.start, operator.end, opening))
    if clause.predicate.number == operator.number and not _has_predicate(text, clause):
        raise RefusalError("the parse has no predicate")
    # The operator moves behind the subject. A form of do disappears instead, and the verb takes its tense and number.
    if operator.lower not in ("do", "does", "did"):
        if not is_polar:
            changes.append(Splice(text.tokens[operator.number - 1].end, operator.end, ""))
        position = text.tokens[end - 1].end
        return [*changes, Splice(position, position, f" {_FULL_OPERATORS.get(operator.lower, operator.lower)}")]
    verb = clause.predicate
    if verb.tag not in ("VB", "VBP") or verb.number < end:
        raise RefusalError(f"no bare verb follows {subject_text!r}")
    if not is_polar:
        changes.append(Splice(text.tokens[operator.number - 1].end, operator.end, ""))
    tag = {"do": "VBP", "does": "VBZ", "did": "VBD"}[operator.lower]
    return [*changes, Splice(verb.start, verb.end, inflect(verb.lemma, tag))]


_FULL_OPERATORS = {"'s": "is", "'re": "are", "'m": "am", "'ll": "will", "'ve": "have"}


def _has_predicate(text: EditableText, clause: FiniteClause) -> bool:
    """Return whether a question with *be* has a predicate: a word after the subject, or a question word but *why*."""
    if clause.question_word is not None and clause.question_word.lower != "why":
        return True
    rest = text.tokens[clause.subject_span[1] :]
    return any(token.tag[:1].isalpha() for token in rest) or (
        clause.subject is not None and clause.subject.lower == "there"
    )


_CONTRACTIONS = {form: short for form, short in CONTRACTED.items() if form != "must"}


def contract_not(text: EditableText, place: FoundPlace, rule: EditRule, table: EditTable) -> list[Splice]:
    """Contract an auxiliary and *not*: do not > don't."""
    del rule, table
    token = place.get_token()
    operator = text.tokens[token.number - 1] if token.number else token
    if operator.lower not in _CONTRACTIONS:
        raise RefusalError("the word before the negation is no auxiliary")
    return [Splice(operator.start, token.end, _CONTRACTIONS[operator.lower])]


def expand_not(text: EditableText, place: FoundPlace, rule: EditRule, table: EditTable) -> list[Splice]:
    """Write a contracted *not* in full, where it follows its subject: don't > do not."""
    del rule, table
    token = place.get_token()
    operator = text.tokens[token.number - 1] if token.number else token
    full = next((form for form, short in _CONTRACTIONS.items() if short == operator.lower + "n't"), None)
    if full is None:
        raise RefusalError("the word before the negation is no auxiliary")
    return [Splice(operator.start, token.end, "cannot" if full == "can" else f"{full} not")]


def add_please(_: EditableText, place: FoundPlace, rule: EditRule, table: EditTable) -> list[Splice]:
    """Begin an order with *please*."""
    del rule, table
    verb = place.get_clause().predicate
    return [Splice(verb.start, verb.end, f"please {verb.lower}")]


def alternate_dative(text: EditableText, place: FoundPlace, rule: EditRule, table: EditTable) -> list[Splice]:
    """Put the recipient after the object: send me the file > send the file to me."""
    del rule, table
    verb = place.get_token()
    recipients = [child for child in text.list_children(verb.number) if child.relation == "iobj"]
    things = [child for child in text.list_children(verb.number) if child.relation == "obj"]
    if len(recipients) != 1 or len(things) != 1:
        raise RefusalError("the verb does not have one recipient and one object")
    first, second = text.find_span(recipients[0].number), text.find_span(things[0].number)
    if first[0] != verb.number + 1 or first[1] != second[0] or things[0].tag.startswith("PRP"):
        raise RefusalError("recipient and object do not follow the verb")
    start, end = text.tokens[first[0]].start, text.tokens[second[1] - 1].end
    return [Splice(start, end, f"{text.slice_text(*second)} to {text.slice_text(*first)}")]


VARIANT_CHANGES = {
    "indirect": ask_indirectly,
    "contract": contract_not,
    "expand": expand_not,
    "please": add_please,
    "dative": alternate_dative,
}
