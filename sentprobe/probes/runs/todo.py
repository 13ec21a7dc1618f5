"""What there is to do in a run: for each encoder and dataset, the probes that are missing."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sentprobe.errors import SentprobeError
from sentprobe.files import scratch_folder
from sentprobe.lengths import count_tokens
from sentprobe.probes.dataset import ProbeDataset, Split
from sentprobe.probes.encoders import Vectors
from sentprobe.probes.encoders.protocol import Baseline, Encoder
from sentprobe.probes.encoders.word_vectors import Bow
from sentprobe.probes.runs.conditions import (
    Material,
    Training,
    conditions_of,
    fit_under,
    material_of,
)
from sentprobe.probes.runs.results import (
    Condition,
    Made,
    Norm,
    Result,
    SeedScore,
    make_score,
    norms_by_length,
    pack,
    renumber,
)
from sentprobe.probes.runs.store import find_result, sound_results
from sentprobe.probes.runs.word_source import WordSource
from sentprobe.probes.trainer.fit import Fit
from sentprobe.versions import versions

PACKAGES = ("sentprobe", "torch", "numpy", "scikit-learn")
"""The packages whose versions a result states."""

ENCODER_PACKAGES: Mapping[str, tuple[str, ...]] = {
    "sentence_transformer": ("sentence-transformers", "transformers"),
    "hf": ("transformers",),
}
"""Those that it states besides, by the module that the encoder's class is from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What holds for all encoders and datasets of a run."""

    training: Training
    seeds: tuple[int, ...]
    controls: bool
    out: Path | None
    force: bool
    command: str
    words: WordSource = field(default_factory=WordSource)
    """What stands for probe words."""
    encoding_threads: int | None = None
    """PyTorch's while sentences are encoded; None leaves them as they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A dataset, with what is worked out from it once, whatever the encoders."""

    data: ProbeDataset
    material: Material
    fingerprint: str
    majority: float
    mirrored: bool
    units: tuple[int, ...]
    lengths: tuple[int, ...]
    balanced_probes: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Todo:
    """An encoder on a task: what is known already, and the seeds that each condition lacks."""

    task: Task
    known: Result
    made: Made
    """How this run makes what is missing."""
    missing: Mapping[Condition, tuple[int, ...]]


def make_task(data: ProbeDataset, *, training: Training) -> Task:
    """Work out what results say about a dataset."""
    test = data.splits[Split.TEST]
    targets = test.targets
    return Task(
        data=data,
        material=material_of(data, training=training),
        fingerprint=data.fingerprint(),
        majority=float(np.bincount(targets).max() / len(targets)),
        mirrored=data.mirrored,
        units=renumber(data.units(Split.TEST)),
        lengths=count_tokens([data.sentences[row] for row in test.rows]),
        balanced_probes=data.balanced_probes,
    )


def make_todo(task: Task, encoder: Encoder | Baseline, *, settings: Settings) -> Todo:
    """Find out what an earlier run has done, and what is missing; with *force*, everything is."""
    known = blank = _blank(task, encoder, settings=settings)
    if settings.out is not None and not settings.force:
        known = _up_to_date(find_result(known, settings.out), known)
    controls = settings.controls and not is_baseline(encoder)
    missing = {}
    for condition in conditions_of(task.data, controls=controls):
        there = known.scores[condition].seeds if condition in known.scores else ()
        seeds = set(settings.seeds) - {each.seed for each in there}
        if seeds:
            missing[condition] = tuple(sorted(seeds))
    return Todo(task=task, known=known, made=blank.made, missing=missing)


def _up_to_date(found: Result | None, blank: Result) -> Result:
    """Return what was found, with what follows from the dataset even if its file is older."""
    if found is None:
        return blank
    return replace(
        found,
        labels=blank.labels,
        lengths=blank.lengths,
        balanced_probes=blank.balanced_probes,
        probe_vectors=blank.probe_vectors,
    )


SHARED = (Condition.RANDOM_SENTENCES, Condition.BAG_OF_WORDS, Condition.NO_SENTENCE)
"""The conditions under which an encoder counts by its width alone, or not even by that."""

SharedKey = tuple[Condition, int, str, str]
"""A condition, width, and the fingerprints of the dataset and of the probe words' vectors."""


SharedScores = Mapping[SharedKey, Mapping[int, SeedScore]]
"""The scores under conditions of SHARED, which are the same for one key, by seed."""


def shared_key(condition: Condition, known: Result, *, dim: int) -> SharedKey:
    """Return the key of what *known* has in common with other encoders of the width *dim*."""
    width = 0 if condition is Condition.NO_SENTENCE else dim
    return condition, width, known.dataset_fingerprint, known.probe_fingerprint


def kept_scores(settings: Settings) -> SharedScores:
    """Return what an earlier run found out that holds for every encoder of a width."""
    found: dict[SharedKey, dict[int, SeedScore]] = {}
    if settings.out is None or settings.force:
        return found
    for result in sound_results(settings.out):
        like = (result.preset, result.seed) == (settings.training.preset, settings.training.seed)
        for condition in SHARED:
            if like and condition in result.scores:
                scores = found.setdefault(shared_key(condition, result, dim=result.dim), {})
                seeds = result.scores[condition].seeds
                scores.update((s.seed, replace(s, made=s.made or result.made)) for s in seeds)
    return found


def with_kept(todo: Todo, kept: SharedScores, *, dim: int) -> Todo:
    """Return what is still to do when what encoders of this width share is taken from *kept*."""
    scores, missing = {}, {}
    for condition, seeds in todo.missing.items():
        there = kept.get(shared_key(condition, todo.known, dim=dim), {})
        scores[condition] = [there[seed] for seed in seeds if seed in there]
        if left := tuple(seed for seed in seeds if seed not in there):
            missing[condition] = left
    return replace(todo, known=add(todo.known, scores), missing=missing)


def is_baseline(encoder: Encoder | Baseline) -> bool:
    """Say whether it answers by itself, and has no vectors to train a probe on."""
    return not isinstance(encoder, Encoder)


def _blank(task: Task, encoder: Encoder | Baseline, *, settings: Settings) -> Result:
    module = type(encoder).__module__.rpartition(".")[2]
    words, words_fingerprint = "", ""
    if isinstance(encoder, Encoder) and task.data.slots:
        words, words_fingerprint = settings.words.name, settings.words.fingerprint(encoder)
    return Result(
        task=task.data.name,
        encoder=encoder.name,
        encoder_fingerprint=encoder.fingerprint,
        dim=0,
        dataset_fingerprint=task.fingerprint,
        majority=task.majority,
        labels=len(task.data.labels),
        mirrored=task.mirrored,
        units=task.units,
        lengths=task.lengths,
        balanced_probes=task.balanced_probes,
        probe_vectors=words,
        probe_fingerprint=words_fingerprint,
        scores={},
        seed=settings.training.seed,
        preset=settings.training.preset,
        command=settings.command,
        versions=versions(*PACKAGES, *ENCODER_PACKAGES.get(module, ())),
        device=settings.training.device,
        layer=getattr(encoder, "layer", None),
        family=getattr(encoder, "family", ""),
    )


def add(known: Result, found: Mapping[Condition, Iterable[SeedScore]]) -> Result:
    """Return the result with more scores; conditions in their order, seeds in theirs."""
    scores = {}
    for condition in Condition:
        old = known.scores[condition].seeds if condition in known.scores else ()
        both = [*old, *(_made_as(known, each) for each in found.get(condition, ()))]
        if both:
            scores[condition] = make_score(both, known.units)
    return replace(known, scores=scores)


def _made_as(known: Result, score: SeedScore) -> SeedScore:
    """Leave out of a score how it was made where the result says the same.

    Of the versions those count that both state: another encoder's result states other packages.
    """
    made = score.made
    if made is None or (made.command, made.device) != (known.command, known.device):
        return score
    both = made.versions.keys() & known.versions.keys()
    differ = any(made.versions[name] != known.versions[name] for name in both)
    return score if differ else replace(score, made=None)


def add_seconds(known: Result, seconds: Mapping[str, float]) -> Result:
    """Return the result with the time that steps took, added to that of earlier runs."""
    total = {key: known.seconds.get(key, 0.0) + value for key, value in seconds.items()}
    return replace(known, seconds={**known.seconds, **total})


def seed_score(fit: Fit, *, seed: int, task: Task, made: Made) -> SeedScore:
    """Return what a result keeps of a fit."""
    return SeedScore(
        seed=seed,
        accuracy=fit.correct / fit.total,
        correct=fit.correct,
        total=fit.total,
        right=pack(fit.predictions == task.material.test.targets),
        epochs=fit.epochs,
        loss=fit.loss,
        converged=fit.converged,
        chosen=dict(fit.chosen),
        validation=fit.validation,
        precision=fit.precision,
        made=made,
    )


def baseline_score(encoder: Baseline, *, seed: int, task: Task, made: Made) -> SeedScore:
    """Let a baseline answer the test items."""
    targets = task.material.test.targets
    right = np.asarray(encoder.predict(task.data, seed=seed)) == targets
    correct = int(right.sum())
    return SeedScore(
        seed=seed,
        accuracy=correct / len(targets),
        correct=correct,
        total=len(targets),
        right=pack(right),
        epochs=0,
        loss=0.0,
        converged=True,
        precision="",
        made=made,
    )


Fits = tuple[Fit, ...]
Work = dict[Hashable, Callable[[], Fits]]
"""What is to be done, by the key of the pieces that it is done for."""


@dataclass(frozen=True, slots=True)
class Embedding:
    """The vectors of a run's distinct sentences or words, (texts, dim) float32, by one encoder."""

    places: Mapping[str, int]
    vectors: Vectors

    @property
    def dim(self) -> int:
        """The width of the vectors."""
        return int(self.vectors.shape[1])

    def of(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of some of them, in their order, (texts, dim) float32."""
        return self.vectors[[self.places[text] for text in texts]]

    def norms(self) -> NDArray[np.float64]:
        """Return the Euclidean norm of each vector, (sentences,) float64, without a copy."""
        squares = np.einsum("ij,ij->i", self.vectors, self.vectors, dtype=np.float64)
        return np.asarray(np.sqrt(squares), np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """The probes of all missing seeds under one condition, trained side by side."""

    task: Task
    condition: Condition
    seeds: tuple[int, ...]
    key: Hashable
    """Pieces of one key give the same fits."""
    vectors: Callable[[], Vectors]
    words: Callable[[], Vectors] | None
    """Gives the vectors of the probe words; None: they are one-hot."""


@dataclass(frozen=True, slots=True, eq=False)
class TaskPlan:
    """All that is to be trained for one task."""

    todo: Todo
    pieces: tuple[Job, ...]
    norms: tuple[Norm, ...]

    def is_over(self, done: Mapping[Hashable, Fits]) -> bool:
        """Say whether all pieces are done."""
        return all(piece.key in done for piece in self.pieces)

    def result(self, done: Mapping[Hashable, Fits], *, dim: int, seconds: Mapping[str, float]) -> (
        Result
    ):  # fmt: skip
        """Return the result, when all pieces are done."""
        scores, times = {}, dict(seconds)
        for piece in self.pieces:
            fits = done[piece.key]
            times[piece.condition.value] = sum(fit.seconds for fit in fits)
            scores[piece.condition] = [
                seed_score(fit, seed=seed, task=piece.task, made=self.todo.made)
                for seed, fit in zip(piece.seeds, fits, strict=True)
            ]
        return add_seconds(add(replace(self.todo.known, dim=dim, norms=self.norms), scores), times)


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodedTasks:
    """What vectors there are for the tasks of one encoder."""

    encoder: Encoder
    embedding: Embedding
    norms: NDArray[np.float64]
    """Of the vectors of *embedding*."""
    lexicon: Embedding | None
    """The probe words' vectors; None: they are one-hot."""
    bow: Bow
    """The encoder of the bag-of-words control."""


def make_plan(todo: Todo, source: EncodedTasks) -> TaskPlan:
    """Lay out what is missing."""
    data, encoder, bow = todo.task.data, source.encoder, source.bow
    own: Callable[[], Vectors] = partial(source.embedding.of, data.sentences)
    words = partial(bow.encode, data.sentences)
    lexicon = source.lexicon if data.slots else None
    probe_words = None if lexicon is None else partial(lexicon.of, data.probe_words)
    pieces = []
    for condition, seeds in todo.missing.items():
        what, whose = condition, "" if condition in SHARED else encoder.name
        if condition is Condition.PROBE and encoder.fingerprint == bow.fingerprint:
            what, whose = Condition.BAG_OF_WORDS, ""  # the encoder is the control's
        key = (whose, *shared_key(what, todo.known, dim=source.embedding.dim), seeds)
        vectors = words if condition is Condition.BAG_OF_WORDS else own
        pieces.append(Job(todo.task, condition, seeds, key, vectors, probe_words))
    rows = [source.embedding.places[sentence] for sentence in data.sentences]
    norms = norms_by_length(count_tokens(data.sentences), source.norms[rows])
    return TaskPlan(todo, tuple(pieces), norms)


@contextmanager
def laid_out(pieces: Sequence[Job], *, training: Training, other_processes: bool) -> Iterator[Work]:
    """Give the work of the pieces, each key once.

    For other processes the vectors are put into files, which they map into their memory; otherwise
    they are fetched when their turn comes.
    """
    with _scratch(wanted=other_processes) as folder:
        files: dict[Hashable, Path] = {}
        work: Work = {}
        for piece in {piece.key: piece for piece in pieces}.values():
            train = partial(
                fit_under,
                piece.condition,
                piece.task.material,
                training=training,
                seeds=piece.seeds,
            )
            if folder is None:
                work[piece.key] = partial(_fetch_and, train, piece)
                continue
            place = (piece.task.fingerprint, piece.condition is Condition.BAG_OF_WORDS)
            of_words = (piece.task.fingerprint, "words")
            for name, make in ((place, piece.vectors), (of_words, piece.words)):
                if make is not None and name not in files:
                    files[name] = _put(make(), folder / f"{len(files)}.npy")
            work[piece.key] = partial(train, files[place], word_vectors=files.get(of_words))
        yield work


def _fetch_and(train: Callable[..., Fits], piece: Job) -> Fits:
    return train(piece.vectors(), word_vectors=piece.words and piece.words())


@contextmanager
def _scratch(*, wanted: bool) -> Iterator[Path | None]:
    if not wanted:
        yield None
        return
    with scratch_folder() as folder:
        yield folder


def _put(vectors: Vectors, path: Path) -> Path:
    try:
        np.save(path, vectors, allow_pickle=False)
    except OSError as error:
        raise SentprobeError(
            f"{path.parent}: no room for the vectors that the processes share ({error.strerror}); "
            "TMPDIR says where that is, and --jobs 1 needs none"
        ) from error
    return path
