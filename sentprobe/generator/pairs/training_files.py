"""Files of training data: Parquet and JSONL with exactly the columns that a training loss expects."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from sentprobe.disk.files import atomic_path
from sentprobe.errors import UsageError
from sentprobe.generator.pairs.inference_pairs import NliColumns, NliLabel
from sentprobe.generator.pairs.triplet_files import TripletFormat

TrainingColumns: TypeAlias = Mapping[str, Sequence[str | int]]
"""The columns by name, in order."""


def nli_to_columns(pairs: NliColumns) -> TrainingColumns:
    """Return pairs as columns."""
    return {"premise": pairs.premise, "hypothesis": pairs.hypothesis, "label": pairs.label}


def check_training_format(triplet_format: TripletFormat) -> None:
    """Raise a UsageError if the format is BLiMP's, which is for minimal pairs."""
    if triplet_format is TripletFormat.BLIMP:
        raise UsageError("--format blimp is minimal pairs; --for training writes jsonl or parquet")


def format_training_lines(columns: TrainingColumns) -> Iterator[str]:
    """Yield a line of JSON for each row."""
    for row in zip(*columns.values(), strict=True):
        fields = dict(zip(columns, row, strict=True))
        yield json.dumps(fields, ensure_ascii=False, separators=(",", ":")) + "\n"


def write_training_data(columns: TrainingColumns, path: Path, triplet_format: TripletFormat) -> None:
    """Write training data to a file.

    Raises:
        UsageError: the path cannot be written.
    """
    with atomic_path(path) as temporary:
        if triplet_format is TripletFormat.PARQUET:
            _write_parquet(columns, temporary)
        else:
            with temporary.open("w", encoding="utf-8", newline="\n") as out:
                out.writelines(format_training_lines(columns))


def _write_parquet(columns: TrainingColumns, path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table({name: pa.array(column) for name, column in columns.items()})
    metadata = {"huggingface": json.dumps({"info": {"features": _describe_features(columns)}})}
    pq.write_table(table.replace_schema_metadata(metadata), path, compression="zstd")


def _describe_features(columns: TrainingColumns) -> dict[str, object]:
    """Return the Hugging Face feature types of the columns, with the names of the labels."""
    text = {"dtype": "string", "_type": "Value"}
    label = {"names": [nli_label.name.lower() for nli_label in NliLabel], "_type": "ClassLabel"}
    return {name: label if name == "label" else text for name in columns}
