"""How long the five tasks of compeval take to build, in CPU seconds.

``python benchmarks/compeval.py`` measures each case in a process of its own, and writes
``compeval.md`` beside this file.
"""

import argparse
import os
from pathlib import Path

from measure import Measurement, machine, measure, measure_apart, print_measurement, table

from sentprobe.generator.space import Space
from sentprobe.lexicon import english
from sentprobe.probes.compeval import TASKS, Size, build

HERE = Path(__file__).resolve().parent
ALL = "all five"
LARGE, SMALL = Size(train=4000, test=1000), Size(train=400, test=56)
CASES = (
    *((name, "compeval", LARGE) for name in (*TASKS, ALL)),
    (ALL, "compeval", SMALL),
    (ALL, "english", LARGE),
)
WANTED = {(ALL, "compeval", LARGE): "under 7"}


def build_tasks(name: str, vocabulary: str, size: Size) -> Measurement:
    """Build a task, or all of them one after another, without writing them."""
    Space(english(), vocabulary=vocabulary)  # what is read once is start-up

    def work() -> int:
        tasks = TASKS.values() if name == ALL else [TASKS[name]]
        built = [build(task, english(), vocabulary=vocabulary, size=size) for task in tasks]
        return sum(len(data.sentences) for data in built)

    return measure(work)


def row(name: str, vocabulary: str, size: Size, repeat: int) -> list[str]:
    """Measure a case; return its row."""
    case = [name, vocabulary, str(size.train), str(size.test)]
    found = measure_apart(Path(__file__), ["--case", *case], repeat=repeat)
    wanted = WANTED.get((name, vocabulary, size), "")
    seconds = f"{found.seconds:.2f}"
    return [name, vocabulary, f"{size.train:,}", f"{size.test:,}", seconds, wanted]


def main() -> None:
    """Measure everything and write the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--case", nargs=4, help="measure one case and print it")
    parser.add_argument("--repeat", type=int, default=3, help="take the quickest of so many runs")
    parser.add_argument("--out", type=Path, default=HERE / "compeval.md")
    asked = parser.parse_args()
    if asked.case:
        name, vocabulary, train, test = asked.case
        print_measurement(build_tasks(name, vocabulary, Size(int(train), int(test))))
        return
    rows = [row(*case, asked.repeat) for case in CASES]
    head = ("task", "vocabulary", "training items", "test items", "CPU seconds", "wanted")
    intro = (
        "# Building the five tasks\n\n"
        f"{machine(['numpy'])} CPU seconds of `build`, without start-up (imports, reading the "
        "lexicon) and without writing the files; each case in a process of its own (runs of each: "
        f"{asked.repeat}, the quickest counts). Other programs ran on the same cores (load average "
        f"{os.getloadavg()[1]:.0f}), which makes all of them larger than they need be. Made by "
        "`python benchmarks/compeval.py`."
    )
    asked.out.write_text(f"{intro}\n\n{table(head, rows)}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
