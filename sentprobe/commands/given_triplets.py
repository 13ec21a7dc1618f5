"""The files of ``gen pairs`` that ``probe geometry`` is given in place of drawn triplets."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sentprobe.errors import UsageError

if TYPE_CHECKING:
    from sentprobe.probes.geometry.material import TripletMaterial


def divide(words: Sequence[str]) -> tuple[list[Path], list[str]]:
    """Return the files of ``gen pairs`` among words, and the others: a suite, or datasets."""
    from sentprobe.probes.geometry.triplet_reader import is_of_pairs  # noqa: PLC0415 - not for help

    files = [word for word in words if is_of_pairs(Path(word))]
    return [*map(Path, files)], [word for word in words if word not in files]


def refuse_of_drawn(files: Sequence[Path], asked: dict[str, bool]) -> None:
    """Refuse options about what is known of drawn triplets alone.

    Raises:
        UsageError: there is one.
    """
    for option, given in asked.items():
        if files and given:
            raise UsageError(
                f"{option} is for triplets that are drawn, not for those of {files[0]}"
            )


def triplet_materials(files: Sequence[Path], *, seed: int) -> "list[TripletMaterial]":
    """Return the triplets of each file.

    Raises:
        UsageError: two are of one contrast.
        FormatError: a file is damaged, or lacks what is needed.
    """
    from sentprobe.probes.geometry import triplet_reader as reader  # noqa: PLC0415 - not for help

    found: dict[str, tuple[Path, TripletMaterial]] = {}
    for each in files:
        reader.check_annotated(each)
        made = reader.read_triplets(each, seed=seed)
        if made.contrast in found:
            raise UsageError(
                f"{found[made.contrast][0]} and {each} are both of the contrast {made.contrast}: "
                "measure them by two commands"
            )
        found[made.contrast] = each, made
    return [made for _, made in found.values()]
