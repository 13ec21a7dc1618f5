"""The test sentences of tasks that ``probe geometry`` is given in place of drawn triplets."""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sentprobe.commands import options as opt
from sentprobe.commands.targets import parse_targets
from sentprobe.errors import SentprobeError, UsageError, told
from sentprobe.lexicon import Lexicon
from sentprobe.probes.runs.targets import Targets, find_datasets
from sentprobe.progress import bars
from sentprobe.specs import COMPEVAL, NATURAL

if TYPE_CHECKING:
    from sentprobe.probes.dataset import ProbeDataset
    from sentprobe.probes.geometry.material import Drawing, TripletMaterial

MIRRORED = ("Order", "SemRole", "Negation")
"""The tasks of compeval whose test items are mirror pairs."""

OF_TRIPLETS = {
    "contrast": "--contrast", "n": "--n", "variants": "--variants", "template": "--template",
}  # fmt: skip
"""By parameter, the options that say which triplets are drawn."""


def refuse_tasks(tasks: Sequence[str], words: Sequence[str]) -> None:
    """Refuse tasks where nothing is named that has some.

    Raises:
        UsageError: there are tasks, and no suite or datasets.
    """
    if tasks and not words:
        raise UsageError("--task is for the sentences of compeval or of datasets: name these first")


def refuse_drawing(given: Sequence[str], words: Sequence[str]) -> None:
    """Refuse options about drawn triplets where sentences are there.

    Raises:
        UsageError: there is one.
    """
    for name in given if words else ():
        if name in OF_TRIPLETS:
            raise UsageError(
                f"{OF_TRIPLETS[name]} is for triplets that are drawn, not for the sentences of "
                f"{', '.join(words)}"
            )


def parse_sentences(
    words: Sequence[str], tasks: Sequence[str], source: opt.TripletOptions, *, seed: int
) -> Targets:
    """Return what the words stand for: the suite compeval, or datasets.

    Raises:
        UsageError: it is the table of a corpus; see also :func:`parse_targets`.
    """
    names = tasks or (MIRRORED if [*words] == [COMPEVAL] else ())
    options = opt.CompevalOptions(
        vocabulary=source.vocabulary, lexicon=source.lexicon, held_out=source.held_out
    )
    given = ["held_out"] if source.held_out else []
    found = parse_targets(words, names, compeval=options, seed=seed, given=given)
    if NATURAL in found.suites or NATURAL in words:
        raise UsageError(
            "the tasks of natural text have no mirror pairs, by which distances are asked; "
            "give compeval, or datasets of SemRole, Order or Negation"
        )
    return found


def mirror_materials(
    targets: Targets, lexicon: Lexicon, drawing: "Drawing", *, command: str
) -> "list[TripletMaterial]":
    """Return the mirror pairs of each dataset; which has none is said on stderr.

    Raises:
        UsageError: none has.
        SentprobeError: no dataset can be built, or one not be read.
    """
    from sentprobe.probes.geometry.mirrors import NoMirrorError, mirror_material  # noqa: PLC0415

    with bars() as reporter:
        found = find_datasets(targets, command=command, reporter=reporter)
    made: list[TripletMaterial] = []
    why: list[SentprobeError] = [*found.failures.values()]
    for data, own in _drawings(targets, found.datasets, drawing):
        try:
            made.append(mirror_material(data, lexicon, own))
        except NoMirrorError as error:
            why.append(error)
    if not made:
        raise why[0]
    for each in why:
        print(told(f"left out: {each}"), file=sys.stderr)
    return made


def _drawings(
    targets: Targets, datasets: "Sequence[ProbeDataset]", drawing: "Drawing"
) -> "Iterator[tuple[ProbeDataset, Drawing]]":
    """Yield each dataset with how it was drawn: by our seed if it was built, else as its card says.

    The datasets of the suite are known by their card, whose command is this one.
    """
    for data in datasets:
        built = bool(targets.built) and data.card.command == opt.command_line()
        templates = (COMPEVAL,) if built else ()
        own = replace(drawing, vocabulary=data.card.vocabulary, templates=templates)
        yield data, own if built else replace(own, words="", held_out=())
