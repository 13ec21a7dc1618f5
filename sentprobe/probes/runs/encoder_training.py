"""Training of an encoder: from texts and an architecture to a folder with the encoder.

Plans for training an encoder.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from enum import Enum
from functools import lru_cache, partial
from hashlib import file_digest
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias

from sentprobe.common import errors, files, screen
from sentprobe.common.errors import SentprobeError, UsageError, format_count, path_error, suggest
from sentprobe.common.inputs import manage_folder
from sentprobe.common.reading import open_input
from sentprobe.common.scratch import hold_lock, make_part
from sentprobe.common.specs import check_distinct
from sentprobe.generator.pairs.contrasts import find_contrast
from sentprobe.probes.datasets.dataset import ProbeDataset
from sentprobe.probes.datasets.formats import read_datasets
from sentprobe.probes.encoders import architecture as config
from sentprobe.probes.encoders.architecture import Architecture
from sentprobe.probes.encoders.models import trained
from sentprobe.probes.encoders.models.trained import TrainedEncoder, TrainedOptions, TrainingPoint
from sentprobe.probes.encoders.network import NETWORKS
from sentprobe.probes.encoders.sentence_trees import load_trees
from sentprobe.probes.encoders.word_vectors import WordVectors, read_word_vectors
from sentprobe.probes.generated.tasks import TASKS
from sentprobe.probes.results import store
from sentprobe.probes.results.records import LearningPoint, TrainingCurve, add_point
from sentprobe.probes.runs.scorer import Scorer
from sentprobe.probes.runs.task import list_task_names
from sentprobe.probes.similarity import distance_results as geometry
from sentprobe.probes.training import checkpoint, corpora, devices_and_precision, loop, objectives, running_text
from sentprobe.probes.training.corpora import sample_meanings
from sentprobe.probes.training.multi_task import combine_objectives
from sentprobe.probes.training.objective import PreparedObjective
from sentprobe.probes.training.objective_options import EVENTS, ObjectiveOptions
from sentprobe.probes.training.objective_plans import ObjectivePlan
from sentprobe.probes.training.objectives import SEPARATOR, TextKind
from sentprobe.probes.training.pair_texts import read_nli, read_parallel, read_triplets
from sentprobe.probes.training.schedule import TrainingState, ValidationPoint
from sentprobe.probes.training.text_filters import SKIP_GRAM, TextOptions, learn_skip_gram, learn_vocabulary

ProbedTask: TypeAlias = str | ProbeDataset
"""A task to probe: the name of a compeval task, whose dataset is then built, or a dataset."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbingPlan:
    """The tasks and contrasts on which an encoder is scored during its training, with their sizes."""

    tasks: tuple[ProbedTask, ...]
    contrasts: tuple[str, ...]
    triplets: int
    train: int
    test: int

    @property
    def builds(self) -> bool:
        """Whether sentences are generated for a task or a contrast."""
        return bool(self.contrasts) or any(isinstance(task, str) for task in self.tasks)


def plan_probing(tasks: Sequence[str], contrasts: Sequence[str], *, items: int) -> ProbingPlan:
    """Return the plan for probing *tasks* (names or paths) and *contrasts*; if both are empty, all compeval tasks.

    A task given by name has *items* training items and *items* / 2 test items. A contrast has *items* / 5 triplets.
    Raises UsageError or DatasetError.
    """
    if items < 2:
        raise UsageError(f"items={items}: at least 2 are needed, for one test item")
    probed_tasks: list[ProbedTask] = []
    for name in tasks or ([] if contrasts else [*TASKS]):
        if name in TASKS:
            probed_tasks.append(name)
        elif Path(name).exists():
            probed_tasks += read_datasets(Path(name))
        else:
            raise UsageError(
                f"there is no task {name!r} of compeval{suggest(name, TASKS)}, nor such a file or "
                f"directory of datasets; the tasks are {', '.join(TASKS)}"
            )
    for kind, names in (("task", list_task_names(probed_tasks)), ("contrast", tuple(contrasts))):
        if names:
            check_distinct(kind, names)
    return ProbingPlan(
        tasks=tuple(probed_tasks),
        contrasts=tuple(find_contrast(name).name for name in contrasts),
        triplets=max(1, items // 5),
        train=items,
        test=items // 2,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingPlan:
    """The complete plan of a training (texts, model, objective, settings), which can be sent to another process."""

    name: str
    objectives: tuple[ObjectivePlan, ...]
    """The objectives that share the encoder, in the order of OBJECTIVES."""
    out: Path
    text_options: TextOptions = field(default_factory=TextOptions)
    events: int = EVENTS
    architecture: Architecture
    words: int = 50_000
    """The maximum number of words with a vector, as in Adi et al. 2017."""
    vectors: str = ""
    """The initial word vectors: a file, or SKIP_GRAM to learn them from the texts; empty means random vectors."""
    frozen: bool = False
    reverse: bool = False
    trees: Path | None = None
    """A CoNLL-U file, for a network that reads trees; None: the exact trees of generated sentences."""
    options: ObjectiveOptions
    settings: loop.TrainingSettings
    probing: ProbingPlan | None = None
    command: str = ""

    @property
    def objective(self) -> str:
        """The names of the objectives, such as ``autoencoder+nli``."""
        return SEPARATOR.join(plan.objective for plan in self.objectives)

    @property
    def weights(self) -> Mapping[str, float]:
        """The weight of each objective."""
        return {plan.objective: plan.weight for plan in self.objectives}

    @property
    def learns(self) -> bool:
        """Whether the encoder is trained: False only for the objective ``none``."""
        return all(plan.kind.learns for plan in self.objectives)


UNTRAINED = "saved as it was drawn; --objective none trains nothing"
PROBES = "probes"


@dataclass(frozen=True, slots=True)
class TrainingReport:
    """The outcome of a training."""

    out: Path
    state: TrainingState | None
    """The state at the end of the training; None if the objective trains nothing."""
    why: str
    """The reason why the training ended."""
    was_finished: bool
    """Whether an earlier command had finished the training already."""


def run_training(
    plan: TrainingPlan, reporter: screen.Reporter, *, report: Callable[[str], None] = lambda _: None
) -> TrainingReport:
    """Train an encoder, or resume its training from its folder; *report* receives progress messages."""
    with files.making_folder(plan.out):
        _check_folder(plan.out)
        manage_folder(plan.out)
        identity = identify_training(plan)
        try:
            with hold_lock(plan.out, command=plan.command) as is_locked:
                # The processes of further devices find the folder locked by that of the first.
                if not is_locked and devices_and_precision.is_first_process():
                    raise SentprobeError(f"{plan.out}: another process trains there")
                return _find_finished_training(plan, identity) or _train_encoder(plan, identity, reporter, report)
        except OSError as error:
            raise path_error(plan.out, "cannot write there", error) from error


def _check_folder(folder: Path) -> None:
    """Raise UsageError if the folder has a file that does not belong to a trained encoder."""
    own_names = {config.CONFIG_FILE, trained.WORDS, trained.WEIGHTS, checkpoint.CHECKPOINT_FOLDER, PROBES}
    try:
        names = {path.name for path in folder.iterdir() if not path.name.startswith(".")}
    except OSError as error:
        raise path_error(folder, "cannot write there", error) from error
    if foreign_names := names - own_names:
        raise UsageError(f"{folder}: holds something else ({min(foreign_names)}); choose another folder")


def identify_training(plan: TrainingPlan) -> checkpoint.Identity:
    """Return the values that determine the trained weights, by name."""
    # Checkpoints store these names and values: if one changed, no stopped training could go on.
    machine, is_multi_task = plan.settings.machine, len(plan.objectives) > 1
    vectors = plan.vectors or "drawn"
    if plan.vectors not in ("", SKIP_GRAM):
        vectors = _digest_path(Path(plan.vectors))
    return (
        _flatten_fields(plan.architecture, kind="architecture")
        | {"objective": plan.objective}
        | ({"weights": " ".join(f"{name}={weight}" for name, weight in plan.weights.items())} if is_multi_task else {})
        | {"corpus": SEPARATOR.join(map(_digest_texts, plan.objectives))}
        | _flatten_fields(plan.text_options)
        | {name: _join_values(plan.objectives, name) for name in ("format", "columns", "document")}
        | {"events": plan.events, "words": plan.words}
        | {"vectors": vectors, "frozen": plan.frozen, "reverse": plan.reverse}
        | ({"trees": _digest_path(plan.trees)} if plan.trees else {})
        | _flatten_fields(plan.settings.optimizer, kind="optimizer")
        | {"devices": machine.devices, "precision": devices_and_precision.choose_precision(machine).value}
        | {
            name: value
            for name, value in _flatten_fields(plan.options).items()
            # Earlier trainings had no attention.
            if name != "place" and (name != "attention" or value)
        }
    )


def _digest_texts(plan: ObjectivePlan) -> str:
    """Return the digests of all files that an objective learns from."""
    sources = (*plan.corpus, *([plan.parallel] if plan.parallel else []))
    return " ".join(_digest_path(Path(name)) for source in sources for name in corpora.find_files([source]))


def _join_values(plans: Sequence[ObjectivePlan], name: str) -> str:
    """Return the values of an option of all objectives as a text; objectives without a value are left out."""
    return SEPARATOR.join(filter(None, (str(_to_plain_value(getattr(plan, name))) for plan in plans)))


Value: TypeAlias = str | int | float | bool


def _flatten_fields(values: Any, **renamed: str) -> dict[str, Value]:
    """Return a dataclass's values in JSON form, by name; ``kind="optimizer"`` renames ``kind`` to "optimizer"."""
    names = (entry.name for entry in fields(values))
    return {renamed.get(name, name): _to_plain_value(getattr(values, name)) for name in names}


def _to_plain_value(value: Any) -> Value:
    """Return a value in JSON form: for a file or folder, the digest of its content; for None, an empty string."""
    match value:
        case None:
            return ""
        case Path():
            return _digest_path(value)
        case Enum():
            return str(value.value)
        case tuple():
            return " ".join(value)
    plain_value: Value = value
    return plain_value


def _digest_path(path: Path) -> str:
    try:
        if path.is_dir():
            return errors.digest_folder(path)
        with open_input(path) as file:
            return file_digest(file, "sha256").hexdigest()[:16]
    except OSError as error:
        raise path_error(path, "cannot read it", error) from error


def _find_finished_training(plan: TrainingPlan, identity: checkpoint.Identity) -> TrainingReport | None:
    """Return the report if the training is finished, else None. OtherTrainingError: the folder has another training."""
    stored = checkpoint.read_state(plan.out)
    if stored is not None:
        checkpoint.check_same_training(plan.out, stored.identity, identity)
        why = stored.state.find_end_reason(plan.settings.limits)
        is_over = why and stored.state.is_validated and _has_results(plan, stored.state.step)
        return TrainingReport(plan.out, stored.state, why, was_finished=True) if is_over else None
    # Without a checkpoint, a finished training can only be one by --objective none, which writes the model alone.
    if not config.is_model_folder(plan.out):
        return None
    record = config.read_config(plan.out).record
    checkpoint.check_same_training(plan.out, record.get("identity", {}), identity)
    is_over = not plan.learns and _has_results(plan, 0)
    return TrainingReport(plan.out, None, UNTRAINED, was_finished=True) if is_over else None


def _has_results(plan: TrainingPlan, step: int) -> bool:
    if plan.probing is None:
        return True
    folder = plan.out / PROBES
    probed = [result for result in store.read_sound_results(folder) if result.step == step]
    probed_names = {result.task for result in probed} | {result.dataset_fingerprint for result in probed}
    tasks = (task if isinstance(task, str) else task.fingerprint() for task in plan.probing.tasks)
    contrasts = {result.contrast for result in geometry.read_geometry(folder) if result.step == step}
    return probed_names.issuperset(tasks) and contrasts.issuperset(plan.probing.contrasts)


def _train_encoder(
    plan: TrainingPlan, identity: checkpoint.Identity, reporter: screen.Reporter, report: Callable[[str], None]
) -> TrainingReport:
    score_point = _make_point_scorer(plan, report)  # fails early if probing data cannot be built
    reporter.begin("read the texts", 1)
    texts = read_texts(plan)
    for name, objective_texts in texts.items():
        purpose = f"for {name}, " if len(texts) > 1 else ""
        report(f"{plan.out}: {purpose}read {describe_texts(objective_texts)}")
    if (stored_state := checkpoint.read_state(plan.out)) is not None:
        report(f"{plan.out}: goes on after {format_count(stored_state.state.step, 'step')}")
    model = make_model(plan, texts)
    reporter.advance()
    save = partial(save_model, plan, identity, {name: describe_texts(value) for name, value in texts.items()})
    if not plan.learns:
        score_point(loop.ProbingPoint(0, 0.0, model.eval()))
        save(model, None)  # saved last: an existing model means that it was probed
        return TrainingReport(plan.out, None, UNTRAINED, was_finished=False)
    reporter.begin("prepare the objective", 1)
    prepared = prepare_objectives(plan, texts, model)
    reporter.advance()
    training_store = loop.TrainingStore(plan.out, identity, save, partial(_write_validation, plan))
    state = loop.train(prepared, plan.settings, training_store, probe_model=score_point, reporter=reporter)
    return TrainingReport(plan.out, state, state.find_end_reason(plan.settings.limits), was_finished=False)


READERS: Mapping[TextKind, Callable[..., corpora.LearnedTexts]] = {
    TextKind.SENTENCES: running_text.read_sentences,
    TextKind.PARALLEL: read_parallel,
    TextKind.NLI: read_nli,
    TextKind.TRIPLETS: read_triplets,
    TextKind.TREES: running_text.read_trees,
}


def read_texts(plan: TrainingPlan) -> dict[str, Any]:
    """Return the training texts of each objective; objectives with the same files share their texts."""
    texts: dict[str, Any] = {}
    read: dict[tuple[TextKind, ObjectivePlan], Any] = {}
    for objective in plan.objectives:
        source = (objective.kind.texts, replace(objective, objective="", weight=1.0))
        if source not in read:
            read[source] = _read_objective_texts(plan, objective)
        texts[objective.objective] = read[source]
    return texts


def _read_objective_texts(plan: TrainingPlan, objective: ObjectivePlan) -> Any:
    kind = objective.kind.texts
    if kind is TextKind.EVENTS:
        return sample_meanings(plan.events, seed=plan.options.seed)
    reader_options: dict[str, Any] = {}
    if kind is TextKind.PARALLEL:
        reader_options["columns"] = objective.columns or None
    elif kind is TextKind.SENTENCES:
        column = dict(zip(("column",), objective.columns, strict=False))
        reader_options["files"] = running_text.SentenceFiles(
            format=objective.format, document=objective.document, **column
        )
    translations = [objective.parallel] if objective.parallel else []
    return READERS[kind](*objective.corpus, *translations, options=plan.text_options, **reader_options)


def describe_texts(texts: Any) -> str:
    omitted = getattr(texts, "omitted", None)
    return f"{texts}; {omitted}" if omitted else str(texts)


_INPUT_FIELDS: Mapping[TextKind, tuple[str, ...]] = {
    TextKind.SENTENCES: ("texts",),
    TextKind.PARALLEL: ("sources",),
    TextKind.NLI: ("premises", "hypotheses"),
    TextKind.TRIPLETS: ("anchors", "positives", "negatives"),
    TextKind.TREES: ("sentences",),
    TextKind.EVENTS: ("sentences",),
}
"""For each kind of texts, the names of the attributes with the sentences that the encoder reads."""


def make_model(plan: TrainingPlan, texts: Mapping[str, Any]) -> trained.SentenceModel:
    """Return the untrained model. Raises UsageError if the width of word vectors is not the model's input width.

    Raises EncoderError if the model reads trees, and a sentence has none.

    - texts: the training texts of each objective
    """
    columns = (
        getattr(texts[objective.objective], name)
        for objective in plan.objectives
        for name in _INPUT_FIELDS[objective.kind.texts]
    )
    sentences = [*chain.from_iterable(columns)]
    vocabulary = learn_vocabulary(sentences, words=plan.words, lower=plan.text_options.lower, reverse=plan.reverse)
    if NETWORKS[plan.architecture.kind].reads_trees:
        trees = load_trees(trees=str(plan.trees or ""))
        trees.find_heads(sentences, lower=vocabulary.lower)  # counts all that have none
        vocabulary = replace(vocabulary, trees=trees)
    vectors: WordVectors | None = None
    if plan.vectors == SKIP_GRAM:
        inputs = plan.architecture.inputs
        vectors = learn_skip_gram(sentences, dim=inputs, words=plan.words, seed=plan.options.seed)
    elif plan.vectors:
        path = Path(plan.vectors)
        vectors = _read_once(path, path.stat().st_mtime_ns) if path.is_file() else read_word_vectors(path)
    return trained.make_sentence_model(
        plan.architecture, vocabulary, vectors=vectors, frozen=plan.frozen, seed=plan.options.seed
    )


def prepare_objectives(plan: TrainingPlan, texts: Mapping[str, Any], model: trained.SentenceModel) -> PreparedObjective:
    """Prepare the objectives of a plan for the training loop, with the training texts of each."""
    prepared = {
        objective.objective: objectives.prepare(
            objective.kind, texts[objective.objective], model, replace(plan.options, place=place)
        )
        for place, objective in enumerate(plan.objectives)
    }
    return combine_objectives(prepared, plan.weights, seed=plan.options.seed)


@lru_cache(maxsize=1)  # the encoders of one command share the vectors
def _read_once(path: Path, changed: int) -> WordVectors:  # noqa: ARG001 - a changed file is read again
    return read_word_vectors(path)


def save_model(
    plan: TrainingPlan,
    identity: checkpoint.Identity,
    texts: Mapping[str, str],
    model: trained.SentenceModel,
    state: TrainingState | None,
) -> None:
    """Write the files of the model into its folder, and a record of its training.

    - texts: descriptions of the training texts of each objective
    """
    several = (
        {"weights": plan.weights, "texts": texts} if len(plan.objectives) > 1 else {"texts": texts[plan.objective]}
    )
    record = {
        "family": plan.name,
        "step": state.step if state else 0,
        "epoch": state.best.epoch if state and state.best else 0.0,
        "seed": plan.options.seed,
        "objective": plan.objective,
        **several,
        "validation": state.best.to_record() if state and state.best else None,
        "identity": dict(identity),
        "command": plan.command,
        "versions": {"sentprobe": errors.get_own_version()} | errors.find_versions("torch"),
    }
    try:
        with make_part(plan.out / "model", folder=True) as part:
            trained.write_sentence_model(model, part, record)
            files.sync_folder(part)
            # config.json is moved last, since it marks the folder as a trained encoder.
            for name in (trained.WORDS, trained.WEIGHTS, config.CONFIG_FILE):
                (part / name).replace(plan.out / name)
            files.sync_path(plan.out)
    except OSError as error:
        raise path_error(plan.out, "cannot write the model", error) from error


def _make_point_scorer(plan: TrainingPlan, report: Callable[[str], None]) -> Callable[[loop.ProbingPoint], None]:
    """Return a function that scores the model and stores the results. It reports each note of the encoder only once."""
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
    reported_notes: set[str] = set()

    def score_point(point: loop.ProbingPoint) -> None:
        options = TrainedOptions(device=str(point.model.words.weight.device))
        encoder = TrainedEncoder(point.model, options, name=plan.name, point=TrainingPoint())
        scorer(encoder, step=point.step, epoch=point.epoch)
        for note in set(encoder.notes) - reported_notes:
            report(f"{plan.out}: {note}")
            reported_notes.add(note)

    return score_point


def _write_validation(plan: TrainingPlan, validation: ValidationPoint) -> None:
    """Add a validation's scores to the learning curve in the results folder, if the training plan includes probing."""
    if plan.probing is not None:
        curve = TrainingCurve(family=plan.name, seed=plan.options.seed, metric=validation.metric, command=plan.command)
        point = LearningPoint(
            step=validation.step, epoch=validation.epoch, value=validation.value, loss=validation.loss
        )
        add_point(curve, point, plan.out / PROBES)
