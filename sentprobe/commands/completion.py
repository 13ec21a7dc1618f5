"""What a shell offers where an option or argument is one of a known list.

The names are looked up when the shell asks; nothing here is imported for ``--help``.
"""

import re
from collections.abc import Callable, Iterable

from sentprobe.specs import DEVICES, SUITES

Completer = Callable[[str], list[str]]
"""From what is typed of a word to the words that it may become."""


def among(find: Callable[[], Iterable[str]]) -> Completer:
    """Return what completes one of the names that *find* gives.

    >>> among(lambda: ["text", "json", "jsonl"])("js")
    ['json', 'jsonl']
    """

    def complete(incomplete: str) -> list[str]:
        return [name for name in find() if name.startswith(incomplete)]

    return complete


def names_in(text: str) -> list[str]:
    """Return the names that the help of an option begins with.

    >>> names_in("directory, jsonl or splits. By default what they look like.")
    ['directory', 'jsonl', 'splits']
    >>> names_in("conllu (default), trees (from the file's suffix if not given).")
    ['conllu', 'trees']
    """
    first, *_ = re.sub(r" \(.*?\)", "", text).split(".")
    return re.split(r", (?:or )?| or ", first)


def _encoders() -> Iterable[str]:
    from sentprobe.probes.encoders.kinds import ENCODERS, SpecArgument  # noqa: PLC0415 - NumPy

    required = SpecArgument.REQUIRED
    return [f"{kind.name}:" if kind.argument is required else kind.name for kind in ENCODERS]


def _tasks() -> Iterable[str]:
    from sentprobe.probes.compeval.tasks import TASKS as COMPEVAL  # noqa: PLC0415 - NumPy
    from sentprobe.probes.natural.catalogue import TASKS as NATURAL  # noqa: PLC0415
    from sentprobe.probes.natural.task import TaskGroup  # noqa: PLC0415

    return (*COMPEVAL, *NATURAL, *(group.value for group in TaskGroup))


def _templates() -> Iterable[str]:
    from sentprobe.generator.templates import template_names  # noqa: PLC0415 - reads a file

    return template_names(deep=True)


def _contrasts() -> Iterable[str]:
    from sentprobe.generator.contrasts import CONTRASTS  # noqa: PLC0415 - NumPy

    return CONTRASTS


def _presets() -> Iterable[str]:
    from sentprobe.probes.trainer.presets import PRESETS  # noqa: PLC0415 - NumPy

    return [preset.name for preset in PRESETS]


def _samplings() -> Iterable[str]:
    from sentprobe.probes.dataset import Sampling  # noqa: PLC0415 - NumPy

    return [each.value for each in Sampling]


def _structures() -> Iterable[str]:
    from sentprobe.probes.compeval.structures import STRUCTURES  # noqa: PLC0415 - NumPy

    return STRUCTURES


def _columns() -> Iterable[str]:
    from sentprobe.probes.report.part_tables import ASKED  # noqa: PLC0415 - NumPy

    return ASKED


def _architectures() -> Iterable[str]:
    from sentprobe.probes.encoders.networks.architecture import USUAL_LAYERS  # noqa: PLC0415

    return USUAL_LAYERS


def _objectives() -> Iterable[str]:
    from sentprobe.probes.pretraining.objectives import OBJECTIVES  # noqa: PLC0415

    return OBJECTIVES


def _probe_vectors() -> Iterable[str]:
    from sentprobe.probes.dataset import ONE_HOT, OWN_WORDS  # noqa: PLC0415 - NumPy

    return (ONE_HOT, OWN_WORDS, *_encoders())


complete_architecture = among(_architectures)
complete_objective = among(_objectives)
complete_contrast = among(_contrasts)
complete_encoder = among(_encoders)
complete_task = among(_tasks)
complete_template = among(_templates)
complete_preset = among(_presets)
complete_suite = among(lambda: SUITES)
complete_vocabulary = among(lambda: ("english", "compeval", "published"))
complete_sampling = among(_samplings)
complete_column = among(_columns)
complete_structure = among(_structures)
complete_device = among(lambda: DEVICES)
complete_probe_vectors = among(_probe_vectors)
