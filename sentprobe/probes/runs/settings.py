"""The settings of a run: what holds for all its encoders and tasks, checked once."""

from dataclasses import dataclass, field
from pathlib import Path

from sentprobe.extras import need
from sentprobe.probes.encoders.cache import Cache
from sentprobe.processes import check_count, check_jobs


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What holds for all encoders and tasks of a run; made by :func:`make_run`."""

    seed: int = 0
    """That of random vectors and words, and of the items that are set aside for validation."""
    seeds: tuple[int, ...] = (0,)
    """Those of the probes: one probe for each, under each condition."""
    controls: bool = True
    """Whether the sanity runs are made."""
    out: Path | None = None
    """The folder of the results."""
    force: bool = False
    """Whether what is there already is made anew."""
    cache: Cache | None = field(default=None, compare=False)
    command: str = ""
    device: str = "cpu"
    """The one that probes are trained on."""
    threads: int | None = 1
    """PyTorch's in each process that trains; None leaves them as they are."""
    encoding_threads: int | None = None
    """PyTorch's while sentences are encoded, before training."""
    jobs: int = 1
    """The processes that train."""


def make_run(
    *,
    seed: int = 0,
    seeds: int = 1,
    controls: bool = True,
    out: Path | str | None = None,
    force: bool = False,
    cache: Cache | None = None,
    command: str = "",
    device: str = "cpu",
    threads: int | None = 1,
    encoding_threads: int | None = None,
    jobs: int = 1,
) -> Run:
    """Check the settings and return the run.

    - seeds: so many probes under each condition, with the seeds *seed*, *seed* + 1, ...
    - device: cpu, cuda, cuda:1, mps, or auto: the best that there is

    Raises:
        UsageError: a number or a device that cannot be.
    """
    for what, count in (("seeds", seeds), ("threads", threads), ("threads", encoding_threads)):
        check_count(what, count)
    check_jobs(jobs)
    need("torch")
    from sentprobe.probes.trainer.devices import find_device  # noqa: PLC0415 - PyTorch is slow

    return Run(
        seed=seed,
        seeds=tuple(range(seed, seed + seeds)),
        controls=controls,
        out=None if out is None else Path(out),
        force=force,
        cache=cache,
        command=command,
        device=find_device(device),
        threads=threads,
        encoding_threads=encoding_threads,
        jobs=jobs,
    )
