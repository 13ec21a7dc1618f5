"""From a table to datasets: the natural-text tasks, built and described."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sentprobe.errors import UsageError
from sentprobe.probes.corpus.queries import MEMORY, THREADS, Corpus, open_corpus
from sentprobe.probes.corpus.table import Table
from sentprobe.probes.dataset import Card, ProbeDataset, Sampling, Size, Split, TooFewError
from sentprobe.probes.formats.entries import Entry, assemble
from sentprobe.probes.natural.select import Draw, NaturalSettings, Selection
from sentprobe.probes.natural.task import NaturalTask, TableNeed
from sentprobe.specs import NATURAL
from sentprobe.versions import versions

if TYPE_CHECKING:
    from sentprobe.probes.encoders import Baseline


SIZE = Size(100_000, 10_000, 10_000)
"""The sizes of the published datasets: training, test, validation."""

_NEEDS = {
    TableNeed.TAGS: "len(tags) > 0",
    TableNeed.CLAUSE: "verb_tag IS NOT NULL",
    TableNeed.TREE: "depth IS NOT NULL",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class NaturalRecipe:
    """How natural-text datasets are built."""

    size: Size = SIZE
    seed: int = 0
    settings: NaturalSettings = NaturalSettings()  # noqa: RUF009 - frozen
    audit: bool = True
    """Whether the card has the paper's baselines; for 1,000 classes they take a minute."""
    threads: int = THREADS
    memory: str = MEMORY


def build_one(
    task: NaturalTask, table: Table, *, recipe: NaturalRecipe | None = None, command: str = ""
) -> ProbeDataset:
    """Build the dataset of one task from a table.

    Raises:
        UsageError: a size that is not positive; a setting that this corpus cannot meet.
        TooFewError: the corpus has too few sentences for it; the message has the counts.
    """
    ((_, data),) = build_each([task], table, recipe=recipe, command=command)
    if isinstance(data, TooFewError):
        raise data
    return data


def build_each(
    tasks: Iterable[NaturalTask],
    table: Table,
    *,
    recipe: NaturalRecipe | None = None,
    command: str = "",
) -> Iterator[tuple[NaturalTask, ProbeDataset | TooFewError]]:
    """Yield each task with its dataset, or with why it cannot be built; words are counted once.

    Raises:
        UsageError: see :func:`build_one`.
    """
    recipe = recipe or NaturalRecipe()
    check_natural_size(recipe.size)
    with open_corpus(table, threads=recipe.threads, memory=recipe.memory) as corpus:
        for task in tasks:
            draw = Draw(task.name, corpus, recipe.size, recipe.seed, recipe.settings)
            try:
                _check_need(task, corpus, table)
                data = _dataset(draw, task.draw(draw), table, command=command)
            except TooFewError as error:
                yield task, error
            else:
                yield task, with_audit(data) if recipe.audit else data


def check_natural_size(size: Size) -> None:
    """Refuse sizes that are not positive; validation may be 0.

    Raises:
        UsageError: one is not.
    """
    for split in Split:
        count = size.of(split)
        if count < (0 if split is Split.VALIDATION else 1):
            raise UsageError(f"the number of {split.value} items must be positive, not {count}")


def _check_need(task: NaturalTask, corpus: Corpus, table: Table) -> None:
    if task.need not in _NEEDS:
        return
    ((found,),) = corpus.query(f"SELECT count(*) FROM sentences WHERE {_NEEDS[task.need]}")
    if not found:
        raise TooFewError(
            f"{task.name}: needs {task.need.value}, which none of the {table.counts.rows:,} "
            f"sentences of {table.path} has; analyse the corpus with a parser that gives it"
        )


def _dataset(draw: Draw, selection: Selection, table: Table, *, command: str) -> ProbeDataset:
    card = Card(
        task=draw.task,
        seed=draw.seed,
        command=command,
        sampling=f"{NATURAL}, {Sampling.PAPER}" if draw.as_published else NATURAL,
        source=", ".join(source.path for source in table.sources),
        versions={**versions("sentprobe", "duckdb", "numpy"), **table.versions},
        counts={**_counts(selection.entries), **selection.counts},
        notes=selection.notes,
    )
    entries = _mixed(selection.entries, draw)
    return assemble(entries, name=draw.task, source=draw.task, card=card, labels=selection.labels)


def _mixed(entries: Sequence[Entry], draw: Draw) -> list[Entry]:
    """Return the items split by split, those of one split in a random order."""
    order = sorted(entries, key=lambda entry: (entry.sentence, entry.probes))
    draw.random("order").shuffle(order)
    return sorted(order, key=lambda entry: list(Split).index(entry.split))


def _counts(entries: Sequence[Entry]) -> dict[str, int]:
    """Return how many items each class has in each split."""
    counts = Counter((entry.split, entry.label) for entry in entries)
    order = sorted(counts, key=lambda key: (list(Split).index(key[0]), key[1]))
    return {f"{split.value} {label}": counts[split, label] for split, label in order}


def with_audit(data: ProbeDataset) -> ProbeDataset:
    """Return the dataset with the accuracies of the paper's baselines in its card (Table 2)."""
    return replace(data, card=replace(data.card, audit={"baselines": baseline_scores(data)}))


def baseline_scores(data: ProbeDataset) -> dict[str, float]:
    """Return the accuracies of the baselines of Conneau et al. 2018, table 2, on the test items.

    Majority; length alone; Naive Bayes on tf-idf of words, and of words and bigrams.
    """
    targets = data.splits[Split.TEST].targets
    scores: dict[str, Any] = {}
    for baseline in _baselines():
        right = np.mean(baseline.predict(data, seed=data.card.seed) == targets)
        scores[baseline.name] = round(float(right), 6)
    return scores


def _baselines() -> "list[Baseline]":
    from sentprobe.probes.encoders.baselines import Length, Majority, Tfidf  # noqa: PLC0415

    return [Majority(), Length(), Tfidf("nb-uni-tfidf"), Tfidf("nb-bi-tfidf", 2)]
