"""Shell completion of option values; lists from slow modules are loaded only when the shell asks for them."""

from collections.abc import Callable, Iterable, Mapping

from sentprobe import names
from sentprobe.specs import DEVICES, SUITES

Completer = Callable[[str], list[str]]
"""Function that receives an incomplete word and returns the possible complete words."""


def build_completer(list_names: Callable[[], Iterable[str]]) -> Completer:
    """Return a function that completes a word to the names that *list_names* returns.

    >>> build_completer(lambda: ["text", "json", "jsonl"])("js")
    ['json', 'jsonl']
    """
    return lambda incomplete: [name for name in list_names() if name.startswith(incomplete)]


def _list_encoder_specs() -> Iterable[str]:
    from sentprobe.probes.encoders.kinds import ENCODERS, SpecArgument

    return [f"{kind.name}:" if kind.argument is SpecArgument.REQUIRED else kind.name for kind in ENCODERS]


def _list_templates() -> Iterable[str]:
    from sentprobe.generator.spaces.templates import list_template_names

    return list_template_names(deep=True)


def _list_probe_vectors() -> Iterable[str]:
    from sentprobe.probes.dataset import ENCODER_WORDS, ONE_HOT

    return (ONE_HOT, ENCODER_WORDS, *_list_encoder_specs())


complete_preset = build_completer(lambda: names.PRESETS)
complete_suite = build_completer(lambda: SUITES)
complete_column = build_completer(lambda: names.ITEM_COLUMNS)
_complete_encoder = build_completer(_list_encoder_specs)
_complete_template = build_completer(_list_templates)

COMPLETERS: Mapping[str, Completer] = {
    "architecture": build_completer(lambda: (*names.ARCHITECTURES, *names.LANGUAGE_MODELS)),
    "contrast": build_completer(lambda: names.CONTRASTS),
    "device": build_completer(lambda: DEVICES),
    **dict.fromkeys(("encoder", "then"), _complete_encoder),
    **dict.fromkeys(("template", "held_out", "hold_out"), _complete_template),
    "hold_out_structure": build_completer(lambda: names.STRUCTURES),
    "method": build_completer(lambda: names.METHODS),
    "mood": build_completer(lambda: names.MOODS),
    "objective": build_completer(lambda: names.OBJECTIVES),
    "probe_vectors": build_completer(_list_probe_vectors),
    "sampling": build_completer(lambda: names.SAMPLINGS),
    **dict.fromkeys(("suite", "targets"), complete_suite),
    "task": build_completer(
        lambda: (*names.COMPEVAL_TASKS, *names.STRUCTURE_TASKS, *names.NATURAL_TASKS, *names.TASK_GROUPS)
    ),
    "vocabulary": build_completer(lambda: names.VOCABULARIES),
}
"""Completers by the name of the parameter, such as ``task``, which means the same in every command."""
