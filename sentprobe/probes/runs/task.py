"""The tasks of a run: datasets with their classifiers and with facts computed from the datasets."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sentprobe.common.errors import UsageError
from sentprobe.common.specs import count_tokens
from sentprobe.lexicon.lexicon import Lexicon
from sentprobe.probes.classifier.presets import calibrate_stopping, set_hidden_widths
from sentprobe.probes.classifier.probe import Preset, compute_portion_sizes
from sentprobe.probes.datasets.dataset import ONE_HOT, ProbeDataset, Split
from sentprobe.probes.encoders.baselines import (
    Places,
    choose_places,
    compute_highest_bound,
    describe_places,
    list_place_sets,
)
from sentprobe.probes.encoders.encoder import digest
from sentprobe.probes.results.data_facts import DataFacts, collect_data_facts
from sentprobe.probes.results.result import Condition, renumber_units
from sentprobe.probes.runs.controls import ProbeItems, WordSource, find_word_types, make_probe_items
from sentprobe.probes.runs.settings import Run
from sentprobe.probes.runs.suites import USUAL_PRESET, ClassifierChoice, find_usual_words


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Task:
    """A dataset with its classifier, its source of probe word vectors, and facts computed once for all encoders."""

    data: ProbeDataset
    preset: Preset
    words: WordSource
    items: ProbeItems
    fingerprint: str
    facts: DataFacts
    majority: float
    mirrored: bool
    units: tuple[int, ...]
    lengths: tuple[int, ...]
    balanced_probes: bool
    training: str = ""
    """A digest of training and validation items, if datasets of several test languages share the items; else empty."""
    lexicon: Lexicon | None = None
    """The lexicon for parsing the sentences; None means the built-in lexicon of the dataset's language."""
    places: Places = ()
    """The places that the control with fixed positions sees; empty if the run has no controls."""
    portion_items: ProbeItems | None = None
    """The items for methods that train on growing portions of the items, such as MDL; None without such methods."""

    @property
    def name(self) -> str:
        """The name of the dataset."""
        return self.data.name

    def get_items(self, condition: Condition) -> ProbeItems:
        """Return the items that a probe is trained on under a condition."""
        return self.portion_items or self.items if condition is Condition.PORTIONS else self.items


def make_tasks(
    datasets: Sequence[ProbeDataset],
    *,
    run: Run,
    preset: ClassifierChoice | None = None,
    words: WordSource | None = None,
    origins: Mapping[str, str] | None = None,
    lexicons: Mapping[str, Lexicon] | None = None,
) -> list[Task]:
    """Return a task for each dataset; by default, classifier and probe word vectors are those of the task's paper.

    Raises UsageError if *words* sets word vectors but no task has probe words.
    """
    if words is not None and words.name != ONE_HOT and not any(data.slots for data in datasets):
        raise UsageError(f"probe vectors {words.name}: none of the tasks has probe words")
    classifier = USUAL_PRESET if preset is None else preset
    return [
        make_task(
            data,
            run=run,
            preset=classifier if isinstance(classifier, Preset) else classifier(data),
            words=words or WordSource(find_usual_words(data)),
            origin=(origins or {}).get(data.name, ""),
            lexicon=(lexicons or {}).get(data.name),
        )
        for data in datasets
    ]


def make_task(
    data: ProbeDataset, *, run: Run, preset: Preset, words: WordSource, origin: str, lexicon: Lexicon | None
) -> Task:
    """Return a dataset's task. Raises UsageError if the preset or number of items does not suit a method of *run*."""
    test = data.splits[Split.TEST]
    targets = test.targets
    items = make_probe_items(data, preset=preset, seed=run.seed)
    if Condition.CONTROL_TASK in run.methods:
        items = replace(items, types=find_word_types(data))
    if Condition.WIDTHS in run.methods:
        set_hidden_widths(preset)
    portion_items = None
    if Condition.PORTIONS in run.methods:
        portion_items = make_probe_items(data, preset=calibrate_stopping(preset), seed=run.seed)
        compute_portion_sizes(len(portion_items.train), labels=portion_items.labels)
    places: Places = ()
    facts = collect_data_facts(data, origin=origin)
    if run.controls:
        place_sets = list_place_sets(data)
        places = choose_places(data, place_sets, seed=run.seed)
        bound = compute_highest_bound(data, place_sets)
        facts = replace(facts, places=describe_places(places), place_bound=bound)
    return Task(
        data=data,
        preset=preset,
        words=words,
        items=items,
        fingerprint=data.fingerprint(),
        facts=facts,
        majority=float(np.bincount(targets).max() / len(targets)),
        mirrored=data.mirrored,
        units=renumber_units(data.units(Split.TEST)),
        lengths=count_tokens([data.sentences[row] for row in test.rows]),
        balanced_probes=data.balanced_probes,
        training=_digest_training(data, items) if data.card.test_language and not data.slots else "",
        lexicon=lexicon,
        places=places,
        portion_items=portion_items,
    )


def _digest_training(data: ProbeDataset, items: ProbeItems) -> str:
    splits = [items.train, *([items.validation] if items.validation else [])]
    texts = [[data.sentences[row] for row in split.rows] for split in splits]
    return digest(data.labels, *((split.rows.tolist(), split.targets.tolist()) for split in splits), texts)


def list_task_names(tasks: Sequence[str | ProbeDataset]) -> tuple[str, ...]:
    """Return the names of *tasks*, each of which is a name or a dataset."""
    return tuple(task if isinstance(task, str) else task.name for task in tasks)
