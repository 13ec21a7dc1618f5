"""The command ``probe train``: train an encoder on the user's texts, and probe it during training.

The command ``probe repair``: train a published model to tell a user's texts from their opposites.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, nullcontext
from dataclasses import fields, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from sentprobe.commands.shared import options as opt
from sentprobe.commands.shared.help import HelpfulCommand, map_given_options
from sentprobe.commands.shared.interruption import describe_resumption, report_interruption
from sentprobe.commands.shared.output_paths import OUTPUT_FOLDER
from sentprobe.commands.shared.table_output import FLAT, check_output_file, find_table_format, write_tables
from sentprobe.commands.shared.train_options import DETAILS, TrainOptions
from sentprobe.common import screen, specs
from sentprobe.common.errors import SentprobeError, UsageError, format_count, require_libraries, suggest
from sentprobe.common.processes import check_count, limit_threads, make_workers
from sentprobe.common.screen import print_message, print_place, print_text, show_bars
from sentprobe.common.settings import MACHINE
from sentprobe.common.specs import check_distinct, choose_member
from sentprobe.probes.encoders.architecture import DEFAULT_LAYERS
from sentprobe.probes.training.objective_options import ObjectiveOptions
from sentprobe.probes.training.objectives import OBJECTIVES, SEPARATOR, choose_objectives

if TYPE_CHECKING:
    from sentprobe.probes.runs.encoder_training import ProbingPlan, TrainingPlan, TrainingReport
    from sentprobe.probes.training.loop import TrainingSettings
    from sentprobe.probes.training.objective_plans import ObjectivePlan
    from sentprobe.probes.training.schedule import TrainingPreset


class TrainCommand(HelpfulCommand):
    """A command whose ``--help`` lists rarely used options by name, without their descriptions."""

    folded: ClassVar = (DETAILS, MACHINE)


app = typer.Typer(add_completion=False)


@app.command("train", cls=TrainCommand)
@opt.expand_option_groups
def train(
    context: typer.Context,
    architecture: Annotated[
        list[str],
        typer.Argument(
            metavar="ARCHITECTURE", help=f"{specs.enumerate_names([*DEFAULT_LAYERS])}; for probe lm: lstm-lm or ngram."
        ),
    ],
    out: Annotated[Path, opt.build_out_option("Folder, new or to resume; ngram: ARPA file."), OUTPUT_FOLDER],
    objective: Annotated[
        list[str] | None, typer.Option(help=f"{specs.enumerate_names([*OBJECTIVES])}. Repeatable.")
    ] = None,
    seed: Annotated[int, opt.build_seed_option("weights, batches, probes")] = 0,
    seeds: Annotated[int, typer.Option(help="Number of encoders with different seeds.")] = 1,
    *,
    options: TrainOptions,
) -> None:
    """Train an encoder on your texts, and probe it during training."""
    check_count("seeds", seeds)
    check_count("jobs", options.jobs)
    check_count("threads", options.threads)
    if specs.NGRAM in architecture:
        check_distinct("architecture", architecture)
        _train_ngram_model(architecture, map_given_options(context), options=options, out=out)
        return
    architecture, names = _choose_objectives(architecture, objective or [])
    require_libraries("torch", "lightning_fabric")
    from sentprobe.probes.encoders.network import NETWORKS
    from sentprobe.probes.training import objectives

    given_options = map_given_options(context)
    if "order" in given_options:
        raise UsageError(f"--order is for {specs.NGRAM}, not for {architecture[0]}")
    if options.trees and not any(kind in NETWORKS and NETWORKS[kind].reads_trees for kind in architecture):
        raise UsageError(f"--trees is for tree-lstm, not for {architecture[0]}")
    objectives.reject_unused_options([*map(objectives.find_objective, names)], given_options)
    learned = _plan_objectives(names, options)
    probing = _build_probing_plan(options)
    plans = [*_build_plans(architecture, learned, out, range(seed, seed + seeds), options=options, probing=probing)]
    from sentprobe.probes.training.devices_and_precision import is_first_process

    with report_interruption(lambda: _describe_checkpoints(plans, out)):
        for report in _train_all(plans, jobs=min(options.jobs, len(plans)), threads=options.threads):
            if is_first_process():
                print_text(_describe_report(report))


NGRAM_OPTIONS = (
    *("architecture", "out", "corpus", "tokenised", "lower", "format", "column", "document", "encoding", "punkt"),
    *("longest", "words", "order"),
)
"""Parameters of ``probe train`` that apply to n-gram models."""


def _train_ngram_model(
    architectures: Sequence[str], given_options: Mapping[str, str], *, options: TrainOptions, out: Path
) -> None:
    """Train an n-gram model with Kneser-Ney smoothing, and write it to the ARPA file *out*. Raises UsageError."""
    if len(architectures) > 1:
        raise UsageError(f"{specs.NGRAM} is trained alone, not with {', '.join(architectures)}")
    if unused := [option for name, option in given_options.items() if name not in NGRAM_OPTIONS]:
        raise UsageError(f"{unused[0]} is not for {specs.NGRAM}")
    if options.order < 1:
        raise UsageError(f"--order must be positive, not {options.order}")
    if not options.corpus:
        raise UsageError(f"{specs.NGRAM} learns from sentences: --corpus is missing")
    if len(options.column or ()) > 1:
        raise UsageError(f"{specs.NGRAM} needs 1 column, but --column is given {len(options.column or ())} times")
    check_output_file(out)
    from sentprobe.generator.pairs.triplet_files import write_rows
    from sentprobe.probes.language_models.kneser_ney import train_ngrams
    from sentprobe.probes.training import running_text

    columns = dict(zip(("column",), options.column or (), strict=False))
    files = running_text.SentenceFiles(format=options.format, document=options.document, **columns)
    with screen.show_bars() as reporter:
        reporter.begin("read the texts", 1)
        sentences = running_text.read_sentences(*options.corpus, files=files, options=options.build_text_options())
        reporter.advance()
        reporter.begin("count n-grams", 1)
        write_rows(out, train_ngrams(sentences.texts, order=options.order, words=options.words))
        reporter.advance()
    print_place(f"{out}: n-grams of up to {options.order} words, from {sentences}; {sentences.omitted}")


def _choose_objectives(architectures: list[str], objectives: Sequence[str]) -> tuple[list[str], Sequence[str]]:
    """Return the architectures and the objectives, with ``lstm-lm`` replaced by lstm and next-word."""
    from sentprobe.probes.encoders.architecture import DEFAULT_LAYERS

    known = (*DEFAULT_LAYERS, specs.LSTM_LM, specs.NGRAM)
    for name in architectures:
        if name not in known:
            raise UsageError(f"there is no architecture {name!r}{suggest(name, known)}; known: {', '.join(known)}")
    if architectures == [specs.LSTM_LM] and [*objectives] in ([], ["next-word"]):
        return ["lstm"], ["next-word"]
    if specs.LSTM_LM in architectures:
        raise UsageError(
            f"{specs.LSTM_LM} already means lstm with next-word: leave out --objective and other architectures"
        )
    if not objectives:
        raise UsageError(f"--objective is missing: {specs.enumerate_names([*OBJECTIVES])}")
    return architectures, choose_objectives(objectives)


def _plan_objectives(names: Sequence[str], options: TrainOptions) -> "tuple[ObjectivePlan, ...]":
    from sentprobe.probes.training.objective_plans import parse_weights, plan_objectives

    return plan_objectives(
        names,
        weights=parse_weights(options.weight or (), names),
        corpus=options.corpus or (),
        parallel=options.parallel,
        format=options.format,
        columns=options.column or (),
        document=options.document,
    )


def _describe_checkpoints(plans: "Sequence[TrainingPlan]", out: Path) -> str:
    """Return a message for a stopped training: how to resume it or, if no checkpoint exists, that nothing is kept."""
    from sentprobe.probes.training import checkpoint

    has_checkpoint = any((plan.out / checkpoint.CHECKPOINT_FOLDER / checkpoint.STATE_FILE).exists() for plan in plans)
    return describe_resumption(out) if has_checkpoint else "no step was finished, so nothing is kept"


def _build_plans(
    architectures: Sequence[str],
    objectives: "tuple[ObjectivePlan, ...]",
    out: Path,
    seeds: Sequence[int],
    *,
    options: TrainOptions,
    probing: "ProbingPlan | None",
) -> Iterator["TrainingPlan"]:
    """Yield a training plan for each architecture and seed, each with its own folder."""
    from sentprobe.probes.training import devices_and_precision, learners

    check_distinct("architecture", architectures)
    pairs = [*product(architectures, seeds)]
    for architecture, seed in pairs:
        folder_parts = ([architecture] if len(architectures) > 1 else []) + ([f"seed{seed}"] if len(seeds) > 1 else [])
        folder = out / "-".join(folder_parts) if folder_parts else out
        plan = _build_plan(architecture, objectives, seed, options, folder=folder, probing=probing)
        if len(seeds) > 1:
            plan = replace(plan, name=f"{plan.name} seed {seed}")
        learners.check_architecture(
            plan.architecture, [*plan.weights], attention=plan.options.attention, is_reversed=plan.reverse
        )
        if plan.learns:
            devices_and_precision.check_machine(plan.settings.machine)
        yield plan


def _build_plan(
    architecture: str,
    objectives: "tuple[ObjectivePlan, ...]",
    seed: int,
    options: TrainOptions,
    *,
    folder: Path,
    probing: "ProbingPlan | None",
) -> "TrainingPlan":
    from sentprobe.probes.encoders.architecture import Architecture
    from sentprobe.probes.encoders.network import NETWORKS
    from sentprobe.probes.runs.encoder_training import TrainingPlan
    from sentprobe.probes.training.schedule import find_training_preset

    preset = find_training_preset(options.preset)
    names = [plan.objective for plan in objectives]
    is_average = (architecture, names) == ("cbow", ["none"])  # Adi et al. 2017 average skip-gram vectors
    vectors = options.vectors or ("skip-gram" if is_average else "")
    inputs = _choose_inputs(vectors, options.inputs)
    if inputs is None and "next-word" not in names:
        inputs = preset.inputs
    if inputs is None:  # for next-word and preset adi: as wide as the hidden layer
        inputs = options.hidden
    return TrainingPlan(
        name=f"{architecture} {SEPARATOR.join(names)}",
        objectives=objectives,
        out=folder,
        text_options=options.build_text_options(),
        events=options.events,
        architecture=Architecture(kind=architecture, hidden=options.hidden, layers=options.layers, inputs=inputs),
        words=options.words,
        vectors=vectors,
        frozen=bool(vectors) if options.frozen is None else options.frozen,
        reverse=preset.reverse,
        trees=options.trees if NETWORKS[architecture].reads_trees else None,
        options=_choose_objective_options(preset, options, seed),
        settings=_choose_settings(architecture, preset, options, seed),
        probing=probing,
        command=opt.format_command_line(),
    )


def _choose_objective_options(preset: "TrainingPreset", options: TrainOptions, seed: int) -> ObjectiveOptions:
    """Return the options of the objective: those on the command line, else those of the preset, else defaults."""
    values: dict[str, Any] = {
        "batch": preset.batch,
        "dropout": preset.dropout,
        "decoder_layers": preset.decoder_layers,
        "decoder_hidden": options.hidden if preset.decoder_hidden is None else preset.decoder_hidden,
        "seed": seed,
    }
    for field in fields(ObjectiveOptions):
        value = getattr(options, field.name, None)
        if value is not None:
            values[field.name] = value
    return ObjectiveOptions(**values)


def _choose_settings(
    architecture: str, preset: "TrainingPreset", options: TrainOptions, seed: int
) -> "TrainingSettings":
    from sentprobe.probes.classifier.probe import Precision
    from sentprobe.probes.training import devices_and_precision, loop, schedule

    optimizer = preset.choose_optimizer(architecture)
    if options.optimizer is not None:
        kind = choose_member(schedule.OptimizerKind, options.optimizer, what="optimizer")
        optimizer = schedule.DEFAULT_SETTINGS[kind]
    rate = optimizer.rate if options.rate is None else options.rate
    clip = optimizer.clip if options.clip is None else options.clip
    every = options.probe_every
    return loop.TrainingSettings(
        seed=seed,
        optimizer=replace(optimizer, rate=rate, clip=clip),
        limits=schedule.Limits(
            steps=options.steps, epochs=options.epochs, minutes=options.minutes, patience=options.patience
        ),
        validate_every=schedule.parse_step_interval(options.validate_every, "--validate-every"),
        probe_every=None if every is None else schedule.parse_step_interval(every, "--probe-every"),
        machine=devices_and_precision.TrainingMachine(
            device=options.device,
            devices=options.devices,
            precision=choose_member(Precision, options.precision, what="precision"),
        ),
    )


def _choose_inputs(vectors: str, requested_width: int | None) -> int | None:
    """Return the width of the word vectors in the file *vectors*, or *requested_width* if *vectors* names no file.

    Raises UsageError if the requested width differs from the width in the file.
    """
    from sentprobe.probes.encoders.word_vectors import read_width
    from sentprobe.probes.training.text_filters import SKIP_GRAM

    width = read_width(Path(vectors)) if vectors and vectors != SKIP_GRAM else None
    if width is not None and requested_width not in (None, width):
        raise UsageError(f"--inputs {requested_width}: the word vectors of {vectors} have width {width}; omit --inputs")
    return requested_width if width is None else width


def _build_probing_plan(options: TrainOptions) -> "ProbingPlan | None":
    from sentprobe.probes.runs.encoder_training import plan_probing

    if options.probe_every is None:
        values = {"--task": options.task, "--contrast": options.contrast, "--items": options.items}
        for option, value in values.items():
            if value is not None:
                raise UsageError(f"{option} needs --probe-every")
        return None
    items = 1000 if options.items is None else options.items
    plan = plan_probing(options.task or (), options.contrast or (), items=items)
    if options.items is not None and not plan.builds:
        raise UsageError("--items is for tasks that are built: datasets are used with all items")
    return plan


def _train_all(plans: "Sequence[TrainingPlan]", *, jobs: int, threads: int | None) -> Iterator["TrainingReport"]:
    if jobs == 1:
        for plan in plans:
            yield train_encoder(plan, threads=threads)
        return
    with make_workers(jobs) as pool:
        assert pool is not None
        work = partial(train_encoder, threads=threads or 1, is_parallel=True)
        try:
            yield from pool.map(work, plans)
        except BrokenProcessPool:
            raise SentprobeError(
                "a worker process was killed (out of memory?); fewer --jobs need less memory"
            ) from None


def train_encoder(plan: "TrainingPlan", *, threads: int | None, is_parallel: bool = False) -> "TrainingReport":
    """Train one encoder. If *is_parallel*, print progress as lines: bars of several processes would overlap."""
    from sentprobe.probes.runs.encoder_training import run_training
    from sentprobe.probes.training.devices_and_precision import is_first_process

    reporter_context: AbstractContextManager[screen.Reporter]
    reporter_context = screen.show_bars(notes=True)
    if is_parallel:
        reporter_context = screen.show_lines(sys.stderr, shares=True, title=plan.out.name)
    if not is_first_process():  # only the first of several devices reports progress
        reporter_context = nullcontext(screen.SilentReporter())
    with limit_threads(threads), reporter_context as reporter:
        return run_training(plan, reporter, report=_print_note)


def _print_note(text: str) -> None:
    from sentprobe.probes.training.devices_and_precision import is_first_process

    if is_first_process():
        print_message(text)


def _describe_report(report: "TrainingReport") -> str:
    state = report.state
    if state is None:
        return f"{report.out}: {report.why}"
    best = f"; best: {state.best}" if state.best else ""
    status = "finished before, after" if report.was_finished else "finished after"
    steps = format_count(state.step, "step")
    return f"{report.out}: {status} {steps} ({report.why}){best}"


@opt.expand_option_groups
def repair(
    model: Annotated[str, typer.Argument(metavar="st:MODEL", help="Model of sentence-transformers.")],
    texts: Annotated[str, typer.Option(metavar="FILE", help="Your texts: a line each, CSV, TSV, JSONL or CoNLL-U.")],
    out: Annotated[Path, opt.build_out_option("Folder of the repaired model, new or empty."), OUTPUT_FOLDER],
    column: Annotated[str | None, typer.Option(help="Column of the texts in a table. Default: text.")] = None,
    parser: Annotated[
        str | None,
        typer.Option("--parser", "-p", help="spacy:PIPELINE or stanza. Default: none (numbers, dates, units only)."),
    ] = None,
    language: Annotated[str, typer.Option(help="Language of the texts: en or de.")] = "en",
    pairs: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Your pairs too (columns a, b, same=0/1, kind).")
    ] = None,
    keep_texts: Annotated[
        Path | None, typer.Option(metavar="FILE", help="More texts, a line each, whose cosines are to stay.")
    ] = None,
    max_loss: Annotated[
        float, typer.Option(metavar="POINTS", help="Exit with 1 if a kind is significantly worse by more points.")
    ] = 2.0,
    steps: Annotated[int, typer.Option(help="Number of batches.")] = 120,
    batch: Annotated[int, typer.Option(help="Number of pairs or texts in a batch.")] = 32,
    rate: Annotated[float, typer.Option(help="Learning rate.")] = 5e-5,
    keep_weight: Annotated[float, typer.Option(help="Weight of the loss that keeps cosines; 0: none.")] = 30.0,
    strength: Annotated[float, typer.Option(help="Share of the trained change of the weights, 0 to 1.")] = 0.65,
    seed: Annotated[int, opt.build_seed_option("split, batches and dropout")] = 0,
    format_: Annotated[str, opt.build_format_option(opt.TABLE_FORMATS)] = "text",
    device: Annotated[str, opt.machine_option(help="auto, cpu, cuda or mps.")] = "auto",
    precision: Annotated[str, opt.machine_option(help="float32, bfloat16 or auto.")] = "float32",
    threads: opt.ThreadsOption = None,
) -> None:
    """Train a model on opposites of your texts, near its old vectors.

    Opposites and variants are those of gen edit. 30% of the texts are held out: the figures before and after are of
    these. A killed repair resumes with the same command.
    """
    for name, count in (("steps", steps), ("batch", batch), ("threads", threads)):
        check_count(name, count)
    if not rate > 0 or not keep_weight >= 0:
        raise UsageError("--rate must be above 0, and --keep-weight at least 0")
    if not 0 < strength <= 1:
        raise UsageError(f"--strength must be above 0 and at most 1, not {strength:g}")
    style = find_table_format(format_, None, subject="a repair")
    from sentprobe.probes.classifier.probe import Precision
    from sentprobe.probes.repair.repair_measures import build_repair_tables
    from sentprobe.probes.repair.repair_run import RepairPlan
    from sentprobe.probes.repair.repair_run import repair as run

    plan = RepairPlan(
        model=model,
        texts=texts,
        out=out,
        column=column,
        pairs=pairs,
        keep_texts=keep_texts,
        parser=parser,
        language=language,
        max_loss=max_loss / 100,
        command=opt.format_command_line(),
    )
    kept = f"checkpoints are kept in {plan.checkpoints}; the same command resumes from the last complete one"
    with limit_threads(threads), show_bars() as reporter, report_interruption(kept):
        result = run(
            plan,
            reporter=reporter,
            steps=steps,
            batch=batch,
            rate=rate,
            keep_weight=keep_weight,
            strength=strength,
            seed=seed,
            device=device,
            precision=choose_member(Precision, precision, what="precision"),
        )
    if style not in FLAT:
        print_text(str(result))
    write_tables(build_repair_tables(result), result.to_records, style)
    if result.list_losses():
        raise typer.Exit(1)
