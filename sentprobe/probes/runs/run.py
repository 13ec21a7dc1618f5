"""A run: every encoder on every task, with the sanity runs beside, and only what is missing."""

import time
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from sentprobe.probes.dataset import ProbeDataset, TooFewError
from sentprobe.probes.encoders import USUAL_ENCODERS, Baseline, Encoder
from sentprobe.probes.encoders.cache import Cache
from sentprobe.probes.encoders.embed import embed
from sentprobe.probes.encoders.given import EncodersGiven, Known, find_encoders, make_known
from sentprobe.probes.encoders.word_vectors import Bow
from sentprobe.probes.runs import todo
from sentprobe.probes.runs.built_suites import ItemCounts, warn_of
from sentprobe.probes.runs.conditions import control_bow
from sentprobe.probes.runs.results import Result, Results
from sentprobe.probes.runs.settings import Run, make_run
from sentprobe.probes.runs.store import prepare_directory, write_result
from sentprobe.probes.runs.targets import DataGiven, Targets, find_datasets, find_targets
from sentprobe.probes.runs.task import Task, make_tasks
from sentprobe.probes.runs.vectors import Embedding, Encoded, Fits, has_word_vectors, laid_out
from sentprobe.probes.runs.word_source import encode_words, make_source
from sentprobe.probes.suites import ClassifierChoice
from sentprobe.probes.trainer.presets import find_preset
from sentprobe.processes import finished, limit_threads, workers
from sentprobe.progress import Reporter, Silent, bars, shorten
from sentprobe.specs import Spec, check_distinct

ENCODING = "encoding"
"""The key of the time that encoding took, among the seconds of a result."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a run: results, notes on the datasets and encoders, tasks left out."""

    results: Results
    notes: tuple[str, ...]
    failures: tuple[TooFewError, ...]


def run(
    datasets: DataGiven,
    encoders: EncodersGiven = USUAL_ENCODERS,
    *,
    tasks: Sequence[str] | str = (),
    train: int | None = None,
    test: int | None = None,
    validation: int | None = None,
    preset: ClassifierChoice | str | None = None,
    seed: int = 0,
    seeds: int = 1,
    controls: bool = True,
    out: Path | str | None = None,
    force: bool = False,
    cache: Cache | None = None,
    command: str = "",
    progress: bool = False,
    reporter: Reporter | None = None,
    device: str = "cpu",
    threads: int | None = 1,
    encoding_threads: int | None = None,
    jobs: int = 1,
    probe_vectors: Encoder | str | None = None,
) -> Results:
    """Train and score probes for each encoder and dataset, with the sanity runs.

    - datasets: ``"compeval"``, the table of a corpus, a file or folder of datasets, a dataset at
      hand (:class:`ProbeDataset`), or a list of such. A task of a table for which the corpus has
      too little is left out, and a warning says why
    - encoders: a spec such as ``"bow"`` or ``"st:MODEL"``, which is made with *seed*; a function of
      a list of sentences; a model with ``encode``, as in sentence-transformers; or a list of such.
      :func:`sentprobe.wrap_encoder` gives a function or model a name and a fingerprint
    - tasks: only these; by default all
    - train, test, validation: how many items each task has that is built; by default as many as is
      usual in its suite
    - preset: the classifier, its name, or a function that gives a dataset its own; by default that
      of the paper of the task (:func:`sentprobe.probes.suites.usual_preset`)
    - seeds: so many probes are trained under each condition, with the seeds *seed*, *seed* + 1, ...
    - controls: whether the sanity runs are made; a baseline has none
    - out: each result is written there, atomically, as soon as it is there. What is there already
      is not done again, unless *force* says so
    - cache: where sentence vectors are kept between runs
    - progress: whether what is done is shown on stderr; *reporter* is told instead, if there is one
    - device: where probes are trained: cpu, cuda, cuda:1, mps, or auto, the best that there is
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
        GivenError: something is no dataset, or no encoder; it is a UsageError and a TypeError.
        UsageError: nothing to do, something twice, a number or a device that cannot be.
        SentprobeError: *out* is not ours or not writable; an encoder failed; training diverged.
    """
    counts = ItemCounts(train, test, validation)
    targets = find_targets(datasets, tasks=tasks, counts=counts, seed=seed)
    known = find_encoders(encoders)
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
    with bars(show=progress and reporter is None) as shown:
        outcome = run_targets(
            targets,
            known,
            run=settings,
            preset=find_preset(preset) if isinstance(preset, str) else preset,
            words=probe_vectors,
            reporter=reporter or shown,
        )
    warn_of(outcome.failures)
    return outcome.results


def run_targets(
    targets: Targets,
    encoders: Sequence[Known],
    *,
    run: Run,
    preset: ClassifierChoice | None = None,
    words: Encoder | Spec | str | None = None,
    reporter: Reporter | None = None,
) -> Outcome:
    """Run the encoders on all datasets of the targets that can be built or read.

    Raises:
        UsageError: see :func:`.targets.find_datasets`; the results' folder is not ours.
        SentprobeError: an encoder or a dataset could not be made.
    """
    reporter = reporter or Silent()
    made = make_known(encoders, seed=run.seed)
    check_distinct("encoder", [encoder.name for encoder in made])
    if run.out is not None:
        prepare_directory(run.out)
    found = find_datasets(targets, command=run.command, reporter=reporter)
    made = placed_encoders(made, found.datasets)
    source = None if words is None else make_source(words, seed=run.seed)
    tasks = make_tasks(found.datasets, run=run, preset=preset, words=source)
    results = run_tasks(tasks, made, run=run, reporter=reporter)
    of_data = (f"{data.name}: {note}" for data in found.datasets for note in data.card.notes)
    of_encoders = (note for each in made for note in getattr(each, "notes", ()))
    return Outcome(results, (*of_data, *of_encoders), found.failures)


def run_tasks(
    tasks: Sequence[Task],
    encoders: Sequence[Encoder | Baseline],
    *,
    run: Run,
    reporter: Reporter,
) -> Results:
    """Train and score what is missing, and return the result of each encoder on each task.

    Raises:
        SentprobeError: see :func:`run`.
    """
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
        self._kept = todo.kept_scores(run)
        self._shared: dict[Hashable, Fits] = {}
        """Fits of the jobs that encoders of one width share."""
        self._bows: dict[int, Bow] = {}
        """The encoder of the bag-of-words control for each width."""
        self._words: dict[str, Embedding] = {}
        """The probe words' vectors, by the fingerprint of the encoder that made them last."""

    def results(self, encoder: Encoder | Baseline) -> list[Result]:
        """Return a result for each task, in order; what is done is not done again."""
        known = {t.name: todo.known_result(t, encoder, run=self._run) for t in self._tasks}
        jobs = [
            job
            for task in self._tasks
            for job in todo.missing_jobs(task, encoder, known[task.name], run=self._run)
        ]
        for result in self._work(encoder, jobs, known) if jobs else ():
            if self._run.out is not None:
                write_result(result, self._run.out)
            known[result.task] = result
        return list(known.values())

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
            yield todo.add_seconds(todo.add(known[job.task.name], {job.condition: scores}), seconds)

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
        return todo.add_seconds(todo.add(known, scores), times)

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
