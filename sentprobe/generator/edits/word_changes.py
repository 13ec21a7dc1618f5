"""Changes of one word: another number, date or unit, an opposite from a table, or another name of its class."""

import re
from collections.abc import Callable, Mapping

from sentprobe.generator.edits.edit_clauses import FoundPlace
from sentprobe.generator.edits.edit_table import EditRule, EditTable
from sentprobe.generator.edits.edit_text import EditableText, EditableToken, RefusalError, Splice
from sentprobe.generator.edits.inflection import inflect
from sentprobe.generator.edits.own_phrases import OwnPhrase, build_phrase, find_verb

_DIGIT_CHANGES = {"0": "0", "1": "3", "2": "4", "3": "5", "4": "2", "5": "3", "6": "4", "7": "5", "8": "6", "9": "7"}

_GERMAN_SIGNS = str.maketrans(".,", ",.")


def choose_number(digits: str, natural: Mapping[str, str]) -> str:
    """Return another number of the same form: thousands separators, decimals and final zeros stay.

    >>> [choose_number(text, {"24": "48"}) for text in ("24", "500", "1,200", "3.11", "18")]
    ['48', '300', '3,200', '3.13', '16']
    """
    if digits in natural:
        return natural[digits]
    if "." in digits:
        whole, _, part = digits.rpartition(".")
        last = part[-1]
        changed = "5" if last == "0" else _DIGIT_CHANGES[last]
        return f"{whole}.{part[:-1]}{changed}"
    significant = digits.rstrip("0,") or digits
    if len(significant.replace(",", "")) <= 1 or "," in digits:
        return _DIGIT_CHANGES[digits[0]] + digits[1:]
    return digits[: len(significant) - 1] + _DIGIT_CHANGES[digits[len(significant) - 1]] + digits[len(significant) :]


def change_number(_: EditableText, place: FoundPlace, rule: EditRule, table: EditTable) -> list[Splice]:
    """Replace the group ``x``, a number in digits."""
    start, end = place.get_match().span("x")
    digits = place.get_match()["x"]
    if not digits.isascii():
        raise RefusalError("the digits are those of another script")
    if set(digits) <= {"0", ".", ","}:
        raise RefusalError("the number is zero")
    swapped = digits.translate(_GERMAN_SIGNS) if table.language == "de" else digits
    new = choose_number(swapped, rule.words or table.lists.get("natural_numbers", {}))
    return [Splice(start, end, new.translate(_GERMAN_SIGNS) if table.language == "de" else new)]


def choose_listed(word: str, successors: Mapping[str, str], *, is_there: Callable[[str], bool]) -> str:
    """Return the next word of a list that the text lacks. Raises RefusalError if there is none.

    A word to which the list does not lead back (*km*: *miles*, *kilometers*) may be another spelling of a later one:
    only its own successor replaces it.

    >>> listed = {"km": "miles", "miles": "kilometers", "kilometers": "miles", "a": "b", "b": "c", "c": "a"}
    >>> [choose_listed(word, listed, is_there=lambda other: other == "b") for word in ("km", "a", "c")]
    ['miles', 'c', 'a']
    """
    path, new = [word], successors.get(word)
    while new is not None and new not in path:
        path.append(new)
        new = successors.get(new)
    others = path[1:] if new == word else path[1:2]
    if not others:
        raise RefusalError("no word is known that could replace another")
    chosen = next((other for other in others if not is_there(other)), None)
    if chosen is None:
        raise RefusalError("the text has all words that could replace one another")
    return chosen


def is_in_text(words: str, text: EditableText) -> bool:
    """Say whether a text has words, in any case."""
    return re.search(rf"(?<!\w){re.escape(words.casefold())}(?!\w)", text.text.casefold()) is not None


def change_listed(text: EditableText, place: FoundPlace, rule: EditRule, table: EditTable) -> list[Splice]:
    """Replace the group ``x`` by the word that the rule's table names, or by the next one that the text lacks."""
    del table
    match = place.get_match()
    word = match["x"]
    new = choose_listed(
        next((key for key in rule.words if key.casefold() == word.casefold()), word),
        rule.words,
        is_there=lambda other: is_in_text(other, text),
    )
    # One capital letter alone may be the first letter of a word written "A": only longer words are "in capitals".
    if word.isupper() and len(word) > 1 and new.isalpha():
        new = new.upper()
    elif word[:1].isupper():
        new = new[:1].upper() + new[1:]
    return [Splice(*match.span("x"), new)]


_LONG_MONTHS = ("January", "March", "May", "July", "August", "October", "December")


def change_month(text: EditableText, place: FoundPlace, rule: EditRule, table: EditTable) -> list[Splice]:
    """Replace a month by one with 31 days, so that every day exists."""
    del table, rule
    match = place.get_match()
    candidates = [name for name in _LONG_MONTHS if name not in text.text and name != "May"]
    if not candidates:
        raise RefusalError("the text has all words that could replace one another")
    months = [*_LONG_MONTHS]
    offset = months.index(match["x"]) if match["x"] in months else len(match["x"])
    return [Splice(*match.span("x"), candidates[(offset + 2) % len(candidates)])]


def change_year(text: EditableText, place: FoundPlace, rule: EditRule, table: EditTable) -> list[Splice]:
    """Replace a year by one that is three years earlier (a decade: twenty years)."""
    del table, rule
    match = place.get_match()
    year = int(match["x"])
    step = 20 if text.text[match.end("x") :][:1] == "s" else 3
    return [Splice(*match.span("x"), str(year - step))]


def change_hour(_: EditableText, place: FoundPlace, rule: EditRule, table: EditTable) -> list[Splice]:
    """Replace an hour of the clock by one two hours earlier or later, in the same half of the day."""
    del table, rule
    match = place.get_match()
    hour = int(match["x"])
    if not 0 < hour <= 24:
        raise RefusalError("the number is no hour")
    new = hour - 2 if hour > 2 and hour != 12 else 4 if hour == 12 else hour + 2
    return [Splice(*match.span("x"), str(new).zfill(len(match["x"])) if match["x"][0] == "0" else str(new))]


def replace_form(text: EditableText, place: FoundPlace, rule: EditRule, table: EditTable) -> list[Splice]:
    """Replace a word by the one that the rule's table names for its form."""
    del text, table
    token = place.get_token()
    if token.lower not in rule.words:
        raise RefusalError("no word is known that could replace another")
    return [Splice(token.start, token.end, rule.words[token.lower])]


def replace_lemma(text: EditableText, place: FoundPlace, rule: EditRule, table: EditTable) -> list[Splice]:
    """Replace a word by its opposite, in the same form; of several words the first is inflected."""
    del table
    token = place.get_token()
    new = rule.words.get(token.lemma)
    if token.tag == "JJ" and token.lower != token.lemma:
        raise RefusalError("the adjective is compared")
    if new is None:
        raise RefusalError("no word is known that could replace another")
    first, *others = new.split(" ")
    new = " ".join([inflect(first, token.tag), *others])
    if is_in_text(new, text):  # else one thing is named twice: "the paid plan and the paid plan"
        raise RefusalError("the text has all words that could replace one another")
    return [Splice(token.start, token.end, new)]


def find_own_phrase(rule: EditRule, text: EditableText, token: EditableToken) -> tuple[str, OwnPhrase]:
    """Return what a text gives to other texts: a name with its class, or an object with its verb."""
    if rule.change == "name":
        return find_name_class(token.form, rule.words), OwnPhrase(token.form, frozenset({token.form}))
    return find_verb(text, token), build_phrase(text, token)


def find_name_class(name: str, successors: Mapping[str, str]) -> str:
    """Return a name that stands for all names from which the list leads to the same ones.

    >>> listed = {"macOS": "Windows", "Windows": "Linux", "Linux": "Windows", "Excel": "Word"}
    >>> [find_name_class(name, listed) for name in ("macOS", "Windows", "Linux", "Excel")]
    ['Linux', 'Linux', 'Linux', 'Word']
    """
    path = [name]
    while (name := successors.get(name, "")) and name not in path:
        path.append(name)
    return min(path[path.index(name) :]) if name else path[-1]


def replace_name(text: EditableText, place: FoundPlace, rule: EditRule, table: EditTable) -> list[Splice]:
    """Replace a name by one of its class in the user's other texts, else by the next one in the list.

    The new name is not in the text.
    """
    token = place.get_token()
    here = OwnPhrase(token.form, frozenset(part.form for part in text.tokens))
    if table.own_phrases and (own := table.own_phrases.choose(find_name_class(token.form, rule.words), here)):
        return [Splice(token.start, token.end, own.text)]
    name = choose_listed(token.form, rule.words, is_there=lambda other: other in text.text)
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


def exchange_object(text: EditableText, place: FoundPlace, rule: EditRule, table: EditTable) -> list[Splice]:
    """Replace an object by one of the same verb in the user's other texts."""
    token = place.get_token()
    new = table.own_phrases.choose(*find_own_phrase(rule, text, token)) if table.own_phrases else None
    if new is None:
        raise RefusalError("no other text has an object of the verb that could replace this one")
    start, end = text.find_span(token.number)
    return [Splice(text.tokens[start].start, text.tokens[end - 1].end, new.text)]


WORD_CHANGES = {
    "number": change_number,
    "listed": change_listed,
    "month": change_month,
    "year": change_year,
    "hour": change_hour,
    "form": replace_form,
    "lemma": replace_lemma,
    "name": replace_name,
    "exchange ends": exchange_ends,
    "own object": exchange_object,
}
