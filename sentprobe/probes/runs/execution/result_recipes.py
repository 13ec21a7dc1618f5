"""Recipes: digests of all inputs of a result, by which stored results are found without building datasets."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from sentprobe.lexicon.lexicon import Lexicon
from sentprobe.probes.compeval.tasks import CompevalTask
from sentprobe.probes.encoders.kinds import SpecArgument, find_kind, has_unchanged_vectors
from sentprobe.probes.encoders.protocol import digest
from sentprobe.probes.encoders.resolve import EncoderSource, build_encoders, depends_on_order
from sentprobe.probes.natural.natural_task import NaturalTask, TaskGroup
from sentprobe.probes.results.result import Condition
from sentprobe.probes.runs.execution.missing_jobs import find_conditions
from sentprobe.probes.runs.execution.word_source import parse_word_source
from sentprobe.probes.runs.request.built_suites import AnySuite, CompevalSuite
from sentprobe.probes.runs.request.settings import Run
from sentprobe.probes.runs.request.targets import Targets
from sentprobe.probes.suites import USUAL_PRESET, ClassifierChoice, PresetChoice, to_own_name
from sentprobe.probes.trainer.classifier import Preset
from sentprobe.specs import Spec
from sentprobe.versions import digest_code, find_versions

DATA_PACKAGES = ("duckdb", "lark", "lemminflect", "nltk", "numpy", "pyarrow")
BuildableTask: TypeAlias = CompevalTask | NaturalTask


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultRequest:
    """A result that a run needs, and the recipe by which a stored one is found: a digest of the result's inputs."""

    encoder: str
    task: BuildableTask
    conditions: tuple[Condition, ...]
    recipe: str


def build_encoders_with_files(source: EncoderSource, *, seed: int) -> list[EncoderSource]:
    """Build the encoders of *source*. If it is a spec without file, model or variants (``bow``), return it unbuilt."""
    return [source] if _is_determined_by_spec(source) else [*build_encoders([source], seed=seed)]


def _is_determined_by_spec(source: EncoderSource) -> bool:
    """Check whether spec and seed alone determine an encoder, without a file or a model."""
    if not isinstance(source, Spec) or source.argument or not has_unchanged_vectors(source):
        return False
    return find_kind(source).argument is not SpecArgument.REQUIRED


def _identify_encoder(source: EncoderSource, *, seed: int) -> str:
    """Return a digest that identifies an encoder's vectors; empty if they depend on the dataset or are unknown."""
    if isinstance(source, Spec):
        return digest("spec", source, seed) if _is_determined_by_spec(source) else ""
    if depends_on_order(source) or not source.fingerprint:
        return ""
    return digest("made", source.name, source.fingerprint)


def find_requests(
    targets: Targets,
    encoders: Sequence[EncoderSource],
    *,
    run: Run,
    preset: ClassifierChoice | None,
    words: EncoderSource | str | None,
) -> list[ResultRequest]:
    """Return one request per encoder and task. If even one recipe is unknown, as for a stored dataset, return []."""
    choice = USUAL_PRESET if preset is None else preset
    suite_tasks = _list_suite_tasks(targets)
    known_names = {*TaskGroup, *(to_own_name(task.name) for _, task in suite_tasks)}
    are_known = len(targets.built) == len(targets.items) and {*map(to_own_name, targets.names)} <= known_names
    if not are_known or not isinstance(choice, Preset | PresetChoice):
        return []
    source = parse_word_source(words) if isinstance(words, str) else words
    word_digest = source if source is None or isinstance(source, str) else _identify_encoder(source, seed=run.seed)
    shared_parts = (digest_code(), sorted(find_versions(*DATA_PACKAGES).items()), run.seed)
    data_digests = {task.name: _digest_dataset(suite, task) for suite, task in suite_tasks}
    result_requests = []
    for encoder in encoders:
        encoder_digest = _identify_encoder(encoder, seed=run.seed)
        for _, task in suite_tasks:
            classifier = choice if isinstance(choice, Preset) else choice.find_preset_of(task.name)
            parts = (data_digests[task.name], encoder_digest, task.words if word_digest is None else word_digest)
            if not all(parts):
                return []
            values = json.dumps(classifier.to_json())
            has_words = isinstance(task, CompevalTask) or bool(task.slots)
            result_requests.append(
                ResultRequest(
                    encoder=encoder.name,
                    task=task,
                    conditions=find_conditions(encoder, probe_words=has_words, run=run),
                    recipe=digest("result", *shared_parts, *parts, values),
                )
            )
    return result_requests


def _list_suite_tasks(targets: Targets) -> list[tuple[AnySuite, BuildableTask]]:
    return [(suite, task) for suite in targets.built for task in suite.tasks]


def _digest_dataset(suite: AnySuite, task: BuildableTask) -> str:
    """Return a digest of all that determines a built dataset; "" if code outside of sentprobe builds it."""
    if isinstance(task, NaturalTask) and not task.module.startswith("sentprobe."):
        return ""
    seed = suite.seed if isinstance(suite, CompevalSuite) else suite.recipe.seed
    return digest(_digest_origin(suite, task), seed)


def digest_origins(targets: Targets) -> dict[str, str]:
    """Return {dataset name: digest} for the datasets that the run builds; a digest covers all inputs but the seed."""
    return {task.name: _digest_origin(suite, task) for suite, task in _list_suite_tasks(targets)}


def collect_lexicons(targets: Targets) -> dict[str, Lexicon]:
    """Return the lexicon of each generated dataset, by the dataset's name."""
    generated = (suite for suite in targets.built if isinstance(suite, CompevalSuite))
    return {task.name: suite.lexicon for suite in generated for task in suite.tasks}


def _digest_origin(suite: AnySuite, task: BuildableTask) -> str:
    if isinstance(suite, CompevalSuite):
        settings = (suite.vocabulary, suite.size, suite.sampling)
        side_parts = (suite.side,) if suite.side else ()
        held_out = () if suite.structure is None else (suite.structure.name,)
        return digest(task.name, _digest_lexicon(suite.lexicon), *settings, *side_parts, *held_out)
    tables = [digest(*(shard.sha256 for shard in table.shards), table.recipe) for table in suite.tables]
    parts = () if suite.crossing is None else (suite.crossing.train_on, suite.crossing.test_on)
    languages = [table.language for table in suite.tables] if parts else []
    return digest(task.name, *tables, suite.recipe.size, suite.recipe.settings, *parts, *languages)


@lru_cache(maxsize=4)
def _digest_lexicon(lexicon: Lexicon) -> str:
    words = [(word.list_properties(), word.further_sorts) for word in lexicon.entries]
    vocabularies = [
        (v.name, v.words, v.uniform_conjuncts, v.separate_agents, v.event_adverbs, v.states)
        for v in lexicon.vocabularies.values()
    ]
    return digest(lexicon.language.code, words, vocabularies)
