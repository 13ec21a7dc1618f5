"""A run on a cluster: errands are sent to its workers, and what they bring goes into the ledger."""

from collections import deque
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from sentprobe import engines
from sentprobe.engines import EngineName
from sentprobe.errors import UsageError
from sentprobe.probes.encoders import Baseline, Encoder
from sentprobe.probes.encoders.given import Known, name_of
from sentprobe.probes.runs import errands, keeping, todo
from sentprobe.probes.runs.ledger import Ledger, Ran, Recipes
from sentprobe.probes.runs.results import Result
from sentprobe.probes.runs.settings import ONE_PROCESS, Run
from sentprobe.probes.runs.task import Task
from sentprobe.progress import Reporter
from sentprobe.specs import Spec

ResultPlace: TypeAlias = tuple[str, str]
"""The names of an encoder and a task: where a result belongs."""


def check_can_travel(encoders: Sequence[Known], words: Known | str | None, *, run: Run) -> None:
    """Refuse encoders that are objects of this process, where another is to make them.

    Raises:
        UsageError: one is no spec.
    """
    if run.machines.engine is EngineName.DASK:
        for each in (*encoders, words):
            if not isinstance(each, Spec | str | None):
                name = getattr(each, "name", "") or name_of(each)
                raise UsageError(
                    f"{name} is an object of this process, and the workers of --engine dask make "
                    "their encoders themselves; give a spec, such as python:MODULE:FUNCTION"
                )


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """The workers, and what they are told besides the tasks."""

    engine: engines.Engine
    specs: Mapping[str, Spec]
    """What each encoder is made from, by its name."""
    words: Spec | str | None

    def bring(
        self, queue: Iterator[errands.Errand], common: errands.Common, *, kept: str
    ) -> Iterator[tuple[errands.Errand, errands.Brought]]:
        """Yield each errand with what a worker brought, as it comes.

        Raises:
            EngineError: workers are killed again and again, or have another version.
        """
        shared = (self.engine.share(common),)
        work: Callable[..., errands.Brought] = errands.run_errand
        done = engines.run(work, queue, self.engine, shared=shared, kept=kept)
        with closing(done):
            for errand, brought in done:
                engines.check_version(brought.version)
                yield errand, brought


def run_elsewhere(
    tasks: Sequence[Task],
    encoders: Sequence[Encoder | Baseline],
    *,
    run: Run,
    reporter: Reporter,
    known: Recipes,
    cluster: Cluster,
) -> Ran:
    """Have encoded and trained on the cluster what is missing, and return all results.

    - known: the recipes that are known, by the names of encoder and task

    Raises:
        SentprobeError: see :func:`run`.
    """
    ledger = Ledger(tasks, run, known)
    sender = _Sender(run, ledger, reporter)
    for encoder in encoders:
        sender.open(encoder, cluster.specs[encoder.name])
    # Threads are those of one worker; how many there are on a machine is the cluster's matter.
    alone = replace(run, out=None, text="", machines=ONE_PROCESS)
    alone = replace(alone, encoding_threads=run.encoding_threads or 1)
    common = errands.Common(tasks=errands.without_words(tasks), run=alone, words=cluster.words)
    notes: list[str] = []
    for errand, brought in cluster.bring(sender.start(), common, kept=run.kept):
        sender.take(errand, brought)
        notes += brought.notes
    return ledger.close(sender.results.values(), notes)


@dataclass(slots=True)
class _Queue:
    """Errands that are still to be sent; each may bring more."""

    left: deque[errands.Errand] = field(default_factory=deque)

    def __iter__(self) -> "_Queue":
        return self

    def __next__(self) -> errands.Errand:
        if not self.left:
            raise StopIteration
        return self.left.popleft()


class _Sender:
    """Knows which errands a run needs, and puts what they bring into the ledger.

    How wide an encoder's vectors are is known when its errand is done. Only then is asked for what
    encoders of that width share, once for all of them.
    """

    def __init__(self, run: Run, ledger: Ledger, reporter: Reporter) -> None:
        self.results: dict[ResultPlace, Result] = {}
        self._run = run
        self._ledger = ledger
        self._reporter = reporter
        self._queue = _Queue()
        self._wanted: dict[Spec, list[errands.Wanted]] = {}
        self._later: dict[ResultPlace, list[todo.Job]] = {}
        """What will be asked for when the width is known."""
        self._waiting: dict[ResultPlace, dict[Hashable, todo.Job]] = {}
        """What has been, by its key."""
        self._brought: dict[Hashable, errands.Brought | None] = {}
        """What came of each key; None: nothing yet."""

    def open(self, encoder: Encoder | Baseline, spec: Spec) -> None:
        """Note what is missing of an encoder."""
        known, jobs = self._ledger.open(encoder)
        self.results |= {(encoder.name, task): result for task, result in known.items()}
        own = [job for job in jobs if errands.stays_with(job)]
        for job in jobs:
            later = self._later.setdefault((encoder.name, job.task.name), [])
            later += [] if errands.stays_with(job) else [job]
        if own:
            asked = tuple(errands.JobAsked(j.task.name, j.condition, j.seeds) for j in own)
            of_tasks = {each.task: known[each.task] for each in asked}
            wanted = errands.Wanted(encoder.name, of_tasks, asked)
            self._wanted.setdefault(spec, []).append(wanted)

    def start(self) -> Iterator[errands.Errand]:
        """Return the errands; there are more when :meth:`take` has what some of them brought."""
        self._reporter.begin("probe on the cluster", len(self._later))
        for spec, several in self._wanted.items():
            self._queue.left.append(errands.EncoderErrand(spec, tuple(several)))
        busy = {
            (w.encoder, task) for each in self._wanted.values() for w in each for task in w.known
        }
        for place in [place for place in self._later if place not in busy]:
            self._ask(place)
        return self._queue

    def take(self, errand: errands.Errand, brought: errands.Brought) -> None:
        """Keep what a worker brought, and ask for what is wanted next."""
        for result in brought.results:
            place = result.encoder, result.task
            self.results[place] = result
            self._ask(place)
        if isinstance(errand, errands.SharedErrand):
            self._brought[errand.key] = brought
            for place in [each for each, keys in self._waiting.items() if errand.key in keys]:
                self._settle(place)

    def _ask(self, place: ResultPlace) -> None:
        """Send for what the encoder shares with those of its width, where nobody has."""
        dim = self.results[place].dim
        known, jobs = self._ledger.take_shared(self.results[place], self._later.pop(place), dim=dim)
        self.results[place] = known
        self._waiting[place] = {
            (*todo.shared_key(job.condition, known, dim=dim), job.seeds): job for job in jobs
        }
        for key, job in self._waiting[place].items():
            if key not in self._brought:
                self._brought[key] = None
                asked = errands.JobAsked(job.task.name, job.condition, job.seeds)
                self._queue.left.append(errands.SharedErrand(asked, dim, key))
        if jobs:
            self._ledger.keep(known)
        self._settle(place)

    def _settle(self, place: ResultPlace) -> None:
        """Finish a result when all that it waits for is there."""
        waiting = self._waiting[place]
        brought = {key: found for key in waiting if (found := self._brought[key]) is not None}
        if len(brought) < len(waiting):
            return
        del self._waiting[place]
        result = self.results[place]
        for key, job in waiting.items():
            found = brought[key]
            result = keeping.add(result, {job.condition: found.scores})
            result = todo.add_seconds(result, {job.condition.value: found.seconds})
        self.results[place] = result
        self._ledger.keep(result)
        self._reporter.advance()
