"""The plain tuples of names equal the names in the code, in the same order."""

from collections.abc import Iterable

import pytest

from sentprobe.common import specs
from sentprobe.generator.events.event import Mood
from sentprobe.generator.pairs.contrasts import CONTRASTS
from sentprobe.lexicon import english
from sentprobe.lexicon.languages import LANGUAGES
from sentprobe.probes.classifier.presets import PRESETS
from sentprobe.probes.datasets.formats import check_format
from sentprobe.probes.generated.held_out_pairs import STRUCTURES
from sentprobe.probes.generated.tasks import STRUCTURE_TASKS
from sentprobe.probes.generated.tasks import TASKS as COMPEVAL_TASKS
from sentprobe.probes.natural.datasets import TASKS as NATURAL_TASKS
from sentprobe.probes.reports.tables.part_tables import COLUMN_TEXTS


@pytest.mark.parametrize(
    ("plain", "table"),
    [
        (specs.COMPEVAL_TASKS, COMPEVAL_TASKS),
        (specs.STRUCTURE_TASKS, STRUCTURE_TASKS),
        (specs.NATURAL_TASKS, NATURAL_TASKS),
        (specs.CONTRASTS, CONTRASTS),
        (specs.STRUCTURES, STRUCTURES),
        (specs.ITEM_COLUMNS, COLUMN_TEXTS),
        (specs.PRESETS, (preset.name for preset in PRESETS)),
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
