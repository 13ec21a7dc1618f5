"""Write ``english.shapes.json`` anew after a change of grammar (``-m sentprobe.grammars``)."""

from pathlib import Path

from sentprobe.grammars import english_source
from sentprobe.grammars.shapes import all_shapes, derive_shape, dump, packaged_file

if __name__ == "__main__":
    table = [(shape, derive_shape(shape)) for shape in all_shapes()]
    text = dump(table, source=english_source())
    Path(str(packaged_file())).write_text(text, encoding="utf-8")
    print(f"{len(table)} shapes, {len(text)} bytes")
