"""Cross-encoders and other functions that score a list of pairs of texts."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from sentprobe.errors import UsageError
from sentprobe.probes.encoders.kinds import check_installed
from sentprobe.probes.encoders.models.model_loading import (
    find_model,
    load_from_folder,
    read_architectures,
    report_encoding_errors,
    report_loading_errors,
)
from sentprobe.probes.encoders.models.python import convert_to_scores
from sentprobe.probes.encoders.protocol import EncoderError
from sentprobe.probes.gate.pair_scores import DECIMALS
from sentprobe.probes.statistics import Floats
from sentprobe.specs import Spec, read_options

PairFunction: TypeAlias = Callable[[list[tuple[str, str]]], Any]
"""A function from a list of pairs of texts to their scores."""

CROSS_ENCODER = "ce"
"""The kind of an encoder spec for a cross-encoder, ``ce:MODEL``."""


class PairModel:
    """A pair scorer that calls a function; if *symmetric*, scores are means over both orders of a pair."""

    measure = "score"

    def __init__(self, function: PairFunction, *, name: str, symmetric: bool = False) -> None:
        self.name = name
        self._function, self._symmetric = function, symmetric

    def score_columns(self, firsts: Sequence[str], *columns: Sequence[str]) -> list[Floats]:
        """Return the scores for each of *columns*, as in :class:`PairScorer`. Raises EncoderError."""
        return [self._score([*zip(firsts, seconds, strict=True)]) for seconds in columns]

    def _score(self, pairs: list[tuple[str, str]]) -> Floats:
        orders = [pairs, [(second, first) for first, second in pairs]] if self._symmetric else [pairs]
        columns = [convert_to_scores(self._function(order)) for order in orders]
        if any(column.shape != (len(pairs),) for column in columns):
            raise EncoderError(f"{self.name} did not return one score for each of {len(pairs)} pairs")
        with np.errstate(over="ignore"):
            means: Floats = np.mean(columns, axis=0).round(DECIMALS)
        if len(invalid_rows := np.flatnonzero(~np.isfinite(means))):
            first, second = pairs[invalid_rows[0]]
            raise EncoderError(f"{self.name}: the score of the pair {first!r}, {second!r} is not a finite number")
        return means


@dataclass(frozen=True, slots=True)
class CrossEncoderOptions:
    """Options of the encoder spec ``ce:MODEL``."""

    revision: str = ""
    batch: int = 32
    device: str = ""


def load_cross_encoder(spec: Spec) -> PairModel:
    """Load the cross-encoder ``ce:MODEL?...``. With several outputs, the score is the probability of entailment.

    Raises:
        EncoderError: the model cannot be loaded.
        UsageError: the model is not a cross-encoder, or it has several outputs and none is entailment.
    """
    options = read_options(spec, CrossEncoderOptions())
    if not spec.argument:
        raise UsageError("ce: wants a model, as in ce:cross-encoder/nli-deberta-v3-base")
    check_installed([Spec("st", spec.argument)])
    files = find_model(spec.argument, revision=options.revision, owners=("cross-encoder/", ""))
    with report_loading_errors(spec.argument):
        if not any(name.endswith("ForSequenceClassification") for name in read_architectures(files.directory)):
            # The library would add a head with random weights.
            raise UsageError(f"{spec.argument} is not a cross-encoder: its files have no layer that scores pairs")
        model: Any = load_from_folder("CrossEncoder", files.directory, device=options.device or None)
    labels = [str(label).casefold() for _, label in sorted(model.config.id2label.items())]
    column = labels.index("entailment") if "entailment" in labels else 0
    if len(labels) > 1 and "entailment" not in labels:
        raise UsageError(f"{spec.argument} has {len(labels)} outputs, none of which is entailment")
    predict = partial(model.predict, batch_size=options.batch, show_progress_bar=False, apply_softmax=len(labels) > 1)

    def score(pairs: list[tuple[str, str]]) -> Any:
        with report_encoding_errors(spec.name):
            return np.asarray(predict(pairs)).reshape(len(pairs), -1)[:, column]

    return PairModel(score, name=spec.name, symmetric=True)
