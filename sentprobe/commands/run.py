"""The command ``probe run``: encoders on tasks, and the table of what their probes achieve."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache as once
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sentprobe.commands import options as opt
from sentprobe.commands.targets import (
    NaturalSuite,
    Targets,
    failed,
    find_datasets,
    parse_targets,
)
from sentprobe.commands.task_list import ListsTasks
from sentprobe.files import cache_directory
from sentprobe.probes.dataset import ProbeDataset, TooFewError
from sentprobe.probes.encoders import find_kind
from sentprobe.probes.encoders.cache import Cache
from sentprobe.probes.runs.word_source import parse_source
from sentprobe.probes.suites import OTHERWISE, preset_of
from sentprobe.probes.trainer.classifier import Preset
from sentprobe.probes.trainer.presets import find_preset, override
from sentprobe.processes import cores
from sentprobe.progress import Reporter, Silent, bars, console
from sentprobe.specs import Spec, check_names, parse_pair, parse_spec

if TYPE_CHECKING:
    from sentprobe.probes.runs.results import Results
    from sentprobe.probes.runs.settings import Run
    from sentprobe.probes.suites import ClassifierChoice

USUAL_ENCODERS = ("bow", "bilstm-max")

app = typer.Typer(add_completion=False)


@app.command("run", cls=ListsTasks)
@opt.with_groups
def run(
    context: typer.Context,
    targets: Annotated[
        list[str],
        typer.Argument(
            metavar="SUITE|PATH...", help="compeval, natural TABLE, or datasets: files or folders."
        ),
    ],
    encoder: Annotated[
        list[str] | None,
        typer.Option(
            "--encoder",
            "-e",
            help="bow, bow:FILE, st:MODEL, ...; repeatable. By default bow and bilstm-max.",
        ),
    ] = None,
    task: opt.TaskOption = None,
    out: Annotated[
        Path | None,
        opt.out_to("Folder for the results; what is there is not redone."),
    ] = None,
    force: opt.ForceOption = False,
    seed: Annotated[int, opt.seed_of("data, encoders and probes")] = 0,
    seeds: Annotated[int, typer.Option(help="So many probes each, with seeds from --seed up.")] = 1,
    controls: Annotated[
        bool, typer.Option("--controls/--no-controls", help="Make the sanity runs.")
    ] = True,
    *,
    compeval: opt.CompevalOptions,
    size: opt.SizeOptions,
    preset: Annotated[
        str | None,
        typer.Option(
            help="ettinger, adi, conneau, senteval or logreg. By default that of the paper of the "
            "task: ettinger, and of natural text conneau or adi.",
            rich_help_panel=opt.CLASSIFIER,
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
        ),
    ] = None,
    device: Annotated[str, typer.Option(help="cpu or cuda.", rich_help_panel=opt.MACHINE)] = "cpu",
    jobs: opt.JobsOption = None,
    threads: Annotated[
        int | None,
        typer.Option(
            help="PyTorch's threads, when encoding and in each process that trains. By default "
            "as many as there are cores for encoding, and one for training.",
            rich_help_panel=opt.MACHINE,
        ),
    ] = None,
    cache: Annotated[
        bool,
        typer.Option(
            "--cache/--no-cache", help="Keep sentence vectors on disk.", rich_help_panel=opt.MACHINE
        ),
    ] = True,
    natural: opt.NaturalOptions,
) -> None:
    """Build or read the tasks, encode their sentences, train probes, and print the table."""
    # All that can be seen to be wrong is refused here, before any work is done.
    specs = parse_encoders(encoder or USUAL_ENCODERS)
    words = None if probe_vectors is None else parse_source(probe_vectors)
    wanted = parse_targets(
        targets,
        task or (),
        compeval=compeval,
        natural=natural,
        size=size,
        seed=seed,
        given=opt.options_given(context),
    )
    classifier = parse_classifier(preset, set_ or (), wanted)
    from sentprobe.commands.show import View, print_tables  # noqa: PLC0415 - not for --help
    from sentprobe.probes.runs.settings import make_run  # noqa: PLC0415

    settings = make_run(
        seed=seed,
        seeds=seeds,
        controls=controls,
        out=out,
        force=force,
        cache=Cache(cache_directory()) if cache else None,
        command=opt.command_line(),
        device=device,
        threads=threads or 1,
        encoding_threads=threads,
        jobs=cores() if jobs is None else jobs,
    )
    with bars() as reporter:
        outcome = probe_targets(
            wanted, specs, run=settings, preset=classifier, words=words, reporter=reporter
        )
    print_tables(outcome.results, View(), console())
    for note in outcome.notes:
        print(f"note: {note}")
    if out is not None:
        print(f"results: {out}")
    if outcome.failures:
        raise failed(outcome.failures, of=len(outcome.results.tasks) + len(outcome.failures))


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a run: results, notes on the datasets and encoders, tasks left out."""

    results: "Results"
    notes: tuple[str, ...]
    failures: tuple[TooFewError, ...]


def probe_targets(
    targets: Targets,
    specs: Sequence[Spec],
    *,
    run: "Run",
    preset: "ClassifierChoice | None" = None,
    words: Spec | str | None = None,
    reporter: Reporter | None = None,
) -> Outcome:
    """Run the encoders on all datasets of the targets that can be built or read.

    Raises:
        UsageError: see :func:`.targets.find_datasets`; the results' folder is not ours.
        SentprobeError: an encoder or a dataset could not be made.
    """
    from sentprobe.probes.runs.run import (  # noqa: PLC0415 - PyTorch is slow
        distinct_encoders,
        placed_encoders,
        run_encoders,
    )
    from sentprobe.probes.runs.store import prepare_directory  # noqa: PLC0415

    reporter = reporter or Silent()
    encoders = distinct_encoders(specs, seed=run.seed)
    if run.out is not None:
        prepare_directory(run.out)
    found = find_datasets(targets, command=run.command, reporter=reporter)
    encoders = placed_encoders(encoders, found.datasets)
    results = run_encoders(
        found.datasets, encoders, run=run, preset=preset, probe_vectors=words, reporter=reporter
    )
    of_data = (f"{data.name}: {note}" for data in found.datasets for note in data.card.notes)
    of_encoders = (note for each in encoders for note in getattr(each, "notes", ()))
    return Outcome(results, (*of_data, *of_encoders), found.failures)


def parse_encoders(texts: Sequence[str]) -> list[Spec]:
    """Return the specs of the encoders.

    Raises:
        UsageError: one is not right; two are of one name.
    """
    specs = [parse_spec(text) for text in texts]
    check_names(specs)
    for spec in specs:
        find_kind(spec)
    return specs


def parse_classifier(
    preset: str | None, overrides: Sequence[str], targets: Targets
) -> "Callable[[ProbeDataset], Preset]":
    """Return what gives each dataset its classifier: *preset* or that of its paper, overridden.

    Raises:
        UsageError: there is no such preset, or none of its values is so called, or can be that.
    """
    pairs = [parse_pair(text) for text in overrides]

    @once
    def find(name: str) -> Preset:
        return override(find_preset(name), pairs)

    for name in _presets(targets) if preset is None else [preset]:
        find(name)
    return lambda data: find(preset or preset_of(data.card.task, data.name))


def _presets(targets: Targets) -> set[str]:
    """Return the presets that are known to be used before any dataset is read."""
    natural = [each for each in targets.found if isinstance(each, NaturalSuite)]
    found = {preset_of(task.name) for each in natural for task in each.tasks}
    return found if natural and opt.COMPEVAL not in targets.suites else {*found, OTHERWISE}
