"""The result of an encoder on a task, with the scores of its probes and controls, and all results of a run."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from pkgutil import resolve_name
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sentprobe.common.plots import Plots
from sentprobe.common.tables import Caption, TableFormat, build_caption, build_frame
from sentprobe.common.values import group_by
from sentprobe.probes.classifier.probe import CurvePoint, Preset
from sentprobe.probes.datasets.dataset import ONE_HOT, Indices
from sentprobe.probes.results.data_facts import DataFacts
from sentprobe.probes.statistics import Interval, accuracy_interval

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import RenderableType


class Condition(StrEnum):
    """The data that a probe is trained on: the task's own, or data changed for a control or for a ``--method``."""

    PROBE = "probe"
    RANDOM_SENTENCES = "random-sentences"
    """A random Gaussian vector instead of each sentence vector: accuracy should be at chance."""
    RANDOM_PROBES = "random-probes"
    """A random word instead of each probe word: accuracy should be at chance."""
    BAG_OF_WORDS = "bag-of-words"
    """The mean of random word vectors instead of each sentence vector: accuracy without word order."""
    NO_SENTENCE = "no-sentence"
    """The probe words without the sentence vector: accuracy without the sentence."""
    FIXED_POSITIONS = "fixed-positions"
    """Random vectors of the words at fixed places instead of each sentence vector: accuracy without structure."""
    WORDS_AND_POSITIONS = "words-and-positions"
    """The mean of random vectors of each word at its position instead of each sentence vector: accuracy from words,
    their first letters and their order alone."""
    CONTROL_TASK = "control-task"
    """Random labels that are fixed for each word type: accuracy from memorization."""
    PORTIONS = "portions"
    """Growing portions of the training items, for the codelength."""
    WIDTHS = "widths"
    """The task itself, for a linear probe and for probes with increasingly wide hidden layers."""


METHODS = (Condition.CONTROL_TASK, Condition.PORTIONS, Condition.WIDTHS)
"""The conditions that a run has only on request (``--control-task``, ``--method``)."""
MULTI_PROBE_CONDITIONS = frozenset({Condition.PORTIONS, Condition.WIDTHS})
USUAL_CONDITIONS = tuple(condition for condition in Condition if condition not in METHODS)
"""The task itself and the controls."""


@dataclass(frozen=True, slots=True)
class Provenance:
    """The command, package versions and device with which a probe was trained."""

    command: str
    versions: Mapping[str, str] = field(hash=False)
    device: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SeedScore:
    """The score of one probe on the test items."""

    seed: int
    accuracy: float
    correct: int
    total: int
    right: str
    """Whether each test item is answered correctly: one bit per item, as hexadecimal bytes (:func:`pack_bits`)."""
    wrong_answers: tuple[int, ...] = ()
    """The predicted labels of the incorrect items, in order; empty for controls and for tasks of two labels."""
    epochs: int
    loss: float
    converged: bool
    """Whether training ended before the preset's ``max_epochs``."""
    pass_limit: int | None = None
    """The number of epochs of the main probe, if a control's training was stopped after as many epochs; else None."""
    grid_values: Mapping[str, float] = field(default_factory=dict, hash=False)
    """The settings that were chosen by validation accuracy, such as ``{"hidden": 50}``; empty if there are none."""
    validation: float | None = None
    precision: str = "float32"
    provenance: Provenance | None = None
    """The provenance of the probe if another run trained it and ``Result.provenance`` differs; else None."""
    readings: tuple[CurvePoint, ...] = ()
    """A point for each probe of PORTIONS or WIDTHS; the last point is of the probe of this score. Else empty."""
    information: tuple[float, ...] = ()
    """The pointwise V-information of each test item, in bits; empty if not measured."""

    def items(self) -> NDArray[np.bool_]:
        """Return whether each test item is answered correctly, (total,) bool."""
        return unpack_bits(self.right, self.total)

    def answers(self, targets: Indices, labels: int) -> Indices | None:
        """Return the predicted labels, (total,) int64, or None if not stored; *labels* is the number of labels."""
        is_wrong = ~self.items()
        if labels != 2 and len(self.wrong_answers) != is_wrong.sum():
            return None
        predictions = np.array(targets)
        predictions[is_wrong] = 1 - targets[is_wrong] if labels == 2 else self.wrong_answers
        return predictions


@dataclass(frozen=True, slots=True)
class Score:
    """The scores of all probes of a result under one condition, one probe per seed."""

    seeds: tuple[SeedScore, ...]
    interval: Interval

    @property
    def accuracy(self) -> float:
        """The mean accuracy over the seeds."""
        return fmean(seed_score.accuracy for seed_score in self.seeds)

    @property
    def spread(self) -> float | None:
        """The sample standard deviation of the accuracy over the seeds; None for one seed."""
        return stdev(seed_score.accuracy for seed_score in self.seeds) if len(self.seeds) > 1 else None

    @property
    def total(self) -> int:
        """The number of test items."""
        return self.seeds[0].total

    def items(self) -> NDArray[np.float64]:
        """Return the share of the probes that answer each test item correctly, (total,) float64."""
        return compute_item_accuracies(self.seeds)


def compute_item_accuracies(seeds: Sequence[SeedScore]) -> NDArray[np.float64]:
    """Return, for each test item, the share of the probes that answer it correctly, (total,) float64."""
    right = np.stack([seed_score.items() for seed_score in seeds])  # (seeds, total)
    return np.asarray(right.mean(axis=0, dtype=np.float64))


def find_provenances(result: "Result") -> tuple[Provenance, ...]:
    """Return the provenance of a result, then those of its probes; each distinct provenance is returned once."""
    provenances = (seed_score.provenance for score in result.scores.values() for seed_score in score.seeds)
    return tuple(dict.fromkeys([result.provenance, *filter(None, provenances)]))


def pack_bits(right: NDArray[np.bool_]) -> str:
    """Return one bit per item as hexadecimal bytes; the inverse of :func:`unpack_bits`."""
    return np.packbits(right).tobytes().hex()


def unpack_bits(text: str, total: int) -> NDArray[np.bool_]:
    """Parse hexadecimal bytes into *total* bits, (total,) bool; raise ValueError for too few or too many bytes."""
    data = np.frombuffer(bytes.fromhex(text), dtype=np.uint8)
    if len(data) != (total + 7) // 8:
        raise ValueError(f"{len(data)} bytes of answers for {total} items")
    return np.unpackbits(data, count=total).astype(np.bool_)


def make_score(seeds: Iterable[SeedScore], units: Sequence[int]) -> Score:
    """Return the Score of *seeds*, with the confidence interval of accuracy; *units*: unit index of each test item."""
    ordered = tuple(sorted(seeds, key=lambda seed_score: seed_score.seed))
    return Score(ordered, accuracy_interval(compute_item_accuracies(ordered), units))


def renumber_units(units: Indices) -> tuple[int, ...]:
    """Return units numbered from 0 in order of appearance, or () if every item is its own unit."""
    numbers: dict[int, int] = {}
    renumbered = tuple(numbers.setdefault(unit, len(numbers)) for unit in units.tolist())
    return () if len(numbers) == len(renumbered) else renumbered


@dataclass(frozen=True, slots=True)
class Norm:
    """The mean and standard deviation of the vectors' Euclidean norms over all sentences of one length."""

    tokens: int
    sentences: int
    """The number of distinct sentences of this length in all splits."""
    mean: float
    deviation: float


EncoderOnTask: TypeAlias = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The result of one encoder on one task. Two runs of the same command differ only in *seconds*."""

    task: str
    encoder: str
    encoder_fingerprint: str
    encoder_seed: int | None = None
    """The seed of the encoder's random weights; None if it has no random weights."""
    dim: int
    """The width of the encoder's vectors; 0 for a baseline."""
    dataset_fingerprint: str
    recipe: str = ""
    """A digest of all inputs and settings that determine the result; empty if unknown."""
    notes: tuple[str, ...] = ()
    data: DataFacts | None = None
    majority: float
    """Chance: the share of the most frequent label in the test items."""
    labels: int | None = None
    mirrored: bool
    """Whether the test items are mirror pairs (see :attr:`ProbeDataset.mirrored`)."""
    units: tuple[int, ...] = ()
    """The index of each test item's unit, such as ``(0, 0, 1, 1)``; empty if all items are independent."""
    lengths: tuple[int, ...] = ()
    """The number of tokens in each test item's sentence; empty if not counted."""
    norms: tuple[Norm, ...] = ()
    """The norms of the vectors by sentence length; empty for a baseline."""
    truncated: int | None = None
    """The number of distinct sentences that the encoder truncated; None if unknown."""
    balanced_probes: bool = True
    """Whether the probe words alone are uninformative (:attr:`ProbeDataset.balanced_probes`)."""
    probe_vectors: str = ONE_HOT
    """The vectors of the probe words: ``ONE_HOT``, ``ENCODER_WORDS`` (of the probed encoder), or the name of another
    encoder. Empty for a baseline, and for tasks without probe words."""
    probe_fingerprint: str = ""
    """The fingerprint of the encoder that encoded the probe words; empty for one-hot vectors."""
    input_words: bool = False
    """Whether the vectors of the probe words are the encoder's input embeddings, rather than encodings of single
    words."""
    scores: Mapping[Condition, Score]
    seed: int
    """The seed of the run, for random vectors and words. The seeds of the probes count up from this seed."""
    preset: Preset
    command: str
    versions: Mapping[str, str]
    device: str = "cpu"
    layer: int | None = None
    position: str = ""
    """The pooling of the encoder, or the token whose state is the sentence vector; empty if unknown."""
    family: str = ""
    """The common name of encoders that are layers of one model or checkpoints of one training."""
    step: int | None = None
    """The training step of the encoder; None if unknown, or if the encoder is no training checkpoint."""
    epoch: float | None = None
    seconds: Mapping[str, float] = field(default_factory=dict)
    """The wall-clock time of each stage. A stage that several encoders share counts in full for every encoder."""
    source: str = field(default="", compare=False)
    """The folder that the result was read from; not stored."""
    edited: bool = field(default=False, compare=False)
    """Whether the result's file was changed after sentprobe wrote it, by its digest; not stored."""

    @property
    def provenance(self) -> Provenance:
        """The provenance of every probe that has none of its own (its ``SeedScore.provenance`` is None)."""
        return Provenance(self.command, self.versions, self.device)

    @property
    def cell(self) -> EncoderOnTask:
        """The result's cell in a table, as the names of encoder and task. All draws of a run share one cell."""
        return self.encoder, self.task

    @property
    def accuracy(self) -> float:
        """The mean test accuracy of the main probes (not of controls)."""
        return self.scores[Condition.PROBE].accuracy

    def __hash__(self) -> int:
        """Return a hash of a few fields only, for speed. A cache key may contain thousands of results."""
        return hash((self.encoder, self.task, self.seed, self.dataset_fingerprint))

    def __repr__(self) -> str:
        """Return task, encoder and accuracy only."""
        return f"Result(task={self.task!r}, encoder={self.encoder!r}, accuracy={self.accuracy})"

    def select_seeds(self, seeds: Iterable[int]) -> "Result":
        """Return the result with the scores of only these seeds."""
        selected_seeds = set(seeds)
        seeds_by_condition = {c: [e for e in s.seeds if e.seed in selected_seeds] for c, s in self.scores.items()}
        scores = {c: make_score(selected, self.units) for c, selected in seeds_by_condition.items() if selected}
        return replace(self, scores=scores)


VIEW, RECORDS = "sentprobe.probes.reports.tables.view", "sentprobe.probes.results.records"
PLOTS = "sentprobe.probes.reports.pages.plot_files"
"""The modules that render tables and records. They import this module, so they are imported by name when needed."""


@dataclass(frozen=True)
class Results:
    """The results of one or several runs, in order. In a terminal or notebook, they are displayed as a table."""

    records: tuple[Result, ...]

    def __str__(self) -> str:
        return self._render(TableFormat.TEXT)

    def __repr__(self) -> str:
        return str(self)

    def __rich__(self) -> "RenderableType":
        render: Callable[[Results], RenderableType] = resolve_name(f"{VIEW}:RenderedResults")
        return render(self)

    def _repr_html_(self) -> str:
        return self._render(TableFormat.HTML)

    def to_markdown(self, *, intervals: bool = False, all_rows: bool = False, notes: bool = False) -> str:
        """Return the table in Markdown; options add 95% intervals, rows of controls, or all *notes*."""
        return self._render(TableFormat.MARKDOWN, intervals=intervals, all_rows=all_rows, notes=notes)

    def to_latex(
        self, *, intervals: bool = False, all_rows: bool = False, caption: str | None = None, label: str | None = None
    ) -> str:
        """Return the table in LaTeX, for the package booktabs.

        - intervals: also show 95% intervals
        - all_rows: also show the rows of controls
        - caption: make the table a floating table with this caption
        - label: the LaTeX label of the floating table

        Raises:
            UsageError: see :func:`sentprobe.common.tables.build_caption`.
        """
        heading = build_caption(caption, label)
        return self._render(TableFormat.LATEX, intervals=intervals, all_rows=all_rows, caption=heading)

    def _render(self, fmt: TableFormat, **choices: bool | Caption) -> str:
        show: Callable[..., str] = resolve_name(f"{VIEW}:show_results")
        return show(self, fmt, **choices)

    def plot(self) -> Plots:
        """Return the plots of the report page, which a notebook displays; ``plot()[0].save("plot.svg")`` saves one."""
        draw: Callable[[Results], Plots] = resolve_name(f"{PLOTS}:plot_results")
        return draw(self)

    @cached_property
    def encoders(self) -> tuple[str, ...]:
        """The distinct names of encoders, in order of appearance."""
        return tuple(dict.fromkeys(record.encoder for record in self.records))

    @cached_property
    def tasks(self) -> tuple[str, ...]:
        """The distinct names of tasks, in order of appearance."""
        return tuple(dict.fromkeys(record.task for record in self.records))

    @cached_property
    def records_by_cell(self) -> Mapping[EncoderOnTask, Sequence[Result]]:
        """The results of each encoder on each task, one result per draw."""
        return group_by(self.records, lambda record: record.cell)

    def find(self, encoder: str, task: str) -> Result | None:
        """Return the first result of the encoder on the task, or None if there is none."""
        return next(iter(self.records_by_cell.get((encoder, task), ())), None)

    def to_records(self) -> list[dict[str, Any]]:
        """Return a flat dictionary for each result and condition; all dictionaries have the same keys."""
        make: Callable[[Results], list[dict[str, Any]]] = resolve_name(f"{RECORDS}:make_records")
        return make(self)

    def to_frame(self) -> "pd.DataFrame":
        """Return the records as a pandas data frame. Raises UsageError if pandas is not installed."""
        return build_frame(self.to_records())


def summarize_norms(lengths: Sequence[int], norms: NDArray[np.float64]) -> tuple[Norm, ...]:
    """Return the mean and standard deviation of vector norms, (n,), for each sentence length in *lengths*, (n,)."""
    array = np.array(lengths)
    groups = ((int(tokens), norms[array == tokens]) for tokens in np.unique(array))
    return tuple(Norm(tokens, len(group), float(group.mean()), float(group.std())) for tokens, group in groups)
