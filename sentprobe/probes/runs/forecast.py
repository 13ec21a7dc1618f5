"""Forecast of a run: count the missing probes, and estimate the duration from short timings.

Measurements of speed: time the training of probes on random vectors, and the encoding of a few sentences.
"""

import time
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import cycle, islice

import numpy as np

from sentprobe.common.processes import limit_threads
from sentprobe.common.screen import Reporter
from sentprobe.common.specs import count_tokens
from sentprobe.common.values import group_by
from sentprobe.probes.classifier.presets import BankShape
from sentprobe.probes.classifier.probe import Optimizer, Scaling
from sentprobe.probes.datasets.dataset import ENCODER_WORDS, Items, ProbeDataset, Split
from sentprobe.probes.encoders.encoder import Baseline, Encoder, get_capabilities
from sentprobe.probes.encoders.kinds import bind_to_sentence_order, build_encoders, depends_on_order
from sentprobe.probes.encoders.precomputed import Precomputed
from sentprobe.probes.encoders.variants import ReducedEncoder
from sentprobe.probes.encoders.word_vectors import Bow
from sentprobe.probes.results.control import SHARED_CONTROLS, WIDTH_FREE_CONDITIONS
from sentprobe.probes.results.result import Condition
from sentprobe.probes.results.store import check_directory
from sentprobe.probes.runs import missing_jobs, planned_work
from sentprobe.probes.runs.controls import encode_words, find_base_encoder, make_control_bow, make_word_source
from sentprobe.probes.runs.job_vectors import has_word_vectors
from sentprobe.probes.runs.planned_work import LOADING_SECONDS, PlannedFit, UnloadedModel, read_unloaded_model
from sentprobe.probes.runs.run import prepare_draws
from sentprobe.probes.runs.settings import CPU, Run, RunRequest
from sentprobe.probes.runs.suites import CompevalSuite
from sentprobe.probes.runs.targets import Targets, find_datasets
from sentprobe.probes.runs.task import Task, make_tasks

MAX_BATCHES = 3
LBFGS_ITEMS = 500
TIMED_PASSES = 3
SENTENCE_COUNTS = (32, 256)
ENCODING_SECONDS = 0.04
"""Minimum seconds of a timing; an encoder that needs less is timed again on more sentences."""
MIN_COMPUTING_SHARE = 0.05
"""Minimum ratio of CPU time to wall time in a call; below it, the encoder is assumed to wait for a server."""


def measure_training(fits: Sequence[PlannedFit], run: Run) -> float:
    """Return the estimated seconds of all fits, scaled from one timed fit for each classifier and vector width."""
    groups = group_by(fits, lambda fit: (fit.preset, fit.shape.dim, fit.shape.is_linear(fit.preset)))
    seconds = 0.0
    for group in groups.values():
        largest = max(group, key=lambda fit: fit.operations / fit.probes)
        scaling, seconds_per_pass = _time_short_fit(largest, run)
        operations = largest.operations / largest.probes
        for fit in group:
            seconds += fit.passes * fit.operations / operations * seconds_per_pass
            seconds += scaling * fit.items / largest.items
    return seconds


def _time_short_fit(fit: PlannedFit, run: Run) -> tuple[float, float]:
    """Estimate the seconds that *fit* needs to scale its vectors, and to train one probe for a pass over all items."""
    import torch

    from sentprobe.probes.classifier.fit import prepare_problem

    is_lbfgs = fit.preset.optimizer is Optimizer.LBFGS
    count = min(fit.items, LBFGS_ITEMS if is_lbfgs else MAX_BATCHES * fit.preset.batch)
    generator = np.random.default_rng(0)
    held_out = max(1, round(fit.validation * count / fit.items))
    vectors = generator.standard_normal((count + held_out, fit.shape.dim), dtype=np.float32)
    train = _sample_items(range(count), fit.shape, generator)
    validation = _sample_items(range(count, count + held_out), fit.shape, generator)
    word_vectors = generator.standard_normal((fit.shape.words, fit.shape.word_dim), dtype=np.float32)
    clock = time.thread_time if run.device == CPU and run.threads == 1 else time.perf_counter
    with limit_threads(run.threads), torch.inference_mode():
        times = []
        for passes in (1, 1, 1 + TIMED_PASSES):  # the first fit also loads libraries
            preset = replace(fit.preset, max_epochs=passes, check_every=1, patience=passes, tolerance=0.0, enough=0.0)
            start = clock()
            problem = prepare_problem(
                vectors,
                train=train,
                validation=validation,
                test=validation,
                words=fit.shape.words,
                labels=fit.shape.labels,
                preset=preset,
                device=run.device,
                word_vectors=word_vectors if fit.shape.word_dim else None,
            )
            scaled = clock()
            problem.train_probes((0,), {})
            times.append((scaled - start, clock() - scaled))
    # The difference of a short and a longer fit excludes the work that does not grow with the passes.
    _, (_, first), (scaling, second) = times
    # Finding the axes of whitening is the same work for any number of items.
    constant = fit.shape.dim if fit.preset.scaling in (Scaling.WHITEN, Scaling.CHOSEN) else 0
    scaling *= (fit.items + constant) / (count + constant)
    return scaling, max(second - first, 0.0) / TIMED_PASSES * fit.items / count


def _sample_items(numbers: Iterable[int], shape: BankShape, generator: np.random.Generator) -> Items:
    rows = np.array(numbers, dtype=np.int64)
    probes = generator.integers(max(shape.words, 1), size=(len(rows), shape.slots))
    return Items(rows, probes, rows % shape.labels)


def measure_encoding(encoder: Encoder, sentences: Sequence[str], *, threads: int | None) -> tuple[int, float]:
    """Return the width of the encoder's vectors, and its seconds per sentence."""
    with limit_threads(threads):
        dim = int(np.shape(encoder.encode(sentences[:1]))[1])  # also loads what is loaded on first use
        for count in SENTENCE_COUNTS:
            timed = list(islice(cycle(sentences), count))
            seconds = time_call(partial(encoder.encode, timed))
            if seconds > ENCODING_SECONDS:
                break
    return dim, seconds / count


def time_call(function: Callable[[], object]) -> float:
    """Return the seconds of a call: wall or CPU time, whichever is lower; wall time if the call waits for a server."""
    wall_start, start = time.perf_counter(), time.process_time()
    function()
    seconds, computing = time.perf_counter() - wall_start, time.process_time() - start
    return min(seconds, computing) if computing > seconds * MIN_COMPUTING_SHARE else seconds


def measure_product_rate(threads: int | None) -> float:
    """Return the number of multiplications per second in the quickest of four matrix products."""
    import torch

    rows, width = 256, 1024
    matrix = torch.ones(width, width)
    with limit_threads(threads), torch.inference_mode():
        seconds = min(time_call(partial(torch.mm, matrix[:rows], matrix)) for _ in range(4))
    return rows * width * width / seconds


BUILT_SIZES: Mapping[Split, int] = dict.fromkeys(Split, 56)
"""Maximum number of items of each split that a forecast builds; a multiple of the unit size of every compeval task."""
GROWTH = 0.5
"""The time for building a dataset grows as this power of its number of items (measured on compeval)."""
TIMED_SENTENCES = 64
"""Maximum number of sentences for timing an encoder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """The planned results, and the estimated seconds of each stage."""

    planned: tuple[planned_work.PlannedResult, ...]
    start: float = 0.0
    """The seconds for loading all encoders once."""
    build: float = 0.0
    encode: float = 0.0
    train: float = 0.0
    unloaded: tuple[str, ...] = ()
    """The names of models that were not loaded; their speed is estimated from their size."""

    @property
    def seconds(self) -> float:
        """The total number of seconds."""
        return self.start + self.build + self.encode + self.train


def make_forecast(request: RunRequest, *, reporter: Reporter) -> Forecast:
    """Return the planned results and the estimated duration of all draws.

    Generated tasks are built in a small size, unless an encoder has stored vectors.
    """
    run, targets, preset, words = request.run, request.targets, request.preset, request.probe_vectors
    if run.out is not None:
        check_directory(run.out)
    has_results = run.out is not None and not run.force and any(run.out.glob("*.json"))
    begin = time.process_time()
    # Models are loaded only if existing results must be compared with their fingerprints.
    sources = request.encoders
    if not has_results:
        sources = [read_unloaded_model(source) or source for source in sources]
    draws = list(prepare_draws(sources, targets=targets, run=run))
    unbound = build_encoders(draws[0].encoders, seed=run.seed)
    source = None if words is None else make_word_source(words, seed=run.seed)
    unloaded = tuple(encoder.name for encoder in unbound if isinstance(encoder, UnloadedModel))
    start = time.process_time() - begin + LOADING_SECONDS * bool(unloaded)
    begin = time.process_time()
    built_targets = targets if any(map(_has_stored_vectors, unbound)) else _reduce_sizes(targets)
    data, _ = find_datasets(built_targets, command="", reporter=reporter)
    build = time.process_time() - begin
    encoders = bind_to_sentence_order(unbound, (dataset.sentences for dataset in data))
    tasks = make_tasks(data, run=run, preset=preset, words=source)
    if has_results:
        stored = missing_jobs.find_results_by_recipe(run)
        plan = partial(planned_work.plan_missing, request, stored_results=stored, reporter=reporter)
        plans = [plan(draw_encoders, run=draw) for draw, draw_encoders, _ in draws]
    else:
        plans = [planned_work.plan_all(encoders, tasks, run=draw) for draw, _, _ in draws]
    sizes = {dataset.name: _find_sizes(targets, dataset) for dataset in data}
    planned = tuple(
        planned_work.PlannedResult(
            encoder=encoder.name,
            task=dataset.name,
            items=sizes[dataset.name],
            draws=tuple(plan.get((encoder.name, dataset.name), {}) for plan in plans),
        )
        for encoder in encoders
        for dataset in data
    )
    if not any(plan.unfinished for plan in planned):
        return Forecast(planned=planned)
    reporter.begin("measure the speed of encoders", len(encoders))
    facts: dict[str, planned_work.EncoderFacts] = {}
    for encoder in encoders:
        facts[encoder.name] = _measure_encoder(encoder, tasks, run)
        reporter.advance()
    unfinished = sum(any(plan.values()) for plan in plans)
    # The number of items in the run itself, relative to the few that were built.
    growths = (sum(sizes[dataset.name].values()) / sum(map(len, dataset.splits.values())) for dataset in data)
    fits = list_missing_fits(planned, {task.name: task for task in tasks}, facts)
    return Forecast(
        planned=planned,
        start=start,
        build=build * max(growths, default=1.0) ** GROWTH * unfinished,
        encode=_estimate_encoding(planned, facts, data),
        train=measure_training(fits, run) / run.machines.jobs,
        unloaded=unloaded,
    )


def _has_stored_vectors(encoder: Encoder | Baseline) -> bool:
    """Return whether *encoder* has vectors of the run's own sentences only, which smaller tasks may lack."""
    if not isinstance(encoder, Encoder):
        return False
    return depends_on_order(encoder) or isinstance(find_base_encoder(encoder), Precomputed)


def _reduce_sizes(targets: Targets) -> Targets:
    items = [*targets.items]
    for place, target in enumerate(items):
        if isinstance(target, CompevalSuite):
            counts = {split.value: min(count, target.size.count_items(split)) for split, count in BUILT_SIZES.items()}
            items[place] = replace(target, size=replace(target.size, **counts))
    return replace(targets, items=tuple(items))


def _find_sizes(targets: Targets, data: ProbeDataset) -> dict[Split, int]:
    """Return, for each split, the number of items that the planned run will use. *data* may have fewer items."""
    for target in targets.items:
        if isinstance(target, CompevalSuite) and data.name in {task.name for task in target.tasks}:
            return {split: count for split in Split if (count := target.size.count_items(split))}
    return {split: len(items) for split, items in data.splits.items()}


def _measure_encoder(encoder: Encoder | Baseline, tasks: Sequence[Task], run: Run) -> planned_work.EncoderFacts:
    if not isinstance(encoder, Encoder):
        begin = time.process_time()
        encoder.predict(tasks[0].data, seed=run.seed)
        items = sum(map(len, tasks[0].data.splits.values()))
        return planned_work.EncoderFacts(name=encoder.name, seconds=(time.process_time() - begin) / items)
    base = find_base_encoder(encoder)
    sentences = sample_sentences(tasks)
    if isinstance(base, UnloadedModel):
        (words,) = count_tokens(sentences[:1])
        dim, seconds = base.dim, base.count_multiplications(words) / measure_product_rate(run.encoding_threads)
    else:
        dim, seconds = measure_encoding(base, sentences, threads=run.encoding_threads)
    word_task = next((task for task in tasks if has_word_vectors(task, encoder)), None)
    return planned_work.EncoderFacts(
        name=encoder.name,
        dim=encoder.storage.compute_width(dim) if isinstance(encoder, ReducedEncoder) else dim,
        word_dim=0 if word_task is None else _find_word_width(word_task, encoder, dim),
        is_pretrained=get_capabilities(base).seed is None and not isinstance(base, Bow),
        is_control_bow=encoder.fingerprint == make_control_bow(seed=run.seed, dim=dim).fingerprint,
        seconds=seconds if encoder is base else 0.0,
    )


def sample_sentences(tasks: Sequence[Task]) -> list[str]:
    """Return the sentences on which an encoder is timed: up to TIMED_SENTENCES, all of about the mean length."""
    sentences = list(dict.fromkeys(text for task in tasks for text in task.data.sentences))
    lengths = dict(zip(sentences, count_tokens(sentences), strict=True))
    mean_length = sum(lengths.values()) / len(lengths)
    return sorted(sentences, key=lambda text: abs(lengths[text] - mean_length))[:TIMED_SENTENCES]


def _find_word_width(task: Task, encoder: Encoder, dim: int) -> int:
    """Return the width of probe word vectors. If their model is not loaded, return the sentence width *dim*."""
    word_encoder = task.words.find_encoder(encoder) or encoder
    if isinstance(word_encoder, UnloadedModel):
        return dim
    return int(encode_words(word_encoder, task.data.probe_words).shape[1])


def list_missing_fits(
    planned: Sequence[planned_work.PlannedResult],
    tasks: Mapping[str, Task],
    encoders: Mapping[str, planned_work.EncoderFacts],
) -> list[planned_work.PlannedFit]:
    """Return the fits that train the missing probes; a fit that several encoders or tasks share is listed once."""
    fits: dict[Hashable, list[planned_work.PlannedFit]] = {}
    for plan in planned:
        task, encoder = tasks[plan.task], encoders[plan.encoder]
        if not encoder.dim:
            continue
        items = plan.items[Split.TRAIN]
        for number, missing in enumerate(plan.draws):
            for condition, seeds in missing.items():
                training = task.training if condition in missing_jobs.TRANSFERABLE else ""
                key = (number, training or plan.task, *_make_shared_key(condition, task, encoder))
                new_fits = list(planned_work.list_fits(condition, task, encoder, items=items, seeds=len(seeds)))
                # Results that share probes may lack different numbers of seeds: the largest counts.
                fits[key] = max(fits.get(key, []), new_fits, key=len)
    return [fit for group in fits.values() for fit in group]


def _make_shared_key(
    condition: Condition, task: Task, encoder: planned_work.EncoderFacts
) -> tuple[Condition, str, int]:
    """Return the key of an encoder on a task, in one condition. Encoders with equal keys share their trained probes."""
    if condition is Condition.PROBE and encoder.is_control_bow:
        condition = Condition.BAG_OF_WORDS
    has_own_words = bool(task.data.slots) and task.words.name == ENCODER_WORDS
    name = "" if condition in SHARED_CONTROLS and not has_own_words else encoder.name
    return condition, name, 0 if condition in WIDTH_FREE_CONDITIONS else encoder.dim


def _estimate_encoding(
    planned: Sequence[planned_work.PlannedResult],
    encoders: Mapping[str, planned_work.EncoderFacts],
    data: Sequence[ProbeDataset],
) -> float:
    """Return the seconds in which encoders encode all planned sentences and baselines predict all planned items."""
    sentences = {dataset.name: len(dataset.sentences) / sum(map(len, dataset.splits.values())) for dataset in data}
    seconds = 0.0
    for plan in planned:
        encoder = encoders[plan.encoder]
        per_item = encoder.seconds * (sentences[plan.task] if encoder.dim else 1)
        seconds += per_item * sum(plan.items.values()) * plan.unfinished
    return seconds
