"""A run: every encoder on every task, with the sanity runs beside, and only what is missing."""

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from sentprobe.engines import Engine, EngineName, Machines, make_engine
from sentprobe.errors import UsageError
from sentprobe.probes.dataset import TooFewError
from sentprobe.probes.encoders import USUAL_ENCODERS, Encoder
from sentprobe.probes.encoders.cache import Cache
from sentprobe.probes.encoders.given import (
    EncodersGiven,
    Known,
    find_encoders,
    in_ways,
    make_known,
    placed_encoders,
)
from sentprobe.probes.encoders.protocol import seed_of
from sentprobe.probes.encoders.storage import as_storage
from sentprobe.probes.runs import recipes, todo
from sentprobe.probes.runs.built_suites import ItemCounts, warn_of
from sentprobe.probes.runs.elsewhere import Cluster, check_can_travel, run_elsewhere
from sentprobe.probes.runs.item_annotation import make_item_table
from sentprobe.probes.runs.item_table import ItemTable, has_held_out, has_items, item_tables
from sentprobe.probes.runs.methods import find_methods
from sentprobe.probes.runs.results import Result, Results
from sentprobe.probes.runs.runner import run_tasks
from sentprobe.probes.runs.settings import Run, make_run
from sentprobe.probes.runs.store import keep_run_file, prepare_directory
from sentprobe.probes.runs.targets import DataGiven, Targets, find_datasets, find_targets
from sentprobe.probes.runs.task import Task, make_tasks
from sentprobe.probes.runs.word_source import make_source
from sentprobe.probes.suites import ClassifierChoice
from sentprobe.probes.trainer.presets import find_preset
from sentprobe.progress import Reporter, Silent, bars
from sentprobe.specs import Spec, check_distinct, choose


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a run: results, notes on the datasets and encoders, tasks left out."""

    results: Results
    notes: tuple[str, ...]
    failures: Mapping[str, TooFewError]
    """Why tasks were left out, by name."""
    found: int
    """How many of the results were there already, whole."""
    items: tuple[ItemTable, ...] = ()
    """The test items of which some have a structure that is held out of training."""


def run(
    datasets: DataGiven,
    encoders: EncodersGiven = USUAL_ENCODERS,
    *,
    tasks: Sequence[str] | str = (),
    train: int | None = None,
    test: int | None = None,
    validation: int | None = None,
    hold_out_structure: str | None = None,
    preset: ClassifierChoice | str | None = None,
    seed: int = 0,
    seeds: int = 1,
    draws: int = 1,
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
    engine: str = "local",
    scheduler: str | None = None,
    probe_vectors: Encoder | str | None = None,
    dims: Sequence[int] = (),
    quantize: Sequence[str] = (),
    erase: Sequence[Path | str] = (),
    control_task: bool = False,
    methods: Sequence[str] = (),
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
    - hold_out_structure: a structure, such as ``"passive"``, that the training items of compeval
      lack, and half of the test items have; ``accuracy_by(result, "structure")`` tells both
    - preset: the classifier, its name, or a function that gives a dataset its own; by default that
      of the paper of the task (:data:`sentprobe.probes.suites.USUAL_PRESET`)
    - seeds: so many probes are trained under each condition, with the seeds *seed*, *seed* + 1, ...
    - draws: so often all of it with new data (where it is built), new weights of untrained encoders
      and new probes, with the seeds *seed*, *seed* + 10, ...; what is stored stays as it is
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
    - engine, scheduler: ``"dask"`` and the address of a Dask cluster, whose workers then encode and
      train; encoders are specs, which the workers make. The numbers are the same
    - probe_vectors: what stands for probe words: ``"one-hot"``; ``"encoder"``, the vector that each
      encoder gives to the word alone; or one encoder that gives it for all, or its spec; by
      default ``"encoder"`` for the tasks of Adi et al. 2017 and ``"one-hot"`` for all others
    - dims, quantize: the vectors of each encoder are also probed when cut after so many numbers
      and rounded to ``"int8"`` or ``"binary"``, in each combination
    - erase: the vectors are also probed when what tells the answers of these datasets is gone from
      them; paths of datasets without probe words
    - control_task, methods: what else is learned of the vectors of each encoder, whole ones: see
      :class:`sentprobe.probes.runs.methods.MethodName`

    A sentence that is in several datasets is encoded once per encoder. Sanity runs that do not
    depend on the encoder but for its width are made once for all encoders of that width.

    Raises:
        GivenError: something is no dataset, or no encoder; it is a UsageError and a TypeError.
        UsageError: nothing to do, something twice, a number or a device that cannot be.
        SentprobeError: *out* is not ours or not writable; an encoder failed; training diverged.
    """
    counts = ItemCounts(train, test, validation)
    machines = Machines(
        engine=choose(EngineName, engine, what="engine"), jobs=jobs, scheduler=scheduler
    )
    targets = find_targets(
        datasets, tasks=tasks, counts=counts, structure=hold_out_structure, seed=seed
    )
    storage = as_storage(dims, quantize)
    known = in_ways(find_encoders(encoders), storage, erase=[*map(str, erase)])
    settings = make_run(
        seed=seed,
        seeds=seeds,
        draws=draws,
        controls=controls,
        methods=find_methods(methods, control_task=control_task),
        out=out,
        force=force,
        cache=cache,
        command=command,
        device=device,
        threads=threads,
        encoding_threads=encoding_threads,
        machines=machines,
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
    warn_of(outcome.failures.values())
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
    """Run the encoders on all datasets of the targets that can be built or read, in each draw.

    Raises:
        UsageError: see :func:`.targets.find_datasets`; the results' folder is not ours; an encoder
            is an object of this process, which no worker of a cluster can have.
        SentprobeError: an encoder or a dataset could not be made; the cluster does not answer.
    """
    check_can_travel(encoders, words, run=run)
    outcomes: list[Outcome] = []
    there = todo.by_recipe(run)
    with ExitStack() as stack:
        # A run that is finished needs none.
        start = functools.cache(lambda: stack.enter_context(make_engine(run.machines)))
        rest = _Rest(preset=preset, words=words, reporter=reporter or Silent(), start=start)
        for draw in each_draw(encoders, targets=targets, run=run):
            drawn = targets.drawn(draw.run.seed)
            asked = recipes.requests(drawn, draw.encoders, run=draw.run, preset=preset, words=words)
            found = find_finished(asked, there, run=draw.run)
            outcomes.append(found or _run_draw(drawn, draw, rest, asked))
    return _together(outcomes)


class DrawnRun(NamedTuple):
    """A draw: its run, and the encoders, of which those that need a file or a model are made."""

    run: Run
    encoders: list[Known]
    specs: Mapping[str, Spec]
    """What each is made from, by its name, where that is a spec."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rest:
    """What is the same in all draws, besides the run."""

    preset: ClassifierChoice | None
    words: Encoder | Spec | str | None
    reporter: Reporter
    start: Callable[[], Engine]
    """Gives the engine, which starts with the first draw that has something to do."""


def each_draw(encoders: Sequence[Known], *, targets: Targets, run: Run) -> Iterator[DrawnRun]:
    """Yield each draw with its encoders.

    Raises:
        UsageError: two encoders are of one name; one goes by the order of sentences that change.
        SentprobeError: an encoder could not be made.
    """
    specs: dict[str, Spec] = {}
    for draw in run.each_draw():
        groups = [recipes.light([each], seed=draw.seed) for each in encoders]
        known = list(chain.from_iterable(groups))
        check_distinct("encoder", [each.name for each in known])
        if run.draws > 1 and targets.suites:
            _refuse_ordered(known)
        for each, group in zip(encoders, groups, strict=True):
            if isinstance(each, Spec):
                specs |= dict.fromkeys((made.name for made in group), each)
        yield DrawnRun(draw, known, specs)
        encoders = [each for pair in zip(encoders, groups, strict=True) for each in _kept(*pair)]


def _refuse_ordered(encoders: Iterable[Known]) -> None:
    """Refuse vectors that go by the order of the sentences where each draw has other sentences."""
    for each in encoders:
        if hasattr(each, "in_order"):
            raise UsageError(
                f"{each.name}: its vectors are of the sentences of one draw, in their order, and "
                "each of several draws has others; say which sentences they are of "
                "(file:VECTORS?sentences=FILE), or make one draw"
            )


def _kept(known: Known, made: Sequence[Known]) -> Sequence[Known]:
    """Return the encoders themselves where another draw has the same: a model is loaded once."""
    drawn = (isinstance(each, Spec) or seed_of(each) is not None for each in made)
    return [known] if any(drawn) else made


def _together(outcomes: Sequence[Outcome]) -> Outcome:
    """Return what came of all draws; what is noted of several is noted once."""
    results = (record for each in outcomes for record in each.results.records)
    notes = dict.fromkeys(note for each in outcomes for note in each.notes)
    failures = {name: error for each in outcomes for name, error in each.failures.items()}
    found = sum(each.found for each in outcomes)
    items = tuple(table for each in outcomes for table in each.items)
    return Outcome(Results(tuple(results)), tuple(notes), failures, found, items)


def _run_draw(
    targets: Targets, draw: DrawnRun, rest: _Rest, asked: Sequence[recipes.Request]
) -> Outcome:
    run, words = draw.run, rest.words
    engine = rest.start()
    made = make_known(draw.encoders, seed=run.seed)
    if run.out is not None:
        prepare_directory(run.out, run.text)
    found = find_datasets(targets, command=run.command, reporter=rest.reporter)
    made = placed_encoders(made, (each.sentences for each in found.datasets))
    source = None if words is None else make_source(words, seed=run.seed)
    tasks = make_tasks(
        found.datasets,
        run=run,
        preset=rest.preset,
        words=source,
        origins=recipes.origins(targets),
        lexicons=recipes.lexicons(targets),
    )
    known = recipes.by_names(asked)
    if run.machines.engine is EngineName.LOCAL:
        ran = run_tasks(tasks, made, run=run, reporter=rest.reporter, known=known, engine=engine)
    else:
        assert not isinstance(words, Encoder)
        cluster = Cluster(engine=engine, specs=draw.specs, words=words)
        ran = run_elsewhere(
            tasks, made, run=run, reporter=rest.reporter, known=known, cluster=cluster
        )
    of_data = (f"{data.name}: {note}" for data in found.datasets for note in data.card.notes)
    of_encoders = (note for each in made for note in getattr(each, "notes", ()))
    notes = (*of_data, *of_encoders, *ran.notes)
    if run.out is not None:
        items = item_tables(filter(has_held_out, ran.results.records), run.out)
    else:
        items = _annotated(each for each in tasks if each.data.held_out)
    return Outcome(ran.results, notes, found.failures, ran.found, items)


def _annotated(tasks: Iterable[Task]) -> tuple[ItemTable, ...]:
    """Return the test items of tasks."""
    return tuple(
        make_item_table(each.data, fingerprint=each.fingerprint, lexicon=each.lexicon)
        for each in tasks
    )


def find_finished(
    asked: Sequence[recipes.Request], there: Mapping[str, Result], *, run: Run
) -> Outcome | None:
    """Return what came of the run if all that is asked for is there already; nothing is built.

    - there: the results that are there, by recipe
    """
    if run.out is None or not asked:
        return None
    found = [there.get(each.recipe) for each in asked]
    whole = [
        result.of_seeds(run.seeds)
        for result, each in zip(found, asked, strict=True)
        if result is not None and not todo.missing_seeds(result, each.conditions, run=run)
    ]
    if len(whole) < len(asked) or not all(has_items(each, run.out) for each in whole):
        return None
    if run.text:
        keep_run_file(run.out, run.text)
    notes = dict.fromkeys(f"{each.task}: {note}" for each in whole for note in each.notes)
    items = item_tables(filter(has_held_out, whole), run.out)
    return Outcome(Results(tuple(whole)), tuple(notes), {}, len(whole), items)
