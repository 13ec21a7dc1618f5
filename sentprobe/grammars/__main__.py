"""Derive and store the shapes of languages (in ``english.shapes.json``) after a change of a grammar.

python -m sentprobe.grammars [CODE ...]
"""

import sys
from pathlib import Path

from sentprobe.grammars import read_grammar_source
from sentprobe.grammars.shapes import derive_shape, dump_shapes, find_packaged_file, list_all_shapes
from sentprobe.lexicon.languages import LANGUAGES, find_language

if __name__ == "__main__":
    for language in map(find_language, sys.argv[1:] or LANGUAGES):
        table = [(shape, derive_shape(shape, language)) for shape in list_all_shapes(language)]
        text = dump_shapes(table, source=read_grammar_source(language))
        Path(str(find_packaged_file(language))).write_text(text, encoding="utf-8")
        print(f"{language.name}: {len(table)} shapes, {len(text)} bytes")
