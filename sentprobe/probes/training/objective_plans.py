"""Plans for the objectives of a training: their texts and weights, and the check that the texts fit the objective."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sentprobe.common.errors import UsageError, format_count, suggest
from sentprobe.common.reading import parse_number
from sentprobe.probes.training import corpora, running_text
from sentprobe.probes.training.objectives import OBJECTIVES, ObjectiveKind, TextKind, find_objective


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectivePlan:
    """An objective of a training, with its texts."""

    objective: str
    weight: float = 1.0
    """Its share of the batches, relative to other objectives of the encoder."""
    corpus: tuple[Path, ...] = ()
    """The files of the training texts; empty if the texts are generated."""
    parallel: Path | None = None
    """The file whose lines translate the lines of the corpus; None if the corpus file has both languages."""
    format: str | None = None
    columns: tuple[str, ...] = ()
    """The name of the column of sentences, or of the two columns of translated sentences (in TMX: the languages)."""
    document: str | None = None

    @property
    def kind(self) -> ObjectiveKind:
        """The kind of the objective. Raises UsageError for an unknown objective."""
        return find_objective(self.objective)


MAX_WEIGHT = 1_000_000


def parse_weights(texts: Sequence[str], names: Sequence[str]) -> dict[str, float]:
    """Return the weight of each objective in *names*: 1 unless a text such as ``nli=0.1`` says otherwise.

    >>> parse_weights(["nli=0.1"], ["nli", "autoencoder"])
    {'nli': 0.1, 'autoencoder': 1.0}
    """
    weights: dict[str, float] = {}
    for text in texts:
        name, _, number = text.partition("=")
        if len(names) == 1:
            raise UsageError(f"--weight {text} is for several objectives, but {names[0]} is trained alone")
        if name not in names:
            raise UsageError(f"--weight {text}: {_describe_untrained(name, names)}")
        if name in weights:
            raise UsageError(f"--weight {text}: the weight of {name} is given twice")
        weights[name] = _parse_weight(text, number)
    return {name: weights.get(name, 1.0) for name in names}


def _parse_weight(text: str, number: str) -> float:
    try:
        weight = parse_number(number)
    except ValueError:
        weight = 0.0
    if not 0 < weight <= MAX_WEIGHT:
        raise UsageError(f"--weight {text}: NAME=N is expected, with a number above 0, at most {MAX_WEIGHT:,}")
    return weight


def _describe_untrained(name: str, names: Sequence[str]) -> str:
    return f"{name!r} is none of the objectives trained{suggest(name, names)}: {', '.join(names)}"


def plan_objectives(
    names: Sequence[str],
    *,
    weights: Mapping[str, float],
    corpus: Sequence[Path] = (),
    parallel: Path | None = None,
    format: str | None = None,
    columns: Sequence[str] = (),
    document: str | None = None,
) -> tuple[ObjectivePlan, ...]:
    """Return the plans of the objectives *names* of one encoder. Raises UsageError if texts do not fit.

    - corpus: files for all objectives that read files, and files for one of them, such as ``nli=pairs.jsonl``

    Options of files are for the objectives whose files have them.
    """
    files = _assign_files(names, corpus)

    def find_users(has_option: Callable[[ObjectiveKind], bool]) -> Sequence[str]:
        """Return the objectives an option is for; if there is none, the first, whose check refuses the option."""
        return [name for name in names if has_option(OBJECTIVES[name])] or names[:1]

    translated = find_users(lambda kind: kind.texts is TextKind.PARALLEL)
    with_sentences = find_users(lambda kind: kind.texts is TextKind.SENTENCES)
    with_columns = find_users(lambda kind: _COLUMN_COUNTS.get(kind.texts) == len(columns))
    plans = tuple(
        ObjectivePlan(
            objective=name,
            weight=weights[name],
            corpus=files[name],
            parallel=parallel if name in translated else None,
            format=format if name in with_sentences else None,
            columns=tuple(columns) if name in with_columns else (),
            document=document if name in with_sentences else None,
        )
        for name in names
    )
    for plan in plans:
        check_texts(plan)
    return plans


def _assign_files(names: Sequence[str], corpus: Sequence[Path]) -> Mapping[str, tuple[Path, ...]]:
    """Return the files of each objective: those given for it alone or, if there are none, those for all."""
    own: dict[str, list[Path]] = {name: [] for name in names}
    shared: list[Path] = []
    for path in corpus:
        name, equals, file = str(path).partition("=")
        if not equals or name not in OBJECTIVES:
            shared.append(path)
        elif name not in names:
            raise UsageError(f"--corpus {path}: {_describe_untrained(name, names)}")
        elif not file:
            raise UsageError(f"--corpus {path}: a file is expected after =")
        else:
            own[name].append(Path(file).expanduser())
    if len(names) == 1:
        return {names[0]: (*own[names[0]], *shared)}
    readers = [name for name in names if OBJECTIVES[name].texts is not TextKind.EVENTS and not own[name]]
    if shared and not readers:
        raise UsageError(f"--corpus {shared[0]}: no objective is left to learn from it")
    if readers and not shared:
        expected_texts = _EXPECTED_TEXTS[OBJECTIVES[readers[0]].texts]
        raise UsageError(
            f"--objective {readers[0]} learns from {expected_texts}: --corpus {readers[0]}=FILE is missing"
        )
    return {name: tuple(shared if name in readers else own[name]) for name in names}


_EXPECTED_TEXTS: Mapping[TextKind, str] = {
    TextKind.SENTENCES: "sentences",
    TextKind.PARALLEL: "sentences and their translations",
    TextKind.NLI: "pairs with a label",
    TextKind.TRIPLETS: "triplets, as gen pairs --for training writes them",
    TextKind.TREES: "trees",
}
_COLUMN_COUNTS: Mapping[TextKind, int] = {TextKind.SENTENCES: 1, TextKind.PARALLEL: 2}
"""For each kind of texts whose columns can be named, the number of columns."""


def check_texts(plan: ObjectivePlan) -> None:
    """Raise UsageError if the options about text files do not fit the objective; the files are not read."""
    kind = plan.kind
    option = f"--objective {kind.name}"
    if kind.texts is TextKind.EVENTS:
        if plan.corpus:
            raise UsageError(f"{option} learns from generated sentences, not from --corpus")
        return
    if not plan.corpus:
        raise UsageError(f"{option} learns from {_EXPECTED_TEXTS[kind.texts]}: --corpus is missing")
    _check_columns(plan, option)
    if kind.texts not in (TextKind.SENTENCES, TextKind.TREES) and len(plan.corpus) > 1:
        raise UsageError(f"{option} learns from one file, but --corpus is given {len(plan.corpus)} times")
    if plan.parallel and kind.texts is not TextKind.PARALLEL:
        raise UsageError(f"--parallel is for --objective nmt, not for {kind.name}")
    corpus = plan.corpus[0]
    unpaired = running_text.SUFFIXES.keys() - corpora.SUFFIXES  # suffixes of files without columns
    if kind.texts is TextKind.PARALLEL and not plan.parallel and corpora.find_suffix(str(corpus)) in unpaired:
        raise UsageError(
            f"{option} learns from {_EXPECTED_TEXTS[TextKind.PARALLEL]}: --parallel is missing, "
            f"the file with the translation of each line of {corpus}"
        )


def _check_columns(plan: ObjectivePlan, option: str) -> None:
    """Raise UsageError if ``--format``, ``--document`` or ``--column`` does not fit the objective."""
    kind = plan.kind.texts
    options = {"--format": plan.format, "--document": plan.document}
    if kind is not TextKind.SENTENCES and (unused_options := [name for name in options if options[name]]):
        raise UsageError(
            f"{unused_options[0]} is for files of sentences, but {option} learns from {_EXPECTED_TEXTS[kind]}"
        )
    expected_count = _COLUMN_COUNTS.get(kind, 0)
    if plan.columns and len(plan.columns) != expected_count:
        number = format_count(expected_count, "column") if expected_count else "no column"
        times = format_count(len(plan.columns), "time")
        raise UsageError(f"{option} needs {number}, but --column is given {times}")
    if plan.columns and plan.parallel:
        raise UsageError("--column is for one file that holds both languages: leave out --column or --parallel")
