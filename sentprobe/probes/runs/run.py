"""The function ``sentprobe.run``: it probes encoders on tasks, with controls, and reuses stored results."""

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from sentprobe.common.engines import Engine, EngineChoice, EngineName, make_engine
from sentprobe.common.errors import UsageError
from sentprobe.common.screen import Reporter, SilentReporter, show_bars
from sentprobe.common.specs import Spec, check_distinct, choose_member
from sentprobe.probes.classifier.presets import find_preset
from sentprobe.probes.datasets.dataset import TooFewError
from sentprobe.probes.encoders import kinds
from sentprobe.probes.encoders.cache import Cache
from sentprobe.probes.encoders.encoder import Encoder, collect_notes, get_capabilities
from sentprobe.probes.encoders.kinds import USUAL_ENCODERS
from sentprobe.probes.encoders.variants import make_storage_options
from sentprobe.probes.results.item_table import ItemTable, has_held_out, has_items, read_item_tables
from sentprobe.probes.results.result import Result, Results
from sentprobe.probes.results.store import prepare_directory, write_run_file
from sentprobe.probes.runs import completed_tasks, missing_jobs
from sentprobe.probes.runs.cluster import check_sendable, run_on_cluster
from sentprobe.probes.runs.completed_tasks import make_item_table
from sentprobe.probes.runs.controls import make_word_source
from sentprobe.probes.runs.runner import run_tasks
from sentprobe.probes.runs.settings import Run, RunRequest, find_methods
from sentprobe.probes.runs.suite_options import CompevalOptions, ItemOptions, NaturalOptions
from sentprobe.probes.runs.suites import ClassifierChoice, warn_left_out
from sentprobe.probes.runs.targets import DatasetsArgument, Targets, find_datasets, find_targets
from sentprobe.probes.runs.task import make_tasks


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a run: results, notes on datasets and encoders, and the tasks that could not be built, by name."""

    results: Results
    notes: tuple[str, ...]
    failures: Mapping[str, TooFewError]
    reused: int
    items: tuple[ItemTable, ...] = ()


def run(
    datasets: DatasetsArgument,
    encoders: kinds.EncodersArgument = USUAL_ENCODERS,
    *,
    tasks: Sequence[str] | str = (),
    train: int | None = None,
    test: int | None = None,
    validation: int | None = None,
    hold_out_structure: str | None = None,
    train_on: str | None = None,
    test_on: str | None = None,
    preset: ClassifierChoice | str | None = None,
    seed: int = 0,
    seeds: int = 1,
    draws: int = 1,
    controls: bool = True,
    out: Path | str | None = None,
    force: bool = False,
    cache: Cache | None = None,
    command: str = "",
    progress: bool | None = None,
    reporter: Reporter | None = None,
    device: str = "cpu",
    threads: int | None = 1,
    encoding_threads: int | None = None,
    jobs: int = 1,
    engine: str = "local",
    scheduler: str | None = None,
    probe_vectors: Encoder | str | None = None,
    dims: Sequence[int] = (),
    quantize: Sequence[str] = (),
    erase: Sequence[Path | str] = (),
    control_task: bool = False,
    methods: Sequence[str] = (),
) -> Results:
    """Train and score probes for each encoder and dataset, with controls, and return the results.

    - datasets: ``"compeval"``, ``"structure"``, the table of a corpus, a file or folder of datasets, a dataset in
      memory (:class:`ProbeDataset`), or a list of these. A task is left out, with a warning, if
      the corpus of a table has too few sentences for it
    - encoders: a spec such as ``"bow"`` or ``"st:MODEL"``, which is built with *seed*; a function of
      a list of sentences; a model with ``encode``, as in sentence-transformers; or a list of these.
      :func:`sentprobe.wrap_encoder` gives a function or model a name and a fingerprint
    - tasks: the names of the tasks to run; by default all
    - train, test, validation: the numbers of items of each task that is built; by default those of the task's suite
    - hold_out_structure: a structure, such as ``"passive"``, that the training items of compeval
      lack, and half of the test items have; ``accuracy_by(result, "structure")`` compares both halves
    - train_on, test_on: languages for training and for testing, such as ``"de,fr"``; by default those of all tables
    - preset: the classifier, its name, or a function from dataset to classifier; by default the
      classifier of the task's paper (:data:`sentprobe.probes.runs.suites.USUAL_PRESET`)
    - seeds: number of probes under each condition, with the seeds *seed*, *seed* + 1, ...
    - draws: number of repetitions, with the seeds *seed*, *seed* + 10, ... Each repetition has new probes,
      new untrained encoders and newly sampled datasets; existing datasets stay as they are
    - controls: whether controls are run; a baseline has none
    - out: the folder of the results; a result is written atomically as soon as it is finished. Existing
      results are reused, unless *force* is true
    - cache: a store of sentence vectors, which further runs reuse
    - progress: whether progress is shown on stderr; by default, in a terminal or notebook. A *reporter* receives it
      instead
    - device: where probes are trained: cpu, cuda, cuda:1, mps, or auto, the best one available
    - threads: number of PyTorch threads in each process that trains; None: unchanged
    - encoding_threads: number of PyTorch threads for encoding, before training; None: unchanged
    - jobs: number of processes that train probes (started by spawning: a script needs its
      ``__main__`` guard); the results do not depend on it
    - engine, scheduler: ``"dask"`` and the address of a Dask cluster, whose workers then encode and
      train. This needs encoders as specs, which the workers build. The results are the same
    - probe_vectors: the vectors of probe words: ``"one-hot"``; ``"encoder"``, each encoder's input
      word vector or else its vector of the word alone; or an encoder (or its spec) for all tasks; by
      default ``"encoder"`` for the tasks of Adi et al. 2017 and ``"one-hot"`` for all others
    - dims, quantize: widths to which vectors are cut, and formats (``"int8"``, ``"binary"``) to which they are rounded;
      each combination is probed in addition to the full vectors
    - erase: paths of datasets without probe words; for each of these datasets, vectors from which the
      dataset's labels are erased are also probed
    - control_task, methods: further probes of the unchanged vectors of each encoder: see
      :class:`sentprobe.common.specs.MethodName`

    A sentence that is in several datasets is encoded once per encoder. Controls that depend only on the width of the
    vectors are run once for all encoders of that width.

    Raises:
        ArgumentTypeError: an argument has a wrong type; the error is also a UsageError and a TypeError.
        UsageError: nothing to run, a repeated dataset or encoder, or an impossible number or device.
        SentprobeError: *out* is no results folder or not writable; an encoder failed; training diverged.
    """
    machines = EngineChoice(engine=choose_member(EngineName, engine, what="engine"), jobs=jobs, scheduler=scheduler)
    targets = find_targets(
        datasets,
        tasks=tasks,
        compeval=CompevalOptions(hold_out_structure=hold_out_structure),
        natural=NaturalOptions(train_on=train_on, test_on=test_on),
        items=ItemOptions(train=train, test=test, validation=validation),
        seed=seed,
    )
    sources = kinds.expand_variants(
        kinds.resolve_encoders(encoders), make_storage_options(dims, quantize), erase=[*map(str, erase)]
    )
    request = RunRequest(
        targets=targets,
        encoders=sources,
        probe_vectors=probe_vectors,
        preset=find_preset(preset) if isinstance(preset, str) else preset,
        run=Run(
            seed=seed,
            seeds=seeds,
            draws=draws,
            controls=controls,
            methods=find_methods(methods, control_task=control_task),
            out=None if out is None else Path(out),
            force=force,
            cache=cache,
            command=command,
            device=device,
            threads=threads,
            encoding_threads=encoding_threads,
            machines=machines,
        ).check(),
    )
    with show_bars(show=progress if reporter is None else False) as bar:
        outcome = execute_request(request, reporter=reporter or bar)
    warn_left_out(outcome.failures.values())
    return outcome.results


def execute_request(request: RunRequest, *, reporter: Reporter | None = None) -> Outcome:
    """Probe the encoders on all datasets of the targets, in each draw, and return the outcome of all draws."""
    run, targets, encoders, words = request.run, request.targets, request.encoders, request.probe_vectors
    check_sendable(encoders, words, run=run)
    outcomes: list[Outcome] = []
    results = missing_jobs.find_results_by_recipe(run)
    with ExitStack() as stack:
        # A finished run needs no engine.
        start = functools.cache(lambda: stack.enter_context(make_engine(run.machines)))
        for draw in prepare_draws(encoders, targets=targets, run=run):
            drawn = targets.replace_seed(draw.run.seed)
            requests = completed_tasks.find_requests(
                drawn, draw.encoders, run=draw.run, preset=request.preset, words=words
            )
            finished = find_finished_outcome(requests, results, run=draw.run)
            outcomes.append(
                finished
                or _run_draw(drawn, draw, request, requests, reporter=reporter or SilentReporter(), start=start)
            )
    return _merge_outcomes(outcomes)


class DrawnRun(NamedTuple):
    """A draw's settings, encoders, and specs by encoder name. Some of ``encoders`` are specs, to be built later."""

    run: Run
    encoders: list[kinds.EncoderSource]
    specs: Mapping[str, Spec]


def prepare_draws(encoders: Sequence[kinds.EncoderSource], *, targets: Targets, run: Run) -> Iterator[DrawnRun]:
    """Yield each draw with its encoders. Raises UsageError for equal names, or vectors for one of several draws."""
    specs: dict[str, Spec] = {}
    sources = list(encoders)
    for draw in run.iterate_draws():
        groups = [completed_tasks.build_encoders_with_files(source, seed=draw.seed) for source in sources]
        drawn = list(chain.from_iterable(groups))
        check_distinct("encoder", [encoder.name for encoder in drawn])
        ordered = [encoder.name for encoder in drawn if kinds.depends_on_order(encoder)]
        if ordered and run.draws > 1 and targets.suites:
            raise UsageError(
                f"{ordered[0]}: its vectors are in the order of one draw's sentences, but each draw has other "
                "sentences; name the file of their sentences (file:VECTORS?sentences=FILE), or use one draw"
            )
        for source, group in zip(sources, groups, strict=True):
            if isinstance(source, Spec):
                specs |= dict.fromkeys((encoder.name for encoder in group), source)
        yield DrawnRun(draw, drawn, specs)
        # Models without random weights are loaded once for all draws.
        sources = list(chain.from_iterable(map(_select_reusable, sources, groups)))


def _select_reusable(
    source: kinds.EncoderSource, encoders: Sequence[kinds.EncoderSource]
) -> Sequence[kinds.EncoderSource]:
    """Return *encoders* if the next draw can reuse them (all are built, none has random weights), else [*source*]."""
    is_random = (isinstance(encoder, Spec) or get_capabilities(encoder).seed is not None for encoder in encoders)
    return [source] if any(is_random) else encoders


def _merge_outcomes(outcomes: Sequence[Outcome]) -> Outcome:
    results = tuple(result for outcome in outcomes for result in outcome.results.records)
    notes = dict.fromkeys(note for outcome in outcomes for note in outcome.notes)
    failures = {name: error for outcome in outcomes for name, error in outcome.failures.items()}
    reused = sum(outcome.reused for outcome in outcomes)
    items = tuple(table for outcome in outcomes for table in outcome.items)
    return Outcome(Results(results), tuple(notes), failures, reused, items)


def _run_draw(
    targets: Targets,
    draw: DrawnRun,
    request: RunRequest,
    result_requests: Sequence[completed_tasks.ResultRequest],
    *,
    reporter: Reporter,
    start: Callable[[], Engine],
) -> Outcome:
    """Build the data of a draw, train its missing probes on the engine that *start* returns; return the outcome."""
    run, words = draw.run, request.probe_vectors
    engine = start()
    unbound = kinds.build_encoders(draw.encoders, seed=run.seed)
    if run.out is not None:
        # Before the data, which take longest: a folder that cannot be written fails at once.
        prepare_directory(run.out, run.text)
    datasets, failures = find_datasets(targets, command=run.command, reporter=reporter)
    encoders = kinds.bind_to_sentence_order(unbound, (dataset.sentences for dataset in datasets))
    tasks = make_tasks(
        datasets,
        run=run,
        preset=request.preset,
        words=None if words is None else make_word_source(words, seed=run.seed),
        origins=completed_tasks.digest_origins(targets),
        lexicons=completed_tasks.collect_lexicons(targets),
    )
    recipes = {(requested.encoder, requested.task.name): requested.recipe for requested in result_requests}
    if run.machines.engine is EngineName.LOCAL:
        completed = run_tasks(tasks, encoders, run=run, reporter=reporter, recipes=recipes, engine=engine)
    else:
        assert not isinstance(words, Encoder)
        completed = run_on_cluster(
            tasks, encoders, run=run, reporter=reporter, recipes=recipes, engine=engine, specs=draw.specs, words=words
        )
    data_notes = (f"{dataset.name}: {note}" for dataset in datasets for note in dataset.card.notes)
    notes = (*data_notes, *collect_notes(encoders), *completed.notes)
    if run.out is not None:
        items = read_item_tables(filter(has_held_out, completed.results.records), run.out)
    else:
        held_out = (task for task in tasks if task.data.held_out)
        items = tuple(make_item_table(t.data, lexicon=t.lexicon) for t in held_out)
    return Outcome(completed.results, notes, failures, completed.reused, items)


def find_finished_outcome(
    requests: Sequence[completed_tasks.ResultRequest], results: Mapping[str, Result], *, run: Run
) -> Outcome | None:
    """Return the outcome of *requests* from stored *results*, whose keys are recipes; None if they do not suffice."""
    if run.out is None or not requests:
        return None
    existing = [results.get(request.recipe) for request in requests]
    finished = [
        result.select_seeds(run.probe_seeds)
        for result, request in zip(existing, requests, strict=True)
        if result is not None and not missing_jobs.find_missing_seeds(result, request.conditions, run=run)
    ]
    if len(finished) < len(requests) or not all(has_items(result, run.out) for result in finished):
        return None
    if run.text:
        write_run_file(run.out, run.text)
    notes = dict.fromkeys(f"{result.task}: {note}" for result in finished for note in result.notes)
    items = read_item_tables(filter(has_held_out, finished), run.out)
    return Outcome(Results(tuple(finished)), tuple(notes), {}, len(finished), items)
