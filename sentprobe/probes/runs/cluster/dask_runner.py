"""Runs on a Dask cluster: jobs are sent to workers, and their results are stored."""

from collections import deque
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import chain
from typing import TypeAlias

from sentprobe import engines
from sentprobe.engines import EngineName
from sentprobe.errors import UsageError
from sentprobe.probes.encoders.protocol import Baseline, Encoder, read_name
from sentprobe.probes.encoders.resolve import EncoderSource
from sentprobe.probes.results import store
from sentprobe.probes.results.result import Result
from sentprobe.probes.runs.cluster import worker_jobs
from sentprobe.probes.runs.execution import missing_jobs
from sentprobe.probes.runs.execution.completed_tasks import CompletedTasks, Recipes, ResultStore
from sentprobe.probes.runs.execution.missing_jobs import Job
from sentprobe.probes.runs.execution.task import Task
from sentprobe.probes.runs.execution.word_source import WordSource
from sentprobe.probes.runs.request.settings import ONE_PROCESS, Run
from sentprobe.progress import Reporter
from sentprobe.specs import Spec

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
    scheduler = _JobScheduler(run, store, reporter)
    for encoder in encoders:
        scheduler.add_encoder(encoder, specs[encoder.name])
    # The number of threads is per worker; the cluster decides the number of workers per machine.
    threads = run.encoding_threads or 1
    worker_run = replace(run, out=None, text="", machines=ONE_PROCESS, encoding_threads=threads)
    sent_tasks = tuple(replace(task, words=WordSource(task.words.name), lexicon=None) for task in tasks)
    shared_state = worker_jobs.SharedState(tasks=sent_tasks, run=worker_run, words=words)
    notes: list[str] = []
    shared_values = (engine.share(shared_state),)
    scheduler.start_jobs()
    finished = engines.run_tasks_on_engine(
        worker_jobs.run_job, scheduler, engine, shared=shared_values, kept_message=run.kept_note
    )
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

    def __init__(self, run: Run, store: ResultStore, reporter: Reporter) -> None:
        self.results: dict[ResultKey, Result] = {}
        self._run = run
        self._store = store
        self._reporter = reporter
        self._queue: deque[worker_jobs.WorkerJob] = deque()
        self._requests: dict[Spec, list[worker_jobs.JobRequest]] = {}
        self._shared_jobs: dict[ResultKey, list[Job]] = {}
        """The shared jobs of each result for which the width of the encoder's vectors is not known yet."""
        self._waiting: dict[ResultKey, dict[Hashable, Job]] = {}
        """The scheduled shared jobs of each unfinished result, by job key."""
        self._job_results: dict[Hashable, worker_jobs.JobResult | None] = {}
        """The result of each queued shared job, by job key; None until the job is finished."""

    def __iter__(self) -> Iterator[worker_jobs.WorkerJob]:
        return self

    def __next__(self) -> worker_jobs.WorkerJob:
        if not self._queue:
            raise StopIteration
        return self._queue.popleft()

    def add_encoder(self, encoder: Encoder | Baseline, spec: Spec) -> None:
        results, jobs = self._store.find_missing_jobs(encoder)
        self.results |= {(encoder.name, task): result for task, result in results.items()}
        own_jobs: list[Job] = []
        for job in jobs:
            shared_jobs = self._shared_jobs.setdefault((encoder.name, job.task.name), [])
            (own_jobs if worker_jobs.needs_own_vectors(job) else shared_jobs).append(job)
        if own_jobs:
            conditions = tuple(worker_jobs.RequestedCondition(j.task.name, j.condition, j.seeds) for j in own_jobs)
            task_results = {condition.task: results[condition.task] for condition in conditions}
            request = worker_jobs.JobRequest(encoder.name, task_results, conditions)
            self._requests.setdefault(spec, []).append(request)

    def start_jobs(self) -> None:
        """Queue the jobs that need no result of another job."""
        self._reporter.begin("do jobs on the cluster", len(self._shared_jobs))
        for spec, requests in self._requests.items():
            self._queue.append(worker_jobs.EncodeAndTrainJob(spec, tuple(requests)))
        all_requests = chain.from_iterable(self._requests.values())
        busy_keys = {(request.encoder, task) for request in all_requests for task in request.results}
        for key in [key for key in self._shared_jobs if key not in busy_keys]:
            self._request_shared_jobs(key)

    def add_result(self, job: worker_jobs.WorkerJob, job_result: worker_jobs.JobResult) -> None:
        for result in job_result.results:
            result_key = result.encoder, result.task
            self.results[result_key] = result
            self._request_shared_jobs(result_key)
        if isinstance(job, worker_jobs.SharedProbeJob):
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
                condition = worker_jobs.RequestedCondition(job.task.name, job.condition, job.seeds)
                self._queue.append(worker_jobs.SharedProbeJob(condition, result.dim, key, limits))

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
