"""Jobs for cluster workers: train an encoder's probes, or a control that is the same for all encoders of one width.

A job trains the probes of one encoder on all tasks or, where workers outnumber encoders, on some of the tasks.
Runs on a Dask cluster: jobs are sent to workers, and their results are stored.
"""

import threading
from collections import Counter, deque
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import chain
from math import ceil
from typing import TypeAlias

import numpy as np

from sentprobe.common import engines
from sentprobe.common.engines import INLINE_ENGINE, EngineName
from sentprobe.common.errors import SentprobeError, UsageError, get_own_version
from sentprobe.common.screen import Reporter, SilentReporter
from sentprobe.common.specs import Spec
from sentprobe.probes.datasets.dataset import ENCODER_WORDS, ONE_HOT
from sentprobe.probes.encoders.encoder import Baseline, Encoder, collect_notes, read_name
from sentprobe.probes.encoders.kinds import EncoderSource, bind_to_sentence_order, build_encoders
from sentprobe.probes.results import store
from sentprobe.probes.results.control import SHARED_CONTROLS
from sentprobe.probes.results.result import Condition, Result, SeedScore
from sentprobe.probes.runs import missing_jobs
from sentprobe.probes.runs.completed_tasks import CompletedTasks, Recipes, ResultStore
from sentprobe.probes.runs.controls import WordSource, make_control_bow, make_word_source
from sentprobe.probes.runs.job_vectors import OWN_VECTORS, make_trainer
from sentprobe.probes.runs.missing_jobs import Job
from sentprobe.probes.runs.runner import Runner
from sentprobe.probes.runs.settings import CPU, ONE_PROCESS, Run
from sentprobe.probes.runs.task import Task


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
        run, names = shared_state.run, {task for request in self.requests for task in request.results}
        unbound = build_encoders([self.spec], seed=run.seed)
        # Vectors without sentences are in the order of the whole run, of which this job may have some tasks only.
        bound = bind_to_sentence_order(unbound, (task.data.sentences for task in shared_state.tasks))
        tasks = tuple(task for task in shared_state.tasks if task.name in names)
        encoders = {encoder.name: encoder for encoder in bound}
        store = ResultStore(tasks, run, {})
        runner = Runner(tasks, run=run, engine=INLINE_ENGINE, reporter=SilentReporter(), store=store)
        results: list[Result] = []
        for request in self.requests:
            encoder = encoders.get(request.encoder)
            (fingerprint,) = {result.encoder_fingerprint for result in request.results.values()}
            if encoder is None or encoder.fingerprint != fingerprint:
                raise SentprobeError(
                    f"encoder {request.encoder}: a worker finds another model or file than the process "
                    "that started the run; they must be the same"
                )
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


def split_by_task(requests: Sequence[JobRequest], tasks: Sequence[Task], parts: int) -> list[tuple[JobRequest, ...]]:
    """Divide the requests of one encoder spec by task into at most *parts* parts with similar amounts of training.

    Tasks with the same sentences, or the same training items, stay together: a job encodes and trains on them once.
    """
    groups: dict[str, Hashable] = {task.name: task.training or task.data.sentences for task in tasks}
    items = {task.name: len(task.items.train) for task in tasks}
    amounts: Counter[Hashable] = Counter()
    for condition in chain.from_iterable(request.conditions for request in requests):
        amounts[groups[condition.task]] += items[condition.task] * len(condition.seeds)
    totals = [0] * min(parts, len(amounts))
    part_by_group: dict[Hashable, int] = {}
    for group, amount in amounts.most_common():  # the largest first, each to the part that has least
        part_by_group[group] = part = totals.index(min(totals))
        totals[part] += amount
    part_by_task = {task: part_by_group.get(group) for task, group in groups.items()}
    selected = ((_select_tasks(request, part_by_task, part) for request in requests) for part in range(len(totals)))
    return [tuple(request for request in part if request.conditions) for part in selected]


def _select_tasks(request: JobRequest, part_by_task: Mapping[str, int | None], part: int) -> JobRequest:
    results = {task: result for task, result in request.results.items() if part_by_task[task] == part}
    conditions = tuple(condition for condition in request.conditions if condition.task in results)
    return replace(request, results=results, conditions=conditions)


def run_job(job: WorkerJob, shared_state: SharedState) -> JobResult:
    """Execute a job and return its result. A lock admits one job at a time: PyTorch's thread count is global."""
    with _PROCESS_LOCK:
        if shared_state.run.device != CPU:
            from sentprobe.probes.classifier.devices import find_device

            find_device(shared_state.run.device)
        return replace(job.execute(shared_state), version=get_own_version())


def needs_own_vectors(job: missing_jobs.Job) -> bool:
    """Return whether the scores of a job may depend on its encoder's vectors, and not only on their width."""
    if job.condition not in SHARED_CONTROLS or not isinstance(job.encoder, Encoder):
        return True
    return bool(job.task.data.slots) and job.task.words.name != ONE_HOT


def _add_word_source(shared_state: SharedState) -> SharedState:
    """Return the shared state. If ``words`` names an encoder, all tasks take probe word vectors from this encoder."""
    if shared_state.words is None or shared_state.words in (ONE_HOT, ENCODER_WORDS):
        return shared_state
    source = make_word_source(shared_state.words, seed=shared_state.run.seed)
    return replace(shared_state, tasks=tuple(replace(task, words=source) for task in shared_state.tasks))


def _make_job(
    requested: RequestedCondition, encoder: Encoder | Baseline, shared_state: SharedState
) -> missing_jobs.Job:
    (task,) = (task for task in shared_state.tasks if task.name == requested.task)
    return missing_jobs.Job(encoder=encoder, task=task, condition=requested.condition, seeds=requested.seeds)


ResultKey: TypeAlias = tuple[str, str]


def check_sendable(encoders: Sequence[EncoderSource], words: EncoderSource | str | None, *, run: Run) -> None:
    """Raise UsageError if *run* uses Dask but an encoder is a Python object: workers build encoders from specs."""
    if run.machines.engine is EngineName.DASK:
        for source in (*encoders, words):
            if not isinstance(source, Spec | str | None):
                name = read_name(source)
                raise UsageError(
                    f"{name} is an object of this process, and the workers of --engine dask make "
                    "their encoders themselves; give a spec, such as python:MODULE:FUNCTION"
                )


def run_on_cluster(
    tasks: Sequence[Task],
    encoders: Sequence[Encoder | Baseline],
    *,
    run: Run,
    reporter: Reporter,
    recipes: Recipes,
    engine: engines.Engine,
    specs: Mapping[str, Spec],
    words: Spec | str | None,
) -> CompletedTasks:
    """Train, on the cluster, the probes that stored results lack, and return all results.

    The workers build each encoder from its spec in *specs*, by encoder name, and the encoder of probe words from
    *words*. Raises EngineError if workers are killed often, or have another version of sentprobe.
    """
    store = ResultStore(tasks, run, recipes)
    scheduler = _JobScheduler(tasks, run, store, reporter)
    for encoder in encoders:
        scheduler.add_encoder(encoder, specs[encoder.name])
    # The number of threads is per worker; the cluster decides the number of workers per machine.
    threads = run.encoding_threads or 1
    worker_run = replace(run, out=None, text="", machines=ONE_PROCESS, encoding_threads=threads)
    sent_tasks = tuple(replace(task, words=WordSource(task.words.name), lexicon=None) for task in tasks)
    shared_state = SharedState(tasks=sent_tasks, run=worker_run, words=words)
    notes: list[str] = []
    shared_values = (engine.share(shared_state),)
    scheduler.start_jobs(engine.workers)
    finished = engines.run_tasks_on_engine(run_job, scheduler, engine, shared=shared_values, kept_message=run.kept_note)
    with closing(finished):
        for job, job_result in finished:
            engines.check_version(job_result.version)
            scheduler.add_result(job, job_result)
            notes += job_result.notes
    return store.collect_results(scheduler.results.values(), notes)


class _JobScheduler:
    """An iterator over a run's jobs that are ready to start; :meth:`add_result` adds further jobs during the iteration.

    Some jobs are shared by all encoders with the same vector width. These jobs wait until the width is known.
    """

    def __init__(self, tasks: Sequence[Task], run: Run, store: ResultStore, reporter: Reporter) -> None:
        self.results: dict[ResultKey, Result] = {}
        self._tasks = tasks
        self._run = run
        self._store = store
        self._reporter = reporter
        self._queue: deque[WorkerJob] = deque()
        self._requests: dict[Spec, list[JobRequest]] = {}
        self._shared_jobs: dict[ResultKey, list[Job]] = {}
        """The shared jobs of each result for which the width of the encoder's vectors is not known yet."""
        self._waiting: dict[ResultKey, dict[Hashable, Job]] = {}
        """The scheduled shared jobs of each unfinished result, by job key."""
        self._job_results: dict[Hashable, JobResult | None] = {}
        """The result of each queued shared job, by job key; None until the job is finished."""

    def __iter__(self) -> Iterator[WorkerJob]:
        return self

    def __next__(self) -> WorkerJob:
        if not self._queue:
            raise StopIteration
        return self._queue.popleft()

    def add_encoder(self, encoder: Encoder | Baseline, spec: Spec) -> None:
        results, jobs = self._store.find_missing_jobs(encoder)
        self.results |= {(encoder.name, task): result for task, result in results.items()}
        own_jobs: list[Job] = []
        for job in jobs:
            shared_jobs = self._shared_jobs.setdefault((encoder.name, job.task.name), [])
            # Scores that depend only on the width of the vectors are computed once for all encoders of that width.
            (own_jobs if needs_own_vectors(job) else shared_jobs).append(job)
        if own_jobs:
            conditions = tuple(RequestedCondition(j.task.name, j.condition, j.seeds) for j in own_jobs)
            task_results = {condition.task: results[condition.task] for condition in conditions}
            request = JobRequest(encoder.name, task_results, conditions)
            self._requests.setdefault(spec, []).append(request)

    def start_jobs(self, workers: int) -> None:
        """Queue the jobs that need no result of another job; where *workers* outnumber encoders, split them by task."""
        self._reporter.begin("do jobs on the cluster", len(self._shared_jobs))
        parts = max(1, ceil(workers / max(1, len(self._requests))))
        for spec, requests in self._requests.items():
            for part in split_by_task(requests, self._tasks, parts):
                self._queue.append(EncodeAndTrainJob(spec, part))
        all_requests = chain.from_iterable(self._requests.values())
        busy_keys = {(request.encoder, task) for request in all_requests for task in request.results}
        # A result with jobs of its own waits for them: they may limit the passes of its shared jobs.
        for key in [key for key in self._shared_jobs if key not in busy_keys]:
            self._request_shared_jobs(key)

    def add_result(self, job: WorkerJob, job_result: JobResult) -> None:
        for result in job_result.results:
            result_key = result.encoder, result.task
            self.results[result_key] = result
            self._request_shared_jobs(result_key)
        if isinstance(job, SharedProbeJob):
            self._job_results[job.key] = job_result
            for result_key in [key for key, waiting_jobs in self._waiting.items() if job.key in waiting_jobs]:
                self._queue_ready_jobs(result_key)
                self._finish_result(result_key)

    def _request_shared_jobs(self, result_key: ResultKey) -> None:
        """Add to a result the stored scores of controls that depend only on the width, and schedule missing ones."""
        dim = self.results[result_key].dim
        _, task = result_key
        results, jobs = self._store.reuse_shared_scores(
            {task: self.results[result_key]}, self._shared_jobs.pop(result_key), dim=dim
        )
        self.results[result_key] = result = results[task]
        self._waiting[result_key] = {
            (*missing_jobs.make_shared_key(job.condition, result, dim=dim), job.seeds): job for job in jobs
        }
        self._queue_ready_jobs(result_key)
        # Saved before the shared jobs are done, so that a stopped run keeps the scores of the encoder's own jobs.
        if jobs:
            self._store.save_result(result)
        self._finish_result(result_key)

    def _queue_ready_jobs(self, result_key: ResultKey) -> None:
        """Queue those shared jobs of a result that need not wait for another job. Skip a job that was queued before."""
        result, waiting = self.results[result_key], self._waiting[result_key]
        job_results = ((job, self._job_results.get(key)) for key, job in waiting.items())
        task_jobs = [(job, job_result.scores if job_result else None) for job, job_result in job_results]
        for key, job in waiting.items():
            limits = missing_jobs.find_pass_limits(job, result, task_jobs)
            if limits is not None and key not in self._job_results:
                self._job_results[key] = None
                condition = RequestedCondition(job.task.name, job.condition, job.seeds)
                self._queue.append(SharedProbeJob(condition, result.dim, key, limits))

    def _finish_result(self, result_key: ResultKey) -> None:
        """If all jobs that a result shares with other results are finished, add their scores, and save the result."""
        waiting = self._waiting[result_key]
        job_results = {key: job_result for key in waiting if (job_result := self._job_results.get(key)) is not None}
        if len(job_results) < len(waiting):
            return
        del self._waiting[result_key]
        result = self.results[result_key]
        for key, job in waiting.items():
            job_result = job_results[key]
            result = store.add_scores(result, {job.condition: job_result.scores})
            result = missing_jobs.add_seconds(result, {job.condition.value: job_result.seconds})
        self.results[result_key] = result
        self._store.save_result(result)
        self._reporter.advance()
