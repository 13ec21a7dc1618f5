"""What the suites' tasks are called and probed with: SentEval's names, classifier, probe words."""

from collections.abc import Callable, Mapping

from sentprobe.probes.dataset import ONE_HOT, OWN_WORDS, ProbeDataset
from sentprobe.probes.natural.catalogue import TASKS, Suite
from sentprobe.probes.trainer.classifier import Preset
from sentprobe.probes.trainer.presets import find_preset

SENTEVAL: Mapping[str, str] = {
    "SentLen": "sentence_length",
    "WC": "word_content",
    "TreeDepth": "tree_depth",
    "TopConst": "top_constituents",
    "BShift": "bigram_shift",
    "Tense": "past_present",
    "SubjNum": "subj_number",
    "ObjNum": "obj_number",
    "SOMO": "odd_man_out",
    "CoordInv": "coordination_inversion",
}
"""By our names, which are the paper's."""


def _bare(name: str) -> str:
    return name.lower().replace("_", "")


_OURS = {_bare(file): name.lower() for name, file in SENTEVAL.items()}


def task_key(name: str) -> str:
    """Return what a task is looked up by: its name, not SentEval's, in lower case.

    >>> task_key("bigram_shift"), task_key("WordContent"), task_key("SemRole")
    ('bshift', 'wc', 'semrole')
    """
    return _OURS.get(_bare(name), name.lower())


ClassifierChoice = Preset | Callable[[ProbeDataset], Preset]
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
