"""Errands: what a worker on another machine does of a run, and what it brings back.

The encoders of a spec are one errand: all of its sentences are encoded together, as they are here,
so that the vectors are the same, and what is trained on them is trained beside them, so that no
vectors travel. What encoders of one width share is an errand for each task and condition.
"""

import threading
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sentprobe.engines import ALONE
from sentprobe.errors import SentprobeError
from sentprobe.probes.dataset import ONE_HOT, OWN_WORDS
from sentprobe.probes.encoders import Baseline, Encoder
from sentprobe.probes.encoders.given import make_known, placed_encoders
from sentprobe.probes.runs import todo
from sentprobe.probes.runs.controls import control_bow
from sentprobe.probes.runs.ledger import Ledger
from sentprobe.probes.runs.results import Condition, Result, SeedScore
from sentprobe.probes.runs.runner import Runner
from sentprobe.probes.runs.settings import CPU, Run
from sentprobe.probes.runs.task import Task
from sentprobe.probes.runs.vectors import trainer_of
from sentprobe.probes.runs.word_source import WordSource, make_source
from sentprobe.progress import Silent
from sentprobe.specs import Spec
from sentprobe.versions import own_version


@dataclass(frozen=True, slots=True, kw_only=True)
class Common:
    """What all errands of a draw are about."""

    tasks: tuple[Task, ...]
    run: Run
    words: Spec | str | None
    """What stands for probe words in all tasks; None: as each task says."""


@dataclass(frozen=True, slots=True)
class JobAsked:
    """A condition of a task, and the seeds that are missing."""

    task: str
    condition: Condition
    seeds: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What an encoder of the spec is wanted for."""

    encoder: str
    known: Mapping[str, Result]
    """What is known of it, by task."""
    asked: tuple[JobAsked, ...]


@dataclass(frozen=True, slots=True)
class EncoderErrand:
    """Make the encoders of a spec, encode, and train what is to be trained on their vectors."""

    spec: Spec
    wanted: tuple[Wanted, ...]

    def do(self, common: Common) -> "Brought":
        """Return the results of the encoders, with what was asked for."""
        common = _with_words(common)
        made = {each.name: each for each in _made(self.spec, common)}
        runner = _runner(common)
        results: list[Result] = []
        for wanted in self.wanted:
            encoder = _checked(made.get(wanted.encoder), wanted)
            jobs = [_job(asked, encoder, common) for asked in wanted.asked]
            results += runner.work(encoder, jobs, wanted.known)
        notes = [note for each in made.values() for note in getattr(each, "notes", ())]
        return Brought(results=tuple(results), notes=tuple(notes))


@dataclass(frozen=True, slots=True)
class SharedErrand:
    """Train what encoders of one width have in common."""

    asked: JobAsked
    dim: int
    key: Hashable
    """What tells it from others."""

    def do(self, common: Common) -> "Brought":
        """Return the scores; the vectors are the control's, or count by their shape alone."""
        bow = control_bow(seed=common.run.seed, dim=self.dim)
        job = _job(self.asked, bow, common)
        texts = job.task.data.sentences
        if self.asked.condition is Condition.BAG_OF_WORDS:
            vectors = bow.encode(texts)
        else:
            vectors = np.zeros((len(texts), self.dim), dtype=np.float32)
        fits = trainer_of(job, common.run)(vectors, word_vectors=None)
        made = todo.made_by(bow, run=common.run)
        scores = todo.trained_scores(job, fits, made=made)
        return Brought(scores=tuple(scores), seconds=sum(fit.seconds for fit in fits))


@dataclass(frozen=True, slots=True, kw_only=True)
class Brought:
    """What a worker brings back."""

    results: tuple[Result, ...] = ()
    scores: tuple[SeedScore, ...] = ()
    seconds: float = 0.0
    notes: tuple[str, ...] = ()
    version: str = ""
    """The worker's of sentprobe."""


Errand = EncoderErrand | SharedErrand

_ALONE = threading.Lock()


def run_errand(errand: Errand, common: Common) -> Brought:
    """Do an errand: one at a time in a process, since PyTorch's number of threads is the process's.

    Raises:
        SentprobeError: the worker has not what it needs, or the encoder failed.
    """
    with _ALONE:
        if common.run.device != CPU:
            from sentprobe.probes.trainer.devices import find_device  # noqa: PLC0415 - slow

            find_device(common.run.device)
        return replace(errand.do(common), version=own_version())


def stays_with(job: todo.Job) -> bool:
    """Say whether a job is done where its encoder is: others have nothing in common with it."""
    if job.condition not in todo.SHARED or not isinstance(job.encoder, Encoder):
        return True
    return bool(job.task.data.slots) and job.task.words.name != ONE_HOT


def _made(spec: Spec, common: Common) -> Sequence[Encoder | Baseline]:
    made = make_known([spec], seed=common.run.seed)
    return placed_encoders(made, (task.data.sentences for task in common.tasks))


def _runner(common: Common) -> Runner:
    tasks, run = common.tasks, common.run
    ledger = Ledger(tasks, run, {})
    return Runner(tasks, run=run, engine=ALONE, reporter=Silent(), ledger=ledger)


def _with_words(common: Common) -> Common:
    """Return the same with the encoder of the probe words, which did not travel with the tasks."""
    if common.words is None or common.words in (ONE_HOT, OWN_WORDS):
        return common
    source = make_source(common.words, seed=common.run.seed)
    return replace(common, tasks=tuple(replace(task, words=source) for task in common.tasks))


def without_words(tasks: Iterable[Task]) -> tuple[Task, ...]:
    """Return the tasks as they travel."""
    return tuple(replace(t, words=WordSource(t.words.name), lexicon=None) for t in tasks)


def _checked(encoder: Encoder | Baseline | None, wanted: Wanted) -> Encoder | Baseline:
    """Refuse an encoder that is not what it is where the run was started."""
    (fingerprint,) = {each.encoder_fingerprint for each in wanted.known.values()}
    if encoder is None or encoder.fingerprint != fingerprint:
        raise SentprobeError(
            f"encoder {wanted.encoder}: a worker finds another model or file there than the "
            "process that was started; they must be the same"
        )
    return encoder


def _job(asked: JobAsked, encoder: Encoder | Baseline, common: Common) -> todo.Job:
    (task,) = (each for each in common.tasks if each.name == asked.task)
    return todo.Job(encoder=encoder, task=task, condition=asked.condition, seeds=asked.seeds)
