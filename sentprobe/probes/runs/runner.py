"""The work of a run: each encoder in turn does what is missing of all tasks."""

import time
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import chain

from sentprobe import engines
from sentprobe.engines import ALONE, Engine
from sentprobe.probes.encoders import Baseline, Encoder
from sentprobe.probes.encoders.embed import embed
from sentprobe.probes.encoders.erasure import ErasedEncoder
from sentprobe.probes.encoders.protocol import Vectors, truncated_by
from sentprobe.probes.encoders.storage import StoredEncoder
from sentprobe.probes.encoders.word_vectors import Bow
from sentprobe.probes.runs import keeping, todo
from sentprobe.probes.runs.controls import control_bow
from sentprobe.probes.runs.ledger import Ledger, Ran, Recipes
from sentprobe.probes.runs.results import Result
from sentprobe.probes.runs.settings import Run
from sentprobe.probes.runs.task import Task
from sentprobe.probes.runs.vectors import Embedding, Encoded, Fits, Work, has_word_vectors, laid_out
from sentprobe.probes.runs.word_source import encode_words
from sentprobe.processes import limit_threads
from sentprobe.progress import Reporter, shorten

ENCODING = "encoding"
"""The key of the time that encoding took, among the seconds of a result."""


def run_tasks(
    tasks: Sequence[Task],
    encoders: Sequence[Encoder | Baseline],
    *,
    run: Run,
    reporter: Reporter,
    known: Recipes,
    engine: Engine = ALONE,
) -> Ran:
    """Encode here, train on the engine what is missing, and return all results.

    - known: the recipes that are known, by the names of encoder and task

    Raises:
        SentprobeError: see :func:`run`.
    """
    ledger = Ledger(tasks, run, known)
    runner = Runner(tasks, run=run, engine=engine, reporter=reporter, ledger=ledger)
    found = [result for encoder in encoders for result in runner.results(encoder)]
    return ledger.close(found)


class Runner:
    """Takes the tasks to one encoder after another, and keeps what these have in common."""

    def __init__(
        self, tasks: Sequence[Task], *, run: Run, engine: Engine, reporter: Reporter, ledger: Ledger
    ) -> None:
        self._tasks = tasks
        self._run = run
        self._engine = engine
        self._reporter = reporter
        self._ledger = ledger
        self._shared: dict[Hashable, Fits] = {}
        """Fits of the jobs that encoders of one width share."""
        self._bows: dict[int, Bow] = {}
        """The encoder of the bag-of-words control for each width."""
        self._whole: dict[Hashable, Vectors] = {}
        """The vectors that were encoded last, by encoder and sentences."""
        self._words: dict[str, Embedding] = {}
        """The probe words' vectors, by the fingerprint of the encoder that made them last."""

    def results(self, encoder: Encoder | Baseline) -> list[Result]:
        """Return a result for each task, in order; what is done is not done again."""
        known, jobs = self._ledger.open(encoder)
        for result in self.work(encoder, jobs, known) if jobs else ():
            self._ledger.keep(result)
            known[result.task] = result
        return list(known.values())

    def work(
        self, encoder: Encoder | Baseline, jobs: Sequence[todo.Job], known: Mapping[str, Result]
    ) -> Iterator[Result]:
        """Do the jobs of an encoder, and yield what is then known of each task."""
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
        known, jobs = self._take_shared(jobs, known, dim=vectors.sentences.dim)
        keyed = [(vectors.key(job, known[job.task.name]), job) for job in jobs]
        done = {key: self._shared[key] for key, _ in keyed if key in self._shared}
        new = {key: job for key, job in keyed if key not in done}
        others = not self._engine.is_here
        with laid_out(new, vectors, run=self._run, other_processes=others) as work:
            self._reporter.begin(f"train on {shorten(encoder.name)}", len(work))
            for key, fits in chain([_NOTHING], self._trained(work)):
                if key is not None:  # at first, there may be nothing to train
                    self._reporter.advance()
                    done[key] = fits
                for task in [task for task in tasks if _is_over(task, keyed, done)]:
                    tasks.remove(task)
                    fitted = [(job, done[key]) for key, job in keyed if job.task is task]
                    yield self._result(known[task.name], task, fitted, vectors, seconds)
        shared = (key for key, job in keyed if job.condition in todo.SHARED)
        self._shared.update((key, done[key]) for key in shared)

    def _trained(self, work: Work) -> Iterator[tuple[Hashable, Fits]]:
        """Do each piece of work on the engine, and yield it by its key as it is done."""
        found = engines.run(_do, iter(work.items()), self._engine, kept=self._run.kept)
        with closing(found) as done:
            yield from ((key, fits) for (key, _), fits in done)

    def _take_shared(
        self, jobs: Sequence[todo.Job], known: Mapping[str, Result], *, dim: int
    ) -> tuple[dict[str, Result], list[todo.Job]]:
        """Take from an earlier run what encoders of this width share; return what is left."""
        results, left = dict(known), []
        for job in jobs:
            name = job.task.name
            results[name], rest = self._ledger.take_shared(results[name], [job], dim=dim)
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
        known = replace(
            known,
            dim=vectors.sentences.dim,
            norms=vectors.norms_of(task.data),
            truncated=truncated_by(vectors.encoder, task.data.sentences),
        )
        return todo.add_seconds(keeping.add(known, scores), times)

    def _encode(self, encoder: Encoder, jobs: Sequence[todo.Job]) -> Encoded:
        """Return the vectors of all that the jobs are about."""
        texts = dict.fromkeys(text for job in jobs for text in job.task.data.sentences)
        vectors = self._embed(encoder, tuple(texts))
        sentences = Embedding(dict(zip(texts, range(len(texts)), strict=True)), vectors)
        return Encoded(
            encoder=encoder,
            sentences=sentences,
            norms=sentences.norms(),
            words=self._encode_words(encoder, jobs),
            bow=self._bow(sentences.dim),
        )

    def _embed(self, encoder: Encoder, texts: tuple[str, ...]) -> Vectors:
        """Return vectors of texts; those that an encoder and its ways of storage share, once."""
        if isinstance(encoder, StoredEncoder):
            return encoder.cut(self._embed(encoder.whole, texts))
        if isinstance(encoder, ErasedEncoder):
            known = encoder.learned_from
            every = tuple(dict.fromkeys((*texts, *known)))
            vectors = self._embed(encoder.whole, every)
            whole = Embedding(dict(zip(every, range(len(every)), strict=True)), vectors)
            return encoder.erase(whole.of(texts), whole.of(known))
        key = (encoder.fingerprint or id(encoder), texts)
        if key not in self._whole:
            self._whole.clear()  # before the next are made: there is no room for both
            with limit_threads(self._run.encoding_threads):
                self._whole[key] = embed(
                    encoder, texts, cache=self._run.cache, reporter=self._reporter
                )
        return self._whole[key]

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


def _do(work: tuple[Hashable, Callable[[], Fits]]) -> Fits:
    return work[1]()


_NOTHING: tuple[Hashable, Fits] = (None, ())


def _is_over(
    task: Task, keyed: Iterable[tuple[Hashable, todo.Job]], done: Mapping[Hashable, Fits]
) -> bool:
    return all(key in done for key, job in keyed if job.task is task)
