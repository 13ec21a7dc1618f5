"""The spec by which an encoder was asked for, as far as its name and the command tell."""

import shlex

from sentprobe.errors import UsageError
from sentprobe.probes.encoders.kinds import ENCODERS
from sentprobe.probes.runs.results import Result
from sentprobe.specs import Spec, parse_spec

KINDS = frozenset(each.name for each in ENCODERS)


def asked_spec(record: Result) -> Spec | None:
    """Return the spec of an encoder: its name or, of one with a name of its own, as in the command.

    None where neither is one, as of an encoder that Python was given.
    """
    texts = (record.encoder, *_words(record.command))
    found = (spec for text in texts if (spec := known_spec(text)) and _is_of(spec, record))
    return next(found, None)


def _is_of(spec: Spec, record: Result) -> bool:
    """Say whether a result is of the encoder of a spec, or of one of its several."""
    several = spec.label is not None and record.encoder.startswith(f"{spec.label}, ")
    return several or spec.name == record.encoder


def _words(command: str) -> list[str]:
    try:
        return [word.removeprefix("--encoder=") for word in shlex.split(command)]
    except ValueError:  # no command line of ours
        return []


def known_spec(text: str) -> Spec | None:
    """Return a text as a spec of one of our kinds; None: it is none."""
    try:
        spec = parse_spec(text)
    except UsageError:
        return None
    return spec if spec.kind in KINDS else None
