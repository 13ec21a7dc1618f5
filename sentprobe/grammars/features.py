"""Universal Dependencies features of single words (other features are in the grammar)."""

_WORD_FEATURES = {
    ("DET", "the"): "Definite=Def|PronType=Art",
    ("DET", "a"): "Definite=Ind|PronType=Art",
    ("DET", "some"): "PronType=Ind",
    ("DET", "any"): "PronType=Ind",
    ("DET", "no"): "PronType=Neg",
    ("DET", "every"): "PronType=Tot",
    ("DET", "each"): "PronType=Tot",
    ("ADV", "always"): "PronType=Tot",
    ("ADV", "never"): "PronType=Neg",
}

_DEMONSTRATIVES = {"this", "that"}
_NUMBERS = {"sg": "Sing", "pl": "Plur"}


def word_features(pos: str, lemma: str, number: str = "") -> str:
    """Return the features of a determiner or adverb, as in the English Web Treebank, or "".

    A demonstrative agrees with *number*, the number of its noun.

    >>> word_features("DET", "the"), word_features("DET", "this", "pl")
    ('Definite=Def|PronType=Art', 'Number=Plur|PronType=Dem')
    """
    if pos == "DET" and lemma in _DEMONSTRATIVES and number in _NUMBERS:
        return f"Number={_NUMBERS[number]}|PronType=Dem"
    return _WORD_FEATURES.get((pos, lemma), "")
