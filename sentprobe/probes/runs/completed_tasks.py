"""The results of a run: find stored results and the jobs for missing scores, and store new results.

Recipes: digests of all inputs of a result, by which stored results are found without building datasets.
"""

import json
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from itertools import islice
from typing import NamedTuple, TypeAlias

from sentprobe.common.errors import digest_code, find_versions
from sentprobe.common.specs import Spec, TaskGroup, count_tokens
from sentprobe.generator.sentences.parse import ParseError, parse
from sentprobe.lexicon.lexicon import Lexicon
from sentprobe.lexicon.read import find_built_in
from sentprobe.probes.classifier.probe import Preset
from sentprobe.probes.datasets.dataset import ProbeDataset, Split
from sentprobe.probes.encoders.encoder import Baseline, Encoder, digest
from sentprobe.probes.encoders.kinds import (
    EncoderSource,
    SpecArgument,
    build_encoders,
    depends_on_order,
    find_kind,
    has_unchanged_vectors,
    reads_files,
)
from sentprobe.probes.generated.assemble import EVENT_COLUMNS, ProbedEvent, build_event_columns
from sentprobe.probes.generated.tasks import CompevalTask
from sentprobe.probes.natural.natural_task import NaturalTask
from sentprobe.probes.results import store
from sentprobe.probes.results.item_table import LABEL, LENGTH, ItemTable, find_item_table, write_item_table
from sentprobe.probes.results.result import Condition, Result, Results
from sentprobe.probes.results.store import write_run_file
from sentprobe.probes.runs import missing_jobs
from sentprobe.probes.runs.controls import parse_word_source
from sentprobe.probes.runs.missing_jobs import Job, find_conditions
from sentprobe.probes.runs.settings import Run
from sentprobe.probes.runs.suites import (
    USUAL_PRESET,
    AnySuite,
    ClassifierChoice,
    CompevalSuite,
    PresetChoice,
    to_own_name,
)
from sentprobe.probes.runs.targets import Targets
from sentprobe.probes.runs.task import Task

log = logging.getLogger(__name__)
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
    if not isinstance(source, Spec) or reads_files(source) or not has_unchanged_vectors(source):
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
    # The code and the libraries that make data are inputs: a new version finds nothing here, and compares datasets
    # instead.
    shared_parts = (digest_code(), sorted(find_versions(*DATA_PACKAGES).items()), run.seed)
    data_digests = {task.name: _digest_dataset(suite, task) for suite, task in suite_tasks}
    result_requests = []
    for encoder in encoders:
        encoder_digest = _identify_encoder(encoder, seed=run.seed)
        for _, task in suite_tasks:
            classifier = choice if isinstance(choice, Preset) else choice.find_preset_of(task.name)
            parts = (data_digests[task.name], encoder_digest, task.words if word_digest is None else word_digest)
            # The data must be built for one result anyway, and stored results are then found by comparing the data.
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
    # The digest of the code covers sentprobe only, so the user's module may have changed unseen.
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


_KNOWN_FIELDS = frozenset(
    ("name", "tasks", "lexicon", "vocabulary", "size", "sampling", "seed", "side", "structure", "profile", "notes")
)
"""Fields of a CompevalSuite that are digested by name, or that say nothing about the sentences."""


def _digest_origin(suite: AnySuite, task: BuildableTask) -> str:
    if isinstance(suite, CompevalSuite):
        settings = (suite.vocabulary, suite.size, suite.sampling)
        # A setting that is not used adds no part, so that digests from before it existed remain valid.
        side_parts = (suite.side,) if suite.side else ()
        held_out = () if suite.structure is None else (suite.structure.name,)
        weights = () if suite.profile is None else (suite.profile.weights,)
        # A new setting counts as soon as it is a field: if it were forgotten here, a run would reuse wrong results.
        others = (f for f in fields(suite) if f.name not in _KNOWN_FIELDS and getattr(suite, f.name) != f.default)
        further = [(other.name, getattr(suite, other.name)) for other in others]
        return digest(task.name, _digest_lexicon(suite.lexicon), *settings, *side_parts, *held_out, *weights, *further)
    tables = [digest(*(shard.sha256 for shard in table.shards), table.recipe) for table in suite.tables]
    parts = () if suite.crossing is None else (suite.crossing.train_on, suite.crossing.test_on)
    languages = [table.language for table in suite.tables] if parts else []
    return digest(task.name, *tables, suite.recipe.size, suite.recipe.settings, *parts, *languages)


@lru_cache(maxsize=4)
def _digest_lexicon(lexicon: Lexicon) -> str:
    words = [(word.list_properties(), word.further_sorts) for word in lexicon.entries if not word.phrase]
    vocabularies = [
        (v.name, v.words, v.uniform_conjuncts, v.separate_agents, v.event_adverbs, v.states)
        for v in lexicon.vocabularies.values()
    ]
    return digest(lexicon.language.code, words, vocabularies)


def make_item_table(data: ProbeDataset, *, lexicon: Lexicon | None = None) -> ItemTable:
    """Return a table with a row for each test item of a dataset.

    An item is annotated with its event if the grammar parses its sentence with *lexicon* (default: the built-in
    lexicon of the dataset's language).
    """
    items = data.splits[Split.TEST]
    sentences = tuple(data.sentences[row] for row in items.rows)
    probes = tuple(tuple(data.probe_words[word] for word in words) for words in items.probes)
    events = _parse_events(sentences, probes, lexicon or find_built_in(data.card.language))
    labels = tuple(data.labels[target] for target in items.targets)
    columns = {LABEL: labels, LENGTH: tuple(map(str, count_tokens(sentences)))}
    return ItemTable(
        task=data.name,
        fingerprint=data.fingerprint(),
        labels=data.labels,
        targets=items.targets,
        sentences=sentences,
        probes=probes,
        marks=tuple(map(_find_marks, sentences, probes, events)),
        events=tuple("" if event is None else event.notation for event in events),
        columns={**columns, **_make_event_columns(events), **items.columns},
    )


def _parse_events(
    sentences: Sequence[str], probes: Sequence[Sequence[str]], lexicon: Lexicon
) -> list[ProbedEvent | None]:
    """Return the event of each sentence, or None for a sentence that cannot be parsed.

    If none of the first few sentences can be parsed, the others are not tried.
    """
    pairs = zip(sentences, probes, strict=True)
    first_events = [_parse_event(*pair, lexicon) for pair in islice(pairs, _TRIAL_SENTENCES)]
    if not any(first_events):
        return [None] * len(sentences)
    return [*first_events, *(_parse_event(*pair, lexicon) for pair in pairs)]


_TRIAL_SENTENCES = 8


def _parse_event(sentence: str, probes: Sequence[str], lexicon: Lexicon) -> ProbedEvent | None:
    try:
        (event,) = parse(sentence, lexicon)
    except (ParseError, ValueError):  # also if ambiguous
        return None
    return ProbedEvent(event, probes, language=lexicon.language)


def _make_event_columns(events: Sequence[ProbedEvent | None]) -> dict[str, tuple[str, ...]]:
    if not any(events):
        return {}
    columns_by_item = [dict[str, str]() if event is None else build_event_columns(event) for event in events]
    return {name: tuple(item_columns.get(name, "") for item_columns in columns_by_item) for name in EVENT_COLUMNS}


def _find_marks(sentence: str, probes: Sequence[str], event: ProbedEvent | None) -> tuple[int, ...]:
    """Return the token positions of the probe words. Without *event*, these are all tokens equal to a probe word."""
    if event is not None:
        return event.probe_positions
    folded_probes = {probe.casefold() for probe in probes}
    tokens = enumerate(sentence.split()) if folded_probes else ()
    return tuple(at for at, token in tokens if token.casefold() in folded_probes)


Recipes: TypeAlias = Mapping[tuple[str, str], str]
"""The recipe of each result (a digest of its inputs), by the names of encoder and task."""


class CompletedTasks(NamedTuple):
    """The results of a run, the number of results that were complete before the run, and notes for the user."""

    results: Results
    reused: int
    notes: tuple[str, ...] = ()


class ResultStore:
    """A store that reads the results of earlier runs and writes those of this run."""

    def __init__(self, tasks: Sequence[Task], run: Run, recipes: Recipes) -> None:
        self._tasks = tasks
        self._run = run
        self._recipes = recipes
        self.reused = 0
        self.shared_scores = missing_jobs.read_shared_scores(run)
        """Scores from earlier runs that hold for all encoders of one vector width."""
        self._replaced_files = store.read_stamps(run.out) if run.force and run.out else frozenset()
        self._requested: list[tuple[Result, tuple[Condition, ...]]] = []
        """Results that the run was asked for, with their conditions, until the next saved result records them."""
        self._tasks_with_items: set[str] = set()
        """The names of the tasks whose item tables are stored."""

    def find_missing_jobs(self, encoder: Encoder | Baseline) -> tuple[dict[str, Result], list[Job]]:
        """Return each task's result by task name (without scores if none is stored), and jobs for missing scores."""
        results: dict[str, Result] = {}
        jobs: list[Job] = []
        for task in self._tasks:
            stored = missing_jobs.load_result(task, encoder, run=self._run)
            # A stored result has the same data, encoder and classifier: its recipe stays valid.
            recipe = self._recipes.get((encoder.name, task.name)) or stored.recipe
            results[task.name] = replace(stored, recipe=recipe, notes=task.data.card.notes)
            conditions = missing_jobs.find_conditions(encoder, probe_words=bool(task.data.slots), run=self._run)
            self._requested.append((stored, conditions))
            missing_seeds = missing_jobs.find_missing_seeds(stored, conditions, run=self._run)
            jobs += [
                Job(encoder=encoder, task=task, condition=condition, seeds=seeds)
                for condition, seeds in missing_seeds.items()
            ]
            if missing_seeds:
                continue
            self.reused += 1
            self._save_items(task)
            if results[task.name] != stored:
                self.save_result(results[task.name])
        if jobs and self._run.out is not None:
            write_run_file(self._run.out, self._run.text)
        return results, jobs

    def save_result(self, result: Result, *, wait: float | None = None) -> None:
        """Log a result, and write it into ``run.out``, if set.

        - wait: seconds to wait for the folder lock; None: ``run.wait``
        """
        run = self._run
        accuracies = ", ".join(f"{name} {100 * score.accuracy:.1f}" for name, score in result.scores.items())
        log.info("%s on %s, seed %d: %s", result.encoder, result.task, result.seed, accuracies)
        if run.out is not None:
            wait = run.wait if wait is None else wait
            store.save_result(
                result, run.out, redone=self._replaced_files, wait=wait, command=run.command, requested=self._requested
            )
            self._requested.clear()
            self._save_items(next(task for task in self._tasks if task.name == result.task))

    def _save_items(self, task: Task) -> None:
        if self._run.out is None or task.name in self._tasks_with_items:
            return
        path = find_item_table(self._run.out, task=task.name, fingerprint=task.fingerprint)
        if self._run.force or task.data.columns or not path.exists():  # no fingerprint covers the columns
            write_item_table(make_item_table(task.data, lexicon=task.lexicon), self._run.out)
        self._tasks_with_items.add(task.name)

    def reuse_shared_scores(
        self, results: Mapping[str, Result], jobs: Iterable[Job], *, dim: int
    ) -> tuple[dict[str, Result], list[Job]]:
        """Return *results* with stored control scores for width *dim* added, and jobs for seeds that lack scores."""
        results, remaining = dict(results), []
        for job in jobs:
            result = results[job.task.name]
            key = missing_jobs.make_shared_key(job.condition, result, dim=dim)
            scores_by_seed = self.shared_scores.get(key, {})
            reused = [scores_by_seed[seed] for seed in job.seeds if seed in scores_by_seed]
            results[job.task.name] = store.add_scores(result, {job.condition: reused})
            if missing_seeds := tuple(seed for seed in job.seeds if seed not in scores_by_seed):
                remaining.append(replace(job, seeds=missing_seeds))
        return results, remaining

    def collect_results(self, results: Iterable[Result], notes: Iterable[str] = ()) -> CompletedTasks:
        """Return the completed tasks: *results* with only the scores of this run's seeds, and each note once."""
        selected_results = Results(tuple(result.select_seeds(self._run.probe_seeds) for result in results))
        return CompletedTasks(selected_results, self.reused, tuple(dict.fromkeys(notes)))
