"""Input of ``probe geometry``: triplet files of ``gen pairs``, and mirror pairs in datasets of tasks."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from sentprobe.commands.shared import options as opt
from sentprobe.common.errors import SentprobeError, UsageError
from sentprobe.common.screen import print_message, show_bars
from sentprobe.common.specs import COMPEVAL, NATURAL
from sentprobe.lexicon import Lexicon
from sentprobe.probes.runs.suite_options import CompevalOptions
from sentprobe.probes.runs.targets import Targets, find_datasets, find_targets

if TYPE_CHECKING:
    from sentprobe.generator.pairs.triplets import TripletSpace
    from sentprobe.probes.similarity.triplet_sentences import TripletSampling, TripletSentences

MIRROR_TASKS = ("Order", "SemRole", "Negation")
"""The tasks of compeval in which the two sentences of a mirror pair differ in meaning."""

TRIPLET_OPTIONS = ("contrast", "n", "distractors", "template")
"""Parameters of the command that affect only sampled triplets."""


def split_triplet_files(words: Sequence[str]) -> tuple[list[Path], list[str]]:
    """Separate triplet files of ``gen pairs`` from the other arguments in *words*, and return both."""
    from sentprobe.probes.similarity.triplet_sentences import is_pairs_file

    files = [word for word in words if is_pairs_file(Path(word))]
    return [*map(Path, files)], [word for word in words if word not in files]


def reject_unused_options(given_options: Mapping[str, str], words: Sequence[str], files: Sequence[Path]) -> None:
    """Raise UsageError for an option that has no effect on the triplets which the arguments name.

    - given_options: the options that the user set, by parameter, such as ``{"held_out": "--held-out"}``
    - words: all arguments of the command
    - files: the arguments that are triplet files
    """
    for name, option in given_options.items():
        if files and name in ("by", "held_out"):
            raise UsageError(f"{option} is for sampled triplets, not for those of {files[0]}")
        if words and name in TRIPLET_OPTIONS:
            raise UsageError(f"{option} is for sampled triplets, not for the sentences of {', '.join(words)}")
        if name == "task" and len(words) == len(files):
            raise UsageError("--task is for compeval or datasets: name one first")


def build_spaces(lexicon: Lexicon, names: Sequence[str], drawing: "TripletSampling") -> "list[TripletSpace]":
    """Return a triplet space for each named contrast. By default, try all; print on stderr which are impossible."""
    from sentprobe.probes.similarity.triplet_sentences import build_triplet_spaces

    spaces, errors = build_triplet_spaces(lexicon, names, drawing)
    for failure in errors:
        print_message(f"left out: {failure}")
    return spaces


def parse_sentence_targets(
    words: Sequence[str], tasks: Sequence[str], source: opt.TripletOptions, *, seed: int
) -> Targets:
    """Return the targets that the arguments *words* name: compeval or datasets. Natural-text tasks raise UsageError."""
    names = tasks or (MIRROR_TASKS if [*words] == [COMPEVAL] else ())
    options = CompevalOptions(
        vocabulary=source.vocabulary, lexicon=source.lexicon, language=source.language, held_out=source.held_out
    )
    given_options = {"held_out": "--held-out"} if source.held_out else {}
    targets = find_targets(words, tasks=names, compeval=options, seed=seed, given_options=given_options)
    if NATURAL in targets.suites or NATURAL in words:
        raise UsageError(
            "natural-text tasks have no mirror pairs, which distances need; "
            "give compeval, or datasets of SemRole, Order or Negation"
        )
    return targets


def build_mirror_materials(
    targets: Targets, lexicon: Lexicon, drawing: "TripletSampling", *, command: str
) -> "list[TripletSentences]":
    """Convert the mirror pairs of each dataset to triplets; print on stderr which datasets have no mirror pairs."""
    from sentprobe.probes.similarity.mirror_triplets import NoMirrorError, build_mirror_material

    with show_bars() as reporter:
        datasets, failures = find_datasets(targets, command=command, reporter=reporter)
    materials: list[TripletSentences] = []
    errors: list[SentprobeError] = [*failures.values()]
    for data in datasets:
        is_new = bool(targets.built) and data.card.command == command
        dataset_drawing = replace(drawing, vocabulary=data.card.vocabulary, templates=(COMPEVAL,) if is_new else ())
        if not is_new:  # the words of a stored dataset are unknown
            dataset_drawing = replace(dataset_drawing, words="", held_out=())
        try:
            materials.append(build_mirror_material(data, lexicon, dataset_drawing))
        except NoMirrorError as error:
            errors.append(error)
    if not materials:
        raise errors[0]
    for failure in errors:
        print_message(f"left out: {failure}")
    return materials
