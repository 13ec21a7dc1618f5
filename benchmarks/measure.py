"""Measuring in a process of its own: CPU time and peak memory, and what they were measured on."""

import json
import os
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Measurement:
    """How many things were made, in how many seconds of CPU time, with how much memory (bytes)."""

    count: int
    seconds: float
    peak: int

    @property
    def rate(self) -> float:
        """Things per second."""
        return self.count / self.seconds


def measure(work: Callable[[], int]) -> Measurement:
    """Run *work*, which returns how many things it made."""
    start = time.process_time()
    count = work()
    seconds = time.process_time() - start
    return Measurement(count, seconds, 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


def measure_apart(script: Path, arguments: Sequence[str], *, repeat: int = 1) -> Measurement:
    """Run *script* in other processes, which print a measurement; return the quickest."""
    found = []
    for _ in range(repeat):
        command = [sys.executable, str(script), *arguments]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        found.append(Measurement(**json.loads(done.stdout)))
    return min(found, key=lambda measurement: measurement.seconds)


def print_measurement(measurement: Measurement) -> None:
    """Print a measurement for :func:`measure_apart`."""
    print(json.dumps(asdict(measurement)))


def machine(packages: Sequence[str]) -> str:
    """Return a sentence about the machine and the versions of *packages*."""
    versions = ", ".join(f"{name} {version(name)}" for name in packages)
    date = time.strftime("%Y-%m-%d")
    return (
        f"Measured on {date}: {_processor()}, {os.cpu_count()} logical cores (one used), "
        f"{platform.system()}, Python {platform.python_version()}, {versions}."
    )


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown, numbers to the right."""
    marks = [":---", *("---:" for _ in header[1:])]
    return "\n".join("| " + " | ".join(row) + " |" for row in (header, marks, *rows))


def sections(parts: Mapping[str, str]) -> str:
    """Return headed sections in Markdown."""
    return "\n\n".join(f"## {heading}\n\n{text}" for heading, text in parts.items())
