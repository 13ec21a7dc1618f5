"""A task in a run: a dataset, what probes it, and what is worked out from it once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sentprobe.errors import UsageError
from sentprobe.lengths import count_tokens
from sentprobe.lexicon.lexicon import Lexicon
from sentprobe.probes.dataset import ONE_HOT, ProbeDataset, Split
from sentprobe.probes.runs.control_task import word_types
from sentprobe.probes.runs.controls import Material, material_of
from sentprobe.probes.runs.data_facts import DataFacts, facts_of
from sentprobe.probes.runs.results import Condition, renumber
from sentprobe.probes.runs.settings import Run
from sentprobe.probes.runs.word_source import WordSource
from sentprobe.probes.suites import USUAL_PRESET, ClassifierChoice, usual_words
from sentprobe.probes.trainer.classifier import Preset
from sentprobe.probes.trainer.presets import careful, of_widths
from sentprobe.probes.trainer.readings import portions_of


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Task:
    """A dataset, what probes it, and what is worked out from it once, whatever the encoders."""

    data: ProbeDataset
    preset: Preset
    """The classifier."""
    words: WordSource
    """What stands for probe words."""
    material: Material
    fingerprint: str
    facts: DataFacts
    majority: float
    mirrored: bool
    units: tuple[int, ...]
    lengths: tuple[int, ...]
    balanced_probes: bool
    lexicon: Lexicon | None = None
    """That of its sentences; None: the built-in one, if any."""
    portioned: Material | None = None
    """What portions are taken of; None: none are."""

    @property
    def name(self) -> str:
        """The name of the dataset."""
        return self.data.name

    def material_for(self, condition: Condition) -> Material:
        """Return what a probe is trained on under a condition."""
        return self.portioned or self.material if condition is Condition.PORTIONS else self.material


def make_tasks(
    datasets: Sequence[ProbeDataset],
    *,
    run: Run,
    preset: ClassifierChoice | None = None,
    words: WordSource | None = None,
    origins: Mapping[str, str] | None = None,
    lexicons: Mapping[str, Lexicon] | None = None,
) -> list[Task]:
    """Return a task for each dataset.

    - preset, words: for all; None: those of the paper that a task is from
    - origins, lexicons: of the datasets that were built, by name; see :class:`DataFacts`

    Raises:
        UsageError: word vectors where no task has probe words.
    """
    if words is not None and words.name != ONE_HOT and not any(data.slots for data in datasets):
        raise UsageError(f"probe vectors {words.name}: none of the tasks has probe words")
    choose = USUAL_PRESET if preset is None else preset
    return [
        make_task(
            data,
            run=run,
            preset=choose if isinstance(choose, Preset) else choose(data),
            words=words or WordSource(usual_words(data)),
            origin=(origins or {}).get(data.name, ""),
            lexicon=(lexicons or {}).get(data.name),
        )
        for data in datasets
    ]


def make_task(
    data: ProbeDataset,
    *,
    run: Run,
    preset: Preset,
    words: WordSource,
    origin: str = "",
    lexicon: Lexicon | None = None,
) -> Task:
    """Work out what results say about a dataset.

    Raises:
        UsageError: it is too small for a method that is asked for, or has no hidden layer for it.
    """
    test = data.splits[Split.TEST]
    targets = test.targets
    material = material_of(data, preset=preset, seed=run.seed)
    if Condition.CONTROL_TASK in run.methods:
        material = replace(material, types=word_types(data))
    if Condition.WIDTHS in run.methods:
        of_widths(preset)
    return Task(
        data=data,
        preset=preset,
        words=words,
        material=material,
        fingerprint=data.fingerprint(),
        facts=facts_of(data, origin=origin),
        majority=float(np.bincount(targets).max() / len(targets)),
        mirrored=data.mirrored,
        units=renumber(data.units(Split.TEST)),
        lengths=count_tokens([data.sentences[row] for row in test.rows]),
        balanced_probes=data.balanced_probes,
        lexicon=lexicon,
        portioned=_portioned(data, preset, run) if Condition.PORTIONS in run.methods else None,
    )


def _portioned(data: ProbeDataset, preset: Preset, run: Run) -> Material:
    material = material_of(data, preset=careful(preset), seed=run.seed)
    portions_of(len(material.train), labels=material.labels)
    return material
