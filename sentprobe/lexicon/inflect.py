"""English inflection by lemminflect. It loads slowly, so ``inflections.tsv`` stores the forms of built-in words."""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib.resources import files

from sentprobe.lexicon.words import VERBS, Form, Kind, Word

KEPT_FORMS = "inflections.tsv"
LEMMA_FORMS = frozenset({Form.NN, Form.VB, Form.VBP, Form.RB, Form.JJ})
"""The forms whose spelling is the lemma."""

VOWEL_SOUND = re.compile(
    r"(?!eu|ewe|one(?!ir)|once|uni(?!n|m)|u[st][aeiu]|usu|ura|uro)[aeiou]|heir|hon(?:est|ou?r)|hour"
)
"""Pattern that guesses from the spelling whether a word takes "an"; ``article`` in an entry corrects a guess."""


def look_up(lemma: str, form: Form) -> str | None:
    """Return lemminflect's first spelling of a form, such as "went" for "go" and VBD, or None if it knows none."""
    from lemminflect import getInflection

    return next(iter(getInflection(lemma, form.value)), None)


def is_guess(lemma: str, form: Form) -> bool:
    """Return whether lemminflect may err: it has no entry for the lemma, or several spellings (VBD, VBN: of either).

    >>> [is_guess(lemma, Form.NNS) for lemma in ("ox", "person", "child")], is_guess("light", Form.VBN)
    ([True, True, False], True)
    """
    from lemminflect import getInflection

    forms = (Form.VBD, Form.VBN) if form in (Form.VBD, Form.VBN) else (form,)
    return any(len(getInflection(lemma, name.value, inflect_oov=False)) != 1 for name in forms)


FormSource = Callable[[str, Form], str | None]
"""Function from a lemma and a form to the spelling or None: :func:`look_up`, or a cache of its results."""


def inflect(lemma: str, form: Form, ask: FormSource = look_up) -> str | None:
    """Return the spelling of a lemma's form, or None if it is unknown.

    Forms such as VBP are spelled like the lemma. Other forms are from ``inflections.tsv`` or, if not in it, *ask*.

    >>> inflect("child", Form.NNS), inflect("overtake", Form.VBN), inflect("call", Form.VBP)
    ('children', 'overtaken', 'call')
    """
    if form in LEMMA_FORMS:
        return lemma
    return read_kept_forms().get((lemma, form)) or ask(lemma, form)


@cache
def read_kept_forms() -> Mapping[tuple[str, Form], str]:
    """Return the spellings in ``inflections.tsv`` by lemma and form."""
    lines = files(__package__).joinpath(KEPT_FORMS).read_text(encoding="utf-8").splitlines()
    rows = (line.split("\t") for line in lines)
    return {(lemma, Form(form)): text for lemma, form, text in rows}


def format_kept_forms(words: Iterable[Word]) -> str:
    """Return the text of ``inflections.tsv`` for *words*: lines of lemma, form and spelling."""
    pairs = {(w.lemma, f): None for w in words for f in w.forms if w.kind is Kind.NOUN or w.kind in VERBS}
    questions = ((lemma, form) for lemma, form in pairs if form not in LEMMA_FORMS)
    return "".join(f"{lemma}\t{form}\t{look_up(lemma, form) or ''}\n" for lemma, form in questions)


def guess_form(lemma: str, kind: Kind, form: Form, ask: FormSource = look_up) -> str | None:
    """Return the spelling of a form that a lexicon file does not state, or None if the file must state it.

    >>> guess_form("the", Kind.DETERMINER, Form.DT_PL), guess_form("who", Kind.RELATIVIZER, Form.WP)
    ('the', None)
    """
    if kind in (Kind.DETERMINER, Kind.MODAL):
        return lemma
    return None if kind is Kind.RELATIVIZER else inflect(lemma, form, ask)


def takes_an(lemma: str) -> bool:
    """Guess from the spelling whether a noun or an adjective begins with a vowel sound.

    >>> [takes_an(noun) for noun in ("actor", "heir", "user", "unionist", "uncle", "lawyer")]
    [True, True, False, False, True, False]
    """
    return VOWEL_SOUND.match(lemma) is not None
