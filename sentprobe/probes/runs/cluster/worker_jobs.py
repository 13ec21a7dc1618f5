"""Jobs for cluster workers: train an encoder's probes, or a control that is the same for all encoders of one width."""

import threading
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from sentprobe.engines import INLINE_ENGINE
from sentprobe.errors import SentprobeError
from sentprobe.probes.dataset import ENCODER_WORDS, ONE_HOT
from sentprobe.probes.encoders.protocol import Baseline, Encoder, collect_notes
from sentprobe.probes.encoders.resolve import bind_to_sentence_order, build_encoders
from sentprobe.probes.results.result import Condition, Result, SeedScore
from sentprobe.probes.runs.execution import missing_jobs
from sentprobe.probes.runs.execution.completed_tasks import ResultStore
from sentprobe.probes.runs.execution.controls import make_control_bow
from sentprobe.probes.runs.execution.job_vectors import OWN_VECTORS, make_trainer
from sentprobe.probes.runs.execution.runner import Runner
from sentprobe.probes.runs.execution.task import Task
from sentprobe.probes.runs.execution.word_source import make_word_source
from sentprobe.probes.runs.request.settings import CPU, Run
from sentprobe.progress import SilentReporter
from sentprobe.specs import Spec
from sentprobe.versions import get_own_version


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedState:
    """The tasks and settings of a draw, which all jobs of the draw use."""

    tasks: tuple[Task, ...]
    run: Run
    words: Spec | str | None
    """The source of probe word vectors in all tasks; None means the default of each task."""


@dataclass(frozen=True, slots=True)
class RequestedCondition:
    """The name of a task, a condition, and the seeds of the probes to train."""

    task: str
    condition: Condition
    seeds: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class JobRequest:
    """The probes to train on one encoder, and its results so far, by task."""

    encoder: str
    results: Mapping[str, Result]
    conditions: tuple[RequestedCondition, ...]


@dataclass(frozen=True, slots=True)
class EncodeAndTrainJob:
    """A job that builds one or more encoders from a spec, encodes sentences, and trains probes."""

    spec: Spec
    requests: tuple[JobRequest, ...]

    def execute(self, shared_state: SharedState) -> "JobResult":
        """Train the requested probes; return, for each requested encoder and task, the result with its new scores."""
        shared_state = _add_word_source(shared_state)
        tasks, run = shared_state.tasks, shared_state.run
        unbound = build_encoders([self.spec], seed=run.seed)
        bound = bind_to_sentence_order(unbound, (task.data.sentences for task in tasks))
        encoders = {encoder.name: encoder for encoder in bound}
        store = ResultStore(tasks, run, {})
        runner = Runner(tasks, run=run, engine=INLINE_ENGINE, reporter=SilentReporter(), store=store)
        results: list[Result] = []
        for request in self.requests:
            encoder = _check_encoder(encoders.get(request.encoder), request)
            jobs = [_make_job(condition, encoder, shared_state) for condition in request.conditions]
            results += runner.execute_jobs(encoder, jobs, request.results)
        return JobResult(results=tuple(results), notes=tuple(collect_notes(encoders.values())))


@dataclass(frozen=True, slots=True)
class SharedProbeJob:
    """A job that trains control probes without an encoder's vectors; encoders of the width *dim* share the scores."""

    condition: RequestedCondition
    dim: int
    key: Hashable
    pass_limits: Mapping[int, int]

    def execute(self, shared_state: SharedState) -> "JobResult":
        """Train the job's control probes, without the vectors of any encoder, and return their scores."""
        bow = make_control_bow(seed=shared_state.run.seed, dim=self.dim)
        job = _make_job(self.condition, bow, shared_state)
        if job.condition in OWN_VECTORS:
            vectors = OWN_VECTORS[job.condition](job.task, bow, shared_state.run.seed)
        else:
            # The remaining shared conditions use only the shape of these vectors.
            vectors = np.zeros((len(job.task.data.sentences), self.dim), dtype=np.float32)
        fits = make_trainer([job], shared_state.run)([vectors], word_vectors=None, pass_limits=self.pass_limits)
        provenance = missing_jobs.make_provenance(bow, run=shared_state.run)
        scores = missing_jobs.make_trained_scores(job, fits, provenance=provenance)
        return JobResult(scores=tuple(scores), seconds=sum(fit.seconds for fit in fits))


@dataclass(frozen=True, slots=True, kw_only=True)
class JobResult:
    """The result of a job: results of encoders from an EncodeAndTrainJob, or scores from a SharedProbeJob."""

    results: tuple[Result, ...] = ()
    scores: tuple[SeedScore, ...] = ()
    seconds: float = 0.0
    notes: tuple[str, ...] = ()
    version: str = ""


WorkerJob = EncodeAndTrainJob | SharedProbeJob
_PROCESS_LOCK = threading.Lock()


def run_job(job: WorkerJob, shared_state: SharedState) -> JobResult:
    """Execute a job and return its result. A lock admits one job at a time: PyTorch's thread count is global."""
    with _PROCESS_LOCK:
        if shared_state.run.device != CPU:
            from sentprobe.probes.trainer.devices import find_device

            find_device(shared_state.run.device)
        return replace(job.execute(shared_state), version=get_own_version())


def needs_own_vectors(job: missing_jobs.Job) -> bool:
    """Return whether the scores of a job may depend on its encoder's vectors, and not only on their width."""
    if job.condition not in missing_jobs.SHARED or not isinstance(job.encoder, Encoder):
        return True
    return bool(job.task.data.slots) and job.task.words.name != ONE_HOT


def _add_word_source(shared_state: SharedState) -> SharedState:
    """Return the shared state. If ``words`` names an encoder, all tasks take probe word vectors from this encoder."""
    if shared_state.words is None or shared_state.words in (ONE_HOT, ENCODER_WORDS):
        return shared_state
    source = make_word_source(shared_state.words, seed=shared_state.run.seed)
    return replace(shared_state, tasks=tuple(replace(task, words=source) for task in shared_state.tasks))


def _check_encoder(encoder: Encoder | Baseline | None, request: JobRequest) -> Encoder | Baseline:
    """Return *encoder*. Raises SentprobeError if it is None, or its fingerprint differs from that in *request*."""
    (fingerprint,) = {result.encoder_fingerprint for result in request.results.values()}
    if encoder is None or encoder.fingerprint != fingerprint:
        raise SentprobeError(
            f"encoder {request.encoder}: a worker finds another model or file than the process "
            "that started the run; they must be the same"
        )
    return encoder


def _make_job(
    requested: RequestedCondition, encoder: Encoder | Baseline, shared_state: SharedState
) -> missing_jobs.Job:
    (task,) = (task for task in shared_state.tasks if task.name == requested.task)
    return missing_jobs.Job(encoder=encoder, task=task, condition=requested.condition, seeds=requested.seeds)
