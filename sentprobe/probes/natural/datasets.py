"""Building of natural-text datasets, with their cards, from the analysed table of a corpus."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sentprobe.common.errors import UsageError, find_versions, suggest
from sentprobe.common.specs import NATURAL, NATURAL_SIZE, Sampling, Size, TaskGroup
from sentprobe.probes.corpus.queries import MEMORY, THREADS, Corpus, open_corpus
from sentprobe.probes.corpus.table import Table
from sentprobe.probes.datasets.dataset import Card, ProbeDataset, Split, TooFewError
from sentprobe.probes.datasets.known_task import find_task_name
from sentprobe.probes.datasets.records import build_dataset
from sentprobe.probes.natural import changed_sentences, parsed_tasks, surface_tasks, universal_tasks
from sentprobe.probes.natural.adi_tasks import ADI_CONTENT, ADI_LENGTH, ADI_ORDER
from sentprobe.probes.natural.natural_task import NaturalTask, TableNeed
from sentprobe.probes.natural.selection import NaturalSettings, Selection, SelectionRequest
from sentprobe.probes.statistics import wilson

"""Numbers of items in the published datasets: training, test, validation."""

MIN_TEST_ITEMS = 50
"""Number of test items below which a note warns: of 50, the 95% interval of an accuracy of 50% is 27 points wide."""

_CONDITIONS_BY_NEED = {
    TableNeed.TAGS: "len(tags) > 0",
    TableNeed.CLAUSE: "verb_tag IS NOT NULL",
    TableNeed.TREE: "depth IS NOT NULL",
    TableNeed.CLAUSES: "depth IS NOT NULL OR dependency_depth IS NOT NULL",
    TableNeed.UNIVERSAL: "dependency_depth IS NOT NULL",
}
_ROLE_NAMES = {"verb": "main verbs", "subject": "subjects", "object": "objects"}


@dataclass(frozen=True, slots=True, kw_only=True)
class NaturalRecipe:
    """Settings for building natural-text datasets."""

    size: Size = NATURAL_SIZE
    seed: int = 0
    settings: NaturalSettings = NaturalSettings()  # noqa: RUF009 - frozen
    audit: bool = True
    """Whether the card states the test accuracies of the paper's baselines, which take a minute for 1,000 classes."""
    threads: int = THREADS
    memory: str = MEMORY


def build_datasets(
    tasks: Iterable[NaturalTask], table: Table, *, recipe: NaturalRecipe | None = None, command: str = ""
) -> Iterator[tuple[NaturalTask, ProbeDataset | TooFewError]]:
    """Yield each task with its dataset, or with the error that explains why it cannot be built. Raises UsageError."""
    recipe = recipe or NaturalRecipe()
    check_natural_size(recipe.size)
    with open_corpus(table, threads=recipe.threads, memory=recipe.memory) as corpus:
        for task in tasks:
            draw = SelectionRequest(task.name, corpus, recipe.size, recipe.seed, recipe.settings)
            try:
                data = _build_dataset(draw, select_items(task, draw, table), table, command=command)
            except TooFewError as error:
                yield task, error
            else:
                yield task, add_baselines(data) if recipe.audit else data


def check_natural_size(size: Size) -> None:
    """Raise UsageError if the number of items of a split is not positive; validation may have 0 items."""
    for split in Split:
        count = size.count_items(split)
        if count < (0 if split is Split.VALIDATION else 1):
            raise UsageError(f"the number of {split.value} items must be positive, not {count}")


def select_items(task: NaturalTask, request: SelectionRequest, table: Table) -> Selection:
    """Return the items of a task. Raises TooFewError if the table lacks columns or sentences that the task needs.

    If the corpus gives fewer than ``MIN_TEST_ITEMS`` test items, and fewer than requested, a note says so.
    """
    _check_need(task, request.corpus, table)
    selected = task.select_items(request)
    count = sum(entry.split is Split.TEST for entry in selected.entries)
    if count >= min(MIN_TEST_ITEMS, request.size.test):
        return selected
    interval = wilson(count / 2, count)
    note = (
        f"only {count} test items: the 95% interval of an accuracy of 50% is "
        f"{100 * interval.low:.0f} to {100 * interval.high:.0f}"
    )
    return replace(selected, notes=(*selected.notes, note))


def _check_need(task: NaturalTask, corpus: Corpus, table: Table) -> None:
    if task.need not in _CONDITIONS_BY_NEED:
        return
    ((row_count,),) = corpus.query(f"SELECT count(*) FROM sentences WHERE {_CONDITIONS_BY_NEED[task.need]}")
    if not row_count:
        raise TooFewError(
            f"{task.name}: needs {task.need.value}, which none of the {table.counts.rows:,} "
            f"sentences of {table.path} has; analyse the corpus with a parser that gives it"
        )
    if task.feature is None:
        return
    role, feature = task.feature
    ((total, marked),) = corpus.query(
        f"SELECT count(*), count(*) FILTER (dependency_depth IS NULL OR {role}_tag LIKE '%|{feature}=%') "
        f"FROM sentences WHERE {role}_tag IS NOT NULL"
    )
    if not total:
        raise TooFewError(f"{task.name}: 0 of {table.counts.rows:,} sentences have {_ROLE_NAMES[role]}")
    if not marked:
        raise TooFewError(f"{task.name}: 0 of {total:,} {_ROLE_NAMES[role]} have {feature}")


def _build_dataset(request: SelectionRequest, selection: Selection, table: Table, *, command: str) -> ProbeDataset:
    items = Counter((entry.split, entry.label) for entry in selection.entries)
    keys = sorted(items, key=lambda key: (list(Split).index(key[0]), key[1]))
    card = Card(
        task=request.task,
        seed=request.seed,
        command=command,
        sampling=f"{NATURAL}, {Sampling.PAPER}" if request.as_published else NATURAL,
        source=", ".join(source.path for source in table.sources),
        versions={**find_versions("sentprobe", "duckdb", "numpy"), **table.versions},
        counts={f"{split.value} {label}": items[split, label] for split, label in keys} | {**selection.counts},
        notes=selection.notes,
    )
    # Sorted before they are shuffled: the order depends on the seed and the items, not on how they were selected.
    order = sorted(selection.entries, key=lambda entry: (entry.sentence, entry.probes))
    request.make_random("order").shuffle(order)
    entries = sorted(order, key=lambda entry: list(Split).index(entry.split))
    return build_dataset(entries, name=request.task, source=request.task, card=card, labels=selection.labels)


def add_baselines(data: ProbeDataset) -> ProbeDataset:
    """Return the dataset with the test accuracies of the baselines of Conneau et al. 2018, table 2, in its card."""
    from sentprobe.probes.encoders.baselines import Length, Majority, Tfidf

    targets = data.splits[Split.TEST].targets
    scores: dict[str, Any] = {}
    for baseline in (Majority(), Length(), Tfidf("nb-uni-tfidf"), Tfidf("nb-bi-tfidf", 2)):
        right = np.mean(baseline.predict(data, seed=data.card.seed) == targets)
        scores[baseline.name] = round(float(right), 6)
    return replace(data, card=replace(data.card, audit={"baselines": scores}))


TASKS: dict[str, NaturalTask] = {
    task.name: task
    for task in (
        surface_tasks.SENTENCE_LENGTH,
        surface_tasks.WORD_CONTENT,
        parsed_tasks.TREE_DEPTH,
        parsed_tasks.TOP_CONST,
        changed_sentences.BSHIFT,
        parsed_tasks.TENSE,
        parsed_tasks.SUBJECT,
        parsed_tasks.OBJECT,
        changed_sentences.SOMO,
        changed_sentences.COORDINV,
        *universal_tasks.TASKS,
        # The tasks on unchanged sentences come first, so that each suite is listed in one piece.
        *sorted((*ADI_LENGTH, *ADI_CONTENT, *ADI_ORDER), key=lambda task: task.suite is TaskGroup.CONTROLS),
    )
}


def find_tasks(names: Iterable[str] = ()) -> list[NaturalTask]:
    """Return the tasks with *names* (of tasks, published files or suites), by default CONNEAU. Raises UsageError."""
    tasks: list[NaturalTask] = []
    for name in [*names] or [TaskGroup.CONNEAU]:
        if (own_name := find_task_name(name, TASKS.values())) in TASKS:
            tasks.append(TASKS[own_name])
        elif name in {suite.value for suite in TaskGroup}:
            tasks += [task for task in TASKS.values() if task.suite == name]
        else:
            known_names = [*TASKS, *(suite.value for suite in TaskGroup)]
            raise UsageError(
                f"there is no natural-text task {name!r}{suggest(name, known_names)}; the tasks are "
                f"{', '.join(TASKS)}; the suites are {', '.join(TaskGroup)}"
            )
    for n, task in enumerate(tasks):
        if task in tasks[:n]:
            raise UsageError(f"the task {task.name!r} is named twice")
    return tasks
