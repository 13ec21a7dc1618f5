"""The command ``probe run``: probe encoders on tasks, and print the table of accuracies."""

import logging
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sentprobe.commands.shared import options as opt
from sentprobe.commands.shared import output_paths
from sentprobe.commands.shared.help import CommandWithTaskList, map_given_options
from sentprobe.commands.shared.interruption import describe_resumption, has_finished_work, report_interruption
from sentprobe.commands.shared.run_file import (
    CONFIG_HELP,
    TRUST_HELP,
    check_requests,
    format_run_file,
    naming_run_file,
    read_run_file,
)
from sentprobe.commands.shared.table_output import print_reuse, print_tables
from sentprobe.common.errors import UsageError, format_count, require_libraries
from sentprobe.common.files import find_cache_directory
from sentprobe.common.processes import choose_jobs
from sentprobe.common.scratch import WAIT_MINUTES
from sentprobe.common.screen import format_duration, print_place, print_table, print_text, show_bars
from sentprobe.common.settings import CLASSIFIER, METHODS
from sentprobe.common.specs import GENERATED, PRESETS, MethodName, Spec, enumerate_names, parse_pair
from sentprobe.probes.runs.suite_options import CompevalOptions, ItemOptions, NaturalOptions

if TYPE_CHECKING:
    from sentprobe.probes.encoders.kinds import EncoderSource
    from sentprobe.probes.runs.forecast import Forecast
    from sentprobe.probes.runs.planned_work import PlannedResult
    from sentprobe.probes.runs.settings import Run
    from sentprobe.probes.runs.suites import PresetChoice
    from sentprobe.probes.runs.targets import Targets

app = typer.Typer(add_completion=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodOptions:
    """Options for methods such as codelength, and for cut, rounded or erased vectors (docs/methods.md)."""

    positions: Annotated[
        str | None,
        opt.declare_option(
            METHODS, metavar="TOKEN,...", help="Probe all layers of hf: encoders at these tokens: agent,verb,last."
        ),
    ] = None
    dims: Annotated[
        str | None,
        opt.declare_option(
            METHODS, metavar="N,N,...", help="Also probe vectors cut to their first N dimensions: 64,128,256."
        ),
    ] = None
    quantize: Annotated[
        str | None,
        opt.declare_option(
            METHODS, metavar="int8,binary", help="Also probe vectors rounded to int8 or binary, at full and cut width."
        ),
    ] = None
    erase: Annotated[
        list[str] | None,
        opt.declare_option(
            METHODS,
            metavar="DATASET",
            help="Also probe vectors from which the labels of this dataset are erased (LEACE); repeatable.",
        ),
    ] = None
    control_task: Annotated[
        bool,
        opt.declare_option(
            METHODS, "--control-task", help="Also train on a random label for each word, for selectivity."
        ),
    ] = False
    method: Annotated[
        list[str] | None,
        opt.declare_option(METHODS, help=f"Also apply a method: {enumerate_names([*MethodName])}; repeatable."),
    ] = None

    def resolve_encoders(self, specs: Sequence[Spec]) -> "list[EncoderSource]":
        """Return the encoders that the specs name, and the variants of their vectors that the options ask for."""
        from sentprobe.probes.datasets.formats import read_dataset
        from sentprobe.probes.encoders.kinds import expand_variants
        from sentprobe.probes.encoders.variants import check_erasable, parse_storage

        for path in self.erase or ():
            check_erasable(read_dataset(path))
        storage = parse_storage(self.dims, self.quantize)
        if self.positions is not None:
            specs = add_positions(specs, self.positions)
        return expand_variants(specs, storage, erase=self.erase or ())


class RunCommand(CommandWithTaskList):
    """``probe run``, whose errors name the line of the run file that states a wrong value."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        with naming_run_file(ctx):
            return super().invoke(ctx)


@app.command("run", cls=RunCommand)
@opt.expand_option_groups
def run(
    context: typer.Context,
    targets: opt.TargetsArgument,
    encoder: opt.EncodersOption = None,
    task: opt.TaskOption = None,
    out: opt.ResultsOption = None,
    force: opt.ForceOption = False,
    config: Annotated[  # noqa: ARG001 - read by its callback
        Path | None, typer.Option(metavar="FILE", help=CONFIG_HELP, callback=read_run_file, is_eager=True)
    ] = None,
    trust: Annotated[bool, typer.Option("--trust", help=TRUST_HELP)] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only list missing results and estimate the time.")
    ] = False,
    seed: Annotated[int, opt.build_seed_option("data, encoders, probes")] = 0,
    seeds: Annotated[int, typer.Option(help="Number of probes with different seeds.")] = 1,
    draws: Annotated[int, typer.Option(help="Repetitions with new data and weights.")] = 1,
    intervals: opt.IntervalsOption = False,
    sources: opt.SourcesOption = False,
    controls: Annotated[bool, typer.Option("--controls/--no-controls", help="Also train controls.")] = True,
    all_rows: opt.AllRowsOption = False,
    notes: opt.NotesOption = False,
    *,
    compeval: CompevalOptions,
    items: ItemOptions,
    preset: Annotated[
        str | None,
        opt.declare_option(
            CLASSIFIER,
            help=f"{enumerate_names(PRESETS)}. Default: the preset of the "
            "task's paper (ettinger; natural text: conneau or adi).",
            autocompletion=output_paths.complete_preset,
        ),
    ] = None,
    set_: Annotated[
        list[str] | None,
        opt.declare_option(
            CLASSIFIER, "--set", help="Override a value of the preset, such as max_epochs=50; repeatable."
        ),
    ] = None,
    probe_vectors: Annotated[
        str | None,
        opt.declare_option(
            CLASSIFIER,
            metavar="one-hot|encoder|SPEC",
            help="Vectors of probe words (the words that an item asks about): one-hot, encoder (each encoder's own) or "
            "an encoder spec such as bow:FILE. Default: encoder for the tasks of Adi et al., else one-hot.",
        ),
    ] = None,
    device: Annotated[
        str,
        opt.machine_option(
            metavar="auto|cpu|cuda|mps",
            help="Device for training probes; auto: a GPU if there is one. Encoders have their own option device=.",
        ),
    ] = "cpu",
    where: opt.EngineOptions,
    jobs: Annotated[
        int | None, opt.build_jobs_option("Default: cores divided by --threads; one for a small run or a GPU.")
    ] = None,
    threads: Annotated[
        int | None,
        opt.machine_option(
            help="PyTorch threads for encoding, and in each training process. Default: one per core for encoding, one "
            "for training."
        ),
    ] = None,
    wait: Annotated[
        int, opt.machine_option(metavar="MINUTES", min=0, help="Time to wait for a process that locks --out.")
    ] = WAIT_MINUTES,
    cache: opt.CacheOption = True,
    verbose: Annotated[
        bool, opt.machine_option("--verbose", help="Print the accuracies of each result as soon as it is finished.")
    ] = False,
    natural: NaturalOptions,
    methods: MethodOptions,
) -> None:
    """Train probes (small classifiers) on sentence vectors, and print accuracies."""
    # The options are checked here, before any work is done.
    check_requests(context, trust=trust)
    from sentprobe.probes.encoders.cache import Cache
    from sentprobe.probes.encoders.kinds import USUAL_ENCODERS, check_installed, parse_encoders
    from sentprobe.probes.natural.selection import merge_scaled_notes
    from sentprobe.probes.runs.controls import parse_word_source
    from sentprobe.probes.runs.settings import Run, RunRequest, find_methods
    from sentprobe.probes.runs.suites import build_failure_error
    from sentprobe.probes.runs.targets import find_targets

    machines = where.find_machines(
        jobs=_choose_job_count(device, threads) if jobs is None else jobs, runs_small_work_inline=jobs is None
    )
    parsed_encoders = parse_encoders(encoder or USUAL_ENCODERS)
    specs = methods.resolve_encoders(parsed_encoders)
    if machines.scheduler is None:
        check_installed((spec for spec in specs if isinstance(spec, Spec)), "torch")
    else:  # the workers of the cluster make the encoders
        require_libraries("torch", "distributed")
    conditions = find_methods(methods.method or (), control_task=methods.control_task)
    words = None if probe_vectors is None else parse_word_source(probe_vectors)
    # The run file that is written names all encoders, also the usual ones, by their whole specs.
    context.params |= {"encoder": [*map(str, parsed_encoders)], "probe_vectors": words and str(words)}
    parsed_targets = find_targets(
        targets,
        tasks=task or (),
        compeval=compeval,
        natural=natural,
        items=items,
        seed=seed,
        given_options=map_given_options(context),
    )
    classifier = _parse_classifier(preset, set_ or (), parsed_targets)
    request = RunRequest(
        targets=parsed_targets,
        encoders=specs,
        probe_vectors=words,
        preset=classifier,
        run=Run(
            seed=seed,
            seeds=seeds,
            draws=draws,
            controls=controls,
            methods=conditions,
            out=out,
            force=force,
            wait=60 * wait,
            cache=Cache(find_cache_directory()) if cache else None,
            command=opt.format_command_line(),
            text=format_run_file(context, parsed_targets.suites),
            device=device,
            threads=threads or 1,
            encoding_threads=threads,
            machines=machines,
        ).check(),
    )
    if dry_run:
        from sentprobe.probes.runs.forecast import make_forecast

        with show_bars() as reporter:
            forecast = make_forecast(request, reporter=reporter)
        _print_forecast(forecast)
        return
    from sentprobe.commands.shared.shown_results import View, build_tables
    from sentprobe.probes.reports.tables.main_table import CellStyle
    from sentprobe.probes.reports.tables.table_notes import NoteStyle
    from sentprobe.probes.results.human_results import read_human
    from sentprobe.probes.runs.run import execute_request

    if verbose and logging.lastResort is not None:  # it prints the messages of a program that sets up no logging
        for target in (logging.getLogger("sentprobe"), logging.lastResort):
            target.setLevel(logging.INFO)
    with report_interruption(lambda: _describe_stored_work(request.run)), show_bars() as reporter:
        outcome = execute_request(request, reporter=reporter)
    human = () if out is None else read_human([out])
    style = CellStyle(intervals=intervals, sources=sources, all_rows=all_rows, human=human)
    command = "add --notes (with --out, probe show can print them later)"
    if out is not None:
        command = f"probe show {shlex.quote(str(out))} --notes"
    note_style = NoteStyle(complete=notes, command=command)
    print_tables(build_tables(outcome.results, View(style=style, notes=note_style, items=outcome.items)))
    for note in merge_scaled_notes(outcome.notes):
        print_text(f"note: {note}")
    if out is not None:
        print_reuse(outcome.reused, total=len(outcome.results.records))
        print_place(f"results: {out}")
    if outcome.failures:
        task_names = {*outcome.results.tasks, *outcome.failures}
        raise build_failure_error(outcome.failures.values(), total=len(task_names))


def add_positions(specs: Sequence[Spec], positions: str) -> list[Spec]:
    """Return the specs, with ``pool=POSITIONS`` added to each hf: encoder, and ``layer=all`` if it names no layer.

    Raises UsageError if there is no hf: encoder, or if one has the option ``pool`` already.
    """
    if not any(spec.kind == "hf" for spec in specs):
        raise UsageError("--positions is for hf: encoders, and there is none")
    if stated := [spec for spec in specs if spec.kind == "hf" and "pool" in dict(spec.options)]:
        raise UsageError(f"{stated[0]}: leave out pool=, or --positions")
    added: list[Spec] = []
    for spec in specs:
        layer = () if "layer" in dict(spec.options) else (("layer", "all"),)
        options = (*layer, ("pool", positions), *spec.options)
        added.append(replace(spec, options=options) if spec.kind == "hf" else spec)
    return added


def _describe_stored_work(run: "Run") -> str:
    """Return a message for a stopped run: which results or sentence vectors are on disk, and how to resume it."""
    if run.out is not None and has_finished_work(run.out):
        return describe_resumption(run.out)
    vectors = "only sentence vectors in the cache are kept" if run.cache is not None else "nothing is kept"
    if run.out is not None:
        return f"no probe is finished, so {vectors}"
    return f"{vectors}; use --out to keep results and resume a run"


def _choose_job_count(device: str, threads: int | None) -> int:
    """Return the number of training processes: one for a GPU, else the number of cores divided by *threads*."""
    if device == "auto":
        require_libraries("torch")
        from sentprobe.probes.classifier.devices import find_best_device

        device = find_best_device()
    return choose_jobs(threads) if device.startswith("cpu") else 1


def _parse_classifier(preset: str | None, overrides: Sequence[str], targets: "Targets") -> "PresetChoice":
    """Return the classifier: *preset*, or each task's default; *overrides* are like ``max_epochs=50``.

    Raises UsageError for an unknown preset, or for a wrong name or value in *overrides*.
    """
    from sentprobe.probes.runs.suites import NaturalSuite, PresetChoice

    choice = PresetChoice(preset, tuple(parse_pair(text) for text in overrides))
    natural = [suite for suite in targets.items if isinstance(suite, NaturalSuite)]
    for task in (task for suite in natural for task in suite.tasks):
        choice.find_preset_of(task.name)
    if not natural or {*GENERATED} & {*targets.suites}:
        choice.find_preset_of("")  # all tasks that are not natural-text tasks
    return choice


def _print_forecast(forecast: "Forecast") -> None:
    from sentprobe.common.tables import build_empty_table
    from sentprobe.probes.datasets.dataset import Split

    table = build_empty_table(["encoder", "task", *Split, "missing"], left=[1, 5])
    for plan in forecast.planned:
        sizes = (f"{plan.items.get(split, 0):,}" for split in Split)
        table.add_row(plan.encoder, plan.task, *sizes, _describe_missing(plan))
    print_table(table)
    missing = sum(plan.unfinished for plan in forecast.planned)
    existing = sum(len(plan.draws) for plan in forecast.planned) - missing
    print_text(f"{format_count(existing, 'result')} found, {missing} missing. Nothing was written.")
    if missing:
        print_text(
            f"About {format_duration(forecast.seconds)}: {format_duration(forecast.start)} to load, "
            f"{format_duration(forecast.build)} to build the tasks, {format_duration(forecast.encode)} to encode "
            f"(less what is in the cache), {format_duration(forecast.train)} to train."
        )
        speeds = f", and the speed of {', '.join(forecast.unloaded)}" if forecast.unloaded else ""
        print_text(
            "Measured here: the speed of building, encoding and training, each on little data. Assumed: the passes of "
            f"each probe, as in earlier runs{speeds}. The estimate assumes idle cores, and may be wrong by a factor of "
            "two."
        )


def _describe_missing(plan: "PlannedResult") -> str:
    """Describe the missing probes of an encoder on a task, as in "4 probes in 2 of 3 draws" with their conditions."""
    if not plan.missing:
        return "nothing"
    probes = format_count(sum(map(len, plan.missing.values())), "probe")
    draws = f" in {plan.unfinished} of {len(plan.draws)} draws" if len(plan.draws) > 1 else ""
    return f"{probes}{draws}: {', '.join(plan.missing)}"
