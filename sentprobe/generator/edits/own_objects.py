"""Objects of verbs in the user's own texts, which can replace one another: a bounded sample for each verb."""

from collections import deque
from typing import NamedTuple

from sentprobe.generator.edits.edit_text import NOUN_TAGS, EditableText, EditableToken

VERBS = 5_000
"""Number of verbs whose objects are kept; the verb that came first is forgotten first."""
PHRASES = 12
"""Number of objects that are kept of each verb: the last ones."""


class ObjectPhrase(NamedTuple):
    """An object of a verb, with its determiner and modifiers, as the user wrote it."""

    text: str
    words: frozenset[str]
    """The lemmas of its nouns, adjectives and numbers."""
    is_definite: bool
    """Whether it has *the* or a possessive pronoun."""
    is_plural: bool
    follower: str
    """The word after it, if that is no punctuation mark: *to* in *transfer money to*; else an empty text."""

    def can_replace(self, other: "ObjectPhrase") -> bool:
        """Return whether the two are of one form, this one fits before what follows the other, and no word is common.

        A phrase that shares a word with another may be another name of the same thing: *email*, *email address*.
        """
        is_followed_alike = other.follower in ("", self.follower)
        return is_followed_alike and self.is_definite is other.is_definite and not self.words & other.words


def build_phrase(text: EditableText, token: EditableToken) -> ObjectPhrase:
    """Return the phrase whose head is *token*."""
    start, end = text.find_span(token.number)
    tokens = text.tokens[start:end]
    first = tokens[0]
    phrase = text.slice_text(start, end)
    if start == 0 and first.tag not in ("NNP", "NNPS"):
        phrase = phrase[:1].lower() + phrase[1:]
    words = frozenset(part.lemma for part in tokens if part.tag[:2] in ("NN", "JJ", "CD", "VB"))
    is_definite = first.lower == "the" or first.tag == "PRP$"
    follower = text.tokens[end].lower if end < len(text.tokens) and text.tokens[end].tag[0].isalpha() else ""
    return ObjectPhrase(phrase, words, is_definite, token.tag == "NNS", follower)


def find_verb(text: EditableText, token: EditableToken) -> str:
    """Return the lemma of the verb of an object, with its particle, and *it* if its subject is a noun.

    *I remove a card* and *the filter removes dirt* have other meanings of the verb: *remove* and *it remove*.
    """
    verb = text.tokens[token.head]
    particles = [child.lower for child in text.list_children(verb.number, "compound")]
    has_noun = any(subject.tag in NOUN_TAGS for subject in text.list_children(verb.number, "nsubj"))
    return " ".join([*["it"] * has_noun, verb.lemma, *particles])


class ObjectSample:
    """The objects of each verb in the texts so far. Its size does not depend on the number of texts."""

    def __init__(self) -> None:
        """Begin without texts."""
        self._phrases: dict[str, deque[ObjectPhrase]] = {}

    def add(self, verb: str, phrase: ObjectPhrase) -> None:
        """Add an object of a verb, unless it is there."""
        phrases = self._phrases.setdefault(verb, deque(maxlen=PHRASES))
        if phrase not in phrases:
            phrases.append(phrase)
        if len(self._phrases) > VERBS:
            del self._phrases[next(iter(self._phrases))]

    def choose(self, verb: str, phrase: ObjectPhrase) -> ObjectPhrase | None:
        """Return an object of the verb that can replace *phrase*, if possible one of its number.

        The same phrase gets the same object from the same sample; different phrases get different ones.
        """
        candidates = [other for other in self._phrases.get(verb, ()) if other.can_replace(phrase)]
        candidates = [other for other in candidates if other.is_plural is phrase.is_plural] or candidates
        return candidates[sum(map(ord, phrase.text)) % len(candidates)] if candidates else None
