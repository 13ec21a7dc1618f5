"""The scorer as an evaluator of sentence-transformers, whose trainer calls it at its steps.

The package is imported when an evaluator is made.
"""

import csv
import io
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from sentprobe.errors import UsageError, path_error, suggest
from sentprobe.files import write_atomically
from sentprobe.probes.encoders.protocol import missing_extra
from sentprobe.probes.runs.scorer import MEAN, ScoreOptions, Scorer, modes_kept

if TYPE_CHECKING:
    from sentence_transformers.base.evaluation import BaseEvaluator
else:
    BaseEvaluator = object  # theirs is added when an evaluator is made

NOT_SAID = -1
"""What sentence-transformers gives for an epoch or step that there is none of."""


class SentenceTransformersEvaluator(BaseEvaluator):
    """What the distances of a model keep, and what probes read, while it is trained.

    It is a ``SentenceEvaluator`` of sentence-transformers (now ``BaseEvaluator``), for the argument
    *evaluator* of a trainer. A call returns the scores of :func:`sentprobe.score` with the name
    before each key.

    - name: of the evaluator, and of the model in results
    - primary: the key, without the name, by which models are compared; by default
      ``geometry_mean_form``, or ``probe_mean`` if there are no contrasts
    - batch_size: sentences that are encoded at a time
    - write_csv: whether a call that is given a path adds a row to a CSV file there
    - options: the arguments of :class:`sentprobe.Scorer`: contrasts, tasks, sizes, seed, and *out*

    Raises:
        EncoderError: sentence-transformers is not installed.
        UsageError: there is no such key; see also :class:`sentprobe.Scorer`.
    """

    def __new__(cls, **options: Any) -> "SentenceTransformersEvaluator":
        """Make an object that is one of sentence-transformers' evaluators, too."""
        del options
        made: SentenceTransformersEvaluator = object.__new__(_joined(cls))
        return made

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
        primary = primary or next(key for key in _USUAL if key in keys)
        if primary not in keys:
            raise UsageError(
                f"primary: there is no score {primary!r}{suggest(primary, keys)}; "
                f"the scores are {', '.join(keys)}"
            )
        self.name = name
        self.primary_metric = self._prefixed(primary)
        self.greater_is_better = True
        self.batch_size = batch_size
        self.write_csv = write_csv
        self.csv_file = f"sentprobe_evaluation{'_' if name else ''}{name}_results.csv"

    def __call__(
        self,
        model: Any,
        output_path: str | None = None,
        epoch: float = NOT_SAID,
        steps: int = NOT_SAID,
    ) -> dict[str, float]:
        """Return the scores of a model; with a path, add them to the CSV file there.

        Raises:
            EncoderError: see :class:`sentprobe.Scorer`.
            UsageError: the CSV file has other columns, or cannot be written to.
        """
        with modes_kept(model):
            found = self._scorer(
                lambda texts: model.encode(
                    texts,
                    batch_size=self.batch_size,
                    show_progress_bar=False,
                    convert_to_numpy=True,
                ),
                step=None if steps == NOT_SAID else steps,
                epoch=None if epoch == NOT_SAID else epoch,
            )
        if output_path is not None and self.write_csv:
            _add_row(
                Path(output_path) / self.csv_file,
                header=["epoch", "steps", *found],
                row=[epoch, steps, *found.values()],
            )
        scores = {self._prefixed(key): share for key, share in found.items()}
        card = getattr(model, "model_card_data", None)
        if card is not None:
            card.set_evaluation_metrics(self, scores, epoch, steps)
        return scores

    @property
    def description(self) -> str:
        """What a model's card calls it."""
        return "Sentprobe"

    def _prefixed(self, key: str) -> str:
        return f"{self.name}_{key}" if self.name else key


_USUAL = (f"geometry_{MEAN}_form", f"probe_{MEAN}")


_JOINED: dict[type, type] = {}
"""What was made of each class, once."""


def _joined(kind: type) -> type:
    """Return a class that is a class of ours and of sentence-transformers' evaluators."""
    base = _base()
    if issubclass(kind, base):
        return kind
    if kind not in _JOINED:
        told = {name: getattr(kind, name) for name in ("__doc__", "__module__", "__qualname__")}
        _JOINED[kind] = type(kind.__name__, (kind, base), told)
    return _JOINED[kind]


def _base() -> type:
    try:
        from sentence_transformers.base import evaluation  # noqa: PLC0415 - optional, and slow
    except ImportError:
        raise missing_extra(
            "SentenceTransformersEvaluator", extra="sentence-transformers"
        ) from None
    base: type = evaluation.BaseEvaluator
    return base


def _add_row(path: Path, *, header: list[str], row: list[float]) -> None:
    """Add a row to a CSV file, or make it with its header."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        there = path.read_text("utf-8") if path.exists() else _line(header)
    except OSError as error:
        raise path_error(path, "cannot write scores here", error) from error
    if there.partition("\n")[0] != _line(header).rstrip("\n"):
        raise UsageError(f"{path}: its columns are not those of these scores: move it, or rename")
    write_atomically(path, there + _line(row))


def _line(values: list[Any]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerow(values)
    return out.getvalue()
