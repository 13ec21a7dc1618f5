"""Optional properties of encoders: declared by those of this package, read from attributes of a user's object."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from sentprobe.probes.encoders.protocol import Baseline, Encoder, Vectors

T = TypeVar("T")

TruncationCounter: TypeAlias = Callable[[Sequence[str]], int | None]
"""Counts the sentences that an encoder truncates; None: unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """Optional properties of an encoder at the time of reading."""

    cacheable: bool = True
    """Whether the vectors are written to the embedding cache."""
    needs_all_sentences: bool = False
    """Whether all sentences must be passed in one call."""
    layer: int | None = None
    """The layer in a model of several layers."""
    family: str = ""
    """The common name of the layers of a model, or of the checkpoints of a training."""
    step: int | None = None
    epoch: float | None = None
    seed: int | None = None
    """The seed of random weights; None: the encoder has no random weights."""
    notes: tuple[str, ...] = ()
    """Notes for the user about the sentences encoded so far."""
    count_truncated: TruncationCounter | None = None
    """Counts truncated sentences; None: the encoder cannot count them."""
    word_vectors: Callable[[Sequence[str]], Vectors] | None = None
    """Returns input word vectors, (n, width) float32: the average of the words in a text, zeros for an unknown word.
    None: not available."""
    bind_to_order: Callable[[Sequence[str]], Encoder] | None = None
    """Returns the encoder for the distinct sentences of the datasets, passed in their order. None: the order does not
    matter."""

    def derive_variant(
        self, *, family: str, bind_to_order: Callable[[Sequence[str]], Encoder] | None = None
    ) -> "Capabilities":
        """Return the capabilities of a variant, which is not cacheable since the base vectors are cached."""
        return Capabilities(
            cacheable=False,
            layer=self.layer,
            family=family,
            seed=self.seed,
            notes=self.notes,
            count_truncated=self.count_truncated,
            bind_to_order=bind_to_order,
        )


def get_capabilities(encoder: Encoder | Baseline) -> Capabilities:
    """Return the declared capabilities of an encoder, or those read from its attributes."""
    declared = getattr(encoder, "capabilities", None)
    return declared if isinstance(declared, Capabilities) else read_attributes(encoder)


def read_attributes(encoder: object, *, cacheable: bool = True) -> Capabilities:
    """Return the capabilities in the attributes of a user's object; *cacheable* is the default of that attribute."""
    return Capabilities(
        cacheable=bool(getattr(encoder, "cacheable", cacheable)),
        needs_all_sentences=bool(getattr(encoder, "together", False)),
        layer=_read_typed(encoder, "layer", int),
        family=_read_typed(encoder, "family", str) or "",
        step=_read_typed(encoder, "step", int),
        epoch=_read_epoch(encoder),
        seed=_read_typed(encoder, "seed", int),
        notes=_read_notes(encoder),
        count_truncated=_read_function(encoder, "truncated"),
        word_vectors=_read_function(encoder, "word_vectors"),
        bind_to_order=_read_function(encoder, "in_order"),
    )


def read_name(encoder: object) -> str:
    """Return the name of a user's object, or of its class."""
    return _read_typed(encoder, "name", str) or read_code_name(encoder)


def read_code_name(encoder: object) -> str:
    """Return the name of a function, or of the class of an object, in its source code."""
    name = _read_typed(encoder, "__name__", str) or ""
    return name.strip("<>") if name else type(encoder).__name__


def read_fingerprint(encoder: object) -> str:
    """Return the attribute ``fingerprint`` of a user's object; empty: it has none."""
    return _read_typed(encoder, "fingerprint", str) or ""


def count_truncated_sentences(encoder: Encoder, sentences: Sequence[str]) -> int | None:
    """Return how many sentences an encoder truncates; None: unknown."""
    counter = get_capabilities(encoder).count_truncated
    return None if counter is None else counter(sentences)


def collect_notes(encoders: Iterable[Encoder | Baseline]) -> list[str]:
    """Return the notes of all encoders, in order."""
    return [note for encoder in encoders for note in get_capabilities(encoder).notes]


def _read_typed(encoder: object, name: str, kind: type[T]) -> T | None:
    value = getattr(encoder, name, None)
    return value if isinstance(value, kind) else None


def _read_epoch(encoder: object) -> float | None:
    epoch = _read_typed(encoder, "epoch", int)
    return _read_typed(encoder, "epoch", float) if epoch is None else epoch


def _read_notes(encoder: object) -> tuple[str, ...]:
    notes = getattr(encoder, "notes", ())
    return tuple(map(str, notes)) if isinstance(notes, list | tuple) else ()


def _read_function(encoder: object, name: str) -> Callable[..., Any] | None:
    function = getattr(encoder, name, None)
    return function if callable(function) else None
