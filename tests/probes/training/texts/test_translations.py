"""TMX: pairs of texts without markup of other formats."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sentprobe.common.errors import FormatError, SentprobeError, UsageError
from sentprobe.probes.training.corpora import SentencePairs
from sentprobe.probes.training.pair_texts import read_parallel

HEAD = '<?xml version="1.0"?>\n<!DOCTYPE tmx SYSTEM "tmx14.dtd">\n<tmx><header srclang="en-US"/><body>'


def list_pairs(pairs: SentencePairs) -> list[tuple[str, str]]:
    return [*zip(pairs.sources, pairs.targets, strict=True)]


def unit(**segments: str) -> str:
    variants = (f'<tuv xml:lang="{key}"><seg>{text}</seg></tuv>' for key, text in segments.items())
    return f"<tu>{''.join(variants)}</tu>\n"


def tmx(folder: Path, *units: str) -> Path:
    path = folder / "t.tmx"
    path.write_text(f"{HEAD}\n{''.join(units)}</body></tmx>", "utf-8")
    return path


def test_units_of_two_languages(tmp_path: Path) -> None:
    pytest.importorskip("defusedxml")
    path = tmx(tmp_path, unit(es="uno", en="one &amp; 1"), unit(en="two"), unit(en="b", es="c"))
    pairs = read_parallel(path)
    assert list_pairs(pairs) == [("one & 1", "uno"), ("b", "c")]
    assert str(pairs.omitted) == "1 was left out: 1 not translated"


def test_the_languages_are_named_where_there_are_more(tmp_path: Path) -> None:
    pytest.importorskip("defusedxml")
    path = tmx(tmp_path, *[unit(en_US="one", es="uno", fr="un")] * 2)
    with pytest.raises(UsageError, match=r"more than two languages \(en_US, es, fr\); name two"):
        read_parallel(path)
    assert list_pairs(read_parallel(path, columns=("FR", "en"))) == [("un", "one")] * 2
    with pytest.raises(UsageError, match=r"no language 'fra' \(did you mean 'fr'\?\); its lang"):
        read_parallel(path, columns=("en", "fra"))


def test_codes_of_other_formats_are_no_text(tmp_path: Path) -> None:
    pytest.importorskip("defusedxml")
    segment = 'Cl<hi>ick</hi> <bpt i="1">&lt;b&gt;</bpt>here<ept i="1">&lt;/b&gt;</ept><ph>br</ph>now'
    pairs = read_parallel(tmx(tmp_path, *[unit(en=segment, es="x")] * 2))
    assert pairs.sources == ("Click here now",) * 2


def write_encoded(folder: Path, encoding: str, *units: str, declared: str = "") -> Path:
    declaration = f'<?xml version="1.0" encoding="{declared or encoding}"?><tmx><header srclang="en"/><body>'
    path = folder / "t.tmx"
    path.write_bytes(f"{declaration}{''.join(units)}</body></tmx>".encode(encoding))
    return path


@pytest.mark.parametrize("encoding", ["Shift_JIS", "EUC-JP", "GB18030", "utf-16", "utf-32", "utf-7", "cp1252", "UTF8"])
@given(texts=st.lists(st.text("aé 漢字テスト", min_size=1).filter(str.strip), min_size=2, max_size=40))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=10)
def test_files_in_any_encoding_of_text(tmp_path: Path, encoding: str, texts: list[str]) -> None:
    pytest.importorskip("defusedxml")
    texts = [text.encode(encoding, "ignore").decode(encoding) + "x" for text in texts]
    path = write_encoded(tmp_path, encoding, *[unit(en="one", ja=text) for text in texts])
    pairs = read_parallel(path)
    assert [" ".join(target.split()) for target in pairs.targets] == [" ".join(text.split()) for text in texts]


@pytest.mark.parametrize(
    "encoding", ["hex", "idna", "IDNA", "punycode", "rot13", "undefined", "no-such", "", "a\tb", "é"]
)
def test_encodings_that_are_none_of_text(tmp_path: Path, encoding: str) -> None:
    pytest.importorskip("defusedxml")
    path = write_encoded(tmp_path, "utf-8", *[unit(en="one", ja="x")] * 2, declared=encoding or " ")
    with pytest.raises(FormatError, match=r"t\.tmx: (cannot decode it|not in the encoding that it declares): .+"):
        read_parallel(path)


def test_a_file_that_is_not_in_its_encoding(tmp_path: Path) -> None:
    pytest.importorskip("defusedxml")
    path = write_encoded(tmp_path, "latin-1", unit(en="one", ja="\xff\xff"), declared="Shift_JIS")
    with pytest.raises(FormatError, match=r"t\.tmx: not in the encoding that it declares: 'shift_jis' codec"):
        read_parallel(path)


BOMB = """<?xml version="1.0"?><!DOCTYPE tmx [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]>
<tmx><body><tu><tuv xml:lang="en"><seg>&b;</seg></tuv></tu></body></tmx>"""
THIEF = """<?xml version="1.0"?><!DOCTYPE tmx [<!ENTITY a SYSTEM "file:///etc/passwd">]>
<tmx><body><tu><tuv xml:lang="en"><seg>&a;</seg></tuv></tu></body></tmx>"""


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (BOMB, "t.tmx: not safe to read: it declares an entity"),
        (THIEF, "t.tmx: not safe to read: it declares an entity"),
        ("<tmx>\n<body></tmx>", "t.tmx, line 2: not XML: mismatched tag"),
        ("", "t.tmx, line 1: not XML: no element found"),
        ("<tmx/>", "t.tmx: has no pair to learn from; at least 2"),
        ("<tmx>" + "<hi>" * 50_000 + "</hi>" * 50_000 + "</tmx>", "has no pair to learn from"),
    ],
)
def test_xml_of_anybodys(tmp_path: Path, content: str, message: str) -> None:
    pytest.importorskip("defusedxml")
    path = tmp_path / "t.tmx"
    path.write_text(content, "utf-8")
    with pytest.raises(SentprobeError) as caught:
        read_parallel(path)
    assert message in str(caught.value)


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
def test_a_long_token_is_refused_at_its_line(tmp_path: Path, token: str, lines: int, encoding: str, width: int) -> None:
    pytest.importorskip("defusedxml")
    units = [unit(en="one", ja="x" * width)] + ["\n"] * lines
    path = write_encoded(tmp_path, encoding, *units, token.format(" " * 2_000_000), unit(en="one", ja="x"))
    with pytest.raises(FormatError, match=rf"t\.tmx, line {lines + 2}: more than 1,048,576 bytes without a tag$"):
        read_parallel(path)


def test_many_units_are_longer_than_a_token_may_be(tmp_path: Path) -> None:
    pytest.importorskip("defusedxml")
    assert len(read_parallel(tmx(tmp_path, *[unit(en="one", es="x") + f"<!--{' ' * 30_000}-->"] * 70)).sources) == 70
