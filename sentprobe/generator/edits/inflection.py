"""Inflection of English verbs and adjectives by lemminflect, with the regular doubling of final consonants."""

from functools import lru_cache

BE_FORMS = {
    "present": {"sg1": "am", "sg3": "is", "other": "are"},
    "past": {"sg1": "was", "sg3": "was", "other": "were"},
}
_OWN_FORMS = {
    ("enrol", "VBG"): "enrolling", ("enrol", "VBD"): "enrolled", ("enrol", "VBN"): "enrolled",
    ("do", "VBZ"): "does", ("have", "VBZ"): "has", ("reset", "VBD"): "reset", ("fit", "VBD"): "fit",
    ("lie", "VBD"): "lay", ("can", "VBD"): "could", ("will", "VBD"): "would",
}  # fmt: skip


@lru_cache(maxsize=20_000)
def inflect(lemma: str, tag: str) -> str:
    """Return the form of a lemma with a Penn tag; the lemma itself if no form is known.

    >>> inflect("enrol", "VBG"), inflect("go", "VBD"), inflect("include", "VBZ"), inflect("cheap", "JJR")
    ('enrolling', 'went', 'includes', 'cheaper')
    """
    if tag in ("VB", "VBP", "NN", "JJ", "RB") and lemma != "be":
        return lemma
    if (lemma, tag) in _OWN_FORMS:
        return _OWN_FORMS[lemma, tag]
    if lemma == "be" and tag == "VB":
        return "be"
    from lemminflect import getInflection

    forms = getInflection(lemma, tag=tag)
    return forms[0] if forms else lemma


@lru_cache(maxsize=20_000)
def is_verb(word: str) -> bool:
    """Return whether a word is known as a verb.

    >>> is_verb("click"), is_verb("dentist")
    (True, False)
    """
    from lemminflect import getAllLemmas

    return "VERB" in getAllLemmas(word)
