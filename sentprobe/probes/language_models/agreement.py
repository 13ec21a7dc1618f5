"""Subject-verb agreement in minimal pairs: distance between subject and verb, and attractors between them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

AGREEMENT = "subject_verb_agreement"
"""The value of BLiMP's field ``linguistics_term`` for pairs with an error in subject-verb agreement."""
SUBJECTS = ("nsubj", "nsubj:pass")
AUXILIARIES = ("aux", "aux:pass", "cop")


class Agreement(NamedTuple):
    """The positions of a subject and its finite verb among a sentence's words, counted from 0."""

    subject: int
    verb: int

    @property
    def between(self) -> range:
        return range(min(self) + 1, max(self))


def describe_agreement(good: str, bad: str, tokens: Mapping[str, Any]) -> dict[str, str]:
    """Return ``distance`` and ``attractors`` of the subject and verb that a pair tests; ``{}`` if it tests none.

    The sentences must have the same length, and differ in a subject or its finite verb. ``distance`` is the number of
    words between subject and verb. ``attractors`` is the number of nouns between them that differ from the verb in
    grammatical number (Linzen et al. 2016, section 2).

    - tokens: the good sentence in Universal Dependencies; a list for each column, such as ``upos`` and ``head``
    """
    words = good.split(), bad.split()
    changed = {place for place, pair in enumerate(zip(*words, strict=False)) if len({*pair}) > 1}
    tested = [agreement for agreement in _find_agreements(tokens) if not changed.isdisjoint(agreement)]
    if not tested or len(words[0]) != len(words[1]):
        return {}
    longest = max(tested, key=lambda agreement: len(agreement.between))
    number = _read_number(tokens["feats"][longest.verb])
    nouns = (
        place for place in longest.between if tokens["upos"][place] == "NOUN" and tokens["deprel"][place] != "conj"
    )
    attractors = sum(_read_number(tokens["feats"][place]) != number for place in nouns)
    return {"distance": str(len(longest.between)), "attractors": str(attractors)}


def _find_agreements(tokens: Mapping[str, Sequence[Any]]) -> Iterator[Agreement]:
    """Yield the positions of each subject and its finite verb, if the verb is marked for number.

    The subject of a relative clause is the noun that the clause modifies, not the relative pronoun.
    """
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
    """Return whether features are those of a relative pronoun, such as "PronType=Rel" or "PronType=Dem,Rel"."""
    types = (value.removeprefix("PronType=") for value in features.split("|") if value.startswith("PronType="))
    return any("Rel" in pronoun_type.split(",") for pronoun_type in types)


def _read_number(features: str) -> str:
    return next((value for value in features.split("|") if value.startswith("Number=")), "")
