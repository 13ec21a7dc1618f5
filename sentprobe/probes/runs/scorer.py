"""Scores of an encoder while it is trained: what its distances keep and what probes read."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import chain
from math import isfinite
from pathlib import Path
from statistics import mean
from typing import Any, TypeAlias, TypedDict, Unpack

from sentprobe.errors import GivenError, UsageError, check_seed, check_whole
from sentprobe.extras import load
from sentprobe.generator.split import parse_side
from sentprobe.generator.triplets import TripletSpace
from sentprobe.lexicon.read import english
from sentprobe.probes import encoders as enc
from sentprobe.probes.dataset import OWN_WORDS, ProbeDataset
from sentprobe.probes.encoders.embed import embed
from sentprobe.probes.encoders.given import is_encoder, name_of
from sentprobe.probes.encoders.python import wrap
from sentprobe.probes.geometry.material import Drawing, GeometryMaterial
from sentprobe.probes.geometry.measures import NegativeKind
from sentprobe.probes.geometry.results import WHOLE, GeometryResult, write_geometry
from sentprobe.probes.geometry.run import measure
from sentprobe.probes.runs.built_suites import ItemCounts, make_compeval
from sentprobe.probes.runs.probing_plan import names_of
from sentprobe.probes.runs.results import Result
from sentprobe.probes.runs.runner import run_tasks
from sentprobe.probes.runs.settings import Run, make_run
from sentprobe.probes.runs.store import prepare_directory
from sentprobe.probes.runs.task import Task, make_tasks
from sentprobe.probes.trainer.presets import find_preset
from sentprobe.progress import Silent
from sentprobe.specs import COMPEVAL, check_distinct

USUAL_CONTRASTS = ("role", "modifier", "negation", "tense", "number")
"""The contrasts that are measured if none are named."""

MEAN = "mean"
"""The name of the mean over contrasts or tasks, among their names."""

EncodeGiven: TypeAlias = Callable[..., Any] | object
"""A function of a list of sentences, or an object with ``encode``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreSettings:
    """What is built to be scored on."""

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
        """Refuse what cannot be built.

        Raises:
            UsageError: nothing to do, something twice, a number that cannot be.
        """
        for name in ("triplets", "train", "test", "seed"):
            check_whole(name, getattr(self, name))
        if check_seed(self.seed) < 0:
            raise UsageError(f"seed={self.seed}: a seed of what is built is 0 or more")
        if not self.contrasts and not self.tasks:
            raise UsageError("there is nothing to score: name contrasts, tasks or both")
        for what, names in (("contrast", self.contrasts), ("task", self.names)):
            if names:
                check_distinct(what, names)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the tasks."""
        return names_of(self.tasks)

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of all scores, in order."""
        kinds = [kind.value for kind in NegativeKind]
        contrasts = [*self.contrasts, MEAN] if self.contrasts else []
        tasks = [*self.names, MEAN] if self.tasks else []
        geometry = (f"geometry_{name}_{kind}" for kind in kinds for name in contrasts)
        return (*geometry, *(f"probe_{name}" for name in tasks))


@dataclass(frozen=True, slots=True, eq=False)
class ScoreMaterial:
    """All that is encoded and measured, built once."""

    geometry: tuple[GeometryMaterial, ...]
    tasks: tuple[Task, ...]
    places: Mapping[str, int]
    """Where each different text stands among those that are encoded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """How far training was."""

    step: int | None = None
    epoch: float | None = None

    def __post_init__(self) -> None:
        """Refuse numbers that no training has.

        Raises:
            UsageError: the step is no whole number from 0, or the epoch no number from 0.
        """
        check_whole("step", self.step)
        if self.step is not None and self.step < 0:
            raise UsageError(f"step={self.step}: a step of training is 0 or more")
        if self.epoch is not None and not (isfinite(self.epoch) and self.epoch >= 0):
            raise UsageError(f"epoch={self.epoch}: an epoch of training is 0 or more")

    @property
    def label(self) -> str:
        """What tells it from others of the same training; empty: it is in none.

        >>> Moment(step=100, epoch=0.5).label, Moment(epoch=2.0).label, Moment().label
        ('step 100', 'epoch 2', '')
        """
        if self.step is not None:
            return f"step {self.step}"
        return "" if self.epoch is None else f"epoch {self.epoch:g}"


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorsAt:
    """The vectors of an encoder at one moment of its training, behind the encoder protocol."""

    name: str
    family: str
    step: int | None
    epoch: float | None
    places: Mapping[str, int] = field(repr=False)
    vectors: enc.Vectors = field(repr=False)
    fingerprint: str = ""
    """Empty: nothing says what the vectors depend on, and the next such run is of others."""
    cacheable: bool = False

    def encode(self, sentences: Sequence[str]) -> enc.Vectors:
        """Return the vectors of sentences that were encoded, (n, dim) float32."""
        return self.vectors[[self.places[text] for text in sentences]]


class Scorer:
    """Scores an encoder at any step of its training; what it is scored on is built once, here.

    - contrasts: of the geometry of its distances (``"role"``); ``()``: none
    - tasks: tasks of compeval by name (``"SemRole"``) or datasets, on which a probe is trained
    - triplets: of each contrast
    - train, test: items of each task that is named
    - preset: the probe's classifier; by default that of the paper of each task
    - seed: of sentences and probes; equal vectors have equal scores
    - vocabulary: of the words of sentences
    - held_out: what is held out of training data (``["0.3"]``): only that is drawn from
    - out: a folder of results, to which each call adds its own, by step
    - name: what results call the encoder; by default its own name

    >>> scorer = Scorer(contrasts=["role"], triplets=8)
    >>> scores = scorer(lambda texts: [[float(len(text)), 1.0] for text in texts], step=0)
    >>> scores["geometry_role_form"]
    0.5

    Raises:
        UsageError: there is no such contrast, task or preset; fewer sentences than are wanted;
            *out* is not ours.
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
        self._run = _run(self._settings, out)
        self._material = _build(self._settings)
        if self._run.out is not None:
            prepare_directory(self._run.out)
        self._name = name
        self._dim: int | None = None

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of the scores, in order: the same in each call."""
        return self._settings.keys

    @property
    def sentences(self) -> tuple[str, ...]:
        """All that is encoded in a call, each text once."""
        return tuple(self._material.places)

    def __call__(
        self, encode: EncodeGiven, *, step: int | None = None, epoch: float | None = None
    ) -> dict[str, float]:
        """Return shares from 0 to 1 by key; see :func:`score`.

        Raises:
            EncoderError: it raised, or did not return a finite vector for each sentence, of the
                width that it had at the step before.
            UsageError: a step or an epoch that cannot be.
        """
        vectors = self._encoded(encode, Moment(step=step, epoch=epoch))
        geometry = [self._measured(vectors, each) for each in self._material.geometry]
        probed = self._probed(vectors)
        kinds = list(NegativeKind)
        shares = [*chain.from_iterable(_with_mean(_of_kind(geometry, each)) for each in kinds)]
        shares += _with_mean([each.accuracy for each in probed])
        return dict(zip(self.keys, shares, strict=True))

    def _encoded(self, encode: EncodeGiven, at: Moment) -> VectorsAt:
        if isinstance(encode, str) or not is_encoder(encode):
            raise GivenError(
                f"a {type(encode).__name__} is no encoder; wanted: a function of a list of "
                "sentences, or an object with encode"
            )
        name = self._name or getattr(encode, "name", "") or name_of(encode)
        encoder = encode if isinstance(encode, enc.Encoder) else wrap(encode, name=name)
        with modes_kept(encode):
            vectors = embed(encoder, self.sentences)
        self._check_width(name, vectors.shape[1])
        return VectorsAt(
            name=f"{name} {at.label}".strip(),
            family=name if at.label else "",
            step=at.step,
            epoch=at.epoch,
            places=self._material.places,
            vectors=vectors,
        )

    def _check_width(self, name: str, dim: int) -> None:
        if self._dim not in (None, dim):
            raise enc.EncoderError(
                f"encoder {name} returned vectors of width {dim} after vectors of width "
                f"{self._dim} at a step before: for another encoder, make another scorer"
            )
        self._dim = dim

    def _measured(self, vectors: VectorsAt, material: GeometryMaterial) -> GeometryResult:
        found = replace(
            measure(vectors, material, vectors.encode(material.sentences), None),
            family=vectors.family,
            step=vectors.step,
            epoch=vectors.epoch,
        )
        if self._run.out is not None:
            write_geometry(found, self._run.out)
        return found

    def _probed(self, vectors: VectorsAt) -> Sequence[Result]:
        if not self._material.tasks:
            return ()
        with _without_autocast():
            found = run_tasks(
                self._material.tasks, [vectors], run=self._run, reporter=Silent(), known={}
            )
        return found.results.records


class ScoreOptions(TypedDict, total=False):
    """The arguments of :class:`Scorer` but the name."""

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
    encode: EncodeGiven,
    *,
    step: int | None = None,
    epoch: float | None = None,
    name: str = "",
    **options: Unpack[ScoreOptions],
) -> dict[str, float]:
    """Return what the distances of an encoder keep and what probes read, as shares from 0 to 1.

    It is for the loop of a training: what is encoded is built once, however often it is called with
    the same *options*, which are the arguments of :class:`Scorer`.

    - ``geometry_role_form``: how often the positive is nearer than the negative in its own form, by
      cosine; ``..._anchor``: than that in the anchor's form; ``geometry_mean_...``: the means
    - ``probe_SemRole``: the accuracy of a probe; ``probe_mean``: the mean over tasks

    Nothing of the loop's changes: no global random numbers are drawn, and a model of PyTorch is
    left in the mode, of training or not, that it was in.

    Raises:
        EncoderError, UsageError: see :class:`Scorer`.
    """
    return Scorer(name=name, **options)(encode, step=step, epoch=epoch)


def _run(settings: ScoreSettings, out: Path | str | None) -> Run:
    """Return the run that trains probes; distances alone need no PyTorch."""
    if settings.tasks:
        return make_run(seed=settings.seed, controls=False, out=out, force=True)
    return Run(seed=settings.seed, out=None if out is None else Path(out))


@lru_cache(maxsize=4)
def _build(settings: ScoreSettings) -> ScoreMaterial:
    geometry = tuple(_geometry(settings))
    tasks = tuple(_tasks(settings))
    lists = [each.sentences for each in geometry]
    for task in tasks:
        lists.append(list(task.data.sentences))
        if task.words.name == OWN_WORDS:
            lists.append(list(task.data.probe_words))
    texts = dict.fromkeys(chain.from_iterable(lists))
    return ScoreMaterial(geometry, tasks, dict(zip(texts, range(len(texts)), strict=True)))


def _geometry(settings: ScoreSettings) -> Iterator[GeometryMaterial]:
    words = english()
    drawing = Drawing(
        vocabulary=settings.vocabulary,
        n=settings.triplets,
        variants=0,
        seed=settings.seed,
        held_out=settings.held_out,
    )
    spaces = [
        TripletSpace(
            words,
            name,
            vocabulary=drawing.vocabulary,
            templates=drawing.templates,
            side=drawing.side,
        )
        for name in settings.contrasts
    ]
    for space in spaces:
        space.check(settings.triplets)
    return (GeometryMaterial(space, drawing) for space in spaces)


def _tasks(settings: ScoreSettings) -> list[Task]:
    preset = None if settings.preset is None else find_preset(settings.preset)
    return make_tasks([*_datasets(settings)], run=Run(seed=settings.seed), preset=preset)


def _datasets(settings: ScoreSettings) -> Iterator[ProbeDataset]:
    counts = ItemCounts(settings.train, settings.test, None)
    side = parse_side(settings.held_out, held_out=True)
    for task in settings.tasks:
        if isinstance(task, ProbeDataset):
            yield task
            continue
        suite = make_compeval(
            [task], vocabulary=settings.vocabulary, counts=counts, seed=settings.seed, side=side
        )
        for _, built in suite.build(command=""):
            if not isinstance(built, ProbeDataset):
                raise built
            yield built


def _of_kind(results: Sequence[GeometryResult], kind: NegativeKind) -> list[float]:
    return [each.find(kind)[WHOLE].accuracy for each in results]


def _with_mean(shares: Sequence[float]) -> list[float]:
    return [*shares, mean(shares)] if shares else []


@contextmanager
def modes_kept(encode: object) -> Iterator[None]:
    """Leave each module of a PyTorch model in the mode, of training or not, that it is in now.

    The model may be the encoder itself, or that of a bound method such as ``model.encode``.
    """
    modules = getattr(getattr(encode, "__self__", encode), "modules", None)
    found = list(modules()) if callable(modules) else []
    modes = [(each, each.training) for each in found if hasattr(each, "training")]
    try:
        yield
    finally:
        for module, mode in modes:
            module.training = mode


@contextmanager
def _without_autocast() -> Iterator[None]:
    """Have PyTorch compute as it is told to, even where the loop of a training says otherwise."""
    with load("torch").autocast("cpu", enabled=False):
        yield
