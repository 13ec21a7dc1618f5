"""Sentence encoders: their protocol and the table of encoder kinds."""

from sentprobe.probes.encoders.kinds import (
    ENCODERS,
    USUAL_ENCODERS,
    check_installed,
    find_kind,
    make_encoder,
    make_encoders,
    parse_encoders,
    read_spec,
)
from sentprobe.probes.encoders.protocol import Baseline, Encoder, EncoderError, Vectors, check_vectors, digest

__all__ = [
    "ENCODERS",
    "USUAL_ENCODERS",
    "Baseline",
    "Encoder",
    "EncoderError",
    "Vectors",
    "check_installed",
    "check_vectors",
    "digest",
    "find_kind",
    "make_encoder",
    "make_encoders",
    "parse_encoders",
    "read_spec",
]
