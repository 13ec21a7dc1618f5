"""What a result is made from, known before any data is built: so a finished run is known as such.

A recipe is a digest of all that decides a result: the settings that its dataset is built by, the
words of the lexicon, the encoder, the classifier, the seed; and the files of sentprobe itself and
the versions of the packages that data is drawn with, whatever in them was changed. Another recipe
may still give the same data: then it is built, and its own digest tells that nothing is to be done.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from sentprobe.lexicon.lexicon import Lexicon
from sentprobe.probes.compeval import CompevalTask
from sentprobe.probes.corpus.table import Table
from sentprobe.probes.encoders import Baseline, Encoder, find_kind
from sentprobe.probes.encoders.given import Known, make_known
from sentprobe.probes.encoders.kinds import SpecArgument, is_plain
from sentprobe.probes.encoders.protocol import digest
from sentprobe.probes.natural.task import NaturalTask, TaskGroup
from sentprobe.probes.runs.built_suites import AnySuite, CompevalSuite
from sentprobe.probes.runs.controls import conditions_with
from sentprobe.probes.runs.results import Condition
from sentprobe.probes.runs.settings import Run
from sentprobe.probes.runs.targets import Targets
from sentprobe.probes.runs.todo import with_methods
from sentprobe.probes.runs.word_source import parse_source
from sentprobe.probes.suites import USUAL_PRESET, ClassifierChoice, PresetChoice, own_name
from sentprobe.probes.trainer.classifier import Preset
from sentprobe.specs import Spec
from sentprobe.versions import code_digest, versions

PACKAGES = ("duckdb", "lark", "lemminflect", "nltk", "numpy", "pyarrow")
"""Those that data is drawn with."""

BuiltTask: TypeAlias = CompevalTask | NaturalTask


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """An encoder on a task that is built, before either is made."""

    encoder: str
    """Its name."""
    task: BuiltTask
    suite: AnySuite
    conditions: tuple[Condition, ...]
    preset: Preset
    recipe: str


def light(known: Iterable[Known], *, seed: int) -> list[Known]:
    """Return the encoders, all made but those of which the spec alone says everything."""
    return [
        made
        for each in known
        for made in ([each] if _says_all(each) else make_known([each], seed=seed))
    ]


def _says_all(known: Known) -> bool:
    """Say whether an encoder follows from its spec and seed, without a file or a model."""
    if not isinstance(known, Spec) or known.argument or not is_plain(known):
        return False
    return find_kind(known).argument is not SpecArgument.REQUIRED


def _identity(known: Known, *, seed: int) -> str:
    """Return what tells an encoder from others; empty: nothing does, before the data is there."""
    if isinstance(known, Spec):
        return digest("spec", known, seed) if _says_all(known) else ""
    if hasattr(known, "in_order") or not known.fingerprint:
        return ""
    return digest("made", known.name, known.fingerprint)


def requests(
    targets: Targets,
    encoders: Sequence[Known],
    *,
    run: Run,
    preset: ClassifierChoice | None,
    words: Known | str | None,
) -> list[Request]:
    """Return what is asked for, encoder by encoder, where all of it is known; else nothing.

    Of datasets that are read, and of classifiers that are chosen by a function of the data, nothing
    is known before.
    """
    choice = USUAL_PRESET if preset is None else preset
    suites = targets.built
    known = {*TaskGroup, *(task.name for _, task in _tasks(suites))}
    if len(suites) < len(targets.found) or not {*map(own_name, targets.names)} <= known:
        return []
    if not isinstance(choice, Preset | PresetChoice):
        return []
    of_words = None if words is None else _of_words(words, seed=run.seed)
    shared = (code_digest(), sorted(versions(*PACKAGES).items()), run.seed)
    data = {task.name: _of_data(suite, task) for suite, task in _tasks(suites)}
    found = []
    for encoder in encoders:
        of_encoder = _identity(encoder, seed=run.seed)
        for suite, task in _tasks(suites):
            classifier = choice if isinstance(choice, Preset) else choice.of_tasks(task.name)
            parts = (data[task.name], of_encoder, task.words if of_words is None else of_words)
            if not all(parts):
                return []
            values = json.dumps(classifier.to_json())
            found.append(
                Request(
                    encoder=encoder.name,
                    task=task,
                    suite=suite,
                    conditions=_conditions(encoder, task, run),
                    preset=classifier,
                    recipe=digest("result", *shared, *parts, values),
                )
            )
    return found


def _of_words(words: Known | str, *, seed: int) -> str:
    given = parse_source(words) if isinstance(words, str) else words
    return given if isinstance(given, str) else _identity(given, seed=seed)


def _tasks(suites: Iterable[AnySuite]) -> Iterator[tuple[AnySuite, BuiltTask]]:
    for suite in suites:
        yield from ((suite, task) for task in suite.tasks)


def _conditions(encoder: Known, task: BuiltTask, run: Run) -> tuple[Condition, ...]:
    if isinstance(encoder, Spec):
        is_baseline = find_kind(encoder).argument is SpecArgument.NONE
    else:
        is_baseline = isinstance(encoder, Baseline) and not isinstance(encoder, Encoder)
    has_words = isinstance(task, CompevalTask) or bool(task.slots)
    usual = conditions_with(probe_words=has_words, controls=run.controls and not is_baseline)
    return with_methods(encoder, usual, run=run)


def _of_data(suite: AnySuite, task: BuiltTask) -> str:
    """Return a digest of all that a dataset is built from; empty: its rule is not ours."""
    if isinstance(task, NaturalTask) and not task.draw.__module__.startswith("sentprobe."):
        return ""
    seed = suite.seed if isinstance(suite, CompevalSuite) else suite.recipe.seed
    return digest(_origin(suite, task), seed)


def origins(targets: Targets) -> dict[str, str]:
    """Return a digest of all that each dataset is built from, but for the seed, by name."""
    return {task.name: _origin(suite, task) for suite, task in _tasks(targets.built)}


def lexicons(targets: Targets) -> dict[str, Lexicon]:
    """Return the lexicon that each dataset is built from, by name."""
    return {
        task.name: suite.lexicon
        for suite, task in _tasks(targets.built)
        if isinstance(suite, CompevalSuite)
    }


def _origin(suite: AnySuite, task: BuiltTask) -> str:
    if isinstance(suite, CompevalSuite):
        made_of = (suite.vocabulary, suite.size, suite.sampling)
        side = (suite.side,) if suite.side else ()
        held_out = () if suite.structure is None else (suite.structure.name,)
        return digest(task.name, _words(suite.lexicon), *made_of, *side, *held_out)
    return digest(task.name, _rows(suite.table), suite.recipe.size, suite.recipe.settings)


def _words(lexicon: Lexicon) -> str:
    """Return a digest of the words of a lexicon and their forms, and of its vocabularies."""
    words = [
        (word.kind, word.lemma, sorted(word.forms.items()), sorted(word.flags), word.vowel)
        for word in lexicon.entries
    ]
    return digest(words, [(name, each.words) for name, each in lexicon.vocabularies.items()])


def _rows(table: Table) -> str:
    return digest(*(shard.sha256 for shard in table.shards), table.recipe)


def by_names(found: Iterable[Request]) -> Mapping[tuple[str, str], str]:
    """Return the recipes by the names of encoder and task."""
    return {(each.encoder, each.task.name): each.recipe for each in found}
