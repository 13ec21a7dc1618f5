"""The request for a run, and the settings that all its encoders and tasks share."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from sentprobe.common.engines import KEPT_MESSAGE, EngineChoice
from sentprobe.common.errors import UsageError, check_seed, check_whole, require_libraries
from sentprobe.common.processes import check_count
from sentprobe.common.specs import MethodName, Spec, choose_member
from sentprobe.probes.encoders.cache import Cache
from sentprobe.probes.encoders.encoder import Encoder
from sentprobe.probes.encoders.kinds import EncoderSource
from sentprobe.probes.results.result import METHODS, Condition
from sentprobe.probes.results.store import WAIT_SECONDS
from sentprobe.probes.runs.suites import ClassifierChoice
from sentprobe.probes.runs.targets import Targets

DRAW_SEED_STEP = 10
"""The difference between the seeds of successive draws, and so the maximum number of probe seeds in a draw."""
CPU = "cpu"
ONE_PROCESS = EngineChoice(jobs=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """The settings of a run, which :meth:`check` checks."""

    seed: int = 0
    """The seed of random vectors and words, of the choice of validation items, and of the first probe."""
    seeds: int = 1
    """The number of probes under each condition."""
    draws: int = 1
    controls: bool = True
    methods: tuple[Condition, ...] = ()
    out: Path | None = None
    force: bool = False
    wait: float = WAIT_SECONDS
    cache: Cache | None = field(default=None, compare=False)
    command: str = ""
    text: str = ""
    device: str = CPU
    threads: int | None = 1
    encoding_threads: int | None = None
    """The number of PyTorch threads for encoding sentences, before training."""
    machines: EngineChoice = ONE_PROCESS
    """The engine on which probes are trained and, on a cluster, sentences are encoded."""

    @property
    def probe_seeds(self) -> tuple[int, ...]:
        """The seeds of the probes: *seed* and the numbers after it."""
        return tuple(range(self.seed, self.seed + self.seeds))

    @property
    def kept_note(self) -> str:
        """The part of an error message that says whether the results so far are stored."""
        return KEPT_MESSAGE if self.out else "use --out to keep results and resume a run"

    def check(self) -> "Run":
        """Return the settings with the device that ``auto`` stands for. Raises UsageError or MissingError."""
        check_whole("seed", self.seed)
        check_seed(self.seed)
        for name in ("seeds", "draws", "threads"):
            check_count(name, getattr(self, name))
        check_count("threads", self.encoding_threads)
        if self.draws > 1 and self.seeds > DRAW_SEED_STEP:
            raise UsageError(
                f"{self.seeds} seeds: in several draws there are at most {DRAW_SEED_STEP} probes each, "
                f"since the seeds of two draws are {DRAW_SEED_STEP} apart"
            )
        require_libraries("torch")
        if self.device == CPU:
            return self
        from sentprobe.probes.classifier.devices import find_device

        return replace(self, device=find_device(self.device))

    def iterate_draws(self) -> Iterator["Run"]:
        """Yield the settings of each draw, whose seeds are DRAW_SEED_STEP above those of the draw before."""
        for offset in range(0, self.draws * DRAW_SEED_STEP, DRAW_SEED_STEP):
            yield replace(self, seed=self.seed + offset, draws=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """The targets, encoders and settings of a run, requested by ``probe run`` or ``sentprobe.run``."""

    targets: Targets
    encoders: Sequence[EncoderSource]
    probe_vectors: Encoder | Spec | str | None = None
    """The source of the probe words' vectors; None: the source in each task's paper."""
    preset: ClassifierChoice | None = None
    """The classifier; None: the classifier of each task's paper."""
    run: Run = field(default_factory=Run)


METHOD_CONDITIONS = {
    MethodName.MDL: Condition.PORTIONS,
    MethodName.SAMPLE_EFFICIENCY: Condition.PORTIONS,
    MethodName.V_INFORMATION: Condition.PORTIONS,
    MethodName.COMPLEXITY: Condition.WIDTHS,
}
"""The condition under which the probes of each method are trained; several methods share a condition."""


def find_methods(names: Iterable[str], *, control_task: bool) -> tuple[Condition, ...]:
    """Return the conditions that the methods *names* need, each once, and CONTROL_TASK if *control_task* is true."""
    method_conditions = {METHOD_CONDITIONS[choose_member(MethodName, name, what="method")] for name in names}
    requested = method_conditions | ({Condition.CONTROL_TASK} if control_task else set())
    return tuple(condition for condition in METHODS if condition in requested)
