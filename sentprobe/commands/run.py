"""What ``probe run`` does, as functions that anyone can call."""

import shlex
import sys
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from sentprobe.commands import natural
from sentprobe.commands.run_data import find_datasets
from sentprobe.commands.run_plan import RunRequest, check, find_classifier, find_jobs
from sentprobe.probes.encoders import make_encoders
from sentprobe.probes.natural.select import TooFewError
from sentprobe.progress import Bars, Reporter, columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sentprobe.probes.dataset import ProbeDataset
    from sentprobe.probes.encoders import Baseline, Encoder
    from sentprobe.probes.runs.results import Results


def run_plan(plan: RunRequest) -> None:
    """Run the encoders on the datasets, and print the table of accuracies.

    Raises:
        SentprobeError: see :func:`probe_plan`; some natural-text tasks could not be built, and the
            run was about the others.
    """
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import Progress  # noqa: PLC0415

    from sentprobe.commands.show import View, print_tables  # noqa: PLC0415

    check(plan)
    with Progress(*columns(), console=Console(stderr=True)) as progress:
        outcome = probe_plan(plan, reporter=Bars(progress))
    print_tables(outcome.results, View())
    for note in outcome.notes:
        print(f"note: {note}")
    if plan.out is not None:
        print(f"results: {plan.out}")
    if outcome.failures:
        of = len(outcome.results.tasks) + len(outcome.failures)
        raise natural.failed(outcome.failures, of=of)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a run: results, notes on the datasets and encoders, tasks left out."""

    results: "Results"
    notes: tuple[str, ...]
    failures: tuple[TooFewError, ...]


def probe_plan(plan: RunRequest, *, reporter: Reporter) -> Outcome:
    """Run the encoders on all datasets that can be built or read.

    Raises:
        UsageError: see :func:`check`; no such device.
        SentprobeError: *out* is not ours; an encoder or a dataset could not be made.
    """
    check(plan)
    from sentprobe.probes.encoders.cache import Cache, default_directory  # noqa: PLC0415
    from sentprobe.probes.runs.run import run  # noqa: PLC0415 - PyTorch is slow
    from sentprobe.probes.runs.store import prepare_directory  # noqa: PLC0415
    from sentprobe.probes.trainer.fit import check_device  # noqa: PLC0415

    check_device(plan.device)
    encoders = [each for spec in plan.encoders for each in make_encoders(spec, seed=plan.seed)]
    if plan.out is not None:
        prepare_directory(plan.out)
    command = shlex.join(["probe", *sys.argv[1:]])
    found = find_datasets(plan, command=command, reporter=reporter)
    results = run(
        found.datasets,
        encoders,
        preset=partial(find_classifier, plan),
        seed=plan.seed,
        seeds=plan.seeds,
        controls=plan.controls,
        out=plan.out,
        force=plan.force,
        cache=Cache(default_directory()) if plan.cache else None,
        command=command,
        reporter=reporter,
        device=plan.device,
        threads=plan.threads or 1,
        encoding_threads=plan.threads,
        jobs=find_jobs(plan),
        probe_vectors=plan.probe_vectors,
    )
    notes = (*_card_notes(found.datasets), *_notes(encoders))
    return Outcome(results, notes, found.failures)


def _card_notes(datasets: "Sequence[ProbeDataset]") -> tuple[str, ...]:
    return tuple(f"{data.name}: {note}" for data in datasets for note in data.card.notes)


def _notes(encoders: "Sequence[Encoder | Baseline]") -> tuple[str, ...]:
    return tuple(note for encoder in encoders for note in getattr(encoder, "notes", ()))
