"""Speed of generation with each construction, compared with transitive-rc by turns in one process.

``python benchmarks/constructions.py`` prints a table of ``generation.md``.
"""

import argparse
import tempfile
import time
from pathlib import Path

import pyarrow as pa
from measure import format_table

from sentprobe.generator.bulk.sentence_files import write_file
from sentprobe.generator.events.event import Mood, Role
from sentprobe.generator.spaces.constraints import Choices
from sentprobe.generator.spaces.space import Space
from sentprobe.lexicon import Kind, english

FORMATS = ("text", "parquet", "conllu", "jsonl")
BASELINE = ("transitive-rc", "transitive-rc", "english", Choices())
MODALS = (None, *(word.lemma for word in english().words(Kind.MODAL)))
SETTINGS = (
    ("ditransitive", "ditransitive", "everyday", Choices()),
    ("ditransitive-rc", "ditransitive-rc", "everyday", Choices()),
    ("transitive-rc-ditransitive", "transitive-rc-ditransitive", "everyday", Choices()),
    ("adjectives 0-1", "transitive-rc", "everyday", Choices(adjectives=(0, 1))),
    ("modals or none", "transitive-rc", "english", Choices(modals=MODALS)),
    ("coordinations 0-1", "transitive-rc", "english", Choices(coordinations=(0, 1))),
    ("yes/no questions", "transitive-rc", "english", Choices(moods=(Mood.QUESTION,))),
    (
        "questions for agent or patient",
        "transitive-rc",
        "english",
        Choices(moods=(Mood.QUESTION,), asked=(Role.AGENT, Role.PATIENT)),
    ),
    ("orders", "transitive-rc", "english", Choices(moods=(Mood.ORDER,))),
)
"""Name, template, vocabulary and choices of each row."""


def measure_setting(setting: tuple[str, str, str, Choices], fmt: str, n: int, path: Path) -> tuple[float, float]:
    """Return the CPU seconds and the bytes for each of *n* sentences, from building the space to the closed file."""
    _, template, vocabulary, choices = setting
    start = time.process_time()
    space = Space(english(), templates=[template], vocabulary=vocabulary, choices=choices)
    count = min(n, space.count())
    write_file(space, space.sample(count, seed=1), path, fmt)
    return (time.process_time() - start) / count, path.stat().st_size / count


def main() -> None:
    """Measure all settings and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=200_000, help="number of sentences")
    parser.add_argument("--repeat", type=int, default=5, help="report the fastest of N runs")
    arguments = parser.parse_args()
    pa.set_cpu_count(1)
    seconds: dict[tuple[str, str], float] = {}
    sizes: dict[tuple[str, str], float] = {}
    with tempfile.TemporaryDirectory() as folder:
        for fmt in FORMATS * arguments.repeat:
            for setting in (BASELINE, *SETTINGS):
                key = fmt, setting[0]
                cost, sizes[key] = measure_setting(setting, fmt, arguments.n, Path(folder) / "sentences")
                seconds[key] = min(seconds.get(key, cost), cost)
    rows = []
    for name, *_ in SETTINGS:
        speeds = [seconds[fmt, BASELINE[0]] / seconds[fmt, name] for fmt in FORMATS]
        ratios = [sizes[fmt, name] / sizes[fmt, BASELINE[0]] for fmt in FORMATS]
        rows.append([name, *(f"{100 * speed:.0f} ({ratio:.2f})" for speed, ratio in zip(speeds, ratios, strict=True))])
    print(format_table(("construction", *FORMATS), rows))
    print({fmt: round(1 / seconds[fmt, BASELINE[0]]) for fmt in FORMATS})


if __name__ == "__main__":
    main()
