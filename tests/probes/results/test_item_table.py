"""The test items that a folder of results keeps beside the answers."""

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow.parquet as pq
import pytest
from helpers.shared import SHARED, needs_shared
from helpers.strategies.dataset_strategies import datasets_with_columns
from helpers.strategies.probe_strategies import make_learnable_dataset
from helpers.thoroughness import examples
from hypothesis import given

from sentprobe.common.errors import ResultsError, UsageError
from sentprobe.probes.datasets.dataset import ProbeDataset, Split
from sentprobe.probes.datasets.formats import read_dataset
from sentprobe.probes.generated.assemble import EVENT_COLUMNS, build_task
from sentprobe.probes.results import item_table as kept
from sentprobe.probes.results.result import Results
from sentprobe.probes.results.store import read_results
from sentprobe.probes.runs.completed_tasks import make_item_table
from sentprobe.probes.runs.run import run


@examples(12)
@given(datasets_with_columns())
def test_item_table_is_read_as_written(data: ProbeDataset) -> None:
    table = make_item_table(data)
    with TemporaryDirectory() as name:
        kept.write_item_table(table, Path(name))
        back = kept.read_item_table(Path(name), task=data.name, fingerprint=data.fingerprint())
    assert back is not None
    items = data.splits[Split.TEST]
    assert np.array_equal(back.targets, items.targets)
    assert back.sentences == tuple(data.sentences[row] for row in items.rows)
    for field in ("task", "labels", "sentences", "probes", "marks", "events", "columns"):
        assert getattr(back, field) == getattr(table, field)
    assert dict(items.columns).items() <= dict(back.columns).items()


def test_generated_items_have_events() -> None:
    generated = make_item_table(build_task("Order", train=56, test=28))
    assert all(generated.events)
    assert {*EVENT_COLUMNS} <= {*generated.columns}
    for sentence, marks, probes in zip(generated.sentences, generated.marks, generated.probes, strict=True):
        tokens = sentence.split()
        assert len(marks) == len(probes) == 2
        # Lemma and form of these words begin alike.
        assert {tokens[at][0] for at in marks} == {probe[0] for probe in probes}
    foreign = make_item_table(make_learnable_dataset(size=40))
    assert {*foreign.events} == {""}
    assert [*foreign.columns] == ["label", "length"]
    assert all(
        [tokens[at] for at in marks] == [word for word in tokens if word in probes]
        for sentence, marks, probes in zip(foreign.sentences, foreign.marks, foreign.probes, strict=True)
        for tokens in [sentence.split()]
    )


@needs_shared
@pytest.mark.parametrize("name", ["order", "sr"])
def test_published_items_have_events(name: str) -> None:
    table = make_item_table(read_dataset(SHARED / "compeval" / "published" / name))
    assert len(table) == 1000
    assert all(table.events)
    assert all(len(marks) == 2 for marks in table.marks)
    assert not any("" in column for column in table.columns.values())


def run_baseline(out: Path, data: ProbeDataset) -> Results:
    run(data, "majority", out=out)
    return read_results(out)


def test_run_adds_missing_items(tmp_path: Path) -> None:
    data = make_learnable_dataset(size=60)
    (result,) = run_baseline(tmp_path, data).records
    path = kept.find_item_table(tmp_path, task=data.name, fingerprint=data.fingerprint())
    (table,) = kept.read_item_tables([result, result])
    assert len(table) == len(data.splits[Split.TEST])
    before = path.read_bytes()
    modified = path.stat().st_mtime_ns
    run_baseline(tmp_path, data)
    assert (path.read_bytes(), path.stat().st_mtime_ns) == (before, modified)
    path.unlink()
    with pytest.raises(UsageError) as caught:
        kept.read_item_tables([result])
    assert str(caught.value) == (
        f"{tmp_path}: does not have the test items of toy; run the same command again: it adds them without training"
    )
    (other_result,) = run_baseline(tmp_path / "other", data).records
    assert len(kept.read_item_tables([result, other_result])) == 1
    (again,) = run_baseline(tmp_path, data).records
    assert again == result
    assert path.read_bytes() == before


def test_finished_suite_gets_missing_items(tmp_path: Path) -> None:
    def run_suite() -> Results:
        options = {"tasks": "Order", "train": 56, "test": 28, "out": tmp_path}
        return run("compeval", "majority", **options)  # type: ignore[arg-type]

    first = run_suite()
    (path,) = (tmp_path / kept.FOLDER).iterdir()
    before = path.read_bytes()
    path.unlink()
    assert run_suite() == first
    assert path.read_bytes() == before


def test_columns_that_changed_are_kept_anew(tmp_path: Path) -> None:
    data = make_learnable_dataset(size=60)
    for genre in ("news", "novel"):
        splits = {
            split: replace(items, columns={"genre": (genre,) * len(items)}) for split, items in data.splits.items()
        }
        (result,) = run_baseline(tmp_path, replace(data, splits=splits)).records
        (table,) = kept.read_item_tables([result])
        assert {*table.columns["genre"]} == {genre}


@pytest.mark.parametrize("damage", [b"", b"PAR1", b"x" * 99, b"{", b"[]", b'{"format": "sentprobe-test-items 9"}'])
def test_damaged_items_are_named(tmp_path: Path, damage: bytes) -> None:
    """The file is damaged, or its head is no JSON of this version."""
    table = make_item_table(make_learnable_dataset(size=40))
    path = kept.write_item_table(table, tmp_path)
    if damage[:1] in (b"{", b"["):
        pq.write_table(pq.read_table(path).replace_schema_metadata({"sentprobe": damage}), path)
    else:
        path.write_bytes(damage)
    with pytest.raises(ResultsError, match=r"not an item table of sentprobe .*; remove it"):
        kept.read_item_table(tmp_path, task=table.task, fingerprint=table.fingerprint)


@pytest.mark.parametrize("change", [{"targets": np.array([7])}, {"marks": ((9,),)}, {"columns": {"genre": (None,)}}])
def test_invalid_items_are_refused(tmp_path: Path, change: dict[str, object]) -> None:
    data = kept.ItemTable(
        task="toy",
        fingerprint="f" * 64,
        labels=("a", "b"),
        targets=np.array([1]),
        sentences=("the man slept",),
        probes=((),),
        marks=((1,),),
        events=("",),
        columns={"label": ("b",)},
    )
    kept.write_item_table(replace(data, **change), tmp_path)  # type: ignore[arg-type]
    with pytest.raises(ResultsError, match="not an item table of sentprobe"):
        kept.read_item_table(tmp_path, task="toy", fingerprint="f" * 64)
