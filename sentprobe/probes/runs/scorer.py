"""Scores of an encoder during its training: the geometry of its vectors, and probe accuracies."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import isfinite
from pathlib import Path
from statistics import mean
from typing import Any, TypeAlias, TypedDict, Unpack

from sentprobe.common.errors import ArgumentTypeError, UsageError, check_seed, check_whole, import_module_of_extra
from sentprobe.common.screen import SilentReporter
from sentprobe.common.specs import COMPEVAL, check_distinct
from sentprobe.generator.pairs.triplets import TripletSpace
from sentprobe.generator.spaces.templates import parse_side
from sentprobe.lexicon.read import english
from sentprobe.probes.classifier.presets import find_preset
from sentprobe.probes.datasets.dataset import ENCODER_WORDS, ProbeDataset
from sentprobe.probes.encoders.embedding import embed
from sentprobe.probes.encoders.encoder import Capabilities, Encoder, EncoderError, Vectors, read_name
from sentprobe.probes.encoders.kinds import is_encoder
from sentprobe.probes.encoders.models.python import wrap_encoder
from sentprobe.probes.results.result import Result
from sentprobe.probes.results.store import prepare_directory
from sentprobe.probes.runs.job_vectors import Embedding
from sentprobe.probes.runs.runner import run_tasks
from sentprobe.probes.runs.settings import Run
from sentprobe.probes.runs.suite_options import CompevalOptions, ItemOptions
from sentprobe.probes.runs.suites import make_compeval
from sentprobe.probes.runs.task import Task, list_task_names, make_tasks
from sentprobe.probes.similarity.distance_results import ALL_TRIPLETS, GeometryResult, write_geometry
from sentprobe.probes.similarity.distance_run import measure_encoder
from sentprobe.probes.similarity.measures import NegativeKind
from sentprobe.probes.similarity.triplet_sentences import SampledTriplets, TripletSampling

USUAL_CONTRASTS = ("role", "modifier", "negation", "tense", "number")
MEAN = "mean"
EncodeArgument: TypeAlias = Callable[..., Any] | object
"""An encoder to score: a function from a list of sentences to vectors, or an object with such a method ``encode``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreSettings:
    """The settings of the triplets and probing items on which an encoder is scored."""

    contrasts: tuple[str, ...]
    tasks: tuple[str | ProbeDataset, ...]
    triplets: int
    train: int
    test: int
    preset: str | None
    seed: int
    vocabulary: str
    held_out: tuple[str, ...]

    def __post_init__(self) -> None:
        """Raise UsageError if nothing is scored, a name is repeated, or a number is out of range."""
        for name in ("triplets", "train", "test", "seed"):
            check_whole(name, getattr(self, name))
        if check_seed(self.seed) < 0:
            raise UsageError(f"seed={self.seed}: the seed is 0 or more")
        if not self.contrasts and not self.tasks:
            raise UsageError("there is nothing to score: name contrasts, tasks or both")
        for kind, names in (("contrast", self.contrasts), ("task", list_task_names(self.tasks))):
            if names:
                check_distinct(kind, names)
        parse_side(self.held_out, held_out=True)

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of all scores, such as ``geometry_role_form``, ``geometry_mean_anchor`` and ``probe_mean``."""
        kinds = [kind.value for kind in NegativeKind]
        contrasts = [*self.contrasts, MEAN] if self.contrasts else []
        tasks = [*list_task_names(self.tasks), MEAN] if self.tasks else []
        geometry = (f"geometry_{name}_{kind}" for kind in kinds for name in contrasts)
        return (*geometry, *(f"probe_{name}" for name in tasks))


def format_training_step(step: int | None, epoch: float | None) -> str:
    """Return the step or else the epoch as text. Raises UsageError for a negative number.

    >>> format_training_step(100, 0.5), format_training_step(None, 2.0), format_training_step(None, None)
    ('step 100', 'epoch 2', '')
    """
    check_whole("step", step)
    if step is not None and step < 0:
        raise UsageError(f"step={step}: a step of training is 0 or more")
    if epoch is not None and not (isfinite(epoch) and epoch >= 0):
        raise UsageError(f"epoch={epoch}: an epoch of training is 0 or more")
    if step is not None:
        return f"step {step}"
    return "" if epoch is None else f"epoch {epoch:g}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotEncoder:
    """An encoder that returns the vectors that another encoder had at one step of its training."""

    name: str
    capabilities: Capabilities
    embedding: Embedding = field(repr=False)
    fingerprint: str = ""
    """Empty, since the vectors depend on weights that keep changing."""

    def encode(self, sentences: Sequence[str]) -> Vectors:
        """Return the stored vectors of *sentences*, (n, dim) float32."""
        return self.embedding.select(sentences)


class Scorer:
    """A scorer of an encoder at any step of training; its sentences and items are built once, by the constructor.

    - contrasts: the contrasts whose geometry is measured, such as ``"role"``; ``()`` means no contrasts
    - tasks: the tasks on which probes are trained; a task is a compeval task's name (``"SemRole"``) or a ProbeDataset
    - triplets: the number of triplets for each contrast
    - train, test: the numbers of training and test items of each compeval task; a dataset keeps all its items
    - preset: the classifier of the probes; by default that of each task's paper
    - seed: the seed of sentences and probes; with the same seed, the same vectors get the same scores
    - vocabulary: the vocabulary of the sentences
    - held_out: values of the option ``--held-out``. For ``["0.3"]``, sentences have only those nouns and verbs that
      ``gen pairs --hold-out 0.3`` leaves out of training data
    - out: a results folder, to which each call adds its results, by step
    - name: the encoder's name in results; by default the encoder's own name

    >>> scorer = Scorer(contrasts=["role"], triplets=8)
    >>> scores = scorer(lambda texts: [[float(len(text)), 1.0] for text in texts], step=0)
    >>> scores["geometry_role_form"]
    0.5

    Raises:
        UsageError: unknown contrast, task or preset; too few sentences; *out* is no results folder.
    """

    def __init__(
        self,
        *,
        contrasts: Sequence[str] | str = USUAL_CONTRASTS,
        tasks: Sequence[str | ProbeDataset] | str | ProbeDataset = (),
        triplets: int = 60,
        train: int = 400,
        test: int = 200,
        preset: str | None = None,
        seed: int = 0,
        vocabulary: str = COMPEVAL,
        held_out: Sequence[str] | str = (),
        out: Path | str | None = None,
        name: str = "",
    ) -> None:
        self._settings = ScoreSettings(
            contrasts=(contrasts,) if isinstance(contrasts, str) else tuple(contrasts),
            tasks=(tasks,) if isinstance(tasks, str | ProbeDataset) else tuple(tasks),
            triplets=triplets,
            train=train,
            test=test,
            preset=preset,
            seed=seed,
            vocabulary=vocabulary,
            held_out=(held_out,) if isinstance(held_out, str) else tuple(held_out),
        )
        run = Run(seed=seed, controls=False, out=None if out is None else Path(out), force=True)
        self._run = run.check() if self._settings.tasks else run  # the check needs PyTorch
        self._triplets, self._tasks, self._rows = _build_material(self._settings)
        if self._run.out is not None:
            prepare_directory(self._run.out)
        self._name = name
        self._dim: int | None = None

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of the scores that a call returns, in order, such as ``geometry_role_form`` and ``probe_mean``."""
        return self._settings.keys

    @property
    def sentences(self) -> tuple[str, ...]:
        """The distinct texts that are encoded each time the scorer is called."""
        return tuple(self._rows)

    def __call__(
        self, encode: EncodeArgument, *, step: int | None = None, epoch: float | None = None
    ) -> dict[str, float]:
        """Return the scores of an encoder by key, as shares from 0 to 1; see :func:`score`.

        Raises:
            EncoderError: the encoder failed, or did not return a finite vector for each sentence, or returned vectors
                of another width than in the step before.
            UsageError: a step or an epoch out of range.
        """
        vectors = self._encode_texts(encode, step, epoch)
        geometry = [self._measure_geometry(vectors, material) for material in self._triplets]
        results = self._run_probes(vectors)
        shares: list[float] = []
        for kind in NegativeKind:
            shares += _append_mean([result.find_by_group(kind)[ALL_TRIPLETS].accuracy for result in geometry])
        shares += _append_mean([result.accuracy for result in results])
        return dict(zip(self.keys, shares, strict=True))

    def _encode_texts(self, encode: EncodeArgument, step: int | None, epoch: float | None) -> SnapshotEncoder:
        step_text = format_training_step(step, epoch)
        if isinstance(encode, str) or not is_encoder(encode):
            raise ArgumentTypeError(
                f"a {type(encode).__name__} is no encoder; expected: a function of a list of "
                "sentences, or an object with encode"
            )
        name = self._name or read_name(encode)
        encoder = encode if isinstance(encode, Encoder) else wrap_encoder(encode, name=name)
        with restore_training_modes(encode):
            vectors = embed(encoder, self.sentences)
        dim = vectors.shape[1]
        if self._dim not in (None, dim):
            raise EncoderError(
                f"encoder {name} returned vectors of width {dim} after vectors of width "
                f"{self._dim} at an earlier step: for another encoder, make another scorer"
            )
        self._dim = dim
        return SnapshotEncoder(
            name=f"{name} {step_text}".strip(),
            capabilities=Capabilities(cacheable=False, family=name if step_text else "", step=step, epoch=epoch),
            embedding=Embedding(self._rows, vectors),
        )

    def _measure_geometry(self, vectors: SnapshotEncoder, material: SampledTriplets) -> GeometryResult:
        result = replace(
            measure_encoder(vectors, material, vectors.encode(material.sentences), None),
            family=vectors.capabilities.family,
            step=vectors.capabilities.step,
            epoch=vectors.capabilities.epoch,
        )
        if self._run.out is not None:
            write_geometry(result, self._run.out)
        return result

    def _run_probes(self, vectors: SnapshotEncoder) -> Sequence[Result]:
        if not self._tasks:
            return ()
        with import_module_of_extra("torch").autocast("cpu", enabled=False):  # a training loop may have enabled it
            completed = run_tasks(self._tasks, [vectors], run=self._run, reporter=SilentReporter(), recipes={})
        return completed.results.records


class ScoreOptions(TypedDict, total=False):
    """The arguments of :class:`Scorer` except the name."""

    contrasts: Sequence[str] | str
    tasks: Sequence[str | ProbeDataset] | str | ProbeDataset
    triplets: int
    train: int
    test: int
    preset: str | None
    seed: int
    vocabulary: str
    held_out: Sequence[str] | str
    out: Path | str | None


def score(
    encode: EncodeArgument,
    *,
    step: int | None = None,
    epoch: float | None = None,
    name: str = "",
    **options: Unpack[ScoreOptions],
) -> dict[str, float]:
    """Return geometry scores and probe accuracies of an encoder, as shares from 0 to 1.

    Call this function in a training loop: sentences and items are built once for the same *options*, which are the
    arguments of :class:`Scorer`.

    - ``geometry_role_form``: the share of role triplets whose anchor is nearer, by cosine, to the positive than to the
      negative. This negative has the form (such as the voice) of the positive
    - ``geometry_role_anchor``: the same share for another negative, which has the form of the anchor
    - ``geometry_mean_form``: the mean over contrasts
    - ``probe_SemRole``: the accuracy of a probe; ``probe_mean``: the mean over tasks

    Random number generators and the training mode of a PyTorch model stay unchanged.

    Raises:
        EncoderError, UsageError: see :class:`Scorer`.
    """
    return Scorer(name=name, **options)(encode, step=step, epoch=epoch)


@lru_cache(maxsize=4)  # so that score(), which makes a scorer at each call, builds the sentences once
def _build_material(settings: ScoreSettings) -> tuple[tuple[SampledTriplets, ...], tuple[Task, ...], Mapping[str, int]]:
    """Return the triplets, the tasks, and the row of each text's vector in an array of vectors."""
    words = english()
    vocabulary, held_out = settings.vocabulary, settings.held_out
    sampling = TripletSampling(
        vocabulary=vocabulary, n=settings.triplets, distractors=0, seed=settings.seed, held_out=held_out
    )
    spaces = [
        TripletSpace(words, name, vocabulary=sampling.vocabulary, templates=sampling.templates, side=sampling.side)
        for name in settings.contrasts
    ]
    for space in spaces:
        space.check_count(settings.triplets)
    geometry = tuple(SampledTriplets(space, sampling) for space in spaces)
    preset = None if settings.preset is None else find_preset(settings.preset)
    tasks = make_tasks([*_build_datasets(settings)], run=Run(seed=settings.seed), preset=preset)
    texts = [text for material in geometry for text in material.sentences]
    for task in tasks:
        texts += task.data.sentences
        texts += task.data.probe_words if task.words.name == ENCODER_WORDS else ()
    distinct_texts = dict.fromkeys(texts)
    return geometry, tuple(tasks), {text: row for row, text in enumerate(distinct_texts)}


def _build_datasets(settings: ScoreSettings) -> Iterator[ProbeDataset]:
    options = CompevalOptions(vocabulary=settings.vocabulary, held_out=[*settings.held_out])
    items = ItemOptions(train=settings.train, test=settings.test)
    for task in settings.tasks:
        if isinstance(task, ProbeDataset):
            yield task
            continue
        suite = make_compeval([task], options, items, seed=settings.seed)
        for _, built in suite.build(command=""):
            if not isinstance(built, ProbeDataset):
                raise built
            yield built


def _append_mean(shares: Sequence[float]) -> list[float]:
    return [*shares, mean(shares)] if shares else []


@contextmanager
def restore_training_modes(encode: object) -> Iterator[None]:
    """Restore the training modes of *encode*'s PyTorch modules at the end of the context."""
    modules = getattr(getattr(encode, "__self__", encode), "modules", None)
    modes = [(m, m.training) for m in (modules() if callable(modules) else ()) if hasattr(m, "training")]
    try:
        yield
    finally:
        for module, mode in modes:
            module.training = mode
