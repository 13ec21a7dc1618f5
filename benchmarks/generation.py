"""Speed and peak memory of generation, compared with other generators.

``python benchmarks/generation.py`` measures each case in its own process (``cases.py``) and writes ``generation.md``
beside this file.
"""

import argparse
from pathlib import Path

from measure import Measurement, describe_machine, format_sections, format_table, measure_in_process

HERE = Path(__file__).resolve().parent
PACKAGES = ("numpy", "pyarrow", "nltk", "orjson")
FORMATS = ("text", "jsonl", "conllu", "parquet")
GOALS = {"text": "300,000", "jsonl": "50,000", "parquet": "300,000"}


def measure_case(name: str, n: int, *options: str, repeat: int = 1) -> Measurement:
    """Measure a case of ``cases.py``; exit if it makes fewer than *n* sentences."""
    measurement = measure_in_process(HERE / "cases.py", [name, "--n", str(n), *options], repeat=repeat)
    if measurement.count < n:
        raise SystemExit(f"{name}: made {measurement.count} of {n}")
    return measurement


def format_row(name: str, measurement: Measurement, goal: str = "") -> list[str]:
    """Return the table row of a measurement."""
    figures = (measurement.count, measurement.rate, measurement.peak / 10**6)
    return [name, *(f"{figure:,.0f}" for figure in figures), goal]


def compare_with_baselines(max_n: int, repeat: int) -> str:
    """Return a table of all formats, of writing alone, and of other generators."""
    smaller_n = max_n // 10
    sentprobe_rows = [
        format_row(f"sentprobe, {fmt}", measure_case(fmt, max_n, repeat=repeat), GOALS.get(fmt, "")) for fmt in FORMATS
    ]
    baselines = {
        "writing ready lines of text": measure_case("write-text", smaller_n, repeat=repeat),
        "writing ready records of JSON": measure_case("write-jsonl", smaller_n, repeat=repeat),
        "`orjson.dumps` of ready dictionaries": measure_case("orjson", smaller_n, repeat=repeat),
        "`nltk.parse.generate`, text": measure_case("nltk-generate", smaller_n, repeat=repeat),
        "NLTK unification (`derive`), JSON": measure_case("nltk-unify", 200, repeat=repeat),
    }
    sample = format_row("`sample` alone", measure_case("sample", max_n, repeat=repeat))
    rows = [sample, *sentprobe_rows, *(format_row(name, measurement) for name, measurement in baselines.items())]
    return format_table(("case", "n", "per second", "peak MB", "goal per second"), rows) + "\n\n" + BASELINES_NOTE


BASELINES_NOTE = """\
Goal for peak memory: 500 MB. `nltk.parse.generate` enumerates a plain grammar in a fixed order,
without annotation, sampling or constraints."""


def measure_growth(max_n: int, repeat: int) -> str:
    """Return a table of speeds for growing numbers of sentences."""
    rows = [
        [f"{n:,}", *(f"{measure_case(fmt, n, repeat=repeat).rate:,.0f}" for fmt in FORMATS)]
        for n in (max_n // 100, max_n // 10, max_n)
    ]
    return format_table(("n", *FORMATS), rows)


def measure_settings(max_n: int, repeat: int) -> str:
    """Return a table of speeds for small and large spaces, vocabularies and choices."""
    settings = {
        "transitive, english": ("--template", "transitive"),
        "transitive-rc, compeval": ("--vocabulary", "compeval"),
        "transitive-rc, english": (),
        "all, english": ("--template", "all"),
        "transitive-rc, english, rich choices": ("--rich",),
        "transitive-rc-both, english": ("--template", "transitive-rc-both"),
    }
    sizes = {name: measure_case("count", 1, *options).count for name, options in settings.items()}
    rows = [
        [name, f"{sizes[name]:.2g}"]
        + [f"{measure_case(fmt, max_n // 5, *options, repeat=repeat).rate:,.0f}" for fmt in FORMATS]
        for name, options in settings.items()
    ]
    return format_table(("templates, vocabulary", "sentences in the space", *FORMATS), rows)


def measure_parsing_and_pairs(max_n: int, repeat: int) -> str:
    """Return a table of ``gen parse``, and of ``gen pairs`` for growing numbers of triplets."""
    goals = {"text": "10,000", "jsonl": "5,000"}
    rows = [
        format_row(f"parse, {fmt}", measure_case(f"parse-{fmt}", max_n // 20, repeat=repeat), goals.get(fmt, ""))
        for fmt in FORMATS
    ]
    rows += [
        format_row(f"pairs, {style}", measure_case(f"pairs-{style}", n, repeat=repeat))
        for style in ("jsonl", "parquet")
        for n in (max_n // 1000, max_n // 20, max_n // 5)
    ]
    return format_table(("case", "n", "per second", "peak MB", "goal per second"), rows) + "\n\n" + PAIRS_NOTE


PAIRS_NOTE = """\
Pairs: triplets of four sentences, contrast role, vocabulary compeval. The peak includes about 270 MB of the benchmark's
packages."""


def main() -> None:
    """Measure everything and write the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=1_000_000, help="the largest number of sentences")
    parser.add_argument("--repeat", type=int, default=2, help="report the fastest of N runs")
    parser.add_argument("--out", type=Path, default=HERE / "generation.md")
    arguments = parser.parse_args()
    intro = (
        "# Speed of generation\n\n"
        f"{describe_machine(PACKAGES)} CPU time from building the space to the closed file; the "
        "fastest of "
        f"{arguments.repeat}. Template transitive-rc, vocabulary english, unless stated. Command: "
        "`python benchmarks/generation.py`."
    )
    parts = {
        "Against other ways": compare_with_baselines(arguments.n, arguments.repeat),
        "Parsing and pairs": measure_parsing_and_pairs(arguments.n, arguments.repeat),
        "Growing n": measure_growth(arguments.n, arguments.repeat),
        "Size of the space, vocabulary and choices": measure_settings(arguments.n, arguments.repeat),
    }
    arguments.out.write_text(f"{intro}\n\n{format_sections(parts)}\n", encoding="utf-8")
    print(arguments.out.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
