"""The tasks of all suites as one list: known by our name or that of the published file."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from sentprobe.probes.compeval.tasks import TASKS as COMPEVAL
from sentprobe.probes.dataset import ONE_HOT, ProbeDataset
from sentprobe.probes.known_task import Cue, KnownTask, Redundancy, own_name_among
from sentprobe.probes.natural.catalogue import TASKS as NATURAL
from sentprobe.probes.trainer.classifier import Preset
from sentprobe.probes.trainer.presets import find_preset, override
from sentprobe.specs import OptionPair

OTHERWISE = "ettinger"
"""The preset for datasets of no known task."""


@dataclass(frozen=True, slots=True)
class PresetChoice:
    """The preset of that name, or that of the paper of each task, with some values changed."""

    name: str | None = None
    values: tuple[OptionPair, ...] = ()
    _found: dict[str, Preset] = field(default_factory=dict, repr=False, compare=False)

    def of_tasks(self, *names: str) -> Preset:
        """Return the classifier of a task, by names of which the first that is known counts.

        Raises:
            UsageError: there is no such preset, or none of its values is so called, or can be that.
        """
        name = self.name or preset_of(*names)
        if name not in self._found:
            self._found[name] = override(find_preset(name), self.values)
        return self._found[name]

    def __call__(self, data: ProbeDataset) -> Preset:
        """Return the classifier of a dataset."""
        return self.of_tasks(data.card.task, data.name)


USUAL_PRESET = PresetChoice()
"""The classifier of the paper that a dataset's task is from: the task of its card or, if that is
not known, of the dataset's name."""

ClassifierChoice = Preset | Callable[[ProbeDataset], Preset]
"""One classifier for all datasets, or what gives a dataset its own."""


def known_tasks() -> tuple[KnownTask, ...]:
    """Return all tasks, in the order of the papers' tables."""
    return (*COMPEVAL.values(), *NATURAL.values())


def own_name(name: str) -> str:
    """Return our name of a task that is called as its published file is; any other name as it is.

    >>> own_name("bigram_shift"), own_name("WordContent"), own_name("BShift"), own_name("mine")
    ('BShift', 'WC', 'BShift', 'mine')
    """
    return own_name_among(name, known_tasks())


def task_key(name: str) -> str:
    """Return what a task is looked up by: its name, not its published file's, in lower case.

    >>> task_key("bigram_shift"), task_key("WordContent"), task_key("SemRole")
    ('bshift', 'wc', 'semrole')
    """
    return own_name(name).lower()


def known_task(*names: str) -> KnownTask | None:
    """Return the task of one of the names, the first that is known."""
    tasks = {task.name.lower(): task for task in known_tasks()}
    return next((tasks[key] for key in map(task_key, names) if key in tasks), None)


def as_published(data: ProbeDataset) -> ProbeDataset:
    """Return a dataset with the name and labels of its task's published file, if there is one."""
    task = known_task(data.name)
    if task is None or not task.published:
        return data
    labels = tuple(task.published_labels.get(label, label) for label in data.labels)
    return replace(data, name=task.published, labels=labels)


def preset_of(*names: str) -> str:
    """Return the name of the preset of the paper that a task is from; the first known name counts.

    >>> preset_of("SubjNum"), preset_of("bigram_shift"), preset_of("mine", "AdiOrder")
    ('conneau', 'conneau', 'adi')
    >>> preset_of("SemRole"), preset_of("mine")
    ('ettinger', 'ettinger')
    """
    task = known_task(*names)
    return OTHERWISE if task is None else task.preset


def redundancy_of(*names: str) -> Redundancy | None:
    """Return what words of a sentence the one that the task asks about may agree with, if any."""
    task = known_task(*names)
    return None if task is None else task.redundancy


def usual_words(data: ProbeDataset) -> str:
    """Return what stands for probe words: in Adi et al. the encoder's vectors, else one-hot."""
    task = known_task(data.card.task, data.name)
    return ONE_HOT if task is None else task.words


def expected(name: str, cue: Cue) -> str:
    """Return why a cue may answer the task of that name, or the empty string.

    >>> expected("Content1Probe", Cue.BAG)
    'the task is about which words there are'
    >>> expected("SemRole", Cue.BAG)
    ''
    >>> expected("word_content", Cue.BAG) == expected("WC", Cue.BAG)
    True
    """
    task = known_task(name)
    return "" if task is None else task.may_answer.get(cue, "")


def turned(name: str, cue: Cue) -> str:
    """Return why a cue is below chance on the test items of the task of that name."""
    task = known_task(name)
    found = "" if task is None else task.turned.get(cue, "")
    return found or "training and test disagree about this cue"
