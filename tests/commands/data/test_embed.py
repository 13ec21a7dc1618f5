"""The command ``probe embed``: files and errors."""

from functools import partial
from pathlib import Path

import numpy as np
import pytest
from helpers.in_process import Command
from helpers.shared import SHARED, needs_shared
from helpers.strategies.cache_strategies import list_vector_files_below
from helpers.strategies.probe_strategies import make_learnable_dataset

from sentprobe.commands.embed import read_sentences
from sentprobe.probes.datasets.dataset import Size
from sentprobe.probes.datasets.formats import FORMATS, write_dataset
from sentprobe.probes.encoders.embedding import embed
from sentprobe.probes.encoders.kinds import make_encoder
from sentprobe.probes.encoders.vector_formats import VectorFormat, read_vectors
from sentprobe.probes.generated import assemble

BILSTM = "bilstm-max?dim=8&hidden=6"
LINES = "the man slept\n\n  the   doctor slept \nthe man slept\n"


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SENTPROBE_CACHE", str(tmp_path / "cache"))


def lines_file(tmp_path: Path, content: bytes = LINES.encode()) -> Path:
    path = tmp_path / "sentences.txt"
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("no_cache", [False, True])
def test_embed_a_text_file(no_cache: bool, tmp_path: Path, command: Command) -> None:
    out = tmp_path / "vectors.npz"
    options = ["--encoder", BILSTM, "--out", str(out), "--seed", "3"]
    options += ["--no-cache"] * no_cache
    source = str(lines_file(tmp_path))
    code, stdout, stderr = command("embed", source, *options)
    assert (code, stdout) == (0, f"{out}: 2 sentences, vectors of width 12\n")
    assert f"encode sentences with {BILSTM}" in stderr
    vectors = read_vectors(out)
    assert vectors.sentences == ("the man slept", "the doctor slept")
    expected = make_encoder(BILSTM, seed=3).encode(vectors.sentences)
    np.testing.assert_allclose(vectors.vectors, expected, atol=1e-6)
    assert len(list_vector_files_below(tmp_path / "cache")) == (0 if no_cache else 1)


@pytest.mark.parametrize("format_", VectorFormat)
def test_the_file_stands_for_the_encoder(format_: VectorFormat, tmp_path: Path, command: Command) -> None:
    """Equal vectors give equal results: a probe sees nothing else of an encoder."""
    data = make_learnable_dataset(size=60)
    write_dataset(data, tmp_path / "toy")
    out = tmp_path / {"lookup": "vectors.txt"}.get(format_, f"vectors.{format_}")
    code, stderr, _ = command("embed", tmp_path / "toy", "--encoder", BILSTM, "--out", out, "--no-cache")
    assert (code, stderr) == (0, f"{out}: {len(data.sentences)} sentences, vectors of width 12\n")
    of_whom = f"?sentences={tmp_path / 'toy'}" if format_ is VectorFormat.NPY else ""
    again = embed(make_encoder(f"file:{out}{of_whom}", seed=0), data.sentences)
    np.testing.assert_array_equal(again, embed(make_encoder(BILSTM, seed=0), data.sentences))


@pytest.mark.parametrize("form", [name for name in FORMATS if name != "senteval"])
def test_datasets_in_every_format(form: str, tmp_path: Path) -> None:
    data = make_learnable_dataset(size=40)
    path = tmp_path / f"toy{FORMATS[form].suffix}"
    write_dataset(data, path, format=form)
    assert sorted(read_sentences(str(path))) == sorted(data.sentences)


def test_a_directory_of_datasets(tmp_path: Path) -> None:
    both = [make_learnable_dataset(name=name, seed=seed, size=40) for seed, name in enumerate(("one", "two"))]
    for data in both:
        write_dataset(data, tmp_path / "data" / data.name)
    expected = list(dict.fromkeys(text for data in both for text in data.sentences))
    assert read_sentences(str(tmp_path / "data")) == expected


def test_a_sentence_is_encoded_once_for_the_command_and_later(tmp_path: Path, command: Command) -> None:
    out = tmp_path / "vectors.npz"
    line = ("embed", lines_file(tmp_path), "--encoder", BILSTM, "--out", out)
    assert command(*line)[0] == 0
    first = read_vectors(out).vectors
    before = [(path, path.stat().st_mtime_ns) for path in list_vector_files_below(tmp_path / "cache")]
    assert command(*line)[0] == 0
    assert [(path, path.stat().st_mtime_ns) for path in list_vector_files_below(tmp_path / "cache")] == before
    np.testing.assert_array_equal(read_vectors(out).vectors, first)


BAD = {
    "unknown encoder": (("--encoder", "bwo"), 2, "unknown encoder 'bwo' (did you mean 'bow'?)"),
    "a baseline": (("--encoder", "majority"), 2, "is a baseline, which has no vectors"),
    "suffix": (("--out", "vectors.csv"), 2, "'.csv' is not the suffix of a format"),
    "format": (("--format", "nzp"), 2, "there is no format of sentence vectors 'nzp' (did you mean"),
    "no directory": (("--out", "none/vectors.npz"), 2, "there is no directory none"),
    "a directory": (("--out", "."), 2, ".: is a directory, not a file to write"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_request(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command) -> None:
    monkeypatch.chdir(tmp_path)
    options = {"--encoder": "bow?dim=4", "--out": "vectors.npz", "--format": "npz"}
    arguments, expected, message = BAD[case]
    if "--out" in arguments:
        del options["--format"]
    options |= {arguments[0]: arguments[1]}
    if case == "a directory":
        options["--format"] = "npz"
    command_line = [part for pair in options.items() for part in pair]
    source = str(lines_file(tmp_path))
    code, out, err = command("embed", source, *command_line)
    assert (code, out) == (expected, "")
    assert err.strip().startswith("probe: ")
    assert message in err
    assert err.strip().count("\n") == 0
    assert not (tmp_path / "vectors.npz").exists()


def test_the_output_is_no_input(tmp_path: Path, command: Command) -> None:
    source = lines_file(tmp_path)
    (tmp_path / "soft").symlink_to(source)
    (tmp_path / "hard").hardlink_to(source)
    before = source.read_bytes()
    bow = ("-e", "bow?dim=4", "--format", "npz", "-o")
    cases = [
        (source, *bow, source),
        (source, *bow, tmp_path / "soft"),
        (source, *bow, tmp_path / "hard"),
        (tmp_path, *bow, tmp_path / "vectors.npz"),
        ("compeval", "-e", f"bow:{source}", "--format", "npz", "-o", source),
    ]
    for arguments in cases:
        got = command("embed", *map(str, arguments))
        assert got[:2] == (2, "")
        assert "is an input" in got[2] or f"lies inside {tmp_path}, which is read" in got[2]
    assert source.read_bytes() == before


SOURCES = {
    "missing": (None, 2, "none.txt: there is no such file or directory"),
    "empty": (b"\n \n", 1, "sentences.txt: there are no sentences in it"),
    "not UTF-8": (b"the man\n\xff\xfe\n", 1, "sentences.txt: line 2: not UTF-8"),
    "a tab": (b"the man\nthe\tman\n", 1, "sentences.txt, line 2: a tab; expected"),
}


@pytest.mark.parametrize("case", SOURCES)
def test_a_bad_source(case: str, tmp_path: Path, command: Command) -> None:
    content, expected, message = SOURCES[case]
    source = lines_file(tmp_path, content) if content is not None else tmp_path / "none.txt"
    out = tmp_path / "vectors.npz"
    code, stdout, err = command(
        "embed", str(source), "--encoder", "bow?dim=4", "--out", str(out))  # fmt: skip
    assert (code, stdout) == (expected, "")
    last = err.splitlines()[-1]
    assert last.startswith("probe: ")
    assert message in last
    assert "Traceback" not in err
    assert not out.exists()


def test_compeval(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assemble, "build", partial(assemble.build, size=Size(56, 28)))
    sentences = read_sentences("compeval", seed=0)
    assert 150 < len(sentences) == len(set(sentences)) <= 5 * 42
    assert sentences != read_sentences("compeval", seed=1)


@needs_shared
def test_the_published_datasets() -> None:
    sentences = read_sentences(str(SHARED / "compeval" / "published" / "order"))
    assert len(sentences) == len(set(sentences)) > 1000
