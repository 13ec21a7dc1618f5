"""A run: every encoder on every task, with the sanity runs beside, and only what is missing."""

import time
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from itertools import chain
from pathlib import Path

from sentprobe.probes.dataset import ProbeDataset
from sentprobe.probes.encoders import Baseline, Encoder, make_encoders
from sentprobe.probes.encoders.cache import Cache
from sentprobe.probes.encoders.embed import embed
from sentprobe.probes.encoders.word_vectors import Bow
from sentprobe.probes.runs.conditions import control_bow
from sentprobe.probes.runs.results import Result, Results
from sentprobe.probes.runs.settings import Run, make_run
from sentprobe.probes.runs.store import prepare_directory, write_result
from sentprobe.probes.runs.task import Task, make_tasks
from sentprobe.probes.runs.todo import (
    SHARED,
    Job,
    add,
    add_seconds,
    answered_scores,
    kept_scores,
    known_result,
    made_by,
    missing_jobs,
    take_kept,
    trained_scores,
)
from sentprobe.probes.runs.vectors import Embedding, Encoded, Fits, has_word_vectors, laid_out
from sentprobe.probes.runs.word_source import encode_words, make_source
from sentprobe.probes.suites import ClassifierChoice
from sentprobe.processes import finished, limit_threads, workers
from sentprobe.progress import Reporter, Silent, shorten
from sentprobe.specs import Spec, check_distinct, check_names, parse_spec

ENCODING = "encoding"
"""The key of the time that encoding took, among the seconds of a result."""


def run(
    datasets: Sequence[ProbeDataset],
    encoders: Sequence[Encoder | Baseline | str],
    *,
    preset: ClassifierChoice | None = None,
    seed: int = 0,
    seeds: int = 1,
    controls: bool = True,
    out: Path | str | None = None,
    force: bool = False,
    cache: Cache | None = None,
    command: str = "",
    reporter: Reporter | None = None,
    device: str = "cpu",
    threads: int | None = 1,
    encoding_threads: int | None = None,
    jobs: int = 1,
    probe_vectors: Encoder | str | None = None,
) -> Results:
    """Train and score probes for each encoder and dataset, with the sanity runs.

    - encoders: encoders, or specs such as ``"st:MODEL"``, made with *seed*
    - preset: the classifier, or a function that gives a dataset its own; by default that of the
      paper of the task (:func:`sentprobe.probes.suites.usual_preset`)
    - seeds: so many probes are trained under each condition, with the seeds *seed*, *seed* + 1, ...
    - controls: whether the sanity runs are made; a baseline has none
    - out: each result is written there, atomically, as soon as it is there. What is there already
      is not done again, unless *force* says so
    - cache: where sentence vectors are kept between runs
    - threads: PyTorch's in each process that trains; None leaves them as they are
    - encoding_threads: PyTorch's while sentences are encoded, before training; None leaves them
    - jobs: probes are trained in so many processes (started by spawning: a script needs its
      ``__main__`` guard); the numbers are the same
    - probe_vectors: what stands for probe words: ``"one-hot"``; ``"encoder"``, the vector that each
      encoder gives to the word alone; or one encoder that gives it for all, or its spec; by
      default ``"encoder"`` for the tasks of Adi et al. 2017 and ``"one-hot"`` for all others

    A sentence that is in several datasets is encoded once per encoder. Sanity runs that do not
    depend on the encoder but for its width are made once for all encoders of that width.

    Raises:
        UsageError: nothing to do, something twice, a number or a device that cannot be.
        SentprobeError: *out* is not ours or not writable; an encoder failed; training diverged.
    """
    check_distinct("dataset", [data.name for data in datasets])
    specs = [parse_spec(each) if isinstance(each, str) else each for each in encoders]
    check_names([each for each in specs if isinstance(each, Spec)])
    made = distinct_encoders(specs, seed=seed)
    settings = make_run(
        seed=seed,
        seeds=seeds,
        controls=controls,
        out=out,
        force=force,
        cache=cache,
        command=command,
        device=device,
        threads=threads,
        encoding_threads=encoding_threads,
        jobs=jobs,
    )
    if settings.out is not None:
        prepare_directory(settings.out)
    return run_encoders(
        datasets,
        placed_encoders(made, datasets),
        run=settings,
        preset=preset,
        probe_vectors=probe_vectors,
        reporter=reporter or Silent(),
    )


def distinct_encoders(
    specs: Sequence[Encoder | Baseline | Spec], *, seed: int
) -> list[Encoder | Baseline]:
    """Return the encoders of the specs, made with *seed*, and those that are made already.

    Raises:
        UsageError: there is none, or there are two of one name.
    """
    encoders: list[Encoder | Baseline] = []
    for each in specs:
        encoders += make_encoders(each, seed=seed) if isinstance(each, Spec) else [each]
    check_distinct("encoder", [encoder.name for encoder in encoders])
    return encoders


def run_encoders(
    datasets: Sequence[ProbeDataset],
    encoders: Sequence[Encoder | Baseline],
    *,
    run: Run,
    preset: ClassifierChoice | None,
    probe_vectors: Encoder | Spec | str | None,
    reporter: Reporter,
) -> Results:
    """Train and score what is missing, and return the result of each encoder on each dataset.

    Raises:
        UsageError: word vectors where no task has probe words, or that are none.
        SentprobeError: see :func:`run`.
    """
    words = None if probe_vectors is None else make_source(probe_vectors, seed=run.seed)
    tasks = make_tasks(datasets, run=run, preset=preset, words=words)
    with workers(run.jobs) as pool:
        runner = _Runner(tasks, run, pool, reporter)
        found = [result for encoder in encoders for result in runner.results(encoder)]
    return Results(tuple(result.of_seeds(run.seeds) for result in found))


def placed_encoders(
    encoders: Sequence[Encoder | Baseline], datasets: Sequence[ProbeDataset]
) -> list[Encoder | Baseline]:
    """Return the encoders; those that go by the order of the sentences are told them.

    Raises:
        EncoderError: an encoder has vectors for more or fewer.
    """
    if not any(hasattr(each, "in_order") for each in encoders):
        return list(encoders)
    sentences = list(dict.fromkeys(text for data in datasets for text in data.sentences))
    return [each.in_order(sentences) if hasattr(each, "in_order") else each for each in encoders]


class _Runner:
    """Takes the tasks to one encoder after another, and keeps what these have in common."""

    def __init__(
        self, tasks: Sequence[Task], run: Run, pool: Executor | None, reporter: Reporter
    ) -> None:
        self._tasks = tasks
        self._run = run
        self._pool = pool
        self._reporter = reporter
        self._kept = kept_scores(run)
        self._shared: dict[Hashable, Fits] = {}
        """Fits of the jobs that encoders of one width share."""
        self._bows: dict[int, Bow] = {}
        """The encoder of the bag-of-words control for each width."""
        self._words: dict[str, Embedding] = {}
        """The probe words' vectors, by the fingerprint of the encoder that made them last."""

    def results(self, encoder: Encoder | Baseline) -> list[Result]:
        """Return a result for each task, in order; what is done is not done again."""
        known = {t.name: known_result(t, encoder, run=self._run) for t in self._tasks}
        jobs = [
            job
            for task in self._tasks
            for job in missing_jobs(task, encoder, known[task.name], run=self._run)
        ]
        for result in self._work(encoder, jobs, known) if jobs else ():
            if self._run.out is not None:
                write_result(result, self._run.out)
            known[result.task] = result
        return list(known.values())

    def _work(
        self, encoder: Encoder | Baseline, jobs: Sequence[Job], known: Mapping[str, Result]
    ) -> Iterator[Result]:
        if isinstance(encoder, Encoder):
            return self._train(encoder, jobs, known)
        return self._answer(encoder, jobs, known)

    def _answer(
        self, encoder: Baseline, jobs: Sequence[Job], known: Mapping[str, Result]
    ) -> Iterator[Result]:
        """Let a baseline answer, and yield each result."""
        self._reporter.begin(f"learn with {shorten(encoder.name)}", len(jobs))
        made = made_by(encoder, run=self._run)
        for job in jobs:
            start = time.perf_counter()
            scores = answered_scores(job, encoder, made=made)
            seconds = {job.condition.value: time.perf_counter() - start}
            self._reporter.advance()
            yield add_seconds(add(known[job.task.name], {job.condition: scores}), seconds)

    def _train(
        self, encoder: Encoder, jobs: Sequence[Job], known: Mapping[str, Result]
    ) -> Iterator[Result]:
        """Encode what is needed and yield each result as soon as all its probes are trained."""
        start = time.perf_counter()
        vectors = self._encode(encoder, jobs)
        seconds = {ENCODING: time.perf_counter() - start}
        tasks = list(dict.fromkeys(job.task for job in jobs))
        known, jobs = self._take_kept(jobs, known, dim=vectors.sentences.dim)
        keyed = [(vectors.key(job, known[job.task.name]), job) for job in jobs]
        done = {key: self._shared[key] for key, _ in keyed if key in self._shared}
        new = {key: job for key, job in keyed if key not in done}
        others = self._pool is not None
        with laid_out(new, vectors, run=self._run, other_processes=others) as work:
            self._reporter.begin(f"train on {shorten(encoder.name)}", len(work))
            for key, fits in chain([_NOTHING], finished(work, pool=self._pool)):
                if key is not None:  # at first, there may be nothing to train
                    self._reporter.advance()
                    done[key] = fits
                for task in [task for task in tasks if _is_over(task, keyed, done)]:
                    tasks.remove(task)
                    fitted = [(job, done[key]) for key, job in keyed if job.task is task]
                    yield self._result(known[task.name], task, fitted, vectors, seconds)
        shared = (key for key, job in keyed if job.condition in SHARED)
        self._shared.update((key, done[key]) for key in shared)

    def _take_kept(
        self, jobs: Sequence[Job], known: Mapping[str, Result], *, dim: int
    ) -> tuple[dict[str, Result], list[Job]]:
        """Take from an earlier run what encoders of this width share; return what is left."""
        results, left = dict(known), []
        for job in jobs:
            name = job.task.name
            results[name], rest = take_kept(results[name], job, self._kept, dim=dim)
            left += rest
        return results, left

    def _result(
        self,
        known: Result,
        task: Task,
        fitted: Iterable[tuple[Job, Fits]],
        vectors: Encoded,
        seconds: Mapping[str, float],
    ) -> Result:
        """Return the result of a task whose probes are all trained."""
        made = made_by(vectors.encoder, run=self._run)
        scores, times = {}, dict(seconds)
        for job, fits in fitted:
            times[job.condition.value] = sum(fit.seconds for fit in fits)
            scores[job.condition] = trained_scores(job, fits, made=made)
        known = replace(known, dim=vectors.sentences.dim, norms=vectors.norms_of(task.data))
        return add_seconds(add(known, scores), times)

    def _encode(self, encoder: Encoder, jobs: Sequence[Job]) -> Encoded:
        """Return the vectors of all that the jobs are about."""
        texts = dict.fromkeys(text for job in jobs for text in job.task.data.sentences)
        with limit_threads(self._run.encoding_threads):
            vectors = embed(encoder, [*texts], cache=self._run.cache, reporter=self._reporter)
        sentences = Embedding(dict(zip(texts, range(len(texts)), strict=True)), vectors)
        return Encoded(
            encoder=encoder,
            sentences=sentences,
            norms=sentences.norms(),
            words=self._encode_words(encoder, jobs),
            bow=self._bow(sentences.dim),
        )

    def _encode_words(self, encoder: Encoder, jobs: Sequence[Job]) -> Embedding | None:
        """Return the vectors of the probe words of all tasks, if a job is trained on any."""
        if not any(has_word_vectors(job.task, encoder) for job in jobs):
            return None
        asking = [task for task in self._tasks if has_word_vectors(task, encoder)]
        whose = asking[0].words.encoder(encoder) or encoder
        words = dict.fromkeys(word for task in asking for word in task.data.probe_words)
        if whose.fingerprint not in self._words:
            with limit_threads(self._run.encoding_threads):
                vectors = encode_words(whose, [*words], cache=self._run.cache)
            places = dict(zip(words, range(len(words)), strict=True))
            self._words = {whose.fingerprint: Embedding(places, vectors)}
        return self._words[whose.fingerprint]

    def _bow(self, dim: int) -> Bow:
        if dim not in self._bows:
            self._bows[dim] = control_bow(seed=self._run.seed, dim=dim)
        return self._bows[dim]


_NOTHING: tuple[Hashable, Fits] = (None, ())


def _is_over(
    task: Task, keyed: Iterable[tuple[Hashable, Job]], done: Mapping[Hashable, Fits]
) -> bool:
    return all(key in done for key, job in keyed if job.task is task)
