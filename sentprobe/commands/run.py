"""The command ``probe run``: encoders on tasks, and the table of what their probes achieve."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sentprobe.commands import completion as offer
from sentprobe.commands import options as opt
from sentprobe.commands.method_options import MethodOptions
from sentprobe.commands.run_file import CONFIG, format_run_file, read_run_file
from sentprobe.commands.stopping import goes_on, stopping
from sentprobe.commands.targets import parse_targets
from sentprobe.commands.task_list import ListsTasks
from sentprobe.errors import counted
from sentprobe.files import cache_directory
from sentprobe.probes.encoders import USUAL_ENCODERS, parse_encoders
from sentprobe.probes.encoders.cache import Cache
from sentprobe.probes.natural.select import told_once
from sentprobe.probes.runs.built_suites import NaturalSuite, failed
from sentprobe.probes.runs.targets import Targets
from sentprobe.probes.runs.word_source import parse_source
from sentprobe.probes.suites import PresetChoice
from sentprobe.processes import usual_jobs
from sentprobe.progress import bars
from sentprobe.screen import say
from sentprobe.specs import COMPEVAL, parse_pair

if TYPE_CHECKING:
    from sentprobe.probes.runs.run import Outcome
    from sentprobe.probes.runs.settings import Run

app = typer.Typer(add_completion=False)


@app.command("run", cls=ListsTasks)
@opt.with_groups
def run(
    context: typer.Context,
    targets: Annotated[
        list[str],
        typer.Argument(
            metavar="SUITE|PATH...",
            help="compeval, natural TABLE, or datasets: files or folders.",
            autocompletion=offer.complete_suite,
        ),
    ],
    encoder: opt.EncodersOption = None,
    task: opt.TaskOption = None,
    out: opt.ResultsOption = None,
    force: opt.ForceOption = False,
    config: Annotated[  # noqa: ARG001 - its callback does it
        Path | None,
        typer.Option(metavar="FILE", help=CONFIG, callback=read_run_file, is_eager=True),
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Only say what would be done, and how long it takes."),
    ] = False,
    seed: Annotated[int, opt.seed_of("data, encoders and probes")] = 0,
    seeds: Annotated[int, typer.Option(help="Probes each, of seeds --seed and up.")] = 1,
    draws: Annotated[
        int,
        typer.Option(help="Draw data, weights and probes so often."),
    ] = 1,
    intervals: opt.IntervalsOption = False,
    sources: opt.SourcesOption = False,
    controls: Annotated[
        bool, typer.Option("--controls/--no-controls", help="Make the sanity runs.")
    ] = True,
    all_rows: opt.AllRowsOption = False,
    *,
    compeval: opt.CompevalOptions,
    items: opt.ItemOptions,
    preset: Annotated[
        str | None,
        typer.Option(
            help="ettinger, adi, conneau, senteval or logreg. By default that of the paper of the "
            "task: ettinger, and of natural text conneau or adi.",
            rich_help_panel=opt.CLASSIFIER,
            autocompletion=offer.complete_preset,
        ),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set", help="Override a value of it: max_epochs=50.", rich_help_panel=opt.CLASSIFIER
        ),
    ] = None,
    probe_vectors: Annotated[
        str | None,
        typer.Option(
            metavar="one-hot|encoder|SPEC",
            help="What stands for probe words: one-hot; encoder, each encoder's own vector of the "
            "word; or that of bow:FILE or another encoder. Without it encoder for the tasks of Adi "
            "et al., else one-hot.",
            rich_help_panel=opt.CLASSIFIER,
            autocompletion=offer.complete_probe_vectors,
        ),
    ] = None,
    device: Annotated[
        str,
        typer.Option(
            metavar="auto|cpu|cuda|mps",
            help="Where probes are trained; auto is the best there is. Encoders have their own "
            "option device=.",
            rich_help_panel=opt.MACHINE,
            autocompletion=offer.complete_device,
        ),
    ] = "cpu",
    where: opt.EngineOptions,
    jobs: Annotated[
        int | None,
        opt.jobs_of("By default one for each core, or for each N of them with --threads N."),
    ] = None,
    threads: Annotated[
        int | None,
        typer.Option(
            help="PyTorch's threads, when encoding and in each process that trains. By default "
            "as many as there are cores for encoding, and one for training. With more, --jobs is "
            "by default so much less.",
            rich_help_panel=opt.MACHINE,
        ),
    ] = None,
    cache: opt.CacheOption = True,
    natural: opt.NaturalOptions,
    methods: MethodOptions,
) -> None:
    """Build or read the tasks, encode their sentences, train probes, and print the table."""
    # All that can be seen to be wrong is refused here, before any work is done.
    machines = where.machines(jobs=usual_jobs(threads) if jobs is None else jobs)
    specs = methods.encoders(parse_encoders(encoder or USUAL_ENCODERS))
    asked = methods.conditions()
    words = None if probe_vectors is None else parse_source(probe_vectors)
    wanted = parse_targets(
        targets,
        task or (),
        compeval=compeval,
        natural=natural,
        items=items,
        seed=seed,
        given=opt.options_given(context),
    )
    classifier = parse_classifier(preset, set_ or (), wanted)
    from sentprobe.commands.show import View, print_tables  # noqa: PLC0415 - not for --help
    from sentprobe.probes.report.tables import CellStyle  # noqa: PLC0415
    from sentprobe.probes.runs.settings import make_run  # noqa: PLC0415

    settings = make_run(
        seed=seed,
        seeds=seeds,
        draws=draws,
        controls=controls,
        methods=asked,
        out=out,
        force=force,
        cache=Cache(cache_directory()) if cache else None,
        command=opt.command_line(),
        text=format_run_file(context, wanted.suites),
        device=device,
        threads=threads or 1,
        encoding_threads=threads,
        machines=machines,
    )
    if dry_run:
        from sentprobe.commands.dry_run import print_forecast  # noqa: PLC0415 - PyTorch is slow
        from sentprobe.probes.runs.forecast import forecast  # noqa: PLC0415

        with bars() as reporter:
            found = forecast(
                wanted, specs, run=settings, preset=classifier, words=words, reporter=reporter
            )
        print_forecast(found)
        return
    from sentprobe.probes.runs.run import run_targets  # noqa: PLC0415 - PyTorch is slow

    with stopping(_kept(settings)), bars() as reporter:
        outcome = run_targets(
            wanted, specs, run=settings, preset=classifier, words=words, reporter=reporter
        )
    style = CellStyle(intervals=intervals, sources=sources, all_rows=all_rows)
    print_tables(outcome.results, View(style=style, items=outcome.items))
    for note in told_once(outcome.notes):
        say(f"note: {note}")
    if out is not None:
        _print_counts(outcome)
        print(f"results: {out}")
    if outcome.failures:
        names = {*outcome.results.tasks, *outcome.failures}
        raise failed(outcome.failures.values(), of=len(names))


def _print_counts(outcome: "Outcome") -> None:
    """Say on stderr how many of the results were there already."""
    made = len(outcome.results.records) - outcome.found
    if outcome.found:
        more = f", {made} made" if made else ""
        print(f"{counted(outcome.found, 'result')} found{more}", file=sys.stderr)


def _kept(run: "Run") -> str:
    """Return what is kept of a run that is stopped."""
    if run.out is not None:
        return goes_on(run.out)
    vectors = "only the vectors of sentences are kept, in the cache" if run.cache else "all is lost"
    return f"{vectors}: results are kept, and a run goes on, with --out"


def parse_classifier(
    preset: str | None, overrides: Sequence[str], targets: Targets
) -> PresetChoice:
    """Return what gives each dataset its classifier: *preset* or that of its paper, overridden.

    Raises:
        UsageError: there is no such preset, or none of its values is so called, or can be that.
    """
    choice = PresetChoice(preset, tuple(parse_pair(text) for text in overrides))
    for task in _tasks(targets):
        choice.of_tasks(task)
    return choice


def _tasks(targets: Targets) -> list[str]:
    """Return tasks of which the classifiers are known to be used before any dataset is read."""
    natural = [each for each in targets.found if isinstance(each, NaturalSuite)]
    found = [task.name for each in natural for task in each.tasks]
    return found if natural and COMPEVAL not in targets.suites else [*found, ""]
