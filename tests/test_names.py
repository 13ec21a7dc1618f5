"""The plain tuples of names equal the names in the code, in the same order."""

from collections.abc import Iterable

import pytest

from sentprobe import names
from sentprobe.generator.events.event import Mood
from sentprobe.generator.pairs.contrasts import CONTRASTS
from sentprobe.lexicon import english
from sentprobe.lexicon.languages.table import LANGUAGES
from sentprobe.probes.compeval.held_out_structures import STRUCTURES
from sentprobe.probes.compeval.tasks import STRUCTURE_TASKS
from sentprobe.probes.compeval.tasks import TASKS as COMPEVAL_TASKS
from sentprobe.probes.dataset import Sampling
from sentprobe.probes.encoders.networks.architecture import DEFAULT_LAYERS
from sentprobe.probes.formats.registry import check_format
from sentprobe.probes.natural.datasets import TASKS as NATURAL_TASKS
from sentprobe.probes.natural.natural_task import TaskGroup
from sentprobe.probes.pretraining.objectives import OBJECTIVES
from sentprobe.probes.report.tables.part_tables import COLUMN_TEXTS
from sentprobe.probes.runs.request.settings import MethodName
from sentprobe.probes.trainer.presets import PRESETS


@pytest.mark.parametrize(
    ("plain", "table"),
    [
        (names.COMPEVAL_TASKS, COMPEVAL_TASKS),
        (names.STRUCTURE_TASKS, STRUCTURE_TASKS),
        (names.NATURAL_TASKS, NATURAL_TASKS),
        (names.TASK_GROUPS, TaskGroup),
        (names.CONTRASTS, CONTRASTS),
        (names.STRUCTURES, STRUCTURES),
        (names.ITEM_COLUMNS, COLUMN_TEXTS),
        (names.SAMPLINGS, Sampling),
        (names.PRESETS, (preset.name for preset in PRESETS)),
        (names.METHODS, MethodName),
        (names.ARCHITECTURES, DEFAULT_LAYERS),
        (names.OBJECTIVES, OBJECTIVES),
        (names.MOODS, Mood),
        (names.LANGUAGES, LANGUAGES),
    ],
)
def test_names_are_those_of_the_table(plain: tuple[str, ...], table: Iterable[str]) -> None:
    assert plain == tuple(table)


def test_vocabularies_are_those_of_the_lexicon() -> None:
    assert {*names.VOCABULARIES} == english().vocabularies.keys() - {"all"}


def test_every_dataset_format_is_known() -> None:
    for name in names.DATASET_FORMATS:
        check_format(name)
