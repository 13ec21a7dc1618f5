"""Training data for sentence encoders: Parquet and JSONL with exactly the columns that a training loss expects."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from sentprobe.generator.pairs.inference_pairs import NliLabel
from sentprobe.generator.pairs.triplet_files import TripletFormat, write_rows
from sentprobe.generator.pairs.triplets import TripletRows, TripletSet, TripletSide
from sentprobe.values import format_json

COLUMNS = (TripletSide.ANCHOR, TripletSide.POSITIVE, TripletSide.NEGATIVE)
"""The columns of training data, in the order that a training loss expects."""

PORTION_SIZE = 32_768
"""Number of triplets that are rendered at a time, and of rows in a Parquet row group."""

TrainingColumns: TypeAlias = Mapping[str, Sequence[str | int]]
"""The values of each column, by the name of the column, in the order that a training loss expects."""


def iterate_training_columns(
    triplets: TripletSet,
    render: Callable[[TripletSet], list[list[str]]] = lambda portion: TripletRows(portion).render_texts(),
) -> Iterator[dict[str, list[str]]]:
    """Yield the triplets in batches; a batch has the columns ``anchor``, ``positive`` and ``negative``.

    For a random half of the triplets, ``negative`` has the negative, in the voice and word order of the positive. For
    the other half, it has the hard negative, in the voice and word order of the anchor. *render* returns four lists of
    sentences: anchors, positives, negatives and hard negatives.

    >>> from sentprobe.generator.pairs.triplets import TripletSpace
    >>> from sentprobe.lexicon import english
    >>> space = TripletSpace(english(), "role", templates=["transitive"])
    >>> (columns,) = iterate_training_columns(space.sample(1, seed=1))
    >>> for name, (text,) in columns.items():
    ...     print(f"{name}: {text}")
    anchor: the lawyer is not being called by the doctor
    positive: the doctor is not calling the lawyer
    negative: the lawyer is not calling the doctor
    """
    order = np.random.default_rng((triplets.seed, 2)).permutation(len(triplets))
    for start, portion in triplets.iterate_portions(PORTION_SIZE):
        anchors, positives, *negatives = render(portion)
        kinds = (order[start : start + len(portion)] % 2).tolist()
        chosen = [pair[kind] for pair, kind in zip(zip(*negatives, strict=True), kinds, strict=True)]
        yield dict(zip(map(str, COLUMNS), (anchors, positives, chosen), strict=True))


def format_training_lines(portions: Iterable[TrainingColumns]) -> Iterator[str]:
    for columns in portions:
        for row in zip(*columns.values(), strict=True):
            fields = dict(zip(columns, row, strict=True))
            yield format_json(fields, separators=(",", ":")) + "\n"


def write_training_data(portions: Iterable[TrainingColumns], path: Path, triplet_format: TripletFormat) -> None:
    """Write portions of training data to a file; in Parquet, each portion is a row group. Raises UsageError."""
    write_rows(path, build_rows(portions, triplet_format))


def build_rows(portions: Iterable[TrainingColumns], triplet_format: TripletFormat) -> Iterator[Any]:
    """Return training data as lines of JSON, or as Arrow tables for Parquet."""
    is_parquet = triplet_format is TripletFormat.PARQUET
    return map(_build_table, portions) if is_parquet else format_training_lines(portions)


def _build_table(columns: TrainingColumns) -> Any:
    import pyarrow as pa

    table = pa.table({name: pa.array(column) for name, column in columns.items()})
    text = {"dtype": "string", "_type": "Value"}
    label = {"names": [nli_label.name.lower() for nli_label in NliLabel], "_type": "ClassLabel"}
    features = {name: label if name == "label" else text for name in columns}
    # Hugging Face's datasets would otherwise read labels as integers without names.
    metadata = {"huggingface": json.dumps({"info": {"features": features}})}
    return table.replace_schema_metadata(metadata)
