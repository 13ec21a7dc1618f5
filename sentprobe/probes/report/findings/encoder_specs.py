"""The spec by which an encoder was requested, found by its name and the command."""

import shlex

from sentprobe.errors import UsageError
from sentprobe.probes.encoders.kinds import ENCODERS
from sentprobe.probes.results.result import Result
from sentprobe.specs import Spec, parse_spec

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
