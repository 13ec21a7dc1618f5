"""Small modules of SWORD, written as Debian's are: OSIS, packed book by book."""

import struct
import zlib
from collections.abc import Mapping
from pathlib import Path

from pysword.books import BibleStructure

Texts = Mapping[tuple[str, int, int], str]
"""The text of a verse by book, chapter and number."""

CONF = """\
[{name}]
DataPath=./modules/{name}/
ModDrv=zText
SourceType={source}
Encoding=UTF-8
CompressType=ZIP
BlockType=BOOK
Versification={versification}
"""


def write_module(
    folder: Path, name: str, texts: Texts, *, versification: str = "KJV", source: str = "OSIS"
) -> str:
    """Write verses of the Old Testament, and return what names the module."""
    place = folder / "modules" / name
    place.mkdir(parents=True)
    (folder / "mods.d").mkdir(exist_ok=True)
    conf = CONF.format(name=name, versification=versification, source=source)
    (folder / "mods.d" / f"{name}.conf").write_text(conf, "utf-8")
    structure = BibleStructure(versification.lower(), {"ot": None})
    packed = zlib.compress("".join(texts.values()).encode())
    records: dict[int, tuple[int, int]] = {}
    start = 0
    for (book, chapter, verse), text in texts.items():
        found = structure.ref_to_indicies(books=[book], chapters=[chapter], verses=[verse])
        size = len(text.encode())
        records[found["ot"][0]] = (start, size)
        start += size
    verses = [records.get(number, (0, 0)) for number in range(max(records) + 1)]
    (place / "ot.bzz").write_bytes(packed)
    (place / "ot.bzs").write_bytes(struct.pack("<III", 0, len(packed), start))
    (place / "ot.bzv").write_bytes(b"".join(struct.pack("<IIH", 0, *each) for each in verses))
    return f"sword:{folder / name}"
