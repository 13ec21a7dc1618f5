"""The plain tuples of names equal the names in the code, in the same order."""

from collections.abc import Iterable

import pytest

from sentprobe.common import specs
from sentprobe.generator.events.event import Mood
from sentprobe.generator.pairs.contrasts import CONTRASTS
from sentprobe.lexicon import english
from sentprobe.lexicon.languages import LANGUAGES
from sentprobe.probes.classifier.presets import PRESETS
from sentprobe.probes.datasets.dataset import Sampling
from sentprobe.probes.datasets.formats import check_format
from sentprobe.probes.encoders.architecture import DEFAULT_LAYERS
from sentprobe.probes.generated.held_out_pairs import STRUCTURES
from sentprobe.probes.generated.tasks import STRUCTURE_TASKS
from sentprobe.probes.generated.tasks import TASKS as COMPEVAL_TASKS
from sentprobe.probes.natural.datasets import TASKS as NATURAL_TASKS
from sentprobe.probes.natural.natural_task import TaskGroup
from sentprobe.probes.reports.tables.part_tables import COLUMN_TEXTS
from sentprobe.probes.runs.settings import MethodName
from sentprobe.probes.training.objectives import OBJECTIVES


@pytest.mark.parametrize(
    ("plain", "table"),
    [
        (specs.COMPEVAL_TASKS, COMPEVAL_TASKS),
        (specs.STRUCTURE_TASKS, STRUCTURE_TASKS),
        (specs.NATURAL_TASKS, NATURAL_TASKS),
        (specs.TASK_GROUPS, TaskGroup),
        (specs.CONTRASTS, CONTRASTS),
        (specs.STRUCTURES, STRUCTURES),
        (specs.ITEM_COLUMNS, COLUMN_TEXTS),
        (specs.SAMPLINGS, Sampling),
        (specs.PRESETS, (preset.name for preset in PRESETS)),
        (specs.METHODS, MethodName),
        (specs.ARCHITECTURES, DEFAULT_LAYERS),
        (specs.OBJECTIVES, OBJECTIVES),
        (specs.MOODS, Mood),
        (specs.LANGUAGES, LANGUAGES),
    ],
)
def test_names_are_those_of_the_table(plain: tuple[str, ...], table: Iterable[str]) -> None:
    assert plain == tuple(table)


def test_vocabularies_are_those_of_the_lexicon() -> None:
    assert {*specs.VOCABULARIES} == english().vocabularies.keys() - {"all"}


def test_every_dataset_format_is_known() -> None:
    for name in specs.DATASET_FORMATS:
        check_format(name)
