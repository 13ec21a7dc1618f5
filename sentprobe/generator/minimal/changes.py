"""Changes: edits of the tokens of a good sentence that make a bad sentence with one error.

A change is text such as "replace finite number": replace the finite verb with a word from the table ``number``. It is
compiled once for each shape of sentences. A change names tokens by their path from the main verb in the dependency
tree: ``subject.det`` is the determiner of the subject, ``clause.verb`` the verb of the relative clause, and
``subject.phrase`` the subject with all tokens below it.
"""

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import NamedTuple, TypeAlias

from sentprobe.errors import UsageError
from sentprobe.generator.sentences.sentence import Sentence, Token
from sentprobe.grammars.derivation import PARENT

Alternatives: TypeAlias = Mapping[str, Sequence[str]]
"""The words that can replace a word, by the word's key from :func:`name_form`, such as "VBZ helps"."""

_RELATIONS = {
    "subject": ("nsubj", "nsubj:pass"),
    "object": ("obj",),
    "by": ("obl:agent",),
    "dative": ("obl:arg",),
    "recipient": ("iobj", "obl"),
    "det": ("det",),
    "case": ("case",),
    "aux": ("aux", "aux:pass"),
}
"""The dependency relations for each step of a path, such as ``subject``; :func:`_take_step` has more steps."""

SAME_WORDS, SAME_LENGTH, LONGER, SHORTER = "same words", "same length", "longer", "shorter"
_EFFECTS = {"swap": SAME_WORDS, "move": SAME_WORDS, "replace": SAME_LENGTH, "insert": LONGER, "delete": SHORTER}


class EditToken(NamedTuple):
    """A token of the bad sentence, which comes from the good sentence or is inserted.

    ``position`` is the token's position in the good sentence, from 0; PARENT for an inserted token. If ``table`` names
    a table, the word comes from that table. If not, an inserted token is ``word``; any other token stays the same.
    """

    position: int
    word: str = ""
    table: str = ""


SentenceEdit: TypeAlias = tuple[EditToken, ...]


def name_form(form: str, tag: str) -> str:
    """Return the key of an inflected form, such as "VBZ helps", in a table of the words that can replace the form."""
    return f"{tag} {form}"


def describe_word_overlap(change: str) -> str:
    """Return the effect of a change on a sentence: "same words", "same length", "longer" or "shorter"."""
    return _EFFECTS[change.partition(" ")[0]]


def find_tables(change: str) -> list[str]:
    """Return the names of the tables of words that a change uses.

    >>> find_tables("replace finite number"), find_tables("insert after verb the NOUN"), find_tables("delete by.case")
    (['number'], ['NOUN'], [])
    """
    name, *arguments = change.split()
    return arguments[1:] if name == "replace" else [word for word in arguments if word.isupper()]


def find_places(sentence: Sentence, path: str) -> range:
    """Return the positions, from 0, of the tokens at *path*, a path through the dependency tree.

    >>> from sentprobe.generator.sentences.sentence_records import annotate_text
    >>> from sentprobe.lexicon import english
    >>> sentence = annotate_text("the man that the doctors help is sleeping", english())
    >>> [(path, *find_places(sentence, path)) for path in ("finite", "clause.subject", "clause.subject.phrase")]
    [('finite', 6), ('clause.subject', 4), ('clause.subject.phrase', 3, 4)]
    """
    if path == "start":
        return range(1)
    tokens = sentence.tokens
    place = next(i for i, token in enumerate(tokens) if token.head == 0)
    for step in path.split("."):
        if step == "phrase":
            below = [i for i in range(len(tokens)) if _is_below(tokens, i, place)]
            return range(below[0], below[-1] + 1)
        place = _take_step(tokens, place, step)
    return range(place, place + 1)


def _is_below(tokens: Sequence[Token], place: int, top: int) -> bool:
    """Say whether the token at *place* is the token at *top*, or is below that token in the tree."""
    while place not in (PARENT, top):
        place = tokens[place].head - 1
    return place == top


def _take_step(tokens: Sequence[Token], place: int, step: str) -> int:
    if step == "verb":
        return place
    if step == "clause":
        return next(i for i, token in enumerate(tokens) if token.deprel == "acl:relcl")
    children = [i for i, token in enumerate(tokens) if token.head == place + 1]
    if step == "finite":
        return next((i for i in children if tokens[i].deprel in _RELATIONS["aux"]), place)
    if step in ("not", "adverb", "relativizer"):
        pos = {"not": "PART", "adverb": "ADV", "relativizer": "PRON"}[step]
        return next(i for i in children if tokens[i].upos == pos)
    return next(i for i in children if tokens[i].deprel in _RELATIONS[step])


def compile_change(change: str, sentence: Sentence) -> SentenceEdit:
    """Return *change* as an edit, which makes any good sentence with the shape of *sentence* into a bad one."""
    name, *arguments = change.split()
    edit = [EditToken(i) for i in range(len(sentence.tokens))]
    if name == "insert":
        side, path, *words = arguments
        places = find_places(sentence, path)
        at = places.start if side == "before" else places.stop
        edit[at:at] = [EditToken(PARENT, "", w) if w.isupper() else EditToken(PARENT, w) for w in words]
        return tuple(edit)
    places = find_places(sentence, arguments[0])
    if name == "replace":
        (at,) = places
        edit[at] = EditToken(at, "", arguments[1])
    elif name == "delete":
        del edit[places.start : places.stop]
    elif name == "move":
        (at,) = find_places(sentence, arguments[2])
        # To the place behind *at*, which the removal of an earlier token moves to the left.
        edit.insert(at + 1, edit.pop(places.start)) if at < places.start else edit.insert(at, edit.pop(places.start))
    else:
        first, second = sorted([places, find_places(sentence, arguments[1])], key=lambda part: part.start)
        parts = (edit[second.start : second.stop], edit[first.stop : second.start], edit[first.start : first.stop])
        edit[first.start : second.stop] = [token for part in parts for token in part]
    return tuple(edit)


def apply_edit(
    edit: SentenceEdit, words: Sequence[str], tags: Sequence[str], tables: Mapping[str, Alternatives], number: int
) -> list[str]:
    """Return the words of the bad sentence; *number* selects new words from *tables*."""
    bad = []
    for position, word, table in edit:
        if not table:
            bad.append(word if position == PARENT else words[position])
            continue
        key = "" if position == PARENT else name_form(words[position], tags[position])
        alternatives = tables[table].get(key, ())
        if not alternatives:
            raise UsageError(f"the lexicon has no word that can replace {words[position]!r} (table {table})")
        start = number * 2_654_435_761 % 4_294_967_296 % len(alternatives)  # Knuth's multiplicative hash
        choices = (alternatives[start - i] for i in range(len(alternatives)))
        bad.append(next((choice for choice in choices if choice not in words), alternatives[start]))
    return bad


def find_first_change(good: Sequence[str], bad: Sequence[str]) -> int:
    """Return the number, from 1, of the first token in which two sentences differ.

    >>> find_first_change(["who", "slept"], ["who", "slept", "the", "man"])
    3
    """
    return next(number for number, (a, b) in enumerate(zip_longest(good, bad), 1) if a != b)
