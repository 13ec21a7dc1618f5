"""What a sentence model may learn: an objective a file, and the table of them."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from sentprobe.errors import UsageError, suggest
from sentprobe.probes.pretraining.texts.open_texts import TextKind

if TYPE_CHECKING:
    from sentprobe.probes.encoders.sentence_model import SentenceModel
    from sentprobe.probes.pretraining.objective import Prepared


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectiveOptions:
    """What may be chosen of an objective, whichever it is."""

    batch: int = 256
    """Items of a step."""
    codes: int = 8000
    """Codes of what a decoder says; Conneau et al. 2018 have 40,000."""
    decoder_hidden: int = 512
    decoder_layers: int = 2
    decoder_inputs: int = 300
    """Width of the vectors of codes."""
    dropout: float = 0.0
    """The share of numbers that are left out, in a decoder or a classifier."""
    classes_hidden: int = 512
    """Units of the classifier of ``nli``; Conneau et al. 2018 settled on 100."""
    temperature: float = 0.05
    """Of ``contrastive``."""
    neighbours: bool = False
    """Of ``skipthought``: whether the sentence before is said too, by a decoder of its own."""
    drop: float = 0.1
    """Of ``denoising``: the share of words that are left out (Hill et al. 2016)."""
    swap: float = 0.1
    """Of ``denoising``: the share of pairs of words that change places."""
    validation: int = 1000
    """Items that are held out of training, at most a tenth of all."""
    seed: int = 0

    def __post_init__(self) -> None:
        for name in _COUNTS:
            if getattr(self, name) < 1:
                raise UsageError(f"{name}={getattr(self, name)}: at least 1 is wanted")
        if not 0 <= self.dropout < 1:
            raise UsageError(f"dropout={self.dropout}: a share from 0 to less than 1 is wanted")
        if not 0 < self.temperature < math.inf:
            raise UsageError(f"temperature={self.temperature}: a number above 0 is wanted")


_COUNTS = (
    "batch",
    "codes",
    "decoder_hidden",
    "decoder_layers",
    "decoder_inputs",
    "classes_hidden",
    "validation",
)


@dataclass(frozen=True, slots=True)
class ObjectiveKind:
    """A row of the table of objectives."""

    name: str
    """That of its module, too, where something is learned."""
    texts: TextKind
    options: tuple[str, ...]
    """What may be chosen of it that means nothing for some others, by the option's name."""
    learns: bool = True

    def uses(self, option: str) -> bool:
        """Say whether an option does something, of those that not all objectives use."""
        return option in self.options or (self.learns and option in TRAINING)


TRAINING = (
    *("steps", "epochs", "minutes", "patience", "validate_every", "validation", "batch"),
    *("optimizer", "rate", "clip", "device", "devices", "precision", "frozen"),
)
"""The options of whatever learns."""

_FILES = ("encoding", "longest")
_TEXTS = (*_FILES, "tokenised")
_SENTENCES = (*_TEXTS, "punkt")
_DECODER = ("codes", "dropout")

_ROWS = (
    ObjectiveKind("none", TextKind.SENTENCES, _SENTENCES, learns=False),
    ObjectiveKind("autoencoder", TextKind.SENTENCES, (*_SENTENCES, *_DECODER)),
    ObjectiveKind("denoising", TextKind.SENTENCES, (*_SENTENCES, *_DECODER, "drop", "swap")),
    ObjectiveKind("skipthought", TextKind.SENTENCES, (*_SENTENCES, *_DECODER, "neighbours")),
    ObjectiveKind("nmt", TextKind.PARALLEL, (*_TEXTS, *_DECODER)),
    ObjectiveKind("seq2tree", TextKind.TREES, (*_FILES, *_DECODER)),
    ObjectiveKind("nli", TextKind.NLI, (*_TEXTS, "classes_hidden", "dropout")),
    ObjectiveKind("meaning", TextKind.EVENTS, (*_DECODER, "events")),
    ObjectiveKind("contrastive", TextKind.TRIPLETS, (*_TEXTS, "temperature")),
)

OBJECTIVES: Mapping[str, ObjectiveKind] = {each.name: each for each in _ROWS}


def find_objective(name: str) -> ObjectiveKind:
    """Return an objective by name.

    Raises:
        UsageError: there is none; names the nearest.
    """
    if name not in OBJECTIVES:
        near, known = suggest(name, OBJECTIVES), ", ".join(OBJECTIVES)
        raise UsageError(f"there is no objective {name!r}{near}; known: {known}")
    return OBJECTIVES[name]


def refuse_idle(kind: ObjectiveKind, given: Mapping[str, str]) -> None:
    """Refuse options that do nothing for an objective; *given* by name, as they are written.

    Raises:
        UsageError: one is of other objectives, or of training where nothing is trained.
    """
    for name, written in given.items():
        users = [each.name for each in _ROWS if each.uses(name)]
        if not users or kind.uses(name):
            continue
        if name in TRAINING:
            raise UsageError(f"{written} is of training: --objective {kind.name} trains nothing")
        raise UsageError(f"{written} is for --objective {', '.join(users)}, not for {kind.name}")


def prepare(
    kind: ObjectiveKind, texts: Any, model: "SentenceModel", options: ObjectiveOptions
) -> "Prepared":
    """Return an objective over texts of its kind, ready to be trained.

    Raises:
        UsageError: nothing of the model learns, or there are too few texts.
    """
    if not any(each.requires_grad for each in model.parameters()):
        raise UsageError(
            f"{model.architecture.kind} has nothing but word vectors, and these are kept: say "
            "--learned, or --objective none"
        )
    make: Callable[..., Prepared] = resolve_name(f"{__name__}.{kind.name}:prepare")
    return make(texts, model, options)
