"""The plan of ``probe run``: what is asked for, and whether it can be."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sentprobe.commands import natural
from sentprobe.commands.options import refuse_idle
from sentprobe.errors import UsageError, suggest
from sentprobe.files import is_table
from sentprobe.lexicon.read import default_vocabulary, load_lexicon
from sentprobe.probes.compeval import TASKS, CompevalTask, Sampling, check_size, find_task
from sentprobe.probes.dataset import ProbeDataset, Size
from sentprobe.probes.encoders import find_kind
from sentprobe.probes.natural.catalogue import find_tasks
from sentprobe.probes.runs.word_source import check_source
from sentprobe.probes.suites import OTHERWISE, preset_of
from sentprobe.probes.trainer.classifier import Preset
from sentprobe.probes.trainer.presets import find_preset, override
from sentprobe.processes import check_count, check_jobs, cores
from sentprobe.specs import check_distinct, check_names, choose, parse_pair

SUITE = "compeval"
"""The name of the suite that is built of nothing; other targets are paths of datasets or tables."""
SUITES = (SUITE, natural.SUITE)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """A run, as it is written on the command line.

    A target is the suite, a path with datasets, or the table of a corpus, of which the natural-text
    tasks are built; ``natural`` before a table may be there. No tasks means all of them; no *jobs*,
    one for each core. What concerns building (vocabulary to sampling) concerns compeval only.
    """

    encoders: tuple[str, ...]
    targets: tuple[str, ...] = (SUITE,)
    tasks: tuple[str, ...] = ()
    seed: int = 0
    seeds: int = 1
    vocabulary: str | None = None
    """None: compeval, or the only one of a lexicon that has none of that name."""
    lexicon: Path | None = None
    train: int | None = None
    test: int | None = None
    validation: int | None = None
    sampling: Sampling = Sampling.MIRROR
    preset: str | None = None
    """None: that of the paper which a dataset's task is from."""
    overrides: tuple[str, ...] = ()
    probe_vectors: str | None = None
    """What stands for probe words: ``one-hot``, ``encoder``, or the spec of an encoder.

    None: as in the paper which a dataset's task is from.
    """
    controls: bool = True
    out: Path | None = None
    force: bool = False
    cache: bool = True
    device: str = "cpu"
    threads: int | None = None
    """PyTorch's; none said: one in each process that trains, and as many as it likes to encode."""
    jobs: int | None = None
    natural_options: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """Options of the natural-text tasks: the fields of a ``NaturalPlan``."""
    given: tuple[str, ...] = ()
    """Names of the options that were written; those that would do nothing are refused."""

    @property
    def places(self) -> tuple[str, ...]:
        """The targets, without the word ``natural``."""
        return tuple(target for target in self.targets if target != natural.SUITE)

    @property
    def builds(self) -> bool:
        """Whether the suite is among the targets."""
        return any(map(is_suite, self.places))

    @property
    def size(self) -> Size:
        """The size of each task of compeval."""
        return Size().changed(self.train, self.test, self.validation)

    def natural_plan(self, target: str) -> natural.NaturalPlan:
        """Return the plan of the natural-text tasks of a table."""
        tasks = self.tasks
        if len(self.places) > 1:
            tasks = tuple(name for name in tasks if natural.is_name(name))
        return natural.NaturalPlan(
            table=Path(target),
            tasks=tasks,
            train=self.train,
            test=self.test,
            validation=self.validation,
            seed=self.seed,
            audit=False,
            **self.natural_options,
        )


def is_suite(target: str) -> bool:
    """Say whether a target is the suite; a path of its name must be written ``./compeval``."""
    return target == SUITE


def find_sampling(name: str) -> Sampling:
    """Return the sampling of that name."""
    return choose(Sampling, name, what="sampling")


def check(plan: RunRequest) -> None:
    """Refuse what can be seen to be wrong before any work is done.

    Raises:
        UsageError: an unknown task, encoder, preset, value of it, or vocabulary; a path that is not
            there; a wrong number; an option that would do nothing.
    """
    check_names(plan.encoders)
    check_distinct("target", plan.targets)
    for spec in plan.encoders:
        find_kind(spec)
    if plan.probe_vectors is not None:
        check_source(plan.probe_vectors)
    _check_natural(plan)
    for name in _presets(plan):
        _preset(plan, name)
    for target in plan.places:
        _check_target(target)
    _check_options(plan)
    if plan.builds:
        _check_suite(plan)
    for what, count in (("seeds", plan.seeds), ("threads", plan.threads)):
        check_count(what, count)
    check_jobs(find_jobs(plan))


def _check_natural(plan: RunRequest) -> None:
    tables = [target for target in plan.places if is_table(Path(target))]
    if len(plan.places) < len(plan.targets) and not tables:
        for target in plan.places:
            if not is_suite(target):
                natural.check_table(Path(target))
        raise UsageError(
            "the suite natural needs the table of a corpus: probe run natural TABLE; "
            "probe analyze makes one"
        )
    if len(tables) > 1:
        raise UsageError(
            f"{' and '.join(tables)} are tables, and the same tasks would be built of each; "
            "run one at a time, or analyse their texts as one corpus"
        )
    for table in tables:
        natural.check_natural(plan.natural_plan(table))


def _check_options(plan: RunRequest) -> None:
    suites = [SUITE] if plan.builds else []
    if any(is_table(Path(target)) for target in plan.places):
        suites.append(natural.SUITE)
    refuse_idle(plan.given, suites, what=", ".join(plan.targets))


def _check_target(target: str) -> None:
    if not is_suite(target) and not Path(target).exists():
        near = suggest(target, SUITES)
        raise UsageError(
            f"there is no suite {target!r}{near}, nor such a file or directory; "
            f"the suites are: {', '.join(SUITES)}"
        )


def _check_suite(plan: RunRequest) -> None:
    tasks = compeval_tasks(plan)
    check_distinct("task", [task.name for task in tasks])
    for task in tasks:
        check_size(task, plan.size, sampling=plan.sampling)
    lexicon = load_lexicon(plan.lexicon)
    lexicon.vocabulary(plan.vocabulary or default_vocabulary(lexicon, SUITE))


def find_classifier(plan: RunRequest, data: ProbeDataset) -> Preset:
    """Return the classifier of a dataset: its preset, with what is overridden in it."""
    return _preset(plan, plan.preset or preset_of(data.card.task, data.name))


def _preset(plan: RunRequest, name: str) -> Preset:
    return override(find_preset(name), [parse_pair(text) for text in plan.overrides])


def _presets(plan: RunRequest) -> list[str]:
    """Return the presets that are known to be used before any dataset is read."""
    if plan.preset is not None:
        return [plan.preset]
    tables = [target for target in plan.places if is_table(Path(target))]
    tasks = [task for table in tables for task in find_tasks(plan.natural_plan(table).tasks)]
    others = [OTHERWISE] if plan.builds or not tables else []
    return sorted({preset_of(task.name) for task in tasks}.union(others))


def compeval_tasks(plan: RunRequest) -> list[CompevalTask]:
    """Return the tasks of the suite; beside paths, a task's name may be that of a dataset there."""
    names = plan.tasks or tuple(TASKS)
    if len(plan.places) > 1:
        names = tuple(name for name in names if name in TASKS)
    return [find_task(name) for name in names]


def find_jobs(plan: RunRequest) -> int:
    """Return in how many processes to train."""
    return cores() if plan.jobs is None else plan.jobs
