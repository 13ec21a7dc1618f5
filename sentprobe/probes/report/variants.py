"""Which encoders of a table are one: its whole vectors, and these cut, rounded or erased from.

Encoders are compared to tell which is better. That one is compared with what was made of its own
vectors says what was lost, which is another question: such pairs are not among those that the
p-values of the first are corrected for. Names tell which they are.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import chain, combinations

from sentprobe.probes.report.asked_specs import known_spec
from sentprobe.specs import OptionPair, Spec

CUTS: Mapping[str, tuple[str, ...]] = {
    "dims": (),
    "quantize": (),
    "erase": (),
    "dim": ("st", "openai"),
}
"""The options of a spec by which a vector loses something, and the kinds that have it; (): all."""

_SUFFIX = re.compile(r"(, (\d+ dims|int8|binary|without .+))+$")
"""What stands behind the name of an encoder that has one of its own."""


def cuts_of(spec: Spec) -> list[OptionPair]:
    """Return the options of a spec by which vectors lose something."""
    return [
        (name, value)
        for name, value in spec.options
        if name in CUTS and spec.kind in (CUTS[name] or (spec.kind,))
    ]


@cache
def whole_name(encoder: str) -> str:
    """Return what an encoder is called whose vectors are whole.

    >>> whole_name("st:m?layer=3&dims=64&quantize=int8"), whole_name("mine, 64 dims, int8")
    ('st:m?layer=3', 'mine')
    >>> whole_name("bow?dim=64"), whole_name("bow?erase=sets%2FTense")
    ('bow?dim=64', 'bow')
    """
    spec = known_spec(encoder) if _may_be_cut(encoder) else None
    if spec is None:
        return _SUFFIX.sub("", encoder)
    cuts = cuts_of(spec)
    return str(replace(spec, options=tuple(each for each in spec.options if each not in cuts)))


def _may_be_cut(encoder: str) -> bool:
    """Say whether a name may be a spec with such an option; most are not worth parsing again."""
    return any(
        f"{name}=" in encoder and encoder.startswith(kinds or "") for name, kinds in CUTS.items()
    )


def are_one(first: str, second: str) -> bool:
    """Say whether two encoders are the same but for what was cut, rounded or erased."""
    return whole_name(first) == whole_name(second)


def pairs_to_compare(names: Sequence[str]) -> list[tuple[str, str]]:
    """Return the pairs of different encoders; of one encoder alone, those of its variants.

    >>> pairs_to_compare(["a", "a, int8", "b"]), pairs_to_compare(["a", "a, int8"])
    ([('a', 'b'), ('a, int8', 'b')], [('a', 'a, int8')])
    """
    pairs = [*combinations(names, 2)]
    return [pair for pair in pairs if not are_one(*pair)] or pairs


def told_of_others(compared: Iterable[tuple[str, str]]) -> str:
    """Say that pairs of one encoder are not among those compared, if there are such; else nothing.

    >>> told_of_others([("a", "b")]), told_of_others([("a", "a, int8"), ("a", "b")])
    ('', '')
    """
    there = {frozenset(pair) for pair in compared}
    names = sorted({*chain.from_iterable(there)})
    alike = {frozenset(pair) for pair in combinations(names, 2) if are_one(*pair)}
    return NOT_COMPARED if alike - there else ""


NOT_COMPARED = (
    "Not compared here: an encoder with its own vectors cut, rounded or without a property "
    "(--against ENCODER does)."
)
