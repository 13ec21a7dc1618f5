"""The datasets of ``probe run``: built or read, as its targets say."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from sentprobe.commands import natural
from sentprobe.commands.run_plan import SUITE, RunRequest, compeval_tasks, is_suite
from sentprobe.errors import UsageError, suggest
from sentprobe.files import is_table
from sentprobe.lexicon.read import default_vocabulary, load_lexicon
from sentprobe.probes.compeval import build
from sentprobe.probes.dataset import ProbeDataset
from sentprobe.probes.natural.select import TooFewError
from sentprobe.progress import Reporter
from sentprobe.specs import check_distinct


@dataclass(frozen=True, slots=True)
class Found:
    """The datasets of a run, and why natural-text tasks are not among them."""

    datasets: tuple[ProbeDataset, ...]
    failures: tuple[TooFewError, ...] = ()


def find_datasets(plan: RunRequest, *, command: str, reporter: Reporter) -> Found:
    """Build and read the datasets of all targets, in their order.

    Raises:
        UsageError: a task that is in none of the targets; two datasets of one name.
        SentprobeError: there is no dataset, since none of the tasks could be built.
    """
    datasets: list[ProbeDataset] = []
    failures: dict[str, TooFewError] = {}
    for target in plan.places:
        if is_suite(target):
            datasets += build_compeval(plan, command=command, reporter=reporter)
        elif is_table(Path(target)):
            tried = dict(_build_natural(plan, target, command=command, reporter=reporter))
            datasets += [data for data in tried.values() if isinstance(data, ProbeDataset)]
            failures |= {name: e for name, e in tried.items() if isinstance(e, TooFewError)}
        else:
            datasets += _read(Path(target), plan)
    if failures and not datasets:
        raise natural.failed(failures.values(), of=len(failures))
    _check_found(plan, [data.name for data in datasets], failures)
    return Found(tuple(datasets), tuple(failures.values()))


def _check_found(plan: RunRequest, names: Sequence[str], failed: Iterable[str]) -> None:
    for task in plan.tasks:
        if task not in {*names, *failed} and not natural.is_suite_of_tasks(task):
            raise UsageError(f"there is no task {task!r} in {', '.join(plan.targets)}")
    check_distinct("dataset", names)


def _build_natural(
    plan: RunRequest, target: str, *, command: str, reporter: Reporter
) -> Iterable[tuple[str, ProbeDataset | TooFewError]]:
    wanted = plan.natural_plan(target)
    if plan.tasks and not wanted.tasks:
        return ()
    return natural.natural_datasets(wanted, command=command, reporter=reporter)


def _read(path: Path, plan: RunRequest) -> list[ProbeDataset]:
    from sentprobe.probes.formats import read_datasets  # noqa: PLC0415 - pyarrow is slow

    found = read_datasets(path)
    if not plan.tasks:
        return found
    names = [data.name for data in found]
    unknown = [task for task in plan.tasks if task not in names]
    if unknown and not plan.builds and len(plan.places) == 1:
        raise UsageError(
            f"{path}: there is no task {unknown[0]!r}{suggest(unknown[0], names)}; "
            f"the tasks are {', '.join(names)}"
        )
    return [data for data in found if data.name in plan.tasks]


def build_compeval(plan: RunRequest, *, command: str, reporter: Reporter) -> list[ProbeDataset]:
    """Build the datasets of the suite's tasks."""
    lexicon = load_lexicon(plan.lexicon)
    tasks = compeval_tasks(plan)
    datasets: list[ProbeDataset] = []
    if tasks:
        reporter.begin("build the tasks", len(tasks))
    for task in tasks:
        datasets.append(
            build(
                task,
                lexicon,
                vocabulary=plan.vocabulary or default_vocabulary(lexicon, SUITE),
                size=plan.size,
                seed=plan.seed,
                sampling=plan.sampling,
                command=command,
            )
        )
        reporter.advance()
    return datasets
