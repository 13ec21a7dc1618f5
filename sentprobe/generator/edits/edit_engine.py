"""Edits of texts by the rules of a table: one for each kind that fits, or the reason why there is none."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from sentprobe.generator.edits.clause_changes import CLAUSE_CHANGES
from sentprobe.generator.edits.edit_clauses import FiniteClause, FoundPlace, find_clause
from sentprobe.generator.edits.edit_table import EditRule, EditTable
from sentprobe.generator.edits.edit_text import EditableText, RefusalError, Splice, describe_change, replace_parts
from sentprobe.generator.edits.variant_changes import VARIANT_CHANGES
from sentprobe.generator.edits.word_changes import WORD_CHANGES, exchange_object, find_own_phrase, replace_name

CHANGES: Mapping[str, Callable[[EditableText, FoundPlace, EditRule, EditTable], Sequence[Splice]]] = {
    **WORD_CHANGES,
    **CLAUSE_CHANGES,
    **VARIANT_CHANGES,
}
"""Every change by its name. It gets the text, the place, the rule and the table, and returns the replaced parts."""


class TextEdit(NamedTuple):
    """A text and its edit; *same* is whether both mean the same."""

    a: str
    b: str
    same: int
    kind: str
    rule: str
    changed: str
    """The words that were removed, and those that were added: ``is > was``."""


NO_PATTERN = "no rule's pattern occurs"
NO_PARSE = "without a parser, only numbers, dates and units"


def edit_text(text: EditableText, rules: Sequence[EditRule], table: EditTable) -> tuple[list[TextEdit], str]:
    """Return the edits of a text, at most one for each kind; if there is none, also the reason, else an empty text.

    A text without tokens gets the edits that need no parse.
    """
    if problem := _find_problem(text, table.text_problems):
        return [], problem
    problem = _find_problem(text, table.sentence_problems)
    edits: dict[str, TextEdit] = {}
    reasons: list[str] = []
    for rule in rules:
        # Rules of a kind are in order of preference: the first that applies is the kind's edit.
        if rule.kind.name in edits:
            continue
        if rule.needs_parse and (problem or not text.tokens):
            reasons.append(problem or NO_PARSE)
            continue
        try:
            edit = apply_rule(rule, text, table)
        except RefusalError as refusal:
            reasons.append(str(refusal))
            continue
        if edit is not None:
            edits[rule.kind.name] = edit
    if edits:
        return list(edits.values()), ""
    return [], _choose_reason(reasons)


def _find_problem(text: EditableText, problems: Sequence[tuple[re.Pattern[str], str]]) -> str:
    return next((reason for pattern, reason in problems if pattern.search(text.text)), "")


def _choose_reason(reasons: Sequence[str]) -> str:
    """Return the most telling reason: that of a rule that nearly fitted, before those of rules that found nothing."""
    return next((reason for reason in reasons if reason != NO_PARSE), reasons[0] if reasons else NO_PATTERN)


def takes_own_phrases(rule: EditRule) -> bool:
    """Return whether the change of a rule takes words from the user's other texts."""
    return CHANGES[rule.change] in (exchange_object, replace_name)


def collect_phrases(text: EditableText, rules: Sequence[EditRule], table: EditTable) -> None:
    """Add the objects and names of a text that a rule could exchange to the sample of the table."""
    if table.own_phrases is None or _find_problem(text, [*table.text_problems, *table.sentence_problems]):
        return
    for rule in rules:
        for place in _find_places(rule, text) if takes_own_phrases(rule) else ():
            try:
                _check_conditions(rule, text, place)
            except RefusalError:
                continue
            table.own_phrases.add(*find_own_phrase(rule, text, place.get_token()))


def apply_rule(rule: EditRule, text: EditableText, table: EditTable) -> TextEdit | None:
    """Return the edit of a rule; None if its pattern does not occur. Raises RefusalError for a condition."""
    refusal: RefusalError | None = None
    for place in _find_places(rule, text):
        try:
            _check_conditions(rule, text, place)
            replacements = CHANGES[rule.change](text, place, rule, table)
            return _build_edit(rule, text, replacements)
        except RefusalError as error:
            refusal = error
    if refusal is not None:
        raise refusal
    return None


def _find_places(rule: EditRule, text: EditableText) -> Iterator[FoundPlace]:
    if rule.match is not None:
        for match in rule.match.finditer(text.text):
            yield FoundPlace(match=match)
        return
    if rule.find is not None:
        for token in text.tokens:
            if rule.find.fits(text, token) and all(pattern.fits(text, token) for pattern in rule.where):
                yield FoundPlace(token=token, clause=_find_fitting_clause(rule, text))
        return
    clause = _find_fitting_clause(rule, text)
    if clause is not None and all(pattern.fits(text, clause.predicate) for pattern in rule.where):
        yield FoundPlace(token=clause.predicate, clause=clause)


def _find_fitting_clause(rule: EditRule, text: EditableText) -> FiniteClause | None:
    """Return the main clause if it passes the rule's tests; None if the rule has none, or the clause is another."""
    if rule.clause is None:
        return None
    clause = find_clause(text)
    tests = rule.clause
    values = {
        "mood": clause.mood.value,
        "operator": clause.operator_lemma,
        "past": clause.is_past,
        "role": clause.question_role,
        "question": clause.question_word.lower if clause.question_word else "",
    }
    for name, allowed in tests.items():
        if isinstance(allowed, list):
            if values[name] not in allowed:
                return None
        elif values[name] != allowed:
            return None
    return clause


def _check_conditions(rule: EditRule, text: EditableText, place: FoundPlace) -> None:
    if rule.find is not None and rule.clause is not None and place.clause is None:
        raise RefusalError("the sentence has another form")
    for expression, reason in rule.unless_text:
        if expression.search(text.text):
            raise RefusalError(reason)
    if place.token is not None:
        for pattern, reason in rule.unless:
            if pattern.fits(text, place.token):
                raise RefusalError(reason)


def _build_edit(rule: EditRule, text: EditableText, replacements: Sequence[Splice]) -> TextEdit:
    after = replace_parts(text.text, replacements)
    if after == text.text:
        raise RefusalError("the change changes nothing")
    return TextEdit(text.text, after, int(rule.kind.same), rule.kind.name, rule.name, describe_change(text.text, after))
