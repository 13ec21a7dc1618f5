"""Derive and store the shapes of languages (in ``english.shapes.json``, ...) after a change of a grammar.

python -m sentprobe.grammars [CODE ...]
"""

import sys
from pathlib import Path

from sentprobe.grammars import read_grammar_source
from sentprobe.grammars.shapes import derive_shape, dump_shapes, find_packaged_file, list_all_shapes, list_clause_shapes
from sentprobe.lexicon.languages import LANGUAGES, find_language

if __name__ == "__main__":
    for language in map(find_language, sys.argv[1:] or LANGUAGES):
        for is_requested in (False, True) if language.requested_aspects else (False,):
            listed = list_clause_shapes(language, is_requested=True) if is_requested else list_all_shapes(language)
            table = [(shape, derive_shape(shape, language)) for shape in listed]
            text = dump_shapes(table, source=read_grammar_source(language))
            path = Path(str(find_packaged_file(language, is_requested=is_requested)))
            path.write_text(text, encoding="utf-8")
            print(f"{path.name}: {len(table)} shapes, {len(text)} bytes")
