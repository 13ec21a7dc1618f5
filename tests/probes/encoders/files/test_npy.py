"""``file:vectors.npy``: vectors that do not say of which sentences they are."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from helpers.in_process import Command
from helpers.strategies.probe_strategies import make_learnable_dataset

from sentprobe.common.errors import SentprobeError
from sentprobe.probes.datasets.formats import read_datasets, write_dataset
from sentprobe.probes.encoders.kinds import make_encoder
from sentprobe.probes.encoders.vector_formats import VectorFileError, read_vectors, write_vectors
from sentprobe.probes.results.store import read_results

ROWS = np.array([[1, 2], [0.1, -1e-30], [3e38, 0]], dtype=np.float32)
BILSTM = "bilstm-max?hidden=8&dim=16"
SHORT = ("--set", "max_epochs=1", "--jobs", 1, "--no-cache", "--no-controls")


def test_what_is_written_reads_back(tmp_path: Path) -> None:
    path = tmp_path / "v.npy"
    write_vectors(path, ["a", "b", "c"], ROWS)
    actual = read_vectors(path)
    np.testing.assert_array_equal(actual.vectors, ROWS)
    np.testing.assert_array_equal(np.load(path), ROWS)
    assert (actual.sentences, actual.ids) == (None, None)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", ">f4"])
def test_the_sentences_are_listed(tmp_path: Path, dtype: str) -> None:
    np.save(tmp_path / "v.npy", np.array([[1, 2], [3, 4]], dtype=dtype))
    (tmp_path / "s.txt").write_text("the man\nslept\n")
    encoder = make_encoder(f"file:{tmp_path / 'v.npy'}?sentences={tmp_path / 's.txt'}")
    np.testing.assert_array_equal(encoder.encode(["slept"]), np.array([[3, 4]], dtype=np.float32))


@pytest.mark.parametrize("name", ["toy", "toy.csv", "toy.jsonl", "."])
def test_the_sentences_are_those_of_a_dataset(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "sets"
    folder.mkdir()
    write_dataset(make_learnable_dataset(name="toy", size=40), folder / name.replace(".", "toy", name == "."))
    (read,) = read_datasets(folder)
    vectors = np.arange(2.0 * len(read.sentences), dtype=np.float32).reshape(-1, 2)
    np.save(tmp_path / "v.npy", vectors)
    encoder = make_encoder(f"file:{tmp_path / 'v.npy'}?sentences={folder / name}")
    np.testing.assert_array_equal(encoder.encode(read.sentences), vectors)


def test_a_run_takes_them_in_the_order_of_the_datasets(tmp_path: Path, command: Command) -> None:
    """The same numbers as from the encoder that made them."""
    for seed, name in enumerate(("one", "two")):
        write_dataset(make_learnable_dataset(name=name, seed=seed, size=40), tmp_path / "sets" / name)
    vectors = tmp_path / "v.npy"
    result = command("embed", tmp_path / "sets", "-e", BILSTM, "--out", vectors, "--no-cache")
    assert result[0] == 0
    runs = {"first": f"{BILSTM}&name=x", "second": f"file:{vectors}?name=x"}
    message = {
        out: command("run", tmp_path / "sets", "-e", spec, *SHORT, "--out", tmp_path / out)
        for out, spec in runs.items()
    }
    assert [code for code, _, _ in message.values()] == [0, 0]
    assert "does not say which sentences its vectors belong to: the" in "".join(message["second"][1:])
    first, second = ({r.task: r.scores for r in read_results(tmp_path / out).records} for out in runs)
    assert first == second


def test_another_number_of_vectors_is_refused(tmp_path: Path, command: Command) -> None:
    data = make_learnable_dataset(size=40)
    write_dataset(data, tmp_path / "toy")
    path = tmp_path / "v.npy"
    np.save(path, ROWS)
    code, out, err = command("run", tmp_path / "toy", "-e", f"file:{path}", *SHORT)
    assert (code, out) == (1, "")
    expected = f"{path}: 3 vectors for {len(data.sentences)} different sentences of the datasets"
    assert expected in err.splitlines()[-1]


@pytest.mark.parametrize("more", [(), ("--dry-run",)])
def test_each_draw_of_a_suite_has_other_sentences(tmp_path: Path, command: Command, more: tuple[str, ...]) -> None:
    path = tmp_path / "v.npy"
    np.save(path, ROWS)
    run = ("run", "compeval", "--task", "Order", "-e", f"file:{path}", "--draws", 2, *SHORT, *more)
    code, out, err = command(*run, "--out", tmp_path / "run")
    assert (code, out, (tmp_path / "run").exists()) == (2, "", False)
    assert f"file:{path}: its vectors are in the order of one draw's sentences" in err
    assert "(file:VECTORS?sentences=FILE)" in err


def test_datasets_that_are_read_have_the_same_sentences_in_each_draw(tmp_path: Path, command: Command) -> None:
    data = make_learnable_dataset(size=40)
    write_dataset(data, tmp_path / "toy")
    np.save(tmp_path / "v.npy", np.eye(len({*data.sentences}), dtype=np.float32))
    run = ("run", tmp_path / "toy", "-e", f"file:{tmp_path / 'v.npy'}", "--draws", 2, *SHORT)
    assert command(*run)[0] == 0


def save_array(array: object) -> Callable[[Path], None]:
    return lambda path: np.save(path, np.asarray(array))


def write_header(header: str) -> Callable[[Path], object]:
    content = b"\x93NUMPY\1\0" + (len(header) + 1).to_bytes(2, "little") + f"{header}\n".encode()
    return lambda path: path.write_bytes(content + bytes(8))


def archive(path: Path) -> None:
    with path.open("wb") as file:
        np.savez(file, a=ROWS)


BAD: list[tuple[Callable[[Path], object], str]] = [
    (save_array([1.0, 2.0]), "vectors of shape (2,); (sentences, dim) is expected"),
    (save_array([[1, 2]]), "vectors of int64; floating point is expected"),
    (save_array([[1.0, np.nan]]), "the vector in row 0 is not finite"),
    (save_array(np.array([[{}]], dtype=object)), "Object arrays cannot be loaded"),
    (lambda path: path.write_bytes(b"text"), "cannot"),
    (lambda path: path.write_bytes(b""), "No data left in file"),
    (write_header("{'descr': '<f4'"), "damaged, or not in the format npy: "),
    (
        write_header("{'descr': [('a',)], 'fortran_order': False, 'shape': (1, 1)}"),
        "damaged, or not in the format npy: ",
    ),
    (archive, "one array is expected (or use format=npz)"),
]


@pytest.mark.parametrize(("write", "message"), BAD)
def test_refused(tmp_path: Path, write: Callable[[Path], object], message: str) -> None:
    path = tmp_path / "v.npy"
    write(path)
    with pytest.raises(SentprobeError) as caught:
        make_encoder(f"file:{path}")
    assert message.casefold() in str(caught.value).casefold()
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_without_a_dataset_nothing_says_whose_they_are(tmp_path: Path) -> None:
    np.save(tmp_path / "v.npy", ROWS)
    encoder = make_encoder(f"file:{tmp_path / 'v.npy'}")
    with pytest.raises(VectorFileError, match=r"has vectors without sentences; .*\?sentences=FILE"):
        encoder.encode(["a"])
