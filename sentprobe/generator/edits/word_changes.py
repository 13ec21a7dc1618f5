"""Changes of one word: by a table of opposites, or by another name of its class."""

from sentprobe.generator.edits.edit_table import EditRule, EditTable
from sentprobe.generator.edits.edit_text import EditableText, RefusalError, Splice
from sentprobe.generator.edits.found_place import FoundPlace
from sentprobe.generator.edits.inflection import inflect


def replace_form(text: EditableText, place: FoundPlace, rule: EditRule, table: EditTable) -> list[Splice]:
    """Replace a word by the one that the rule's table names for its form."""
    del text, table
    token = place.get_token()
    if token.lower not in rule.words:
        raise RefusalError("no word is known that could replace another")
    return [Splice(token.start, token.end, rule.words[token.lower])]


def replace_lemma(text: EditableText, place: FoundPlace, rule: EditRule, table: EditTable) -> list[Splice]:
    """Replace a word by its opposite, in the same form; of several words the first is inflected."""
    del text, table
    token = place.get_token()
    new = rule.words.get(token.lemma)
    if token.tag == "JJ" and token.lower != token.lemma:
        raise RefusalError("the adjective is compared")
    if new is None:
        raise RefusalError("no word is known that could replace another")
    first, *others = new.split(" ")
    return [Splice(token.start, token.end, " ".join([inflect(first, token.tag), *others]))]


def replace_name(text: EditableText, place: FoundPlace, rule: EditRule, table: EditTable) -> list[Splice]:
    """Replace a name by the next one of its class that the text lacks."""
    del table
    token = place.get_token()
    name = rule.words.get(token.form)
    while name is not None and name in text.text:
        name = rule.words.get(name)
        if name == token.form:
            name = None
    if name is None:
        raise RefusalError("no word is known that could replace another")
    return [Splice(token.start, token.end, name)]


def exchange_ends(text: EditableText, place: FoundPlace, rule: EditRule, table: EditTable) -> list[Splice]:
    """Exchange the names after *from* and *to*."""
    del rule, table
    origin = place.get_token()
    goals = [token for token in text.tokens[origin.number + 1 :] if token.lower == "to" and token.relation == "case"]
    if len(goals) != 1:
        raise RefusalError("there is not one phrase with 'to'")
    first, second = text.tokens[origin.head], text.tokens[goals[0].head]
    spans = text.find_span(first.number), text.find_span(second.number)
    if not spans[0][0] <= origin.number < first.number < goals[0].number < second.number:
        raise RefusalError("the parse is not one of two places")
    places = [(origin.number + 1, first.number + 1), (goals[0].number + 1, second.number + 1)]
    if places[0][1] != goals[0].number:
        raise RefusalError("'to' does not follow the first place")
    texts = [text.slice_text(*place_span) for place_span in places]
    offsets = [(text.tokens[a].start, text.tokens[b - 1].end) for a, b in places]
    return [Splice(*offsets[0], texts[1]), Splice(*offsets[1], texts[0])]


WORD_CHANGES = {"form": replace_form, "lemma": replace_lemma, "name": replace_name, "exchange ends": exchange_ends}
