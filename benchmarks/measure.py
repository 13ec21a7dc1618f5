"""CPU time and peak memory of a process, and a description of the machine."""

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
    """Number of things made, CPU seconds, and peak memory in bytes."""

    count: int
    seconds: float
    peak: int

    @property
    def rate(self) -> float:
        """Things per second."""
        return self.count / self.seconds


def measure(work: Callable[[], int]) -> Measurement:
    """Measure *work*, which returns the number of things it made."""
    start = time.process_time()
    count = work()
    seconds = time.process_time() - start
    return Measurement(count, seconds, 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


def measure_in_process(script: Path, arguments: Sequence[str], *, repeat: int = 1) -> Measurement:
    """Run *script* *repeat* times in its own process; return the fastest printed measurement."""
    measurements = []
    for _ in range(repeat):
        command = [sys.executable, str(script), *arguments]
        process = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        measurements.append(Measurement(**json.loads(process.stdout)))
    return min(measurements, key=lambda measurement: measurement.seconds)


def print_measurement(measurement: Measurement) -> None:
    """Print a measurement for :func:`measure_in_process`."""
    print(json.dumps(asdict(measurement)))


def describe_machine(packages: Sequence[str]) -> str:
    """Return a sentence about the machine and the versions of *packages*."""
    versions = ", ".join(f"{name} {version(name)}" for name in packages)
    date = time.strftime("%Y-%m-%d")
    return (
        f"Measured on {date}: {_find_processor()}, {os.cpu_count()} logical cores (one used), "
        f"{platform.system()}, Python {platform.python_version()}, {versions}."
    )


def _find_processor() -> str:
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())


def format_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table with numbers aligned right."""
    rule = "|" + "|".join([":---", *("---:" for _ in header[1:])]) + "|"
    head, *body = ("| " + " | ".join(row) + " |" for row in (header, *rows))
    return "\n".join((head, rule, *body))


def format_sections(parts: Mapping[str, str]) -> str:
    """Return Markdown sections with headings."""
    return "\n\n".join(f"## {heading}\n\n{text}" for heading, text in parts.items())
