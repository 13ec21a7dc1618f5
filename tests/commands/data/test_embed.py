"""The commands ``probe embed``, ``probe sentences`` and ``probe cache``: output, files and errors."""

import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from helpers.in_process import Command, check_refusal, check_success
from helpers.shared import SHARED, needs_shared
from helpers.strategies.cache_strategies import HashingEncoder, list_vector_files_below
from helpers.strategies.probe_strategies import make_learnable_dataset
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.commands.embed import WRITERS, SentenceFormat, read_sentences
from sentprobe.common.errors import UsageError
from sentprobe.common.specs import Size
from sentprobe.lexicon import read_lexicon
from sentprobe.probes.datasets.formats import FORMATS, write_dataset
from sentprobe.probes.encoders.cache import Cache
from sentprobe.probes.encoders.embedding import embed
from sentprobe.probes.encoders.kinds import make_encoder
from sentprobe.probes.encoders.vector_formats import VectorFormat, read_vectors
from sentprobe.probes.generated import assemble
from sentprobe.probes.generated.tasks import TASKS

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
def test_file_stands_for_the_encoder(format_: VectorFormat, tmp_path: Path, command: Command) -> None:
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


def test_directory_of_datasets(tmp_path: Path) -> None:
    both = [make_learnable_dataset(name=name, seed=seed, size=40) for seed, name in enumerate(("one", "two"))]
    for data in both:
        write_dataset(data, tmp_path / "data" / data.name)
    expected = list(dict.fromkeys(text for data in both for text in data.sentences))
    assert read_sentences(str(tmp_path / "data")) == expected


def test_sentence_is_encoded_once(tmp_path: Path, command: Command) -> None:
    out = tmp_path / "vectors.npz"
    line = ("embed", lines_file(tmp_path), "--encoder", BILSTM, "--out", out)
    assert command(*line)[0] == 0
    first = read_vectors(out).vectors
    before = [(path, path.stat().st_mtime_ns) for path in list_vector_files_below(tmp_path / "cache")]
    assert command(*line)[0] == 0
    assert [(path, path.stat().st_mtime_ns) for path in list_vector_files_below(tmp_path / "cache")] == before
    np.testing.assert_array_equal(read_vectors(out).vectors, first)


TO_VECTORS = "--encoder bow?dim=4 --out vectors.npz"
BAD = [
    ("--encoder bwo --out vectors.npz", "unknown encoder 'bwo' (did you mean 'bow'?)"),
    ("--encoder majority --out vectors.npz", "is a baseline, which has no vectors"),
    ("--encoder bow?dim=4 --out vectors.csv", "'.csv' is not the suffix of a format"),
    (f"{TO_VECTORS} --format nzp", "there is no format of sentence vectors 'nzp' (did you mean"),
    ("--encoder bow?dim=4 --out none/vectors.npz", "there is no directory none"),
    ("--encoder bow?dim=4 --out . --format npz", ".: is a directory, not a file to write"),
]


@pytest.mark.parametrize(("line", "message"), BAD, ids=[line for line, _ in BAD])
def test_embed_refuses(line: str, message: str, working_folder: Path, command: Command) -> None:
    check_refusal(command("embed", lines_file(working_folder), *line.split()), message)
    assert not Path("vectors.npz").exists()


def test_embed_writes_over_no_input(tmp_path: Path, command: Command) -> None:
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


SOURCES = [
    (None, 2, "sentences.txt: there is no such file or directory"),
    (b"\n \n", 1, "sentences.txt: there are no sentences in it"),
    (b"the man\n\xff\xfe\n", 1, "sentences.txt: line 2: not UTF-8"),
    (b"the man\nthe\tman\n", 1, "sentences.txt, line 2: a tab; expected"),
]


@pytest.mark.parametrize(("text", "code", "message"), SOURCES, ids=["missing", "empty", "not UTF-8", "a tab"])
def test_embed_refuses_source(text: bytes | None, code: int, message: str, tmp_path: Path, command: Command) -> None:
    source = tmp_path / "sentences.txt"
    if text is not None:
        source.write_bytes(text)
    out = tmp_path / "vectors.npz"
    check_refusal(command("embed", source, "--encoder", "bow?dim=4", "--out", out), message, code, progress=True)
    assert not out.exists()


def test_sentences_of_compeval_differ_by_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assemble, "build", partial(assemble.build, size=Size(56, 28)))
    sentences = read_sentences("compeval", seed=0)
    assert 150 < len(sentences) == len(set(sentences)) <= len(TASKS) * 42
    assert sentences != read_sentences("compeval", seed=1)


@needs_shared
def test_sentences_of_published_datasets() -> None:
    sentences = read_sentences(str(SHARED / "compeval" / "published" / "order"))
    assert len(sentences) == len(set(sentences)) > 1000


SMALL = ("--task", "Order", "--train", 40, "--test", 20, "--seed", 5)
RUN = ("--no-controls", "--jobs", 1, "--no-cache", "--set", "max_epochs=3", "--preset", "ettinger")


def encode_elsewhere(sentences: list[str], out: Path) -> None:
    """What a person's own tool does, which knows the sentences alone."""
    np.save(out, make_encoder("bow?dim=6&seed=1").encode(sentences))


@pytest.mark.parametrize("suffix", ["txt", "jsonl"])
@pytest.mark.parametrize("named", [False, True])
def test_vectors_of_written_sentences_are_read(tmp_path: Path, command: Command, suffix: str, *, named: bool) -> None:
    listed, vectors = tmp_path / "made" / f"sentences.{suffix}", tmp_path / "vectors.npy"
    code, stderr, _ = command("sentences", "compeval", *SMALL, "--out", listed)
    lines = listed.read_text("utf-8").splitlines()
    assert (code, stderr) == (0, f"{listed}: {len(lines)} sentences\n")
    sentences = [json.loads(line)["sentence"] for line in lines] if suffix == "jsonl" else lines
    assert len(set(sentences)) == len(sentences) == 30
    encode_elsewhere(sentences, vectors)
    spec = f"file:{vectors}?sentences={listed}" if named else f"file:{vectors}"
    results = tmp_path / "results"
    check_success(command("run", "compeval", *SMALL, *RUN, "-e", spec, "-o", results))
    assert command("run", "compeval", *SMALL, *RUN, "-e", "bow?dim=6&seed=1", "-o", results)[0] == 0
    shown = json.loads(command("show", results, "-f", "json")[1])
    assert len({record["accuracy"] for record in shown if record["condition"] == "probe"}) == 1
    assert len({record["encoder"] for record in shown}) == 2


def test_sentences_are_in_order_of_targets(tmp_path: Path, command: Command) -> None:
    both = [make_learnable_dataset(name=name, seed=seed, size=40) for seed, name in enumerate(("two", "one"))]
    for data in both:
        write_dataset(data, tmp_path / data.name)
    out = check_success(command("sentences", *(tmp_path / data.name for data in both)))
    expected = dict.fromkeys(text for data in both for text in data.sentences)
    assert out.splitlines() == [*expected]
    assert command("sentences", *(tmp_path / data.name for data in both))[1] == out


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]))))
def test_every_line_of_json_has_its_sentence(texts: list[str]) -> None:
    lines = list(WRITERS[SentenceFormat.JSONL](texts))
    assert [json.loads(line) for line in lines] == [{"sentence": text} for text in texts]
    assert all(line.index("\n") == len(line) - 1 for line in lines)


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]))))
def test_text_sentence_is_one_line(texts: list[str]) -> None:
    if any(not text or "\n" in text or "\r" in text for text in texts):
        with pytest.raises(UsageError, match="does not fit a line; use --format jsonl"):
            list(WRITERS[SentenceFormat.TEXT](texts))
    else:
        assert "".join(WRITERS[SentenceFormat.TEXT](texts)).split("\n") == [*texts, ""]


@pytest.mark.usefixtures("working_folder")
@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("compeval -f txt", "there is no format 'txt' (did you mean 'text'?)"),
        ("compevl", "there is no suite 'compevl' (did you mean 'compeval'?)"),
        ("compeval --task Ordr", "there is no compeval task 'Ordr' (did you mean 'Order'"),
        ("natural", "the suite natural needs the table of a corpus"),
        ("toy.jsonl --train 8", "--train is for the suite compeval, structure or natural, not for"),
        ("toy.jsonl --out toy.jsonl", "toy.jsonl: is an input"),
        ("toy.jsonl --out .", "is a directory, not a file to write"),
    ],
)
def test_sentences_refuses(line: str, message: str, command: Command) -> None:
    write_dataset(make_learnable_dataset(size=40), Path("toy.jsonl"))
    check_refusal(command("sentences", *line.split()), message)


def test_sentence_of_two_lines_becomes_one(tmp_path: Path, command: Command) -> None:
    data = tmp_path / "mine.csv"
    rows = [f'"one\ntwo{n}",{n % 2},{split}' for split in ("train", "test") for n in range(4)]
    data.write_text("\n".join(["text,label,split", *rows]))
    code, out, _ = command("sentences", data)
    assert (code, out.splitlines()) == (0, [f"one two{n}" for n in range(4)])


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The cache of the command, with two encoders in it."""
    directory = tmp_path / "cache"
    monkeypatch.setenv("SENTPROBE_CACHE", str(directory))
    for name, sentences in (("first", ["a", "b"]), ("[b]second[/b]", ["a"])):
        encoder = HashingEncoder(fingerprint=name * 8, name=name)
        embed(encoder, sentences, cache=Cache(directory))
    return directory


def test_cache_is_shown(cache: Path, command: Command) -> None:
    code, out, err = command("cache")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == f"cache: {cache}"
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in lines if "│" in line]
    second, first = rows
    assert first[:4] == ["first", "firstfirstfi", "2", "3"]
    assert second[:4] == ["[b]second[/b]", "[b]second[/b", "1", "3"]
    assert first[4].endswith(" bytes")
    assert first[5].startswith("20")
    size = sum(path.stat().st_size for path in list_vector_files_below(cache))
    assert lines[-1] == f"{size} bytes in all"


def test_empty_cache_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command) -> None:
    directory = tmp_path / "none"
    monkeypatch.setenv("SENTPROBE_CACHE", str(directory))
    expected = {
        ("cache",): f"cache: {directory}\nthe cache is empty\n",
        ("cache", "clear"): f"removed from {directory}: 0 encoders, 0 bytes\n",
        ("cache", "check"): f"cache: {directory}: 0 files read, 0 damaged\n",
    }
    for arguments, out in expected.items():
        assert command(*arguments) == (0, out, "")
    assert not directory.exists()


@pytest.mark.parametrize(
    ("arguments", "removed"),
    [
        ((), 2),
        (("--encoder", "first"), 1),
        (("--encoder", "firstfir"), 1),
        (("--older-than", "1"), 0),
        (("--older-than", "0"), 2),
    ],
)
def test_clear_removes_chosen_encoders(arguments: tuple[str, ...], removed: int, cache: Path, command: Command) -> None:
    code, out, err = command("cache", "clear", *arguments)
    assert (code, err) == (0, "")
    encoders = "1 encoder" if removed == 1 else f"{removed} encoders"
    assert out.startswith(f"removed from {cache}: {encoders}, ")
    assert len(list_vector_files_below(cache)) == 2 - removed


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        (
            "--encoder",
            "frist",
            "encoder 'frist' is not in the cache (did you mean 'first'?); it has: [b]second[/b], first\n",
        ),
        ("--older-than", "-1", "the number of days must not be negative, not -1.0\n"),
        ("--older-than", "nan", "the number of days must not be negative, not nan\n"),
    ],
)
def test_clear_refuses(option: str, value: str, message: str, cache: Path, command: Command) -> None:
    assert command("cache", "clear", option, value) == (2, "", f"probe: {message}")
    assert len(list_vector_files_below(cache)) == 2


def test_check_removes_damaged_files(cache: Path, command: Command) -> None:
    path = list_vector_files_below(cache)[0]
    path.write_bytes(path.read_bytes()[:-1])
    outcome = command("cache", "check")
    assert outcome == (
        0, f"damaged, removed: {path}\ncache: {cache}: 2 files read, 1 damaged\n", "",
    )  # fmt: skip
    outcome = command("cache", "check")
    assert outcome == (0, f"cache: {cache}: 1 file read, 0 damaged\n", "")


def test_cache_that_is_a_file_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command) -> None:
    path = tmp_path / "cache"
    path.write_text("mine")
    monkeypatch.setenv("SENTPROBE_CACHE", str(path))
    code, out, _ = command("cache", "clear")
    assert (code, out) == (0, f"removed from {path}: 0 encoders, 0 bytes\n")
    assert path.read_text() == "mine"


def test_clear_removes_forms_of_lexicons(cache: Path, tmp_path: Path, command: Command) -> None:
    path = tmp_path / "my.toml"
    path.write_text("[noun]\nwolf = {}\n[intransitive]\nhowl = {}\n", encoding="utf-8")
    read_lexicon(path, cache=cache)
    (cache / "lexicons" / "mine.txt").write_text("mine", encoding="utf-8")
    assert "inflected forms: 1 lexicon\n" in command("cache")[1]
    assert command("cache", "clear", "--encoder", "first")[1].endswith(": 1 encoder, 376 bytes\n")
    assert "0 encoders, 0 bytes" in command("cache", "clear", "--older-than", "1")[1]
    assert ": 1 encoder, 1 lexicon, " in command("cache", "clear")[1]
    assert [path for path in cache.rglob("*") if path.is_file()] == [cache / "lexicons/mine.txt"]
