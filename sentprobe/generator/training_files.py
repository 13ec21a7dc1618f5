"""Files of training data: Parquet and JSONL with the columns that a loss takes, and no others."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from sentprobe.errors import UsageError
from sentprobe.files import atomic_path
from sentprobe.generator.nli import NliColumns, NliLabel
from sentprobe.generator.triplet_files import TripletFormat

TrainingColumns: TypeAlias = Mapping[str, Sequence[str | int]]
"""The columns by name, in order."""


def nli_table(pairs: NliColumns) -> TrainingColumns:
    """Return pairs as columns."""
    return {"premise": pairs.premise, "hypothesis": pairs.hypothesis, "label": pairs.label}


def check_training_format(style: TripletFormat) -> None:
    """Refuse a format of minimal pairs.

    Raises:
        UsageError: it is one.
    """
    if style is TripletFormat.BLIMP:
        raise UsageError("--format blimp is minimal pairs; --for training writes jsonl or parquet")


def training_lines(columns: TrainingColumns) -> Iterator[str]:
    """Yield a line of JSON for each row."""
    for row in zip(*columns.values(), strict=True):
        fields = dict(zip(columns, row, strict=True))
        yield json.dumps(fields, ensure_ascii=False, separators=(",", ":")) + "\n"


def write_training(columns: TrainingColumns, path: Path, style: TripletFormat) -> None:
    """Write training data to a file.

    Raises:
        UsageError: a path that cannot be written.
    """
    with atomic_path(path) as temporary:
        if style is TripletFormat.PARQUET:
            _write_parquet(columns, temporary)
        else:
            with temporary.open("w", encoding="utf-8", newline="\n") as out:
                out.writelines(training_lines(columns))


def _write_parquet(columns: TrainingColumns, path: Path) -> None:
    import pyarrow as pa  # noqa: PLC0415 - slow import
    import pyarrow.parquet as pq  # noqa: PLC0415

    table = pa.table({name: pa.array(column) for name, column in columns.items()})
    about = {"huggingface": json.dumps({"info": {"features": _features(columns)}})}
    pq.write_table(table.replace_schema_metadata(about), path, compression="zstd")


def _features(columns: TrainingColumns) -> dict[str, object]:
    """Return what the package datasets is told of columns: which is a label, and its names."""
    text = {"dtype": "string", "_type": "Value"}
    label = {"names": [each.name.lower() for each in NliLabel], "_type": "ClassLabel"}
    return {name: label if name == "label" else text for name in columns}
