"""The command ``probe train``: train an encoder on the user's texts, and probe it during training."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, fields, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from sentprobe.commands.shared import options as opt
from sentprobe.commands.shared import train_options
from sentprobe.commands.shared.help import HelpfulCommand, map_given_options
from sentprobe.commands.shared.interruption import describe_resumption, report_interruption
from sentprobe.commands.shared.output_paths import OUTPUT_FOLDER
from sentprobe.commands.shared.table_output import check_output_file
from sentprobe.common import screen, specs
from sentprobe.common.errors import SentprobeError, UsageError, format_count, require_libraries
from sentprobe.common.processes import check_count, limit_threads, make_workers
from sentprobe.common.screen import print_message, print_place, print_text
from sentprobe.common.settings import MACHINE
from sentprobe.common.specs import check_distinct, choose_member
from sentprobe.probes.training.objective_options import ObjectiveOptions

if TYPE_CHECKING:
    from sentprobe.probes.runs.encoder_training import ProbingPlan, TrainingPlan, TrainingReport
    from sentprobe.probes.training.loop import TrainingSettings
    from sentprobe.probes.training.schedule import OptimizerSettings, TrainingPreset


class TrainCommand(HelpfulCommand):
    """A command whose ``--help`` lists rarely used options by name, without their descriptions."""

    folded: ClassVar = (train_options.DETAILS, MACHINE)


@dataclass(frozen=True, slots=True)
class TrainChoices:
    """All options of the command, by group."""

    texts: train_options.TextChoices
    encoder: train_options.EncoderChoices
    length: train_options.TrainingChoices
    probing: train_options.ProbingChoices
    details: train_options.DetailChoices
    where: train_options.MachineChoices


app = typer.Typer(add_completion=False)


@app.command("train", cls=TrainCommand)
@opt.expand_option_groups
def train(
    context: typer.Context,
    architecture: Annotated[
        list[str],
        typer.Argument(
            metavar="ARCHITECTURE",
            help=f"{specs.enumerate_names(specs.ARCHITECTURES)}; for probe lm: lstm-lm or ngram.",
        ),
    ],
    out: Annotated[Path, opt.build_out_option("Folder, new or to resume; ngram: ARPA file."), OUTPUT_FOLDER],
    objective: Annotated[str | None, typer.Option(help=f"{specs.enumerate_names(specs.OBJECTIVES)}.")] = None,
    seed: Annotated[int, opt.build_seed_option("weights, batches, probes")] = 0,
    seeds: Annotated[int, typer.Option(help="Number of encoders with different seeds.")] = 1,
    *,
    texts: train_options.TextChoices,
    encoder: train_options.EncoderChoices,
    length: train_options.TrainingChoices,
    probing: train_options.ProbingChoices,
    details: train_options.DetailChoices,
    where: train_options.MachineChoices,
) -> None:
    """Train an encoder on your texts, and probe it during training."""
    check_count("seeds", seeds)
    check_count("jobs", where.jobs)
    check_count("threads", where.threads)
    if specs.NGRAM in architecture:
        check_distinct("architecture", architecture)
        _train_ngram_model(architecture, map_given_options(context), texts=texts, encoder=encoder, out=out)
        return
    architecture, objective = _choose_objective(architecture, objective)
    require_libraries("torch", "lightning_fabric")
    from sentprobe.probes.training import objectives

    given_options = map_given_options(context)
    if "order" in given_options:
        raise UsageError(f"--order is for {specs.NGRAM}, not for {architecture[0]}")
    objectives.reject_unused_options(objectives.find_objective(objective), given_options)
    plans = [
        *_build_plans(
            architecture,
            objective,
            out,
            range(seed, seed + seeds),
            choices=TrainChoices(texts, encoder, length, probing, details, where),
            probing=_build_probing_plan(probing),
        )
    ]
    from sentprobe.probes.training.devices_and_precision import is_first_process

    with report_interruption(lambda: _describe_checkpoints(plans, out)):
        for report in _train_all(plans, jobs=min(where.jobs, len(plans)), threads=where.threads):
            if is_first_process():
                print_text(_describe_report(report))


NGRAM_OPTIONS = (
    *("architecture", "out", "corpus", "tokenised", "lower", "format", "column", "document", "encoding", "punkt"),
    *("longest", "words", "order"),
)
"""Parameters of ``probe train`` that apply to n-gram models."""


def _train_ngram_model(
    architectures: Sequence[str],
    given_options: Mapping[str, str],
    *,
    texts: train_options.TextChoices,
    encoder: train_options.EncoderChoices,
    out: Path,
) -> None:
    """Train an n-gram model with Kneser-Ney smoothing, and write it to the ARPA file *out*. Raises UsageError."""
    if len(architectures) > 1:
        raise UsageError(f"{specs.NGRAM} is trained alone, not with {', '.join(architectures)}")
    if unused := [option for name, option in given_options.items() if name not in NGRAM_OPTIONS]:
        raise UsageError(f"{unused[0]} is not for {specs.NGRAM}")
    if encoder.order < 1:
        raise UsageError(f"--order must be positive, not {encoder.order}")
    if not texts.corpus:
        raise UsageError(f"{specs.NGRAM} learns from sentences: --corpus is missing")
    check_output_file(out)
    from sentprobe.generator.pairs.triplet_files import write_rows
    from sentprobe.probes.language_models.kneser_ney import train_ngrams
    from sentprobe.probes.training import running_text

    columns = dict(zip(("column",), texts.column or (), strict=False))
    files = running_text.SentenceFiles(format=texts.format, document=texts.document, **columns)
    with screen.show_bars() as reporter:
        reporter.begin("read the texts", 1)
        sentences = running_text.read_sentences(*texts.corpus, files=files, options=texts.build_options())
        reporter.advance()
        reporter.begin("count n-grams", 1)
        write_rows(out, train_ngrams(sentences.texts, order=encoder.order, words=encoder.words))
        reporter.advance()
    print_place(f"{out}: n-grams of up to {encoder.order} words, from {sentences}; {sentences.omitted}")


def _choose_objective(architectures: list[str], objective: str | None) -> tuple[list[str], str]:
    """Return the architectures and the objective, with ``lstm-lm`` replaced by lstm and next-word."""
    if architectures == [specs.LSTM_LM] and objective in (None, "next-word"):
        return ["lstm"], "next-word"
    if specs.LSTM_LM in architectures:
        raise UsageError(
            f"{specs.LSTM_LM} already means lstm with next-word: leave out --objective and other architectures"
        )
    if objective is None:
        raise UsageError(f"--objective is missing: {specs.enumerate_names(specs.OBJECTIVES)}")
    return architectures, objective


def _describe_checkpoints(plans: "Sequence[TrainingPlan]", out: Path) -> str:
    """Return a message for a stopped training: how to resume it or, if no checkpoint exists, that nothing is kept."""
    from sentprobe.probes.training import checkpoint

    has_checkpoint = any((plan.out / checkpoint.CHECKPOINT_FOLDER / checkpoint.STATE_FILE).exists() for plan in plans)
    return describe_resumption(out) if has_checkpoint else "no step was finished, so nothing is kept"


def _build_plans(
    architectures: Sequence[str],
    objective: str,
    out: Path,
    seeds: Sequence[int],
    *,
    choices: TrainChoices,
    probing: "ProbingPlan | None",
) -> Iterator["TrainingPlan"]:
    """Yield a training plan for each architecture and seed, each with its own folder."""
    from sentprobe.probes.runs.encoder_training import check_texts
    from sentprobe.probes.training import devices_and_precision, learners

    check_distinct("architecture", architectures)
    pairs = [*product(architectures, seeds)]
    for architecture, seed in pairs:
        folder_parts = ([architecture] if len(architectures) > 1 else []) + ([f"seed{seed}"] if len(seeds) > 1 else [])
        plan = _build_plan(architecture, objective, seed, choices)
        plan = replace(
            plan,
            out=out / "-".join(folder_parts) if folder_parts else out,
            name=f"{plan.name} seed {seed}" if len(seeds) > 1 else plan.name,
            probing=probing,
        )
        check_texts(plan)
        if objective == "next-word":
            learners.check_architecture(plan.model.architecture, is_reversed=plan.model.reverse)
        if plan.kind.learns:
            devices_and_precision.check_machine(plan.settings.machine)
        yield plan


def _build_plan(architecture: str, objective: str, seed: int, choices: TrainChoices) -> "TrainingPlan":
    from sentprobe.probes.encoders.architecture import Architecture
    from sentprobe.probes.runs import encoder_training as plans
    from sentprobe.probes.training import objectives
    from sentprobe.probes.training.schedule import find_training_preset

    encoder, texts = choices.encoder, choices.texts
    preset = find_training_preset(choices.length.preset)
    is_average = (architecture, objective) == ("cbow", "none")  # Adi et al. 2017 average skip-gram vectors
    vectors = encoder.vectors or ("skip-gram" if is_average else "")
    inputs = _choose_inputs(vectors, encoder.inputs)
    return plans.TrainingPlan(
        name=f"{architecture} {objectives.find_objective(objective).name}",
        objective=objective,
        texts=plans.TextPlan(
            corpus=tuple(texts.corpus or ()),
            parallel=texts.parallel,
            format=texts.format,
            columns=tuple(texts.column or ()),
            document=texts.document,
            options=texts.build_options(),
            events=choices.details.events,
        ),
        model=plans.ModelPlan(
            architecture=Architecture(
                kind=architecture,
                hidden=encoder.hidden,
                layers=encoder.layers,
                inputs=_find_first_value(inputs, None if objective == "next-word" else preset.inputs, encoder.hidden),
            ),
            words=encoder.words,
            vectors=vectors,
            frozen=bool(vectors) if encoder.frozen is None else encoder.frozen,
            reverse=preset.reverse,
        ),
        options=_choose_objective_options(preset, choices, seed),
        settings=_choose_settings(architecture, preset, choices, seed),
        out=Path(),
        command=opt.format_command_line(),
    )


def _choose_objective_options(preset: "TrainingPreset", choices: TrainChoices, seed: int) -> ObjectiveOptions:
    """Return the options of the objective: those on the command line, else those of the preset, else defaults."""
    options: dict[str, Any] = {
        "batch": preset.batch,
        "dropout": preset.dropout,
        "decoder_layers": preset.decoder_layers,
        "decoder_hidden": _find_first_value(preset.decoder_hidden, choices.encoder.hidden),
        "seed": seed,
    }
    for field in fields(ObjectiveOptions):
        for group in (choices.details, choices.length):
            value = getattr(group, field.name, None)
            if value is not None:
                options[field.name] = value
    return ObjectiveOptions(**options)


def _choose_settings(
    architecture: str, preset: "TrainingPreset", choices: TrainChoices, seed: int
) -> "TrainingSettings":
    from sentprobe.probes.classifier.probe import Precision
    from sentprobe.probes.training import devices_and_precision, loop, schedule

    length, probing, where = choices.length, choices.probing, choices.where
    every = probing.probe_every
    return loop.TrainingSettings(
        seed=seed,
        optimizer=_choose_optimizer(preset.choose_optimizer(architecture), choices.details),
        limits=schedule.Limits(
            steps=length.steps, epochs=length.epochs, minutes=length.minutes, patience=length.patience
        ),
        validate_every=schedule.parse_step_interval(length.validate_every, "--validate-every"),
        probe_every=None if every is None else schedule.parse_step_interval(every, "--probe-every"),
        machine=devices_and_precision.TrainingMachine(
            device=where.device,
            devices=where.devices,
            precision=choose_member(Precision, where.precision, what="precision"),
        ),
    )


def _find_first_value(*values: int | None) -> int:
    """Return the first value that is not None; the last value must not be None."""
    return next(value for value in values if value is not None)


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


def _choose_optimizer(default: "OptimizerSettings", details: train_options.DetailChoices) -> "OptimizerSettings":
    """Return the optimizer that *details* names, else *default*; replace rate and clip if *details* has them."""
    from sentprobe.probes.training import schedule as known

    if details.optimizer is not None:
        default = known.DEFAULT_SETTINGS[choose_member(known.OptimizerKind, details.optimizer, what="optimizer")]
    rate = default.rate if details.rate is None else details.rate
    return replace(default, rate=rate, clip=default.clip if details.clip is None else details.clip)


def _build_probing_plan(probing: train_options.ProbingChoices) -> "ProbingPlan | None":
    from sentprobe.probes.runs.encoder_training import plan_probing

    if probing.probe_every is None:
        values = {"--task": probing.task, "--contrast": probing.contrast, "--items": probing.items}
        for option, value in values.items():
            if value is not None:
                raise UsageError(f"{option} needs --probe-every")
        return None
    plan = plan_probing(probing.task or (), probing.contrast or (), items=_find_first_value(probing.items, 1000))
    if probing.items is not None and not plan.builds:
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
