"""A run: every encoder on every dataset, with the sanity runs beside, and only what is missing."""

import time
from collections.abc import Hashable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from sentprobe.errors import UsageError
from sentprobe.probes.dataset import ONE_HOT, ProbeDataset
from sentprobe.probes.encoders import Baseline, Encoder, make_encoders
from sentprobe.probes.encoders.cache import Cache
from sentprobe.probes.encoders.embed import embed
from sentprobe.probes.encoders.word_vectors import Bow
from sentprobe.probes.runs.conditions import Training, control_bow
from sentprobe.probes.runs.results import Condition, Result, Results
from sentprobe.probes.runs.store import prepare_directory, write_result
from sentprobe.probes.runs.todo import (
    SHARED,
    Embedding,
    EncodedTasks,
    Fits,
    Settings,
    SharedScores,
    Task,
    Todo,
    add,
    add_seconds,
    baseline_score,
    kept_scores,
    laid_out,
    make_plan,
    make_task,
    make_todo,
    with_kept,
)
from sentprobe.probes.runs.word_source import WordSource, encode_words, make_source
from sentprobe.probes.suites import ClassifierChoice, by_setting, usual_preset
from sentprobe.probes.trainer.fit import check_device
from sentprobe.processes import finished, limit_threads, workers
from sentprobe.progress import Reporter, Silent, shorten
from sentprobe.specs import check_distinct, check_names

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

    A sentence that is in several datasets is encoded once per encoder (without a cache, once for
    the datasets of one classifier). Sanity runs that do not
    depend on the encoder but for its width are made once for all encoders of that width.

    Raises:
        UsageError: nothing to do, something twice, a number or a device that cannot be.
        SentprobeError: *out* is not ours or not writable; an encoder failed; training diverged.
    """
    check_distinct("dataset", [data.name for data in datasets])
    check_names([encoder for encoder in encoders if isinstance(encoder, str)])
    made = list(chain.from_iterable(_made(encoder, seed=seed) for encoder in encoders))
    check_distinct("encoder", [encoder.name for encoder in made])
    if seeds < 1:
        raise UsageError(f"the number of seeds must be positive, not {seeds}")
    out = None if out is None else Path(out)
    if out is not None:
        prepare_directory(out)
    check_device(device)
    words = None if probe_vectors is None else _words(probe_vectors, datasets, seed=seed)
    wanted = tuple(range(seed, seed + seeds))
    records: list[Result] = []
    with workers(jobs) as pool:
        groups = by_setting(datasets, preset or usual_preset, None if words is None else words.name)
        for (chosen, name), group in groups.items():
            training = Training(preset=chosen, seed=seed, device=device, threads=threads)
            settings = Settings(
                training=training,
                seeds=wanted,
                controls=controls,
                out=out,
                force=force,
                command=command,
                words=words or WordSource(name),
                encoding_threads=encoding_threads,
            )
            tasks = [make_task(data, training=training) for data in group]
            state = _State(
                settings,
                words=tuple(word for data in group for word in data.probe_words),
                kept=kept_scores(settings),
                pool=pool,
                cache=cache,
                reporter=reporter or Silent(),
            )
            for encoder in made:
                records.extend(result.of_seeds(wanted) for result in _probe(encoder, tasks, state))
    return Results(tuple(records))


def _made(encoder: Encoder | Baseline | str, *, seed: int) -> list[Encoder | Baseline]:
    return make_encoders(encoder, seed=seed) if isinstance(encoder, str) else [encoder]


def _words(given: Encoder | str, datasets: Sequence[ProbeDataset], *, seed: int) -> WordSource:
    words = make_source(given, seed=seed)
    if words.name != ONE_HOT and not any(data.slots for data in datasets):
        raise UsageError(f"probe vectors {words.name}: none of the tasks has probe words")
    return words


@dataclass(slots=True)
class _State:
    """What stays from one encoder of a run to the next."""

    settings: Settings
    words: tuple[str, ...]
    """The probe words of all datasets."""
    kept: SharedScores
    """What encoders of one width share, from an earlier run."""
    pool: Executor | None
    cache: Cache | None
    reporter: Reporter
    shared: dict[Hashable, Fits] = field(default_factory=dict)
    """Fits that other encoders of the same width have in common."""
    bows: dict[int, Bow] = field(default_factory=dict)
    """The encoder of the bag-of-words control for each width."""
    lexicons: dict[str, Embedding] = field(default_factory=dict)
    """The probe words' vectors, by the fingerprint of the encoder that made them last."""

    def lexicon(self, encoder: Encoder) -> Embedding | None:
        """Return the vectors of the probe words for an encoder; None: they are one-hot."""
        whose = self.settings.words.encoder(encoder)
        if whose is None or not self.words:
            return None
        if whose.fingerprint not in self.lexicons:
            words = list(dict.fromkeys(self.words))
            with limit_threads(self.settings.encoding_threads):
                vectors = encode_words(whose, words, cache=self.cache)
            places = {word: place for place, word in enumerate(words)}
            self.lexicons = {whose.fingerprint: Embedding(places, vectors)}
        return self.lexicons[whose.fingerprint]

    def bow(self, dim: int) -> Bow:
        if dim not in self.bows:
            self.bows[dim] = control_bow(seed=self.settings.training.seed, dim=dim)
        return self.bows[dim]


def _probe(encoder: Encoder | Baseline, tasks: Sequence[Task], state: _State) -> list[Result]:
    """Return a result for each task, in order; what is done is not done again."""
    todos = [make_todo(task, encoder, settings=state.settings) for task in tasks]
    results = {todo.task.data.name: todo.known for todo in todos}
    missing = [todo for todo in todos if todo.missing]
    for result in _work(encoder, missing, state) if missing else ():
        if state.settings.out is not None:
            write_result(result, state.settings.out)
        results[result.task] = result
    return list(results.values())


def _work(encoder: Encoder | Baseline, todos: Sequence[Todo], state: _State) -> Iterator[Result]:
    if isinstance(encoder, Encoder):
        return _train(encoder, todos, state)
    return _answer(encoder, todos, state)


def _answer(encoder: Baseline, todos: Sequence[Todo], state: _State) -> Iterator[Result]:
    """Let a baseline answer, and yield each result."""
    state.reporter.begin(f"learn with {shorten(encoder.name)}", len(todos))
    for todo in todos:
        start = time.perf_counter()
        seeds = todo.missing[Condition.PROBE]
        scores = [
            baseline_score(encoder, seed=seed, task=todo.task, made=todo.made) for seed in seeds
        ]
        seconds = {Condition.PROBE.value: time.perf_counter() - start}
        state.reporter.advance()
        yield add_seconds(add(todo.known, {Condition.PROBE: scores}), seconds)


def _train(encoder: Encoder, todos: Sequence[Todo], state: _State) -> Iterator[Result]:
    """Encode what is needed and yield each result as soon as all its probes are trained."""
    start = time.perf_counter()
    embedding = _embed(encoder, todos, state)
    source = EncodedTasks(
        encoder=encoder,
        embedding=embedding,
        norms=embedding.norms(),
        lexicon=state.lexicon(encoder),
        bow=state.bow(embedding.dim),
    )
    seconds = {ENCODING: time.perf_counter() - start}
    left = [with_kept(todo, state.kept, dim=embedding.dim) for todo in todos]
    plans = [make_plan(todo, source) for todo in left]
    pieces = [piece for plan in plans for piece in plan.pieces]
    done = {p.key: state.shared[p.key] for p in pieces if p.key in state.shared}
    new = [piece for piece in pieces if piece.key not in done]
    training, others = state.settings.training, state.pool is not None
    with laid_out(new, training=training, other_processes=others) as work:
        state.reporter.begin(f"train on {shorten(encoder.name)}", len(work))
        for key, fits in chain([_NOTHING], finished(work, pool=state.pool)):
            if key is not None:  # at first, there may be nothing to train
                state.reporter.advance()
                done[key] = fits
            for plan in [plan for plan in plans if plan.is_over(done)]:
                plans.remove(plan)
                yield plan.result(done, dim=embedding.dim, seconds=seconds)
    state.shared.update((p.key, done[p.key]) for p in pieces if p.condition in SHARED)


_NOTHING: tuple[Hashable, Fits] = (None, ())


def _embed(encoder: Encoder, todos: Sequence[Todo], state: _State) -> Embedding:
    texts = (text for todo in todos for text in todo.task.data.sentences)
    sentences = list(dict.fromkeys(texts))
    with limit_threads(state.settings.encoding_threads):
        vectors = embed(encoder, sentences, cache=state.cache, reporter=state.reporter)
    return Embedding({text: place for place, text in enumerate(sentences)}, vectors)
