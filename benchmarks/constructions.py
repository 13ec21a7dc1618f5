"""CPU time of ``gen`` with each construction, as a percentage of the speed of ``gen --template transitive-rc``.

``python benchmarks/constructions.py`` prints a table of ``generation.md``.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from itertools import product
from pathlib import Path

from measure import format_table

FORMATS = {"text": "txt", "parquet": "parquet", "conllu": "conllu", "jsonl": "jsonl"}
"""The file ending by which ``gen`` chooses each format."""
BASELINE = "transitive-rc"
MODALS = "--modal none --modal can --modal could --modal may --modal might --modal must --modal should --modal would"
SETTINGS = {
    BASELINE: "--template transitive-rc",
    "ditransitive": "--template ditransitive --vocabulary everyday",
    "ditransitive-rc": "--template ditransitive-rc --vocabulary everyday",
    "transitive-rc-ditransitive": "--template transitive-rc-ditransitive --vocabulary everyday",
    "adjectives 0-1": "--template transitive-rc --vocabulary everyday --adjectives 0-1",
    "modals or none": f"--template transitive-rc {MODALS}",
    "coordinations 0-1": "--template transitive-rc --coordinations 0-1",
    "yes/no questions": "--template transitive-rc --mood question",
    "questions for the patient": "--template transitive-rc --mood question --ask patient",
    "numerals": "--template transitive-rc --determiner the --determiner three --determiner seven",
    "names": "--template transitive-rc --determiner the --determiner name --determiner Doctor",
    "times and places": "--template transitive-rc --adjunct none --adjunct time --adjunct place "
    "--fronting none --fronting adjunct-first",
    "orders": "--template transitive-rc --mood order",
}
"""The options of ``gen`` for each row."""


def measure_command(options: str, n: int, path: Path) -> float:
    """Return the CPU seconds of a ``gen`` process that writes *n* sentences to *path*, from start to exit."""
    command = f"-m sentprobe gen {options} -n {n} --seed 1 --out".split()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, *command, path], check=True, capture_output=True, env=os.environ | {"OMP_NUM_THREADS": "1"}
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    path.unlink()
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Measure all settings by turns and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=200_000, help="number of sentences")
    parser.add_argument("--repeat", type=int, default=3, help="report the fastest of N runs")
    arguments = parser.parse_args()
    seconds: dict[tuple[str, str], float] = {}
    with tempfile.TemporaryDirectory() as folder:
        for _, fmt, name in product(range(arguments.repeat), FORMATS, SETTINGS):
            cost = measure_command(SETTINGS[name], arguments.n, Path(folder) / f"sentences.{FORMATS[fmt]}")
            seconds[fmt, name] = min(seconds.get((fmt, name), cost), cost)
    rows = [
        [name, *(f"{100 * seconds[fmt, BASELINE] / seconds[fmt, name]:.0f}" for fmt in FORMATS)] for name in SETTINGS
    ]
    print(format_table(("construction", *FORMATS), rows))
    print({fmt: round(seconds[fmt, BASELINE], 2) for fmt in FORMATS})


if __name__ == "__main__":
    main()
