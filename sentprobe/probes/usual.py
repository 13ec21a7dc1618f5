"""What probes have unless they are asked otherwise: classifier and words of the task's paper."""

from collections.abc import Callable, Mapping, Sequence

from sentprobe.probes.corpus.tasks import TASKS, Suite
from sentprobe.probes.dataset import ProbeDataset
from sentprobe.probes.results import ONE_HOT, OWN_WORDS
from sentprobe.probes.trainer.presets import Preset, find_preset

Classifier = Preset | Callable[[ProbeDataset], Preset]
"""One classifier for all datasets, or what gives a dataset its own."""

OTHERWISE = "ettinger"
"""The preset for the tasks of Ettinger et al. 2018, and for datasets of no known task."""

_OF_SUITE: Mapping[Suite, str] = {
    Suite.CONNEAU: "conneau",
    Suite.ADI: "adi",
    Suite.CONTROLS: "adi",
}

_SENTEVAL = (
    "sentence_length",
    "word_content",
    "tree_depth",
    "top_constituents",
    "bigram_shift",
    "past_present",
    "subj_number",
    "obj_number",
    "odd_man_out",
    "coordination_inversion",
)
"""The names of the files that SentEval has the ten tasks of Conneau et al. 2018 in."""

_BY_NAME: Mapping[str, str] = {
    **{name.lower(): _OF_SUITE[task.suite] for name, task in TASKS.items()},
    **dict.fromkeys(_SENTEVAL, _OF_SUITE[Suite.CONNEAU]),
}
"""The preset by a task's name in lower case; others have :data:`OTHERWISE`."""


def preset_of(*names: str) -> str:
    """Return the name of the preset of the paper that a task is from; the first known name counts.

    >>> preset_of("SubjNum"), preset_of("bigram_shift"), preset_of("mine", "AdiOrder")
    ('conneau', 'conneau', 'adi')
    >>> preset_of("SemRole"), preset_of("mine")
    ('ettinger', 'ettinger')
    """
    return next((_BY_NAME[n.lower()] for n in names if n.lower() in _BY_NAME), OTHERWISE)


def usual_preset(data: ProbeDataset) -> Preset:
    """Return the classifier of the paper that a dataset's task is from.

    The task is that of its card or, if that is not known, the dataset's name.
    """
    return find_preset(preset_of(data.card.task, data.name))


def usual_words(data: ProbeDataset) -> str:
    """Return what stands for probe words: in Adi et al. the encoder's vectors, else one-hot."""
    return OWN_WORDS if usual_preset(data).name == _OF_SUITE[Suite.ADI] else ONE_HOT


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
