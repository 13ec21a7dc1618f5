"""Changes: edits of the tokens of a good sentence that make a bad sentence with one error, and tables of wrong words.

A change is text such as "replace finite number": replace the finite verb with a word from the table ``number``. It is
compiled once for each shape of sentences. A change names tokens by their path from the main verb in the dependency
tree: ``subject.det`` is the determiner of the subject, ``clause.verb`` the verb of the relative clause, and
``subject.phrase`` the subject with all tokens below it.

A table has, for each word of a good sentence, the words that can replace it in the bad sentence.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, zip_longest
from typing import NamedTuple, TypeAlias

from sentprobe.common.errors import UsageError
from sentprobe.generator.pairs.paradigms import has_clear_forms, takes_persons
from sentprobe.generator.sentences.sentence import Sentence, Token
from sentprobe.generator.sentences.sentence_records import json_escape
from sentprobe.grammars.derivation import PARENT
from sentprobe.lexicon import Flag, Form, Kind, Lexicon, Word
from sentprobe.lexicon.languages.german import GERMAN
from sentprobe.lexicon.words import PERSON, VERB_FORMS, VERBS, Vocabulary

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
    """Return the names of the tables of words that a change uses."""
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


_Rows: TypeAlias = Iterator[tuple[str, Sequence[str]]]
"""Pairs of a good word's key, such as "VBZ helps", and the words that can replace the good word."""
_Table: TypeAlias = Callable[[Lexicon, Vocabulary, Collection[str]], _Rows]
"""Function that builds a table. The frames in its last argument exclude verbs that could replace other verbs."""


def _list_words(kinds: frozenset[Kind], lexicon: Lexicon, vocabulary: Vocabulary) -> list[Word]:
    return [lexicon.get(lemma, kind) for kind in sorted(kinds) for lemma in vocabulary.words.get(kind, ())]


_NUMBERS = ("hat haben", "hatte hatten", "ist sind", "war waren", "wird werden", "wurde wurden")
_CASES = {"nominative": "der", "accusative": "den", "dative": "dem"}
"""The article of a masculine singular noun in each case; the relative pronoun has the same form."""
_FINITE_FORMS = (("VVFIN.sg.pres", "VVFIN.pl.pres"), ("VVFIN.sg.past", "VVFIN.pl.past"))
_NOUN_FORMS = ("NN.sg.nom", "NN.pl.nom")


def _exchange(tag: str, groups: Sequence[Sequence[str]]) -> _Rows:
    """Yield the wrong words for each word of each group: the other words of the group."""
    for group in groups:
        for word in group:
            yield name_form(word, tag), [counterpart for counterpart in group if counterpart != word]


def _list_german_numbers(lexicon: Lexicon, vocabulary: Vocabulary, _: Collection[str]) -> _Rows:
    """Yield the wrong word for each auxiliary, verb and noun: its form in the other number, *haben* for *hat*."""
    verbs = _list_words(VERBS, lexicon, vocabulary)
    nouns = _list_words(frozenset({Kind.NOUN}), lexicon, vocabulary)
    finite_pairs = [[verb.forms[form] for form in pair] for verb in verbs for pair in _FINITE_FORMS]
    yield from _exchange("VAFIN", [pair.split() for pair in _NUMBERS])
    yield from _exchange("VVFIN", finite_pairs)
    yield from _exchange("NN", [[noun.forms[form] for form in _NOUN_FORMS] for noun in nouns])


def _list_articles(*_: object, target: str) -> _Rows:
    """Yield *target* as the wrong word for other masculine articles and relative pronouns: ("ART der", ["den"])."""
    for article in _CASES.values():
        if article != target:
            yield from ((name_form(article, tag), [target]) for tag in ("ART", "PRELS"))


def _list_bare_nouns(lexicon: Lexicon, vocabulary: Vocabulary, _: Collection[str]) -> _Rows:
    """Yield the wrong word for each accusative singular that differs from the nominative: *Student* for *Studenten*."""
    for noun in _list_words(frozenset({Kind.NOUN}), lexicon, vocabulary):
        if noun.forms["NN.sg.acc"] != noun.lemma:
            yield name_form(noun.forms["NN.sg.acc"], "NN"), [noun.lemma]


_GERMAN: Mapping[str, _Table] = {
    "number": _list_german_numbers,
    "auxiliary": lambda *_: _exchange("VAFIN", [*zip(*GERMAN.perfect_auxiliaries.values(), strict=True)]),
    "gender": lambda *_: _exchange("ART", [["der", "die", "das"]]),
    "lemma": _list_bare_nouns,
    **{case: partial(_list_articles, target=target) for case, target in _CASES.items()},
}

_AUXILIARIES = (("VBZ is", "VBP are"), ("VBD was", "VBD were"), ("VBZ does", "VBP do"))
_FORMS_OF_BE: Mapping[str, Sequence[str]] = {"VBZ has": ["is"], "VBP have": ["are"]}
_GENDERS: Mapping[str, Sequence[str]] = {"PRP himself": ["herself"], "PRP herself": ["himself"]}
_PRONOUN_NUMBERS: Mapping[str, Sequence[str]] = {
    "PRP themselves": ["himself", "herself"],
    **{key: ["themselves"] for key in _GENDERS},
}
_NUMBER_FORMS = (
    (Form.NN, Form.NNS),
    (Form.VBZ, Form.VBP),
    (Form.DT_SG, Form.DT_PL),
    (Form.DT_SG_VOWEL, Form.DT_PL_VOWEL),
)


def build_alternatives(
    name: str, lexicon: Lexicon, vocabulary: Vocabulary, lacks: Collection[str] = ()
) -> Alternatives:
    """Return the table *name*, which maps a good word to the wrong words that can replace it.

    *name* is a table's name, such as "number", or the tag of a verb form: "VBG" maps *helps* to *helping*. Only verbs
    that have none of the frames *lacks* can replace other verbs. Words are escaped as in JSON strings.
    """
    tables = _TABLES[lexicon.language.code]
    if name in tables:
        rows = tables[name](lexicon, vocabulary, lacks)
    else:
        target, verbs = Form(name), _list_words(VERBS, lexicon, vocabulary)
        rows = ((name_form(verb.forms[form], form), [verb.forms[target]]) for verb in verbs for form in VERB_FORMS)
    return {json_escape(key): [*map(json_escape, words)] for key, words in rows if words}


def _list_numbers(lexicon: Lexicon, vocabulary: Vocabulary, _: Collection[str]) -> _Rows:
    """Yield the key of each singular or plural form ("VBZ helps") and its wrong words: forms in the other number."""
    for pair in _AUXILIARIES:
        for key, counterpart in (pair, pair[::-1]):
            yield key, [counterpart.partition(" ")[2]]
    yield from _PRONOUN_NUMBERS.items()
    words = chain(_list_words(VERBS | {Kind.NOUN}, lexicon, vocabulary), lexicon.words(Kind.DETERMINER))
    yield from _exchange_forms(words, _NUMBER_FORMS)


def _exchange_forms(words: Iterator[Word] | Sequence[Word], pairs: Sequence[tuple[Form, Form]]) -> _Rows:
    for word in words:
        for pair in pairs:
            for form, target in (pair, pair[::-1]):
                if form in word.forms and word.forms.get(target, word.forms[form]) != word.forms[form]:
                    yield name_form(word.forms[form], form.value.partition(".")[0]), [word.forms[target]]


def _list_verbs(kind: Kind, lexicon: Lexicon, vocabulary: Vocabulary, lacks: Collection[str]) -> _Rows:
    """Yield the key of each verb form ("VBZ helps") and its wrong words: the same form of the substitute verbs.

    A substitute verb is of *kind*, has unambiguous forms (see has_clear_forms), accepts persons in every role, and has
    none of the frames *lacks*. Its forms that are also another word ("flattering") replace no word.
    """
    verbs = [verb for verb in _list_words(frozenset({kind}), lexicon, vocabulary) if has_clear_forms(verb, lexicon)]
    verbs = [verb for verb in verbs if takes_persons(verb) and verb.frames.isdisjoint(lacks)]
    substitutes = {form: [verb.forms[form] for verb in verbs if form not in verb.ambiguous] for form in VERB_FORMS}
    for verb in _list_words(VERBS, lexicon, vocabulary):
        yield from ((name_form(verb.forms[form], form), substitutes[form]) for form in VERB_FORMS)


def _list_nouns(lexicon: Lexicon, vocabulary: Vocabulary, _: Collection[str]) -> _Rows:
    nouns = _list_words(frozenset({Kind.NOUN}), lexicon, vocabulary)
    yield "", [noun.forms[Form.NN] for noun in nouns if noun.sort == PERSON]


def _list_relativizers(lexicon: Lexicon, _: Vocabulary, __: Collection[str]) -> _Rows:
    """Yield (key, wrong words) for each relativizer form. The wrong words, such as *which*, cannot refer to persons."""
    words = lexicon.words(Kind.RELATIVIZER)
    impersonal_forms = [form for word in words if not word.accepts([PERSON]) for form in word.forms.values()]
    for word in words:
        for form, text in word.forms.items():
            yield name_form(text, form), impersonal_forms


def _list_polarity_items(lexicon: Lexicon, _: Vocabulary, __: Collection[str]) -> _Rows:
    """Yield the wrong words: polarity items (*ever* in place of an adverb, *any* in place of a determiner)."""
    for kind in (Kind.ADVERB, Kind.DETERMINER):
        items = [word for word in lexicon.words(kind) if Flag.NPI in word.flags]
        for word in lexicon.words(kind):
            for form, text in word.forms.items() if Flag.NPI not in word.flags else ():
                tag = form.value.partition(".")[0]
                yield name_form(text, tag), [item.forms[form] for item in items if form in item.forms]


def _list_adverbs(lexicon: Lexicon, vocabulary: Vocabulary, lacks: Collection[str]) -> _Rows:
    adverbs = [w for w in _list_words(frozenset({Kind.ADVERB}), lexicon, vocabulary) if w.frames.isdisjoint(lacks)]
    yield "RB not", [adverb.forms[Form.RB] for adverb in adverbs]


_ENGLISH: Mapping[str, _Table] = {
    "number": _list_numbers,
    "onset": lambda lexicon, *_: _exchange_forms(lexicon.words(Kind.DETERMINER), [(Form.DT_SG, Form.DT_SG_VOWEL)]),
    "transitive": partial(_list_verbs, Kind.TRANSITIVE),
    "intransitive": partial(_list_verbs, Kind.INTRANSITIVE),
    "NOUN": _list_nouns,
    "gender": lambda *_: iter(_GENDERS.items()),
    "npi": _list_polarity_items,
    "be": lambda *_: iter(_FORMS_OF_BE.items()),
    "adverb": _list_adverbs,
    "MODAL": lambda lexicon, *_: iter([("", [modal.forms[Form.MD] for modal in lexicon.words(Kind.MODAL)])]),
    "which": _list_relativizers,
}


_TABLES: Mapping[str, Mapping[str, _Table]] = {"en": _ENGLISH, "de": _GERMAN}
"""The builders of the tables of each language, by the name of the table."""
