"""Distance and attractors of the agreement that a minimal pair tests, from the annotation of its good sentence."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

AGREEMENT = "subject_verb_agreement"
"""BLiMP's ``linguistics_term`` of pairs with an error in agreement."""
SUBJECTS = ("nsubj", "nsubj:pass")
AUXILIARIES = ("aux", "aux:pass", "cop")


class Agreement(NamedTuple):
    """A subject and its finite verb, by position from 0."""

    subject: int
    verb: int

    @property
    def between(self) -> range:
        """The positions between them."""
        return range(min(self) + 1, max(self))


def describe_agreement(good: str, bad: str, tokens: Mapping[str, Any]) -> dict[str, str]:
    """Return ``distance`` and ``attractors`` of a pair whose change touches a subject or its finite verb; else nothing.

    - distance: number of words between the subject and the verb
    - attractors: number of nouns between them that differ in number from the verb (Linzen et al. 2016, section 2)
    - tokens: columns of the good sentence in Universal Dependencies, as :mod:`.sentence_records` writes them
    """
    words = good.split(), bad.split()
    changed = {place for place, pair in enumerate(zip(*words, strict=False)) if len({*pair}) > 1}
    is_same_length = len({*map(len, words)}) == 1
    tested = [
        agreement for agreement in _find_agreements(tokens) if is_same_length and not changed.isdisjoint(agreement)
    ]
    if not tested:
        return {}
    longest = max(tested, key=lambda agreement: len(agreement.between))
    number = _read_number(tokens["feats"][longest.verb])
    nouns = (
        place for place in longest.between if tokens["upos"][place] == "NOUN" and tokens["deprel"][place] != "conj"
    )
    attractors = sum(_read_number(tokens["feats"][place]) != number for place in nouns)
    return {"distance": str(len(longest.between)), "attractors": str(attractors)}


def _find_agreements(tokens: Mapping[str, Sequence[Any]]) -> Iterator[Agreement]:
    """Yield each subject with its finite verb, if the verb's form tells number; a relative pronoun is its noun."""
    heads, relations, features = ([*tokens[name]] for name in ("head", "deprel", "feats"))
    for place, relation in enumerate(relations):
        if relation not in SUBJECTS:
            continue
        predicate = heads[place] - 1
        subject = heads[predicate] - 1 if _is_relative(features[place]) else place
        auxiliaries = [i for i, head in enumerate(heads) if head - 1 == predicate and relations[i] in AUXILIARIES]
        for verb in (predicate, *auxiliaries):
            if "VerbForm=Fin" in features[verb] and _read_number(features[verb]):
                yield Agreement(subject, verb)


def _is_relative(features: str) -> bool:
    """Say whether the type of a pronoun, which may be of several (``Dem,Rel``), is relative."""
    types = (value.removeprefix("PronType=") for value in features.split("|") if value.startswith("PronType="))
    return any("Rel" in pronoun_type.split(",") for pronoun_type in types)


def _read_number(features: str) -> str:
    return next((value for value in features.split("|") if value.startswith("Number=")), "")
