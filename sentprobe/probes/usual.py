"""What probes have unless they are asked otherwise: classifier and words of the task's paper."""

from collections.abc import Callable, Mapping, Sequence

from sentprobe.probes.corpus.tasks import TASKS, Suite
from sentprobe.probes.dataset import ProbeDataset
from sentprobe.probes.results import ONE_HOT, OWN_WORDS
from sentprobe.probes.senteval_names import task_key
from sentprobe.probes.trainer.presets import Preset, find_preset

Classifier = Preset | Callable[[ProbeDataset], Preset]
"""One classifier for all datasets, or what gives a dataset its own."""

OTHERWISE = "ettinger"
"""The preset for the tasks of Ettinger et al. 2018, and for datasets of no known task."""

_SUITES: Mapping[str, Suite] = {task_key(name): task.suite for name, task in TASKS.items()}

_PRESETS: Mapping[Suite, str] = {
    Suite.CONNEAU: "conneau",
    Suite.ADI: "adi",
    Suite.CONTROLS: "adi",
}

_WORDS: Mapping[Suite, str] = {Suite.ADI: OWN_WORDS, Suite.CONTROLS: OWN_WORDS}
"""What stands for probe words; one-hot in all other tasks."""


def _suite(*names: str) -> Suite | None:
    """Return the suite that a natural-text task is from; the first known name counts."""
    keys = map(task_key, names)
    return next((_SUITES[key] for key in keys if key in _SUITES), None)


def preset_of(*names: str) -> str:
    """Return the name of the preset of the paper that a task is from; the first known name counts.

    >>> preset_of("SubjNum"), preset_of("bigram_shift"), preset_of("mine", "AdiOrder")
    ('conneau', 'conneau', 'adi')
    >>> preset_of("SemRole"), preset_of("mine")
    ('ettinger', 'ettinger')
    """
    suite = _suite(*names)
    return OTHERWISE if suite is None else _PRESETS[suite]


def usual_preset(data: ProbeDataset) -> Preset:
    """Return the classifier of the paper that a dataset's task is from.

    The task is that of its card or, if that is not known, the dataset's name.
    """
    return find_preset(preset_of(data.card.task, data.name))


def usual_words(data: ProbeDataset) -> str:
    """Return what stands for probe words: in Adi et al. the encoder's vectors, else one-hot."""
    suite = _suite(data.card.task, data.name)
    return ONE_HOT if suite is None else _WORDS.get(suite, ONE_HOT)


def by_setting(
    datasets: Sequence[ProbeDataset], classifier: Classifier, words: str | None
) -> dict[tuple[Preset, str], list[ProbeDataset]]:
    """Return the datasets by the classifier and probe words that they get, in order of the first.

    *words* None: the usual ones.
    """
    groups: dict[tuple[Preset, str], list[ProbeDataset]] = {}
    for data in datasets:
        chosen = classifier if isinstance(classifier, Preset) else classifier(data)
        name = usual_words(data) if words is None else words
        groups.setdefault((chosen, name), []).append(data)
    return groups
