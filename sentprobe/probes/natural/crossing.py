"""Natural-text tasks across languages: training items from one language, test items from the same or another.

No training sentence of any language is a test sentence of any language, or the translation of one. Translations have
the same ``sent_id``. All training languages have equally many training items. A test language has the same test items
for every training language.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import product
from random import Random

from sentprobe.common.errors import UsageError, find_versions, suggest
from sentprobe.common.specs import NATURAL, TaskGroup, check_distinct
from sentprobe.probes.corpus.queries import Corpus, open_corpus
from sentprobe.probes.corpus.table import Table
from sentprobe.probes.datasets.dataset import Card, ProbeDataset, Split, TooFewError
from sentprobe.probes.datasets.known_task import name_in_languages
from sentprobe.probes.datasets.records import Entry, build_dataset
from sentprobe.probes.natural import selection
from sentprobe.probes.natural.datasets import NaturalRecipe, add_baselines, check_natural_size, select_items
from sentprobe.probes.natural.natural_task import NaturalTask
from sentprobe.probes.natural.parsed_tasks import OTHER
from sentprobe.probes.natural.surface_tasks import WORD_CONTENT

LEFT_OUT = "translations of test items left out"
"""Key of a card's count of training and validation items left out, since a test item has their text or ``sent_id``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Crossing:
    """Tasks across languages: probes are trained on the languages *train_on* and tested on the languages *test_on*."""

    tasks: tuple[NaturalTask, ...]
    train_on: tuple[str, ...]
    test_on: tuple[str, ...]

    def list_datasets(self) -> tuple[NaturalTask, ...]:
        """Return a copy of each task for each pair of training and test language, with a name such as "Tense.de-fr"."""
        return tuple(
            replace(task, name=name_in_languages(task.name, train, test), published="")
            for task, train, test in product(self.tasks, self.train_on, self.test_on)
        )


def make_crossing(
    tables: Sequence[Table], tasks: Iterable[NaturalTask], *, train_on: str | None, test_on: str | None, chosen: bool
) -> Crossing:
    """Return the crossing of *tasks* with two lists of languages (``"de,fr"``; None: all). Raises UsageError.

    If the user did not name the tasks (*chosen* is false), those that cannot be tested in another language are left
    out.
    """
    by_language: dict[str, Table] = {}
    for table in tables:
        if not table.language:
            raise UsageError(f"{table.path}: its language is not known; analyse it again with --language and --force")
        if table.language in by_language:
            raise UsageError(
                f"{by_language[table.language].path} and {table.path} are both of the language {table.language}; "
                "analyse their files as one corpus, or give one a name of its own (probe analyze --language)"
            )
        by_language[table.language] = table
    return Crossing(
        tasks=tuple(task for task in tasks if chosen or not _find_obstacle(task)),
        train_on=_parse_languages(train_on, [*by_language], "--train-on"),
        test_on=_parse_languages(test_on, [*by_language], "--test-on"),
    )


def _parse_languages(text: str | None, available: Sequence[str], option: str) -> tuple[str, ...]:
    if text is None:
        return tuple(available)
    languages = tuple(part.strip() for part in text.split(","))
    for language in languages:
        if language not in available:
            raise UsageError(
                f"{option}: there is no table of the language {language!r}{suggest(language, available)}; "
                f"the tables are of: {', '.join(available)}"
            )
    check_distinct("language", languages)
    return languages


def _find_obstacle(task: NaturalTask) -> str:
    """Return the reason why a task cannot be tested in another language, or the empty string if it can."""
    if task.slots or task is WORD_CONTENT:
        return "it asks about words of one language"
    return "its sentences are changed at random" if task.suite is TaskGroup.CONTROLS else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _LanguageItems:
    """The items of a task in one language.

    *keys* maps each sentence to its identifiers: its text, its text before the task changed it, and its ``sent_id``.
    A sentence and its translation have the same ``sent_id``.
    """

    table: Table
    selected: selection.Selection
    keys: Mapping[str, frozenset[str]]

    def list_entries(self, splits: Iterable[Split], labels: Sequence[str]) -> list[Entry]:
        return [entry for entry in self.selected.entries if entry.split in splits and entry.label in labels]


def build_crossed_datasets(
    crossing: Crossing, tables: Iterable[Table], *, recipe: NaturalRecipe, command: str = ""
) -> Iterator[tuple[str, ProbeDataset | TooFewError]]:
    """Yield a dataset and its name for each task and each pair of a training language and a test language.

    An error replaces datasets that cannot be built. The error "Tense" replaces all datasets of the task Tense. The
    error "Tense.de-de" replaces all datasets of Tense that need German, such as "Tense.de-fr" and "Tense.fr-de".
    """
    check_natural_size(recipe.size)
    used = [table for table in tables if table.language in {*crossing.train_on, *crossing.test_on}]
    with ExitStack() as stack:
        corpora = [
            stack.enter_context(open_corpus(table, threads=recipe.threads, memory=recipe.memory)) for table in used
        ]
        for task in crossing.tasks:
            languages: dict[str, _LanguageItems] = {}
            try:
                if reason := _find_obstacle(task):
                    raise TooFewError(f"{task.name}: cannot be tested in another language: {reason}")
                for table, corpus in zip(used, corpora, strict=True):
                    try:
                        languages[table.language] = _select_in_language(task, table, corpus, crossing, recipe)
                    except TooFewError as error:
                        name = name_in_languages(task.name, table.language, table.language)
                        yield name, TooFewError(f"{table.language}: {error}")
                for data in _cross_languages(task.name, languages, crossing, seed=recipe.seed, command=command):
                    yield data.name, add_baselines(data) if recipe.audit else data
            except TooFewError as error:
                yield task.name, error


def _select_in_language(
    task: NaturalTask, table: Table, corpus: Corpus, crossing: Crossing, recipe: NaturalRecipe
) -> _LanguageItems:
    """Return the items of one language: training items, test items or both, as *crossing* requires."""
    size = recipe.size
    if table.language not in crossing.test_on:
        size = replace(size, test=0)
    if table.language not in crossing.train_on:
        size = replace(size, train=0, validation=0)
    request = selection.SelectionRequest(task.name, corpus, size, recipe.seed, recipe.settings)
    selected = select_items(task, request, table)
    texts = {entry.sentence: {entry.sentence, entry.original or entry.sentence} for entry in selected.entries}
    ids = corpus.find_sentence_ids(sorted(set().union(*texts.values())))
    keys = {
        sentence: frozenset(own_texts.union(f"# {name}" for text in own_texts for name in ids.get(text, ())))
        for sentence, own_texts in texts.items()
    }
    return _LanguageItems(table=table, selected=selected, keys=keys)


_TRAINING_SPLITS = (Split.TRAIN, Split.VALIDATION)


def _cross_languages(
    task: str, languages: Mapping[str, _LanguageItems], crossing: Crossing, *, seed: int, command: str
) -> Iterator[ProbeDataset]:
    """Yield the dataset of each pair of languages. Raises TooFewError."""
    train_on, test_on = (
        [name for name in names if name in languages] for names in (crossing.train_on, crossing.test_on)
    )
    if not train_on or not test_on:
        return
    labels = _find_common_labels(task, languages)
    tests = {name: languages[name].list_entries([Split.TEST], labels) for name in test_on}
    tested = {key for name in test_on for entry in tests[name] for key in languages[name].keys[entry.sentence]}
    training, left_out = _select_training(
        {name: languages[name] for name in train_on}, tested, labels, task=task, seed=seed
    )
    described: set[str] = set()
    for train in train_on:
        for test in test_on:
            sides = {name: languages[name] for name in (train, test)}
            # Each language's notes are printed once, at the first dataset that has it.
            new = [name for name in sides if name not in described]
            described.update(new)
            entries = [*training[train], *_shuffle(tests[test], f"{seed} {task} {test}")]
            items = Counter((entry.split, entry.label) for entry in entries)
            card = Card(
                task=task,
                seed=seed,
                command=command,
                sampling=NATURAL,
                source=", ".join(source.path for side in sides.values() for source in side.table.sources),
                train_language=train,
                test_language=test,
                versions={**find_versions("sentprobe", "duckdb", "numpy"), **languages[train].table.versions},
                counts={
                    **{f"{split.value} {label}": number for (split, label), number in sorted(items.items())},
                    LEFT_OUT: left_out[train],
                },
                notes=tuple(f"{name}: {note}" for name in new for note in sides[name].selected.notes),
            )
            name = name_in_languages(task, train, test)
            yield build_dataset(entries, name=name, source=name, card=card, labels=labels)


def _find_common_labels(task: str, languages: Mapping[str, _LanguageItems]) -> tuple[str, ...]:
    """Return the classes that all languages have, in order. Raises TooFewError if they are fewer than two.

    OTHER is left out if the languages' classes differ, since OTHER then stands for different values in each language.
    """
    by_language = {name: side.selected.labels for name, side in languages.items()}
    sets = {frozenset(classes) for classes in by_language.values()}
    shared = frozenset.intersection(*sets) - ({OTHER} if len(sets) > 1 else set())
    common = tuple(label for label in next(iter(by_language.values())) if label in shared)
    if len(common) < 2:
        lists = "; ".join(f"{name}: {', '.join(classes)}" for name, classes in by_language.items())
        raise TooFewError(f"{task}: fewer than two classes are common to the languages ({lists})")
    return common


def _select_training(
    languages: Mapping[str, _LanguageItems], tested: Set[str], labels: Sequence[str], *, task: str, seed: int
) -> tuple[dict[str, list[Entry]], dict[str, int]]:
    """Return two dictionaries by language: the training and validation items, and the number of items left out.

    *tested* has the keys of the test items, such as ``sent_id``. Items with such a key are left out. Then all languages
    get equally many items in each split. If the classes were balanced in all languages, they are balanced again. Raises
    TooFewError if a class has no training item.
    """
    entries = {name: side.list_entries(_TRAINING_SPLITS, labels) for name, side in languages.items()}
    is_balanced = all(
        len({*_count_classes(items, labels, split)}) == 1 for items in entries.values() for split in _TRAINING_SPLITS
    )
    # Translations of test items are left out of training in every language, not only in that of the test.
    remaining = {
        name: [entry for entry in items if languages[name].keys[entry.sentence].isdisjoint(tested)]
        for name, items in entries.items()
    }
    quotas: dict[Split, int] = {}
    for split in _TRAINING_SPLITS:
        counts = [_count_classes(items, labels, split) for items in remaining.values()]
        # As many as the poorest language has, so that languages differ in nothing but the language.
        quotas[split] = min(min(count) if is_balanced else sum(count) for count in counts)
    for name, items in remaining.items():
        for label, number in zip(labels, _count_classes(items, labels, Split.TRAIN), strict=True):
            if not number:
                total = sum(entry.split is Split.TRAIN and entry.label == label for entry in entries[name])
                raise TooFewError(
                    f"{task}: all {total:,} training items of {name} with the label {label} are sentences, or "
                    "translations, of test items; ask for fewer test items (--test)"
                )
    chosen = {
        name: _take(_shuffle(items, f"{seed} {task} {name}"), quotas, by_class=is_balanced)
        for name, items in remaining.items()
    }
    return chosen, {name: len(items) - len(remaining[name]) for name, items in entries.items()}


def _count_classes(entries: Sequence[Entry], labels: Sequence[str], split: Split) -> list[int]:
    counts = Counter(entry.label for entry in entries if entry.split is split)
    return [counts[label] for label in labels]


def _shuffle(entries: Iterable[Entry], key: str) -> list[Entry]:
    """Return the entries in a random order that depends only on *key* and the sentences."""
    ordered = sorted(entries, key=lambda entry: entry.sentence)
    Random(f"{key} order").shuffle(ordered)
    return ordered


def _take(entries: Iterable[Entry], quotas: Mapping[Split, int], *, by_class: bool) -> list[Entry]:
    """Return the first ``quotas[split]`` items of each split or, if *by_class*, of each class of each split."""
    counts = Counter[tuple[Split, str]]()
    chosen: list[Entry] = []
    for entry in entries:
        group = entry.split, entry.label if by_class else ""
        if counts[group] < quotas[entry.split]:
            counts[group] += 1
            chosen.append(entry)
    return sorted(chosen, key=lambda entry: entry.split is Split.VALIDATION)
