"""Evaluators for sentence-transformers: model scores and gate rates. Making an evaluator imports the library."""

from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any, ClassVar, Unpack

from sentprobe.common.errors import UsageError, path_error, suggest
from sentprobe.common.files import write_atomically
from sentprobe.common.screen import SilentReporter
from sentprobe.common.tables import format_csv_row
from sentprobe.probes.encoders.encoder import missing_extra
from sentprobe.probes.encoders.models.python import wrap_encoder
from sentprobe.probes.runs.scorer import MEAN, USUAL_CONTRASTS, ScoreOptions, Scorer, restore_training_modes
from sentprobe.probes.similarity.gate_run import prepare_pairs
from sentprobe.probes.similarity.gate_thresholds import ThresholdRule
from sentprobe.probes.similarity.pair_scores import VectorScorer

if TYPE_CHECKING:
    from sentence_transformers.base.evaluation import BaseEvaluator
else:
    BaseEvaluator = object  # the real base class is added when an evaluator is made

NOT_GIVEN = -1


class SentenceTransformersEvaluator(BaseEvaluator):
    """Geometry scores and probe accuracies of a model during training.

    It is a ``BaseEvaluator`` (formerly ``SentenceEvaluator``), for the argument *evaluator* of a trainer. A call
    returns the scores of :func:`sentprobe.score`, with the evaluator's name before each key.

    - name: the name of the evaluator, and of the model in results
    - primary: the key, without the prefix, by which models are compared; by default
      ``geometry_mean_form``, or ``probe_mean`` without contrasts
    - batch_size: the number of sentences in a batch
    - write_csv: whether a call with *output_path*, a folder, adds a row to a CSV file in this folder
    - options: the arguments of :class:`sentprobe.Scorer`: contrasts, tasks, sizes, seed, and *out*

    Raises:
        EncoderError: sentence-transformers is not installed.
        UsageError: *primary* is no key of a score; see also :class:`sentprobe.Scorer`.
    """

    _title: ClassVar = "Sentprobe"

    def __new__(cls, **options: Any) -> "SentenceTransformersEvaluator":
        """Return an object that is also an instance of sentence-transformers' ``BaseEvaluator``."""
        del options
        evaluator: SentenceTransformersEvaluator = object.__new__(_make_evaluator_class(cls))
        return evaluator

    def __init__(
        self,
        *,
        name: str = "sentprobe",
        primary: str = "",
        batch_size: int = 32,
        write_csv: bool = True,
        **options: Unpack[ScoreOptions],
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._scorer = Scorer(name=name or "model", **options)
        keys = self._scorer.keys
        primary = primary or next(key for key in _USUAL_KEYS if key in keys)
        if primary not in keys:
            raise UsageError(
                f"primary: there is no score {primary!r}{suggest(primary, keys)}; the scores are {', '.join(keys)}"
            )
        self._set_trainer_attributes(name, primary, greater_is_better=True, batch_size=batch_size, write_csv=write_csv)

    def _set_trainer_attributes(
        self, name: str, primary: str, *, greater_is_better: bool, batch_size: int, write_csv: bool
    ) -> None:
        self.name = name
        self.primary_metric = self._add_prefix(primary)
        self.greater_is_better = greater_is_better
        self.batch_size = batch_size
        self.write_csv = write_csv
        self.csv_file = f"sentprobe_evaluation{'_' if name else ''}{name}_results.csv"

    def __call__(
        self, model: Any, output_path: str | None = None, epoch: float = NOT_GIVEN, steps: int = NOT_GIVEN
    ) -> dict[str, float]:
        """Return the scores of a model. With ``write_csv``, also add them to a CSV file in *output_path*, if given.

        Raises:
            EncoderError: see :class:`sentprobe.Scorer`.
            UsageError: the CSV file has other columns, or is not writable.
        """
        with restore_training_modes(model):
            shares = self._score(
                lambda texts: model.encode(
                    texts, batch_size=self.batch_size, show_progress_bar=False, convert_to_numpy=True
                ),
                step=None if steps == NOT_GIVEN else steps,
                epoch=None if epoch == NOT_GIVEN else epoch,
            )
        if output_path is not None and self.write_csv:
            header, row = ["epoch", "steps", *shares], [epoch, steps, *shares.values()]
            _append_csv_row(Path(output_path) / self.csv_file, header=header, row=row)
        scores = {self._add_prefix(key): share for key, share in shares.items()}
        if (card := getattr(model, "model_card_data", None)) is not None:
            card.set_evaluation_metrics(self, scores, epoch, steps)
        return scores

    def _score(self, encode: Callable[[list[str]], Any], *, step: int | None, epoch: float | None) -> dict[str, float]:
        return self._scorer(encode, step=step, epoch=epoch)

    @property
    def description(self) -> str:
        """The name of the evaluator in a model card."""
        return self._title

    def _add_prefix(self, key: str) -> str:
        return f"{self.name}_{key}" if self.name else key


class GateEvaluator(SentenceTransformersEvaluator):
    """Shares of false hits and of misses (see :func:`sentprobe.gate`) of a model during its training.

    The threshold is chosen so that a given share of paraphrases passes; *keep* is this share (0.95: 95%). Models are
    compared by the mean share of false hits (pairs with different meanings that pass); lower is better.

    - contrasts, n, seed, vocabulary: the settings of the generated pairs; see :func:`sentprobe.gate`
    - name, batch_size, write_csv: see :class:`SentenceTransformersEvaluator`

    Raises:
        EncoderError: sentence-transformers is not installed.
        UsageError: unknown contrast or vocabulary, too few triplets, or *keep* out of range.
    """

    _title: ClassVar = "Sentprobe gate"

    def __init__(
        self,
        *,
        name: str = "gate",
        keep: float = 0.95,
        contrasts: Sequence[str] = USUAL_CONTRASTS,
        n: int = 100,
        seed: int = 0,
        vocabulary: str | None = None,
        batch_size: int = 32,
        write_csv: bool = True,
    ) -> None:
        super(SentenceTransformersEvaluator, self).__init__()  # type: ignore[no-untyped-call]
        self._pairs, self._seed = prepare_pairs(contrasts, n=n, vocabulary=vocabulary), seed
        self._rule = ThresholdRule(keep=keep)
        self._set_trainer_attributes(
            name, FALSE_HITS, greater_is_better=False, batch_size=batch_size, write_csv=write_csv
        )

    def _score(self, encode: Callable[[list[str]], Any], *, step: int | None, epoch: float | None) -> dict[str, float]:
        del step, epoch
        scorer = VectorScorer(wrap_encoder(encode, name=self.name or "model"))
        result = self._pairs.measure(scorer, self._rule, seed=self._seed, reporter=SilentReporter())
        shares = {f"false_hits_{rates.contrast}_{rates.form}": rates.false_hits for rates in result.rates}
        return {**shares, FALSE_HITS: mean(shares.values()), "misses": 1 - result.kept}


FALSE_HITS = f"false_hits_{MEAN}"
_USUAL_KEYS = (f"geometry_{MEAN}_form", f"probe_{MEAN}")
_EVALUATOR_CLASSES: dict[type, type] = {}
"""For each evaluator class of this module, its subclass that is also derived from ``BaseEvaluator``."""


def _make_evaluator_class(scorer_class: type) -> type:
    """Return a subclass of *scorer_class* that is also derived from ``BaseEvaluator``."""
    try:
        from sentence_transformers.base import evaluation
    except ImportError:
        raise missing_extra(scorer_class.__name__, "sentence-transformers") from None
    base: type = evaluation.BaseEvaluator
    if issubclass(scorer_class, base):
        return scorer_class
    if scorer_class not in _EVALUATOR_CLASSES:
        attributes = {name: getattr(scorer_class, name) for name in ("__doc__", "__module__", "__qualname__")}
        _EVALUATOR_CLASSES[scorer_class] = type(scorer_class.__name__, (scorer_class, base), attributes)
    return _EVALUATOR_CLASSES[scorer_class]


def _append_csv_row(path: Path, *, header: list[str], row: list[float]) -> None:
    """Add a row to a CSV file; create the file with *header* if it does not exist."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        text = path.read_text("utf-8") if path.exists() else f"{format_csv_row(header)}\n"
    except OSError as error:
        raise path_error(path, "cannot write scores here", error) from error
    if text.partition("\n")[0] != format_csv_row(header):
        raise UsageError(f"{path}: its columns are not those of these scores: move the file, or rename the evaluator")
    write_atomically(path, f"{text}{format_csv_row(row)}\n")
