"""Generate controlled, annotated English sentences, and probe sentence encoders with them.

>>> import sentprobe
>>> lexicon = sentprobe.english()
>>> space = sentprobe.Space(lexicon, vocabulary="compeval", templates=["transitive-rc"])
>>> event = next(space.events(space.sample(1, seed=1)))
>>> sentence = sentprobe.realize(event, lexicon)
>>> sentprobe.parse(sentence.text, lexicon) == (event,)
True
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sentprobe.errors import SentprobeError, UsageError
    from sentprobe.generator.constraints import Choices, Constraints
    from sentprobe.generator.event import (
        BARE,
        GAP,
        Aspect,
        Event,
        Frame,
        Negator,
        Number,
        Participant,
        Polarity,
        RelativeClause,
        Role,
        Tense,
        Voice,
        contains,
        subsumes,
        unify,
    )
    from sentprobe.generator.jsonform import event_from_json, event_to_json
    from sentprobe.generator.notation import read_event, write_event
    from sentprobe.generator.parse import parse
    from sentprobe.generator.realize import realize
    from sentprobe.generator.sentence import Sentence, Token
    from sentprobe.generator.sentence_files import read_file, write_annotated, write_file
    from sentprobe.generator.space import Space
    from sentprobe.lexicon import Lexicon, english, read_lexicon
    from sentprobe.probes.audit.audit import audit
    from sentprobe.probes.compeval.assemble import build_task
    from sentprobe.probes.dataset import Items, ProbeDataset, Split
    from sentprobe.probes.encoders import Encoder, make_encoder
    from sentprobe.probes.encoders.cache import Cache
    from sentprobe.probes.encoders.embed import embed
    from sentprobe.probes.encoders.python import wrap_encoder
    from sentprobe.probes.formats import read_dataset, write_dataset
    from sentprobe.probes.report.comparisons import compare_encoders
    from sentprobe.probes.runs.results import Result, Results
    from sentprobe.probes.runs.run import run
    from sentprobe.probes.runs.store import read_results
    from sentprobe.probes.trainer.classifier import Preset
    from sentprobe.probes.trainer.presets import find_preset, override

__version__ = "0.1.0"

__all__ = [
    "BARE",
    "GAP",
    "Aspect",
    "Cache",
    "Choices",
    "Constraints",
    "Encoder",
    "Event",
    "Frame",
    "Items",
    "Lexicon",
    "Negator",
    "Number",
    "Participant",
    "Polarity",
    "Preset",
    "ProbeDataset",
    "RelativeClause",
    "Result",
    "Results",
    "Role",
    "Sentence",
    "SentprobeError",
    "Space",
    "Split",
    "Tense",
    "Token",
    "UsageError",
    "Voice",
    "audit",
    "build_task",
    "compare_encoders",
    "contains",
    "embed",
    "english",
    "event_from_json",
    "event_to_json",
    "find_preset",
    "make_encoder",
    "override",
    "parse",
    "read_dataset",
    "read_event",
    "read_file",
    "read_lexicon",
    "read_results",
    "realize",
    "run",
    "subsumes",
    "unify",
    "wrap_encoder",
    "write_annotated",
    "write_dataset",
    "write_event",
    "write_file",
]

_HOMES = {
    "sentprobe.generator.event": (
        "BARE",
        "GAP",
        "Aspect",
        "Event",
        "Frame",
        "Negator",
        "Number",
        "Participant",
        "Polarity",
        "RelativeClause",
        "Role",
        "Tense",
        "Voice",
        "contains",
        "subsumes",
        "unify",
    ),
    "sentprobe.generator.constraints": ("Choices", "Constraints"),
    "sentprobe.lexicon": ("Lexicon", "english", "read_lexicon"),
    "sentprobe.generator.sentence": ("Sentence", "Token"),
    "sentprobe.probes.compeval.assemble": ("build_task",),
    "sentprobe.probes.encoders.python": ("wrap_encoder",),
    "sentprobe.probes.report.comparisons": ("compare_encoders",),
    "sentprobe.probes.audit.audit": ("audit",),
    "sentprobe.probes.dataset": ("Items", "ProbeDataset", "Split"),
    "sentprobe.probes.encoders": ("Encoder", "make_encoder"),
    "sentprobe.probes.encoders.cache": ("Cache",),
    "sentprobe.probes.encoders.embed": ("embed",),
    "sentprobe.probes.formats": ("read_dataset", "write_dataset"),
    "sentprobe.probes.runs.results": ("Result", "Results"),
    "sentprobe.probes.runs.run": ("run",),
    "sentprobe.probes.runs.store": ("read_results",),
    "sentprobe.probes.trainer.presets": ("Preset", "find_preset", "override"),
    "sentprobe.errors": ("SentprobeError", "UsageError"),
    "sentprobe.generator.space": ("Space",),
    "sentprobe.generator.parse": ("parse",),
    "sentprobe.generator.jsonform": ("event_from_json", "event_to_json"),
    "sentprobe.generator.notation": ("read_event", "write_event"),
    "sentprobe.generator.sentence_files": ("read_file", "write_annotated", "write_file"),
    "sentprobe.generator.realize": ("realize",),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Import what is asked for when it is: the commands' ``--help`` needs none of it."""
    if name not in _HOME_OF:
        raise AttributeError(f"module 'sentprobe' has no attribute {name!r}")
    return getattr(import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    return sorted((*globals(), *__all__))
