"""From lemma to inflected form, where the lexicon file does not state it.

The forms are lemminflect's. Its tables take longer to load than all else that the generator does
before the first sentence, so that its answers for the built-in words are kept in
`inflections.tsv`, which `python -m sentprobe.lexicon` writes anew; a test holds them together.
Those for other words are kept by :mod:`sentprobe.lexicon.memory`.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib.resources import files

from sentprobe.lexicon.words import FORMS, VERBS, Form, Kind, Word

KEPT = "inflections.tsv"

LEMMA_FORMS = frozenset({Form.NN, Form.VB, Form.VBP, Form.RB})
"""The forms that equal the lemma."""

VOWEL_SOUND = re.compile(
    r"(?!eu|ewe|one(?!ir)|once|uni(?!n|m)|u[st][aeiu]|usu|ura|uro)[aeiou]|heir|hon(?:est|ou?r)|hour"
)
"""What a noun begins with when it takes "an": a guess by spelling, for `article` to correct."""


@cache
def inflector() -> Callable[[str, str], tuple[str, ...]]:
    """Return lemminflect's lookup; imported only here, as it reads its tables when first used."""
    from lemminflect import getInflection  # noqa: PLC0415

    lookup: Callable[[str, str], tuple[str, ...]] = getInflection
    return lookup


def look_up(lemma: str, form: Form) -> str | None:
    """Ask lemminflect itself for its first spelling of a form."""
    return next(iter(inflector()(lemma, form.value)), None)


Answer = Callable[[str, Form], str | None]
"""Gives the spelling of a form of a lemma, or None: :func:`look_up`, or what remembers for it."""


def inflect(lemma: str, form: Form, ask: Answer = look_up) -> str | None:
    """Return lemminflect's first spelling of a noun, verb or adverb form, or None if it has none.

    >>> inflect("child", Form.NNS), inflect("overtake", Form.VBN), inflect("call", Form.VBP)
    ('children', 'overtaken', 'call')
    """
    if form in LEMMA_FORMS:
        return lemma
    return kept_forms().get((lemma, form)) or ask(lemma, form)


@cache
def kept_forms() -> Mapping[tuple[str, Form], str]:
    """Return lemminflect's answers for the built-in words."""
    lines = files(__package__).joinpath(KEPT).read_text(encoding="utf-8").splitlines()
    rows = (line.split("\t") for line in lines)
    return {(lemma, Form(form)): text for lemma, form, text in rows}


def kept_text(words: Iterable[Word]) -> str:
    """Return the text of `inflections.tsv` for these words: a line LEMMA, FORM, spelling each."""
    pairs = {
        (w.lemma, f): None for w in words for f in w.forms if w.kind is Kind.NOUN or w.kind in VERBS
    }
    asked = ((lemma, form) for lemma, form in pairs if form not in LEMMA_FORMS)
    return "".join(f"{lemma}\t{form}\t{look_up(lemma, form) or ''}\n" for lemma, form in asked)


def guess(lemma: str, kind: Kind, form: Form, ask: Answer = look_up) -> str | None:
    """Return a form that the lexicon file leaves out, None for one that must be stated.

    >>> guess("the", Kind.DETERMINER, Form.DT_PL), guess("who", Kind.RELATIVIZER, Form.WP)
    ('the', None)
    """
    if kind is Kind.DETERMINER:
        return lemma
    if form in FORMS[Kind.NOUN] or kind in VERBS or kind is Kind.ADVERB:
        return inflect(lemma, form, ask)
    return None


def takes_an(lemma: str) -> bool:
    """Return whether a noun seems to begin with a vowel sound.

    >>> [takes_an(noun) for noun in ("actor", "heir", "user", "unionist", "uncle", "lawyer")]
    [True, True, False, False, True, False]
    """
    return VOWEL_SOUND.match(lemma) is not None
