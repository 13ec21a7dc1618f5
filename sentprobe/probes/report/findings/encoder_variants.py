"""Specs of encoders in results, and variants: the same vectors cut, rounded or erased."""

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
"""Options that reduce vectors, and the kinds of encoders that have them; (): all kinds."""
_SUFFIX = re.compile(r"(, (\d+ dims|int8|binary|without .+))+$")
"""The end of the name of a variant whose encoder has a name of its own."""


def find_reductions(spec: Spec) -> list[OptionPair]:
    """Return the options of a spec that reduce its vectors."""
    return [
        (name, value)
        for name, value in spec.options
        if name in REDUCING_OPTIONS and spec.kind in (REDUCING_OPTIONS[name] or (spec.kind,))
    ]


@cache
def strip_reductions(encoder: str) -> str:
    """Return the name of an encoder without reductions.

    >>> strip_reductions("st:m?layer=3&dims=64&quantize=int8"), strip_reductions("mine, 64 dims")
    ('st:m?layer=3', 'mine')
    >>> strip_reductions("bow?dim=64"), strip_reductions("bow?erase=sets%2FTense")
    ('bow?dim=64', 'bow')
    """
    may_be_reduced = any(f"{name}=" in encoder and encoder.startswith(k or "") for name, k in REDUCING_OPTIONS.items())
    spec = parse_known_spec(encoder) if may_be_reduced else None
    if spec is None:
        return _SUFFIX.sub("", encoder)
    reductions = find_reductions(spec)
    return str(replace(spec, options=tuple(option for option in spec.options if option not in reductions)))


def is_same_model(first: str, second: str) -> bool:
    """Return whether two encoders are variants of one model."""
    return strip_reductions(first) == strip_reductions(second)


def list_pairs_to_compare(names: Sequence[str]) -> list[tuple[str, str]]:
    """Return the pairs of different models or, if there is only one model, of its variants.

    >>> list_pairs_to_compare(["a", "a, int8", "b"]), list_pairs_to_compare(["a", "a, int8"])
    ([('a', 'b'), ('a, int8', 'b')], [('a', 'a, int8')])
    """
    pairs = [*combinations(names, 2)]
    return [pair for pair in pairs if not is_same_model(*pair)] or pairs


def describe_excluded_pairs(compared: Iterable[tuple[str, str]]) -> str:
    """Return the note that variants of one model were not compared, if there are such pairs."""
    compared_pairs = {frozenset(pair) for pair in compared}
    names = sorted({*chain.from_iterable(compared_pairs)})
    same_model_pairs = {frozenset(pair) for pair in combinations(names, 2) if is_same_model(*pair)}
    return EXCLUDED_PAIRS_NOTE if same_model_pairs - compared_pairs else ""


EXCLUDED_PAIRS_NOTE = (
    "Not compared here: an encoder with its own vectors cut, rounded or without a property (--against ENCODER does)."
)

KINDS = frozenset(encoder_kind.name for encoder_kind in ENCODERS)


def find_requested_spec(record: Result) -> Spec | None:
    """Return the spec by which an encoder was requested: its name or one in the command; None if neither is a spec."""
    for text in (record.encoder, *_split_command(record.command)):
        spec = parse_known_spec(text)
        is_layer = spec and spec.label is not None and record.encoder.startswith(f"{spec.label}, ")
        if spec and (is_layer or spec.name == record.encoder):
            return spec
    return None


def _split_command(command: str) -> list[str]:
    try:
        return [word.removeprefix("--encoder=") for word in shlex.split(command)]
    except ValueError:  # no command line of ours
        return []


def parse_known_spec(text: str) -> Spec | None:
    """Return a text as a spec of a known kind, or None."""
    try:
        spec = parse_spec(text)
    except UsageError:
        return None
    return spec if spec.kind in KINDS else None
