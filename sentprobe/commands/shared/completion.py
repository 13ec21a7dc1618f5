"""Shell completion of option values; lists from slow modules are loaded only when the shell asks for them."""

from collections.abc import Callable, Iterable

from sentprobe import names
from sentprobe.specs import DEVICES, SUITES

Completer = Callable[[str], list[str]]
"""Function that receives an incomplete word and returns the possible complete words."""


def build_completer(list_names: Callable[[], Iterable[str]]) -> Completer:
    """Return a function that completes a word to the names that *list_names* returns.

    >>> build_completer(lambda: ["text", "json", "jsonl"])("js")
    ['json', 'jsonl']
    """

    def complete(incomplete: str) -> list[str]:
        return [name for name in list_names() if name.startswith(incomplete)]

    return complete


def _list_encoder_specs() -> Iterable[str]:
    from sentprobe.probes.encoders.kinds import ENCODERS, SpecArgument

    required = SpecArgument.REQUIRED
    return [f"{kind.name}:" if kind.argument is required else kind.name for kind in ENCODERS]


def _list_templates() -> Iterable[str]:
    from sentprobe.generator.spaces.templates import list_template_names

    return list_template_names(deep=True)


def _list_probe_vectors() -> Iterable[str]:
    from sentprobe.probes.dataset import ENCODER_WORDS, ONE_HOT

    return (ONE_HOT, ENCODER_WORDS, *_list_encoder_specs())


complete_architecture = build_completer(lambda: (*names.ARCHITECTURES, *names.LANGUAGE_MODELS))
complete_objective = build_completer(lambda: names.OBJECTIVES)
complete_contrast = build_completer(lambda: names.CONTRASTS)
complete_encoder = build_completer(_list_encoder_specs)
complete_task = build_completer(
    lambda: (*names.COMPEVAL_TASKS, *names.STRUCTURE_TASKS, *names.NATURAL_TASKS, *names.TASK_GROUPS)
)
complete_template = build_completer(_list_templates)
complete_preset = build_completer(lambda: names.PRESETS)
complete_suite = build_completer(lambda: SUITES)
complete_vocabulary = build_completer(lambda: names.VOCABULARIES)
complete_sampling = build_completer(lambda: names.SAMPLINGS)
complete_column = build_completer(lambda: names.ITEM_COLUMNS)
complete_method = build_completer(lambda: names.METHODS)
complete_structure = build_completer(lambda: names.STRUCTURES)
complete_device = build_completer(lambda: DEVICES)
complete_probe_vectors = build_completer(_list_probe_vectors)
