"""A text with a dependency parse, aligned to the characters of the text, and the replacement of parts of the text.

The parse comes in as a value, so that any parser with Penn tags and Universal Dependencies serves.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from sentprobe.generator.edits.inflection import inflect


class EditableToken(NamedTuple):
    """A token: its place in the sentence, and *start* and *end* in the characters of the text."""

    number: int
    form: str
    lower: str
    start: int
    end: int
    tag: str
    """The Penn tag."""
    lemma: str
    head: int
    """The index of the head; -1 for the root."""
    relation: str


class Splice(NamedTuple):
    """The characters from *start* to *end* become *text*."""

    start: int
    end: int
    text: str


class RefusalError(Exception):
    """A rule does not fit a text; the message is the reason."""


@dataclass(frozen=True, slots=True)
class EditableText:
    """A text of one sentence, with its tokens. A text without a parse has no tokens."""

    text: str
    tokens: tuple[EditableToken, ...] = ()
    children: tuple[tuple[int, ...], ...] = ()
    """The indices of each token's dependents, in order."""
    language: str = "en"
    cache: dict[object, object] = field(default_factory=dict, compare=False, repr=False)
    """What rules derive from the parse, such as the clauses, so that it is derived once."""

    @property
    def roots(self) -> list[EditableToken]:
        """The tokens without a head; a parse of one sentence has exactly one."""
        return [token for token in self.tokens if token.head < 0]

    def list_children(self, index: int, *relations: str) -> list[EditableToken]:
        """Return the dependents of a token; with *relations*, only those. ``nsubj`` includes ``nsubj:pass``."""
        children = [self.tokens[child] for child in self.children[index]]
        if not relations:
            return children
        return [child for child in children if has_relation(child.relation, relations)]

    def find_span(self, index: int) -> tuple[int, int]:
        """Return the indices of the first token of a subtree, and of the first token after it."""
        reached: set[int] = set()  # a parse from a file may have circles
        pending = [index]
        while pending:
            node = pending.pop()
            if node not in reached:
                reached.add(node)
                pending += self.children[node]
        return min(reached), max(reached) + 1

    def slice_text(self, first: int, end: int) -> str:
        """Return the text of the tokens from *first* to before *end*."""
        return self.text[self.tokens[first].start : self.tokens[end - 1].end]


def has_relation(relation: str, relations: Iterable[str]) -> bool:
    """Return whether a relation, such as nsubj:pass, is one of *relations* or a subtype of one, such as nsubj."""
    return relation in relations or relation.partition(":")[0] in relations


VERB_TAGS = frozenset(("VB", "VBD", "VBG", "VBN", "VBP", "VBZ", "MD"))
NOUN_TAGS = frozenset(("NN", "NNS", "NNP", "NNPS"))
_LEMMA_KINDS = {"V": "VERB", "N": "NOUN", "J": "ADJ", "R": "ADV", "M": "AUX"}
_CLITICS = {"'s": "be", "'re": "be", "'m": "be", "'ve": "have", "'ll": "will", "n't": "not", "ca": "can", "wo": "will"}


@lru_cache(maxsize=20_000)
def find_lemma(lower: str, tag: str) -> str:
    """Return the lemma of a word in small letters with a Penn tag.

    >>> find_lemma("costs", "VBZ"), find_lemma("n't", "RB"), find_lemma("better", "JJR")
    ('cost', 'not', 'good')
    """
    if lower in _CLITICS and not (lower == "'s" and tag == "POS"):
        return _CLITICS[lower]
    kind = _LEMMA_KINDS.get(tag[:1])
    if kind is None or tag in ("NNP", "NNPS", "RP") or not lower.isalpha():
        return lower
    # Imported late: its tables take seconds to load, and most words and other commands need none.
    from lemminflect import getLemma

    return next(iter(getLemma(lower, upos=kind)), lower)


_ATTACHED_VERBS = frozenset(("'m", "'re", "'ve", "'ll", "'d"))
_PRONOUNS = frozenset(
    ("i", "you", "he", "she", "it", "we", "they", "that", "there", "this", "who", "what", "where", "here")
)


def _mend_contractions(tokens: list[EditableToken]) -> None:
    """Set the relation and tag of contracted verbs and *n't*, which are certain from their forms.

    A parser that learned a contraction as one word gives its parts the tag and relation of one part.
    """
    for previous, token in pairwise(tokens):
        if token.lower == "n't":
            tokens[token.number] = token._replace(tag="RB", lemma="not", relation="advmod")
            verb = previous
        elif token.lower in _ATTACHED_VERBS or (
            token.lower == "'s" and previous.lower in _PRONOUNS and token.tag != "POS"
        ):
            verb = token
        else:
            continue
        # In Universal Dependencies, a contracted verb that depends on another word is its auxiliary or copula.
        if verb.head >= 0 and not has_relation(verb.relation, ("aux", "cop")):
            is_copula = verb.lemma == "be" and tokens[verb.head].tag not in VERB_TAGS
            tokens[verb.number] = verb._replace(relation="cop" if is_copula else "aux")


def _mend_finite_verbs(tokens: list[EditableToken], children: Sequence[Sequence[int]]) -> None:
    """Tag a verb with a subject and no auxiliary as finite: a participle as a past, an infinitive as a present."""
    for token in tokens:
        relations = {tokens[child].relation for child in children[token.number]}
        if token.tag not in ("VBN", "VB") or "nsubj" not in relations or relations & {"aux", "aux:pass", "cop", "mark"}:
            continue
        # Without an object, the participle may be a reduced passive: "the files sent yesterday".
        if token.tag == "VBN" and "obj" in relations and inflect(token.lemma, "VBD") == token.lower:
            tokens[token.number] = token._replace(tag="VBD")
        subject = next(tokens[child] for child in children[token.number] if tokens[child].relation == "nsubj")
        is_plural = subject.tag == "NNS" or subject.lower in ("i", "you", "we", "they")
        if token.tag == "VB" and token.lower == token.lemma and is_plural and subject.number < token.number:
            tokens[token.number] = token._replace(tag="VBP")


def build_editable_text(
    text: str,
    forms: Sequence[str],
    tags: Sequence[str],
    heads: Sequence[int],
    relations: Sequence[str],
    *,
    lemmas: Sequence[str] = (),
    language: str = "en",
) -> EditableText:
    """Return a text with its parse; heads are counted from 1, and 0 is the root.

    Raises RefusalError if the text does not contain the forms in their order, or they have no tags or heads.
    """
    if not (len(forms) == len(tags) == len(heads) == len(relations)):
        raise RefusalError("the parse has no tags or no dependencies")
    tokens, children = [], [list[int]() for _ in forms]
    for index, (form, (start, end)) in enumerate(zip(forms, align_forms(text, forms), strict=True)):
        tag, lower = tags[index], form.casefold().replace("’", "'")
        lemma = lemmas[index] if lemmas else find_lemma(lower, tag) if language == "en" else lower
        head = heads[index] - 1
        tokens.append(
            EditableToken(index, form, lower, start, end, tag, lemma.casefold(), head, relations[index].lower())
        )
        if 0 <= head < len(forms):
            children[head].append(index)
    if language == "en":
        _mend_contractions(tokens)
        _mend_finite_verbs(tokens, children)
    return EditableText(text, tuple(tokens), tuple(map(tuple, children)), language)


_MAX_GAP = 3


def align_forms(text: str, forms: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each form in the text. Raises RefusalError if a form is not near its place.

    >>> list(align_forms("I don't", ["I", "do", "n't"]))
    [(0, 1), (2, 4), (4, 7)]
    """
    position = 0
    for form in forms:
        start = text.find(form, position, position + len(form) + _MAX_GAP)
        if start < 0 or text[position:start].strip():
            raise RefusalError("the tokens of the parse are not those of the text")
        position = start + len(form)
        yield start, position


_VOWEL_SOUND = re.compile(
    r"(?:[aeio]|u(?!ni|s[aeu]|r[aiou]|til)|8|11(?!\d)|18(?!\d)|hou?r\b|hour|honest|heir)", re.IGNORECASE
)
_CONSONANT_SOUND = re.compile(r"(?:one\b|once|eu|uni|us[aeu])", re.IGNORECASE)
_ARTICLE = re.compile(r"\b(an?) $", re.IGNORECASE)
_BEGINNING = re.compile(r"[\W_]*$")


def begins_with_vowel_sound(text: str) -> bool:
    """Return whether *an* stands before a text.

    >>> [begins_with_vowel_sound(word) for word in ("hour", "user", "8 GB", "18", "80", "one", "offer")]
    [True, False, True, True, True, False, True]
    """
    return bool(_VOWEL_SOUND.match(text)) and not _CONSONANT_SOUND.match(text)


def replace_parts(text: str, replacements: Iterable[Splice]) -> str:
    """Return the text with parts replaced: with capitals as before, and *a* or *an* before a changed word.

    >>> replace_parts("Is it an hour?", [Splice(9, 13, "day")])
    'Is it a day?'
    """
    parts: list[str] = []
    position = 0
    for start, end, new in sorted(replacements):
        if start < position:
            raise RefusalError("two changes overlap")
        parts.append(text[position:start])
        old = text[start:end]
        if old[:1].isupper() and new[:1].islower() and _BEGINNING.match(text[:start]):
            new = new[:1].upper() + new[1:]  # noqa: PLW2901
        # An article before the change is among the last four characters, since "an" and a space take three.
        if old != new and old and new and (article := _ARTICLE.search("".join(parts)[-4:])):
            fitting = "an" if begins_with_vowel_sound(new) else "a"
            if article[1].lower() != fitting:
                before = "".join(parts)
                fitting = fitting.capitalize() if article[1][0].isupper() else fitting
                parts = [before[: -len(article[0])] + fitting + " "]
        parts.append(new)
        position = end
    parts.append(text[position:])
    result = "".join(parts)
    # A removed word leaves two spaces; a text that had two spaces before keeps its own.
    return (result if "  " in text else re.sub("  +", " ", result)).strip()


def describe_change(before: str, after: str) -> str:
    """Return the words that differ between two texts.

    >>> describe_change("Is it free?", "Was it free?")
    'Is > Was'
    """
    old, new = before.split(), after.split()
    first = 0
    while first < min(len(old), len(new)) and old[first] == new[first]:
        first += 1
    last = 0
    while last < min(len(old), len(new)) - first and old[-1 - last] == new[-1 - last]:
        last += 1
    removed, added = (" ".join(words[first : len(words) - last]).strip(".,?!;:()") for words in (old, new))
    return f"{removed} > {added}"
