"""The execution of a run on this machine: one encoder after another is probed on all tasks."""

import logging
import time
from collections.abc import Callable, Generator, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import chain

from sentprobe.common import engines
from sentprobe.common.engines import INLINE_ENGINE, Engine
from sentprobe.common.errors import SentprobeError
from sentprobe.common.processes import limit_threads
from sentprobe.common.screen import Reporter, shorten
from sentprobe.common.values import group_by
from sentprobe.probes.encoders.embedding import embed
from sentprobe.probes.encoders.encoder import Baseline, Encoder, Vectors, count_truncated_sentences, select_rows
from sentprobe.probes.encoders.precomputed import Precomputed
from sentprobe.probes.encoders.variants import ErasedEncoder, ReducedEncoder
from sentprobe.probes.results.control import SHARED_CONTROLS
from sentprobe.probes.results.result import Condition, Result
from sentprobe.probes.results.store import add_scores
from sentprobe.probes.runs import missing_jobs
from sentprobe.probes.runs.completed_tasks import CompletedTasks, Recipes, ResultStore
from sentprobe.probes.runs.controls import encode_words, make_control_bow
from sentprobe.probes.runs.job_vectors import (
    Embedding,
    EncodedTexts,
    Fits,
    TrainingWork,
    arrange_vectors,
    has_word_vectors,
)
from sentprobe.probes.runs.missing_jobs import Job
from sentprobe.probes.runs.settings import Run
from sentprobe.probes.runs.task import Task

log = logging.getLogger(__name__)
ENCODING = "encoding"
"""The key of the encoding time in the *seconds* of a result."""
STOPPED_WAIT_SECONDS = 2.0
"""Seconds that a stopped run waits for another process that has locked the results folder."""
LITTLE_WORK = 3e9
"""Number of weight updates per pass from which further processes pay off: weights times items, over all probes.

With 60 passes and six operations for each update, this work takes about 20 CPU seconds; starting a process takes four.
"""


def run_tasks(
    tasks: Sequence[Task],
    encoders: Sequence[Encoder | Baseline],
    *,
    run: Run,
    reporter: Reporter,
    recipes: Recipes,
    engine: Engine = INLINE_ENGINE,
) -> CompletedTasks:
    """Encode sentences in this process, train the missing probes on the engine, and return all results."""
    store = ResultStore(tasks, run, recipes)
    runner = Runner(tasks, run=run, engine=engine, reporter=reporter, store=store)
    results = [result for encoder in encoders for result in runner.find_results(encoder)]
    return store.collect_results(results)


class Runner:
    """A runner that executes all jobs of one encoder, then of the next, and reuses fits that encoders share."""

    def __init__(
        self, tasks: Sequence[Task], *, run: Run, engine: Engine, reporter: Reporter, store: ResultStore
    ) -> None:
        self._tasks = tasks
        self._run = run
        self._engine = engine
        self._reporter = reporter
        self._store = store
        self._shared_fits: dict[Hashable, Fits] = {}
        """The fits that encoders of one width share, by job key."""
        self._make_control_bow = cache(lambda dim: make_control_bow(seed=run.seed, dim=dim))
        self._last_vectors: dict[Hashable, Vectors] = {}
        """The sentence vectors of the latest encoding, by encoder and sentences; at most one entry."""
        self._word_embeddings: dict[str, Embedding] = {}
        """The probe word vectors of the latest encoder, by its fingerprint; at most one entry."""
        self._weight_updates = 0
        """The number of weight updates in a pass of all jobs so far; see LITTLE_WORK."""

    def find_results(self, encoder: Encoder | Baseline) -> list[Result]:
        """Return the encoder's result on each task, in order; train only probes without stored scores."""
        results, jobs = self._store.find_missing_jobs(encoder)
        finished = self.execute_jobs(encoder, jobs, results)
        for result in finished if jobs else ():
            try:
                self._store.save_result(result)
            except (KeyboardInterrupt, SystemExit) as stop:
                finished.throw(stop)  # saves this result and the finished probes of others
            results[result.task] = result
        return list(results.values())

    def execute_jobs(
        self, encoder: Encoder | Baseline, jobs: Sequence[Job], results: Mapping[str, Result]
    ) -> Generator[Result]:
        """Execute the jobs of an encoder, and yield the updated result of each task."""
        if isinstance(encoder, Encoder):
            return self._train_probes(encoder, jobs, results)
        return self._run_baseline(encoder, jobs, results)

    def _run_baseline(self, encoder: Baseline, jobs: Sequence[Job], results: Mapping[str, Result]) -> Generator[Result]:
        self._reporter.begin(f"run baseline {shorten(encoder.name)}", len(jobs))
        provenance = missing_jobs.make_provenance(encoder, run=self._run)
        for job in jobs:
            start = time.perf_counter()
            scores = missing_jobs.score_baseline(job, encoder, provenance=provenance)
            seconds = {job.condition.value: time.perf_counter() - start}
            self._reporter.advance()
            yield missing_jobs.add_seconds(add_scores(results[job.task.name], {job.condition: scores}), seconds)

    def _train_probes(self, encoder: Encoder, jobs: Sequence[Job], results: Mapping[str, Result]) -> Generator[Result]:
        """Encode the sentences, and yield each result as soon as all its probes are trained."""
        start = time.perf_counter()
        vectors = self._encode(encoder, jobs)
        seconds = {ENCODING: time.perf_counter() - start}
        tasks = list(dict.fromkeys(job.task for job in jobs))
        # Only now is the width known, on which controls that encoders share depend.
        results, jobs = self._store.reuse_shared_scores(results, jobs, dim=vectors.sentences.dim)
        # Jobs with equal keys have equal fits, and are trained once; equal training keys share the training only.
        keyed_jobs = [(vectors.make_key(job, results[job.task.name]), job) for job in jobs]
        finished_fits = {key: self._shared_fits[key] for key, _ in keyed_jobs if key in self._shared_fits}
        new_jobs = {key: job for key, job in keyed_jobs if key not in finished_fits}
        groups = group_by(new_jobs.items(), lambda item: vectors.make_training_key(item[1], results[item[1].task.name]))
        jobs_by_training = {training: [job for _, job in members] for training, members in groups.items()}
        engine = self._choose_engine((first for first, *_ in jobs_by_training.values()), dim=vectors.sentences.dim)
        with arrange_vectors(jobs_by_training, vectors, run=self._run, other_processes=not engine.is_inline) as work:
            self._reporter.begin(f"train probes on {shorten(encoder.name)}", len(work))

            def make_result(task: Task) -> Result:
                task_jobs = [(key, job) for key, job in keyed_jobs if job.task is task]
                job_fits = [(job, finished_fits[key]) for key, job in task_jobs if key in finished_fits]
                return self._make_result(results[task.name], task, job_fits, vectors, seconds)

            ready_work = _ReadyWork(
                work=work,
                waiting_jobs={training: jobs[0] for training, jobs in jobs_by_training.items()},
                finished_fits=finished_fits,
                keyed_jobs=keyed_jobs,
                results=results,
            )
            try:
                for training, fits in chain([_NO_WORK], self._execute_work(ready_work, engine)):
                    if training is not None:  # tasks may be complete before any training
                        self._reporter.advance()
                        # The fits are sorted by tested dataset, then by seed (see fit).
                        seeds = len(fits) // len(groups[training])
                        for place, (key, _) in enumerate(groups[training]):
                            finished_fits[key] = fits[place * seeds : (place + 1) * seeds]
                    unfinished_tasks = {job.task for key, job in keyed_jobs if key not in finished_fits}
                    for task in [task for task in tasks if task not in unfinished_tasks]:
                        yield make_result(task)
                        tasks.remove(task)
            except (Exception, KeyboardInterrupt, SystemExit):
                started_tasks = {job.task for key, job in keyed_jobs if key in finished_fits}
                self._save_unfinished_results(make_result(task) for task in tasks if task in started_tasks)
                raise
        shared = (key for key, job in keyed_jobs if job.condition in SHARED_CONTROLS)
        self._shared_fits.update((key, finished_fits[key]) for key in shared)

    def _save_unfinished_results(self, results: Iterable[Result]) -> None:
        """Save unfinished results that have a score of PROBE. With ``--force``, save none, so old results remain."""
        for result in results if not self._run.force else ():
            if Condition.PROBE in result.scores:
                try:
                    self._store.save_result(result, wait=STOPPED_WAIT_SECONDS)
                except SentprobeError as error:
                    log.warning("finished probes of %s on %s are not kept: %s", result.encoder, result.task, error)

    def _choose_engine(self, jobs: Iterable[Job], *, dim: int) -> Engine:
        """Return INLINE_ENGINE if settings allow it and all work so far, plus *jobs*, is small; else ``_engine``."""
        self._weight_updates += sum(missing_jobs.count_weight_updates(job, dim=dim) for job in jobs)
        is_little = self._run.machines.runs_small_work_inline and self._weight_updates < LITTLE_WORK
        return INLINE_ENGINE if is_little else self._engine

    def _execute_work(self, work: "_ReadyWork", engine: Engine) -> Iterator[tuple[Hashable, Fits]]:
        finished = engines.run_tasks_on_engine(engines.call_work, work, engine, kept_message=self._run.kept_note)
        with closing(finished) as finished_work:
            yield from ((key, fits) for (key, _), fits in finished_work)

    def _make_result(
        self,
        result: Result,
        task: Task,
        job_fits: Iterable[tuple[missing_jobs.Job, Fits]],
        vectors: EncodedTexts,
        seconds: Mapping[str, float],
    ) -> Result:
        provenance = missing_jobs.make_provenance(vectors.encoder, run=self._run)
        scores, times = {}, dict(seconds)
        for job, fits in job_fits:
            times[job.condition.value] = sum(fit.seconds for fit in fits)
            scores[job.condition] = missing_jobs.make_trained_scores(job, fits, provenance=provenance)
        result = replace(
            result,
            dim=vectors.sentences.dim,
            norms=vectors.compute_norms(task.data),
            truncated=count_truncated_sentences(vectors.encoder, task.data.sentences),
        )
        return missing_jobs.add_seconds(add_scores(result, scores), times)

    def _encode(self, encoder: Encoder, jobs: Sequence[Job]) -> EncodedTexts:
        texts = dict.fromkeys(text for job in jobs for text in job.task.data.sentences)
        vectors = self._embed(encoder, tuple(texts))
        sentences = Embedding(dict(zip(texts, range(len(texts)), strict=True)), vectors)
        return EncodedTexts(
            encoder=encoder,
            sentences=sentences,
            norms=sentences.compute_norms(),
            words=self._encode_words(encoder, jobs),
            bow=self._make_control_bow(sentences.dim),
            seed=self._run.seed,
        )

    def _embed(self, encoder: Encoder, texts: tuple[str, ...]) -> Vectors:
        """Return the vectors of *texts*; variants of an encoder are computed from its unchanged vectors."""
        if isinstance(encoder, ReducedEncoder):
            return encoder.cut_dims(self._embed(encoder.base, texts))
        if isinstance(encoder, ErasedEncoder):
            training = encoder.training_sentences
            sentences = tuple(dict.fromkeys((*texts, *training)))
            vectors = self._embed(encoder.base, sentences)
            rows = dict(zip(sentences, range(len(sentences)), strict=True))
            embedding = Embedding(rows, vectors)
            return encoder.erase(embedding.select(texts), embedding.select(training))
        if isinstance(encoder, Precomputed):  # its vectors are in memory, and embed would copy them
            return select_rows(encoder.vectors, encoder.find_rows(texts))
        cache_key = (encoder.fingerprint or id(encoder), texts)
        if cache_key not in self._last_vectors:
            self._last_vectors.clear()  # frees memory before the next vectors are computed
            with limit_threads(self._run.encoding_threads):
                self._last_vectors[cache_key] = embed(encoder, texts, cache=self._run.cache, reporter=self._reporter)
        return self._last_vectors[cache_key]

    def _encode_words(self, encoder: Encoder, jobs: Sequence[Job]) -> Embedding | None:
        """Return the vectors of the probe words of all tasks; None if no job needs them."""
        if not any(has_word_vectors(job.task, encoder) for job in jobs):
            return None
        tasks = [task for task in self._tasks if has_word_vectors(task, encoder)]
        word_encoder = tasks[0].words.find_encoder(encoder) or encoder
        words = dict.fromkeys(word for task in tasks for word in task.data.probe_words)
        if word_encoder.fingerprint not in self._word_embeddings:
            with limit_threads(self._run.encoding_threads):
                vectors = encode_words(word_encoder, [*words], cache=self._run.cache)
            rows = dict(zip(words, range(len(words)), strict=True))
            self._word_embeddings = {word_encoder.fingerprint: Embedding(rows, vectors)}
        return self._word_embeddings[word_encoder.fingerprint]


@dataclass(frozen=True, slots=True, kw_only=True)
class _ReadyWork:
    """An iterator over ready training functions. A function is ready once its maximum number of passes is known."""

    work: TrainingWork
    waiting_jobs: dict[Hashable, Job]
    """A job for each training key whose function has not been started."""
    finished_fits: Mapping[Hashable, Fits]
    keyed_jobs: Sequence[tuple[Hashable, Job]]
    results: Mapping[str, Result]

    def __iter__(self) -> "_ReadyWork":
        return self

    def __next__(self) -> tuple[Hashable, Callable[[], Fits]]:
        for key, job in self.waiting_jobs.items():
            task_jobs = [(j, self.finished_fits.get(k)) for k, j in self.keyed_jobs if j.task is job.task]
            limits = missing_jobs.find_pass_limits(job, self.results[job.task.name], task_jobs)
            if limits is not None:
                del self.waiting_jobs[key]
                return key, partial(self.work[key], pass_limits=limits)
        raise StopIteration


_NO_WORK: tuple[Hashable, Fits] = (None, ())
