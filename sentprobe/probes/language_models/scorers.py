"""Language models, which score tokens: their protocol, their specs, and the model that calls a user's function."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from importlib import import_module
from importlib.util import find_spec
from itertools import compress
from math import fsum, nan
from typing import Any, Protocol, TypeAlias

from sentprobe.common.errors import UsageError, first_line, suggest
from sentprobe.common.processes import is_stop_request
from sentprobe.common.screen import Reporter
from sentprobe.common.specs import NoOptions, Spec, check_names, read_options
from sentprobe.probes.encoders.encoder import EncoderError, missing_extra
from sentprobe.probes.encoders.kinds import read_spec
from sentprobe.probes.encoders.models.python import convert_to_scores, load_object
from sentprobe.probes.language_models.sentence_pairs import TextSpan, split_at_spaces

DECIMALS = 5
"""Number of decimals of a score; float32 logits are not more precise."""


class ScoreKind(StrEnum):
    """How the score of a sentence is computed from the log probabilities of its tokens."""

    SENTENCE = "sentence"
    """The sum over all tokens."""
    TOKEN = "token"
    """The mean over all tokens."""
    CRITICAL = "critical"
    """The sum over the tokens of the words in which the sentences of a pair differ."""


class ScoringMethod(StrEnum):
    """A method of scoring tokens; its value is its description in the methods paragraph."""

    CAUSAL = "log probabilities of tokens given those before, from a start token on"
    CAUSAL_WITHOUT_START = "log probabilities of tokens given at least one before"
    MASKED = "pseudo-log-likelihoods, log probabilities of tokens masked one by one, with the later tokens of the word"
    MASKED_ALONE = "pseudo-log-likelihoods, log probabilities of tokens masked one by one"
    NGRAM = "log probabilities of words and of the sentence's end in a back-off n-gram model"
    RECURRENT = "log probabilities of words and of the sentence's end in a recurrent network"
    FUNCTION = "numbers of a function"
    FILE = "numbers of a file"


@dataclass(frozen=True, slots=True)
class TokenScores:
    """The log probability and the span of each token, or one log probability of the whole text, without a span."""

    log_probabilities: Sequence[float]
    spans: Sequence[TextSpan] = ()

    def compute_score(self, kind: ScoreKind, region: TextSpan) -> float:
        """Return the score of a text; *region* is the span that differs from the pair's other sentence.

        >>> TokenScores([-1.0, -2.0, -4.0], [(0, 3), (4, 7), (7, 9)]).compute_score(ScoreKind.CRITICAL, (4, 9))
        -6.0
        """
        values = self.log_probabilities
        if kind is ScoreKind.CRITICAL:
            values = [*compress(values, select_spans(self.spans, [region]))]
        divisor = max(1, len(values)) if kind is ScoreKind.TOKEN else 1
        try:
            return round(fsum(values) / divisor, DECIMALS) + 0.0  # no negative zero
        except (OverflowError, ValueError):  # the sum is too large, or infinity minus infinity
            return nan


Regions: TypeAlias = Mapping[str, Sequence[TextSpan]]
"""The spans of each text in which tokens need a score."""


def select_spans(spans: Sequence[TextSpan], regions: Sequence[TextSpan]) -> list[bool]:
    """Return, for each span, whether it overlaps with one of the regions."""
    return [any(start < after and end > first for first, after in regions) for start, end in spans]


class LanguageModel(Protocol):
    """A model that computes the log probability of each token of a text."""

    name: str

    @property
    def method(self) -> ScoringMethod:
        """How the model computes scores."""

    def find_unknown(self, texts: Sequence[str]) -> list[list[str]]:
        """Return, for each text, the words that the model does not know; always empty for :class:`FunctionModel`."""

    def score(self, texts: Sequence[str], reporter: Reporter, regions: Regions | None = None) -> list[TokenScores]:
        """Score the tokens of each text, and report the number of completed texts.

        - regions: the only spans whose tokens need a score; None: all tokens need one
        """


@dataclass(slots=True)
class FunctionModel:
    """A function of the user, which returns, for each sentence of a list, one score or a list of word scores."""

    name: str
    function: Callable[[list[str]], Any] = field(repr=False)
    method: ScoringMethod = ScoringMethod.FUNCTION

    def find_unknown(self, texts: Sequence[str]) -> list[list[str]]:
        return [[] for _ in texts]

    def score(self, texts: Sequence[str], reporter: Reporter, _: Regions | None = None) -> list[TokenScores]:
        """Score the texts by the function. Raises EncoderError if it fails or returns wrong values."""
        try:
            arrays = [convert_to_scores(value) for value in self.function([*texts])]
        except (Exception, SystemExit) as error:
            # SystemExit is caught since a user's function may call exit(); a stop that was asked for is passed on.
            if is_stop_request(error):
                raise
            raise EncoderError(f"{self.name} raised {type(error).__name__}: {first_line(error)}") from error
        words = [split_at_spaces(text) for text in texts]
        reporter.advance(len(texts))
        columns = [*zip(arrays, words, strict=False)]
        fits = (array.shape in ((), (len(spans),)) for array, spans in columns)
        if len(arrays) != len(texts) or not all(fits):
            raise EncoderError(f"{self.name} did not return a number for each sentence or each of its words")
        return [TokenScores(array.ravel().tolist(), spans if array.ndim else ()) for array, spans in columns]


def load_function(spec: Spec, device: str) -> FunctionModel:  # noqa: ARG001 - all loaders have this parameter
    """Return the model of a spec ``python:module:function``. Raises UsageError or EncoderError."""
    read_options(spec, NoOptions())
    _, function = load_object(spec)
    if not callable(function):
        raise UsageError(f"{spec}: name a function, as in python:module:function")
    return FunctionModel(spec.name, function)


SCORES = "scores"
"""The kind of specs for stored scores, ``scores:FILE``."""
FUNCTION = "python"
"""The kind of specs for functions of the user, ``python:module:function``."""
_LOADERS = {
    "hf": "neural_scorers:load_transformer",
    "ngram": "arpa:load_ngram_model",
    "trained": "neural_scorers:load_recurrent_model",
    FUNCTION: "scorers:load_function",
}


def parse_models(texts: Sequence[str]) -> list[Spec]:
    """Parse the specs of language models, such as "hf:gpt2" or a trained model's folder. Raises UsageError."""
    kinds = (SCORES, *_LOADERS)
    specs = [read_spec(text, kinds) for text in texts]
    check_names(specs)
    for spec in specs:
        if spec.kind == SCORES and not spec.argument:
            raise UsageError(f"{SCORES}: needs a file")
        if spec.kind not in kinds or not spec.argument:
            raise UsageError(
                f"unknown language model {str(spec)!r}{suggest(spec.kind, kinds)}; known: "
                "hf:MODEL, ngram:FILE, python:MODULE:FUNCTION, scores:FILE, or the folder of probe train lstm-lm"
            )
    return specs


ModelLoader: TypeAlias = Callable[[Spec], LanguageModel]
"""A function that loads the model of a spec."""


def load_language_model(spec: Spec, *, device: str = "") -> LanguageModel:
    """Load the model of a spec, on *device* unless the spec names another one. Raises UsageError or EncoderError."""
    if spec.kind == "hf" and not all(map(find_spec, ("torch", "transformers"))):
        raise missing_extra("a language model hf:...", "transformers")
    if spec.kind == "trained" and not find_spec("torch"):
        raise missing_extra("a trained language model", "probe")
    module, _, function = _LOADERS[spec.kind].partition(":")
    model: LanguageModel = getattr(import_module(f"{__package__}.{module}"), function)(spec, device)
    return model
