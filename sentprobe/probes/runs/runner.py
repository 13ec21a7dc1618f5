"""The work of a run: each encoder in turn does what is missing of all tasks."""

import time
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from itertools import chain

from sentprobe.probes.encoders import Baseline, Encoder
from sentprobe.probes.encoders.embed import embed
from sentprobe.probes.encoders.word_vectors import Bow
from sentprobe.probes.runs import keeping, todo
from sentprobe.probes.runs.controls import control_bow
from sentprobe.probes.runs.results import Result, Results
from sentprobe.probes.runs.settings import Run
from sentprobe.probes.runs.store import keep_run_file
from sentprobe.probes.runs.task import Task
from sentprobe.probes.runs.vectors import Embedding, Encoded, Fits, has_word_vectors, laid_out
from sentprobe.probes.runs.word_source import encode_words
from sentprobe.processes import finished, limit_threads, workers
from sentprobe.progress import Reporter, shorten

ENCODING = "encoding"
"""The key of the time that encoding took, among the seconds of a result."""


def run_tasks(
    tasks: Sequence[Task],
    encoders: Sequence[Encoder | Baseline],
    *,
    run: Run,
    reporter: Reporter,
    known: Mapping[tuple[str, str], str],
) -> tuple[Results, int]:
    """Train and score what is missing; return all results, and how many were there already.

    - known: the recipes that are known, by the names of encoder and task

    Raises:
        SentprobeError: see :func:`run`.
    """
    with workers(run.jobs) as pool:
        runner = _Runner(tasks, run, pool, reporter, known)
        found = [result for encoder in encoders for result in runner.results(encoder)]
    return Results(tuple(result.of_seeds(run.seeds) for result in found)), runner.found


class _Runner:
    """Takes the tasks to one encoder after another, and keeps what these have in common."""

    def __init__(
        self,
        tasks: Sequence[Task],
        run: Run,
        pool: Executor | None,
        reporter: Reporter,
        known: Mapping[tuple[str, str], str],
    ) -> None:
        self._tasks = tasks
        self._run = run
        self._pool = pool
        self._reporter = reporter
        self._recipes = known
        self.found = 0
        """How many results were there already."""
        self._kept = todo.kept_scores(run)
        self._redone = keeping.stamps(run.out) if run.force and run.out else frozenset()
        self._shared: dict[Hashable, Fits] = {}
        """Fits of the jobs that encoders of one width share."""
        self._bows: dict[int, Bow] = {}
        """The encoder of the bag-of-words control for each width."""
        self._words: dict[str, Embedding] = {}
        """The probe words' vectors, by the fingerprint of the encoder that made them last."""

    def results(self, encoder: Encoder | Baseline) -> list[Result]:
        """Return a result for each task, in order; what is done is not done again."""
        known: dict[str, Result] = {}
        jobs: list[todo.Job] = []
        for task in self._tasks:
            found = todo.known_result(task, encoder, run=self._run)
            known[task.name] = self._labelled(found, task, encoder)
            missing = todo.missing_jobs(task, encoder, found, run=self._run)
            jobs += missing
            self.found += not missing
            if not missing and known[task.name] != found and self._run.out is not None:
                self._keep(known[task.name])
        if jobs and self._run.out is not None:
            keep_run_file(self._run.out, self._run.text)
        for result in self._work(encoder, jobs, known) if jobs else ():
            self._keep(result)
            known[result.task] = result
        return list(known.values())

    def _keep(self, result: Result) -> None:
        if self._run.out is not None:
            keeping.keep(result, self._run.out, redone=self._redone)

    def _labelled(self, found: Result, task: Task, encoder: Encoder | Baseline) -> Result:
        """Return the result with what it is made from, by which a finished run is known."""
        # What is found is of the same data, encoder and classifier: its recipe is still true.
        recipe = self._recipes.get((encoder.name, task.name)) or found.recipe
        return replace(found, recipe=recipe, notes=task.data.card.notes)

    def _work(
        self, encoder: Encoder | Baseline, jobs: Sequence[todo.Job], known: Mapping[str, Result]
    ) -> Iterator[Result]:
        if isinstance(encoder, Encoder):
            return self._train(encoder, jobs, known)
        return self._answer(encoder, jobs, known)

    def _answer(
        self, encoder: Baseline, jobs: Sequence[todo.Job], known: Mapping[str, Result]
    ) -> Iterator[Result]:
        """Let a baseline answer, and yield each result."""
        self._reporter.begin(f"learn with {shorten(encoder.name)}", len(jobs))
        made = todo.made_by(encoder, run=self._run)
        for job in jobs:
            start = time.perf_counter()
            scores = todo.answered_scores(job, encoder, made=made)
            seconds = {job.condition.value: time.perf_counter() - start}
            self._reporter.advance()
            yield todo.add_seconds(
                keeping.add(known[job.task.name], {job.condition: scores}), seconds
            )

    def _train(
        self, encoder: Encoder, jobs: Sequence[todo.Job], known: Mapping[str, Result]
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
        shared = (key for key, job in keyed if job.condition in todo.SHARED)
        self._shared.update((key, done[key]) for key in shared)

    def _take_kept(
        self, jobs: Sequence[todo.Job], known: Mapping[str, Result], *, dim: int
    ) -> tuple[dict[str, Result], list[todo.Job]]:
        """Take from an earlier run what encoders of this width share; return what is left."""
        results, left = dict(known), []
        for job in jobs:
            name = job.task.name
            results[name], rest = todo.take_kept(results[name], job, self._kept, dim=dim)
            left += rest
        return results, left

    def _result(
        self,
        known: Result,
        task: Task,
        fitted: Iterable[tuple[todo.Job, Fits]],
        vectors: Encoded,
        seconds: Mapping[str, float],
    ) -> Result:
        """Return the result of a task whose probes are all trained."""
        made = todo.made_by(vectors.encoder, run=self._run)
        scores, times = {}, dict(seconds)
        for job, fits in fitted:
            times[job.condition.value] = sum(fit.seconds for fit in fits)
            scores[job.condition] = todo.trained_scores(job, fits, made=made)
        known = replace(known, dim=vectors.sentences.dim, norms=vectors.norms_of(task.data))
        return todo.add_seconds(keeping.add(known, scores), times)

    def _encode(self, encoder: Encoder, jobs: Sequence[todo.Job]) -> Encoded:
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

    def _encode_words(self, encoder: Encoder, jobs: Sequence[todo.Job]) -> Embedding | None:
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
    task: Task, keyed: Iterable[tuple[Hashable, todo.Job]], done: Mapping[Hashable, Fits]
) -> bool:
    return all(key in done for key, job in keyed if job.task is task)
