"""The results of a run: one value per encoder and task, and as flat records."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pkgutil import resolve_name
from statistics import mean, stdev
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sentprobe.errors import UsageError
from sentprobe.probes.dataset import ONE_HOT, Indices
from sentprobe.probes.runs.data_facts import DataFacts
from sentprobe.probes.statistics import Interval, accuracy_interval
from sentprobe.probes.trainer.classifier import Preset
from sentprobe.probes.trainer.readings import Reading
from sentprobe.table_writers import Caption, TableFormat, make_caption

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import RenderableType


class Condition(StrEnum):
    """What the probe was trained on: the task, a sanity run (a *control*), or for a method."""

    PROBE = "probe"
    RANDOM_SENTENCES = "random-sentences"
    """A random Gaussian vector in place of each sentence vector: must come out at chance."""
    RANDOM_PROBES = "random-probes"
    """A random word in place of each probe word: must come out at chance."""
    BAG_OF_WORDS = "bag-of-words"
    """The average of random word vectors, of the encoder's width: what the words alone tell."""
    NO_SENTENCE = "no-sentence"
    """The probe words only: what they tell without the sentence."""
    CONTROL_TASK = "control-task"
    """Random labels, the same for a word type everywhere: what a probe learns by heart."""
    PORTIONS = "portions"
    """Portions of the training items, from few to all; see :mod:`.trainer.readings`."""
    WIDTHS = "widths"
    """The items as they are, by probes without a hidden layer and with ever wider ones."""


METHODS = (Condition.CONTROL_TASK, Condition.PORTIONS, Condition.WIDTHS)
"""The conditions that a run has only if it is asked for them; they are no sanity runs."""

OF_SEVERAL = frozenset({Condition.PORTIONS, Condition.WIDTHS})
"""Those of which each seed has several probes."""

USUAL = tuple(condition for condition in Condition if condition not in METHODS)
"""The task itself and the sanity runs."""


@dataclass(frozen=True, slots=True)
class Made:
    """How a probe was trained."""

    command: str
    versions: Mapping[str, str] = field(hash=False)
    """Package to version."""
    device: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SeedScore:
    """What came of one probe on the test items."""

    seed: int
    accuracy: float
    correct: int
    total: int
    right: str
    """Which test items are right: a bit for each, in order, packed into hexadecimal bytes."""
    instead: tuple[int, ...] = ()
    """The labels that were given to the other items, in order. Empty with two labels, where they
    follow, for a sanity run, and in a file from before they were kept."""
    epochs: int
    loss: float
    converged: bool
    chosen: Mapping[str, float] = field(default_factory=dict, hash=False)
    """The values that were chosen on validation; empty when there was no choice."""
    validation: float | None = None
    """Accuracy on validation, where there is one."""
    precision: str = "float32"
    made: Made | None = None
    """How, where it was not as the result says: in a later run, or for another encoder's result."""
    readings: tuple[Reading, ...] = ()
    """The probes of a method, of which the last is the one above; empty: there is one probe."""
    information: tuple[float, ...] = ()
    """The pointwise V-information of each test item, in bits; empty where it was not measured."""

    def items(self) -> NDArray[np.bool_]:
        """Return whether each test item is right, (total,) bool."""
        return unpack(self.right, self.total)

    def answers(self, targets: Indices, labels: int) -> Indices | None:
        """Return the label that was given to each item, (total,) int64; None: it is not known.

        - targets: (total,) int64, the labels that are right
        - labels: how many there are
        """
        wrong = ~self.items()
        if labels != 2 and len(self.instead) != wrong.sum():
            return None
        found = np.array(targets)
        found[wrong] = 1 - targets[wrong] if labels == 2 else self.instead
        return found


@dataclass(frozen=True, slots=True)
class Score:
    """The accuracy under one condition, of a probe per seed."""

    seeds: tuple[SeedScore, ...]
    interval: Interval
    """95%, of the mean over the seeds; see ``accuracy_interval``."""

    @property
    def accuracy(self) -> float:
        """The mean over the seeds."""
        return mean(each.accuracy for each in self.seeds)

    @property
    def spread(self) -> float | None:
        """The standard deviation over the seeds (of a sample); None for one seed."""
        return stdev(each.accuracy for each in self.seeds) if len(self.seeds) > 1 else None

    @property
    def total(self) -> int:
        """The number of test items."""
        return self.seeds[0].total

    def items(self) -> NDArray[np.float64]:
        """Return the share of the seeds that are right on each test item, (total,) float64."""
        return mean_items(self.seeds)


def makings(result: "Result") -> tuple[Made, ...]:
    """Return how the probes of a result were trained, each way once, its own first."""
    seeds = (each for score in result.scores.values() for each in score.seeds)
    found = [result.made]
    for made in (each.made for each in seeds):
        if made is not None and made not in found:
            found.append(made)
    return tuple(found)


def mean_items(seeds: Sequence[SeedScore]) -> NDArray[np.float64]:
    """Return the share of the seeds that are right on each test item, (total,) float64."""
    right = np.stack([each.items() for each in seeds])  # (seeds, total)
    return np.asarray(right.mean(axis=0, dtype=np.float64))


def pack(right: NDArray[np.bool_]) -> str:
    """Write a bit for each item as hexadecimal bytes; the inverse of :func:`unpack`.

    >>> pack(np.array([True, False, True])), unpack("a0", 3).tolist()
    ('a0', [True, False, True])
    """
    return np.packbits(right).tobytes().hex()


def unpack(text: str, total: int) -> NDArray[np.bool_]:
    """Read *total* bits back, (total,) bool; ValueError when there are not so many."""
    data = np.frombuffer(bytes.fromhex(text), dtype=np.uint8)
    if len(data) != (total + 7) // 8:
        raise ValueError(f"{len(data)} bytes of answers for {total} items")
    return np.unpackbits(data, count=total).astype(np.bool_)


def make_score(seeds: Iterable[SeedScore], units: Sequence[int]) -> Score:
    """Put the scores of several seeds together, in order of seed, with their interval."""
    ordered = tuple(sorted(seeds, key=lambda each: each.seed))
    return Score(ordered, accuracy_interval(mean_items(ordered), units))


def renumber(units: Indices) -> tuple[int, ...]:
    """Return units numbered in order of appearance; () when every item is one of its own.

    >>> renumber(np.array([7, 7, 3])), renumber(np.array([5, 2]))
    ((0, 0, 1), ())
    """
    numbers: dict[int, int] = {}
    found = tuple(numbers.setdefault(unit, len(numbers)) for unit in units.tolist())
    return () if len(numbers) == len(found) else found


@dataclass(frozen=True, slots=True)
class Norm:
    """The Euclidean norms of an encoder's vectors of the sentences of one length, not scaled."""

    tokens: int
    sentences: int
    """How many different ones there are in the dataset, all splits together."""
    mean: float
    deviation: float
    """The standard deviation over just these sentences (divided by their number)."""


EncoderOnTask: TypeAlias = tuple[str, str]
"""The names of an encoder and a task."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Everything about one encoder on one task; equal commands differ in *seconds* only."""

    task: str
    encoder: str
    encoder_fingerprint: str
    encoder_seed: int | None = None
    """That by which its weights were drawn; None where they were not, or it was not kept."""
    dim: int
    """The width of its vectors; 0 for a baseline, which has none."""
    dataset_fingerprint: str
    """The version of the data: a digest of its texts and items."""
    recipe: str = ""
    """A digest of all that it was made from (:mod:`.recipes`); empty where that is not known."""
    notes: tuple[str, ...] = ()
    """What the dataset's card says is to be known of it."""
    data: DataFacts | None = None
    """What the dataset was made of; None in a file from before it was kept."""
    majority: float
    """The share of the most frequent label in the test items: chance."""
    labels: int | None = None
    """How many labels there are; None in a file from before it was kept."""
    mirrored: bool
    """Whether the test items are mirror pairs (see :attr:`ProbeDataset.mirrored`)."""
    units: tuple[int, ...] = ()
    """Test items of one number belong together; empty when all are independent."""
    lengths: tuple[int, ...] = ()
    """The tokens of each test item's sentence; empty in a file from before they were kept."""
    norms: tuple[Norm, ...] = ()
    """By length; empty for a baseline, and in a file from before they were kept."""
    truncated: int | None = None
    """How many different sentences the encoder read only the beginning of; None: nobody knows."""
    balanced_probes: bool = True
    """Whether the probe words alone tell nothing (see :attr:`ProbeDataset.balanced_probes`)."""
    probe_vectors: str = ONE_HOT
    """What stands for the probe words: ONE_HOT, OWN_WORDS, or the name of one encoder for all.

    Empty where there are none, and for a baseline.
    """
    probe_fingerprint: str = ""
    """Of the probe words' vectors; empty when there are none."""
    input_words: bool = False
    """Whether these are those by which an encoder reads words; false: it encoded each alone."""
    scores: Mapping[Condition, Score] = field(hash=False)
    seed: int
    """The run's seed: that of random vectors and words; probes count up from it."""
    preset: Preset = field(hash=False)
    command: str
    versions: Mapping[str, str] = field(hash=False)
    """Package to version."""
    device: str = "cpu"
    layer: int | None = None
    """Which layer of a model the encoder is, where it is one."""
    family: str = ""
    """What encoders of several layers of one model, or steps of one training, have in common."""
    step: int | None = None
    """The step of training that the encoder was at; None: it was in none, or that is not known."""
    epoch: float | None = None
    """How many passes over its training data it had made."""
    seconds: Mapping[str, float] = field(default_factory=dict, hash=False)
    """Wall-clock time of each step; one that several encoders share counts in full in each."""
    source: str = field(default="", compare=False)
    """The folder that it was read from; not written, and empty when it was not read."""

    @property
    def made(self) -> Made:
        """How the seeds were trained that do not say otherwise."""
        return Made(self.command, self.versions, self.device)

    @property
    def cell(self) -> EncoderOnTask:
        """The cell of a table that it belongs in; draws of one run share it."""
        return self.encoder, self.task

    @property
    def accuracy(self) -> float:
        """The accuracy of the probe itself."""
        return self.scores[Condition.PROBE].accuracy

    def __repr__(self) -> str:
        """Say what was probed and how it went; all of it would fill a screen."""
        return f"Result(task={self.task!r}, encoder={self.encoder!r}, accuracy={self.accuracy})"

    def of_seeds(self, seeds: Iterable[int]) -> "Result":
        """Return the result with the scores of these seeds only."""
        wanted = set(seeds)
        kept = {c: [e for e in s.seeds if e.seed in wanted] for c, s in self.scores.items()}
        scores = {c: make_score(each, self.units) for c, each in kept.items() if each}
        return replace(self, scores=scores)


VIEW = "sentprobe.probes.report.view"
"""The module that draws results. It is above this one, so it is found by name when it is wanted."""


@dataclass(frozen=True, slots=True)
class Results:
    """The results of a run, in the order in which they were made; they show as the table."""

    records: tuple[Result, ...]

    def __str__(self) -> str:
        return self._shown(TableFormat.TEXT)

    def __repr__(self) -> str:
        return str(self)

    def __rich__(self) -> "RenderableType":
        render: Callable[[Results], RenderableType] = resolve_name(f"{VIEW}:render_results")
        return render(self)

    def _repr_html_(self) -> str:
        """Return the table for a notebook."""
        return self._shown(TableFormat.HTML)

    def to_markdown(self, *, intervals: bool = False, all_rows: bool = False) -> str:
        """Return the table in Markdown, with 95% intervals or rows of sanity runs if asked for."""
        return self._shown(TableFormat.MARKDOWN, intervals=intervals, all_rows=all_rows)

    def to_latex(
        self,
        *,
        intervals: bool = False,
        all_rows: bool = False,
        caption: str | None = None,
        label: str | None = None,
    ) -> str:
        """Return the same table in LaTeX, for the package booktabs.

        With a *caption*, it is a table that floats, and may have a *label*.

        Raises:
            UsageError: see :func:`sentprobe.table_writers.make_caption`.
        """
        made = make_caption(caption, label)
        return self._shown(TableFormat.LATEX, intervals=intervals, all_rows=all_rows, caption=made)

    def _shown(self, fmt: TableFormat, **choices: bool | Caption) -> str:
        show: Callable[..., str] = resolve_name(f"{VIEW}:show_results")
        return show(self, fmt, **choices)

    @property
    def encoders(self) -> tuple[str, ...]:
        """The encoders, each once, in order."""
        return tuple(dict.fromkeys(record.encoder for record in self.records))

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks, each once, in order."""
        return tuple(dict.fromkeys(record.task for record in self.records))

    def find(self, encoder: str, task: str) -> Result | None:
        """Return the result of that encoder on that task, if there is one; of draws, the first."""
        for record in self.records:
            if record.cell == (encoder, task):
                return record
        return None

    def to_records(self) -> list[dict[str, Any]]:
        """Return a flat dictionary for each encoder, task and condition."""
        return to_records(self)

    def to_frame(self) -> "pd.DataFrame":
        """Return the records as a pandas data frame.

        Raises:
            UsageError: pandas is not installed.
        """
        return to_frame(self)


def to_records(results: Results) -> list[dict[str, Any]]:
    """Return a flat dictionary for each encoder, task and condition, all with the same keys."""
    return [
        _record(result, condition, score)
        for result in results.records
        for condition, score in result.scores.items()
    ]


def _record(result: Result, condition: Condition, score: Score) -> dict[str, Any]:
    return {
        "run": result.source,
        "encoder": result.encoder,
        "task": result.task,
        "condition": condition.value,
        "accuracy": score.accuracy,
        "spread": score.spread,
        "low": score.interval.low,
        "high": score.interval.high,
        "seeds": len(score.seeds),
        "total": score.total,
        "majority": result.majority,
        "mirrored": result.mirrored,
        "dim": result.dim,
        "family": result.family,
        "layer": result.layer,
        "step": result.step,
        "epoch": result.epoch,
        "probe_vectors": result.probe_vectors,
        "preset": result.preset.name,
        "seed": result.seed,
        "precision": "+".join(sorted({each.precision for each in score.seeds})),
        "epochs": mean(each.epochs for each in score.seeds),
        "converged": all(each.converged for each in score.seeds),
        "seconds": result.seconds.get(condition.value),
        "device": result.device,
        "dataset_fingerprint": result.dataset_fingerprint,
        "encoder_fingerprint": result.encoder_fingerprint,
        "encoder_seed": result.encoder_seed,
        **{f"data_{name}": getattr(result.data, name, None) for name in _DATA_FACTS},
    }


_DATA_FACTS = ("train", "validation", "word_types", "vocabulary", "sampling", "seed")
"""What a record says of the data, beside the number of test items and the digest."""


def to_frame(results: Results) -> "pd.DataFrame":
    """Return the records as a pandas data frame.

    Raises:
        UsageError: pandas is not installed.
    """
    try:
        import pandas as pd  # noqa: PLC0415 - optional, and slow
    except ImportError:
        raise UsageError(
            "a data frame needs the extra: pip install 'sentprobe[pandas]' (to_records() does not)"
        ) from None
    return pd.DataFrame(to_records(results))


def norms_by_length(lengths: Sequence[int], norms: NDArray[np.float64]) -> tuple[Norm, ...]:
    """Return mean and standard deviation of *norms* (n,) float64, for each of the *lengths* (n,).

    >>> norms_by_length([3, 2, 3], np.array([1.0, 5.0, 3.0]))[1]
    Norm(tokens=3, sentences=2, mean=2.0, deviation=1.0)
    """
    array = np.array(lengths)
    groups = ((int(tokens), norms[array == tokens]) for tokens in np.unique(array))
    return tuple(Norm(t, len(each), float(each.mean()), float(each.std())) for t, each in groups)
