"""How long triplets take to build, and geometry to measure, in CPU seconds.

``python benchmarks/geometry.py`` measures each case in a process of its own, and writes
``geometry.md`` beside this file.
"""

import argparse
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from measure import Measurement, machine, measure, measure_apart, print_measurement, sections, table

from sentprobe.generator.contrasts import CONTRASTS
from sentprobe.generator.nli import GROUP, NliSpace
from sentprobe.generator.training import training_columns
from sentprobe.generator.training_files import TrainingColumns, nli_table, write_training
from sentprobe.generator.triplet_files import TripletFormat, write_triplets
from sentprobe.generator.triplets import SIDES, TripletSet, TripletSpace
from sentprobe.lexicon import english
from sentprobe.probes.encoders import make_encoder
from sentprobe.probes.geometry.material import Drawing, GeometryMaterial, background
from sentprobe.probes.geometry.measures import whitening
from sentprobe.probes.geometry.run import measure as measure_one

HERE = Path(__file__).resolve().parent
TRIPLETS = 10_000
TRAINING = (20_000, 200_000)
WIDTHS = (256, 300, 384, 512, 768)
WANTED = {"build": 3.0, "measure": 5.0}


def drawn(contrast: str, vocabulary: str) -> TripletSet:
    space = TripletSpace(english(), contrast, vocabulary=vocabulary)
    return space.sample(TRIPLETS, seed=0)


def build(contrast: str, vocabulary: str) -> Measurement:
    """Build triplets, that is, the sentences of all sides."""
    english()

    def work() -> int:
        triplets = drawn(contrast, vocabulary)
        return min(len(triplets.texts(side)) for side in SIDES)

    return measure(work)


def write(contrast: str, style: str) -> Measurement:
    """Build triplets, annotate all sentences, and write them."""
    english()

    def work() -> int:
        with TemporaryDirectory() as folder:
            triplets = drawn(contrast, "compeval")
            write_triplets(triplets, Path(folder) / "out", TripletFormat(style))
            return len(triplets)

    return measure(work)


def training(columns: str, count: int) -> TrainingColumns:
    """Build so many rows of training data, of the words of english."""
    if columns == "label":
        pairs = NliSpace(english(), "role", vocabulary="english").pairs(count // GROUP, seed=0)
        return nli_table(pairs)
    triplets = TripletSpace(english(), "role", vocabulary="english")
    return training_columns(triplets.sample(count, seed=0))


def train(columns: str, count: str) -> Measurement:
    """Build training data, and write them as Parquet."""
    english()
    import_module("pyarrow.parquet")

    def work() -> int:
        with TemporaryDirectory() as folder:
            rows = training(columns, int(count))
            write_training(rows, Path(folder) / "out", TripletFormat.PARQUET)
            return min(map(len, rows.values()))

    return measure(work)


def drawings(contrasts: str, variants: str) -> list[GeometryMaterial]:
    """Draw the triplets of so many contrasts, with so many variants."""
    names = [*CONTRASTS, *CONTRASTS][: int(contrasts)]
    return [
        GeometryMaterial(TripletSpace(english(), name), Drawing(variants=int(variants), seed=seed))
        for seed, name in enumerate(names)
    ]


def draw(contrasts: str, variants: str) -> Measurement:
    """Draw what is measured, which is done once for all encoders."""
    english()
    return measure(lambda: len(drawings(contrasts, variants)))


def geometry(contrasts: str, variants: str) -> Measurement:
    """Measure five encoders, whose vectors are there, on so many contrasts."""
    materials = drawings(contrasts, variants)
    encoders = [make_encoder(f"bow?dim={width}") for width in WIDTHS]
    vectors = [np.random.default_rng(each).normal(size=(4000, each)) for each in WIDTHS]
    ready = [each.astype(np.float32) for each in vectors]
    behind = len(background(english(), Drawing()))

    def work() -> int:
        found = []
        for encoder, rows in zip(encoders, ready, strict=True):
            white = whitening(rows[:behind])
            found += [
                measure_one(encoder, each, rows[: len(each.sentences)], white) for each in materials
            ]
        return len(found)

    return measure(work)


CASES: Mapping[str, Callable[[str, str], Measurement]] = {
    "build": build,
    "write": write,
    "train": train,
    "draw": draw,
    "measure": geometry,
}


def row(name: str, *arguments: str, repeat: int, what: str) -> list[str]:
    """Return the row of a case: what it does, how many, seconds, what is wanted."""
    found = measure_apart(Path(__file__), ["--case", name, *arguments], repeat=repeat)
    wanted = f"under {WANTED[name]:.0f}" if name in WANTED else ""
    return [what, f"{found.count:,}", f"{found.seconds:.2f}", wanted]


def training_row(columns: str, count: int, *, repeat: int) -> list[str]:
    """Return the row of a kind of training data: how many rows a CPU second."""
    arguments = ["--case", "train", columns, str(count)]
    found = measure_apart(Path(__file__), arguments, repeat=repeat)
    what = "premise, hypothesis, label" if columns == "label" else "anchor, positive, negative"
    return [what, f"{count:,}", f"{found.seconds:.2f}", f"{found.rate:,.0f}", "50,000"]


def report(repeat: int) -> str:
    """Measure all cases."""
    head = ("what", "n", "CPU seconds", "wanted")
    rows = [
        row("build", name, vocabulary, repeat=repeat, what=f"build {name}, {vocabulary}")
        for name in ("role", "negation", "noun", "adverb")
        for vocabulary in ("compeval", "english")
    ]
    rows += [
        row("write", "role", style, repeat=repeat, what=f"build and write role, {style}")
        for style in ("jsonl", "parquet")
    ]
    whole = [
        row(name, "12", variants, repeat=repeat, what=f"{name}, {variants} variants")
        for name in ("draw", "measure")
        for variants in ("5", "0")
    ]
    trained = [
        training_row(columns, count, repeat=repeat)
        for columns in ("negative", "label")
        for count in TRAINING
    ]
    heads = ("columns", "rows", "CPU seconds", "rows a CPU second", "wanted")
    widths = ", ".join(map(str, WIDTHS))
    note = (
        "Twelve contrasts (the ten, and two with another seed) of 400 triplets are drawn, "
        "which is done once for all encoders, and five encoders are measured on them "
        f"(widths {widths}); the vectors are there."
    )
    written = (
        f"{table(heads, trained)}\n\nContrast role, words of `english`, as Parquet. About half a "
        "second is for what is worked out once, whatever the number of rows."
    )
    return sections(
        {
            "Triplets": table(head, rows),
            "Training data": written,
            "Geometry": f"{table(head, whole)}\n\n{note}",
        }
    )


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--case", nargs=3, help="measure one case in this process")
    parser.add_argument("--repeat", type=int, default=3)
    given = parser.parse_args()
    if given.case:
        name, *arguments = given.case
        print_measurement(CASES[name](*arguments))
        return
    text = f"# Triplets and geometry\n\n{machine(['numpy', 'pyarrow'])}\n\n{report(given.repeat)}\n"
    (HERE / "geometry.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
