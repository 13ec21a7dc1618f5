"""TMX, gettext and Bibles: pairs without what is no text of theirs."""

import subprocess
from pathlib import Path
from shutil import which

import pytest
from hypothesis import given
from hypothesis import strategies as st
from thoroughness import examples

from sentprobe.errors import SentprobeError, UsageError
from sentprobe.probes.pretraining.texts.corpora import SentencePairs
from sentprobe.probes.pretraining.texts.parallel import read_parallel
from sentprobe.probes.pretraining.texts.sieves import TextOptions

AS_IS = TextOptions(tokenised=True, longest=10_000)
HEAD = (
    '<?xml version="1.0"?>\n<!DOCTYPE tmx SYSTEM "tmx14.dtd">\n<tmx><header srclang="en-US"/><body>'
)


def pairs_of(found: SentencePairs) -> list[tuple[str, str]]:
    return [*zip(found.sources, found.targets, strict=True)]


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
    found = read_parallel(path)
    assert pairs_of(found) == [("one & 1", "uno"), ("b", "c")]
    assert str(found.omitted) == "1 was left out: 1 not translated"


def test_the_languages_are_named_where_there_are_more(tmp_path: Path) -> None:
    pytest.importorskip("defusedxml")
    path = tmx(tmp_path, *[unit(en_US="one", es="uno", fr="un")] * 2)
    with pytest.raises(UsageError, match=r"more than two languages \(en_US, es, fr\); name the"):
        read_parallel(path)
    assert pairs_of(read_parallel(path, columns=("FR", "en"))) == [("un", "one")] * 2
    with pytest.raises(UsageError, match=r"no language 'fra' \(did you mean 'fr'\?\); its lang"):
        read_parallel(path, columns=("en", "fra"))


def test_codes_of_other_formats_are_no_text(tmp_path: Path) -> None:
    pytest.importorskip("defusedxml")
    segment = (
        'Cl<hi>ick</hi> <bpt i="1">&lt;b&gt;</bpt>here<ept i="1">&lt;/b&gt;</ept><ph>br</ph>now'
    )
    found = read_parallel(tmx(tmp_path, *[unit(en=segment, es="x")] * 2))
    assert found.sources == ("Click here now",) * 2


BOMB = """<?xml version="1.0"?><!DOCTYPE tmx [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]>
<tmx><body><tu><tuv xml:lang="en"><seg>&b;</seg></tuv></tu></body></tmx>"""
THIEF = """<?xml version="1.0"?><!DOCTYPE tmx [<!ENTITY a SYSTEM "file:///etc/passwd">]>
<tmx><body><tu><tuv xml:lang="en"><seg>&a;</seg></tuv></tu></body></tmx>"""


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (BOMB, "t.tmx: not safe to read: it declares an entity"),
        (THIEF, "t.tmx: not safe to read: it declares an entity"),
        ("<tmx>\n<body></tmx>", "t.tmx, line 2: not XML: mismatched tag"),
        ("", "t.tmx, line 1: not XML: no element found"),
        ("<tmx/>", "t.tmx: has no pair to learn from; at least 2"),
        ("<tmx>" + "<hi>" * 50_000 + "</hi>" * 50_000 + "</tmx>", "has no pair to learn from"),
    ],
)
def test_xml_of_anybodys(tmp_path: Path, content: str, said: str) -> None:
    pytest.importorskip("defusedxml")
    path = tmp_path / "t.tmx"
    path.write_text(content, "utf-8")
    with pytest.raises(SentprobeError) as caught:
        read_parallel(path)
    assert said in str(caught.value)


PO = r"""
msgid ""
msgstr "Content-Type: text/plain; charset=UTF-8\n"

#, fuzzy
msgid "unsure"
msgstr "inseguro"

msgid "none"
msgstr ""

msgid "say \"a\" "
"and b"
msgstr "di «a» y b"

msgid "a file"
msgid_plural "%d files"
msgstr[0] "un archivo"
msgstr[1] "%d archivos"

#~ msgid "old"
#~ msgstr "viejo"
"""


def test_messages_that_are_translated(tmp_path: Path) -> None:
    pytest.importorskip("polib", reason="polib is not installed: pip install 'sentprobe[train]'")
    path = tmp_path / "es.po"
    path.write_text(PO, "utf-8")
    found = read_parallel(path, options=AS_IS)
    assert pairs_of(found) == [
        ('say "a" and b', "di «a» y b"),
        ("a file", "un archivo"),
        ("%d files", "%d archivos"),
    ]
    assert str(found.omitted) == "2 were left out: 2 not translated"


@examples(40)
@given(st.lists(st.tuples(*[st.text('ab"\\\n\té“', min_size=1)] * 2), min_size=2, max_size=5))
def test_messages_are_read_as_polib_writes_them(
    tmp_path_factory: pytest.TempPathFactory, texts: list[tuple[str, str]]
) -> None:
    polib = pytest.importorskip("polib")
    file = polib.POFile()
    for message, translation in texts:
        file.append(polib.POEntry(msgid=f"x{message}", msgstr=f"y{translation}"))
    path = tmp_path_factory.mktemp("po") / "t.po"
    path.write_text(str(file), "utf-8", newline="\n")
    expected = [(" ".join(f"x{a}".split()), " ".join(f"y{b}".split())) for a, b in texts]
    assert pairs_of(read_parallel(path, options=AS_IS)) == expected


@pytest.mark.parametrize("content", ["what\n", 'msgstr[x] "a"\n', 'msgid "a" b"\n'])
def test_a_damaged_file_of_messages(tmp_path: Path, content: str) -> None:
    pytest.importorskip("polib")
    path = tmp_path / "t.po"
    path.write_text(content, "utf-8")
    with pytest.raises(SentprobeError, match=r"t.po: not a file of gettext: .*line 1"):
        read_parallel(path)


ENGLISH = {
    ("Gen", 1, 1): 'In the beginning, <w>God</w><note n="1"><reference>1:1 </reference>or '
    "<hi>Elohim</hi></note><w>created</w> all. It was good.",
    ("Gen", 1, 2): "<title>Light</title>“Let <w>there</w> be light.” And it was.",
    ("Gen", 2, 1): "Only here.",
    ("Exod", 1, 1): "These are the names.",
}
SPANISH = {
    ("Gen", 1, 1): "EN el principio crió Dios todo.",
    ("Gen", 1, 2): "Sea la luz.",
    ("Exod", 1, 1): "Estos son los nombres.",
}


def test_verses_without_notes(tmp_path: Path) -> None:
    pytest.importorskip("pysword", reason="pysword is not installed")
    from sword_modules import write_module

    english = write_module(tmp_path, "eng", ENGLISH, versification="NRSVA")
    spanish = write_module(tmp_path, "spa", SPANISH)
    found = read_parallel(english, spanish)
    assert found.sources == (
        "In the beginning , God created all . It was good .",
        "“ Let there be light . ” And it was .",
        "These are the names .",
    )
    assert found.targets[1] == "Sea la luz ."
    assert str(found.omitted) == "1 was left out: 1 not translated"


def test_modules_that_cannot_be_read(tmp_path: Path) -> None:
    pytest.importorskip("pysword", reason="pysword is not installed")
    from sword_modules import write_module

    english = write_module(tmp_path, "eng", ENGLISH)
    gbf = write_module(tmp_path, "gbf", SPANISH, source="GBF")
    with pytest.raises(UsageError, match="needs another module of SWORD"):
        read_parallel(english)
    with pytest.raises(UsageError, match=r"no module 'engl' \(did you mean 'eng'\?\); known: eng,"):
        read_parallel(f"{english}l", english)
    with pytest.raises(UsageError, match="only modules in OSIS"):
        read_parallel(english, gbf)
    with pytest.raises(UsageError, match=r"it has no mods\.d"):
        read_parallel(f"sword:{tmp_path / 'modules' / 'eng'}", english)
    (tmp_path / "modules" / "eng" / "ot.bzz").unlink()
    with pytest.raises(SentprobeError, match="cannot read this module: Could not open OT or NT"):
        read_parallel(english, english)


@pytest.fixture(scope="module")
def bibles(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the modules of two of Debian's packages, installed or unpacked."""
    pytest.importorskip("pysword", reason="pysword is not installed")
    if not (which("apt-get") and which("dpkg")):
        pytest.skip("there is no apt-get to get sword-text-web and sword-text-sparv by")
    folder = tmp_path_factory.mktemp("sword")
    get = ["apt-get", "download", "-q", "sword-text-web", "sword-text-sparv"]
    if subprocess.run(get, cwd=folder, capture_output=True, check=False, timeout=120).returncode:
        pytest.skip("apt-get cannot get sword-text-web and sword-text-sparv")
    for package in folder.glob("*.deb"):
        subprocess.run(["dpkg", "-x", package, folder], check=True)
    return folder / "usr" / "share" / "sword"


@pytest.mark.slow
def test_the_bible_in_english_and_spanish(bibles: Path) -> None:
    names = (f"sword:{bibles / name}" for name in ("engWEB2015eb", "spaRV1909eb"))
    found = read_parallel(*names, options=TextOptions(longest=10_000))
    assert len(found) == 31_077
    assert found.sources[0] == "In the beginning , God created the heavens and the earth ."
    assert found.targets[0] == "EN el principio crió Dios los cielos y la tierra ."
    assert not any(set("<>") & set(line) for line in (*found.sources, *found.targets))
