"""CPU seconds for building triplets and for measuring geometry.

``python benchmarks/geometry.py`` measures each case in its own process and writes ``geometry.md`` beside this file.
"""

import argparse
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from measure import (
    Measurement,
    describe_machine,
    format_sections,
    format_table,
    measure,
    measure_in_process,
    print_measurement,
)

from sentprobe.generator.pairs.contrasts import CONTRASTS
from sentprobe.generator.pairs.inference_pairs import (
    PAIRS_PER_GROUP,
    NliSpace,
    TrainingColumns,
    iterate_training_columns,
    write_training_data,
)
from sentprobe.generator.pairs.triplet_files import TripletFormat, write_triplets
from sentprobe.generator.pairs.triplets import SIDES, TripletSet, TripletSpace
from sentprobe.lexicon import english
from sentprobe.probes.encoders.kinds import make_encoder
from sentprobe.probes.similarity.distance_run import measure_encoder as measure_one
from sentprobe.probes.similarity.measures import fit_whitening
from sentprobe.probes.similarity.triplet_sentences import SampledTriplets, TripletSampling, sample_background

HERE = Path(__file__).resolve().parent
TRIPLETS = 10_000
TRAINING = (20_000, 200_000)
WIDTHS = (256, 300, 384, 512, 768)
VOCABULARIES = ("compeval", "english")
DISTRACTORS = ("5", "0")


def sample_triplets(contrast: str, vocabulary: str) -> TripletSet:
    space = TripletSpace(english(), contrast, vocabulary=vocabulary)
    return space.sample(TRIPLETS, seed=0)


def measure_building(contrast: str, vocabulary: str) -> Measurement:
    """Build the sentences of all sides of the triplets."""
    english()

    def work() -> int:
        triplets = sample_triplets(contrast, vocabulary)
        return min(len(triplets.render_texts(side)) for side in SIDES)

    return measure(work)


def measure_writing(contrast: str, style: str) -> Measurement:
    """Build triplets, annotate all sentences, and write them."""
    english()

    def work() -> int:
        with TemporaryDirectory() as folder:
            triplets = sample_triplets(contrast, "compeval")
            write_triplets(triplets, Path(folder) / "out", TripletFormat(style))
            return len(triplets)

    return measure(work)


def build_training_rows(columns: str, count: int) -> list[TrainingColumns]:
    """Build portions of *count* rows of training data from the vocabulary english."""
    if columns == "label":
        pairs = NliSpace(english(), "role", vocabulary="english").iterate_pairs(count // PAIRS_PER_GROUP, seed=0)
        return [*pairs]
    triplets = TripletSpace(english(), "role", vocabulary="english")
    return [*iterate_training_columns(triplets.sample(count, seed=0))]


def measure_training_data(columns: str, count: str) -> Measurement:
    """Build training data and write them as Parquet."""
    english()
    import_module("pyarrow.parquet")

    def work() -> int:
        with TemporaryDirectory() as folder:
            portions = build_training_rows(columns, int(count))
            write_training_data(portions, Path(folder) / "out", TripletFormat.PARQUET)
            return sum(min(map(len, portion.values())) for portion in portions)

    return measure(work)


def sample_materials(contrasts: str, distractors: str) -> list[SampledTriplets]:
    """Sample the triplets of the first *contrasts* contrasts, with *distractors* distractors."""
    names = [name for name in CONTRASTS if name not in ("recipient", "binding")][: int(contrasts)]
    return [
        SampledTriplets(TripletSpace(english(), name), TripletSampling(distractors=int(distractors), seed=seed))
        for seed, name in enumerate(names)
    ]


def measure_sampling(contrasts: str, distractors: str) -> Measurement:
    """Measure the sampling of triplets, which all encoders share."""
    english()
    return measure(lambda: len(sample_materials(contrasts, distractors)))


def measure_geometry(contrasts: str, distractors: str) -> Measurement:
    """Measure five encoders with ready vectors on the first *contrasts* contrasts."""
    materials = sample_materials(contrasts, distractors)
    encoders = [make_encoder(f"bow?dim={width}") for width in WIDTHS]
    vectors = [np.random.default_rng(width).normal(size=(4000, width)) for width in WIDTHS]
    ready = [matrix.astype(np.float32) for matrix in vectors]
    background_size = len(sample_background(english(), TripletSampling()))

    def work() -> int:
        results = []
        for encoder, rows in zip(encoders, ready, strict=True):
            white = fit_whitening(rows[:background_size])
            results += [
                measure_one(encoder, material, rows[: len(material.sentences)], white) for material in materials
            ]
        return len(results)

    return measure(work)


CASES: Mapping[str, Callable[[str, str], Measurement]] = {
    "build": measure_building,
    "write": measure_writing,
    "train": measure_training_data,
    "draw": measure_sampling,
    "measure": measure_geometry,
}


def measure_case(name: str, *arguments: str, repeat: int) -> str:
    """Measure a case in its own process; return its CPU seconds."""
    measurement = measure_in_process(Path(__file__), ["--case", name, *arguments], repeat=repeat)
    return f"{measurement.seconds:.2f}"


def measure_training_row(columns: str, count: int, *, repeat: int) -> list[str]:
    """Return the row of a kind of training data, with its rows per CPU second."""
    arguments = ["--case", "train", columns, str(count)]
    measurement = measure_in_process(Path(__file__), arguments, repeat=repeat)
    column_names = "premise, hypothesis, label" if columns == "label" else "anchor, positive, negative"
    return [column_names, f"{count:,}", f"{measurement.seconds:.2f}", f"{measurement.rate:,.0f}"]


def build_report(repeat: int) -> str:
    """Measure all cases."""
    rows = [
        [name, *(measure_case("build", name, words, repeat=repeat) for words in VOCABULARIES)]
        for name in ("role", "negation", "noun", "adverb")
    ]
    rows += [
        [f"role, written as {style}", measure_case("write", "role", style, repeat=repeat), ""]
        for style in ("jsonl", "parquet")
    ]
    geometry_rows = [
        [name, *(measure_case(name, "12", distractors, repeat=repeat) for distractors in DISTRACTORS)]
        for name in ("draw", "measure")
    ]
    training_rows = [
        measure_training_row(columns, count, repeat=repeat) for columns in ("negative", "label") for count in TRAINING
    ]
    widths = ", ".join(map(str, WIDTHS))
    return format_sections(
        {
            "Triplets": (
                f"CPU seconds for {TRIPLETS:,} triplets; goal: 3.\n\n" + format_table(("contrast", *VOCABULARIES), rows)
            ),
            "Training data": (
                "Contrast `role`, vocabulary `english`; goal: 50,000 rows per CPU second.\n\n"
                + format_table(("columns", "rows", "CPU seconds", "rows per CPU second"), training_rows)
            ),
            "Geometry": (
                "CPU seconds for twelve contrasts of 400 triplets: drawing, and measuring five "
                f"encoders with ready vectors (widths {widths}; goal: 5).\n\n"
                + format_table(("step", *(f"{number} distractors" for number in DISTRACTORS)), geometry_rows)
            ),
        }
    )


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--case", nargs=3, help="measure one case in this process")
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    if options.case:
        name, *arguments = options.case
        print_measurement(CASES[name](*arguments))
        return
    method = f"{describe_machine(['numpy', 'pyarrow'])} Command: `python benchmarks/geometry.py`."
    text = f"# Triplets and geometry\n\n{method}\n\n{build_report(options.repeat)}\n"
    (HERE / "geometry.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
