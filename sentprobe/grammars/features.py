"""Universal Dependencies features that a word has by itself (the others are in the grammar)."""

_WORD_FEATURES = {
    ("DET", "the"): "Definite=Def|PronType=Art",
    ("DET", "a"): "Definite=Ind|PronType=Art",
    ("DET", "some"): "PronType=Ind",
    ("DET", "any"): "PronType=Ind",
    ("DET", "no"): "PronType=Neg",
    ("DET", "this"): "PronType=Dem",
    ("DET", "that"): "PronType=Dem",
    ("DET", "every"): "PronType=Tot",
    ("DET", "each"): "PronType=Tot",
    ("ADV", "always"): "PronType=Tot",
    ("ADV", "never"): "PronType=Neg",
}


def word_features(pos: str, lemma: str) -> str:
    """Return the features of a determiner or adverb, as in the English Web Treebank; or "".

    >>> word_features("DET", "the")
    'Definite=Def|PronType=Art'
    """
    return _WORD_FEATURES.get((pos, lemma), "")
