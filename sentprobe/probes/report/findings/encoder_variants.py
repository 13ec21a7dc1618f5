"""Encoder specs in results, and variants of a model: its vectors cut, rounded, or with a property erased."""

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import chain, combinations

from sentprobe.errors import UsageError
from sentprobe.probes.encoders.kinds import ENCODERS
from sentprobe.probes.results.result import Result
from sentprobe.specs import OptionPair, Spec, parse_spec

REDUCING_OPTIONS: Mapping[str, tuple[str, ...]] = {"dims": (), "quantize": (), "erase": (), "dim": ("st", "openai")}
"""For each option that makes a variant, the kinds of encoders for which it does so, such as ``st``; (): all kinds."""


def find_reductions(spec: Spec) -> list[OptionPair]:
    """Return the options of an encoder spec that make a variant, such as ``[("dims", "64")]``."""
    return [
        (name, value)
        for name, value in spec.options
        if name in REDUCING_OPTIONS and spec.kind in (REDUCING_OPTIONS[name] or (spec.kind,))
    ]


@cache
def strip_reductions(encoder: str) -> str:
    """Return an encoder's name without the options that make a variant, and without a variant's suffix.

    >>> strip_reductions("st:m?layer=3&dims=64&quantize=int8"), strip_reductions("mine, 64 dims")
    ('st:m?layer=3', 'mine')
    >>> strip_reductions("bow?dim=64"), strip_reductions("bow?erase=sets%2FTense")
    ('bow?dim=64', 'bow')
    """
    # Tables compare thousands of names: only those that may have such an option are parsed.
    may_be_reduced = any(f"{name}=" in encoder and encoder.startswith(k or "") for name, k in REDUCING_OPTIONS.items())
    spec = parse_known_spec(encoder) if may_be_reduced else None
    if spec is None:
        return re.sub(r"(, (\d+ dims|int8|binary|without .+))+$", "", encoder)  # named with name=mine: "mine, 64 dims"
    reductions = find_reductions(spec)
    return str(replace(spec, options=tuple(option for option in spec.options if option not in reductions)))


def is_same_model(first: str, second: str) -> bool:
    """Return whether two encoder names stand for variants of the same model."""
    return strip_reductions(first) == strip_reductions(second)


def list_pairs_to_compare(names: Sequence[str]) -> list[tuple[str, str]]:
    """Return all pairs of encoders of different models or, if there is only one model, all pairs of variants.

    >>> list_pairs_to_compare(["a", "a, int8", "b"]), list_pairs_to_compare(["a", "a, int8"])
    ([('a', 'b'), ('a, int8', 'b')], [('a', 'a, int8')])
    """
    pairs = [*combinations(names, 2)]
    return [pair for pair in pairs if not is_same_model(*pair)] or pairs


def describe_excluded_pairs(compared: Iterable[tuple[str, str]]) -> str:
    """Return a note if two variants of one model are compared with other encoders but not with each other; else ""."""
    compared_pairs = {frozenset(pair) for pair in compared}
    names = sorted({*chain.from_iterable(compared_pairs)})
    same_model_pairs = {frozenset(pair) for pair in combinations(names, 2) if is_same_model(*pair)}
    return EXCLUDED_PAIRS_NOTE if same_model_pairs - compared_pairs else ""


EXCLUDED_PAIRS_NOTE = (
    "Not compared here: an encoder with its own cut, rounded or erased vectors (--against ENCODER compares them)."
)


def find_requested_spec(record: Result) -> Spec | None:
    """Return the spec of a result's encoder, from the encoder's name or else the run's command; None if in neither."""
    try:
        words = shlex.split(record.command)
    except ValueError:  # the text is not a command line
        words = []
    for text in (record.encoder, *(word.removeprefix("--encoder=") for word in words)):
        spec = parse_known_spec(text)
        is_layer = spec and spec.label is not None and record.encoder.startswith(f"{spec.label}, ")
        if spec and (is_layer or spec.name == record.encoder):
            return spec
    return None


def parse_known_spec(text: str) -> Spec | None:
    """Parse an encoder spec; return None if the text is not a spec or its kind is unknown."""
    try:
        spec = parse_spec(text)
    except UsageError:
        return None
    return spec if spec.kind in _KIND_NAMES else None


_KIND_NAMES = frozenset(kind.name for kind in ENCODERS)
