"""The settings of a run: what holds for all its encoders and tasks, checked once."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from sentprobe.engines import KEPT, Machines
from sentprobe.errors import UsageError, check_seed, check_whole
from sentprobe.extras import need
from sentprobe.probes.encoders.cache import Cache
from sentprobe.probes.runs.results import METHODS, Condition
from sentprobe.processes import check_count

STEP = 10
"""How far apart the seeds of two draws are: so many probes a draw have seeds of their own."""
CPU = "cpu"
"""The device that is always there."""

ONE_PROCESS = Machines(jobs=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What holds for all encoders and tasks of a run; made by :func:`make_run`."""

    seed: int = 0
    """That of random vectors and words, and of the items that are set aside for validation."""
    seeds: tuple[int, ...] = (0,)
    """Those of the probes: one probe for each, under each condition."""
    draws: int = 1
    """So often all that is random is drawn anew: data that is built, untrained weights, probes."""
    controls: bool = True
    """Whether the sanity runs are made."""
    methods: tuple[Condition, ...] = ()
    """What is trained besides, of METHODS."""
    out: Path | None = None
    """The folder of the results."""
    force: bool = False
    """Whether what is there already is made anew."""
    cache: Cache | None = field(default=None, compare=False)
    command: str = ""
    text: str = ""
    """Its run file, which is kept beside the results; empty: there is none."""
    device: str = "cpu"
    """The one that probes are trained on."""
    threads: int | None = 1
    """PyTorch's in each process that trains; None leaves them as they are."""
    encoding_threads: int | None = None
    """PyTorch's while sentences are encoded, before training."""
    machines: Machines = ONE_PROCESS
    """Where probes are trained and, on a cluster, sentences encoded."""

    @property
    def kept(self) -> str:
        """What an error says of what was done."""
        return KEPT if self.out else "results are kept, and a run goes on, with --out"

    def each_draw(self) -> Iterator["Run"]:
        """Yield the run of each draw by itself: its seeds are STEP above those of the one before.

        >>> [(draw.seed, draw.seeds) for draw in make_run(seeds=2, draws=2).each_draw()]
        [(0, (0, 1)), (10, (10, 11))]
        """
        for further in range(0, self.draws * STEP, STEP):
            seeds = tuple(seed + further for seed in self.seeds)
            yield replace(self, seed=self.seed + further, seeds=seeds, draws=1)


def make_run(
    *,
    seed: int = 0,
    seeds: int = 1,
    draws: int = 1,
    controls: bool = True,
    methods: Sequence[Condition] = (),
    out: Path | str | None = None,
    force: bool = False,
    cache: Cache | None = None,
    command: str = "",
    text: str = "",
    device: str = "cpu",
    threads: int | None = 1,
    encoding_threads: int | None = None,
    machines: Machines = ONE_PROCESS,
) -> Run:
    """Check the settings and return the run.

    - seeds: so many probes under each condition, with the seeds *seed*, *seed* + 1, ...
    - draws: so often all this with new data, weights and probes, with *seed*, *seed* + 10, ...
    - methods: conditions of METHODS, which are trained besides
    - device: cpu, cuda, cuda:1, mps, or auto: the best that there is

    Raises:
        UsageError: a number or a device that cannot be; more seeds than are between two draws.
        GivenError: a number that is none.
    """
    check_whole("seed", seed)
    check_seed(seed)
    for what, count in (
        ("seeds", seeds),
        ("draws", draws),
        ("threads", threads),
        ("threads", encoding_threads),
    ):
        check_count(what, count)
    if draws > 1 and seeds > STEP:
        raise UsageError(
            f"{seeds} seeds: in several draws there are at most {STEP} probes each, since the "
            f"seeds of two draws are {STEP} apart"
        )
    need("torch")
    if device != CPU:
        from sentprobe.probes.trainer.devices import find_device  # noqa: PLC0415 - PyTorch is slow

        device = find_device(device)
    return Run(
        seed=seed,
        seeds=tuple(range(seed, seed + seeds)),
        draws=draws,
        controls=controls,
        methods=tuple(each for each in METHODS if each in methods),
        out=None if out is None else Path(out),
        force=force,
        cache=cache,
        command=command,
        text=text,
        device=device,
        threads=threads,
        encoding_threads=encoding_threads,
        machines=machines,
    )
