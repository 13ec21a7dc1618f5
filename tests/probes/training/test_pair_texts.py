"""Translations, labelled pairs and triplets: as they are published, or written by ``gen pairs``."""

import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from helpers.thoroughness import examples
from helpers.trainings.text_corpora import sentences
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sentprobe.common.errors import FormatError, SentprobeError, UsageError
from sentprobe.generator.pairs.inference_pairs import NliLabel, write_training_data
from sentprobe.generator.pairs.triplet_files import TripletFormat
from sentprobe.probes.training.corpora import SentencePairs
from sentprobe.probes.training.pair_texts import read_nli, read_parallel, read_triplets
from sentprobe.probes.training.text_filters import TextOptions

AS_IS = TextOptions(tokenised=True)

drawn_pairs = st.lists(st.tuples(sentences, sentences), min_size=2, max_size=6)


def list_pairs(pairs: SentencePairs) -> list[tuple[str, str]]:
    return [*zip(pairs.sources, pairs.targets, strict=True)]


@examples(30)
@given(drawn_pairs)
def test_pairs_are_read_as_written(tmp_path_factory: pytest.TempPathFactory, texts: list[tuple[str, str]]) -> None:
    folder = tmp_path_factory.mktemp("pairs")
    for place, name in enumerate(("t.en", "t.es")):
        content = "".join(f"{pair[place]}\n" for pair in texts)
        (folder / name).write_bytes(content.encode())
    (folder / "t.tsv").write_bytes("".join(f"{a}\t{b}\n" for a, b in texts).encode())
    (folder / "h.tsv").write_bytes("".join(f"{b}\t{a}\n" for a, b in [("s", "t"), *texts]).encode())
    rows = [{"s": source, "t": target} for source, target in texts]
    (folder / "t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    pq.write_table(pa.Table.from_pylist(rows), folder / "t.parquet")
    assert list_pairs(read_parallel(folder / "t.en", folder / "t.es", options=AS_IS)) == texts
    assert list_pairs(read_parallel(folder / "t.tsv", options=AS_IS)) == texts
    for name in ("h.tsv", "t.jsonl", "t.parquet"):
        parallel_texts = read_parallel(folder / name, columns=("s", "t"), options=AS_IS)
        assert list_pairs(parallel_texts) == texts


def test_pair_with_bad_side_is_omitted(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a\n\nc\nd\ne\n", "utf-8")
    (tmp_path / "b").write_text(f"A\nB\n{'C ' * 60}\nD\nE", "utf-8")
    pairs = read_parallel(tmp_path / "a", tmp_path / "b", options=TextOptions(lower=True))
    assert list_pairs(pairs) == [("a", "a"), ("d", "d"), ("e", "e")]
    assert str(pairs.omitted) == "2 were left out: 1 without a token, 1 too long"


@pytest.mark.parametrize(
    ("lines", "other_lines", "message"),
    [
        ("a\nb\nc\n", "A\nB\n", "one, line 3: has no partner: {folder}/other has only 2 lines"),
        ("a\n", "A\nB\nC", "other, line 2: has no partner: {folder}/one has only 1 line"),
        ("a\n", "", "one, line 1: has no partner: {folder}/other is empty"),
        ("a\n", "A\n", "one and {folder}/other: has only one pair to learn from; at least 2"),
        ("", "", "one and {folder}/other: has no pair to learn from; at least 2"),
        ("a\rb\nc\n", "A\nB\nC\n", "other, line 3: has no partner"),
        ("a\n\udcff\n", "A\nB\n", "one, line 2: not utf-8"),
    ],
)
def test_unpaired_files_are_refused(tmp_path: Path, lines: str, other_lines: str, message: str) -> None:
    (tmp_path / "one").write_bytes(lines.encode("utf-8", "surrogateescape"))
    (tmp_path / "other").write_bytes(other_lines.encode())
    with pytest.raises(SentprobeError) as caught:
        read_parallel(tmp_path / "one", tmp_path / "other")
    assert message.format(folder=tmp_path) in str(caught.value)


HEAD = '<?xml version="1.0"?>\n<!DOCTYPE tmx SYSTEM "tmx14.dtd">\n<tmx><header srclang="en-US"/><body>'


def make_unit(**segments: str) -> str:
    variants = (f'<tuv xml:lang="{key}"><seg>{text}</seg></tuv>' for key, text in segments.items())
    return f"<tu>{''.join(variants)}</tu>\n"


def write_tmx(folder: Path, *units: str) -> Path:
    pytest.importorskip("defusedxml")
    path = folder / "t.tmx"
    path.write_text(f"{HEAD}\n{''.join(units)}</body></tmx>", "utf-8")
    return path


def test_tmx_units_are_pairs(tmp_path: Path) -> None:
    path = write_tmx(tmp_path, make_unit(es="uno", en="one &amp; 1"), make_unit(en="two"), make_unit(en="b", es="c"))
    pairs = read_parallel(path)
    assert list_pairs(pairs) == [("one & 1", "uno"), ("b", "c")]
    assert str(pairs.omitted) == "1 was left out: 1 not translated"


def test_tmx_of_many_languages_needs_names(tmp_path: Path) -> None:
    path = write_tmx(tmp_path, *[make_unit(en_US="one", es="uno", fr="un")] * 2)
    with pytest.raises(UsageError, match=r"more than two languages \(en_US, es, fr\); name two"):
        read_parallel(path)
    assert list_pairs(read_parallel(path, columns=("FR", "en"))) == [("un", "one")] * 2
    with pytest.raises(UsageError, match=r"no language 'fra' \(did you mean 'fr'\?\); its lang"):
        read_parallel(path, columns=("en", "fra"))


def test_tmx_omits_codes_of_formats(tmp_path: Path) -> None:
    segment = 'Cl<hi>ick</hi> <bpt i="1">&lt;b&gt;</bpt>here<ept i="1">&lt;/b&gt;</ept><ph>br</ph>now'
    pairs = read_parallel(write_tmx(tmp_path, *[make_unit(en=segment, es="x")] * 2))
    assert pairs.sources == ("Click here now",) * 2


def write_encoded(folder: Path, encoding: str, *units: str, declared: str = "") -> Path:
    pytest.importorskip("defusedxml")
    declaration = f'<?xml version="1.0" encoding="{declared or encoding}"?><tmx><header srclang="en"/><body>'
    path = folder / "t.tmx"
    path.write_bytes(f"{declaration}{''.join(units)}</body></tmx>".encode(encoding))
    return path


@pytest.mark.parametrize("encoding", ["Shift_JIS", "EUC-JP", "GB18030", "utf-16", "utf-32", "utf-7", "cp1252", "UTF8"])
@given(texts=st.lists(st.text("aé 漢字テスト", min_size=1).filter(str.strip), min_size=2, max_size=40))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=10)
def test_tmx_may_have_any_encoding(tmp_path: Path, encoding: str, texts: list[str]) -> None:
    texts = [text.encode(encoding, "ignore").decode(encoding) + "x" for text in texts]
    path = write_encoded(tmp_path, encoding, *[make_unit(en="one", ja=text) for text in texts])
    pairs = read_parallel(path)
    assert [" ".join(target.split()) for target in pairs.targets] == [" ".join(text.split()) for text in texts]


@pytest.mark.parametrize(
    "encoding", ["hex", "idna", "IDNA", "punycode", "rot13", "undefined", "no-such", "", "a\tb", "é"]
)
def test_tmx_refuses_encoding_of_no_text(tmp_path: Path, encoding: str) -> None:
    path = write_encoded(tmp_path, "utf-8", *[make_unit(en="one", ja="x")] * 2, declared=encoding or " ")
    with pytest.raises(FormatError, match=r"t\.tmx: (cannot decode it|not in the encoding that it declares): .+"):
        read_parallel(path)


def test_tmx_must_be_in_its_encoding(tmp_path: Path) -> None:
    path = write_encoded(tmp_path, "latin-1", make_unit(en="one", ja="\xff\xff"), declared="Shift_JIS")
    with pytest.raises(FormatError, match=r"t\.tmx: not in the encoding that it declares: 'shift_jis' codec"):
        read_parallel(path)


BOMB = """<?xml version="1.0"?><!DOCTYPE tmx [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]>
<tmx><body><tu><tuv xml:lang="en"><seg>&b;</seg></tuv></tu></body></tmx>"""
THIEF = """<?xml version="1.0"?><!DOCTYPE tmx [<!ENTITY a SYSTEM "file:///etc/passwd">]>
<tmx><body><tu><tuv xml:lang="en"><seg>&a;</seg></tuv></tu></body></tmx>"""


LONG_TOKENS = {
    "comment": "<!--{}-->",
    "attribute": "<tu a='{}'/>",
    "attribute without an end": "<tu a='{}",
    "instruction": "<?x {}?>",
    "blanks": "<tu {}/>",
}


@pytest.mark.parametrize("token", LONG_TOKENS.values(), ids=LONG_TOKENS)
@given(lines=st.integers(0, 5), encoding=st.sampled_from(["utf-8", "utf-16", "Shift_JIS"]), width=st.integers(0, 9999))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=5)
def test_tmx_refuses_long_token(tmp_path: Path, token: str, lines: int, encoding: str, width: int) -> None:
    units = [make_unit(en="one", ja="x" * width)] + ["\n"] * lines
    path = write_encoded(tmp_path, encoding, *units, token.format(" " * 2_000_000), make_unit(en="one", ja="x"))
    with pytest.raises(FormatError, match=rf"t\.tmx, line {lines + 2}: more than 1,048,576 bytes without a tag$"):
        read_parallel(path)


def test_tmx_may_have_many_units(tmp_path: Path) -> None:
    assert (
        len(read_parallel(write_tmx(tmp_path, *[make_unit(en="one", es="x") + f"<!--{' ' * 30_000}-->"] * 70)).sources)
        == 70
    )


def write_json_lines(path: Path, *rows: dict[str, object]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def make_snli_row(label: object, one: str = "A man.", two: str = "Men.") -> dict[str, object]:
    return {"annotator_labels": ["x"], "gold_label": label, "sentence1": one, "sentence2": two}


def test_snli_pairs_are_read(tmp_path: Path) -> None:
    rows = [make_snli_row("neutral"), make_snli_row("-"), make_snli_row("entailment", two="x " * 60)]
    rows += [make_snli_row("contradiction", "It isn't."), make_snli_row("entailment", "")]
    pairs = read_nli(write_json_lines(tmp_path / "snli.jsonl", *rows))
    assert pairs.premises == ("A man .", "It is n't .")
    assert pairs.hypotheses == ("Men .", "Men .")
    assert pairs.labels.tolist() == [NliLabel.NEUTRAL, NliLabel.CONTRADICTION]
    assert str(pairs) == "2 pairs (0 entailment, 1 neutral, 1 contradiction)"
    assert str(pairs.omitted) == ("3 were left out: 1 without a token, 1 too long, 1 without a label")


@examples(20)
@given(st.lists(st.tuples(sentences, sentences, st.sampled_from(NliLabel)), min_size=2, max_size=5))
def test_generated_pairs_are_read(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str, NliLabel]]
) -> None:
    folder = tmp_path_factory.mktemp("nli")
    premises, hypotheses, labels = ([*column] for column in zip(*rows, strict=True))
    table = {"premise": premises, "hypothesis": hypotheses, "label": [*map(int, labels)]}
    for style in (TripletFormat.PARQUET, TripletFormat.JSONL):
        path = folder / f"t.{style}"
        write_training_data([table], path, style)
        pairs = read_nli(path, options=AS_IS)
        assert [*zip(pairs.premises, pairs.hypotheses, pairs.labels, strict=True)] == rows


@examples(20)
@given(st.lists(st.tuples(sentences, sentences, sentences), min_size=2, max_size=5))
def test_generated_triplets_are_read(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str, str]]
) -> None:
    folder = tmp_path_factory.mktemp("triplets")
    columns = zip(("anchor", "positive", "negative"), zip(*rows, strict=True), strict=True)
    table = {name: [*column] for name, column in columns}
    for style in (TripletFormat.PARQUET, TripletFormat.JSONL):
        path = folder / f"t.{style}"
        write_training_data([table], path, style)
        triplets = read_triplets(path, options=AS_IS)
        assert [*zip(triplets.anchors, triplets.positives, triplets.negatives, strict=True)] == rows


@pytest.mark.parametrize("suffix", [".tsv", ".jsonl"])
def test_label_may_be_number_as_text(tmp_path: Path, suffix: str) -> None:
    path, labels = tmp_path / f"n{suffix}", ["0", "1", "2", "-1"]
    rows: list[dict[str, object]] = [{"premise": "a", "hypothesis": "b", "label": label} for label in labels]
    write_json_lines(path, *rows)
    if suffix == ".tsv":
        path.write_text("premise\thypothesis\tlabel\n" + "".join(f"a\tb\t{label}\n" for label in labels))
    assert read_nli(path).labels.tolist() == [0, 1, 2]


def test_unlabelled_pairs_are_omitted(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    columns = {"premise": ["a"] * 4, "hypothesis": ["b"] * 4, "label": [-1, 0, None, 2]}
    pq.write_table(pa.table(columns), path)
    pairs = read_nli(path)
    assert pairs.labels.tolist() == [0, 2]
    assert pairs.omitted.unlabelled == 2


BAD_FILES: list[tuple[str, str, str]] = [
    ("t.tsv", "a\tA\nb\n", "t.tsv, line 2: expected at least 2 columns separated by tabs"),
    ("t.jsonl", '{"source": "a"}\n', "there is no column 'target'; its columns: 'source'"),
    ("t.txt", "a\nb\n", "; or name a second file, with the translation of each"),
    ("t.tmx", BOMB, "t.tmx: not safe to read: it declares an entity"),
    ("t.tmx", THIEF, "t.tmx: not safe to read: it declares an entity"),
    ("t.tmx", "<tmx>\n<body></tmx>", "t.tmx, line 2: not XML: mismatched tag"),
    ("t.tmx", "", "t.tmx, line 1: not XML: no element found"),
    ("t.tmx", "<tmx/>", "t.tmx: has no pair to learn from; at least 2"),
    ("t.tmx", "<tmx>" + "<hi>" * 50_000 + "</hi>" * 50_000 + "</tmx>", "has no pair to learn from"),
]
BAD_ROWS: list[tuple[Callable[[Path], object], dict[str, object], str]] = [
    (read_nli, make_snli_row("netural"), "row 1: there is no label 'netural' (did you mean 'neut"),
    (read_nli, make_snli_row(True), "row 1: there is no label True"),
    (read_nli, make_snli_row([]), "row 1: there is no label []"),
    (read_nli, {"gold_label": "-", "sentence1": "a"}, "line 1: there is no column 'sentence2'"),
    (read_nli, {"premise": "a", "hypotheses": "b"}, "(did you mean 'hypotheses'?)"),
    (read_nli, make_snli_row("-"), "has no pair to learn from (1 was left out: 1 without a label)"),
    (read_triplets, {"anchor": "a", "positive": "b"}, "line 1: there is no column 'negative'"),
    (read_triplets, dict.fromkeys(("anchor", "positive", "negative"), "a"), "only one triplet"),
    (read_triplets, {"anchor": 1, "positive": "", "negative": ""}, "'anchor' holds int; text"),
]
BAD = [
    *((read_parallel, *row) for row in BAD_FILES),
    *((read, "t.jsonl", json.dumps(row), message) for read, row, message in BAD_ROWS),
]


@pytest.mark.parametrize(("read", "name", "content", "message"), BAD, ids=[row[-1] for row in BAD])
def test_bad_file_is_refused(
    tmp_path: Path, read: Callable[[Path], object], name: str, content: str, message: str
) -> None:
    if name == "t.tmx":
        pytest.importorskip("defusedxml")
    (tmp_path / name).write_text(content, "utf-8")
    with pytest.raises(SentprobeError) as caught:
        read(tmp_path / name)
    assert message in str(caught.value)
