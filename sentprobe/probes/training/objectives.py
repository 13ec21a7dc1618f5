"""The training objectives by name, such as ``nli``; the kind of texts that an objective needs, and its options.

This module does not import PyTorch.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from sentprobe.common.errors import UsageError, suggest
from sentprobe.probes.training.objective_options import ObjectiveOptions

if TYPE_CHECKING:
    from sentprobe.probes.encoders.models.trained import SentenceModel
    from sentprobe.probes.training.objective import PreparedObjective


class TextKind(StrEnum):
    """The kinds of texts that objectives learn from."""

    SENTENCES = "sentences"
    PARALLEL = "parallel"
    NLI = "nli"
    TRIPLETS = "triplets"
    TREES = "trees"
    EVENTS = "events"
    """Random sentences of the generator, with their events; no file is read."""


@dataclass(frozen=True, slots=True)
class ObjectiveKind:
    """A training objective, with the kind of its texts and the names of its options."""

    name: str
    texts: TextKind
    options: tuple[str, ...] = ()
    """Options of the objective, such as "codes", except options for reading texts; objectives may share options."""
    learns: bool = True
    """Whether the objective trains the encoder: False only for ``none``."""

    @property
    def option_names(self) -> tuple[str, ...]:
        """The objective's options and the options for reading its texts, without the options in TRAINING."""
        return (*TEXT_OPTIONS[self.texts], *self.options)

    def uses(self, option: str) -> bool:
        """Return whether an option has an effect on this objective."""
        return option in self.option_names or (self.learns and option in TRAINING)


TRAINING = (
    *("steps", "epochs", "minutes", "patience", "validate_every", "validation", "batch"),
    *("optimizer", "rate", "clip", "device", "devices", "precision", "frozen"),
)
"""Options of all objectives except ``none``."""

TEXT_OPTIONS: Mapping[TextKind, tuple[str, ...]] = {
    **dict.fromkeys(TextKind, ("encoding", "longest", "tokenised")),
    TextKind.SENTENCES: ("encoding", "longest", "tokenised", "punkt"),
    TextKind.TREES: ("encoding", "longest"),
    TextKind.EVENTS: (),
}
_DECODER_OPTIONS = ("codes", "dropout", "attention")

_KINDS = (
    ObjectiveKind("none", TextKind.SENTENCES, learns=False),
    ObjectiveKind("autoencoder", TextKind.SENTENCES, _DECODER_OPTIONS),
    ObjectiveKind("denoising", TextKind.SENTENCES, (*_DECODER_OPTIONS, "drop", "swap")),
    ObjectiveKind("skipthought", TextKind.SENTENCES, (*_DECODER_OPTIONS, "neighbours")),
    ObjectiveKind("nmt", TextKind.PARALLEL, _DECODER_OPTIONS),
    ObjectiveKind("seq2tree", TextKind.TREES, _DECODER_OPTIONS),
    ObjectiveKind("nli", TextKind.NLI, ("classes_hidden", "dropout")),
    ObjectiveKind("meaning", TextKind.EVENTS, (*_DECODER_OPTIONS, "events")),
    ObjectiveKind("contrastive", TextKind.TRIPLETS, ("temperature",)),
    ObjectiveKind("next-word", TextKind.SENTENCES, ("dropout",)),
)

OBJECTIVES: Mapping[str, ObjectiveKind] = {kind.name: kind for kind in _KINDS}

SEPARATOR = "+"
"""Separates the names of several objectives of one encoder, as in ``autoencoder+nli``."""


def find_objective(name: str) -> ObjectiveKind:
    """Return the objective with this name. Raises UsageError if there is none."""
    if name not in OBJECTIVES:
        suggestion, names = suggest(name, OBJECTIVES), ", ".join(OBJECTIVES)
        raise UsageError(f"there is no objective {name!r}{suggestion}; known: {names}")
    return OBJECTIVES[name]


def choose_objectives(names: Sequence[str]) -> tuple[str, ...]:
    """Return the objectives of one encoder in the order of OBJECTIVES, whatever their order in *names*.

    Raises UsageError if there is no such objective, if one is given twice, or if they cannot share an encoder.
    """
    for place, name in enumerate(names):
        find_objective(name)
        if name in names[:place]:
            raise UsageError(f"--objective {name} is given twice")
    idle = [name for name in names if not OBJECTIVES[name].learns]
    if idle and len(names) > 1:
        others = ", ".join(name for name in names if name not in idle)
        raise UsageError(f"--objective {idle[0]} trains nothing, so it shares no encoder with {others}")
    return tuple(name for name in OBJECTIVES if name in names)


def reject_unused_options(kinds: Sequence[ObjectiveKind], written_options: Mapping[str, str]) -> None:
    """Raise UsageError if an option has no effect on any of the objectives *kinds*.

    - written_options: the options that the user has set, as in ``{"decoder_hidden": "--decoder-hidden"}``
    """
    for name, written in written_options.items():
        users = [user.name for user in _KINDS if user.uses(name)]
        if not users or any(kind.uses(name) for kind in kinds):
            continue
        names = ", ".join(kind.name for kind in kinds)
        if name in TRAINING:
            raise UsageError(f"{written} is for training, but --objective {names} trains nothing")
        raise UsageError(f"{written} is for --objective {', '.join(users)}, not for {names}")


def prepare(kind: ObjectiveKind, texts: Any, model: "SentenceModel", options: ObjectiveOptions) -> "PreparedObjective":
    """Prepare an objective for the training loop. Raises UsageError if *model* has no weights to train."""
    if not any(parameter.requires_grad for parameter in model.parameters()):
        raise UsageError(
            f"{model.architecture.kind} has no weights except word vectors, which are frozen: use "
            "--learned, or --objective none"
        )
    function = f"prepare_{kind.name.replace('-', '_')}"
    prepare_objective: Callable[..., PreparedObjective] = resolve_name(f"sentprobe.probes.training.learners:{function}")
    return prepare_objective(texts, model, options)
