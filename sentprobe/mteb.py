"""Build MTEB tasks from sentprobe data: ``mteb.evaluate(model, sentprobe.mteb.tasks("data/"))``."""

from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from sentprobe.common.errors import (
    MissingError,
    UnusableError,
    UsageError,
    check_utf8,
    format_install,
    require_libraries,
    suggest_path,
)
from sentprobe.probes.classifier.presets import find_preset
from sentprobe.probes.classifier.probe import Preset
from sentprobe.probes.datasets.formats import read_dataset, recognise
from sentprobe.probes.mteb import make_geometry_task, make_probing_task
from sentprobe.probes.runs.settings import Run
from sentprobe.probes.similarity.triplet_sentences import is_triplet_file, read_triplets

__all__ = ["tasks"]


def tasks(
    *folders: Path | str,
    preset: Preset | str | None = None,
    seed: int = 0,
    seeds: int = 1,
    controls: bool = False,
    device: str = "cpu",
) -> list[Any]:
    """Return an MTEB task for each dataset and each triplet file in the folders.

    - folders: outputs of ``probe build`` and ``gen pairs --out``, or single datasets and files
    - preset: the probe's classifier; the default is the classifier of each task's paper
    - seed, seeds: the first seed of the probes and the number of seeds, as in ``probe run``
    - controls: whether the control probes of each task are trained, too
    - device: the device on which probes are trained

    Raises:
        MissingError: mteb is not installed.
        UnusableError: the installed mteb is too old.
        UsageError: a folder has no tasks, two tasks have the same name, or a number or the device is impossible.
        DatasetError, FormatError: a dataset or a triplet file is damaged.
    """
    need_mteb()
    require_libraries("torch")
    run = Run(seed=seed, seeds=seeds, controls=controls, device=device).check()
    chosen = find_preset(preset) if isinstance(preset, str) else preset
    tasks_by_name: dict[str, Any] = {}
    for path in map(Path, folders):
        for task in make_tasks_in(path, run, chosen):
            name = task.metadata.name
            if name in tasks_by_name:
                first = tasks_by_name[name].metadata.dataset["path"]
                raise UsageError(f"{path}: a second task is named {name}; the first is in {first}")
            tasks_by_name[name] = task
    return list(tasks_by_name.values())


def make_tasks_in(path: Path, run: Run, preset: Preset | None) -> Iterator[Any]:
    """Yield the MTEB tasks of a dataset, a triplet file, or a folder; raise UsageError if it has no tasks."""
    check_utf8(path)
    if not path.exists():
        raise UsageError(f"{path}: there is no such file or directory{suggest_path(path)}")
    is_single = not path.is_dir() or recognise(path) is not None
    is_empty = True
    for file in [path] if is_single else sorted(p for p in path.iterdir() if not p.name.startswith(".")):
        if is_triplet_file(file):
            yield make_geometry_task(read_triplets(file), file)
        elif recognise(file):
            yield make_probing_task(read_dataset(file), file, run=run, preset=preset)
        else:
            continue
        is_empty = False
    if is_empty:
        raise UsageError(f"{path}: there are no datasets (probe build) and no triplets (gen pairs) in it")


MINIMUM_VERSION = (2, 26)


def need_mteb() -> None:
    """Raise MissingError if MTEB is not installed, or UnusableError if it is too old; MTEB is not imported."""
    minimum = ".".join(map(str, MINIMUM_VERSION))
    install = format_install("mteb")
    try:
        installed = version("mteb")
    except PackageNotFoundError:
        raise MissingError(f"tasks for MTEB need mteb {minimum} or later, which is not installed: {install}") from None
    if parse_version(installed) < MINIMUM_VERSION:
        raise UnusableError(f"tasks for MTEB need mteb {minimum} or later, and {installed} is installed: {install}")


def parse_version(text: str) -> tuple[int, ...]:
    """Return the major and the minor number of a version: (2, 26) for "2.26.24"."""
    return tuple(int(part) for part in text.split(".")[:2] if part.isdecimal())
