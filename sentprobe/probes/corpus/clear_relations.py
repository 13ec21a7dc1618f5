"""Conversion of the relations of spaCy's English models (ClearNLP) into Universal Dependencies, for edits.

In ClearNLP a preposition is the head of its noun, and a form of *be* the head of its predicate.
"""

from collections.abc import Sequence

_RENAMED = {
    "dobj": "obj", "poss": "nmod:poss", "neg": "advmod", "prt": "compound:prt", "relcl": "acl:relcl",
    "intj": "discourse", "npadvmod": "obl:unmarked", "quantmod": "advmod", "predet": "det:predet",
    "oprd": "xcomp", "preconj": "cc",
}  # fmt: skip
_MARKS = frozenset(("prep", "pobj", "attr", "acomp", *_RENAMED))
_VERBS = ("V", "M", "J", "R")


def is_clear(relations: Sequence[str]) -> bool:
    """Return whether relations are those of ClearNLP."""
    return not _MARKS.isdisjoint(relations)


def convert_clear_relations(
    forms: Sequence[str], tags: Sequence[str], heads: Sequence[int], relations: Sequence[str]
) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Return the heads (from 1; 0 is the root) and relations of Universal Dependencies.

    >>> forms, tags = ("It", "is", "free", "for", "me"), ("PRP", "VBZ", "JJ", "IN", "PRP")
    >>> convert_clear_relations(forms, tags, (2, 0, 2, 3, 4), ("nsubj", "root", "acomp", "prep", "pobj"))
    ((3, 3, 0, 5, 3), ('nsubj', 'cop', 'root', 'case', 'obl'))
    """
    new_heads, names = [*heads], [_RENAMED.get(name, name) for name in relations]
    for index, name in enumerate(relations):
        if name == "aux" and forms[index].casefold() == "to":
            names[index] = "mark"
        if name in ("prep", "agent"):
            _raise_object(index, tags, new_heads, names, is_agent=name == "agent")
    for index, name in enumerate(relations):
        if name in ("attr", "acomp"):
            _raise_predicate(index, new_heads, names)
    return tuple(new_heads), tuple(names)


def _raise_object(index: int, tags: Sequence[str], heads: list[int], names: list[str], *, is_agent: bool) -> None:
    """Make the noun (or clause) after a preposition the head of the preposition."""
    noun = next((i for i, head in enumerate(heads) if head == index + 1 and names[i] in ("pobj", "pcomp")), None)
    if noun is None:
        names[index] = "advmod" if names[index] == "prep" else "obl:agent"
        return
    governor = heads[index]
    is_clause = names[noun] == "pcomp"
    under_verb = governor > 0 and tags[governor - 1].startswith(_VERBS)
    names[noun] = "advcl" if is_clause else "obl:agent" if is_agent else "obl" if under_verb else "nmod"
    heads[noun], heads[index] = governor, noun + 1
    names[index] = "mark" if is_clause else "case"


def _raise_predicate(index: int, heads: list[int], names: list[str]) -> None:
    """Make a predicate the head of its copula; in *there is*, the noun becomes the subject."""
    verb = heads[index] - 1
    if verb < 0:
        return
    dependents = [i for i, head in enumerate(heads) if head == verb + 1 and i != index]
    if any(names[i] == "expl" for i in dependents):
        names[index] = "nsubj"
        return
    heads[index], names[index] = heads[verb], names[verb]
    heads[verb], names[verb] = index + 1, "cop"
    for i in dependents:
        heads[i] = index + 1
