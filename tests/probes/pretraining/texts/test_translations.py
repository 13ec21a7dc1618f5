"""TMX: pairs of texts without markup of other formats."""

from pathlib import Path

import pytest

from sentprobe.errors import SentprobeError, UsageError
from sentprobe.probes.pretraining.texts.corpora import SentencePairs
from sentprobe.probes.pretraining.texts.parallel import read_parallel

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
