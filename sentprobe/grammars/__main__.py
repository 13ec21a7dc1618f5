"""Rebuild ``english.shapes.json`` after a change of grammar (``-m sentprobe.grammars``)."""

from pathlib import Path

from sentprobe.grammars import read_english_source
from sentprobe.grammars.shapes import derive_shape, dump_shapes, find_packaged_file, list_all_shapes

if __name__ == "__main__":
    table = [(shape, derive_shape(shape)) for shape in list_all_shapes()]
    text = dump_shapes(table, source=read_english_source())
    Path(str(find_packaged_file())).write_text(text, encoding="utf-8")
    print(f"{len(table)} shapes, {len(text)} bytes")
