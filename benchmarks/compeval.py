"""CPU seconds for building the five tasks of compeval.

``python benchmarks/compeval.py`` measures each case in its own process and writes ``compeval.md`` beside this file.
"""

import argparse
import os
from pathlib import Path

from measure import Measurement, describe_machine, format_table, measure, measure_in_process, print_measurement

from sentprobe.common.specs import Size
from sentprobe.generator.spaces.space import Space
from sentprobe.lexicon import english
from sentprobe.probes.generated.assemble import build
from sentprobe.probes.generated.tasks import TASKS

HERE = Path(__file__).resolve().parent
ALL_TASKS = "all five"
LARGE, SMALL = Size(train=4000, test=1000), Size(train=400, test=56)
CASES = (
    *((name, "compeval", LARGE) for name in (*TASKS, ALL_TASKS)),
    (ALL_TASKS, "compeval", SMALL),
    (ALL_TASKS, "english", LARGE),
)
GOALS = {(ALL_TASKS, "compeval", LARGE): "under 7"}


def build_tasks(name: str, vocabulary: str, size: Size) -> Measurement:
    """Build a task, or all tasks one after another, without writing them."""
    Space(english(), vocabulary=vocabulary)  # read the vocabulary before timing

    def work() -> int:
        tasks = TASKS.values() if name == ALL_TASKS else [TASKS[name]]
        built = [build(task, english(), vocabulary=vocabulary, size=size) for task in tasks]
        return sum(len(data.sentences) for data in built)

    return measure(work)


def measure_row(name: str, vocabulary: str, size: Size, repeat: int) -> list[str]:
    """Measure a case; return its row of the table."""
    case = [name, vocabulary, str(size.train), str(size.test)]
    measurement = measure_in_process(Path(__file__), ["--case", *case], repeat=repeat)
    goal = GOALS.get((name, vocabulary, size), "")
    seconds = f"{measurement.seconds:.2f}"
    return [name, vocabulary, f"{size.train:,}", f"{size.test:,}", seconds, goal]


def main() -> None:
    """Measure everything and write the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--case", nargs=4, help="measure one case and print it")
    parser.add_argument("--repeat", type=int, default=3, help="report the fastest of N runs")
    parser.add_argument("--out", type=Path, default=HERE / "compeval.md")
    arguments = parser.parse_args()
    if arguments.case:
        name, vocabulary, train, test = arguments.case
        print_measurement(build_tasks(name, vocabulary, Size(int(train), int(test))))
        return
    rows = [measure_row(*case, arguments.repeat) for case in CASES]
    head = ("task", "vocabulary", "training items", "test items", "CPU seconds", "goal")
    intro = (
        "# Building the five tasks\n\n"
        f"{describe_machine(['numpy'])} CPU seconds of `build`; the fastest of "
        f"{arguments.repeat}; load "
        f"average {os.getloadavg()[1]:.0f}. Command: `python benchmarks/compeval.py`."
    )
    arguments.out.write_text(f"{intro}\n\n{format_table(head, rows)}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
