"""The command ``probe train``: encoders of the papers, trained on texts of the user's."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, TypeVar

import typer

from sentprobe import progress
from sentprobe.commands import completion as offer
from sentprobe.commands import options as opt
from sentprobe.commands import train_options as asked
from sentprobe.commands.help import HelpfulCommand
from sentprobe.commands.stopping import goes_on, stopping
from sentprobe.errors import UsageError, counted, told
from sentprobe.processes import check_count, in_order, limit_threads, workers
from sentprobe.screen import say
from sentprobe.specs import check_distinct

if TYPE_CHECKING:
    from sentprobe.probes.pretraining.optimizers import OptimizerSettings
    from sentprobe.probes.runs.probing_plan import ProbingPlan
    from sentprobe.probes.runs.training import TrainingReport
    from sentprobe.probes.runs.training_plan import TrainingPlan


class FoldsDetails(HelpfulCommand):
    """Its help folds what few need."""

    folded: ClassVar = (asked.DETAILS, opt.MACHINE)


app = typer.Typer(add_completion=False)

_Number = TypeVar("_Number", int, float)


@app.command("train", cls=FoldsDetails)
@opt.with_groups
def train(
    context: typer.Context,
    architecture: Annotated[
        list[str],
        typer.Argument(
            metavar="ARCHITECTURE",
            help="lstm, bilstm-last, bilstm-max, gated-conv, gru-uni, gru-bi or cbow.",
            autocompletion=offer.complete_architecture,
        ),
    ],
    objective: Annotated[
        str,
        typer.Option(
            "--objective",
            help="none, autoencoder, denoising, skipthought, nmt, seq2tree, nli, meaning or "
            "contrastive.",
            autocompletion=offer.complete_objective,
        ),
    ],
    out: Annotated[
        Path,
        opt.out_to("Its folder, where a run goes on."),
    ],
    seed: Annotated[int, opt.seed_of("weights, batches and probes")] = 0,
    seeds: Annotated[int, typer.Option(help="Encoders each, of seeds --seed and up.")] = 1,
    *,
    texts: asked.TextChoices,
    encoder: asked.EncoderChoices,
    length: asked.LengthChoices,
    looks: asked.LookChoices,
    details: asked.DetailChoices,
    where: asked.MachineChoices,
) -> None:
    """Train an encoder of the papers on your texts, and probe it on the way."""
    check_count("seeds", seeds)
    check_count("jobs", where.jobs)
    check_count("threads", where.threads)
    _refuse_idle(objective, context)
    plans = [
        *_plans(
            architecture,
            objective,
            out,
            range(seed, seed + seeds),
            choices=(texts, encoder, length, looks, details, where),
            probing=_probing(looks),
        )
    ]
    from sentprobe.probes.pretraining.machines import is_first_process  # noqa: PLC0415 - PyTorch

    with stopping(lambda: _kept(plans, out)):
        for done in _train_all(plans, jobs=min(where.jobs, len(plans)), threads=where.threads):
            if is_first_process():
                say(_told(done))


def _kept(plans: "Sequence[TrainingPlan]", out: Path) -> str:
    """Return what is said of what is kept where a training is stopped."""
    from sentprobe.probes.pretraining import checkpoint  # noqa: PLC0415 - PyTorch is slow

    begun = any((plan.out / checkpoint.FOLDER / checkpoint.STATE).exists() for plan in plans)
    return goes_on(out) if begun else "no step was made yet, and nothing is kept"


def _refuse_idle(objective: str, context: typer.Context) -> None:
    from sentprobe.probes.pretraining import objectives  # noqa: PLC0415 - PyTorch is slow

    given = opt.given_as_written(context)
    objectives.refuse_idle(objectives.find_objective(objective), given)


def _plans(
    architectures: Sequence[str],
    objective: str,
    out: Path,
    seeds: Sequence[int],
    *,
    choices: tuple[Any, ...],
    probing: "ProbingPlan | None",
) -> Iterator["TrainingPlan"]:
    """Yield what is trained: each architecture with each seed, in a folder of its own.

    Raises:
        UsageError: something that is asked for cannot be; see the messages.
    """
    from sentprobe.probes.pretraining import machines  # noqa: PLC0415 - PyTorch is slow
    from sentprobe.probes.runs.training_plan import check_texts  # noqa: PLC0415

    check_distinct("architecture", architectures)
    pairs = [*product(architectures, seeds)]
    for kind, seed in pairs:
        varied = ([kind] if len(architectures) > 1 else []) + (
            [f"seed{seed}"] if len(seeds) > 1 else []
        )
        plan = _plan(kind, objective, seed, choices)
        plan = replace(
            plan,
            out=out / "-".join(varied) if varied else out,
            name=f"{plan.name} seed {seed}" if len(seeds) > 1 else plan.name,
            probing=probing,
        )
        check_texts(plan)
        if plan.kind.learns:
            machines.check_machine(plan.settings.machine)
        yield plan


def _plan(kind: str, objective: str, seed: int, choices: tuple[Any, ...]) -> "TrainingPlan":
    from sentprobe.probes.encoders.networks.architecture import Architecture  # noqa: PLC0415
    from sentprobe.probes.pretraining import loop, machines, objectives, schedule  # noqa: PLC0415
    from sentprobe.probes.pretraining.texts.sieves import TextOptions  # noqa: PLC0415
    from sentprobe.probes.runs import training_plan as plans  # noqa: PLC0415
    from sentprobe.specs import choose  # noqa: PLC0415

    texts, encoder, length, looks, details, where = choices
    adi = is_adi(length.preset)
    vectors = encoder.vectors or usual_vectors(kind, objective)
    inputs = _inputs(vectors, encoder.inputs)
    chosen = objectives.ObjectiveOptions(
        batch=_given(length.batch, 32 if adi else 256),
        codes=details.codes,
        decoder_hidden=encoder.hidden if adi else 512,
        decoder_layers=1 if adi else 2,
        dropout=_given(details.dropout, 0.1 if adi else 0.0),
        classes_hidden=details.classes_hidden,
        temperature=details.temperature,
        neighbours=details.neighbours,
        drop=details.drop,
        swap=details.swap,
        validation=details.validation,
        seed=seed,
    )
    return plans.TrainingPlan(
        name=f"{kind} {objectives.find_objective(objective).name}",
        objective=objective,
        texts=plans.TextPlan(
            corpus=tuple(texts.corpus or ()),
            parallel=texts.parallel,
            format=texts.format,
            columns=tuple(texts.column or ()),
            document=texts.document,
            options=TextOptions(
                tokenised=texts.tokenised,
                lower=texts.lower,
                longest=texts.longest,
                encoding=texts.encoding,
                punkt=texts.punkt,
            ),
            events=details.events,
        ),
        model=plans.ModelPlan(
            architecture=Architecture(
                kind=kind,
                hidden=encoder.hidden,
                layers=encoder.layers,
                inputs=_given(inputs, encoder.hidden if adi else 300),
            ),
            words=encoder.words,
            vectors=vectors,
            frozen=bool(vectors) if encoder.frozen is None else encoder.frozen,
            reverse=adi,
        ),
        options=chosen,
        settings=loop.TrainingSettings(
            seed=seed,
            optimizer=_optimizer(kind, details, adi=adi),
            limits=schedule.Limits(
                steps=length.steps,
                epochs=length.epochs,
                minutes=length.minutes,
                patience=length.patience,
            ),
            validate_every=schedule.parse_every(length.validate_every, "--validate-every"),
            point_every=looks.probe_every
            and schedule.parse_every(looks.probe_every, "--probe-every"),
            machine=machines.TrainingMachine(
                device=where.device,
                devices=where.devices,
                precision=choose(machines.TrainingPrecision, where.precision, what="precision"),
            ),
        ),
        out=Path(),
        command=opt.command_line(),
    )


def _given(value: _Number | None, usual: _Number) -> _Number:
    """Return what was given, be it zero, or what is usual."""
    return usual if value is None else value


def is_adi(preset: str | None) -> bool:
    """Say whether the preset is the one that there is.

    Raises:
        UsageError: it is another.
    """
    if preset not in (None, "adi"):
        raise UsageError(f"there is no preset {preset!r} of a training; known: adi")
    return preset == "adi"


def usual_vectors(kind: str, objective: str) -> str:
    """Return the word vectors of an encoder for which none are named.

    The average of Adi et al. 2017 is of skip-gram's, and nothing else learns.
    """
    return "skip-gram" if (kind, objective) == ("cbow", "none") else ""


def _inputs(vectors: str, asked_for: int | None) -> int | None:
    """Return how wide word vectors are; None: as is usual.

    Raises:
        UsageError: those of the file are of another width than is asked for.
    """
    width = _width(vectors) if vectors else None
    if width is not None and asked_for not in (None, width):
        raise UsageError(
            f"--inputs {asked_for}: the word vectors of {vectors} are {width} wide; leave it out"
        )
    return asked_for if width is None else width


def _width(vectors: str) -> int | None:
    """Return how wide word vectors of a file are; None: they are not of a file."""
    from sentprobe.probes.encoders.word_files import read_width  # noqa: PLC0415 - NumPy
    from sentprobe.probes.pretraining.skip_gram import SKIP_GRAM  # noqa: PLC0415 - PyTorch

    return None if vectors == SKIP_GRAM else read_width(Path(vectors))


def _optimizer(kind: str, details: asked.DetailChoices, *, adi: bool) -> "OptimizerSettings":
    from sentprobe.probes.pretraining import optimizers as known  # noqa: PLC0415 - PyTorch
    from sentprobe.specs import choose  # noqa: PLC0415

    usual = known.ADAGRAD if adi else known.usual_optimizer(kind)
    if details.optimizer is not None:
        usual = known.USUAL[choose(known.OptimizerKind, details.optimizer, what="optimizer")]
    given = {name: getattr(details, name) for name in ("rate", "clip")}
    return replace(usual, **{name: each for name, each in given.items() if each is not None})


def _probing(looks: asked.LookChoices) -> "ProbingPlan | None":
    from sentprobe.probes.runs.probing_plan import plan_probing  # noqa: PLC0415 - NumPy

    if looks.probe_every is None:
        _refuse_looks(looks)
        return None
    plan = plan_probing(looks.task or (), looks.contrast or (), items=_given(looks.items, 1000))
    if looks.items is not None and not plan.builds:
        raise UsageError("--items is of tasks that are built: datasets are looked at with all")
    return plan


def _refuse_looks(looks: asked.LookChoices) -> None:
    """Refuse options of what is looked at, where nothing is."""
    given = {"--task": looks.task, "--contrast": looks.contrast, "--items": looks.items}
    for option, value in given.items():
        if value is not None:
            raise UsageError(f"{option} is of what --probe-every looks at: add that")


def _train_all(
    plans: "Sequence[TrainingPlan]", *, jobs: int, threads: int | None
) -> Iterator["TrainingReport"]:
    """Yield what each training came to, in their order."""
    if jobs == 1:
        for plan in plans:
            yield train_one(plan, threads=threads)
        return
    with workers(jobs) as pool:
        assert pool is not None
        work = partial(train_one, threads=threads or 1, beside=True)
        yield from in_order(work, plans, pool=pool, ahead=len(plans))


def train_one(
    plan: "TrainingPlan", *, threads: int | None, beside: bool = False
) -> "TrainingReport":
    """Train an encoder; *beside* others, it tells in lines how far it is."""
    from sentprobe.probes.pretraining.machines import is_first_process  # noqa: PLC0415 - PyTorch
    from sentprobe.probes.runs.training import run_training  # noqa: PLC0415 - PyTorch is slow

    shown: AbstractContextManager[progress.Reporter]
    shown = progress.lines(sys.stderr, shares=True) if beside else progress.bars(notes=True)
    if not is_first_process():  # of several devices one tells how far all are
        shown = nullcontext(progress.Silent())
    with limit_threads(threads), shown as reporter:
        named = progress.Named(plan.out.name, reporter) if beside else reporter
        return run_training(plan, named, tell=_tell)


def _tell(text: str) -> None:
    """Say something on the way, once for all devices."""
    from sentprobe.probes.pretraining.machines import is_first_process  # noqa: PLC0415 - PyTorch

    if is_first_process():
        print(told(text), file=sys.stderr)


def _told(done: "TrainingReport") -> str:
    """Return what is said of a training that is over."""
    state = done.state
    if state is None:
        return f"{done.out}: {done.why}"
    best = f"; best: {state.best}" if state.best else ""
    already = "was over already, after" if done.was_done else "over after"
    seen = counted(state.step, "step")
    return f"{done.out}: {already} {seen} ({done.why}){best}"
