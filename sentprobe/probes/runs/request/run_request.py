"""The request of a run, in three parts: its inputs, its training, and where it runs and is kept.

The command ``probe run`` and the Python function ``sentprobe.run`` both make one.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sentprobe.engines import EngineChoice
from sentprobe.probes.encoders import Encoder
from sentprobe.probes.encoders.cache.vector_cache import Cache
from sentprobe.probes.encoders.resolve import EncoderSource
from sentprobe.probes.results.result import Condition
from sentprobe.probes.results.store import WAIT_SECONDS
from sentprobe.probes.runs.request.settings import CPU, ONE_PROCESS, Run, make_run
from sentprobe.probes.runs.request.targets import Targets
from sentprobe.probes.suites import ClassifierChoice
from sentprobe.specs import Spec


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeInputs:
    """The datasets and encoders that are probed."""

    targets: Targets
    encoders: Sequence[EncoderSource]
    probe_vectors: Encoder | Spec | str | None = None
    """The vectors of probe words; None: as the paper of each task has them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeTraining:
    """The classifier, and which probes are trained."""

    preset: ClassifierChoice | None = None
    """None: the classifier of the paper of each task."""
    seed: int = 0
    seeds: int = 1
    draws: int = 1
    controls: bool = True
    methods: Sequence[Condition] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPlacement:
    """The folder, cache, device and processes of a run."""

    out: Path | str | None = None
    force: bool = False
    wait: float = WAIT_SECONDS
    """Seconds to wait for another process that has locked the results folder."""
    cache: Cache | None = None
    command: str = ""
    run_file: str = ""
    """The text of the run file, which is written beside the results; empty: none."""
    device: str = CPU
    threads: int | None = 1
    encoding_threads: int | None = None
    machines: EngineChoice = ONE_PROCESS


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """Everything that decides a run."""

    inputs: ProbeInputs
    training: ProbeTraining = field(default_factory=ProbeTraining)
    placement: RunPlacement = field(default_factory=RunPlacement)

    def make_run(self) -> Run:
        """Check the training and the placement, and return the settings of the run."""
        training, placement = self.training, self.placement
        return make_run(
            seed=training.seed,
            seeds=training.seeds,
            draws=training.draws,
            controls=training.controls,
            methods=training.methods,
            out=placement.out,
            force=placement.force,
            wait=placement.wait,
            cache=placement.cache,
            command=placement.command,
            text=placement.run_file,
            device=placement.device,
            threads=placement.threads,
            encoding_threads=placement.encoding_threads,
            machines=placement.machines,
        )
