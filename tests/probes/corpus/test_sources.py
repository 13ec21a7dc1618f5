"""Files of a corpus: names, patterns, compression, encodings, formats, and division into chunks."""

import bz2
import gzip
import io
import json
import lzma
import pickle
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from helpers.shared import SHARED, needs_shared
from helpers.strategies.corpus_strategies import chunk_sizes, format_tree, make_table, read_rows
from helpers.thoroughness import examples
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.common.errors import SentprobeError, UsageError
from sentprobe.probes.corpus import sources as formats
from sentprobe.probes.corpus.sources import (
    FORMATS,
    Chunk,
    ChunkSize,
    RawText,
    ReadPiece,
    RecordFields,
    Source,
    SourceError,
    TextUnit,
    check_encoding,
    decode_lines,
    find_sources,
    make_chunks,
    open_source,
    split_blocks,
    split_paragraphs,
)
from sentprobe.probes.corpus.table import find_punkt, load_splitter, load_tokenizer
from sentprobe.probes.corpus.tree_files import FilePiece
from sentprobe.probes.corpus.trees import Mistake, ParsedSentence


def _compress_zstd(data: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as out:
        out.write(data)
    return bytes(sink.getvalue())


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": gzip.compress,
    ".xz": lzma.compress,
    ".bz2": bz2.compress,
    ".zst": _compress_zstd,
}


def read_lines(path: Path, encoding: str = "utf-8") -> list[str]:
    with open_source(Source(str(path), "lines")) as opened:
        return list(decode_lines(opened, encoding))


LINE = st.text(st.characters(codec="utf-8", exclude_characters="\n\r\ufeff"), max_size=20)


@examples(40)
@given(
    st.lists(LINE, max_size=8).map("\n".join),
    st.sampled_from(list(PACKERS)),
    st.sampled_from(["utf-8", "utf-16", "utf-8-sig"]),
)
def test_packed_text_is_read(text: str, suffix: str, encoding: str) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"a.txt{suffix}"
        path.write_bytes(PACKERS[suffix](text.encode(encoding)))
        assert "".join(read_lines(path, encoding)) == text
        (source,) = find_sources([str(path)])
        assert source == Source(str(path), "text")
        assert source.size == path.stat().st_size


def test_several_zstd_frames_are_one_file(tmp_path: Path) -> None:
    path = tmp_path / "a.zst"
    path.write_bytes(_compress_zstd(b"one\n") + _compress_zstd(b"two\n"))
    assert read_lines(path) == ["one\n", "two\n"]


@pytest.mark.parametrize("suffix", [".gz", ".xz", ".zst", ".bz2"])
def test_damaged_file_is_named(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a{suffix}"
    packed = PACKERS[suffix](b"".join(b"%d\n" % n for n in range(2000)))
    path.write_bytes(packed[: len(packed) // 2])
    with pytest.raises(SourceError, match=f"a{suffix}: cannot read it: "):
        read_lines(path)


def test_patterns_find_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("deep/er").mkdir(parents=True)
    for name in ("b.txt", "a.mrg.gz", "deep/c.conllu", "deep/er/d.jsonl", "x[1].txt"):
        Path(name).touch()
    assert find_sources(["b.txt", "*.*", "deep/**/*.*", "-"], format="text") == tuple(
        Source(name, "text") for name in ("b.txt", "a.mrg.gz", "x[1].txt", "deep/c.conllu", "deep/er/d.jsonl", "-")
    )
    assert [source.format for source in find_sources(["*.*", "deep/**/*.*"])] == [
        "trees",
        "text",
        "text",
        "conllu",
        "jsonl",
    ]
    assert find_sources(["x[1].txt"])[0].name == "x[1].txt"


@pytest.mark.parametrize(
    ("patterns", "fmt", "message"),
    [
        (["boks.txt"], None, r"boks.txt: there is no such file \(did you mean 'books.txt'\?\)"),
        (["*.xml"], None, r"\*.xml: no file matches this pattern"),
        (["folder"], None, r"folder: is a folder; name the files in it, such as 'folder/\*.txt'"),
        (["a.doc"], None, r"a.doc: the format is unknown; name it with --format \(gen edit: --input-format\): text"),
        (["-"], None, r"standard input: the format is unknown"),
        (["books.txt"], "tree", r"there is no format 'tree' \(did you mean 'trees'\?\); known: "),
        ([], None, "name at least one file"),
    ],
)
def test_missing_sources_are_refused(
    patterns: list[str], fmt: str | None, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("folder").mkdir()
    Path("books.txt").touch()
    Path("a.doc").touch()
    with pytest.raises(UsageError, match=message):
        find_sources(patterns, format=fmt)


def test_wrong_encoding_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes("one\nnaïve\n".encode("latin-1"))
    with pytest.raises(SourceError, match=r"a.txt, line 2: not utf-8; save it as UTF-8, or name the encoding where"):
        read_lines(path)
    assert read_lines(path, "latin-1") == ["one\n", "naïve\n"]
    with pytest.raises(UsageError, match="there is no encoding 'utf-9'"):
        check_encoding("utf-9")


def test_long_line_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    for long in ("x" * 30, "é" * 9, "aé" * 9, "日" * 4):
        for encoding in ("utf-8", "utf-16") if len(long) > 9 else ("utf-8",):
            path.write_text(f"short\n{long}\nshort\n", encoding)
            with (
                pytest.raises(SourceError, match=r"a.txt, line 2: longer than 10 bytes"),
                open_source(Source(str(path), "")) as opened,
            ):
                [*decode_lines(opened, encoding, limit=10)]


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    data = gzip.compress(f"{format_tree('men', 'ran')}\n".encode())
    stream = io.TextIOWrapper(io.BufferedReader(io.BytesIO(data)))
    monkeypatch.setattr(sys, "stdin", stream)
    (source,) = find_sources(["-"], format="trees")
    assert source.size == 0
    (chunk,) = make_chunks([source], reading=RecordFields(), encoding="utf-8", size=ChunkSize(10, 1000))
    assert chunk.pieces == (FilePiece(f"{format_tree('men', 'ran')}\n", 1),)


@given(st.lists(LINE.map(lambda line: line + "\n")), st.sampled_from(sorted(FORMATS)), chunk_sizes())
def test_chunk_size_keeps_pieces(lines: list[str], name: str, size: ChunkSize) -> None:
    if name == "parquet":
        return
    with TemporaryDirectory() as folder:
        path = Path(folder) / "a"
        path.write_text("".join(lines), encoding="utf-8", newline="")
        given_ = {"reading": RecordFields(), "encoding": "utf-8"}
        chunks = list(make_chunks([Source(str(path), name)], size=size, **given_))  # type: ignore[arg-type]
        expected = list(
            make_chunks([Source(str(path), name)], size=ChunkSize(10**6, 10**9), **given_)  # type: ignore[arg-type]
        )
        pieces = [piece for chunk in chunks for piece in chunk.pieces]
        assert pieces == [piece for chunk in expected for piece in chunk.pieces]
        assert [chunk.number for chunk in chunks] == list(range(len(chunks)))
        assert all(0 < len(chunk.pieces) <= size.pieces for chunk in chunks)
        assert pickle.loads(pickle.dumps(chunks)) == chunks
        assert len({chunk.compute_key("") for chunk in chunks}) == len(set(drop_numbers(chunks)))
        for piece in pieces:
            if not isinstance(piece, Mistake):  # what is read never raises
                list(FORMATS[name].read(piece, RecordFields()))


def drop_numbers(chunks: list[Chunk]) -> list[object]:
    return [chunk.pieces for chunk in chunks]


@given(st.lists(st.sampled_from(["a b\n", " c \n", "\n", "  \n", "d\n"])))
def test_paragraphs_and_blocks_are_split(lines: list[str]) -> None:
    paragraphs = [" ".join(block.split("\n")) for block in _split_blocks(lines)]
    assert [piece.text for piece in split_paragraphs(lines) if isinstance(piece, FilePiece)] == paragraphs
    for piece in split_blocks(lines):
        assert isinstance(piece, FilePiece)
        assert lines[piece.line - 1].strip() == piece.text.split("\n")[0].strip()


def _split_blocks(lines: list[str]) -> list[str]:
    stripped = "\n".join(line.strip() for line in lines)
    return [block.strip("\n") for block in _split_empty(stripped) if block.strip()]


def _split_empty(text: str) -> list[str]:
    blocks = [""]
    for line in text.split("\n"):
        if line:
            blocks[-1] += line + "\n"
        else:
            blocks.append("")
    return blocks


def test_endless_paragraph_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formats, "MAX_PARAGRAPH", 10)
    pieces = list(split_paragraphs(["12345 7890\n"] * 5))
    assert [piece.line for piece in pieces] == [1, 3, 5]


def read_json(record: object, reading: RecordFields = RecordFields()) -> ReadPiece:  # noqa: B008
    text = record if isinstance(record, str) else json.dumps(record)
    (unit,) = FORMATS["jsonl"].read(FilePiece(text, 7), reading)
    return unit


def test_records_are_read_by_field() -> None:
    assert read_json({"text": "It ran."}) == RawText("It ran.", TextUnit.TEXT)
    as_sentence = RecordFields("s", TextUnit.SENTENCE)
    assert read_json({"s": "It ran."}, as_sentence) == RawText("It ran.", TextUnit.SENTENCE)
    assert read_json({"text": ["It", "1 0", "."]}) == RawText("It 1_0 .", TextUnit.TOKENS)


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ("{", "not JSON: "),
        ("[" * 100_000, "not JSON: nested too deep"),
        ([1], "not a JSON object"),
        ({"txt": "x"}, "no text under 'text'; the record has 'txt'"),
        ({"text": 3}, "no text under 'text'"),
        ({"text": " "}, "an empty text"),
        ({"text": "\ud800"}, "half of a surrogate pair"),
        ({"tree": "(S", "form": 3, "xpos": []}, "not a sentence as written by gen"),
    ],
)
def test_broken_records_are_mistakes(record: object, message: str) -> None:
    mistake = read_json(record)
    assert isinstance(mistake, Mistake)
    assert mistake.line == 7
    assert message in mistake.message


def test_parquet_rows_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": ["It ran.", None, "She slept."], "n": [1, 2, 3]}), path)
    (chunk,) = make_chunks(find_sources([str(path)]), reading=RecordFields(), encoding="utf-8", size=ChunkSize(9, 999))
    pieces = [piece for piece in chunk.pieces if not isinstance(piece, Mistake)]
    assert len(pieces) == len(chunk.pieces)
    units = [unit for piece in pieces for unit in FORMATS["parquet"].read(piece, RecordFields())]
    assert units[0] == RawText("It ran.", TextUnit.TEXT)
    assert isinstance(units[1], Mistake)
    assert chunk.size == path.stat().st_size
    with pytest.raises(UsageError, match=r"there is no column 'txt' \(did you mean 'text'\?\)"):
        list(
            make_chunks(find_sources([str(path)]), reading=RecordFields("txt"), encoding="utf-8", size=ChunkSize(9, 9))
        )
    path.write_bytes(b"PAR1 this is none")
    with pytest.raises(SourceError, match="not a Parquet file"):
        list(make_chunks(find_sources([str(path)]), reading=RecordFields(), encoding="utf-8", size=ChunkSize(9, 9)))


def test_gen_formats_give_same_rows(tmp_path: Path) -> None:
    from sentprobe.generator.bulk.generate import write_file
    from sentprobe.generator.spaces.space import Space
    from sentprobe.lexicon.read import english

    events = Space(english(), vocabulary="compeval", templates=["transitive-rc"])
    tables = {}
    for suffix in ("jsonl", "parquet", "conllu", "mrg"):
        path = tmp_path / f"g.{suffix}"
        write_file(events, events.sample(30, seed=1), path)
        table = make_table([path], tmp_path / suffix)
        tables[suffix] = [row | {"source": "", "sentence_ids": None} for row in read_rows(table)]
    assert len(tables["jsonl"]) == 30
    assert all(rows == tables["jsonl"] for rows in tables.values())


@needs_shared
def test_text_is_split_and_tokenised() -> None:
    split = load_splitter(str(find_punkt(SHARED / "parsers/punkt_novels")))
    assert split('Dr. Mortimer came. "No," he said.') == ["Dr. Mortimer came.", '"No," he said.']
    assert load_tokenizer()("He didn't (yet).") == ["He", "did", "n't", "(", "yet", ")", "."]


def test_malformed_punkt_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"not a folder of Punkt parameters: it has no abbrev"):
        find_punkt(tmp_path)
    for name in ("abbrev_types.txt", "collocations.tab", "ortho_context.tab", "sent_starters.txt"):
        (tmp_path / name).write_text("broken\n")
    with pytest.raises(SentprobeError, match="cannot read Punkt's parameters"):
        load_splitter(str(find_punkt(tmp_path)))


def test_conllu_lines_count_in_the_file() -> None:
    (piece,) = split_blocks(["\n", "\n", "# c\n", "1\tIt\n"])
    assert isinstance(piece, FilePiece)
    (mistake,) = FORMATS["conllu"].read(piece, RecordFields())
    assert isinstance(mistake, Mistake)
    assert mistake.line == 4
    row = "1\tIt\tit\tPRON\tPRP\t_\t0\troot\t_\t_\n"
    (mistake,) = FORMATS["conllu"].read(FilePiece(row, 3), RecordFields())
    assert isinstance(mistake, ParsedSentence)
