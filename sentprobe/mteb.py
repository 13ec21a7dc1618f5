"""The tasks of sentprobe for MTEB: ``mteb.evaluate(model, sentprobe.mteb.tasks("data/"))``."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sentprobe.errors import UsageError, check_utf8
from sentprobe.extras import need
from sentprobe.probes.formats import read_dataset, recognise
from sentprobe.probes.geometry.triplet_reader import is_triplets, read_triplets
from sentprobe.probes.mteb.geometry_task import geometry_task
from sentprobe.probes.mteb.need import need_mteb
from sentprobe.probes.mteb.probing_task import probing_task
from sentprobe.probes.runs.settings import Run, make_run
from sentprobe.probes.trainer.classifier import Preset
from sentprobe.probes.trainer.presets import find_preset

__all__ = ["tasks"]


def tasks(
    *folders: Path | str,
    preset: Preset | str | None = None,
    seed: int = 0,
    seeds: int = 1,
    controls: bool = False,
    device: str = "cpu",
) -> list[Any]:
    """Return a task object of MTEB's for each dataset and each file of triplets.

    - folders: that ``probe build`` and ``gen pairs --out`` wrote into, or single datasets and files
    - preset: the probe's classifier; by default that of the paper of each task
    - seed, seeds: of the probes, as in ``probe run``: so many, from that one on
    - controls: whether the sanity runs are made, too
    - device: that probes are trained on

    Raises:
        MissingError: mteb is not installed.
        UnusableError: it is of another version.
        UsageError: nothing is there, or two tasks have one name; see also ``make_run``.
        DatasetError, FormatError: a dataset or a file of triplets is damaged.
    """
    need_mteb()
    need("torch")
    run = make_run(seed=seed, seeds=seeds, controls=controls, device=device)
    chosen = find_preset(preset) if isinstance(preset, str) else preset
    found: dict[str, Any] = {}
    for path in map(Path, folders):
        for task in _tasks_in(path, run, chosen):
            name = task.metadata.name
            if name in found:
                first = found[name].metadata.dataset["path"]
                raise UsageError(f"{path}: there are two tasks {name}; the other is in {first}")
            found[name] = task
    return list(found.values())


def _tasks_in(path: Path, run: Run, preset: Preset | None) -> Iterator[Any]:
    check_utf8(path)
    if not path.exists():
        raise UsageError(f"{path}: there is no such file or directory")
    nothing = True
    for each in _places(path):
        if is_triplets(each):
            yield geometry_task(read_triplets(each), each)
        elif recognise(each):
            yield probing_task(read_dataset(each), each, run=run, preset=preset)
        else:
            continue
        nothing = False
    if nothing:
        raise UsageError(
            f"{path}: there are no datasets (probe build) and no triplets (gen pairs) in it"
        )


def _places(path: Path) -> list[Path]:
    """Return the path itself if it is a dataset or a file, else what is in the folder."""
    if not path.is_dir() or recognise(path) is not None:
        return [path]
    return [each for each in sorted(path.iterdir()) if not each.name.startswith(".")]
