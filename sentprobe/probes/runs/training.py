"""A training as it is asked for: texts and an architecture become the folder of an encoder."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from enum import Enum
from functools import lru_cache, partial
from hashlib import file_digest
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias

from sentprobe import files, progress, versions
from sentprobe.errors import SentprobeError, UsageError, counted, path_error
from sentprobe.locks import locked
from sentprobe.probes.encoders import model_config as config
from sentprobe.probes.encoders import model_folder as folders
from sentprobe.probes.encoders import sentence_model as models
from sentprobe.probes.encoders.trained import TrainedEncoder, TrainedOptions, TrainingPoint
from sentprobe.probes.encoders.word_files import read_word_vectors
from sentprobe.probes.encoders.word_vectors import WordVectors
from sentprobe.probes.geometry import results as geometry
from sentprobe.probes.pretraining import checkpoint, loop, machines, objectives
from sentprobe.probes.pretraining.objectives import ObjectiveKind
from sentprobe.probes.pretraining.schedule import ScoredMoment, TrainingState
from sentprobe.probes.pretraining.skip_gram import SKIP_GRAM, learn_skip_gram
from sentprobe.probes.pretraining.texts import sentences, sword, text_files
from sentprobe.probes.pretraining.texts.meanings import draw_meanings
from sentprobe.probes.pretraining.texts.open_texts import TextKind, open_texts
from sentprobe.probes.pretraining.vocabulary import learn_vocabulary
from sentprobe.probes.runs import store
from sentprobe.probes.runs.learning_curve import LearningCurve, LearningPoint, add_point
from sentprobe.probes.runs.scorer import Scorer
from sentprobe.probes.runs.training_plan import TextPlan, TrainingPlan, check_texts
from sentprobe.scratch import part_of

UNTRAINED = "saved as it was drawn; --objective none trains nothing"

PROBES = "probes"
"""The folder of results in the folder of an encoder."""


@dataclass(frozen=True, slots=True)
class TrainingReport:
    """What a training came to."""

    out: Path
    state: TrainingState | None
    """None: nothing was to be learned."""
    why: str
    """Why it is over."""
    was_done: bool
    """Whether it was before it was asked for."""


def run_training(
    plan: TrainingPlan, reporter: progress.Reporter, *, tell: Callable[[str], None] = lambda _: None
) -> TrainingReport:
    """Train an encoder, from where its folder stands; *tell* what was read of the texts.

    Raises:
        UsageError: the folder is of something else; the texts do not fit the objective.
        SentprobeError: see :func:`sentprobe.probes.pretraining.loop.train`.
    """
    check_texts(plan)
    with files.folder_for(plan.out):
        return _run(plan, reporter, tell)


def _run(
    plan: TrainingPlan, reporter: progress.Reporter, tell: Callable[[str], None]
) -> TrainingReport:
    _check_free(plan.out)
    identity = identify(plan)
    try:
        with locked(plan.out, wait=False) as ours:
            if not ours and machines.is_first_process():
                raise SentprobeError(f"{plan.out}: another process trains there")
            return _found(plan, identity) or _trained(plan, identity, reporter, tell)
    except OSError as error:
        raise path_error(plan.out, "cannot write there", error) from error


def _check_free(folder: Path) -> None:
    """Refuse a folder that holds something else.

    Raises:
        UsageError: it does.
    """
    ours = {config.CONFIG, folders.WORDS, folders.WEIGHTS, checkpoint.FOLDER, PROBES}
    try:
        there = {each.name for each in folder.iterdir() if not each.name.startswith(".")}
    except OSError as error:
        raise path_error(folder, "cannot write there", error) from error
    if others := there - ours:
        raise UsageError(f"{folder}: holds something else ({min(others)}); choose another folder")


def identify(plan: TrainingPlan) -> checkpoint.Identity:
    """Return what decides the weights, by name.

    Raises:
        UsageError: a file is not there, or no bfloat16 where it is asked for.
    """
    machine, texts, model = plan.settings.machine, plan.texts, plan.model
    sources = (*texts.corpus, *([texts.parallel] if texts.parallel else []))
    return (
        _flat(model.architecture, kind="architecture")
        | {
            "objective": plan.objective,
            "corpus": " ".join(each for source in sources for each in _digests(source)),
        }
        | _flat(texts.options)
        | _flat(texts, without=("corpus", "parallel", "options"))
        | _flat(model, without=("architecture",))
        | {"vectors": _identify_vectors(model.vectors)}
        | _flat(plan.settings.optimizer, kind="optimizer")
        | {"devices": machine.devices, "precision": machines.settled_precision(machine).value}
        | _flat(plan.options)
    )


Value: TypeAlias = str | int | float | bool


def _flat(values: Any, *, without: Sequence[str] = (), **renamed: str) -> dict[str, Value]:
    """Return the fields of a value by name, as an identity has them; some have another name."""
    names = (each.name for each in fields(values) if each.name not in without)
    return {renamed.get(name, name): _plain(getattr(values, name)) for name in names}


def _plain(value: Any) -> Value:
    """Return a value as JSON has it: of a file or folder, a digest; of nothing, no text."""
    match value:
        case None:
            return ""
        case Path():
            return _digest(value)
        case Enum():
            return str(value.value)
        case tuple():
            return " ".join(value)
    plain: Value = value
    return plain


def _identify_vectors(vectors: str) -> str:
    return _digest(Path(vectors)) if vectors not in ("", SKIP_GRAM) else vectors or "drawn"


def _digests(source: Path) -> list[str]:
    """Return a digest of each file that something to learn from stands for."""
    text = str(source)
    if text.startswith(sword.PREFIX):
        return [_digest(Path(text.removeprefix(sword.PREFIX)).parent)]  # its name is no file's
    return [_digest(Path(name)) for name in text_files.find_files([source])]


def _digest(path: Path) -> str:
    try:
        if path.is_dir():
            return versions.folder_digest(path)
        with path.open("rb") as file:
            return file_digest(file, "sha256").hexdigest()[:16]
    except OSError as error:
        raise path_error(path, "cannot read it", error) from error


def _found(plan: TrainingPlan, identity: checkpoint.Identity) -> TrainingReport | None:
    """Return what is in the folder if it is all that is asked for.

    Raises:
        OtherTrainingError: it is something else.
    """
    stored = checkpoint.read_state(plan.out)
    if stored is not None:
        checkpoint.check_same(plan.out, stored.identity, identity)
        why = stored.state.ended(plan.settings.limits)
        is_over = why and stored.state.is_validated and _is_probed(plan, stored.state.step)
        return TrainingReport(plan.out, stored.state, why, was_done=True) if is_over else None
    if not config.is_model_folder(plan.out):
        return None
    record = config.read_config(plan.out).record
    checkpoint.check_same(plan.out, record.get("identity", {}), identity)
    return (
        None
        if plan.kind.learns or not _is_probed(plan, 0)
        else TrainingReport(plan.out, None, UNTRAINED, was_done=True)
    )


def _is_probed(plan: TrainingPlan, step: int) -> bool:
    """Say whether all that is to be looked at after a step was."""
    if plan.probing is None:
        return True
    folder = plan.out / PROBES
    probed = [each for each in store.sound_results(folder) if each.step == step]
    there = {each.task for each in probed} | {each.dataset_fingerprint for each in probed}
    tasks = (e if isinstance(e, str) else e.fingerprint() for e in plan.probing.tasks)
    contrasts = {each.contrast for each in geometry.read_geometry(folder) if each.step == step}
    return there.issuperset(tasks) and contrasts.issuperset(plan.probing.contrasts)


def _trained(
    plan: TrainingPlan,
    identity: checkpoint.Identity,
    reporter: progress.Reporter,
    tell: Callable[[str], None],
) -> TrainingReport:
    look = _looker(plan, tell)  # refuses what cannot be built before long work is done
    reporter.begin("read the texts", 1)
    texts = read_texts(plan.kind, plan.texts, seed=plan.options.seed)
    tell(f"{plan.out}: read {describe(texts)}")
    if (before := checkpoint.read_state(plan.out)) is not None:
        tell(f"{plan.out}: goes on after {counted(before.state.step, 'step')}")
    model = make_model(plan, texts)
    reporter.advance()
    save = partial(save_model, plan, identity, describe(texts))
    if not plan.kind.learns:
        look(loop.Point(0, 0.0, model.eval()))
        save(model, None)  # what is there is done, and never looked at again
        return TrainingReport(plan.out, None, UNTRAINED, was_done=False)
    reporter.begin("prepare the objective", 1)
    prepared = objectives.prepare(plan.kind, texts, model, plan.options)
    reporter.advance()
    kept = loop.TrainingStore(plan.out, identity, save, _keeper(plan))
    state = loop.train(prepared, plan.settings, kept, at_point=look, reporter=reporter)
    return TrainingReport(plan.out, state, state.ended(plan.settings.limits), was_done=False)


def read_texts(kind: ObjectiveKind, plan: TextPlan, *, seed: int) -> Any:
    """Return what an objective learns from.

    Raises:
        UsageError, SentprobeError: a file is not there or damaged, or there is too little in it.
    """
    if kind.texts is TextKind.EVENTS:
        return draw_meanings(plan.events, seed=seed)
    others = [plan.parallel] if plan.parallel else []
    said = _said_of_files(kind.texts, plan)
    return open_texts(kind.texts, *plan.corpus, *others, options=plan.options, **said)


def _said_of_files(kind: TextKind, plan: TextPlan) -> dict[str, Any]:
    """Return what a reader is told of its files."""
    if kind is TextKind.PARALLEL:
        return {"columns": plan.columns or None}
    if kind is not TextKind.SENTENCES:
        return {}
    column = dict(zip(("column",), plan.columns, strict=False))
    return {"files": sentences.SentenceFiles(format=plan.format, document=plan.document, **column)}


def describe(texts: Any) -> str:
    """Return what was read, and what of it was left out; what is drawn leaves out nothing."""
    omitted = getattr(texts, "omitted", None)
    return f"{texts}; {omitted}" if omitted else str(texts)


_INPUTS: Mapping[TextKind, tuple[str, ...]] = {
    TextKind.SENTENCES: ("texts",),
    TextKind.PARALLEL: ("sources",),
    TextKind.NLI: ("premises", "hypotheses"),
    TextKind.TRIPLETS: ("anchors", "positives", "negatives"),
    TextKind.TREES: ("sentences",),
    TextKind.EVENTS: ("sentences",),
}
"""What of the texts the encoder reads."""


def make_model(plan: TrainingPlan, texts: Any) -> models.SentenceModel:
    """Return the model before it has learned anything.

    Raises:
        UsageError: the word vectors are of another width.
    """
    model, lower = plan.model, plan.texts.options.lower
    read = [*chain.from_iterable(getattr(texts, name) for name in _INPUTS[plan.kind.texts])]
    return models.make_sentence_model(
        model.architecture,
        learn_vocabulary(read, words=model.words, lower=lower, reverse=model.reverse),
        vectors=_vectors(plan, read),
        frozen=model.frozen,
        seed=plan.options.seed,
    )


def _vectors(plan: TrainingPlan, texts: Sequence[str]) -> WordVectors | None:
    model = plan.model
    if model.vectors == SKIP_GRAM:
        dim, seed = model.architecture.inputs, plan.options.seed
        return learn_skip_gram(texts, dim=dim, words=model.words, seed=seed)
    return _vectors_of(model.vectors) if model.vectors else None


def _vectors_of(name: str) -> WordVectors:
    """Read a file of word vectors: once for all trainings of this process.

    Raises:
        EncoderError: see :func:`sentprobe.probes.encoders.word_files.read_word_vectors`.
    """
    path = Path(name)
    return _read_once(path, path.stat().st_mtime_ns) if path.is_file() else read_word_vectors(path)


@lru_cache(maxsize=1)
def _read_once(path: Path, changed: int) -> WordVectors:  # noqa: ARG001 - another file since then
    return read_word_vectors(path)


def save_model(
    plan: TrainingPlan,
    identity: checkpoint.Identity,
    texts: str,
    model: models.SentenceModel,
    state: TrainingState | None,
) -> None:
    """Write the model into its folder, beside what else is there.

    - texts: what was read, in words

    Raises:
        SentprobeError: it cannot be written; the one before stays.
    """
    record = {
        "family": plan.name,
        "step": state.step if state else 0,
        "epoch": state.best.epoch if state and state.best else 0.0,
        "seed": plan.options.seed,
        "objective": plan.objective,
        "texts": texts,
        "validation": asdict(state.best) if state and state.best else None,
        "identity": dict(identity),
        "command": plan.command,
        "versions": {"sentprobe": versions.own_version()} | versions.versions("torch"),
    }
    try:
        with part_of(plan.out / "model", folder=True) as part:
            folders.write_sentence_model(model, part, record)
            files.sync_folder(part)
            for name in (folders.WORDS, folders.WEIGHTS, config.CONFIG):
                (part / name).replace(plan.out / name)
    except OSError as error:
        raise path_error(plan.out, "cannot write the model", error) from error


def _looker(plan: TrainingPlan, tell: Callable[[str], None]) -> Callable[[loop.Point], None]:
    """Return what probes the model, into the folder of results beside it.

    The words of probes that the encoder does not know are told once.
    """
    if plan.probing is None:
        return lambda point: None  # noqa: ARG005
    scorer = Scorer(
        contrasts=plan.probing.contrasts,
        tasks=plan.probing.tasks,
        triplets=plan.probing.triplets,
        train=plan.probing.train,
        test=plan.probing.test,
        out=plan.out / PROBES,
        name=plan.name,
        seed=plan.options.seed,
    )

    noted: set[str] = set()

    def look(point: loop.Point) -> None:
        encoder = probed_encoder(point.model, plan.name)
        scorer(encoder, step=point.step, epoch=point.epoch)
        for note in set(encoder.notes) - noted:
            tell(f"{plan.out}: {note}")
            noted.add(note)

    return look


def _keeper(plan: TrainingPlan) -> Callable[[ScoredMoment], None]:
    """Return what keeps each validation beside the results of probes."""

    def keep(found: ScoredMoment) -> None:
        if plan.probing is None:
            return
        known = LearningCurve(
            family=plan.name, seed=plan.options.seed, metric=found.metric, command=plan.command
        )
        point = LearningPoint(
            step=found.step, epoch=found.epoch, value=found.value, loss=found.loss
        )
        add_point(known, point, plan.out / PROBES)

    return keep


def probed_encoder(model: models.SentenceModel, name: str) -> TrainedEncoder:
    """Return a model in training as an encoder, where it is."""
    options = TrainedOptions(device=str(model.words.weight.device))
    return TrainedEncoder(model, options, name=name, point=TrainingPoint())
