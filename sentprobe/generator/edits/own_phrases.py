"""Objects of verbs and names in the user's own texts, which can replace one another: a bounded sample of each kind."""

from collections import deque
from typing import NamedTuple

from sentprobe.generator.edits.edit_text import NOUN_TAGS, EditableText, EditableToken

VERBS = 5_000
"""Number of verbs and classes of names of which phrases are kept; the one that came first is forgotten first."""
PHRASES = 12
"""Number of phrases that are kept of each verb or class: the last ones."""


class OwnPhrase(NamedTuple):
    """A name, or an object of a verb with its determiner and modifiers, as the user wrote it."""

    text: str
    words: frozenset[str]
    """The lemmas of its nouns, adjectives and numbers; of a name, the name."""
    is_definite: bool = False
    """Whether it has *the* or a possessive pronoun."""
    is_plural: bool = False
    follower: str = ""
    """The word after it, if that is no punctuation mark: *to* in *transfer money to*; else an empty text."""

    def can_replace(self, other: "OwnPhrase") -> bool:
        """Return whether the two are of one form, this one fits before what follows the other, and no word is common.

        A phrase that shares a word with another may be another name of the same thing: *email*, *email address*.
        """
        is_followed_alike = other.follower in ("", self.follower)
        return is_followed_alike and self.is_definite is other.is_definite and not self.words & other.words


def build_phrase(text: EditableText, token: EditableToken) -> OwnPhrase:
    """Return the phrase whose head is *token*."""
    start, end = text.find_span(token.number)
    tokens = text.tokens[start:end]
    first = tokens[0]
    phrase = text.slice_text(start, end)
    # The phrase will stand elsewhere, in another sentence: only a name keeps the capital of a beginning.
    if start == 0 and first.tag not in ("NNP", "NNPS"):
        phrase = phrase[:1].lower() + phrase[1:]
    words = frozenset(part.lemma for part in tokens if part.tag[:2] in ("NN", "JJ", "CD", "VB"))
    is_definite = first.lower == "the" or first.tag == "PRP$"
    follower = text.tokens[end].lower if end < len(text.tokens) and text.tokens[end].tag[0].isalpha() else ""
    return OwnPhrase(phrase, words, is_definite, token.tag == "NNS", follower)


def find_verb(text: EditableText, token: EditableToken) -> str:
    """Return the lemma of the verb of an object, with its particle, and *it* if its subject is a noun.

    *I remove a card* and *the filter removes dirt* have other meanings of the verb: *remove* and *it remove*.
    """
    verb = text.tokens[token.head]
    particles = [child.lower for child in text.list_children(verb.number, "compound")]
    has_noun = any(subject.tag in NOUN_TAGS for subject in text.list_children(verb.number, "nsubj"))
    return " ".join([*["it"] * has_noun, verb.lemma, *particles])


class PhraseSample:
    """The objects of each verb and the names of each class in the texts so far, as many as fit.

    The size of the sample does not depend on the number of texts.
    """

    def __init__(self) -> None:
        """Begin without texts."""
        self._phrases: dict[str, deque[OwnPhrase]] = {}

    def add(self, group: str, phrase: OwnPhrase) -> None:
        """Add an object of a verb, or a name of a class, unless it is there."""
        phrases = self._phrases.setdefault(group, deque(maxlen=PHRASES))
        if phrase not in phrases:
            phrases.append(phrase)
        if len(self._phrases) > VERBS:
            del self._phrases[next(iter(self._phrases))]

    def choose(self, group: str, phrase: OwnPhrase) -> OwnPhrase | None:
        """Return an object of the verb or a name of the class that can replace *phrase*, if possible of its number.

        The same phrase gets the same one from the same sample; different phrases get different ones.
        """
        candidates = [other for other in self._phrases.get(group, ()) if other.can_replace(phrase)]
        candidates = [other for other in candidates if other.is_plural is phrase.is_plural] or candidates
        return candidates[sum(map(ord, phrase.text)) % len(candidates)] if candidates else None
