"""Find a task of any suite by its name in sentprobe or by the name of its published file."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

from sentprobe.probes.compeval.tasks import SUITE_TASKS
from sentprobe.probes.dataset import ONE_HOT, ProbeDataset
from sentprobe.probes.known_task import Cue, KnownTask, Reasons, Redundancy, find_task_name, remove_languages
from sentprobe.probes.natural.datasets import TASKS as NATURAL
from sentprobe.probes.trainer.classifier import Preset
from sentprobe.probes.trainer.presets import find_preset, override
from sentprobe.specs import OptionPair

FALLBACK_PRESET = "ettinger"
"""The classifier preset for datasets of unknown tasks."""


@dataclass(frozen=True, slots=True)
class PresetChoice:
    """The choice of a classifier: the preset *name* (None: the preset of the task's paper), changed by *values*."""

    name: str | None = None
    values: tuple[OptionPair, ...] = ()

    def find_preset_of(self, *names: str) -> Preset:
        """Return the chosen preset; by default, the one that :func:`find_preset_name` names. Raises UsageError."""
        return _make_preset(self.name or find_preset_name(*names), tuple((name, value) for name, value in self.values))

    def __call__(self, data: ProbeDataset) -> Preset:
        return self.find_preset_of(data.card.task, data.name)


@cache
def _make_preset(name: str, values: tuple[OptionPair, ...]) -> Preset:
    return override(find_preset(name), values)


USUAL_PRESET = PresetChoice()
"""For each task, the classifier of its paper."""

ClassifierChoice = Preset | Callable[[ProbeDataset], Preset]
"""One classifier for all datasets, or a function from dataset to classifier."""


def list_known_tasks() -> tuple[KnownTask, ...]:
    """Return all known tasks, suite by suite, in the order of the papers' tables."""
    return (*(task for tasks in SUITE_TASKS.values() for task in tasks.values()), *NATURAL.values())


def to_own_name(name: str) -> str:
    """Return sentprobe's name of a known task, without languages such as ``.de-fr``; return other names unchanged.

    >>> to_own_name("bigram_shift"), to_own_name("WordContent"), to_own_name("BShift.de-fr"), to_own_name("mine")
    ('BShift', 'WC', 'BShift', 'mine')
    """
    tasks = list_known_tasks()
    task_name = find_task_name(remove_languages(name), tasks)
    return task_name if any(task.name == task_name for task in tasks) else find_task_name(name, tasks)


def find_known_task(*names: str) -> KnownTask | None:
    """Return the first known task among *names*, whatever their case; None if all names are unknown.

    >>> [find_known_task("mine", name).name for name in ("bigram_shift", "WordContent", "semrole")]
    ['BShift', 'WC', 'SemRole']
    """
    tasks = {task.name.lower(): task for task in list_known_tasks()}
    return next((tasks[key] for key in (to_own_name(name).lower() for name in names) if key in tasks), None)


def rename_as_published(data: ProbeDataset) -> ProbeDataset:
    """Return a dataset with the name and labels of its published file; unchanged if there is no such file."""
    task = find_known_task(data.name)
    if task is None or not task.published:
        return data
    labels = tuple(task.published_labels.get(label, label) for label in data.labels)
    languages = data.name.removeprefix(remove_languages(data.name))
    return replace(data, name=task.published + languages, labels=labels)


def find_preset_name(*names: str) -> str:
    """Return the name of the classifier preset of the first known task among *names*; FALLBACK_PRESET if there is none.

    >>> find_preset_name("SubjNum"), find_preset_name("mine", "AdiOrder"), find_preset_name("mine")
    ('conneau', 'adi', 'ettinger')
    """
    task = find_known_task(*names)
    return FALLBACK_PRESET if task is None else task.preset


def find_redundancy(*names: str) -> Redundancy | None:
    """Return the way to guess answers in the first known task among *names*; None if there is no such task or way."""
    task = find_known_task(*names)
    return None if task is None else task.redundancy


def find_usual_words(data: ProbeDataset) -> str:
    """Return how a dataset's probe words are encoded: ``encoder`` in tasks of Adi et al., else ``one-hot``."""
    task = find_known_task(data.card.task, data.name)
    return ONE_HOT if task is None else task.words


def explain_expected_cue(name: str, cue: Cue) -> str:
    """Return why a surface cue is allowed to predict the answers of the task *name*, or "" if it is not allowed to.

    >>> explain_expected_cue("Content1Probe", Cue.BAG)
    'the task is about which words there are'
    >>> explain_expected_cue("SemRole", Cue.BAG)
    ''
    """
    task = find_known_task(name)
    return "" if task is None else _find_reason(task.may_answer, cue)


def explain_inverted_cue(name: str, cue: Cue) -> str:
    """Return why the accuracy of a surface cue is below chance on the test items of the task *name*."""
    task = find_known_task(name)
    reason = "" if task is None else _find_reason(task.reversed_cues, cue)
    return reason or "training and test disagree about this cue"


def _find_reason(reasons: Reasons, cue: Cue) -> str:
    return reasons.get(cue) or (reasons.get(Cue.NGRAMS, "") if cue is Cue.PLACES else "")
