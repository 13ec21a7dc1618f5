"""How many sentences a second, in how much memory, against other ways to make them.

``python benchmarks/generation.py`` measures each case in a process of its own (``cases.py``) and
writes ``generation.md`` beside this file.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from measure import Measurement, machine, measure_apart, sections, table

HERE = Path(__file__).resolve().parent
PACKAGES = ("numpy", "pyarrow", "nltk", "orjson")
FORMATS = ("text", "jsonl", "conllu", "parquet")
WANTED = {"text": 300_000, "jsonl": 50_000, "parquet": 300_000}
PEAK = 500 * 10**6


def case(name: str, n: int, *options: str, repeat: int = 1) -> Measurement:
    """Measure a case of ``cases.py``; one that makes fewer than *n* is no measurement."""
    found = measure_apart(HERE / "cases.py", [name, "--n", str(n), *options], repeat=repeat)
    if found.count < n:
        raise SystemExit(f"{name}: made {found.count} of {n}")
    return found


def row(name: str, found: Measurement, *more: str) -> list[str]:
    """Return the row of a measurement."""
    return [name, f"{found.count:,}", f"{found.rate:,.0f}", f"{found.peak / 10**6:.0f}", *more]


def against_others(most: int, repeat: int) -> str:
    """Compare the formats with the ceiling and with other generators."""
    few = most // 10
    ours = {fmt: case(fmt, most, repeat=repeat) for fmt in FORMATS}
    ceiling = {fmt: case(f"write-{fmt}", few, repeat=repeat) for fmt in ("text", "jsonl")}
    others = {
        "writing ready lines of text": ceiling["text"],
        "writing ready records of JSON": ceiling["jsonl"],
        "`str.format` of ready words, and writing": case("fill-text", few, repeat=repeat),
        "`json.dumps` of ready dictionaries": case("json", few, repeat=repeat),
        "`orjson.dumps` of ready dictionaries": case("orjson", few, repeat=repeat),
        "`nltk.parse.generate`, text": case("nltk-generate", few, repeat=repeat),
        "NLTK unification one by one (`derive`), JSON": case("nltk-unify", 200, repeat=repeat),
    }
    named = {f"sentprobe, {fmt}": found for fmt, found in ours.items()} | others
    rows = [row("`sample` alone", case("sample", most, repeat=repeat), "", "")]
    for name, found in named.items():
        top = ceiling["text" if "text" in name or "format" in name else "jsonl"].rate
        times = found.rate / others["`nltk.parse.generate`, text"].rate
        rows.append(row(name, found, f"{found.rate / top:.2g}", f"{times:.2g}"))
    head = ("case", "n", "per second", "peak MB", "of the ceiling", "times nltk generate")
    return "\n\n".join([table(head, rows), "\n".join(verdicts(ours)), OTHERS])


OTHERS = """\
The ceiling is writing ready lines for text, and ready records of JSON for everything annotated.
`nltk.parse.generate` enumerates a plain grammar of the same sentences (and of those that repeat a
word) in a fixed order: no annotation, no sample, no constraints; only the line for text does a
comparable job. Peak memory includes about 190 MB for NLTK and what else the benchmark imports."""


def verdicts(ours: dict[str, Measurement]) -> Iterator[str]:
    """Say for each wanted figure whether it is met."""
    for fmt, wanted in WANTED.items():
        rate = ours[fmt].rate
        met = "met" if rate >= wanted else f"missed, by a factor of {wanted / rate:.1f}"
        yield f"- {fmt}: wanted {wanted:,} a second; {met}."
    worst = max(found.peak for found in ours.values())
    yield f"- peak memory under 500 MB in every format: {'met' if worst < PEAK else 'missed'}."


def linearity(most: int, repeat: int) -> str:
    """Measure growing numbers of sentences."""
    rows = [
        row(fmt, case(fmt, n, repeat=repeat))
        for fmt in FORMATS
        for n in (most // 100, most // 10, most)
    ]
    return table(("format", "n", "per second", "peak MB"), rows)


def independence(most: int, repeat: int) -> str:
    """Measure small and large spaces, vocabularies and choices."""
    settings = {
        "transitive, english": ("--template", "transitive"),
        "transitive-rc, compeval": ("--vocabulary", "compeval"),
        "transitive-rc, english": (),
        "all, english": ("--template", "all"),
        "transitive-rc, english, rich choices": ("--rich",),
        "transitive-rc-both, english": ("--template", "transitive-rc-both"),
    }
    sizes = {name: case("count", 1, *options).count for name, options in settings.items()}
    rows = [
        [name, f"{sizes[name]:.2g}"]
        + [f"{case(fmt, most // 5, *options, repeat=repeat).rate:,.0f}" for fmt in FORMATS]
        for name, options in settings.items()
    ]
    return table(("templates, vocabulary", "sentences in the space", *FORMATS), rows)


def profiles(most: int, repeat: int) -> str:
    """Say how the time divides between the steps."""
    steps = [
        *("sample", "decode-text", "text"),
        *("decode-jsonl", "pieces-jsonl", "jsonl"),
        *("tables-parquet", "parquet"),
    ]
    found = {step: case(step, most // 5, repeat=repeat) for step in steps}
    rows = [[step, f"{10**6 / found[step].rate:.2f}"] for step in steps]
    return table(("step", "microseconds per sentence"), rows) + "\n\n" + PROFILE


PROFILE = """\
Each step includes the ones it needs. `decode` draws the digits of the indices and looks up the
words of each sentence as numbers; `pieces` lists the numbers of all pieces of the records; `tables`
makes all columns as Arrow arrays. What `text` and `jsonl` take beyond that is `str.join` over the
pieces (25 in a line of text, 164 in a record of JSON), encoding and writing; what `parquet` takes
beyond `tables` is pyarrow's writer, in which the seven lists (an element per token, each with its
levels) cost somewhat more than the strings of text, tree and event. The steps contain a fixed cost:
each shape is written once when it first comes (about 0.4 ms each, 263 shapes among the first 20,000
sentences here), which is why small n, rich choices and templates with many structures are slower
per sentence."""


def spread(most: int, repeat: int) -> str:
    """Measure the command with one process and with two."""
    rows = []
    for fmt in FORMATS:
        for n in (most // 10, most):
            one, two = (min(command(fmt, n, jobs) for _ in range(repeat)) for jobs in (1, 2))
            times = (f"{each:.2f}" for each in (one[0], two[0], two[0] / one[0]))
            rows.append([fmt, f"{n:,}", *times, f"{two[1] / one[1]:.2f}"])
    head = ("format", "n", "1 job, s", "2 jobs, s", "of the time", "of the CPU time")
    return table(head, rows) + "\n\n" + SPREAD


def command(fmt: str, n: int, jobs: int) -> tuple[float, float]:
    """Return the seconds of ``gen``: by the clock, and of CPU time with those it starts."""
    code = "from sentprobe.cli import gen; gen()"
    with tempfile.TemporaryDirectory() as folder:
        options = ("-t", "transitive-rc", "-f", fmt, "-q", "-o", f"{folder}/out", "--jobs")
        start = time.perf_counter()
        process = subprocess.Popen([sys.executable, "-c", code, "-n", str(n), *options, str(jobs)])
        _, status, used = os.wait4(process.pid, 0)
    if status != 0:
        raise SystemExit(f"gen in {fmt} with {jobs} jobs: status {status}")
    return time.perf_counter() - start, used.ru_utime + used.ru_stime


SPREAD = """\
The whole command, by the clock, with what else the two cores did at the time; the start of the
processes (their imports, and each shape once more) is counted. By default `gen` starts one for each
200,000 sentences (1,000,000 of plain text), and one for each core but one, which writes."""


def main() -> None:
    """Measure everything and write the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=1_000_000, help="the largest number of sentences")
    parser.add_argument("--repeat", type=int, default=2, help="take the quickest of so many runs")
    parser.add_argument("--out", type=Path, default=HERE / "generation.md")
    asked = parser.parse_args()
    intro = (
        "# Speed of generation\n\n"
        f"{machine(PACKAGES)} Seconds are CPU time of the whole process, from making the space and "
        "drawing the sample to the closed file; start-up (imports, reading the lexicon) is left "
        f"out. Each case ran in a process of its own; the quickest of {asked.repeat}. The cores "
        "are shared with other work, and a case that stands in two tables was run again for each: "
        "how far the two differ shows the noise. Template "
        "transitive-rc, vocabulary english and default choices where nothing else is said. Made by "
        "`python benchmarks/generation.py`."
    )
    parts = {
        "Against other ways": against_others(asked.n, asked.repeat),
        "Growing n": linearity(asked.n, asked.repeat),
        "Size of the space, the vocabulary and the choices": independence(asked.n, asked.repeat),
        "Where the time goes": profiles(asked.n, asked.repeat),
        "Several processes": spread(asked.n, asked.repeat),
    }
    asked.out.write_text(f"{intro}\n\n{sections(parts)}\n", encoding="utf-8")
    print(asked.out.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
