"""Forecast of a run: count the missing probes, and estimate the duration from short timings."""

import time
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from sentprobe.lengths import count_tokens
from sentprobe.probes.dataset import ENCODER_WORDS, ProbeDataset, Split
from sentprobe.probes.encoders.files.word_vectors import Bow
from sentprobe.probes.encoders.protocol import Baseline, Encoder, get_capabilities
from sentprobe.probes.encoders.resolve import bind_to_sentence_order, build_encoders
from sentprobe.probes.encoders.variants.cut_and_rounded import ReducedEncoder
from sentprobe.probes.results.result import WIDTH_FREE_CONDITIONS, Condition
from sentprobe.probes.results.store import check_directory
from sentprobe.probes.runs.execution import missing_jobs
from sentprobe.probes.runs.execution.controls import make_control_bow
from sentprobe.probes.runs.execution.job_vectors import has_word_vectors
from sentprobe.probes.runs.execution.task import Task, make_tasks
from sentprobe.probes.runs.execution.word_source import encode_words, find_base_encoder, make_word_source
from sentprobe.probes.runs.forecast import planned_work, unloaded_model
from sentprobe.probes.runs.forecast.measured_speed import measure_encoding, measure_product_rate, measure_training
from sentprobe.probes.runs.forecast.unloaded_model import UnloadedModel
from sentprobe.probes.runs.request.built_suites import CompevalSuite
from sentprobe.probes.runs.request.settings import Run, RunRequest
from sentprobe.probes.runs.request.targets import Targets, find_datasets
from sentprobe.probes.runs.run import prepare_draws
from sentprobe.progress import Reporter

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
    """Return the planned results and the estimated duration of all draws; generated tasks are built in a small size."""
    run, targets, preset, words = request.run, request.targets, request.preset, request.probe_vectors
    if run.out is not None:
        check_directory(run.out)
    has_results = run.out is not None and not run.force and any(run.out.glob("*.json"))
    begin = time.process_time()
    # Models are loaded only if existing results must be compared with their fingerprints.
    sources = request.encoders
    if not has_results:
        sources = [unloaded_model.read_unloaded_model(source) or source for source in sources]
    draws = list(prepare_draws(sources, targets=targets, run=run))
    unbound = build_encoders(draws[0].encoders, seed=run.seed)
    source = None if words is None else make_word_source(words, seed=run.seed)
    unloaded = tuple(encoder.name for encoder in unbound if isinstance(encoder, UnloadedModel))
    start = time.process_time() - begin + unloaded_model.LOADING_SECONDS * bool(unloaded)
    begin = time.process_time()
    data = find_datasets(_reduce_sizes(targets), command="", reporter=reporter).datasets
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
        dim=min(dim, encoder.storage.dims or dim) if isinstance(encoder, ReducedEncoder) else dim,
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
    name = "" if condition in missing_jobs.SHARED and not has_own_words else encoder.name
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
